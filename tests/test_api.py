from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import pytest
from places import ROOT
from samples import sample_log

import querycloak as qc
from querycloak.catalog import METHODS, STREAM_METHODS
from querycloak.errors import InputError, ParameterError, UnknownNameError
from querycloak.methods.suppression.click_graph_removal import ClickGraphRemoval
from querycloak.methods.suppression.sweep import Sweep

HEAVY = {"numpy", "polars", "numba", "typer", "rich", "textblob", "scipy", "opendp", "altair"}
MODULES = sorted(
    m.name
    for m in pkgutil.walk_packages(qc.__path__, "querycloak.")
    if m.name != "querycloak.__main__"  # runs the command line
)


def test_functions_keep_their_names_next_to_the_folders():
    log = sample_log()
    for _ in range(2):  # the first call imports the folder of the same name
        release = qc.anonymize(log, "sweep", seed=1)
        assert qc.attack(log, release, names=["uniqueness"])
        assert qc.measure(log, release, names=["kept"])
    assert importlib.import_module("querycloak.methods.suppression.sweep").Sweep().min_query_users == 5


@pytest.mark.slow
def test_every_module_is_imported_by_its_path():
    """`import a.b.c as m` takes attributes from the packages above, so none may be hidden by a public name."""
    code = "\n".join(f"import {name} as m; assert m.__name__ == {name!r}" for name in MODULES)
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True)
    code = "import querycloak as qc\nfor name in qc.__all__: getattr(qc, name)\n" + code
    code += "\nfor name in qc.__all__: assert type(getattr(qc, name)).__name__ != 'module', name"
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True)


@pytest.mark.parametrize("name", sorted(set(qc.__all__) - {"__version__"}))
def test_every_public_name_is_documented_and_typed(name):
    found = getattr(qc, name)
    text = inspect.getdoc(found) or ""
    first = text.split("\n\n")[0].replace("\n", " ")
    assert first.endswith((".", ":")), "one sentence that says what it is"
    if inspect.isclass(found):
        assert text != inspect.getdoc(found.__mro__[1]), "its own words, not those of the class below"
        return
    signature = inspect.signature(found)
    untyped = [p.name for p in signature.parameters.values() if p.annotation is inspect.Parameter.empty]
    assert not untyped
    assert signature.return_annotation is not inspect.Signature.empty
    assert len(text.splitlines()) > 1, "more than a headline, so that help() teaches"
    assert ">>>" in text or "For example" in text


def test_read_log_takes_every_option_by_name():
    options = {f.name for f in fields(qc.ReadOptions)} - {"assume_yes"}
    assert set(inspect.signature(qc.read_log).parameters) == options | {"source", "options", "yes", "progress"}


def test_public_names_agree_everywhere():
    names = set(qc.__all__)
    assert list(qc.__all__) == sorted(qc.__all__)
    assert names == set(dir(qc))
    tree = ast.parse(Path(qc.__file__).read_text())
    block = next(node for node in tree.body if isinstance(node, ast.If))
    typed = {alias.name: node.module for node in block.body for alias in node.names}
    assert set(typed) | {"__version__"} == names
    for name, module in typed.items():  # what a type checker sees is what is loaded
        assert getattr(importlib.import_module(module), name) is getattr(qc, name)
    page = (ROOT / "docs" / "api.md").read_text()
    assert {name for name in names if f"`{name}" not in page} == set()


def test_all_errors_are_public():
    errors = importlib.import_module("querycloak.errors")
    assert set(errors.__all__) <= set(qc.__all__)


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="anonymise"):
        qc.anonymise  # noqa: B018


def test_importing_the_package_loads_nothing_heavy():
    light = (
        "querycloak.UserError, querycloak.Method, querycloak.Settings, querycloak.PrivacyStatement, querycloak.Score"
    )
    code = f"import sys, querycloak; {light}; print(sorted({HEAVY!r} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def unknown(name, nearest, call):
    with pytest.raises(ParameterError, match=rf"no argument '{name}'\. Did you mean '{nearest}'\?"):
        call()


def test_unknown_keywords_are_refused_with_the_nearest(tmp_path):
    log = sample_log()
    release = qc.anonymize(log, "sweep", seed=1)
    unknown("taxonmy", "taxonomy", lambda: qc.attack(log, release, taxonmy="wordnet"))
    unknown("name", "names", lambda: qc.measure(log, release, name=["kept"]))
    unknown("taxonmy", "taxonomy", lambda: qc.anonymize(log, "sweep", taxonmy="wordnet"))
    unknown("min_query_user", "min_query_users", lambda: qc.anonymize(log, "sweep", min_query_user=2))
    unknown("outptu", "output", lambda: qc.compare(log, ["sweep"], outptu=tmp_path))
    unknown("maping", "mapping", lambda: qc.map_log(log, maping="plain"))
    unknown("usres", "users", lambda: qc.generate(usres=3))
    unknown("tuth", "truth", lambda: qc.read_release(tmp_path, tuth="x"))
    assert list(tmp_path.iterdir()) == []


def test_settings_as_an_object_are_the_settings_as_keywords():
    log = sample_log()
    as_object = qc.anonymize(log, "sweep", settings=Sweep(min_query_users=3), seed=1)
    as_keywords = qc.anonymize(log, "sweep", min_query_users=3, seed=1)
    assert as_object.statement == as_keywords.statement
    assert as_object.statement.settings["min_query_users"] == 3
    with pytest.raises(ParameterError, match="not both"):
        qc.anonymize(log, "sweep", settings=Sweep(), min_query_users=3)
    with pytest.raises(ParameterError, match="settings must be a Sweep for 'sweep', got 'ClickGraphRemoval'"):
        qc.anonymize(log, "sweep", settings=ClickGraphRemoval())


@pytest.mark.slow
def test_compare_writes_nothing_without_a_directory(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = qc.compare(sample_log(), ["sweep"], {"min_query_users": [1, 2]})
    assert [run.name for run in found.runs] == ["pseudonyms only", "sweep min_query_users=1", "sweep min_query_users=2"]
    assert all(run.error is None for run in found.runs)
    assert list(tmp_path.iterdir()) == []


def test_compare_writes_its_report_where_it_is_told(tmp_path):
    qc.compare(sample_log(), ["sweep"], output=tmp_path / "out")
    assert {path.name for path in (tmp_path / "out").iterdir()} == {
        "report.html",
        "results.csv",
        "results.json",
        "runs",
    }


def test_a_release_is_read_with_its_log_and_truth(tmp_path):
    log = sample_log()
    release = qc.anonymize(log, "sweep", seed=1)
    qc.write_release(release, tmp_path / "r.tsv")
    qc.write_truth(release, log, tmp_path / "truth")
    read = qc.read_release(tmp_path / "r.tsv", log=log, truth=tmp_path / "truth")
    assert qc.attack(log, read, names=["uniqueness"])
    with pytest.raises(ParameterError, match="needs `log`"):
        qc.read_release(tmp_path / "r.tsv", truth=tmp_path / "truth")
    with pytest.raises(InputError, match="does not belong to this log"):
        qc.read_release(tmp_path / "r.tsv", log=qc.QueryLog.of(["a"], ["b"]))


def test_every_method_is_described():
    found = qc.list_methods()
    assert set(found) == set(METHODS) | set(STREAM_METHODS)
    for name, description in found.items():
        page = str(description)
        assert description.summary in page
        assert description.guarantee in page
        assert all(s.name in page and s.help in page for s in description.settings), name
    assert found["url-microaggregation"].takes == ("taxonomy", "directory", "resolver")
    with pytest.raises(UnknownNameError, match="Did you mean 'sweep'"):
        qc.describe_method("swep")


def test_help_lists_the_methods_of_today():
    sys.path.insert(0, str(ROOT / "tools"))
    try:
        tool = importlib.import_module("build_method_list")
    finally:
        sys.path.remove(str(ROOT / "tools"))
    source = tool.FILE.read_text()
    assert tool.written(source) == source, "run python tools/build_method_list.py"
    assert "min_query_users=" in qc.anonymize.__doc__


def test_settings_explain_themselves():
    for entry in (METHODS | STREAM_METHODS).values():
        for setting in qc.describe_method(entry.name).settings:
            assert setting.help in entry.settings.__doc__
