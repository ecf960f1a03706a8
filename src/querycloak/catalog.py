"""What there is, by name: the only registry. Nothing heavy is loaded until a method is asked for.

To add a method: write `methods/<family>/<name>.py` with a settings class and a function
`function(log, settings, random, progress, **needs) -> Release`, add one `Method` here, and a card in `docs/methods/`.
The contract suite (`tests/contract/`) then checks it like all others.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal, cast

from querycloak.errors import UnknownNameError

if TYPE_CHECKING:
    from collections.abc import Callable

    from querycloak.releases.release import Release
    from querycloak.settings import Settings

__all__ = ["ATTACKS", "MEASURES", "METHODS", "STREAM_METHODS", "Check", "Method", "Need", "describe_settings", "method"]

ReleaseKind = Literal["log", "items", "counts", "stream"]
"""As in `records`, which is not loaded here."""

Need = Literal[
    "concepts",
    "release_concepts",
    "paths",
    "release_paths",
    "taxonomy",
    "directory",
    "resolver",
    "stream_engines",
]
"""What a method, attack or measure may ask for next to the log: `concepts` is the log's ConceptLog over `taxonomy`,
`release_concepts` that of the release; `paths` and `release_paths` find the category path of each row;
`stream_engines` makes the engine of a stream method, for an attacker who runs it himself."""


@dataclass(frozen=True)
class Method:
    """A method of the toolkit, by where it stands."""

    name: str
    summary: str
    """one line"""
    guarantee: str
    """one line: the formal model, or 'none'"""
    module: str
    settings_name: str
    function_name: str
    needs: tuple[Need, ...] = ()

    @property
    def settings(self) -> type[Settings]:
        """The settings class (loads the method)."""
        return cast("type[Settings]", getattr(import_module(self.module), self.settings_name))

    @property
    def function(self) -> Callable[..., Release]:
        """The function (loads the method)."""
        return cast("Callable[..., Release]", getattr(import_module(self.module), self.function_name))


def _batch(
    family: str, name: str, settings_name: str, summary: str, guarantee: str, needs: tuple[Need, ...] = ()
) -> Method:
    stem = name.replace("-", "_")
    return Method(name, summary, guarantee, f"querycloak.methods.{family}.{stem}", settings_name, stem, needs)


@dataclass(frozen=True)
class Check:
    """An attack or a measure, by where it stands: `function(log, release, random, progress, **needs)`."""

    name: str
    summary: str
    """one line"""
    module: str
    function_name: str
    kinds: tuple[ReleaseKind, ...]
    """kinds of release it fits"""
    needs: tuple[Need, ...] = ()

    @property
    def function(self) -> Callable[..., Any]:
        """The function (loads its module): gives an AttackResult or a Score, or a list of them."""
        return cast("Callable[..., Any]", getattr(import_module(self.module), self.function_name))


def _check(folder: str, name: str, summary: str, kinds: tuple[ReleaseKind, ...], needs: tuple[Need, ...] = ()) -> Check:
    stem = name.replace("-", "_")
    return Check(name, summary, f"querycloak.{folder}.{stem}", stem, kinds, needs)


_LOGS: tuple[ReleaseKind, ...] = ("log", "items")
_TABLES: tuple[ReleaseKind, ...] = ("log", "counts", "stream")

ATTACKS: dict[str, Check] = {
    a.name: a
    for a in (
        _check(
            "attacks",
            "known-queries",
            "knows 1, 2, 5, 10 queries of a user, or half of them, and looks for the published log that fits best",
            _LOGS,
            ("concepts", "taxonomy"),
        ),
        _check("attacks", "record-linkage", "knows the whole log, links users by queries in common", ("log",)),
        _check("attacks", "uniqueness", "queries under one id only; users singled out by a pair of queries", _LOGS),
        _check(
            "attacks",
            "stream-linkage",
            "pairs published queries and users again: by node, by the anonymizer's own machine, by activity",
            ("stream",),
            ("release_paths", "stream_engines"),
        ),
        _check("attacks", "personal-identifiers", "mail, phone, card numbers and the like left in the text", _TABLES),
    )
}
"""Attacks by name; attackers see only the release and what they know of users."""

MEASURES: dict[str, Check] = {
    m.name: m
    for m in (
        _check("measures", "kept", "share of query volume and of distinct queries kept; rows per user", _TABLES),
        _check(
            "measures",
            "information-loss",
            "do users fall into the same clusters as before",
            _LOGS,
            ("concepts", "release_concepts", "taxonomy"),
        ),
        _check(
            "measures",
            "srp",
            "share of queries whose category remains in the user's published log",
            ("log",),
            ("concepts", "taxonomy", "directory", "resolver"),
        ),
        _check(
            "measures",
            "category-emd",
            "how far each user's categories have moved on the tree",
            ("stream",),
            ("paths", "release_paths"),
        ),
        _check("measures", "stream-flow", "records that left, delay, bag sizes, users waiting", ("stream",)),
        _check("measures", "top-queries", "rank correlation of the most frequent queries", _TABLES),
        _check(
            "measures",
            "topics",
            "how far the shares of topics have moved",
            ("log", "items", "counts", "stream"),
            ("concepts", "release_concepts", "taxonomy"),
        ),
        _check(
            "measures",
            "generalization",
            "distortion by generalizing and suppressing concepts; length and level of what is published",
            ("items",),
            ("concepts", "release_concepts", "taxonomy"),
        ),
        _check(
            "measures",
            "profile-divergence",
            "how far each user's topic profile has moved",
            _LOGS,
            ("concepts", "release_concepts", "taxonomy"),
        ),
        _check(
            "measures",
            "unchanged",
            "share of queries that came out as they went in",
            ("log", "items"),
            ("concepts", "release_concepts"),
        ),
    )
}
"""Measures by name: what a release is still good for."""

METHODS: dict[str, Method] = {
    m.name: m
    for m in (
        _batch(
            "suppression",
            "sweep",
            "Sweep",
            "new user ids; queries with personal identifiers and rare queries left out (what naive publishers do)",
            "none",
        ),
        _batch(
            "microaggregation",
            "semantic-microaggregation",
            "SemanticMicroaggregation",
            "users with like interests in groups of k, each group published with one log of real queries",
            "k-anonymity of users",
            ("concepts", "taxonomy"),
        ),
        _batch(
            "microaggregation",
            "plain-microaggregation",
            "PlainMicroaggregation",
            "the same without semantics: queries are only equal or different",
            "k-anonymity of users",
        ),
        _batch(
            "microaggregation",
            "syntactic-microaggregation",
            "SyntacticMicroaggregation",
            "groups of k users whose queries are spelled, clicked and timed alike",
            "k-anonymity of users",
        ),
        _batch(
            "microaggregation",
            "url-microaggregation",
            "UrlMicroaggregation",
            "groups of k users by the directory categories of the sites they clicked; random queries of each",
            "k-anonymity of users",
            ("directory", "resolver"),
        ),
        _batch(
            "microaggregation",
            "word-microaggregation",
            "WordMicroaggregation",
            "groups of k users by the directory categories of the words they asked; random queries of each",
            "k-anonymity of users",
            ("taxonomy", "directory"),
        ),
        _batch(
            "suppression",
            "click-graph-removal",
            "ClickGraphRemoval",
            "queries that point to a site, and those that join the query graph, left out",
            "none",
        ),
        _batch(
            "generalization",
            "clump",
            "Clump",
            "clusters of k similar users, each published as the concepts that all of its cluster have in common",
            "k-anonymity of users' generalized transactions",
            ("concepts", "taxonomy"),
        ),
        _batch(
            "generalization",
            "partition",
            "Partition",
            "users parted from the root of the taxonomy down, while k or more share the same concepts",
            "k-anonymity of users' generalized transactions",
            ("concepts", "taxonomy"),
        ),
        _batch(
            "dp",
            "semantic-dp",
            "SemanticDp",
            "each query replaced by one drawn near its meaning; as many rows per user as before",
            "epsilon-differential privacy of the concepts of each user's queries",
            ("concepts", "taxonomy"),
        ),
        _batch(
            "dp",
            "histogram-dp",
            "HistogramDp",
            "a noisy histogram of concepts for each user",
            "epsilon-differential privacy of each user's queries",
            ("concepts", "taxonomy"),
        ),
        _batch(
            "dp",
            "frequent-queries",
            "FrequentQueries",
            "a table of the queries that many users asked, with noisy counts; or the log of them",
            "(epsilon, delta)-differential privacy of each user",
        ),
    )
}


def _stream(name: str, summary: str, settings_name: str = "StreamSettings") -> Method:
    guarantee = "each query is published under a user drawn uniformly from at least k others of its category or branch"
    stem = name.replace("-", "_")
    return Method(name, summary, guarantee, "querycloak.methods.stream.stream_release", settings_name, stem, ("paths",))


STREAM_METHODS: dict[str, Method] = {
    m.name: m
    for m in (
        _stream(
            "self-adjusting",
            "stream: each query leaves soon, with a user of its category or branch",
            "SelfAdjustingSettings",
        ),
        _stream("fixed-depth", "stream: each query leaves with a user of its category, cut to a depth"),
        _stream("flat", "stream: each query leaves with a user of its top-level category", "FlatSettings"),
    )
}
"""Methods of live streams, for `querycloak stream`; as any other they also take a whole log."""


def method(name: str) -> Method:
    """Find a method by its name; an unknown one is refused with the nearest."""
    there_are = METHODS | STREAM_METHODS
    if name not in there_are:
        raise UnknownNameError.of("method", name, there_are)
    return there_are[name]


def describe_settings(settings: type[Settings]) -> list[dict[str, Any]]:
    """Return name, type, default and help of each setting, for command lines and docs."""
    from dataclasses import fields

    from querycloak.settings import setting_type

    return [
        {"name": f.name, "type": setting_type(settings, f.name), "default": f.default, **f.metadata}
        for f in fields(settings)
    ]
