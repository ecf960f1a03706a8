"""What a stream release promises, and what it does not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from querycloak._version import __version__
from querycloak.errors import ParameterError
from querycloak.methods.stream.engine import StreamEngine, make_engine
from querycloak.releases.statement import TWO_RELEASES, PrivacyStatement
from querycloak.settings import Settings, setting
from querycloak.texts.identifiers import what_was_searched

if TYPE_CHECKING:
    from querycloak.randomness import Randomness

__all__ = ["FlatSettings", "SelfAdjustingSettings", "StreamSettings", "stream_statement"]


@dataclass(frozen=True)
class StreamSettings(Settings):
    """Settings of the stream methods."""

    k: int = setting(10, "distinct users, other than the asker, among which the new user is drawn", minimum=2)
    depth: int = setting(5, "levels of the category paths in use", minimum=1, below=1000)
    ids: str = setting("new", "publish new random ids, or the original ids of other users", choices=("new", "original"))
    unclassified: str = setting(
        "keep", "queries without a category: keep in a branch of their own, or drop", choices=("keep", "drop")
    )
    separator: str = setting("/", "what separates the levels of a category path")
    min_query_users: int = setting(
        1, "leave a query out until so many users of the stream have asked it; 1 keeps all", minimum=1
    )
    identifiers: bool = setting(False, "leave out queries with mail, phone, card, social-security numbers or addresses")

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.separator:
            raise ParameterError.of("StreamSettings.separator", "at least one character", self.separator)

    def engine(self, method: str, random: Randomness) -> StreamEngine:
        """Make the engine of a method."""
        return make_engine(method, self.k, self.depth, random=random)


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
        return make_engine(method, self.k, self.depth, hold=self.hold, random=random)


@dataclass(frozen=True)
class FlatSettings(StreamSettings):
    """Settings of `flat`."""

    depth: int = setting(1, "top-level categories only: 1", minimum=1, below=2)


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
) -> PrivacyStatement:
    """State what the four rules give, and no more: no bound of 1/k on an attacker's success is among it."""
    kept = [c for c in columns if c]
    return PrivacyStatement(
        method=method,
        settings=settings.to_json(),
        version=__version__,
        model=f"each query is published under a user drawn uniformly from at least {settings.k} others",
        parameters={"candidates": float(settings.k), "depth": float(settings.depth)},
        unit="query",
        text_users=settings.min_query_users,
        identifiers_dropped=settings.identifiers,
        covers=(
            "no query is published under the user who asked it",
            f"its published user is drawn uniformly from at least {settings.k} other users of its category or branch",
            *(
                (f"the text of each query was asked by at least {settings.min_query_users} users before it left",)
                if settings.min_query_users > 1
                else ()
            ),
        ),
        does_not_cover=(
            "queries are published verbatim: a query that names its asker names its asker",
            what_was_searched(identifiers=settings.identifiers),
            f"who guesses the most active user of a branch can be right more often than 1 in {settings.k}",
            "the number of each user's published records is kept, and so is the time of each query",
            "records with one query and one time, as of several clicks, are of one asker and can be told together",
            "the columns of a record stay together" + (f": {', '.join(kept)}" if kept else ""),
            "a user's published records show the categories the user asked in, to the depth that was reached",
            TWO_RELEASES,
            *(("published ids are the original ids of other users",) if settings.ids == "original" else ()),
        ),
        assumptions=("one user id is one person", "the columns other than the user do not name the user"),
        randomness=random.describe(),
        new_ids=settings.ids == "new",
        columns=columns,
        counts_in=counts_in,
        counts_out=counts_out,
        dropped=dropped,
        figures={name: float(n) for name, n in figures.items()},
    )
