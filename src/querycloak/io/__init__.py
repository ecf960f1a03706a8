"""Reading and writing logs: the format is recognised by content, and what is written has the form of what was read.

Nothing heavy is loaded until a function is asked for, so that the command line answers at once.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from querycloak.io.atomic import check_output, write_text
    from querycloak.io.reader import read_log
    from querycloak.io.release import read_release, read_statement, statement_path, write_release
    from querycloak.io.truth import read_truth, write_truth
    from querycloak.io.writer import write_log

__all__ = [
    "check_output",
    "read_log",
    "read_release",
    "read_statement",
    "read_truth",
    "statement_path",
    "write_log",
    "write_release",
    "write_text",
    "write_truth",
]

_PLACES = {
    "check_output": "atomic",
    "read_log": "reader",
    "read_release": "release",
    "read_statement": "release",
    "read_truth": "truth",
    "statement_path": "release",
    "write_log": "writer",
    "write_release": "release",
    "write_text": "atomic",
    "write_truth": "truth",
}


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_PLACES[name]}"), name)
