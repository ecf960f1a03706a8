"""`querycloak anonymize` as a data steward meets it."""

from __future__ import annotations

import gzip
import json
import stat

import pytest
from cli.command import querycloak, refused

LINES = ["AnonID\tQuery\tQueryTime\tItemRank\tClickURL"] + [
    f"{100 + u}\t{q}\t2006-03-0{1 + i} 10:00:00\t\t"
    for u in range(6)
    for i, q in enumerate(["green tea", "weather", 'the "best" tea', f"secret{u}@example.com"])
]


@pytest.fixture
def log(tmp_path):
    path = tmp_path / "log.tsv"
    path.write_text("\n".join(LINES) + "\n")
    return path


def test_a_release_has_the_form_of_its_input_and_a_statement(log, tmp_path):
    words = ["--method", "sweep", "--min-query-users", 3, "--rare", "drop"]
    done = querycloak("anonymize", log, "-o", tmp_path / "out.tsv", *words)
    assert done.returncode == 0, done.stderr
    lines = (tmp_path / "out.tsv").read_text().splitlines()
    assert lines[0] == "AnonID\tQuery"
    assert len(lines) == 1 + 6 * 3
    assert sum(line.endswith('\tthe "best" tea') for line in lines) == 6
    statement = json.loads((tmp_path / "out.tsv.statement.json").read_text())
    assert statement["statement"]["method"] == "sweep"
    assert "guarantee: none" in done.stdout
    assert "secret" not in done.stdout + done.stderr


def test_settings_may_stand_anywhere(log, tmp_path):
    done = querycloak(
        "anonymize", "--min-query-users=7", "--identifiers=keep", log, "--method=sweep", "-o", tmp_path / "o"
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "o").read_text() == "AnonID\tQuery\n"


@pytest.mark.slow
def test_the_truth_is_for_its_owner_alone(log, tmp_path):
    done = querycloak(
        "anonymize", log, "-o", tmp_path / "o.tsv", "-m", "sweep", "--min-query-users", 1, "--truth", tmp_path / "truth"
    )
    assert "never share it" in done.stderr
    assert stat.S_IMODE((tmp_path / "truth").stat().st_mode) == 0o600
    again = querycloak("attack", log, tmp_path / "o.tsv", "--truth", tmp_path / "truth", "--json")
    assert {r["attack"] for r in json.loads(again.stdout)["attacks"]} >= {"known-queries, 1", "uniqueness, pairs"}
    gate = querycloak("attack", log, tmp_path / "o.tsv", "--truth", tmp_path / "truth", "--max-risk", 0.01)
    assert gate.returncode == 1
    assert "above --max-risk 0.01" in gate.stderr
    measured = querycloak("measure", log, tmp_path / "o.tsv")
    assert measured.returncode == 0
    assert "volume kept" in measured.stdout


def test_a_foreign_log_is_refused(log, tmp_path):
    querycloak("anonymize", log, "-o", tmp_path / "o.tsv", "-m", "sweep", "--truth", tmp_path / "truth")
    other = tmp_path / "other.tsv"
    other.write_text("\n".join(LINES[:5]) + "\n")
    refused(
        querycloak("attack", other, tmp_path / "o.tsv", "--truth", tmp_path / "truth"), "does not belong to this log"
    )
    (tmp_path / "o.tsv.statement.json").unlink()
    refused(querycloak("measure", log, tmp_path / "o.tsv"), "statement")


@pytest.mark.parametrize(
    ("words", "parts"),
    [
        (["--method", "swep"], ["no method 'swep'", "Did you mean 'sweep'"]),
        (["--method", "sweep", "--min-query-users", "0"], ["--min-query-users must be an integer >= 1, got 0"]),
        (["--method", "sweep", "--min-query-users", "x"], ["--min-query-users must be an integer, got 'x'"]),
        (["--method", "sweep", "--min-query-users"], ["'--min-query-users' requires an argument"]),
        (["--method", "sweep", "--columns", "user"], ["--columns takes role=column pairs"]),
        (["--method", "sweep", "--columns", "user=uid,query=Query"], ["'uid'", "AnonID"]),
        (["--method", "sweep", "--seed", "-1"], ["seed must be an integer >= 0"]),
        ([], ["Choose a method with --method"]),
        (["--method", "sweep", "--min-queri-users", "3"], ["min-queri-users"]),
    ],
)
def test_mistakes_get_one_sentence(log, tmp_path, words, parts):
    refused(querycloak("anonymize", log, "-o", tmp_path / "o.tsv", *words), *parts)
    assert not list(tmp_path.glob("o.tsv*"))


def cut_gz(path):
    path.write_bytes(gzip.compress("\n".join(LINES * 50).encode())[:-40])


@pytest.mark.parametrize(
    ("make", "part"),
    [
        (lambda p: None, "no such file"),
        (lambda p: p.mkdir(), "directory"),
        (lambda p: p.write_text(""), "empty"),
        (lambda p: p.write_bytes(bytes(range(256)) * 20), "not"),
        (lambda p: p.write_text("\n".join([*LINES, "107\tonly two"]) + "\n"), "line 26"),
        (lambda p: p.write_text("user\tquery\tuser\na\tb\tc\n"), "same name"),
        (cut_gz, "cut short"),
    ],
    ids=["missing", "directory", "empty", "binary", "columns", "duplicate header", "cut gz"],
)
def test_bad_logs_get_one_sentence_and_leave_nothing(tmp_path, make, part):
    path = tmp_path / "bad.tsv"
    make(path)
    done = querycloak("anonymize", path, "-o", tmp_path / "o.tsv", "--method", "sweep")
    message = refused(done)
    assert part.lower() in message.lower()
    assert len(message.strip().splitlines()) == 1
    assert "secret" not in message
    assert not list(tmp_path.glob("o.tsv*"))


def test_an_output_that_cannot_be_is_refused_before_any_work(log, tmp_path):
    refused(querycloak("anonymize", log, "-o", tmp_path, "-m", "sweep"), "is a directory")
    refused(querycloak("anonymize", log, "-o", tmp_path / "no" / "o", "-m", "sweep"), "does not exist")
    refused(querycloak("anonymize", log, "-o", log, "-m", "sweep"), "is also the input")
    assert log.read_text().splitlines() == LINES


def test_outputs_never_overwrite_an_input_or_each_other(log, tmp_path):
    def words(**options):
        flags = [word for name, value in options.items() for word in (f"--{name}", value)]
        return querycloak("anonymize", log, "-o", tmp_path / "o", "-m", "sweep", *flags)

    refused(words(truth=tmp_path / "o"), "is also the output")
    refused(words(truth=tmp_path / "o.statement.json"), "is also the output")
    beside = tmp_path / "o.statement.json"
    beside.write_text("\n".join(LINES) + "\n")
    refused(querycloak("anonymize", beside, "-o", tmp_path / "o", "-m", "sweep"), "is also the input")
    ledger = tmp_path / "l.db"
    ledger.write_text("spent")
    settings = ["-m", "semantic-dp", "--ledger", ledger]
    refused(querycloak("anonymize", log, "-o", ledger, *settings), "is also the input")
    assert ledger.read_text() == "spent"
    assert not (tmp_path / "o").exists()


def test_a_table_without_users_has_no_truth_and_nothing_is_written(log, tmp_path):
    done = querycloak(
        "anonymize", log, "-o", tmp_path / "o", "-m", "frequent-queries", "--truth", tmp_path / "t", "--seed", 1
    )
    refused(done, "leave --truth out")
    assert not list(tmp_path.glob("o*"))


def test_an_empty_release_is_said_to_be_empty(log, tmp_path):
    words = ["anonymize", log, "-o", tmp_path / "o", "-m", "sweep", "--min-query-users", 100, "--truth", tmp_path / "t"]
    done = querycloak(*words)
    assert done.returncode == 0
    assert "The release is empty" in done.stderr
    refused(querycloak("attack", log, tmp_path / "o", "--truth", tmp_path / "t"), "nothing to attack")


def test_a_seeded_release_says_what_a_seed_costs(log, tmp_path):
    done = querycloak("anonymize", log, "-o", tmp_path / "o", "-m", "sweep", "--seed", 12345)
    assert "made with a seed" in done.stdout
    assert "12345" not in (tmp_path / "o.statement.json").read_text()
    querycloak("anonymize", log, "-o", tmp_path / "c", "-m", "clump", "--k", 2, "--seed", 12345)
    ids = [{line.split("\t")[0] for line in (tmp_path / n).read_text().splitlines()[1:]} for n in "oc"]
    assert ids[0].isdisjoint(ids[1]), "two methods with one seed must not share ids"


def test_what_was_left_out_or_taken_as_missing_is_counted(tmp_path):
    path = tmp_path / "log.tsv"
    rows = [line.replace("weather", "w\udcff").replace("2006-03-01 10:00:00", "yesterday") for line in LINES]
    path.write_bytes("\n".join(rows).encode("utf-8", "surrogateescape"))
    words = ["anonymize", path, "-o", tmp_path / "o.tsv", "--method", "sweep"]
    refused(querycloak(*words), "--encoding latin-1")
    done = querycloak(*words, "--on-error", "skip")
    assert done.returncode == 0, done.stderr
    assert "lines that are not in the encoding, left out" in done.stderr
    assert "time" in done.stderr
