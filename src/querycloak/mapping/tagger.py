"""The part of speech of a word, by TextBlob's English tagger, without its slow import.

`textblob.en.tag(text, tokenize=False)` looks every word up in a lexicon and guesses unknown ones by their ending: it
passes neither the contextual nor the morphological rules on, so that the tag of a lower-case word does not depend on
its neighbours. A tag per word, computed once, is therefore the same as tagging the query. The package `textblob`
imports nltk, which takes more than a second; its module `_text`, which holds the tagger, takes 0.03 s by itself, and
the lexicon 0.1 s. `tests/mapping/test_tagger.py` compares with `textblob.en.tag`.

One addition: queries are mostly typed in lower case, so a word that the lexicon knows only with a capital ("Paris",
"Irish") is tagged as a proper noun, NNP.
"""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any, Final

__all__ = ["Tagger"]

MAX_WORD: Final = 64
"""Longer words are no words; they are tagged as unknown nouns."""


@cache
def _textblob() -> tuple[Any, dict[str, str]]:
    """Load TextBlob's tagger alone, and its lexicon: word → tag."""
    package = find_spec("textblob")
    if package is None or not package.submodule_search_locations:
        raise ModuleNotFoundError("No module named 'textblob': install it to tag queries.", name="textblob")
    folder = Path(package.submodule_search_locations[0])
    spec = spec_from_file_location("querycloak.mapping._textblob", folder / "_text.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    lines = (folder / "en" / "en-lexicon.txt").read_text("utf-8").splitlines()
    pairs = (line.split(" ")[:2] for line in lines if line and not line.startswith(";;;"))
    return module, dict(pair for pair in pairs if len(pair) == 2)


class Tagger:
    """Gives Penn Treebank tags to lower-case words."""

    def __init__(self) -> None:
        self._module, self._lexicon = _textblob()

    def tag(self, word: str) -> tuple[str, bool]:
        """Return the tag of a lower-case word, and whether the lexicon knows the word.

        >>> Tagger().tag("diving"), Tagger().tag("irish"), Tagger().tag("qwyjibo")
        (('VBG', True), ('NNP', True), ('NN', False))
        """
        if len(word) > MAX_WORD:
            return "NN", False
        known = self._lexicon.get(word)
        if known is not None:
            return known, True
        if word.capitalize() in self._lexicon:
            return "NNP", True
        tag: str = self._module.find_tags([word], lexicon=self._lexicon, language="en")[0][1]
        return tag, False
