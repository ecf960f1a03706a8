"""Names as people write them: `record-linkage`, "Record linkage", `record_linkage` are one name.

Methods, attacks, measures, tasks, papers, presets and formats are all looked up here.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["match_name", "plain_name"]


def plain_name(name: str) -> str:
    """Return a name in small letters, with hyphens.

    >>> plain_name("  Record Linkage "), plain_name("K_Anonymity"), plain_name("srp")
    ('record-linkage', 'k-anonymity', 'srp')
    """
    return re.sub(r"[\s_-]+", "-", name.casefold()).strip("-")


def match_name(name: str, known: Iterable[str]) -> str | None:
    """Return the known name that is meant; None where there is none. A name that is known as it is wins.

    >>> match_name("Milani Fard 2010", ["batet-2013", "milani-fard-2010"])
    'milani-fard-2010'
    >>> match_name("milani", ["batet-2013", "milani-fard-2010"]) is None
    True
    """
    names = list(known)
    if name in names:
        return name
    wanted = plain_name(name)
    return next((there for there in names if plain_name(there) == wanted), None) if wanted else None
