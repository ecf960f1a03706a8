"""What the README shows works as it stands."""

from __future__ import annotations

import re
import shlex

import pytest
from cli.command import querycloak
from places import ROOT

from querycloak.catalog import METHODS

README = (ROOT / "README.md").read_text()


def blocks(language):
    return re.findall(rf"```{language}\n(.*?)```", README, flags=re.DOTALL)


def test_the_python_example_runs_and_prints_what_it_says(tmp_path, monkeypatch, capsys):
    (example,) = blocks("python")
    assert len([line for line in example.splitlines() if line.strip()]) <= 12
    monkeypatch.chdir(tmp_path)
    exec(compile(example, "README.md", "exec"), {})
    printed = capsys.readouterr().out.splitlines()
    assert printed[0] == "LogRelease(sweep, 3 rows)"
    assert printed[1] == "none"
    assert (tmp_path / "release.tsv").exists()
    assert (tmp_path / "release.tsv.statement.json").exists()


def run_commands(text, place):
    """Run each `querycloak` line of a block of shell, on smaller logs where a size is named."""
    commands = [line.split(" #")[0].strip() for line in text.splitlines() if line.startswith("querycloak")]
    for command in commands:
        words = shlex.split(command.replace("--users 1000 --queries 56000", "--users 100 --queries 3000"))
        done = querycloak(*words[1:], cwd=place)
        verdicts = {0, 1, 3} if words[1] == "check" else {0}
        assert done.returncode in verdicts, f"{command}: {done.stderr}"
    return len(commands)


@pytest.mark.slow
def test_the_commands_run(tmp_path):
    assert run_commands("\n".join(blocks("sh")), tmp_path) >= 4
    assert (tmp_path / "release.tsv").stat().st_size > 0


@pytest.mark.slow
def test_the_tutorial_runs(tmp_path):
    shell = re.findall(r"```sh\n(.*?)```", (ROOT / "docs" / "tutorial.md").read_text(), flags=re.DOTALL)
    assert run_commands("\n".join(shell), tmp_path) >= 6
    assert (tmp_path / "comparison" / "report.html").stat().st_size > 10_000


def test_the_first_screen_has_both_commands():
    first_screen = README.splitlines()[:25]
    assert any("make demo" in line for line in first_screen)
    assert any("make test" in line for line in first_screen)


def test_the_table_names_every_method():
    for name in METHODS:
        assert f"[`{name}`](docs/methods/{name}.md)" in README


def test_links_lead_somewhere():
    for page in [
        ROOT / "README.md",
        ROOT / "ARCHITECTURE.md",
        ROOT / "CONTRIBUTING.md",
        *(ROOT / "docs").rglob("*.md"),
    ]:
        for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", page.read_text()):
            if "://" not in target:
                assert (page.parent / target).exists(), f"{page.relative_to(ROOT)} links to {target}"
