"""Open Directory dumps of two million lines, generated: lines read in a second, and memory."""

from __future__ import annotations

import random
import resource
import tempfile
import time
from pathlib import Path

from querycloak.knowledge.odp import read_content, read_structure

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


def write(path, blocks):
    lines = 2
    with path.open("w") as file:
        file.write(HEAD)
        for block in blocks:
            file.write("\n".join(block) + "\n")
            lines += len(block)
            if lines >= LINES:
                break
        file.write("</RDF>\n")
    return lines + 1


def main():
    draw = random.Random(1)
    paths = topics(draw)
    with tempfile.TemporaryDirectory() as folder:
        for make, read in ((structure, read_structure), (content, read_content)):
            path = Path(folder) / f"{make.__name__}.rdf.u8"
            lines = write(path, make(draw, paths))
            wall, cpu = time.perf_counter(), time.process_time()
            result = read(path)
            wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000
            print(
                f"{make.__name__:<10} {lines:,} lines  {wall:.2f} s  {lines / wall:,.0f} lines/s "
                f"({lines / cpu:,.0f} per CPU second)  peak {peak:.0f} MB  {result}"
            )


if __name__ == "__main__":
    main()
