from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from querycloak.errors import TaxonomyError, UnknownNameError
from querycloak.knowledge.taxonomy import ROOT, Taxonomy


@st.composite
def parents(draw, most=40):
    """Parents of a random tree whose numbering is shuffled."""
    n = draw(st.integers(1, most))
    links = [-1] + [draw(st.integers(0, i - 1)) for i in range(1, n)]
    shuffled = draw(st.permutations(range(n)))
    out = [0] * n
    for i, above in enumerate(links):
        out[shuffled[i]] = -1 if above < 0 else shuffled[above]
    return out


def reference(links):
    """Old numbers depth-first, and per old number its depth, subtree and leaves."""
    below = {i: [j for j, p in enumerate(links) if p == i] for i in range(len(links))}

    def walk(i, depth):
        rows = [(i, depth)]
        for j in below[i]:
            rows += walk(j, depth + 1)
        return rows

    rows = walk(links.index(-1), 0)
    size = {i: len(walk(i, 0)) for i in below}
    leaves = {i: sum(not below[j] for j, _ in walk(i, 0)) for i in below}
    return rows, size, leaves


def tree(links):
    return Taxonomy.from_parents_with_order(links, [[f"c{i}"] for i in range(len(links))])


@given(parents())
def test_depth_first_equals_reference(links):
    taxonomy, order = tree(links)
    rows, size, leaves = reference(links)
    assert order.tolist() == [i for i, _ in rows]
    assert taxonomy.depth.tolist() == [d for _, d in rows]
    assert taxonomy.size.tolist() == [size[i] for i, _ in rows]
    assert taxonomy.leaves.tolist() == [leaves[i] for i, _ in rows]
    assert [order[p] if p >= 0 else -1 for p in taxonomy.parent] == [links[i] for i, _ in rows]
    assert [taxonomy.label(c) for c in range(len(links))] == [f"c{i}" for i, _ in rows]


@given(parents(), st.data())
def test_helpers_equal_reference(links, data):
    taxonomy, _ = tree(links)
    n = len(taxonomy)
    a, b = data.draw(st.integers(0, n - 1)), data.draw(st.integers(0, n - 1))
    above_a, above_b = taxonomy.ancestors(a), taxonomy.ancestors(b)
    assert taxonomy.lca(a, b) == next(c for c in above_a if c in above_b)
    assert taxonomy.covers(a, b) == (a in above_b)
    assert taxonomy.children(a) == np.flatnonzero(taxonomy.parent == a).tolist()
    depth = data.draw(st.integers(0, taxonomy.height + 1))
    expected = [next((x for x in taxonomy.ancestors(c) if taxonomy.depth[x] <= depth), ROOT) for c in range(n)]
    assert taxonomy.ancestor_at_depth(depth).tolist() == expected
    assert taxonomy.paths == [taxonomy.path(c) for c in range(n)]
    assert taxonomy.all_parents(a) == above_a[1:2]


def test_senses_and_graph():
    taxonomy = Taxonomy.from_depth_first(
        np.array([-1, 0, 1, 0], np.int32),
        [("thing",), ("Bank", "bank"), ("shore",), ("firm", "bank")],
        name="small",
        more_parents=(np.array([2], np.int32), np.array([3], np.int32)),
        sense=np.array([0, 1, 1, 0, 0, 0], np.int32),
    )
    assert taxonomy.find("BANK") == [3, 1]
    assert taxonomy.concept("bank") == 3
    assert taxonomy.first_sense["bank"] == 3
    assert taxonomy.find("river") == []
    assert taxonomy.all_parents(2) == [1, 3]
    assert taxonomy.all_parents(ROOT) == []
    assert taxonomy.concept("thing/firm") == 3


def test_without_senses_the_least_deep_comes_first():
    taxonomy = Taxonomy.from_parents([-1, 0, 1, 0], [["top"], ["arts"], ["news"], ["News"]])
    assert taxonomy.find("news") == [3, 2]


def test_unknown_label_names_the_nearest():
    taxonomy = Taxonomy.from_parents([-1, 0, 0], [["sport"], ["diving"], ["driving"]])
    with pytest.raises(UnknownNameError, match=r"'divng'.*nearest are: 'diving', 'driving'"):
        taxonomy.concept("divng")


@pytest.mark.parametrize(
    ("links", "message"),
    [
        ([], "empty"),
        ([-1, -1], "2 roots \\('a', 'b'\\)"),
        ([-1, 2, 1], "cycle through '[bc]'"),
        ([0], "cycle through 'a'"),
        ([-1, 7], "'b' has a parent that does not exist"),
        ([-1, -3], "'b' has a parent that does not exist"),
    ],
)
def test_what_is_not_one_tree_is_refused(links, message):
    with pytest.raises(TaxonomyError, match=message):
        Taxonomy.from_parents(links, [[name] for name in "abc"[: len(links)]])


@pytest.mark.parametrize("parents", [[0], [-1, -1], [-1, 1], [-1, 2, 1], [-1, 0, 3, 2]])
def test_links_that_might_never_end_are_refused(parents):
    with pytest.raises(ValueError, match="one tree"):
        Taxonomy.from_depth_first(np.array(parents, dtype=np.int32), [["x"]] * len(parents), name="broken")
