"""Well-formed log files of every text format, as Hypothesis strategies over bytes."""

from __future__ import annotations

import csv
import gzip
import io
import json
from datetime import UTC, datetime, timedelta

import zstandard
from hypothesis import strategies as st

from querycloak.logs.user_ids import normal_user

# No line ends, no NUL, no lone surrogates; quotes, commas and the rest are what a query may hold.
_ALPHABET = st.characters(exclude_categories=["Cs"], exclude_characters="\0\n\r\t\ufeff")
words = st.text(_ALPHABET, min_size=1, max_size=12).filter(lambda text: text.strip(" "))
users = st.integers(1, 30).map(str)
times = st.integers(0, 4_000_000_000).map(lambda s: datetime.fromtimestamp(0, UTC) + timedelta(seconds=s))
line_ends = st.sampled_from(["\n", "\r\n"])


@st.composite
def aol_rows(draw, five: bool) -> list[str]:
    row = [draw(users), draw(words), draw(times).strftime("%Y-%m-%d %H:%M:%S")]
    if five:
        click = draw(st.booleans())
        row += [str(draw(st.integers(0, 500))), "http://" + draw(words)] if click else ["", ""]
    return row


@st.composite
def aol_files(draw) -> bytes:
    five, header, end = draw(st.booleans()), draw(st.booleans()), draw(line_ends)
    rows = draw(st.lists(aol_rows(five), min_size=1, max_size=8))
    lines = ["\t".join(row) for row in rows]
    if header:
        lines.insert(0, "\t".join(["AnonID", "Query", "QueryTime", "ItemRank", "ClickURL"][: 5 if five else 3]))
    return (end.join(lines) + draw(st.sampled_from(["", end]))).encode()


@st.composite
def excite_files(draw) -> bytes:
    moment = st.datetimes(datetime(1970, 1, 1), datetime(2068, 12, 31))  # noqa: DTZ001
    row = st.tuples(users, moment.map(lambda t: t.strftime("%y%m%d%H%M%S")), words)
    end = draw(line_ends)
    return b"".join(("\t".join(r) + end).encode() for r in draw(st.lists(row, min_size=1, max_size=8)))


@st.composite
def tsv_files(draw) -> bytes:
    end = draw(line_ends)
    bom = draw(st.sampled_from([b"", b"\xef\xbb\xbf"]))
    paths = words.filter(lambda path: all(level.strip() for level in path.split("/")))  # others are refused
    row = st.tuples(users, st.one_of(st.just(""), words), words, st.one_of(st.just(""), paths))
    rows = draw(st.lists(row, max_size=8))
    return bom + b"".join(("\t".join(r) + end).encode() for r in [("UID", "shop", "Q", "category"), *rows])


@st.composite
def csv_files(draw) -> bytes:
    text = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0\r\ufeff"), min_size=1, max_size=12)
    text = text.filter(lambda value: value.strip(" \t"))  # a row without a query is left out
    row = st.tuples(users, text, st.one_of(st.just(""), text))
    out = io.StringIO(newline="")
    quoting = draw(st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]))
    rows = [("user", "query", "shop"), *draw(st.lists(row, min_size=1, max_size=8))]
    csv.writer(out, quoting=quoting, lineterminator=draw(line_ends)).writerows(rows)
    return out.getvalue().encode()


json_extras = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), words),
    lambda inner: st.one_of(st.lists(inner, max_size=2), st.dictionaries(words, inner, max_size=2)),
    max_leaves=4,
)


@st.composite
def jsonl_files(draw) -> bytes:
    number, null = draw(st.booleans()), draw(st.booleans())
    separators = draw(st.sampled_from([(",", ":"), (", ", ": ")]))
    ascii_only = draw(st.booleans())
    lines = []
    for _ in range(draw(st.integers(1, 8))):
        user = draw(users)
        row = {
            "uid": int(user) if number else user,
            "q": draw(st.text(min_size=1, max_size=12).filter(lambda text: text.strip(" \t"))),
        }
        row["q"] = row["q"].encode("utf-8", "replace").decode()
        row["ts"] = draw(times).strftime("%Y-%m-%dT%H:%M:%SZ")
        row["more"] = draw(json_extras)
        url = draw(st.one_of(st.none(), words))
        if url is not None or null:
            row["url"] = url
        lines.append(json.dumps(row, separators=separators, ensure_ascii=ascii_only) + "\n")
    return "".join(lines).encode()


@st.composite
def ubi_files(draw) -> bytes:
    wrapped = draw(st.booleans())
    lines = []
    for _ in range(draw(st.integers(1, 6))):
        row = {
            "query_id": draw(words),
            "client_id": draw(words.map(normal_user).filter(bool)),
            "user_query": draw(words),
        }
        row["timestamp"] = draw(times).strftime("%Y-%m-%dT%H:%M:%SZ")
        lines.append(
            json.dumps({"_index": "ubi_queries", "_source": row} if wrapped else row, ensure_ascii=False) + "\n"
        )
    return "".join(lines).encode()


text_files = st.one_of(aol_files(), excite_files(), tsv_files(), csv_files(), jsonl_files(), ubi_files())


def packed(data: bytes, compression: str) -> bytes:
    if compression == "gz":
        return gzip.compress(data, 1)
    return zstandard.ZstdCompressor().compress(data) if compression == "zst" else data
