import numpy as np
import pytest
from sample_worlds import make

from querycloak.errors import ParameterError
from querycloak.generator.tree import generate_directory_tree
from querycloak.knowledge.wordnet import load_wordnet
from querycloak.randomness import Randomness


@pytest.fixture(scope="module")
def tree():
    return generate_directory_tree(load_wordnet(), Randomness(seed=4))


def test_depth_and_names(tree):
    assert tree.height == 13
    assert int((tree.depth == 1).sum()) == 15
    assert len(set(tree.paths)) == len(tree)
    assert tree.paths[5].startswith("Top/")


def test_queries_have_nine_levels_on_average(tree):
    """AOL in the Open Directory: 1 to 13 levels, mean about 9. Popular categories move the mean by a few tenths."""
    log = make(tree, users=500, queries=30_000, categories=True, clicks=False, order="time").log
    known = log.category[log.category >= 0]
    levels = (log.categories.str.count_matches("/").to_numpy())[known]
    assert levels.min() >= 1
    assert levels.max() == 13
    assert levels.mean() == pytest.approx(9, abs=0.5)
    assert len(known) / len(log) > 0.98
    assert (np.diff(log.time) >= 0).all()


def test_a_tree_too_small_is_refused():
    with pytest.raises(ParameterError, match="categories must be an integer >= 28, got 20"):
        generate_directory_tree(load_wordnet(), Randomness(seed=1), categories=20)
    with pytest.raises(ParameterError, match="depth must be"):
        generate_directory_tree(load_wordnet(), Randomness(seed=1), depth=0)
