"""The files next to the package: citation, man page, container. No container is run: its commands are."""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml
from places import ROOT

import querycloak as qc

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
COMPOSE = yaml.safe_load((ROOT / "compose.yaml").read_text())
CITATION = yaml.safe_load((ROOT / "CITATION.cff").read_text())
TOOLS = Path(sys.executable).parent


def test_the_man_page_is_up_to_date():
    spec = importlib.util.spec_from_file_location("build_man_page", ROOT / "tools" / "build_man_page.py")
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    written = (ROOT / "man" / "querycloak.1").read_text()
    assert written == tool.man_page(), "run: python tools/build_man_page.py"


@pytest.mark.skipif(not shutil.which("groff"), reason="no groff here")
def test_the_man_page_is_read_without_a_warning():
    run = subprocess.run(
        ["groff", "-man", "-Tascii", "-ww", "-P-cbou", ROOT / "man" / "querycloak.1"],
        check=False,
        capture_output=True,
        text=True,
    )
    assert (run.returncode, run.stderr) == (0, "")
    text = re.sub(r"\s+", " ", run.stdout)
    for words in ("NAME", "querycloak anonymize", "--min-query-users", "synthetic-dp", "EXIT STATUS", "130"):
        assert words in text


def test_the_citation_has_what_the_format_asks_for():
    """Citation File Format 1.2.0: four keys are required, and these are all that the schema knows."""
    known = "abstract authors cff-version commit contact date-released doi identifiers keywords license license-url "
    known += (
        "message preferred-citation references repository repository-artifact repository-code title type url version"
    )
    assert {"cff-version", "message", "title", "authors"} <= set(CITATION) <= set(known.split())
    assert (CITATION["cff-version"], CITATION["type"]) == ("1.2.0", "software")
    assert all(set(author) == {"name"} for author in CITATION["authors"])
    assert all(isinstance(CITATION[key], str) and CITATION[key] for key in ("abstract", "message", "title", "license"))
    assert len(set(CITATION["keywords"])) == len(CITATION["keywords"])


def test_the_citation_and_the_package_agree():
    assert CITATION["version"] == qc.__version__
    assert CITATION["license"] == PROJECT["license"]
    assert [author["name"] for author in CITATION["authors"]] == [author["name"] for author in PROJECT["authors"]]


def test_every_classifier_exists():
    from trove_classifiers import classifiers

    assert set(PROJECT["classifiers"]) <= classifiers


def test_the_extra_all_has_every_extra_for_users_of_one_machine():
    """Spark is as large as all others together, and needs Java."""
    extras = PROJECT["optional-dependencies"]
    (everything,) = extras["all"]
    named = set(everything.removeprefix("querycloak[").removesuffix("]").split(","))
    assert named == set(extras) - {"all", "dev", "spark"}
    assert all(extras.values())


@pytest.mark.parametrize(
    "command", [["hadolint", "Dockerfile"], ["yamllint", "--strict", "compose.yaml", "CITATION.cff"]]
)
def test_linted(command):
    run = subprocess.run([TOOLS / command[0], *command[1:]], cwd=ROOT, check=False, capture_output=True, text=True)
    assert run.returncode == 0, run.stdout + run.stderr


def test_what_the_image_copies_is_sent_to_the_builder():
    sent = {line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    copied = re.findall(r"^COPY (?!--from)(.+) \S+$", (ROOT / "Dockerfile").read_text(), re.MULTILINE)
    assert {name for line in copied for name in line.split()} == sent
    assert all((ROOT / name).exists() for name in sent)


def test_the_image_runs_as_nobody_in_particular_and_has_the_extras_that_it_names():
    text = (ROOT / "Dockerfile").read_text()
    last = text[text.rindex("\nFROM ") :]
    assert re.search(r"^USER [1-9]\d*$", last, re.MULTILINE)
    assert last.index("USER ") < last.index("ENTRYPOINT")
    assert set(re.search(r"ARG EXTRAS=(\S+)", text)[1].split(",")) <= set(PROJECT["optional-dependencies"])


@pytest.mark.parametrize("name", COMPOSE["services"])
def test_the_commands_of_the_compose_file_run(name, tmp_path):
    """In a folder like the container's /data, with the files that its comments speak of."""
    service = COMPOSE["services"][name]
    assert (service["network_mode"], service["read_only"], service["cap_drop"]) == ("none", True, ["ALL"])
    lines = [f"u{i % 40}\tflowers {i % 7}\tTop/Home/Garden" for i in range(400)]
    text = "user\tquery\tcategory\n" + "\n".join(lines) + "\n"
    for file in ("log.tsv", "live.tsv"):
        (tmp_path / file).write_text(text)
    run = subprocess.run(
        [TOOLS / "querycloak", *service["command"]], cwd=tmp_path, check=False, capture_output=True, text=True
    )
    assert run.returncode == 0, run.stderr
    output = service["command"][service["command"].index("--output") + 1]
    assert len((tmp_path / output).read_text().splitlines()) > 100
    assert (tmp_path / f"{output}.statement.json").exists()


def test_no_two_files_of_tests_have_the_same_name():
    """pytest imports them by their names, and would refuse the second one, and with it the whole run."""
    files = [path for path in (ROOT / "tests").rglob("test_*.py") if "__pycache__" not in path.parts]
    names = [path.name for path in files]
    assert [str(path) for path in files if names.count(path.name) > 1] == []
