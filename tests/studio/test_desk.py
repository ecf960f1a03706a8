"""The desk from a log to a checked release, with the real child process; one desk for all tests of this file."""

import json
import os
import stat
import threading
import time
import zipfile

import pytest
from sample_desks import confirmed, ended, log_lines, opened, ran

from querycloak.errors import InputError, ParameterError, UnknownNameError, UserError
from querycloak.evaluation.limits import Limits
from querycloak.releases.files import read_release
from querycloak.releases.verify import verify
from querycloak.studio.desk import Desk

pytestmark = pytest.mark.needs_jit  # the child reads, maps and attacks: minutes in plain Python

MARKER = "zyxw"
"""a word of the log that must be nowhere but in the log, the release and the rows that are asked for"""


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("logs")
    (folder / "log.tsv").write_text(log_lines(marker=MARKER))
    (folder / "odd.csv").write_text(log_lines(";", "nutzer suchtext zeit", marker=MARKER))
    (folder / "bare.csv").write_text(log_lines(",", ""))
    (folder / "one.tsv").write_text("user\tquery\nann\ttea\nann\tmaps\n")
    (folder / "swapped.tsv").write_text(log_lines(header="query user time", users=200, rows=220))
    (folder / "torn.csv").write_text(log_lines(",") + "a,b\n")
    return folder


@pytest.fixture(scope="module")
def desk(place):
    with Desk(place, place / ".studio") as desk:
        yield desk


@pytest.fixture(scope="module")
def project(desk):
    return confirmed(desk, "log.tsv")


@pytest.fixture(scope="module")
def run(desk, project):
    return ran(desk, project, "sweep", {"min_query_users": "3", "rare": "phrase"})


def test_a_log_is_looked_at_and_what_it_exposes_is_counted(project):
    assert project.look.format == "tsv"
    assert project.job.state == "done", project.job.error
    found = project.exposed
    assert (found.rows, found.users, found.queries) == (240, 24, 240)
    assert found.distinct == 24 + 8
    assert found.span == "1 March 2024 to 28 March 2024 (28 days)"
    assert found.exposure.exposed_people == 24
    assert found.exposure.own_texts == 24
    assert ("own texts", "75.0% (24 of 32)") in [line[:2] for line in found.lines]
    assert project.job.notes[0].endswith("240 rows, 24 users")


def test_a_log_is_opened_once(desk, project):
    assert desk.open("log.tsv").id == project.id
    roles = {"user": "1", "query": "2", "time": "3"}
    assert desk.confirm(project.id, roles) == desk.project(project.id)  # nothing is read again


def test_odd_columns_are_read_as_confirmed(desk):
    project = opened(desk, "odd.csv")
    assert {"user", "query", "header"} == set(project.look.needs)
    with pytest.raises(ParameterError, match="first line"):
        desk.confirm(project.id, {"user": "1", "query": "2"})
    with pytest.raises(UserError, match="Confirm the columns"):
        desk.start(project.id, "sweep", {})
    project = confirmed(desk, "odd.csv", {"user": "1", "query": "2", "time": "3"}, header=True)
    assert (project.exposed.rows, project.exposed.users) == (240, 24)
    assert project.roles == {"user": "1", "query": "2", "time": "3"}


def test_a_log_without_a_header(desk):
    project = confirmed(desk, "bare.csv", {"user": "1", "query": "2"}, header=False)
    assert project.exposed.rows == 240
    assert project.exposed.span == ""


def test_a_mistake_can_be_corrected(desk):
    project = confirmed(desk, "odd.csv", {"user": "2", "query": "3"}, header=True)
    project = confirmed(desk, "odd.csv", {"user": "1", "query": "2"}, header=True)
    assert project.exposed.users == 24


def test_columns_that_look_wrong_stop_the_reading(desk):
    project = confirmed(desk, "swapped.tsv")
    assert project.job.state == "failed"
    assert project.exposed is None
    assert "if it is right, “go on although a column looks wrong”" in project.job.error
    assert "--" not in project.job.error
    project = confirmed(desk, "swapped.tsv", assume_yes=True)
    assert project.job.state == "done"


def test_bad_lines_stop_or_are_left_out(desk):
    project = confirmed(desk, "torn.csv")
    assert "line 242: expected 3 comma-separated fields, found 2" in project.job.error
    project = confirmed(desk, "torn.csv", on_error="skip")
    assert project.exposed.rows == 240
    assert any("1 lines with a wrong number of fields" in note for note in project.job.notes)


def test_a_log_of_one_user_is_refused(desk):
    assert "one user" in confirmed(desk, "one.tsv").job.error


def test_a_run_makes_a_real_release(desk, project, run):
    assert run.job.state == "done", run.job.error
    check = run.check
    assert check.verdict in {"RELEASE", "DO NOT RELEASE", "NEEDS A HUMAN"}
    assert check.rows > 0
    assert check.rows_before == 240
    assert not check.published_nothing
    assert [light.question for light in check.lights] == ["singling out", "linkability", "inference"]
    assert {task.name for task in check.tasks if task.wanted} == {"popularity", "topics"}
    path = desk.check_page(run).with_name(check.release)
    release = read_release(path)
    assert len(release.log) == check.rows
    assert all(finding.holds is not False for finding in verify(path))
    assert "seed" not in release.statement.randomness
    assert desk.statement(run) == release.statement
    assert release.statement.settings["min_query_users"] == 3
    assert (
        release.statement.command
        == "querycloak anonymize log.tsv -o release --method sweep --min-query-users 3 --rare phrase"
    )
    assert len(release.statement.input_commitment) == 64


def test_the_check_page_is_that_of_check(desk, run):
    page = desk.check_page(run).read_text()
    assert page.startswith("<!doctype html>")
    assert run.check.verdict in page


def test_nothing_of_the_truth_is_left(desk, place, run):
    kept = [path for path in (place / ".studio").rglob("*") if path.is_file()]
    assert kept
    for path in kept:
        assert "truth" not in path.name
        assert b"kind\tpublished\toriginal" not in path.read_bytes()


def test_the_truth_is_its_owners_while_it_is_there(desk, place, project):
    seen, stop = set(), threading.Event()

    def watch():
        while not stop.is_set():
            for path in (place / ".studio").rglob("*truth*"):
                try:
                    seen.add(stat.S_IMODE(path.stat().st_mode))
                except OSError:
                    continue
            time.sleep(0.002)

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        ran(desk, project, "sweep", {"min_query_users": "2"})
    finally:
        stop.set()
        watcher.join()
    assert seen == {0o600}


def test_the_archive_has_four_files_and_neither_log_nor_truth(desk, run):
    with zipfile.ZipFile(desk.archive(run)) as archive:
        assert sorted(archive.namelist()) == ["README.txt", "check.html", "release.tsv", "release.tsv.statement.json"]
        assert archive.read("release.tsv") == desk.archive(run).with_name("release.tsv").read_bytes()
        assert b"u17" not in archive.read("release.tsv")
        assert MARKER not in archive.read("README.txt").decode()


def test_rows_are_masked_until_asked(desk, run):
    masked, plain = desk.rows(run), desk.rows(run, masked=False)
    assert masked.masked
    assert not plain.masked
    assert masked.before_columns == ("who", "query")
    assert len(masked.before) == len(plain.before) > 3
    for (who, text), (same, shown) in zip(masked.before, plain.before, strict=True):
        assert who == same
        assert MARKER not in text
        assert len(text) == len(shown)
    assert not any(cell.startswith("u") and cell[1:].isdigit() for row in plain.before for cell in row)


def test_no_text_of_the_log_is_in_what_is_kept(place, project, run):
    for path in (place / ".studio" / "projects").rglob("*.json"):
        if path.name != "rows.json":
            assert MARKER not in path.read_text(), path


def test_what_the_studio_writes_is_its_owners(place, run):
    work = place / ".studio"
    assert all(path.stat().st_mode & 0o077 == 0 for path in [work, *work.rglob("*")])


def test_nothing_is_written_outside_the_work_folder(place, run):
    assert sorted(path.name for path in place.iterdir()) == [
        ".studio", "bare.csv", "log.tsv", "odd.csv", "one.tsv", "swapped.tsv", "torn.csv"
    ]  # fmt: skip


def test_a_run_that_publishes_nothing_says_so(desk, project):
    run = ran(desk, project, "sweep", {"min_query_users": "1000"})
    assert run.job.state == "done", run.job.error
    assert run.check.published_nothing
    assert run.check.verdict != "RELEASE"
    assert run.check.reasons[0].startswith("nothing was published")
    assert desk.rows(run).after == ()


def test_aims_are_those_of_the_moment_of_the_start(desk, project, run):
    desk.aim(project.id, ["profiles"], Limits(link=0.9))
    later = ran(desk, project, "sweep", {"min_query_users": "4"})
    assert (later.tasks, later.limits.link) == (("profiles",), 0.9)
    assert desk.run(project.id, run.id).tasks == ("popularity", "topics")
    with pytest.raises(UnknownNameError, match="Did you mean 'topics'"):
        desk.aim(project.id, ["topic"], Limits())
    with pytest.raises(UserError, match="what the release is for"):
        desk.aim(project.id, [], Limits())
    desk.aim(project.id, ["popularity", "topics"], Limits())


def test_a_second_run_has_an_estimate(desk, project, run):
    later = ran(desk, project, "sweep", {"min_query_users": "5"})
    assert 0 < later.job.estimate < 120


@pytest.mark.parametrize(
    ("method", "settings", "says"),
    [
        ("swep", {}, "Did you mean 'sweep'"),
        ("sweep", {"min_query_users": "0"}, "Sweep.min_query_users must be an integer >= 1"),
        ("sweep", {"min_query_users": "five"}, "must be an integer, got 'five'"),
        ("sweep", {"k": "5"}, "no setting of sweep 'k'"),
        ("sweep", {"as_in_paper": "perhaps"}, "yes or no"),
        ("frequent-queries", {"ledger": "/tmp/ledger"}, "keeps no ledger"),
        ("frequent-queries", {"ledger_log": "x"}, "keeps no ledger"),
        ("policy", {"rules": "/etc/passwd"}, "may read"),
        ("policy:/etc/passwd", {}, "may read"),
        ("policy", {"rules": "../rules.toml"}, "may read"),
        ("semantic-dp", {"topics": "/etc/passwd"}, "may read"),
        ("url-microaggregation", {}, "directory of sites"),
    ],
)
def test_settings_are_checked_at_once(desk, project, method, settings, says):
    before = len(desk.runs(project.id))
    with pytest.raises(UserError, match=says):
        desk.start(project.id, method, settings)
    assert len(desk.runs(project.id)) == before


def test_a_directory_outside_the_folder_is_refused(desk, project):
    with pytest.raises(InputError):
        desk.start(project.id, "url-microaggregation", {}, directory="../../etc/passwd")


def test_empty_settings_are_the_defaults(desk, project):
    run = desk.start(project.id, "sweep", {"min_query_users": "", "kinds": " "})
    desk.cancel(run.job.id)
    assert run.settings == {}
    assert run.name == "sweep"


def test_unknown_ids(desk, project):
    for ask in (desk.project, desk.runs, desk.job, desk.cancel, lambda name: desk.run(project.id, name)):
        with pytest.raises(UnknownNameError):
            ask("../../x")


@pytest.mark.slow
def test_a_run_in_the_middle_is_cancelled(desk, place, project):
    run = desk.start(project.id, "semantic-microaggregation", {"k": "3"})
    until = time.monotonic() + 60
    while desk.job(run.job.id).step in {"", "starting"}:
        assert time.monotonic() < until
        time.sleep(0.005)
    desk.cancel(run.job.id)
    assert desk.job(run.job.id).state == "cancelled"
    with pytest.raises(UserError, match="not done"):
        desk.archive(run)
    after = ran(desk, project, "sweep", {"min_query_users": "3"})
    assert after.job.state == "done"
    folder = place / ".studio" / "projects" / project.id / "runs" / run.id
    assert [path.name for path in folder.iterdir()] == ["run.json"]


@pytest.mark.slow
def test_a_child_that_is_killed_fails_its_run_and_leaves_nothing(desk, place, project):
    run = desk.start(project.id, "sweep", {"min_query_users": "3"})
    until = time.monotonic() + 60
    while not (pid := desk._jobs.pid) or desk.job(run.job.id).step in {"", "starting"}:
        assert time.monotonic() < until
        time.sleep(0.001)
    os.kill(pid, 9)
    job = ended(lambda: desk.job(run.job.id))
    assert job.state in {"failed", "done"}  # it may have been faster
    if job.state == "failed":
        assert "SIGKILL" in job.error
    assert ran(desk, project, "sweep", {"min_query_users": "3"}).job.state == "done"
    folder = place / ".studio" / "projects" / project.id / "runs" / run.id
    assert "out.part" not in [path.name for path in folder.iterdir()]


def test_a_log_that_changes_is_noticed(desk, place):
    (place / ".studio" / "uploads" / "changing.tsv").write_text(log_lines())
    project = confirmed(desk, "uploads/changing.tsv")
    (place / ".studio" / "uploads" / "changing.tsv").write_text(log_lines(rows=100))
    with pytest.raises(InputError, match="has changed"):
        desk.start(project.id, "sweep", {})
    assert desk.open("uploads/changing.tsv").id != project.id


def test_calls_from_many_threads(desk, project):
    errors = []

    def poll():
        try:
            for _ in range(50):
                desk.projects()
                desk.runs(project.id)
                desk.files()
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=poll) for _ in range(4)]
    started = desk.start(project.id, "sweep", {"min_query_users": "3"})
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    ended(lambda: desk.job(started.job.id))
    assert not errors


def test_two_desks_do_not_share_a_work_folder(desk, place):
    with pytest.raises(UserError, match="Another studio uses the work folder"):
        Desk(place, place / ".studio")


@pytest.mark.slow
def test_everything_is_there_after_a_restart(tmp_path):
    (tmp_path / "log.tsv").write_text(log_lines())
    work = tmp_path / "work"
    with Desk(tmp_path, work) as desk:
        project = confirmed(desk, "log.tsv")
        run = ran(desk, project, "sweep", {"min_query_users": "3"})
        waits = desk.start(project.id, "semantic-microaggregation", {"k": "3"})
        project = desk.project(project.id)
    (work / "projects" / "foreign.txt").write_text("x")
    (work / "projects" / project.id / "runs" / waits.id / "out.part").mkdir()
    with Desk(tmp_path, work) as desk:
        assert desk.projects() == [project]
        assert desk.run(project.id, run.id) == run
        assert desk.run(project.id, waits.id).job.state == "cancelled"
        assert "closed" in desk.run(project.id, waits.id).job.error
        assert [note for note in desk.notes if "foreign.txt" in note]
        assert desk.archive(run).is_file()
        assert desk.rows(run).before
        assert ran(desk, project, "sweep", {"min_query_users": "4"}).job.state == "done"


@pytest.mark.slow
def test_a_run_folder_that_was_tampered_with_leads_nowhere(tmp_path):
    (tmp_path / "log.tsv").write_text(log_lines())
    (tmp_path / "secret.txt").write_text("secret")
    work = tmp_path / "work"
    with Desk(tmp_path, work) as desk:
        project = confirmed(desk, "log.tsv")
        run = ran(desk, project, "sweep", {"min_query_users": "3"})
    folder = work / "projects" / project.id / "runs" / run.id
    kept = json.loads((folder / "run.json").read_text())
    kept["run"]["check"]["release"] = "../../../../../secret.txt"
    (folder / "run.json").write_text(json.dumps(kept))
    (folder / "out" / "check.html").unlink()
    (folder / "out" / "check.html").symlink_to(tmp_path / "secret.txt")
    with Desk(tmp_path, work) as desk:
        for ask in (desk.check_page, desk.statement):
            with pytest.raises(UserError):
                ask(desk.run(project.id, run.id))


@pytest.mark.slow
def test_a_generated_log_goes_its_way_by_itself(tmp_path):
    with Desk(tmp_path, tmp_path / "work") as desk:
        with pytest.raises(ParameterError):
            desk.generate(users=10, queries=5)
        project = desk.generate(users=30, queries=200, seed=1)
        until = time.monotonic() + 120
        while desk.project(project.id).exposed is None:
            job = desk.project(project.id).job
            assert job.state != "failed", job.error
            assert time.monotonic() < until
            time.sleep(0.02)
        project = desk.project(project.id)
        assert project.exposed.users == 30
        assert project.file.name in [file.name for file in desk.files()]
        assert project.directory.endswith(".directory.tsv")
        run = ran(desk, project, "url-microaggregation", {"k": "3"})
        assert run.job.state == "done", run.job.error
        assert run.directory == project.directory
