"""Sensitive topics in the text of queries, by a list of words: health, sex, religion, money trouble, crime.

The list is ours (`sensitive.tsv`) and can be replaced by a file of the same form: a topic, a tab, and a word or phrase
per line; lines that begin with # are comments. Whole words count, in any case, and a phrase counts where its words
come one after the other. A list of words finds topics, not persons: "cancer" may be a star sign.

>>> import polars as pl
>>> words = load_sensitive()
>>> words.topics
('health', 'sex', 'religion', 'money', 'crime')
>>> sensitive_topics(pl.Series(["Breast Cancer help", "cancerous", "green tea", "food stamps"]), words).tolist()
[0, -1, -1, 3]
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from querycloak.errors import InputError
from querycloak.mapping.words import fold

if TYPE_CHECKING:
    from collections.abc import Mapping
    from os import PathLike

    import numpy.typing as npt
    import polars as pl

__all__ = ["NOT_SENSITIVE", "SensitiveWords", "load_sensitive", "read_sensitive", "sensitive_topics"]

NOT_SENSITIVE: Final = -1
"""Topic of a text that holds no sensitive word."""

_MOST_TOPICS: Final = 127
"""Topics are counted in 8 bits."""

_WORD: Final = re.compile(r"[^\W_]+")


@dataclass(frozen=True)
class SensitiveWords:
    """Words and phrases by topic."""

    topics: tuple[str, ...]
    """names of the topics, in the order in which the list first names them"""
    phrases: Mapping[tuple[str, ...], int]
    """words of a phrase → index of its topic; the first line of a repeated phrase counts"""

    @cached_property
    def longest(self) -> int:
        """Words of the longest phrase."""
        return max(map(len, self.phrases), default=0)


@cache
def load_sensitive() -> SensitiveWords:
    """Return our own list."""
    return _parse(files("querycloak.texts").joinpath("sensitive.tsv").read_text("utf-8"), "sensitive.tsv")


def read_sensitive(path: str | PathLike[str]) -> SensitiveWords:
    """Read a list from a file; what it has in place of a line of the list is said with its line number."""
    try:
        data = Path(path).read_bytes()
    except OSError as problem:
        what = problem.strerror or "it cannot be read"
        raise InputError.at(path, f"expected a list of sensitive words: {what}") from problem
    try:
        return _parse(data.decode("utf-8-sig"), path)
    except UnicodeDecodeError as problem:
        line = data[: problem.start].count(b"\n") + 1
        raise InputError.at(path, "expected UTF-8 text, found other bytes", line) from problem


def sensitive_topics(texts: pl.Series, words: SensitiveWords | None = None) -> npt.NDArray[np.int8]:
    """Find the topic of each text: int8[n], an index into `words.topics`, NOT_SENSITIVE for none.

    Of several phrases in one text, the first counts, and of those that begin with the same word the longest.
    """
    chosen = load_sensitive() if words is None else words
    beginnings = frozenset(phrase[0] for phrase in chosen.phrases)
    found = (_topic(text, chosen, beginnings) for text in texts.to_list())
    return np.fromiter(found, np.int8, len(texts))


def _topic(text: str, words: SensitiveWords, beginnings: frozenset[str]) -> int:
    """Return the topic of one text."""
    tokens = _tokens(text)
    for i, token in enumerate(tokens):
        if token in beginnings:
            for length in range(min(words.longest, len(tokens) - i), 0, -1):
                topic = words.phrases.get(tuple(tokens[i : i + length]))
                if topic is not None:
                    return topic
    return NOT_SENSITIVE


def _tokens(text: str) -> list[str]:
    """Return the words of a text; "alzheimer's" is one word, as in the list."""
    return _WORD.findall(fold(text).replace("'", ""))


def _parse(text: str, path: object) -> SensitiveWords:
    """Read the lines of a list."""
    topics: dict[str, int] = {}
    phrases: dict[tuple[str, ...], int] = {}
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        fields = [field.strip() for field in line.split("\t")]
        if len(fields) != 2 or not all(fields):
            found = f"found {len(fields)}" if all(fields) else "found an empty one"
            raise InputError.at(path, f"expected 2 tab-separated fields, topic and word or phrase, {found}", number)
        phrase = tuple(_tokens(fields[1]))
        if not phrase:
            raise InputError.at(path, "expected a word or phrase after the tab, found no letter or digit", number)
        if fields[0] not in topics and len(topics) == _MOST_TOPICS:
            raise InputError.at(path, f"expected at most {_MOST_TOPICS} topics, found one more", number)
        phrases.setdefault(phrase, topics.setdefault(fields[0], len(topics)))
    if not phrases:
        raise InputError.at(path, "expected a list of sensitive words, one topic, tab and word per line, found no line")
    return SensitiveWords(tuple(topics), phrases)
