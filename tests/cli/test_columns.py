"""Nothing is guessed where a wrong guess publishes a person, and every command says what it took for what."""

from __future__ import annotations

import pytest
from cli.command import querycloak, querycloak_process, refused

from querycloak import api

NAMES = ["anna.schmidt", "bernd.maier", "clara.vogel", "dieter.braun", "eva.lang", "franz.huber"]
TERMS = ["wetter berlin", "pizza", "bundesliga", "zahnarzt", "kino heute", "rezepte", "bahn", "urlaub"]
METHOD = ["--method", "plain-microaggregation", "--k", 3]


@pytest.fixture
def german(tmp_path):
    """A two-column table with a header that is not known: first the query, then the user."""
    path = tmp_path / "zwei.tsv"
    path.write_text("suchbegriff\tnutzer\n" + "".join(f"{t}\t{n}\n" for t in TERMS for n in NAMES))
    return path


def test_user_names_are_not_published_as_queries(german, tmp_path):
    out = tmp_path / "out.tsv"
    sentence = refused(
        querycloak_process("anonymize", german, "-o", out, *METHOD),
        "zwei.tsv: the first line has 2 tab-separated fields",
        "--columns user=NAME,query=NAME",
        "--no-header --columns user=1,query=2",
    )
    assert len(sentence.strip().splitlines()) == 1
    assert not list(tmp_path.glob("out.tsv*"))
    columns = ["--columns", "user=nutzer,query=suchbegriff"]
    done = querycloak("anonymize", german, "-o", out, *METHOD, *columns)
    assert done.returncode == 0, done.stderr
    assert "zwei.tsv: tsv; user = nutzer, query = suchbegriff; 48 rows, 6 users" in done.stderr
    assert not any(name in out.read_text() for name in NAMES)
    assert querycloak("verify", out, "--log", german, *columns).returncode == 0


def test_verify_finds_users_that_a_wrong_reading_published(german, tmp_path):
    out = tmp_path / "out.tsv"
    swapped = ["--columns", "user=1,query=2"]
    refused(querycloak("anonymize", german, "-o", out, *METHOD, *swapped), "add --header", "--no-header")
    keep = ["--header", "--identifiers", "keep"]
    assert querycloak("anonymize", german, "-o", out, *METHOD, *swapped, *keep).returncode == 0  # few rows
    assert any(name in out.read_text() for name in NAMES)
    done = querycloak("verify", out, "--log", german, "--columns", "user=nutzer,query=suchbegriff")
    assert done.returncode == 1
    assert "FAILS  no published text names a user of the log: " in done.stdout
    assert not any(name in done.stdout + done.stderr for name in NAMES)


@pytest.fixture
def log(tmp_path):
    path = tmp_path / "log.tsv"
    api.write_generated(api.generate(users=60, queries=900, seed=1), path)
    return path


@pytest.mark.slow
def test_every_command_says_what_it_took_for_what(log, tmp_path):
    rows = len(log.read_text().splitlines()) - 1
    line = (
        f"{log}: aol; user = AnonID, query = Query, time = QueryTime, rank = ItemRank, url = ClickURL; "
        f"{rows:,} rows, 60 users\n"
    )
    out, truth = tmp_path / "o.tsv", tmp_path / "truth"
    commands = [
        ["anonymize", log, "-o", out, "--method", "sweep", "--truth", truth],
        ["attack", log, out, "--truth", truth, "--only", "uniqueness"],
        ["measure", log, out, "--only", "kept"],
        ["verify", out, "--log", log],
        ["compare", log, "--methods", "sweep", "-o", tmp_path / "comparison"],
    ]
    for words in commands:
        done = querycloak(*words)
        assert done.returncode == 0, done.stderr
        assert done.stderr.count(line) == 1, words[0]
        quiet = querycloak(*words, "--quiet")
        assert (quiet.returncode, quiet.stderr) == (0, ""), words[0]
        assert quiet.stdout


def test_a_stream_says_it_before_the_first_record(log, tmp_path):
    words = ["stream", "-i", log, "-o", tmp_path / "s.tsv", "--k", 2]
    done = querycloak(*words)
    said = [line for line in done.stderr.splitlines() if not line.startswith("compiling kernels")]
    assert said[0].startswith(f"{log}: aol; user = AnonID, query = Query, time = QueryTime")
    assert querycloak(*words, "--quiet").stderr == ""


def test_columns_without_a_known_name_are_called_by_position(log, tmp_path):
    body = tmp_path / "body.tsv"
    body.write_text("".join(log.read_text().splitlines(keepends=True)[1:]))
    words = ["anonymize", body, "-o", tmp_path / "o", "--method", "sweep"]
    assert "aol; user = column 1, query = column 2, time = column 3" in querycloak(*words).stderr
    words += ["--columns", "user=1,query=2", "--no-header"]
    assert "tsv; user = column 1, query = column 2; " in querycloak(*words).stderr


ODD = {
    "row numbers": lambda i: (f"{i}", f"word{i % 7} tea"),
    "ids": lambda i: (f"{i % 9}", f"u{i % 50:04d}"),
    "mails": lambda i: (f"{i % 9}", f"ann{i % 50}@example.com"),
}


@pytest.mark.parametrize("kind", ODD)
@pytest.mark.parametrize("command", ["anonymize", "verify"])
def test_a_column_that_looks_wrong_stops_and_yes_goes_on(tmp_path, kind, command):
    odd, out = tmp_path / "odd.csv", tmp_path / "out.csv"
    odd.write_text("user,query\n" + "".join(",".join(ODD[kind](i)) + "\n" for i in range(200)))
    words = ["anonymize", odd, "-o", out, "--method", "sweep", "--as-in-paper"]
    if command == "verify":
        assert querycloak(*words, "--yes").returncode == 0
        words = ["verify", out, "--log", odd]
    done = querycloak(*words)
    sentence = refused(done, "the column taken for the", "go on with --yes")
    assert "example.com" not in sentence
    assert out.exists() == (command == "verify")
    assert querycloak(*words, "--yes").returncode == 0


def test_the_options_are_the_same_everywhere():
    given = ["--columns", "--format", "--header", "--no-header", "--encoding", "--on-error", "--max-memory", "--yes"]
    for command in ["anonymize", "attack", "measure", "compare", "stream", "verify"]:
        done = querycloak(command, "--help")
        shown = done.stdout.replace("…", "")
        for option in [*given, "--quiet"]:
            assert option in shown, (command, option)


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (["--encoding", "ebcdic"], "--encoding must be one of auto, utf-8, utf-16, latin-1, got 'ebcdic'"),
        (["--on-error", "ignore"], "--on-error must be one of stop, skip, got 'ignore'"),
        (["--max-memory", "much"], "--max-memory must be a size such as 500M or 4G, got 'much'"),
        (["--max-memory", "0"], "--max-memory must be a size such as 500M or 4G, got '0'"),
        (["--format", "aoll"], "Did you mean 'aol'?"),
        (["--columns", "user=1,user=2"], "--columns names the role 'user' twice"),
    ],
)
def test_mistakes_get_one_sentence(log, tmp_path, words, part):
    refused(querycloak("anonymize", log, "-o", tmp_path / "o", "--method", "sweep", *words), part)
    refused(querycloak("stream", "-i", log, "-o", tmp_path / "o", *words), part)
