"""Categories learned from clicks, where they are used and where they are refused."""

from __future__ import annotations

import json
import re

import pytest
from samples import Notes, sample_directory
from typer.testing import CliRunner

import querycloak as qc
from querycloak.catalog import METHODS
from querycloak.cli.app import app
from querycloak.errors import InputError, ParameterError
from querycloak.evaluation.workbench import Workbench
from querycloak.knowledge.paths import tree_of_paths
from querycloak.logs.query_log import QueryLog
from querycloak.mapping.learned_sites import learn_sites
from querycloak.measures.srp import _by_site

TREE = tree_of_paths(["Top/tea", "Top/sports"], name="tree")[0]


@pytest.fixture(scope="module")
def log():
    """A log in which what a query is about and where it leads agree; a third of the queries have no click."""
    words = {"tea": ["tea", "coffee", "cup", "kettle"], "sport": ["surfing", "sailing", "swimming", "diving"]}
    rows = [
        (f"u{user}", f"{adjective} {noun}", None if (user + i) % 3 == 0 else f"http://{site}.example/")
        for user in range(24)
        for site, nouns in words.items()
        for i, noun in enumerate(nouns)
        for adjective in ("cheap", "best", "new", "used")
    ]
    users, queries, urls = zip(*rows, strict=True)
    return QueryLog.of(users, queries, urls=urls, times=[9_000 * i for i in range(len(rows))])


def bench_of(log, **more):
    return Workbench(log, TREE, sample_directory(), learn_from_clicks=True, **more)


def test_queries_without_a_click_get_a_category_and_the_statement_says_so(log):
    notes = Notes()
    release = bench_of(log, progress=notes).anonymize("url-microaggregation", seed=1, k=3)
    before = Workbench(log, TREE, sample_directory()).anonymize("url-microaggregation", seed=1, k=3)
    assert before.statement.figures["queries with a category"] == 512
    assert "queries with a learned category" not in before.statement.figures
    assert not before.statement.mapping_learned
    learned = release.statement.figures["queries with a learned category"]
    assert learned > 128
    assert release.statement.figures["queries with a category"] == 512 + learned
    assert release.statement.mapping_learned
    assert f"mapping: {release.statement.mapping}, learned from the log" in release.statement.short()
    assert any("Categories were learned from" in note for note in notes.notes)


def test_srp_reads_queries_in_the_same_way(log):
    bench = bench_of(log)
    without = _by_site(log, bench.directory, None, None)
    with_them = _by_site(log, bench.directory, None, bench.click_categories)
    assert (with_them[without >= 0] >= 0).all()
    release = bench.anonymize("url-microaggregation", seed=1, k=3)
    assert qc.measure(log, release, names=["srp"], directory=bench.directory, taxonomy=TREE, learn_from_clicks=True)


def test_a_part_of_the_log_is_learned_from_alone(log):
    part = log.take(log.user < 12)
    bench = bench_of(log).part(part)
    assert bench.learn_from_clicks
    assert bench.click_categories.learned.votes < bench_of(log).click_categories.learned.votes


def test_a_method_that_does_not_map_is_told_to_learn_nothing(log):
    notes = Notes()
    release = bench_of(log, progress=notes).anonymize("policy", seed=1, rules="google-2024")
    assert not release.statement.mapping_learned
    assert "policy does not ask what queries are about: nothing is learned from clicks." in notes.notes


PRIVATE = sorted(name for name, entry in METHODS.items() if entry.is_private)


def test_private_methods_are_known():
    promised = sorted(name for name, entry in METHODS.items() if "differential privacy" in entry.guarantee)
    assert promised == PRIVATE != []


@pytest.mark.parametrize("name", PRIVATE)
def test_differential_privacy_learns_nothing_from_the_log(log, name):
    with pytest.raises(ParameterError, match=f"{name} promises differential privacy"):
        bench_of(log).anonymize(name, seed=1)
    with pytest.raises(ParameterError, match=f"{name} promises differential privacy"):
        qc.compare(log, [name], directory=sample_directory(), taxonomy=TREE, learn_from_clicks=True)


def test_a_private_release_is_not_measured_with_it(log):
    release = qc.anonymize(log, "frequent-queries", taxonomy=TREE, seed=1, epsilon=1.0, delta=1e-6)
    with pytest.raises(ParameterError, match="frequent-queries promises differential privacy"):
        bench_of(log).for_release(release)


def test_without_clicks_it_is_refused():
    bare = QueryLog.of(["a", "b"], ["tea", "tea"])
    with pytest.raises(InputError, match="no clicked URLs"):
        qc.anonymize(bare, "url-microaggregation", directory=sample_directory(), learn_from_clicks=True)


def write(path, log):
    users, queries = log.users.to_list(), log.queries.to_list()
    urls = [None if code < 0 else log.urls[int(code)] for code in log.url]
    rows = zip(log.user.tolist(), log.query.tolist(), urls, strict=True)
    lines = [f"{users[u]}\t{queries[q]}\t{url or ''}" for u, q, url in rows]
    path.write_text("\n".join(["user\tquery\turl", *lines]) + "\n")
    return str(path)


def test_the_command_line(tmp_path, log):
    given = write(tmp_path / "log.tsv", log)
    (tmp_path / "sites.tsv").write_text("tea.example\tTop/Home\nsport.example\tTop/Sports\n")
    (tmp_path / "tree.tsv").write_text("Top/tea\nTop/sports\n")
    sites = [
        "--directory",
        str(tmp_path / "sites.tsv"),
        "--taxonomy",
        str(tmp_path / "tree.tsv"),
        "--learn-from-clicks",
    ]
    out = str(tmp_path / "release.tsv")
    run = CliRunner().invoke
    made = run(app, ["anonymize", given, "-o", out, "-m", "url-microaggregation", "--k", "3", "--seed", "1", *sites])
    assert made.exit_code == 0, made.output
    assert json.loads((tmp_path / "release.tsv.statement.json").read_text())["statement"]["mapping_learned"]
    for command in (
        ["anonymize", str(tmp_path / "none.tsv"), "-o", out, "-m", "histogram-dp", *sites],
        ["compare", str(tmp_path / "none.tsv"), "-o", str(tmp_path / "out"), "--methods", "histogram-dp", *sites],
    ):
        refused = run(app, command)
        assert re.search("histogram-dp promises differential privacy", str(refused.exception) + refused.output)


def test_all_methods_are_those_that_may_learn(log, monkeypatch):
    monkeypatch.setattr("querycloak.evaluation.compare.compare", lambda _, plans, *__, **___: plans)
    plans = qc.compare(log, directory=sample_directory(), taxonomy=TREE, learn_from_clicks=True)
    names = {plan.method for plan in plans}
    assert "url-microaggregation" in names
    assert not names & set(PRIVATE)
    assert {plan.method for plan in qc.compare(log, directory=sample_directory(), taxonomy=TREE)} >= set(PRIVATE)


def site_log() -> QueryLog:
    """Three people ask for a site that no table knows, and click it; others ask for something else."""
    people = ["ann", "bob", "cem", "dan", "eve"]
    queries = ["zxq news", "zxq news", "zxq news", "chess", "chess"]
    urls = ["http://www.zxq-news.com/", "zxqnews.com", "http://zxqnews.com/today", None, "http://chess.example/"]
    return QueryLog.of(people, queries, urls=urls)


def test_names_of_sites_are_learned_from_three_people_and_said():
    bench = Workbench(site_log(), learn_from_clicks=True)
    wordnet = bench.taxonomy
    assert [wordnet.label(c) for c in bench.concepts.concept[:3]] == ["web site"] * 3
    assert bench.concepts.learned
    plain = Workbench(site_log())
    assert "web site" not in [wordnet.label(c) for c in plain.concepts.concept if c >= 0]
    assert not plain.concepts.learned
    release = bench.anonymize("semantic-microaggregation", seed=1, k=2)
    assert release.statement.mapping_learned
    assert not plain.anonymize("semantic-microaggregation", seed=1, k=2).statement.mapping_learned


def test_two_people_teach_nothing():
    log = site_log()
    two = QueryLog.of(["ann", "bob", "bob"], ["zxq news"] * 3, urls=[log.urls[i] for i in (0, 1, 2)])
    assert learn_sites(two) == {}
    people = ["ann", "bob", "cem"]  # three ask and click, and only two click the site of that name
    also = QueryLog.of([*people, *people[:2]], ["zxq"] * 5, urls=["zxq.com", "zxq.com", "a.com", "zxq.com", "zxq.org"])
    assert learn_sites(also) == {}
    most = QueryLog.of(["a", "b", "c", "d", "e", "f"], ["zxq"] * 6, urls=["zxq.com"] * 3 + ["other.com"] * 3)
    assert learn_sites(most) == {}  # half of the clicks is not most
