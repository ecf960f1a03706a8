"""Whatever goes wrong, no message names a query or a user: what is printed ends up in tickets and logs of servers."""

from __future__ import annotations

import pytest
from cli.command import querycloak

QUERY, USER = "zebrafish-query", "quokka-user"
GOOD = [(f"{USER}{n}", f"{QUERY} {n % 3}", "a/b") for n in range(12)]
HEAD = ("user", "query", "category")


def lines(form, rows):
    if form == "tsv":
        return "".join("\t".join(row) + "\n" for row in (HEAD, *rows))
    if form == "csv":
        return "".join(",".join(row) + "\n" for row in (HEAD, *rows))
    return "".join(f'{{"user": "{u}", "query": "{q}", "category": "{c}"}}\n' for u, q, c in rows)


BAD = {
    "too few fields": lambda text, _: text + f"{USER}{QUERY}\n",
    "too many fields": lambda text, form: text + (", " if form == "csv" else "\t").join([USER, QUERY] * 4) + "\n",
    "no user": lambda text, form: text + lines(form, [("", QUERY, "a")]).splitlines()[-1] + "\n",
    "no query": lambda text, form: text + lines(form, [(USER, "", "a")]).splitlines()[-1] + "\n",
    "a bad path": lambda text, form: text + lines(form, [(USER, QUERY, f"a//{QUERY}")]).splitlines()[-1] + "\n",
    "an open quote": lambda text, _: text + f'{USER},"{QUERY}',
    "no JSON": lambda text, _: text + f'{{"user": "{USER}", "query": {QUERY}}}\n',
    "escapes": lambda text, form: text + lines(form, [(f"\x1b]0;{USER}\x07", f"\u202e{QUERY}", "a")]).splitlines()[-1],
    "no text": lambda text, form: text.encode() + f"{USER}\t{QUERY}".encode() + b"\xff\xfe\n",
    "a NUL": lambda text, _: text + f"{USER}\0{QUERY}\n",
    "another header": lambda text, form: text if form == "jsonl" else f"{USER} {QUERY}" + text[text.index("\n") :],
    "no header": lambda text, _: text.split("\n", 1)[1],
    "a long line": lambda text, _: text + f"{USER}\t{QUERY} " + "x" * 1_100_000 + "\n",
}


@pytest.mark.slow
@pytest.mark.parametrize("command", ["stream", "anonymize"])
@pytest.mark.parametrize("on_error", ["stop", "skip"])
@pytest.mark.parametrize("form", ["tsv", "csv", "jsonl"])
@pytest.mark.parametrize("bad", BAD)
def test_bad_lines(tmp_path, bad, form, on_error, command):
    source, out, stats = tmp_path / "log", tmp_path / f"out.{form}", tmp_path / "stats.json"
    made = BAD[bad](lines(form, GOOD), form)
    source.write_bytes(made if isinstance(made, bytes) else made.encode())
    words = (
        ("stream", "-i", source, "-o", out, "--k", "2", "--depth", "2", "--stats", stats)
        if command == "stream"
        else ("anonymize", source, "-o", out, "--method", "sweep", "--min-query-users", "2")
    )
    done = querycloak(*words, "--on-error", on_error, "--yes")
    written = [path.read_text() for path in (stats, tmp_path / f"{out.name}.statement.json") if path.exists()]
    for text in (done.stdout, done.stderr, *written):
        assert QUERY not in text
        assert USER not in text
        assert "\x1b" not in text
    assert "Traceback" not in done.stderr
    assert done.returncode in (0, 2)
