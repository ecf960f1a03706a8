"""URLs that identify somebody: with a mail address, a login, a phone number, a session id or another long token inside.

>>> import polars as pl
>>> urls = ["http://www.tea.example", "http://tea.example/?sid=77", "http://tea.example/u/ann%40mail.example"]
>>> urls_that_identify(pl.Series([*urls, "http://tea.example/x/9f86d081884c7d659a2f", "http://ann:pw@tea.example"])).tolist()
[False, True, True, True, True]
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final
from urllib.parse import unquote

import numpy as np

from querycloak.texts.identifiers import find_identifiers
from querycloak.texts.names import find_names

if TYPE_CHECKING:
    import numpy.typing as npt
    import polars as pl

__all__ = ["urls_that_identify", "urls_with_names"]

_SESSION: Final = (
    r"(?:^|[?&;/_.-])(?:j?sess(?:ion)?_?(?:id|key)?|phpsessid|aspsessionid\w*|cfid|cftoken|sid|uid|user_?(?:id|name)?|"
    r"login|auth|token|key|ticket|e?mail|account|customer|member)=[^&;#/]+"
)
"""Parameters that name a session or an account."""
_LOGIN: Final = r"//[^/@]*@"
_LONG: Final = r"[0-9a-f]{16,}|\d{9,}"
"""Hexadecimal digits as of a hash, and long numbers."""
_MIXED: Final = r"[a-z0-9_~+=-]{20,}"
"""A long run without a stop; only with several digits in it, since titles of pages are long, too."""
_BETWEEN: Final = r"[/?&=#;+_:]+"
"""What separates the parts of a URL."""
_DIGITS: Final = 4
"""Digits from which on a long run is taken for a token."""


def urls_that_identify(urls: pl.Series) -> npt.NDArray[np.bool_]:
    """Tell which URLs hold what may stand for one person: bool[urls]. Too many are found rather than too few."""
    import polars as pl

    plain = pl.Series([unquote(u) if "%" in u else u for u in urls.to_list()], dtype=pl.String).str.to_lowercase()
    found = plain.str.contains(f"{_SESSION}|{_LOGIN}|{_LONG}").to_numpy() | (find_identifiers(plain) != 0)
    found |= find_identifiers(plain.str.replace_all(_BETWEEN, " ")) != 0  # each part of a path by itself
    runs = plain.str.extract_all(_MIXED).list.eval(pl.element().str.count_matches(r"\d") >= _DIGITS)
    return np.asarray(found | runs.list.any().fill_null(value=False).to_numpy(), dtype=np.bool_)


def urls_with_names(urls: pl.Series) -> npt.NDArray[np.bool_]:
    """Tell which URLs hold, after their host, the name of a person who is not famous: bool[urls].

    How many people searched for a name says nothing here: a page can be known to five relatives.

    >>> import polars as pl
    >>> pages = ["http://a.example/karen.hartwell", "a.example/?n=Karen%20Hartwell", "http://a.example/green-tea"]
    >>> urls_with_names(pl.Series(pages)).tolist()
    [True, True, False]
    """
    import polars as pl

    from querycloak.knowledge.wordnet import load_wordnet

    paths = [unquote(u).partition("://")[2] or unquote(u) for u in urls.to_list()]
    words = pl.Series([path.partition("/")[2] for path in paths], dtype=pl.String).str.replace_all(r"[\W\d_]+", " ")
    return find_names(words, load_wordnet())
