"""A noisy histogram of concepts for each user, on a cluster (`methods/dp/histogram_dp.py` has the proof).

A user's noise is a function of a secret and of the user's name. With a seed it is that of one machine.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
import pyarrow as pa
from pyspark.sql import functions as F  # noqa: N812 - the name that Spark's documentation uses

from querycloak.arrays.keyed_streams import Streams
from querycloak.keyed_randomness import KeyedRandomness
from querycloak.methods.dp._domains import describe_domains
from querycloak.methods.dp._exact_noise import exact_laplace
from querycloak.methods.dp.histogram_dp import HistogramDp, bins_of, histogram_share, histogram_statement
from querycloak.releases.release import ItemRelease
from querycloak.spark.dp.noise import describe_noise, laplace_for
from querycloak.spark.dp.units import counted_units, read_counts
from querycloak.spark.new_ids import NewIds
from querycloak.spark.spark_release import Draft

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from querycloak.randomness import Randomness
    from querycloak.spark.knowledge import Knowledge
    from querycloak.spark.spark_log import SparkLog

__all__ = ["histogram_dp"]

CELLS: Final = 1 << 20
"""Bins of users in memory."""


def histogram_dp(log: SparkLog, settings: HistogramDp, random: Randomness, knowledge: Knowledge) -> Draft:
    """Publish every user's concepts with noisy counts, those above 0."""
    taxonomy = knowledge.taxonomy
    domains, bins, bin_of = bins_of(taxonomy, settings)
    budget, share = histogram_share(settings)
    scale = laplace_for(settings.most_change, share.use())
    users = counted_units(log, knowledge, bin_of, most=settings.per_user_queries)
    ids = NewIds.of(log.users, random, avoid=log.users, digits=False)
    add = _noise_on(len(bins), scale, KeyedRandomness(random.child("noise")))
    noisy = ids.put_on(users).mapInArrow(add, "id string, bin int, count bigint")
    known = [(i, taxonomy.label(c), taxonomy.paths[c]) for i, c in enumerate(bins.tolist())]
    names = log.frame.sparkSession.createDataFrame(known, "bin int, query string, category string")
    rows = noisy.join(F.broadcast(names), "bin").select(F.col("id").alias("user"), "query", "category", "count")
    statement = histogram_statement(settings, describe_domains(taxonomy, domains), describe_noise(random), {})
    return Draft(ItemRelease.kind, rows, statement, truth=ids.put_on(log.users).select("id", "user"), budget=budget)


def _noise_on(
    bins: int, scale: float, keyed: KeyedRandomness
) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """Return what turns users with counts into the rows of their noisy histograms."""

    def add(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        step = max(1, CELLS // bins)
        for batch in batches:
            index, n, start = read_counts(batch.column("counts"))
            owner = np.repeat(np.arange(len(batch)), np.diff(start))
            for at in range(0, len(batch), step):
                some = batch.slice(at, step)
                counts = exact_laplace(Streams.of(some.column("user").to_pylist(), keyed), scale, bins)
                mine = slice(start[at], start[min(at + step, len(batch))])
                counts[owner[mine] - at, index[mine]] += n[mine]
                user, where = np.nonzero(counts > 0)
                yield pa.RecordBatch.from_arrays(
                    [
                        some.column("id").take(pa.array(user)),
                        pa.array(where.astype(np.int32)),
                        pa.array(counts[user, where]),
                    ],
                    names=["id", "bin", "count"],
                )

    return add
