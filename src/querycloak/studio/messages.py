"""What the studio and its child say to each other: JSON, one message per line, decoded into these types and no others.

.. code-block:: text

    studio → child    one of the orders; the next one once the child has answered
    child → studio    ready, then for each order: step, count and note as it goes, and one of the answers
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

from querycloak.evaluation.limits import Limits  # noqa: TC001 - msgspec reads the types of fields
from querycloak.studio.model import CheckSummary, Exposed, Look, Reading  # noqa: TC001

__all__ = [
    "ANSWERS",
    "ORDERS",
    "Answer",
    "Checked",
    "Count",
    "ExposeOrder",
    "Failed",
    "GenerateOrder",
    "Generated",
    "Log",
    "LookOrder",
    "Looked",
    "Note",
    "Order",
    "Ready",
    "Result",
    "RunOrder",
    "Step",
    "WasExposed",
    "encode",
]


class Log(msgspec.Struct, frozen=True):
    """A log: its path, and what it was when it was opened, so that a changed one is noticed."""

    path: str
    size: int
    modified: float


class LookOrder(msgspec.Struct, tag="look", frozen=True):
    """Look at the columns of a log."""

    log: Log


class GenerateOrder(msgspec.Struct, tag="generate", frozen=True):
    """Generate a log; its directory goes next to it."""

    path: str
    users: int
    queries: int
    seed: int | None


class ExposeOrder(msgspec.Struct, tag="expose", frozen=True):
    """Read a log, and count what it exposes as it is."""

    log: Log
    reading: Reading


class RunOrder(msgspec.Struct, tag="run", frozen=True):
    """Make, write, verify and judge a release."""

    log: Log
    reading: Reading
    method: str
    settings: dict[str, Any]
    tasks: tuple[str, ...]
    limits: Limits
    folder: str
    """of the run: the output is made in `out.part` there, and renamed to `out`"""
    directory: str
    resolver: str
    """paths; empty = none"""
    command: str
    """what the statement says about how it was made"""
    name: str
    """of the run, for the zip"""


class Ready(msgspec.Struct, tag="ready", frozen=True):
    """The child takes orders."""


class Step(msgspec.Struct, tag="step", frozen=True):
    """A step begins."""

    text: str
    total: int | None


class Count(msgspec.Struct, tag="count", frozen=True):
    """So many units of the step are done."""

    done: int


class Note(msgspec.Struct, tag="note", frozen=True):
    """One thing that the user should know."""

    text: str


class Looked(msgspec.Struct, tag="looked", frozen=True):
    """Answer to LookOrder."""

    look: Look


class Generated(msgspec.Struct, tag="generated", frozen=True):
    """Answer to GenerateOrder."""

    directory: str
    """name of the file with its sites"""


class WasExposed(msgspec.Struct, tag="exposed", frozen=True):
    """Answer to ExposeOrder."""

    exposed: Exposed


class Checked(msgspec.Struct, tag="checked", frozen=True):
    """Answer to RunOrder."""

    check: CheckSummary


class Failed(msgspec.Struct, tag="failed", frozen=True):
    """Answer to an order that failed: one sentence, without a query or a user id."""

    error: str


Order = LookOrder | GenerateOrder | ExposeOrder | RunOrder
Result = Looked | Generated | WasExposed | Checked
Answer = Ready | Step | Count | Note | Failed | Result
ORDERS: Final = msgspec.json.Decoder(Order)
ANSWERS: Final = msgspec.json.Decoder(Answer)


def encode(message: msgspec.Struct) -> bytes:
    """Return a message as one line."""
    return msgspec.json.encode(message) + b"\n"
