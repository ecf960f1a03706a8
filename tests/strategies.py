"""What Hypothesis draws for tests of several folders: small taxonomies and bags of concepts."""

from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import strategies as st

from querycloak.knowledge.taxonomy import Taxonomy


@st.composite
def taxonomies(draw, most=24):
    """A tree of up to `most` concepts, deep or flat."""
    n = draw(st.integers(1, most))
    reach = draw(st.sampled_from([1, 3, most]))
    parents = [-1] + [draw(st.integers(max(0, i - reach), i - 1)) for i in range(1, n)]
    return Taxonomy.from_parents(parents, [[f"concept {i}"] for i in range(n)])


@st.composite
def bags_in(draw, taxonomy, least_users=2, most_users=12):
    """Concepts of each user, as counters; few concepts, so that ties are common."""
    concepts = st.integers(0, len(taxonomy) - 1)
    bag = st.lists(concepts, min_size=1, max_size=6).map(Counter)
    return draw(st.lists(bag, min_size=least_users, max_size=most_users))


@st.composite
def concept_bags(draw, least_users=2, most_users=12):
    """A taxonomy and the bags of some users."""
    taxonomy = draw(taxonomies())
    return taxonomy, draw(bags_in(taxonomy, least_users, most_users))


def flatten(bags: list[Counter]):
    """Return the bags as arrays (user, concept), one entry a repetition."""
    pairs = [(u, c) for u, bag in enumerate(bags) for c in bag.elements()]
    return np.array([p[0] for p in pairs], dtype=np.int32), np.array([p[1] for p in pairs], dtype=np.int32)
