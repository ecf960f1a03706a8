"""Files where Spark has them: on this machine, in HDFS, S3 or another store, by Hadoop's own names and patterns.

All of it is done by Java on the driver, in a few threads: to list, to look at the first bytes of a file or at the
footer of a Parquet file, to rename, to hash.
"""

from __future__ import annotations

import hashlib
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

from querycloak.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from pyspark.sql import SparkSession

__all__ = ["FileSystem", "InputFile", "is_local", "local_path"]

THREADS: Final = 16
"""files that are looked at at the same time"""
A = TypeVar("A")
B = TypeVar("B")


@dataclass(frozen=True)
class InputFile:
    """One file, and what shows that it is still the same one."""

    path: str
    """with its scheme, as Spark names it"""
    size: int
    changed: int
    """milliseconds since 1970"""

    @property
    def shown(self) -> str:
        """The path as messages show it."""
        return local_path(self.path)


def local_path(path: str) -> str:
    """Return a path without the scheme of local files.

    >>> local_path("file:///tmp/a"), local_path("file:/tmp/a"), local_path("s3a://b/a")
    ('/tmp/a', '/tmp/a', 's3a://b/a')
    """
    rest = path.removeprefix("file:")
    return "/" + rest.lstrip("/") if rest != path else path


def is_local(path: str) -> bool:
    """Tell whether a path is one of this machine by its form; without a scheme, Spark's default decides on a cluster.

    >>> is_local("a/b"), is_local("file:/a"), is_local("hdfs://host/a"), is_local("C:/a")
    (True, True, False, True)
    """
    scheme = path.split(":", 1)[0] if "://" in path else ""
    return scheme in {"", "file"}


class FileSystem:
    """Hadoop's view of files, from Python."""

    def __init__(self, session: SparkSession) -> None:
        self._jvm: Any = session._jvm  # noqa: SLF001 - there is no other way to Hadoop's files
        self._conf: Any = session._jsc.hadoopConfiguration()  # noqa: SLF001

    def path(self, name: str) -> Any:
        """Return a path of Hadoop; a relative local one is that of this process."""
        if is_local(name) and not name.startswith("file:") and self._default_is_local():
            name = str(Path(name).absolute())
        return self._jvm.org.apache.hadoop.fs.Path(name)

    def _default_is_local(self) -> bool:
        return str(self._conf.get("fs.defaultFS", "file:///")).startswith("file:")

    def of(self, path: Any) -> Any:
        """Return the file system of a path."""
        return path.getFileSystem(self._conf)

    def find(self, pattern: str) -> list[InputFile]:
        """Return the files of a path or pattern, those inside folders too, in the order of their names.

        Names that begin with `_` or `.` are not data, as for Spark. InputError where there is none.
        """
        path = self.path(pattern)
        files: list[InputFile] = []
        system = self.of(path)
        exact = [system.getFileStatus(path)] if system.exists(path) else None
        for status in exact or system.globStatus(path) or ():
            if status.isDirectory():
                inside = system.listFiles(status.getPath(), True)
                root = len(status.getPath().toString())
                while inside.hasNext():
                    one = inside.next()
                    parts = one.getPath().toString()[root:].strip("/").split("/")
                    if not any(part.startswith(("_", ".")) for part in parts):
                        files.append(_as_file(one))
            else:
                files.append(_as_file(status))
        if not files:
            raise InputError.at(pattern, "there is no such file")
        return sorted(files, key=lambda file: file.path)

    def head(self, file: InputFile, size: int) -> bytes:
        """Return the first bytes of a file, unpacked as Spark unpacks it: by the end of its name."""
        path = self._jvm.org.apache.hadoop.fs.Path(file.path)
        codec = self._jvm.org.apache.hadoop.io.compress.CompressionCodecFactory(self._conf).getCodec(path)
        stream = self.of(path).open(path)
        try:
            source = stream if codec is None else codec.createInputStream(stream)
            return bytes(source.readNBytes(size))
        finally:
            stream.close()

    def parquet_schema(self, file: InputFile) -> dict[str, str]:
        """Return column → type, by the footer of a Parquet file."""
        parquet = self._jvm.org.apache.parquet.hadoop
        path = self._jvm.org.apache.hadoop.fs.Path(file.path)
        reader = parquet.ParquetFileReader.open(parquet.util.HadoopInputFile.fromPath(path, self._conf))
        try:
            fields = reader.getFileMetaData().getSchema().toString().strip().split("\n")[1:-1]
        finally:
            reader.close()
        found: dict[str, str] = {}
        for field in fields:
            words = field.strip().rstrip(";").split(" ", 1)[-1]  # without optional, required or repeated
            kind, _, rest = words.partition(" ")
            found[rest.split(" (")[0]] = kind + (f" ({rest.split(' (', 1)[1]}" if " (" in rest else "")
        return found

    def sha256(self, path: str) -> str:
        """Return the digest of a file's bytes."""
        if is_local(path):
            with Path(local_path(path)).open("rb") as file:
                return hashlib.file_digest(file, "sha256").hexdigest()
        digest = self._jvm.java.security.MessageDigest.getInstance("SHA-256")
        where = self._jvm.org.apache.hadoop.fs.Path(path)
        stream = self._jvm.java.security.DigestInputStream(self.of(where).open(where), digest)
        try:
            stream.transferTo(self._jvm.java.io.OutputStream.nullOutputStream())
        finally:
            stream.close()
        return bytes(digest.digest()).hex()

    def write(self, path: str, content: bytes) -> None:
        """Write a small file, in the place of one that is there."""
        where = self.path(path)
        stream = self.of(where).create(where, True)
        try:
            stream.write(bytearray(content))
        finally:
            stream.close()

    def map(self, function: Callable[[A], B], items: Sequence[A] | Iterable[A]) -> list[B]:
        """Call a function for each item in a few threads; results in order."""
        with ThreadPoolExecutor(THREADS) as pool:
            return list(pool.map(function, items))


def _as_file(status: Any) -> InputFile:
    return InputFile(status.getPath().toString(), int(status.getLen()), int(status.getModificationTime()))
