"""What every method that publishes texts of the log keeps by default: each text is shared by m people, no identifiers.

A method that publishes texts verbatim is added to VERBATIM, with settings that let it publish something of a small log.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference.phrases import compared, holds_run

from querycloak.catalog import STREAM_METHODS
from querycloak.errors import InputError
from querycloak.evaluation.workbench import Workbench
from querycloak.knowledge.directory import SiteDirectory
from querycloak.knowledge.taxonomy import Taxonomy
from querycloak.logs.query_log import QueryLog
from querycloak.texts.identifiers import find_identifiers
from querycloak.texts.names import find_names

ROW_BY_ROW: dict[str, dict[str, object]] = {"sweep": {}, "click-graph-removal": {"k": 1, "sites": 1}}
"""Methods that publish of each query what is shared of it, with settings that say nothing about texts."""
GROUPS: dict[str, dict[str, object]] = {
    "plain-microaggregation": {},
    "semantic-microaggregation": {},
    "syntactic-microaggregation": {},
    "url-microaggregation": {},
    "word-microaggregation": {},
}
"""Methods that publish groups of k = 5 people."""
STREAMS: dict[str, dict[str, object]] = {name: {"k": 2, "min_query_users": 5} for name in sorted(STREAM_METHODS)}
"""Methods that publish each query under another user's id: texts as everywhere, fewer candidates than people here."""
POLICIES: dict[str, dict[str, object]] = {"policy": {"rules": "[identifiers]\n[query_users]\npeople = 5\n"}}
"""The rules that say the same as the defaults of the others; presets promise what their makers do."""
VERBATIM = ROW_BY_ROW | GROUPS | STREAMS | POLICIES
PEOPLE = 5
"""What m is by default, for all of them."""

TREE = Taxonomy.from_parents(
    [-1, 0, 1, 2, 3, 4, 5, 5], [["thing"], ["food"], ["drink"], ["brew"], ["leaf"], ["tea"], ["oolong"], ["matcha"]]
)
WORDS = [
    "tea",
    "Tea",
    "oolong",
    "matcha",
    "leaf",
    "cup",
    "of",
    "日本",
    "555-010-1234",
    "jane miller",
    "ann@example.com",
]
TEXTS = st.lists(st.sampled_from(WORDS), min_size=1, max_size=4).map(" ".join)
ROWS = st.lists(st.tuples(st.integers(0, 7), TEXTS), min_size=15, max_size=60)


def log_of(rows):
    urls = [f"http://site{i}.example/" for i in range(len(rows))]
    return QueryLog.of([f"u{u}" for u, _ in rows], [q for _, q in rows], urls=urls)


def bench_of(rows):
    """Put a log on the bench, with a directory that knows every second of its sites."""
    hosts = [f"site{i}.example" for i in range(0, 60, 2)]
    paths = [f"Top/{('Food', 'Home', 'Sports')[i % 3]}/{('Tea', 'Cups')[i % 2]}" for i in range(len(hosts))]
    return Workbench(log_of(rows), TREE, directory=SiteDirectory.of(hosts, paths))


def people_behind(text, rows, bench):
    """Return the people who share a published text, by every way in which it may be shared."""
    exactly = {u for u, q in rows if q == text}
    held = {u for u, q in rows if text == compared(text) and holds_run(q, text)}
    means = set()
    if text.startswith("[") and text.endswith("]"):
        (top,) = TREE.find(text[1:-1])
        concepts = bench.concepts.known()
        for user, concept in zip(concepts.user.tolist(), concepts.concept.tolist(), strict=True):
            if top in TREE.ancestors(concept):
                means.add(user)
    return max((exactly, held, means), key=len)


@pytest.mark.slow
@pytest.mark.parametrize("method", sorted(VERBATIM))
@settings(max_examples=40)
@given(rows=ROWS)
def test_every_published_text_is_shared_by_m_people_and_holds_no_identifier(method, rows):
    bench = bench_of(rows)
    try:
        release = bench.anonymize(method, **VERBATIM[method])
    except InputError:  # fewer people than a group has
        assert method in GROUPS
        assert len(bench.log.users) < PEOPLE
        return
    assert release.statement.text_users == PEOPLE
    assert release.statement.identifiers_dropped
    texts = release.log.queries
    for text in texts.to_list():
        assert len(people_behind(text, rows, bench)) >= PEOPLE
    assert not find_identifiers(texts).any()
    assert not find_names(texts, TREE).any()  # 8 people are too few to make a name famous
    found = bench.exposure_of(release)
    assert (found.own_texts, found.identifier_texts, found.name_texts, found.unknown_texts) == (0, 0, 0, 0)


@pytest.mark.parametrize("method", sorted(VERBATIM))
def test_what_everybody_asks_is_published(method):
    """Otherwise the test above would look at nothing."""
    rows = [(u, q) for _ in range(3) for u in range(8) for q in ("green tea", f"x{u} tea cup", f"{u}@example.com")]
    texts = bench_of(rows).anonymize(method, seed=1, **VERBATIM[method]).log.queries.to_list()
    assert "green tea" in texts
    assert not any("@" in text for text in texts)


@pytest.mark.parametrize("method", sorted(ROW_BY_ROW))
def test_something_is_published_in_each_way(method):
    rows = [(u, q) for u in range(6) for q in ("green tea", f"x{u} tea cup", "call 555-010-1234", f"y{u}")]
    rows += [(u, "oolong" if u % 2 else "matcha") for u in range(6)] + [(0, "oolong z")]
    release = Workbench(log_of(rows), TREE).anonymize(method, **VERBATIM[method], kinds="column")
    shown = set(zip(np.array(release.log.queries)[release.log.query].tolist(), release.log.extra["kind"], strict=True))
    assert {("green tea", "query"), ("tea cup", "phrase"), ("call", "phrase"), ("[tea]", "label")} <= shown
    assert release.statement.parts


@pytest.mark.parametrize("method", sorted(ROW_BY_ROW))
def test_as_in_the_paper_every_text_is_published_and_that_is_said(method):
    rows = [(u, q) for u in range(6) for q in ("green tea", f"call 555-010-123{u}")]
    release = Workbench(log_of(rows), TREE).anonymize(method, **VERBATIM[method], as_in_paper=True)
    assert "call 555-010-1230" in release.log.queries.to_list()
    said = [text for text in release.statement.does_not_cover if text.startswith("as in the paper")]
    assert any("one person alone" in text for text in said)
    assert any("identifiers" in text for text in said)
    assert (release.statement.text_users, release.statement.parts) == (1, False)
