"""Options generated from settings classes: field `min_query_users`, option `--min-query-users`, with help and check.

Which settings a command takes depends on the method that its arguments name. A command of this module first lets the
ordinary parser read its own options and skip what it does not know, which tells the method (`command`); then it adds
the options of that method's settings, and parses the arguments in full. Typer makes the options, as if each setting
were a parameter of a function, so that parsing, conversion, `--help` and errors are the same as for all other options.
"""

from __future__ import annotations

import inspect
from dataclasses import MISSING
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import typer
import typer.main

from querycloak.catalog import METHODS, STREAM_METHODS, describe_settings, method
from querycloak.cli import completion
from querycloak.cli.command import EXIT_CODES, Command, options_from, path_of
from querycloak.errors import UnknownNameError, UserError
from querycloak.names import match_name
from querycloak.settings import from_text as convert

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from typer import Context

    from querycloak.catalog import Method
    from querycloak.cli.config_file import Config, Entry
    from querycloak.settings import Settings

__all__ = [
    "GIVEN",
    "AuditCommand",
    "CompareCommand",
    "GenerateCommand",
    "MethodCommand",
    "StreamCommand",
    "convert",
    "describe_options",
    "given_settings",
    "owner_of_setting",
    "stream_method",
]

GIVEN = "querycloak.settings"
"""Where a command finds the settings given on the command line, in `context.meta`."""
GENERATED = "querycloak.options"
"""Where a command keeps the options generated for this run, in `context.meta`."""


def given_settings(context: Context) -> dict[str, Any]:
    """Return the settings that were given on the command line, by field name."""
    return dict(context.meta.get(GIVEN, {}))


def owner_of_setting(field: str) -> str:
    """Return the first method that has such a setting; empty where none has."""
    return next((m.name for m in (METHODS | STREAM_METHODS).values() if field in _fields(m.settings)), "")


def stream_method(name: str) -> Method:
    """Find a stream method; an unknown name is refused with the nearest."""
    meant = match_name(name, STREAM_METHODS)
    if meant is None:
        raise UnknownNameError.of("stream method", name, STREAM_METHODS)
    return STREAM_METHODS[meant]


class _SettingsCommand(Command):
    """A command whose options depend on what its arguments name."""

    chosen: str = ""
    """the method whose options were added, where it is one"""

    def generate_options(self, values: Mapping[str, Any], *, asks_help: bool) -> list[Any]:
        """Return the options to add, given the values of the command's own options; None = not given."""
        raise NotImplementedError

    def owner_of(self, field: str) -> str:
        """Say whose setting this is, where the command does not take it here; empty where it is nobody's."""
        owner = owner_of_setting(field)
        return f"is an option of {owner}" if owner else ""

    def method_of(self, ctx: Context) -> str:  # noqa: ARG002
        """Return the method whose table of the config file counts."""
        return self.chosen

    def get_params(self, ctx: Context) -> list[Any]:  # type: ignore[override]
        """Return the command's own options and the generated ones."""
        return [*super().get_params(ctx), *ctx.meta.get(GENERATED, ())]

    def prepare(self, ctx: Context, values: Mapping[str, Any], *, asks_help: bool) -> None:
        """Generate the options of the settings."""
        ctx.meta[GENERATED] = []
        try:
            made = self.generate_options(values, asks_help=asks_help or ctx.resilient_parsing)
        except UserError:
            if not ctx.resilient_parsing:  # the shell completes what is not finished yet
                raise
            made = []
        own = {flag for option in self.get_params(ctx) for flag in option.opts}
        ctx.meta[GENERATED] = [option for option in made if own.isdisjoint(option.opts)]

    def parse_all(self, ctx: Context, args: list[str]) -> list[str]:
        """Parse all options, and put the settings apart."""
        try:
            rest = super().parse_all(ctx, args)
        except Exception as error:
            # The parser's "no such option" has no public class; it alone lists possibilities.
            if hasattr(error, "possibilities") and (flag := getattr(error, "option_name", "")):
                raise self._no_such_option(ctx, flag) from None
            raise
        names = [option.name for option in ctx.meta[GENERATED]]
        found = {name: ctx.params.pop(name, None) for name in names}
        ctx.meta[GIVEN] = {name: value for name, value in found.items() if value is not None}
        return rest

    def problem_with(self, ctx: Context, entry: Entry) -> str:
        """Say whose option an entry of the config file is, where it is that of another method."""
        owner = owner_of_setting(entry.name)
        if not owner or not self.chosen:
            return super().problem_with(ctx, entry)
        place = f"; put it into a table [{path_of(ctx)}.{owner}]" if entry.table == path_of(ctx) else ""
        return f"is an option of {owner}, and the method is {self.chosen}{place}"

    def check_method_tables(self, ctx: Context, config: Config) -> None:
        """Refuse tables that are not named like a method."""
        for entry in config.method_tables(path_of(ctx)).values():
            if not self.chosen:
                super().check_method_tables(ctx, config)
            if entry.key not in METHODS | STREAM_METHODS:
                problem = UnknownNameError.of("method", entry.key, METHODS | STREAM_METHODS)
                raise config.refuse(entry, str(problem).rstrip("."))

    def _no_such_option(self, ctx: Context, flag: str) -> UserError:
        mine = sorted(option.opts[0] for option in ctx.meta[GENERATED])
        owner = self.owner_of(_field(flag))
        if owner:
            return UserError(f"{flag} {owner}" + (f"; {self.chosen} has: {', '.join(mine)}." if self.chosen else "."))
        known = [name for option in self.get_params(ctx) for name in (*option.opts, *option.secondary_opts)]
        return UnknownNameError.of(f"option of {ctx.info_name}", flag, [name for name in known if name[:2] == "--"])


class MethodCommand(_SettingsCommand):
    """A command with `--method NAME` that also takes the options of that method."""

    def generate_options(self, values: Mapping[str, Any], *, asks_help: bool) -> list[Any]:
        """Return the options of the method named; without one, refuse, or say in the help which there are."""
        name = values.get("method")
        self.epilog = EXIT_CODES
        self.chosen = ""
        if isinstance(name, str):
            found = method(name)
            self.chosen = found.name
            return _options_of(f"Options of {found.name}", describe_settings(found.settings))
        names = ", ".join(sorted(METHODS))
        if not asks_help:
            raise UserError(f"Choose a method with --method: {names}.")
        self.epilog = (
            f"Methods: {names}.\n\nTheir options: `querycloak anonymize --method NAME --help`.\n\n{EXIT_CODES}"
        )
        return []


class AuditCommand(_SettingsCommand):
    """A command whose argument names a method, and that also takes the options of that method."""

    def parse_args(self, ctx: Context, args: list[str]) -> list[str]:  # type: ignore[override]
        """Find the method: the argument may come after options, whose values only the method's settings tell apart."""
        known = next((word for word in args if match_name(word, METHODS | STREAM_METHODS)), None)
        first = args[0] if args and not args[0].startswith("-") else None
        self.chosen = known or first or ""
        return super().parse_args(ctx, args)

    def generate_options(self, values: Mapping[str, Any], *, asks_help: bool) -> list[Any]:  # noqa: ARG002
        """Return the options of the method named; without one, refuse, or say in the help which there are."""
        names = ", ".join(name for name, m in sorted(METHODS.items()) if "differential privacy" in m.guarantee)
        self.epilog = f"Methods: {names}.\n\nTheir options: `querycloak audit METHOD --help`.\n\n{EXIT_CODES}"
        if self.chosen:
            found = method(self.chosen)
            return _options_of(f"Options of {found.name}", describe_settings(found.settings))
        if not asks_help:
            raise UserError(f"Name a method to audit: {names}.")
        return []


class StreamCommand(_SettingsCommand):
    """The command that anonymizes a stream."""

    default: ClassVar = "self-adjusting"

    def generate_options(self, values: Mapping[str, Any], *, asks_help: bool) -> list[Any]:  # noqa: ARG002
        """Return the options of the stream method named, or of the default."""
        name = values.get("method")
        found = stream_method(name if isinstance(name, str) else self.default)
        self.chosen = found.name
        return _options_of(f"Options of {found.name}", describe_settings(found.settings))


class GenerateCommand(_SettingsCommand):
    """The command that generates a log."""

    def generate_options(self, values: Mapping[str, Any], *, asks_help: bool) -> list[Any]:  # noqa: ARG002
        """Return the options of the generator."""
        from querycloak.generator.settings import Generate

        return _options_of("Shape of the log", describe_settings(Generate))


class CompareCommand(_SettingsCommand):
    """A command in which every setting of the methods named is an option with several values, kept as text."""

    def owner_of(self, field: str) -> str:
        """Say whose setting it is, where that method is not compared."""
        owner = super().owner_of(field)
        return f"{owner}, which is not among --methods" if owner else ""

    def generate_options(self, values: Mapping[str, Any], *, asks_help: bool) -> list[Any]:  # noqa: ARG002
        """Return an option for each setting of the methods named, in the panel of its method."""
        named = values.get("methods")
        all_of_them = not isinstance(named, str) or named == "all"
        chosen = sorted(METHODS) if all_of_them else [method(name.strip()).name for name in str(named).split(",")]
        takes: dict[str, list[str]] = {}  # field → methods
        described: dict[str, dict[str, Any]] = {}
        for name in dict.fromkeys(chosen):
            for setting in describe_settings(method(name).settings):
                takes.setdefault(setting["name"], []).append(name)
                described.setdefault(setting["name"], setting)
        panels: dict[str, list[dict[str, Any]]] = {}
        for field, methods in takes.items():
            title = f"Settings of {methods[0]}" if len(methods) == 1 else "Settings of several methods"
            panels.setdefault(title, []).append(described[field])
        return [option for title, fields in panels.items() for option in _options_of(title, fields, several=True)]


def _options_of(title: str, settings: Iterable[Mapping[str, Any]], *, several: bool = False) -> list[Any]:
    """Return an option for each setting described, shown in a panel; with `several`, of values separated by commas."""
    made = partial(inspect.Parameter, kind=inspect.Parameter.KEYWORD_ONLY, default=None)
    return options_from([made(s["name"], annotation=_annotation(s, title, several)) for s in settings])


def _annotation(setting: Mapping[str, Any], title: str, several: bool) -> Any:
    """Return the annotation from which Typer makes the option; its value is None where it is not given."""
    flag, kind = _flag(setting["name"]), setting["type"]
    option = partial(
        typer.Option,
        help=f"{setting['help']} ({_default(setting)})",
        rich_help_panel=title,
        show_default=False,
    )
    if several:
        return Annotated[str | None, option(flag, metavar=f"{_metavar(setting)},…")]
    if kind is bool:
        return Annotated[bool | None, option(f"{flag}/--no-{flag[2:]}")]

    def read(text: str) -> Any:
        return convert(text, kind, flag)

    found = completion.choices(setting["choices"]) if setting["choices"] else None
    return Annotated[Any, option(flag, parser=read, metavar=_metavar(setting), autocompletion=found)]


def describe_options(settings: type[Settings]) -> list[str]:
    """Describe the options of a settings class, one line each."""
    lines = []
    for s in describe_settings(settings):
        flag = _flag(s["name"])
        flag += f" / --no-{flag[2:]}" if s["type"] is bool else f" {_metavar(s)}"
        lines.append(f"`{flag}` {s['help']} ({_default(s)})")
    return lines


def _metavar(setting: Mapping[str, Any]) -> str:
    if setting["type"] is bool:
        return "yes|no"
    return "|".join(setting["choices"]) if setting["choices"] else str(setting["type"].__name__).upper()


def _default(setting: Mapping[str, Any]) -> str:
    value = setting["default"]
    if setting["shown"]:
        return f"default: {setting['shown']}"
    if value is MISSING:
        return "required"
    if value is None or value == "":
        return "default: none"
    return f"default: { ({True: 'yes', False: 'no'}[value] if isinstance(value, bool) else value) }"


def _flag(field: str) -> str:
    return "--" + field.replace("_", "-")


def _field(flag: str) -> str:
    return flag.removeprefix("--").removeprefix("no-").replace("-", "_")


def _fields(settings: type[Settings]) -> set[str]:
    return {s["name"] for s in describe_settings(settings)}
