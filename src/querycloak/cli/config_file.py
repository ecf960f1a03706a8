"""The config file: options that need not be typed each time (docs/config.md, ADR 145).

.. code-block:: toml

    [defaults]               # for every command that has the option
    taxonomy = "topics"

    [anonymize]              # for one command; [ledger.show] for one of a group
    method = "sweep"

    [anonymize.sweep]        # for one method of that command
    min_query_users = 5

`querycloak.toml` in the current folder is used where it is; `--config FILE` names another, `--no-config` uses none. The
command line wins over the file, a method's table over its command's, that over `[defaults]`.

**What a file that was only found may not do.** Somebody else's folder may hold a `querycloak.toml`. Which options came
from it is always said, even with `--quiet`. An option that takes a protection away (`GUARDED`, or a limit looser than
the default) is refused there, and is taken only from a file that the command line names.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from querycloak.errors import InputError, UnknownNameError, UserError

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

__all__ = ["CONFIG", "Config", "Entry", "find_config"]

CONFIG: Final = "querycloak.toml"
DEFAULTS: Final = "defaults"
LONGEST: Final = 1 << 20
"""Bytes of the longest file."""
GUARDED: Final = {
    "as_in_paper": "publishes what the paper published, also where that exposes somebody",
    "yes": "goes on where a column does not look like what it was taken for",
    "seed": "makes the randomness of a release known to whoever knows the seed",
    "truth": "writes a file that undoes the release",
}
"""Options that take a protection away → what they do."""


@dataclass(frozen=True)
class Entry:
    """One value of the file, for one option."""

    key: str
    """as the file has it"""
    value: Any
    table: str
    """the table it is in; empty = none"""
    line: int | None

    @property
    def name(self) -> str:
        """The name of the option: `min-query-users` and `min_query_users` are one."""
        return self.key.replace("-", "_")


@dataclass(frozen=True)
class Config:
    """A config file that was read."""

    path: Path
    named: bool
    """whether the command line names it, or it was only found"""
    tables: Mapping[str, Any]
    text: str = field(repr=False)

    def refuse(self, entry: Entry, problem: str) -> InputError:
        """Return the error about one entry."""
        where = f"[{entry.table}] " if entry.table else ""
        return InputError.at(self.path, f"{where}{entry.key}: {problem}", entry.line)

    def entries(self, command: str, method: str = "") -> dict[str, Entry]:
        r"""Return what the file says for a command (`anonymize`, `ledger show`) and its method, by option.

        >>> text = '[defaults]\nquiet = true\n[anonymize]\nquiet = false\n[anonymize.sweep]\nkeep = "time"'
        >>> config = Config(Path("querycloak.toml"), True, tomllib.loads(text), text)
        >>> [(e.name, e.value, e.line) for e in config.entries("anonymize", "sweep").values()]
        [('quiet', False, 4), ('keep', 'time', 6)]
        """
        own = ".".join(command.split())
        found: dict[str, Entry] = {}
        for table in (DEFAULTS, own, f"{own}.{method}" if method else ""):
            for key, value in self._table(table).items():
                if not isinstance(value, dict) or key.replace("-", "_") == "columns":
                    entry = Entry(key, value, table, self._line(table, key))
                    found[entry.name] = entry
        return found

    def method_tables(self, command: str) -> dict[str, Entry]:
        """Return the tables below that of a command, by name."""
        inside = self._table(command).items()
        return {
            key: Entry(key, value, command, self._line(command, key))
            for key, value in inside
            if isinstance(value, dict) and key != "columns"
        }

    def check_tables(self, commands: Collection[str]) -> None:
        """Refuse a table that is for no command, and values outside of all tables."""
        tables = {DEFAULTS, *(name.split()[0] for name in commands)}
        for name, value in self.tables.items():
            entry = Entry(name, value, "", self._line("", name))
            if not isinstance(value, dict):
                raise self.refuse(entry, f"expected a table above it: [{DEFAULTS}], or that of a command")
            if name not in tables:
                raise self.refuse(entry, str(UnknownNameError.of("command", name, tables)).rstrip("."))
            self._check_group(name, value, commands)

    def _check_group(self, name: str, table: Mapping[str, Any], commands: Collection[str]) -> None:
        """Refuse options, and unknown commands, in the table of a group such as [ledger]."""
        inside = [command.split()[1] for command in commands if command.startswith(f"{name} ")]
        for key, value in table.items() if inside else ():
            entry = Entry(key, value, name, self._line(name, key))
            if not isinstance(value, dict) or key not in inside:
                raise self.refuse(entry, str(UnknownNameError.of(f"table of [{name}]", key, inside)).rstrip("."))

    def _table(self, dotted: str) -> Mapping[str, Any]:
        inside: Any = self.tables
        for part in dotted.split(".") if dotted else ["\0"]:
            inside = inside.get(part, {})
            if not isinstance(inside, dict):
                return {}
        return dict(inside)

    def _line(self, table: str, key: str) -> int | None:
        """Find the line of a key, or of the table of that name inside a table, as most files write them."""
        now, below = "", f"{table}.{key}" if table else key
        for number, line in enumerate(self.text.split("\n"), 1):
            if head := re.match(r"\s*\[\s*([^\]\[]+?)\s*\]", line):
                now = head[1].replace('"', "").replace(" ", "")
                if f"{now}.".startswith(f"{below}."):
                    return number
            elif now == table and re.match(rf'\s*"?{re.escape(key)}"?\s*[.=]', line):
                return number
        return None


def find_config(named: str | None, *, ignored: bool) -> Config | None:
    """Read the config file that the command line names, or the one in the current folder; None where there is none."""
    if ignored:
        if named is not None:
            raise UserError("--config names a file and --no-config ignores it: leave one out.")
        return None
    path = Path(CONFIG if named is None else named)
    if named is None and not path.is_file():
        return None
    try:
        with path.open("rb") as file:
            content = file.read(LONGEST + 1)
    except OSError as error:
        raise InputError.at(path, f"cannot be read: {(error.strerror or str(error)).lower()}") from None
    if len(content) > LONGEST:
        raise InputError.at(path, f"expected a config file, at most {LONGEST:,} bytes")
    try:
        text = content.decode("utf-8-sig").replace("\r\n", "\n")
        return Config(path, named is not None, tomllib.loads(text), text)
    except UnicodeDecodeError:
        raise InputError.at(path, "expected a config file in UTF-8") from None
    except tomllib.TOMLDecodeError as error:
        raise InputError.at(path, f"is no TOML: {str(error)[0].lower()}{str(error)[1:]}") from None
