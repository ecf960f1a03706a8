"""What is on disk is read back typed; what is damaged or foreign is left out with a note, and never touched."""

import json
from dataclasses import replace

import pytest

from querycloak.evaluation.limits import Limits
from querycloak.studio.model import FoundColumn, Job, LogFile, Look, Project, Reading, StudioRun
from querycloak.studio.state import CLOSED, Store

ID, OTHER = "0" * 16, "a" * 16


def project(**changed):
    columns = (FoundColumn(1, "nutzer", "nutzer", "user", True, ("aa", "0")),)
    whole = Project(
        ID,
        LogFile("log.tsv", 10, 1.5),
        2.0,
        Look("csv", True, columns, ("query",), "why"),
        Reading({"user": "1"}, {"user": "1"}, header=True),
        limits=Limits(link=0.5),
        job=Job("j", "look", "done"),
    )
    return replace(whole, **changed)


def run(**changed):
    whole = StudioRun(
        OTHER, ID, "sweep", {"k": 5, "rare": "keep"}, "sweep k=5", 3.0, Job("r", "run"), ("topics",), Limits()
    )
    return replace(whole, **changed)


@pytest.fixture
def work(tmp_path):
    (tmp_path / "projects").mkdir()
    return tmp_path


def test_what_is_kept_is_read_back(work):
    store = Store(work)
    store.keep_project(project())
    store.keep_run(run(job=Job("r", "run", "failed", error="why", notes=("one",))))
    again = Store(work)
    projects, runs = again.load()
    assert projects == {ID: project()}
    assert runs == {OTHER: run(job=Job("r", "run", "failed", error="why", notes=("one",)))}
    assert not again.notes


def test_only_the_owner_reads_it(work):
    Store(work).keep_project(project())
    assert (work / "projects" / ID / "project.json").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("state", ["waiting", "running"])
def test_after_a_restart_nothing_runs(work, state):
    store = Store(work)
    store.keep_project(project(job=Job("j", "look", state)))
    store.keep_run(run(job=Job("r", "run", state)))
    (store.run_folder(run()) / "out.part").mkdir()
    (store.run_folder(run()) / "out.part" / "truth.tsv").write_text("who is who")
    projects, runs = Store(work).load()
    for job in (projects[ID].job, runs[OTHER].job):
        assert (job.state, job.error) == ("cancelled", CLOSED)
    assert not (store.run_folder(run()) / "out.part").exists()


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"[]", b"null", b"\xff\xfe", b"[" * 100_000, b'{"version": 1, "project": {"id": 5}}', b"#!/bin/sh\n"],
)
def test_damaged_files_are_left_out(work, content):
    Store(work).keep_project(project())
    Store(work).keep_run(run())
    path = work / "projects" / ID / "runs" / OTHER / "run.json"
    path.write_bytes(content)
    store = Store(work)
    projects, runs = store.load()
    assert list(projects) == [ID]
    assert not runs
    assert len(store.notes) == 1
    assert path.read_bytes() == content
    (work / "projects" / ID / "project.json").write_bytes(content)
    assert Store(work).load() == ({}, {})


@pytest.mark.parametrize(
    "change",
    [
        {"version": 99},
        {"also": 1},
        {"project": "id of another"},
        {"project": "limits"},
    ],
)
def test_foreign_files_are_left_out(work, change):
    Store(work).keep_project(project())
    path = work / "projects" / ID / "project.json"
    kept = json.loads(path.read_text())
    if change.get("project") == "id of another":
        kept["project"]["id"] = OTHER
    elif change.get("project") == "limits":
        kept["project"]["limits"]["link"] = 7
    else:
        kept.update(change)
    path.write_text(json.dumps(kept))
    store = Store(work)
    assert store.load() == ({}, {})
    assert store.notes


def test_links_and_other_names_are_left_out(work, tmp_path):
    (work / "projects" / "notes.txt").write_text("mine")
    (work / "projects" / "README").mkdir()
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    Store(elsewhere.parent).keep_project(project())
    (work / "projects" / OTHER).symlink_to(elsewhere)
    store = Store(work)
    projects, _ = store.load()
    assert list(projects) == [ID]
    assert len(store.notes) == 3
    assert (work / "projects" / "notes.txt").read_text() == "mine"
    assert elsewhere.is_dir()
