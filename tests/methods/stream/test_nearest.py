"""The rules of `nearest`, and its machine against the reference implementation."""

from __future__ import annotations

import pickle
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference.nearest import ReferenceNearest
from scipy.stats import chi2_contingency, chisquare

from querycloak.errors import ParameterError
from querycloak.methods.stream import _nearest_kernels as kernels
from querycloak.methods.stream.nearest import Nearest, numbers
from querycloak.randomness import Randomness


@st.composite
def streams(draw):
    """Records over skewed users (one may ask half of all), one category up to deep trees, k above the users too."""
    users = draw(st.integers(1, 12))
    half = draw(st.booleans())
    user = st.integers(0, users - 1).map(lambda u: 0 if half and u % 2 else u)
    branching = draw(st.integers(1, 3))
    path = st.lists(st.integers(0, branching - 1), max_size=draw(st.integers(1, 6))).map(lambda p: tuple(map(str, p)))
    records = draw(st.lists(st.tuples(user, path), max_size=100))
    settings = {
        "k": draw(st.integers(2, 8)),
        "depth": draw(st.integers(1, 5)),
        "pool": draw(st.sampled_from([0, 3, 10, 40])),
        "max_delay": draw(st.sampled_from([None, None, 1, 5, 30])),
    }
    return records, settings, draw(st.integers(0, 2**32))


def coded(engine, records):
    user = np.array([u for u, _ in records], dtype=np.int32)
    return user, np.array([engine.tree.node(p) for _, p in records], dtype=np.int32)


def check_pools(engine):
    """Every bag, list and count of the machine fits what waits."""
    m, tree = engine._state, engine.tree
    records, tokens = (engine._in_use_of(rows) for rows in (m.records, m.tokens))
    assert len(records) == len(tokens) == engine.waiting
    chains, length = tree.chains()

    def bag(table, row, column):
        return [kernels._get(m, table, row, column, i) for i in range(table[row, column + kernels.SIZE])]

    ready = {}
    for s in range(tree.sets):
        inside = {v for v in range(len(tree)) if s in chains[v, : length[v]].tolist()}
        queries = bag(m.sets, s, kernels.QUERIES)
        assert len(queries) == len(set(queries)) == sum(v in inside for v in records[:, kernels.NODE].tolist())
        assert all(m.records[q, kernels.NODE] in inside for q in queries)
        users = bag(m.sets, s, kernels.USERS)
        waits = {u for v, u in tokens[:, [kernels.NODE, kernels.HOLDER]].tolist() if v in inside}
        assert {int(m.entries[e, kernels.USER]) for e in users} == waits
        assert len(users) == len(waits)
        level = int(m.sets[s, kernels.LEVEL])
        for slot, e in enumerate(users):
            assert m.entries[e, kernels.SLOT] == slot
            assert kernels._find(m, s, m.entries[e, kernels.USER]) == e
            chain, at = [], int(m.entries[e, kernels.HEAD])
            while at >= 0:
                chain.append(at)
                at = int(m.tokens[at, kernels.LINKS + 3 * level + kernels.AFTER])
            assert chain[-1] == m.entries[e, kernels.TAIL]
            assert all(a < b for a, b in pairwise(numbers(m.tokens[chain]).tolist()))
            expected = [v for v, u in tokens[:, [kernels.NODE, kernels.HOLDER]].tolist() if u == m.entries[e, 1]]
            assert len(chain) == sum(v in inside for v in expected)
        if queries and len(users) > engine.k:
            ready.setdefault(int(m.sets[s, kernels.READY_ROW]), set()).add(s)
        if level == 0:
            assert len(bag(m.sets, s, kernels.TOKENS)) == len(queries)
    assert ready == {row: set(bag(m.ready, row, 0)) for row in range(len(m.ready)) if m.ready[row, kernels.SIZE]}
    used = (m.entries[: m.counts[kernels.ENTRY_TOP], kernels.HEAD] >= 0).sum()
    assert used == m.counts[kernels.ENTRIES]
    age, at = [], int(m.counts[kernels.OLDEST])
    while at >= 0:
        age.append(at)
        at = int(m.records[at, kernels.YOUNGER])
    assert numbers(m.records[age]).tolist() == engine.waiting_records().tolist()


@given(streams())
def test_the_four_rules(stream):
    records, settings, seed = stream
    engine = Nearest(**settings, random=Randomness(seed=seed))
    user, node = coded(engine, records)
    k, most = settings["k"], settings["max_delay"]
    gone_records, gone_users = [], []
    for i in range(len(records)):
        there = {*engine.waiting_users().tolist(), int(user[i])}
        out = engine.push_codes(user[i : i + 1], node[i : i + 1])
        assert len(out) <= 2  # rule 4
        assert (out.user != user[out.record]).all()  # rule 1
        assert (out.candidates >= k).all()  # rule 2
        assert len(out) == 0 or len(there) > k
        assert out.delay.tolist() == [i - r for r in out.record.tolist()]
        gone_records += [*out.record.tolist(), *out.dropped_record.tolist()]
        gone_users += [*out.user.tolist(), *out.dropped_user.tolist()]
        assert not Counter(gone_users) - Counter(user[: i + 1].tolist())
        if most is not None:
            assert (engine.waiting_records() > i - most).all()
    # rule 3
    assert sorted(gone_records + engine.waiting_records().tolist()) == list(range(len(records)))
    assert Counter(gone_users) + Counter(engine.waiting_users().tolist()) == Counter(user.tolist())
    assert sum(engine.waiting_per_level()) == int(engine.bag_sizes().sum()) == engine.waiting
    check_pools(engine)


@given(streams(), st.integers(0, 120))
def test_expired_records_leave_or_are_dropped_and_counted(stream, before):
    records, settings, seed = stream
    engine = Nearest(**settings, random=Randomness(seed=seed))
    user, node = coded(engine, records)
    first = engine.push_codes(user, node)
    out = engine.expire(before)
    assert (engine.waiting_records() >= before).all()
    assert (out.user != user[out.record]).all()
    assert (out.candidates >= settings["k"]).all()
    assert len(out.dropped_record) == len(out.dropped_user)
    gone = [*first.record, *first.dropped_record, *out.record, *out.dropped_record, *engine.waiting_records()]
    assert sorted(gone) == list(range(len(records)))
    left = Counter([*first.user, *first.dropped_user, *out.user, *out.dropped_user, *engine.waiting_users()])
    assert left == Counter(user.tolist())
    check_pools(engine)


@given(streams())
def test_a_record_leaves_with_a_user_of_its_own_top_level_category(stream):
    records, settings, seed = stream
    engine = Nearest(**settings, random=Randomness(seed=seed))
    out = engine.push_codes(*coded(engine, records))
    asked = Counter((u, p[:1]) for u, p in records)
    published = Counter((u, records[r][1][:1]) for r, u in zip(out.record.tolist(), out.user.tolist(), strict=True))
    assert not published - asked


@given(streams(), st.lists(st.integers(0, 40), max_size=6))
def test_batches_do_not_matter(stream, cuts):
    records, settings, seed = stream
    whole, parts = (Nearest(**settings, random=Randomness(seed=seed)) for _ in range(2))
    user, node = coded(whole, records)
    assert np.array_equal(node, coded(parts, records)[1])
    expected = whole.push_codes(user, node)
    got, done = [], 0
    for cut in [*cuts, len(records)]:
        got.append(parts.push_codes(user[done : done + cut], node[done : done + cut]))
        done += cut
        parts = pickle.loads(pickle.dumps(parts))
    for name in ("record", "user", "candidates", "delay", "dropped_record", "dropped_user"):
        assert np.array_equal(np.concatenate([getattr(g, name) for g in got]), getattr(expected, name))


STORIES = {
    # (user, path) of a few records, each shows one part; k, depth, pool, max_delay
    "own set": (2, 2, 0, None, "A:a B:a C:a D:a"),
    "own sets first": (2, 2, 3, None, "A:ax B:ay C:az D:ax E:ax F:ay"),
    "full pool": (2, 2, 4, None, "A:ax B:ay C:az A:ax D:ay E:az F:aw"),
    "ties of the last class": (2, 2, 0, None, "A:ax B:ay C:az A:ax D:ay E:az F:ax"),
    "ties of a wide class": (3, 2, 7, None, "A:ax B:ay C:az D:aw E:ax F:av G:au H:at"),
    "the asker is gone": (2, 2, 2, None, "A:ax A:ax A:ax B:ay C:az D:ay E:aw F:ax"),
    "deepest branch": (2, 3, 3, None, "A:axp B:axq C:ayp D:axr E:ayp F:axp"),
    "inner nodes": (2, 3, 2, None, "A:a B:ax C:axp D:ax E:a F:axp"),
    "of age": (2, 2, 50, 4, "A:ax B:ay C:az A:ax D:ay E:az F:aw A:ay B:ax"),
    "dropped": (3, 2, 50, 3, "A:ax B:ay A:ax B:ay A:az C:ax D:ay E:ax"),
    "arity": (2, 1, 0, None, "A:a A:a A:a B:a C:a D:a"),
}


def story(name):
    k, depth, pool, most, text = STORIES[name]
    records = [(r.split(":")[0], tuple(r.split(":")[1])) for r in text.split()]
    return k, depth, pool, most, records


@pytest.mark.slow
@pytest.mark.needs_jit
@pytest.mark.parametrize("name", STORIES)
def test_what_leaves_is_distributed_as_in_the_reference(name):
    """Two-sample chi-square over whole outcomes; 1 in 10,000 by chance in each of 22 tests, with fixed seeds."""
    k, depth, pool, most, records = story(name)
    runs = 2000
    seen, kept = (Counter(), Counter()), (Counter(), Counter())
    user = np.array([ord(u) for u, _ in records], dtype=np.int32)
    for seed in range(runs):
        engine = Nearest(k, depth, pool=pool, max_delay=most, random=Randomness(seed=seed))
        node = np.array([engine.tree.node(p) for _, p in records], dtype=np.int32)
        out = engine.push_codes(user, node)
        gone = list(zip(map(chr, out.user.tolist()), out.record.tolist(), out.candidates.tolist(), strict=True))
        lost = list(zip(map(chr, out.dropped_user.tolist()), out.dropped_record.tolist(), strict=True))
        seen[0][tuple(gone), tuple(lost)] += 1
        kept[0][tuple(engine.waiting_per_level())] += 1
        reference = ReferenceNearest(k, depth, seed, pool=pool, max_delay=float("inf") if most is None else most)
        gone = [row for u, path in records for row in reference.push(u, path)]
        seen[1][tuple(gone), tuple(reference.dropped)] += 1
        kept[1][tuple(reference.waiting_per_level())] += 1
    for a, b in (seen, kept):
        common = [key for key in {*a, *b} if a[key] + b[key] >= 20]
        rare = [sum(c[key] for key in {*a, *b} if key not in common) for c in (a, b)]
        table = [[c[key] for key in common] + ([rare[i]] if sum(rare) >= 20 else []) for i, c in enumerate((a, b))]
        if len(table[0]) > 1:
            assert chi2_contingency(table).pvalue > 1e-4
        else:
            assert table[0] == table[1]


@given(streams())
def test_the_first_departure_comes_at_the_same_record_as_in_the_reference(stream):
    """Up to the first departure nothing depends on chance."""
    records, settings, seed = stream
    engine = Nearest(**settings, random=Randomness(seed=seed))
    most = settings.pop("max_delay")
    reference = ReferenceNearest(**settings, seed=seed, max_delay=float("inf") if most is None else most)
    user, node = coded(engine, records)
    for i, (u, path) in enumerate(records):
        named = path or ("",)  # the unclassified are a category of their own, which the reference has no name for
        out, expected = engine.push_codes(user[i : i + 1], node[i : i + 1]), reference.push(str(u), named)
        if expected or reference.dropped or len(out) or len(out.dropped_record):
            assert (len(out) > 0) == bool(expected)
            assert out.dropped_record.tolist() == [number for _, number in reference.dropped]
            break


@pytest.mark.slow
def test_who_is_published_tells_nothing_of_who_asked():
    """The argument of the module, counted: with all that waits given, the odds of two askers hardly change.

    Ids 0 to 5 wait in one branch, each in its own node but 1, who waits with 0. Record 0 leaves; whether 0 or 1 asked
    it is exchanged. P(p | 0 asked) and P(p | 1 asked) may differ by a factor (k + 1) / k = 4 / 3 at most; with 3,000
    runs the standard error of a share of 1/4 is 0.8 points, and 5 of them are allowed.
    """
    k, runs = 3, 3000
    shares = []
    for asker in (0, 1):
        counts = np.zeros(7)
        for seed in range(runs):
            engine = Nearest(k, 2, pool=50, random=Randomness(seed=seed))
            order = [0, 1] if asker == 0 else [1, 0]
            names = [("a", "x"), ("a", "x"), ("a", "y"), ("a", "z"), ("a", "w"), ("a", "v")]
            user, node = coded(engine, list(zip([*order, 2, 3, 4, 5], names, strict=True)))
            engine.push_codes(user, node)
            out = engine.expire(1)
            counts[out.user[0]] += 1
        assert counts[asker] == 0
        shares.append(counts / runs)
    a, b = shares
    error = 5 * np.sqrt(0.25 * 0.75 / runs)
    for p in range(2, 6):
        assert a[p] <= (k + 1) / k * b[p] + 2 * error
        assert b[p] <= (k + 1) / k * a[p] + 2 * error
    assert chisquare(a[2:6]).pvalue > 1e-6  # all of the last class alike


def test_the_circle_is_drawn_whoever_asked():
    """An asker who waits in the last class is in the circle by chance: then there are k candidates, else k + 1.

    A's first record is in x, and its token has left; A still waits in y, one of five users, of whom the circle has
    three. So there are k + 1 candidates in 2 of 5 runs; of 60 runs or more that is 0.4, deviation 0.063; 4.7 of them.
    """
    among = []
    for seed in range(400):
        engine = Nearest(2, 2, pool=5, random=Randomness(seed=seed))
        user, node = coded(engine, [(u, ("a", name)) for u, name in zip([0, 0, 1, 2, 3, 4], "xyzwvu", strict=True)])
        out = engine.push_codes(user, node)
        if out.user.tolist() == [0] and out.record[0] > 1:
            among += engine.expire(1).candidates.tolist()
    assert len(among) >= 60
    assert {*among} == {2, 3}
    assert 0.1 < among.count(3) / len(among) < 0.7


def test_an_expired_record_leaves_where_a_set_around_it_is_ready():
    """Users 0 to 2 wait in the branch a/x, 3 and 4 in a/y: record 0 leaves with 1 or 2, the last with anybody."""
    for seed in range(20):
        engine = Nearest(2, 3, pool=50, random=Randomness(seed=seed))
        places = [("a", "x", "p"), ("a", "x", "q"), ("a", "x", "r"), ("a", "y", "p"), ("a", "y", "q")]
        engine.push_codes(*coded(engine, list(enumerate(places))))
        out = engine.expire(1)
        assert out.record.tolist() == [0]
        assert out.user[0] in {1, 2}


def test_of_a_users_tokens_the_first_is_used_up():
    """A waits in x and then in y. Where A is published once, only the token in y is left."""
    seen = 0
    for seed in range(40):
        engine = Nearest(2, 2, pool=3, random=Randomness(seed=seed))
        user, node = coded(engine, [(0, ("a", "x")), (0, ("a", "y")), (1, ("a", "z")), (2, ("a", "w"))])
        out = engine.push_codes(user, node)
        if out.user.tolist() == [0]:
            seen += 1
            tokens = engine._in_use_of(engine._state.tokens)
            assert tokens[tokens[:, kernels.HOLDER] == 0, kernels.NODE].tolist() == [node[1]]
    assert seen >= 5


def test_deeper_branches_come_first():
    """Of two ready branches the deeper lets out: the records of its node leave, the other one stays."""
    for seed in range(20):
        engine = Nearest(2, 3, pool=3, random=Randomness(seed=seed))
        records = [(0, ("a", "x", "p")), (1, ("a", "x", "q")), (2, ("a", "x", "r")), (3, ("a", "y", "p"))]
        out = engine.push_codes(*coded(engine, records))
        assert {*out.record.tolist()} <= {0, 1, 2}


def test_nothing_leaves_from_a_branch_before_the_pool_is_full():
    engine = Nearest(2, 2, pool=20, random=Randomness(seed=1))
    assert engine.push([(f"u{i}", f"q{i}", f"a/{i}") for i in range(20)]) == []
    assert len(engine.push([(f"u{i}", f"q{i}", f"a/{i}") for i in range(20, 30)])) == 10
    assert engine.waiting == 20
    assert len(engine.push([(f"v{i}", f"r{i}", "b/x") for i in range(6)])) == 4  # own sets do not wait for the pool


def test_wide_branches_wait_for_narrow_ones():
    """With pool records at hand, deep sets serve first: more of what leaves is of its own branch of depth 2."""
    rng = np.random.default_rng(1)
    batch = [(int(rng.integers(0, 300)), f"q{i}", f"a/{rng.integers(0, 4)}/{rng.integers(0, 40)}") for i in range(3000)]
    asked = {}
    for u, _, path in batch:
        asked.setdefault(str(u), set()).add(path.rpartition("/")[0])
    shares = []
    for pool in (0, 200):
        out = Nearest(5, 3, pool=pool, random=Randomness(seed=1)).push([(str(u), q, c) for u, q, c in batch])
        shares.append(sum(c.rpartition("/")[0] in asked[u] for u, _, c in out) / len(out))
    assert shares[1] > shares[0]


@pytest.mark.needs_jit
def test_memory_does_not_grow_with_the_stream():
    engine = Nearest(5, 4, pool=200, max_delay=2000, random=Randomness(seed=1))
    rng = np.random.default_rng(1)
    nodes = np.array([engine.tree.node((f"t{i % 3}", f"{i % 7}", f"{i % 40}", f"{i}")) for i in range(300)], np.int32)
    seen = []
    for _ in range(12):
        user = np.minimum(rng.lognormal(5, 1.5, 20_000), 20_000).astype(np.int32)
        engine.push_codes(user, nodes[rng.integers(0, len(nodes), 20_000)])
        seen.append(engine.memory)
    assert seen[-1] <= 1.02 * seen[3]
    assert engine.waiting <= 2000


@pytest.mark.parametrize(
    "wrong",
    [
        {"k": 1}, {"k": 2.5}, {"k": True}, {"depth": 0}, {"depth": 1000}, {"pool": -1}, {"pool": 1 << 31},
        {"max_delay": 0}, {"max_delay": 1.5},
    ],
)  # fmt: skip
def test_nonsense_is_refused_at_once(wrong):
    with pytest.raises(ParameterError, match=rf"Nearest\.{next(iter(wrong))} must be an integer >= "):
        Nearest(**wrong)


def test_codes_that_are_not_there_are_refused():
    engine = Nearest()
    for user, node in (([0], [1]), ([-1], [engine.tree.node(("a",))]), ([0, 1], [0])):
        with pytest.raises(ValueError):
            engine.push_codes(np.array(user, np.int32), np.array(node, np.int32))


def test_the_repr_shows_no_user_and_no_query():
    engine = Nearest(2, 2)
    engine.push([("ann", "tea", "Food")])
    assert repr(engine) == "Nearest(k=2, depth=2, 1 waiting)"
