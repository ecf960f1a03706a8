"""The limits that releases are judged by, as options: `@has_limits` adds them to a command.

A command asks for them by a keyword-only parameter `limits: Limits`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from querycloak.cli import completion
from querycloak.cli.log_options import with_options
from querycloak.errors import UserError
from querycloak.evaluation.limits import LIMITS, Limits, check_tasks
from querycloak.tasks.task import TASKS

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["ForOption", "RerunOption", "has_limits", "parse_tasks"]

ForOption = Annotated[
    str,
    typer.Option(
        "--for",
        help=f"What the release is for, separated by commas: {', '.join(TASKS)}.",
        autocompletion=completion.tasks,
    ),
]
RerunOption = Annotated[
    bool,
    typer.Option(
        "--rerun/--no-rerun",
        help="Run the method again on parts of the log, as the statement says it was run: for the baseline of people "
        "held out, and for attacks that need further releases.",
    ),
]


def _limit(option: str, text: str, default: float) -> tuple[Any, float]:
    return Annotated[float, typer.Option(option, help=text)], default


PREFIX: Final = "limit_"
"""Parameters of a command share one space of names with the settings of methods: `epsilon` is one of those."""
LIMIT_OPTIONS: Final[dict[str, tuple[Any, Any]]] = {
    "link": _limit(
        "--max-risk", "Most that a release may add to the chance of linking a person to a published id.", LIMITS.link
    ),
    "claim": _limit(
        "--max-claim",
        "Most that it may add to the chance that a claim about a person's queries is right.",
        LIMITS.claim,
    ),
    "membership": _limit("--max-membership", "Most 2 AUC - 1 of telling who is in the log.", LIMITS.membership),
    "membership_at_1": _limit(
        "--max-membership-at-1", "Most true positives of the same at 1 % false positives.", LIMITS.membership_at_1
    ),
    "own_texts": _limit(
        "--max-own-texts", "Largest share of rows whose text one person alone asked.", LIMITS.own_texts
    ),
    "identifiers": _limit(
        "--max-identifiers", "Largest share of rows with an identifier, such as a phone number.", LIMITS.identifiers
    ),
    "epsilon": _limit("--max-epsilon", "Largest budget per person.", LIMITS.epsilon),
}
"""field of Limits → its option, and the default"""


def has_limits(command: Callable[..., Any]) -> Callable[..., Any]:
    """Replace the parameter `limits` of a command by the options on the command line that make it."""
    options = {PREFIX + name: option for name, option in LIMIT_OPTIONS.items()}

    def make(**taken: float) -> Limits:
        return Limits(**{name.removeprefix(PREFIX): value for name, value in taken.items()})

    return with_options(command, "limits", options, make)


def parse_tasks(text: str) -> tuple[str, ...]:
    """Read the tasks named, each once; a release that is for nothing is not judged.

    >>> parse_tasks("topics, popularity,topics")
    ('topics', 'popularity')
    """
    names = tuple(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))
    if not names:
        raise UserError(f"--for names no task: say what the release is for, of {', '.join(TASKS)}.")
    return check_tasks(names)
