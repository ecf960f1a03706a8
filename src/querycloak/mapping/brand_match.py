"""Brands in the words of a query: the longest name that is meant."""

from __future__ import annotations

from typing import TYPE_CHECKING

from querycloak.mapping.embedded_brands import embedded_brands, lengths_of_names

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from querycloak.knowledge.brands import Brand

__all__ = ["BrandNames"]


class BrandNames:
    """Finds names of brands, sites, products and famous people."""

    def __init__(self, brands: Mapping[str, Brand]) -> None:
        """Take brands by name in normal form."""
        self.brands = brands
        made = embedded_brands()
        ours = made is not None and brands is made.brands
        self._lengths: Mapping[str, tuple[int, ...]] = made.lengths if made and ours else lengths_of_names(brands)

    def longest(self, words: Sequence[str], start: int, others: Sequence[str], near: int) -> tuple[int, Brand] | None:
        """Return how many words from `start` on name a brand that is meant, and the brand; None where none does.

        `others` are words of the other clauses; of this one, `near` words before and after the name are looked at.
        """
        for length in self._lengths.get(words[start], ()):
            end = start + length
            if end > len(words):
                continue
            brand = self.brands.get(" ".join(words[start:end]))
            if brand is None:
                continue
            if brand.meant_with([*words[max(0, start - near) : start], *words[end : end + near], *others]):
                return length, brand
        return None
