"""A branch inside Structured Streaming: `transformWithState`, keyed by the top-level category.

The rows of a category that came in one micro-batch enter in the order of their times, and the branch is saved as bytes
in a value state. Spark commits the states of a micro-batch with its offsets: when it runs one again, after a kill or
for a lost executor, every branch begins from the state before it, and draws and publishes the same again.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import TYPE_CHECKING, Any, Final

import msgspec
from pyspark.sql.streaming.stateful_processor import StatefulProcessor

from querycloak.logs.query_log import MISSING_TIME
from querycloak.spark.streams.branch import Branch
from querycloak.spark.streams.branch_state import branch_of_bytes, bytes_of_branch
from querycloak.spark.streams.tallies import figures_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql.streaming.stateful_processor import StatefulProcessorHandle, TimerValues, ValueState

    from querycloak.spark.streams.plan import Plan

__all__ = ["NO_NUMBER", "STATE", "BranchProcessor"]

STATE: Final = "branch"
"""name of the value state; its one column, of bytes, is `bytes`"""
NO_NUMBER: Final = {"time": int(MISSING_TIME), "rank": -(1 << 31)}
"""what stands for a missing time or rank"""


class BranchProcessor(StatefulProcessor):
    """Lets the rows of each category pass through its branch."""

    def __init__(self, plan: Plan, columns: tuple[str, ...], names_key: bytes) -> None:
        self._plan = plan
        self._columns = columns
        self._names_key = names_key
        self._state: ValueState | None = None

    def __repr__(self) -> str:
        return f"BranchProcessor({self._plan!r})"

    def init(self, handle: StatefulProcessorHandle) -> None:
        """Find the state."""
        self._state = handle.getValueState(STATE, "bytes binary")

    def handleInputRows(self, key: Any, rows: Iterator[Any], timerValues: TimerValues) -> Iterator[Any]:  # noqa: N802, N803
        """Let the rows of one category enter; yield those that leave, and one row with the figures."""
        import pandas as pd
        import polars as pl

        del timerValues
        assert self._state is not None
        top = str(key[0])
        saved = self._state.get() if self._state.exists() else None
        branch = Branch(self._plan, top) if saved is None else branch_of_bytes(self._plan, top, bytes(saved[0]))
        came = pl.from_pandas(pd.concat(list(rows), ignore_index=True), schema_overrides=_kinds(), include_index=False)
        by = [*(["time"] if "time" in came.columns else []), "tie"]
        left = branch.push(came.sort(by, maintain_order=True).drop("tie", "top"))
        self._state.update((bytes_of_branch(branch),))
        name = blake2b(top.encode(), key=self._names_key, digest_size=16).hexdigest()
        told = msgspec.json.encode([name, figures_of(branch)]).decode()
        numbers = [name for name in ("time", "rank") if name in left.columns]  # in pandas no whole number is missing
        table = left.select("user", *self._columns).with_columns(figures=pl.lit(None, dtype=pl.String))
        figures = pl.DataFrame(
            [pl.Series("figures", [told]), *(pl.Series(name, [NO_NUMBER[name]]) for name in numbers)]
        )
        figures = figures.cast({name: left.schema[name] for name in numbers})
        yield pl.concat([table, figures], how="diagonal").to_arrow().to_pandas()

    def close(self) -> None:
        """Nothing is open."""


def _kinds() -> Any:
    """Return the type of each column that comes."""
    import polars as pl

    texts = dict.fromkeys(("user", "query", "url", "category", "top"), pl.String)
    return {**texts, "time": pl.Int64, "rank": pl.Int32, "concept": pl.Int32, "tie": pl.Int64}
