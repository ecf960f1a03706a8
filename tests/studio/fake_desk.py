"""A desk without a child process: made-up logs and runs at once, with hostile texts wherever a text can be."""

from __future__ import annotations

import time
import zipfile
from dataclasses import replace

from querycloak.errors import UnknownNameError, UserError
from querycloak.evaluation.exposure import Exposure
from querycloak.releases.statement import PrivacyStatement
from querycloak.studio.model import (
    CheckSummary,
    Exposed,
    FoundColumn,
    Job,
    LightSummary,
    LogFile,
    Look,
    Project,
    Reading,
    Rows,
    StudioRun,
    TaskSummary,
)
from querycloak.studio.uploads import UploadTooLargeError

HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(2)>"
MASKED, SECRET = "•••••• weather", f"john doe {HOSTILE}"


def exposure(**values):
    """An exposure with every field that there is: zero, but for those that are given."""
    import dataclasses

    zero = {"dict": {}, "float": 0.0, "int": 0, "tuple": ()}
    made = {}
    for f in dataclasses.fields(Exposure):
        kind = str(f.type)
        made[f.name] = None if "None" in kind else zero[kind.split("[", 1)[0]]
    return Exposure(**made | values)


def check(verdict, times, useful, **more):
    tasks = tuple(
        TaskSummary(name, value, value - 0.08, value + 0.08, value > 0.1, True, wanted=name in {"popularity", "topics"})
        for name, value in useful.items()
    )
    colour = {"RELEASE": "green", "NEEDS A HUMAN": "amber", "DO NOT RELEASE": "red"}[verdict]
    lights = tuple(
        LightSummary(
            q, "Can one person be picked out of the release?", colour, f"record-linkage adds at most 3 % {HOSTILE}"
        )
        for q in ("singling out", "linkability", "inference")
    )
    return CheckSummary(
        verdict=verdict,
        reasons=(f"a reason {HOSTILE}", "another reason", "a third", "a fourth", "a fifth"),
        changes=("raise --k to 20",),
        not_tested=(),
        lights=lights,
        guarantee="k-anonymity of users",
        worst="record-linkage",
        worst_gain=times * 0.2,
        worst_limit=0.2,
        worst_times=times,
        own_row_share=0.0,
        tasks=tasks,
        rows=41_234,
        rows_before=56_000,
        published_nothing=False,
        has_truth=True,
        release="release.tsv",
        **more,
    )


class FakeDesk:
    """Has the methods of `studio.desk.Desk`."""

    notes = ()

    def __init__(self, folder, work):
        self.folder, self.work = folder, work
        work.mkdir(parents=True, exist_ok=True)
        self.log = LogFile(f"logs/{HOSTILE}.tsv".replace("/s", "s"), 2_345_678, time.time())
        self._projects, self._runs, self.uploads = {}, {}, {}

    def warm_up(self):
        pass

    def close(self):
        pass

    def files(self):
        return [self.log, LogFile("AOL/user-ct-test-collection-01.txt.gz", 64_000_000, time.time())]

    def save_upload(self, name, chunks, limit):
        data = b""
        for chunk in chunks:
            data += chunk
            if len(data) > limit:
                raise UploadTooLargeError("The upload is larger than the limit.")
        self.uploads[name] = data
        return f"uploads/{len(self.uploads)}.csv"

    def generate(self, *, users, queries, seed=None):
        if users < 2:
            raise UserError("A log needs two users or more.")
        return self.open("generated/log.tsv")

    def open(self, name):
        columns = tuple(
            FoundColumn(i + 1, column, column, role, sure=bool(role), samples=("aaaa aa aaaa", "aaa 0000", "a"))
            for i, (column, role) in enumerate(
                [("AnonID", "user"), (HOSTILE, ""), ("Query", "query"), ("When", "time")]
            )
        )
        found = Project(f"p{len(self._projects)}", LogFile(name, 100, 0.0), time.time(), Look("tsv", True, columns, ()))
        self._projects[found.id] = found
        self._runs[found.id] = []
        return found

    def projects(self):
        return list(self._projects.values())

    def project(self, project_id):
        try:
            return self._projects[project_id]
        except KeyError:
            raise UnknownNameError.of("log", project_id, self._projects) from None

    def confirm(self, project_id, roles, *, header=None, encoding="auto", on_error="stop", assume_yes=False):
        if "user" not in roles:
            raise UserError("Say which column is the user.")
        found = exposure(rows=56_000.0, texts=30_000, people=1000, exposed_people=962, exposed_share=0.962)
        lines = (("own texts", "20,000 (66.7%)", "Distinct texts that exactly one person asked; lower is better."),) * 7
        shown = Exposed(56_000, 1000, 50_000, 30_000, "1 March to 31 May 2006 (92 days)", found, lines)
        made = replace(self.project(project_id), reading=Reading(dict(roles), {}), exposed=shown)
        self._projects[project_id] = made
        return made

    def aim(self, project_id, tasks, limits):
        self._projects[project_id] = replace(self.project(project_id), tasks=tuple(tasks), limits=limits)
        return self._projects[project_id]

    def start(self, project_id, method, settings, *, directory="", resolver=""):
        project, n = self.project(project_id), len(self._runs[project_id])
        if settings.get("k") == "1":
            raise UserError("Sweep.k must be an integer >= 2, got 1.")
        verdict = ("DO NOT RELEASE", "NEEDS A HUMAN", "RELEASE")[n % 3]
        useful = {"popularity": 0.9 - 0.1 * n, "topics": 0.7 - 0.08 * n, "sessions": 0.2}
        name = " ".join([method, *(f"{k}={v}" for k, v in settings.items())])
        job = Job(f"j{project_id}-{n}", "run", "done", started=0.0, ended=1.0)
        summary = check(verdict, [3.2, 1.4, 0.6, 0.3, 9.0, 0.05][n % 6], useful)
        aims = (project.tasks, project.limits)
        run = StudioRun(f"r{n}", project_id, method, dict(settings), name, time.time(), job, *aims, check=summary)
        if n == 4:
            running = {"state": "running", "step": "attacking the release", "started": time.time() - 9, "ended": None}
            run = replace(run, check=None, job=replace(job, done=3, total=9, estimate=30.0, **running))
        self._runs[project_id].append(run)
        return run

    def job(self, job_id):
        return next(r.job for runs in self._runs.values() for r in runs if r.job.id == job_id)

    def cancel(self, job_id):
        for runs in self._runs.values():
            runs[:] = [replace(r, job=replace(r.job, state="cancelled")) if r.job.id == job_id else r for r in runs]

    def runs(self, project_id):
        self.project(project_id)
        return list(self._runs[project_id])

    def run(self, project_id, run_id):
        for run in self.runs(project_id):
            if run.id == run_id:
                return run
        raise UnknownNameError.of("run", run_id, [r.id for r in self._runs[project_id]])

    def check_page(self, run):
        path = self.work / "check.html"
        path.write_text(
            f"<!doctype html><title>check</title><style>body{{color:red}}</style><script>alert(3)</script>{HOSTILE}"
        )
        return path

    def rows(self, run, *, masked=True):
        text = MASKED if masked else SECRET
        return Rows(
            ("person", "query", "time"),
            (("1", text, "2006-03-01"),) * 6,
            ("id", "query"),
            (("1", "weather"),) * 6,
            masked,
        )

    def statement(self, run):
        return PrivacyStatement(
            method=run.method, settings=run.settings, version="1", model="k-anonymity of users", parameters={"k": 5},
            unit="user", covers=("a published log belongs to 5 people or more",), does_not_cover=("two releases",),
            randomness="the operating system's", new_ids=True, columns=("user", "query"), counts_in={"rows": 56_000},
            counts_out={"rows": 41_234}, dropped={},
        )  # fmt: skip

    def archive(self, run):
        path = self.work / "release.zip"
        with zipfile.ZipFile(path, "w") as file:
            file.writestr("release.tsv", "user\tquery\n")
        return path

    def command(self, run):
        return f"querycloak anonymize log.tsv --method {run.method} -o release.tsv"

    def script(self, run):
        return f'import querycloak as qc\n\nqc.anonymize("log.tsv", "{run.method}")'
