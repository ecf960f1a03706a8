"""One mapping for a bench and for all that it starts: parts of the log, other processes, the store of finished runs."""

from __future__ import annotations

import numpy as np
import pytest

import querycloak as qc
from querycloak.errors import UnknownNameError
from querycloak.evaluation import plans
from querycloak.evaluation.assess import Assessor
from querycloak.evaluation.compare import compare, plan_runs
from querycloak.evaluation.plans import run_plans
from querycloak.evaluation.workbench import Workbench
from querycloak.knowledge.taxonomy import Taxonomy
from querycloak.mapping import Mapper, map_log
from querycloak.methods.dp._rebuild import shaped_texts
from querycloak.progress import QUIET

TREE = Taxonomy.from_parents(
    [-1, 0, 0, 2, 0, 4, 4, 0, 7],
    [["Top"], ["hotel"], ["place"], ["San Francisco"], ["thing"], ["airport"], ["shop"], ["drink"], ["tea"]],
)
TEXTS = ["the hotels of san francisco airport", "tea shop", "hotel", "shop at the airport"]
ROWS = [(f"u{u}", TEXTS[(u + q) % 4]) for u in range(12) for q in range(4)]
LOG = qc.QueryLog.of([user for user, _ in ROWS], [text for _, text in ROWS])


def test_the_mapping_changes_the_concepts_and_is_passed_to_parts():
    segments, phrases = Workbench(LOG, TREE), Workbench(LOG, TREE, mapping="phrases")
    assert len(phrases.concepts) < len(segments.concepts)
    assert (segments.concepts.mapping, phrases.concepts.mapping) == ("segments", "phrases")
    assert phrases.part(LOG).concepts.mapping == "phrases"


def test_python_takes_the_same_name_everywhere():
    release = qc.anonymize(LOG, "clump", taxonomy=TREE, k=2, seed=1, mapping="phrases")
    assert (release.statement.mapping, release.statement.mapping_learned) == ("phrases", False)
    assert release.passed
    assert qc.anonymize(LOG, "frequent-queries", taxonomy=TREE, seed=1).statement.mapping == ""
    assert len(qc.map_log(LOG, TREE, mapping="phrases")) < len(qc.map_log(LOG, TREE))
    assert any("phrases" in title for title, _ in qc.explain("tea cups", taxonomy=TREE, mapping="phrases"))
    own, other = (
        qc.measure(LOG, release, taxonomy=TREE, names=["generalization"], mapping=m) for m in ("phrases", "segments")
    )
    assert qc.measure(LOG, release, taxonomy=TREE, names=["generalization"]) == own != other
    with pytest.raises(UnknownNameError, match=r"There is no mapping 'segmens'\. Did you mean 'segments'"):
        Workbench(LOG, TREE, mapping="segmens")


def test_a_release_read_by_the_bench_keeps_its_mapping():
    bench = Workbench(LOG, TREE)
    assert bench.for_release(qc.anonymize(LOG, "clump", taxonomy=TREE, k=2, mapping="phrases")).mapping == "phrases"
    assert bench.for_release(qc.anonymize(LOG, "frequent-queries", taxonomy=TREE)).mapping == "layers"
    assert (
        Workbench(LOG, TREE, mapping="segments").for_release(qc.anonymize(LOG, "clump", taxonomy=TREE, k=2)).mapping
        == "segments"
    )


def test_shaped_texts_are_filled_by_the_mapping_of_the_concepts():
    """`segments` would find units elsewhere in the text, and then labels alone are published, without other words."""
    mapper = Mapper(TREE, "phrases")
    assert mapper.concepts(TEXTS[0]) != Mapper(TREE).concepts(TEXTS[0])
    log = qc.QueryLog.of(["ann"], [TEXTS[0]])
    concepts = map_log(log, mapper)
    drawn = concepts.known().concept
    at = np.flatnonzero(concepts.concept >= 0)
    (text,) = shaped_texts(log, concepts, TREE, at, drawn, keep_all=True)
    assert text == "the hotels of san francisco airport"


def test_worker_processes_use_the_same_mapping(monkeypatch):
    class InThisProcess:
        def __init__(self, target, setup, processes):
            self.answer = plans._answers(setup)

        def __enter__(self):
            return self

        def __exit__(self, *_):
            pass

        def map(self, tasks):
            return [self.answer(task) for task in tasks]

    monkeypatch.setattr(plans, "Workers", InThisProcess)
    bench = Workbench(LOG, TREE, mapping="phrases")
    assessor = Assessor(bench, 1)
    alone, shared = (list(run_plans(assessor, plan_runs(["sweep"], {})[:1], QUIET, n)) for n in (1, 2))
    assert [run.statement.mapping for run in shared] == ["phrases"]
    assert [run.topics for run in shared] == [run.topics for run in alone]
    assert [run.scores for run in shared] == [run.scores for run in alone]


def test_another_mapping_is_another_run(tmp_path):
    plans = plan_runs(["sweep"], {})[:1]
    found = [compare(Workbench(LOG, TREE, mapping=m), plans, tmp_path) for m in ("segments", "phrases")]
    assert len(list((tmp_path / "runs").iterdir())) == 2
    assert [f.runs[0].statement.mapping for f in found] == ["segments", "phrases"]
    assert [f.mapping for f in found] == ["segments", "phrases"]
