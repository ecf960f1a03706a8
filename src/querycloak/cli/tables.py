"""Results as plain tables, or as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from querycloak.attacks.result import AttackResult
    from querycloak.measures.score import Score

__all__ = ["attack_rows", "measure_rows", "print_json", "print_table"]


def attack_rows(results: Sequence[AttackResult]) -> list[list[str]]:
    """Return one line per attack."""
    return [
        [
            r.attack,
            f"{r.rate:.2%}",
            f"{r.low:.2%} to {r.high:.2%}",
            f"{r.baseline.rate:.2%}",
            "none" if r.bound is None else f"{r.bound:.2%}",
            f"{r.targets:,}",
        ]
        for r in results
    ]


def measure_rows(scores: Sequence[Score]) -> list[list[str]]:
    """Return one line per measure."""
    return [[s.measure, f"{s.value:.4f}", s.better] for s in scores]


def print_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print columns: the first to the left, the others to the right."""
    widths = [max(len(row[i]) for row in [head, *rows]) for i in range(len(head))]
    for row in [head, *rows]:
        cells = [row[0].ljust(widths[0]), *(cell.rjust(w) for cell, w in zip(row[1:], widths[1:], strict=True))]
        typer.echo("  ".join(cells).rstrip())


def print_json(results: Sequence[Any]) -> None:
    """Print a list of records as JSON, with stable keys."""
    import msgspec

    plain = msgspec.json.encode(list(results), enc_hook=lambda value: value.item())  # NumPy's numbers
    typer.echo(msgspec.json.format(plain, indent=2).decode())
