# SPDX-License-Identifier: BSD-3-Clause
"""Run a benchmark (the arguments) and check that it prints a list of rows with a name and three figures."""
import json
import subprocess
import sys

run = subprocess.run(sys.argv[1:], stdout=subprocess.PIPE, check=True)
rows = json.loads(run.stdout)
assert rows, "no rows"
assert len({row["name"] for row in rows}) == len(rows), "two rows of one name"
for row in rows:
    assert set(row) == {"name", "ns", "min", "max"}, row
    assert row["min"] <= row["ns"] <= row["max"], row
