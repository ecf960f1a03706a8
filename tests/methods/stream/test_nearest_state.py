"""A `nearest` that is saved and read again goes on as if nothing had happened; a crafted state is refused."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_nearest import check_pools

from querycloak.arrays.checks import BadStateError
from querycloak.methods.stream.engine import SelfAdjusting
from querycloak.methods.stream.engine_state import from_state, to_state
from querycloak.methods.stream.nearest import Nearest
from querycloak.randomness import Randomness

PATHS = st.lists(st.sampled_from("ab"), max_size=4).map(tuple)
RECORDS = st.lists(st.tuples(st.integers(0, 12), PATHS), max_size=120)
ARRAYS = (
    "paths", "number", "node", "asker", "token", "token_node", "holder", "set_records", "set_users", "top_tokens",
    "ready",
)  # fmt: skip


def push(engine, records):
    user = np.array([u for u, _ in records], dtype=np.int32)
    node = np.array([engine.tree.node(path) for _, path in records], dtype=np.int32)
    return engine.push_codes(user, node)


@given(RECORDS, st.integers(2, 5), st.integers(1, 4), st.sampled_from([0, 10, 50]), st.lists(st.integers(0, 60)))
def test_goes_on_as_if_nothing_had_happened(records, k, depth, pool, cuts):
    def made():
        return Nearest(k, depth, pool=pool, max_delay=40, random=Randomness(seed=5))

    whole, parts = made(), made()
    expected = push(whole, records)
    got, done = [], 0
    for cut in [*cuts[:4], len(records)]:
        got.append(push(parts, records[done : done + cut]))
        done += cut
        arrays, plain = to_state(parts)
        parts = made()
        from_state(parts, {name: array.copy() for name, array in arrays.items()}, json.loads(json.dumps(plain)))
    for column in ("record", "user", "candidates", "delay", "dropped_record", "dropped_user"):
        assert np.array_equal(np.concatenate([getattr(g, column) for g in got]), getattr(expected, column))
    assert parts.waiting_records().tolist() == whole.waiting_records().tolist()
    assert parts.waiting_users().tolist() == whole.waiting_users().tolist()
    assert parts.waiting_per_level() == whole.waiting_per_level()
    check_pools(parts)


def long_stream(n, seed=3):
    random = np.random.default_rng(seed)
    letters = random.integers(0, 4, (n, 4))
    return [
        (int(u), tuple("abcd"[c] for c in row[: 1 + u % 4]))
        for u, row in zip(random.integers(0, 400, n), letters, strict=True)
    ]


@pytest.mark.needs_jit
def test_over_many_blocks_of_random_words():
    def made():
        return Nearest(20, 4, pool=100, max_delay=3000, random=Randomness(seed=5))

    records = long_stream(30_000)
    whole, parts = made(), made()
    expected = push(whole, records)
    got = []
    for begin in range(0, len(records), 1700):
        got.append(push(parts, records[begin : begin + 1700]))
        state = to_state(parts)
        parts = made()
        from_state(parts, *state)
    assert np.array_equal(np.concatenate([g.record for g in got]), expected.record)
    assert np.array_equal(np.concatenate([g.user for g in got]), expected.user)


def new():
    return Nearest(4, 3, pool=60, max_delay=350, random=Randomness(seed=1))


def state():
    engine = new()
    push(engine, long_stream(600))
    arrays, plain = to_state(engine)
    assert len(arrays["ready"]) > 1
    return {name: array.copy() for name, array in arrays.items()}, plain


def test_all_arrays_are_documented():
    assert set(state()[0]) == set(ARRAYS)


@pytest.mark.parametrize(
    "other",
    [Nearest(4, 2, pool=60), Nearest(200, 3, pool=60), Nearest(4, 3, pool=60, max_delay=100), SelfAdjusting(4, 3)],
)
def test_the_state_of_another_engine_is_refused(other):
    with pytest.raises(BadStateError):
        from_state(other, *state())


def test_an_engine_of_another_kind_cannot_be_made_nearest():
    engine = SelfAdjusting(4, 3, random=Randomness(seed=1))
    push(engine, long_stream(400))
    with pytest.raises(BadStateError):
        from_state(new(), *to_state(engine))


@pytest.mark.parametrize("name", ARRAYS[1:])
@pytest.mark.parametrize("value", [-1, 1 << 30, -(1 << 31)])
def test_numbers_out_of_range(name, value):
    arrays, plain = state()
    for at in (0, -1):
        if name == "asker" and value > 0:
            continue  # any code is a user to the engine; who restores it knows how many there are
        changed = {**arrays, name: arrays[name].copy()}
        changed[name][at] = np.array(value).astype(arrays[name].dtype)
        with pytest.raises(BadStateError):
            from_state(new(), changed, plain)


@pytest.mark.parametrize("name", ARRAYS)
def test_wrong_lengths_and_types(name):
    arrays, plain = state()
    with pytest.raises(BadStateError):
        from_state(new(), {n: a for n, a in arrays.items() if n != name}, plain)
    for changed in (arrays[name][:-1], arrays[name][:0], np.append(arrays[name], arrays[name][:1])):
        with pytest.raises(BadStateError):
            from_state(new(), {**arrays, name: changed}, plain)
    for changed in (arrays[name].astype(np.float64), arrays[name].reshape(-1, 1), arrays[name].astype(np.int16)):
        with pytest.raises(BadStateError):
            from_state(new(), {**arrays, name: changed}, plain)


@given(st.data())
def test_a_state_that_was_edited_is_refused_or_harmless(data):
    """What passes the checks also runs: with the JIT off, an index out of range would raise."""
    arrays, plain = state()
    for _ in range(data.draw(st.integers(1, 3))):
        name = data.draw(st.sampled_from(sorted(arrays)))
        at, other = (data.draw(st.integers(0, len(arrays[name]) - 1)) for _ in range(2))
        if data.draw(st.booleans()):
            arrays[name][[at, other]] = arrays[name][[other, at]]
        else:
            arrays[name][at] = data.draw(st.integers(0, 120))
    engine = new()
    try:
        from_state(engine, arrays, plain)
    except BadStateError:
        return
    before = engine.waiting
    out = push(engine, long_stream(400, seed=9))
    assert len(out) + len(out.dropped_record) + engine.waiting == before + 400
    assert (out.candidates >= 4).all()
