"""Run all cells of a paper in all draws; after an interruption, finished cells stay finished."""

from __future__ import annotations

import hashlib
import json
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from querycloak._version import __version__
from querycloak.catalog import method as find_method
from querycloak.errors import ParameterError
from querycloak.evaluation.compare import make_store
from querycloak.evaluation.estimates import in_words
from querycloak.evaluation.reproduce.cell_result import (
    CellResult,
    as_in_paper,
    cell_from_json,
    cell_to_json,
    run_cell,
)
from querycloak.evaluation.reproduce.paper import Finding, Outcome, Paper, Scale
from querycloak.evaluation.reproduce.results import MissingError, Place, Results, results_csv
from querycloak.evaluation.reproduce.source import Draw, Source
from querycloak.logs.atomic import write_text
from querycloak.progress import QUIET, Progress

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from querycloak.evaluation.reproduce.paper import Cell

__all__ = ["Reproduction", "judge", "reproduce"]

DRAWS: Final = 3
QUICK_DRAWS: Final = 2


@dataclass(frozen=True)
class Reproduction:
    """What came out."""

    paper: Paper
    version: str
    log: str
    """what the logs of the draws are"""
    users: int
    seeds: tuple[int, ...]
    """one per draw"""
    quick: bool
    results: Results
    outcomes: tuple[Outcome, ...]
    """one per finding of the paper, in its order"""
    not_run: dict[str, str]
    """cells that could not be run → why"""
    seconds: float
    """of all cells together, those of earlier runs too"""
    repeat: str
    """the command that repeats it"""

    @property
    def judged(self) -> list[tuple[Finding, Outcome]]:
        """Every finding with what became of it."""
        return list(zip(self.paper.findings, self.outcomes, strict=True))


def reproduce(
    paper: Paper,
    source: Source,
    output: Path,
    *,
    draws: int | None = None,
    seed: int = 1,
    quick: bool = False,
    repeat: str = "",
    safe_csv: bool = True,
    progress: Progress = QUIET,
) -> Reproduction:
    """Run the experiments of a paper, and write `results.csv` into the directory `output`.

    Draw i has the seed `seed + i - 1`, for its log and for its methods. Each finished cell is kept in `output/cells`,
    by a digest of the log, the version, the paper, the cell and the seed: the same command goes on where it stopped. No
    release is written. `draws`: None = 3, or 2 of a quick run.
    """
    if draws is None:
        draws = QUICK_DRAWS if quick else DRAWS
    if draws < 1:
        raise ParameterError.of("--draws", "an integer >= 1", draws)
    store = make_store(output, "cells")
    cells = _joined(paper.cells(Scale(source.users, quick=quick)))
    seeds = tuple(range(seed, seed + draws))
    done: dict[tuple[int, int], CellResult] = {}
    paths = {
        (s, number): store / f"{_key(paper, source, cell, s)}.json" for s in seeds for number, cell in enumerate(cells)
    }
    for at, path in paths.items():
        found = cell_from_json(path.read_bytes()) if path.exists() else None
        if found is not None:
            done[at] = found
    if done:
        progress.note(f"{len(done)} of {len(paths)} runs were done before")
    left = [at for at in paths if at not in done]
    progress.start(f"{paper.name}: {len(left)} runs", total=len(left))
    warm: set[str] = set()
    draw: tuple[int, Draw] | None = None
    for s, number in left:
        if draw is None or draw[0] != s:
            draw = (s, Draw(source.make(s), paper, s))
        cell = cells[number]
        result = run_cell(draw[1].bench(cell), cell, s, warm=cell.method in warm)
        warm.add(cell.method)
        done[s, number] = result
        write_text(paths[s, number], cell_to_json(result))
        progress.advance()
        progress.note(
            f"[{len(done)}/{len(paths)}] {cell.name}, draw {s - seed + 1}: {result.seconds:.1f} s"
            + ("" if result.error is None else f", not run: {result.error}")
            + _remaining(paths, done, len(cells))
        )
    results, not_run = _gather(paper, cells, seeds, done)
    if paper.derive is not None:
        with suppress(MissingError):  # the figures of it stay empty, and say why
            paper.derive(results)
    write_text(output / "results.csv", results_csv(results, paper.figures, safe=safe_csv))
    return Reproduction(
        paper=paper,
        version=__version__,
        log=source.says,
        users=source.users,
        seeds=seeds,
        quick=quick,
        results=results,
        outcomes=tuple(judge(finding, results) for finding in paper.findings),
        not_run=not_run,
        seconds=sum(result.seconds for result in done.values()),
        repeat=repeat,
    )


def _joined(cells: Sequence[Cell]) -> list[Cell]:
    """Join cells that are the same run, so that it is done once and plotted wherever it belongs."""
    out: dict[str, Cell] = {}
    for cell in cells:
        same = json.dumps(_identity(cell), sort_keys=True)
        out[same] = replace(cell, spots=out[same].spots + cell.spots) if same in out else cell
    return list(out.values())


def judge(finding: Finding, results: Results) -> Outcome:
    """Test one finding; where its values are missing, it cannot be tested."""
    if finding.judge is None:
        return Outcome("not testable here", finding.why_not)
    try:
        return finding.judge(results)
    except MissingError as error:
        return Outcome("not testable here", str(error))
    except (LookupError, ValueError, ZeroDivisionError):  # some of the points are missing, or nothing but zeros
        return Outcome("not testable here", "there are too few values, or they are zero")


def _gather(
    paper: Paper, cells: Sequence[Cell], seeds: Sequence[int], done: dict[tuple[int, int], CellResult]
) -> tuple[Results, dict[str, str]]:
    """Put the values of all cells where they are plotted."""
    results, not_run = Results(), {}
    for number, cell in enumerate(cells):
        for draw, s in enumerate(seeds, 1):
            found = done[s, number]
            if found.error is not None:
                not_run[cell.name] = found.error
            for spot in cell.spots:
                value = None if found.error is not None else paper.read(spot.measure, found.values)
                if value is None:
                    why = found.error or f"no measure {spot.measure!r}"
                    results.reasons[spot.figure, spot.series] = why
                else:
                    results.add(Place(spot.figure, spot.panel, spot.series, spot.x), draw, value)
    return results, not_run


def _remaining(paths: dict[tuple[int, int], Path], done: dict[tuple[int, int], CellResult], cells: int) -> str:
    """Estimate the time left: a cell takes as long as in other draws, a new one as long as the mean."""
    left = [at for at in paths if at not in done]
    if not left:
        return ""
    took = [[r.seconds for (_, n), r in done.items() if n == number] for number in range(cells)]
    mean = sum(r.seconds for r in done.values()) / len(done)
    seconds = sum(sum(took[n]) / len(took[n]) if took[n] else mean for _, n in left)
    return f"; {in_words(seconds)} left"


def _identity(cell: Cell) -> list[Any]:
    """Return what makes a cell another run than others."""
    return [
        cell.method,
        find_method(cell.method).settings.from_json(as_in_paper(cell.method) | cell.fixed).to_json(),
        cell.users,
        cell.part,
        cell.blind,
        cell.measures,
        cell.attacks,
        sorted(set(cell.settings) - set(cell.fixed)),
        cell.timed,
        cell.engine,
    ]


def _key(paper: Paper, source: Source, cell: Cell, seed: int) -> str:
    parts = [source.mark, source.users, __version__, paper.name, *_identity(cell), seed]
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:24]
