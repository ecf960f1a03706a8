"""Build the embedded lists of first and last names.

Usage: python tools/build_names.py CENSUS FAKER [-o FILE]

CENSUS is a folder with the name files of the US census of 1990 (`dist.all.last`, `dist.female.first`,
`dist.male.first`; public domain; the source package `names` 0.3.0 has them), FAKER a folder that holds the package
`faker` (its wheel, unpacked; lists of 40.54.0 were used), whose lists of first and last names in Latin letters are
taken. `names_added.txt` next to this file has what both lack.

The result, LZMA-compressed ASCII, has a line per set of roles: a number (1 first, 2 last, 4 first and 8 last of
countries where the last name comes first; added up), then its names, separated by spaces, sorted. Names are folded as
`querycloak.texts.names` folds texts.
"""

from __future__ import annotations

import argparse
import importlib
import lzma
import re
import sys
from pathlib import Path

from querycloak.texts.names import EASTERN_FIRST, EASTERN_LAST, FIRST, LAST, folded_name

TARGET = Path(__file__).resolve().parents[1] / "src/querycloak/texts/names.txt.xz"
ADDED = Path(__file__).resolve().with_name("names_added.txt")
ROLES = {"first": FIRST, "last": LAST, "eastern-first": EASTERN_FIRST, "eastern-last": EASTERN_LAST}
CENSUS = {"dist.all.last": LAST, "dist.female.first": FIRST, "dist.male.first": FIRST}
LOCALES = """
az_AZ cs_CZ da_DK de_AT de_CH de_DE en_GB en_IE en_IN en_KE en_NG en_PK en_TH es_AR es_CL es_CO es_ES es_MX et_EE fi_FI
fr_BE fr_CA fr_CH fr_DZ fr_FR ha_NG hr_HR hu_HU id_ID ig_NG is_IS it_IT lt_LT lv_LV nl_BE nl_NL no_NO pl_PL pt_BR pt_PT
ro_RO sk_SK sl_SI sv_SE sw tr_TR tw_GH uz_UZ yo_NG zu_ZA
"""
LISTS = re.compile(r"(first|last)_names(_female|_male|_unisex|_nonbinary)?|(?:male|unisex|female)_(last)_names")


def census_names(folder: Path) -> list[tuple[str, int]]:
    """Read (name, role) from the files of the census."""
    return [
        (line.split()[0], role)
        for file, role in CENSUS.items()
        for line in (folder / file).read_text("ascii").splitlines()
    ]


def faker_names(folder: Path) -> list[tuple[str, int]]:
    """Read (name, role) from the lists of Faker's locales."""
    sys.path.insert(0, str(folder))
    out = []
    for locale in LOCALES.split():
        provider = importlib.import_module(f"faker.providers.person.{locale}").Provider
        for attribute in dir(provider):
            found, names = LISTS.fullmatch(attribute), getattr(provider, attribute)
            if found and isinstance(names, (list, tuple, dict)):  # dicts have weights
                role = ROLES[found.group(1) or found.group(3)]
                out += [(name, role) for name in names]
    return out


def added_names(path: Path) -> list[tuple[str, int]]:
    """Read (name, role) from our own list."""
    out = []
    for line in path.read_text("utf-8").splitlines():
        if line and not line.startswith("#"):
            role, names = line.split(": ")
            out += [(name, ROLES[role]) for name in names.split()]
    return out


def roles_of(names: list[tuple[str, int]]) -> dict[str, int]:
    """Add up the roles of each folded name; what is not one word of at least two Latin letters is left out."""
    out: dict[str, int] = {}
    for name, role in names:
        word = folded_name(name)
        if re.fullmatch(r"[a-z]{2,}", word):
            out[word] = out.get(word, 0) | role
    return out


def main() -> None:
    """Write the file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("census", type=Path)
    parser.add_argument("faker", type=Path)
    parser.add_argument("-o", "--output", type=Path, default=TARGET)
    arguments = parser.parse_args()
    roles = roles_of(census_names(arguments.census) + faker_names(arguments.faker) + added_names(ADDED))
    by_roles: dict[int, list[str]] = {}
    for name in sorted(roles):
        by_roles.setdefault(roles[name], []).append(name)
    text = "".join(f"{role} {' '.join(names)}\n" for role, names in sorted(by_roles.items()))
    arguments.output.write_bytes(lzma.compress(text.encode("ascii"), preset=9 | lzma.PRESET_EXTREME))
    print(f"{len(roles):,} names, {arguments.output.stat().st_size:,} bytes: {arguments.output}")


if __name__ == "__main__":
    main()
