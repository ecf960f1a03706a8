from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from datetime import UTC, datetime

import narwhals
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from table_strategies import tables

import querycloak as qc
from querycloak.errors import InputError, ParameterError, UnknownNameError, UserError
from querycloak.logs.query_log import MISSING_TIME

NAMES = {"user": "uid", "query": "q"}
QUICK = settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40)


def assert_same(found: qc.QueryLog, expected: qc.QueryLog, extra: bool = True) -> None:
    for name in ("user", "query", "time", "rank", "url", "category"):
        one, other = getattr(found, name), getattr(expected, name)
        assert (one is None) == (other is None), name
        if one is not None:
            assert one.tolist() == other.tolist(), name
            assert one.dtype == other.dtype
    for name in ("users", "queries", "urls", "categories"):
        one, other = getattr(found, name), getattr(expected, name)
        assert (one is None) == (other is None)
        if one is not None:
            assert one.to_list() == other.to_list(), name
    assert found.problems == expected.problems
    if extra and expected.extra is not None:
        assert found.extra is not None
        assert found.extra.rows() == expected.extra.rows()


def as_library(frame: pl.DataFrame, library: str) -> object:
    if library == "lazy":
        return frame.lazy()
    if library == "pandas":
        exact = frame["uid"].dtype == pl.UInt64  # with a gap they would be floats, which are refused
        return frame.to_pandas(use_pyarrow_extension_array=exact).set_index(
            pd.Index(range(100, 100 + len(frame)), name="uid2")
        )
    return frame.to_arrow() if library == "arrow" else frame


def has_rows(frame: pl.DataFrame) -> bool:
    try:
        qc.QueryLog.of(frame, columns=NAMES)
    except InputError as error:
        assert "rows has both a user and a query" in str(error)  # noqa: PT017
        return False
    return True


@QUICK
@given(tables(), st.sampled_from(["polars", "lazy", "pandas", "arrow"]))
def test_a_table_is_the_log_of_the_same_table_in_a_file(tmp_path, frame, library):
    assume(has_rows(frame))
    frame.write_parquet(tmp_path / "log.parquet")
    frame.write_csv(tmp_path / "log.csv")
    found = qc.read_log(as_library(frame, library), columns=NAMES)
    assert_same(found, qc.read_log(tmp_path / "log.parquet", columns=NAMES), extra=library != "pandas")
    assert_same(found, qc.read_log(tmp_path / "log.csv", columns=NAMES), extra=False)
    assert_same(qc.QueryLog.of(as_library(frame, library), columns=NAMES), found)


@QUICK
@given(tables(), st.sampled_from(["polars", "pandas", "arrow"]))
@pytest.mark.slow
def test_a_table_gives_the_release_of_the_same_table_in_a_file(tmp_path, frame, library):
    assume(has_rows(frame))
    frame.write_parquet(tmp_path / "log.parquet")
    frame.write_csv(tmp_path / "log.csv")
    table = as_library(frame, library)
    logs = [qc.read_log(source, columns=NAMES) for source in (table, tmp_path / "log.parquet", tmp_path / "log.csv")]
    keep = ",".join(kept for kept, column in (("time", "time"), ("clicks", "url")) if column in frame.columns) or "none"
    releases = [qc.anonymize(log, "sweep", min_query_users=1, keep=keep, seed=7) for log in logs]
    for other in releases[1:]:
        assert releases[0].statement == other.statement
        assert_same(releases[0].log, other.log, extra=False)


@QUICK
@given(tables())
def test_what_is_returned_is_read_as_the_same_log(frame):
    assume(has_rows(frame))
    log = qc.read_log(frame, columns=NAMES)
    back = log.to_polars()
    assert back.columns == frame.columns
    for again in (back, log.to_pandas(), log.to_arrow()):
        read = replace(qc.read_log(again, columns=NAMES, yes=True), problems=log.problems)
        assert_same(read, log, extra=False)


def test_common_names_are_known_and_others_are_kept():
    frame = pl.DataFrame({"AnonID": ["a", "b"], "Query": ["tea", "tea"], "shop": [1, None], "tags": [["x"], []]})
    log = qc.read_log(frame)
    assert log.users.to_list() == ["a", "b"]
    assert log.extra.columns == ["shop", "tags"]
    assert log.to_polars().equals(frame)


def test_a_zone_is_taken_into_account():
    noon = datetime(2006, 3, 1, 12, tzinfo=UTC)
    naive = pl.Series([noon.replace(tzinfo=None), None])
    zoned = pl.Series([noon, None]).dt.convert_time_zone("Asia/Kolkata")
    for times in (
        naive,
        zoned,
        zoned.to_pandas(),
        pl.Series([1_141_214_400, None]),
        pl.Series([1_141_214_400.75, None]),
    ):
        frame = pl.DataFrame({"user": ["a", "b"], "query": ["x", "y"], "time": times})
        assert qc.read_log(frame).time.tolist() == [1_141_214_400, MISSING_TIME]


def test_whole_floats_are_the_numbers_they_were():
    gaps = pd.DataFrame({"user": [1, 2, None, 1], "query": list("abcd"), "rank": [1, None, 3, 2], "url": list("wxyz")})
    log = qc.read_log(gaps)
    assert log.users.to_list() == ["1", "2"]  # as from a column without gaps
    assert log.rank.tolist() == [1, -1, 2]
    assert log.problems == {"rows without a user, left out": 1}
    frame = pl.DataFrame({"user": [1.0, float("nan"), -0.0, 0.0], "query": list("abcd")})
    assert qc.read_log(frame).users.to_list() == ["1", "0"]


@pytest.mark.parametrize("ids", [[1.0, 1.5], [1.0, 2.0**53], [1.0, float("inf")]])
def test_floats_in_which_two_people_may_be_one_are_refused(ids, tmp_path):
    frame = pl.DataFrame({"user": ids, "query": ["a", "b"]})
    frame.write_parquet(tmp_path / "log.parquet")
    for source in (frame, frame.to_pandas(), tmp_path / "log.parquet"):
        with pytest.raises(InputError, match="the user holds Float64 values, of which 1 are no whole numbers"):
            qc.read_log(source)
    narrow = pl.DataFrame({"user": pl.Series([2.0**24 + 2], dtype=pl.Float32), "query": ["a"]})
    with pytest.raises(InputError, match="Float32"):
        qc.read_log(narrow)


def test_one_rank_with_a_fraction_does_not_change_those_of_others():
    frame = pl.DataFrame({"user": ["a", "b"], "query": ["x", "y"], "rank": [1.0, 1.5], "url": ["u", "v"]})
    log = qc.read_log(frame)
    assert log.rank.tolist() == [1, -1]


def test_spellings_of_one_id_are_one_person():
    log = qc.read_log(pl.DataFrame({"user": ["17", " 17", "\uff11\uff17", "1\u200b7"], "query": list("abcd")}))
    assert log.users.to_list() == ["17"]


def test_bad_rows_stop_or_are_counted_as_in_files():
    frame = pl.DataFrame({"user": ["a", "b"], "query": ["x", "y\0"]})
    with pytest.raises(InputError, match=r'^the table, row 2: expected text, found a NUL byte; .* on_error="skip"\.$'):
        qc.read_log(frame)
    assert len(qc.read_log(frame, on_error="skip")) == 1
    long = pl.DataFrame({"user": ["a"], "query": ["x" * (1 << 21)]})
    with pytest.raises(InputError, match="a row of more than 1,048,576 bytes"):
        qc.read_log(long)


def many(users: list, queries: list) -> pl.DataFrame:
    return pl.DataFrame({"user": users, "query": queries})


def test_columns_that_look_wrong_are_refused():
    swapped = many([f"query {i}" for i in range(200)], [f"id{i % 40}" for i in range(200)])
    with pytest.raises(InputError, match=r"the table: the column taken for the user \(user\) has 200 .*yes=True"):
        qc.read_log(swapped)
    with pytest.raises(InputError, match="say which column is which with columns, or"):
        qc.QueryLog.of(swapped)
    assert len(qc.QueryLog.of(swapped, yes=True)) == len(qc.read_log(swapped, yes=True)) == 200


SECRET = "secret-text"
WRONG = {
    "no user column": (pl.DataFrame({"id": [SECRET], "query": ["x"]}), InputError, r'as in columns=\{"user": "NAME"\}'),
    "two users": (
        pl.DataFrame({"uid": [SECRET], "user": ["a"], "query": ["x"]}),
        InputError,
        "2 columns may be the user",
    ),
    "session": (pl.DataFrame({"session_id": [SECRET], "query": ["x"]}), InputError, "a session is not a person"),
    "empty": (
        pl.DataFrame({"user": [], "query": []}, schema={"user": pl.String, "query": pl.String}),
        InputError,
        "no rows",
    ),
    "empty pandas": (pd.DataFrame({"user": [], "query": []}), InputError, "the column for the user holds Null|no rows"),
    "no columns": (pl.DataFrame(), InputError, "no columns"),
    "all missing": (pl.DataFrame({"user": ["", None], "query": ["a", "b"]}), InputError, "none of its 2 rows"),
    "nested": (
        pl.DataFrame({"user": [["a"]], "query": ["x"]}),
        InputError,
        "the column for the user holds List values",
    ),
    "struct": (pl.DataFrame({"user": ["a"], "query": [{"t": "x"}]}), InputError, "the query holds Struct values"),
    "binary": (pl.DataFrame({"user": [b"a"], "query": ["x"]}), InputError, "the user holds Binary values"),
    "flags": (pl.DataFrame({"user": [True], "query": ["x"]}), InputError, "the user holds Boolean values"),
    "objects": (
        pl.DataFrame({"user": ["a"], "query": ["x"], "o": pl.Series([object()], dtype=pl.Object)}),
        InputError,
        "column 3 holds Python objects",
    ),
    "clock": (
        pl.DataFrame({"user": ["a"], "query": ["x"], "time": [datetime(2006, 1, 1, tzinfo=UTC).time()]}),
        InputError,
        "the time holds Time values",
    ),
    "duplicates": (
        pd.DataFrame([["a", "b", "x"]], columns=["user", "query", "query"]),
        InputError,
        "columns 2 and 3 have the same name; rename one",
    ),
    "same as text": (
        pd.DataFrame([["a", "b", "x"]], columns=["user", 1, "1"]),
        InputError,
        "columns 2 and 3 have the same name",
    ),
    "arrow duplicates": (
        pa.table([["a"], ["b"]], names=["user", "user"]),
        InputError,
        "columns 1 and 2 have the same name",
    ),
    "levels": (
        pd.DataFrame([["a", "x"]], columns=pd.MultiIndex.from_tuples([("a", "user"), ("a", "query")])),
        InputError,
        "several levels",
    ),
    "mixed": (pd.DataFrame({"user": [1, SECRET], "query": ["x", "y"]}), InputError, "column 1 mixes types"),
    "surrogate": (pd.DataFrame({"user": ["a"], "query": ["\ud800"]}), InputError, "column 2 mixes types"),
    "series": (pl.Series("user", [SECRET]), ParameterError, r"got one column of it \(Series\)"),
    "pandas series": (pd.Series([SECRET], name="user"), ParameterError, "got one column of it"),
    "arrow column": (pa.chunked_array([[SECRET]]), ParameterError, "got one column of it"),
    "numpy": (np.array([[SECRET, "x"]]), ParameterError, "a numpy array; an array has no names of columns"),
    "dict": ({"user": [SECRET], "query": ["x"]}, ParameterError, "got a dict"),
    "none": (None, ParameterError, "got a NoneType"),
    "number": (17, ParameterError, "got a int"),
}


@pytest.mark.parametrize("case", sorted(WRONG))
def test_what_is_no_log_is_refused_with_one_sentence(case):
    table, kind, says = WRONG[case]
    for read in (qc.read_log, qc.QueryLog.of):
        with pytest.raises(kind, match=says) as error:
            read(table)
        text = str(error.value)
        assert SECRET not in text
        assert "--" not in text
        assert "\n" not in text
        assert text.endswith(".")
        assert error.value.__cause__ is None


def test_one_user_is_a_log():
    log = qc.read_log(pl.DataFrame({"user": [17] * 3, "query": ["a", "b", "c"]}))
    assert len(log.users) == 1
    assert len(qc.anonymize(log, "sweep").log) == 0


def test_columns_of_a_table_are_named_never_counted():
    frame = pd.DataFrame([["tea", "ann"], ["tea", "bob"]])  # columns 0 and 1
    assert qc.read_log(frame, columns={"user": 1, "query": 0}).users.to_list() == ["ann", "bob"]
    with pytest.raises(UnknownNameError, match="no column of the table named '2'"):
        qc.read_log(frame, columns={"user": "1", "query": "2"})
    with pytest.raises(UnknownNameError) as error:
        qc.read_log(pl.DataFrame({"user": ["a"], "query": ["x"], "4417749": [1]}), columns={"user": "1"})
    assert "4417749" not in str(error.value)  # it may be somebody's id
    with pytest.raises(UnknownNameError, match="Did you mean 'uid'"):
        qc.read_log(pl.DataFrame({"uid": ["a"], "q": ["x"]}), columns={"user": "uidd"})
    with pytest.raises(UnknownNameError, match="role of a column 'person'"):
        qc.read_log(pl.DataFrame({"uid": ["a"], "q": ["x"]}), columns={"person": "uid"})


@pytest.mark.parametrize(
    ("name", "value"), [("format", "csv"), ("header", False), ("encoding", "latin-1"), ("unescape", True)]
)
def test_options_of_files_mean_nothing_for_a_table(name, value):
    with pytest.raises(ParameterError, match=f"`{name}` says how a file is read"):
        qc.read_log(pl.DataFrame({"user": ["a"], "query": ["x"]}), **{name: value})


def test_a_lazy_frame_that_fails_is_told_without_its_message():
    lazy = pl.DataFrame({"user": [SECRET], "query": ["x"]}).lazy().with_columns(pl.col("user").cast(pl.Int64))
    with pytest.raises(InputError, match="cannot be collected") as error:
        qc.read_log(lazy)
    assert SECRET not in str(error.value)


def test_a_record_batch_is_a_table():
    batch = pa.RecordBatch.from_pydict({"user": ["a", "b"], "query": ["x", "x"]})
    assert len(qc.read_log(batch)) == 2


def test_a_table_that_is_not_computed_yet_is_refused(monkeypatch):
    class Later:
        columns = ("user", "query")

    lazy = narwhals.from_native(pl.LazyFrame({"user": ["a"]}))
    monkeypatch.setattr(narwhals, "from_native", lambda table: lazy)
    with pytest.raises(ParameterError, match=r"a Later of .* that is not computed yet; collect it first"):
        qc.read_log(Later())


WITHOUT = """
import sys
sys.modules["narwhals"] = None
import pandas as pd, polars as pl, pyarrow as pa
import querycloak as qc
assert len(qc.read_log(pl.DataFrame({"user": ["a"], "query": ["x"]}))) == 1
for table in (pd.DataFrame({"user": ["a"], "query": ["x"]}), pa.table({"user": ["a"], "query": ["x"]}), 17):
    try:
        qc.read_log(table)
    except qc.UserError as error:
        print(error)
"""


def test_without_narwhals_polars_is_read_and_others_are_told():
    run = subprocess.run([sys.executable, "-c", WITHOUT], capture_output=True, text=True, check=True)
    pandas, arrow, number = run.stdout.splitlines()
    assert pandas == (
        "Reading a pandas DataFrame needs narwhals, which is not installed: pip install 'querycloak[dataframes]', or "
        "give it as polars.from_pandas(table)."
    )
    assert "polars.from_arrow(table)" in arrow
    assert "got a int" in number


def test_lists_are_checked():
    with pytest.raises(ParameterError, match="3 `users` and 1 `queries`"):
        qc.QueryLog.of(["a", "b", "c"], ["x"])
    with pytest.raises(ParameterError, match="entry 2 is of type int"):
        qc.QueryLog.of(["a", 2], ["x", "y"])
    with pytest.raises(ParameterError, match="needs `queries`"):
        qc.QueryLog.of(["a"])
    with pytest.raises(ParameterError, match="takes one table with `columns`, or lists"):
        qc.QueryLog.of(pl.DataFrame({"user": ["a"]}), ["x"])
    with pytest.raises(ParameterError, match="a table has its own"):
        qc.QueryLog.of(pl.DataFrame({"user": ["a"], "query": ["x"]}), times=[1])


def test_pandas_and_arrow_are_asked_for_where_they_are_missing(monkeypatch):
    log = qc.QueryLog.of(["a"], ["x"])
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.setattr(pl.DataFrame, "to_pandas", _missing)
    monkeypatch.setattr(pl.DataFrame, "to_arrow", _missing)
    with pytest.raises(UserError, match="needs pandas and pyarrow: pip install"):
        log.to_pandas()
    with pytest.raises(UserError, match="needs pyarrow"):
        log.to_arrow()


def _missing(self):
    raise ModuleNotFoundError("pyarrow")
