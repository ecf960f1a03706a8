"""One cell run on the log of one draw: all scores by name, and its file."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from querycloak.catalog import method as find_method
from querycloak.errors import UserError
from querycloak.knowledge.directory import SiteDirectory
from querycloak.randomness import Randomness

if TYPE_CHECKING:
    from querycloak.evaluation.reproduce.paper import Cell
    from querycloak.evaluation.workbench import Workbench

__all__ = ["CellResult", "as_in_paper", "cell_from_json", "cell_to_json", "run_cell"]


@dataclass(frozen=True)
class CellResult:
    """What a cell found; where it could not be run, `error` says why."""

    seconds: float
    """of all of it"""
    values: dict[str, float] = field(default_factory=dict)
    """scores and their details by name: `kept`, `kept: rows per user`; `seconds` is the time of the method alone"""
    error: str | None = None


def as_in_paper(method: str) -> dict[str, Any]:
    """Return what makes a method the paper's: its setting `as_in_paper`, where it has one."""
    return {"as_in_paper": True} if any(f.name == "as_in_paper" for f in fields(find_method(method).settings)) else {}


def run_cell(bench: Workbench, cell: Cell, seed: int, *, warm: bool) -> CellResult:
    """Run a cell. A method that refuses the log makes a result that says why."""
    started = time.perf_counter()
    lacking = _lacking(bench, cell)
    if lacking is not None:
        return CellResult(0.0, error=lacking)
    try:
        values = _scores(bench, cell, seed, warm=warm)
    except UserError as error:
        return CellResult(time.perf_counter() - started, error=str(error))
    return CellResult(time.perf_counter() - started, values)


def _lacking(bench: Workbench, cell: Cell) -> str | None:
    log = bench.log
    if cell.clicks and (log.url is None or not (log.url >= 0).any()):
        return "the log has no clicks"
    if cell.directory and bench.directory is None:
        return "there is no directory of sites (--directory)"
    return None


def _scores(bench: Workbench, cell: Cell, seed: int, *, warm: bool) -> dict[str, float]:
    maker = _blind(bench) if cell.blind else bench
    computed = {name: value(bench) for name, value in cell.settings.items() if callable(value)}
    settings = as_in_paper(cell.method) | cell.fixed | computed
    for need in find_method(cell.method).needs:
        getattr(maker, need, None)  # made before the clock starts: the paper's times do not count mapping
    if cell.timed and not warm:
        maker.anonymize(cell.method, seed=seed, **settings)
    started = time.perf_counter()
    release = maker.anonymize(cell.method, seed=seed, **settings)
    values = {"seconds": time.perf_counter() - started, "rows": float(len(bench.log))}
    values |= {"users": float(len(np.unique(bench.log.user))), "published users": float(len(release.log.users))}
    values |= {f"statement: {name}": value for name, value in release.statement.figures.items()}
    if cell.measures:
        for score in bench.measure(release, cell.measures, seed):
            values[score.measure] = score.value
            values |= {f"{score.measure}: {name}": value for name, value in score.details.items()}
            values |= {f"{score.measure}: at {number}": value for number, value in score.curve.items()}
    if cell.attacks:
        watch = _Stopwatch()
        attacked = replace(bench.part(bench.log), progress=watch)
        for found in attacked.attack(release, cell.attacks, seed, rerun=False):
            values[found.attack] = found.rate
            values |= {f"{found.attack}: {name}": value for name, value in found.details.items()}
        values |= watch.laps
    if cell.engine:
        engine = bench.stream_engines(cell.method, settings["k"], settings["depth"], random=Randomness(seed))
        engine.push_codes(bench.log.user, bench.paths("/").nodes(engine.tree))
        values["engine bytes"] = float(engine.memory)
    return values


def _blind(bench: Workbench) -> Workbench:
    """Return a bench of the same log whose sites are all in one category."""
    assert bench.directory is not None
    sites = bench.directory.sites["site"]
    return replace(bench, directory=SiteDirectory.of(sites, ["Top/All"] * len(sites)))


class _Stopwatch:
    """Hears when an attack finishes one of its attackers: `attack: stream linkage, seconds of 2`."""

    def __init__(self) -> None:
        self.laps: dict[str, float] = {}
        self._step = ""
        self._number = 0
        self._at = 0.0

    def start(self, step: str, total: int | None = None) -> None:  # noqa: ARG002 - as all progress is called
        self._step, self._number, self._at = step, 0, time.perf_counter()

    def advance(self, units: int = 1) -> None:  # noqa: ARG002
        now = time.perf_counter()
        self._number += 1
        self.laps[f"{self._step}, seconds of {self._number}"] = now - self._at
        self._at = now

    def note(self, text: str) -> None:
        pass


def cell_to_json(result: CellResult) -> str:
    """Return the text of a cell's file."""
    return msgspec.json.encode(result).decode()


def cell_from_json(text: bytes) -> CellResult | None:
    """Read a cell's file back; None where it is not one."""
    try:
        return msgspec.json.decode(text, type=CellResult)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None
