"""Many texts in one array of bytes, one per line: a text is made when it is asked for, not when the file is read.

Making 100,000 Python strings takes 10 ms or more; a command that maps one query asks for a few dozen of them.

>>> words = Lines.of(["ant", "bee", "cow"])
>>> words[1], len(words), words.find("cow"), words.find("cat")
('bee', 3, 2, -1)
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, overload

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = ["LabelLists", "Lines"]


class Lines(Sequence[str]):
    """Texts without line breaks, at least one."""

    def __init__(self, column: npt.NDArray[np.uint8]) -> None:
        """Take the bytes of all texts, UTF-8, with a line break between two: uint8[m]."""
        self._bytes = column.tobytes()
        # end[i]: where text i ends in the bytes; it begins one after the end of the text before.
        self._end = np.append(np.flatnonzero(column == ord("\n")), len(column))

    @classmethod
    def of(cls, texts: Iterable[str]) -> Lines:
        """Put texts into one array."""
        return cls(np.frombuffer("\n".join(texts).encode(), np.uint8))

    @property
    def column(self) -> npt.NDArray[np.uint8]:
        """The bytes of all texts, as a file holds them: uint8[m]."""
        return np.frombuffer(self._bytes, np.uint8)

    def __len__(self) -> int:
        return len(self._end)

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> list[str]: ...
    def __getitem__(self, index: int | slice) -> str | list[str]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        if index < 0:
            index += len(self)
        if not 0 <= index < len(self):
            raise IndexError("There is no line of that number.")
        start = self._end.item(index - 1) + 1 if index else 0
        return self._bytes[start : self._end.item(index)].decode()

    def __iter__(self) -> Iterator[str]:
        return iter(self.all())

    def all(self) -> list[str]:
        """Return all texts at once, which is much faster than one by one."""
        return self._bytes.decode().split("\n")

    def find(self, text: str) -> int:
        """Return the number of a text where the texts are sorted by their characters, or -1."""
        at = bisect_left(self, text)
        return at if at < len(self) and self[at] == text else -1


class LabelLists(Sequence[tuple[str, ...]]):
    """The labels of each concept: those of a few are made one by one, those of all when they are read in a row."""

    def __init__(self, labels: Lines, count: npt.NDArray[np.uint8]) -> None:
        """Take the labels of all concepts in a row, and how many each has: uint8[n]."""
        self.lines = labels
        """the labels of all concepts in a row"""
        self._start = np.concatenate([np.zeros(1, np.int64), np.cumsum(count, dtype=np.int64)])
        self._all: list[tuple[str, ...]] | None = None

    def __len__(self) -> int:
        return len(self._start) - 1

    @property
    def owner(self) -> npt.NDArray[np.int64]:
        """The concept of each label: int64[labels]."""
        return np.repeat(np.arange(len(self)), np.diff(self._start))

    @overload
    def __getitem__(self, index: int) -> tuple[str, ...]: ...
    @overload
    def __getitem__(self, index: slice) -> list[tuple[str, ...]]: ...
    def __getitem__(self, index: int | slice) -> tuple[str, ...] | list[tuple[str, ...]]:
        if self._all is not None or isinstance(index, slice):
            return self.all()[index]
        at = range(len(self))[index]
        return tuple(self.lines[self._start.item(at) : self._start.item(at + 1)])

    def __iter__(self) -> Iterator[tuple[str, ...]]:
        return iter(self.all())

    def all(self) -> list[tuple[str, ...]]:
        """Return the labels of all concepts; made once."""
        if self._all is None:
            flat, start = self.lines.all(), self._start.tolist()
            self._all = [tuple(flat[a:b]) for a, b in pairwise(start)]
        return self._all
