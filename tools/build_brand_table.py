"""Build the embedded names of our brands, with the concepts of their senses, from the tables of brands and topics.

Usage: python tools/build_brand_table.py [-o FILE]

To be run again where `brands.tsv`, `topics.tsv`, WordNet or the normal form of words change; until then the names are
made at every start. The result is a NumPy archive of the columns that `querycloak.mapping.embedded_brands` reads. It is
not compressed: the same names are the same bytes with every zlib.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np

from querycloak.knowledge.brands import FILE as BRANDS
from querycloak.knowledge.brands import read_brands
from querycloak.knowledge.wordnet import load_wordnet
from querycloak.mapping.brand_names import keyed_brands
from querycloak.mapping.embedded_brands import FILE, columns
from querycloak.mapping.hosts import KINDS
from querycloak.mapping.layer_tables import PERSON, SITE

TARGET = Path(__file__).resolve().parent.parent / "src/querycloak/mapping" / FILE


def main() -> None:
    """Build the file."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("-o", "--output", type=Path, default=TARGET)
    options = parser.parse_args()
    brands = keyed_brands(read_brands(), BRANDS)
    named: dict[str, Any] = columns(brands, [SITE, PERSON, *KINDS.values()], load_wordnet())
    np.savez(options.output, **named)
    print(f"{options.output}: {len(brands):,} names, {options.output.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
