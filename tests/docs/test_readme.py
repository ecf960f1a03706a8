"""What the README shows works as it stands; its commands are run by test_snippets.py."""

from __future__ import annotations

import re

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
