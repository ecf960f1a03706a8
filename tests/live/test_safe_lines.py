"""CSV that streams: no field leaves as a formula, all else leaves byte for byte, and the release is read as it came."""

from __future__ import annotations

import csv
import io
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import querycloak as qc
from querycloak.errors import ParameterError
from querycloak.live.runner import Run, run_stream
from querycloak.logs.formulas import escaped
from querycloak.logs.read_options import ReadOptions
from querycloak.methods.stream.stream_statement import FlatSettings
from querycloak.releases.files import read_release
from querycloak.releases.verify import verify

ALPHABET = st.sampled_from("=+-@\t '\",;\nab1＝\u00a0é")  # noqa: RUF001
texts = st.text(ALPHABET, max_size=8)
queries = texts.filter(lambda text: text.strip(" \t"))
rows = st.tuples(st.integers(0, 9).map(lambda n: f"@u{n}"), queries, texts, texts)


def stream(rows, folder, *, safe=True, quoting=csv.QUOTE_MINIMAL, end="\n", ids="run"):
    source = io.StringIO(newline="")
    writer = csv.writer(source, quoting=quoting, lineterminator=end)
    writer.writerow(["=shop", "user", "query", "time", "category"])
    writer.writerows((extra, user, query, time, "c") for user, query, extra, time in rows)
    log, out = folder / "log.csv", folder / "out.csv"
    log.write_bytes(source.getvalue().encode())
    given = FlatSettings(k=2, as_in_paper=True, ids=ids)
    run_stream(Run("flat", given, log, out, options=ReadOptions(assume_yes=True), seed=1, safe_csv=safe))
    return log, out


def table(path):
    return list(csv.reader(io.StringIO(path.read_bytes().decode(), newline="")))


@settings(max_examples=60)
@given(
    st.lists(rows, min_size=6, max_size=30),
    st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
    st.sampled_from(["\n", "\r\n"]),
    st.sampled_from(["run", "original"]),
)
@pytest.mark.slow
def test_lines_are_those_of_the_plain_stream_with_apostrophes(rows, quoting, end, ids):
    with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as two:
        _, plain = stream(rows, Path(one), safe=False, quoting=quoting, end=end, ids=ids)
        _, safe = stream(rows, Path(two), safe=True, quoting=quoting, end=end, ids=ids)
        head, *before = table(plain)
        safe_head, *after = table(safe)
        assert safe_head == ["'=shop", *head[1:]]
        assert len(before) == len(after)
        for old, new in zip(before, after, strict=True):
            shop, user, query, time, category = old
            same = [escaped(shop, numbers=True), escaped(user), escaped(query), escaped(time, numbers=True), category]
            assert new == same
        one_log, two_log = read_release(plain).log, read_release(safe).log
        for role, words in (("user", "users"), ("query", "queries")):
            texts_of = [getattr(log, words).gather(getattr(log, role)).to_list() for log in (one_log, two_log)]
            assert texts_of[0] == texts_of[1]
        if len(one_log):
            assert one_log.extra["=shop"].to_list() == two_log.extra["=shop"].to_list()
        assert all(finding.holds is not False for finding in verify(safe))


def test_a_stream_without_formulas_leaves_byte_for_byte(tmp_path):
    rows = [(f"u{n % 7}", f"men's jaguar -car {n}", "2-3", "2006-03-01 10:00:00") for n in range(60)]
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    _, plain = stream(rows, tmp_path / "a", safe=False)
    _, safe = stream(rows, tmp_path / "b")
    assert plain.read_bytes().split(b"\n")[1:] == safe.read_bytes().split(b"\n")[1:]
    assert plain.read_bytes().count(b"\n") > 10


def test_the_truth_knows_published_ids(tmp_path):
    source, out, truth = (tmp_path / name for name in ("log.csv", "out.csv", "truth"))
    source.write_text("user,query,category\n" + "".join(f"@u{n % 5},tea {n},c\n" for n in range(60)))
    given = FlatSettings(k=2, as_in_paper=True, ids="original")
    run_stream(Run("flat", given, source, out, truth=truth, options=ReadOptions(assume_yes=True), seed=1))
    assert out.read_text().splitlines()[1].startswith("'@u")
    log = qc.read_log(source)
    assert qc.read_release(out, log=log, truth=truth).truth is not None


def test_unescape_is_refused(tmp_path):
    (tmp_path / "log.csv").write_text("user,query,category\nu,tea,c\n")
    run = Run("flat", FlatSettings(k=2), tmp_path / "log.csv", tmp_path / "o.csv", options=ReadOptions(unescape=True))
    with pytest.raises(ParameterError, match="as they come"):
        run_stream(run)
