"""Directories of two million lines, generated: lines read in a second, the first time and from the cache, and memory.

Two dumps of the Open Directory and a table of site and category; a file of one's own can be named: `odp.py FILE…`.
"""

from __future__ import annotations

import os
import random
import resource
import sys
import tempfile
import time
from pathlib import Path

from querycloak.knowledge.cache import VARIABLE
from querycloak.knowledge.table import read_directory, read_taxonomy
from querycloak.logs.compression import open_binary

LINES = 2_000_000
WORDS = ["animals", "arts", "music", "video", "games", "region", "school", "news", "home", "cars", "birds", "tools"]
HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n<RDF xmlns:r="http://www.w3.org/TR/RDF/">\n'


def topics(draw, count=25_000):
    out = ["Top"]
    while len(out) < count:
        above = draw.choice(out)
        if above.count("/") < 10:
            out.append(f"{above}/{draw.choice(WORDS).title()}_{len(out)}")
    return out


def structure(draw, paths):
    for number in range(LINES):
        path = f"{draw.choice(paths)}/Topic_{number}"
        links = [f'<narrow r:resource="{path}/{w}"></narrow>' for w in draw.sample(WORDS, draw.randrange(3))]
        links += [f'<symbolic r:resource="x:{path}/{w}"></symbolic>' for w in draw.sample(WORDS, draw.randrange(3))]
        description = " ".join(draw.choices(WORDS, k=20))
        yield [
            f'<Topic r:id="{path}">',
            f"<catid>{number}</catid>",
            f"<d:Title>Topic_{number}</d:Title>",
            f"<d:Description>{description}</d:Description>",
            "<lastUpdate>2004-01-01 00:00:00</lastUpdate>",
            *links,
            "</Topic>",
            "",
        ]


def content(draw, paths):
    for number in range(LINES):
        path = draw.choice(paths)
        urls = [
            f"http://www.{draw.choice(WORDS)}{number}-{i}.com/{draw.choice(WORDS)}/"
            for i in range(draw.randrange(1, 14))
        ]
        links = [f'<link r:resource="{url}"></link>' for url in urls]
        yield [f'<Topic r:id="{path}">', f"<catid>{number}</catid>", *links, "</Topic>", ""]
        for url in urls:
            title, description = draw.choice(WORDS), " ".join(draw.choices(WORDS, k=14))
            yield [
                f'<ExternalPage about="{url}">',
                f"<d:Title>{title} &amp; more</d:Title>",
                f"<d:Description>{description}</d:Description>",
                f"<topic>{path}</topic>",
                "</ExternalPage>",
                "",
            ]


def table(draw, paths):
    yield ["site\tcategory"]
    for number in range(LINES):
        yield [f"{draw.choice(WORDS)}{number}.com\t{draw.choice(paths)}"]


def write(path, blocks, head="", foot=""):
    lines = head.count("\n") + foot.count("\n")
    with path.open("w") as file:
        file.write(head)
        for block in blocks:
            file.write("\n".join(block) + "\n")
            lines += len(block)
            if lines >= LINES:
                break
        file.write(foot)


def measure(path, read):
    with open_binary(path) as file:
        lines = sum(block.count(b"\n") for block in iter(lambda: file.read(1 << 20), b""))
    for said in ("first time", "again"):
        wall, cpu = time.perf_counter(), time.process_time()
        result = read(path)
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000
        print(
            f"{path.name:<18} {said:<10} {lines:,} lines  {wall:.2f} s  {lines / wall:,.0f} lines/s "
            f"({lines / cpu:,.0f} per CPU second)  peak {peak:.0f} MB  {result}",
            flush=True,
        )


def main():
    draw = random.Random(1)
    with tempfile.TemporaryDirectory() as folder:
        os.environ[VARIABLE] = str(Path(folder) / "cache")
        for path in map(Path, sys.argv[1:]):
            measure(path, read_directory)
        if sys.argv[1:]:
            return
        paths = topics(draw)
        for make, read in ((structure, read_taxonomy), (content, read_directory), (table, read_directory)):
            path = Path(folder) / (f"{make.__name__}.tsv" if make is table else f"{make.__name__}.rdf.u8")
            write(path, make(draw, paths), *(("", "") if make is table else (HEAD, "</RDF>\n")))
            measure(path, read)


if __name__ == "__main__":
    main()
