"""Pages of methods and their runs: choose, watch, compare, take away."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from starlette.concurrency import run_in_threadpool
from starlette.responses import FileResponse, JSONResponse
from starlette.routing import Route

from querycloak.errors import UserError
from querycloak.studio.context import project_page, see_other, stamp_of, studio_of
from querycloak.studio.form_data import read_form
from querycloak.studio.forms import FIRST_SET, TASK_WORDS, given_settings, method_families
from querycloak.studio.frontier import chart_values, points_of, task_names
from querycloak.studio.pages import KINDS, job_values
from querycloak.studio.security import CHECK_POLICY

if TYPE_CHECKING:
    from collections.abc import Mapping

    from starlette.requests import Request
    from starlette.responses import Response

    from querycloak.studio.model import StudioRun

__all__ = ["ROUTES"]


def methods(
    request: Request, error: str = "", method: str = "", typed: Mapping[str, str] | None = None, directory: str = ""
) -> Response:
    """Show the methods with their settings; `?run=` fills in those of an earlier run."""
    desk = studio_of(request).desk
    project = desk.project(request.path_params["project"])
    if project.exposed is None:
        return see_other(request, f"/logs/{project.id}")
    if not error and (again := request.query_params.get("run")):
        run = desk.run(project.id, again)
        directory = run.directory
        method, typed = run.method.partition(":")[0], {name: _typed(value) for name, value in run.settings.items()}
    active = sum(run.job.active for run in desk.runs(project.id))
    return project_page(
        request, "methods.html.j2", project, "methods", status=400 if error else 200, families=method_families(),
        first_set=FIRST_SET, error=error, chosen=method, typed=typed or {}, active=active,
        directory=directory,
    )  # fmt: skip


async def start_run(request: Request) -> Response:
    """Start a method, or the first set."""
    desk, project = studio_of(request).desk, request.path_params["project"]
    form = await read_form(request)
    method, directory = dict(form).get("method", ""), dict(form).get("directory", "").strip()
    settings = given_settings(method, form)
    try:
        if dict(form).get("set") == "first":
            for name, values in FIRST_SET:
                await run_in_threadpool(desk.start, project, name, values)
        else:
            await run_in_threadpool(desk.start, project, method, settings, directory=directory)
    except UserError as problem:
        return await run_in_threadpool(methods, request, str(problem), method, settings, directory)
    return see_other(request, f"/logs/{project}/results")


def results(request: Request) -> Response:
    """Show all runs: what is going on, the frontier, the table."""
    desk = studio_of(request).desk
    project = desk.project(request.path_params["project"])
    if project.exposed is None:
        return see_other(request, f"/logs/{project.id}")
    runs = desk.runs(project.id)
    points = points_of(runs)
    tasks = task_names(points, project.tasks)
    href = f"{studio_of(request).keys.room}/logs/{project.id}/runs"
    return project_page(
        request, "results.html.j2", project, "results", runs=runs, points=points, tasks=tasks, words=TASK_WORDS,
        active=[run for run in runs if run.job.active],
        ended=[run for run in runs if run.job.state in {"failed", "cancelled"}],
        chart=chart_values(points, tasks, href),
    )  # fmt: skip


def state(request: Request) -> Response:
    """Tell the script how far everything is."""
    desk = studio_of(request).desk
    project = desk.project(request.path_params["project"])
    runs = desk.runs(project.id)
    jobs = [
        *([] if project.job is None else [(project.job, KINDS[project.job.kind])]),
        *((r.job, r.name) for r in runs),
    ]
    return JSONResponse({
        "stamp": stamp_of(project, runs),
        "active": any(job.active for job, _ in jobs),
        "jobs": [job_values(job) | {"name": name} for job, name in jobs if job.active],
        "verdicts": {run.id: [run.name, run.check.verdict if run.check else run.job.state] for run in runs
                     if not run.job.active},
    })  # fmt: skip


def run_page(request: Request) -> Response:
    """Show one run: the verdict, rows, statement, what to take away."""
    desk = studio_of(request).desk
    project = desk.project(request.path_params["project"])
    run = desk.run(project.id, request.path_params["run"])
    values: dict[str, Any] = {"shown": request.query_params.get("texts") == "shown"}
    if run.check is not None:
        values |= {
            "rows": desk.rows(run, masked=not values["shown"]),
            "statement": desk.statement(run),
            "command": desk.command(run),
            "script": desk.script(run),
        }
    return project_page(
        request, "run.html.j2", project, "results", run=run, check=run.check, words=TASK_WORDS, **values,
    )  # fmt: skip


def check(request: Request) -> Response:
    """Return the page of the run's check, for the frame."""
    return FileResponse(
        studio_of(request).desk.check_page(_run(request)),
        media_type="text/html",
        headers={"Content-Security-Policy": CHECK_POLICY, "X-Frame-Options": "SAMEORIGIN", "Cache-Control": "no-store"},
    )


def archive(request: Request) -> Response:
    """Return release, statement and page as one zip."""
    run = _run(request)
    return FileResponse(
        studio_of(request).desk.archive(run),
        media_type="application/zip",
        filename=f"{run.method.replace(':', '-')}-{run.id}.zip",
        headers={"Cache-Control": "no-store"},
    )


async def cancel(request: Request) -> Response:
    """Cancel a job."""
    desk, project = studio_of(request).desk, request.path_params["project"]
    found = await run_in_threadpool(desk.project, project)
    await run_in_threadpool(desk.cancel, request.path_params["job"])
    of_log = found.job is not None and found.job.id == request.path_params["job"]
    return see_other(request, f"/logs/{project}/columns" if of_log else f"/logs/{project}/results")


def _run(request: Request) -> StudioRun:
    return studio_of(request).desk.run(request.path_params["project"], request.path_params["run"])


def _typed(value: object) -> str:
    """Write a setting as a form sends it."""
    return str(value).lower() if isinstance(value, bool) else "" if value is None else str(value)


ROUTES: Final = [
    Route("/logs/{project}/methods", methods),
    Route("/logs/{project}/runs", start_run, methods=["POST"]),
    Route("/logs/{project}/results", results),
    Route("/logs/{project}/state", state),
    Route("/logs/{project}/jobs/{job}/cancel", cancel, methods=["POST"]),
    Route("/logs/{project}/runs/{run}", run_page),
    Route("/logs/{project}/runs/{run}/check", check),
    Route("/logs/{project}/runs/{run}/release.zip", archive),
]
