"""What goes wrong in Spark, in one sentence: no trace of Java or of an executor reaches the user.

A trace may quote rows of the log, so nothing of it is shown but what is known not to be data: an error of this package
that a task raised, the name of a file that cannot be read, and Spark's name of the condition.
"""

from __future__ import annotations

import re
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from querycloak import errors
from querycloak.errors import InputError, OutputError, QueryCloakError, UserError

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["failure", "in_our_words", "unreadable_file"]

OURS: Final = re.compile(r"^querycloak\.errors\.(\w+): ((?:.|\n)*?)(?=\n\n|\n\S+ \S+ |\Z)", re.MULTILINE)
FILE: Final = re.compile(r"[Ee]ncountered error while reading file (\S+?)\.?\s")
NOT_THERE: Final = re.compile(r"(?:Path does not exist|File does not exist|File) (\S+?)(?: does not exist)?[.\s]")
CONDITION: Final = re.compile(r"\[([A-Z][A-Z0-9_.]+)\]")
SEEN: Final = (
    ("JAVA_GATEWAY_EXITED", "Java did not start; look whether `java -version` says 17 or later, and at JAVA_HOME"),
    ("java.lang.OutOfMemoryError", ("an executor had too little memory; give more: spark.executor.memory, or for "
     "a local master spark.driver.memory (--spark-conf spark.driver.memory=8g)")),
    ("No space left on device", "a disk is full; Spark spills to spark.local.dir (--spark-conf spark.local.dir=/big)"),
    ("Python worker exited unexpectedly", ("a Python process of an executor was killed, mostly for want of memory; "
     "give it more: spark.executor.memoryOverhead")),
    ("ModuleNotFoundError: No module named 'querycloak", ("executors cannot import querycloak; install it on each "
     "node, or send an archive of an environment (spark.archives)")),
    ("ConnectException", "a server cannot be reached; look at the address in --master or in the path"),
    ("UnknownHostException", "a server of this name cannot be found; look at --master and the paths"),
    ("UnsupportedFileSystemException", "Spark knows no such file system; add its library (spark.jars.packages)"),
    ("ClassNotFoundException: Class org.apache.hadoop.fs", ("the library of this file system is missing; add it with "
     "spark.jars.packages")),
    ("AccessControlException", "access to a file was denied"),
    ("AccessDeniedException", "access to a file was denied"),
)  # fmt: skip
"""what a trace holds → what it means"""


@contextmanager
def in_our_words() -> Iterator[None]:
    """Turn whatever Spark raises into one of our errors; Ctrl-C and our own errors pass."""
    try:
        yield
    except QueryCloakError:
        raise
    except Exception as error:
        told = failure(error)
        if told is None:
            raise
        raise told from None


def failure(error: BaseException) -> QueryCloakError | None:
    """Return our error for one of Spark; None where it is none of Spark's."""
    if not _is_sparks(error):
        return None
    text = _whole_text(error)
    ours = OURS.findall(text)
    if ours:
        name, message = ours[-1]
        kind = getattr(errors, name, UserError)
        return kind(" ".join(message.split())) if issubclass(kind, QueryCloakError) else UserError(message)
    file = unreadable_file(error)
    if file:
        gone = "FileNotFoundException" in text or "FILE_NOT_EXIST" in text
        what = "is gone since the work began" if gone else "is damaged or not what its name says"
        return InputError.at(file, f"it {what}; put it right, or leave such files out with --on-error skip")
    for sign, meaning in SEEN:
        if sign in text:
            return UserError(f"Spark stopped: {meaning}.")
    if "PATH_NOT_FOUND" in text:
        return InputError("A file or folder that Spark was to read is not there.")
    if "PATH_ALREADY_EXISTS" in text:
        return OutputError("The output is there already.")
    condition = CONDITION.search(text)
    kind_of = f" ({condition[1]})" if condition else ""
    return UserError(f"Spark stopped with an error{kind_of}; its own words go to the file that {_LOG} names.")


_LOG: Final = "QUERYCLOAK_SPARK_LOG"


def unreadable_file(error: BaseException) -> str:
    """Return the path of the file that a task could not read; empty where it was none."""
    found = FILE.search(_whole_text(error) + " ")
    return found[1].removeprefix("file://").removeprefix("file:") if found else ""


def _is_sparks(error: BaseException) -> bool:
    return type(error).__module__.split(".")[0] in {"pyspark", "py4j"} or "JAVA_GATEWAY" in str(error)


def _whole_text(error: BaseException) -> str:
    """Return the message with those of its causes in Java, without calling Java again where it may be gone."""
    texts = [str(error)]
    cause: Any = getattr(error, "java_exception", None)
    cause = getattr(error, "_origin", None) if cause is None else cause
    for _ in range(8):
        if cause is None:
            break
        try:
            texts.append(str(cause.toString()))
            cause = cause.getCause()
        except Exception:
            break
    return "\n".join(texts)
