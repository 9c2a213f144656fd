# SPDX-License-Identifier: BSD-3-Clause
"""A guard against slower code that is not a clock: instructions per decision and per evaluation, counted by callgrind.

    budget.py BUILD DECISION ENGINE [--update]

BUILD names compiler and optimisation, for instance "x86_64 gcc 12 -O2". budget.json has, for each such name, how many
instructions each workload may take; for another name they are counted but not checked (exit status 77: skipped), for other
code takes other numbers. More than SLACK above the budget is a failure, and as much below it as well. --update writes
what was counted into budget.json.
"""
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

SLACK = 0.03
SKIPPED = 77
BUDGET = pathlib.Path(__file__).with_name("budget.json")
CASES = ("different", "equal", "matching", "three", "beside")


def count(function, command):
    """Instructions in `function` and what it calls, for each call of the workload, which prints how many it made."""
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder, "callgrind.out")
        run = subprocess.run(
            ["valgrind", "--tool=callgrind", f"--toggle-collect={function}", f"--callgrind-out-file={out}", *command],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True)
        if run.returncode != 0:
            sys.exit(f"{' '.join(command)}: exit status {run.returncode}\n{run.stdout}{run.stderr}")
        calls = int(run.stdout.split()[0])
        instructions = int(re.search(r"^totals: (\d+)", out.read_text(), re.MULTILINE).group(1))
    if instructions < calls:
        sys.exit(f"{' '.join(command)}: no instruction was seen in {function}")
    return instructions / calls


def workloads(decision, engine):
    for case in CASES:
        command = [decision, "--count", "--case", case, "--clients", "1000", "--messages", "200"]
        yield f"decision/{case}", "delivery_read", command
    yield "evaluation", "sf_eval", [engine, "--count"]


def main(build, decision, engine, update=False):
    budgets = json.loads(BUDGET.read_text())
    if shutil.which("valgrind") is None:
        print("skipped: no valgrind here")
        return SKIPPED
    counted = {name: round(count(function, command), 1) for name, function, command in workloads(decision, engine)}
    if update:
        budgets[build] = counted
        BUDGET.write_text(json.dumps(budgets, indent=4, sort_keys=True) + "\n")
    if build not in budgets:
        for name, instructions in counted.items():
            print(f"{name:20} {instructions:8.1f} instructions")
        print(f"not checked: {BUDGET.name} has no budget for {build}")
        return SKIPPED
    failed = False
    for name, instructions in counted.items():
        budget = budgets[build].get(name, 0)
        remark = ""
        if instructions > budget * (1 + SLACK):
            remark = "too many"
            failed = True
        elif instructions < budget * (1 - SLACK):
            remark = f"fewer: lower the budget in {BUDGET.name} (--update), or it guards nothing"
            failed = True
        print(f"{name:20} {instructions:8.1f} instructions, budget {budget:8.1f}  {remark}".rstrip())
    return 1 if failed else 0


if __name__ == "__main__":
    arguments = [argument for argument in sys.argv[1:] if argument != "--update"]
    if len(arguments) != 3:
        sys.exit(__doc__)
    sys.exit(main(*arguments, update="--update" in sys.argv))
