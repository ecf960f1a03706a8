"""Records of a table or of JSON lines, and codes of texts, with the standard library."""

from __future__ import annotations

import csv
import io
import json


def table_values(data: bytes, separator: str, positions: list[int]) -> list[list[str]]:
    """The fields at the positions, of each line that is not blank."""
    text = data.decode()
    if separator in ",;":
        rows = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
    else:
        rows = (line.removesuffix("\r").split(separator) for line in text.split("\n"))
    return [[row[i] for i in positions] for row in rows if row and row != [""]]


def json_values(data: bytes, keys: list[str]) -> list[list[str | None]]:
    """The values of the keys, numbers as they are written, null and a missing key as ''."""
    out = []
    for line in data.decode().split("\n"):
        if line.strip():
            found = json.loads(line, parse_int=str, parse_float=str)
            out.append([found.get(key) or "" for key in keys])
    return out


def codes(texts: list[bytes]) -> list[int]:
    known: dict[bytes, int] = {}
    return [known.setdefault(t, len(known)) if t else -1 for t in texts]
