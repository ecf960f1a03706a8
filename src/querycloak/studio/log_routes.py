"""Pages on the way from a file to what it exposes: the start, columns, exposure, aims."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, cast

from starlette.concurrency import run_in_threadpool
from starlette.routing import Route

from querycloak.errors import UserError
from querycloak.studio.context import page, project_page, see_other, studio_of
from querycloak.studio.form_data import Upload, read_form
from querycloak.studio.forms import TASK_WORDS, limit_fields, read_limits
from querycloak.studio.pages import given_name
from querycloak.studio.uploads import UploadTooLargeError
from querycloak.tasks.task import TASKS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from starlette.requests import Request
    from starlette.responses import Response

    from querycloak.studio.model import Look, Project

__all__ = ["ROUTES"]

ROLES: Final = {
    "": "not used",
    "user": "user: who asked",
    "query": "query: what was asked",
    "time": "time",
    "rank": "rank of the click",
    "url": "URL that was clicked",
    "category": "category path",
}
GENERATED: Final = {"users": "300", "queries": "12000", "seed": ""}
"""As in `querycloak demo`: large enough to be like a log, small enough for seconds."""


def start(request: Request, error: str = "", given: Mapping[str, str] = GENERATED) -> Response:
    """Show what can be opened."""
    studio = studio_of(request)
    files = studio.desk.files()
    return page(
        request,
        "start.html.j2",
        status=400 if error else 200,
        files=files,
        projects=studio.desk.projects(),
        notes=studio.desk.notes,
        folder=studio.folder,
        max_upload=studio.max_upload,
        given=given,
        error=error,
    )


async def open_log(request: Request) -> Response:
    """Open a log of the folder."""
    form = dict(await read_form(request))
    project = await run_in_threadpool(studio_of(request).desk.open, given_name(form.get("name", "")))
    return see_other(request, _first_page(project))


async def generate(request: Request) -> Response:
    """Generate a log."""
    form = {name: text.strip() for name, text in await read_form(request)}
    try:
        users, queries = (_whole(form.get(name, ""), f"The number of {name}") for name in ("users", "queries"))
        seed = _whole(form["seed"], "The seed") if form.get("seed") else None
        project = await run_in_threadpool(studio_of(request).desk.generate, users=users, queries=queries, seed=seed)
    except UserError as problem:
        return await run_in_threadpool(start, request, str(problem), GENERATED | form)
    return see_other(request, f"/logs/{project.id}/exposed")


async def upload(request: Request) -> Response:
    """Save an upload as it comes, and open it."""
    studio = studio_of(request)
    received = Upload(request)
    try:
        name = await received.read_name()
        saved = await run_in_threadpool(studio.desk.save_upload, name, received.chunks(), studio.max_upload)
    except UploadTooLargeError:
        await received.drain()
        raise
    project = await run_in_threadpool(studio.desk.open, saved)
    return see_other(request, _first_page(project))


def project_start(request: Request) -> Response:
    """Go to the first step that is not done."""
    project = studio_of(request).desk.project(request.path_params["project"])
    return see_other(request, _first_page(project))


def columns(request: Request, error: str = "", given: Mapping[str, str] | None = None) -> Response:
    """Show the columns, to say which is which."""
    project = studio_of(request).desk.project(request.path_params["project"])
    job = project.job
    if not error and job is not None and job.state == "failed":
        error = job.error
    roles = {} if project.look is None else _roles_shown(project, project.look)
    return project_page(
        request,
        "columns.html.j2",
        project,
        "columns",
        status=400 if given is not None else 200,
        job=job if job is not None and job.active and project.look is None else None,
        look=project.look,
        roles=roles if given is None else {int(n[5:]): r for n, r in given.items() if n[5:].isdigit()},
        role_words=ROLES,
        reading=project.reading,
        error=error,
        failed=job is not None and job.kind == "expose" and job.state == "failed",
    )


async def confirm(request: Request) -> Response:
    """Take which column is which, and count what the log exposes."""
    desk, project = studio_of(request).desk, request.path_params["project"]
    form = dict(await read_form(request))
    try:
        await run_in_threadpool(
            desk.confirm,
            project,
            _roles(form),
            header={"yes": True, "no": False}.get(form.get("header", "")),
            encoding=cast("Literal['auto', 'utf-8', 'utf-16', 'latin-1']", form.get("encoding", "auto")),
            on_error="skip" if form.get("skip") else "stop",
            assume_yes=bool(form.get("assume_yes")),
        )
    except UserError as problem:
        return await run_in_threadpool(columns, request, str(problem), form)
    return see_other(request, f"/logs/{project}/exposed")


def exposed(request: Request) -> Response:
    """Show what the log exposes as it is."""
    project = studio_of(request).desk.project(request.path_params["project"])
    job = project.job
    if project.exposed is None and (job is None or not job.active):
        return see_other(request, f"/logs/{project.id}/columns")
    return project_page(
        request, "exposed.html.j2", project, "exposed", job=job if project.exposed is None else None,
        found=project.exposed,
    )  # fmt: skip


def aims(
    request: Request, error: str = "", chosen: Sequence[str] | None = None, typed: Mapping[str, str] | None = None
) -> Response:
    """Show what a release may be for, and what it may cost."""
    project = studio_of(request).desk.project(request.path_params["project"])
    limits = [
        (name, words, (typed or {}).get(f"limit-{name}", value), default)
        for name, words, value, default in limit_fields(project.limits)
    ]
    return project_page(
        request, "aims.html.j2", project, "aims", status=400 if error else 200, tasks=_tasks(), words=TASK_WORDS,
        limits=limits, chosen=project.tasks if chosen is None else chosen, error=error,
    )  # fmt: skip


async def set_aims(request: Request) -> Response:
    """Take what a release is for, and what it may cost."""
    desk, project = studio_of(request).desk, request.path_params["project"]
    form = await read_form(request)
    tasks = [value for name, value in form if name == "task"]
    try:
        await run_in_threadpool(desk.aim, project, _some(tasks), read_limits(dict(form)))
    except UserError as problem:
        return await run_in_threadpool(aims, request, str(problem), tasks, dict(form))
    return see_other(request, f"/logs/{project}/methods")


def _roles(form: Mapping[str, str]) -> dict[str, str]:
    """Return role → position, as chosen."""
    roles: dict[str, str] = {}
    for name, role in form.items():
        if name.startswith("role-") and role:
            if role in roles:
                raise UserError(f"Two columns are said to be the {role}: choose one.")
            roles[role] = name[5:]
    return roles


def _some(tasks: Sequence[str]) -> Sequence[str]:
    if not tasks:
        raise UserError("Choose at least one task: a release that is for nothing is not judged.")
    return tasks


def _tasks() -> list[str]:
    """Return all tasks, those that most releases are for first."""
    return [*(task for task in TASK_WORDS if task in TASKS), *(task for task in TASKS if task not in TASK_WORDS)]


def _first_page(project: Project) -> str:
    if project.exposed is not None:
        return f"/logs/{project.id}/results"
    if project.job is not None and project.job.active and project.job.kind in {"generate", "expose"}:
        return f"/logs/{project.id}/exposed"
    return f"/logs/{project.id}/columns"


def _roles_shown(project: Project, look: Look) -> dict[int, str]:
    """Return position → role: as confirmed, or as found."""
    if project.reading is not None:
        return {int(position): role for role, position in project.reading.roles.items()}
    return {column.position: column.role for column in look.columns}


def _whole(text: str, what: str) -> int:
    try:
        return int(text.replace(",", ""))
    except ValueError:
        raise UserError(f"{what} must be a whole number.") from None


ROUTES: Final = [
    Route("/", start),
    Route("/open", open_log, methods=["POST"]),
    Route("/generate", generate, methods=["POST"]),
    Route("/upload", upload, methods=["POST"]),
    Route("/logs/{project}", project_start),
    Route("/logs/{project}/columns", columns),
    Route("/logs/{project}/columns", confirm, methods=["POST"]),
    Route("/logs/{project}/exposed", exposed),
    Route("/logs/{project}/aims", aims),
    Route("/logs/{project}/aims", set_aims, methods=["POST"]),
]
