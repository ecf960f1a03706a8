"""What every command has: `--config`, `--no-config`, and its exit codes in its help.

A command is parsed in two looks. The first reads its own options and skips what it does not know: it tells which config
file to read and, for a command whose options depend on a method (`setting_options`), which method is meant. The second
parses everything, with the values of the file as defaults, so that what is typed wins.
"""

from __future__ import annotations

import inspect
import sys
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer
import typer.main
from typer.core import TyperCommand

from querycloak.cli.output import expect_json
from querycloak.cli.say import say
from querycloak.errors import UnknownNameError, UserError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from typer import Context

    from querycloak.cli.config_file import Config, Entry

__all__ = ["EXIT_CODES", "Command", "effective_words", "option_keys", "options_from"]

EXIT_CODES: Final = (
    "Exit codes: 0 done, 1 a check failed, 2 a mistake of yours (one sentence says which), 130 interrupted, "
    "141 the reader of the output went away."
)
CHECK_EXIT_CODES: Final = EXIT_CODES.replace("0 done, 1 a check failed", "0 release, 1 do not release").replace(
    ", 130", ", 3 needs a human, 130"
)
USED: Final = "querycloak.config"
"""Where a command keeps what came from a config file, in `context.meta`."""
PUBLISH: Final = frozenset({"anonymize", "spark anonymize", "stream"})
"""Commands that write a release."""


@dataclass(frozen=True)
class Used:
    """What a command took from a config file."""

    config: Config
    words: tuple[tuple[str, ...], ...]
    """each option as it would be typed"""

    @property
    def note(self) -> str:
        """One line that names the file and what came from it."""
        from querycloak.cli.command_line import shown_words

        options = ", ".join(" ".join(shown_words(words)) for words in self.words)
        ignore = "" if self.config.named else "; --no-config leaves them out"
        return f"options from {self.config.path}: {options}{ignore}"


class Command(TyperCommand):
    """A command that takes options from a config file, and says its exit codes."""

    def __init__(self, *args: Any, **given: Any) -> None:
        super().__init__(*args, **given)
        self.epilog = CHECK_EXIT_CODES if self.name == "check" else EXIT_CODES

    def get_params(self, ctx: Context) -> list[Any]:  # type: ignore[override]
        """Return the command's own options, and those of the config file."""
        return [*super().get_params(ctx), *_config_options()]

    def parse_args(self, ctx: Context, args: list[str]) -> list[str]:  # type: ignore[override]
        """Find the config file, prepare what depends on the arguments, then parse all."""
        values, asks_help = self.first_look(ctx, args)
        config = None
        if not asks_help and not ctx.resilient_parsing:
            from querycloak.cli.config_file import find_config

            config = find_config(values.get("config"), ignored=bool(values.get("no_config")))
        if config is None:
            self.prepare(ctx, values, asks_help=asks_help or not args)
            return self.parse_all(ctx, args)
        config.check_tables(_commands_of(ctx))
        said = {name: _text(entry.value) for name, entry in config.entries(path_of(ctx)).items()}
        self.prepare(ctx, {**said, **{k: v for k, v in values.items() if v is not None}}, asks_help=not args)
        self._take_defaults(ctx, config)
        rest = self.parse_all(ctx, args)
        taken = [option for option in self.get_params(ctx) if _is_from_file(ctx, option)]
        words = tuple(filter(None, (_typed(option, ctx.default_map or {}) for option in taken)))
        if words:
            ctx.meta[USED] = Used(config, words)
        return rest

    def first_look(self, ctx: Context, args: list[str]) -> tuple[dict[str, Any], bool]:
        """Return the values of the command's own options, as typed, and whether help is asked for."""
        parser = self.make_parser(ctx)
        parser.ignore_unknown_options = True
        values = parser.parse_args(list(args))[0]
        shows_help = self.get_help_option(ctx)
        return dict(values), shows_help is not None and bool(values.get(shows_help.name or ""))

    def prepare(self, ctx: Context, values: Mapping[str, Any], *, asks_help: bool) -> None:
        """Make what depends on the arguments; `values` are those typed, else those of the config file."""

    def method_of(self, ctx: Context) -> str:  # noqa: ARG002
        """Return the method whose table of the config file counts; empty = none."""
        return ""

    def problem_with(self, ctx: Context, entry: Entry) -> str:
        """Say why an entry is no option of this command."""
        name = path_of(ctx)
        if any(entry.name == p.name for p in self.params if p.param_type_name == "argument"):
            return "is an argument: give it on the command line"
        return str(UnknownNameError.of(f"option of {name}", entry.key, option_keys(self.get_params(ctx)))).rstrip(".")

    def parse_all(self, ctx: Context, args: list[str]) -> list[str]:
        """Parse all options."""
        return super().parse_args(ctx, args)

    def invoke(self, ctx: Context) -> Any:  # type: ignore[override]
        """Say what came from a config file, then run the command.

        That of a file which was only found is said even where the command is to be quiet.
        """
        used: Used | None = ctx.meta.get(USED)
        expect_json(bool(ctx.params.get("as_json")))
        if used is not None and not (used.config.named and ctx.params.get("quiet")):
            say(used.note, err=True)
        return super().invoke(ctx)

    def _take_defaults(self, ctx: Context, config: Config) -> None:
        """Make the values of a config file the defaults of this command's options."""
        options = option_keys(self.get_params(ctx))
        found: dict[str, Any] = {}
        for entry in config.entries(path_of(ctx), self.method_of(ctx)).values():
            option = options.get(entry.name)
            if option is not None:
                _refuse_guarded(ctx, config, entry, option)
                found[option.name] = _value(ctx, config, entry, option)
            elif entry.table != "defaults" or not _is_known(ctx, entry.name):
                raise config.refuse(entry, self.problem_with(ctx, entry))
        self.check_method_tables(ctx, config)
        ctx.default_map = found

    def check_method_tables(self, ctx: Context, config: Config) -> None:
        """Refuse tables below that of a command without methods."""
        for entry in config.method_tables(path_of(ctx)).values():
            raise config.refuse(entry, f"{path_of(ctx)} has no table of that name")


def path_of(ctx: Context) -> str:
    """Return the words of a command, without the program: `ledger show`."""
    words: list[str] = []
    at: Any = ctx
    while at.parent is not None:
        words.insert(0, str(at.info_name))
        at = at.parent
    return " ".join(words) or str(ctx.info_name)


def effective_words(ctx: Context) -> list[str]:
    """Return the command line with what came from a config file, as if all of it had been typed."""
    used: Used | None = ctx.meta.get(USED)
    if used is None:
        return list(sys.argv)
    at = 1 + len(path_of(ctx).split())
    named = [] if used.config.named else ["--config", str(used.config.path)]
    return [*sys.argv[:at], *named, *(word for words in used.words for word in words), *sys.argv[at:]]


def option_keys(params: list[Any]) -> dict[str, Any]:
    """Return the options by their keys in a config file: `--min-query-users` is `min_query_users`."""
    keys: dict[str, Any] = {}
    for option in params:
        if option.param_type_name == "option" and option.name not in {"help", "config", "no_config"}:
            keys |= {flag[2:].replace("-", "_"): option for flag in option.opts if flag[:2] == "--"}
    return keys


def options_from(parameters: list[inspect.Parameter]) -> list[Any]:
    """Have Typer make options, as if each were a parameter of a function."""

    def take(**_: Any) -> None:
        pass

    take.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    app = typer.Typer(add_completion=False)
    app.command()(take)
    return list(typer.main.get_command(app).params)


@cache
def _config_options() -> tuple[Any, ...]:
    named = typer.Option(
        "--config",
        help="A file of options, one table per command. Default: `querycloak.toml` in the current folder, if there.",
        metavar="FILE",
        show_default=False,
        expose_value=False,
    )
    ignored = typer.Option("--no-config", help="Use no config file.", expose_value=False)
    kinds = {"config": (Annotated[str | None, named], None), "no_config": (Annotated[bool, ignored], False)}
    return tuple(
        options_from(
            [
                inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind)
                for name, (kind, default) in kinds.items()
            ]
        )
    )


def _is_from_file(ctx: Context, option: Any) -> bool:
    source = ctx.get_parameter_source(option.name)
    return source is not None and source.name == "DEFAULT_MAP" and option.name in (ctx.default_map or {})


def _commands_of(ctx: Context) -> dict[str, Any]:
    """Return every command of the program by its words."""
    from querycloak.cli.commands import all_commands

    return all_commands(ctx.find_root().command)


def _is_known(ctx: Context, name: str) -> bool:
    """Tell whether any command, or any method, has such an option: [defaults] may name it."""
    if any(name in option_keys(command.params) for command in _commands_of(ctx).values()):
        return True
    from querycloak.cli.setting_options import owner_of_setting

    return bool(owner_of_setting(name))


def _refuse_guarded(ctx: Context, config: Config, entry: Entry, option: Any) -> None:
    """Refuse what takes a protection away, from a file that nobody named."""
    from querycloak.cli.config_file import GUARDED

    if config.named or entry.value is False:
        return
    what = GUARDED.get(entry.name, "") if path_of(ctx) in PUBLISH else ""
    if option.name.startswith("limit_") and isinstance(entry.value, int | float) and entry.value > option.default:
        what = f"is looser than the default of {option.default:g}"
    if what:
        raise config.refuse(
            entry,
            f"{what}; this file was only found, so it may not: name it with --config {config.path}, or ignore it with "
            "--no-config",
        )


def _value(ctx: Context, config: Config, entry: Entry, option: Any) -> Any:
    """Return a value as it would be typed; one that the option does not take is refused with its line."""
    value = entry.value
    if option.is_flag:
        if not isinstance(value, bool):
            raise config.refuse(entry, f"expected true or false, found {value!r}")
        return value
    values = value if isinstance(value, list) else [value]
    texts = [_text(one) for one in values]
    if None in texts or (isinstance(value, dict) and entry.name != "columns"):
        raise config.refuse(entry, "expected a text, a number, true or false, or a list of these")
    read = texts if option.multiple else ",".join(text for text in texts if text is not None)
    try:
        option.process_value(ctx, read)
    except UserError as error:
        raise config.refuse(entry, str(error).rstrip(".")) from None
    except Exception as error:  # what typer raises for a wrong value has no public name
        if not hasattr(error, "format_message"):
            raise
        raise config.refuse(entry, error.format_message().rstrip(".")) from None
    return read


def _text(value: Any) -> str | None:
    """Return a value of a file as text on a command line; None for what is none, such as a date."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float | str):
        return str(value)
    if isinstance(value, list) and value:
        texts = [_text(one) for one in value]
        return None if None in texts else ",".join(text for text in texts if text is not None)
    if isinstance(value, dict):
        return ",".join(f"{key}={_text(one)}" for key, one in value.items())
    return None


def _typed(option: Any, values: Mapping[str, Any]) -> tuple[str, ...]:
    """Return an option as it would be typed."""
    value, flag = values[option.name], next(flag for flag in option.opts if flag[:2] == "--")
    if option.is_flag:
        return (flag,) if value else tuple(option.secondary_opts[:1])
    return tuple(word for one in (value if option.multiple else [value]) for word in (flag, one))
