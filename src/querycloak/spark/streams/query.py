"""A stream of Structured Streaming through a method of streams: `querycloak.spark.stream`.

>>> released = stream(frame, "self-adjusting", checkpoint="state", k=10)  # doctest: +SKIP
>>> query = released.write("release", trigger={"processingTime": "1 minute"})  # doctest: +SKIP
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from pyspark.sql import functions as F  # noqa: N812 - the name that Spark's documentation uses
from pyspark.sql import types as T  # noqa: N812

from querycloak.catalog import method as find_method
from querycloak.catalog.methods import STREAM_METHODS
from querycloak.errors import InputError, ParameterError, UnknownNameError
from querycloak.keyed_randomness import KeyedRandomness
from querycloak.mapping.modes import stated_mapping
from querycloak.methods.stream.keyed_ids import id_key
from querycloak.randomness import Randomness
from querycloak.spark.spark_log import rows_by_role
from querycloak.spark.streams.batch import FIELDS, text_order_key
from querycloak.spark.streams.branch import published_columns
from querycloak.spark.streams.branch_state import run_of
from querycloak.spark.streams.plan import Plan, categories_of, check_settings
from querycloak.spark.streams.processor import NO_NUMBER, BranchProcessor
from querycloak.spark.streams.rows import ENTERING, stream_rows
from querycloak.spark.streams.run_folder import RunFolder
from querycloak.spark.streams.sink import BatchFolders
from querycloak.spark.streams.tallies import Figures, stated

if TYPE_CHECKING:
    from collections.abc import Mapping
    from os import PathLike

    from pyspark.sql import DataFrame
    from pyspark.sql.streaming.query import StreamingQuery

    from querycloak.knowledge.taxonomy import Taxonomy
    from querycloak.releases.statement import PrivacyStatement

__all__ = ["KEY_OF_RUN", "SparkStream", "stream"]

KEY_OF_RUN: Final = "a secret key of the driver's operating system, kept with the checkpoint of the stream"
PROVIDER: Final = "spark.sql.streaming.stateStore.providerClass"
ROCKSDB: Final = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
BATCHES: Final = (
    "a record is published with its micro-batch: which one tells about when it left",
    "ids are compared within a category alone: of n users two have the same id with a probability of about n^2 / 2^65",
)
NEEDS: Final = (
    "Structured Streaming with state in Python needs protobuf and pandas: pip install 'protobuf>=6' 'pandas<3'"
)


@dataclass(frozen=True, eq=False, repr=False)
class SparkStream:
    """A stream that was not started yet."""

    plan: Plan
    checkpoint: str
    rows: DataFrame
    """what branches let out, and a row of each branch with its figures"""
    statement: PrivacyStatement
    """what is promised; the counts are those of a stream that has not begun"""
    seed: int | None

    def __repr__(self) -> str:
        return f"SparkStream({self.plan.method})"

    @property
    def frame(self) -> DataFrame:
        """The published rows, as a streaming DataFrame: for a sink of your own, with the same checkpoint folder.

        Spark may hand a micro-batch to a sink twice: the sink must put its rows in the place of those it has.
        """
        return self._published(self.rows.where(F.col("figures").isNull()))

    def write(
        self,
        directory: str | PathLike[str],
        *,
        trigger: Mapping[str, Any] | None = None,
        file_format: str = "parquet",
        name: str | None = None,
    ) -> StreamingQuery:
        """Start the query: a folder for each micro-batch in `directory`, each published once, with the statement.

        `trigger` as Spark has it: {"processingTime": "1 minute"}, or {"availableNow": True} for what there is now.
        """
        session = self.rows.sparkSession
        sink = BatchFolders(str(directory), self.checkpoint, self._published, self._state, file_format)
        writer = self.rows.writeStream.outputMode("update").option("checkpointLocation", self.checkpoint)
        writer = writer.foreachBatch(sink)
        writer = writer if name is None else writer.queryName(name)
        writer = writer if trigger is None else writer.trigger(**trigger)
        before = session.conf.get(PROVIDER, None)
        session.conf.set(PROVIDER, ROCKSDB)  # a query takes the settings of its session when it starts
        try:
            return writer.start()
        finally:
            session.conf.set(PROVIDER, before) if before is not None else session.conf.unset(PROVIDER)

    def figures(self) -> Figures:
        """Return what was counted up to the newest micro-batch: of a query that has ended, or between two batches."""
        return RunFolder(self.rows.sparkSession, self.checkpoint).newest()

    def _published(self, rows: DataFrame) -> DataFrame:
        for name, missing in NO_NUMBER.items():
            if name in rows.columns:
                rows = rows.withColumn(name, F.when(F.col(name) != missing, F.col(name)))
        return rows.drop("figures")

    def _state(self, figures: Figures) -> PrivacyStatement:
        return _statement(self.plan, self.seed, figures)


def stream(
    frame: DataFrame,
    method: str = "self-adjusting",
    columns: Mapping[str, str] | None = None,
    *,
    checkpoint: str | PathLike[str],
    seed: int | None = None,
    taxonomy: Taxonomy | str | PathLike[str] | None = None,
    mapping: str | None = None,
    on_error: str = "stop",
    **settings: Any,
) -> SparkStream:
    """Anonymize a streaming DataFrame: each record leaves soon, under another user of its category or branch.

    `checkpoint` is a folder for this stream alone, on storage that all executors reach and nobody else reads: what
    waits is in it, and the secret of the run. The same call with the same folder goes on where a killed one was.
    """
    if method not in STREAM_METHODS:
        raise UnknownNameError.of("method of streams", method, STREAM_METHODS)
    if not frame.isStreaming:
        raise ParameterError("The frame is no stream; for a whole log there is querycloak.spark.anonymize.")
    _check_modules()
    entry = find_method(method)
    checked: Any = entry.settings.from_json({**entry.given, **settings})
    found, named, _ = rows_by_role(frame, columns)
    found = found.select(list(named))
    roles = tuple(role for role in ENTERING if role in named)
    check_settings(checked, roles)
    session, folder = frame.sparkSession, str(checkpoint)
    run = RunFolder(session, folder)
    random = (Randomness(key=run.secret()) if seed is None else Randomness(seed)).child(method)
    categories = None if "category" in roles else categories_of(session, checked, taxonomy, mapping)
    words = KeyedRandomness(random.child("engine"))
    plan = Plan(method, checked, roles, words, categories, id_key(random.child("ids")), on_error == "skip")
    mapped = "" if categories is None else f"{categories.name or 'a file'}, {stated_mapping(categories.mapping)}"
    run.check_run({**run_of(plan), "seed": seed, "categories": mapped, "on_error": on_error})
    if "rank" in roles:
        found = found.withColumn("rank", F.coalesce("rank", F.lit(NO_NUMBER["rank"])))
    rows = stream_rows(found, checked.separator, categories, text_order_key(random))
    schema = T.StructType(
        [
            *(T.StructField(name, FIELDS[name]) for name in ("user", *published_columns(roles))),
            T.StructField("figures", T.StringType()),
        ]
    )
    names_key = random.child("names").words(4).astype("<u8").tobytes()
    processor = BranchProcessor(plan, published_columns(roles), names_key)
    left = rows.groupBy("top").transformWithStateInPandas(processor, schema, "Update", "None")
    return SparkStream(plan, folder, left, _statement(plan, seed, Figures(())), seed)


def _statement(plan: Plan, seed: int | None, figures: Figures) -> PrivacyStatement:
    """Return the statement of a stream, with what was counted so far."""
    counts_in, counts_out = {"rows": figures.rows}, {"rows": figures.left}
    random = Randomness(0)  # only described, below
    made = stated(plan.method, plan.settings, random, figures, plan.roles, counts_in, counts_out)
    mapping = "" if plan.knowledge is None else stated_mapping(plan.knowledge.mapping)
    made = replace(made, does_not_cover=(*made.does_not_cover, *BATCHES), mapping=mapping)
    return replace(made, randomness=KEY_OF_RUN) if seed is None else made.seeded()


def _check_modules() -> None:
    """Refuse before the query starts what would end it in a task."""
    try:
        for name in ("google.protobuf", "pandas"):
            import_module(name)
    except ImportError:
        raise InputError(NEEDS) from None
