"""Exactly r rows for every user, drawn near the meaning of the user's queries, on a cluster.

The draw of one machine (`methods/dp/_semantic_dp_rows.py` has the proof): a user's rows are a function of a secret, of
the user's name and of the user's units, whatever their order. With a seed they are those of one machine.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from querycloak.arrays.keyed_streams import Streams
from querycloak.keyed_randomness import KeyedRandomness
from querycloak.methods.dp._rebuild import label_words
from querycloak.methods.dp._semantic_dp_rows import Units, draw_for, take_rows
from querycloak.methods.dp.semantic_dp import SemanticDp, prepare, semantic_statement
from querycloak.releases.release import LogRelease
from querycloak.spark.dp.units import counted_units, read_counts
from querycloak.spark.new_ids import NewIds
from querycloak.spark.spark_release import Draft

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from pyspark.core.broadcast import Broadcast

    from querycloak.methods.dp._semantic_dp_mechanism import Mechanism
    from querycloak.randomness import Randomness
    from querycloak.spark.knowledge import Knowledge
    from querycloak.spark.spark_log import SparkLog

__all__ = ["semantic_dp"]

ROWS = 1 << 16
"""Rows whose random words are in memory."""


def semantic_dp(log: SparkLog, settings: SemanticDp, random: Randomness, knowledge: Knowledge) -> Draft:
    """Draw the rows of every user, and publish them under new ids."""
    mechanism = prepare(settings, knowledge.taxonomy)
    budget, each = take_rows(settings)
    mechanism.calibration.tables([each], [0])  # calibrated here, and sent along
    concepts = np.arange(len(knowledge.taxonomy), dtype=np.int32)
    users = counted_units(log, knowledge, np.where(mechanism.covers(concepts), concepts, -1).astype(np.int32))
    ids = NewIds.of(log.users, random, avoid=log.users, digits=False)
    sent = log.frame.sparkSession.sparkContext.broadcast(mechanism)
    draw = _draw_rows(sent, settings.rows_per_user, each, knowledge, KeyedRandomness(random.child("draws")))
    rows = ids.put_on(users).mapInArrow(draw, "user string, query string")
    statement = semantic_statement(settings, knowledge.taxonomy, mechanism, random.describe(), {})
    return Draft(LogRelease.kind, rows, statement, truth=ids.put_on(log.users).select("id", "user"), budget=budget)


def _draw_rows(
    mechanism: Broadcast[Mechanism], r: int, each: float, knowledge: Knowledge, keyed: KeyedRandomness
) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """Return what turns users with units into their r rows."""

    def draw(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        step = max(1, ROWS // r)
        for batch in batches:
            units = Units.counted(*read_counts(batch.column("counts")))
            for at in range(0, len(batch), step):
                some = batch.slice(at, step)
                streams = Streams.of(some.column("user").to_pylist(), keyed)
                drawn = draw_for(units.of_users(at, at + step), mechanism.value, r, each, streams)
                code, words = label_words(knowledge.taxonomy, drawn.reshape(-1))
                ids = some.column("id").take(pa.array(np.repeat(np.arange(len(some)), r)))
                texts = words.to_arrow().cast(pa.string()).take(pa.array(code))
                yield pa.RecordBatch.from_arrays([ids, texts], names=["user", "query"])

    return draw
