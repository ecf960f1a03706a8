"""Words before a number that say what the number is, and so that it is no identifier of a person."""

from __future__ import annotations

from typing import Final

from querycloak.texts.identifiers._pattern import Pattern

__all__ = ["is_of_a_thing"]

_THING: Final = Pattern(
    r"\b(?:isbn(?:[- ]?1[03])?|issn|ean|upc|gtin|asin|sku|oclc|pmid|pmc|doi|lccn|part|item|model|serial|article|art|pn"
    r"|stock|catalog(?:ue)?|product|patent|order|invoice|case|bill|bug|kb|error|code|ticker|cusip|isin|tracking|ups|usps"
    r"|fedex|dhl|artikel|teile|ref|nsn|cas|ndc|lot)\.?(?: ?(?:number|numbers|num|no|nr|nummer|#|id))?\.?[:#]? ?$"
)


def is_of_a_thing(text: str, start: int) -> bool:
    """Tell whether the word before a number that begins at `start` says that it is of a thing, as "isbn" does.

    >>> is_of_a_thing("isbn 0306406152", 5), is_of_a_thing("call 0306406152", 5)
    (True, False)
    """
    return _THING.search(text, 0, start) is not None
