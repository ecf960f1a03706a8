"""What the pages of the studio share: templates in which every value is escaped, and how things are written."""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote, unquote

from querycloak.report.pages import decimal, percent, sentence
from querycloak.visible import visible_on_page

if TYPE_CHECKING:
    from jinja2 import Environment

    from querycloak.studio.model import Job, Project

__all__ = [
    "MARKS",
    "SIGNS",
    "Step",
    "duration",
    "exact",
    "given_name",
    "job_values",
    "refusal_page",
    "render",
    "steps_of",
    "warm_up",
]

MARKS: Final = {"RELEASE": "fine", "DO NOT RELEASE": "over", "NEEDS A HUMAN": "open"}
SIGNS: Final = {"fine": "✓", "over": "✗", "open": "?"}
"""Signs before a word, so that colour is never alone."""
KINDS: Final = {
    "generate": "Generating the log",
    "look": "Looking at the columns",
    "expose": "Counting what the log exposes",
    "run": "Running",
}


@cache
def _templates() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    found = Environment(
        loader=PackageLoader("querycloak.studio"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
        finalize=visible_on_page,
    )
    found.filters |= {
        "bytes": file_size,
        "count": lambda number: f"{number:,.0f}",
        "day": _day,
        "decimal": decimal,
        "exact": exact,
        "percent": percent,
        "sentence": sentence,
        "times": times_limit,
    }
    found.globals |= {"marks": MARKS, "signs": SIGNS, "kinds": KINDS, "job_values": job_values}
    return found


def render(template: str, **values: Any) -> str:
    """Return a whole page."""
    return _templates().get_template(template).render(**values)


def warm_up() -> None:
    """Compile all templates, so that no page is the first."""
    for name in _templates().list_templates():
        _templates().get_template(name)


def refusal_page(sentence_: str) -> str:
    """Return the page for whoever is not let in: it links to nothing."""
    return render("refused.html.j2", sentence_=sentence_)


@dataclass(frozen=True)
class Step:
    """One step on the way from a log to a release."""

    title: str
    path: str
    """below the project; empty = it cannot be taken yet"""
    here: bool


def steps_of(project: Project, here: str) -> list[Step]:
    """Return the steps of a project: those that can be taken have a path."""
    counted, confirmed = project.exposed is not None, project.reading is not None
    ways = [
        ("Columns", "columns", True),
        ("Exposure", "exposed", confirmed),
        ("Aims", "aims", counted),
        ("Methods", "methods", counted),
        ("Results", "results", counted),
    ]
    return [Step(title, path if open_ else "", path == here) for title, path, open_ in ways]


def job_values(job: Job, now: float | None = None) -> dict[str, Any]:
    """Return what a page shows of a job, and what the script asks for again and again."""
    now = time.time() if now is None else now
    spent = max(0.0, now - job.started) if job.started else 0.0
    left = job.estimate - spent if job.estimate is not None and job.state == "running" else None
    if job.state == "waiting":
        says = "waiting for its turn"
    else:
        says = f"{job.step or 'starting'} · {duration(spent)} so far"
        if left is not None:
            says += f", about {duration(left)} left" if left > 1 else ", nearly done"
    share: float | None = 0.0 if job.state == "waiting" else None
    if job.estimate and job.state == "running":
        share = min(0.97, spent / max(job.estimate, 0.1))
    elif job.total:
        share = min(1.0, job.done / job.total)
    return {"id": job.id, "state": job.state, "says": says, "share": share}


def duration(seconds: float) -> str:
    """Write seconds for a person.

    >>> duration(0.4), duration(72), duration(4000)
    ('0 s', '1 min 12 s', '1 h 6 min')
    """
    whole = int(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


def file_size(size: float) -> str:
    """Write a size, with the units of `--max-upload`: 1 MB is 1024 kB.

    >>> file_size(999), file_size(2_345_678), file_size(500 * 1024**2)
    ('999 bytes', '2.24 MB', '500 MB')
    """
    for unit, name in ((1 << 30, "GB"), (1 << 20, "MB"), (1 << 10, "kB")):
        if size >= unit:
            return f"{size / unit:.3g} {name}"
    return f"{size:.0f} bytes"


def times_limit(times: float | None) -> str:
    """Write a multiple of a limit: fewer digits the larger it is, and a dash where there is none."""
    if times is None:
        return "–"  # noqa: RUF001
    return f"{times:.0f} ×" if times >= 9.95 else f"{times:.1f} ×" if times >= 1.95 else f"{times:.2f} ×"  # noqa: RUF001


def exact(name: str) -> str:
    r"""Write the name of a file so that a form sends back every byte of it: a page shows hidden characters as escapes.

    >>> exact("a/b\u202e c.tsv"), given_name(exact("a/b\u202e c.tsv")) == "a/b\u202e c.tsv"
    ('a/b%E2%80%AE%20c.tsv', True)
    """
    return quote(name, errors="surrogateescape")


def given_name(text: str) -> str:
    """Return the name that `exact` wrote."""
    return unquote(text, errors="surrogateescape")


def _day(moment: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(moment))
