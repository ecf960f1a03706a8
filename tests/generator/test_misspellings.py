import numpy as np
import pytest
from sample_worlds import make

from querycloak.generator.misspellings import VARIANTS, misspell
from querycloak.generator.phrases import key_of, misspelling_of, render
from querycloak.generator.templates import TEMPLATES
from querycloak.knowledge.wordnet import load_wordnet

ONE = TEMPLATES.index(next(t for t in TEMPLATES if t.terms == 1))
TWO = TEMPLATES.index(next(t for t in TEMPLATES if t.terms == 2))
THREE = TEMPLATES.index(next(t for t in TEMPLATES if t.terms == 3))


@pytest.mark.parametrize("number", range(1, VARIANTS + 1))
def test_a_misspelling_is_one_slip_away(number):
    for right in ("restaurant", "water orchid", "book"):
        wrong = misspell(right, number)
        assert wrong[0] == right[0]
        assert wrong != right or "oo" in right  # two equal letters may be swapped
        dropped = {right[:i] + right[i + 1 :] for i in range(len(right))}
        doubled = {right[:i] + right[i] + right[i:] for i in range(len(right))}
        swapped = {right[:i] + right[i + 1] + right[i] + right[i + 2 :] for i in range(len(right) - 1)}
        assert wrong in dropped | doubled | swapped
        assert misspell(right, number) == wrong


def test_short_words_and_numbers_stay():
    assert [misspell(text, 3) for text in ("tea", "1984", "a b c d", "")] == ["tea", "1984", "a b c d", ""]


def test_the_key_says_which_term_is_misspelt():
    texts = ["hotel", "restaurant"]
    keys = [key_of(ONE, 1, 0, 4), key_of(TWO, 0, 1, 4), key_of(TWO, 0, 1, 5), key_of(TWO, 0, 1), key_of(THREE, 0, 1, 1)]
    four, five = misspell("hotel", 4), misspell("restaurant", 5)
    assert render(keys, texts, []).to_list() == [
        misspell("restaurant", 4),
        f"{four} restaurant",
        f"hotel {five}",
        "hotel restaurant",
        "hotel restaurant restaurant",
    ]
    assert misspelling_of(np.array(keys, dtype=np.uint64)).tolist() == [4, 4, 5, 0, 0]


@pytest.mark.slow
def test_the_share_of_misspelt_queries_is_as_asked():
    """A misspelt query has a word that is in no label: none without slips, a tenth of the short phrases with them."""
    wordnet = load_wordnet()
    known = {word for labels in wordnet.labels for label in labels for word in label.lower().split()}
    shares = []
    for misspelt in (0.0, 0.1):
        log = make(wordnet, users=200, queries=8_000, common=0, named=0, personal=0, misspelt=misspelt).log
        unknown = [any(w not in known and w.isalpha() for w in text.split()) for text in log.queries.to_list()]
        shares.append(float(np.mean(np.array(unknown)[log.query[log.event]])))
    assert shares[1] - shares[0] == pytest.approx(0.085, abs=0.025)
