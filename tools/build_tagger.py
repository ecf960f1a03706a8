"""Build the tagger's embedded words from the lexicon that TextBlob carries.

Usage: python tools/build_tagger.py [LEXICON] [-o FILE]

LEXICON is TextBlob's `en-lexicon.txt` (default: that of the installed package): a word, its most frequent tag and more
per line. The result, gzipped UTF-8, has a line per tag: the tag, then its words, separated by spaces, sorted. The tag
`capital` stands for words that are known only with a capital, written with it. The tagger asks for lower-case words
and their capitalised form alone, so that all other spellings ("McDonald", "USA") are left out.
"""

from __future__ import annotations

import argparse
import gzip
from importlib.util import find_spec
from pathlib import Path

TARGET = Path(__file__).resolve().parents[1] / "src/querycloak/mapping/tagger-words.txt.gz"
CAPITAL = "capital"


def read_lexicon(path: Path) -> dict[str, str]:
    """Read word → tag; of a word that is there twice the last line counts, as in TextBlob."""
    lines = (line.strip() for line in path.read_text("utf-8").split("\n"))
    return dict(line.split(" ")[:2] for line in lines if line and not line.startswith(";;;"))


def words_by_tag(lexicon: dict[str, str]) -> dict[str, list[str]]:
    """Return the words of each tag, sorted."""
    out: dict[str, list[str]] = {}
    for word, tag in sorted(lexicon.items()):
        if word == word.lower():
            out.setdefault(tag, []).append(word)
        elif word == word.capitalize() and word.lower() not in lexicon:
            out.setdefault(CAPITAL, []).append(word)
    return dict(sorted(out.items()))


def installed_lexicon() -> Path:
    """Find the lexicon of the installed TextBlob, without importing it."""
    package = find_spec("textblob")
    if package is None or not package.submodule_search_locations:
        raise SystemExit("textblob is not installed: pip install textblob, or give the lexicon's path.")
    return Path(package.submodule_search_locations[0]) / "en" / "en-lexicon.txt"


def main() -> None:
    """Write the file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("lexicon", nargs="?", type=Path)
    parser.add_argument("-o", "--output", type=Path, default=TARGET)
    arguments = parser.parse_args()
    words = words_by_tag(read_lexicon(arguments.lexicon or installed_lexicon()))
    text = "".join(f"{tag} {' '.join(found)}\n" for tag, found in words.items())
    arguments.output.write_bytes(gzip.compress(text.encode(), 9, mtime=0))
    count = sum(map(len, words.values()))
    print(f"{count:,} words, {len(words)} tags, {arguments.output.stat().st_size:,} bytes: {arguments.output}")


if __name__ == "__main__":
    main()
