"""Lines that Spark cuts are read as one machine reads the file; no session is needed for that."""

import json

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from querycloak.errors import InputError
from querycloak.logs.decoding import Decoder, find_wrapping
from querycloak.logs.layout import find_layout
from querycloak.logs.read_options import ReadOptions
from querycloak.logs.source import read_log

pa = pytest.importorskip("pyarrow")
pytest.importorskip("pyspark")

VALUES = st.text(st.sampled_from("abé \"',;\t|{}\\=+ \u200b"), max_size=6)
ROWS = st.lists(st.tuples(VALUES, VALUES, st.sampled_from(["", "2006-03-01 07:17:12"])), min_size=1, max_size=6)


def read(text, path, **options):
    """Return the good rows, the problems, and whether a field goes over several lines."""
    from querycloak.spark.text_lines import SEVERAL_LINES, STATUS_WORDS, read_lines

    asked = ReadOptions(on_error="skip", assume_yes=True, **options)
    wrapping = find_wrapping(text, path, asked.encoding, asked.format)
    layout = find_layout(Decoder(wrapping).decode(text), path, asked, wrapping)
    lines = text.removesuffix(b"\n").split(b"\n")
    roles = [c.role for c in layout.form.columns if c.role]
    found = read_lines(pa.array(lines, pa.binary()), layout, roles)
    status = found.column("problem").to_pylist()
    table = found.drop_columns(["problem"]).to_pylist()
    rows = [row for row, bad in zip(table, status, strict=True) if not bad]
    problems = {}
    for one in status:
        if one and one != SEVERAL_LINES:
            problems[STATUS_WORDS[one]] = problems.get(STATUS_WORDS[one], 0) + 1
    return rows, problems, SEVERAL_LINES in status


def compare(text, path, **options):
    """Check that both read the same: users in their normal form, queries, and what is left out."""
    from querycloak.logs.user_ids import normal_user

    path.write_bytes(text)
    rows, problems, several = read(text, path, **options)
    if several:
        return
    log = read_log(path, on_error="skip", yes=True, **options)
    left = [row for row in rows if normal_user(row["user"])]
    if len(left) < len(rows):  # a user of characters that nobody sees: known once ids have their normal form
        name = "rows without a user, left out"
        problems[name] = problems.get(name, 0) + len(rows) - len(left)
    expected = list(zip(log.users.gather(log.user).to_list(), log.queries.gather(log.query).to_list(), strict=True))
    assert [(normal_user(row["user"]), row["query"]) for row in left] == expected
    told = {name: n for name, n in log.problems.items() if "taken as missing" not in name}
    told.pop("header lines repeated inside the file, left out", None)
    problems.pop("header lines repeated inside the file, left out", None)
    assert problems == told


@settings(max_examples=150, deadline=None)
@given(ROWS)
def test_tables_of_tabs(tmp_path_factory, rows):
    text = "user\tquery\ttime\n" + "".join("\t".join(row) + "\n" for row in rows)
    compare(text.encode(), tmp_path_factory.getbasetemp() / "log.tsv", format="tsv", columns={})


@settings(max_examples=150, deadline=None)
@given(ROWS, st.booleans())
def test_csv(tmp_path_factory, rows, quoted):
    def field(value):
        return '"' + value.replace('"', '""') + '"' if quoted or "," in value else value

    text = "user,query,time\n" + "".join(",".join(map(field, row)) + "\n" for row in rows)
    compare(text.encode(), tmp_path_factory.getbasetemp() / "log.csv", format="csv", columns={})


@settings(max_examples=100, deadline=None)
@given(ROWS)
@example([("\t", "\t", "")])
def test_json_lines(tmp_path_factory, rows):
    lines = [json.dumps({"user": "x", "query": "y"})]
    lines += [json.dumps({"user": user, "query": query, "n": 1}) for user, query, _ in rows]
    compare("".join(line + "\n" for line in lines).encode(), tmp_path_factory.getbasetemp() / "log.jsonl")


def test_a_field_of_several_lines_is_seen_on_each_of_its_ends(tmp_path):
    """Left out line by line, its middle would pass for a row of somebody else."""
    text = b'user,query\nann,"tea\nbob,green tea\nx"\ncem,tea\n'
    rows, _, several = read(text, tmp_path / "log.csv")
    assert several
    assert {"user": "ann", "query": "tea"} not in rows
    even = b'user,query\nann,5" screen,"tea\nbob,green tea\n'
    assert len(read(b'user,query\ndan,6" tv\n' + even[len(b"user,query\n") :], tmp_path / "log.csv")[0]) <= 2


def test_latin_1_and_bad_bytes(tmp_path):
    text = "user\tquery\nann\tGrüße\n".encode("latin-1")
    assert read(text, tmp_path / "a.tsv", encoding="latin-1")[0] == [{"user": "ann", "query": "Grüße"}]
    rows, problems, _ = read(text + b"bob\ttea\n", tmp_path / "a.tsv")
    assert rows == [{"user": "bob", "query": "tea"}]
    assert problems["lines that are not in the encoding, left out"] == 1


def test_a_folder_is_known_by_all_its_parts(tmp_path):
    from querycloak.releases.folder import digest_of_table, parts_of

    folder = tmp_path / "release"
    folder.mkdir()
    (folder / "part-00000.tsv").write_text("a")
    with pytest.raises(InputError, match="not written to its end"):
        parts_of(folder)
    (folder / "_SUCCESS").touch()
    before = digest_of_table(folder)
    (folder / "part-00000.tsv").rename(folder / "part-00001.tsv")
    renamed = digest_of_table(folder)
    (folder / "more.tsv").write_text("")
    assert len({before, renamed, digest_of_table(folder)}) == 3
