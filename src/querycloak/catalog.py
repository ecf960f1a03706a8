"""What there is, by name: methods, attacks and measures. Nothing heavy is loaded until one is used.

To add a method: write `methods/<family>/<name>.py` with a settings class and a function
`function(log, settings, random, progress, **needs) -> Release`, add one entry here, and a card in `docs/methods/`.
The contract suite (`tests/contract/`) then checks it like all others. Other packages add entries through entry points
(`querycloak.plugins`, docs/plugins.md).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, Literal, cast

from querycloak.errors import UnknownNameError
from querycloak.plugins import Catalog

if TYPE_CHECKING:
    from collections.abc import Callable

    from querycloak.releases.release import Release
    from querycloak.settings import Settings

__all__ = ["ATTACKS", "MEASURES", "METHODS", "STREAM_METHODS", "Check", "Method", "Need", "describe_settings", "method"]

ReleaseKind = Literal["log", "items", "counts", "stream"]
"""As in `querycloak.releases.release`, which is not loaded here."""
Question = Literal["singling out", "linkability", "inference"]
"""As in `querycloak.attacks.result`, which is not loaded here."""

Need = Literal[
    "concepts",
    "release_concepts",
    "paths",
    "release_paths",
    "taxonomy",
    "directory",
    "resolver",
    "stream_engines",
    "halves",
    "askers",
    "trials",
    "also",
]
"""What a method, attack or measure may ask for next to the log: `concepts` is the log's ConceptLog over `taxonomy`,
`release_concepts` that of the release; `paths` and `release_paths` find the category path of each row;
`stream_engines` makes the engine of a stream method, for an attacker who runs it himself. `halves` (attacks.halves) is
each person's log in a known and an unknown half, `askers` (releases.askers) who asked each published text, `trials`
(attacks.trials) makes further releases with the same method, `also` are other releases of the same log."""


@dataclass(frozen=True)
class Method:
    """A method: where its code is, and what it promises. `function(log, settings, random, progress, **needs)`."""

    name: str
    summary: str
    """one line"""
    guarantee: str
    """one line: the formal model, or 'none'"""
    module: str
    settings_name: str
    """the settings class in `module`"""
    function_name: str
    """the function in `module`"""
    needs: tuple[Need, ...] = ()
    package: str = ""
    """the package it comes from, with its version; empty = QueryCloak itself"""

    @property
    def settings(self) -> type[Settings]:
        """The settings class (imports the method)."""
        return cast("type[Settings]", getattr(import_module(self.module), self.settings_name))

    @property
    def function(self) -> Callable[..., Release]:
        """The function (imports the method)."""
        return cast("Callable[..., Release]", getattr(import_module(self.module), self.function_name))


@dataclass(frozen=True)
class Check:
    """An attack or a measure: where its code is. `function(log, release, random, progress, **needs)`."""

    name: str
    summary: str
    """one line"""
    module: str
    function_name: str
    """the function in `module`; it returns an AttackResult or a Score, or a list of them"""
    kinds: tuple[ReleaseKind, ...]
    """kinds of release it fits"""
    needs: tuple[Need, ...] = ()
    package: str = ""
    """the package it comes from, with its version; empty = QueryCloak itself"""
    question: Question | None = None
    """of an attack: which of the regulators' questions it answers"""
    without_truth: bool = False
    """of an attack: it keeps score without the truth of the release"""

    @property
    def function(self) -> Callable[..., Any]:
        """The function (imports its module)."""
        return cast("Callable[..., Any]", getattr(import_module(self.module), self.function_name))


def _check(path: str, summary: str, kinds: tuple[ReleaseKind, ...], *needs: Need) -> Check:
    """Return the entry of `folder/name`: the function `name` of the file of that name."""
    folder, name = path.split("/")
    stem = name.replace("-", "_")
    return Check(name, summary, f"querycloak.{folder}.{stem}", stem, kinds, needs)


def _attack(
    name: str,
    question: Question,
    summary: str,
    kinds: tuple[ReleaseKind, ...],
    *needs: Need,
    without_truth: bool = False,
) -> Check:
    """Return the entry of an attack: the function `name` of the file of that name."""
    entry = _check(f"attacks/{name}", summary, kinds, *needs)
    return replace(entry, question=question, without_truth=without_truth)


def _method(path: str, settings_name: str, summary: str, guarantee: str, *needs: Need) -> Method:
    """Return the entry of `family/name`: the function `name` of the file of that name."""
    family, name = path.split("/")
    stem = name.replace("-", "_")
    return Method(name, summary, guarantee, f"querycloak.methods.{family}.{stem}", settings_name, stem, needs)


def _stream(name: str, settings_name: str, summary: str) -> Method:
    """Return the entry of a stream method; all of them are in one file."""
    guarantee = "each query is published under a user drawn uniformly from at least k others of its category or branch"
    module = "querycloak.methods.stream.stream_release"
    return Method(name, summary, guarantee, module, settings_name, name.replace("-", "_"), ("paths",))


_LOGS: Final[tuple[ReleaseKind, ...]] = ("log", "items")
_TEXTS: Final[tuple[ReleaseKind, ...]] = ("log", "counts", "stream")
_ALL: Final[tuple[ReleaseKind, ...]] = ("log", "items", "counts", "stream")

_K_USERS: Final = "k-anonymity of users"
_K_CONCEPTS: Final = "k-anonymity of users' generalized transactions"

_MEANING: Final[tuple[Need, ...]] = ("concepts", "release_concepts", "taxonomy")

ATTACKS: Final = Catalog(
    "attack",
    Check,
    (
        _attack(
            "personal-identifiers",
            "singling out",
            "mail, phone, card numbers, names and the like left in the text",
            _TEXTS,
            without_truth=True,
        ),
        _attack(
            "uniqueness",
            "singling out",
            "texts of one person; people singled out by a pair of texts",
            _LOGS,
            "askers",
            without_truth=True,
        ),
        _attack(
            "known-queries",
            "singling out",
            "knows 1, 2, 5, 10 queries of a person, or half of them, and looks for the published log that fits best",
            _LOGS,
            "concepts",
            "taxonomy",
        ),
        _attack("record-linkage", "linkability", "knows the whole log, links users by queries in common", ("log",)),
        _attack(
            "relink",
            "linkability",
            "knows the earlier half of a log, looks for the most similar published log: words, spelling, concepts",
            _LOGS,
            "halves",
            *_MEANING,
        ),
        _attack(
            "relink-half",
            "linkability",
            "the same against a release of the later half alone: what links the two is a person's habits",
            _LOGS,
            "halves",
            "trials",
            "concepts",
            "taxonomy",
        ),
        _attack(
            "shape",
            "linkability",
            "runs the method on what is known and compares row counts and words per row; reads nothing",
            _LOGS,
            "halves",
            "trials",
        ),
        _attack(
            "learned-linkage",
            "linkability",
            "learns from people whose published logs are known which similarities find the others",
            _LOGS,
            "halves",
            "trials",
            *_MEANING,
        ),
        _attack(
            "consistent-classes",
            "linkability",
            "knows a person's log, or half of it, and looks for the class of generalized logs that agrees with it",
            ("items",),
            "halves",
            "concepts",
            "taxonomy",
        ),
        _attack(
            "stream-linkage",
            "linkability",
            "pairs published queries and users again: by node, by the anonymizer's own machine, by activity",
            ("stream",),
            "release_paths",
            "stream_engines",
        ),
        _attack(
            "intersection",
            "linkability",
            "intersects the people under whom a text of one person is published here and in other releases",
            _LOGS,
            "askers",
            "also",
        ),
        _attack(
            "claim",
            "inference",
            "knows half of a person's log, finds the published log most like it, and claims its most fitting new text",
            _LOGS,
            "halves",
            "askers",
            "trials",
            *_MEANING,
        ),
        _attack(
            "attribute",
            "inference",
            "knows the members of a group and half of their logs; says which of them asked a text of one person",
            ("log",),
            "halves",
            "askers",
        ),
        _attack(
            "membership",
            "inference",
            "knows half of a person's log and tells whether the person is in the release of half of the people",
            _ALL,
            "halves",
            "trials",
            "concepts",
            "taxonomy",
            without_truth=True,
        ),
    ),
)
"""Attacks by name; attackers see only the release and what they know of users."""

MEASURES: Final = Catalog(
    "measure",
    Check,
    (
        _check("measures/kept", "share of query volume and of distinct queries kept; rows per user", _TEXTS),
        _check(
            "measures/information-loss",
            "do users fall into the same clusters as before",
            _LOGS,
            "concepts",
            "release_concepts",
            "taxonomy",
        ),
        _check(
            "measures/srp",
            "share of queries whose category remains in the user's published log",
            ("log",),
            "concepts",
            "taxonomy",
            "directory",
            "resolver",
        ),
        _check(
            "measures/category-emd",
            "how far each user's categories have moved on the tree",
            ("stream",),
            "paths",
            "release_paths",
        ),
        _check("measures/stream-flow", "records that left, delay, bag sizes, users waiting", ("stream",)),
        _check("measures/top-queries", "rank correlation of the most frequent queries", _TEXTS),
        _check(
            "measures/topics",
            "how far the shares of topics have moved",
            _ALL,
            "concepts",
            "release_concepts",
            "taxonomy",
        ),
        _check(
            "measures/generalization",
            "distortion by generalizing and suppressing concepts; length and level of what is published",
            ("items",),
            "concepts",
            "release_concepts",
            "taxonomy",
        ),
        _check(
            "measures/profile-divergence",
            "how far each user's topic profile has moved",
            _LOGS,
            "concepts",
            "release_concepts",
            "taxonomy",
        ),
        _check(
            "measures/unchanged",
            "share of queries that came out as they went in",
            _LOGS,
            "concepts",
            "release_concepts",
        ),
    ),
)
"""Measures by name: what a release is still good for."""

STREAM_METHODS: Final[dict[str, Method]] = {
    m.name: m
    for m in (
        _stream(
            "self-adjusting",
            "SelfAdjustingSettings",
            "stream: each query leaves soon, with a user of its category or branch",
        ),
        _stream(
            "fixed-depth",
            "StreamSettings",
            "stream: each query leaves with a user of its category, cut to a depth",
        ),
        _stream("flat", "FlatSettings", "stream: each query leaves with a user of its top-level category"),
    )
}
"""Methods of live streams, for `querycloak stream`; like all others they also take a whole log."""

METHODS: Final = Catalog(
    "method",
    Method,
    (
        _method(
            "suppression/sweep",
            "Sweep",
            "new user ids; queries with personal identifiers and rare queries left out (what naive publishers do)",
            "none",
        ),
        _method(
            "microaggregation/semantic-microaggregation",
            "SemanticMicroaggregation",
            "users with like interests in groups of k, each group published with one log of real queries",
            _K_USERS,
            "concepts",
            "taxonomy",
        ),
        _method(
            "microaggregation/plain-microaggregation",
            "PlainMicroaggregation",
            "the same without semantics: queries are only equal or different",
            _K_USERS,
        ),
        _method(
            "microaggregation/syntactic-microaggregation",
            "SyntacticMicroaggregation",
            "groups of k users whose queries are spelled, clicked and timed alike",
            _K_USERS,
        ),
        _method(
            "microaggregation/url-microaggregation",
            "UrlMicroaggregation",
            "groups of k users by the directory categories of the sites they clicked; random queries of each",
            _K_USERS,
            "directory",
            "resolver",
        ),
        _method(
            "microaggregation/word-microaggregation",
            "WordMicroaggregation",
            "groups of k users by the directory categories of the words they asked; random queries of each",
            _K_USERS,
            "taxonomy",
            "directory",
        ),
        _method(
            "suppression/click-graph-removal",
            "ClickGraphRemoval",
            "queries that point to a site, and those that join the query graph, left out",
            "none",
        ),
        _method(
            "generalization/clump",
            "Clump",
            "clusters of k similar users, each published as the concepts that all of its cluster have in common",
            _K_CONCEPTS,
            "concepts",
            "taxonomy",
        ),
        _method(
            "generalization/partition",
            "Partition",
            "users parted from the root of the taxonomy down, while k or more share the same concepts",
            _K_CONCEPTS,
            "concepts",
            "taxonomy",
        ),
        _method(
            "dp/semantic-dp",
            "SemanticDp",
            "each query replaced by one drawn near its meaning; as many rows per user as before",
            "epsilon-differential privacy of the concepts of each user's queries",
            "concepts",
            "taxonomy",
        ),
        _method(
            "dp/histogram-dp",
            "HistogramDp",
            "a noisy histogram of concepts for each user",
            "epsilon-differential privacy of each user's queries",
            "concepts",
            "taxonomy",
        ),
        _method(
            "dp/frequent-queries",
            "FrequentQueries",
            "a table of the queries that many users asked, with noisy counts; or the log of them",
            "(epsilon, delta)-differential privacy of each user",
        ),
    ),
    reserved=frozenset(STREAM_METHODS),
)
"""Methods that take a whole log, by name."""


def method(name: str) -> Method:
    """Find a method by its name; an unknown one is refused with the nearest."""
    if name in STREAM_METHODS:
        return STREAM_METHODS[name]
    try:
        return METHODS.find(name)
    except UnknownNameError:
        raise UnknownNameError.of("method", name, METHODS | STREAM_METHODS) from None


def describe_settings(settings: type[Settings]) -> list[dict[str, Any]]:
    """Return name, type, default and help of each setting, for command lines and docs."""
    from dataclasses import fields

    from querycloak.settings import setting_type

    return [
        {"name": f.name, "type": setting_type(settings, f.name), "default": f.default, **f.metadata}
        for f in fields(settings)
    ]
