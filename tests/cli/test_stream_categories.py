"""The categories of a stream that comes without any: our topics, or WordNet as in the paper."""

from __future__ import annotations

import pytest
from cli.command import querycloak

import querycloak as qc
from querycloak.evaluation.compare import _key
from querycloak.evaluation.plans import Plan

WORDS = ("poodle", "beagle", "football", "asthma", "robert koch")
SETTINGS = {"k": 5, "depth": 2}
OPTIONS = ("--k", 5, "--depth", 2)


@pytest.fixture
def log(tmp_path):
    """Each word with a number is one person's; each word alone is asked by all."""
    texts = [f"{WORDS[i % 5]} {i}" if i % 2 else WORDS[i % 5] for i in range(400)]
    qc.write_log(qc.QueryLog.of([f"u{i // 5 * 7 % 20}" for i in range(400)], texts), tmp_path / "log.tsv")
    return tmp_path / "log.tsv"


def streamed(log, *words):
    """The queries that leave, in their order, with their ids."""
    out = log.with_name("out.tsv")
    done = querycloak("stream", "-i", log, "-o", out, "--seed", 1, "--yes", *OPTIONS, *words)
    assert done.returncode == 0, done.stderr
    return out.read_text()


def queries(text):
    return {line.split("\t")[1] for line in text.splitlines()[1:]}


def test_queries_without_a_category_have_one_of_our_topics(log):
    by_default = streamed(log, "--rare", "label")
    assert by_default == streamed(log, "--rare", "label", "--taxonomy", "topics")
    assert {"[Dogs]", "[American Football]"} <= queries(by_default)
    assert {"[poodle]", "[football]"} <= queries(streamed(log, "--rare", "label", "--taxonomy", "wordnet"))


def test_as_in_the_paper_categories_are_those_of_a_deep_tree(log):
    as_in_paper = streamed(log, "--as-in-paper")
    assert as_in_paper == streamed(log, "--as-in-paper", "--taxonomy", "wordnet")
    assert as_in_paper != streamed(log, "--as-in-paper", "--taxonomy", "topics")


@pytest.mark.parametrize("as_in_paper", [False, True])
def test_live_and_in_memory_the_same_queries_leave(log, as_in_paper):
    live = streamed(log, "--ids", "original", *(["--as-in-paper"] if as_in_paper else []))
    settings = {**SETTINGS, "ids": "original", "as_in_paper": as_in_paper}
    release = qc.anonymize(qc.read_log(log, yes=True), "self-adjusting", seed=1, **settings)
    assert release.log.queries.gather(release.log.query).to_list() == [
        line.split("\t")[1] for line in live.splitlines()[1:]
    ]


@pytest.mark.slow
def test_who_is_famous_does_not_depend_on_the_categories(log, tmp_path):
    """Robert Koch is in WordNet, and neither in the topics nor in this file; nobody else of his name is published."""
    (tmp_path / "own.txt").write_text("Top/Pets/Poodle\nTop/Pets/Beagle\nTop/Karen Hartwell\n", encoding="utf-8")
    for taxonomy in ("topics", "wordnet", tmp_path / "own.txt"):
        assert "robert koch" in queries(streamed(log, "--taxonomy", taxonomy))
    log.write_text(log.read_text().replace("robert koch", "karen hartwell"))
    for taxonomy in ("topics", tmp_path / "own.txt"):
        assert not {text for text in queries(streamed(log, "--taxonomy", taxonomy)) if "karen hartwell" in text}


@pytest.mark.slow
def test_attacks_and_measures_see_the_categories_of_the_release(log):
    table = qc.read_log(log, yes=True)
    usual, wordnet, topics = (qc.Workbench(table, name) for name in (None, "wordnet", "topics"))
    for as_in_paper, same, other in ((False, topics, wordnet), (True, wordnet, topics)):
        release = usual.anonymize("self-adjusting", seed=1, **SETTINGS, as_in_paper=as_in_paper)
        again = same.anonymize("self-adjusting", seed=1, **SETTINGS, as_in_paper=as_in_paper)
        assert release.log.query.tolist() == again.log.query.tolist()
        found = [bench.measure(release, ["category-emd"]) for bench in (usual, same, other)]
        assert found[0] == found[1] != found[2]
        assert usual.part(table).measure(release, ["category-emd"]) == found[0]


def test_a_run_over_other_categories_is_another_run(log):
    table = qc.read_log(log, yes=True)
    plan = Plan("self-adjusting", "self-adjusting", {})
    assert _key("", plan, 1, qc.Workbench(table)) != _key("", plan, 1, qc.Workbench(table, "wordnet"))
