"""Kernels of generated logs: what every user asks and when, and what is clicked.

Each user has a random state of its own, so a user's events do not depend on the others' and the result not on threads.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from querycloak.jit import kernel

__all__ = [
    "ADDED",
    "COMMON",
    "DROPPED",
    "NEXT_PAGE",
    "OWN",
    "PERSONAL_KIND",
    "REPEATED",
    "REPLACED",
    "REWORDED",
    "Habits",
    "World",
    "click_kernel",
    "common_kernel",
    "event_kernel",
]

OWN: Final = 0  # a new query about an interest of the user
COMMON: Final = 1  # a new query of the common background
PERSONAL_KIND: Final = 2
REPEATED: Final = 3  # asked before by the same user
NEXT_PAGE: Final = 4
ADDED: Final = 5  # reformulations of the query before: a term more,
DROPPED: Final = 6  # a term less,
REPLACED: Final = 7  # a term replaced,
REWORDED: Final = 8  # other words around the terms

_DAY: Final = 86_400
_TERM: Final = np.uint64(0x3FFFF)
_INTERESTS: Final = 16


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
    template_weight: npt.NDArray[np.float64]
    """float64[templates + 1], summed from the left"""
    template_bounds: npt.NDArray[np.int64]
    """int64[4], templates by number of terms"""
    hour_weight: npt.NDArray[np.float64]
    """float64[25], summed from the left"""


class Habits(NamedTuple):
    """How users behave: the settings as plain numbers."""

    days: int
    interests: int
    concepts: int
    """most concepts of a user, 0 = no limit"""
    common: float
    personal: float
    repeats: float
    next_pages: float
    sessions: float
    """chance that an event opens a session"""
    reformulate: float
    drift: float
    two_terms: float
    three_terms: float
    personal_template: int
    personal_kinds: int


@kernel
def _next(state: npt.NDArray[np.uint64]) -> np.uint64:
    """Step SplitMix64."""
    state[0] += np.uint64(0x9E3779B97F4A7C15)
    z = state[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@kernel
def _uniform(state: npt.NDArray[np.uint64]) -> float:
    """Draw a number in [0, 1)."""
    return np.float64(_next(state) >> np.uint64(11)) * 2.0**-53


@kernel
def _below(state: npt.NDArray[np.uint64], bound: int) -> int:
    """Draw an integer of 0..bound-1 (bias below bound / 2^53)."""
    return int(_uniform(state) * bound)


@kernel
def _pick(state: npt.NDArray[np.uint64], weight: npt.NDArray[np.float64], low: int, high: int) -> int:
    """Draw an index of low..high-1 by weights summed from the left."""
    goal = weight[low] + _uniform(state) * (weight[high] - weight[low])
    left, right = low, high - 1
    while left < right:
        middle = (left + right) // 2
        if weight[middle + 1] > goal:
            right = middle
        else:
            left = middle + 1
    return left


@kernel
def _term_below(state: npt.NDArray[np.uint64], world: World, concept: int) -> int:
    """Draw a term of the concept's subtree by popularity."""
    return _pick(state, world.weight, world.first[concept], world.first[concept + world.size[concept]])


@kernel
def _anchor(state: npt.NDArray[np.uint64], world: World, within: int, terms: int) -> int:
    """Draw a popular concept in a subtree, and climb until its own subtree has enough terms."""
    node = np.int64(world.concept[_term_below(state, world, within)])
    while node != within and world.first[node + world.size[node]] - world.first[node] < terms:
        node = np.int64(world.parent[node])
    return node


@kernel
def _phrase(state: npt.NDArray[np.uint64], world: World, terms: npt.NDArray[np.int64], count: int) -> np.uint64:
    """Put function words around the terms and pack the phrase."""
    template = _pick(state, world.template_weight, world.template_bounds[count - 1], world.template_bounds[count])
    key = np.uint64(template)
    for i in range(3):
        key = key << np.uint64(18)
        if i < count:
            key |= np.uint64(terms[i])
    return key


@kernel
def _count(state: npt.NDArray[np.uint64], habits: Habits) -> int:
    """Draw the number of terms of a new phrase."""
    draw = _uniform(state)
    if draw < habits.three_terms:
        return 3
    return 2 if draw < habits.three_terms + habits.two_terms else 1


@kernel
def _distinct(state: npt.NDArray[np.uint64], world: World, anchor: int, terms: npt.NDArray[np.int64], count: int) -> int:
    """Fill terms[:count] from a subtree, without two equal ones; fewer where the subtree is too small."""
    filled = 0
    for _ in range(4 * count):
        if filled == count:
            break
        term = _term_below(state, world, anchor)
        fresh = True
        for j in range(filled):
            fresh = fresh and terms[j] != term
        if fresh:
            terms[filled] = term
            filled += 1
    return filled


@kernel
def common_kernel(seed: np.uint64, world: World, habits: Habits, key: npt.NDArray[np.uint64]) -> None:
    """Make the phrases of the common background: by overall popularity, a topic at random for each."""
    state = np.array([seed], dtype=np.uint64)
    terms = np.zeros(3, dtype=np.int64)
    for i in range(len(key)):
        topic = world.topics[_below(state, len(world.topics))]
        near = _anchor(state, world, topic, 16)
        count = _distinct(state, world, near, terms, _count(state, habits))
        key[i] = _phrase(state, world, terms, count)


@kernel
def _unpack(world: World, key: np.uint64, terms: npt.NDArray[np.int64]) -> int:
    """Read the terms of a phrase; 0 where it is not made of terms."""
    template = np.int64(key >> np.uint64(54))
    if template >= world.template_bounds[3]:
        return 0
    count = 1
    while template >= world.template_bounds[count]:
        count += 1
    for i in range(3):
        terms[i] = np.int64((key >> np.uint64(36 - 18 * i)) & _TERM)
    return count


@kernel
def _reformulate(
    state: npt.NDArray[np.uint64], world: World, anchor: int, key: np.uint64, terms: npt.NDArray[np.int64]
) -> tuple[np.uint64, int]:
    """Change the query before: add, drop or replace a term, or other words around. Unchanged keys have kind -1."""
    count = _unpack(world, key, terms)
    if count == 0:
        return key, -1
    draw = _uniform(state)
    if draw < 0.35 and count < 3:
        terms[count] = _term_below(state, world, anchor)
        count, kind = count + 1, ADDED
    elif draw < 0.6 and count > 1:
        if _uniform(state) < 0.5:
            for i in range(count - 1):
                terms[i] = terms[i + 1]
        count, kind = count - 1, DROPPED
    elif draw < 0.85:
        terms[_below(state, count)] = _term_below(state, world, anchor)
        kind = REPLACED
    else:
        kind = REWORDED
    changed = _phrase(state, world, terms, count)
    return changed, (kind if changed != key else -1)


@kernel
def _session_times(
    state: npt.NDArray[np.uint64], world: World, days: int, opens: npt.NDArray[np.bool_]
) -> npt.NDArray[np.int64]:
    """Draw when each session begins, in order: a day, an hour by the rhythm of the day, a second."""
    times = np.empty(np.sum(opens), dtype=np.int64)
    for i in range(len(times)):
        hour = _pick(state, world.hour_weight, 0, 24)
        times[i] = _below(state, days) * _DAY + hour * 3600 + _below(state, 3600)
    times.sort()
    return times


@kernel
def _own_pool(
    state: npt.NDArray[np.uint64], world: World, habits: Habits, anchors: npt.NDArray[np.int64]
) -> npt.NDArray[np.int64]:
    """Draw the few terms of a user whose concepts are limited, one term a concept: int64[at most habits.concepts]."""
    pool = np.empty(habits.concepts, dtype=np.int64)
    filled = 0
    for _ in range(8 * habits.concepts):
        if filled == habits.concepts:
            break
        term = _term_below(state, world, anchors[_below(state, len(anchors))])
        fresh = True
        for j in range(filled):
            fresh = fresh and world.concept[pool[j]] != world.concept[term]
        if fresh:
            pool[filled] = term
            filled += 1
    return pool[:filled]


@kernel
def _from_pool(
    state: npt.NDArray[np.uint64], pool: npt.NDArray[np.int64], terms: npt.NDArray[np.int64], count: int
) -> int:
    """Fill terms[:count] from the user's few terms, all different."""
    count = min(count, len(pool))
    filled = 0
    while filled < count:
        term = pool[_below(state, len(pool))]
        fresh = True
        for j in range(filled):
            fresh = fresh and terms[j] != term
        if fresh:
            terms[filled] = term
            filled += 1
    return filled


@kernel
def _one_user(
    user: int,
    state: npt.NDArray[np.uint64],
    world: World,
    habits: Habits,
    common: tuple[npt.NDArray[np.uint64], npt.NDArray[np.float64]],
    out: tuple[npt.NDArray[np.uint64], npt.NDArray[np.int64], npt.NDArray[np.int8]],
    anchors: npt.NDArray[np.int64],
) -> None:
    """Write the events of one user; `anchors` is filled with the interests at the start."""
    key, time, kind = out
    n = len(key)
    held = min(1 + _below(state, 2 * habits.interests - 1), len(anchors))
    extent = np.empty(held, dtype=np.int64)
    home = np.empty(held, dtype=np.int64)
    rank = np.empty(held + 1, dtype=np.float64)
    rank[0] = 0.0
    for i in range(held):
        extent[i] = int(16.0 * 128.0 ** _uniform(state))
        home[i] = world.topics[_below(state, len(world.topics))]
        anchors[i] = _anchor(state, world, home[i], extent[i])
        rank[i + 1] = rank[i] + 1.0 / (i + 1)
    place = anchors[:held].copy()
    pool = np.empty(0, dtype=np.int64)
    if habits.concepts:
        pool = _own_pool(state, world, habits, place)
    opens = np.empty(n, dtype=np.bool_)
    for i in range(n):
        opens[i] = i == 0 or _uniform(state) < habits.sessions
    begins = _session_times(state, world, habits.days, opens)
    terms = np.zeros(3, dtype=np.int64)
    session, now, interest = -1, -1, 0
    for i in range(n):
        if opens[i]:
            session += 1
            now = max(begins[session], now + 1)
            interest = _pick(state, rank, 0, held)
            if _uniform(state) < habits.drift and place[interest] != home[interest]:
                above = np.int64(world.parent[place[interest]])
                place[interest] = _anchor(state, world, above, extent[interest])
        else:
            now += 1 + int(-90.0 * np.log(1.0 - _uniform(state)))
        time[i] = now
        draw = _uniform(state)
        if not opens[i] and draw < habits.next_pages:
            key[i], kind[i] = key[i - 1], NEXT_PAGE
            continue
        draw = _uniform(state)
        if i > 0 and draw < habits.repeats:
            key[i], kind[i] = key[_below(state, i)], REPEATED
            continue
        if not opens[i] and habits.concepts == 0 and _uniform(state) < habits.reformulate:
            changed, how = _reformulate(state, world, place[interest], key[i - 1], terms)
            if how >= 0:
                key[i], kind[i] = changed, how
                continue
        draw = _uniform(state)
        if draw < habits.personal:
            template = habits.personal_template + _below(state, habits.personal_kinds)
            person = 0 if _uniform(state) < 0.5 else 1 + _below(state, 3)
            key[i], kind[i] = (np.uint64(template) << np.uint64(54)) | np.uint64(4 * user + person), PERSONAL_KIND
        elif draw < habits.personal + habits.common and habits.concepts == 0:
            key[i], kind[i] = common[0][_pick(state, common[1], 0, len(common[0]))], COMMON
        else:
            count = _count(state, habits)
            if habits.concepts:
                count = _from_pool(state, pool, terms, count)
            else:
                count = _distinct(state, world, place[interest], terms, count)
            key[i], kind[i] = _phrase(state, world, terms, count), OWN
    late = time[n - 1] - (habits.days * _DAY - 1)
    if late > 0:
        for i in range(n):
            time[i] -= late


@kernel
def event_kernel(
    starts: npt.NDArray[np.int64],
    seeds: npt.NDArray[np.uint64],
    world: World,
    habits: Habits,
    common: tuple[npt.NDArray[np.uint64], npt.NDArray[np.float64]],
    out: tuple[npt.NDArray[np.uint64], npt.NDArray[np.int64], npt.NDArray[np.int8]],
    anchors: npt.NDArray[np.int64],
) -> None:
    """Write key, time and kind of every event, and the interests of every user: anchors int64[users, most], -1 filled.

    Events of user u are starts[u] .. starts[u + 1] - 1, in the order of time, times strictly increasing.
    """
    for user in range(len(seeds)):
        low, high = starts[user], starts[user + 1]
        state = seeds[user : user + 1].copy()
        mine = (out[0][low:high], out[1][low:high], out[2][low:high])
        _one_user(user, state, world, habits, common, mine, anchors[user])


@kernel
def click_kernel(
    count: npt.NDArray[np.int64],
    seed: npt.NDArray[np.uint64],
    page: npt.NDArray[np.int64],
    results: tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.int64]],
    rank_weight: npt.NDArray[np.float64],
    rank: npt.NDArray[np.int32],
    site: npt.NDArray[np.int32],
) -> None:
    """Write rank and site of every click.

    Event e has count[e] clicks; its results are the `span` sites from `low`, in a circle from `top`. Ranks of one event
    rise: the first by weight, each further one 1 to 3 places below.
    """
    low, span, top = results
    row = 0
    for event in range(len(count)):
        if count[event] == 0:
            row += 1
            continue
        state = seed[event : event + 1].copy()
        place = 1 + _pick(state, rank_weight, 0, len(rank_weight) - 1) + 10 * page[event]
        for i in range(count[event]):
            if i > 0:
                place += 1 + _below(state, 3)
            rank[row] = place
            site[row] = low[event] + (top[event] + place - 1) % span[event]
            row += 1
