"""Seeded faults in what counts the people behind published texts: a count that is too low hides a person."""

from __future__ import annotations

from mutation.fault import fault

__all__ = ["EXPOSURE"]

ASKERS = "releases/askers.py"
REFERENCE = "releases/test_askers.py::test_equals_the_reference"
COUNTS = "evaluation/test_exposure.py::test_equals_the_reference"
PEOPLE = "attacks/test_uniqueness.py"

EXPOSURE = [
    fault(
        "askers: a person counts once per query",
        "releases/_askers_kernels.py",
        "stamp[u] = t",
        "stamp[u] = -1",
        REFERENCE,
    ),
    fault("askers: a text with a delta is public", ASKERS, 'and not parameters.get("delta", 0.0)', "", REFERENCE),
    fault(
        "askers: words of the log joined to labels are public",
        ASKERS,
        '.get("rebuild", "label") == "label"',
        '.get("rebuild", "label") != ""',
        "releases/test_askers.py::test_joined_labels_are_not_public_where_words_of_the_log_are_kept",
    ),
    fault(
        "askers: a run goes on into the next query",
        "releases/_askers_kernels.py",
        " or first + length > words.start[q + 1]",
        "",
        "releases/test_askers.py::test_a_phrase_does_not_go_on_into_the_next_query",
    ),
    fault(
        "askers: a run begins in the query before",
        "releases/_askers_kernels.py",
        " or first < words.start[q]",
        "",
        "releases/test_askers.py::test_a_phrase_does_not_go_on_into_the_next_query",
    ),
    fault("askers: nobody is an own text's person", ASKERS, "(self.people == 1)", "(self.people == 0)", COUNTS),
    fault(
        "exposure: public texts are own texts",
        ASKERS,
        "(self.people == 1) & ~self.public",
        "(self.people == 1)",
        COUNTS,
    ),
    fault(
        "exposure: one member who asked is enough",
        "evaluation/_exposed_groups.py",
        "group <= people[t]",
        "group & people[t]",
        COUNTS,
    ),
    fault(
        "exposure: the smallest group is the largest",
        "evaluation/_exposed_groups.py",
        "logs.size.min()",
        "logs.size.max()",
        COUNTS,
    ),
    fault(
        "uniqueness: a pair from two published logs",
        "attacks/uniqueness.py",
        "owner = logs.owner[counted]",
        "owner = 0 * logs.owner[counted]",
        f"{PEOPLE}::test_both_texts_must_be_in_one_published_log",
    ),
    fault(
        "uniqueness: public texts make pairs",
        "attacks/uniqueness.py",
        "~askers.public[logs.values]",
        "logs.values >= 0",
        PEOPLE,
    ),
    fault(
        "names: the famous count as anybody",
        "texts/names.py",
        'return not any(" ".join(part) in self._labels for part in parts)',
        "return bool(parts)",
        "texts/test_names.py::test_who_is_in_the_knowledge_base_is_famous_there_alone",
    ),
    fault(
        "exposure: labels of a stream are counted in WordNet",
        "evaluation/workbench.py",
        'if "paths" not in needs or',
        "if needs or",
        "evaluation/test_exposure.py::test_labels_of_a_stream_are_counted_in_the_tree_of_its_categories",
    ),
]
