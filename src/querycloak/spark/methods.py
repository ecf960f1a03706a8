"""The methods that run on a cluster, by the names of the catalog.

Each is a function `function(log, settings, random, knowledge) -> Draft`: `settings` are those of one machine, `random`
is the driver's (for executors: `KeyedRandomness(random.child(purpose))`).
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, Protocol, cast

from querycloak.errors import UnknownNameError

if TYPE_CHECKING:
    from querycloak.randomness import Randomness
    from querycloak.spark.knowledge import Knowledge
    from querycloak.spark.spark_log import SparkLog
    from querycloak.spark.spark_release import Draft

__all__ = ["METHODS", "SparkMethod", "method_on_spark", "roles_read"]


class SparkMethod(Protocol):
    """A method on a cluster."""

    def __call__(self, log: SparkLog, settings: Any, random: Randomness, knowledge: Knowledge) -> Draft:
        """Make the draft of a release; lazily where possible."""
        ...


METHODS: Final[dict[str, str]] = {
    "clump": "clump",
    "fixed-depth": "streams.batch",
    "flat": "streams.batch",
    "frequent-queries": "dp.frequent_queries",
    "histogram-dp": "dp.histogram_dp",
    "nearest": "streams.batch",
    "partition": "partition",
    "plain-microaggregation": "microaggregation",
    "policy": "policy.policy",
    "self-adjusting": "streams.batch",
    "semantic-dp": "dp.semantic_dp",
    "semantic-microaggregation": "microaggregation",
    "sweep": "sweep",
    "syntactic-microaggregation": "microaggregation",
    "synthetic-dp": "dp.synthetic_dp",
    "url-microaggregation": "microaggregation",
    "word-microaggregation": "microaggregation",
}
"""name → module in `querycloak.spark`, whose function has the name with underscores"""


def method_on_spark(name: str) -> SparkMethod:
    """Find the function of a method, by its name in the catalog."""
    if name not in METHODS:
        raise UnknownNameError.of("method on Spark", name, METHODS)
    module = import_module(f"querycloak.spark.{METHODS[name]}")
    return cast("SparkMethod", getattr(module, name.replace("-", "_")))


def roles_read(name: str, settings: Any) -> frozenset[str] | None:
    """Return the roles of columns that a method reads; None = all. What nobody reads need not be kept."""
    if name != "frequent-queries" or settings.output_form == "log":
        return None
    return frozenset({"user", "query", "url"} if settings.clicks else {"user", "query"})
