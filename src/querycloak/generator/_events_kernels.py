"""The kernel of generated logs: what every user asks, and when.

Each user has a separate random state, so that a user's events do not depend on the others', nor the result on threads.

The memory:

    state    uint64[1], the random state (SplitMix64) of one user, or of one common query
    terms    int64[3], scratch: the terms of the phrase that is being made
    out      (key uint64, time int64, kind int8), one slice per user, filled in the order of time
    anchors  int64[users, most], the concept of each interest at the start; -1 = none

    key, one number per phrase:   | template, 10 bits | term, 18 | term, 18 | term, 18 |
             misspelt:            | template          | term     | term, 0  | which    |
             a typed address:     | template          | site                           |
             a well-known site:   | template          | brand, the most popular = 0    |
             a personal query:    | template          | 4 * user + person              |

What holds between two events of a user: times are strictly ascending; key[0 .. i - 1] are the user's queries so far,
which repetitions are drawn from; focus[j] is the concept of interest j now, at or below home[j], its topic.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

from querycloak.arrays.jit import kernel, wraps_around

if TYPE_CHECKING:
    from querycloak.generator.model import Habits, World

__all__ = [
    "ADDED",
    "COMMON",
    "DROPPED",
    "NAMED",
    "NEXT_PAGE",
    "OWN",
    "PERSONAL_KIND",
    "REPEATED",
    "REPLACED",
    "REWORDED",
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
NAMED: Final = 9  # a new query that only names a well-known site

_DAY: Final = 86_400
# fields of a key
_TERM_BITS: Final = np.uint64(18)
_TERM: Final = np.uint64(0x3FFFF)
_TEMPLATE_AT: Final = np.uint64(54)


@kernel
@wraps_around
def _next(state: npt.NDArray[np.uint64]) -> np.uint64:
    """Step SplitMix64."""
    state[0] += np.uint64(0x9E3779B97F4A7C15)
    z = state[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.uint64(z ^ (z >> np.uint64(31)))


@kernel
def _uniform(state: npt.NDArray[np.uint64]) -> float:
    """Draw a number in [0, 1)."""
    return float(_next(state) >> np.uint64(11)) * 2.0**-53


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
    return int(node)


@kernel
def _phrase(
    state: npt.NDArray[np.uint64], world: World, habits: Habits, terms: npt.NDArray[np.int64], count: int
) -> np.uint64:
    """Put words around the terms, misspell one now and then where the key has room for it, and pack the phrase."""
    template = _pick(state, world.template_weight, world.template_bounds[count - 1], world.template_bounds[count])
    key = np.uint64(template)
    for i in range(3):
        key = key << _TERM_BITS
        if i < count:
            key |= np.uint64(terms[i])
    if _uniform(state) < habits.misspelt and count < 3:
        key |= np.uint64(1 + _below(state, habits.misspellings))
    return key


@kernel
def _count(state: npt.NDArray[np.uint64], habits: Habits) -> int:
    """Draw the number of terms of a new phrase."""
    draw = _uniform(state)
    if draw < habits.three_terms:
        return 3
    return 2 if draw < habits.three_terms + habits.two_terms else 1


@kernel
def _among(values: npt.NDArray[np.int64], count: int, value: int) -> bool:
    """Tell whether a value is among the first `count`."""
    for i in range(count):  # noqa: SIM110 - `any` over a generator does not compile
        if values[i] == value:
            return True
    return False


@kernel
def _another(
    state: npt.NDArray[np.uint64], world: World, anchor: int, terms: npt.NDArray[np.int64], count: int, slot: int
) -> int:
    """Put a term of the subtree into terms[slot] that is not among terms[:count], if four draws find one.

    Returns the number of terms then.
    """
    for _ in range(4):
        term = _term_below(state, world, anchor)
        if not _among(terms, count, term):
            terms[slot] = term
            return max(count, slot + 1)
    return count


@kernel
def _distinct(
    state: npt.NDArray[np.uint64], world: World, anchor: int, terms: npt.NDArray[np.int64], count: int
) -> int:
    """Fill terms from a subtree with up to `count` different ones, at least one; return how many."""
    terms[0] = _term_below(state, world, anchor)
    filled = 1
    for _ in range(1, count):
        filled = _another(state, world, anchor, terms, filled, filled)
    return filled


@kernel
@wraps_around
def _seed_of_rank(seed: np.uint64, rank: np.uint64) -> np.uint64:
    """Return the random state of a common query: the same for every user who asks it."""
    return seed + rank * np.uint64(0xD1342543DE82EF95)


@kernel
def _zipf(state: npt.NDArray[np.uint64], first: float, end: float, exponent: float) -> int:
    """Draw a rank of first..end-1, by r^-s.

    The continuous law, inverted and cut down to an integer, so that nothing has to be stored for the many rare ones.
    """
    flat = 1.0 - exponent
    low, high = first**flat, end**flat
    return min(max(int((low + _uniform(state) * (high - low)) ** (1.0 / flat)), int(first)), int(end) - 1)


@kernel
def _common(state: npt.NDArray[np.uint64], world: World, habits: Habits, terms: npt.NDArray[np.int64]) -> np.uint64:
    """Draw a query of the common background: its rank by Zipf's law, and what it says by its rank alone.

    Common queries are shorter than users' own: half of the phrases have one term, the others as many as own ones.
    """
    rank = np.uint64(_zipf(state, habits.common_first, habits.common_queries, habits.common_exponent))
    own = np.array([_seed_of_rank(habits.common_seed, rank)], dtype=np.uint64)
    topic = _below(own, len(world.topics))
    if _uniform(own) < habits.common_sites:
        low, high = world.site_bounds[topic]
        site = np.uint64(low + _below(own, high - low))
        return np.uint64(world.template_bounds[3] + _below(own, 2)) << _TEMPLATE_AT | site
    near = _anchor(own, world, world.topics[topic], 16)
    count = _distinct(own, world, near, terms, 1 if _uniform(own) < 0.5 else _count(own, habits))
    return _phrase(own, world, habits, terms, count)


@kernel
def _unpack(world: World, key: np.uint64, terms: npt.NDArray[np.int64]) -> int:
    """Read the terms of a phrase and return how many there are; 0 where it is not made of terms."""
    template = np.int64(key >> _TEMPLATE_AT)
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
    state: npt.NDArray[np.uint64],
    world: World,
    habits: Habits,
    anchor: int,
    key: np.uint64,
    terms: npt.NDArray[np.int64],
) -> tuple[np.uint64, int]:
    """Change the query before: add, drop or replace a term, or other words around. Unchanged keys have kind -1."""
    count = _unpack(world, key, terms)
    if count == 0:
        return key, -1
    draw = _uniform(state)
    if draw < 0.35 and count < 3:
        more = _another(state, world, anchor, terms, count, count)
        kind = ADDED if more > count else REWORDED
        count = more
    elif draw < 0.6 and count > 1:
        if _uniform(state) < 0.5:
            for i in range(count - 1):
                terms[i] = terms[i + 1]
        count, kind = count - 1, DROPPED
    elif draw < 0.85:
        slot = _below(state, count)
        old = terms[slot]
        _another(state, world, anchor, terms, count, slot)
        kind = REPLACED if terms[slot] != old else REWORDED
    else:
        kind = REWORDED
    changed = _phrase(state, world, habits, terms, count)
    return changed, (kind if changed != key else -1)


@kernel
def _session_times(
    state: npt.NDArray[np.uint64], rhythm: npt.NDArray[np.float64], days: int, begins: npt.NDArray[np.int64]
) -> None:
    """Draw when each session begins, in order: uniform over the days, by the rhythm of the hours within one.

    Sums of exponential gaps, divided by the last, are sorted uniform numbers.
    """
    gaps = np.empty(len(begins) + 1, dtype=np.float64)
    total = 0.0
    for i in range(len(gaps)):
        total -= np.log(1.0 - _uniform(state))
        gaps[i] = total
    for i in range(len(begins)):
        day = min(gaps[i] / total, 1.0 - 2.0**-53) * days
        goal = (day - int(day)) * rhythm[24]
        hour = 0
        while rhythm[hour + 1] <= goal:
            hour += 1
        within = (goal - rhythm[hour]) / (rhythm[hour + 1] - rhythm[hour])
        begins[i] = int(day) * _DAY + hour * 3600 + int(within * 3600.0)


@kernel
def _own_pool(
    state: npt.NDArray[np.uint64], world: World, habits: Habits, anchors: npt.NDArray[np.int64]
) -> npt.NDArray[np.int64]:
    """Draw the few terms of a user whose concepts are limited, one term per concept: int64[at most habits.concepts]."""
    pool = np.empty(habits.concepts, dtype=np.int64)
    held = np.empty(habits.concepts, dtype=np.int64)
    filled = 0
    for _ in range(8 * habits.concepts):
        if filled == habits.concepts:
            break
        term = _term_below(state, world, anchors[_below(state, len(anchors))])
        if not _among(held, filled, int(world.concept[term])):
            pool[filled], held[filled] = term, world.concept[term]
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
        term = int(pool[_below(state, len(pool))])
        if not _among(terms, filled, term):
            terms[filled] = term
            filled += 1
    return filled


@kernel
def _one_user(
    user: int,
    state: npt.NDArray[np.uint64],
    world: World,
    habits: Habits,
    out: tuple[npt.NDArray[np.uint64], npt.NDArray[np.int64], npt.NDArray[np.int8]],
    anchors: npt.NDArray[np.int64],
) -> None:
    """Write the events of one user; `anchors` is filled with the interests at the start."""
    key, time, kind = out
    n = len(key)
    held = 1 + _below(state, len(anchors))
    extent = np.empty(held, dtype=np.int64)
    home = np.empty(held, dtype=np.int64)
    rank = np.empty(held + 1, dtype=np.float64)
    rank[0] = 0.0
    for i in range(held):
        extent[i] = int(16.0 * 128.0 ** _uniform(state))
        home[i] = world.topics[_below(state, len(world.topics))]
        anchors[i] = _anchor(state, world, home[i], extent[i])
        rank[i + 1] = rank[i] + 1.0 / (i + 1)
    focus = anchors[:held].copy()
    pool = np.empty(0, dtype=np.int64)
    if habits.concepts:
        pool = _own_pool(state, world, habits, focus)
    opens = np.empty(n, dtype=np.bool_)
    sessions = 0
    for i in range(n):
        opens[i] = i == 0 or _uniform(state) < habits.sessions
        sessions += opens[i]
    begins = np.empty(sessions, dtype=np.int64)
    _session_times(state, world.hour_weight, habits.days, begins)
    terms = np.zeros(3, dtype=np.int64)
    session, now, interest = -1, -1, 0
    for i in range(n):
        if opens[i]:
            session += 1
            now = max(begins[session], now + 1)
            interest = _pick(state, rank, 0, held)
            if _uniform(state) < habits.drift and focus[interest] != home[interest]:
                above = int(world.parent[focus[interest]])
                focus[interest] = _anchor(state, world, above, int(extent[interest]))
        else:
            now += 1 + int(-90.0 * np.log(1.0 - _uniform(state)))
        time[i] = now
        draw = _uniform(state)
        if not opens[i] and draw < habits.next_pages:
            key[i], kind[i] = key[i - 1], NEXT_PAGE
            continue
        draw = _uniform(state)  # a new draw: each share is a share of the events that come this far
        if i > 0 and draw < habits.repeats:
            key[i], kind[i] = key[_below(state, i)], REPEATED
            continue
        if not opens[i] and habits.concepts == 0 and _uniform(state) < habits.reformulate:
            changed, how = _reformulate(state, world, habits, focus[interest], key[i - 1], terms)
            if how >= 0:
                key[i], kind[i] = changed, how
                continue
        draw = _uniform(state)
        if draw < habits.personal:
            template = habits.personal_template + _below(state, habits.personal_kinds)
            person = 0 if _uniform(state) < 0.5 else 1 + _below(state, 3)
            key[i], kind[i] = (np.uint64(template) << _TEMPLATE_AT) | np.uint64(4 * user + person), PERSONAL_KIND
        elif draw < habits.personal + habits.common and habits.concepts == 0:
            key[i], kind[i] = _common(state, world, habits, terms), COMMON
        elif draw < habits.personal + habits.common + habits.named and habits.concepts == 0:
            brand = _zipf(state, 1.0, habits.brands + 1.0, habits.brand_exponent) - 1
            template = habits.brand_template + _pick(state, world.form_weight, 0, len(world.form_weight) - 1)
            key[i], kind[i] = (np.uint64(template) << _TEMPLATE_AT) | np.uint64(brand), NAMED
        else:
            count = _count(state, habits)
            if habits.concepts:
                count = _from_pool(state, pool, terms, count)
            else:
                count = _distinct(state, world, focus[interest], terms, count)
            key[i], kind[i] = _phrase(state, world, habits, terms, count), OWN
    last = habits.days * _DAY - 1
    late = min(max(time[n - 1] - last, 0), time[0])
    # What runs past the last day: all events move earlier by that much, or as far as there is room; then the last
    # ones follow second by second.
    for i in range(n):
        time[i] = max(min(time[i] - late, last - (n - 1 - i)), 0)


@kernel
def event_kernel(
    starts: npt.NDArray[np.int64],
    seeds: npt.NDArray[np.uint64],
    world: World,
    habits: Habits,
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
        _one_user(user, state, world, habits, mine, anchors[user])
