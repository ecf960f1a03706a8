"""Shards: which part of a stream a process takes, and what its files are called.

A shard is an ordinary run that takes only the records of its own top-level categories. These are independent of each
other in every stream method (a set of waiting records never reaches over two of them), so what a shard publishes is
what one run over the records of its categories alone would publish.

Which shard a category belongs to depends on its label and on the number of shards, on nothing else: of all shards the
one with the largest BLAKE2b of its number and the label (rendezvous hashing). So whoever reads a record knows its
shard, and of N + 1 shards the new one takes about one category in N + 1 from each of the others; no category moves
between those.

>>> [Shard(0, 2).owner(label) for label in ("Arts", "Sports", "Science", UNCLASSIFIED_LABEL)]
[0, 0, 1, 1]
>>> str(Shard.parse("0/2")), Shard(0, 2).path(Path("out/release.tsv.gz")).name
('0/2', 'release.0-of-2.tsv.gz')
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from hashlib import blake2b
from pathlib import Path  # noqa: TC003 - for the example
from typing import TYPE_CHECKING, Final

from querycloak.errors import ParameterError
from querycloak.live.address import Address

if TYPE_CHECKING:
    from querycloak.live.address import Place

__all__ = ["MOST_SHARDS", "UNCLASSIFIED_LABEL", "Shard", "owner_of", "shard_directories"]

MOST_SHARDS: Final = 1024
UNCLASSIFIED_LABEL: Final = ""
"""Stands for what could not be classified; no label is empty."""
_SALT: Final = (501).to_bytes(2, "little")
"""Chosen so that the top-level categories of the Open Directory, and our topics, spread evenly over 2, 3 and 4."""
_NAME: Final = re.compile(r"(\d{1,4})-of-(\d{1,4})")


def owner_of(label: str, count: int) -> int:
    """Return which of so many shards takes a top-level category."""
    text = label.encode("utf-8", "surrogatepass")
    return max(range(count), key=lambda shard: _weight(shard, text))


def _weight(shard: int, label: bytes) -> bytes:
    given = shard.to_bytes(4, "little") + label
    return blake2b(given, digest_size=8, person=b"querycloak shard", salt=_SALT).digest()


@dataclass(frozen=True)
class Shard:
    """One of so many parts of a stream."""

    index: int
    count: int

    def __post_init__(self) -> None:
        if not 1 <= self.count <= MOST_SHARDS or not 0 <= self.index < self.count:
            raise ParameterError.of(
                "--shard", f"i/N with i from 0 to N - 1 and at most {MOST_SHARDS:,} shards", str(self)
            )

    @classmethod
    def parse(cls, text: str) -> Shard:
        """Return what `0/2` names."""
        found = re.fullmatch(r"(\d{1,4})/(\d{1,4})", text, re.ASCII)
        if found is None:
            raise ParameterError.of("--shard", "i/N, as 0/2 and 1/2 for two shards", text)
        return cls(int(found[1]), int(found[2]))

    def __str__(self) -> str:
        return f"{self.index}/{self.count}"

    @property
    def name(self) -> str:
        """How the shard is called in names of files."""
        return f"{self.index}-of-{self.count}"

    def owner(self, label: str) -> int:
        """Return the shard that takes a category, of as many as there are."""
        return owner_of(label, self.count)

    def path(self, path: Path) -> Path:
        """Return the file of this shard: release.tsv becomes release.0-of-2.tsv."""
        stem, dot, ending = path.name.partition(".") if path.name.strip(".") else (path.name, "", "")
        if not stem:  # a hidden file
            stem, dot, ending = path.name, "", ""
        return path.with_name(f"{stem}.{self.name}{dot}{ending}")

    def place(self, place: Place) -> Place:
        """Return where this shard's records go: a file, or a stream of a broker, of its own."""
        if isinstance(place, Address):
            return replace(place, name=f"{place.name}.{self.name}")
        return None if place is None else self.path(place)

    def directory(self, path: Path) -> Path:
        """Return the checkpoint of this shard, inside the one that all of them share."""
        return path / self.name


def shard_directories(path: Path) -> list[Path]:
    """Return the checkpoints of all shards inside a directory, in their order; none where there are no shards."""
    found = [(m, p) for p in sorted(path.iterdir()) if p.is_dir() and (m := _NAME.fullmatch(p.name))]
    return [p for _, p in sorted(found, key=lambda pair: (int(pair[0][2]), int(pair[0][1])))]
