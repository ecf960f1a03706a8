"""Methods by name: those of live streams, and all others."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from querycloak.catalog.entries import Method, Need
from querycloak.errors import UnknownNameError
from querycloak.names import match_name
from querycloak.plugins import Catalog

__all__ = ["METHODS", "STREAM_METHODS", "method"]

_K_USERS: Final = "k-anonymity of users"
_K_CONCEPTS: Final = "k-anonymity of users' generalized transactions"


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
        _stream(
            "nearest",
            "NearestSettings",
            "stream: each query leaves from a pool, with one of the k + 1 users who asked nearest to it",
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
            "new user ids; of each query the part that many people share",
            "none",
            "concepts",
            "taxonomy",
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
            "concepts",
            "taxonomy",
        ),
        _method(
            "microaggregation/syntactic-microaggregation",
            "SyntacticMicroaggregation",
            "groups of k users whose queries are spelled, clicked and timed alike",
            _K_USERS,
            "concepts",
            "taxonomy",
        ),
        _method(
            "microaggregation/url-microaggregation",
            "UrlMicroaggregation",
            "groups of k users by the directory categories of the sites they clicked; random queries of each",
            _K_USERS,
            "concepts",
            "taxonomy",
            "directory",
            "resolver",
            "click_categories",
        ),
        _method(
            "microaggregation/word-microaggregation",
            "WordMicroaggregation",
            "groups of k users by the directory categories of the words they asked; random queries of each",
            _K_USERS,
            "concepts",
            "taxonomy",
            "directory",
        ),
        _method(
            "suppression/click-graph-removal",
            "ClickGraphRemoval",
            "queries that point to a site, and those that join the query graph, left out",
            "none",
            "concepts",
            "taxonomy",
        ),
        replace(
            _method(
                "policy/policy",
                "Policy",
                "rules of a regulator or a service, from a preset or a TOML file, applied one after the other",
                "none",
                "taxonomy",
            ),
            named_by="rules",
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
            "as many rows for every user, each drawn near the meaning of one of the user's queries",
            "epsilon-differential privacy of each user",
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
        _method(
            "dp/synthetic-dp",
            "SyntheticDp",
            "a log of invented users, drawn from noisy statistics of the real ones",
            "(epsilon, delta)-differential privacy of each user",
            "concepts",
            "taxonomy",
        ),
    ),
    reserved=frozenset(STREAM_METHODS),
)
"""Methods that take a whole log, by name."""


def method(name: str) -> Method:
    """Find a method by its name; an unknown one is refused with the nearest.

    >>> method("policy:google-2024").given
    {'rules': 'google-2024'}
    >>> method("Semantic Microaggregation").name
    'semantic-microaggregation'
    """
    first, colon, rest = name.partition(":")
    if colon and name not in METHODS:
        entry = method(first)
        if not entry.named_by or not rest:
            raise UnknownNameError.of("method", name, METHODS | STREAM_METHODS)
        return replace(entry, given={entry.named_by: rest})
    live = match_name(name, STREAM_METHODS)
    if live is not None:
        return STREAM_METHODS[live]
    try:
        return METHODS.find(name)
    except UnknownNameError:
        raise UnknownNameError.of("method", name, METHODS | STREAM_METHODS) from None
