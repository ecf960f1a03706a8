"""An executor is killed in the middle of a method: it ends, the gate holds, and nothing is published twice.

`QUERYCLOAK_KILLS=all pytest tests/spark/test_executor_kills.py` does it with every method; otherwise with one of them.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

FEW = ("clump",)
"""It has much of what there is in little time: mapped queries, blocks, groups, ids, and the gate of all of it."""


@pytest.mark.usefixtures("java")
def test_a_killed_executor_changes_nothing():
    from querycloak.spark.methods import METHODS

    methods = list(METHODS) if os.environ.get("QUERYCLOAK_KILLS") == "all" else FEW
    script = Path(__file__).with_name("executor_kills.py")
    done = subprocess.run(
        [sys.executable, str(script), *methods], capture_output=True, text=True, timeout=1800, check=False
    )
    found = [json.loads(line[6:]) for line in done.stdout.splitlines() if line.startswith("FOUND ")]
    assert [one["method"] for one in found] == list(methods), done.stderr[-3000:]
    for one in found:
        print(one)
        assert one["rows"] > 0, one
        assert one["killed"] == 1, one
        assert one["same table"], one
        assert one["same statement"], one
