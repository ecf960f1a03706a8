"""Build the embedded WordNet file from the official database files of WordNet 3.0.

Usage: python tools/build_wordnet.py [DIRECTORY] [-o FILE]

DIRECTORY holds data.noun, index.noun and noun.exc (default: where Debian's wordnet-base puts them). The formats are
those of Princeton's wndb(5WN) manual page. The result is a NumPy archive of the columns that
`querycloak.knowledge.wordnet` reads; the same input gives the same columns.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from querycloak.knowledge.taxonomy import Taxonomy

HERE = Path(__file__).resolve().parent
TARGET = HERE.parent / "src/querycloak/knowledge/wordnet-nouns.npz"
DEBIAN = Path("/usr/share/wordnet")

HYPERNYM = {"@", "@i"}  # of a class, of an instance


class Synset(NamedTuple):
    """One line of data.noun, without relations other than hypernyms and without the gloss."""

    offset: int
    labels: list[str]
    hypernyms: list[int]


def read_synsets(path: Path) -> list[Synset]:
    """Read data.noun in file order.

    A line: offset, file, type, number of words, {word, id}…, number of pointers, {symbol, offset, part, words}…, gloss.
    """
    synsets = []
    for line in path.read_text("ascii").splitlines():
        if line.startswith("  "):  # the licence
            continue
        fields = line.partition(" | ")[0].split(" ")
        words = int(fields[3], 16)
        labels = [word.replace("_", " ") for word in fields[4 : 4 + 2 * words : 2]]
        pointers = fields[5 + 2 * words :]
        hypernyms = [int(pointers[i + 1]) for i in range(0, len(pointers) - 3, 4) if pointers[i] in HYPERNYM]
        synsets.append(Synset(int(fields[0]), labels, hypernyms))
    return synsets


def read_senses(path: Path) -> dict[tuple[str, int], int]:
    """Read index.noun: (lower-case label, offset) → place of the synset in the label's sense order, from 0."""
    senses = {}
    for line in path.read_text("ascii").splitlines():
        if line.startswith("  "):
            continue
        fields = line.split()
        offsets = fields[len(fields) - int(fields[2]) :]
        senses.update({(fields[0].replace("_", " "), int(offset)): sense for sense, offset in enumerate(offsets)})
    return senses


def read_irregular(path: Path) -> list[tuple[str, str]]:
    """Read noun.exc: irregular plural → its first singular."""
    pairs = [line.split()[:2] for line in path.read_text("ascii").splitlines()]
    return [(plural.replace("_", " "), singular.replace("_", " ")) for plural, singular in pairs]


def columns(directory: Path) -> dict[str, npt.NDArray[Any]]:
    """Return the columns of the file, synsets in depth-first order of the tree of first hypernyms."""
    synsets = read_synsets(directory / "data.noun")
    senses = read_senses(directory / "index.noun")
    number = {synset.offset: i for i, synset in enumerate(synsets)}
    first = [number[s.hypernyms[0]] if s.hypernyms else -1 for s in synsets]
    tree, order = Taxonomy.from_parents_with_order(first, [s.labels for s in synsets], name="wordnet")
    new = np.empty(len(order), np.int64)
    new[order] = np.arange(len(order))
    ordered = [synsets[i] for i in order.tolist()]
    further = [(i, int(new[number[h]])) for i, s in enumerate(ordered) for h in s.hypernyms[1:]]
    flat = [(label, s.offset) for s in ordered for label in s.labels]
    return {
        "up": (np.arange(len(tree)) - tree.parent).astype("<i4"),  # distance to the parent: small numbers pack well
        "further": np.array(further, dtype="<i4").T,
        "label_count": np.array([len(s.labels) for s in ordered], dtype="u1"),
        "sense": np.array([senses[label.lower(), offset] for label, offset in flat], dtype="u1"),
        "labels": _text(label for label, _ in flat),
        "irregular": _text(f"{plural}\t{singular}" for plural, singular in read_irregular(directory / "noun.exc")),
    }


def _text(lines: Any) -> npt.NDArray[np.uint8]:
    return np.frombuffer("\n".join(lines).encode("ascii"), dtype=np.uint8)


def main() -> None:
    """Build the file."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("directory", nargs="?", type=Path, default=DEBIAN)
    parser.add_argument("-o", "--output", type=Path, default=TARGET)
    options = parser.parse_args()
    named: dict[str, Any] = columns(options.directory)
    np.savez_compressed(options.output, **named)
    print(f"{options.output}: {options.output.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
