"""Bad input: one clear sentence that says where, what was expected and what was found."""

from __future__ import annotations

import gzip
import os

import pytest
import zstandard

from querycloak.errors import InputError, ParameterError, UnknownNameError, UserError
from querycloak.logs import builder
from querycloak.logs import text_blocks as text
from querycloak.logs.reader import read_log

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
        (b"\xef\xbb\xbf", "LOG: not a query log: the first line has no tab, no comma and no JSON object."),
        (b"\n\n", "LOG: not a query log: the first line has no tab, no comma and no JSON object."),
        (b"hello\nworld\n", "LOG: not a query log: the first line has no tab, no comma and no JSON object."),
        (b"\x7fELF\x02\x01\x01\0\0\0", "LOG: a binary file, not a query log."),
        (bytes(range(128, 256)) * 4, "LOG: a binary file, not a query log in UTF-8."),
        ("user\tquery\n".encode("utf-16"), "LOG: the text is UTF-16; save it as UTF-8."),
        (b'[{"user":1,"query":"tea"}]', "LOG: one JSON array; write one JSON object a line instead."),
        (AOL + ROW + b"142\ttea\n", "LOG, line 3: expected 5 tab-separated fields, found 2."),
        (AOL + b"\n\n" + ROW[:-1] + b"\t\n", "LOG, line 4: expected 5 tab-separated fields, found 6."),
        (b"user,query\n1,tea\n1,tea,cup\n", "LOG, line 3: expected 2 comma-separated fields, found 3."),
        (b'user,query\n1,"a\nb"\n1,tea,cup\n', "LOG, line 4: expected 2 comma-separated fields, found 3."),
        (b'user,query\n1,"tea\n2,cup\n', "LOG, line 2: a quote is not closed or stands inside a field."),
        (b'user,query\n1,"tea"x\n', "LOG, line 2: a quote is not closed or stands inside a field."),
        (b"user\tuser\tquery\n", "LOG, line 1: columns 1 and 2 have the same name in the header; rename one."),
        (b'{"user":1,"query":"tea"}\n{"user":\n', "LOG, line 2: expected one JSON object."),
        (b'{"user":1,"query":"tea"}\n[1]\n', "LOG, line 2: expected one JSON object."),
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
    assert refused(file(whole)) == "LOG, line 1002: expected 5 tab-separated fields, found 1."
    assert "cut short" in refused(file(whole[: len(whole) // 2]))
    other = bytearray(pack(AOL + ROW * 1000))
    other[checksum] ^= 1
    assert "damaged" in refused(file(bytes(other)))
    assert refused(file(pack(b""))) == "LOG: the file is empty."


def test_line_number_across_blocks(file, monkeypatch):
    monkeypatch.setattr(text, "BLOCK", 100)
    assert refused(file(AOL + ROW * 50 + b"142\n" + ROW)) == "LOG, line 52: expected 5 tab-separated fields, found 1."
    assert refused(file(b'user,query\n"1",tea\n' * 30 + b"1\n")).startswith("LOG, line 61: ")
    assert len(read_log(file(AOL + ROW * 50))) == 50


def test_very_long_line(file, monkeypatch):
    by_position = {"header": False, "columns": {"user": "1", "query": "2"}}
    assert len(read_log(file(b"u\t" + b"tea " * 1_000_000 + b"\n"), **by_position)) == 1
    monkeypatch.setattr(text, "BLOCK", 1000)
    monkeypatch.setattr(text, "LONGEST_LINE", 10_000)
    assert "a line of more than 64 MB" in refused(file(b"u\t" + b"tea " * 10_000 + b"\n"), **by_position)


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
        assert "Did you mean 'jsonl'?" in refused(file(self.HEADER), UnknownNameError, format="json")

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

    def test_invalid_utf8(self, file):
        log = read_log(file(AOL + ROW + b"1\tcaf\xe9 \xff\t2006-03-01 07:17:12\t\t\n"))
        assert log.queries.to_list() == ["tea", "caf\ufffd \ufffd"]
        assert log.problems == {"characters that are not UTF-8, replaced": 2}

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
        log = read_log(file(AOL + ROW * 400 + b"1\ta\0b\t2006-03-01 07:17:12\t\t\n"))
        assert log.queries.to_list() == ["tea", "a\ufffdb"]
        assert log.problems == {"NUL bytes, replaced": 1}

    def test_lone_surrogate(self, file):
        log = read_log(file(b'{"user":1,"query":"a\\ud800"}\n{"user":1,"query":"\\\\ud800 \\ud83d\\ude00"}\n'))
        assert (log.queries.to_list(), log.problems) == (
            ["a\ufffd", "\\ud800 \U0001f600"],
            {"characters that are not UTF-8, replaced": 1},
        )
