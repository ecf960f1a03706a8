"""Options of a method on the command line, made from its settings class: `min_query_users`, `--min-query-users`."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from typer.core import TyperCommand

from querycloak.catalog import METHODS, describe_settings, method
from querycloak.errors import ParameterError, UserError

if TYPE_CHECKING:
    import typer

    from querycloak.catalog import Method

__all__ = ["SETTINGS_KEY", "MethodCommand", "convert", "settings_lines"]

SETTINGS_KEY = "querycloak.settings"
"""Where the command finds the settings given on the command line, in `context.meta`."""


class MethodCommand(TyperCommand):
    """A command with `--method NAME` that also takes the options of that method, and shows them with `--help`."""

    def parse_args(self, ctx: typer.Context, args: list[str]) -> list[str]:  # type: ignore[override]
        """Take the method's own options out, and leave the rest to the ordinary parser."""
        name = _value_of(args, ("--method", "-m"))
        if name is not None:
            found = method(name)
            ctx.meta[SETTINGS_KEY], args = _take(found, args)
            lines = "\n\n".join(settings_lines(found))
            self.epilog = f"**Options of {found.name}**\n\n{lines}" if lines else None
        elif args and not {"-h", "--help"} & set(args):
            raise UserError(f"Choose a method with --method: {', '.join(sorted(METHODS))}.")
        else:
            names = ", ".join(sorted(METHODS))
            self.epilog = f"Methods: {names}.\n\nOptions of a method: `querycloak anonymize --method NAME --help`."
        return super().parse_args(ctx, args)


def settings_lines(found: Method) -> list[str]:
    """Describe the options of a method, one line each."""
    lines = []
    for s in describe_settings(found.settings):
        flag = "--" + s["name"].replace("_", "-")
        if s["type"] is bool:
            flag += f" / --no-{flag[2:]}"
        else:
            flag += " " + ("|".join(s["choices"]) if s["choices"] else s["type"].__name__.upper())
        default = s["default"]
        shown = {True: "yes", False: "no", None: "none"}.get(default, default) if _hashable(default) else default
        lines.append(f"`{flag}` {s['help']} (default: {shown})")
    return lines


def convert(text: str, kind: type, name: str) -> Any:
    """Read a value given as text."""
    try:
        if kind is bool:
            return {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}[text.lower()]
        return kind(text)
    except (ValueError, KeyError):
        words = {int: "an integer", float: "a number", bool: "true or false"}.get(kind, f"of type {kind.__name__}")
        raise ParameterError.of(name, words, text) from None


def _take(found: Method, args: list[str]) -> tuple[dict[str, Any], list[str]]:
    """Split the arguments into settings of the method and the rest."""
    kinds: dict[str, type] = {}
    for s in describe_settings(found.settings):
        kinds["--" + s["name"].replace("_", "-")] = s["type"]
    given: dict[str, Any] = {}
    rest: list[str] = []
    i = 0
    while i < len(args):
        flag, equals, value = args[i].partition("=")
        negated = "--" + flag[5:] if flag.startswith("--no-") else ""
        if flag in kinds:
            name = flag[2:].replace("-", "_")
            if equals:
                given[name] = convert(value, kinds[flag], flag)
            elif kinds[flag] is bool:
                given[name] = True
            elif i + 1 == len(args):
                raise UserError(f"{flag} needs a value.")
            else:
                i += 1
                given[name] = convert(args[i], kinds[flag], flag)
        elif kinds.get(negated) is bool:
            given[negated[2:].replace("-", "_")] = False
        else:
            _refuse_other_method(found, flag, kinds)
            rest.append(args[i])
        i += 1
    return given, rest


def _refuse_other_method(found: Method, flag: str, kinds: dict[str, type]) -> None:
    """Say which method an option belongs to, where it is one of another method's or nearly one of this one's."""
    if not flag.startswith("--"):
        return
    field = flag[2:].replace("-", "_")
    if len(field) > 2 and (near := get_close_matches(flag, kinds, n=1, cutoff=0.85)):
        raise UserError(f"{found.name} has no option {flag}. Did you mean {near[0]}?")
    for other in METHODS.values():
        if other is not found and any(s["name"] == field for s in describe_settings(other.settings)):
            there_are = ", ".join(kinds) or "none"
            raise UserError(
                f"{flag} is an option of {other.name}, not of {found.name}, whose options are: {there_are}."
            )


def _value_of(args: list[str], flags: tuple[str, ...]) -> str | None:
    for i, arg in enumerate(args):
        flag, equals, value = arg.partition("=")
        if flag in flags:
            return value if equals else (args[i + 1] if i + 1 < len(args) else None)
    return None


def _hashable(value: object) -> bool:
    return value is None or isinstance(value, bool)
