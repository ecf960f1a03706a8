"""Settings of a method as they come from a form: texts, turned into values and checked by the method's own class.

Three settings may name a file. In the studio a file is one below its folders (`folders`), and what would be written
outside the work folder is refused.
"""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any, Final

from querycloak.catalog import method as find_method
from querycloak.errors import ParameterError, UnknownNameError
from querycloak.settings import from_text, setting_type

if TYPE_CHECKING:
    from collections.abc import Mapping

    from querycloak.catalog import Method
    from querycloak.studio.folders import Folders

__all__ = ["check_settings", "run_name"]

WRITTEN: Final = ("ledger", "ledger_log")


def check_settings(method: str, texts: Mapping[str, str], folders: Folders) -> tuple[Method, dict[str, Any]]:
    """Return the method, and the settings that were given as values; UserError where one of them makes no sense."""
    entry = find_method(method)
    known = [field.name for field in fields(entry.settings)]
    given: dict[str, Any] = {name: str(value) for name, value in entry.given.items()}
    for name, text in texts.items():
        if name not in known:
            raise UnknownNameError.of(f"setting of {entry.name}", name, known)
        if text.strip():
            given[name] = text.strip()
    for name, text in given.items():
        given[name] = from_text(text, setting_type(entry.settings, name), f"{entry.settings.__name__}.{name}")
        if name in WRITTEN:
            raise ParameterError(
                "The studio keeps no ledger, since it would write outside its work folder: export the run as a command "
                "line, and add --ledger there."
            )
    for name, names in _files().items():
        if name in given and given[name] not in names:
            if name == "rules" and "\n" in given[name]:  # the rules themselves
                continue
            given[name] = str(folders.find(given[name])[0])
    entry.settings.from_json(given)
    return entry, given


def run_name(method: str, settings: Mapping[str, Any]) -> str:
    """Return what a run is called: its method, and the settings that were given, files by their names.

    >>> run_name("sweep", {"min_query_users": 5, "kinds": "none"})
    'sweep min_query_users=5 kinds=none'
    """
    shown = {name: str(value) for name, value in settings.items()}
    shown |= {n: v.rsplit("/", 1)[-1] if "\n" not in v else "own" for n, v in shown.items() if "/" in v or "\n" in v}
    return " ".join([method, *(f"{name}={value[:40]}" for name, value in shown.items())])


def _files() -> dict[str, tuple[str, ...]]:
    """Return the settings that may name a file, and the names that are none."""
    from querycloak.knowledge.topics import PAPER, PAPER_FINE
    from querycloak.methods.policy.presets_list import PRESETS

    return {"rules": PRESETS, "topics": (PAPER, PAPER_FINE)}
