"""Ctrl-C at any moment: exit code 130, one line, nothing half written, no traceback."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from random import Random

import pytest
from cli.command import querycloak
from stream_logs import as_tsv, rows

import querycloak as qc

START = 0.3
"""Seconds until Python surely runs our code; before, an interrupt belongs to Python."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("interrupts")
    (path / "log.tsv").write_bytes(as_tsv(rows(5_000, users=100)))
    done = querycloak("anonymize", path / "log.tsv", "-o", path / "release.tsv", "-m", "clump", "--truth", path / "truth", "--k", 3)  # fmt: skip  # noqa: E501
    assert done.returncode == 0, done.stderr
    return path


COMMANDS = {
    "anonymize": ["anonymize", "log.tsv", "-m", "semantic-microaggregation", "-o", "out.tsv", "--truth", "t.tsv"],
    "mapping with workers": ["anonymize", "log.tsv", "-m", "clump", "-o", "out.parquet"],
    "stream": ["stream", "-i", "log.tsv", "-o", "out.tsv", "--truth", "t.tsv"],
    "generate": ["generate", "--users", "2000", "--queries", "100000", "--truth", "-o", "out.tsv"],
    "compare": ["compare", "log.tsv", "--methods", "sweep,clump", "-o", "comparison"],
    "attack": ["attack", "log.tsv", "release.tsv", "--truth", "truth"],
}


def names(folder):
    return {path.name for path in folder.iterdir()}


def interrupt(folder, words, delay, number=signal.SIGINT):
    """Run a command as a terminal does, and send the signal to all its processes."""
    process = subprocess.Popen(
        [sys.executable, "-m", "querycloak", *words],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    time.sleep(delay)
    running = process.poll() is None
    if running:
        os.killpg(process.pid, number)
    _, errors = process.communicate(timeout=60)
    return process.returncode, errors.decode(), running


@pytest.mark.slow
@pytest.mark.parametrize("name", COMMANDS)
def test_at_random_moments(folder, name):
    random = Random(name)
    interrupted = 0
    for _ in range(2):  # the first time, kernels are compiled
        begin = time.monotonic()
        command = [sys.executable, "-m", "querycloak", *COMMANDS[name]]
        subprocess.run(command, cwd=folder, capture_output=True, check=True)
        length = time.monotonic() - begin
    before = names(folder)
    tried = 0
    while tried < 3 or (not interrupted and tried < 12):
        tried += 1
        for path in ("out.tsv", "out.parquet", "t.tsv"):
            (folder / path).unlink(missing_ok=True)
            (folder / f"{path}.statement.json").unlink(missing_ok=True)
        delay = random.uniform(START, max(0.9 * length, 2 * START))
        code, errors, running = interrupt(folder, COMMANDS[name], delay)
        if not running:  # what was timed on a busy machine takes less on a quiet one
            length = min(length, delay)
        assert "Traceback" not in errors, errors
        assert code == 130 or (code == 0 and not running) or (code == 0 and "interrupted" not in errors), errors
        interrupted += code == 130
        if code == 130 and name != "stream":
            assert errors.splitlines()[-1].startswith("querycloak: interrupted; "), errors
        assert not names(folder) - before, "something half written is left"
        for path in ("out.tsv", "out.parquet"):
            if (folder / path).exists() and name != "generate":
                assert len(qc.read_release(folder / path).log) >= 0
    assert interrupted >= 1


def test_one_line_and_nothing_written(folder):
    words = ["generate", "--users", "3000", "--queries", "3000000", "-o", "big.tsv"]
    code, errors, _ = interrupt(folder, words, 1.5)
    assert (code, errors.splitlines()[-1]) == (130, "querycloak: interrupted; nothing was written.")
    assert "Traceback" not in errors
    assert not [name for name in names(folder) if "big" in name]


def test_a_request_to_end_has_its_own_code(folder):
    words = ["generate", "--users", "3000", "--queries", "3000000", "-o", "big.tsv"]
    code, errors, _ = interrupt(folder, words, 1.5, signal.SIGTERM)
    assert (code, errors.splitlines()[-1]) == (143, "querycloak: terminated; nothing was written.")


@pytest.mark.slow
def test_a_run_in_the_background_of_a_script_ignores_ctrl_c(folder):
    """A shell starts such a process with SIGINT ignored, and so it stays."""
    words = f"{sys.executable} -m querycloak generate --users 20 --queries 200 -o small.tsv"
    command = f"{words} >/dev/null 2>&1 & echo $!; wait $!; echo $?"
    with subprocess.Popen(["sh", "-c", command], cwd=folder, stdout=subprocess.PIPE, text=True) as process:
        child = int(process.stdout.readline())
        time.sleep(0.5)
        os.kill(child, signal.SIGINT)
        assert process.stdout.read().strip() == "0"


def test_both_files_of_a_release_or_none(tmp_path, monkeypatch):
    """An interrupt between the two renames comes after both."""
    release = qc.anonymize(qc.QueryLog.of(["a", "b"], ["tea", "tea"]), "sweep", min_query_users=2)
    rename = Path.replace

    def interrupted(self, target):
        rename(self, target)
        if Path(target).name == "o.tsv":
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(Path, "replace", interrupted)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job ignores it
    try:
        with pytest.raises(KeyboardInterrupt):
            qc.write_release(release, tmp_path / "o.tsv")
    finally:
        signal.signal(signal.SIGINT, before)
    assert len(qc.read_release(tmp_path / "o.tsv").log) == 2
    assert names(tmp_path) == {"o.tsv", "o.tsv.statement.json"}
