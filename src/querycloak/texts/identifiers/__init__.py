"""Personal identifiers in the text of queries, by form, with checksums where there are any.

>>> import polars as pl
>>> found = find_identifiers(pl.Series(["call 555-010-1234", "green tea", "4111 1111 1111 1111"]))
>>> [names_of(mask) for mask in found.tolist()]
[['phone'], [], ['card']]
"""

from __future__ import annotations

from querycloak.texts.identifiers.find import KINDS, find_identifiers, find_spans, names_of, what_was_searched

__all__ = ["KINDS", "find_identifiers", "find_spans", "names_of", "what_was_searched"]
