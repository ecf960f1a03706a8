"""The tree of categories: the same nodes and sets as the reference, whichever way paths come in."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from querycloak.arrays.vocabulary import ByteCodes
from querycloak.mapping.category_tree import CategoryTree, split_path
from tests.reference.category_tree import ReferenceTree

NAMES = st.sampled_from(["a", "b", "Top", "top", "TOP", "Sports", "Rowing boats", "é", "été", "x" * 40, "0"])
PATHS = st.lists(st.lists(NAMES, max_size=5).map(tuple), max_size=40)
WRITTEN = st.lists(
    st.text(st.sampled_from("aB/:/ \ttopTOP\u00a0é\x00\x7f"), min_size=1, max_size=12).filter(bool), max_size=30
)


def assert_same(tree: CategoryTree, reference: ReferenceTree) -> None:
    chains, length = tree.chains()
    found = [row[:n].tolist() for row, n in zip(chains, length.tolist(), strict=True)]
    assert found == reference.chains
    assert all((row[n:] == -1).all() for row, n in zip(chains, length.tolist(), strict=True))
    assert (len(tree), tree.sets) == (len(reference.chains), reference.sets)
    assert tree.paths() == list(reference.nodes)
    assert tree.depths().tolist() == [len(path) for path in reference.nodes]


@given(paths=PATHS, more=PATHS, depth=st.integers(1, 6), borrows=st.booleans())
def test_the_same_nodes_as_the_reference(paths, more, depth, borrows):
    tree, reference = CategoryTree(depth, borrows=borrows), ReferenceTree(depth, borrows=borrows)
    assert tree.nodes(paths).tolist() == [reference.node(path) for path in paths]
    known = len(tree)
    assert [tree.node(path) for path in more] == [reference.node(path) for path in more]
    assert_same(tree, reference)
    chains, length = tree.chains(known)
    assert [row[:n].tolist() for row, n in zip(chains, length.tolist(), strict=True)] == reference.chains[known:]


@given(texts=WRITTEN, separator=st.sampled_from(["/", ":", "a", " ", "\t", "//", "é"]), first=st.integers(0, 5))
def test_written_paths_are_split_as_whole_texts_are(texts, separator, first):
    codes = ByteCodes()
    for text in texts:
        codes.add(text.encode())
    first = min(first, len(codes))
    tree, other = CategoryTree(3), CategoryTree(3)
    known = [split_path(codes.text(c).decode(), separator) for c in range(first, len(codes))]
    assert tree.nodes_from(codes, first, separator).tolist() == other.nodes(known).tolist()
    assert tree.paths() == other.paths()


@pytest.mark.parametrize("borrows", [True, False])
def test_many_categories_of_many_lengths(borrows):
    """Every array grows several times; a path longer than all room there is finds its own."""
    rng = np.random.default_rng(3)
    paths = [tuple(f"n{rng.integers(12)}" for _ in range(rng.integers(0, 9))) for _ in range(3_000)]
    paths.insert(1_000, tuple("y" * 3_000 for _ in range(300)))
    tree, reference = CategoryTree(7, borrows=borrows), ReferenceTree(7, borrows=borrows)
    codes, kept = ByteCodes(), list(dict.fromkeys(path for path in paths if path))
    for path in kept:
        codes.add("/".join(path).encode())
    assert tree.nodes_from(codes, 0, "/").tolist() == [reference.node(path) for path in kept]
    assert tree.node(()) == reference.node(())
    assert_same(tree, reference)


def test_separators_alone_are_a_bad_path():
    codes = ByteCodes()
    for text in (b"a" + b"/" * 400 + b"b", b"////", b"/Top/", b"a/b", b"/a/b/"):
        codes.add(text)
    tree = CategoryTree(5)
    assert tree.nodes_from(codes, 0, "/").tolist() == [-1, -1, 0, 1, 1]
    assert tree.paths() == [(), ("a", "b")]


def test_a_path_with_an_empty_level_has_no_node():
    with pytest.raises(ValueError, match="empty level"):
        CategoryTree(3).node(None)
