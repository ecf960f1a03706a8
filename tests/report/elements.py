"""What a page is made of, and texts that try to become part of it."""

from __future__ import annotations

import json
from html.parser import HTMLParser

HOSTILE = [
    "<script>alert(1)</script>",
    "</script><script>alert(1)</script>",
    "</style><img src=x onerror=alert(1)>",
    "</svg><iframe src=https://example.org>",
    '" onload="alert(1)',
    "' onmouseover='alert(1)",
    "{{ 7 * 7 }}{% raw %}{# x #}",
    "]]><b>&amp;</b><!--",
]
HARMLESS = "0 harmless"
"""Shown as often as a hostile text must be; begins with no letter, as those do, which a sentence would change."""


class Elements(HTMLParser):
    """Collects the elements of a page, the attributes that run something, texts, titles of sections, and the data."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.names: set[str] = set()
        self.handlers: list[str] = []
        self.texts: list[str] = []
        self.titles: list[str] = []
        self.scripts: list[dict[str, str | None]] = []
        """attributes of every script"""
        self._blocks: list[str] = []
        self._tag = ""
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self._tag = tag
        self.names.add(tag)
        self.handlers += [name for name, value in attrs if name.startswith("on") or "javascript:" in (value or "")]
        if tag == "script":
            self.scripts.append(dict(attrs))
            self._blocks.append("")

    def handle_endtag(self, tag):
        self._tag = ""

    def handle_data(self, data):
        if self._tag == "style":
            return
        if self._tag == "script":
            self._blocks[-1] += data
            return
        self.texts.append(data)
        if self._tag == "h2":
            self.titles.append(data)

    @property
    def data(self):
        """The results in the page, read back; the page must have no other script."""
        assert self.scripts == [{"type": "application/json", "id": "results"}]
        return json.loads(self._blocks[0])

    @property
    def text(self) -> str:
        """All texts, with single spaces."""
        return " ".join(" ".join(self.texts).split())
