"""Sweeping within the stream: what too few users have asked so far, or holds an identifier, never leaves."""

from __future__ import annotations

import json
import pickle
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from jit import JIT
from reference.stream import asked_enough
from stream_logs import CATEGORIES, MAKERS, as_jsonl, as_tsv, read_back

from querycloak import api
from querycloak.live import runner
from querycloak.live.runner import Run, run_stream
from querycloak.logs.query_log import QueryLog
from querycloak.logs.read_options import ReadOptions
from querycloak.methods.stream.stream_statement import StreamSettings
from querycloak.methods.stream.sweeping import AskedEnough

YES = ReadOptions(assume_yes=True)
"""many of these queries hold a mail address, on purpose"""

MAIL = 'write to ann@example.com "now"'


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 6))), st.integers(1, 5), st.integers(1, 7))
def test_counts_look_back_and_do_not_depend_on_batches(records, least, batch):
    asked = AskedEnough(least)
    found = []
    for i in range(0, len(records), batch):
        query, user = np.array(records[i : i + batch], dtype=np.int32).reshape(-1, 2).T
        found += asked.tell(query, user).tolist()
        asked = pickle.loads(pickle.dumps(asked))
    assert found == asked_enough(records, least)


def test_counts_over_many_queries():
    """The set of pairs grows, and forgets those of queries that are asked enough."""
    random = np.random.default_rng(3)
    query, user = random.zipf(1.3, 30_000) % 9000, random.integers(0, 300, 30_000)
    asked = AskedEnough(4)
    found = np.concatenate([asked.tell(q, u) for q, u in zip(*(np.array_split(x.astype(np.int32), 9) for x in (query, user)), strict=True)])  # fmt: skip  # noqa: E501
    seen: dict[int, set[int]] = {}
    for q, u, enough in zip(query.tolist(), user.tolist(), found.tolist(), strict=True):
        seen.setdefault(q, set()).add(u)
        assert enough == (len(seen[q]) >= 4)
    rare = sum(len(users) for users in seen.values() if len(users) < 4)
    assert rare <= int(asked._used[0]) <= rare + len(asked._pairs) // 2
    assert 2000 < found.sum() < 28_000


def rows(n=4000 if JIT else 800, users=80, seed=2):
    """Queries asked often and rarely, some of them with an address of mail."""
    random = Random(seed)
    words = ['green "tea"', "rowing, boats", "ü", MAIL, *(f"rare {i}" for i in range(n // 10))]
    table = []
    for i in range(n):
        query = words[random.randrange(4)] if random.random() < 0.6 else random.choice(words)
        user = str(1000 + int(random.random() ** 2 * users))
        table.append((user, query, f"2006-03-01 00:00:{i % 60:02d}", random.choice(CATEGORIES), "x"))
    return table


def go(folder, data, **options):
    (folder / "log").write_bytes(data)
    settings = StreamSettings(k=3, depth=2, ids="original", **options)
    return run_stream(Run("self-adjusting", settings, folder / "log", folder / "release", options=YES, seed=1))


@pytest.mark.parametrize("kind", MAKERS)
@pytest.mark.parametrize("piece", [1 << 22, 3000])
def test_what_leaves_was_asked_by_enough_users_before_it_left(tmp_path, monkeypatch, kind, piece):
    monkeypatch.setattr(runner, "PIECE", piece)
    table = rows()
    found = go(tmp_path, MAKERS[kind](table), min_query_users=5, identifiers=True)
    out = read_back((tmp_path / "release").read_bytes(), kind)
    codes = {query: i for i, query in enumerate(dict.fromkeys(row[1] for row in table))}
    clean = [row for row in table if row[1] != MAIL]
    enough = asked_enough([(codes[row[1]], int(row[0])) for row in clean], 5)
    allowed = [row for row, yes in zip(clean, enough, strict=True) if yes]
    assert {row[1] for row in out} <= {row[1] for row in allowed}
    assert len(out) + found.stats["records waiting"] == len(allowed)
    swept = {"personal identifier": len(table) - len(clean), "asked by fewer than 5 users so far": enough.count(False)}
    assert found.stats["records swept"] == swept
    assert all(found.statement.dropped[reason] == n > 0 for reason, n in swept.items())
    assert found.statement.counts_in["rows"] == len(table)
    assert sum(found.statement.dropped.values()) + len(out) == len(table)
    assert any("at least 5 users before it left" in text for text in found.statement.covers)
    assert not any("were not searched" in text for text in found.statement.does_not_cover)


def test_in_memory_and_on_disk_the_same_is_swept(tmp_path):
    go(tmp_path, as_tsv(rows()), min_query_users=4, identifiers=True)
    log = api.read_log(tmp_path / "log", yes=True)
    options = {"k": 3, "depth": 2, "ids": "original", "min_query_users": 4, "identifiers": True}
    release = api.anonymize(log, "self-adjusting", seed=1, **options)
    queries = release.log.queries.gather(release.log.query).to_list()
    users = release.log.users.gather(release.log.user).to_list()
    assert [(r[0], r[1]) for r in read_back((tmp_path / "release").read_bytes(), "tsv")] == list(
        zip(users, queries, strict=True)
    )
    assert not {"unclassified", "still waiting at the end"} >= set(release.statement.dropped)
    assert sum(release.statement.dropped.values()) + len(release.log) == len(log)


def test_two_users_are_asked_for_where_two_are_wanted():
    """In memory: a query enters with its second user, one with an address of mail never."""
    table = [(f"u{i}", query) for query in ("tea", MAIL) for i in range(9)] + [(f"u{i}", f"mine {i}") for i in range(9)]
    log = QueryLog.of([u for u, _ in table], [q for _, q in table], categories=["Top/Tea"] * len(table))

    def published(**more):
        release = api.anonymize(log, "self-adjusting", seed=1, k=2, **more)
        return {text.split()[0] for text in release.log.queries.to_list()}

    assert published() == {"tea", "write", "mine"}
    assert published(identifiers=True) == {"tea", "mine"}
    assert published(min_query_users=2) == {"tea", "write"}
    assert published(min_query_users=2, identifiers=True) == {"tea"}


def test_a_query_is_the_same_however_its_escapes_are_written(tmp_path):
    table = [(str(i), "a/b", "2006-03-01 00:00:00", "News", "x") for i in range(10)]
    lines = as_jsonl(table).splitlines(keepends=True)
    data = b"".join(line.replace(b"a/b", b"a\\/b") if i % 2 else line for i, line in enumerate(lines))
    found = go(tmp_path, data, min_query_users=10)
    assert found.stats["records swept"] == {"asked by fewer than 10 users so far": 9}


def test_counts_survive_a_crash(tmp_path, monkeypatch):
    monkeypatch.setattr(runner, "PIECE", 5000)
    (tmp_path / "log").write_bytes(as_tsv(rows()))
    settings = StreamSettings(k=3, depth=2, min_query_users=4, identifiers=True)
    run = Run("self-adjusting", settings, tmp_path / "log", tmp_path / "whole", options=YES, seed=1)
    whole = run_stream(run)
    run = Run(
        "self-adjusting", settings, tmp_path / "log", tmp_path / "broken", seed=1,
        checkpoint=tmp_path / "state", checkpoint_records=100,
    )  # fmt: skip
    save = runner.Checkpoint.save

    def dying(self, saved):
        save(self, saved)
        raise RuntimeError("killed")

    monkeypatch.setattr(runner.Checkpoint, "save", dying)
    for _ in range(3):
        with pytest.raises(RuntimeError):
            run_stream(run)
    monkeypatch.setattr(runner.Checkpoint, "save", save)
    again = run_stream(run)
    assert (tmp_path / "broken").read_bytes() == (tmp_path / "whole").read_bytes()
    assert again.stats["records swept"] == whole.stats["records swept"]
    statement = json.loads((tmp_path / "broken.statement.json").read_text())
    assert statement["release_sha256"] == json.loads((tmp_path / "whole.statement.json").read_text())["release_sha256"]
