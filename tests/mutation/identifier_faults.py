"""Seeded faults in what finds identifiers and names: what is not found may be published."""

from __future__ import annotations

from mutation.fault import fault

__all__ = ["IDENTIFIERS"]

FOLDER = "texts/identifiers"
PROPERTIES = "texts/test_identifier_properties.py"
FIGURES = "texts/test_identifier_figures.py::test_recall_and_precision_of_each_kind"
NAMES = "texts/test_names.py"
FAME = f"{NAMES}::TestFame"

IDENTIFIERS = [
    fault(
        "names: marks between its words hide a name",
        "texts/names.py",
        "return loose != text and next(",
        "return loose == text and next(",
        f"{NAMES}::test_a_name_is_found",
    ),
    fault(
        "names: a name with marks has no span",
        "texts/names.py",
        "found = self._typed(text) | (self._typed(loose) if loose != text else set())",
        "found = self._typed(text)",
        f"{NAMES}::test_marks_between_the_words_of_a_name_are_in_its_span",
    ),
    fault(
        "identifiers: capital letters hide them", "texts/plain.py", "Plain(text.lower()", "Plain(text[:]", PROPERTIES
    ),
    fault("identifiers: mail is not looked for", f"{FOLDER}/find.py", "[0-9@]|(?i", "[0-9]|(?i", PROPERTIES),
    fault(
        "identifiers: other scripts are passed over",
        f"{FOLDER}/find.py",
        r"|::|[^\x00-\x7f]",
        "|::",
        f"{PROPERTIES}::test_other_characters_for_the_same_letters",
    ),
    fault(
        "identifiers: a zero-width character hides a number",
        "texts/plain.py",
        '{"Cf", "Mn"}',
        '{"Mn"}',
        f"{PROPERTIES}::test_other_characters_for_the_same_letters",
    ),
    fault(
        "identifiers: two kinds share a bit",
        f"{FOLDER}/find.py",
        "np.uint16(1 << bit)",
        "np.uint16(1 << min(bit, 7))",
        f"{PROPERTIES}::test_an_identifier_is_found_between_any_words",
    ),
    fault("cards: the wrong digits are doubled", f"{FOLDER}/_cards.py", "(1 + slot % 2)", "(2 - slot % 2)", FIGURES),
    fault(
        "cards: 19 digits are too many",
        f"{FOLDER}/_cards.py",
        "_LEAST, _MOST = 13, 19",
        "_LEAST, _MOST = 13, 16",
        FIGURES,
    ),
    fault("iban: another remainder", f"{FOLDER}/_cards.py", "% 97 == 1", "% 97 == 0", FIGURES),
    fault(
        "phones: the candidate wants a digit more",
        f"{FOLDER}/_phones.py",
        r'CANDIDATE: Final = r"\d(?:[ ()./-]{0,3}\d){6}"',
        r'CANDIDATE: Final = r"\d(?:[ ()./-]{0,3}\d){9}"',
        "texts/test_identifier_figures.py::test_a_column_and_a_single_text_are_answered_alike",
    ),
    fault(
        "phones: numbers of other countries are not asked for",
        f"{FOLDER}/_phones.py",
        "return any(_is_valid(digits, region) for region in _REGIONS)",
        "return False",
        FIGURES,
    ),
    fault(
        "phones: a phone next to a card is taken for the card",
        f"{FOLDER}/_phones.py",
        "if not any(start < other_end and begin < end for begin, other_end in taken):",
        "if not taken:",
        f"{PROPERTIES}::test_a_number_is_not_called_a_phone_where_it_is_part_of_something_else",
    ),
    fault(
        "addresses: a street that is refused hides the next",
        f"{FOLDER}/_addresses.py",
        "match = pattern.search(text, match.start() + 1)",
        "match = pattern.search(text, match.end())",
        "texts/test_identifiers.py::test_an_address_inside_what_is_refused",
    ),
    fault(
        "ip: documentation networks are everybody's",
        f"{FOLDER}/_locations.py",
        "192.168.0.0/16 224",
        "192.0.0.0/8 224",
        FIGURES,
    ),
    fault(
        "names: the accent of a name hides it",
        "texts/names.py",
        "fold(char).translate(_LETTERS)",
        "char.lower()",
        f"{NAMES}::test_where_a_name_is",
    ),
    fault(
        "names: one asker too few is fame",
        "texts/names.py",
        "people(distinct) < famous",
        "people(distinct) < famous - 1",
        FAME,
    ),
    fault(
        "names: only the first name of a text counts",
        "texts/names.py",
        "spans = [(text, finder.spans(text)) for text in texts.to_list()]",
        "spans = [(text, finder.spans(text)[:1]) for text in texts.to_list()]",
        FAME,
    ),
    fault(
        "names: overlapping names are famous one by one",
        "texts/names.py",
        "if out and begin < out[-1][1]:",
        "if out and begin < out[-1][0]:",
        f"{NAMES}::test_where_a_name_is",
    ),
    fault(
        "names: a rare last name hides a person",
        "texts/names.py",
        "ends.append(self._half_known(words, roles, i))",
        "ends.append(0)",
        f"{NAMES}::test_a_rare_name_next_to_a_sure_one_is_found",
    ),
]
