"""What every command of the program must have: a new one without it fails here."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import typer.main
from command import querycloak, querycloak_process, refused
from places import ROOT

from querycloak.cli.app import app
from querycloak.cli.command import Command
from querycloak.cli.commands import all_commands

COMMANDS = all_commands(typer.main.get_command(app))


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_a_command_has_json_and_quiet_and_takes_a_config_file(name):
    command = COMMANDS[name]
    flags = {flag for option in command.params for flag in option.opts}
    assert {"--json", "--quiet"} <= flags
    assert isinstance(command, Command)


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_help_tells_the_exit_codes(name, monkeypatch):
    monkeypatch.setenv("COLUMNS", "300")
    words = [*name.split(), "--help"]
    shown = " ".join(querycloak(*words).stdout.split())
    assert "Exit codes: 0" in shown
    assert "130 interrupted, 141 the reader of the output went away" in shown
    assert ("3 needs a human" in shown) == (name == "check")
    assert "--config" in shown


def test_the_program_and_its_groups_tell_the_exit_codes(monkeypatch):
    monkeypatch.setenv("COLUMNS", "300")
    for words in [[], ["policy"], ["ledger"], ["keys"], ["spark"]]:
        assert "Exit codes: 0 done" in querycloak(*words, "--help").stdout


def test_the_page_about_json_has_a_line_for_every_command():
    page = (ROOT / "docs" / "json.md").read_text()
    assert [name for name in COMMANDS if f"`{name}`" not in page] == []


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("made")
    done = querycloak("generate", "--users", 30, "--queries", 400, "--seed", 3, "-o", folder / "log.tsv", "--json")
    assert json.loads(done.stdout)["users"] == 30
    words = ["-o", folder / "r.tsv", "--truth", folder / "truth.tsv", "-m", "sweep", "--min-query-users", 2]
    done = querycloak("anonymize", folder / "log.tsv", *words)
    assert done.returncode == 0, done.stderr
    return folder


def keys_of(*words):
    """Run a command with --json: one document and nothing else on standard output; with --quiet, no note either."""
    done = querycloak(*words, "--json", "--quiet")
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return list(json.loads(done.stdout))


def documented(command):
    """Return the keys that the page promises."""
    page = (ROOT / "docs" / "json.md").read_text()
    line = next(line for line in page.splitlines() if line.startswith(f"| `{command}` |"))
    cell = line.split("|")[2]
    return [word.strip().strip("`") for word in cell.split(",")]


@pytest.mark.slow
def test_small_commands_print_one_document(made, tmp_path):
    ledger = tmp_path / "budget.db"
    runs = {
        "methods": ["methods"],
        "methods NAME": ["methods", "sweep"],
        "policy list": ["policy", "list"],
        "policy show": ["policy", "show", "google-2024"],
        "map": ["map", "green tea"],
        "keys new": ["keys", "new", tmp_path / "key"],
        "ledger make": ["ledger", "make", ledger, "--log", "l", "--epsilon", 3],
        "ledger show": ["ledger", "show", ledger],
        "ledger head": ["ledger", "head", ledger],
        "ledger verify": ["ledger", "verify", ledger],
        "generate": ["generate", "--users", 20, "--queries", 100, "-o", tmp_path / "log.tsv"],
        "anonymize": ["anonymize", made / "log.tsv", "-o", tmp_path / "r.tsv", "-m", "sweep"],
        "verify": ["verify", made / "r.tsv"],
        "measure": ["measure", made / "log.tsv", made / "r.tsv", "--only", "kept"],
        "attack": ["attack", made / "log.tsv", made / "r.tsv", "--only", "uniqueness"],
        "stream": ["stream", "-i", made / "log.tsv", "-o", tmp_path / "s.tsv", "--k", 2],
    }
    for name, words in runs.items():
        assert keys_of(*words) == documented(name), name


@pytest.mark.slow
def test_long_commands_print_one_document(made, tmp_path):
    log, truth = made / "log.tsv", made / "truth.tsv"
    done = querycloak("check", log, made / "r.tsv", "--truth", truth, "--json", "--quiet")
    assert list(json.loads(done.stdout)) == documented("check")
    assert done.stderr == ""
    words = ["compare", log, "--methods", "sweep", "--draws", 1, "-o", tmp_path / "c"]
    assert keys_of(*words) == documented("compare")
    assert keys_of("reproduce", "sanchez-2018", log, "--quick", "-o", tmp_path / "p") == documented("reproduce")
    assert keys_of("audit", "frequent-queries", "--runs", 100, "--pairs", "heavy user") == documented("audit")
    assert keys_of("demo", "-o", tmp_path / "demo") == documented("demo")


@pytest.mark.slow
def test_where_the_table_is_on_standard_output_the_document_is_the_last_line_of_standard_error(made):
    plain = querycloak_process("anonymize", made / "log.tsv", "-o", "-", "-m", "sweep", "--seed", 1)
    done = querycloak_process("anonymize", made / "log.tsv", "-o", "-", "-m", "sweep", "--seed", 1, "--json")
    assert done.stdout == plain.stdout
    assert json.loads(done.stderr.splitlines()[-1])["release"] == "-"
    done = querycloak_process("stream", "-i", made / "log.tsv", "--k", 2, "--json", "--quiet")
    assert json.loads(done.stderr)["method"] == "self-adjusting"
    assert len(done.stdout.splitlines()) > 1
    done = querycloak_process("generate", "--users", 20, "--queries", 100, "-o", "-", "--json", "--quiet")
    assert json.loads(done.stderr)["rows"] == len(done.stdout.splitlines()) - 1


@pytest.mark.parametrize(
    ("words", "kind"),
    [
        (["anonymize", "log.tsv", "-o", "x", "-m", "swep"], "UnknownNameError"),
        (["anonymize", "log.tsv", "-o", "x", "-m", "sweep", "--min-query-users", "0"], "ParameterError"),
        (["methods", "--nonsense"], "UsageError"),
        (["nonsense"], "UsageError"),
        (["verify", "none.tsv"], "InputError"),
    ],
)
def test_an_error_is_one_line_of_json(words, kind, tmp_path):
    done = querycloak(*words, "--json", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    found = json.loads(done.stderr)
    assert found["kind"] == kind
    assert found["code"] == 2
    assert len(found["error"]) > 10


def test_a_failed_check_has_its_document_and_its_error(made, tmp_path):
    for name in ["r.tsv", "r.tsv.statement.json"]:
        (tmp_path / name).write_bytes((made / name).read_bytes())
    with (tmp_path / "r.tsv").open("a") as file:
        file.write("x\ty\n")
    done = querycloak("verify", tmp_path / "r.tsv", "--json")
    assert done.returncode == 1
    assert json.loads(done.stdout)["passed"] is False
    assert json.loads(done.stderr.splitlines()[-1])["code"] == 1


def test_the_version_is_json_too():
    assert json.loads(querycloak("--version", "--json").stdout) == {"version": __import__("querycloak").__version__}
    assert json.loads(querycloak("--json", "--version").stdout)["version"]
    refused(querycloak("--json", "methods"), "after the command")


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (["compare", "log.tsv", "-o", "-", "--methods", "sweep"], "name a folder"),
        (["demo", "-o", "-"], "name a folder"),
        (["reproduce", "batet-2013", "-o", "/dev/stdout"], "name a folder"),
        (["check", "log.tsv", "r.tsv", "-o", "-"], "standard output has the results"),
        (["anonymize", "log.tsv", "-m", "sweep", "-o", "x", "--truth", "-"], "standard output has the results"),
        (["anonymize", "log.tsv", "-m", "sweep", "-o", "x", "--statement", "-"], "standard output has the results"),
        (["stream", "-i", "log.tsv", "-o", "x", "--stats", "-"], "standard output has the results"),
    ],
)
def test_standard_output_takes_a_table_and_nothing_else(words, part, made):
    refused(querycloak(*words, cwd=made), part)
    assert not Path(made / "-").exists()
