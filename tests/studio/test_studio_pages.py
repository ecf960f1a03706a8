"""What pages show and what their forms do, on made-up runs."""

from __future__ import annotations

import json
import re
from importlib.resources import files

import pytest
from fake_desk import FakeDesk, check
from serving import ask, served

from querycloak.catalog import METHODS, STREAM_METHODS, describe_settings
from querycloak.evaluation.limits import Limits
from querycloak.studio.forms import FIRST_SET, LIMIT_WORDS, TASK_WORDS, method_families, read_limits
from querycloak.studio.frontier import chart_values, points_of, task_names
from querycloak.studio.model import Job, StudioRun
from querycloak.studio.pages import job_values
from querycloak.tasks.task import TASKS


def run(name, verdict, times, useful, **changed):
    from dataclasses import replace

    summary = replace(check(verdict, times, useful), **changed)
    return StudioRun(name, "p", name, {}, name, 0.0, Job(name, "run", "done"), (), Limits(), check=summary)


def test_all_methods_and_settings_are_on_the_page():
    cards = {card.name: card for family in method_families() for card in family.cards}
    assert set(cards) == {*METHODS, *STREAM_METHODS}
    for name, card in cards.items():
        settings = [s["name"] for s in describe_settings((METHODS | STREAM_METHODS)[name].settings)]
        assert [f.name for f in card.fields] == [s for s in settings if s not in {"ledger", "ledger_log"}]


def test_what_is_filled_in_at_first_is_the_default():
    """A form that is sent as it is must ask for nothing but defaults."""
    for family in method_families():
        for card in family.cards:
            settings = (METHODS | STREAM_METHODS)[card.name].settings
            for field in card.fields:
                default = next(s["default"] for s in describe_settings(settings) if s["name"] == field.name)
                if field.value:
                    kind = type(default)
                    typed = field.value == "true" if kind is bool else kind(field.value)
                    assert typed == default, (card.name, field.name)
                else:
                    assert default is None, (card.name, field.name)
                if field.options and field.value:
                    assert field.value in dict(field.options)


def test_the_first_set_is_of_methods_and_settings_that_exist():
    for name, settings in FIRST_SET:
        known = {s["name"] for s in describe_settings(METHODS[name].settings)}
        assert set(settings) <= known


def test_tasks_and_limits_all_have_words():
    assert set(TASK_WORDS) == set(TASKS)
    assert set(LIMIT_WORDS) == set(Limits.__dataclass_fields__)


def test_limits_are_read_and_refused():
    assert read_limits({"limit-link": " 0.3 ", "limit-epsilon": ""}) == Limits(link=0.3)
    for text in ("x", "nan", "-1", "2"):
        with pytest.raises(Exception, match="limit"):
            read_limits({"limit-link": text})


def test_the_frontier_has_what_nothing_beats():
    points = points_of([
        run("safe", "RELEASE", 0.1, {"topics": 0.2}),
        run("good", "RELEASE", 0.5, {"topics": 0.8}),
        run("worse", "DO NOT RELEASE", 2.0, {"topics": 0.7}),
        run("empty", "NEEDS A HUMAN", 0.0, {"topics": 0.9}, published_nothing=True, worst_times=None),
        run("over zero", "DO NOT RELEASE", 1.0, {"topics": 0.95}, worst_times=None, worst_limit=0.0, worst_gain=0.2),
    ])  # fmt: skip
    assert [p.run.id for p in points if "topics" in p.best] == ["safe", "good", "over zero"]
    risks = {p.run.id: p.risk for p in points}
    assert risks["over zero"] > max(risk for name, risk in risks.items() if name != "over zero")
    chart = chart_values(points, task_names(points, ["topics"]), "/room/runs")
    assert [t["name"] for t in chart["tasks"]] == ["topics"]
    assert [p["nothing"] for p in chart["points"]] == [False, False, False, True, False]
    assert chart["points"][0]["href"] == "/room/runs/safe"


def test_progress_is_said_in_words():
    now = 1000.0
    job = Job("j", "run", "running", "attacking", 3, 9, started=now - 20, estimate=60.0)
    assert job_values(job, now)["says"] == "attacking · 20 s so far, about 40 s left"
    late = Job("j", "run", "running", "attacking", started=now - 100, estimate=60.0)
    assert job_values(late, now) == {
        "id": "j",
        "state": "running",
        "says": "attacking · 1 min 40 s so far, nearly done",
        "share": 0.97,
    }
    assert job_values(Job("j", "run"), now)["says"] == "waiting for its turn"
    assert job_values(Job("j", "run", "running", "reading", 3, 9, started=now), now)["share"] == pytest.approx(1 / 3)


def test_the_studio_has_the_colours_of_the_report():
    ours = files("querycloak.studio").joinpath("static/studio.css").read_text()
    report = files("querycloak.report").joinpath("templates/report.css").read_text()
    for part in (0, 1):  # light, dark
        colours = [
            dict(re.findall(r"--([\w-]+):\s*(#\w+)", re.findall(r":root\s*{([^}]*)}", css)[part]))
            for css in (ours, report)
        ]
        assert len(colours[1]) >= 10
        shared = colours[0].keys() & colours[1].keys()
        assert len(shared) >= 10
        assert {name: colours[0][name] for name in shared} == {name: colours[1][name] for name in shared}


@pytest.fixture
def fresh(tmp_path):
    desk = FakeDesk(tmp_path, tmp_path / "work")
    with served(desk) as keys:
        yield desk, keys


def test_the_path_by_forms_alone(fresh):
    """Without any script: every form is a plain form."""
    desk, keys = fresh

    def post(path, body):
        status, headers, text = ask(keys, keys.room + path, "POST", body=body)
        return status, (headers["location"] or "").removeprefix(keys.room), text

    assert post("/open", "name=log.tsv")[:2] == (303, "/logs/p0/columns")
    assert post("/logs/p0/columns", "role-1=user&role-3=query&header=yes")[:2] == (303, "/logs/p0/exposed")
    assert desk.project("p0").roles == {"user": "1", "query": "3"}
    assert "96.2%" in ask(keys, f"{keys.room}/logs/p0/exposed")[2]
    assert post("/logs/p0/aims", "task=topics&task=sessions&limit-link=0.3")[:2] == (303, "/logs/p0/methods")
    assert (desk.project("p0").tasks, desk.project("p0").limits.link) == (("topics", "sessions"), 0.3)
    changed = "method=sweep&set-min_query_users=7&set-rare=&set-famous=30"
    assert post("/logs/p0/runs", changed)[:2] == (303, "/logs/p0/results")
    assert desk.runs("p0")[0].settings == {"min_query_users": "7"}
    assert post("/logs/p0/runs", "set=first")[0] == 303
    assert [r.method for r in desk.runs("p0")[1:]] == [name for name, _ in FIRST_SET]
    results = ask(keys, f"{keys.room}/logs/p0/results")[2]
    data = json.loads(re.search(r'id="frontier-data">(.*?)</script>', results, re.DOTALL)[1])
    assert len(data["points"]) == len(FIRST_SET)
    assert results.count("<tr data-method") == len(data["points"])
    job = desk.runs("p0")[4].job
    assert post(f"/logs/p0/jobs/{job.id}/cancel", "")[:2] == (303, "/logs/p0/results")
    assert desk.runs("p0")[4].job.state == "cancelled"
    _, headers, _ = ask(keys, f"{keys.room}/logs/p0/runs/r0/release.zip")
    assert headers["content-disposition"] == 'attachment; filename="sweep-r0.zip"'


def test_what_was_typed_is_kept_when_it_is_refused(fresh):
    desk, keys = fresh
    desk.open("log.tsv")
    status, _, text = ask(keys, f"{keys.room}/logs/p0/columns", "POST", body="role-1=query&role-2=time")
    assert status == 400
    assert "Say which column is the user." in text
    assert re.search(r'name="role-2".*?<option value="time" selected', text, re.DOTALL)
    twice = ask(keys, f"{keys.room}/logs/p0/columns", "POST", body="role-1=user&role-2=user")
    assert "Two columns are said to be the user" in twice[2]
    desk.confirm("p0", {"user": "1"})
    status, _, text = ask(keys, f"{keys.room}/logs/p0/runs", "POST", body="method=clump&set-k=1&set-search=77")
    assert status == 400
    assert "must be an integer" in text
    assert 'value="77"' in text
    assert re.search(r'<details class="method" id="clump" open', text)
    status, _, text = ask(keys, f"{keys.room}/logs/p0/aims", "POST", body="limit-link=9")
    assert (status, "at least one task" in text, 'value="9"' in text) == (400, True, True)
    status, _, text = ask(keys, f"{keys.room}/generate", "POST", body="users=one&queries=5")
    assert (status, "must be a whole number" in text, 'value="one"' in text) == (400, True, True)


@pytest.mark.parametrize(
    "path", ["/nothing", "/logs/none/results", "/logs/p0/runs/none", "/static/../app.py", "/static/app.py"]
)
def test_what_there_is_not_is_said_in_a_sentence(fresh, path):
    desk, keys = fresh
    desk.open("log.tsv")
    desk.confirm("p0", {"user": "1"})
    status, _, text = ask(keys, keys.room + path)
    assert status == 404
    assert 'role="alert"' in text


def test_settings_of_an_earlier_run_can_be_tried_again(fresh):
    desk, keys = fresh
    desk.open("log.tsv")
    desk.confirm("p0", {"user": "1"})
    desk.start("p0", "clump", {"k": "9", "search": "3"})
    text = ask(keys, f"{keys.room}/logs/p0/methods?run=r0")[2]
    assert re.search(r'id="clump-k"[^>]* value="9"', text)
    assert re.search(r'id="clump-search"[^>]* value="3"', text)


def test_labels_are_there_for_all_that_can_be_filled_in(keys):
    for page in ("/", "/logs/p0/columns", "/logs/p0/aims", "/logs/p0/methods", "/logs/p0/results"):
        text = ask(keys, keys.room + page)[2]
        labels = set(re.findall(r'<label[^>]* for="([^"]+)"', text))
        for tag in re.findall(r"<(?:input|select)[^>]*>", text):
            kind = re.search(r'type="(\w+)"', tag)
            if kind and kind[1] in {"hidden", "checkbox", "radio"}:
                continue  # those are inside their labels
            name = re.search(r' id="([^"]+)"', tag)
            assert "aria-label=" in tag or (name and name[1] in labels), tag
        assert text.count("<h1>") == 1
        assert '<a class="skip" href="#main">' in text
