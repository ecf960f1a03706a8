"""An engine that is saved and read again goes on as if nothing had happened; a crafted state is refused."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from querycloak.arrays.checks import BadStateError
from querycloak.methods.stream.engine import ENGINES, FixedDepth, Flat, SelfAdjusting
from querycloak.methods.stream.engine_state import from_state, to_state
from querycloak.randomness import Randomness

PATHS = st.lists(st.sampled_from("ab"), max_size=4).map(tuple)
RECORDS = st.lists(st.tuples(st.integers(0, 12), PATHS), max_size=150)


def made(name, k, depth, seed):
    return ENGINES[name](k, 1 if name == "flat" else depth, random=Randomness(seed=seed))


def push(engine, records):
    user = np.array([u for u, _ in records], dtype=np.int32)
    node = np.array([engine.tree.node(path) for _, path in records], dtype=np.int32)
    return engine.push_codes(user, node)


def again(engine, name, k, depth, seed):
    arrays, plain = to_state(engine)
    back = made(name, k, depth, seed)
    from_state(back, {name: array.copy() for name, array in arrays.items()}, json.loads(json.dumps(plain)))
    return back


@pytest.mark.parametrize("name", ENGINES)
@given(RECORDS, st.integers(2, 5), st.integers(1, 4), st.lists(st.integers(0, 60), max_size=4))
def test_goes_on_as_if_nothing_had_happened(name, records, k, depth, cuts):
    whole, parts = made(name, k, depth, 5), made(name, k, depth, 5)
    expected = push(whole, records)
    got, done = [], 0
    for cut in [*cuts, len(records)]:
        got.append(push(parts, records[done : done + cut]))
        done += cut
        parts = again(parts, name, k, depth, 5)
    for column in ("record", "user", "candidates", "delay"):
        assert np.array_equal(np.concatenate([getattr(g, column) for g in got]), getattr(expected, column))
    assert parts.waiting_records().tolist() == whole.waiting_records().tolist()
    assert parts.waiting_users().tolist() == whole.waiting_users().tolist()
    assert parts.waiting_per_level() == whole.waiting_per_level()
    assert sorted(parts.bag_sizes().tolist()) == sorted(whole.bag_sizes().tolist())


def long_stream(n, seed=3):
    random = np.random.default_rng(seed)
    letters = random.integers(0, 4, (n, 4))
    return [
        (int(u), tuple("abcd"[c] for c in row[: 1 + u % 4]))
        for u, row in zip(random.integers(0, 400, n), letters, strict=True)
    ]


@pytest.mark.needs_jit
def test_over_many_blocks_of_random_words():
    """Far past one block of words, with sets that are indexed and forgotten on the way."""
    records = long_stream(30_000)
    whole, parts = made("self-adjusting", 20, 4, 5), made("self-adjusting", 20, 4, 5)
    expected = push(whole, records)
    got = []
    for begin in range(0, len(records), 1700):
        got.append(push(parts, records[begin : begin + 1700]))
        parts = again(parts, "self-adjusting", 20, 4, 5)
    assert np.array_equal(np.concatenate([g.record for g in got]), expected.record)
    assert np.array_equal(np.concatenate([g.user for g in got]), expected.user)


def test_without_a_seed_no_random_word_is_saved():
    engine = SelfAdjusting(3, 2)
    push(engine, long_stream(500))
    arrays, plain = to_state(engine)
    assert plain == {"entered": 500, "words": None, "cursor": 0}
    back = SelfAdjusting(3, 2)
    from_state(back, arrays, plain)
    assert not np.array_equal(back._state.draws, engine._state.draws)
    assert back.waiting == engine.waiting


def state(k=4, depth=3):
    engine = SelfAdjusting(k, depth, random=Randomness(seed=1))
    push(engine, long_stream(400))
    arrays, plain = to_state(engine)
    return {name: array.copy() for name, array in arrays.items()}, plain


def restore(arrays, plain, engine=None):
    from_state(engine or SelfAdjusting(4, 3, random=Randomness(seed=1)), arrays, plain)


def test_an_engine_with_texts_is_not_saved():
    engine = SelfAdjusting(2, 1)
    engine.push([("ann", "tea", "Food")])
    with pytest.raises(ValueError, match="holds texts"):
        to_state(engine)


@pytest.mark.parametrize("other", [FixedDepth(4, 3), Flat(4), SelfAdjusting(4, 2), SelfAdjusting(2, 3)])
def test_the_state_of_another_engine_is_refused(other):
    with pytest.raises(BadStateError):
        restore(*state(), other)


@pytest.mark.parametrize("name", ["sizes", "number", "asker", "holder", "set_records", "set_tokens"])
@pytest.mark.parametrize("value", [-1, 1 << 30, -(1 << 31)])
def test_numbers_out_of_range(name, value):
    arrays, plain = state()
    for at in (0, -1):
        changed = {**arrays, name: arrays[name].copy()}
        if name in {"asker", "holder"} and value > 0:
            continue  # any code is a user to the engine; who restores it knows how many there are
        changed[name][at] = np.array(value).astype(arrays[name].dtype)
        with pytest.raises(BadStateError):
            restore(changed, plain)


@pytest.mark.parametrize(
    "name", ["paths", "sizes", "number", "asker", "holder", "indexed", "set_records", "set_tokens"]
)
def test_wrong_lengths_and_types(name):
    arrays, plain = state()
    with pytest.raises(BadStateError):
        restore({n: a for n, a in arrays.items() if n != name}, plain)
    for changed in (arrays[name][:-1], arrays[name][:0], np.append(arrays[name], arrays[name][:1])):
        with pytest.raises(BadStateError):
            restore({**arrays, name: changed}, plain)
    for changed in (arrays[name].astype(np.float64), arrays[name].reshape(-1, 1), arrays[name].astype(np.int16)):
        with pytest.raises(BadStateError):
            restore({**arrays, name: changed}, plain)


@pytest.mark.parametrize(
    "plain",
    [
        {},
        {"entered": -1},
        {"entered": 400},
        {"entered": 400, "words": 5},
        {"entered": 400, "words": 1 << 70},
        {"entered": "x"},
        {"entered": 400, "words": 1 << 20, "cursor": -1},
        {"entered": 400, "words": 1 << 20, "more": 1},
    ],
)
def test_counts_that_cannot_be(plain):
    with pytest.raises(BadStateError):
        restore(state()[0], plain)


def test_a_set_that_must_have_bags_and_one_that_must_not():
    arrays, plain = state()
    with pytest.raises(BadStateError):
        restore({**arrays, "indexed": arrays["indexed"] * np.uint8(255)}, plain)
    for at in range(len(arrays["indexed"])):
        changed = arrays["indexed"].copy()
        changed[at] ^= 1
        with pytest.raises(BadStateError):
            restore({**arrays, "indexed": changed}, plain)


@given(st.data())
def test_a_state_that_was_edited_is_refused_or_harmless(data):
    """What passes the checks also runs: with the JIT off, an index out of range would raise."""
    arrays, plain = state()
    for _ in range(data.draw(st.integers(1, 3))):
        name = data.draw(st.sampled_from(sorted(arrays)))
        at = data.draw(st.integers(0, len(arrays[name]) - 1))
        if data.draw(st.booleans()):
            other = data.draw(st.integers(0, len(arrays[name]) - 1))
            arrays[name][[at, other]] = arrays[name][[other, at]]
        else:
            arrays[name][at] = data.draw(st.integers(0, 120))
    engine = SelfAdjusting(4, 3, random=Randomness(seed=1))
    try:
        from_state(engine, arrays, plain)
    except BadStateError:
        return
    before = engine.waiting
    out = push(engine, long_stream(600, seed=9))
    assert len(out) + engine.waiting == before + 600
    assert (out.candidates >= 4).all()
