"""What the settings of all differentially private methods share: a ledger, and numbers that bound something.

A class of settings inherits from `DpSettings` and has, last, the two fields of the ledger:

    ledger: str | None = ledger_setting()
    ledger_log: str | None = ledger_log_setting()
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePath
from typing import Any, Final

from querycloak.errors import ParameterError
from querycloak.releases.budget import MOST_EPSILON
from querycloak.settings import Settings, setting

__all__ = ["LEAST_DELTA", "MOST_PER_USER", "DpSettings", "ledger_log_setting", "ledger_setting"]

MOST_PER_USER: Final = 10_000
"""Items of one user that any bound may allow: nobody asks as much, and this is known without looking at a log. A bound
above the longest log is told, never refused: a refusal would make every release tell that somebody has as many."""
LEAST_DELTA: Final = 1e-100
"""Parts of a smaller delta would be rounded to nothing."""


def ledger_setting() -> str | None:
    """Return the field `ledger`."""
    return setting(
        None, "file that keeps what each person has spent over all releases, made by `querycloak ledger make`; whoever "
        "cannot pay for this one has no part in it"
    )  # fmt: skip


def ledger_log_setting() -> str | None:
    """Return the field `ledger_log`."""
    return setting(None, "name of the log, as its ledger knows it; needed with --ledger")


@dataclass(frozen=True)
class DpSettings(Settings):
    """Settings of a differentially private method."""

    def __post_init__(self) -> None:
        super().__post_init__()
        name, epsilon = type(self).__name__, getattr(self, "epsilon", 1.0)
        if epsilon >= MOST_EPSILON:
            raise ParameterError.of(f"{name}.epsilon", f"a number < {MOST_EPSILON:g}, or it bounds nothing", epsilon)
        if getattr(self, "ledger", None) is not None and not (getattr(self, "ledger_log", None) or "").strip():
            raise ParameterError(
                "A ledger needs --ledger-log, the name of the log as the ledger knows it: ids of another log would be "
                "other people."
            )

    @property
    def has_truth(self) -> bool:
        """Published ids stand for people of the log; a table of counts has none."""
        return True

    @property
    def adds_up(self) -> str:
        """What further releases cost, for the statement."""
        ledger = getattr(self, "ledger", None)
        if ledger is None:
            return "further releases of the same users add up: keep a ledger (--ledger)"
        return f"releases that are not in the ledger {PurePath(ledger).name} add up to those that are"

    def public(self) -> dict[str, Any]:
        """Return the settings for the statement; of files only the name, since their paths are nobody's business."""
        plain = self.to_json()
        files = {n: PurePath(plain[n]).name for n in ("topics", "ledger") if plain.get(n) is not None}
        return {**plain, **files}
