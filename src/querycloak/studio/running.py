"""One run: a release made without a seed, written, verified, attacked and judged, in a folder of its own.

All of it happens in `out.part`, which is renamed once it is complete: a run that is cancelled leaves nothing that looks
done. The truth, which undoes the release, is there from the writing to the end of the check, readable by its owner
alone, and never outside that folder.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

import msgspec

from querycloak.errors import CheckFailedError
from querycloak.studio.exports import write_archive
from querycloak.studio.model import CheckSummary, LightSummary, Rows, TaskSummary
from querycloak.studio.state import BOTH_ROWS, FINISHED, UNFINISHED, KeptRows, remove_folder

if TYPE_CHECKING:
    from querycloak.evaluation.assess import Assessor
    from querycloak.evaluation.check import ReleaseCheck
    from querycloak.logs.form import LogForm
    from querycloak.progress import Progress
    from querycloak.releases.release import Release
    from querycloak.studio.messages import RunOrder

__all__ = ["make_and_check", "release_name"]

SUFFIXES: Final = {"aol": "tsv", "excite": "tsv", "ubi": "jsonl"}
"""formats whose files are called by another"""
KNOWN: Final = frozenset({"tsv", "csv", "jsonl", "json", "parquet"})
TRUTH: Final = "truth.tsv"
SHOWN: Final = 12
"""rows before, and after"""
_WHO: Final = ("who", "query")


def release_name(form: LogForm | None) -> str:
    """Return the name of a release that has the form of its log."""
    kind = "tsv" if form is None else SUFFIXES.get(form.format, form.format)
    if kind not in KNOWN:  # of another package: the name must not say another form
        return "release"
    packed = "" if form is None or not form.compression or kind == "parquet" else f".{form.compression}"
    return f"release.{kind}{packed}"


def make_and_check(assessor: Assessor, order: RunOrder, progress: Progress) -> CheckSummary:
    """Make a release and judge it; its files are in the run's folder when this returns."""
    started = time.perf_counter()
    folder = Path(order.folder)
    part = folder / UNFINISHED
    remove_folder(part)
    part.mkdir(mode=0o700, parents=True)
    try:
        summary = _in_folder(assessor, order, progress, part)
        progress.start("finishing")
        summary.seconds["all"] = time.perf_counter() - started
        write_archive(part, order.name, summary.release)
        remove_folder(folder / FINISHED)
        part.rename(folder / FINISHED)
    finally:
        remove_folder(part)
    return summary


def _in_folder(assessor: Assessor, order: RunOrder, progress: Progress, part: Path) -> CheckSummary:
    from querycloak import api
    from querycloak.evaluation.check import check_release
    from querycloak.report.check_page import write_check_page

    log = assessor.bench.log
    progress.start(f"{order.method}: making the release")
    began = time.perf_counter()
    release = assessor.bench.anonymize(order.method, **order.settings)
    making = time.perf_counter() - began
    path, truth = part / release_name(log.form), part / TRUTH
    progress.start("writing the release")
    has_truth = release.truth is not None
    commitment = api.write_truth(release, log, truth) if has_truth else ""
    api.write_release(release, path, command=order.command, commitment=commitment)
    progress.start("verifying the files")
    written = api.read_release(path, log=log, truth=truth if has_truth else None)
    findings = api.verify(path, log, truth=truth if has_truth else None)
    nothing = len(written.log) == 0
    found = check_release(
        assessor,
        release if nothing else written,  # the file of an empty truth does not say that its rows had askers
        limits=order.limits,
        tasks=order.tasks,
        rerun=not nothing,  # there is nothing that a baseline would be compared with
        findings=findings,
    )
    truth.unlink(missing_ok=True)
    progress.start("writing the page")
    write_check_page(found, part / "check.html")
    _keep_rows(assessor, written, part)
    if any(part.glob("*truth*")):
        raise CheckFailedError("The truth of the release could not be removed: the run is given up.")
    return _summary(found, written, has_truth=has_truth, rows_before=len(log), name=path.name, making=making)


def _keep_rows(assessor: Assessor, release: Release, part: Path) -> None:
    """Keep rows before and after, masked and as they are, for their owner alone."""
    from querycloak.evaluation.sample import sample_rows
    from querycloak.logs.atomic import PRIVATE, write_text

    both = []
    for masked in (True, False):
        sample = sample_rows(assessor.bench.log, release, assessor.seed, masked=masked, rows=SHOWN)
        after = sample.after if release.has_users else tuple((query,) for _, query in sample.after)
        both.append(Rows(_WHO, sample.before, _WHO if release.has_users else ("query",), after, masked))
    write_text(part / BOTH_ROWS, msgspec.json.encode(KeptRows(*both)).decode(), PRIVATE)


def _summary(
    found: ReleaseCheck, release: Release, *, has_truth: bool, rows_before: int, name: str, making: float
) -> CheckSummary:
    worst = found.run.worst(found.limits)
    limit = None if worst is None else found.limits.of(worst.risk)
    nothing = len(release.log) == 0
    reasons = ("nothing was published: nothing passed the settings",) if nothing else ()
    verdict: Literal["RELEASE", "DO NOT RELEASE", "NEEDS A HUMAN"] = found.verdict
    if nothing and verdict == "RELEASE":
        verdict = "NEEDS A HUMAN"
    return CheckSummary(
        verdict=verdict,
        reasons=(*reasons, *found.reasons),
        changes=found.changes,
        not_tested=found.not_tested,
        lights=tuple(LightSummary(light.question, light.asks, light.colour, light.says) for light in found.lights),
        guarantee=release.statement.model,
        worst="" if worst is None else worst.attack,
        worst_gain=None if worst is None else worst.judged,
        worst_limit=limit,
        worst_times=None if worst is None or not limit else found.limits.times(worst),
        own_row_share=0.0 if found.run.exposure is None else found.run.exposure.own_row_share,
        tasks=tuple(
            TaskSummary(
                u.task,
                u.scaled,
                u.scaled_low,
                u.scaled_high,
                u.useful,
                u.possible,
                u.note,
                wanted=u.task in found.tasks,
            )
            for u in found.run.utility
        ),
        rows=len(release.log),
        rows_before=rows_before,
        published_nothing=nothing,
        has_truth=has_truth,
        release=name,
        seconds={"making": making, **found.run.seconds},
    )
