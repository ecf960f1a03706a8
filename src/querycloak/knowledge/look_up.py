r"""Tables that are searched in place for the first questions, and are dictionaries from then on.

A command that maps one query asks a few dozen times; making dictionaries of 100,000 words for it takes longer than all
of its answers. Who maps a log asks millions of times.

>>> rows = rows_of_lines(b"the\nof\ntea")
>>> rows.get("tea"), "of" in rows, rows.get("o"), list(rows)
(2, True, None, ['the', 'of', 'tea'])
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, ItemsView, Iterator, KeysView, ValuesView

__all__ = ["LookUp", "rows_of_lines"]

V = TypeVar("V")

_ENOUGH: Final = 2_000
"""Look-ups by number that take as long as making a dictionary."""
_ENOUGH_SEARCHES: Final = 60
"""The same for searches in the whole of a text: 0.3 ms each in a megabyte, where the dictionary takes 20 ms."""


class LookUp(Mapping[str, V]):
    """Text → value."""

    def __init__(
        self, find: Callable[[str], V | None], unpack: Callable[[], dict[str, V]], enough: int = _ENOUGH
    ) -> None:
        """Take what finds one value, None where there is none, and what makes the dictionary of all."""
        self._find = find
        self._unpack = unpack
        self._left = enough
        self._all: dict[str, V] | None = None

    @property
    def all(self) -> dict[str, V]:
        """The dictionary of all; made once."""
        if self._all is None:
            self._all = self._unpack()
            self.get = self._all.get  # type: ignore[method-assign,assignment] # as fast as the dictionary itself
        return self._all

    def get(self, text: str, default: Any = None) -> Any:
        """Return the value of a text, or the default."""
        self._left -= 1
        if self._left < 0:
            return self.all.get(text, default)
        found = self._find(text)
        return default if found is None else found

    def __contains__(self, text: object) -> bool:
        return self.get(text) is not None  # type: ignore[arg-type]

    def __getitem__(self, text: str) -> V:
        found: V | None = self.get(text)
        if found is None:
            raise KeyError(text)
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(self.all)

    def __len__(self) -> int:
        return len(self.all)

    def keys(self) -> KeysView[str]:
        """Return all texts."""
        return self.all.keys()

    def values(self) -> ValuesView[V]:
        """Return all values."""
        return self.all.values()

    def items(self) -> ItemsView[str, V]:
        """Return all texts with their values."""
        return self.all.items()


def rows_of_lines(lines: bytes) -> LookUp[int]:
    """Return text → its number, of different texts in UTF-8, one per line, in any order."""
    within = b"\n%b\n" % lines

    def find(text: str) -> int | None:
        if not text or "\n" in text:
            return None
        at = within.find(b"\n%b\n" % text.encode("utf-8", "surrogatepass"))
        return None if at < 0 else within.count(b"\n", 0, at)

    def unpack() -> dict[str, int]:
        return {text: row for row, text in enumerate(lines.decode().split("\n"))}

    return LookUp(find, unpack, _ENOUGH_SEARCHES)
