"""Packages that add methods, attacks, measures, taxonomies and formats: the example installed, and ones that break."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tomllib
from importlib.util import find_spec

import pytest
from places import ROOT

import querycloak as qc
from querycloak.catalog import METHODS, Method, method
from querycloak.errors import PluginError, PluginWarning, UnknownNameError
from querycloak.plugins import forget_plugins

EXAMPLE = ROOT / "examples" / "querycloak-example"
LOG = "".join(f'user=u{i % 9} query="{q}"\n' for i, q in enumerate(["green tea", "rye bread", 'a\\"b pan', "pot"] * 18))


def install(target, *, by_pip):
    """Install the example into a directory; without pip and its build backend, copy it and write its entry points."""
    if by_pip:
        options = ["--quiet", "--no-deps", "--no-build-isolation", "--disable-pip-version-check", "--target"]
        subprocess.run([sys.executable, "-m", "pip", "install", *options, target, EXAMPLE], check=True)
        return
    project = tomllib.loads((EXAMPLE / "pyproject.toml").read_text())["project"]
    shutil.copytree(EXAMPLE / "src" / "querycloak_example", target / "querycloak_example")
    dist(target, project["name"], project["entry-points"], project["version"])


def dist(target, name, groups, version="1.0"):
    """Write the metadata of an installed package with these entry points: group → {name: object}."""
    folder = target / f"{name.replace('-', '_')}-{version}.dist-info"
    folder.mkdir(parents=True)
    (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    points = [f"[{group}]\n" + "".join(f"{k} = {v}\n" for k, v in entries.items()) for group, entries in groups.items()]
    (folder / "entry_points.txt").write_text("\n".join(points))


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    target = tmp_path_factory.mktemp("site")
    install(target, by_pip=find_spec("hatchling") is not None and find_spec("pip") is not None)
    return target


@pytest.fixture
def run(installed, tmp_path):
    (tmp_path / "log.logfmt").write_text(LOG)
    paths = os.pathsep.join([str(installed), str(ROOT / "src")])

    def querycloak(*words, code=0):
        done = subprocess.run(
            [sys.executable, "-W", "error", "-m", "querycloak", *words],
            cwd=tmp_path,
            env=os.environ | {"PYTHONPATH": paths},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == code, done.stderr
        return done

    return querycloak


def test_the_example_is_listed_with_its_package(run):
    assert "popular-queries" in run("methods").stdout
    page = run("methods", "popular-queries").stdout
    assert "from: querycloak-example 0.1.0" in page
    assert "--min-query-users" in page


@pytest.mark.slow
def test_the_example_reads_anonymizes_attacks_and_measures(run, tmp_path):
    words = ["log.logfmt", "-o", "release.logfmt", "--method", "popular-queries", "--top", "2", "--truth", "truth"]
    run("anonymize", *words, "--min-query-users", "2", "--seed", "1")
    release = (tmp_path / "release.logfmt").read_text().splitlines()
    assert len(release) == 36
    assert all(
        line.startswith("user=") and line.endswith(('query="green tea"', 'query="rye bread"')) for line in release
    )
    statement = json.loads((tmp_path / "release.logfmt.statement.json").read_text())
    assert statement["form"]["format"] == "logfmt"
    assert statement["statement"]["dropped"]["not among the 2 most popular"] == 36
    done = run("attack", "log.logfmt", "release.logfmt", "--truth", "truth", "--only", "activity-rank", "--json")
    assert json.loads(done.stdout)["attacks"][0]["attack"] == "activity-rank"
    done = run("measure", "log.logfmt", "release.logfmt", "--only", "users-kept", "--json")
    assert json.loads(done.stdout)["measures"][0]["value"] == 1.0


@pytest.mark.slow
def test_its_format_is_recognised_named_and_refused_with_a_line(run, tmp_path):
    (tmp_path / "plain.txt").write_text(LOG)
    run("anonymize", "plain.txt", "-o", "out", "--method", "sweep", "--format", "logfmt")
    assert 'query="a\\"b pan"' in (tmp_path / "out").read_text()
    (tmp_path / "bad.logfmt").write_text(LOG + "user=u1 quer\n")
    done = run("anonymize", "bad.logfmt", "-o", "out", "--method", "sweep", code=2)
    assert "bad.logfmt, line 73: expected key=value pairs" in done.stderr
    assert (
        "Did you mean 'logfmt'?"
        in run("anonymize", "plain.txt", "-o", "o", "--method", "sweep", "--format", "logfmtt", code=2).stderr
    )


def test_its_taxonomy_is_used_by_name(run):
    assert "green tea" in run("map", "cup of green tea", "--taxonomy", "kitchen").stdout
    assert "Did you mean 'kitchen'?" in run("map", "tea", "--taxonomy", "kitchn", code=2).stderr


def test_a_log_goes_through_its_format_unchanged(installed, tmp_path):
    code = """
import querycloak as qc
log = qc.QueryLog.of(["a", "b c", 'd"'], ['x\\ny', "back\\\\slash", "k=v"])
qc.write_log(log, "log", qc.LogForm("logfmt", ()))
back = qc.read_log("log", format="logfmt")
assert back.queries.to_list() == log.queries.to_list(), open("log").read()
assert back.users.to_list() == log.users.to_list()
assert "popular-queries" in qc.list_methods()
"""
    env = os.environ | {"PYTHONPATH": os.pathsep.join([str(installed), str(ROOT / "src")])}
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True, cwd=tmp_path, env=env)


def test_both_ways_of_installing_give_the_same_entry_points(tmp_path):
    if find_spec("hatchling") is None or find_spec("pip") is None:
        pytest.skip("needs pip and hatchling")
    found = []
    for by_pip in (True, False):
        target = tmp_path / str(by_pip)
        target.mkdir()
        install(target, by_pip=by_pip)
        found.append(sorted((next(target.glob("*.dist-info")) / "entry_points.txt").read_text().split()))
    assert found[0] == found[1]


@pytest.fixture
def site(tmp_path, monkeypatch):
    """A directory of packages on the path of this process."""
    monkeypatch.syspath_prepend(str(tmp_path))
    forget_plugins()
    yield tmp_path
    forget_plugins()


def test_a_package_that_breaks_is_named_and_the_rest_works(site):
    (site / "broken_plugin.py").write_text("import no_such_library\n")
    (site / "odd_plugin.py").write_text(
        "from querycloak import Method\n"
        "good = Method('good', 's', 'none', 'odd_plugin', 'S', 'f')\n"
        "other = Method('another', 's', 'none', 'odd_plugin', 'S', 'f')\n"
        "number = 3\n"
    )
    dist(site, "broken", {"querycloak.methods": {"fails": "broken_plugin:METHOD"}})
    odd = {"good": "odd_plugin:good", "misnamed": "odd_plugin:other", "number": "odd_plugin:number"}
    dist(site, "odd", {"querycloak.methods": odd})
    with pytest.warns(PluginWarning) as warned:
        names = list(METHODS)
    assert "sweep" in names
    assert "good" in names
    assert not {"fails", "misnamed", "another", "number"} & set(names)
    told = sorted(str(w.message) for w in warned)
    assert len(told) == 3
    assert told[0].startswith("broken 1.0: its method 'fails' cannot be loaded (ModuleNotFoundError: No module named")
    assert "odd 1.0: its method 'misnamed' cannot be used: it calls itself 'another'" in told[1]
    assert "odd 1.0: its method 'number' cannot be used: expected a querycloak.Method, found int" in told[2]
    with pytest.raises(PluginError, match=r"broken 1\.0"):
        method("fails")
    assert method("good").package == "odd 1.0"


@pytest.mark.parametrize("taken", ["sweep", "flat"])
def test_a_built_in_name_stays_built_in(site, taken):
    (site / "taker.py").write_text(
        f"from querycloak import Method\nM = Method({taken!r}, 's', 'none', 'taker', 'S', 'f')\n"
    )
    dist(site, "taker", {"querycloak.methods": {taken: "taker:M"}})
    with pytest.warns(PluginWarning, match=f"taker 1.0: its method '{taken}' is left out: QueryCloak has one"):
        assert list(METHODS)
    assert method(taken).module.startswith("querycloak.")


def test_of_two_with_one_name_the_first_package_wins(site):
    (site / "twins.py").write_text(
        "from querycloak import Method\nM = Method('twin', 's', 'none', 'twins', 'S', 'f')\n"
    )
    for name in ("bbb", "aaa"):
        dist(site, name, {"querycloak.methods": {"twin": "twins:M"}})
    with pytest.warns(PluginWarning, match=r"bbb 1.0: its method 'twin' is left out: aaa 1.0 has one"):
        assert method("twin").package == "aaa 1.0"


def test_a_format_that_fails_does_not_quote_the_file(site, tmp_path):
    (site / "badformat.py").write_text(
        "from querycloak import Format\n"
        "def read(path, options): raise ValueError(path.read_text())\n"
        "F = Format('bad', 's', read, recognise=lambda first, name: name.endswith('.bad'))\n"
        "G = Format('none', 's', lambda path, options: None)\n"
    )
    dist(site, "badformat", {"querycloak.formats": {"bad": "badformat:F", "none": "badformat:G"}})
    (tmp_path / "x.bad").write_text("secret\n")
    with pytest.raises(PluginError) as failed:
        qc.read_log(tmp_path / "x.bad")
    assert str(failed.value) == "badformat 1.0: its format 'bad' failed to read a file (ValueError)."
    with pytest.raises(PluginError, match="gave a NoneType, not a QueryLog"):
        qc.read_log(tmp_path / "x.bad", format="none")
    log = qc.QueryLog.of(["a"], ["b"])
    with pytest.raises(qc.OutputError, match="cannot be written, only read"):
        qc.write_log(log, tmp_path / "y", qc.LogForm("bad", ()))
    assert not (tmp_path / "y").exists()


def test_built_in_names_are_found_without_looking_for_packages(monkeypatch):
    def look():
        raise AssertionError

    monkeypatch.setattr("querycloak.plugins._any_installed", look)
    assert isinstance(METHODS["sweep"], Method)
    assert method("flat").name == "flat"


def test_an_unknown_method_is_refused_with_the_nearest():
    with pytest.raises(UnknownNameError, match="Did you mean 'flat'"):
        method("flet")
