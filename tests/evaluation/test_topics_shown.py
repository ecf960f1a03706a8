"""Topics under names that a reader knows, wherever they are shown."""

from __future__ import annotations

import pytest
from sample_releases import release_of

import querycloak as qc
from querycloak.evaluation.assess import Assessor
from querycloak.knowledge.concept_topics import NO_TOPIC
from querycloak.randomness import Randomness
from querycloak.tasks.suite import prepare, score_tasks

PETS, SPORTS = "Animals & Pets", "Sports & Outdoors"
TEXTS = ["labrador retriever", "football", "poodle", "soccer", "beagle"]
LOG = qc.QueryLog.of([f"u{i % 6}" for i in range(30)], [TEXTS[i % 5] for i in range(30)])


def topics_of(log, queries):
    """Score of the task `topics` and of the measure, for a release of one user with these queries."""
    bench, release = qc.Workbench(log), release_of(log, [queries], [0])
    data = prepare(log, bench.concepts, bench.taxonomy, Randomness(1))
    (task,) = score_tasks(data, release, bench.concepts_of(release), only=["topics"])
    (measure,) = bench.measure(release, ["topics"])
    return task, measure


def test_a_log_about_dogs_and_football_has_these_topics():
    assert Assessor(qc.Workbench(LOG)).topics == pytest.approx({PETS: 0.6, SPORTS: 0.4})
    task, measure = topics_of(LOG, ["beagle", "soccer", "dachshund", "poodle", "tennis"])
    assert task.note == f"most asked in the log: {PETS} 60%, {SPORTS} 40%"
    assert task.cases == 3  # dogs, American football, soccer
    assert task.value == pytest.approx(1 - measure.value)
    assert task.value == pytest.approx(0.8)  # tennis is another sport
    assert measure.details == {"in no topic, log": 0, "in no topic, release": 0}
    other, far = topics_of(LOG, ["mortgage"])
    assert (other.value, far.value) == (pytest.approx(0), pytest.approx(1))


def test_a_release_that_says_entity_does_not_keep_the_topics():
    """Left out, its topics would be those of the one row that says more, which are the log's."""
    dogs = LOG.take(LOG.queries.is_in(["poodle", "beagle", "labrador retriever"]).to_numpy()[LOG.query])
    task, measure = topics_of(dogs, ["poodle", "entity", "entity", "entity"])
    assert task.value < 0.5 < measure.value
    assert measure.details["in no topic, release"] == 0.75


def test_what_is_in_no_topic_is_counted_and_said():
    log = qc.QueryLog.of(["a", "b", "c", "d"], ["poodle", "beagle", "football", "happening"])
    task, _ = topics_of(log, ["poodle"])
    assert task.note == f"most asked in the log: {PETS} 50%, {SPORTS} 25%; in no topic: 25%"
    assert Assessor(qc.Workbench(log)).topics[NO_TOPIC] == 0.25
