"""Print how well identifiers and names are found, per kind, on labelled texts; or how many a log holds.

    python tools/identifier_figures.py tests/texts/identifiers.tsv tests/texts/unseen_identifiers.tsv
    python tools/identifier_figures.py --log excite-small.log

A labelled file has lines of a kind, or "-", and a text, by a tab. `--misses` shows the labelled texts that are answered
wrongly. A log has lines of user, time and query; nothing printed shows a query of it.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import NamedTuple

import polars as pl

from querycloak.knowledge.wordnet import load_wordnet
from querycloak.texts.identifiers import KINDS, find_identifiers, names_of
from querycloak.texts.names import find_names

NOTHING = "-"


class Figures(NamedTuple):
    """How well one kind is found."""

    labelled: int
    """texts labelled with the kind"""
    recall: float
    """share of them in which it is found"""
    withheld: float
    """share of them in which any kind is found: what decides whether a text is published"""
    found: int
    """labelled texts, of any kind or none, in which the kind is found"""
    precision: float
    """share of those that hold an identifier of any kind"""
    right_kind: float
    """share of those that hold this kind"""


def read_labelled(path: Path) -> list[tuple[str, str]]:
    """Read lines of a kind and a text."""
    lines = path.read_text("utf-8").splitlines()
    return [(line.split("\t")[0], line.split("\t")[1]) for line in lines if line and not line.startswith("#")]


def kinds_found(texts: list[str]) -> list[set[str]]:
    """Return the kinds found in each text, "name" among them."""
    column = pl.Series(texts, dtype=pl.String)
    named = find_names(column, load_wordnet()).tolist()
    masks = find_identifiers(column).tolist()
    return [set(names_of(mask)) | ({"name"} if name else set()) for mask, name in zip(masks, named, strict=True)]


def figures(labelled: list[tuple[str, str]]) -> dict[str, Figures]:
    """Return the figures of each kind."""
    answers = list(zip([kind for kind, _ in labelled], kinds_found([text for _, text in labelled]), strict=True))
    return {kind: _of_kind(kind, answers) for kind in (*KINDS, "name")}


def _of_kind(kind: str, answers: list[tuple[str, set[str]]]) -> Figures:
    own = [found for label, found in answers if label == kind]
    hits = [label for label, found in answers if kind in found]
    return Figures(
        labelled=len(own),
        recall=_share(kind in found for found in own),
        withheld=_share(bool(found) for found in own),
        found=len(hits),
        precision=_share(label != NOTHING for label in hits),
        right_kind=_share(label == kind for label in hits),
    )


def _share(answers: object) -> float:
    values = list(answers)  # type: ignore[call-overload]
    return sum(values) / len(values) if values else 1.0


def table(labelled: list[tuple[str, str]]) -> str:
    """Return the figures as a table in Markdown."""
    lines = ["| kind | texts | found | withheld | hits | precision | of this kind |", "|---|---|---|---|---|---|---|"]
    for kind, f in figures(labelled).items():
        shares = [f"{share:.1%}" for share in (f.recall, f.withheld, f.precision, f.right_kind)]
        lines.append(f"| {kind} | {f.labelled} | {shares[0]} | {shares[1]} | {f.found} | {shares[2]} | {shares[3]} |")
    nothing = [text for kind, text in labelled if kind == NOTHING]
    clean = sum(not found for found in kinds_found(nothing))
    return "\n".join([*lines, "", f"Of {len(nothing):,} texts without any, {clean:,} are left alone."])


def misses(labelled: list[tuple[str, str]]) -> list[str]:
    """Return the labelled texts that are answered wrongly, with the label and what was found."""
    answers = zip(labelled, kinds_found([text for _, text in labelled]), strict=True)
    wrong = [(k, text, found) for (k, text), found in answers if (found if k == NOTHING else k not in found)]
    return [f"{kind}\t{text}\t{', '.join(sorted(found))}" for kind, text, found in wrong]


def counts(log: Path) -> str:
    """Count the distinct queries of a log that hold each kind."""
    queries = sorted({line.split("\t")[2] for line in log.read_text("utf-8", "replace").splitlines()})
    found = kinds_found(queries)
    lines = [f"{len(queries):,} distinct queries"]
    return "\n".join(lines + [f"{kind}: {sum(kind in kinds for kinds in found):,}" for kind in (*KINDS, "name")])


def main() -> None:
    """Print the figures of each file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("labelled", nargs="*", type=Path)
    parser.add_argument("--log", type=Path)
    parser.add_argument("--misses", action="store_true")
    arguments = parser.parse_args()
    for path in arguments.labelled:
        labelled = read_labelled(path)
        print(f"\n{path.name}\n\n{table(labelled)}")
        if arguments.misses:
            print("\n".join(misses(labelled)))
    if arguments.log:
        print(counts(arguments.log))


if __name__ == "__main__":
    main()
