"""The config file: what is taken from it, what is refused, and that it never surprises."""

from __future__ import annotations

import json

import pytest
from command import querycloak, refused


@pytest.fixture
def folder(tmp_path):
    lines = [f"u{i % 12}\tgreen tea {i % 4}\t2026-01-01 10:00:{i % 60:02}" for i in range(96)]
    (tmp_path / "log.tsv").write_text("user\tquery\ttime\n" + "\n".join(lines) + "\n")
    return tmp_path


def config(folder, text, name="querycloak.toml"):
    (folder / name).write_text(text)


ANONYMIZE = ["anonymize", "log.tsv", "-o", "r.tsv"]


def settings(folder):
    return json.loads((folder / "r.tsv.statement.json").read_text())["statement"]["settings"]


def command(folder):
    return json.loads((folder / "r.tsv.statement.json").read_text())["statement"]["command"]


def test_a_file_in_the_folder_is_used_and_said(folder):
    config(folder, '[defaults]\nencoding = "utf-8"\n[anonymize]\nmethod = "sweep"\nmin-query-users = 3\n')
    done = querycloak(*ANONYMIZE, cwd=folder)
    assert done.returncode == 0, done.stderr
    said = done.stderr.splitlines()[0]
    assert said.startswith("options from querycloak.toml: ")
    for part in ["--method sweep", "--encoding utf-8", "--min-query-users 3", "--no-config"]:
        assert part in said
    assert settings(folder)["min_query_users"] == 3
    shown = command(folder)
    assert shown.startswith("querycloak anonymize --config querycloak.toml ")
    assert "--method sweep" in shown
    assert "--min-query-users 3" in shown


def test_the_shown_command_does_the_same_without_the_file(folder):
    config(folder, '[anonymize]\nmethod = "sweep"\nmin_query_users = 3\nkeep = "time"\nhash_tokens = false\n')
    querycloak(*ANONYMIZE, cwd=folder)
    before, words = settings(folder), command(folder).split()[1:]
    at = words.index("--config")
    del words[at : at + 2]
    (folder / "querycloak.toml").unlink()
    done = querycloak(*words, cwd=folder)
    assert done.returncode == 0, done.stderr
    assert settings(folder) == before
    assert before["keep"] == "time"


def test_what_is_typed_wins(folder):
    config(folder, '[defaults]\nmin_query_users = 2\n[anonymize]\nmethod = "clump"\n[anonymize.sweep]\nrare = "drop"\n')
    done = querycloak(*ANONYMIZE, "-m", "sweep", "--min-query-users", 4, cwd=folder)
    assert done.returncode == 0, done.stderr
    assert settings(folder)["min_query_users"] == 4
    assert settings(folder)["rare"] == "drop"
    assert done.stderr.splitlines()[0] == "options from querycloak.toml: --rare drop; --no-config leaves them out"
    assert "clump" not in command(folder)


def test_a_methods_table_wins_over_its_commands_and_that_over_the_defaults(folder):
    text = '[defaults]\nfamous = 3\nrare = "drop"\n[anonymize]\nfamous = 4\nmethod = "sweep"\n'
    config(folder, text + "[anonymize.sweep]\nfamous = 5\n")
    assert querycloak(*ANONYMIZE, cwd=folder).returncode == 0
    assert (settings(folder)["famous"], settings(folder)["rare"]) == (5, "drop")


def test_no_config_ignores_it_and_config_names_another(folder):
    config(folder, '[anonymize]\nmethod = "nonsense"\n')
    config(folder, '[anonymize]\nmethod = "sweep"\nquiet = true\n', "mine.toml")
    refused(querycloak(*ANONYMIZE, cwd=folder), "nonsense")
    refused(querycloak(*ANONYMIZE, "--no-config", cwd=folder), "Choose a method")
    done = querycloak(*ANONYMIZE, "--config", "mine.toml", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert "--config mine.toml" in command(folder)
    refused(querycloak(*ANONYMIZE, "--config", "none.toml", cwd=folder), "none.toml: cannot be read")
    refused(querycloak(*ANONYMIZE, "--config", "mine.toml", "--no-config", cwd=folder), "leave one out")


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ('[anonymize]\nmethod = "sweep"\nmin_query_user = 3', ["line 3", "Did you mean 'min_query_users'"]),
        ('[anonymise]\nmethod = "sweep"', ["line 1", "Did you mean 'anonymize'"]),
        ('method = "sweep"', ["line 1", "[defaults]"]),
        ('[anonymize]\nmethod = "sweep"\nk = 3', ["line 3", "is an option of", "[anonymize."]),
        ('[anonymize]\nmethod = "sweep"\n[anonymize.swep]\nk = 3', ["line 3", "Did you mean 'sweep'"]),
        ('[anonymize]\nmethod = "sweep"\nlog = "x"', ["line 3", "is an argument"]),
        ('[anonymize]\nmethod = "sweep"\nquiet = "yes"', ["line 3", "expected true or false"]),
        ('[anonymize]\nmethod = "sweep"\nmin_query_users = 2.5', ["line 3", "must be an integer, got '2.5'"]),
        ('[anonymize]\nmethod = "sweep"\nmin_query_users = true', ["line 3", "must be an integer"]),
        ('[anonymize]\nmethod = "sweep"\nmin_query_users = 2026-01-01', ["line 3", "expected a text, a number"]),
        ('[defaults]\nnonsense = 1\n[anonymize]\nmethod = "sweep"', ["line 2", "nonsense"]),
        ('[ledger]\nepsilon = 1\n[anonymize]\nmethod = "sweep"', ["line 2", "[ledger]"]),
        ('[anonymize\nmethod = "sweep"', ["is no TOML", "line 1"]),
        ('[anonymize]\nconfig = "x"\nmethod = "sweep"', ["config"]),
    ],
)
def test_mistakes_are_refused_with_their_line(folder, text, parts):
    config(folder, text)
    refused(querycloak(*ANONYMIZE, cwd=folder), "querycloak.toml", *parts)
    assert not (folder / "r.tsv").exists()


@pytest.mark.parametrize("line", ["as_in_paper = true", "yes = true", "seed = 7", 'truth = "t.tsv"'])
def test_a_file_that_was_only_found_takes_no_protection_away(folder, line):
    config(folder, f'[anonymize]\nmethod = "sweep"\n{line}\n')
    refused(querycloak(*ANONYMIZE, cwd=folder), "line 3", "only found", "--config querycloak.toml", "--no-config")
    assert not (folder / "r.tsv").exists()
    done = querycloak(*ANONYMIZE, "--config", "querycloak.toml", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert f"--{line.split()[0].replace('_', '-')}" in done.stderr


def test_looser_limits_of_a_file_that_was_only_found_are_refused(folder):
    querycloak(*ANONYMIZE, "-m", "sweep", cwd=folder)
    config(folder, "[check]\nmax_risk = 0.9\n")
    refused(querycloak("check", "log.tsv", "r.tsv", cwd=folder), "looser than the default of 0.2")
    config(folder, "[check]\nmax_epsilon = 100\n")
    refused(querycloak("check", "log.tsv", "r.tsv", cwd=folder), "looser than the default of 10")
    config(folder, '[check]\nmax_risk = 0.1\nfor = ["topics", "nonsense"]\n')
    refused(querycloak("check", "log.tsv", "r.tsv", cwd=folder), "There is no task 'nonsense'")


def test_quiet_does_not_hide_a_file_that_was_only_found(folder):
    config(folder, '[anonymize]\nmethod = "sweep"\nquiet = true\n')
    assert querycloak(*ANONYMIZE, cwd=folder).stderr.startswith("options from querycloak.toml")
    assert querycloak(*ANONYMIZE, "--quiet", cwd=folder).stderr.startswith("options from querycloak.toml")
    assert querycloak(*ANONYMIZE, "--quiet", "--config", "querycloak.toml", cwd=folder).stderr == ""


def test_a_seed_in_the_file_is_hidden_in_the_statement(folder):
    config(folder, '[anonymize]\nmethod = "sweep"\nseed = 98765\n')
    done = querycloak(*ANONYMIZE, "--config", "querycloak.toml", cwd=folder)
    assert "98765" not in done.stderr
    assert "98765" not in (folder / "r.tsv.statement.json").read_text()
    assert "--seed HIDDEN" in command(folder)


def test_lists_and_tables_are_written_as_in_toml(folder):
    (folder / "odd.tsv").write_text((folder / "log.tsv").read_text().replace("user\tquery\ttime", "a\tb\tc"))
    text = '[anonymize]\nmethod = "sweep"\ncolumns = { user = "a", query = "b", time = "c" }\n'
    config(folder, text)
    done = querycloak("anonymize", "odd.tsv", "-o", "r.tsv", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "user=a,query=b,time=c" in command(folder)
    config(folder, '[compare]\nmethods = ["sweep"]\nmin_query_users = [2, 3]\nidentifiers = ["drop", "kep"]\n')
    refused(querycloak("compare", "log.tsv", "-o", "c", cwd=folder), "identifiers")


def test_commands_of_groups_have_tables(folder):
    config(folder, "[ledger.head]\njson = true\n[policy.list]\njson = true\n")
    done = querycloak("policy", "list", cwd=folder)
    assert json.loads(done.stdout)["presets"]
    refused(querycloak("policy", "show", "gogle-2024", cwd=folder), "Did you mean 'google-2024'")
    config(folder, "[policy.lst]\njson = true\n")
    refused(querycloak("policy", "list", cwd=folder), "line 1", "lst")


def test_help_works_with_a_broken_file(folder):
    config(folder, "nonsense")
    assert querycloak("anonymize", "--help", cwd=folder).returncode == 0
    assert querycloak("--version", cwd=folder).returncode == 0
    refused(querycloak("methods", cwd=folder), "is no TOML")


def test_a_file_without_a_word_for_the_command_says_nothing(folder):
    config(folder, '[anonymize]\nmethod = "sweep"\n')
    assert querycloak("methods", cwd=folder).stderr == ""
