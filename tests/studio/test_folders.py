"""Which files the studio reads and writes: a name from a browser leads nowhere else."""

import os

import pytest

from querycloak.errors import UserError
from querycloak.studio.folders import Folders, lock_folder
from querycloak.studio.uploads import UploadTooLargeError, safe_name, save

HOSTILE = [
    "../secret.tsv",
    "../../etc/passwd",
    "/etc/passwd",
    "a/../../secret.tsv",
    "log.tsv\0.csv",
    "log\n.tsv",
    "log\x1b[31m.tsv",
    "..\\secret.tsv",
    ".hidden.tsv",
    ".work/projects/x/run.json",
    "uploads/../projects/x/project.json",
    "uploads/../../logs/../secret.tsv",
    "generated/../../secret.tsv",
    "<script>alert(1)</script>",
    "x" * 5000,
    "",
    ".",
    "./",
    "uploads",
    "uploads/",
    "sub",
    "\ud800.tsv",
]


@pytest.fixture
def folders(tmp_path):
    (tmp_path / "secret.tsv").write_text("user\tquery\n")
    logs = tmp_path / "logs"
    (logs / "sub" / "deep" / "deeper").mkdir(parents=True)
    (logs / "log.tsv").write_text("user\tquery\n")
    (logs / "sub" / "deep" / "b.csv.gz").write_text("x")
    (logs / "sub" / "deep" / "deeper" / "c.csv").write_text("x")
    (logs / ".hidden.tsv").write_text("x")
    (logs / "release.tsv.statement.json").write_text("{}")
    (logs / "notes.pdf").write_text("x")
    return Folders.of(logs, logs / ".work")


def test_what_looks_like_a_log_is_listed(folders):
    assert [file.name for file in folders.files()] == ["log.tsv", "sub/deep/b.csv.gz"]


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_are_refused_in_one_line(folders, name):
    (folders.work / "projects" / "x").mkdir()
    (folders.work / "projects" / "x" / "run.json").write_text("{}")
    (folders.work / "projects" / "x" / "project.json").write_text("{}")
    with pytest.raises(UserError) as error:
        folders.find(name)
    assert str(error.value).isprintable()
    assert len(str(error.value)) < 200


def test_links_that_leave_the_folder_are_not_there(folders, tmp_path):
    logs = folders.folder
    (logs / "out.tsv").symlink_to(tmp_path / "secret.tsv")
    (logs / "outside").symlink_to(tmp_path)
    (logs / "loop.tsv").symlink_to(logs / "loop.tsv")
    (logs / "in.tsv").symlink_to(logs / "log.tsv")
    assert [file.name for file in folders.files()] == ["in.tsv", "log.tsv", "sub/deep/b.csv.gz"]
    for name in ("out.tsv", "outside/secret.tsv", "loop.tsv"):
        with pytest.raises(UserError):
            folders.find(name)
    assert folders.find("in.tsv")[0] == logs / "log.tsv"


def test_a_link_into_the_work_folder_is_not_followed(folders):
    (folders.work / "projects" / "truth.tsv").write_text("who is who")
    (folders.folder / "t.tsv").symlink_to(folders.work / "projects" / "truth.tsv")
    with pytest.raises(UserError):
        folders.find("t.tsv")


def test_a_pipe_or_a_device_is_no_log(folders):
    os.mkfifo(folders.folder / "pipe.tsv")
    (folders.folder / "zero.tsv").symlink_to("/dev/zero")
    assert [file.name for file in folders.files()] == ["log.tsv", "sub/deep/b.csv.gz"]
    for name in ("pipe.tsv", "zero.tsv"):
        with pytest.raises(UserError):
            folders.find(name)


def test_a_folder_called_uploads_is_not_confused_with_the_studios(folders):
    (folders.folder / "uploads").mkdir()
    (folders.folder / "uploads" / "own.tsv").write_text("mine")
    (folders.work / "uploads" / "own.tsv").write_text("sent")
    names = [file.name for file in folders.files()]
    assert {"./uploads/own.tsv", "uploads/own.tsv"} <= set(names)
    assert folders.find("./uploads/own.tsv")[0].read_text() == "mine"
    assert folders.find("uploads/own.tsv")[0].read_text() == "sent"


def test_the_work_folder_is_its_owners_alone(folders):
    assert (folders.work.stat().st_mode & 0o777) == 0o700


def test_a_work_folder_around_the_logs_is_refused(tmp_path):
    (tmp_path / "logs").mkdir()
    for work in (tmp_path, tmp_path / "logs"):
        with pytest.raises(UserError, match="holds the folder of logs"):
            Folders.of(tmp_path / "logs", work)


def test_a_work_folder_that_is_a_file_is_refused(tmp_path):
    (tmp_path / "work").write_text("")
    with pytest.raises(UserError, match="not a folder"):
        Folders.of(tmp_path, tmp_path / "work")


def test_one_studio_per_work_folder(folders):
    first = lock_folder(folders.work)
    with pytest.raises(UserError, match="Another studio uses"):
        lock_folder(folders.work)
    os.close(first)
    os.close(lock_folder(folders.work))


class TestUploads:
    @pytest.mark.parametrize("name", HOSTILE)
    def test_hostile_names_are_kept_in_a_safe_form(self, tmp_path, name):
        path = save(tmp_path, name.encode("utf-8", "replace").decode(), [b"user,query\n"], 100)
        assert path.parent == tmp_path
        assert [file.name for file in tmp_path.iterdir()] == [path.name]
        assert set(path.name) <= set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-")
        assert 1 <= len(path.name) <= 80
        assert not path.name.startswith(".")

    def test_a_long_name_keeps_what_says_its_format(self):
        assert safe_name("x" * 500 + ".csv.gz").endswith(".csv.gz")

    def test_two_of_one_name_are_two_files(self, tmp_path):
        names = [save(tmp_path, "log.csv.gz", [content], 100).name for content in (b"a", b"b", b"c")]
        assert names == ["log.csv.gz", "log-2.csv.gz", "log-3.csv.gz"]
        assert (tmp_path / "log-2.csv.gz").read_bytes() == b"b"

    def test_above_the_limit_nothing_is_kept(self, tmp_path):
        with pytest.raises(UploadTooLargeError):
            save(tmp_path, "log.csv", [b"x" * 60, b"x" * 60], 100)
        assert not list(tmp_path.iterdir())

    def test_at_the_limit_it_is_kept(self, tmp_path):
        assert save(tmp_path, "log.csv", [b"x" * 60, b"x" * 40], 100).stat().st_size == 100

    def test_a_connection_that_breaks_leaves_nothing(self, tmp_path):
        def chunks():
            yield b"user,"
            raise ConnectionError

        with pytest.raises((ConnectionError, UserError)):
            save(tmp_path, "log.csv", chunks(), 100)
        assert not list(tmp_path.iterdir())

    def test_only_its_owner_reads_it(self, tmp_path):
        assert save(tmp_path, "log.csv", [b"x"], 100).stat().st_mode & 0o777 == 0o600
