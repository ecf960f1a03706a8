"""A desk for tests: small logs in a folder, and waiting for jobs with a limit."""

import time

TEXTS = ["weather", "cheap flights", "tea", "green tea", "news", "football results", "who is ann miller", "maps"]
LONGEST = 120.0
"""Seconds that a test waits for a job: many times what it takes, on a machine with much else to do."""


def log_lines(separator="\t", header="user query time", users=24, rows=240, marker=""):
    """Return the lines of a small log: every user asks common texts, and one text of the user's own."""
    lines = [separator.join(header.split())] if header else []
    for row in range(rows):
        user = row % users
        text = TEXTS[(row // users + user) % len(TEXTS)] if row >= users else f"{marker}{user} own text"
        lines.append(separator.join([f"u{user}", text, f"2024-03-{row % 28 + 1:02} 10:{row % 60:02}:00"]))
    return "\n".join(lines) + "\n"


def ended(get, seconds=LONGEST):
    """Wait until a job has ended, and return it."""
    until = time.monotonic() + seconds
    while (job := get()).active:
        assert time.monotonic() < until, f"{job.kind} did not end: {job.step}"
        time.sleep(0.01)
    return job


def opened(desk, name):
    """Open a log, and return the project once it was looked at."""
    project = desk.open(name)
    ended(lambda: desk.project(project.id).job)
    return desk.project(project.id)


def confirmed(desk, name, roles=None, **how):
    """Open a log and confirm its columns, as found where no roles are given; return the project once it is read."""
    project = opened(desk, name)
    assert project.look is not None, project.job
    roles = roles or {column.role: str(column.position) for column in project.look.columns if column.role}
    desk.confirm(project.id, roles, **how)
    ended(lambda: desk.project(project.id).job)
    return desk.project(project.id)


def ran(desk, project, method, settings, **knowledge):
    """Start a run, and return it once it has ended."""
    run = desk.start(project.id, method, settings, **knowledge)
    ended(lambda: desk.run(project.id, run.id).job)
    return desk.run(project.id, run.id)
