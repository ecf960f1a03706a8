"""The page of the architecture is true: its tree is the tree, its steps are functions of ours."""

from __future__ import annotations

import ast
import re

import pytest
from places import ROOT

PAGE = (ROOT / "ARCHITECTURE.md").read_text()
SOURCE = ROOT / "src" / "querycloak"
STEPS = re.findall(r"`([\w/]+\.py):([\w.]+)`", PAGE)


def test_every_folder_and_every_top_file_is_in_the_tree():
    tree = re.search(r"```\nsrc/querycloak/\n(.*?)```", PAGE, re.DOTALL)[1]
    named = set(re.findall(r"([\w]+\.py|[\w]+/)", tree))
    folders = {f"{p.name}/" for p in SOURCE.rglob("*") if p.is_dir() and (p / "__init__.py").exists()}
    files = {p.name for p in SOURCE.glob("*.py") if not p.name.startswith("_")}
    assert named == folders | files | ({"formats/"} & named)


def test_the_two_ways_have_at_most_fifteen_steps():
    for title in ("The way of one row", "The way of one record"):
        section = PAGE.split(f"## {title}")[1].split("\n## ")[0]
        steps = re.findall(r"^\d+\. `", section, re.MULTILINE)
        assert 8 <= len(steps) <= 15


@pytest.mark.parametrize(("file", "name"), STEPS)
def test_every_step_is_there(file, name):
    module = ast.parse((SOURCE / file).read_text())
    for part in name.split("."):
        found = [n for n in module.body if isinstance(n, ast.FunctionDef | ast.ClassDef) and n.name == part]
        assert found, f"{file} has no {name}"
        module = found[0]
