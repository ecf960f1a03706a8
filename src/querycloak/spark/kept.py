"""Tables that are used more than once: computed once, and short to name in further plans.

A plan of Spark that holds cached tables is printed with all that they were made of, each as often as it is used: after
a few steps of joins its text no longer fits into memory. So a kept table goes on as rows, not as a plan. Spark keeps
the rows in memory, then on disk; where an executor is lost, its part is computed again from what it was made of.

A kept table is also a wall for filters. Spark moves a filter on a function of Python below joins and groups, where it
is asked about each row of the log instead of each distinct text: so what is asked of texts is asked of kept ones.
"""

from __future__ import annotations

from typing import Final

from pyspark import StorageLevel
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - the name that Spark's documentation uses

__all__ = ["SHORT_NUMBERS", "kept", "sent_if_short"]

SHORT: Final = 200_000
"""rows of a table that is sent to all executors: some ten megabytes of texts"""
SHORT_NUMBERS: Final = 2_000_000
"""the same of a table of one number each"""


def kept(frame: DataFrame) -> DataFrame:
    """Compute a table, once: one job. What comes back is a table of the same rows."""
    session = frame.sparkSession
    cached = frame.persist(StorageLevel.MEMORY_AND_DISK).select("*")._jdf  # noqa: SLF001
    rows = cached.queryExecution().toRdd()
    made = session._jsparkSession.internalCreateDataFrame(rows, cached.schema(), False)  # noqa: SLF001
    return DataFrame(made, session)


def sent_if_short(frame: DataFrame, rows: int = SHORT) -> DataFrame:
    """Return a kept table so that a join sends it to all executors where it is short: the other table stays in place.

    Spark does not know how long a kept table is, and would move both.
    """
    return F.broadcast(frame) if frame.limit(rows + 1).count() <= rows else frame
