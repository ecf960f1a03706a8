"""Logfmt: one record per line, as `user=17 query="green tea"`; values with spaces or quotes are quoted."""

from __future__ import annotations

import re
from typing import IO, TYPE_CHECKING

from querycloak import Column, InputError, LogForm, QueryLog, UnknownNameError

if TYPE_CHECKING:
    from pathlib import Path

    from querycloak import ReadOptions

__all__ = ["is_logfmt", "read_logfmt", "write_logfmt"]

_PAIR = re.compile(r'([A-Za-z_][\w.-]*)=("(?:[^"\\]|\\.)*"|[^\s"]*)(?:\s+|$)')
_ESCAPE = re.compile(r"\\(.)")
_PLAIN = re.compile(r'[^\s"\\=]+')


def is_logfmt(first_bytes: bytes, name: str) -> bool:
    """Recognise a file whose first line is nothing but pairs, a user and a query among them."""
    first = first_bytes.split(b"\n", 1)[0].decode("utf-8", "replace").strip()
    pairs = _pairs(first)
    return pairs is not None and (name.endswith(".logfmt") or {"user", "query"} <= set(pairs))


def read_logfmt(path: Path, options: ReadOptions) -> QueryLog:
    """Read user and query of each line; `options.columns` says which keys they are."""
    keys = {"user": "user", "query": "query"} | dict(options.columns)
    for role in keys:
        if role not in {"user", "query"}:
            raise UnknownNameError.of("role in logfmt", role, ["user", "query"])
    users, queries, problems = [], [], 0
    with path.open(encoding="utf-8", errors="replace", newline="\n") as lines:
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            pairs = _pairs(line.strip())
            if pairs is None or not all(pairs.get(key) for key in keys.values()):
                if options.on_error == "stop":
                    expected = f"expected key=value pairs with {keys['user']} and {keys['query']}"
                    raise InputError.at(path, expected, number)
                problems += 1
                continue
            users.append(pairs[keys["user"]])
            queries.append(pairs[keys["query"]])
    log = QueryLog.of(users, queries)
    columns = (Column(keys["user"], "user"), Column(keys["query"], "query"))
    counted = {"lines skipped": problems} if problems else {}
    return QueryLog(log.user, log.users, log.query, log.queries, form=LogForm("logfmt", columns), problems=counted)


def write_logfmt(log: QueryLog, file: IO[bytes], form: LogForm) -> None:
    """Write the user and the query of each row, in the order of the form."""
    words = {"user": log.users.to_list(), "query": log.queries.to_list()}
    columns = [(c.name, words[c.role], getattr(log, c.role)) for c in form.columns if c.role in words]
    for row in range(len(log)):
        file.write(" ".join(f"{key}={_quoted(texts[codes[row]])}" for key, texts, codes in columns).encode() + b"\n")


def _pairs(line: str) -> dict[str, str] | None:
    """Return the pairs of a line; None where it holds anything else."""
    found, end = {}, 0
    while end < len(line):
        pair = _PAIR.match(line, end)
        if pair is None:
            return None
        value = pair[2]
        found[pair[1]] = _ESCAPE.sub(_unescaped, value[1:-1]) if value.startswith('"') else value
        end = pair.end()
    return found or None


def _quoted(text: str) -> str:
    if _PLAIN.fullmatch(text):
        return text
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\r", "\\r")
    return f'"{escaped}"'


def _unescaped(escape: re.Match[str]) -> str:
    return {"n": "\n", "r": "\r"}.get(escape[1], escape[1])
