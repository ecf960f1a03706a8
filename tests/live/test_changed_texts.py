"""How a published text is written tells nothing of the query that it was a part of."""

from __future__ import annotations

import csv
import io
import json
from random import Random

import pytest

from querycloak.live.runner import Run, run_stream
from querycloak.logs.read_options import ReadOptions
from querycloak.methods.stream.stream_statement import StreamSettings

SHARED = ["green tea", "rowing boats", "2006", "café crème", "say, hello", 'a "b" c']
ODD = {"plain": "x{}", "comma": "x{},", "quote": 'x{}"y', "two lines": "x{0}\ny{0}", "umlaut": "xü{}"}
"""what is written next to a phrase, and is not published"""


def table(odd, *, bare=False):
    """Rows with a phrase that many ask and a word of which there is only one; those of one kind with an odd one."""
    random = Random(7)
    rows = []
    for i in range(400):
        phrase, user = random.choice(SHARED), str(1000 + random.randrange(30))
        if i < 90:  # enough people, before anything is published
            phrase, user, other = SHARED[i % len(SHARED)], str(1000 + i // len(SHARED)), ""
        else:
            other = (ODD[odd] if i % 2 else ODD["plain"]).format(i)
        query = f"{other} {phrase}".strip()
        if bare and i >= 90:
            query = 700_000 + i if i % 2 and odd != "plain" else f"only {i}"
        rows.append((user, query, "Top/Sports/Rowing"))
    return rows


def written(rows, kind, *, ascii_only=True):
    if kind == "jsonl":
        keys = ("user", "query", "category")
        lines = [json.dumps(dict(zip(keys, row, strict=True)), ensure_ascii=ascii_only) for row in rows]
        return "".join(f"{line}\n" for line in lines)
    file = io.StringIO(newline="")
    quoting = csv.QUOTE_ALL if kind == "quoted csv" else csv.QUOTE_MINIMAL
    csv.writer(file, lineterminator="\n", quoting=quoting).writerows([("user", "query", "category"), *rows])
    return file.getvalue()


def released(folder, text, rare="phrase", **more):
    (folder / "log").write_text(text, newline="")
    settings = StreamSettings(k=3, depth=2, min_query_users=5, rare=rare, identifiers="keep", **more)
    run = Run("self-adjusting", settings, folder / "log", folder / "out", options=ReadOptions(assume_yes=True), seed=1)
    run_stream(run)
    return (folder / "out").read_bytes()


@pytest.mark.parametrize("more", [{}, {"epoch": "50"}], ids=["as it comes", "epochs"])
@pytest.mark.parametrize("odd", [odd for odd in ODD if odd != "plain"])
@pytest.mark.parametrize("kind", ["csv", "quoted csv", "jsonl"])
def test_a_phrase_is_written_by_what_it_needs_alone(tmp_path, kind, odd, more):
    """Two logs that differ in what is not published give the same bytes."""
    plain = released(tmp_path, written(table("plain"), kind), **more)
    assert released(tmp_path, written(table(odd), kind), **more) == plain
    assert plain.count(b"Rowing") > 200
    assert b"x3" not in plain


@pytest.mark.parametrize("kind", ["csv", "jsonl"])
def test_a_label_is_written_by_what_it_needs_alone(tmp_path, kind):
    """A query that is a number, without quotes in JSON, is published as a label like any other."""
    plain = released(tmp_path, written(table("plain", bare=True), kind), rare="label")
    assert b"rowing" in plain.lower()
    assert released(tmp_path, written(table("comma", bare=True), kind), rare="label") == plain


@pytest.mark.parametrize("ascii_only", [True, False])
@pytest.mark.parametrize("kind", ["csv", "quoted csv", "jsonl"])
def test_a_phrase_is_written_as_the_same_text_when_it_is_a_whole_query(tmp_path, kind, ascii_only):
    """Otherwise it would be seen which texts were parts of longer ones."""
    data = released(tmp_path, written(table("plain"), kind, ascii_only=ascii_only))
    ways = {text for text in (b"caf\\u00e9 cr\\u00e8me", "café crème".encode()) if text in data}
    assert len(ways) == 1
    quoted = {b'"2006"' in line for line in data.splitlines() if b"2006" in line}
    assert quoted == {kind != "csv"}
