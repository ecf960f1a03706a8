"""Phrases of one to three terms with function words, kept as one integer each until the text is needed.

A phrase is a 64-bit key: 10 bits of template, then three terms of 18 bits. Templates above those of phrases are for
an address that a user types, and for personal queries (`people.py`), with their own payload of 54 bits.

>>> template = next(i for i, t in enumerate(TEMPLATES) if t.between == " in ")
>>> render([key_of(template, 0, 1)], ["hotel", "rome"], []).to_list()
['hotel in rome']
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = [
    "FUNCTION_WORDS",
    "MOST_TERMS",
    "PERSONAL",
    "SITE",
    "TEMPLATES",
    "TEMPLATE_BOUNDS",
    "Template",
    "groups",
    "key_of",
    "render",
    "template_of",
    "terms_of",
]

Keys = npt.NDArray[np.uint64]

TERM_BITS: Final = 18
MOST_TERMS: Final = 1 << TERM_BITS
"""How many different terms a key can hold."""


class Template(NamedTuple):
    """Words around one to three terms, and how often the template is used among those of as many terms."""

    terms: int
    groups: int
    """word groups (noun phrases) of the phrase, those of the function words counted"""
    weight: float
    before: str = ""
    between: str = ""
    between2: str = ""
    after: str = ""


TEMPLATES: Final = (
    Template(1, 1, 60),
    Template(1, 1, 4, before="cheap "),
    Template(1, 1, 5, before="free "),
    Template(1, 1, 2, before="best "),
    Template(1, 1, 2, before="new "),
    Template(1, 1, 2, before="what is "),
    Template(1, 1, 2, before="how to find "),
    Template(1, 1, 1, before="where is "),
    Template(1, 1, 2, after=" online"),
    Template(1, 2, 6, before="pictures of "),
    Template(1, 2, 3, before="history of "),
    Template(1, 2, 3, before="list of "),
    Template(1, 2, 4, after=" for sale"),
    Template(1, 2, 3, before="information on "),
    Template(2, 2, 60, between=" "),
    Template(2, 2, 12, between=" in "),
    Template(2, 2, 10, between=" and "),
    Template(2, 2, 7, between=" for "),
    Template(2, 2, 4, between=" with "),
    Template(2, 2, 2, between=" near "),
    Template(2, 2, 2, between=" from "),
    Template(2, 2, 2, before="how to use ", between=" with "),
    Template(2, 2, 2, before="cheap ", between=" in "),
    Template(3, 3, 60, between=" ", between2=" "),
    Template(3, 3, 15, between=" ", between2=" in "),
    Template(3, 3, 10, between=" and ", between2=" in "),
    Template(3, 3, 8, between=" ", between2=" for "),
    Template(3, 3, 5, between=" with ", between2=" and "),
)

TEMPLATE_BOUNDS: Final = np.array(
    [0, *(sum(t.terms <= n for t in TEMPLATES) for n in (1, 2, 3))],
    dtype=np.int64,
)
"""int64[4]: templates of n terms are TEMPLATE_BOUNDS[n - 1] .. TEMPLATE_BOUNDS[n] - 1"""

SITE: Final = len(TEMPLATES)
"""Template of an address typed as 'www.name.com'; SITE + 1 leaves 'www.' out. The payload is the site."""

PERSONAL: Final = SITE + 2
"""First template of personal queries. The payload is the user times 4 plus the person (0 = the user)."""

FUNCTION_WORDS: Final = frozenset(
    word for t in TEMPLATES for part in (t.before, t.between, t.between2, t.after) for word in part.split()
)


def key_of(template: int, a: int = 0, b: int = 0, c: int = 0) -> int:
    """Pack a phrase into its key; terms that the template does not use are 0."""
    return template << 3 * TERM_BITS | a << 2 * TERM_BITS | b << TERM_BITS | c


def template_of(keys: Keys) -> npt.NDArray[np.int64]:
    """Return the template of each key: int64[n]."""
    return (keys >> np.uint64(3 * TERM_BITS)).astype(np.int64)


def payload_of(keys: Keys) -> npt.NDArray[np.int64]:
    """Return what follows the template: int64[n]."""
    return (keys & np.uint64((1 << 3 * TERM_BITS) - 1)).astype(np.int64)


def terms_of(keys: Keys) -> npt.NDArray[np.int64]:
    """Return the terms of each key: int64[n, 3], -1 where the phrase has fewer or is not made of terms."""
    mask = np.uint64(MOST_TERMS - 1)
    shifts = (2 * TERM_BITS, TERM_BITS, 0)
    out = np.stack([(keys >> np.uint64(shift) & mask).astype(np.int64) for shift in shifts], axis=1)
    counts = np.array([t.terms for t in TEMPLATES], dtype=np.int64)
    template = template_of(keys)
    count = np.where(template < SITE, counts[np.minimum(template, SITE - 1)], 0)
    out[np.arange(3) >= count[:, None]] = -1
    return out


def groups(keys: Keys) -> npt.NDArray[np.int64]:
    """Return the number of word groups of each phrase: int64[n]; an address or a personal query counts as one."""
    counts = np.array([t.groups for t in TEMPLATES] + [1], dtype=np.int64)
    return counts[np.minimum(template_of(keys), SITE)]


def render(keys: Keys | Sequence[int], texts: Sequence[str] | pl.Series, hosts: Sequence[str] | pl.Series) -> pl.Series:
    """Write the keys out: terms by `texts`, typed addresses by `hosts`; personal queries become null."""
    given = np.asarray(keys, dtype=np.uint64)
    out = pl.Series("query", [None], dtype=pl.String).new_from_index(0, len(given))
    template, terms = template_of(given), terms_of(given)
    phrase = np.flatnonzero(template < SITE)
    if phrase.size:
        out = out.scatter(phrase, _phrases(template[phrase], terms[phrase], pl.Series(texts, dtype=pl.String)))
    for form, before in ((SITE, "www."), (SITE + 1, "")):
        typed = np.flatnonzero(template == form)
        if typed.size:
            names = pl.Series(hosts, dtype=pl.String).gather(payload_of(given[typed]))
            out = out.scatter(typed, before + names)
    return out


def _phrases(template: npt.NDArray[np.int64], terms: npt.NDArray[np.int64], texts: pl.Series) -> pl.Series:
    """Join function words and terms: String[n]."""
    around = pl.DataFrame({name: [getattr(t, name) for t in TEMPLATES] for name in _AROUND})[template]
    blank = pl.concat([texts, pl.Series([""], dtype=pl.String)])
    words = [pl.Series(f"term{i}", blank.gather(np.where(terms[:, i] < 0, len(texts), terms[:, i]))) for i in range(3)]
    joined = around.with_columns(words).select(
        pl.concat_str("before", "term0", "between", "term1", "between2", "term2", "after")
    )
    return joined.to_series()


_AROUND: Final = ("before", "between", "between2", "after")
