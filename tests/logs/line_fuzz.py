"""Files with every kind of odd and broken line, and how batch and live read each of them."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from querycloak.errors import UserError
from querycloak.knowledge.wordnet import load_wordnet
from querycloak.live.reader import Reader
from querycloak.logs.decoding import Decoder, find_wrapping
from querycloak.logs.layout import find_layout
from querycloak.logs.read_options import ReadOptions
from querycloak.logs.source import read_log
from querycloak.mapping.category_tree import UNCLASSIFIED, CategoryTree, split_path
from querycloak.methods.stream.stream_statement import StreamSettings
from querycloak.randomness import Randomness

if TYPE_CHECKING:
    from pathlib import Path
    from random import Random

SECRET = "4417749"
"""In every user id and query of these files; no error may show it."""
FORMS = ("aol", "excite", "tsv", "csv", "semicolon", "jsonl", "json", "ubi")
CATEGORIES = ("Top/Arts/Film", "Top/Sports", "News", "", "Top//News", " ", "Top/Arts/")
USERS = ("", " ", "\u200b", "u ", "\uff17", "e\u0301", "\u00e9", '"', "a", "7", "007")
WORDS = ("tea", "caf\u00e9", 'a "quoted" word', "comma, here", "semi; colon", "\u4f60\u597d", "-", "back\\slash", "tab")
SNIPPETS = (
    b"\t",
    b",",
    b";",
    b'"',
    b'""',
    b"\0",
    b"\xff",
    b"\xc3",
    b"\r",
    b"\\",
    b"{",
    b"}",
    b"[",
    b"]",
    b":",
    b"\\ud800",
)


@dataclass(frozen=True)
class File:
    """One file and how it is to be read."""

    data: bytes
    options: ReadOptions
    lines: int


def make_file(random: Random, lines: int) -> File:
    """Make a file of a random form in which about one line of ten is odd or broken."""
    form = random.choice(FORMS)
    header, rows = _rows(random, form, lines)
    odd = random.choice((0.0, 0.1, 0.1, 0.5))
    rows = [_broken(random, row, header) if random.random() < odd else row for row in rows]
    if random.random() < 0.02:
        rows.insert(random.randrange(len(rows) + 1), rows[0][:4] + b"x" * ((1 << 20) + random.randrange(9)))
    end = random.choice((b"\n", b"\n", b"\r\n"))
    if form == "json":
        between = random.choice((b",", b",\n", b",\r\n  "))
        data = (
            random.choice((b"[", b"[\n", b" [ ")) + between.join(rows) + random.choice((b"]", b"\n]\n", b"] \n\n", b""))
        )
    else:
        data = end.join([header, *rows] if header else rows) + random.choice((b"", end))
    data, encoding = _encoded(random, data)
    name = {"semicolon": "csv"}.get(form, form)
    options = ReadOptions(
        format=name if random.random() < 0.8 or encoding == "latin-1" else None, encoding=encoding, assume_yes=True
    )
    return File(data, options, len(rows))


def disagreement(file: File, folder: Path, random: Random) -> str:
    """Read a file in both ways with both policies; return how they differ, '' = not at all."""
    path = folder / "log"
    path.write_bytes(file.data)
    for on_error in ("stop", "skip"):
        options = replace(file.options, on_error=on_error)
        batch, live = _batch(path, options), _live(path, file.data, options, random)
        if batch != live:
            return f"{options}: batch {_short(batch)}, live {_short(live)}"
        if isinstance(batch, str) and (SECRET in batch or "\n" in batch):
            return "an error quotes the file"
    return ""


def _batch(path: Path, options: ReadOptions):
    try:
        log = read_log(path, options)
    except UserError as error:
        return str(error)
    users = log.users.gather(log.user).to_list()
    paths = [None] * len(log)
    if log.categories is not None:
        levels = [*(split_path(text, "/") for text in log.categories.to_list()), UNCLASSIFIED]
        paths = [levels[code] for code in log.category.tolist()]
    queries = len(set(log.query.tolist()))
    assert queries == len(log.queries)
    problems = {kind: n for kind, n in log.problems.items() if "taken as missing" not in kind}
    return list(zip(users, paths, strict=True)), problems


def _live(path: Path, data: bytes, options: ReadOptions, random: Random):
    settings = StreamSettings(k=2, depth=9, as_in_paper=True)
    rows, at = [], 0
    piece = random.choice((1 << 22, 1 << 22, 5000, 300))
    try:
        if not data:
            return f"{path}: the file is empty."
        wrapping = find_wrapping(data, path, options.encoding, options.format)
        layout = find_layout(Decoder(wrapping).decode(data), path, options, wrapping)
        problems = layout.problems(path, stop=options.on_error == "stop")
        tree = CategoryTree(9)
        reader = Reader(layout, settings, tree, Randomness(1), problems, load_wordnet)
        while True:
            part = data[at : at + piece]
            batch = reader.read(part, final=not part)
            users = [reader.users.text(code).decode() for code in batch.user.tolist()]
            nodes = batch.node.tolist()
            rows += zip(users, nodes, strict=True)
            if batch.problem is not None:
                raise batch.problem
            if not part:
                break
            at += piece
    except UserError as error:
        return str(error)
    paths = tree.paths()
    found = [(user, paths[node] if layout.has_category else None) for user, node in rows]
    return found, {kind: n for kind, n in problems.counts.items() if n}


def _short(found) -> str:
    if isinstance(found, str):
        return found
    rows, problems = found
    return f"{len(rows)} rows, {Counter(r[0] for r in rows).most_common(3)}, {problems}"


def _rows(random: Random, form: str, lines: int) -> tuple[bytes, list[bytes]]:
    rows = []
    for _ in range(lines):
        user = f"{SECRET}{random.choice(USERS) if random.random() < 0.1 else random.randrange(50)}"
        user = random.choice(USERS) if random.random() < 0.05 else user
        query = " ".join(random.choice(WORDS) for _ in range(random.randrange(1, 4))) if random.random() > 0.05 else ""
        query = f"{query} {SECRET}" if query and random.random() < 0.5 else query
        time = f"2006-03-{random.randrange(1, 32):02d} 07:17:{random.randrange(60):02d}"
        category = random.choice(CATEGORIES[: 4 if random.random() < 0.97 else None])
        rows.append((user, query, time, category))
    if form == "aol":
        return b"AnonID\tQuery\tQueryTime", [f"{u}\t{q}\t{t}".encode() for u, q, t, _ in rows]
    if form == "excite":
        return b"", [f"{u}\t0603010717{i % 60:02d}\t{q}".encode() for i, (u, q, _, _) in enumerate(rows)]
    if form == "tsv":
        return b"user\tquery\ttime\tcategory", ["\t".join(row).encode() for row in rows]
    if form in {"csv", "semicolon"}:
        by = "," if form == "csv" else ";"
        return by.join(("user", "query", "time", "category")).encode(), [_csv(random, row, by) for row in rows]
    return b"", [_json(random, row, form) for row in rows]


def _csv(random: Random, row: tuple[str, ...], by: str) -> bytes:
    fields = []
    for field in row:
        quoted = any(c in field for c in (by, '"', "\n")) or random.random() < 0.2
        text = field.replace(" ", "\n", 1) if quoted and random.random() < 0.1 else field
        fields.append('"' + text.replace('"', '""') + '"' if quoted else text)
    return by.join(fields).encode()


def _json(random: Random, row: tuple[str, ...], form: str) -> bytes:
    user, query, time, category = row
    value = int(user) if user.isdigit() and user.isascii() and random.random() < 0.5 else user
    if form == "ubi":
        fields = {"query_id": "z", "client_id": value, "user_query": query, "timestamp": time, "category": category}
    else:
        fields = {"user": value, "query": query, "time": time, "category": category, "more": {"a": [1, {"b": "}"}]}}
    items = list(fields.items())
    if random.random() < 0.1:
        random.shuffle(items)
    if random.random() < 0.1:
        items.append(
            (random.choice(("user", "query", "client_id", "late", "time")), random.choice((None, 1, True, "x")))
        )
    if random.random() < 0.1:
        del items[random.randrange(len(items))]
    ascii_only, spaces = random.random() < 0.3, random.choice(((",", ":"), (", ", ": ")))
    body = spaces[0].join(json.dumps(k) + spaces[1] + json.dumps(v, ensure_ascii=ascii_only) for k, v in items)
    text = "{" + body + "}"
    if random.random() < 0.05:
        text = text.replace('"query"', '"qu\\u0065ry"')
    if form == "ubi" and random.random() < 0.02:
        text = '{"_source": ' + text + "}"
    return text.encode()


def _broken(random: Random, row: bytes, header: bytes) -> bytes:
    kind = random.randrange(9)
    at = random.randrange(len(row) + 1)
    if kind == 0:
        return b""
    if kind == 1:
        return header or b"  "
    if kind == 2:
        return row[:at]
    if kind == 3:
        return row[:at] + row[at + random.randrange(1, 4) :]
    if kind == 4:
        return row[:at] + bytes([random.randrange(256)]) + row[at + 1 :]
    if kind == 5:
        return row + random.choice(SNIPPETS) + row
    for _ in range(random.randrange(1, 3)):
        at = random.randrange(len(row) + 1)
        row = row[:at] + random.choice(SNIPPETS) + row[at:]
    return row


def _encoded(random: Random, data: bytes):
    kind = random.random()
    if kind < 0.06:
        wide = bytearray(data.decode(errors="replace").encode(random.choice(("utf-16", "utf-16-be"))))
        if not wide.startswith((b"\xff\xfe", b"\xfe\xff")):
            wide[:0] = b"\xfe\xff"
        if random.random() < 0.5:
            wide[random.randrange(2, len(wide))] = random.choice((0xD8, 0, 10))
        return bytes(wide[: len(wide) - random.randrange(2)]), "auto"
    if kind < 0.1:
        return data, "latin-1"
    if kind < 0.13 and b"\r" not in data:
        return data.replace(b"\n", b"\r"), "auto"
    return (b"\xef\xbb\xbf" if kind < 0.2 else b"") + data, random.choice(("auto", "utf-8"))
