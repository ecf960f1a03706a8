"""Commands and examples of the pages: where they are, and what a page says about running them.

A page says it in HTML comments, which neither the repository nor the site shows:

    <!-- setup: COMMAND -->              at any place: run before the page's first block, in its folder
    <!-- setup: python: CODE -->         the same, before the page's first block of Python
    <!-- file: PATH -->                  before a block of any language: its text is written there, and not run
    <!-- not run: REASON -->             before a block: its commands are checked, but not run
    <!-- exit: 1 3 -->                   before a block: its commands may end with one of these instead of 0
    <!-- output not compared: REASON --> before a block of text that follows a block of commands
    <!-- numbers differ: REASON -->      the same, but its words are compared

A block of text (```text) that directly follows commands is what they print; `…` stands for anything, a line of `…`
for any lines.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from places import ROOT

__all__ = [
    "Block",
    "Page",
    "PageError",
    "hidden_commands",
    "inline_commands",
    "matches",
    "page_of",
    "pages",
    "shell_lines",
]

RUNNABLE = ("sh", "python")
NEEDS_REASON = ("not run", "output not compared", "numbers differ")
DIRECTIVES = (*NEEDS_REASON, "setup", "exit", "file")
PART = re.compile(
    r"^[ ]*```(?P<language>\w+)[^\n]*\n(?P<text>.*?)^[ ]*```[ ]*$|<!--\s*(?P<comment>.*?)\s*-->",
    re.DOTALL | re.MULTILINE,
)
INLINE = re.compile(r"(?<!`)`((?:querycloak|python (?:tools|benchmarks)/|tools/|benchmarks/)[^`]*)`(?!`)")
NUMBER = re.compile(r"[-+]?\d[\d,.]*%?")


class PageError(Exception):
    """A page that says something about its blocks that cannot be understood."""


@dataclass
class Block:
    """One block of commands, or one of Python."""

    language: str
    text: str
    line: int
    not_run: str = ""
    exits: tuple[int, ...] = ()
    shown: str | None = None
    """what it prints, as the page shows it; None = nothing is shown, or it is not compared"""
    any_numbers: bool = False
    file: str = ""
    """where it is written, for a block that is a file"""


@dataclass
class Page:
    name: str
    blocks: list[Block] = field(default_factory=list)
    setup: list[str] = field(default_factory=list)
    inline: list[str] = field(default_factory=list)
    hidden: list[str] = field(default_factory=list)


def pages():
    """Return every page that a reader sees, but for records of decisions, which speak of their day."""
    found = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
    found = [path for path in found if path.parent.name != "adr"]
    return [page_of(path.read_text(), path.relative_to(ROOT).as_posix()) for path in found]


def page_of(text: str, name: str) -> Page:
    """Return the blocks of a page and what it says about them."""
    page = Page(name, inline=inline_commands(text), hidden=hidden_commands(text))
    said: dict[str, str] = {}
    end = 0
    for part in PART.finditer(text):
        line = text.count("\n", 0, part.start()) + 1
        if part["comment"] is not None:
            key, colon, value = part["comment"].partition(":")
            if key not in DIRECTIVES:
                if colon and key.split()[0] in {"setup", "not", "exit", "file", "output", "numbers"}:
                    raise PageError(f"{name}, line {line}: {key!r} is none of {', '.join(DIRECTIVES)}.")
                continue
            if not value.strip():
                needs = "a reason" if key in NEEDS_REASON else "a value"
                raise PageError(f"{name}, line {line}: `{key}` needs {needs}.")
            if key == "setup":
                page.setup.append(value.strip())
            else:
                said[key] = value.strip()
                if not text[end : part.start()].strip():
                    end = part.end()  # a comment between commands and their output does not part them
            continue
        between = text[end : part.start()].strip()
        if "file" in said:
            page.blocks.append(Block("file", part["text"], line, file=said.pop("file")))
        elif part["language"] in RUNNABLE:
            exits = tuple(int(word) for word in said.pop("exit", "").split())
            page.blocks.append(Block(part["language"], part["text"], line, said.pop("not run", ""), exits))
        elif part["language"] == "text" and page.blocks and not between and "output not compared" not in said:
            page.blocks[-1].shown = part["text"]
            page.blocks[-1].any_numbers = said.pop("numbers differ", "") != ""
        said.pop("output not compared", None)
        if said:
            raise PageError(f"{name}, line {line}: {', '.join(said)} says nothing about the block that follows.")
        end = part.end()
    if said:
        raise PageError(f"{name}: {', '.join(said)} is followed by no block.")
    return page


def inline_commands(text: str) -> list[str]:
    """Return commands in the running text: of ours, and of the tools that made a figure."""
    outside = re.sub(r"^[ ]*```.*?^[ ]*```", "", text, flags=re.DOTALL | re.MULTILINE)
    return [re.sub(r"\s+", " ", found).strip() for found in INLINE.findall(outside)]


def hidden_commands(text: str) -> list[str]:
    """Return commands and examples in blocks that do not say their language, and so would never be run."""
    unnamed = re.findall(r"^[ ]*```[ ]*\n(.*?)^[ ]*```", _without_named_blocks(text), flags=re.DOTALL | re.MULTILINE)
    lines = [line for block in unnamed for line in block.splitlines()]
    lines += re.findall(r"(?<=\n)\n {4,}(\S.*)", _without_named_blocks(text))
    return [line for line in lines if re.match(r"\s*(\$ |>>> |querycloak [a-z]|python |pip |import )", line)]


def _without_named_blocks(text: str) -> str:
    return re.sub(r"^[ ]*```\w.*?^[ ]*```[ ]*$", "", text, flags=re.DOTALL | re.MULTILINE)


def shell_lines(text: str) -> list[str]:
    """Return the commands of a block of shell, with continued lines joined, comments and blank lines left out."""
    joined = text.replace("\\\n", " ")
    lines = (re.sub(r"(^|\s)#\s.*$", "", line).strip() for line in joined.splitlines())
    return [line for line in lines if line and not line.startswith("#")]


def matches(shown: str, printed: str, *, any_numbers: bool = False) -> str:
    """Return the first line of what is shown that was not printed, in order; empty where all of it was."""
    lines = [_plain(line) for line in printed.splitlines()]
    at = 0
    skips = True  # what is printed before the first line shown need not be shown
    for line in shown.splitlines():
        if not line.strip():
            continue
        if line.strip() == "…":
            skips = True
            continue
        pattern = _pattern(_plain(line), any_numbers)
        found = next((i for i in range(at, len(lines)) if re.fullmatch(pattern, lines[i])), None)
        if found is None or (not skips and any(lines[at:found])):
            return line
        at, skips = found + 1, False
    return ""


def _plain(line: str) -> str:
    return re.sub(r"\s+", " ", line).strip()


def _pattern(line: str, any_numbers: bool) -> str:
    parts = [re.escape(part) for part in line.split("…")]
    if any_numbers:
        parts = [NUMBER.sub("#", part) for part in line.split("…")]
        parts = [NUMBER.pattern.join(re.escape(piece) for piece in part.split("#")) for part in parts]
    return ".*".join(parts)
