"""The desk of the studio: logs, what they expose, runs and their releases. No web in it.

Every method returns at once: what takes time is a job of the child process (`jobs`), whose progress is in `Job`. A desk
may be called from several threads. Names of files come from a browser: `folders` says which are taken. What there is is
kept in memory, and on disk whenever a job begins or ends (`state`).
"""

from __future__ import annotations

import os
import secrets
import threading
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, Self

import msgspec

from querycloak.errors import InputError, UnknownNameError, UserError
from querycloak.studio.exports import ARCHIVE, CHECK, STATEMENT, Recipe, as_command, as_script, shown_command
from querycloak.studio.folders import GENERATED, UPLOADS, Folders, lock_folder
from querycloak.studio.jobs import Jobs
from querycloak.studio.messages import (
    Checked,
    ExposeOrder,
    Generated,
    GenerateOrder,
    Log,
    Looked,
    LookOrder,
    RunOrder,
    WasExposed,
)
from querycloak.studio.model import CheckSummary, Job, LogFile, Project, Reading, StudioRun
from querycloak.studio.roles import known_reading, reading_of
from querycloak.studio.settings_texts import check_settings, run_name
from querycloak.studio.state import BOTH_ROWS, FINISHED, UNFINISHED, KeptRows, Store, remove_folder
from querycloak.studio.uploads import save

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from types import TracebackType

    from querycloak.evaluation.limits import Limits
    from querycloak.releases.statement import PrivacyStatement
    from querycloak.releases.statement_file import StatementFile
    from querycloak.studio.messages import Result
    from querycloak.studio.model import JobKind, Rows

__all__ = ["Desk"]

MOST_GENERATED: Final = 5_000_000
"""Query events of a generated log: more is a matter for the command line."""


class Desk:
    """One folder of logs and one work folder; a context manager.

    An id that there is not raises UnknownNameError; whatever else a user does wrong raises a UserError of one sentence.
    """

    def __init__(self, folder: Path, work: Path) -> None:
        """Lock the work folder, made where needed, and read what is done there; another desk on it is refused."""
        self._folders = Folders.of(folder, work)
        self._locked: int | None = lock_folder(self._folders.work)
        self._lock = threading.RLock()
        self._store = Store(self._folders.work)
        self._projects, self._runs = self._store.load()
        self._notes = list(self._store.notes)
        self._jobs = Jobs(self._folders.work, self._lock, self._job_changed)

    def close(self) -> None:
        """End the child and unlock the work folder; jobs that wait or run are cancelled."""
        self._jobs.close()
        with self._lock:
            if self._locked is not None:
                os.close(self._locked)
                self._locked = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def warm_up(self) -> None:
        """Start the child, so that its imports are done when the first log is opened."""
        self._jobs.warm_up()

    @property
    def notes(self) -> tuple[str, ...]:
        """What was found in the work folder that could not be used, or could not be kept there, one sentence each."""
        return tuple(self._notes)

    @property
    def folder(self) -> Path:
        """The folder of logs."""
        return self._folders.folder

    def files(self) -> list[LogFile]:
        """Return what looks like a log below the folder, then uploads, then generated logs."""
        return self._folders.files()

    def save_upload(self, name: str, chunks: Iterable[bytes], limit: int) -> str:
        """Save an upload under a safe form of its name, and return that, for `open`.

        What has more bytes than the limit raises UploadTooLargeError, and nothing is kept of it.
        """
        return f"{UPLOADS}/{save(self._folders.work / UPLOADS, name, chunks, limit).name}"

    def generate(self, *, users: int, queries: int, seed: int | None = None) -> Project:
        """Start to generate a log; when it is there, it is looked at and what it exposes is counted."""
        from querycloak.generator.settings import Generate

        Generate(users=users, queries=queries)
        if queries > MOST_GENERATED:
            raise UserError(f"At most {MOST_GENERATED:,} queries are generated here; `querycloak generate` makes more.")
        project = Project(
            id=_new_id(), file=LogFile(f"{GENERATED}/{users}-users-{_new_id()[:6]}.tsv", 0, 0.0), created=time.time()
        )
        path = self._folders.work / project.file.name
        with self._lock:
            self._projects[project.id] = project
            order = GenerateOrder(str(path), users, queries, seed)
            return self._begin(project, "generate", order)

    def open(self, name: str) -> Project:
        """Start to look at a log. The project of a log that was opened before and has not changed is returned again."""
        path, file = self._folders.find(name)
        with self._lock:
            again = next((p for p in self._projects.values() if p.file == file), None)
            if again is not None and (again.look is not None or (again.job is not None and again.job.active)):
                return again
            project = again or Project(id=_new_id(), file=file, created=time.time())
            self._projects[project.id] = project
            return self._begin(project, "look", LookOrder(_log(path, file)))

    def projects(self) -> list[Project]:
        """Return all projects, the newest first."""
        with self._lock:
            return sorted(self._projects.values(), key=lambda project: -project.created)

    def project(self, id: str) -> Project:  # noqa: A002
        """Find a project."""
        with self._lock:
            found = self._projects.get(id)
        if found is None:
            raise UnknownNameError("There is no such project.")
        return found

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
        with self._lock:
            project = self.project(id)
            if project.look is None:
                raise UserError("The columns of this log are not known yet: wait until it was looked at.")
            reading = reading_of(project.look, roles, header)
            reading = replace(reading, encoding=encoding, on_error=on_error, assume_yes=assume_yes)
            if reading == project.reading and (
                project.exposed is not None or (project.job is not None and project.job.active)
            ):
                return project
            path, file = self._folders.find(project.file.name)
            if file != project.file:
                raise InputError(f"{project.file.name} has changed since it was opened; open it again.")
            if project.job is not None and project.job.active:
                self.cancel(project.job.id)
                project = self.project(id)
            project = replace(project, reading=reading, exposed=None)
            return self._begin(project, "expose", ExposeOrder(_log(path, file), reading))

    def aim(self, id: str, tasks: Iterable[str], limits: Limits) -> Project:  # noqa: A002
        """Say what releases are for, and what they may cost. Runs that are done keep what they were judged by."""
        from querycloak.evaluation.limits import check_tasks
        from querycloak.tasks.task import TASKS

        chosen = check_tasks(tuple(dict.fromkeys(tasks)))
        if not chosen:
            raise UserError(f"Say what the release is for, at least one of {', '.join(TASKS)}.")
        with self._lock:
            return self._keep(replace(self.project(id), tasks=chosen, limits=limits))

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
        project = self.project(id)
        if project.reading is None or project.exposed is None:
            raise UserError("Confirm the columns of the log first, and wait until it was read.")
        entry, given = check_settings(method, settings, self._folders)
        directory = directory or (project.directory if "directory" in entry.needs else "")
        if "click_categories" in entry.needs and not directory and "category" not in project.reading.roles:
            raise UserError(f"{entry.name} looks sites up: choose a directory of sites, or a column of categories.")
        for name in (directory, resolver):
            if name:
                self._folders.find(name)
        job = Job(_new_id(), "run", estimate=self._estimate(project, entry.name))
        run = StudioRun(
            id=_new_id(),
            project=project.id,
            method=entry.name,
            settings=given,
            name=run_name(entry.name, given),
            created=time.time(),
            job=job,
            tasks=project.tasks,
            limits=project.limits,
            directory=directory,
            resolver=resolver,
        )
        path, file = self._folders.find(project.file.name)
        if file != project.file:
            raise InputError(f"{project.file.name} has changed since it was opened; open it again.")
        recipe = self._recipe(run, project.reading, path, "release", has_truth=False)
        folder = self._store.run_folder(run)
        order = RunOrder(
            log=_log(path, file),
            reading=project.reading,
            method=entry.name,
            settings=given,
            tasks=run.tasks,
            limits=run.limits,
            folder=str(folder),
            directory=str(recipe.knowledge.get("directory", "")),
            resolver=str(recipe.knowledge.get("resolver", "")),
            command=shown_command(recipe),
            name=run.name,
        )

        def clean() -> None:
            remove_folder(folder / UNFINISHED)
            if self.run(id, run.id).job.state != "done":
                remove_folder(folder / FINISHED)

        with self._lock:
            self._runs[run.id] = run
            self._keep_run(run)
            self._jobs.submit(job, order, lambda job, answer: self._run_ended(run.id, job, answer), clean)
        return run

    def job(self, id: str) -> Job:  # noqa: A002
        """Find a job."""
        with self._lock:
            jobs = [run.job for run in self._runs.values()]
            jobs += [project.job for project in self._projects.values() if project.job is not None]
        found = next((job for job in jobs if job.id == id), None)
        if found is None:
            raise UnknownNameError("There is no such job.")
        return found

    def cancel(self, id: str) -> None:  # noqa: A002
        """Cancel a job that waits or runs; nothing happens to one that has ended."""
        self.job(id)
        self._jobs.cancel(id)

    def runs(self, id: str) -> list[StudioRun]:  # noqa: A002
        """Return the runs of a project, in the order in which they were started."""
        self.project(id)
        with self._lock:
            return [run for run in self._runs.values() if run.project == id]

    def run(self, id: str, run_id: str) -> StudioRun:  # noqa: A002
        """Find a run of a project."""
        with self._lock:
            found = self._runs.get(run_id)
        if found is None or found.project != id:
            raise UnknownNameError("There is no such run.")
        return found

    def check_page(self, run: StudioRun) -> Path:
        """Return the page of the run's check; UserError where the run is not done."""
        return self._output(run, CHECK)

    def rows(self, run: StudioRun, *, masked: bool = True) -> Rows:
        """Return some rows before and after."""
        try:
            kept = msgspec.json.decode(self._output(run, BOTH_ROWS).read_bytes(), type=KeptRows)
        except (OSError, msgspec.MsgspecError):
            raise UserError("The rows of this run cannot be read; run it again.") from None
        return kept.masked if masked else kept.plain

    def statement(self, run: StudioRun) -> PrivacyStatement:
        """Return the statement of the run's release."""
        return self._statement_file(run).statement

    def _statement_file(self, run: StudioRun) -> StatementFile:
        from querycloak.releases.statement_file import read_statement_file

        return read_statement_file(self._output(run, self._done(run).release + STATEMENT))

    def archive(self, run: StudioRun) -> Path:
        """Return a zip of release, statement, check page and README.txt: never the truth, never the log."""
        return self._output(run, ARCHIVE)

    def command(self, run: StudioRun) -> str:
        """Return the command lines that do the same again, in any folder."""
        return as_command(self._recipe_of(run))

    def script(self, run: StudioRun) -> str:
        """Return a Python program that does the same again, in any folder."""
        return as_script(self._recipe_of(run))

    def _begin(self, project: Project, kind: JobKind, order: LookOrder | GenerateOrder | ExposeOrder) -> Project:
        """Start a job of a project."""
        job = Job(_new_id(), kind)
        project = self._keep(replace(project, job=job))
        part = project.id
        self._jobs.submit(job, order, lambda job, answer: self._project_job_ended(part, job, answer))
        return project

    def _job_changed(self, job: Job) -> None:
        """Take what a job reports; the lock is held."""
        for project in self._projects.values():
            if project.job is not None and project.job.id == job.id:
                self._projects[project.id] = replace(project, job=job)
                return
        for run in self._runs.values():
            if run.job.id == job.id:
                self._runs[run.id] = replace(run, job=job)
                return

    def _project_job_ended(self, id: str, job: Job, answer: Result | None) -> None:  # noqa: A002
        """Keep what a job found, and go on where one job follows another; the lock is held."""
        project = self._projects[id]
        if project.job is None or project.job.id != job.id:  # another one was begun meanwhile
            return
        if isinstance(answer, Generated):
            self._was_generated(project, answer)
        elif isinstance(answer, Looked):
            project = self._keep(replace(project, look=answer.look))
            reading = known_reading(answer.look)
            if project.directory and reading is not None:  # our own generated log: nobody need confirm its columns
                log = _log(*self._folders.find(project.file.name))
                self._begin(replace(project, reading=reading), "expose", ExposeOrder(log, reading))
        elif isinstance(answer, WasExposed):
            self._keep(replace(project, exposed=answer.exposed))
        else:
            self._keep(project)

    def _was_generated(self, project: Project, answer: Generated) -> None:
        path, file = self._folders.find(project.file.name)
        project = replace(project, file=file, directory=f"{GENERATED}/{Path(answer.directory).name}")
        self._begin(project, "look", LookOrder(_log(path, file)))

    def _run_ended(self, run_id: str, job: Job, answer: Result | None) -> None:
        """Keep how a run ended; the lock is held."""
        run = replace(self._runs[run_id], job=job)
        self._runs[run_id] = replace(run, check=answer.check) if isinstance(answer, Checked) else run
        self._keep_run(self._runs[run_id])

    def _keep(self, project: Project) -> Project:
        self._projects[project.id] = project
        try:
            self._store.keep_project(project)
        except UserError as error:
            self._notes.append(f"A project could not be kept: {error}")
        return project

    def _keep_run(self, run: StudioRun) -> None:
        try:
            self._store.keep_run(run)
        except UserError as error:
            self._notes.append(f"A run could not be kept: {error}")

    def _estimate(self, project: Project, method: str) -> float | None:
        """Return how long a run may take: as long as the last one of its method, by the number of rows."""
        with self._lock:
            done = [run.check for run in self._runs.values() if run.method == method and run.check is not None]
        if not done or project.exposed is None or not done[-1].rows_before:
            return None
        return done[-1].seconds.get("all", 0.0) * project.exposed.rows / done[-1].rows_before or None

    def _done(self, run: StudioRun) -> CheckSummary:
        """Return what a run came to; UserError where it is not done."""
        check = self.run(run.project, run.id).check
        if check is None:
            raise UserError("This run is not done: there is no release of it.")
        return check

    def _output(self, run: StudioRun, name: str) -> Path:
        """Return the path of a file of a run that is done: a plain one in the run's folder, and no link out of it."""
        self._done(run)
        folder = self._store.run_folder(run) / FINISHED
        path = folder / name
        gone = UserError("The files of this run are not in the work folder any more; run it again.")
        with suppress(OSError):
            if Path(name).name == name and path.resolve(strict=True) == path and path.is_file():
                return path
        raise gone

    def _recipe_of(self, run: StudioRun) -> Recipe:
        check = self._done(run)
        project = self.project(run.project)
        if project.reading is None:
            raise UserError("The columns of the log are not confirmed.")
        path, _ = self._folders.find(project.file.name)
        recipe = self._recipe(run, project.reading, path, check.release, has_truth=check.has_truth)
        recipe.kind = self._statement_file(run).kind
        return recipe

    def _recipe(self, run: StudioRun, reading: Reading, log: Path, release: str, *, has_truth: bool) -> Recipe:
        return Recipe(
            log=log,
            reading=reading,
            method=run.method,
            settings=run.settings,
            tasks=run.tasks,
            limits=run.limits,
            release=release,
            has_truth=has_truth,
            directory=self._folders.find(run.directory)[0] if run.directory else None,
            resolver=self._folders.find(run.resolver)[0] if run.resolver else None,
        )


def _log(path: Path, file: LogFile) -> Log:
    return Log(str(path), file.size, file.modified)


def _new_id() -> str:
    return secrets.token_hex(8)
