"""Street addresses: a number and a street, in the forms of several countries, and post boxes.

A street without a number is no address of a person. American and British streets end in a word such as "ave"; German
and Dutch ones end in a syllable ("hauptstraße 12"); French, Spanish, Italian and Portuguese ones begin with a word
("12 rue de la paix", "via roma 10"). British, Canadian and nine-digit American post codes are of a few houses, and are
found on their own.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from querycloak.texts.identifiers._pattern import Pattern
from querycloak.texts.identifiers._street_words import any_of, words_of
from querycloak.texts.identifiers._words_before import is_of_a_thing

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["CANDIDATE", "addresses"]

_NEVER: Final = words_of("never")
_COUNTED: Final = words_of("counted")
_OTHER: Final = words_of("other")

_WORD: Final = r"[^\W\d_][\w.'-]*"
_ORDINAL: Final = r"\d{1,3}(?:st|nd|rd|th)"
_NO_PRICE: Final = r"(?<![\w$£€#.,/-])"
_NUMBER: Final = rf"{_NO_PRICE}(?:[nsew]?\d{{1,6}}(?:-\d{{1,4}})?[a-z]?(?: ?1/2)?|\d+-[a-z])"
_HOUSE: Final = (
    r",? ?(?:(?:nr|no|num|n)\.?|n[º°]|número|numero|#)? ?\d{1,5}(?: ?[-/] ?\d{1,4})?(?: ?[a-z])?(?![\w%$€£]|[.,:]\d)"
)
_WINDS: Final = "(?:n|s|e|w|ne|nw|se|sw|north|south|east|west|northeast|northwest|southeast|southwest)\\.?"
_STATES: Final = (
    rf"(?:{any_of('states')}|new (?:hampshire|jersey|mexico|york)|(?:north|south) (?:carolina|dakota)"
    "|rhode island|west virginia)"
)
_NUMBERED_ROADS: Final = "highway|hwy|route|rte|county road|county rd|state road|co rd|fm|sr|cr|rr|avenue|ave"
_AMERICAN: Final = Pattern(
    rf"{_NUMBER},? (?:{_WINDS} )?(?P<name>(?:(?:{_ORDINAL}|{_WORD}) ){{1,4}}?)(?:{any_of('ends')})\b"
)
_NUMBERED: Final = Pattern(
    rf"{_NUMBER} (?:{_WINDS} )?(?:(?:us|u\.s\.|state|county|old) )?(?:{_NUMBERED_ROADS}) (?:\d{{1,4}}|[a-z])\b"
)
_WITH_ZIP: Final = Pattern(
    rf"{_NUMBER},? (?P<name>(?:(?:{_ORDINAL}|{_WORD}),? ){{2,6}}?){_STATES},? \d{{5}}(?:-\d{{4}})?(?!\d)"
)
_BOX: Final = Pattern(
    r"\b(?:p\.?\s?o\.?\s?box|postfach|apartado(?: de correos)?|(?:casella|bo[iî]te) postale|postbus|caixa postal)\s*\d+"
)
_GERMANIC: Final = Pattern(
    rf"(?<![\w-])(?:(?:{_WORD}[ -])?(?P<name>[^\W\d_]{{2,}}(?:{any_of('syllables')}))\.?"
    rf"|{_WORD} (?:{any_of('syllables')})\.?"
    rf"|(?:straße|strasse) (?:der|des|am|zum) {_WORD}|{_WORD} [^\W\d_]+s gate"
    r"|(?:am|im|an der|an den|auf dem|auf der|zum|zur|unter den|in der|hinter der|vor dem)"
    rf" (?:alten |neuen |oberen |unteren )?(?:{any_of('corners')})){_HOUSE}"
)
_OF: Final = (
    r"(?:(?:de la|de los|de las|dell[aeo]|d[eiao]l?|de[il]|do|dos|das|los|las|la|el|\d{1,2}(?: de)?) |(?:dell|d|l)')*"
)
_NAME: Final = rf"(?P<name>{_OF}(?:{_WORD},? ){{1,3}}?)"
_FRENCH: Final = Pattern(
    rf"{_NO_PRICE}\d{{1,4}}(?: ?(?:bis|ter|quater|[a-d]))?,? (?:(?:{any_of('french')})\.? "
    r"(?:(?:de|du|des|la|le|les) |[ld]')*(?P<name>[^\W\d_][\w'-]+)"
    r"|(?:place|route|square|passage|cours|villa|cit[ée]|r[ée]sidence|rond-point) "
    r"(?:(?:de|du|des|la|de la) |[ld]')+[^\W\d_]+)"
)
_SOUTHERN: Final = Pattern(rf"(?<![\w-])(?:{any_of('begins')})\.? ?{_NAME}{_HOUSE}")
_VIA: Final = Pattern(rf"(?<![\w-])via {_NAME}(?:n[º°.]? ?)?\d{{1,3}}(?:/\d{{1,3}}|/?[a-e])?(?![\w%$€£]|[.,:]\d)")
_COLOMBIAN: Final = Pattern(
    r"\b(?:calle|carrera|cra|cl|diagonal|transversal)\.? \d{1,3} ?[a-z]? ?(?:#|no\.?|n[º°])"
    r" ?\d{1,3} ?[a-z]? ?- ?\d{1,3}\b"
)
_EASTERN: Final = Pattern(r"\d+ ?丁目|[路街道巷弄] ?\d+ ?[号號]|\d+ ?番地|(?:로|길) ?\d+(?:-\d+)?(?!\d)")
_UK_CODE: Final = Pattern(rf"(?<![\w-])(?:{any_of('areas')})\d[a-z\d]? ?\d[abd-hjlnp-uw-z]{{2}}(?![\w-])")
_UNITS: Final = Pattern(r".*(?:gb|tb|ed|nd|rd|th|st|ft|lb|ps|hp|pt)$")
_CANADIAN_CODE: Final = Pattern(r"(?<![\w-])[abceghj-nprstvxy]\d[abceghj-nprstv-z][ -]?\d[abceghj-nprstv-z]\d(?![\w-])")
_NINE_DIGITS: Final = Pattern(r"(?<![\w.,/-])\d{5}-\d{4}(?![\w-])")

CANDIDATE: Final = (
    rf"\d.* (?:{any_of('ends')}|{any_of('french')}|{_NUMBERED_ROADS}|place"
    r"|route|square|passage|cours|villa|cit|r.sidence|rond)"
    rf"|\d.* {_STATES},? \d\d\d\d\d|box|postfach|apartado|postale|postbus|caixa|(?:{any_of('syllables')}).*\d"
    rf"|(?:{any_of('corners')}|gate|via|{any_of('begins')}).*\d|(?:calle|cra|cl|carrera|diagonal|transversal)\.? \d"
    r"|[丁路街道巷弄番로길]|[a-z]\d[a-z\d]? ?\d[a-z]|[a-z]\d[a-z][ -]?\d|\d{5}-\d{4}"
)


def addresses(text: str) -> Iterator[tuple[int, int]]:
    """Find street addresses, post boxes and post codes of a few houses in a plain text."""
    for pattern in (_AMERICAN, _WITH_ZIP, _FRENCH, _SOUTHERN, _VIA):
        for match in _with_overlaps(pattern, text):
            if _is_street(match.group("name") or ""):
                yield match.span()
    for pattern in (_NUMBERED, _BOX, _COLOMBIAN, _EASTERN, _CANADIAN_CODE):
        yield from (match.span() for match in pattern.finditer(text))
    yield from (match.span() for match in _GERMANIC.finditer(text) if match.group("name") not in _OTHER)
    yield from (match.span() for match in _UK_CODE.finditer(text) if not _UNITS.fullmatch(match.group()))
    yield from (match.span() for match in _NINE_DIGITS.finditer(text) if not is_of_a_thing(text, match.start()))


def _with_overlaps(pattern: Pattern, text: str) -> Iterator[re.Match[str]]:
    """Find matches that begin after one another, so that a street that is refused does not hide the next."""
    match = pattern.search(text)
    while match:
        yield match
        match = pattern.search(text, match.start() + 1)


def _is_street(name: str) -> bool:
    """Tell whether the words of a street are words of streets: "5 star hotel near times square" is none."""
    words = re.findall(r"[\w'-]+", name)
    return not words or (words[0] not in _COUNTED and _NEVER.isdisjoint(words))
