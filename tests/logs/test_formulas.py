"""CSV for spreadsheets: no field is a formula, and reading it restores every text, byte for byte."""

from __future__ import annotations

import csv
import io
import tempfile
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import querycloak as qc
from querycloak.errors import InputError
from querycloak.logs.form import Column, LogForm
from querycloak.logs.formulas import escaped, escaped_texts, unescaped, unescaped_texts
from querycloak.logs.sink import fit_form
from querycloak.logs.source import read_with_form
from querycloak.logs.user_ids import normal_user

DANGEROUS = "=+-@\t\r＝＋－＠"  # noqa: RUF001 - the wide ones
TRIMMED = " \u00a0\u3000\u200b\ufeff\"'"
NASTY = st.text(st.sampled_from(f"{DANGEROUS}{TRIMMED},;\n|a1") | st.characters(exclude_categories=["Cs"]), max_size=12)
SAFE = LogForm("csv", (), safe_csv=True)


def is_formula(cell: str) -> bool:
    """Tell, in plain Python, whether a spreadsheet may take a cell for a formula."""
    return cell.lstrip(TRIMMED)[:1] in tuple("=+-@＝＋－＠") or cell[:1] in ("\t", "\r")  # noqa: RUF001


@given(NASTY)
@example("'=1+1")
@example("''\t=1")
@example("a;'=1\r\n-2,\"+3")
def test_escaping_is_undone(text):
    assert unescaped(escaped(text)) == text
    assert unescaped(escaped(text, numbers=True), numbers=True) == text


@given(st.lists(NASTY, min_size=1, max_size=9))
def test_series_are_escaped_as_texts_are(texts):
    for role, numbers in (("query", False), (None, True)):
        column, series = Column("c", role), pl.Series(texts, dtype=pl.String)
        made = escaped_texts(series, column, SAFE)
        assert made.to_list() == [escaped(text, numbers=numbers) for text in texts]
        assert unescaped_texts(made, column, SAFE).to_list() == texts
        unmade = unescaped_texts(series, column, SAFE).to_list()
        assert unmade == [unescaped(text, numbers=numbers) for text in texts]


@given(NASTY)
@example("tea;=1+1")
@example('tea,  "-x')
@example("tea\n@x")
def test_no_cell_is_a_formula_wherever_a_spreadsheet_cuts(text):
    made = escaped(text)
    assert not is_formula(made) or made.startswith("'")
    for cuts in (",", ";", "\t", "\n", "\r", ",;\t\r\n"):
        cells = [made]
        for cut in cuts:
            cells = [part for cell in cells for part in cell.split(cut)]
        for cell in cells[1:]:
            assert cell.lstrip(' \u00a0\u3000\u200b\ufeff"')[:1] not in tuple("=+-@＝＋－＠"), repr(cell)  # noqa: RUF001


@given(NASTY, NASTY)
def test_texts_stay_different(one, two):
    assert (escaped(one) == escaped(two)) == (one == two)


@given(st.integers() | st.floats(allow_nan=False, allow_infinity=False))
def test_numbers_of_columns_without_a_role_stay_numbers(number):
    text = str(number)
    assert escaped(text, numbers=True) == text


queries = NASTY.filter(lambda text: text.strip(" \t"))
rows = st.tuples(NASTY.map(normal_user).filter(bool), queries, NASTY.filter(bool), NASTY, st.integers(-9, 9))


@given(st.lists(rows, min_size=1, max_size=6), st.booleans(), st.sampled_from(["needed", "all"]), st.booleans())
def test_a_log_is_read_as_it_was_written(rows, safe, quoting, semicolons):
    users, texts, urls, extras, counts = (list(column) for column in zip(*rows, strict=True))
    clean = [[value.replace("\0", "") or "x" for value in column] for column in (users, texts, urls, extras)]
    users, texts, urls, extras = clean
    log = qc.QueryLog.of(users, texts, urls=urls)
    log = replace(log, extra=pl.DataFrame({"=shop": extras, "count": pl.Series(counts, dtype=pl.Int64)}))
    form = LogForm("csv", (), quoting=quoting, separator=";" if semicolons else ",", line_end="\r\n")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "log.csv"
        qc.write_log(log, path, form, safe_csv=safe)
        fitted = fit_form(log, form, safe_csv=safe)
        back = read_with_form(path, fitted)
        content = path.read_bytes().decode()
    assert fitted.safe_csv == safe
    assert back.users.gather(back.user).to_list() == log.users.gather(log.user).to_list()
    assert back.queries.gather(back.query).to_list() == texts
    assert back.urls.gather(back.url).to_list() == urls
    assert back.extra["=shop"].to_list() == extras
    assert back.extra["count"].to_list() == [str(n) for n in counts]
    assert len(back.queries.unique()) == len(back.queries)
    if safe:
        table = list(csv.reader(io.StringIO(content, newline=""), delimiter=form.separator))
        names = [c.name for c in fitted.columns]
        assert table[0][names.index("=shop")] == "'=shop"
        for row in table[1:]:
            for name, field in zip(names, row, strict=True):
                number = name == "count" or (name == "=shop" and field.strip("'") == field and _is_number(field))
                assert number or field[:1] not in tuple(DANGEROUS), (name, field)


def _is_number(field: str) -> bool:
    try:
        float(field.replace(",", "."))
    except ValueError:
        return False
    return True


ROWS = "user,query\n1,'=1+1\n1,=1+1\n2,'tis the season\n"


def test_a_foreign_file_is_read_as_it_is(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text(ROWS)
    assert qc.read_log(path).queries.to_list() == ["'=1+1", "=1+1", "'tis the season"]


def test_unescape_is_asked_for_and_equal_texts_are_one(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text(ROWS)
    log = qc.read_log(path, unescape=True)
    assert log.queries.to_list() == ["=1+1", "'tis the season"]
    assert log.query.tolist() == [0, 0, 1]
    qc.write_log(log, tmp_path / "again.csv")
    assert qc.read_log(tmp_path / "again.csv", unescape=True).queries.to_list() == log.queries.to_list()


@pytest.mark.parametrize(
    "content", ["user\tquery\n1\ttea\n", '{"user":"1","query":"tea"}\n', '[{"user":"1","query":"t"}]']
)
def test_unescape_is_for_csv(tmp_path, content):
    path = tmp_path / "log"
    path.write_text(content)
    with pytest.raises(InputError, match="only CSV"):
        qc.read_log(path, unescape=True)


@pytest.mark.parametrize("name", ["o.tsv", "o.jsonl", "o.parquet", "o.json"])
def test_other_formats_are_untouched(tmp_path, name):
    log = qc.QueryLog.of(["1"], ["=1+1"])
    qc.write_log(log, tmp_path / name)
    assert b"'=1+1" not in (tmp_path / name).read_bytes()
    assert b"=1+1" in (tmp_path / name).read_bytes()
