"""The kernels that find records in bytes, against the standard library."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from reference.lines import codes, json_values, table_values

from querycloak.arrays.vocabulary import BROKEN, ByteCodes, Vocabulary, fresh_ids
from querycloak.errors import InputError
from querycloak.logs import _records_kernels as kernels
from querycloak.logs.decoding import Decoder, find_wrapping
from querycloak.logs.layout import find_layout, refuse_packed
from querycloak.logs.problems import LONGEST_LINE
from querycloak.logs.read_options import ReadOptions
from querycloak.logs.records import RecordReader
from querycloak.randomness import Randomness

HERE = Path("a stream")
WORD = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=12).filter(str.strip)
ANY = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0\r"), max_size=12)


def layout_of(sample, name=None):
    wrapping = find_wrapping(sample, HERE, name=name)
    return find_layout(Decoder(wrapping).decode(sample), HERE, ReadOptions(format=name), wrapping)


def records(layout, data, *, final=False):
    """The records of the data, and how much of it they are."""
    reader = RecordReader(layout, layout.problems(HERE, stop=False), collect=False)
    reader._to_skip = 0
    found, n = reader._split(data, np.frombuffer(data, dtype=np.uint8), final=final)
    batch = (found.rows[:n], found.spans[:n], found.how[:n])
    return batch, int(found.rows[n, kernels.BEGIN])


def statuses(batch):
    return batch[0][:, kernels.STATUS]


def values(layout, data, batch):
    """User, query and category of the good records."""
    out = []
    for row, span, how in zip(*batch, strict=True):
        if row[kernels.STATUS] != kernels.GOOD:
            continue
        texts = []
        for column in (kernels.USER, kernels.QUERY, kernels.CATEGORY):
            begin, end = span[2 * column : 2 * column + 2]
            escaped = how[column] == kernels.ESCAPED
            (text,) = layout.plain([data[begin - 1 : end]]) if escaped else (data[begin:end],)
            texts.append(text.decode())
        out.append(texts)
    return out


@given(
    st.lists(st.tuples(WORD, WORD, ANY, ANY), min_size=1, max_size=20),
    st.sampled_from(["\n", "\r\n"]),
    st.booleans(),
    st.sampled_from(",;"),
)
def test_csv_as_the_standard_library_reads_it(rows, end, quote_all, separator):
    assume(all(len(part.strip(" \t")) for row in rows for part in row[:2]))
    file = io.StringIO(newline="")
    out = csv.writer(
        file, lineterminator=end, delimiter=separator, quoting=csv.QUOTE_ALL if quote_all else csv.QUOTE_MINIMAL
    )
    out.writerows([["user", "shop", "query", "category"], *((u, x, q, c) for u, q, c, x in rows)])
    data = file.getvalue().encode()
    layout = layout_of(data, "csv")
    body = data[layout.begin :]
    batch, consumed = records(layout, body)
    assert consumed == len(body)
    assert (statuses(batch) == kernels.GOOD).all()
    assert values(layout, body, batch) == table_values(body, separator, [0, 2, 3])


@given(st.lists(st.tuples(WORD, WORD, WORD), min_size=1, max_size=20), st.sampled_from(["\n", "\r\n"]))
def test_tsv_has_no_quotes(rows, end):
    assume(all("\t" not in part and part.strip(" ") for row in rows for part in row))
    data = "".join(end.join("\t".join(row) for row in [("user", "query", "category"), *rows]) + end).encode()
    assume(rows[0] != ("user", "query", "category"))
    layout = layout_of(data, "tsv")
    body = data[layout.begin :]
    batch, _ = records(layout, body)
    assert values(layout, body, batch) == [
        v for v in table_values(body, "\t", [0, 1, 2]) if v != ["user", "query", "category"]
    ]


JSON = st.recursive(st.none() | st.booleans() | st.integers() | st.text(max_size=5), lambda v: st.lists(v) | st.dictionaries(st.text(max_size=3), v), max_leaves=6)  # fmt: skip  # noqa: E501


@given(
    st.lists(
        st.tuples(st.integers(0, 10**9) | WORD, WORD, st.none() | WORD, JSON, st.booleans()), min_size=1, max_size=10
    ),
    st.booleans(),
)
def test_json_as_the_standard_library_reads_it(rows, ascii_only):
    out = []
    for user, query, category, other, turned in rows:
        fields = [("user", user), ("query", query), ("x", other), ("category", category), ("user2", "no")]
        fields = list(reversed(fields)) if turned else fields
        spaces = None if turned else (",", ":")
        out.append(json.dumps(dict(fields), ensure_ascii=ascii_only, separators=spaces))
    data = ("\n".join(out) + "\n").encode(errors="surrogatepass")
    assume(b"\\u0000" not in data)
    layout = layout_of(data)
    batch, _ = records(layout, data)
    assert (statuses(batch) == kernels.GOOD).all()
    assert values(layout, data, batch) == json_values(data, ["user", "query", "category"])


@pytest.mark.parametrize(
    "line",
    [
        '{"user": "a", "query": "b"',
        '{"user": "a", "query": "b",}',
        '{"user": "a" "query": "b"}',
        '{"user": "a", "query": "b"} x',
        '{"user": "a", "query": "b", "user": "c"}',
        '{"user": 1.0, "query": "b"}',
        '{"user": 1e0, "query": "b"}',
        '{"user": -0, "query": "b"}',
        '{"user": true, "query": "b"}',
        '{"user": ["a"], "query": "b"}',
        '["a", "b"]',
        '{"user": "a, "query": "b"}',
        "{",
        '"a"',
    ],
)
def test_bad_json_is_told(line):
    layout = layout_of(b'{"user": "a", "query": "b", "category": "c"}\n')
    batch, _ = records(layout, line.encode() + b"\n")
    assert statuses(batch).tolist() == [kernels.MALFORMED]


@pytest.mark.parametrize("field", ['"a"b"', '"a"b', '"a" ', '"a""b"c"', '"a"\rb"'])
def test_nothing_stands_after_a_closing_quote(field):
    layout = layout_of(b"user,query,category\na,b,c\n")
    for line in (f"u,{field},c\n", f"{field},q,c\n", f"u,q,{field}\r\n"):
        assert statuses(records(layout, line.encode())[0]).tolist() == [kernels.MALFORMED]
    for line in ('u,"a""b",c\n', '"a","b","c"\r\n', 'u,a"b,c\n'):
        assert statuses(records(layout, line.encode())[0]).tolist() == [kernels.GOOD]


def test_a_quote_that_is_open_at_the_end_costs_one_line():
    layout = layout_of(b"user,query,category\na,b,c\n")
    data = b'a,"b,c\n' + b"d,e,f\n" * 10
    assert len(records(layout, data)[0][0]) == 0
    batch, consumed = records(layout, data, final=True)
    assert statuses(batch).tolist() == [kernels.MALFORMED] + [kernels.GOOD] * 10
    assert consumed == len(data)


@pytest.mark.parametrize("line", [b"u,a\rb,c\n", b"u,a\0b,c\n", b'u,"a\0",c\n'])
def test_what_other_readers_take_otherwise_is_refused(line):
    layout = layout_of(b"user,query,category\na,b,c\n")
    assert statuses(records(layout, line)[0]).tolist() in ([kernels.MALFORMED], [kernels.NUL])


def test_a_header_over_two_lines_is_refused():
    with pytest.raises(InputError, match="line end in quotes"):
        layout_of(b'user,query,category,"a\nb"\nu,q,c,d\n', "csv")


@pytest.mark.needs_jit
def test_a_quote_that_is_never_closed_costs_one_line():
    layout = layout_of(b"user,query,category\na,b,c\n")
    data = b'a,"b,c\n' + b"d,e,f\n" * (LONGEST_LINE // 6 + 10)
    batch, consumed = records(layout, data)
    assert statuses(batch)[0] == kernels.TOO_LONG
    assert (statuses(batch)[1:] == kernels.GOOD).all()
    assert consumed == len(data)


def coded(table, texts):
    """Codes of texts that stand after each other."""
    ends = np.cumsum([len(t) for t in texts])
    spans = np.stack([ends - [len(t) for t in texts], ends], axis=1).astype(np.int32).reshape(-1, 2)
    code = np.full(len(texts), -1, dtype=np.int32)
    rows = np.arange(len(texts), dtype=np.int32)
    table.code(np.frombuffer(b"".join(texts), dtype=np.uint8), spans, 0, rows, code)
    return code.tolist()


# short ones are told by their hash, long ones by their bytes too; with zeros at the end, which a word also has
ODD = [b"a", b"a\0", b"\0", b"\0\0", b"a" * 300, b"a" * 301]
TEXTS = st.lists(st.binary(max_size=9) | st.binary(max_size=40) | st.sampled_from(ODD))


@given(TEXTS)
def test_codes(texts):
    table = ByteCodes()
    assert coded(table, texts) == codes(texts)
    assert [table.text(c) for c in range(len(table))] == list(dict.fromkeys(t for t in texts if t))


def test_codes_when_the_table_grows():
    table, texts = ByteCodes(), [str(i * 7919).encode() for i in range(20_000)]
    assert [table.add(t) for t in texts[:10]] == list(range(10))
    assert coded(table, texts) == list(range(20_000))
    assert table.text(19_999) == texts[-1]


def test_texts_of_one_hash_are_told_apart():
    """Two long texts in one slot's chain: the hash of the second is forged to be that of the first."""
    table = ByteCodes()
    assert table.add(b"the first of them") == 0
    slot = table._slots[table._slots[:, 1] != 0][0]
    table._slots[:] = 0
    probe = ByteCodes()
    probe.add(b"the other of them")
    place = int(np.flatnonzero(probe._slots[:, 1])[0])
    table._slots[place] = (probe._slots[place, 0], slot[1])  # the first text, under the hash of the other
    assert table.add(b"the other of them") == 1
    assert table.text(1) == b"the other of them"


@given(st.lists(st.tuples(st.sampled_from([b"a", b"\\u0061", b"\\ud800", b"b\\/c", b"b/c", b""]))))
def test_what_is_written_with_escapes_has_the_code_of_what_it_means(rows):
    texts = [text for (text,) in rows]
    ends = np.cumsum([len(t) for t in texts])
    spans = np.stack([ends - [len(t) for t in texts], ends], axis=1).astype(np.int32).reshape(-1, 2)
    array = np.frombuffer(b"".join(texts), dtype=np.uint8)
    layout = layout_of(b'{"user": "a", "query": "b"}\n')
    vocabulary = Vocabulary()
    escaped = np.array([b"\\" in t for t in texts], dtype=np.bool_)
    for _ in range(2):  # the second time all are known
        code = vocabulary.code(array, spans, 0, np.arange(len(texts), dtype=np.int32), escaped, layout.plain)
        for text, c in zip(texts, code.tolist(), strict=True):
            meant = {b"\\u0061": b"a", b"b\\/c": b"b/c"}.get(text, text)
            expected = {b"": -1, b"\\ud800": BROKEN}.get(text)
            assert c == expected if expected is not None else vocabulary.text(c) == meant
    assert len(vocabulary) == len({vocabulary.text(c) for c in code.tolist() if c >= 0})
    meant = [{b"\\u0061": b"a", b"b\\/c": b"b/c", b"\\ud800": b""}.get(text, text) for text in texts]
    assert [vocabulary.text(c) for c in range(len(vocabulary))] == list(dict.fromkeys(t for t in meant if t))


@pytest.mark.parametrize("digits", [True, False])
def test_fresh_ids_are_distinct_and_do_not_depend_on_how_many_are_asked_for_at_once(digits):
    one, other = ByteCodes(), ByteCodes()
    a, b = Randomness(seed=4), Randomness(seed=4)
    fresh_ids(one, 5000, a, digits=digits)
    for n in (1, 999, 4000):
        fresh_ids(other, n, b, digits=digits)
    texts = [one.text(c) for c in range(5000)]
    assert len(set(texts)) == 5000
    assert texts == [other.text(c) for c in range(5000)]
    assert all(t.isdigit() == digits for t in texts[:50])


@pytest.mark.parametrize(
    ("sample", "part"),
    [
        (b"\x1f\x8b\x08\x00", "compressed"),
        (b"PAR1xxxx\n", "a stream is read as"),
        (b"\n\n", "no line that can be read"),
        (b"nothing to see\n", "no tab, no comma"),
        (b'{"uid": 3}\n', "no column is known"),
        (b"{\n", "no JSON object"),
        (b"\xff\xff\n", "a binary file"),
    ],
)
def test_what_is_no_stream_is_refused(sample, part):
    def begin():
        refuse_packed(sample, HERE, None)
        layout_of(sample)

    with pytest.raises(InputError, match=part):
        begin()


def split(kernel, data, table, longest, *more):
    """What a kernel finds in some bytes: how many rows, the rows, spans and ways, and where the rest begins."""
    n = data.count(b"\n") + 2
    found = kernels.Records(np.zeros((n, 4), np.int32), np.zeros((n, 6), np.int32), np.zeros((n, 3), np.uint8))
    rows = kernel(np.frombuffer(data, dtype=np.uint8), table, longest, *more, found)
    return rows, *(part[:rows].tolist() for part in found), int(found.rows[rows, kernels.BEGIN])


@given(
    st.lists(st.sampled_from([b"a", b" ", b"\t", b",", b"\n", b"\r", b"\r\n", b"\0", b"word", b"user,q,c", b"x" * 70])),
    st.sampled_from(b"\t,"),
    st.booleans(),
    st.integers(0, 80),
    st.sampled_from([b"", b"user,q,c", b"a\ta\ta"]),
)
def test_lines_without_quotes_are_split_alike_byte_by_byte_and_64_at_a_time(parts, separator, quotes, longest, header):
    data = b"".join(parts)
    column = np.array([0, 1, 2], dtype=np.int32)
    table = kernels.Table(column, np.frombuffer(header, dtype=np.uint8), separator, quotes, True)
    by_byte = split(kernels.split_table, data, table, longest, False)
    assert split(kernels.split_plain, data, table, longest) == by_byte


@given(st.binary(max_size=300))
def test_line_ends_are_counted(data):
    assert kernels.count_lines(np.frombuffer(data, dtype=np.uint8)) == data.count(b"\n")


@given(st.lists(st.binary(min_size=1, max_size=20), unique=True, max_size=30), st.integers(0, 30))
def test_texts_from_a_code_on(texts, first):
    codes = ByteCodes()
    for text in texts:
        codes.add(text)
    first = min(first, len(texts))
    assert codes.texts_from(first) == texts[first:]
