"""Waiting as a budget: the rules with `max_delay` and `expire`, and the engine against its reference implementation."""

from __future__ import annotations

from collections import Counter
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference.stream import ReferenceStream, below, exact
from scipy.stats import chi2_contingency
from test_stream_engine import check_balance, coded, streams

from querycloak.arrays.checks import BadStateError
from querycloak.errors import ParameterError
from querycloak.methods.stream.engine import FixedDepth, Flat, SelfAdjusting
from querycloak.methods.stream.engine_state import from_state, to_state
from querycloak.randomness import Randomness

ENGINES = {"self-adjusting": SelfAdjusting, "holding": partial(SelfAdjusting, hold=7), "fixed-depth": FixedDepth}
REFERENCES = {
    "self-adjusting": ReferenceStream,
    "holding": partial(ReferenceStream, hold=7),
    "fixed-depth": partial(ReferenceStream, borrows=False),
}
LIMITS = st.integers(1, 60)


@pytest.mark.parametrize("name", ENGINES)
@given(streams(), LIMITS)
def test_the_four_rules_with_a_longest_delay(name, stream, limit):
    records, k, depth, seed = stream
    engine = ENGINES[name](k, depth, max_delay=limit, random=Randomness(seed=seed))
    user, node = coded(engine, records)
    records_gone, users_gone = [], []
    for i in range(len(records)):
        out = engine.push_codes(user[i : i + 1], node[i : i + 1])
        assert (out.user != user[out.record]).all()  # rule 1
        assert (out.candidates >= k).all()  # rule 2
        due = (out.delay == limit).sum() + len(out.dropped_record)
        assert len(out) + len(out.dropped_record) <= 3  # rule 4: two, and the one that is overdue
        assert len(out) <= 2 + due
        assert (out.delay <= limit).all()
        assert (i - out.dropped_record == limit).all()
        records_gone += out.record.tolist() + out.dropped_record.tolist()
        users_gone += out.user.tolist() + out.dropped_user.tolist()
        # rule 3
        waiting = engine.waiting_records()
        assert sorted([*records_gone, *waiting.tolist()]) == list(range(i + 1))
        assert Counter(users_gone) + Counter(engine.waiting_users().tolist()) == Counter(user[: i + 1].tolist())
        assert i - waiting.min(initial=i) < limit
    check_balance(engine)


def what_waits(engine):
    """Return (path, asker, number) of each waiting record and (path, user) of each waiting user, from the state."""
    arrays, _ = to_state(engine)
    paths = engine.tree.paths()
    node = np.repeat(np.arange(len(paths)), arrays["sizes"]).tolist()
    records = [(tuple(paths[v]), a, n) for v, a, n in zip(node, arrays["asker"], arrays["number"], strict=True)]
    return records, [(tuple(paths[v]), u) for v, u in zip(node, arrays["holder"], strict=True)]


@pytest.mark.parametrize("name", ENGINES)
@given(streams())
def test_what_is_let_out_leaves_from_the_smallest_set_with_k_others(name, stream):
    """One waiting record after the other is let out: each set around it is counted anew, from what waits."""
    records, k, depth, seed = stream
    engine = ENGINES[name](k, depth, random=Randomness(seed=seed))
    engine.push_codes(*coded(engine, records))
    while engine.waiting:
        waiting, users = what_waits(engine)
        path, asker, number = min(waiting, key=lambda r: r[2])
        sets = [below(path[:d]) for d in range(1, len(path) + 1)] if name != "fixed-depth" else []
        others = [{u for node, u in users if inside(node)} - {asker} for inside in (*sets, exact(path))]
        enough = [found for found in others if len(found) >= k]
        out = engine.expire(int(number) + 1)
        check_balance(engine)
        assert [*out.record, *out.dropped_record] == [number]
        if enough:
            assert out.candidates.tolist() == [len(enough[-1])]
            assert int(out.user[0]) in enough[-1]
        else:
            top = sets[0] if sets else exact(path)
            assert int(out.dropped_user[0]) in {u for node, u in users if top(node)}
            assert len(out) == 0


@pytest.mark.parametrize("name", ENGINES)
@given(streams(), LIMITS, st.lists(st.integers(0, 40), max_size=6))
def test_batches_and_saving_do_not_matter(name, stream, limit, cuts):
    records, k, depth, seed = stream
    make = partial(ENGINES[name], k, depth, max_delay=limit)
    whole, parts = (make(random=Randomness(seed=seed)) for _ in range(2))
    user, node = coded(whole, records)
    coded(parts, records)
    expected = whole.push_codes(user, node)
    got, done = [], 0
    for cut in [*cuts, len(records)]:
        got.append(parts.push_codes(user[done : done + cut], node[done : done + cut]))
        done += cut
        again = make(random=Randomness(seed=seed))
        from_state(again, *to_state(parts))
        parts = again
    for column in ("record", "user", "candidates", "delay", "dropped_record", "dropped_user"):
        assert np.array_equal(np.concatenate([getattr(g, column) for g in got]), getattr(expected, column))
    last = [engine.expire(len(records)) for engine in (whole, parts)]
    assert np.array_equal(last[0].user, last[1].user)
    assert np.array_equal(last[0].dropped_user, last[1].dropped_user)
    assert whole.waiting == parts.waiting == 0


def test_of_the_sets_with_enough_users_the_smallest_lets_out():
    """Users 0 to 2 wait in the branch a/x, 3 and 4 in a/y, all held: record 0 leaves with 1 or 2."""
    for seed in range(20):
        engine = SelfAdjusting(2, 3, hold=50, random=Randomness(seed=seed))
        places = [("a", "x", "p"), ("a", "x", "q"), ("a", "x", "r"), ("a", "y", "p"), ("a", "y", "q")]
        nodes = np.array([engine.tree.node(path) for path in places], np.int32)
        assert len(engine.push_codes(np.arange(5, dtype=np.int32), nodes)) == 0
        out = engine.expire(1)
        assert out.candidates.tolist() == [2]
        assert out.user[0] in {1, 2}


STORIES = {
    # (user, path) of a few records, with k, depth and the longest delay
    "own node": (2, 2, 3, "A:ax B:ay C:az D:ay A:ax B:bx"),
    "asker has left": (2, 2, 4, "A:ax B:ax C:ax C:ay A:ay B:ay D:az A:b B:b C:b A:b"),
    "dropped": (3, 2, 2, "A:ax A:ay B:ax B:az A:ax C:ay A:ax"),
    "inner nodes": (2, 3, 3, "A:a B:ax C:axp D:ax E:a F:axp A:b B:b C:b"),
    "few users": (2, 2, 2, "A:ax A:ax B:ax B:ay A:ay C:ay A:ax A:ay"),
}


@pytest.mark.slow
@pytest.mark.needs_jit
@pytest.mark.parametrize("story", STORIES)
@pytest.mark.parametrize("name", ENGINES)
def test_what_leaves_and_what_is_dropped_is_distributed_as_in_the_reference(name, story):
    """Two-sample chi-square over whole outcomes; 1 in 10,000 by chance, over 15 cases with fixed seeds."""
    k, depth, limit, text = STORIES[story]
    records = [(r.split(":")[0], tuple(r.split(":")[1])) for r in text.split()]
    runs = 1500
    seen = Counter(), Counter()
    user = np.array([ord(u) for u, _ in records], dtype=np.int32)
    template = ENGINES[name](k, depth, random=Randomness(seed=0))
    node = np.array([template.tree.node(p) for _, p in records], dtype=np.int32)
    for seed in range(runs):
        engine = ENGINES[name](k, depth, max_delay=limit, random=Randomness(seed=seed))
        for _, path in records:
            engine.tree.node(path)
        out = engine.push_codes(user, node)
        left = sorted((r, chr(u)) for r, u in zip(out.record.tolist(), out.user.tolist(), strict=True))
        lost = [(r, chr(u)) for r, u in zip(out.dropped_record.tolist(), out.dropped_user.tolist(), strict=True)]
        seen[0][(*left, "dropped", *lost)] += 1
        reference = REFERENCES[name](k, depth, seed, max_delay=limit)
        pairs = [pair for i, (u, path) in enumerate(records) for pair in reference.push(u, str(i), path)]
        left = sorted((int(r), u) for u, r in pairs)
        seen[1][(*left, "dropped", *((int(r), u) for u, r in reference.dropped))] += 1
    common = [key for key in {*seen[0], *seen[1]} if seen[0][key] + seen[1][key] >= 20]
    rare = [sum(n for key, n in c.items() if key not in common) for c in seen]
    table = [[c[key] for key in common] + ([rare[i]] if sum(rare) >= 20 else []) for i, c in enumerate(seen)]
    if len(table[0]) > 1:
        assert chi2_contingency(table).pvalue > 1e-4
    else:
        assert table[0] == table[1] == [runs]


def test_the_dropped_user_is_uniform_over_the_places_of_the_top_level_category():
    """A waits in three of four places: with all places alike A is dropped in 3 of 4 runs, by distinct users in half."""
    drawn = Counter()
    for seed in range(400):
        engine = SelfAdjusting(3, 2, max_delay=3, random=Randomness(seed=seed))
        nodes = [engine.tree.node(("x", name)) for name in "abca"]
        out = engine.push_codes(np.array([0, 0, 1, 0], np.int32), np.array(nodes, np.int32))
        assert out.dropped_record.tolist() == [0]
        drawn.update(out.dropped_user.tolist())
    assert 260 <= drawn[0] <= 340  # 300 expected, deviation 8.7: 4.6 of them


@pytest.mark.needs_jit
def test_memory_is_bounded_by_the_longest_delay():
    """One user asks all: nothing can leave, and all that waits is what entered last."""
    for make in (SelfAdjusting, FixedDepth, partial(Flat, depth=1)):
        engine = make(max_delay=1000, random=Randomness(seed=1))
        nodes = np.array([engine.tree.node((f"t{i % 3}", f"{i % 7}", f"{i}")) for i in range(60)], np.int32)
        memory = []
        for _ in range(6):
            out = engine.push_codes(np.zeros(20_000, np.int32), np.resize(nodes, 20_000))
            assert len(out) == 0
            assert engine.waiting == 1000
            memory.append(engine.memory)
        assert memory[-1] == memory[0]


def test_a_state_in_which_a_record_waits_too_long_is_refused():
    engine = SelfAdjusting(2, 1, max_delay=5, random=Randomness(seed=1))
    engine.push_codes(np.zeros(4, np.int32), np.full(4, engine.tree.node(("x",)), np.int32))
    arrays, plain = to_state(engine)
    with pytest.raises(BadStateError, match="waits for longer"):
        from_state(SelfAdjusting(2, 1, max_delay=5, random=Randomness(seed=1)), arrays, {**plain, "entered": 6})


@pytest.mark.parametrize("engine", [SelfAdjusting, FixedDepth, Flat])
def test_a_longest_delay_that_is_none_is_refused(engine):
    for value in (0, -1, 2.5, 1 << 31):
        with pytest.raises(ParameterError, match="max_delay"):
            engine(max_delay=value)


def test_texts_that_were_dropped_are_forgotten():
    engine = SelfAdjusting(2, 1, max_delay=1, random=Randomness(seed=1))
    assert engine.push([("ann", "tea", "Food"), ("ann", "ham", "Food"), ("ann", "rye", "Food")]) == []
    assert list(engine._texts.values()) == [("rye", "Food")]
