"""A run as command lines and as a program: both make the same release again, but for its random draws."""

import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from sample_desks import confirmed, log_lines, ran

from querycloak.cli.limit_options import LIMIT_OPTIONS as OPTIONS_OF_CHECK
from querycloak.evaluation.limits import LIMITS, Limits
from querycloak.releases.files import read_release
from querycloak.studio.desk import Desk
from querycloak.studio.exports import LIMIT_OPTIONS, Recipe, as_command, as_script, shown_command
from querycloak.studio.model import Reading

ODD = 'it\'s a <log> $(touch x) & "more".csv'
"""the name of a file that a shell and Python would stumble over"""


def recipe(**changed):
    whole = {
        "log": Path("/logs") / ODD,
        "reading": Reading({"user": "1", "query": "2"}, {"user": "1", "query": "2"}, header=False),
        "method": "sweep",
        "settings": {"min_query_users": 5, "as_in_paper": True, "kinds": "none"},
        "tasks": ("popularity", "topics"),
        "limits": Limits(link=0.3, own_texts=0.01),
        "release": "release.csv",
        "has_truth": True,
    }
    return Recipe(**{**whole, **changed})


def test_the_command_quotes_for_a_shell():
    made, check, clean = as_command(recipe()).splitlines()
    assert shlex.split(made) == [
        "querycloak", "anonymize", f"/logs/{ODD}", "-o", "release.csv", "--method", "sweep", "--min-query-users", "5",
        "--as-in-paper", "--kinds", "none", "--columns", "user=1,query=2", "--no-header", "--truth", "truth.tsv",
    ]  # fmt: skip
    assert shlex.split(check)[-9:] == [
        "--for", "popularity,topics", "--max-risk", "0.3", "--max-own-texts", "0.01", "--columns", "user=1,query=2",
        "--no-header",
    ]  # fmt: skip
    assert clean == "rm truth.tsv"


def test_the_program_is_python():
    text = as_script(recipe(directory=Path("/logs/sites.tsv")))
    compile(text, "run.py", "exec")
    assert repr(f"/logs/{ODD}") in text
    assert "limits=qc.Limits(link=0.3, own_texts=0.01)" in text
    assert "directory = qc.load_directory('/logs/sites.tsv')" in text


def test_a_value_cannot_become_another_statement():
    hostile = "'); import os; os.remove('x') #\n"
    text = as_script(recipe(method=hostile, settings={"rules": hostile}))
    assert compile(text, "run.py", "exec")
    assert text.count("import os") == 1 + 2  # its own, and twice inside of quoted texts
    assert repr(hostile) in text
    assert (
        shlex.split(as_command(recipe(settings={"rules": hostile})).partition("\nquerycloak check")[0])[7] == "--rules"
    )


def test_without_a_truth_there_is_none_to_delete():
    assert "truth" not in as_command(recipe(has_truth=False))
    assert "truth" not in as_script(recipe(has_truth=False))


def test_a_negative_number_is_tied_to_its_option():
    assert "--shift=-3" in as_command(recipe(settings={"shift": -3}))


def test_a_column_that_the_command_line_cannot_name_is_told():
    reading = Reading({"user": "1", "query": "2"}, {"user": "a,b", "query": "q"})
    assert as_command(recipe(reading=reading)).startswith("# The name of a column has a comma")


def test_the_statement_shows_names_of_files_alone():
    shown = shown_command(recipe(directory=Path("/home/ann/sites.tsv"), settings={"rules": "/home/ann/rules.toml"}))
    assert "/home/ann" not in shown
    assert "/logs" not in shown
    assert "sites.tsv" in shown
    assert "rules.toml" in shown


def test_every_limit_is_an_option_of_check():
    flags = {name: option.__metadata__[0].default for name, (option, _) in OPTIONS_OF_CHECK.items()}
    assert flags == LIMIT_OPTIONS


@pytest.mark.slow
@pytest.mark.needs_jit
@pytest.mark.parametrize(
    ("name", "reading", "method", "settings"),
    [
        ("log.tsv", {}, "sweep", {"min_query_users": "3", "rare": "drop", "as_in_paper": "no"}),
        (ODD, {"header": True}, "semantic-microaggregation", {"k": "3"}),
        ("log.jsonl", {}, "frequent-queries", {"epsilon": "3.5"}),
    ],
)
def test_both_make_the_same_release_again(tmp_path, name, reading, method, settings):
    logs = tmp_path / "logs"
    logs.mkdir()
    (logs / "log.tsv").write_text(log_lines())
    (logs / ODD).write_text(log_lines(",", "nutzer such-text zeit"))
    rows = [line.split("\t") for line in log_lines(header="").splitlines()]
    (logs / "log.jsonl").write_text("".join(f'{{"who": "{u}", "asked": "{q}"}}\n' for u, q, _ in rows))
    roles = None if name == "log.tsv" else {"user": "1", "query": "2"}
    with Desk(logs, tmp_path / "work") as desk:
        project = confirmed(desk, name, roles, **reading)
        assert project.exposed is not None, project.job.error
        desk.aim(project.id, ["profiles"], Limits(link=0.25))
        run = ran(desk, desk.project(project.id), method, settings)
        assert run.check is not None, run.job.error
        command, script, statement = desk.command(run), desk.script(run), desk.statement(run)
    for how in ("shell", "python"):
        folder = tmp_path / how
        folder.mkdir()
        path = str(Path(sys.executable).parent)
        if how == "shell":
            ran_by = ["sh", "-c", command]
        else:
            (folder / "run.py").write_text(script)
            ran_by = [sys.executable, "run.py"]
        given = {"PATH": f"{path}:/usr/bin:/bin"}
        done = subprocess.run(ran_by, check=False, cwd=folder, env=given, capture_output=True, text=True)
        release = read_release(folder / run.check.release)
        again = release.statement
        assert (again.method, again.settings, again.columns) == (
            statement.method,
            statement.settings,
            statement.columns,
        )
        assert (again.model, again.parameters, again.counts_in) == (
            statement.model, statement.parameters, statement.counts_in
        )  # fmt: skip
        assert (folder / "check.html").is_file(), done.stderr
        assert any(verdict in done.stdout for verdict in ("RELEASE", "NEEDS A HUMAN"))
        assert method == "frequent-queries" or "profiles" in (folder / "check.html").read_text()
        assert not list(folder.glob("*truth*"))
        assert not (folder / "x").exists()


def test_the_usual_limits_are_left_out():
    assert "--max" not in as_command(recipe(limits=LIMITS))
    assert "limits" not in as_script(recipe(limits=LIMITS))
