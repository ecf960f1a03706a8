"""Texts in a whole run: live, over a whole log and by the reference the same, whatever the pieces and the crashes."""

from __future__ import annotations

import json
from collections import Counter
from functools import cache
from random import Random

import polars as pl
import pytest
from jit import JIT
from reference.stream_texts import ReferenceTexts
from stream_logs import MAKERS, as_jsonl, as_tsv, read_back

from querycloak import api
from querycloak.errors import ParameterError
from querycloak.evaluation.workbench import mapper_of
from querycloak.knowledge.wordnet import load_wordnet
from querycloak.live import runner
from querycloak.live.runner import Run, run_stream
from querycloak.logs.query_log import QueryLog
from querycloak.logs.read_options import ReadOptions
from querycloak.mapping.mapped_paths import MappedPaths
from querycloak.methods.stream.stream_statement import StreamSettings
from querycloak.texts.identifiers import find_identifiers
from querycloak.texts.names import find_names

YES = ReadOptions(assume_yes=True)
"""many of these queries hold a mail address, on purpose"""
MAIL = "write to ann@example.com now"
CATEGORIES = ["Top/Sports/Rowing", "Top/Arts/Music/Jazz", "Top/News", ""]
SHARED = ['green "tea"', 'Green  "Tea"', "rowing, boats", "ü", "maria berg", MAIL, "a \\ b"]


def rows(n=1500 if JIT else 300, users=60, seed=2):
    """Queries asked often and rarely, of which some hold what others ask, a name, or an address of mail."""
    random = Random(seed)
    table = []
    for i in range(n):
        query = random.choice(SHARED)
        if random.random() < 0.5:
            query = f"{random.choice(['my', 'old', 'x1'])} {query} {random.randrange(n)}"
        user = str(1000 + int(random.random() ** 2 * users))
        table.append((user, query, f"2006-03-01 00:00:{i % 60:02d}", random.choice(CATEGORIES), "x"))
    return table


@cache
def holds_identifier(text):
    return bool(find_identifiers(pl.Series([text]))[0])


@cache
def holds_name(text):
    return bool(find_names(pl.Series([text]), load_wordnet())[0])


def expected(table, settings):
    """(kind, text) of each record by the reference, None = nothing."""
    reference = ReferenceTexts(settings.rule, holds_identifier, holds_name, settings.max_phrases)
    return [
        reference.push(row[0], row[1], tuple(row[3].removeprefix("Top/").split("/")) if row[3] else ()) for row in table
    ]


def go(folder, data, **options):
    (folder / "log").write_bytes(data)
    settings = StreamSettings(**{"k": 3, "depth": 2, "ids": "original", "min_query_users": 5, **options})
    return settings, run_stream(
        Run("self-adjusting", settings, folder / "log", folder / "release", options=YES, seed=1, truth=folder / "truth")
    )


OPTIONS = [
    {},
    {"rare": "label"},
    {"rare": "drop", "famous": 6},
    {"rare": "keep"},
    {"identifiers": "keep", "max_rows_per_user": 30},
    {"max_phrases": 40},
]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("kind", MAKERS)
def test_live_like_the_reference(tmp_path, monkeypatch, kind, options):
    monkeypatch.setattr(runner, "PIECE", 9000)
    table = rows()
    settings, found = go(tmp_path, MAKERS[kind](table), **options)
    out = read_back((tmp_path / "release").read_bytes(), kind)
    said = expected(table, settings)
    kinds = Counter("nothing" if s is None else s[0] for s in said)
    assert found.stats["records out"] + found.stats["records waiting"] == len(table) - kinds["nothing"]
    entered = Counter((s[1], *row[2:]) for s, row in zip(said, table, strict=True) if s)
    assert not Counter(row[1:] for row in out) - entered  # all other columns stay with their text
    assert sum(found.statement.dropped.values()) + len(out) == len(table) == found.statement.counts_in["rows"]
    figures = found.statement.figures
    left = sum(figures[f"published as {name}"] for name in ("whole queries", "phrases", "labels"))
    assert left == len(out)
    assert 0 <= kinds["phrase"] - figures["published as phrases"] <= found.stats["records waiting"]
    assert len(out) > 100 or not JIT
    if settings.identifiers == "drop":
        assert not any("example.com" in row[1] for row in out)
    if not options:
        assert {"query", "phrase", "nothing"} <= kinds.keys()
        assert 'green "tea"' in {row[1] for row in out}
        assert found.statement.text_users == 5
        assert figures["phrases full"] == 0


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_in_memory_and_on_disk_the_same_leaves(tmp_path, options):
    settings, live = go(tmp_path, as_tsv(rows()), **options)
    log = api.read_log(tmp_path / "log", yes=True)
    given = {k: v for k, v in settings.to_json().items() if k not in {"as_in_paper", "kinds"}}
    release = api.anonymize(log, "self-adjusting", seed=1, **given)
    queries = release.log.queries.gather(release.log.query).to_list()
    users = release.log.users.gather(release.log.user).to_list()
    assert [(r[0], r[1]) for r in read_back((tmp_path / "release").read_bytes(), "tsv")] == list(
        zip(users, queries, strict=True)
    )
    assert sum(release.statement.dropped.values()) + len(release.log) == len(log)
    same = release.statement.figures.keys() & live.statement.figures.keys()
    assert {name: release.statement.figures[name] for name in same} == {n: live.statement.figures[n] for n in same}
    assert {"published as phrases", "phrases counted"} <= same
    read = api.read_release(tmp_path / "release", log=log, truth=tmp_path / "truth")
    assert read.truth.asker.tolist() == release.truth.asker.tolist()


def test_the_defaults_are_safe():
    """In memory: what one person asks is not published, nor is an address of mail; as in the paper it is."""
    table = [(f"u{i}", query) for query in ("tea", MAIL) for i in range(9)] + [(f"u{i}", f"mine {i}") for i in range(9)]
    log = QueryLog.of([u for u, _ in table], [q for _, q in table], categories=["Top/Tea"] * len(table))

    def published(**more):
        release = api.anonymize(log, "self-adjusting", seed=1, k=2, **more)
        return {text.split()[0] for text in release.log.queries.to_list()}

    assert published(as_in_paper=True) == {"tea", "write", "mine"}
    assert published() == {"tea", "[Tea]", "write"}  # "write to" is of many; "mine" is a stop word
    assert published(rare="drop") == {"tea"}
    assert published(rare="drop", identifiers="keep") == {"tea", "write"}
    assert published(rare="keep") == {"tea", "mine"}
    assert published(rare="label") == {"tea", "[Tea]"}
    assert StreamSettings(k=7).min_query_users == 7


def test_labels_of_mapped_queries(tmp_path):
    """Without a category column the label is that of the concept, and the same live and in memory."""
    words = ["tennis", "guitar", "asthma"]
    data = "user\tquery\n" + "".join(f"u{i % 40}\t{words[i % 3]} {i}\n" for i in range(300))
    (tmp_path / "log").write_bytes(data.encode())
    settings = StreamSettings(k=3, depth=2, ids="original", rare="label", min_query_users=30)
    mapper = mapper_of(load_wordnet())
    run = Run("self-adjusting", settings, tmp_path / "log", tmp_path / "release", seed=1, options=YES)
    run_stream(run, MappedPaths(mapper))
    live = [line.split("\t") for line in (tmp_path / "release").read_text().splitlines()[1:]]
    assert "[tennis]" in {query for _, query in live}
    log = api.read_log(tmp_path / "log", yes=True)
    chosen = {"k": 3, "depth": 2, "ids": "original", "rare": "label", "min_query_users": 30}
    release = api.anonymize(log, "self-adjusting", seed=1, taxonomy="wordnet", **chosen)
    assert release.log.queries.gather(release.log.query).to_list() == [query for _, query in live]


def test_a_query_is_the_same_however_its_escapes_are_written(tmp_path):
    table = [(str(i), "a/b", "2006-03-01 00:00:00", "News", "x") for i in range(12)]
    lines = as_jsonl(table).splitlines(keepends=True)
    data = b"".join(line.replace(b"a/b", b"a\\/b") if i % 2 else line for i, line in enumerate(lines))
    _, found = go(tmp_path, data, min_query_users=10, rare="drop")
    assert found.stats["records not published"] == {"with nothing that 10 people asked before": 10}


def test_a_bare_value_gets_quotes_where_its_text_needs_them(tmp_path):
    """A number that is a query in JSON, and a CSV field without quotes, whose label has a comma."""
    lines = [f'{{"user": {i % 9}, "query": {i}, "category": "a, b"}}\n' for i in range(100, 160)]
    _, found = go(tmp_path, "".join(lines).encode(), min_query_users=2, k=2, depth=1)
    out = [json.loads(line)["query"] for line in (tmp_path / "release").read_text().splitlines()]
    assert set(out) == {"[a, b]"}
    assert found.stats["published as labels"] == len(out) > 30
    table = "user,query,category\n" + "".join(f'{i % 9},q{i},"a, b"\n' for i in range(60))
    go(tmp_path, table.encode(), min_query_users=2, k=2, depth=1)
    lines = (tmp_path / "release").read_text().splitlines()[1:]
    assert lines
    assert all(line.endswith(',"[a, b]","a, b"') for line in lines)


def test_counts_survive_a_crash_at_every_checkpoint(tmp_path, monkeypatch):
    monkeypatch.setattr(runner, "PIECE", 5000)
    (tmp_path / "log").write_bytes(as_tsv(rows(900 if JIT else 200)))
    settings = StreamSettings(k=3, depth=2, min_query_users=4)
    whole = run_stream(Run("self-adjusting", settings, tmp_path / "log", tmp_path / "whole", options=YES, seed=1))
    run = Run(
        "self-adjusting", settings, tmp_path / "log", tmp_path / "broken", seed=1, options=YES,
        checkpoint=tmp_path / "state", checkpoint_records=50,
    )  # fmt: skip
    save = runner.Checkpoint.save

    def dying(self, saved):
        save(self, saved)
        raise RuntimeError("killed")

    monkeypatch.setattr(runner.Checkpoint, "save", dying)
    kills = 0
    while True:
        try:
            again = run_stream(run)
            break
        except RuntimeError:
            kills += 1
    assert kills >= (8 if JIT else 2)
    assert (tmp_path / "broken").read_bytes() == (tmp_path / "whole").read_bytes()
    same = ("records not published", "published as whole queries", "published as phrases", "phrases counted")
    assert {name: again.stats[name] for name in same} == {name: whole.stats[name] for name in same}
    assert [path.name for path in (tmp_path / "state").iterdir()] == ["finished"]


def test_a_stream_adds_no_column():
    with pytest.raises(ParameterError, match="kinds"):
        StreamSettings(kinds="column")
