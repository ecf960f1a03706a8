"""What is clicked: how many results of a search, at which ranks, and which sites are there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

from querycloak.generator.phrases import BRAND, PERSONAL, SITE, payload_of, template_of
from querycloak.logs.query_log import NO_CODE

if TYPE_CHECKING:
    from querycloak.generator.world import Sites
    from querycloak.randomness import Randomness

__all__ = ["Clicks", "draw_clicks"]

CLICKED: Final = 11_951_424 / 28_898_362
"""Share of AOL's query events (21,011,340 new, 7,887,022 further pages) that have a click (16,946,938 have none)."""

CLICKS_WHERE_ANY: Final = 19_442_629 / 11_951_424
"""Clicks of an event that has any, in the AOL log."""

_PAGE: Final = 10
_RANK_EXPONENT: Final = 1.4
"""The first click falls on rank r of its page with weight 1 / r^1.4: over 40 % on the first."""


@dataclass(frozen=True, eq=False)
class Clicks:
    """Rows of a log with clicks: one per click, and one per event without any."""

    event: npt.NDArray[np.int64]
    """int64[rows], rising"""
    rank: npt.NDArray[np.int32]
    """int32[rows], from 1, rising within an event; -1 = no click"""
    site: npt.NDArray[np.int32]
    """int32[rows], -1 = no click"""


def draw_clicks(
    keys: npt.NDArray[np.uint64],
    page: npt.NDArray[np.int64],
    concept: npt.NDArray[np.int32],
    sites: Sites,
    random: Randomness,
) -> Clicks:
    """Draw the clicks of every event, given what was asked, the result page, and the concept (-1 = any).

    The results of a query are the sites of its concept (or of the nearest one above with enough), in a circle from a
    position that the query decides: the same query finds the same sites. A typed address finds its site first. Further
    clicks of one event are one to three ranks below the one before.
    """
    count = _counts(len(keys), random)
    event = np.repeat(np.arange(len(keys)), np.maximum(count, 1))
    opens = np.ones(len(event), dtype=np.bool_)
    opens[1:] = event[1:] != event[:-1]
    weight = np.cumsum(np.arange(1, _PAGE + 1, dtype=np.float64) ** -_RANK_EXPONENT)
    first = _PAGE * page + 1 + np.searchsorted(weight, random.uniform(len(keys)) * weight[-1], side="right")
    below = np.cumsum(np.where(opens, 0, 1 + random.integers(3, len(event))))
    rank = first[event] + below - below[opens][event]
    asked = _asked_site(keys, sites)
    about = np.where(asked != NO_CODE, sites.concept[asked], np.maximum(concept, 0))
    low, span, top = sites.low[about], sites.span[about], _top_result(keys, asked, sites, about)
    site = low[event] + (top[event] + rank - 1) % span[event]
    clicked = count[event] > 0
    return Clicks(
        event,
        np.where(clicked, rank, NO_CODE).astype(np.int32),
        np.where(clicked, site, NO_CODE).astype(np.int32),
    )


def _counts(events: int, random: Randomness) -> npt.NDArray[np.int64]:
    """Draw the number of clicks of each event: none, or geometric from 1. int64[events]."""
    further = np.log(1.0 - random.uniform(events)) / np.log(1.0 - 1.0 / CLICKS_WHERE_ANY)
    return np.where(random.uniform(events) < CLICKED, 1 + further.astype(np.int64), 0)


def _asked_site(keys: npt.NDArray[np.uint64], sites: Sites) -> npt.NDArray[np.int64]:
    """Return the site that each query asks for by its name or address: int64[events], -1 = none."""
    template, payload = template_of(keys), payload_of(keys)
    asked = np.where((template >= SITE) & (template < BRAND), payload, NO_CODE)
    named = np.flatnonzero((template >= BRAND) & (template < PERSONAL))
    asked[named] = sites.brand[payload[named]]
    return asked


def _top_result(
    keys: npt.NDArray[np.uint64], asked: npt.NDArray[np.int64], sites: Sites, about: npt.NDArray[np.int32]
) -> npt.NDArray[np.int64]:
    """Return the position of each query's first result among those it finds: int64[events]."""
    top = (keys * np.uint64(0x9E3779B97F4A7C15) >> np.uint64(20)).astype(np.int64) % sites.span[about]
    return np.where(asked != NO_CODE, asked - sites.low[about], top)
