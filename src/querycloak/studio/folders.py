"""Which files the studio reads and writes: names come from a browser, so that each is taken apart and judged.

Two folders: that of the user's logs, which is only read, and the work folder, which alone is written::

    FOLDER/                     logs; what is hidden, a link out of it, or no plain file, is not there
    WORK/                       mode 0700, locked by the studio that uses it
      uploads/  generated/      logs; in names, `uploads/…` and `generated/…` stand for these
      projects/ID/project.json
      projects/ID/runs/ID/run.json
      projects/ID/runs/ID/out/       release, statement, check.html, rows.json, the zip; there once the run is done
      projects/ID/runs/ID/out.part/  the same while it is made, with the truth until the check has ended
"""

from __future__ import annotations

import fcntl
import os
import stat
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Final

from querycloak.errors import InputError, UserError
from querycloak.studio.model import LogFile

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["GENERATED", "UPLOADS", "Folders", "lock_folder", "make_private"]

UPLOADS: Final = "uploads"
GENERATED: Final = "generated"
SUFFIXES: Final = frozenset({".tsv", ".csv", ".txt", ".log", ".jsonl", ".ndjson", ".json", ".parquet", ".pq"})
PACKED: Final = frozenset({".gz", ".zst"})
NOT_LOGS: Final = (".statement.json", ".truth.tsv", ".directory.tsv", ".toml")
"""What our own commands write next to logs and releases."""
DEEPEST: Final = 3
MOST_FILES: Final = 500
MOST_SEEN: Final = 20_000
"""Entries of folders that are looked at before the list is cut: a page must not wait for a whole disk."""
LONGEST_NAME: Final = 1024


@dataclass(frozen=True)
class Folders:
    """The user's folder and the work folder, both resolved."""

    folder: Path
    work: Path

    @classmethod
    def of(cls, folder: Path, work: Path) -> Folders:
        """Resolve both, and make the work folder; UserError where one of them cannot be used."""
        if not folder.is_dir():
            raise InputError.at(folder, "expected a folder of logs, found none")
        made = make_private(work)
        if folder.resolve().is_relative_to(made):
            raise UserError(f"The work folder {work} holds the folder of logs: choose another one with --work.")
        for name in (UPLOADS, GENERATED, "projects"):
            make_private(made / name)
        return cls(folder.resolve(), made)

    def files(self) -> list[LogFile]:
        """Return what looks like a log: below the folder, then the uploads, then what was generated."""
        found = [*self._listed(self.folder, ""), *self._below(UPLOADS), *self._below(GENERATED)]
        return found[:MOST_FILES]

    def find(self, name: str) -> tuple[Path, LogFile]:
        """Return the path of a file by its name, and what it is now; UserError where the name is not one of a file.

        What is returned is the file itself, with all links followed: it is below the folder that the name says.
        """
        base, inside = self._taken_apart(name)
        refused = InputError(f"There is no file {shown(name)} that the studio may read.")
        try:
            path = (base / inside).resolve(strict=True)
            found = path.stat()
        except (OSError, RuntimeError, ValueError):
            raise refused from None
        if not path.is_relative_to(base) or (base == self.folder and path.is_relative_to(self.work)):
            raise refused
        if not stat.S_ISREG(found.st_mode):
            raise InputError(f"{shown(name)} is no plain file.")
        return path, LogFile(name, found.st_size, found.st_mtime)

    def _taken_apart(self, name: str) -> tuple[Path, PurePosixPath]:
        """Return the folder that a name is in, and the rest of it."""
        inside = PurePosixPath(name)
        odd = not name or len(name) > LONGEST_NAME or not name.isprintable() or "\\" in name
        parts = inside.parts
        if odd or inside.is_absolute() or not parts or any(part.startswith(".") for part in parts):
            raise InputError(f"There is no file {shown(name)} that the studio may read.")
        if parts[0] in {UPLOADS, GENERATED} and not name.startswith("./"):
            return self.work / parts[0], PurePosixPath(*parts[1:])
        return self.folder, inside

    def _below(self, name: str) -> Iterator[LogFile]:
        return self._listed(self.work / name, f"{name}/")

    def _listed(self, base: Path, prefix: str) -> Iterator[LogFile]:
        """Yield the files below a folder that `find` would return too; sorted, folders after files."""
        seen = 0
        for folder, inner, names in os.walk(base):
            depth = len(Path(folder).relative_to(base).parts)
            inner[:] = sorted(d for d in inner if not d.startswith(".")) if depth + 1 < DEEPEST else []
            seen += len(inner) + len(names)
            if seen > MOST_SEEN:
                return
            for name in sorted(names):
                inside = (PurePosixPath(folder) / name).relative_to(base).as_posix()
                if not looks_like_a_log(name):
                    continue
                own = not prefix and inside.split("/", 1)[0] in {UPLOADS, GENERATED}
                try:
                    yield self.find(("./" if own else prefix) + inside)[1]
                except UserError:
                    continue


def looks_like_a_log(name: str) -> bool:
    """Tell by its name whether a file may be a log.

    >>> [looks_like_a_log(n) for n in ("log.tsv", "log.CSV.gz", "r.tsv.statement.json", ".log.tsv", "log.pdf")]
    [True, True, False, False, False]
    """
    path = PurePosixPath(name.lower())
    path = path.with_suffix("") if path.suffix in PACKED else path
    return not name.startswith(".") and not name.lower().endswith(NOT_LOGS) and path.suffix in SUFFIXES


def shown(name: str) -> str:
    r"""Return a name that came from outside as it may be shown: short, and nothing in it but what can be printed.

    >>> print(shown("../a\nb"), len(shown("x" * 5000)) < 100)
    '../a\nb' True
    """
    return repr(name if len(name) <= 80 else name[:60] + "…")


def make_private(path: Path) -> Path:
    """Make a folder that only its owner may enter, and return it resolved."""
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        return path.resolve(strict=True)
    except OSError:
        raise UserError(f"{path} is not a folder and cannot be made one; choose another work folder.") from None


def lock_folder(work: Path) -> int:
    """Be the only studio on a work folder, and return the file that holds the lock; it ends with the process.

    `logs.locks` lets one thread take a lock twice; two studios of one process must not share a folder either.
    """
    file = os.open(work, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(file)
        if isinstance(error, BlockingIOError):
            raise UserError(
                f"Another studio uses the work folder {work}: end it, or choose another one with --work."
            ) from None
        raise UserError(f"The work folder {work} cannot be locked; choose one on another disk with --work.") from None
    return file
