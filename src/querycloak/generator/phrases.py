"""Phrases of one to three terms with function words, kept as one integer each until the text is needed.

A phrase is a 64-bit key: 10 bits of template, then three terms of 18 bits. Templates above those of phrases are for
an address that a user types, and for personal queries (`people.py`), with their own payload of 54 bits.

>>> template = next(i for i, t in enumerate(TEMPLATES) if t.between == " in ")
>>> render([key_of(template, 0, 1)], ["hotel", "rome"], []).to_list()
['hotel in rome']
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt
import polars as pl

from querycloak.generator.brands import FORMS
from querycloak.generator.misspellings import misspell
from querycloak.generator.templates import TEMPLATES

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = [
    "BRAND",
    "FUNCTION_WORDS",
    "MOST_TERMS",
    "PERSONAL",
    "SITE",
    "TEMPLATE_BOUNDS",
    "groups",
    "key_of",
    "misspelling_of",
    "render",
    "template_of",
    "terms_of",
]

Keys = npt.NDArray[np.uint64]

TERM_BITS: Final = 18
MOST_TERMS: Final = 1 << TERM_BITS
"""How many different terms a key can hold."""


TEMPLATE_BOUNDS: Final = np.array(
    [0, *(sum(t.terms <= n for t in TEMPLATES) for n in (1, 2, 3))],
    dtype=np.int64,
)
"""int64[4]: templates of n terms are TEMPLATE_BOUNDS[n - 1] .. TEMPLATE_BOUNDS[n] - 1"""

SITE: Final = len(TEMPLATES)
"""Template of an address typed as 'www.name.com'; SITE + 1 leaves 'www.' out. The payload is the site."""

BRAND: Final = SITE + 2
"""First template of the forms in which people type a well-known site (`brands.py`). The payload is the brand."""

PERSONAL: Final = BRAND + len(FORMS)
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


def misspelling_of(keys: Keys) -> npt.NDArray[np.int64]:
    """Return which misspelling of one of its terms each phrase has: int64[n], 0 = none.

    It is kept in the third term, so that phrases of three terms have none.
    """
    counts = np.array([t.terms for t in TEMPLATES] + [3], dtype=np.int64)
    short = counts[np.minimum(template_of(keys), SITE)] < 3
    return np.where(short, (keys & np.uint64(MOST_TERMS - 1)).astype(np.int64), 0)


def groups(keys: Keys) -> npt.NDArray[np.int64]:
    """Return the number of word groups of each phrase: int64[n]; an address or a personal query counts as one."""
    counts = np.array([t.groups for t in TEMPLATES] + [1], dtype=np.int64)
    return counts[np.minimum(template_of(keys), SITE)]


def render(
    keys: Keys | Sequence[int],
    texts: Sequence[str] | pl.Series,
    hosts: Sequence[str] | pl.Series,
    brands: Sequence[str] | pl.Series = (),
) -> pl.Series:
    """Write the keys out: terms by `texts`, typed addresses by `hosts` and `brands`; personal queries become null."""
    given = np.asarray(keys, dtype=np.uint64)
    out = pl.Series("query", [None], dtype=pl.String).new_from_index(0, len(given))
    template = template_of(given)
    phrase = np.flatnonzero(template < SITE)
    if phrase.size:
        out = out.scatter(phrase, _phrases(given[phrase], pl.Series(texts, dtype=pl.String)))
    typed = [(SITE, hosts, "www.", ""), (SITE + 1, hosts, "", "")]
    typed += [(BRAND + i, brands, form.before, form.after) for i, form in enumerate(FORMS)]
    for number, names, before, after in typed:
        found = np.flatnonzero(template == number)
        if found.size:
            text = pl.Series(names, dtype=pl.String).gather(payload_of(given[found]))
            out = out.scatter(found, before + text + after)
    return out


def _phrases(keys: Keys, texts: pl.Series) -> pl.Series:
    """Join function words and terms, misspelt where the key says so: String[n]."""
    template, terms = template_of(keys), terms_of(keys)
    around = pl.DataFrame({name: [getattr(t, name) for t in TEMPLATES] for name in _AROUND})[template]
    blank = pl.concat([texts, pl.Series([""], dtype=pl.String)])
    words = [pl.Series(f"term{i}", blank.gather(np.where(terms[:, i] < 0, len(texts), terms[:, i]))) for i in range(3)]
    misspelling = misspelling_of(keys)
    chosen = np.where(terms[:, 1] < 0, 0, misspelling % 2)  # an odd number misspells the second term of two
    for i in (0, 1):
        wrong = np.flatnonzero((misspelling > 0) & (chosen == i))
        right = words[i].gather(wrong).to_list()
        slips = [misspell(word, number) for word, number in zip(right, misspelling[wrong].tolist(), strict=True)]
        words[i] = words[i].scatter(wrong, slips)
    joined = around.with_columns(words).select(
        pl.concat_str("before", "term0", "between", "term1", "between2", "term2", "after")
    )
    return joined.to_series()


_AROUND: Final = ("before", "between", "between2", "after")
