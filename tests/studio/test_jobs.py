"""The queue and its child: what is cancelled ends at once, what dies fails with one sentence, nothing hangs."""

import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from querycloak.studio import jobs as module
from querycloak.studio.jobs import Jobs
from querycloak.studio.messages import Generated, GenerateOrder, Log, LookOrder
from querycloak.studio.model import Job

PROGRAM = """
import json, os, signal, subprocess, sys, time
def say(**message): print(json.dumps(message), flush=True)
say(type="ready")
for line in sys.stdin:
    order = json.loads(line)
    do = order["path"] if "path" in order else order["log"]["path"]
    say(type="step", text=do, total=10)
    say(type="note", text=str(os.getpid()))
    if do == "sleep": time.sleep(60)
    if do == "start another":
        other = subprocess.Popen(["sleep", "60"])
        say(type="note", text=str(other.pid))
        time.sleep(60)
    if do == "exit": sys.exit(3)
    if do == "killed": os.kill(os.getpid(), signal.SIGKILL)
    if do == "garbage": print("not our language", flush=True); time.sleep(60)
    if do == "fail": say(type="failed", error="One sentence.")
    else: say(type="count", done=7); say(type="generated", directory=do)
"""
"""A child that does what it is told in the place of a path."""


class Desk:
    """Notes what the queue tells."""

    def __init__(self, folder):
        self.lock = threading.RLock()
        self.seen = {}
        self.order = []
        self.answers = {}
        self.cleaned = set()
        self.on_change = lambda job: None
        self.jobs = Jobs(folder, self.lock, self.changed)

    def changed(self, job):
        if job.id not in self.seen or self.seen[job.id].state != job.state:
            self.order.append((job.id, job.state))
        self.seen[job.id] = job
        self.on_change(job)

    def submit(self, do, kind="run", name=None):
        job = Job(name or do, kind)
        self.seen[job.id] = job
        order = LookOrder(Log(do, 0, 0.0)) if kind == "look" else GenerateOrder(do, 1, 1, None)
        done = lambda job, answer: self.answers.setdefault(job.id, answer)  # noqa: E731
        self.jobs.submit(job, order, done, lambda: self.cleaned.add(job.id))
        return job.id

    def wait(self, name, until=lambda job: not job.active):
        end = time.monotonic() + 60
        while not until(self.seen[name]):
            assert time.monotonic() < end, self.seen[name]
            time.sleep(0.005)
        return self.seen[name]

    def step(self, name):
        return self.wait(name, lambda job: bool(job.notes))


@pytest.fixture
def desk(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "CHILD", PROGRAM)
    desk = Desk(tmp_path)
    yield desk
    desk.jobs.close()


def is_gone(pid):
    end = time.monotonic() + 30
    while time.monotonic() < end:
        try:
            if Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z":
                return True
        except OSError:
            return True
        time.sleep(0.01)
    return False


def test_a_job_is_done_with_its_answer(desk):
    job = desk.wait(desk.submit("well"))
    assert (job.state, job.step, job.done, job.total, job.error) == ("done", "well", 7, 10, "")
    assert job.started <= job.ended
    assert desk.answers["well"] == Generated("well")
    assert not desk.cleaned


def test_one_child_does_all_jobs(desk):
    pids = {desk.wait(desk.submit(name)).notes for name in ("one", "two", "three")}
    assert len(pids) == 1


def test_a_job_that_fails_says_why_and_the_child_goes_on(desk):
    job = desk.wait(desk.submit("fail"))
    assert (job.state, job.error) == ("failed", "One sentence.")
    desk.wait("fail", lambda _: "fail" in desk.cleaned)
    assert desk.wait(desk.submit("next")).notes == job.notes


@pytest.mark.parametrize(("death", "says"), [("exit", "with code 3"), ("killed", "SIGKILL"), ("garbage", "was ended")])
def test_a_child_that_dies_fails_its_job_in_one_sentence(desk, death, says):
    job = desk.wait(desk.submit(death))
    assert job.state == "failed"
    assert says in job.error
    assert "\n" not in job.error
    again = desk.wait(desk.submit("next"))
    assert again.state == "done"
    assert again.notes != job.notes
    assert death in desk.cleaned


def test_a_child_that_is_killed_between_jobs_is_replaced(desk):
    first = desk.wait(desk.submit("one"))
    os.kill(int(first.notes[0]), 9)
    assert is_gone(first.notes[0])
    assert desk.wait(desk.submit("two")).state == "done"


def test_cancel_ends_a_running_job_and_its_child_at_once(desk):
    desk.submit("sleep")
    pid = desk.step("sleep").notes[0]
    before = time.monotonic()
    assert desk.jobs.cancel("sleep")
    assert time.monotonic() - before < 0.2
    assert desk.seen["sleep"].state == "cancelled"
    assert is_gone(pid)
    assert desk.wait(desk.submit("next")).state == "done"
    assert "sleep" in desk.cleaned
    assert desk.answers["sleep"] is None
    assert not desk.jobs.cancel("sleep")


def test_cancel_ends_what_the_child_started(desk):
    desk.submit("start another")
    job = desk.wait("start another", lambda job: len(job.notes) == 2)
    desk.jobs.cancel("start another")
    assert all(is_gone(pid) for pid in job.notes)


def test_a_job_that_waits_is_cancelled_without_the_one_that_runs(desk):
    desk.submit("sleep")
    desk.step("sleep")
    desk.submit("waits")
    assert desk.jobs.cancel("waits")
    assert desk.seen["waits"].state == "cancelled"
    assert desk.seen["sleep"].state == "running"


def test_what_is_cancelled_while_its_answer_is_on_the_way_stays_cancelled(desk):
    def cancel(job):
        if job.id == "late" and job.done == 7:
            time.sleep(0.2)  # the answer is in the pipe by now
            desk.jobs.cancel("late")

    desk.on_change = cancel
    desk.submit("late")
    assert desk.wait("late").state == "cancelled"
    second = desk.wait(desk.submit("next"))
    assert second.state == "done"
    assert second.notes != desk.seen["late"].notes
    assert "late" in desk.cleaned
    assert desk.answers["late"] is None


def test_what_somebody_waits_for_goes_before_runs(desk):
    desk.submit("sleep")
    desk.step("sleep")
    for name, kind in (("a", "run"), ("b", "look"), ("c", "run"), ("d", "look")):
        desk.submit(name, kind)
    desk.jobs.cancel("sleep")
    desk.wait("c")
    assert [name for name, state in desk.order if state == "done"] == ["b", "d", "a", "c"]


def test_close_cancels_everything(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "CHILD", PROGRAM)
    desk = Desk(tmp_path)
    desk.submit("sleep")
    pid = desk.step("sleep").notes[0]
    desk.submit("waits")
    desk.jobs.close()
    assert {job.state for job in desk.seen.values()} == {"cancelled"}
    assert is_gone(pid)
    desk.jobs.close()


def test_a_child_that_cannot_be_started_fails_the_job(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "executable", str(tmp_path / "nothing"))
    desk = Desk(tmp_path)
    assert desk.wait(desk.submit("well")).state == "failed"
    desk.jobs.close()


def test_the_child_imports_nothing_from_where_it_runs(tmp_path, monkeypatch):
    (tmp_path / "json.py").write_text("raise SystemExit(9)")
    monkeypatch.setattr(module, "CHILD", PROGRAM)
    desk = Desk(tmp_path)
    assert desk.wait(desk.submit("well")).state == "done"
    desk.jobs.close()


def test_the_child_ends_with_its_studio():
    child = subprocess.Popen(
        [sys.executable, "-c", module.CHILD], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    child.stdin.close()
    try:
        assert child.wait(timeout=60) == 0
    finally:
        child.kill()
        child.stdout.close()
