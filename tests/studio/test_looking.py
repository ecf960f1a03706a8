"""What the first lines of a log tell: nothing is guessed that publishes people, and no value is shown."""

import gzip

import polars as pl
import pytest

from querycloak.errors import InputError, ParameterError, UserError
from querycloak.logs.zstd import zstd
from querycloak.studio.looking import form_of, look_at
from querycloak.studio.roles import known_reading, reading_of


@pytest.fixture
def look(tmp_path):
    def run(content, name="log.csv"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return look_at(path)

    return run


def roles(found):
    return {column.role: column.position for column in found.columns if column.role}


def test_a_header_of_common_names_says_it_all(look):
    found = look("UID,Query,Time\nann,green tea,2024-01-01\n")
    assert (found.format, found.header, found.needs) == ("csv", True, ())
    assert roles(found) == {"user": 1, "query": 2, "time": 3}
    assert all(column.sure for column in found.columns)


def test_samples_show_the_form_and_not_the_value(look):
    found = look("user,query,time\nann,green tea 4,2024-01-01\nbob@example.org,Tea,2024-01-02\n")
    assert [column.samples for column in found.columns] == [
        ("aaa", "aaa@aaaaaaa.aaa"),
        ("aaaaa aaa 0", "Aaa"),
        ("0000-00-00",),
    ]


def test_no_character_of_a_value_is_shown(look):
    secret = "Käthe müller 東京 ٣ ①\u202e\x1b[31m"
    assert not set(form_of(secret)) & (set(secret) - set(" [0"))


@pytest.mark.parametrize("line", ["ann,tea", "nutzer,suchtext", "1,green tea", "session_id,query"])
def test_a_first_line_that_may_be_data_is_asked_about(look, line):
    found = look(f"{line}\nbob,coffee\ncem,maps\n")
    assert found.header is None
    assert found.needs == ("user", "query", "header")
    assert not any(column.sure for column in found.columns)
    assert "not guessed" in found.problem


def test_a_first_line_that_may_be_data_does_not_name_columns(look):
    found = look("ann,secret illness\nbob,tea\n")
    assert [column.name for column in found.columns] == ["column 1", "column 2"]


def test_odd_names_are_shown_where_the_rows_below_are_no_names(look):
    found = look("nutzer;suchtext;zeit\n17;hallo welt;2024-01-01\n18;tee;2024-01-02\n")
    assert [column.name for column in found.columns] == ["nutzer", "suchtext", "zeit"]
    assert found.header is None  # all the same the user says it


def test_a_session_is_not_suggested_as_the_user(look):
    found = look("session_id,user_id,query\n1,7,tea\n2,7,maps\n")
    assert "user" not in roles(found)
    assert "a session is not a person" in found.problem


def test_two_candidates_are_asked_about(look):
    found = look("user,user_id,query\n1,a,tea\n2,b,tea\n")
    assert roles(found) == {"query": 3}
    assert {"user", "query"} <= set(found.needs)
    assert not any(column.sure for column in found.columns)


def test_the_aol_form_is_known_with_and_without_header(look):
    rows = "17\ttea\t2006-03-01 07:17:12\t\t\n18\tmaps\t2006-03-01 07:17:13\t1\thttp://www.maps.com\n"
    without = look(rows, "a.txt")
    assert (without.format, without.header, without.needs) == ("aol", False, ())
    assert look("AnonID\tQuery\tQueryTime\tItemRank\tClickURL\n" + rows, "b.txt").header is True


def test_json_lines_with_odd_keys(look):
    found = look('{"who": {"id": 5}, "what": "tea"}\n{"who": {"id": 6}, "what": "maps"}\n', "log.jsonl")
    assert found.named
    assert [(column.name, column.samples) for column in found.columns] == [
        ("who.id", ("0",)),
        ("what", ("aaa", "aaaa")),
    ]
    assert reading_of(found, {"user": "1", "query": "2"}, None).columns == {"user": "who.id", "query": "what"}


def test_parquet_known_and_odd(tmp_path):
    pl.DataFrame({"user": [1, 2], "query": ["tea", "a b"]}).write_parquet(tmp_path / "a.parquet")
    pl.DataFrame({"kunde": [1, 2], "text": ["tea", "a b"]}).write_parquet(tmp_path / "b.parquet")
    assert look_at(tmp_path / "a.parquet").needs == ()
    odd = look_at(tmp_path / "b.parquet")
    assert odd.named
    assert odd.needs == ("user", "query")


@pytest.mark.parametrize("pack", [gzip.compress, zstd.compress])
def test_compressed_logs(look, pack):
    found = look(pack(b"user,query\nann,tea\n"), "log.csv.packed")
    assert (found.format, roles(found)) == ("csv", {"user": 1, "query": 2})


@pytest.mark.parametrize("content", [b"", b"\n\n", b"one word\n", b"\x00\x01\x02" * 50, b"\x1f\x8b damaged"])
def test_what_is_no_log_is_refused_in_one_sentence(look, content):
    with pytest.raises(InputError) as error:
        look(content, "odd.csv")
    assert "\n" not in str(error.value)


def test_latin_1_and_a_byte_order_mark(look):
    assert look("\ufeffuser,query\nann,tea\n").needs == ()
    assert look("user;query\nann;tea\n".encode("utf-16")).needs == ()


class TestReading:
    def test_what_the_file_says_is_left_to_the_reader(self, look):
        found = look("user,query,time\nann,tea,2024-01-01\n")
        assert reading_of(found, {"user": "1", "query": "2", "time": "3"}, None).columns == {}
        assert known_reading(found).roles == {"user": "1", "query": "2", "time": "3"}

    def test_without_a_header_columns_are_counted(self, look):
        reading = reading_of(look("ann,tea\nbob,maps\n"), {"user": "1", "query": "2"}, header=False)
        assert (reading.columns, reading.header) == ({"user": "1", "query": "2"}, False)

    def test_a_column_whose_name_is_a_number_is_named(self, look):
        found = look("2,1,text\nann,5,tea\nbob,6,maps\n")
        assert reading_of(found, {"user": "1", "query": "3"}, header=True).columns == {"user": "2", "query": "text"}
        assert reading_of(found, {"user": "1", "query": "3"}, header=False).columns == {"user": "1", "query": "3"}

    def test_a_common_name_keeps_its_role(self, look):
        found = look("nutzer,query,url\nann,tea,http://a.org/1\nbob,maps,http://b.org/2\n")
        reading = reading_of(found, {"user": "1", "query": "2"}, header=True)
        assert reading.roles == {"user": "1", "query": "2", "url": "3"}

    @pytest.mark.parametrize(
        ("chosen", "says"),
        [
            ({"query": "2"}, "which column is the user"),
            ({"user": "1"}, "which column is the query"),
            ({"user": "1", "query": "1"}, "two roles"),
            ({"user": "1", "query": "9"}, "position from 1 to 2"),
            ({"user": "1", "query": "../2"}, "position from 1 to 2"),
            ({"user": "1", "query": "2", "boss": "2"}, "no role of a column 'boss'"),
        ],
    )
    def test_roles_that_make_no_sense_are_refused(self, look, chosen, says):
        with pytest.raises(UserError, match=says):
            reading_of(look("ann,tea\nbob,maps\n"), chosen, header=False)

    def test_the_header_must_be_said(self, look):
        with pytest.raises(ParameterError, match="first line"):
            reading_of(look("ann,tea\nbob,maps\n"), {"user": "1", "query": "2"}, None)
