"""A streaming query that is killed: nothing is lost, nothing is twice. QUERYCLOAK_KILLS says how often it is killed."""

import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

pytest.importorskip("pyspark", reason="pyspark is not installed")
pytest.importorskip("google.protobuf", reason="protobuf is not installed")

from querycloak.keyed_randomness import KeyedRandomness
from querycloak.methods.stream import engine_state
from querycloak.methods.stream.stream_statement import SelfAdjustingSettings
from querycloak.randomness import Randomness
from querycloak.spark.streams.branch_state import branch_of_bytes
from querycloak.spark.streams.plan import Plan

pytestmark = pytest.mark.slow

KILLS = int(os.environ.get("QUERYCLOAK_KILLS", "2"))
LONGEST = float(os.environ.get("QUERYCLOAK_KILL_AFTER", "4"))
"""seconds, at most, for which a batch is under way when its query is killed"""
FILE_ROWS = 60
CHILD = Path(__file__).with_name("stream_child.py")


def write_file(folder: Path, number: int) -> list[tuple[str, str, int]]:
    rng = random.Random(number)
    users, queries, tops, below = (rng.choices(range(n), k=FILE_ROWS) for n in (25, 40, 2, 3))
    rows = [
        (f"u{users[i]}", f"q{queries[i]}", number * FILE_ROWS + i, f"C{tops[i]}/{below[i]}") for i in range(FILE_ROWS)
    ]
    lines = ["user,query,time,category", *(",".join(map(str, row)) for row in rows)]
    part = folder / f".{number}"
    part.write_text("\n".join(lines) + "\n")
    part.rename(folder / "in" / f"{number:05}.csv")
    return [(user, query, at) for user, query, at, _ in rows]


def start(folder: Path) -> subprocess.Popen[bytes]:
    root = Path(__file__).parents[2]
    path = os.pathsep.join([str(root / "src"), *filter(None, [os.environ.get("PYTHONPATH")])])
    command = [sys.executable, str(CHILD), str(folder)]
    return subprocess.Popen(
        command, env={**os.environ, "PYTHONPATH": path}, stdout=subprocess.PIPE, start_new_session=True
    )


def numbers(folder: Path, kind: str) -> int:
    """Count the batches that were begun (offsets) or finished (commits)."""
    return len(list((folder / "state" / kind).glob("[0-9]*")))


def wait_for_batch(folder: Path, child: subprocess.Popen[bytes], committed: int) -> None:
    """Wait until so many batches are committed, and one more is under way."""
    while child.poll() is None:
        if numbers(folder, "commits") >= committed and numbers(folder, "offsets") > committed:
            return
        time.sleep(0.05)


@pytest.mark.usefixtures("java")
def test_a_killed_query_loses_nothing_and_publishes_nothing_twice(tmp_path, request):
    (tmp_path / "in").mkdir()
    rng, came, kills, files = random.Random(7), [], 0, 0
    while kills < KILLS:
        for _ in range(2):
            came += write_file(tmp_path, files)
            files += 1
        more = rng.randrange(2)  # batches that are committed before
        with start(tmp_path) as child:
            assert child.stdout is not None
            assert child.stdout.readline() == b"running\n"
            wait_for_batch(tmp_path, child, numbers(tmp_path, "commits") + more)
            time.sleep(rng.uniform(0, LONGEST))
            seen = (
                f"{numbers(tmp_path, 'commits')} of {numbers(tmp_path, 'offsets')} committed, "
                f"{len(list((tmp_path / 'out').glob('batch=*')))} published"
            )
            print(seen, flush=True)
            if child.poll() is None:
                os.killpg(child.pid, signal.SIGKILL)
                kills += 1
            else:  # it was quicker than the kill
                assert child.returncode == 0
    came += write_file(tmp_path, files)
    with start(tmp_path) as child:
        assert child.wait() == 0

    spark = request.getfixturevalue("spark")  # not before: two drivers at a time are slow
    out = [tuple(row) for row in spark.read.parquet(str(tmp_path / "out")).select("user", "query", "time").collect()]
    plan = Plan(
        "self-adjusting",
        SelfAdjustingSettings(k=3, as_in_paper=True, ids="original"),
        ("user", "query", "time", "category"),
        KeyedRandomness(Randomness(0)),
        None,
    )
    waiting, holders = [], []
    states = spark.read.format("statestore").option("stateVarName", "branch").load(str(tmp_path / "state"))
    for row in states.select("key.top", "value.bytes").collect():
        branch = branch_of_bytes(plan, row[0], bytes(row[1]))
        waiting += [tuple(r) for r in branch.waiting.select("query", "time").rows()]
        holders += [branch.users.text(int(c)).decode() for c in engine_state.to_state(branch.engine)[0]["holder"]]
    assert len(set(out)) == len(out)
    assert Counter(q for _, q, _ in came) == Counter(q for _, q, _ in out) + Counter(q for q, _ in waiting)
    assert sorted(at for *_, at in came) == sorted([at for *_, at in out] + [at for _, at in waiting])
    assert Counter(user for user, *_ in came) == Counter(user for user, *_ in out) + Counter(holders)
    asker = {at: user for user, _, at in came}
    assert all(asker[at] != user for user, _, at in out)
    print(f"{kills} kills: in {len(came)} = out {len(out)} + waiting {len(waiting)}")
