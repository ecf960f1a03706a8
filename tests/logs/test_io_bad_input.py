"""Bad input: one clear sentence that says where, what was expected and what was found."""

from __future__ import annotations

import gzip
import os

import pytest
import zstandard

from querycloak.errors import InputError, ParameterError, UnknownNameError, UserError
from querycloak.logs import builder, source
from querycloak.logs.read_options import ReadOptions
from querycloak.logs.source import read_log

ENCODING = "where it is text, name its encoding: --encoding utf-16 or latin-1"
JSON = "expected one JSON object with a text or a whole number as the user, found something else"
HINT = "; fix it, or leave such lines out with --on-error skip."
AOL = b"AnonID\tQuery\tQueryTime\tItemRank\tClickURL\n"
ROW = b"142\ttea\t2006-03-01 07:17:12\t\t\n"


@pytest.fixture
def file(tmp_path):
    def make(data: bytes, name: str = "log.tsv"):
        path = tmp_path / name
        path.write_bytes(data)
        return path

    return make


def refused(path, kind=InputError, **options) -> str:
    with pytest.raises(kind) as caught:
        read_log(path, **options)
    return str(caught.value).replace(str(path), "LOG")


def test_no_file(tmp_path):
    assert refused(tmp_path / "none.tsv") == "LOG: there is no such file."


def test_directory(tmp_path):
    assert refused(tmp_path) == "LOG: expected a file, found a directory."


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_not_allowed(file):
    path = file(AOL)
    path.chmod(0)
    assert "Permission denied" in refused(path)


def test_path_with_nul():
    with pytest.raises(InputError):
        read_log("a\0b")


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"", "LOG: the file is empty."),
        (b"\xef\xbb\xbf", "LOG: there is no line that can be read; it is not a query log, or in another encoding."),
        (b"\n\n", "LOG: there is no line that can be read; it is not a query log, or in another encoding."),
        (
            b"hello\nworld\n",
            "LOG: not a query log: the first line has no tab, no comma, no semicolon and no JSON object.",
        ),
        (b"\x7fELF\x02\x01\x01\0\0\0", f"LOG: a binary file, not a query log in UTF-8; {ENCODING}."),
        (bytes(range(128, 256)) * 4, f"LOG: a binary file, not a query log in UTF-8; {ENCODING}."),
        (AOL + ROW + b"142\ttea\n", f"LOG, line 3: expected 5 tab-separated fields, found 2{HINT}"),
        (AOL + b"\n\n" + ROW[:-1] + b"\t\n", f"LOG, line 4: expected 5 tab-separated fields, found 6{HINT}"),
        (b"user,query\n1,tea\n1,tea,cup\n", f"LOG, line 3: expected 2 comma-separated fields, found 3{HINT}"),
        (b'user,query\n1,"a\nb"\n1,tea,cup\n', f"LOG, line 4: expected 2 comma-separated fields, found 3{HINT}"),
        (
            b'user,query\n1,"tea\n2,cup\n',
            f"LOG, line 2: a quote is not closed, or something comes after a closing quote{HINT}",
        ),
        (
            b'user,query\n1,"tea"x\n',
            f"LOG, line 2: a quote is not closed, or something comes after a closing quote{HINT}",
        ),
        (b"user\tuser\tquery\n", "LOG, line 1: columns 1 and 2 have the same name in the header; rename one."),
        (b'{"user":1,"query":"tea"}\n{"user":\n', f"LOG, line 2: {JSON}{HINT}"),
        (b'{"user":1,"query":"tea"}\n[1]\n', f"LOG, line 2: {JSON}{HINT}"),
        (b"PAR1 and then nothing", "LOG: cannot be read as a log (ComputeError)."),
    ],
)
def test_content(file, data, sentence):
    assert refused(file(data)) == sentence


@pytest.mark.parametrize(
    ("pack", "checksum"), [(gzip.compress, -5), (zstandard.ZstdCompressor(write_checksum=True).compress, -1)]
)
def test_packed(file, pack, checksum):
    whole = pack(AOL + ROW * 1000 + b"142\n")
    assert refused(file(whole)) == f"LOG, line 1002: expected 5 tab-separated fields, found 1{HINT}"
    assert "cut short" in refused(file(whole[: len(whole) // 2]))
    other = bytearray(pack(AOL + ROW * 1000))
    other[checksum] ^= 1
    assert "damaged" in refused(file(bytes(other)))
    assert refused(file(pack(b""))) == "LOG: the file is empty."


def test_line_number_across_blocks(file, monkeypatch):
    monkeypatch.setattr(source, "BLOCK", 100)
    assert (
        refused(file(AOL + ROW * 50 + b"142\n" + ROW))
        == f"LOG, line 52: expected 5 tab-separated fields, found 1{HINT}"
    )
    assert refused(file(b'user,query\n"1",tea\n' * 30 + b"1\n")).startswith("LOG, line 61: ")
    assert len(read_log(file(AOL + ROW * 50))) == 50


def test_very_long_line(file):
    head = b"user\tquery\n"
    assert len(read_log(file(head + b"u\t" + b"tea " * 250_000 + b"\n"))) == 1
    long = b"u\t" + b"tea " * 300_000 + b"\n"
    assert "LOG, line 2: a line of more than 1,048,576 bytes" in refused(file(head + long))
    assert "LOG, line 1: a line of more than 1,048,576 bytes" in refused(file(long * 3))
    log = read_log(file(head + long + b"u\tcup\n"), on_error="skip")
    assert (len(log), log.problems) == (1, {"lines that are too long, left out": 1})


def test_does_not_fit(file, monkeypatch):
    path = file(AOL + ROW * 1000)
    monkeypatch.setattr(builder, "available_memory", lambda: 1 << 19)
    assert "does not fit into memory: after 1,000 rows 0 MB are left" in refused(path)
    monkeypatch.setattr(builder, "available_memory", lambda: None)
    assert len(read_log(path)) == 1000


class TestColumns:
    HEADER = b"uid\tquestion\tshop\n1\ttea\tx\n"

    def test_unknown_name(self, file):
        sentence = refused(file(self.HEADER), UnknownNameError, columns={"user": "uid", "query": "questoin"})
        assert sentence == (
            "There is no column of LOG named 'questoin'. Did you mean 'question'? There are: question, shop, uid."
        )

    def test_unknown_name_in_a_file_without_header(self, file):
        sentence = refused(file(b"17\tnumb fingers\tx\n"), UnknownNameError, columns={"user": "uid", "query": "q"})
        assert "numb" not in sentence
        assert "name columns by position, as in --no-header --columns user=1,query=2" in sentence

    def test_unknown_role(self, file):
        assert "Did you mean 'user'?" in refused(file(self.HEADER), UnknownNameError, columns={"usr": "uid"})

    def test_unknown_format(self, file):
        assert "Did you mean 'jsonl'?" in refused(file(self.HEADER), UnknownNameError, format="jsnl")

    def test_one_column_for_two_roles(self, file):
        refused(file(self.HEADER), ParameterError, columns={"user": "uid", "query": "uid"})

    def test_no_query(self, file):
        sentence = refused(file(b'{"uid":1,"text":"tea"}\n'))
        assert sentence.endswith(
            "no column is known to be the query; say which, as in --columns query=NAME; there are: uid, text."
        )

    def test_no_query_without_header(self, file):
        assert "numb" not in refused(file(b"17\tnumb fingers\tdate\n"))

    @pytest.mark.parametrize("name", ["aol", "excite", "ubi", "parquet"])
    def test_wrong_format(self, file, name):
        refused(file(b'{"uid":1,"text":"tea"}\n'), UserError, format=name)


class TestCounted:
    """What the reader fixes or passes over is counted in `problems`."""

    def test_nothing_to_mend(self, file):
        assert read_log(file(AOL + ROW)).problems == {}

    def test_not_in_the_encoding(self, file):
        path = file(AOL + ROW + b"1\tcaf\xe9 \xff\t2006-03-01 07:17:12\t\t\n")
        assert refused(path).startswith("LOG, line 3: expected text in UTF-8, found bytes that are not; name the enc")
        log = read_log(path, ReadOptions(on_error="skip"))
        assert log.queries.to_list() == ["tea"]
        assert log.problems == {"lines that are not in the encoding, left out": 1}
        assert read_log(path, ReadOptions(encoding="latin-1")).queries.to_list() == ["tea", "caf\xe9 \xff"]

    def test_times(self, file):
        log = read_log(file(AOL + ROW + b"1\ttea\tyesterday\t\t\n1\ttea\t\t\t\n"))
        assert log.problems == {"times that do not parse, taken as missing": 1}

    def test_ranks(self, file):
        log = read_log(file(AOL + b"1\ttea\t2006-03-01 07:17:12\tfirst\tu\n1\ttea\t2006-03-01 07:17:12\t-4\tu\n"))
        assert log.rank.tolist() == [-1, -1]
        assert log.problems == {"ranks that are not numbers, taken as missing": 2}

    def test_rows_without_user_or_query(self, file):
        log = read_log(file(AOL + ROW + b"\ttea\t2006-03-01 07:17:12\t\t\n1\t\t2006-03-01 07:17:12\t\t\n"))
        assert len(log) == 1
        assert log.problems == {"rows without a user, left out": 1, "rows without a query, left out": 1}

    def test_blank_lines(self, file):
        log = read_log(file(AOL + b"\n" + ROW + b"\n\n"))
        assert (len(log), log.problems) == (1, {"blank lines, left out": 3})

    def test_files_joined_with_their_headers(self, file):
        log = read_log(file((AOL + ROW) * 3))
        assert (len(log), log.problems) == (3, {"header lines repeated inside the file, left out": 2})

    def test_nul(self, file):
        path = file(AOL + ROW * 4 + b"1\ta\0b\t2006-03-01 07:17:12\t\t\n")
        assert refused(path) == f"LOG, line 6: expected text, found a NUL byte{HINT}"
        assert read_log(path, ReadOptions(on_error="skip")).problems == {"lines with a NUL byte, left out": 1}

    def test_lone_surrogate(self, file):
        path = file(b'{"user":1,"query":"a\\ud800"}\n{"user":1,"query":"\\\\ud800 \\ud83d\\ude00"}\n')
        assert refused(path).startswith("LOG, line 1: expected one JSON object")
        log = read_log(path, ReadOptions(on_error="skip"))
        assert (log.queries.to_list(), log.problems) == (
            ["\\ud800 \U0001f600"],
            {"malformed lines, left out": 1},
        )

    def test_category_path_with_an_empty_level(self, file):
        path = file(b"user\tquery\tcategory\na\ttea\tTop/Food\nb\tcup\tTop//Food\nc\tcup\t\n")
        assert refused(path) == f"LOG, line 3: expected a category path, found one with an empty level{HINT}"
        log = read_log(path, ReadOptions(on_error="skip"))
        assert log.users.to_list() == ["a", "c"]
        assert (log.categories.to_list(), log.category.tolist()) == (["Top/Food"], [0, -1])
        assert log.problems == {"category paths with an empty level, left out": 1}

    def test_what_comes_before_a_text_is_left_out_does_not_stay_in_the_vocabulary(self, file):
        path = file(b'{"user":"\\ud800","query":"tea"}\n{"user":"a","query":"cup"}\n{"user":"a","query":"tea"}\n')
        log = read_log(path, ReadOptions(on_error="skip"))
        assert (log.queries.to_list(), log.query.tolist()) == (["cup", "tea"], [0, 1])
