"""The session of the command line: made in one place, ended in one place, and silent on the terminal.

What Spark and Java write goes nowhere, unless `QUERYCLOAK_SPARK_LOG` names a file for it: a trace may hold values of
the log, and says less than the one sentence that `failures.py` makes of it. In a session that is there already, such as
that of `spark-submit` or of a notebook, nothing is changed.
"""

from __future__ import annotations

import logging
import os
import signal
import sys
import threading
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from querycloak.logs.atomic import until_the_end
from querycloak.spark.failures import in_our_words

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from pyspark.sql import SparkSession

__all__ = ["LOG_TO", "running_session"]

LOG_TO: Final = "QUERYCLOAK_SPARK_LOG"
DEFAULTS: Final = {
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.session.timeZone": "UTC",
    "spark.buffer.pageSize": "8m",  # with one core and 2 GB Spark takes 64 MB, for which a full heap has no room
    # Each table of numbers that is sent to executors begins there with a page of Spark's default, whatever was set.
    "spark.executorEnv.JAVA_TOOL_OPTIONS": "-Dspark.buffer.pageSize=8m",
    # What reads texts learns the words of a batch anew: with 10,000 rows it takes six times as long.
    "spark.sql.execution.arrow.maxRecordsPerBatch": "100000",
    "spark.sql.execution.arrow.maxBytesPerBatch": "64m",
    "spark.sql.adaptive.coalescePartitions.parallelismFirst": "false",
    "spark.sql.adaptive.advisoryPartitionSizeInBytes": "16m",
    "spark.log.level": "ERROR",
    "spark.app.name": "querycloak",
}
TALKATIVE: Final = ("DataFrameQueryContextLogger", "SQLQueryContextLogger")
"""loggers of pyspark: they write each error of a query to the terminal, with the value that made it"""
PATIENCE: Final = 10
"""seconds that Java may take to end"""
LOCAL: Final = {"spark.ui.enabled": "false", "spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}
"""of a session on this machine alone"""


@contextmanager
def running_session(master: str | None = None, conf: Mapping[str, str] | None = None) -> Iterator[SparkSession]:
    """Start a session, and end it at the end, whatever happens; one that runs already is used and left running.

    `master` None = that of `conf`, of `spark-submit` or of Spark's configuration, else all cores of this machine.
    """
    from pyspark.sql import SparkSession

    found = SparkSession.getActiveSession()
    if found is not None:
        with in_our_words(), _without_values():
            yield found
        return
    given = dict(conf or {})
    chosen = master or given.get("spark.master") or os.environ.get("MASTER") or ("" if _submitted() else "local[*]")
    settings = {**DEFAULTS, **(LOCAL if chosen.startswith("local") else {}), **given}
    if chosen:
        settings["spark.master"] = chosen
    if chosen.startswith("local"):
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        _let_workers_import()
    with in_our_words(), _without_values():
        with _signals_as_they_are():
            session = _start(settings)
        with until_the_end(_end_java):
            try:
                yield session
            finally:
                session.stop()


@contextmanager
def _without_values() -> Iterator[None]:
    """Keep pyspark from writing the errors of queries, with the values that made them, to the terminal."""
    from pyspark.logger import PySparkLogger

    loggers = [PySparkLogger.getLogger(name) for name in TALKATIVE]
    before = [logger.disabled for logger in loggers]
    try:
        for logger in loggers:
            logger.disabled = True
        yield
    finally:
        for logger, was in zip(loggers, before, strict=True):
            logger.disabled = was


@contextmanager
def _signals_as_they_are() -> Iterator[None]:
    """Keep our way to end on Ctrl-C: pyspark puts its own in the place, which ends in a traceback."""
    before = signal.getsignal(signal.SIGINT)
    try:
        yield
    finally:
        if threading.current_thread() is threading.main_thread() and before is not None:
            signal.signal(signal.SIGINT, before)


def _end_java() -> None:
    """Ask Java to end, which removes what it put on disk on the way, and wait a little: Ctrl-C."""
    from pyspark import SparkContext

    logging.disable()  # threads that talk to Java have much to say of its end
    sys.stderr = Path(os.devnull).open("w")  # noqa: SIM115 - for what is left of this process
    process = getattr(SparkContext._gateway, "proc", None)  # noqa: SLF001
    if process is not None:
        process.terminate()
        process.wait(timeout=PATIENCE)


def _submitted() -> bool:
    """Tell whether spark-submit runs this process, and has said where."""
    return "PYSPARK_GATEWAY_PORT" in os.environ


def _start(settings: Mapping[str, str]) -> SparkSession:
    from pyspark import SparkConf, SparkContext
    from pyspark.java_gateway import launch_gateway
    from pyspark.sql import SparkSession

    conf = SparkConf(loadDefaults=False)
    for name, value in settings.items():
        conf.set(name, value)
    if not _submitted() and SparkContext._gateway is None:  # noqa: SLF001 - the one way to say where Java writes to
        name = os.environ.get(LOG_TO) or os.devnull
        log = open(name, "ab", opener=_for_the_owner)  # noqa: SIM115 - Java writes there to its end
        SparkContext._ensure_initialized(gateway=launch_gateway(conf, {"stderr": log}))  # type: ignore[no-untyped-call] # noqa: SLF001
        log.close()
    builder = SparkSession.builder
    for name, value in settings.items():
        builder = builder.config(name, value)
    session: SparkSession = builder.getOrCreate()
    return session


def _for_the_owner(path: str, flags: int) -> int:
    """Open a file that nobody else can read: what Spark says may hold values of the log."""
    return os.open(path, flags, 0o600)


def _let_workers_import() -> None:
    """Put the folder of this package onto the path of workers on this machine, as it is on ours."""
    folder = str(Path(__file__).parents[2])
    there = os.environ.get("PYTHONPATH", "")
    if folder not in there.split(os.pathsep):
        os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (folder, there)))
