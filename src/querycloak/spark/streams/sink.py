"""A sink for a stream in which every micro-batch is there once: a folder for each, published by renaming it.

    DIR/batch=12/part-*.parquet      what left in micro-batch 12: there as a whole, or not at all
    DIR/_pending/…                   a batch that is being written; Spark's readers, and ours, pass over such names
    DIR/_statement.json              the statement, with the figures up to the newest batch

Spark commits a micro-batch after its sink has it. A kill in between makes it run the batch again, from the same state
and the same input, so that the same rows come; they are compared with those that are published, which stay. Were they
not the same, somebody who had read the first could tell askers from the difference: the query ends with an error.
"""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Any

import msgspec
from pyspark.sql import functions as F  # noqa: N812 - the name that Spark's documentation uses

from querycloak.errors import GateError
from querycloak.spark.streams.run_folder import Folder, RunFolder
from querycloak.spark.streams.tallies import BranchFigures, Figures

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import Column, DataFrame

    from querycloak.releases.statement import PrivacyStatement

__all__ = ["BatchFolders"]


class BatchFolders:
    """Writes micro-batches: what `foreachBatch` calls."""

    def __init__(
        self,
        directory: str,
        checkpoint: str,
        published: Callable[[DataFrame], DataFrame],
        state: Callable[[Figures], PrivacyStatement],
        file_format: str,
    ) -> None:
        """Take what makes the rows that are written, of those of a batch, and the statement."""
        self.directory, self.checkpoint = directory.rstrip("/"), checkpoint
        self._published, self._state, self._format = published, state, file_format

    def __repr__(self) -> str:
        return "BatchFolders()"

    def __call__(self, batch: DataFrame, number: int) -> None:
        """Publish a micro-batch."""
        session = batch.sparkSession
        folder, run = Folder(session, self.directory), RunFolder(session, self.checkpoint)
        batch.persist()  # the state moves on once
        try:
            told = [row[0] for row in batch.where(F.col("figures").isNotNull()).select("figures").collect()]
            rows = self._published(batch.where(F.col("figures").isNull()))
            name, pending = f"batch={number}", f"_pending/batch={number}.{secrets.token_hex(4)}"
            rows.write.format(self._format).save(f"{self.directory}/{pending}")
            if folder.has(name):
                self._check_same(session.read.format(self._format).load(f"{self.directory}/{name}"), rows)
                folder.remove(pending)
            else:
                folder.rename(pending, name)
        finally:
            batch.unpersist()
        folder.remove("_pending")
        figures = run.figures(number - 1)
        figures |= dict(msgspec.json.decode(text, type=tuple[str, BranchFigures]) for text in told)
        run.keep_figures(number, figures)
        statement = self._state(Figures(figures.values()))
        folder.write("_statement.json", msgspec.json.format(msgspec.json.encode(statement), indent=1) + b"\n")

    @staticmethod
    def _check_same(before: DataFrame, now: DataFrame) -> None:
        """Check that a batch that ran again made what it had published."""
        columns = sorted(now.columns)
        found = [
            _bag(frame.select(columns).groupBy(columns).agg(F.count("*").alias("times"))) for frame in (before, now)
        ]
        if found[0] != found[1]:
            raise GateError("a micro-batch was published, and running it again makes other rows; nothing of it is.")


def _bag(counted: DataFrame) -> Any:
    """Return what two equal bags of rows have in common."""
    row = F.to_json(F.struct(*counted.columns), {"ignoreNullFields": "false"})
    pieces: list[Column] = [
        F.sum(F.conv(F.substring(F.sha2(row, 256), 1 + 15 * i, 15), 16, 10).cast("decimal(20,0)")) for i in range(3)
    ]
    return counted.agg(F.count("*"), *pieces).first()
