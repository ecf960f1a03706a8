"""A log that nobody wrote, on a cluster: statistics on Spark, noise on the driver, invented users on Spark.

Everything published is made of the noised statistics of `statistics.py` and `vocabulary.py`, as on one machine
(`methods/dp/synthetic_dp.py`). Invented users are drawn in blocks of at most some thousands, each from the randomness
of (secret, number of the block): a task that runs twice invents the same users. Shares are kept as exactly as whole
numbers allow within each block.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
import pyarrow as pa
from pyspark.sql import functions as F  # noqa: N812 - the name that Spark's documentation uses

from querycloak.keyed_randomness import KeyedRandomness
from querycloak.methods.dp._set_union_table import RESERVED
from querycloak.methods.dp._synthetic_domain import topic_bins
from querycloak.methods.dp._synthetic_statistics import plans, take_all
from querycloak.methods.dp.synthetic_dp import ROUNDS, SyntheticDp, invent_rows, make_source, synthetic_statement
from querycloak.releases.budget import Budget
from querycloak.releases.release import LogRelease
from querycloak.spark.dp.noise import describe_noise
from querycloak.spark.dp.statistics import find_statistics
from querycloak.spark.dp.user_events import read_events
from querycloak.spark.dp.vocabulary import choose_vocabulary
from querycloak.spark.spark_release import Draft

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from pyspark.core.broadcast import Broadcast

    from querycloak.methods.dp._synthetic_draw import Calendar
    from querycloak.methods.dp.synthetic_dp import Source
    from querycloak.randomness import Randomness
    from querycloak.spark.knowledge import Knowledge
    from querycloak.spark.spark_log import SparkLog

__all__ = ["synthetic_dp"]

USERS: Final = 4096
"""Most invented users of a block."""


def synthetic_dp(log: SparkLog, settings: SyntheticDp, random: Randomness, knowledge: Knowledge) -> Draft:
    """Publish a log of invented users."""
    taxonomy, times = knowledge.taxonomy, log.has("time")
    has_clicks = settings.clicks and log.has("url")
    texts = plans(rounds=ROUNDS[settings.choose], per_user=settings.per_user, clicks=has_clicks)
    budget = Budget(float(settings.epsilon), float(settings.delta), reserved_delta=float(settings.delta) * RESERVED)
    taken = take_all(texts, budget, times=times)
    vocabulary = choose_vocabulary(log, texts, taken.texts, random)
    topics = topic_bins(taxonomy)
    events = read_events(log, knowledge, topics, random)
    found = find_statistics(events, topics, settings.clusters, taken, random)
    events.frame.unpersist()

    source = make_source(vocabulary, found, topics, taxonomy, knowledge.mapping)
    session = log.frame.sparkSession
    blocks = max(1, -(-int(source.model.sizes[0].sum()) // USERS))
    columns = [
        "user string",
        "query string",
        *(["time bigint"] if times else []),
        *(["url string"] if has_clicks else []),
    ]
    draw = _draw_blocks(session.sparkContext.broadcast(source), blocks, settings.calendar, random)
    rows = session.range(blocks, numPartitions=min(blocks, 1024)).mapInArrow(draw, ", ".join(columns))
    said = describe_noise(random)
    statement = synthetic_statement(settings, vocabulary.rules, said, clicks=has_clicks, counts_out={})
    return Draft(LogRelease.kind, rows.where(F.col("user").isNotNull()), statement, budget=budget)


def _draw_blocks(
    source: Broadcast[Source], blocks: int, calendar: Calendar, random: Randomness
) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """Return what turns the numbers of blocks into their users' rows."""
    drawn_by, named_by = KeyedRandomness(random.child("blocks")), KeyedRandomness(random.child("ids"))

    def draw(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for number in batch.column("id").to_pylist():
                rows = invent_rows(source.value.block(number, blocks), calendar, drawn_by.of(str(number)))
                ids = pa.array(named_by.candidates(f"{number} {i}" for i in range(rows.drawn.users)), type=pa.string())
                texts = rows.text.to_arrow().cast(pa.string())
                columns = {"user": ids.take(pa.array(rows.drawn.user)), "query": texts.take(pa.array(rows.at))}
                if rows.drawn.time is not None:
                    columns["time"] = pa.array(rows.drawn.time)
                clicks = source.value.vocabulary.clicks
                if rows.pair is not None and clicks is not None:
                    urls = clicks.url.to_arrow().cast(pa.string())
                    columns["url"] = urls.take(pa.array(rows.pair, mask=np.asarray(rows.pair < 0)))
                yield pa.RecordBatch.from_arrays(list(columns.values()), names=list(columns))

    return draw
