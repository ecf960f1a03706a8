"""Generated logs: users with lasting interests, a common background, sessions, clicks, and the truth next to it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeVar

import numpy as np
import numpy.typing as npt
import polars as pl

from querycloak.generator import _events_kernels as kernels
from querycloak.generator.brands import BRANDS
from querycloak.generator.clicks import draw_clicks
from querycloak.generator.misspellings import VARIANTS
from querycloak.generator.model import Habits
from querycloak.generator.people import KINDS as PERSONAL_KINDS
from querycloak.generator.people import WITH_TOWN, People
from querycloak.generator.phrases import BRAND, PERSONAL, SITE, groups, payload_of, render, template_of, terms_of
from querycloak.generator.world import Sites, Terms, build_sites, build_terms, build_world, topic_roots
from querycloak.logs.form import Column, LogForm
from querycloak.logs.query_log import NO_CODE, QueryLog
from querycloak.mapping.concept_log import ConceptLog
from querycloak.progress import QUIET, Progress

if TYPE_CHECKING:
    from querycloak.generator.model import World
    from querycloak.generator.settings import Generate
    from querycloak.knowledge.taxonomy import Taxonomy
    from querycloak.randomness import Randomness

T = TypeVar("T", bound=np.generic)

__all__ = ["EVENT_KINDS", "GeneratedLog", "generate"]

EVENT_KINDS: Final = (
    "own",
    "common",
    "personal",
    "repeated",
    "next page",
    "added",
    "dropped",
    "replaced",
    "reworded",
    "named",
)
"""Names of `GeneratedLog.kind`, by number."""

START: Final = 1_141_171_200
"""1 March 2006, 00:00 UTC, in seconds since 1970."""

COMMON_QUERIES: Final = 1 << 22
"""How many queries the common background has."""
COMMON_FIRST: Final = 300.0
"""Rank of the first of them: the ranks before it are left to well-known sites (the law of Zipf and Mandelbrot)."""
COMMON_EXPONENT: Final = 1.1
"""The r-th common query is asked 1 / r^COMMON_EXPONENT as often as the first (Zipf)."""
COMMON_SITES: Final = 0.25
"""Share of common queries that are typed addresses."""

BRAND_EXPONENT: Final = 0.95
"""The r-th well-known site is asked for 1 / r^BRAND_EXPONENT as often as the first."""

_SESSIONS: Final = 0.25
_REFORMULATE: Final = 0.3
_DRIFT: Final = 0.02
_TWO_TERMS: Final = 0.37
_THREE_TERMS: Final = 0.14


@dataclass(frozen=True, eq=False, repr=False)
class GeneratedLog:
    """A generated log with what is true of it."""

    log: QueryLog
    concepts: ConceptLog
    """what each query event is about: the concepts that the generator had in mind"""
    kind: npt.NDArray[np.int8]
    """int8[events], how each event came about, an index into EVENT_KINDS"""
    groups: npt.NDArray[np.int8]
    """int8[events], word groups of each query: its terms, and nouns among the words around them"""
    interests: npt.NDArray[np.int32]
    """int32[users, most interests], concepts of each user's interests at the start, -1 = none"""
    sites: Sites
    """the generated directory"""
    taxonomy: Taxonomy

    def __repr__(self) -> str:
        return f"GeneratedLog({len(self.kind):,} query events, {self.log!r})"

    def directory(self) -> pl.DataFrame:
        """Return the directory as a table: site, category (the path of its concept)."""
        category = pl.Series(self.taxonomy.paths).gather(self.sites.concept)
        return pl.DataFrame({"site": "www." + self.sites.host, "category": category})


@dataclass(frozen=True, eq=False)
class _Events:
    """What was asked, one entry per query event, users in order and times rising."""

    user: npt.NDArray[np.int64]
    key: npt.NDArray[np.uint64]
    time: npt.NDArray[np.int64]
    kind: npt.NDArray[np.int8]
    page: npt.NDArray[np.int64]
    """result pages before this one"""

    def take(self, order: npt.NDArray[np.int64]) -> _Events:
        return _Events(self.user[order], self.key[order], self.time[order], self.kind[order], self.page[order])


def generate(settings: Generate, taxonomy: Taxonomy, random: Randomness, progress: Progress = QUIET) -> GeneratedLog:
    """Generate a log of exactly `settings.queries` query events by `settings.users` users.

    >>> from querycloak.knowledge.taxonomy import Taxonomy
    >>> from querycloak.randomness import Randomness
    >>> from querycloak.generator.settings import Generate
    >>> from querycloak.generator.generated_log import generate
    >>> food = Taxonomy.from_parents([-1, 0, 0, 1, 1], [["food"], ["fruit"], ["meat"], ["apple"], ["pear"]])
    >>> made = generate(Generate(users=3, queries=10, clicks=False), food, Randomness(seed=1))
    >>> len(made.log), len(made.log.users)
    (10, 3)
    """
    progress.start("generate", 4)
    terms = build_terms(taxonomy, random.child("terms"))
    sites = build_sites(taxonomy, terms, random.child("sites"))
    world = build_world(taxonomy, terms, sites, topic_roots(taxonomy, settings.topics))
    people = People.draw(settings.users, taxonomy, terms, random.child("people"))
    progress.advance()
    events, interests = _events(settings, world, random)
    if settings.order == "time":
        events = events.take(np.argsort(events.time, kind="stable"))
    progress.advance()
    user, seen = _first_seen(events.user)
    ids = np.cumsum(1 + random.child("ids").integers(75, settings.users))
    keys, distinct = _first_seen(events.key)
    concept = _concepts_of(distinct, terms, sites, people, listed=settings.categories)
    texts = render(distinct, terms.text, sites.host, sites.name)
    personal = np.flatnonzero(template_of(distinct) >= PERSONAL)
    kinds = template_of(distinct[personal]) - PERSONAL
    payloads = payload_of(distinct[personal])
    told = [people.text(kind, payload) for kind, payload in zip(kinds.tolist(), payloads.tolist(), strict=True)]
    texts = texts.scatter(personal, told)
    code_of_key, queries = _merge_equal(texts)
    progress.advance()
    columns: dict[str, npt.NDArray[np.int32] | pl.Series] = {}
    rows = np.arange(len(events.key))
    if settings.clicks:
        clicks = draw_clicks(events.key, events.page, concept[keys, 0], sites, random.child("clicks"))
        rows = clicks.event
        url, used = np.full(len(rows), NO_CODE, dtype=np.int32), clicks.site != NO_CODE
        url[used], seen_sites = _first_seen(clicks.site[used])
        columns |= {"rank": clicks.rank, "url": url, "urls": "http://www." + sites.host.gather(seen_sites)}
    first_row = np.searchsorted(rows, np.arange(len(events.key)))
    if settings.categories:
        known = np.flatnonzero(concept[keys[rows], 0] != NO_CODE)
        category = np.full(len(rows), NO_CODE, dtype=np.int32)
        category[known], used = _first_seen(concept[keys[rows], 0][known])
        paths = pl.Series(taxonomy.paths).gather(used).str.replace("^[^/]*", "Top")  # the root is no category
        columns |= {"category": category, "categories": paths}
    query = code_of_key[keys]
    log = QueryLog(
        user=user[rows],
        users=pl.Series(ids[seen].astype(np.str_)),
        query=query[rows],
        queries=queries,
        time=events.time[rows] + START,
        form=_form(settings),
        **columns,  # type: ignore[arg-type]
    )
    progress.advance()
    truth = _truth(first_row, user, query, concept[keys])
    return GeneratedLog(
        log, truth, events.kind, groups(distinct)[keys].astype(np.int8), interests[seen], sites, taxonomy
    )


def _events(settings: Generate, world: World, random: Randomness) -> tuple[_Events, npt.NDArray[np.int32]]:
    """Draw what every user asks, and the interests: int32[users, most]."""
    counts = _queries_per_user(settings, random.child("activity"))
    starts = np.concatenate([[0], np.cumsum(counts)])
    habits = Habits(
        days=settings.days,
        concepts=settings.concepts_per_user or 0,
        common=float(settings.common),
        common_first=COMMON_FIRST,
        common_queries=float(COMMON_QUERIES),
        common_exponent=COMMON_EXPONENT,
        common_sites=COMMON_SITES,
        common_seed=random.child("common").words(1)[0],
        named=0.0 if settings.topics else float(settings.named),  # all queries come from the topics
        brands=len(BRANDS),
        brand_exponent=BRAND_EXPONENT,
        brand_template=BRAND,
        personal=float(settings.personal),
        repeats=float(settings.repeats),
        next_pages=_next_page_chance(settings),
        sessions=_SESSIONS,
        reformulate=_REFORMULATE,
        drift=_DRIFT,
        misspelt=float(settings.misspelt),
        misspellings=VARIANTS,
        two_terms=_TWO_TERMS,
        three_terms=_THREE_TERMS,
        personal_template=PERSONAL,
        personal_kinds=len(PERSONAL_KINDS),
    )
    n = settings.queries
    out = (np.empty(n, dtype=np.uint64), np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int8))
    anchors = np.full((settings.users, 2 * settings.interests - 1), -1, dtype=np.int64)
    seeds = random.child("users").words(settings.users)
    kernels.event_kernel(starts, seeds, world, habits, out, anchors)
    key, time, kind = out
    index = np.arange(n)
    page = index - np.maximum.accumulate(np.where(kind == kernels.NEXT_PAGE, 0, index))
    user = np.repeat(np.arange(settings.users), counts)
    return _Events(user, key, time, kind, page), anchors.astype(np.int32)


def _next_page_chance(settings: Generate) -> float:
    """Return the chance of a next page where one can be: never at the start of a session."""
    inside = (settings.queries - settings.users) * (1.0 - _SESSIONS)
    return min(settings.next_pages * settings.queries / inside, 0.95) if inside else 0.0


def _queries_per_user(settings: Generate, random: Randomness) -> npt.NDArray[np.int64]:
    """Distribute the events: one each, the rest by lognormal activity, the sum exact: int64[users]."""
    radius = np.sqrt(-2.0 * np.log(1.0 - random.uniform(settings.users)))
    normal = radius * np.cos(2.0 * np.pi * random.uniform(settings.users))
    activity = np.exp(settings.spread * (normal - normal.max()))
    share = (settings.queries - settings.users) * activity / activity.sum()
    counts: npt.NDArray[np.int64] = share.astype(np.int64)
    missing = settings.queries - settings.users - int(counts.sum())
    counts[np.argsort(counts - share, kind="stable")[:missing]] += 1
    return counts + 1


def _first_seen(values: npt.NDArray[T]) -> tuple[npt.NDArray[np.int32], npt.NDArray[T]]:
    """Code values by order of first appearance: codes int32[n], distinct values."""
    distinct, first, inverse = np.unique(values, return_index=True, return_inverse=True)
    order = np.argsort(first, kind="stable")
    code = np.empty(len(order), dtype=np.int32)
    code[order] = np.arange(len(order), dtype=np.int32)
    return code[inverse], distinct[order]


def _merge_equal(texts: pl.Series) -> tuple[npt.NDArray[np.int32], pl.Series]:
    """Return one code for all keys that read the same: codes int32[keys] by first appearance, distinct texts."""
    frame = texts.to_frame("text").with_row_index("key")
    code, seen = _first_seen(frame.select(pl.col("key").min().over("text")).to_series().to_numpy())
    return code, texts.gather(seen)


def _concepts_of(
    keys: npt.NDArray[np.uint64], terms: Terms, sites: Sites, people: People, *, listed: bool
) -> npt.NDArray[np.int32]:
    """Return the concepts of each key: int32[keys, 3], -1 = none.

    The name of a well-known site is about no concept, unless the taxonomy is a directory, in which sites are `listed`.
    """
    term = terms_of(keys)
    concept = np.where(term < 0, NO_CODE, terms.concept[term]).astype(np.int32)
    template, payload = template_of(keys), payload_of(keys)
    typed = np.flatnonzero((template >= SITE) & (template < BRAND))
    concept[typed, 0] = sites.concept[payload[typed]]
    if listed:
        named = np.flatnonzero((template >= BRAND) & (template < PERSONAL))
        concept[named, 0] = sites.concept[sites.brand[payload[named]]]
    placed = np.flatnonzero(template >= PERSONAL)
    placed = placed[WITH_TOWN[template[placed] - PERSONAL]]
    concept[placed, 0] = terms.concept[people.town[payload[placed] // 4]]
    return concept


def _truth(
    first_row: npt.NDArray[np.int64],
    user: npt.NDArray[np.int32],
    query: npt.NDArray[np.int32],
    concept: npt.NDArray[np.int32],
) -> ConceptLog:
    """Return the concepts of the events, one row each; an event without any has one row with -1."""
    present = concept != NO_CODE
    present[:, 0] = True
    event, unit = np.nonzero(present)
    return ConceptLog(first_row[event], user[event], query[event], concept[event, unit])


def _form(settings: Generate) -> LogForm:
    """Write as the AOL log was written, with a column for the category where there is one."""
    columns = [Column("AnonID", "user"), Column("Query", "query"), Column("QueryTime", "time")]
    if settings.clicks:
        columns += [Column("ItemRank", "rank"), Column("ClickURL", "url")]
    if settings.categories:
        columns.append(Column("Category", "category"))
    return LogForm("tsv" if settings.categories else "aol", tuple(columns))
