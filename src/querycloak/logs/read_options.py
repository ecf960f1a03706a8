"""How a log is to be read: the one set of options that every command and every way of reading shares."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["ReadOptions"]


@dataclass(frozen=True)
class ReadOptions:
    """What the user says about a log, and what to do where it is not as it should be."""

    columns: Mapping[str, str] = field(default_factory=dict)
    """role → column, by name or by position from 1; empty = by the names that logs commonly use"""
    format: str | None = None
    """aol, excite, tsv, csv, jsonl, json, ubi, parquet; None = by content"""
    header: bool | None = None
    """whether the first line names the columns; None = by content, where that is certain"""
    encoding: Literal["auto", "utf-8", "utf-16", "latin-1"] = "auto"
    """auto = UTF-8, or UTF-16 where a byte order mark says so"""
    on_error: Literal["stop", "skip"] = "stop"
    """a bad line ends the reading, or is left out and counted"""
    max_memory: int | None = None
    """bytes that the log may take in memory; None = what the machine has"""
    category_separator: str = "/"
    """what separates the levels of a category path"""
    assume_yes: bool = False
    """go on where the columns look wrong"""
