r"""Characters that a terminal or a page obeys instead of showing, written so that they are seen.

The name of a file, a column or a category comes from outside. On a terminal an escape sequence in it can clear the
screen or retype a command, a return can overwrite a line, and a bidirectional control can make "gpj.exe" of "exe.jpg",
on a page too. Whatever is printed or put on a page passes through here, at the edge: what is kept in memory and what is
written as data stays as it is.

Escaped are control characters (C0, C1 and DEL, with ESC), bidirectional controls, characters without a width, line and
paragraph separators, byte order marks, tags, and halves of surrogate pairs, which no terminal can show. Letters of
right-to-left scripts are letters. The result is for eyes: a text that has `\x1b` in it as four letters looks the same.
"""

from __future__ import annotations

import re
from typing import Any, Final

__all__ = ["visible", "visible_json", "visible_lines", "visible_on_page"]

_HIDDEN: Final = (
    r"\x00-\x08\x0b-\x1f\x7f-\x9f"  # controls, but for tab and line feed
    r"\u00ad\u061c\u180e\u200b-\u200f"  # soft hyphen, Arabic letter mark, zero width, left-to-right and its opposite
    r"\u2028-\u202e\u2060-\u206f"  # separators of lines, embeddings and overrides; joiners, isolates
    r"\ud800-\udfff\ufeff\ufff9-\ufffb"  # surrogates, byte order mark, annotations
    r"\U000e0000-\U000e007f"  # tags
)
_IN_TEXT: Final = re.compile(f"[{_HIDDEN}]")
_IN_LINE: Final = re.compile(rf"[\t\n{_HIDDEN}]")
_SHORT: Final = {"\t": r"\t", "\n": r"\n", "\r": r"\r"}


def visible(text: str) -> str:
    r"""Return a text as one line in which nothing is hidden.

    >>> visible("name\x1b[2J.tsv"), visible("two\nlines"), visible("\u202egpj.exe"), visible("café שלום 日本")
    ('name\\x1b[2J.tsv', 'two\\nlines', '\\u202egpj.exe', 'café שלום 日本')
    """
    return _IN_LINE.sub(_shown, text)


def visible_lines(text: str) -> str:
    r"""Return a text of several lines in which nothing but its line ends and tabs is hidden.

    >>> visible_lines("first\x07\n\tsecond")
    'first\\x07\n\tsecond'
    """
    return _IN_TEXT.sub(_shown, text)


def visible_json(text: str) -> str:
    r"""Return JSON in which the same characters are escapes of JSON: it means the same.

    >>> visible_json('{"name": "a\u202eb\U000e0041"}')
    '{"name": "a\\u202eb\\udb40\\udc41"}'
    """
    return _IN_TEXT.sub(_json_escape, text)


def visible_on_page(value: Any) -> Any:
    r"""Return a value of a template as it goes to the page, for `finalize` of a Jinja environment; a number stays one.

    What is markup already may hold scripts, so that it gets escapes that JavaScript and JSON read.

    >>> visible_on_page("a\x9bb"), visible_on_page(7)
    ('a\\x9bb', 7)
    """
    if not isinstance(value, str):
        return value
    if hasattr(value, "__html__"):
        return type(value)(visible_json(str(value)))
    return visible_lines(value)


def _shown(found: re.Match[str]) -> str:
    character = found[0]
    code = ord(character)
    if code < 0x100:
        return _SHORT.get(character, f"\\x{code:02x}")
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _json_escape(found: re.Match[str]) -> str:
    code = ord(found[0])
    if code < 0x10000:
        return f"\\u{code:04x}"
    high, low = divmod(code - 0x10000, 0x400)
    return f"\\u{0xD800 + high:04x}\\u{0xDC00 + low:04x}"
