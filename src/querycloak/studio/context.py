"""What every page of the studio is made with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from starlette.responses import HTMLResponse, RedirectResponse

from querycloak.studio.pages import render, steps_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from starlette.requests import Request

    from querycloak.studio.desk import Desk
    from querycloak.studio.model import Project, StudioRun
    from querycloak.studio.security import Keys
    from querycloak.studio.vega import VegaFile

__all__ = ["Studio", "page", "project_page", "see_other", "stamp_of", "studio_of"]


@dataclass(frozen=True)
class Studio:
    """One run of the studio."""

    desk: Desk
    keys: Keys
    vega: VegaFile
    folder: str
    """as the user named it"""
    max_upload: int
    """bytes"""


def studio_of(request: Request) -> Studio:
    """Return the studio that a request is for."""
    found: Studio = request.app.state.studio
    return found


def page(request: Request, template: str, *, status: int = 200, **values: Any) -> HTMLResponse:
    """Return a page."""
    return HTMLResponse(render(template, root=studio_of(request).keys.room, **values), status)


def project_page(
    request: Request, template: str, project: Project, here: str, *, status: int = 200, **values: Any
) -> HTMLResponse:
    """Return a page of a project, with its steps."""
    studio = studio_of(request)
    home = f"{studio.keys.room}/logs/{project.id}"
    stamp = stamp_of(project, studio.desk.runs(project.id))
    return page(
        request,
        template,
        status=status,
        project=project,
        home=home,
        steps=steps_of(project, here),
        stamp=stamp,
        **values,
    )


def stamp_of(project: Project, runs: Sequence[StudioRun]) -> str:
    """Return a text that changes when a page shows something else, progress apart."""
    job = "" if project.job is None else f"{project.job.id}:{project.job.state}"
    stages = [str(project.look is not None), str(project.exposed is not None), job]
    return " ".join([*stages, *(f"{run.id}:{run.job.state}" for run in runs)])


def see_other(request: Request, path: str) -> RedirectResponse:
    """Send the browser to a page of ours; `path` begins with a slash, and the room is put before it."""
    return RedirectResponse(f"{studio_of(request).keys.room}{path}", 303)
