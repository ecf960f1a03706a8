"""What a stream release promises, and what it does not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from querycloak._version import __version__
from querycloak.errors import ParameterError
from querycloak.methods.stream.engine import StreamEngine, make_engine
from querycloak.methods.stream.publishing_settings import PublishingSettings
from querycloak.methods.stream.stream_texts import changes_texts
from querycloak.releases.statement import TWO_RELEASES, PrivacyStatement
from querycloak.settings import Settings, setting
from querycloak.texts.identifiers import what_was_searched
from querycloak.texts.text_promises import promised_texts
from querycloak.texts.text_settings import TextSettings

if TYPE_CHECKING:
    from querycloak.randomness import Randomness
    from querycloak.texts.text_settings import TextRule

__all__ = ["FlatSettings", "NearestSettings", "SelfAdjustingSettings", "StreamSettings", "stream_statement"]


@dataclass(frozen=True)
class _PairingSettings(Settings):
    """How queries get other users."""

    k: int = setting(10, "distinct users, other than the asker, among which the new user is drawn", minimum=2)
    depth: int = setting(5, "levels of the category paths in use", minimum=1, below=1000)
    unclassified: str = setting(
        "keep", "queries without a category: keep in a branch of their own, or drop", choices=("keep", "drop")
    )
    separator: str = setting("/", "what separates the levels of a category path")


@dataclass(frozen=True)
class StreamSettings(TextSettings, PublishingSettings, _PairingSettings):
    """Settings of the stream methods."""

    max_phrases: int = setting(
        10_000_000,
        "phrases of which people are counted, about 100 bytes each; when so many are known, new ones are not counted, "
        "and not published",
        minimum=1,
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.separator:
            raise ParameterError.of("StreamSettings.separator", "at least one character", self.separator)
        if self.kinds != "none":
            raise ParameterError.of("StreamSettings.kinds", "none: records of a stream keep their columns", self.kinds)

    @property
    def usual_people(self) -> int:
        """What `min_query_users` is where it is not given: k."""
        return self.k

    def engine(self, method: str, random: Randomness) -> StreamEngine:
        """Make the engine of a method."""
        return make_engine(method, self.k, self.depth, max_delay=self.max_delay or None, random=random)


@dataclass(frozen=True)
class SelfAdjustingSettings(StreamSettings):
    """Settings of `self-adjusting`."""

    hold: int = setting(
        0,
        "records that wait in a top-level category before one leaves by a branch: nearer categories, longer delay",
        minimum=0,
    )

    def engine(self, method: str, random: Randomness) -> StreamEngine:
        """Make the engine."""
        return make_engine(method, self.k, self.depth, hold=self.hold, max_delay=self.max_delay or None, random=random)


@dataclass(frozen=True)
class NearestSettings(StreamSettings):
    """Settings of `nearest`."""

    pool: int = setting(
        300,
        "records that wait in a top-level category before one leaves by a branch: nearer categories, longer delay",
        minimum=0,
        below=1 << 31,
    )
    max_delay: int | None = setting(
        5_000,
        "a record that has waited for so many others leaves from the smallest branch with more than k users, or is "
        "dropped; 0: it may wait for ever",
        minimum=0,
    )

    def engine(self, method: str, random: Randomness) -> StreamEngine:
        """Make the engine."""
        return make_engine(method, self.k, self.depth, pool=self.pool, max_delay=self.max_delay or None, random=random)


@dataclass(frozen=True)
class FlatSettings(StreamSettings):
    """Settings of `flat`."""

    depth: int = setting(1, "top-level categories only: 1", minimum=1, below=2)


TOO_LONG: Final = "waited too long"
"""Why records are dropped that nobody could leave with in time."""


def stream_statement(
    method: str,
    settings: StreamSettings,
    random: Randomness,
    *,
    counts_in: dict[str, int],
    counts_out: dict[str, int],
    dropped: dict[str, int],
    figures: dict[str, float],
    columns: tuple[str, ...] = (),
    timed: bool = False,
) -> PrivacyStatement:
    """State what the four rules give, and no more: no bound of 1/k on an attacker's success is among it.

    `timed` = times are published.
    """
    kept = [c for c in columns if c]
    return PrivacyStatement(
        method=method,
        settings=settings.to_json(),
        version=__version__,
        model=f"each query is published under a user drawn uniformly from at least {settings.k} others",
        parameters={"candidates": float(settings.k), "depth": float(settings.depth)},
        unit="query",
        **promised_texts(settings),
        covers=(
            "no query is published under the user who asked it",
            f"its published user is drawn uniformly from at least {settings.k} other users of its category or branch"
            + (", the nearest that wait" if method == "nearest" else ""),
            *_covered_texts(settings.rule),
            *_covered_times(settings, timed=timed),
        ),
        does_not_cover=(
            *_open_texts(settings.rule),
            what_was_searched(identifiers=settings.rule.identifiers == "drop"),
            f"who guesses the most active user of a branch can be right more often than 1 in {settings.k}",
            *_open_pairing(settings),
            *_open_times(settings, timed=timed, dropped=dropped.get(TOO_LONG, 0) > 0),
            "the columns of a record stay together"
            + (f": {', '.join(kept)}" if kept else "")
            + (
                "; where a part of a query is published, they may tell the rest" if changes_texts(settings.rule) else ""
            ),
            "a user's published records show the categories the user asked in, to the depth that was reached",
            TWO_RELEASES,
            *(("published ids are the original ids of other users",) if settings.ids == "original" else ()),
        ),
        assumptions=("one user id is one person", "the columns other than the user do not name the user"),
        randomness=random.describe(),
        new_ids=settings.new_ids,
        ids={"epoch": "epoch", "day": "day"}.get(settings.ids, "person"),
        time_grain=settings.published_grain if timed else "",
        columns=columns,
        counts_in=counts_in,
        counts_out=counts_out,
        dropped=dropped,
        figures={name: float(n) for name, n in figures.items()},
    )


def _covered_times(settings: StreamSettings, *, timed: bool) -> tuple[str, ...]:
    """Say what is promised of the order, the times, the ids and the waiting."""
    out: list[str] = []
    if settings.epoch is not None:
        size = f"{settings.epoch_records:,} records" if settings.epoch_records else settings.epoch
        out.append(
            f"records are published in epochs of {size}, shuffled within each: their order tells the epoch alone"
            + (", and so do their times" if timed else "")
        )
    if settings.time_grain is not None and timed:
        out.append(f"times are rounded down to {settings.time_grain}")
    if settings.ids in {"epoch", "day"}:
        period = "epoch" if settings.ids == "epoch" else "day that published times tell apart"
        out.append(f"a user has another id in each {period}; ids do not show which of them are one person's")
    return tuple(out)


def _open_pairing(settings: StreamSettings) -> tuple[str, ...]:
    """Say what it tells that the id of an asker leaves too, with somebody else's query."""
    soon = (
        "soon after the user asks" if settings.epoch is None else "in the epoch in which the user asks, or soon after"
    )
    near = (
        f"a user's id leaves {soon}, with a query of a category nearby: who follows where ids are published next can "
        f"be right more often than 1 in {settings.k}"
    )
    repeated = f"a user's id leaves {soon}: who asks one text several times can be told by when ids leave"
    return (near,) if changes_texts(settings.rule) else (near, repeated)


def _open_times(settings: StreamSettings, *, timed: bool, dropped: bool) -> tuple[str, ...]:
    """Say what order, times, ids and waiting may still tell."""
    per = f" in each {settings.ids}" if settings.ids in {"epoch", "day"} else ""
    exact = timed and settings.epoch is None and settings.time_grain is None
    out = [f"the number of each user's published records{per} is kept" + ", and so is the time of each query" * exact]
    if per:
        out.append("what somebody asks in each period may be so much their own that their ids can be told together")
    if settings.epoch is not None:
        out.append("the epoch of a record tells when it left, and so about when it was asked")
    elif timed:
        out.append(
            "records with one query and one time, as of several clicks, are of one asker and can be told together"
        )
    if dropped:
        out.append("which records were dropped for having waited too long depends on who else asked in their category")
    return tuple(out)


def _covered_texts(rule: TextRule) -> tuple[str, ...]:
    """Say what is promised of texts."""
    if rule.promised == 1:
        return ()
    how = {"phrase": "asked, whole or as a run of words inside their queries,", "label": "asked", "drop": "asked"}
    labels = (
        f"; labels in brackets are of categories in which {rule.people} people asked" if rule.rare != "drop" else ""
    )
    shared = f"each published text was {how[rule.rare]} by {rule.people} people or more in earlier records{labels}"
    if rule.most_rows is not None:
        shared += f"; of each id the first {rule.most_rows:,} records count, no later ones"
    return (
        shared,
        "what of a record is published depends on its text and on the records before it, not on who asked it",
    )


def _open_texts(rule: TextRule) -> tuple[str, ...]:
    """Say what texts may still tell."""
    if rule.promised == 1:
        return ("queries are published verbatim: a query that names its asker names its asker",)
    return (
        f"a text is of {rule.people} people or more, and who knows all of them but one can name that one",
        "people are counted from the begin of the run to the record: the window is the run, and two runs do not add up",
    )
