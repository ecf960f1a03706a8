"""What a stream keeps in its checkpoint next to Spark's own files: its secret, what it is, and figures of each batch.

    querycloak/key              32 bytes, readable by their owner alone: what ids and draws are made of
    querycloak/run.json         method, settings and columns: a query with others must not go on with this checkpoint
    querycloak/figures/N.json   what all branches had counted after micro-batch N, by a keyed hash of their category

The checkpoint may be on any file system of Hadoop, so files are written through Hadoop: under another name first, then
renamed. Whoever has the key can tell which id is whose. It is there as long as the checkpoint is: a query that goes on
after a crash then draws the same again, so that nobody who read the sink before sees a query under two users.
"""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Any, Final, cast

import msgspec

from querycloak.errors import InputError, OutputError
from querycloak.spark.streams.tallies import BranchFigures, Figures

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["Folder", "RunFolder"]

SECRET_BYTES: Final = 32
KEPT: Final = 3
"""Batches of which figures are kept: Spark may run the last one again."""


class Folder:
    """A folder on a file system of Hadoop."""

    def __init__(self, session: SparkSession, path: str) -> None:
        self._jvm: Any = cast("Any", session._jvm)  # noqa: SLF001 - the only way to the file system that Spark uses
        self.path: Any = self._jvm.org.apache.hadoop.fs.Path(path)
        self.system = self.path.getFileSystem(session._jsparkSession.sessionState().newHadoopConf())  # noqa: SLF001

    def __repr__(self) -> str:
        return "Folder()"

    def of(self, name: str) -> Any:
        """Return the path of a name in the folder."""
        return self._jvm.org.apache.hadoop.fs.Path(self.path, name)

    def has(self, name: str) -> bool:
        """Tell whether there is something of this name."""
        return bool(self.system.exists(self.of(name)))

    def read(self, name: str) -> bytes:
        """Return the content of a file, whole."""
        stream = self.system.open(self.of(name))
        try:
            return bytes(self._jvm.org.apache.commons.io.IOUtils.toByteArray(stream))
        finally:
            stream.close()

    def write(self, name: str, content: bytes, *, replace: bool = True) -> None:
        """Write a file that only its owner may read, whole or not at all."""
        part = self.of(f"_{name.replace('/', '_')}.{secrets.token_hex(4)}.part")
        of_owner = self._jvm.org.apache.hadoop.fs.permission.FsPermission
        self.system.mkdirs(self.path)
        stream = self.system.create(part, True)
        self.system.setPermission(part, of_owner("600"))  # before anything is in it
        try:
            stream.write(bytearray(content))
        finally:
            stream.close()
        target = self.of(name)
        self.system.mkdirs(target.getParent())
        if replace and self.system.exists(target):
            self.system.delete(target, False)
        if not self.system.rename(part, target):
            self.system.delete(part, False)
            if replace:
                raise OutputError("a file of the stream cannot be written.")

    def remove(self, name: str) -> None:
        """Remove a file or a folder, if it is there."""
        self.system.delete(self.of(name), True)

    def rename(self, name: str, to: str) -> None:
        """Rename a folder."""
        if not self.system.rename(self.of(name), self.of(to)):
            raise OutputError("a batch of the stream cannot be published: its folder cannot be renamed.")


class RunFolder:
    """The files of a stream in its checkpoint."""

    def __init__(self, session: SparkSession, checkpoint: str) -> None:
        self._folder = Folder(session, f"{checkpoint.rstrip('/')}/querycloak")

    def __repr__(self) -> str:
        return "RunFolder()"

    def secret(self) -> bytes:
        """Return the secret of the run; the first call makes it."""
        if not self._folder.has("key"):
            self._folder.write("key", secrets.token_bytes(SECRET_BYTES), replace=False)
        value = self._folder.read("key")
        if len(value) != SECRET_BYTES:
            raise InputError.at("the checkpoint", f"expected a key of {SECRET_BYTES} bytes, found another size")
        return value

    def check_run(self, run: dict[str, Any]) -> None:
        """Refuse to go on with the checkpoint of another run; the first call says what this one is."""
        run = msgspec.json.decode(msgspec.json.encode(run))
        if not self._folder.has("run.json"):
            self._folder.write("run.json", msgspec.json.encode(run), replace=False)
        try:
            found = msgspec.json.decode(self._folder.read("run.json"), type=dict[str, Any])
        except msgspec.DecodeError:
            raise InputError.at("the checkpoint", "its run.json cannot be read") from None
        other = sorted(name for name in run.keys() | found.keys() if run.get(name) != found.get(name))
        if other:
            raise InputError.at(
                "the checkpoint", f"it is of a run with another {', '.join(other)}; name another folder"
            )

    def figures(self, batch: int) -> dict[str, BranchFigures]:
        """Return what was counted after a micro-batch; nothing before the first."""
        name = f"figures/{batch}.json"
        if batch < 0 or not self._folder.has(name):
            return {}
        return msgspec.json.decode(self._folder.read(name), type=dict[str, BranchFigures])

    def newest(self) -> Figures:
        """Return what was counted after the newest micro-batch."""
        if not self._folder.has("figures"):
            return Figures(())
        listed = self._folder.system.listStatus(self._folder.of("figures"))
        names = [str(listed[i].getPath().getName()) for i in range(len(listed))]
        numbers = [int(name.removesuffix(".json")) for name in names if name.removesuffix(".json").isdigit()]
        return Figures(self.figures(max(numbers, default=-1)).values())

    def keep_figures(self, batch: int, figures: dict[str, BranchFigures]) -> None:
        """Keep what was counted after a micro-batch."""
        self._folder.write(f"figures/{batch}.json", msgspec.json.encode(figures))
        if batch >= KEPT:
            self._folder.remove(f"figures/{batch - KEPT}.json")
