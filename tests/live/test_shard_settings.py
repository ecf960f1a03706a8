"""Shards with what they are usually run with: a mapper, shared phrases, a longest age, and figures at a port."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import time
from collections import Counter
from contextlib import closing
from dataclasses import replace
from functools import cache
from http.client import HTTPConnection, HTTPException
from random import Random

import pytest
from jit import JIT
from stream_logs import as_tsv
from test_shards import check_rules, published, rows, shard_run, stop_at, stopped_shards, taking, top_of

from querycloak import api
from querycloak.cli.watch_options import chosen_watch
from querycloak.errors import ParameterError
from querycloak.evaluation.workbench import mapper_of
from querycloak.live import runner
from querycloak.live.runner import run_stream
from querycloak.live.shards import Shard, owner_of
from querycloak.live.timekeeper import Timekeeper
from querycloak.mapping.mapped_paths import MappedPaths
from querycloak.methods.stream.stream_statement import StreamSettings

WORDS = ["tennis", "guitar", "asthma", "paris hotels", "used cars", "tax forms", "green tea", "chess", "zzzz qqqq"]


@cache
def classifier():
    return MappedPaths(mapper_of(api.load_taxonomy("topics")))


def unmapped(n=1800, users=60):
    """A log without categories; every query is there once, and its topic is told by its first words."""
    random = Random(5)
    table = [(f"{1000 + random.randrange(users)}", f"{random.choice(WORDS)} {i}") for i in range(n)]
    return table, ("user\tquery\n" + "".join(f"{user}\t{query}\n" for user, query in table)).encode()


def topic(query):
    return query.rpartition(" ")[0]


@pytest.mark.parametrize("count", [2, 3])
def test_without_categories_each_record_is_in_the_shard_of_its_topic(tmp_path, count):
    table, data = unmapped()
    (tmp_path / "log").write_bytes(data)
    out, waiting, seen = [], 0, []
    for i in range(count):
        run = shard_run(tmp_path, Shard(i, count))
        found = run_stream(run, classifier())
        part = published(run)
        seen.append({topic(row[1]) for row in part})
        waiting += found.stats["records waiting"]
        assert found.statement.mapping
        out += part
    check_rules(table, out, waiting)
    assert len(out) > 1000
    assert sum(map(len, seen)) == len(set().union(*seen)), "a topic is in one shard"
    assert sum(1 for topics in seen if topics) > 1


def test_without_categories_another_number_of_shards_loses_nothing(tmp_path, monkeypatch):
    table, data = unmapped()
    (tmp_path / "log").write_bytes(data)
    monkeypatch.setattr(runner, "PIECE", 4000)
    monkeypatch.setattr(runner, "SAMPLE", 1000)
    old = [shard_run(tmp_path, Shard(i, 2)) for i in range(2)]
    for run, turns in zip(old, (3, 5), strict=True):
        with monkeypatch.context() as patch:
            stop_at(patch, turns)
            assert run_stream(run, classifier()).kept
    runs = [taking(tmp_path, i, 3, old) for i in range(3)]
    waiting = sum(run_stream(run, classifier()).stats["records waiting"] for run in runs)
    check_rules(table, [row for run in [*old, *runs] for row in published(run)], waiting)


def repeated(n=4000 if JIT else 900):
    """Rows whose queries are asked by many, alone and inside longer ones."""
    random = Random(4)
    shared = [f"{word} {i}" for word in ("boats", "jazz", "tea") for i in range(4)]
    made = []
    for user, _, when, path, shop in rows(n):
        text = random.choice(shared)
        made.append((user, f"{text} x{random.randrange(10**6)}" if random.random() < 0.4 else text, when, path, shop))
    return made


def with_texts(run):
    about = StreamSettings(k=3, depth=3, ids=run.settings.ids, min_query_users=3)
    return replace(run, settings=about)


def test_a_shard_with_shared_phrases_is_a_run_over_its_categories(tmp_path):
    """People are counted within a shard: what it publishes, as many people of its own records asked before."""
    table = repeated()
    for i in range(2):
        run = with_texts(replace(shard_run(tmp_path, Shard(i, 2), ids="run"), checkpoint=None))
        (tmp_path / "log").write_bytes(as_tsv([row for row in table if owner_of(top_of(row[3]), 2) == i]))
        run_stream(run)
        alone = run.output.read_bytes()
        (tmp_path / "log").write_bytes(as_tsv(table))
        found = run_stream(run)
        assert run.output.read_bytes() == alone
        assert found.stats["published as phrases"] > (100 if JIT else 5)
        assert "counted within the shard" in " ".join(found.statement.does_not_cover)


def test_with_shared_phrases_another_number_of_shards_publishes_nothing_of_few(tmp_path, monkeypatch):
    """A new shard counts people from its first record on: no text of it is of fewer than three of the rest."""
    table = repeated()
    (tmp_path / "log").write_bytes(as_tsv(table))
    monkeypatch.setattr(runner, "PIECE", 8000 if JIT else 1200)
    monkeypatch.setattr(runner, "SAMPLE", 2000 if JIT else 400)
    old = [with_texts(shard_run(tmp_path, Shard(i, 2))) for i in range(2)]
    total = Counter()
    for run, turns in zip(old, (6, 12), strict=True):
        with monkeypatch.context() as patch:
            stop_at(patch, turns)
            found = run_stream(run)
        assert found.kept
        total["left out"] += sum(found.stats["records not published"].values())
    for i in range(3):
        found = run_stream(with_texts(taking(tmp_path, i, 3, old)))
        total["left out"] += sum(found.stats["records not published"].values())
        total["waiting"] += found.stats["records waiting"] + found.stats["records dropped"]
    out = [row for run in [*old, *(shard_run(tmp_path, Shard(i, 3)) for i in range(3))] for row in published(run)]
    assert len(out) + total["left out"] + total["waiting"] == len(table)
    people: dict[str, set[str]] = {}
    for user, query, *_ in table:
        words = query.split()
        for a in range(len(words)):
            for b in range(a + 1, len(words) + 1):
                people.setdefault(" ".join(words[a:b]), set()).add(user)
    texts = {row[1] for row in out if not row[1].startswith("[")}
    assert len(texts) > 5
    assert all(len(people[text]) >= 3 for text in texts)


def test_a_time_far_in_the_future_stops_the_clock_of_no_shard(tmp_path):
    table = [(u, q, "2040-01-01 00:00:00" if i % 97 == 0 else t, c, s) for i, (u, q, t, c, s) in enumerate(rows())]
    (tmp_path / "log").write_bytes(as_tsv(table))
    for i in range(2):
        run = shard_run(tmp_path, Shard(i, 2), epoch="5m")
        found = run_stream(run)
        assert found.stats["times far ahead"] > 0
        times = [row[2] for row in published(run)]
        assert times == sorted(times)
        assert max(times) < "2006-03-02"
        assert len(set(times)) > (15 if JIT else 2)


def at_time(monkeypatch, seconds):
    """Let all clocks of a run say this."""
    clock = lambda: seconds  # noqa: E731
    made = lambda settings, **given: Timekeeper(settings, **{**given, "clock": clock, "wall": clock})  # noqa: E731
    monkeypatch.setattr(runner, "Timekeeper", made)
    monkeypatch.setattr("querycloak.live.take_over.time.time", clock)


@pytest.mark.parametrize("later", [10.0, 1000.0])
def test_who_waited_too_long_before_the_change_leaves_after_it(tmp_path, monkeypatch, later):
    """With a longest age of 500 s: of what waited in the old shards nothing waits a thousand seconds later."""
    table = rows(4000 if JIT else 900)
    (tmp_path / "log").write_bytes(as_tsv(table))
    at_time(monkeypatch, 5000.0)
    given = {"max_age": 500.0, "max_delay": 0}
    old = stopped_shards(tmp_path, monkeypatch, 2, [9, 12], **given)
    before = sum(runner.Checkpoint(run.checkpoint).look().converter["engine"]["entered"] for run in old)
    assert before > 100
    at_time(monkeypatch, 5000.0 + later)
    out, rest, expired = [row for run in old for row in published(run)], 0, 0
    for i in range(3):
        run = taking(tmp_path, i, 3, old, **given)
        with monkeypatch.context() as patch:  # killed on its way
            patch.setattr(runner.Checkpoint, "clear_journal", _dying())
            with pytest.raises(RuntimeError):
                run_stream(run)
        found = run_stream(run)
        out += published(run)
        rest += found.stats["records waiting"] + found.stats["records dropped"]
        expired += found.stats["records dropped"]
    check_rules(table, out, rest)
    assert (expired > 0) == (later > 500)


def _dying():
    done = []

    def clear(_):
        done.append(1)
        if len(done) == 1:
            raise RuntimeError("killed")

    return clear


def test_each_shard_has_a_port_of_its_own():
    watch = chosen_watch("9464", None, None)
    assert [watch.of_shard(Shard(i, 3)).door.port for i in range(3)] == [9464, 9465, 9466]
    assert chosen_watch("0", None, None).of_shard(Shard(2, 3)).door.port == 0
    with pytest.raises(ParameterError, match="--metrics must be"):
        chosen_watch("65534", None, None).of_shard(Shard(2, 3))


def free_ports(count):
    """A port of which the next ones are free, too."""
    for _ in range(100):
        with socket.socket() as first:
            first.bind(("127.0.0.1", 0))
            port = first.getsockname()[1]
        held = []
        try:
            for i in range(count):
                held.append(socket.socket())
                held[-1].bind(("127.0.0.1", port + i))
        except (OSError, OverflowError):
            continue
        else:
            return port
        finally:
            for one in held:
                one.close()
    raise AssertionError("no ports are free")


def command(folder, *more):
    given = ["--from", "log", "--to", "out.tsv", "--k", "3", "--shards", "2", "--yes", "--quiet"]
    words = [sys.executable, "-m", "querycloak", "stream", *given, *more]
    return subprocess.Popen(words, cwd=folder, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


@pytest.mark.slow
@pytest.mark.needs_jit
def test_figures_of_all_shards_are_at_their_ports_while_they_run(tmp_path):
    table = rows(60_000)
    (tmp_path / "log").write_bytes(as_tsv(table))
    port = free_ports(2)
    run = command(tmp_path, "--metrics", str(port), "--checkpoint", "state", "--checkpoint-records", "500", "--json")
    seen: dict[int, str] = {}
    while run.poll() is None:
        for i in range(2):
            with closing(HTTPConnection("127.0.0.1", port + i, timeout=1)) as door:
                try:
                    door.request("GET", "/metrics")
                    with door.getresponse() as page:
                        seen[i] = page.read().decode()
                except (OSError, HTTPException):
                    time.sleep(0.005)
    said, told = run.communicate()
    assert run.returncode == 0, told
    assert len(json.loads(said)["shards"]) == 2
    assert set(seen) == {0, 1}
    assert all("querycloak_records_in_total" in text for text in seen.values())


@pytest.mark.slow
@pytest.mark.needs_jit
def test_a_port_that_is_taken_or_too_high_ends_all_before_anything_is_written(tmp_path):
    (tmp_path / "log").write_bytes(as_tsv(rows(3000)))
    port = free_ports(2)
    with socket.socket() as held:
        held.bind(("127.0.0.1", port + 1))
        held.listen()
        run = command(tmp_path, "--metrics", str(port))
        _, told = run.communicate()
    assert run.returncode == 2
    assert not list(tmp_path.glob("out*")), "no shard has begun"
    assert f"cannot listen on 127.0.0.1:{port + 1}" in told
    run = command(tmp_path, "--metrics", "65535")
    _, told = run.communicate()
    assert run.returncode == 2
    assert "--metrics must be" in told
    assert not list(tmp_path.glob("out*"))
