"""What a seeded fault is."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["Fault", "fault"]


class Fault(NamedTuple):
    """A wrong line."""

    name: str
    where: str
    """file or folder below src/querycloak"""
    right: str
    """text that is there exactly once"""
    wrong: str
    """what it becomes"""
    tests: tuple[str, ...]
    """what must fail: files or tests below tests/, few and quick"""


def fault(name: str, where: str, right: str, wrong: str, *tests: str) -> Fault:
    """Make a fault that these tests must notice."""
    return Fault(name, where, right, wrong, tests)
