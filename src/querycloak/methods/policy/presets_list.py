"""Presets: policies that are part of the package, by name; or a policy from a file."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import Final

from querycloak.errors import InputError, UnknownNameError
from querycloak.names import match_name

__all__ = ["PRESETS", "policy_text"]

PRESETS: Final = ("google-2024", "commission-2026-draft", "duckduckgo-2026", "aol-2006")
"""Names of presets; docs/policies.md tells where each comes from."""
LONGEST: Final = 1 << 20
"""Bytes of the longest file."""


def policy_text(source: str) -> tuple[str, str]:
    """Return the text of a policy, and what errors call it: a preset, a file, or the text itself, which has lines."""
    if "\n" in source:
        return source, "rules"
    path = Path(source)
    name = source if source in PRESETS or path.exists() else match_name(source, PRESETS) or source
    if name in PRESETS:
        preset = files("querycloak.methods.policy").joinpath("presets", f"{name}.toml")
        return preset.read_text("utf-8"), name
    if not path.suffix and not path.exists():
        problem = str(UnknownNameError.of("preset", source, PRESETS))
        raise UnknownNameError(f"{problem} Or name a file of rules, such as {source}.toml.")
    from querycloak.logs.source import guarded  # loads Polars

    with guarded(path), path.open("rb") as file:
        content = file.read(LONGEST + 1)
    if len(content) > LONGEST:
        raise InputError.at(path, f"expected a file of rules, at most {LONGEST:,} bytes")
    try:
        return content.decode("utf-8-sig").replace("\r\n", "\n"), str(path)
    except UnicodeDecodeError:
        raise InputError.at(path, "expected a file of rules in UTF-8") from None
