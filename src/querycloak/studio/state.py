"""What the studio keeps on disk: one JSON file per project and per run, read back into typed values.

A file that is damaged, of another version, or foreign is left out with a note, and never touched. What a file says is
not trusted further than its types go: every name in it is judged again when it is used (`folders`).
"""

from __future__ import annotations

import re
import shutil
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Final, TypeVar

import msgspec

from querycloak.logs.atomic import PRIVATE, write_text
from querycloak.studio.folders import make_private
from querycloak.studio.model import Job, Project, Rows, StudioRun  # noqa: TC001 - msgspec reads the types of fields

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["BOTH_ROWS", "FINISHED", "UNFINISHED", "KeptRows", "Store"]

VERSION: Final = 1
LARGEST: Final = 1 << 24
"""bytes of a file that is read"""
FINISHED: Final = "out"
UNFINISHED: Final = "out.part"
BOTH_ROWS: Final = "rows.json"
CLOSED: Final = "The studio was closed before this was done; start it again."
_ID: Final = re.compile(r"[0-9a-f]{16}")

T = TypeVar("T")


class _KeptProject(msgspec.Struct, forbid_unknown_fields=True):
    version: int
    project: Project


class _KeptRun(msgspec.Struct, forbid_unknown_fields=True):
    version: int
    run: StudioRun


class KeptRows(msgspec.Struct, forbid_unknown_fields=True):
    """Rows of a run, masked and as they are: readable by their owner alone."""

    masked: Rows
    plain: Rows


class Store:
    """The projects and runs of a work folder, on disk."""

    def __init__(self, work: Path) -> None:
        self._projects = work / "projects"
        self.notes: list[str] = []

    def run_folder(self, run: StudioRun) -> Path:
        """Return the folder of a run."""
        return self._projects / run.project / "runs" / run.id

    def keep_project(self, project: Project) -> None:
        """Write a project, whole or not at all."""
        folder = make_private(self._projects / project.id)
        _write(folder / "project.json", _KeptProject(VERSION, project))

    def keep_run(self, run: StudioRun) -> None:
        """Write a run, whole or not at all."""
        folder = self.run_folder(run)
        make_private(folder.parent)
        make_private(folder)
        _write(folder / "run.json", _KeptRun(VERSION, run))

    def load(self) -> tuple[dict[str, Project], dict[str, StudioRun]]:
        """Read what there is, remove what was left unfinished, and say that its jobs have ended."""
        projects: dict[str, Project] = {}
        runs: dict[str, StudioRun] = {}
        for folder in self._folders(self._projects):
            kept = self._read(folder / "project.json", _KeptProject)
            if kept is None or kept.project.id != folder.name or kept.version != VERSION:
                self._leave_out(folder)
                continue
            projects[folder.name] = replace(kept.project, job=_ended(kept.project.job))
            for inner in self._folders(folder / "runs"):
                own = self._read(inner / "run.json", _KeptRun)
                if own is None or own.version != VERSION or (own.run.id, own.run.project) != (inner.name, folder.name):
                    self._leave_out(inner)
                    continue
                remove_folder(inner / UNFINISHED)
                job = _ended(own.run.job)
                assert job is not None
                runs[own.run.id] = replace(own.run, job=job, check=own.run.check if job.state == "done" else None)
        by_time = sorted(runs.values(), key=lambda run: run.created)
        return projects, {run.id: run for run in by_time}

    def _folders(self, path: Path) -> list[Path]:
        """Return the folders of projects or runs: those with an id as their name, no links."""
        if not path.is_dir():
            return []
        found = sorted(path.iterdir())
        for other in found:
            if not _is_own(other):
                self._leave_out(other)
        return [folder for folder in found if _is_own(folder)]

    def _leave_out(self, path: Path) -> None:
        name = path.relative_to(self._projects.parent).as_posix()
        self.notes.append(f"{name!r} in the work folder is damaged or not the studio's: it is left out.")

    def _read(self, path: Path, kind: type[T]) -> T | None:
        try:
            if path.is_symlink() or not path.is_file() or path.stat().st_size > LARGEST:
                return None
            return msgspec.json.decode(path.read_bytes(), type=kind)
        except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError, ValueError):
            return None
        except Exception as error:  # what the types of fields refuse on construction, such as limits
            if type(error).__module__.startswith("querycloak"):
                return None
            raise


def _is_own(path: Path) -> bool:
    return _ID.fullmatch(path.name) is not None and path.is_dir() and not path.is_symlink()


def _ended(job: Job | None) -> Job | None:
    """Return a job as it is after a restart: nothing waits or runs."""
    return replace(job, state="cancelled", error=CLOSED) if job is not None and job.active else job


def _write(path: Path, value: msgspec.Struct) -> None:
    write_text(path, msgspec.json.encode(value).decode() + "\n", PRIVATE)


def remove_folder(path: Path) -> None:
    """Remove a folder of the studio's own with all that is in it; a link is removed, not followed."""
    if path.is_symlink():
        with suppress(OSError):
            path.unlink()
    elif path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
