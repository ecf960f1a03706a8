"""The desk of the studio: logs, what they expose, runs and their releases. No web in it.

Every method returns at once: what takes time is a job of the child process (`jobs`), whose progress is in `Job`. A desk
may be called from several threads. Names of files come from a browser: `files` says which are taken.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from querycloak.evaluation.limits import Limits
    from querycloak.releases.statement import PrivacyStatement
    from querycloak.studio.model import Job, LogFile, Project, Rows, StudioRun

__all__ = ["Desk"]


class Desk:
    """One folder of logs and one work folder; a context manager.

    An id that there is not raises UnknownNameError; whatever else a user does wrong raises a UserError of one sentence.
    """

    def __init__(self, folder: Path, work: Path) -> None:
        """Lock the work folder, made where needed, and read what is done there; another desk on it is refused."""
        raise NotImplementedError

    def close(self) -> None:
        """End the child and unlock the work folder; jobs that wait or run are cancelled."""
        raise NotImplementedError

    def warm_up(self) -> None:
        """Start the child, so that its imports are done when the first log is opened."""
        raise NotImplementedError

    @property
    def notes(self) -> tuple[str, ...]:
        """What was found in the work folder that could not be used, one sentence each."""
        raise NotImplementedError

    def files(self) -> list[LogFile]:
        """Return what looks like a log below the folder, then uploads, then generated logs."""
        raise NotImplementedError

    def save_upload(self, name: str, chunks: Iterable[bytes], limit: int) -> str:
        """Save an upload under a safe form of its name, and return that, for `open`.

        What has more bytes than the limit raises UploadTooLargeError, and nothing is kept of it.
        """
        raise NotImplementedError

    def generate(self, *, users: int, queries: int, seed: int | None = None) -> Project:
        """Start to generate a log; when it is there, it is looked at and what it exposes is counted."""
        raise NotImplementedError

    def open(self, name: str) -> Project:
        """Start to look at a log. The project of a log that was opened before and has not changed is returned again."""
        raise NotImplementedError

    def projects(self) -> list[Project]:
        """Return all projects, the newest first."""
        raise NotImplementedError

    def project(self, id: str) -> Project:  # noqa: A002
        """Find a project."""
        raise NotImplementedError

    def confirm(
        self,
        id: str,  # noqa: A002
        roles: Mapping[str, str],
        *,
        header: bool | None = None,
        encoding: Literal["auto", "utf-8", "utf-16", "latin-1"] = "auto",
        on_error: Literal["stop", "skip"] = "stop",
        assume_yes: bool = False,
    ) -> Project:
        """Confirm which column has which role (role → position from 1, as text), and start to count what is exposed.

        `header` says whether the first line names the columns, where `Look.header` is None. With `on_error` "skip",
        bad lines are left out and counted; with `assume_yes`, columns that look wrong are taken all the same.
        A column of a common name (such as `time`) has its role even where `roles` leaves it out.
        """
        raise NotImplementedError

    def aim(self, id: str, tasks: Iterable[str], limits: Limits) -> Project:  # noqa: A002
        """Say what releases are for, and what they may cost. Runs that are done keep what they were judged by."""
        raise NotImplementedError

    def start(
        self,
        id: str,  # noqa: A002
        method: str,
        settings: Mapping[str, str],
        *,
        directory: str = "",
        resolver: str = "",
    ) -> StudioRun:
        """Start a run. Settings are texts, checked at once by the method's own settings class; "" = the default.

        `directory` and `resolver` are files as in `files`, for methods that look sites up. A generated log brings its
        own directory.
        """
        raise NotImplementedError

    def job(self, id: str) -> Job:  # noqa: A002
        """Find a job."""
        raise NotImplementedError

    def cancel(self, id: str) -> None:  # noqa: A002
        """Cancel a job that waits or runs; nothing happens to one that has ended."""
        raise NotImplementedError

    def runs(self, id: str) -> list[StudioRun]:  # noqa: A002
        """Return the runs of a project, in the order in which they were started."""
        raise NotImplementedError

    def run(self, id: str, run_id: str) -> StudioRun:  # noqa: A002
        """Find a run of a project."""
        raise NotImplementedError

    def check_page(self, run: StudioRun) -> Path:
        """Return the page of the run's check; UserError where the run is not done."""
        raise NotImplementedError

    def rows(self, run: StudioRun, *, masked: bool = True) -> Rows:
        """Return some rows before and after."""
        raise NotImplementedError

    def statement(self, run: StudioRun) -> PrivacyStatement:
        """Return the statement of the run's release."""
        raise NotImplementedError

    def archive(self, run: StudioRun) -> Path:
        """Return a zip of release, statement, check page and README.txt: never the truth, never the log."""
        raise NotImplementedError

    def command(self, run: StudioRun) -> str:
        """Return the command lines that do the same again, in any folder."""
        raise NotImplementedError

    def script(self, run: StudioRun) -> str:
        """Return a Python program that does the same again, in any folder."""
        raise NotImplementedError
