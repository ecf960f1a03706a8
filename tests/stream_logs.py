"""Streams made up for the tests."""

from __future__ import annotations

import csv
import io
import json
from random import Random

from jit import JIT

CATEGORIES = ["Top/Sports/Rowing", "Top/Sports/Tennis", "Top/Arts/Music/Jazz", "Top/Arts/Film", "Top/News", ""]


def rows(n: int = 3000 if JIT else 600, users: int = 60, seed: int = 1):
    """(user, query, time, category, shop) with every query once."""
    random = Random(seed)
    return [
        (
            str(1000 + int(random.random() ** 2 * users)),
            f'query, number "{i}" ü',
            f"2006-03-01 00:{i // 60 % 60:02d}:{i % 60:02d}",
            random.choice(CATEGORIES),
            f"shop {i % 7}",
        )
        for i in range(n)
    ]


NAMES = ("AnonID", "Query", "QueryTime", "Category", "Shop")


def as_tsv(table, end="\n"):
    return "".join("\t".join(row) + end for row in [NAMES, *table]).encode()


def as_csv(table):
    file = io.StringIO(newline="")
    csv.writer(file, lineterminator="\r\n").writerows([NAMES, *table])
    return file.getvalue().encode()


def as_jsonl(table):
    keys = ("user", "query", "time", "category", "shop")
    values = [{**dict(zip(keys, row, strict=True)), "user": int(row[0])} for row in table]
    return "".join(json.dumps(v, ensure_ascii=False) + "\n" for v in values).encode()


def read_back(data: bytes, kind: str):
    """The rows of a stream, by the standard library."""
    if kind == "jsonl":
        return [tuple(str(v) for v in json.loads(line).values()) for line in data.decode().splitlines()]
    if kind == "csv":
        return [tuple(row) for row in csv.reader(io.StringIO(data.decode(), newline=""))][1:]
    return [tuple(line.rstrip("\r").split("\t")) for line in data.decode().split("\n")[1:-1]]


MAKERS = {"tsv": as_tsv, "csv": as_csv, "jsonl": as_jsonl}
