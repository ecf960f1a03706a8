"""How much of a log has a concept, how much nonsense has one, and random rows to read by eye."""

from __future__ import annotations

import random
import string
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from querycloak.knowledge.topic_tree import load_topic_tree
from querycloak.knowledge.vectors import load_vectors
from querycloak.knowledge.wordnet import load_wordnet
from querycloak.mapping import Mapper
from querycloak.mapping.words import clauses

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from querycloak.logs.query_log import QueryLog
    from querycloak.mapping.modes import Unit
    from querycloak.mapping.trace import ClauseTrace

MAPPINGS = ("phrases", "segments", "certain", "layers")
TAXONOMIES = ("wordnet", "topics")
INVENTED = 10_000
SHORTEST, LONGEST = 5, 12
"""Letters of an invented word."""
SHORT = 4
"""Letters up to which a word of random letters is often a real one."""


def coverage(log: QueryLog) -> str:
    """Return the table of how many rows that are not empty have a concept, also apart by whether they have a click."""
    texts = log.queries.to_list()
    empty = np.array([not text.strip() for text in texts], np.bool_)[log.query]
    kinds = {"rows": ~empty}
    if log.url is not None:
        kinds |= {"with a click": ~empty & (log.url >= 0), "without": ~empty & (log.url < 0)}
    distinct = np.unique(log.query[~empty])
    lines = [
        f"{int((~empty).sum()):,} rows that are not empty, {len(distinct):,} distinct queries; the file also has",
        "; ".join(f"{count:,} {what}" for what, count in log.problems.items()) or "nothing",
        "| taxonomy | mapping | " + " | ".join(kinds) + " | distinct queries | concepts per mapped row |",
        "|---" * (4 + len(kinds)) + "|",
    ]
    for taxonomy in TAXONOMIES:
        for mapping in MAPPINGS:
            found = [sum(c >= 0 for c in _mapper(taxonomy, mapping).concepts(text)) for text in texts]
            count = np.array(found)[log.query]
            shares = [*((count[rows] > 0).mean() for rows in kinds.values()), (np.array(found)[distinct] > 0).mean()]
            shown = " | ".join(f"{share:.1%}" for share in shares)
            lines.append(f"| {taxonomy} | {mapping} | {shown} | {count[count > 0].mean():.2f} |")
    return "\n".join(lines) + "\n"


def nonsense(log: QueryLog, seed: int) -> str:
    """Return the table of how many queries of random letters have a concept."""
    drawn = random.Random(seed)
    texts = [text for text in log.queries.to_list() if text.strip()]
    lengths = [[len(word) for words in clauses(text) for word in words] for text in texts]
    lengths = [found for found in lengths if found]
    words = [_letters(drawn, drawn.randint(SHORTEST, LONGEST)) for _ in range(INVENTED)]
    alike = [" ".join(_letters(drawn, n) for n in drawn.choice(lengths)) for _ in range(INVENTED)]
    strange = [text for text in alike if not any(map(_is_word, text.split()))]
    real, short = INVENTED - len(strange), sum(map(_has_short, alike))
    head = f"a word of {SHORTEST} to {LONGEST} letters | words as long as the log's | of them without a real word"
    lines = [
        f"{INVENTED:,} random words; {INVENTED:,} queries of random words as long as the log's",
        f"{real:,} of these hold a real word by chance, {short:,} one of {SHORT} letters or fewer",
        f"| taxonomy | mapping | {head} |",
        "|---|---|---|---|---|",
    ]
    for taxonomy in TAXONOMIES:
        for mapping in MAPPINGS:
            mapper = _mapper(taxonomy, mapping)
            shown = " | ".join(f"{_mapped(mapper, queries):.2%}" for queries in (words, alike, strange))
            lines.append(f"| {taxonomy} | {mapping} | {shown} |")
    return "\n".join(lines) + "\n"


def examples(log: QueryLog, count: int, seed: int) -> str:
    """Return random rows that are not empty, with their concepts of WordNet and the layer that found each."""
    texts = log.queries.to_list()
    rows: npt.NDArray[np.int64] = np.flatnonzero([bool(texts[query].strip()) for query in log.query])
    mapper = _mapper("wordnet", "layers")
    lines = []
    for number, row in enumerate(random.Random(seed).sample(rows.tolist(), count), 1):
        text = texts[log.query[row]]
        units = [_shown(mapper, clause, u) for clause in mapper.map_query(text).clauses for u in clause.units]
        lines.append(f"{number}\t{text}\t{'; '.join(units)}")
    return "\n".join(lines)


@cache
def _mapper(taxonomy: str, mapping: str) -> Mapper:
    return Mapper(load_wordnet() if taxonomy == "wordnet" else load_topic_tree().taxonomy, mapping)


def _mapped(mapper: Mapper, queries: Sequence[str]) -> float:
    return sum(max(mapper.concepts(query)) >= 0 for query in queries) / max(len(queries), 1)


def _letters(drawn: random.Random, n: int) -> str:
    return "".join(drawn.choices(string.ascii_lowercase, k=n))


def _is_word(word: str) -> bool:
    return word in load_vectors().words or bool(load_wordnet().find(word))


def _has_short(text: str) -> bool:
    return any(len(word) <= SHORT and _is_word(word) for word in text.split())


def _shown(mapper: Mapper, clause: ClauseTrace, unit: Unit) -> str:
    text = clause.text(unit.start, unit.end)
    if unit.concept < 0:
        return f"{text} → none"
    tree = mapper.taxonomy
    above = tree.label(max(int(tree.parent[unit.concept]), 0))
    return f"{text} → {tree.label(unit.concept)} < {above} ({unit.layer})"
