"""What the kernel of generated logs draws from, as flat arrays and plain numbers."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np  # noqa: TC002 - for the named tuples
import numpy.typing as npt  # noqa: TC002 - for the named tuples

__all__ = ["Habits", "World"]


class World(NamedTuple):
    """What all users share: terms in depth-first order of their concepts, and the common queries."""

    weight: npt.NDArray[np.float64]
    """float64[terms + 1], popularity summed from the left"""
    concept: npt.NDArray[np.int32]
    """int32[terms]"""
    first: npt.NDArray[np.int64]
    """int64[concepts + 1], first term of each concept: subtree c is first[c] .. first[c + size[c]] - 1"""
    parent: npt.NDArray[np.int32]
    size: npt.NDArray[np.int32]
    topics: npt.NDArray[np.int64]
    """int64[topics], roots of the subtrees that queries come from"""
    site_bounds: npt.NDArray[np.int64]
    """int64[topics, 2], first site of each topic, and the first one after"""
    template_weight: npt.NDArray[np.float64]
    """float64[templates + 1], summed from the left"""
    template_bounds: npt.NDArray[np.int64]
    """int64[4], templates by number of terms"""
    form_weight: npt.NDArray[np.float64]
    """float64[forms + 1], ways to type the name of a well-known site, summed from the left"""
    hour_weight: npt.NDArray[np.float64]
    """float64[25], rhythm of the day, summed from the left; no hour is empty"""


class Habits(NamedTuple):
    """How users behave: the settings as plain numbers."""

    days: int
    concepts: int
    """most concepts of a user, 0 = no limit"""
    common: float
    common_first: float
    """rank of the first common query: the ranks before it are left to well-known sites"""
    common_queries: float
    """rank after the last one"""
    common_exponent: float
    """s of Zipf's law for them, other than 1"""
    common_sites: float
    """share of common queries that are typed addresses"""
    common_seed: np.uint64
    named: float
    brands: int
    """how many well-known sites there are"""
    brand_exponent: float
    """s of Zipf's law for them, other than 1"""
    brand_template: int
    personal: float
    repeats: float
    next_pages: float
    sessions: float
    """chance that an event opens a session"""
    reformulate: float
    drift: float
    misspelt: float
    misspellings: int
    """misspellings of a term"""
    two_terms: float
    three_terms: float
    personal_template: int
    personal_kinds: int
