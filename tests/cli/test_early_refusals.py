"""What arguments, the log's header and a release's statement are enough to refuse is refused before the log is read.

The reader of logs fails here as soon as it is called, so each refusal comes before it.
"""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from command import querycloak, refused

LINES = [f"u{i % 12}\tgreen tea {i % 4}\t2026-01-01 10:00:{i % 60:02}" for i in range(96)]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("made")
    (folder / "log.tsv").write_text("user\tquery\ttime\n" + "\n".join(LINES) + "\n")
    (folder / "bare.tsv").write_text("user\tquery\n" + "\n".join(line.rsplit("\t", 1)[0] for line in LINES) + "\n")
    releases = {
        "log": ["sweep", "--truth", "log.truth"],
        "counts": ["frequent-queries", "--epsilon", "2", "--delta", "1e-3"],
        "items": ["clump", "--k", "2", "--truth", "items.truth"],
    }
    for name, words in releases.items():
        done = querycloak("anonymize", "log.tsv", "-o", f"r-{name}.tsv", "-m", *words, cwd=folder)
        assert done.returncode == 0, done.stderr
    (folder / "key").write_text("no key")
    return folder


@pytest.fixture
def never_read(monkeypatch):
    def read(*_, **__):
        raise AssertionError("the log was read")

    monkeypatch.setattr("querycloak.api.read_log", read)
    monkeypatch.setattr("querycloak.api.read_release", read)


def anonymize(*words, log="log.tsv"):
    return ["anonymize", log, "-o", "x.tsv", "-m", *words]


REFUSALS = [
    (anonymize("frequent-queries", "--truth", "t"), "leave --truth out"),
    (anonymize("synthetic-dp", "--truth", "t"), "leave --truth out"),
    (anonymize("sweep", "--min-query-users", "0"), "--min-query-users must be"),
    (anonymize("sweep", "--rare", "nonsense"), "--rare must be"),
    (anonymize("clump", "--k", "1"), "--k must be"),
    (anonymize("policy:nonsense"), "There is no preset"),
    (anonymize("semantic-dp", "--ledger", "none.db", "--ledger-log", "x"), "none.db"),
    (anonymize("semantic-dp", "--ledger", "none.db"), "--ledger-log"),
    (anonymize("sweep", "--keep", "time", log="bare.tsv"), "no column of times"),
    (anonymize("sweep", "--keep", "clicks"), "no column of clicked URLs"),
    (anonymize("sweep", "--learn-from-clicks"), "click"),
    (anonymize("sweep", "--sign", "key"), "key"),
    (["anonymize", "log.tsv", "-o", "-", "-m", "sweep", "--sign", "log.tsv"], "log.tsv"),
    (anonymize("sweep", "--taxonomy", "wordnt"), "Did you mean 'wordnet'"),
    (anonymize("sweep", "--taxonomy", "none.tsv"), "none.tsv"),
    (anonymize("sweep", "--directory", "none.tsv"), "none.tsv"),
    (anonymize("sweep", "--resolver", "none.tsv"), "none.tsv"),
    (anonymize("sweep", "--statement", "none/s.json"), "does not exist"),
    (["attack", "log.tsv", "none.tsv"], "none.tsv"),
    (["attack", "log.tsv", "bare.tsv"], "its statement is missing"),
    (["attack", "log.tsv", "r-log.tsv"], "add --truth FILE"),
    (["attack", "log.tsv", "r-log.tsv", "--only", "nonsense"], "There is no attack"),
    (["attack", "log.tsv", "r-counts.tsv", "--only", "Record Linkage"], "does not fit a release of frequent-queries"),
    (["attack", "log.tsv", "r-log.tsv", "--truth", "log.truth", "--also", "r-items.tsv"], "Each --also needs"),
    (
        ["attack", "log.tsv", "r-log.tsv", "--truth", "log.truth", "--also", "r-counts.tsv", "--also-truth", "t"],
        "no logs",
    ),
    (["attack", "log.tsv", "r-log.tsv", "--truth", "log.truth", "--sensitive", "none.tsv"], "none.tsv"),
    (
        ["measure", "log.tsv", "r-counts.tsv", "--only", "information loss"],
        "does not fit a release of frequent-queries",
    ),
    (["measure", "log.tsv", "r-log.tsv", "--only", "nonsense"], "There is no measure"),
    (["measure", "log.tsv", "none.tsv"], "none.tsv"),
    (["check", "log.tsv", "r-log.tsv", "--method", "clump"], "was made by sweep"),
    (["check", "log.tsv", "r-counts.tsv", "--for", "sessions"], "publishes counts without users"),
    (["check", "log.tsv", "r-log.tsv", "--for", "profiles"], "add --truth FILE"),
    (["check", "log.tsv", "r-log.tsv", "--public-key", "key"], "key"),
    (["check", "log.tsv", "r-log.tsv", "-o", "none/page.html"], "does not exist"),
    (["check", "log.tsv", "r-log.tsv", "--max-risk", "2"], "from 0 to 1"),
    (["verify", "r-log.tsv", "--log", "log.tsv", "--public-key", "key"], "key"),
    (["verify", "bare.tsv", "--log", "log.tsv"], "its statement is missing"),
    (["compare", "log.tsv", "-o", "bare.tsv", "--methods", "sweep"], "is not a directory"),
    (["compare", "log.tsv", "-o", "c", "--methods", "sweep", "--min-query-users", "0"], "--min-query-users must be"),
    (["compare", "bare.tsv", "-o", "c", "--methods", "sweep", "--keep", "none,time"], "no column of times"),
    (["reproduce", "batet-2014", "log.tsv", "-o", "p"], "Did you mean 'batet-2013'"),
    (["reproduce", "batet-2013", "log.tsv", "-o", "p", "--directory", "none.tsv"], "none.tsv"),
]


@pytest.mark.parametrize(("words", "part"), REFUSALS)
@pytest.mark.usefixtures("never_read")
def test_a_refusal_comes_before_the_log_is_read(words, part, made):
    refused(querycloak(*words, cwd=made), part)


def test_a_log_that_never_comes_is_not_waited_for(made):
    os.mkfifo(made / "pipe.tsv")
    words = [sys.executable, "-m", "querycloak", *anonymize("frequent-queries", "--truth", "t", log="pipe.tsv")]
    done = subprocess.run(words, cwd=made, capture_output=True, text=True, timeout=60, check=False)
    refused(done, "leave --truth out")
