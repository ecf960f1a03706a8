"""Finds identifiers of all kinds, in three steps that leave fewer texts each time.

1. Most queries hold neither a digit nor an at sign: one pattern over the whole column passes over them.
2. Each kind has a pattern for what it holds at least (`CANDIDATE`), tried on the column as well.
3. What is left is looked at one by one, by the function of the kind, which checks numbers and words.

The finders err on the side of finding too much: a query wrongly left out costs little. They find forms, not meaning; a
name has no form, see `texts/names.py`. How much is found and missed: docs/identifiers.md.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from querycloak.texts.identifiers import _addresses, _cards, _locations, _mail, _national, _phones, _plates
from querycloak.texts.plain import plain_text
from querycloak.texts.remembered import Remembered

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import polars as pl

    from querycloak.knowledge.taxonomy import Taxonomy

__all__ = ["KINDS", "find_identifiers", "find_spans", "names_of", "what_was_searched"]


class _Kind(NamedTuple):
    candidate: str
    """a pattern that every text with this kind matches; without look-around, since it is tried on a whole column"""
    spans: Callable[[str], Iterator[tuple[int, int]]]
    """finds where in a plain text the kind is"""


_KINDS: Final[dict[str, _Kind]] = {
    "mail": _Kind(_mail.CANDIDATE, _mail.mails),
    "phone": _Kind(_phones.CANDIDATE, _phones.phones),
    "card": _Kind(_cards.CARD_CANDIDATE, _cards.cards),
    "social security": _Kind(_national.CANDIDATE, _national.national_numbers),
    "address": _Kind(_addresses.CANDIDATE, _addresses.addresses),
    "iban": _Kind(_cards.IBAN_CANDIDATE, _cards.ibans),
    "ip": _Kind(_locations.IP_CANDIDATE, _locations.ip_addresses),
    "coordinates": _Kind(_locations.COORDINATES_CANDIDATE, _locations.coordinates),
    "plate": _Kind(_plates.CANDIDATE, _plates.plates),
}

KINDS: Final = tuple(_KINDS)
"""Kinds of identifiers; bit i of a mask stands for kind i."""

_POSSIBLE: Final = r"[0-9@]|(?i:[\x00-\x20\x7f]dot|\(dot|\[dot|\(at|\[at|[\[(][\x00-\x20\x7f]+at)|::|[^\x00-\x7f]"
"""What every identifier holds at least. Texts with other letters than those of ASCII are looked at after they became
plain: their digits may be full-width ones."""


def find_identifiers(queries: pl.Series) -> npt.NDArray[np.uint16]:
    """Find which kinds of identifiers each query holds: uint16[n], one bit per kind."""
    return _FOUND_BEFORE.of(queries)


def _search(queries: pl.Series) -> npt.NDArray[np.uint16]:
    """Find what `find_identifiers` promises, in texts that were not searched before."""
    import polars as pl

    mask = np.zeros(len(queries), dtype=np.uint16)
    possible = np.flatnonzero(queries.str.contains(_POSSIBLE).to_numpy())
    plain = pl.Series([plain_text(text).text for text in queries.gather(possible).to_list()], dtype=pl.String)
    for bit, kind in enumerate(_KINDS.values()):
        hits = np.flatnonzero(plain.str.contains(kind.candidate).to_numpy())
        found = [
            i for i, text in zip(hits.tolist(), plain.gather(hits).to_list(), strict=True) if any(kind.spans(text))
        ]
        mask[possible[found]] |= np.uint16(1 << bit)
    return mask


_FOUND_BEFORE: Final = Remembered(_search)


def find_spans(text: str, taxonomy: Taxonomy | None = None) -> list[tuple[str, int, int]]:
    """Find each identifier in a text: its kind, where it begins, and where it has ended, in the order of the text.

    With a taxonomy also names of persons, of kind "name", unless the taxonomy knows them (`texts/names.py`).

    >>> find_spans("Call 555-010-1234 or ann@example.com")
    [('phone', 5, 17), ('mail', 21, 36)]
    """
    plain = plain_text(text)
    found = [(name, *plain.typed(*span)) for name, kind in _KINDS.items() for span in kind.spans(plain.text)]
    if taxonomy is not None:
        from querycloak.texts.names import name_spans

        found += [("name", *span) for span in name_spans(text, taxonomy)]
    return sorted(set(found), key=lambda span: (span[1], span[2], span[0]))


def names_of(mask: int) -> list[str]:
    """Return the kinds that a mask stands for."""
    return [kind for bit, kind in enumerate(KINDS) if mask >> bit & 1]


def what_was_searched(*, identifiers: bool) -> str:
    """Say, for a statement, what the search for identifiers does not cover, or that there was none."""
    if not identifiers:
        return "queries were not searched for personal identifiers"
    return f"identifiers are found by pattern ({', '.join(KINDS)}), names by lists; what has no form is not found"
