from __future__ import annotations

from collections import Counter
from fractions import Fraction

import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import semantics as reference
from strategies import concept_bags, flatten, taxonomies

from querycloak.distances import _distance_kernels as kernels
from querycloak.distances.distance import SCALE, distances_of
from querycloak.distances.user_concepts import distance_table, user_concepts, user_words
from querycloak.errors import InputError
from querycloak.knowledge.taxonomy import Taxonomy


def odp_example() -> tuple[Taxonomy, dict[str, int]]:
    """The directory of the paper's examples 2 to 4."""
    tree = {
        "Top": None,
        "Sports": "Top",
        "Water Sports": "Sports",
        "Swimming and Diving": "Water Sports",
        "Windsurfing": "Water Sports",
        "Regional": "Top",
        "Europe": "Regional",
        "Regions": "Europe",
        "Mediterranean": "Regions",
    }
    names = list(tree)
    parents = [-1 if above is None else names.index(above) for above in tree.values()]
    taxonomy = Taxonomy.from_parents(parents, [[n] for n in names])
    return taxonomy, {taxonomy.label(c): c for c in range(len(taxonomy))}


def test_example_3_delta_is_one_half() -> None:
    taxonomy, at = odp_example()
    assert reference.ancestors(taxonomy.parent, at["Windsurfing"]) == {
        at["Sports"],
        at["Water Sports"],
        at["Windsurfing"],
    }
    table = distance_table(taxonomy.height)
    assert table[2, 4] / SCALE == 0.5  # shared: Sports, Water Sports; union: these and one each
    bags = user_concepts(np.array([0, 1]), np.array([at["Swimming and Diving"], at["Windsurfing"]]), 2, taxonomy)
    assert distances_of(bags).row(0)[1] / SCALE == 0.5


def test_example_4_distance_is_one_fifth() -> None:
    taxonomy, at = odp_example()
    user = np.array([0, 0, 1, 1, 1])
    names = ["Swimming and Diving", "Mediterranean", "Windsurfing", "Mediterranean", "Mediterranean"]
    bags = user_concepts(user, np.array([at[n] for n in names]), 2, taxonomy)
    for d in (distances_of(bags), distances_of(bags, most_kept=0)):
        assert d.row(0)[1] / SCALE == pytest.approx(1 / 5, abs=2 / SCALE)
        assert d.row(1)[0] == d.row(0)[1]
        assert d.row(0)[0] == 0


def test_the_nearest_is_not_always_below_the_deepest_shared_ancestor() -> None:
    # concept at depth 4 shares 3 ancestors with a very deep concept, 2 with a shallow one: the shallow one is nearer
    parents = [-1, 0, 1, 2, 3, 3, 5, 6, 7, 8, 9, 10, 2]
    taxonomy = Taxonomy.from_parents(parents, [[str(i)] for i in range(len(parents))])
    at = {taxonomy.label(c): c for c in range(len(taxonomy))}
    one, other = Counter([at["4"]]), Counter([at["11"], at["12"]])
    bags = user_concepts(*flatten([one, other]), 2, taxonomy)
    assert distances_of(bags).row(0)[1] == reference.distance(taxonomy.parent, one, other)
    assert reference.delta_exact(taxonomy.parent, at["4"], at["12"]) < reference.delta_exact(
        taxonomy.parent, at["4"], at["11"]
    )


@given(concept_bags())
def test_matrix_and_rows_equal_the_reference(drawn) -> None:
    taxonomy, users = drawn
    bags = user_concepts(*flatten(users), len(users), taxonomy)
    expected = reference.matrix(taxonomy.parent.tolist(), users)
    assert kernels.matrix(bags).tolist() == expected
    assert [kernels.row(bags, u).tolist() for u in range(len(users))] == expected
    assert distances_of(bags, most_kept=0).sums().tolist() == [sum(r) for r in expected]


@given(concept_bags(most_users=4))
def test_integers_stay_within_a_hair_of_the_exact_distance(drawn) -> None:
    taxonomy, users = drawn
    d = kernels.matrix(user_concepts(*flatten(users), len(users), taxonomy))
    for i, a in enumerate(users):
        for j, b in enumerate(users):
            if i != j:
                exact = reference.distance_exact(taxonomy.parent, a, b)
                assert abs(Fraction(int(d[i, j]), SCALE) - exact) <= Fraction(2, SCALE)


@given(st.lists(st.lists(st.integers(0, 5), min_size=1, max_size=5).map(Counter), min_size=2, max_size=8))
def test_flat_words_are_equal_or_different(users) -> None:
    d = kernels.matrix(user_words(*flatten(users), len(users)))
    for i, a in enumerate(users):
        for j, b in enumerate(users):
            differing = sum(n for w, n in a.items() if w not in b) + sum(n for w, n in b.items() if w not in a)
            assert d[i, j] / SCALE == pytest.approx(differing / (a.total() + b.total()), abs=2 / SCALE)


@given(taxonomies(most=60), st.data())
@settings(max_examples=30)
def test_user_trees_hold_every_ancestor_and_the_least_depth(taxonomy, data) -> None:
    users = data.draw(st.lists(st.sets(st.integers(0, len(taxonomy) - 1), min_size=1, max_size=8), min_size=1))
    bags = user_concepts(*flatten([Counter(u) for u in users]), len(users), taxonomy)
    for u, concepts in enumerate(users):
        tree = slice(bags.tree_start[u], bags.tree_start[u + 1])
        nodes = bags.original[bags.tree_node[tree]].tolist()
        assert nodes == sorted({a for c in concepts for a in taxonomy.ancestors(c)})
        below = [[c for c in concepts if taxonomy.covers(x, c)] for x in nodes]
        assert bags.tree_least[tree].tolist() == [min(int(taxonomy.depth[c]) for c in cs) for cs in below]
        assert bags.tree_skip[tree].tolist() == [sum(taxonomy.covers(x, y) for y in nodes) for x in nodes]


def test_threads_do_not_change_the_distances() -> None:
    rng = np.random.default_rng(5)
    parents = [-1] + [int(rng.integers(0, i)) for i in range(1, 400)]
    taxonomy = Taxonomy.from_parents(parents, [[str(i)] for i in range(400)])
    user, concept = np.repeat(np.arange(300), 7), rng.integers(0, 400, 2100)
    bags = user_concepts(user, concept, 300, taxonomy)
    threads = numba.get_num_threads()
    numba.set_num_threads(1)
    one, one_row = kernels.matrix(bags), kernels.row(bags, 17)
    numba.set_num_threads(threads)
    assert (kernels.matrix(bags) == one).all()
    assert (kernels.row(bags, 17) == one_row).all()
    assert (one[17] == one_row).all()


def test_a_user_with_too_many_concepts_is_refused_without_naming_them() -> None:
    taxonomy, at = odp_example()
    user, times = np.array([0, 1]), np.array([kernels.MOST_CONCEPTS, 1])
    with pytest.raises(InputError, match="4,194,304"):
        user_concepts(np.repeat(user, times), np.full(times.sum(), at["Sports"]), 2, taxonomy)
