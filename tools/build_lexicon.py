"""Build the embedded label texts of WordNet from the embedded taxonomy, with the installed stemmer.

Usage: python tools/build_lexicon.py [-o FILE]

To be run again where the labels of WordNet, the rules of `label_texts`, the stop words or PyStemmer change. The result
is a NumPy archive of the columns that `querycloak.mapping.embedded_labels` reads. It is not compressed: the same labels
are the same bytes with every zlib.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np

from querycloak.knowledge.wordnet import load_wordnet
from querycloak.mapping.embedded_labels import FILE, columns
from querycloak.mapping.label_index import LabelIndex

TARGET = Path(__file__).resolve().parent.parent / "src/querycloak/mapping" / FILE


def main() -> None:
    """Build the file."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("-o", "--output", type=Path, default=TARGET)
    options = parser.parse_args()
    named: dict[str, Any] = columns(LabelIndex(load_wordnet()))
    np.savez(options.output, **named)
    print(f"{options.output}: {options.output.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
