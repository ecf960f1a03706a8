from __future__ import annotations

import pickle
import re
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import polars as pl
import pytest
import sample_reports
from samples import sample_log

import querycloak as qc
from querycloak.display import COLOURS, ResultList, card, facts, html_table, items, tag, text_table
from querycloak.evaluation.audit_result import Audit, AuditedPair
from querycloak.measures.score import Score
from querycloak.releases.verify import Finding

HOSTILE = '<script>alert("x")</script><img src=x onerror=alert(1)>\'"&'
SECRET, PERSON = "a very private search", "person-4417749"


def results(text: str) -> dict[str, object]:
    """One of everything that shows itself, with `text` wherever a text can be."""
    run = sample_reports.run(name=text, text=text, error=None)
    pair = AuditedPair(text, text, 3, 1.0, 1e-5, text, "first", 10, 0.1, 100, 60, 20, 0.4)
    return {
        "attacks": ResultList(run.attacks),
        "scores": ResultList([Score(measure=text, value=0.5, better="higher")]),
        "findings": ResultList([Finding(text, None, text), Finding(text, False, text)]),
        "comparison": sample_reports.comparison(run, text=text),
        "check": sample_reports.check(text=text),
        "audit": Audit(text, {}, "add-remove", text, 1, 0.001, 200, (pair, replace(pair, bound=2.0))),
        "statement": sample_reports.proved(text),
    }


class Tags(HTMLParser):
    """Collects what a browser would see: elements, attributes, and whether all are closed."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: set[str] = set()
        self.names: set[str] = set()
        self.open: list[str] = []

    def handle_starttag(self, tag, attributes):
        self.seen.add(tag)
        self.names |= {name for name, _ in attributes}
        self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def assert_harmless(html: str) -> None:
    tags = Tags()
    tags.feed(html)
    assert not tags.open
    assert tags.seen <= {"div", "span", "table", "thead", "tbody", "tr", "th", "td", "ul", "li", "details", "summary"}
    assert tags.names <= {"style"}


@pytest.mark.parametrize("what", sorted(results("plain")))
def test_hostile_texts_are_only_text(what):
    html = results(HOSTILE)[what]._repr_html_()
    assert_harmless(html)
    assert "&lt;script&gt;" in html


@pytest.mark.parametrize("what", sorted(results("plain")))
def test_nothing_is_hidden_in_a_terminal_or_on_a_page(what):
    found = results("a\x1b[2J\u202eb")[what]
    shown = found._repr_html_() + (str(found) if what != "statement" else "")
    assert "\x1b" not in shown
    assert "\u202e" not in shown


def hostile_log() -> qc.QueryLog:
    n = 30
    return qc.read_log(
        pl.DataFrame(
            {
                "<script>": [f"{PERSON}-{i % 5}" for i in range(n)],
                "<b>q</b>": [SECRET if i % 2 else f"{SECRET} {i}" for i in range(n)],
                "time": pl.Series([1_141_200_000 + 90_000 * i for i in range(n)]),
                "url": [f"http://{SECRET[2:6]}.example/{i}" if i % 3 else None for i in range(n)],
                f"{PERSON}-column": list(range(n)),
            }
        ),
        columns={"user": "<script>", "query": "<b>q</b>"},
    )


def test_a_log_and_its_releases_show_no_text_and_no_id():
    log = hostile_log()
    assert "&lt;script&gt;" in log._repr_html_()
    assert "2006-03-01 to 2006-03-31" in log._repr_html_()
    shown = [repr(log), log._repr_html_()]
    log = replace(log, extra=None, form=replace(log.form, columns=log.form.columns[:4]))  # a stream would publish it
    for method, settings in (("sweep", {"min_query_users": 1, "identifiers": "keep"}), ("flat", {"k": 2})):
        release = qc.anonymize(log, method, seed=1, **settings)
        found = (
            qc.attack(log, release, names=["uniqueness", "record-linkage"], rerun=False) if method == "sweep" else []
        )
        scores = qc.measure(log, release, names=["kept"])
        shown += [repr(x) for x in (release, found, scores)]
        shown += [x._repr_html_() for x in (release, release.statement, ResultList(found), scores)]
        assert len(release.log)
        assert SECRET in "".join(release.log.queries)  # what is shown could have shown it
        assert SECRET in str(release.to_polars().rows())
    for text in shown:
        assert SECRET not in text
        assert PERSON not in text
        if "<div" in text:
            assert_harmless(text)


def test_a_check_shows_no_row_even_where_it_has_some():
    found = sample_reports.check()
    unmasked = replace(found, sample=replace(found.sample, before=((SECRET, PERSON),)))
    for text in (repr(unmasked), str(unmasked), unmasked._repr_html_()):
        assert SECRET not in text
        assert PERSON not in text
    assert repr(unmasked) == f"ReleaseCheck({found.run.method}: {found.verdict})"
    assert str(unmasked).startswith(f"{found.verdict}: {found.reasons[0]}")


def test_every_tag_is_readable_on_its_ground():
    for colour in COLOURS.values():
        parts = np.array([int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)])
        linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
        assert 1.05 / (float(linear @ [0.2126, 0.7152, 0.0722]) + 0.05) > 4.5  # WCAG 2, white on it


def test_cards_take_the_colours_of_the_page():
    html = card("title", facts({"a": 1, "none": None}), html_table(["x", "n"], [["y", "1,000"]]), items(["z"]))
    assert "none" not in re.sub(r'style="[^"]*"', "", html)
    assert "class=" not in html
    colours = set(re.findall(r"(?<![-\w])color:([^;\"]+)", html))
    assert colours == {"inherit"}
    assert "#fff" in tag("on its own ground", "good")


def test_numbers_are_to_the_right():
    lines = text_table(["a", "n", "b"], [["x", "1.0%", "long"], ["yy", "-", "y"]]).splitlines()
    assert lines == ["a      n  b", "x   1.0%  long", "yy     -  y"]


def test_a_list_of_results_is_a_list():
    log = sample_log()
    release = qc.anonymize(log, "sweep", seed=1)
    found = qc.attack(log, release, names=["uniqueness", "known-queries"], seed=1)
    assert isinstance(found, list)
    assert isinstance(found, qc.ResultList)
    assert found == list(found)
    assert found[0] in found
    assert repr(found).splitlines()[0].split()[:3] == ["attack", "right", "without"]
    assert len(repr(found).splitlines()) == 1 + len(found)
    table = found.to_polars()
    assert table["attack"].to_list() == [r.attack for r in found]
    assert table["rate"].to_list() == [r.rate for r in found]
    assert table.schema["bound"] == pl.Float64
    assert repr(pickle.loads(pickle.dumps(found))) == repr(found)
    assert repr(ResultList()) == "[]"
    assert ResultList().to_polars().height == 0
    assert "0 results" in ResultList()._repr_html_()
    assert qc.measure(log, release, names=["kept"]).to_polars().columns == ["measure", "value", "better"]


def test_findings_of_verify_are_a_table(tmp_path):
    qc.write_release(qc.anonymize(sample_log(), "sweep", seed=1), tmp_path / "release.tsv")
    found = qc.verify(tmp_path / "release.tsv")
    assert found.to_polars().columns == ["check", "holds", "seen"]
    assert "cannot tell" in repr(found)


def test_a_comparison_is_a_table():
    good = sample_reports.run("good")
    loose = sample_reports.run("loose", relink=0.9)
    plain = sample_reports.run("pseudonyms only", relink=0.9, baseline=True)
    broken = replace(
        sample_reports.run("broken"), statement=None, error="it failed", exposure=None, attacks=(), utility=()
    )
    found = sample_reports.comparison(plain, good, loose, broken)
    table = found.table()
    assert table["run"].to_list() == ["pseudonyms only", "good", "loose", "broken"]
    assert table["verdict"].to_list() == ["baseline", "publish", "fails", "failed"]
    assert table["conditions"].to_list()[1:3] == ["", "2"]
    assert table["worst_judged"][2] > table["worst_limit"][2]
    assert table["topics"].to_list() == [0.7, 0.7, 0.7, None]
    assert table["why"][2].startswith("relink")
    assert table["rows"][3] is None
    lines = str(found).splitlines()
    assert lines[0].startswith("run")
    assert lines[-1] == found.advice.text
    assert repr(found) == str(found)
    assert len(lines) == 6


def test_a_task_that_is_not_possible_has_no_figure():
    run = sample_reports.run("r")
    run = replace(run, utility=(sample_reports.useful("topics", possible=False, note="no users"),))
    assert sample_reports.comparison(run).table()["topics"].to_list() == [None]


def test_an_unproved_run_is_called_so():
    run = sample_reports.run("r")
    run = replace(run, statement=replace(run.statement, parameters={}, unit="none"))
    assert sample_reports.comparison(run).table()["verdict"].to_list() == ["unproved"]


def test_an_audit_is_a_table():
    found = results("plain")["audit"]
    assert "BROKEN" in repr(found)
    assert "60.00%" in repr(found)
    assert "no pair was measured" in repr(replace(found, pairs=()))
