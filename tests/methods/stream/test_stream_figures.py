"""What the surveyor counts (Pàmies-Estrems & Garcia-Alfaro 2023, 5.3 to 5.5), recounted record by record."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

import querycloak as qc
from querycloak.logs.query_log import QueryLog
from querycloak.methods.stream.delays import Delays
from querycloak.methods.stream.engine import FixedDepth, SelfAdjusting
from querycloak.methods.stream.stream_release import flow_figures
from querycloak.randomness import Randomness

PATHS = [("a", "x", "p"), ("a", "x", "q"), ("a", "y"), ("b",), ("c", "z")]


@pytest.mark.parametrize("engine", [SelfAdjusting, FixedDepth])
def test_delay_bags_and_waiting_users(engine) -> None:
    """Delay: the records that entered after a record, up to the one with which it left."""
    rng = np.random.default_rng(3)
    user = rng.integers(0, 25, 400).astype(np.int32)
    code = rng.integers(0, len(PATHS), 400)
    machine = engine(3, 2, random=Randomness(seed=1))
    node = np.array([machine.tree.node(PATHS[c]) for c in code], dtype=np.int32)
    delays = []
    for i in range(400):
        out = machine.push_codes(user[i : i + 1], node[i : i + 1])
        assert out.delay.tolist() == [i - record for record in out.record.tolist()]
        delays += out.delay.tolist()
    assert max(delays) > 0
    waiting = Counter(PATHS[code[record]][:2] for record in machine.waiting_records().tolist())
    assert sorted(machine.bag_sizes().tolist()) == sorted(waiting.values())
    counted = Delays()
    counted.add(np.array(delays))
    figures = flow_figures(machine, counted, 3)
    assert figures["mean delay"] == pytest.approx(np.mean(delays))
    assert figures["mean bag size"] == pytest.approx(np.mean(list(waiting.values())))
    levels = Counter(len(path) for path in waiting.elements())  # a node has as many users waiting as queries
    assert [figures["users waiting at level 1"], figures["users waiting at level 2"]] == [levels[1], levels[2]]


def test_the_figures_of_a_release_are_those_of_its_records() -> None:
    """Three users, k = 2: the third record lets one of the three out, and the delay tells which."""
    log = QueryLog.of(["a", "b", "c"], ["q0", "q1", "q2"], categories=["Top/A"] * 3)
    seen = set()
    for seed in range(20):
        release = qc.anonymize(log, "self-adjusting", k=2, depth=1, as_in_paper=True, seed=seed)
        scores = {s.measure: s.value for s in qc.measure(log, release, names=["stream-flow"])}
        (text,) = release.log.queries.to_list()
        assert release.statement.figures["mean delay"] == 2 - int(text[1])
        assert scores["records that left"] == pytest.approx(1 / 3)
        assert scores["mean size of query bags"] == scores["users waiting at the end"] == 2
        seen.add(text)
    assert seen == {"q0", "q1", "q2"}
