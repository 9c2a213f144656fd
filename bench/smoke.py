# SPDX-License-Identifier: BSD-3-Clause
"""Run a benchmark (the arguments) and check that it prints a list of rows, each with a name and three figures in order."""
import json
import subprocess
import sys

run = subprocess.run(sys.argv[1:], stdout=subprocess.PIPE, check=True)
rows = json.loads(run.stdout)
assert rows, "no rows"
assert len({row["name"] for row in rows}) == len(rows), "two rows of one name"
for row in rows:
    value = row["ns"] if "ns" in row else row["bytes"]
    assert row["min"] <= value <= row["max"], row
