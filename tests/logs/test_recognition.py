"""Which column is the user and which the query is never guessed: by names, by content that is certain, or asked."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import polars as pl
import pytest

from querycloak.errors import InputError, ParameterError, UnknownNameError, UserError
from querycloak.logs.decoding import Wrapping
from querycloak.logs.layout import find_layout
from querycloak.logs.read_options import ReadOptions, read_options
from querycloak.logs.source import read_log

if TYPE_CHECKING:
    from pathlib import Path

BY_POSITION = {"user": "1", "query": "2"}
NAMES = ["anna.schmidt", "bernd.maier", "clara.vogel"]


@pytest.fixture
def file(tmp_path):
    def make(text: str, name: str = "log.tsv") -> Path:
        (tmp_path / name).write_text(text)
        return tmp_path / name

    return make


def refused(path, kind=InputError, **options) -> str:
    with pytest.raises(kind) as caught:
        read_log(path, **options)
    return str(caught.value)


def both_readers(path, options) -> list[str]:
    """What batch and live reading take the columns for, or the error of each."""
    said = []
    for read in (
        lambda: read_log(path, options).form,
        lambda: find_layout(path.read_bytes(), path, options, Wrapping()).form,
    ):
        try:
            form = read()
        except UserError as error:
            said.append(str(error))
        else:
            said.append(f"{form.format} {form.header} {[c.role for c in form.columns]}")
    return said


SWAPPED = "suchbegriff\tnutzer\n" + "".join(f"{q}\t{n}\n" for n in NAMES for q in ("wetter", "kino", "bahn"))


class TestTwoColumns:
    def test_are_not_guessed(self, file):
        for sentence in both_readers(file(SWAPPED), ReadOptions()):
            assert "2 tab-separated fields" in sentence
            assert "not guessed" in sentence
            assert "querycloak anonymize log.tsv" in sentence
            assert "--columns user=NAME,query=NAME" in sentence
            assert "--no-header --columns user=1,query=2" in sentence
            assert "nutzer" not in sentence  # it may be data

    def test_are_taken_as_they_are_named(self, file):
        log = read_log(file(SWAPPED), columns={"user": "nutzer", "query": "suchbegriff"})
        assert (log.users.to_list(), len(log)) == (NAMES, 9)

    @pytest.mark.parametrize(("header", "rows"), [(True, 9), (False, 10)])
    def test_by_position_the_user_says_whether_there_is_a_header(self, file, header, rows):
        columns = {"user": "2", "query": "1"}
        for sentence in both_readers(file(SWAPPED), ReadOptions(columns=columns)):
            assert "add --header if it names the columns, --no-header if it is the first row" in sentence
        log = read_log(file(SWAPPED), columns=columns, header=header)
        assert (len(log), "anna.schmidt" in log.users) == (rows, True)

    def test_without_a_header_names_are_refused(self, file):
        for columns in ({"user": "nutzer", "query": "suchbegriff"}, {"user": "2"}, {}):
            sentence = refused(file(SWAPPED), columns=columns, header=False)
            assert "given by position, as in --no-header --columns user=1,query=2" in sentence

    def test_positions_outside_are_refused(self, file):
        refused(file(SWAPPED), UnknownNameError, columns={"user": "3", "query": "1"}, header=False)

    def test_a_header_that_is_none_hides_nothing(self, file):
        assert "kino" not in refused(file("wetter\tkino\nbahn\tauto\n"), header=True)


ROW = "142\tgreen tea\t2006-03-01 07:17:12"


class TestWellKnownForms:
    @pytest.mark.parametrize(
        "line",
        [
            "ann\tgreen tea\t2006-03-01 07:17:12",  # a user that is no number
            "142\tgreen tea\tyesterday",
            f"{ROW}\tfirst\thttp://x.example",
            f"{ROW}\t1\tann@example.com",  # not an address of a page
            "2006-03-01 07:17:12\t142\tgreen tea",
            "ann\t970916105432\ttea",  # Excite's users have 16 characters
            "2A9EABFB35F5B954\t979916105432\ttea",  # no such month
            "2A9EABFB35F5B954\ttea\t970916105432",
        ],
    )
    def test_the_number_of_columns_is_not_enough(self, file, line):
        for sentence in both_readers(file(f"{line}\n" * 20), ReadOptions()):
            assert "not guessed" in sentence

    @pytest.mark.parametrize(
        ("line", "form"),
        [
            (ROW, "aol False ['user', 'query', 'time']"),
            (f"{ROW}\t\t", "aol False ['user', 'query', 'time', 'rank', 'url']"),
            ("2A9EABFB35F5B954\t970916105432\ttea", "excite False ['user', 'time', 'query']"),
        ],
    )
    def test_what_they_hold_is(self, file, line, form):
        assert both_readers(file(f"{line}\n" * 20), ReadOptions()) == [form, form]

    def test_nearly_all_rows_must_look_right(self, file):
        odd = "ann\tgreen tea\t2006-03-01 07:17:12\n"
        assert len(read_log(file(f"{ROW}\n" * 18 + odd * 2))) == 20
        refused(file(f"{ROW}\n" * 17 + odd * 3))

    def test_who_asks_for_a_form_gets_it_where_times_are_in_their_column(self, file):
        odd = file("ann\tgreen tea\t2006-03-01 07:17:12\n" * 3)
        assert read_log(odd, format="aol").users.to_list() == ["ann"]
        assert "not in the Excite form" in refused(odd, format="excite")
        assert "not in the AOL form" in refused(file("ann\ttea\tnow\n"), format="aol")

    def test_a_form_is_data_where_columns_are_given_by_position(self, file):
        assert len(read_log(file(f"{ROW}\n"), columns=BY_POSITION)) == 1


class TestAmbiguousHeaders:
    @pytest.mark.parametrize(
        ("header", "said"),
        [
            ("user_id\tsession_id\tquery", "2 columns may be the user: user_id, session_id"),
            ("uid\tclient_id\tquery", "2 columns may be the user: uid, client_id"),
            ("User ID\tuser_id\tquery", "2 columns may be the user: User ID, user_id"),
            ("uid\tquery\tuser_query", "2 columns may be the query: query, user_query"),
            ("uid\tq\tsearch_term", "2 columns may be the query: q, search_term"),
        ],
    )
    def test_two_candidates_are_asked_for(self, file, header, said):
        for sentence in both_readers(file(f"{header}\n1\t2\t3\n"), ReadOptions()):
            assert said in sentence
            assert "say which, as in --columns" in sentence
        assert said in refused(file(f"{header}\n1\t2\t3\n".replace("\t", ",")))
        line = json.dumps(dict.fromkeys(header.split("\t"), "x"))
        for sentence in both_readers(file(f"{line}\n"), ReadOptions()):
            assert said in sentence

    def test_one_that_is_named_settles_it(self, file):
        path = file("user_id\tsession_id\tquery\nann\t7\ttea\n")
        assert read_log(path, columns={"user": "user_id"}).users.to_list() == ["ann"]
        assert read_log(path, columns={"user": "session_id"}).users.to_list() == ["7"]

    def test_a_session_is_not_taken_for_a_person(self, file):
        assert "a session is not a person" in refused(file("session_id\tquery\ttime\n7\ttea\t2006\n"), header=True)
        assert "not guessed" in refused(file("session_id\tquery\n7\ttea\n"))
        assert "a session is not a person" in refused(file("session_id\tquery\ttime\n7\ttea\t2006\n"))

    def test_an_id_is_not_a_user(self, file):
        assert "not guessed" in refused(file("id,query\n7,tea\n"))
        assert "no column is known to be the user" in refused(file('{"id": 7, "query": "tea"}\n'))

    def test_parquet_too(self, tmp_path):
        pl.DataFrame({"user_id": ["a"], "session_id": ["b"], "query": ["tea"]}).write_parquet(tmp_path / "log")
        assert "2 columns may be the user" in refused(tmp_path / "log")
        pl.DataFrame({"nutzer": ["a"], "query": ["tea"]}).write_parquet(tmp_path / "log")
        assert "no column is known to be the user" in refused(tmp_path / "log")

    def test_ubi_with_client_and_user(self, file):
        row = {"query_id": "z", "client_id": "c", "user_id": "u", "user_query": "shoes", "query": "{}"}
        for made in (row, {"_source": row}):
            path = file(json.dumps(made) + "\n")
            assert "either may be the user" in refused(path)
        del row["user_id"]
        log = read_log(file(json.dumps({**row, "session_id": "s"}) + "\n"))
        assert (log.users.to_list(), log.queries.to_list()) == (["c"], ["shoes"])

    def test_keys_that_may_be_data_are_not_shown(self, file):
        assert "4417749" not in refused(file('{"4417749": "numb fingers"}\n'))


class TestOptions:
    def test_unknown_ones_are_refused(self):
        with pytest.raises(UnknownNameError, match="Did you mean 'columns'"):
            read_options(None, {"colums": {}})

    @pytest.mark.parametrize(
        "wrong", [{"encoding": "utf8"}, {"on_error": "ignore"}, {"max_memory": 0}], ids=lambda wrong: next(iter(wrong))
    )
    def test_nonsense_is_refused(self, wrong):
        with pytest.raises(ParameterError, match=f"ReadOptions.{next(iter(wrong))} must be"):
            ReadOptions(**wrong)
