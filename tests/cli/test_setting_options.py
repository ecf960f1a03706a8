"""Options that are generated from the settings of a method."""

from __future__ import annotations

import pytest
import typer
from command import querycloak, refused

from querycloak.catalog import METHODS, STREAM_METHODS, describe_settings
from querycloak.cli.setting_options import CompareCommand, GenerateCommand, MethodCommand, StreamCommand, given_settings
from querycloak.errors import UserError


def parsed(command_class, *words):
    """Parse a command line, and return the settings found and the command's own values."""
    found = {}
    app = typer.Typer(add_completion=False, rich_markup_mode="markdown")

    @app.command("it", cls=command_class)
    def it(
        context: typer.Context,
        log: str = typer.Argument("-"),
        method: str = typer.Option("", "--method", "-m"),
        methods: str = typer.Option("all"),
        seed: int = typer.Option(0),
    ):
        found.update(settings=given_settings(context), log=log, method=method, methods=methods, seed=seed)

    app(list(map(str, words)), standalone_mode=False)
    return found


def test_values_are_converted_and_only_those_given_are_there():
    found = parsed(MethodCommand, "x", "--method", "sweep", "--min-query-users", 5, "--seed", 3)
    assert found == {"settings": {"min_query_users": 5}, "log": "x", "method": "sweep", "methods": "all", "seed": 3}
    assert parsed(MethodCommand, "x", "-m", "sweep")["settings"] == {}


@pytest.mark.parametrize(
    ("words", "settings"),
    [
        (["-m", "sweep", "--min-query-users=5"], {"min_query_users": 5}),
        (["-msweep", "--no-hash-tokens"], {"hash_tokens": False}),
        (["--method=sweep", "--identifiers", "keep", "--hash-tokens"], {"identifiers": "keep", "hash_tokens": True}),
        (["--min-query-users", "2", "--min-query-users", "3", "-m", "sweep"], {"min_query_users": 3}),
        (["-m", "clump", "--k=3", "--no-refine", "--order", "random"], {"k": 3, "refine": False, "order": "random"}),
        (["-m", "histogram-dp", "--epsilon", "0.5"], {"epsilon": 0.5}),
        (["-m", "sweep", "--", "--min-query-users"], {}),
    ],
)
def test_forms_of_options(words, settings):
    assert parsed(MethodCommand, *words)["settings"] == settings


@pytest.mark.parametrize(
    ("command_class", "words", "parts"),
    [
        (MethodCommand, ["-m", "sweep", "--min-query-user", "5"], ["'--min-query-user'", "mean '--min-query-users'"]),
        (MethodCommand, ["-m", "sweep", "--min", "5"], ["no option", "'--min'"]),
        (MethodCommand, ["-m", "sweep", "--k", "5"], ["--k is an option of", "sweep has: --as-in-paper"]),
        (MethodCommand, ["-m", "sweep", "--no-refine"], ["--no-refine is an option of"]),
        (MethodCommand, ["-m", "sweep", "--min-query-users", "x"], ["--min-query-users must be an integer, got 'x'"]),
        (MethodCommand, ["-m", "histogram-dp", "--epsilon=x"], ["--epsilon must be a number, got 'x'"]),
        (MethodCommand, ["log"], ["Choose a method with --method"]),
        (MethodCommand, ["-m", "swep"], ["There is no method 'swep'", "'sweep'"]),
        (StreamCommand, ["--epsilon", "1"], ["--epsilon is an option of", "self-adjusting has"]),
        (StreamCommand, ["-m", "sweep"], ["There is no stream method 'sweep'"]),
        (GenerateCommand, ["--usrs", "1"], ["mean '--users'"]),
        (CompareCommand, ["--methods", "sweep", "--k", "2,3"], ["--k is an option of", "not among --methods"]),
        (CompareCommand, ["--methods", "sweep", "--min-query-user", "2"], ["mean '--min-query-users'"]),
    ],
)
def test_mistakes(command_class, words, parts):
    with pytest.raises(UserError) as caught:
        parsed(command_class, *words)
    for part in parts:
        assert part in str(caught.value)


def test_compare_takes_lists_as_text():
    found = parsed(CompareCommand, "--methods", "sweep,clump", "--k", "2,3", "--identifiers", "yes,no")
    assert found["settings"] == {"k": "2,3", "identifiers": "yes,no"}
    assert parsed(CompareCommand, "--epsilon=1,5")["settings"] == {"epsilon": "1,5"}


@pytest.mark.parametrize("name", sorted(METHODS | STREAM_METHODS))
def test_help_has_a_panel_with_every_setting_of_the_method(name, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    command = "stream" if name in STREAM_METHODS else "anonymize"
    done = querycloak(command, "--method", name, "--help")
    assert done.returncode == 0
    assert f"Options of {name}" in done.stdout
    for setting in describe_settings((METHODS | STREAM_METHODS)[name].settings):
        assert f"--{setting['name'].replace('_', '-')} " in done.stdout


def test_one_run_leaves_no_options_for_the_next():
    parsed(MethodCommand, "-m", "clump", "--k", "3")
    refused(querycloak("anonymize", "x", "-o", "y", "-m", "sweep", "--k", "3"), "--k is an option of")
    done = querycloak("anonymize", "--help")
    assert "Methods: " in done.stdout
    assert "Methods: " not in querycloak("anonymize", "-m", "sweep", "--help").stdout
