"""What several subcommands ask of their arguments."""

from __future__ import annotations

from typing import TYPE_CHECKING

from querycloak.errors import OutputError, UserError

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["check_outputs", "parse_columns"]


def parse_columns(text: str | None) -> dict[str, str] | None:
    """Read `user=uid,query=q` as {role: column}."""
    if text is None:
        return None
    out: dict[str, str] = {}
    for part in text.split(","):
        role, equals, column = part.partition("=")
        if not equals or not role.strip() or not column.strip():
            raise UserError(f"--columns takes role=column pairs, such as user=uid,query=q; {part!r} is not one.")
        if role.strip() in out:
            raise UserError(f"--columns names the role {role.strip()!r} twice.")
        out[role.strip()] = column.strip()
    return out


def check_outputs(log: Path, *outputs: Path | None) -> None:
    """Refuse, before any work is done, an output that cannot be written or that would overwrite the log."""
    from querycloak.io import check_output

    for output in outputs:
        if output is not None:
            check_output(output)
            if output.exists() and log.exists() and output.samefile(log):
                raise OutputError(f"{output} is the input itself: choose another output.")
