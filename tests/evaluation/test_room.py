from __future__ import annotations

import pytest
from samples import sample_log

from querycloak.errors import UserError
from querycloak.evaluation import room
from querycloak.evaluation.compare import compare
from querycloak.evaluation.plans import plan_runs
from querycloak.evaluation.workbench import Workbench

LOG = sample_log(users=4, queries=6)


@pytest.fixture
def large(monkeypatch):
    """Take the log for a large one, and leave room for two and a half runs of it."""
    monkeypatch.setattr(room, "ALWAYS_THERE", 0)
    monkeypatch.setattr(room, "available_memory", lambda: 5 * room.memory_needed(LOG) // 2)


def test_a_log_that_does_not_fit_is_refused_before_the_work(monkeypatch, large):
    room.check_room(LOG)
    monkeypatch.setattr(room, "available_memory", lambda: room.memory_needed(LOG) - 1)
    bench = Workbench(LOG)
    with pytest.raises(UserError, match=r"a log of 24 rows take about .* are left: use a machine with more memory"):
        bench.try_attacks(bench.anonymize("sweep", seed=1))
    with pytest.raises(UserError, match="use a machine with more memory"):
        compare(Workbench(LOG), plan_runs(["sweep"], {}))


def test_no_more_processes_than_fit(large):
    assert [room.processes_that_fit(LOG, n) for n in (1, 2, 3, 8)] == [1, 2, 2, 2]


def test_one_process_is_always_tried(monkeypatch, large):
    monkeypatch.setattr(room, "available_memory", lambda: 0)
    assert room.processes_that_fit(LOG, 4) == 1


def test_small_logs_ask_for_nothing(monkeypatch):
    monkeypatch.setattr(room, "available_memory", lambda: pytest.fail("asked"))
    room.check_room(LOG)
    assert room.processes_that_fit(LOG, 8) == 8
