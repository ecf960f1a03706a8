"""The mapping of queries as section 4.1 of Batet et al. 2013 reads, one plain step after the other.

It tags with TextBlob (`textblob.en.tag`), looks through all labels for every span, and remembers nothing.
"""

from __future__ import annotations

import re
import unicodedata
import warnings
from typing import TYPE_CHECKING

import pytest
import Stemmer

from querycloak.knowledge.wordnet import irregular_nouns
from querycloak.mapping.stopwords import DETERMINERS, SHORT_WORDS, STOP_WORDS
from querycloak.mapping.words import address_words

if TYPE_CHECKING:
    from querycloak.knowledge.taxonomy import Taxonomy

textblob = pytest.importorskip("textblob.en")  # what uses this module is skipped where TextBlob is missing
textblob_lexicon, textblob_tag = textblob.lexicon, textblob.tag
with warnings.catch_warnings():
    warnings.simplefilter("ignore", ResourceWarning)  # TextBlob leaves the file of its lexicon open
    textblob_lexicon.load()

STEMMER = Stemmer.Stemmer("english")
NOUNS = {"NN", "NNS", "NNP", "NNPS"}


class NaiveMapper:
    """Maps one query at a time."""

    def __init__(self, taxonomy: Taxonomy, mode: str) -> None:
        self.mode = mode
        self.whole: dict[tuple[str, ...], int] = {}  # words of a label → concept
        self.less: dict[tuple[str, ...], int] = {}  # without stop words
        self.parts: dict[tuple[str, ...], int] = {}  # halves of "swimming and diving"
        for label, concept in sorted(_labels(taxonomy), key=lambda entry: entry[1][0]):
            words = tuple(w for clause in tokens(label.replace("_", " "), label=True) for w in clause)
            if not words:
                continue
            self.whole.setdefault(words, concept[1])
            less = tuple(w for w in words if w not in STOP_WORDS)
            removed = {w for w in words if w in STOP_WORDS}
            if removed and (len(less) > 1 or (less and removed <= {"a", "an", "the"})):
                self.less.setdefault(less, concept[1])
            if taxonomy.sense is None and words.count("and") == 1 and 0 < words.index("and") < len(words) - 1:
                at = words.index("and")
                for part in (words[:at], words[at + 1 :]):
                    if any(w not in STOP_WORDS for w in part):
                        self.parts.setdefault(part, concept[1])
        self.by_stems = [_by_stems(d) for d in self._unlike()]
        self.last_words = {words[-1] for words in self.whole}

    def _unlike(self) -> list[dict[tuple[str, ...], int]]:
        """Each kind of label without what an earlier kind has."""
        less = {words: c for words, c in self.less.items() if words not in self.whole}
        parts = {words: c for words, c in self.parts.items() if words not in self.whole and words not in less}
        return [self.whole, less, parts]

    def exact(self, words: tuple[str, ...]) -> int:
        for labels in (self.whole, self.less, self.parts):
            if words in labels:
                return labels[words]
        return -1

    def find(self, words: tuple[str, ...]) -> int:
        """The concept of a label: as written, then its last word in the singular, then by stems."""
        if len(words) == 1 and not may_stand_alone(words[0]):
            return -1
        found = self.exact(words)
        if found >= 0:
            return found
        for singular in singulars(words[-1]):
            if singular in self.last_words and stem(singular) == stem(words[-1]):
                found = self.exact((*words[:-1], singular))
                if found >= 0:
                    return found
        for labels in self.by_stems:
            key = tuple(map(stem, words))
            if key in labels:
                return labels[key]
        return -1

    def concepts(self, text: str) -> tuple[int, ...]:
        clauses = [(words, context([word_class(w) for w in words])) for words in tokens(text)]
        if not any(noun_phrases(classes) for _, classes in clauses):
            for words, classes in reversed(clauses):
                good = [i for i, c in enumerate(classes) if not is_stop(words[i]) and c != "number"]
                if good:
                    classes[good[-1]] = "noun"
                    only = good[-1]
                    return tuple(
                        c for w, k in clauses for c in self.units(w, k, [(only, only + 1)] if k is classes else [])
                    )
        units = [c for words, classes in clauses for c in self.units(words, classes, noun_phrases(classes))]
        return tuple(units) or (-1,)

    def units(self, words: list[str], classes: list[str], phrases: list[tuple[int, int]]) -> list[int]:
        if self.mode == "phrases":
            return [self.phrase([w for w in words[start:end] if not is_stop(w)]) for start, end in phrases]
        return self.segments(words, classes, phrases)

    def phrase(self, words: list[str]) -> int:
        """Drop words from the left until a label matches."""
        while words:
            found = self.find(tuple(words))
            if found >= 0:
                return found
            words = words[1:]
        return -1

    def segments(self, words: list[str], classes: list[str], phrases: list[tuple[int, int]]) -> list[int]:
        """Cover the words by the longest labels from the left."""
        found: list[tuple[int, int, int]] = []
        at = 0
        while at < len(words):
            step = 1
            for end in range(len(words), at, -1):
                if is_stop(words[at]):
                    continue
                if end - at == 1 and classes[at] not in {"noun", "ing"}:
                    continue
                concept = self.find(tuple(words[at:end]))
                if concept >= 0:
                    found.append((at, end, concept))
                    step = end - at
                    break
            at += step
        for start, end in phrases:
            if not any(s < end and start < e for s, e, _ in found):
                found.append((start, end, -1))
        return [concept for _, _, concept in sorted(found)]


def _labels(taxonomy: Taxonomy) -> list[tuple[str, tuple[tuple[float, ...], int]]]:
    """Every label with the order in which concepts that share it are preferred."""
    out = []
    for concept, labels in enumerate(taxonomy.labels):
        for label in labels:
            if taxonomy.sense is None:
                order = (float(taxonomy.depth[concept]), -float(taxonomy.size[concept]), float(concept))
            else:
                order = (float(taxonomy.sense[len(out)]), float(len(out)))
            out.append((label, (order, concept)))
    return out


def _by_stems(labels: dict[tuple[str, ...], int]) -> dict[tuple[str, ...], int]:
    out: dict[tuple[str, ...], int] = {}
    for words in sorted(labels, key=lambda words: len(" ".join(words))):
        out.setdefault(tuple(map(stem, words)), labels[words])
    return out


def fold(text: str) -> str:
    text = unicodedata.normalize("NFKD", text.lower())
    text = "".join(c for c in text if not 0x300 <= ord(c) <= 0x36F)
    return unicodedata.normalize("NFC", text).replace("\u2019", "'").replace("\u2018", "'").lower()


def tokens(text: str, *, label: bool = False) -> list[list[str]]:
    """The words of each clause."""
    text = fold(text)
    out: list[list[str]] = [[]]
    for piece in text.split():
        if not label and piece.startswith("-") and len(piece) > 1 and is_word_character(piece[1]):
            continue
        address = address_words(piece) if "." in piece and not label else None
        if address is not None:
            out += [address, []]
            continue
        _split_piece(piece, out)
    return [clause for clause in out if clause]


def _split_piece(piece: str, out: list[list[str]]) -> None:
    """Take one piece without blanks apart."""
    while piece:
        dotted = re.match(r"(?:[^\W\d_]\.){2,}[^\W\d_]?", piece)
        number = re.match(r"\d+(?:[.,]\d+)+", piece)
        word = re.match(r"[^\W_]+(?:'[^\W_]+)*", piece)
        if match := dotted or number or word:
            text = match.group()
            out[-1].append(text[:-2] if text.endswith("'s") and len(text) > 2 else text.rstrip("."))
            piece = piece[match.end() :]
            if piece == "." and re.search(r"\w\w\w\w$", text):
                out.append([])
            continue
        if piece[0] == "&":
            out[-1].append("and")
        if piece[0] in ',;:!?()[]{}"|“”«»…':
            out.append([])
        piece = piece[1:]


def is_word_character(character: str) -> bool:
    return re.fullmatch(r"[^\W_]", character) is not None


def tag_of(word: str) -> tuple[str, bool]:
    if len(word) > 64:
        return "NN", False
    if textblob_lexicon.get(word) is None and textblob_lexicon.get(word.capitalize()) is not None:
        return "NNP", True
    return textblob_tag(word, tokenize=False)[0][1], textblob_lexicon.get(word) is not None


def word_class(word: str) -> str:
    tag, known = tag_of(word)
    if word in DETERMINERS or tag in {"DT", "PDT", "PRP$"}:
        return "determiner"
    closed = {"IN", "CC", "TO", "PRP", "WP", "WP$", "WDT", "WRB", "EX", "MD", "RP", "POS"}
    if word in STOP_WORDS or (known and tag in closed and not word.isdigit()):
        return "closed"
    if len(word) == 1 or (set(word) <= set("ivx")) or not any(c.isalpha() for c in word):
        return "number"
    if tag in {"NN", "VBG"} and word.endswith("ing") and len(word) >= 5:
        return "ing"
    if tag in {"JJ", "JJR", "JJS", "VBN"} or (tag == "VBD" and word.endswith("ed")):
        return "adjective"
    if known and tag in {"VB", "VBP", "VBD"}:
        return "verb"
    if known and tag in {"RB", "RBR", "RBS"}:
        return "adverb"
    return "noun"


def context(classes: list[str]) -> list[str]:
    out = list(classes)
    for i in range(len(out) - 1):
        if classes[i] == "ing" and classes[i + 1] == "determiner":
            out[i] = "verb"
    if len(out) > 1 and out[-1] == "verb" and out[-2] in {"determiner", "adjective", "ing", "noun"}:
        out[-1] = "noun"
    return out


def noun_phrases(classes: list[str]) -> list[tuple[int, int]]:
    """Determiners, then modifiers and nouns, up to the last noun."""
    found = []
    at = 0
    while at < len(classes):
        body = at
        while body < len(classes) and classes[body] == "determiner":
            body += 1
        end = body
        while end < len(classes) and classes[end] in {"adverb", "adjective", "number", "ing", "noun"}:
            end += 1
        last = end
        while last > body and classes[last - 1] not in {"ing", "noun"}:
            last -= 1
        if last > body:
            found.append((at, last))
        at = max(end, at + 1)
    return found


def is_stop(word: str) -> bool:
    return word in STOP_WORDS or word_class(word) in {"determiner", "closed"}


def may_stand_alone(word: str) -> bool:
    if is_stop(word) or word_class(word) == "number" or len(word) > 64:
        return False
    return len(word) > 2 or word in SHORT_WORDS


def stem(word: str) -> str:
    return word if len(word) > 64 else STEMMER.stemWord(irregular_nouns().get(word, word))


def singulars(word: str) -> list[str]:
    out = [irregular_nouns()[word]] if word in irregular_nouns() else []
    if len(word) <= 3 or len(word) > 64 or word.endswith("ss"):
        return out if len(word) <= 64 else []
    pairs = [
        ("s", ""),
        ("ses", "s"),
        ("xes", "x"),
        ("zes", "z"),
        ("ches", "ch"),
        ("shes", "sh"),
        ("men", "man"),
        ("ies", "y"),
    ]
    return out + [word[: -len(end)] + new for end, new in pairs if word.endswith(end)]
