"""What the README shows works as it stands."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

from querycloak.catalog import METHODS

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()


def blocks(language):
    return re.findall(rf"```{language}\n(.*?)```", README, flags=re.DOTALL)


def test_the_python_example_runs_and_prints_what_it_says(tmp_path, monkeypatch, capsys):
    (example,) = blocks("python")
    assert len([line for line in example.splitlines() if line.strip()]) <= 12
    monkeypatch.chdir(tmp_path)
    exec(compile(example, "README.md", "exec"), {})
    printed = capsys.readouterr().out.splitlines()
    assert printed[0] == "Release(sweep, 3 rows)"
    assert printed[1] == "none"
    assert (tmp_path / "release.tsv").exists()
    assert (tmp_path / "release.tsv.statement.json").exists()


def test_the_commands_run(tmp_path):
    commands = [line.split("#")[0].strip() for line in blocks("sh")[1].splitlines() if line.strip()]
    assert len(commands) >= 4
    for command in commands:
        words = shlex.split(command.replace("56000", "3000").replace("1000", "100"))
        assert words[0] == "querycloak"
        done = subprocess.run(
            [sys.executable, "-m", *words], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=300
        )
        assert done.returncode == 0, f"{command}: {done.stderr}"
    assert (tmp_path / "release.tsv").stat().st_size > 0


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
