"""Attacks on a release on a cluster, by name: those that need no more of a person than a task can hold."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from querycloak.errors import UserError
from querycloak.names import match_name
from querycloak.spark.linkage import record_linkage

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyspark.sql import DataFrame

    from querycloak.attacks.result import AttackResult
    from querycloak.releases.statement import PrivacyStatement
    from querycloak.spark.spark_log import SparkLog

__all__ = ["ATTACKS", "attack"]

ATTACKS: Final = ("record-linkage",)


def attack(
    original: DataFrame | SparkLog,
    released: DataFrame,
    statement: PrivacyStatement,
    truth: DataFrame,
    name: str = "record-linkage",
    columns: Mapping[str, str] | None = None,
    **settings: Any,
) -> list[AttackResult]:
    """Attack a release: `released` and its `statement` as `anonymize` returned them, truth: `id` and `user`.

    `most_people` = queries that more people asked are not used: the more, the stronger the attack and the longer it
    takes; as many as there are users, and the result is that of one machine.
    """
    if match_name(name, ATTACKS) is None:
        raise UserError(
            f"The attack {name!r} does not run on Spark. These do: {', '.join(ATTACKS)}. All others run on one "
            "machine, on a sample of the users: take all rows of some users of the log before you anonymize it."
        )
    return record_linkage(original, released, statement, truth, columns, **settings)
