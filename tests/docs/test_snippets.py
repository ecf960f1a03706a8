"""Every command and every example of the pages works: it is run, or, where a page says why not, at least checked."""

from __future__ import annotations

import contextlib
import doctest
import os
import re
import shlex
import shutil
import subprocess
import sys
from hashlib import sha256
from io import StringIO
from pathlib import Path
from unittest.mock import patch

import pytest
from docs.commands import WrongCommandError, check_command, check_mention
from docs.snippets import Page, PageError, matches, page_of, pages, shell_lines

from querycloak.cli import main

PAGES = pages()
WITH_BLOCKS = [page for page in PAGES if page.blocks]
NO_COMMAND = {"querycloak statement": "the first line of what is signed (formats.md)"}
MOST_QUERIES = 20_000
"""A log that a page makes larger than this, or of no given size, is made of 100 users and 3,000 queries here; a page
that shows what is printed makes no larger one itself."""
SHELL = re.compile(r"[|<>&;$*`]|\A(?!querycloak |python (?:tools|benchmarks)/)")


class Runner:
    """Runs the blocks of one page in a folder."""

    def __init__(self, folder: Path, kept: Path) -> None:
        self.folder = folder
        self.kept = kept
        """generated logs that pages share"""
        self.names: dict[str, object] = {"__name__": "__main__"}
        self.environment: dict[str, str] = {}
        """of commands that a package of the page's own is installed for"""

    def run(self, page: Page) -> dict[str, int]:
        """Run or check every block; say how many of each."""
        count = {"run": 0, "checked": 0, "not run": 0}
        setup = [line for line in page.setup if not line.startswith("python:")]
        code = [line.removeprefix("python:").strip() for line in page.setup if line.startswith("python:")]
        self.set_up(setup, f"{page.name}, setup")
        for each in code:
            self.python(each, f"{page.name}, setup")
        for block in page.blocks:
            place = f"{page.name}, line {block.line}"
            if block.not_run:
                count["checked" if self.check(block, place) else "not run"] += 1
                continue
            if block.file:
                path = self.folder / block.file
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(block.text)
                continue
            if block.language == "python":
                printed = self.python(block.text, place)
            else:
                printed = "".join(self.command(line, block.exits, place) for line in shell_lines(block.text))
            if block.shown is not None:
                missing = matches(block.shown, printed, any_numbers=block.any_numbers)
                assert not missing, f"{place}: the page shows\n{missing}\nbut what is printed is\n{printed}"
            count["run"] += 1
        return count

    def set_up(self, lines: list[str], place: str) -> None:
        """Run the commands before the first block; what they leave is shared with pages that begin with the same."""
        kept = self.kept / f"setup-{sha256(' '.join(lines).encode()).hexdigest()}"
        if not kept.exists():
            for line in lines:
                self.command(line, (), place)
            shutil.copytree(self.folder, kept)
        shutil.copytree(kept, self.folder, dirs_exist_ok=True)

    def check(self, block, place: str) -> bool:
        if block.language == "python":
            compile(block.text, place, "exec")
            return True
        try:
            checked = [check_command(line) for line in shell_lines(block.text)]  # all, not only up to the first
            return all(checked)
        except WrongCommandError as error:
            raise AssertionError(f"{place}: {error}") from error

    def command(self, line: str, exits: tuple[int, ...], place: str) -> str:
        """Run one line in this process, which is quicker, or by a shell where it needs one."""
        if line.startswith("pip install "):
            if "./" not in line:
                assert check_command(line), f"{place}: {line}"
                return ""
            options = "--quiet --no-deps --no-build-isolation --disable-pip-version-check --target plugins"
            line = line.replace("pip install", f"python -m pip install {options}")
            self.environment["PYTHONPATH"] = os.pathsep.join([str(self.folder / "plugins"), *sys.path])
        if line.startswith("querycloak generate"):
            line = _smaller(line)
            if self._made_before(line):
                return self.kept.joinpath(_key(line), "printed").read_text()
        by_shell = self.environment or SHELL.search(line)
        code, printed = self._shell(line) if by_shell else self._here(shlex.split(line))
        assert code == 0 or code in exits, f"{place}: {line}\nends with {code}:\n{printed}"
        if line.startswith("querycloak generate"):
            self._keep(line, printed)
        return printed

    def _here(self, words: list[str]) -> tuple[int, str]:
        out, code = StringIO(), 0
        if words[0] == "python":
            words[1] = str(Path(__file__).parents[2] / words[1])
            done = subprocess.run(
                [sys.executable, *words[1:]], cwd=self.folder, capture_output=True, text=True, check=False, timeout=200
            )
            return done.returncode, done.stdout + done.stderr
        with (
            contextlib.chdir(self.folder),
            patch.object(sys, "argv", words),
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(out),
        ):
            try:
                main()
            except SystemExit as end:
                code = int(end.code or 0)
        return code, out.getvalue()

    def _shell(self, line: str) -> tuple[int, str]:
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        done = subprocess.run(
            ["bash", "-eo", "pipefail", "-c", line],
            cwd=self.folder,
            env=os.environ | {"PATH": path} | self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            timeout=200,
        )
        return done.returncode, done.stdout

    def python(self, text: str, place: str) -> str:
        if ">>>" in text:
            test = doctest.DocTestParser().get_doctest(text, self.names, place, place, 0)
            said = StringIO()
            doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(test, out=said.write, clear_globs=False)
            self.names.update(test.globs)
            assert not said.getvalue(), f"{place}: {said.getvalue()}"
            return ""
        out = StringIO()
        with contextlib.chdir(self.folder), contextlib.redirect_stdout(out):
            exec(compile(text, place, "exec"), self.names)
        return out.getvalue()

    def _made_before(self, line: str) -> bool:
        kept = self.kept / _key(line)
        if not kept.exists():
            return False
        for path in (kept / "files").iterdir():
            shutil.copy(path, self.folder)
        return True

    def _keep(self, line: str, printed: str) -> None:
        words = shlex.split(line)
        name = words[words.index("-o") + 1] if "-o" in words else ""
        if not name or "/" in name or SHELL.search(line):
            return
        kept = self.kept / _key(line)
        (kept / "files").mkdir(parents=True)
        (kept / "printed").write_text(printed)
        for path in self.folder.glob(f"{name.split('.')[0]}.*"):
            shutil.copy(path, kept / "files")


def _key(line: str) -> str:
    return re.sub(r"\W+", "-", line)


def _smaller(line: str) -> str:
    found = re.search(r"--queries (\d+)", line)
    if found and int(found[1]) <= MOST_QUERIES:
        return line
    return re.sub(r" --(users|queries) \d+", "", line) + " --users 100 --queries 3000"


@pytest.fixture(scope="session")
def kept(tmp_path_factory):
    return tmp_path_factory.mktemp("generated")


@pytest.mark.slow
@pytest.mark.parametrize("page", WITH_BLOCKS, ids=lambda page: page.name)
def test_the_blocks_of_a_page_work(page, tmp_path, kept, record_property):
    """With `-s`, or in the summary at the end, the count of blocks is printed."""
    for what, number in Runner(tmp_path, kept).run(page).items():
        record_property(f"blocks {what}", number)


@pytest.mark.parametrize("page", [page for page in PAGES if page.inline], ids=lambda page: page.name)
def test_commands_in_the_text_have_these_options(page, record_property):
    for text in page.inline:
        if text in NO_COMMAND or not re.match(r"querycloak [a-z]|python |(tools|benchmarks)/\w+\.py", text):
            continue
        try:
            check_mention(text)
        except WrongCommandError as error:
            raise AssertionError(f"{page.name}: {error}") from error
        record_property("commands in the text", 1)


def test_every_block_of_commands_says_its_language():
    assert {page.name: page.hidden for page in PAGES if page.hidden} == {}


# The tests would notice: each kind of fault is seen.

FENCE = "```"


def page(text):
    return page_of(text.replace("'''", FENCE), "page.md")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("<!-- not run: -->\n'''sh\nls\n'''\n", "`not run` needs a reason"),
        ("<!-- not running: it is long -->\n'''sh\nls\n'''\n", "is none of"),
        ("<!-- not run: it is long -->\n", "followed by no block"),
        ("<!-- exit: 3 -->\n'''text\nls\n'''\n", "says nothing about the block"),
    ],
)
def test_a_comment_that_cannot_be_understood_is_refused(text, words):
    with pytest.raises(PageError, match=words):
        page(text)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("'''sh\nfalse\n'''\n", "ends with 1"),
        ("'''sh\nquerycloak methods sweeep\n'''\n", "ends with 2"),
        ("'''python\n1 / 0\n'''\n", "division by zero"),
        ("'''python\n>>> 1 + 1\n3\n'''\n", "Expected"),
        ("'''sh\necho three blind mice\n'''\n\n'''text\nthree kind mice\n'''\n", "the page shows\n  three kind mice"),
        ("<!-- not run: long -->\n'''sh\nquerycloak anonymize a -o b --method sweep --kk 5\n'''\n", "--kk"),
        ("<!-- not run: long -->\n'''sh\nquerycloak anonymise log.tsv\n'''\n", "no command anonymise"),
        ("<!-- not run: long -->\n'''sh\npython tools/risk_figures.py --excited x\n'''\n", "--excited"),
        ("<!-- not run: long -->\n'''sh\npython tools/gone.py\n'''\n", "is not there"),
        ("<!-- not run: long -->\n'''sh\nmake everything\n'''\n", "no target everything"),
        ("<!-- not run: long -->\n'''sh\npip install 'querycloak[moon]'\n'''\n", "no extra moon"),
    ],
)
def test_a_block_that_does_not_work_is_seen(text, words, tmp_path):
    with pytest.raises(Exception, match=re.escape(words)):
        Runner(tmp_path, tmp_path).run(page(text))


@pytest.mark.parametrize("text", ["querycloak check … --max-clam 1", "querycloak czech log.tsv", "tools/gone.py"])
def test_a_wrong_command_in_the_text_is_seen(text):
    with pytest.raises(WrongCommandError):
        check_mention(text)


@pytest.mark.parametrize("text", ["'''\nquerycloak methods\n'''\n", "Text:\n\n    querycloak methods\n"])
def test_a_block_without_a_language_is_seen(text):
    assert page(text).hidden == ["querycloak methods"]
    assert not page("'''sh\nquerycloak methods\n'''\n\n1. one\n\n    more of it\n").hidden


def test_what_is_shown_is_compared():
    printed = "one 1\ntwo 2.5%\n\nthree\nfour 4 x\n"
    assert matches("two 2.5%\nthree\n", printed) == ""
    assert matches("one 1\nthree\n", printed) == "three"
    assert matches("one 1\n…\nfour … x\n", printed) == ""
    assert matches("two 3.5%\n", printed) == "two 3.5%"
    assert matches("two 3.5%\n", printed, any_numbers=True) == ""
    assert matches("tow 3.5%\n", printed, any_numbers=True) == "tow 3.5%"
