"""Tables that are used more than once: computed once, and short to name in further plans.

A plan of Spark that holds cached tables is printed with all that they were made of, each as often as it is used: after a
few steps of joins its text no longer fits into memory. So a kept table goes on as rows, not as a plan. Spark keeps the
rows in memory, then on disk; where an executor is lost, its part is computed again from what it was made of.
"""

from __future__ import annotations

from pyspark import StorageLevel
from pyspark.sql import DataFrame

__all__ = ["kept"]


def kept(frame: DataFrame) -> DataFrame:
    """Compute a table, once: one job. What comes back is a table of the same rows."""
    session = frame.sparkSession
    cached = frame.persist(StorageLevel.MEMORY_AND_DISK).select("*")._jdf  # type: ignore[operator] # of classic Spark
    rows = cached.queryExecution().toRdd()
    made = session._jsparkSession.internalCreateDataFrame(rows, cached.schema(), False)  # noqa: FBT003
    return DataFrame(made, session)
