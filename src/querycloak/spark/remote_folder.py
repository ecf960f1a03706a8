"""A release in a store that is not of this machine: HDFS, S3, or another one that Hadoop knows.

HDFS renames a folder at once. An object store copies each file, so a reader might see some of the parts: there, as
everywhere in Hadoop, a folder is a release once `_SUCCESS` is in it, which is written last, after the statement.
Digests are computed by the driver, from the bytes as the store returns them, several parts at a time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from querycloak.errors import OutputError
from querycloak.releases.folder import SUCCESS
from querycloak.releases.statement_file import SUFFIX
from querycloak.spark.file_system import FileSystem

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import SparkSession

__all__ = ["write_remotely"]


def write_remotely(
    session: SparkSession,
    path: str,
    ending: str,
    save: Callable[[str], None],
    sealed: Callable[[dict[str, str]], bytes],
    before: Callable[[], None],
    *,
    overwrite: bool,
) -> None:
    """Write parts into a hidden folder next to the release, then rename it and write the statement."""
    system = FileSystem(session)
    plain = path.rstrip("/")
    parent, _, name = plain.rpartition("/")
    target, hidden = system.path(plain), system.path(f"{parent}/.{name}.part")
    store = system.of(target)
    if store.exists(target) and not overwrite:
        raise OutputError(f"{path}: is there already; choose another output, or replace it with --overwrite.")
    if store.exists(target) and not all(
        map(store.exists, map(system.path, (f"{plain}/{SUCCESS}", f"{plain}{SUFFIX}")))
    ):
        raise OutputError(f"{path}: is no release: {SUCCESS} in it, or its statement next to it, is missing.")
    store.delete(hidden, True)
    try:
        save(hidden.toString())
        store.delete(system.path(f"{hidden.toString()}/{SUCCESS}"), False)
        digests: dict[str, str] = {}
        found = sorted(str(one.getPath().getName()) for one in store.listStatus(hidden))
        for i, part in enumerate(one for one in found if not one.startswith(("_", "."))):
            new = f"part-{i:05}{ending}"
            if not store.rename(system.path(f"{hidden.toString()}/{part}"), system.path(f"{hidden.toString()}/{new}")):
                raise OutputError(f"{path}: a part cannot be renamed there.")
            digests[new] = ""
        names = list(digests)
        all_of_them = system.map(lambda part: system.sha256(f"{hidden.toString()}/{part}"), names)
        statement = sealed(dict(zip(names, all_of_them, strict=True)))
        before()
        if overwrite:
            store.delete(target, True)
        if not store.rename(hidden, target):
            raise OutputError(f"{path}: the finished folder cannot be renamed there.")
        system.write(f"{plain}{SUFFIX}", statement)
        system.write(f"{plain}/{SUCCESS}", b"")
    finally:
        store.delete(hidden, True)
