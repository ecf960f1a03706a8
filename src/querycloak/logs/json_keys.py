"""The keys of JSON objects as the table that the kernel searches; it grows where a log shows new keys."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec
import numpy as np

from querycloak.logs._records_kernels import Keys
from querycloak.logs.formats.jsonlines import opened_paths

if TYPE_CHECKING:
    from collections.abc import Mapping

    from querycloak.logs.formats.jsonlines import KeyPath

__all__ = ["MOST_KEYS", "KeyTable"]

MOST_KEYS: Final = 1000
"""ways to write a key that are known at once"""
NONE: Final = -1


class KeyTable:
    """Nodes by their path of keys, and the ways in which each key has been written."""

    def __init__(self, columns: Mapping[KeyPath, int]) -> None:
        """`columns` = path of each wanted value → its column."""
        self._paths: list[KeyPath] = [()]
        self._node: dict[KeyPath, int] = {(): 0}
        self._column = [NONE]
        self._entries: dict[tuple[int, bytes], int] = {}
        self._opened = opened_paths(columns)
        for path, column in columns.items():
            self.add(path, column)
        self.arrays = self._arrays()

    def __len__(self) -> int:
        return len(self._entries)

    def path(self, parent: int, spelling: bytes) -> KeyPath | None:
        """Return the path that a spelling of a key means, inside the objects of a node; None where it means nothing."""
        try:
            key = msgspec.json.decode(b'"' + spelling + b'"', type=str)
            key.encode()
        except (msgspec.DecodeError, UnicodeError):
            return None
        return (*self._paths[parent], key)

    def knows(self, path: KeyPath) -> bool:
        """Tell whether a path has a node."""
        return path in self._node

    def spell(self, parent: int, spelling: bytes, path: KeyPath, column: int = NONE) -> None:
        """Add a way to write a key; a path that is new gets a column, or none."""
        if path not in self._node:
            self.add(path, column)
        self._entries[parent, spelling] = self._node[path]
        self.arrays = self._arrays()

    def add(self, path: KeyPath, column: int = NONE) -> int:
        """Add a path with its column; return its node."""
        if path in self._node:
            node = self._node[path]
            self._column[node] = column if column != NONE else self._column[node]
            return node
        parent = self.add(path[:-1])
        node = self._node[path] = len(self._paths)
        self._paths.append(path)
        self._column.append(column)
        # A key that must be written with escapes can be written in several ways: they are learnt where they come.
        self._entries[parent, path[-1].encode()] = node
        return node

    def _arrays(self) -> Keys:
        spellings = [spelling for _, spelling in self._entries]
        opened = [path in self._opened for path in self._paths]
        return Keys(
            texts=np.frombuffer(b"".join(spellings) or b"\0", dtype=np.uint8),
            ends=np.cumsum([len(s) for s in spellings]).astype(np.int32),
            parent=np.array([parent for parent, _ in self._entries], dtype=np.int32),
            node=np.array(list(self._entries.values()), dtype=np.int32),
            column=np.array(self._column, dtype=np.int32),
            opened=np.array(opened, dtype=np.uint8),
            seen=np.zeros(len(self._paths) + 1, dtype=np.int64),
            path=np.zeros(max(len(path) for path in self._paths) + 2, dtype=np.int32),
        )
