"""The noised statistics of `synthetic-dp`, on a cluster: sums over users by Spark, noise on the driver.

Each sum is over a public list of bins, of which there are as many for any log: they come to the driver, where they get
the noise of one machine. What a user adds is clipped in whole numbers, as `methods/dp/_synthetic_sums.py` says, so sums
are those of one machine to the last digit, and with a seed so is the noise.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pyspark import StorageLevel
from pyspark.sql import functions as F  # noqa: N812 - the name that Spark's documentation uses
from pyspark.sql import types as T  # noqa: N812
from pyspark.sql.window import Window

from querycloak.methods.dp._synthetic_clusters import Profiles, assign, first_centres, next_centres
from querycloak.methods.dp._synthetic_domain import GAP_EDGES, HOURS, SESSION_EDGES, SIZE_EDGES, bin_of
from querycloak.methods.dp._synthetic_events import FIRST_NEW, KINDS, NEW
from querycloak.methods.dp._synthetic_statistics import PARTS, Statistics
from querycloak.methods.dp._synthetic_sums import add_counts, noisy_from, unit_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from pyspark.sql import Column, DataFrame

    from querycloak.methods.dp._synthetic_domain import Topics
    from querycloak.methods.dp._synthetic_statistics import Taken
    from querycloak.methods.dp._synthetic_sums import NoisySums
    from querycloak.randomness import Randomness
    from querycloak.spark.dp.user_events import Events

__all__ = ["find_statistics"]

Int64s = npt.NDArray[np.int64]
Float64s = npt.NDArray[np.float64]

SUMS: Final = "part int, bin int, value bigint"
NAMES: Final = tuple(PARTS)
"""A part is known by its index among them."""
DAY: Final = 86_400


def find_statistics(events: Events, topics: Topics, clusters: int, taken: Taken, random: Randomness) -> Statistics:
    """Add up what users did, with noise."""
    bins = _bins_of_parts(topics, clusters)
    most = {name: part.most for name, part in PARTS.items()}
    unit = {name: unit_of(share, most[name]) for name, share in taken.sums.items()}
    exact = _collected(_clipped(_entries(events, topics), most, unit), bins)

    def noisy(name: str) -> NoisySums:
        return noisy_from(exact[name], most=most[name], share=taken.sums[name], random=random.child(name))

    of_topics = noisy("topics")
    mass = np.bincount(topics.field, weights=of_topics.cut(), minlength=topics.fields).astype(np.float64)
    users = _users(events).persist(StorageLevel.MEMORY_AND_DISK)
    centres = first_centres(mass, clusters)
    for i, share in enumerate(taken.rounds):
        sums = _collected(users.mapInArrow(_of_centres(centres, unit_of(share, 1)), SUMS), {NAMES[0]: centres.size})[
            NAMES[0]
        ]
        centres = next_centres(
            noisy_from(sums, most=1, share=share, random=random.child("centres").child(f"round {i}")), centres
        )
    exact |= _collected(
        users.mapInArrow(_of_clusters(centres, most, unit), SUMS),
        bins,
        ("events per user", "users by cluster", "fields by cluster"),
    )
    users.unpersist()
    return Statistics(
        sizes=noisy("events per user"),
        hours=noisy("hours of the week") if events.times else None,
        topics=of_topics,
        clusters=noisy("users by cluster"),
        fields=noisy("fields by cluster"),
        lengths=noisy("lengths of sessions"),
        gaps=noisy("pauses in sessions") if events.times else None,
        kinds=noisy("kinds of events"),
        moves=noisy("moves between topics"),
        cluster=np.zeros(0, dtype=np.int64),
    )


def _bins_of_parts(topics: Topics, clusters: int) -> dict[str, int]:
    return {
        "events per user": len(SIZE_EDGES),
        "users by cluster": clusters,
        "hours of the week": HOURS,
        "topics": topics.total,
        "fields by cluster": clusters * topics.fields,
        "lengths of sessions": len(SESSION_EDGES),
        "pauses in sessions": len(GAP_EDGES),
        "kinds of events": KINDS,
        "moves between topics": topics.fields * (topics.fields + 1),
    }


def _entries(events: Events, topics: Topics) -> DataFrame:
    """Return `user`, `part` and `bin`: one row for each thing that is counted."""
    frame, n = events.frame, topics.fields

    def entry(name: str, index: Column, there: Column) -> Column:
        return F.when(there, F.struct(F.lit(NAMES.index(name)).alias("part"), index.cast("int").alias("bin")))

    new = (F.col("kind") >= FIRST_NEW) & (F.col("kind") < NEW + 2) & ~F.col("first")
    stays = F.col("old_topic") == F.col("topic")
    move = F.when(stays, n * n + F.col("field")).otherwise(F.col("old_field") * n + F.col("field"))
    entries = [
        entry("kinds of events", F.col("kind"), F.lit(True)),
        entry("moves between topics", move, new),
    ]
    if events.times:
        hour = F.pmod(F.floor((F.col("time") - 4 * DAY) / 3600), F.lit(HOURS))
        pause = F.when(~F.col("first"), F.col("pause"))
        entries += [
            entry("hours of the week", hour, F.col("time").isNotNull()),
            entry("pauses in sessions", _binned(pause, GAP_EDGES), ~F.col("first")),
        ]
    of_topics = F.transform(
        "topics", lambda t: F.struct(F.lit(NAMES.index("topics")).alias("part"), t.cast("int").alias("bin"))
    )
    rows = frame.select("user", F.explode(F.concat(of_topics, F.array_compact(F.array(*entries)))).alias("entry"))
    lengths = frame.groupBy("user", "session").agg(F.count("*").alias("n"))
    part = F.lit(NAMES.index("lengths of sessions"))
    sessions = lengths.select("user", part.alias("part"), _binned(F.col("n"), SESSION_EDGES).alias("bin"))
    return rows.select("user", "entry.part", "entry.bin").unionByName(sessions)


def _clipped(entries: DataFrame, most: dict[str, int], unit: dict[str, int]) -> DataFrame:
    """Return `part`, `bin` and `value`, the sums over users of their clipped vectors (`add_users`)."""
    counts = entries.groupBy("user", "part", "bin").agg(F.count("*").alias("n"))
    squares = F.sum(F.col("n") * F.col("n")).over(Window.partitionBy("user", "part"))
    rooted = counts.withColumn("squares", squares).withColumn(
        "root", F.sqrt(F.col("squares").cast("double")).cast("bigint")
    )
    for _ in range(2):  # a rounded root may be one too low
        rooted = rooted.withColumn(
            "root", F.col("root") + (F.col("root") * F.col("root") < F.col("squares")).cast("int")
        )
    bound, one = (_by_part({name: numbers[name] for name in unit}) for numbers in (most, unit))
    clipped = F.call_function("div", one * bound * F.col("n"), F.col("root"))
    value = F.when(F.col("squares") > bound * bound, clipped).otherwise(one * F.col("n"))
    return rooted.withColumn("value", value).groupBy("part", "bin").agg(F.sum("value").alias("value"))


def _by_part(numbers: dict[str, int]) -> Column:
    """Return the number of the row's part."""
    out = F.lit(None).cast("bigint")
    for name, number in numbers.items():
        out = F.when(F.col("part") == NAMES.index(name), F.lit(number).cast("bigint")).otherwise(out)
    return out


def _users(events: Events) -> DataFrame:
    """Return `user` and `counts`, in order: (0, field, events) and (1, field, parts of queries); as many as fields."""
    frame = events.frame
    of_events = frame.select("user", F.lit(0).alias("what"), "field")
    of_parts = frame.select("user", F.lit(1).alias("what"), F.explode("fields").alias("field"))
    counts = of_events.unionByName(of_parts).groupBy("user", "what", "field").agg(F.count("*").alias("n"))
    return counts.groupBy("user").agg(F.sort_array(F.collect_list(F.struct("what", "field", "n"))).alias("counts"))


def _read(batch: pa.RecordBatch, what: int) -> tuple[Int64s, Int64s, Int64s]:
    """Return user (index in the batch), field and number of one kind of counts, ordered by user and field."""
    lists = batch.column("counts")
    owner = np.repeat(np.arange(len(lists)), lists.value_lengths().to_numpy(zero_copy_only=False))
    pairs = lists.flatten()
    kind, field, n = (
        pairs.field(name).to_numpy(zero_copy_only=False).astype(np.int64) for name in ("what", "field", "n")
    )
    some = kind == what
    return owner[some], field[some], n[some]


def _of_centres(centres: Float64s, unit: int) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """Return what adds up the profiles of users in the block of their cluster."""
    fields = centres.shape[1]

    def add(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            owner, field, n = _read(batch, 0)
            cluster = assign(Profiles(owner, field, n, fields, len(batch)), centres)
            cell = cluster[owner] * fields + field
            yield _rows({NAMES[0]: add_counts(owner, cell, n, centres.size, most=1, unit=unit, normed=True)})

    return add


def _of_clusters(
    centres: Float64s, most: dict[str, int], unit: dict[str, int]
) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """Return what adds up users by their number of events and by cluster, and fields by cluster."""
    clusters, fields = centres.shape

    def add(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            owner, field, n = _read(batch, 0)
            cluster = assign(Profiles(owner, field, n, fields, len(batch)), centres)
            events = np.bincount(owner, weights=n, minlength=len(batch)).astype(np.int64)
            people = np.arange(len(batch))
            once = np.ones(len(batch), dtype=np.int64)
            who, where, parts = _read(batch, 1)
            found = {
                "events per user": (people, bin_of(events, SIZE_EDGES), once, len(SIZE_EDGES)),
                "users by cluster": (people, cluster, once, clusters),
                "fields by cluster": (who, cluster[who] * fields + where, parts, clusters * fields),
            }
            yield _rows({name: add_counts(*some, most=most[name], unit=unit[name]) for name, some in found.items()})

    return add


def _rows(sums: dict[str, Int64s]) -> pa.RecordBatch:
    """Return the sums that are not 0 as rows."""
    there = {name: np.flatnonzero(values) for name, values in sums.items()}
    part = np.concatenate([np.full(len(at), NAMES.index(name), dtype=np.int32) for name, at in there.items()])
    index = np.concatenate([at.astype(np.int32) for at in there.values()])
    value = np.concatenate([sums[name][at] for name, at in there.items()])
    return pa.RecordBatch.from_arrays(
        [pa.array(part), pa.array(index), pa.array(value)], names=["part", "bin", "value"]
    )


def _collected(sums: DataFrame, bins: dict[str, int], names: Iterable[str] | None = None) -> dict[str, Int64s]:
    """Bring sums to the driver, by the name of their part: a public number of bins."""
    out = {name: np.zeros(n, dtype=np.int64) for name, n in bins.items()}
    for row in sums.groupBy("part", "bin").agg(F.sum("value").alias("value")).collect():
        out[NAMES[row["part"]]][row["bin"]] = row["value"]
    return out if names is None else {name: out[name] for name in names}


def _binned(values: Column, edges: Int64s) -> Column:
    """Return the bin of each value."""

    def find(numbers: pa.Array) -> pa.Array:
        missing = numbers.is_null().to_numpy(zero_copy_only=False)
        found = bin_of(numbers.fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64), edges)
        return pa.array(found.astype(np.int32), mask=missing)

    binned: Any = F.arrow_udf(find, T.IntegerType())(values)  # type: ignore[attr-defined] # stubs lag behind
    return binned  # type: ignore[no-any-return]
