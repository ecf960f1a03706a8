"""The short way of plain tables finds what the general way finds, whatever is in the lines and however they are cut."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from querycloak.live import plain_reader
from querycloak.live.reader import Reader
from querycloak.logs.decoding import Wrapping
from querycloak.logs.layout import find_layout
from querycloak.logs.read_options import ReadOptions
from querycloak.mapping.category_tree import CategoryTree
from querycloak.methods.stream.stream_statement import StreamSettings
from querycloak.randomness import Randomness

HEADS = {
    "tsv": "AnonID\tQuery\tQueryTime\tCategory\n",
    "csv": "AnonID,Query,QueryTime,Category\n",
}
VALUES = st.sampled_from(
    [
        "7",
        "4417749",
        "a long user name",
        " 7",
        "7 ",
        "",
        " ",
        "é",
        "e\u0301",
        "44\u200b17749",
        "tea",
        '"q"',
        'q"',
        "x\0y",
        "a\rb",
        "Top/A/b",
        "A//b",
        "A\0",
    ]
)
LINES = st.lists(
    st.one_of(
        st.lists(VALUES, min_size=4, max_size=4),
        st.tuples(
            st.sampled_from(["1", "22", "4417749", "long-user-33"]), st.just("tea"), st.just("t"), st.just("A/b")
        ),
        st.lists(VALUES, max_size=5),
        st.just(["AnonID", "Query", "QueryTime", "Category"]),
    ),
    max_size=150,
)


def reader_of(head: str, name: str, *, short: bool, stop: bool) -> Reader:
    layout = find_layout(
        (head + "1,t,t,A\n".replace(",", head[6])).encode(), "log", ReadOptions(format=name), Wrapping()
    )
    problems = layout.problems("log", stop=stop)
    made = Reader(
        layout,
        StreamSettings(as_in_paper=True),
        CategoryTree(3),
        Randomness(seed=3),
        problems,
        lambda: pytest.fail("no"),
    )
    assert made._plain is not None
    if not short:
        made._plain = None
    return made


def taken(reader: Reader, pieces: list[bytes]) -> list[object]:
    out: list[object] = []
    for i, piece in enumerate(pieces):
        batch = reader.read(piece, final=i == len(pieces) - 1)
        lines = [batch.data[a:b] for a, b in batch.cuts[:, [0, 3]].tolist()]
        users = [batch.data[a:b] for a, b in batch.cuts[:, [1, 2]].tolist()]
        out += [lines, users, batch.cuts.tolist(), batch.user.tolist(), batch.node.tolist(), batch.kind.tolist()]
        out += [batch.users, batch.time.tolist(), batch.id_width, str(batch.problem), len(batch.data)]
        if batch.problem is not None:
            break
    arrays, plain = reader.to_state()
    out += [plain, reader.unclassified, reader.known_users, reader.problems.counts, reader._tree.paths()]
    return [*out, *(np.asarray(array).tolist() for _, array in sorted(arrays.items()))]


@settings(deadline=None)
@given(
    rows=LINES,
    name=st.sampled_from(["tsv", "csv"]),
    end=st.sampled_from(["\n", "\r\n"]),
    cuts=st.lists(st.integers(0, 4_000), max_size=4),
    stop=st.booleans(),
    broken=st.booleans(),
)
def test_the_same_records_as_the_general_way(rows, name, end, cuts, stop, broken):
    head, separator = HEADS[name], "\t" if name == "tsv" else ","
    data = (head + "".join(separator.join(row) + end for row in rows)).encode()
    if broken and data.endswith(b"\n") and len(rows) > 2:
        data = data[: len(data) // 2] + b"\xff" + data[len(data) // 2 :]
    ends = sorted({min(cut, len(data)) for cut in cuts} | {0, len(data)})
    pieces = [data[a:b] for a, b in itertools.pairwise(ends)]
    found = [taken(reader_of(head, name, short=short, stop=stop), pieces) for short in (True, False)]
    assert found[0] == found[1]


@pytest.mark.parametrize("spelling", ["7 ", " 7", "7\u200b", "\uff17"])
def test_two_spellings_of_a_user_are_one_person(spelling):
    """Blanks at the ends, and what is not seen, make no second user, who might be published for the first."""
    reader = reader_of(HEADS["tsv"], "tsv", short=True, stop=True)
    data = (HEADS["tsv"] + f"7\ttea\tt\tA\n{spelling}\ttea\tt\tA\n").encode()
    assert reader.read(data, final=True).user.tolist() == [0, 0]
    assert len(reader.users) == 1


def test_plain_lines_go_the_short_way_and_vocabularies_grow(monkeypatch):
    """A thousand users and categories: both vocabularies grow in the middle of a batch."""
    lines = [f"{user * 7919}\twords\tt\tTop/A{user % 900}/b{user}\n" for user in range(1_000)] * 2
    data = (HEADS["tsv"] + "".join(lines)).encode()
    short, general = (reader_of(HEADS["tsv"], "tsv", short=way, stop=True) for way in (True, False))
    expected = taken(general, [data])
    monkeypatch.setattr(short._records, "read_text", lambda *_, **__: pytest.fail("the general way"))
    assert taken(short, [data]) == expected


def test_a_line_that_never_ends_goes_the_general_way(monkeypatch):
    monkeypatch.setattr(plain_reader, "LONGEST_LINE", 40)
    reader = reader_of(HEADS["tsv"], "tsv", short=True, stop=True)
    data = HEADS["tsv"].encode() + b"7\ttea\tt\tA\n" + b"x" * 50
    assert reader._plain is not None
    assert (
        reader._plain.take(data[len(HEADS["tsv"]) :], reader.users, reader._categories, reader._known_nodes()) is None
    )
