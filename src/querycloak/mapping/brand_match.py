"""Brands in the words of a query: the longest name that is meant."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from querycloak.knowledge.brands import Brand

__all__ = ["BrandNames"]


class BrandNames:
    """Finds names of brands, sites, products and famous people."""

    def __init__(self, brands: Mapping[str, Brand]) -> None:
        """Take brands by name in normal form."""
        self.brands = brands
        self._lengths: dict[str, tuple[int, ...]] = {}
        """first word → words of the names that begin with it, the longest first"""
        lengths: dict[str, set[int]] = {}
        for name in brands:
            first, _, _ = name.partition(" ")
            lengths.setdefault(first, set()).add(name.count(" ") + 1)
        self._lengths = {first: tuple(sorted(found, reverse=True)) for first, found in lengths.items()}

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
