"""Options made from a settings class: field `min_query_users`, option `--min-query-users`, with its help and check."""

from __future__ import annotations

from dataclasses import MISSING
from typing import TYPE_CHECKING, Any

from typer.core import TyperCommand

from querycloak.catalog import METHODS, STREAM_METHODS, describe_settings, method
from querycloak.errors import ParameterError, UnknownNameError, UserError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from typer import Context

    from querycloak.settings import Settings

__all__ = [
    "GIVEN",
    "CompareCommand",
    "GenerateCommand",
    "MethodCommand",
    "StreamCommand",
    "convert",
    "describe_options",
    "given_settings",
]

GIVEN = "querycloak.settings"
"""Where a command finds the settings given on the command line, in `context.meta`."""


def given_settings(context: Context) -> dict[str, Any]:
    """Return the settings that were given on the command line, by field name."""
    return dict(context.meta.get(GIVEN, {}))


class _SettingsCommand(TyperCommand):
    """A command that takes the options of a settings class next to its own, and shows them with `--help`."""

    def settings_for(self, args: Sequence[str]) -> tuple[str, type[Settings]] | None:
        """Return the title and the settings class that these arguments ask for; None where they name none."""
        raise NotImplementedError

    def parse_args(self, ctx: Context, args: list[str]) -> list[str]:  # type: ignore[override]
        """Take the settings out, and leave the rest to the ordinary parser."""
        chosen = self.settings_for(args)
        if chosen is not None:
            title, settings = chosen
            ctx.meta[GIVEN], args = _take(settings, args)
            lines = "\n\n".join(describe_options(settings))
            self.epilog = f"**{title}**\n\n{lines}"
        return super().parse_args(ctx, args)


class MethodCommand(_SettingsCommand):
    """A command with `--method NAME` that also takes the options of that method."""

    def settings_for(self, args: Sequence[str]) -> tuple[str, type[Settings]] | None:
        """Look for `--method`, and refuse an option of another method with a word on whose it is."""
        name = _value_of(args, ("--method", "-m"))
        if name is not None:
            found = method(name)
            _refuse_options_of_others(found.name, found.settings, args, _own_options(self))
            return f"Options of {found.name}", found.settings
        if args and not {"-h", "--help"} & set(args):
            raise UserError(f"Choose a method with --method: {', '.join(sorted(METHODS))}.")
        names = ", ".join(sorted(METHODS))
        self.epilog = f"Methods: {names}.\n\nTheir options: `querycloak anonymize --method NAME --help`."
        return None


class StreamCommand(_SettingsCommand):
    """The command that anonymizes a stream."""

    def settings_for(self, args: Sequence[str]) -> tuple[str, type[Settings]]:
        """Return the settings of the stream method named, or of the default."""
        name = _value_of(args, ("--method", "-m")) or "self-adjusting"
        if name not in STREAM_METHODS:
            raise UnknownNameError.of("stream method", name, STREAM_METHODS)
        _refuse_options_of_others(name, STREAM_METHODS[name].settings, args, _own_options(self))
        return f"Options of {name}", STREAM_METHODS[name].settings


class GenerateCommand(_SettingsCommand):
    """The command that generates a log."""

    def settings_for(self, args: Sequence[str]) -> tuple[str, type[Settings]]:  # noqa: ARG002
        """Return the settings of the generator."""
        from querycloak.generator.settings import Generate

        return "Shape of the log", Generate


class CompareCommand(TyperCommand):
    """A command in which every setting of a method is an option with several values, kept as text."""

    def parse_args(self, ctx: Context, args: list[str]) -> list[str]:  # type: ignore[override]
        """Take out the options that are settings of any of the methods named."""
        named = _value_of(args, ("--methods",)) or "all"
        chosen = METHODS if named == "all" else [method(name.strip()).name for name in named.split(",")]
        flags = {_flag(s["name"]) for name in chosen for s in describe_settings(method(name).settings)}
        own = {flag for option in self.params for flag in option.opts}
        flags -= own
        _refuse_options_of_unchosen(flags | own, args)
        given: dict[str, str] = {}
        rest: list[str] = []
        words = iter(args)
        for word in words:
            flag, equals, value = word.partition("=")
            if flag not in flags:
                rest.append(word)
                continue
            values = value if equals else next(words, None)
            if values is None:
                raise UserError(f"{flag} needs values, separated by commas.")
            given[_field(flag)] = values
        ctx.meta[GIVEN] = given
        return super().parse_args(ctx, rest)


def describe_options(settings: type[Settings]) -> list[str]:
    """Describe the options of a settings class, one line each."""
    lines = []
    for s in describe_settings(settings):
        flag = _flag(s["name"])
        if s["type"] is bool:
            flag += f" / --no-{flag[2:]}"
        else:
            flag += " " + ("|".join(s["choices"]) if s["choices"] else s["type"].__name__.upper())
        lines.append(f"`{flag}` {s['help']} ({_default(s['default'])})")
    return lines


def _default(value: object) -> str:
    if value is MISSING:
        return "required"
    if value is None or value == "":
        return "default: none"
    return f"default: { ({True: 'yes', False: 'no'}[value] if isinstance(value, bool) else value) }"


def _flag(field: str) -> str:
    return "--" + field.replace("_", "-")


def _field(flag: str) -> str:
    return flag.removeprefix("--").replace("-", "_")


def _take(settings: type[Settings], args: Sequence[str]) -> tuple[dict[str, Any], list[str]]:
    """Split the arguments into settings and the rest."""
    kinds = {_flag(s["name"]): s["type"] for s in describe_settings(settings)}
    given: dict[str, Any] = {}
    rest: list[str] = []
    words = iter(args)
    for word in words:
        flag, equals, value = word.partition("=")
        if flag in kinds and kinds[flag] is bool and not equals:
            given[_field(flag)] = True
        elif flag in kinds:
            text = value if equals else next(words, None)
            if text is None:
                raise UserError(f"{flag} needs a value.")
            given[_field(flag)] = convert(text, kinds[flag], flag)
        elif flag.startswith("--no-") and kinds.get("--" + flag[5:]) is bool:
            given[_field("--" + flag[5:])] = False
        else:
            rest.append(word)
    return given, rest


def convert(text: str, kind: type, flag: str) -> Any:
    """Read a value given as text."""
    try:
        if kind is bool:
            return {"true": True, "yes": True, "false": False, "no": False}[text.lower()]
        return kind(text)
    except (ValueError, KeyError):
        words = {int: "an integer", float: "a number", bool: "yes or no"}.get(kind, f"of type {kind.__name__}")
        raise ParameterError.of(flag, words, text) from None


def _refuse_options_of_others(name: str, settings: type[Settings], args: Sequence[str], own: set[str]) -> None:
    """Say whose option it is, where one belongs to another method; `own` are options of the command itself.

    Only an option of neither loads the other methods, which takes most of a second.
    """
    mine = {s["name"] for s in describe_settings(settings)}
    flags = {_field(w.partition("=")[0]) for w in args if w.startswith("--")} - mine - own
    for other in (METHODS | STREAM_METHODS).values() if flags else ():
        theirs = flags & {s["name"] for s in describe_settings(other.settings)}
        if theirs:
            there_are = ", ".join(_flag(field) for field in sorted(mine)) or "none"
            stray = _flag(min(theirs))
            raise UserError(f"{stray} is an option of {other.name}; {name} has: {there_are}.")


def _own_options(command: TyperCommand) -> set[str]:
    return {_field(flag) for option in command.params for flag in option.opts}


def _refuse_options_of_unchosen(known: set[str], args: Sequence[str]) -> None:
    """Say whose option it is, where one belongs to a method that is not compared."""
    stray = [flag for word in args if (flag := word.partition("=")[0]).startswith("--") and flag not in known]
    for flag in stray:
        for other in (METHODS | STREAM_METHODS).values():
            if _field(flag) in {s["name"] for s in describe_settings(other.settings)}:
                raise UserError(f"{flag} is an option of {other.name}, which is not among --methods.")


def _value_of(args: Sequence[str], flags: tuple[str, ...]) -> str | None:
    for i, arg in enumerate(args):
        flag, equals, value = arg.partition("=")
        if flag in flags:
            return value if equals else (args[i + 1] if i + 1 < len(args) else None)
    return None
