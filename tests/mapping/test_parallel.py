from __future__ import annotations

import subprocess

import polars as pl
import pytest

from querycloak.knowledge.taxonomy import Taxonomy
from querycloak.mapping import Mapper
from querycloak.mapping.parallel import workers_for
from querycloak.workers import WorkerError, Workers

TAXONOMY = Taxonomy.from_parents([-1, 0, 0], [["Top"], ["chess"], ["water sport"]])


class Notes:
    """Keeps what it is told."""

    def __init__(self) -> None:
        self.done, self.notes = 0, []

    def start(self, step, total=None):
        self.done = 0

    def advance(self, units=1):
        self.done += units

    def note(self, text):
        self.notes.append(text)


def test_the_result_does_not_depend_on_the_number_of_processes(monkeypatch):
    monkeypatch.setattr("querycloak.mapping.mapper._BLOCK", 7)
    queries = pl.Series([f"{'chess' if i % 3 else 'water sports'} {i} x{i}" for i in range(50)] + ["", "the"])
    one = Mapper(TAXONOMY).map_queries(queries, workers=1)
    for workers in (2, 3):
        progress = Notes()
        found = Mapper(TAXONOMY).map_queries(queries, workers=workers, progress=progress)
        assert found.start.tolist() == one.start.tolist()
        assert found.concept.tolist() == one.concept.tolist()
        assert (progress.done, progress.notes) == (52, [])


def test_without_further_processes_it_goes_on_alone(monkeypatch):
    def refuse(*args, **kwargs):
        raise OSError("no more processes")

    monkeypatch.setattr(subprocess, "Popen", refuse)
    progress = Notes()
    found = Mapper(TAXONOMY).map_queries(pl.Series(["chess", "chess board"]), workers=2, progress=progress)
    assert found.concept.tolist() == [1, 1]
    assert progress.done == 2
    assert len(progress.notes) == 1


def test_nothing_in_the_current_folder_is_imported(tmp_path, monkeypatch):
    seen = tmp_path / "seen"
    (tmp_path / "numpy.py").write_text(f"open({str(seen)!r}, 'w')")
    monkeypatch.chdir(tmp_path)
    progress = Notes()
    found = Mapper(TAXONOMY).map_queries(pl.Series(["chess", "chess board"]), workers=2, progress=progress)
    assert (found.concept.tolist(), progress.notes) == ([1, 1], [])
    assert not seen.exists()


def test_a_worker_that_dies_is_noticed():
    with Workers("querycloak.mapping.parallel:serve", Mapper(TAXONOMY).reader, 2) as workers:
        for process in workers._all:
            process.kill()
            process.wait()
        with pytest.raises(WorkerError):
            list(workers.map([["chess"]]))
    assert all(process.returncode is not None for process in workers._all)


def test_few_queries_stay_in_one_process():
    assert workers_for(1_000, None) == 1
    assert workers_for(10, 3) == 3
    assert workers_for(10, 0) == 1
    assert workers_for(10**9, None) >= 1
    assert workers_for(300_000, None, bulk=True) == 1
