"""Nothing hidden reaches the terminal: one module prints, and hostile names do not get through it."""

from __future__ import annotations

import ast
import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest
from cli.command import querycloak, querycloak_process
from test_visible import OBEYED

from querycloak import cli as command_line
from querycloak.cli.say import say

CLI = Path(command_line.__file__).parent
ESCAPE, OVERRIDE, ERASE = "\x1b[2J", "\u202e", "\x9b"
HOSTILE = f"a{ESCAPE}{OVERRIDE}{ERASE}\u2066b"


def clean(*texts):
    for text in texts:
        found = set(text) & set(OBEYED) - {"\n", "\t"}
        assert not found, [f"U+{ord(c):04X}" for c in found]


def calls(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Call):
            yield node, ast.unparse(node.func)


@pytest.mark.parametrize("path", sorted(set(CLI.glob("*.py")) - {CLI / "say.py"}), ids=lambda path: path.stem)
def test_one_module_prints(path):
    around = {"print", "typer.echo", "typer.secho", "echo", "secho", "click.echo", "click.secho", "rich.print"}
    streams = ("sys.stdout.write", "sys.stderr.write", "sys.stdout.buffer.write")
    for call, name in calls(path):
        assert name not in around, f"line {call.lineno}: print with querycloak.cli.say"
        assert not name.startswith(streams), f"line {call.lineno}: print with querycloak.cli.say"
        if name == "os.write":  # while a signal is handled
            assert path.name == "interrupts.py"
        if name.endswith("console.print"):  # of the bars
            assert ast.unparse(call.args[0]).startswith("visible("), f"line {call.lineno}: visible(...)"


@pytest.mark.parametrize("path", sorted(CLI.glob("*.py")), ids=lambda path: path.stem)
def test_a_line_is_one_line(path):
    """`say` shows a line end as two letters: what has several lines is several arguments, or `say_text`."""
    for call, name in calls(path):
        for part in ast.walk(call) if name == "say" else ():
            literal = part.value if isinstance(part, ast.Constant) else ""
            assert not (isinstance(literal, str) and "\n" in literal), f"line {call.lineno}"


def test_lines(capsys):
    say("one\nverdict: publish", "two")
    say("three", err=True)
    assert capsys.readouterr() == ("one\\nverdict: publish\ntwo\n", "three\n")


@pytest.fixture
def log(tmp_path):
    """A log with a hostile name, hostile columns, and hostile categories."""
    path = tmp_path / f"{HOSTILE}.tsv"
    rows = [(f"u{u}", q, f"top{HOSTILE}/{c}", "x") for u in range(6) for q, c in (("tea", "a"), ("cup", "b"))]
    head = ("user", "query", "category", f"shop{HOSTILE}")
    path.write_text("".join("\t".join(row) + "\n" for row in (head, *rows)))
    return path


@pytest.mark.slow
def test_commands_with_a_hostile_log(log, tmp_path):
    out, truth = (tmp_path / f"{name}{HOSTILE}" for name in ("out", "truth"))
    done = querycloak("anonymize", log, "-o", out, "--method", "sweep", "--min-query-users", "2", "--truth", truth)
    assert done.returncode == 0, done.stderr
    assert r"outa\x1b[2J\u202e\x9b\u2066b" in done.stdout
    clean(done.stdout, done.stderr)
    for words in (
        ("verify", out, "--log", log),
        ("attack", log, out, "--truth", truth),
        ("measure", log, out, "--truth", truth, "--json"),
        ("check", log, out, "--truth", truth, "-o", tmp_path / "page.html"),
        ("stream", "-i", log, "-o", tmp_path / f"s{HOSTILE}.tsv", "--k", "2", "--depth", "1"),
        ("generate", "-o", tmp_path / f"g{HOSTILE}.tsv", "--users", "5", "--queries", "20"),
        ("keys", "new", tmp_path / f"k{HOSTILE}"),
        ("map", f"tea {HOSTILE}", "--taxonomy", "topics"),
    ):
        done = querycloak(*words)
        assert done.returncode in (0, 1), (words, done.stderr)
        clean(done.stdout, done.stderr)
        assert done.stdout + done.stderr


@pytest.mark.parametrize(
    "words",
    [
        ("anonymize", f"missing{HOSTILE}.tsv", "-o", "x", "--method", "sweep"),
        ("anonymize", "LOG", "-o", "x", "--method", f"sweep{HOSTILE}"),
        ("anonymize", "LOG", "-o", "x", "--method", "sweep", f"--k{HOSTILE}", "3"),
        ("anonymize", "LOG", "-o", "x", "--method", "sweep", "--min-query-users", f"3{HOSTILE}"),
        ("anonymize", "LOG", "-o", f"no{HOSTILE}/x", "--method", "sweep"),
        ("anonymize", "LOG", "-o", "x", "--method", "sweep", "--columns", f"user=nobody{HOSTILE},query=query"),
        ("anonymize", "LOG", "-o", "x", "--method", "sweep", "--columns", f"{HOSTILE}=user,query=query"),
        ("anonymize", "LOG", "-o", "x", "--method", "sweep", "--format", HOSTILE),
        ("anonymize", "LOG", "-o", "x", "--method", "partition", "--taxonomy", f"t{HOSTILE}"),
        ("anonymize", "LOG", "-o", "x", "--method", f"policy:{HOSTILE}.toml"),
        ("compare", "LOG", "-o", "x", "--methods", HOSTILE),
        ("policy", "show", HOSTILE),
        ("verify", f"missing{HOSTILE}"),
        (HOSTILE,),
        ("methods", HOSTILE),
        ("reproduce", HOSTILE, "-o", "x"),
        ("stream", "-i", f"missing{HOSTILE}", "-o", "x"),
        ("stream", "-i", "LOG", "-o", "x", "--k", HOSTILE),
    ],
    ids=lambda words: " ".join(w.encode("ascii", "replace").decode() for w in words[-3:]),
)
def test_errors_that_quote_what_was_given(log, words):
    done = querycloak(*(log if word == "LOG" else word for word in words), cwd=log.parent)
    assert done.returncode == 2, done.stderr
    assert done.stderr.splitlines()[-1].startswith("querycloak: ")
    assert done.stderr.count("\n") <= 2  # what was taken for what, and the error
    clean(done.stdout, done.stderr)


def test_a_name_that_is_no_text(tmp_path):
    """A file may be called by bytes that are not UTF-8; they are shown, and do not end the command."""
    done = querycloak_process("verify", os.fsdecode(b"no\xff\x1btext"), cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr == "querycloak: no\\udcff\\x1btext: there is no such file.\n"


def test_json_is_clean_and_means_the_same(capsys):
    from querycloak.cli.output import print_json

    print_json({"column": HOSTILE})
    shown = capsys.readouterr().out
    clean(shown)
    assert json.loads(shown) == {"column": HOSTILE}


def test_a_traceback_is_clean(tmp_path):
    code = f"import querycloak.cli as c; c.main = lambda: (_ for _ in ()).throw(RuntimeError({HOSTILE!r})); c.run()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 1
    assert "RuntimeError: a\\x1b" in done.stderr
    clean(done.stderr)


@pytest.mark.slow
def test_bars_of_a_terminal(log, tmp_path):
    """The bars themselves are escape sequences of ours; those of the name and its markup are not among them."""
    named = log.rename(tmp_path / f"[red]{HOSTILE}.tsv")
    words = ("anonymize", named, "-o", tmp_path / "o.tsv", "--method", "sweep", "--min-query-users", "2")
    parent, child = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "querycloak", *map(str, words)], stdout=child, stderr=child, cwd=tmp_path
    )
    os.close(child)
    seen = b""
    while True:
        try:
            piece = os.read(parent, 65536)
        except OSError:
            break
        if not piece:
            break
        seen += piece
    assert process.wait() == 0, seen
    text = seen.decode()
    assert "\x1b[2J" not in text
    assert not set(text) & {"\u202e", "\x9b", "\u2066"}
    assert "[red]a\\x1b" in text
