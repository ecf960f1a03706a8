"""Writes docs/fidelity.md from the tables in tools/fidelity: `python tools/build_fidelity.py`.

A row of a table names a place in a paper, the functions that have it, a verdict and tests. Functions are named
`file.py:name`, below src/querycloak, and tests `tests/file.py::name`; the numbers of their lines are filled in here. A
name that is no longer there is refused, and so is a row that says less than its verdict needs.
"""

from __future__ import annotations

import ast
import tomllib
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
SOURCE = "src/querycloak"
TABLES = ROOT / "tools" / "fidelity"
PAGE = ROOT / "docs" / "fidelity.md"
ORDER = ("batet-2013", "milani-fard-2010", "sanchez-2018", "pamies-2023", "erola-castella")
KEYS = {"part", "paper", "code", "verdict", "why", "tests"}
NEEDS = {"faithful": ("code", "tests"), "departs": ("code", "tests", "why"), "missing": ("why",)}
"""what a row must say, by verdict"""


@dataclass(frozen=True)
class Row:
    """One line of a table."""

    part: str
    """section of the paper; a heading where it changes"""
    paper: str
    """what the paper has there, in our words"""
    verdict: str
    code: tuple[str, ...] = ()
    why: str = ""
    tests: tuple[str, ...] = ()


@dataclass(frozen=True)
class Table:
    """All rows of one paper."""

    name: str
    title: str
    intro: str
    rows: tuple[Row, ...]


def read_table(path: Path) -> Table:
    """Read the rows of one paper; a row that says too little is refused."""
    given = tomllib.loads(path.read_text(encoding="utf-8"))
    rows = []
    for number, row in enumerate(given["row"], 1):
        _check(row, f"{path.name}, row {number}")
        rows.append(Row(**(row | {key: tuple(row.get(key, ())) for key in ("code", "tests")})))
    return Table(path.stem, given["title"], given["intro"], tuple(rows))


def tables() -> list[Table]:
    """Read all papers, in the order of the page."""
    return [read_table(TABLES / f"{name}.toml") for name in ORDER]


def line_of(file: str, name: str) -> int:
    """Return the line on which a function, class, method or constant of a file begins."""
    body: list[ast.stmt] = _parsed(ROOT / file).body
    line = 0
    for part in name.split("."):
        found = next((node for node in body if part in _names(node)), None)
        if found is None:
            raise LookupError(f"{file} has no {name}: tools/fidelity names it.")
        line = found.lineno
        body = found.body if isinstance(found, ast.ClassDef) else []
    return line


def page() -> str:
    """Return the whole page."""
    found = tables()
    parts = [_head(found)]
    parts += [_section(table) for table in found]
    return "\n\n".join(parts) + "\n"


def _check(row: dict[str, Any], where: str) -> None:
    unknown = set(row) - KEYS
    if unknown:
        raise ValueError(f"{where}: there is no key {', '.join(sorted(unknown))}; expected {', '.join(sorted(KEYS))}.")
    verdict = row.get("verdict")
    if verdict not in NEEDS:
        raise ValueError(f"{where}: verdict must be one of {', '.join(NEEDS)}, got {verdict!r}.")
    lacks = [key for key in ("part", "paper", *NEEDS[verdict]) if not row.get(key)]
    if lacks:
        raise ValueError(f"{where}: a row that is {verdict} says {', '.join(lacks)} as well.")


def _names(node: ast.stmt) -> list[str]:
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return [node.name]
    if isinstance(node, ast.AnnAssign):
        return [node.target.id] if isinstance(node.target, ast.Name) else []
    if isinstance(node, ast.Assign):
        return [target.id for target in node.targets if isinstance(target, ast.Name)]
    return []


@lru_cache
def _parsed(path: Path) -> ast.Module:
    if not path.is_file():
        raise LookupError(f"{path.relative_to(ROOT)} is not there: tools/fidelity names it.")
    return ast.parse(path.read_text(encoding="utf-8"))


def _head(found: list[Table]) -> str:
    lines = [
        (TABLES / "head.md").read_text(encoding="utf-8").strip(),
        "",
        "| paper | rows | faithful | departs | missing |",
        "|---|---|---|---|---|",
    ]
    for table in found:
        count = Counter(row.verdict for row in table.rows)
        figures = " | ".join(str(count[verdict]) for verdict in NEEDS)
        lines.append(f"| [{table.title}](#{table.name}) | {len(table.rows)} | {figures} |")
    return "\n".join(lines)


def _section(table: Table) -> str:
    lines = [f'<a id="{table.name}"></a>', "", f"## {table.title}", "", table.intro.strip()]
    part = ""
    for row in table.rows:
        if row.part != part:
            part = row.part
            lines += ["", f"### {part}", "", "| in the paper | in the code | verdict | test |", "|---|---|---|---|"]
        lines.append(f"| {_cell(row.paper)} | {_code(row)} | {_verdict(row)} | {_tests(row)} |")
    return "\n".join(lines)


def _verdict(row: Row) -> str:
    return f"**{row.verdict}**" + (f": {_cell(row.why)}" if row.why else "")


def _code(row: Row) -> str:
    links = []
    for place in row.code:
        file, _, name = place.partition(":")
        path = f"{SOURCE}/{file}"
        line = line_of(path, name)
        links.append(f"[`{file}:{line}`](../{path}#L{line}) `{name}`")
    return "<br>".join(links)


def _tests(row: Row) -> str:
    links = []
    for place in row.tests:
        file, _, name = place.partition("::")
        links.append(f"[`{file.removeprefix('tests/')}::{name}`](../{file}#L{line_of(file, name)})")
    return "<br>".join(links)


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
