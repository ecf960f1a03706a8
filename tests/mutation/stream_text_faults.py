"""Seeded faults of texts in the stream: wrong lines that would publish what too few people asked before."""

from __future__ import annotations

from mutation.fault import fault

__all__ = ["STREAM_TEXTS"]

KERNELS = "methods/stream/_text_kernels.py"
TEXTS = "methods/stream/test_stream_texts.py"
REFERENCE = f"{TEXTS}::test_like_the_reference_whatever_the_batches_and_checkpoints"
PEOPLE = f"{TEXTS}::test_what_is_published_was_asked_by_m_people_before"
ASKER = f"{TEXTS}::test_who_asks_does_not_matter"
CROSSING = f"{TEXTS}::test_the_record_that_brings_a_text_to_m_people_is_not_published_whole"
RUNS = "methods/stream/test_stream_text_runs.py"
LIVE = f"{RUNS}::test_live_like_the_reference"
SAFE = f"{RUNS}::test_the_defaults_are_safe"
WRITTEN = "live/test_changed_texts.py"
CRASH = f"{RUNS}::test_counts_survive_a_crash_at_every_checkpoint"

STREAM_TEXTS = [
    fault(
        "stream: a text of one person too few",
        KERNELS,
        "store.items[item, PEOPLE] < rule.people:",
        "store.items[item, PEOPLE] < rule.people - 1:",
        PEOPLE,
    ),
    fault(
        "stream: a label of one person too few",
        KERNELS,
        "store.items[label_item[j], PEOPLE] >= rule.people:",
        "store.items[label_item[j], PEOPLE] >= rule.people - 1:",
        PEOPLE,
    ),
    fault(
        "stream: the record that crosses m is published",
        KERNELS,
        "        choice.kind[i] = NOTHING\n",
        "        choice.kind[i] = NOTHING\n        _count(store, texts.whole[q], u, rule.enough)\n",
        CROSSING,
        ASKER,
    ),
    fault(
        "stream: the first person counts twice",
        KERNELS,
        "people >= enough or store.items[item, FIRST] == person",
        "people >= enough",
        REFERENCE,
    ),
    fault(
        "stream: a name that is not famous",
        KERNELS,
        "(flag == NAMED and store.items[item, PEOPLE] >= rule.famous)",
        "flag == NAMED",
        PEOPLE,
    ),
    fault(
        "stream: a name that is not famous, where rare texts are kept",
        KERNELS,
        "(texts.flag[q] == NAMED and people >= rule.famous)",
        "texts.flag[q] == NAMED",
        REFERENCE,
    ),
    fault(
        "stream: identifiers are not looked for",
        "methods/stream/stream_texts.py",
        "flags[find_identifiers(texts) != 0] = kernels.NEVER",
        "pass",
        PEOPLE,
        SAFE,
    ),
    fault(
        "stream: phrases of stop words",
        "methods/stream/stream_texts.py",
        "(word >= len(_STOP))",
        "(word >= 0)",
        f"{TEXTS}::test_a_phrase_needs_a_word_that_says_something",
    ),
    fault(
        "stream: machines count",
        KERNELS,
        "if rows[u] > rule.most_rows:",
        "if rows[u] > 2 * rule.most_rows:",
        f"{TEXTS}::test_an_id_with_too_many_records_counts_as_nobody_from_then_on",
    ),
    fault(
        "stream: a spelling of few people",
        KERNELS,
        "spelling == -2 or _may(store, spelling, rule)",
        "True",
        f"{TEXTS}::test_a_text_is_published_as_it_was_spelled_only_if_so_many_spelled_it_so",
    ),
    fault(
        "stream: more phrases than there may be",
        KERNELS,
        "store.counts[PHRASES] >= most:",
        "store.counts[PHRASES] > most:",
        REFERENCE,
    ),
    fault(
        "stream: people are forgotten with the room",
        KERNELS,
        "items[np.int64(pair >> np.uint64(32)) - 1, PEOPLE] < enough:",
        "items[np.int64(pair >> np.uint64(32)) - 1, PEOPLE] < 2:",
        f"{TEXTS}::test_many_items_and_pairs",
    ),
    fault(
        "stream: the query stays in the line",
        "live/text_lines.py",
        "if not len(changed):",
        "if len(changed):",
        LIVE,
    ),
    fault(
        "stream: what nobody shares enters",
        "live/reader.py",
        "found.status[good[chosen.kind == NOTHING]] = records.RARE",
        "pass",
        LIVE,
    ),
    fault(
        "stream: what nobody shares enters, in memory",
        "methods/stream/stream_release.py",
        "enters = np.flatnonzero(kind != NOTHING)",
        "enters = np.flatnonzero(kind >= 0)",
        SAFE,
    ),
    fault(
        "stream: counts are lost in a crash",
        "live/reader.py",
        'self.texts.restore(part("texts", arrays), users)',
        "pass",
        CRASH,
    ),
    fault(
        "stream: labels of the categories are famous people, live",
        "live/reader.py",
        "settings.max_phrases, load_wordnet)",
        "settings.max_phrases, taxonomy)",
        "cli/test_stream_categories.py::test_who_is_famous_does_not_depend_on_the_categories",
    ),
    fault(
        "stream: labels of the categories are famous people, in memory",
        "methods/stream/stream_release.py",
        "settings.max_phrases, load_wordnet)",
        "settings.max_phrases, lambda: found.taxonomy)",
        "cli/test_stream_categories.py::test_live_and_in_memory_the_same_queries_leave",
    ),
    fault(
        "stream: a checkpoint goes on with other categories",
        "live/run.py",
        '"taxonomy": self.taxonomy, ',
        "",
        "live/test_state.py::test_a_checkpoint_of_another_run_is_refused",
    ),
    fault(
        "stream: quotes of the query stay around its phrase",
        "live/text_lines.py",
        "np.array([-1, 1], dtype=np.int32)",
        "np.array([0, 0], dtype=np.int32)",
        WRITTEN,
    ),
    fault(
        "stream: a label of a number is written without quotes",
        "live/text_lines.py",
        'always = layout.is_json or layout.form.quoting == "all"',
        'always = layout.form.quoting == "all"',
        WRITTEN,
    ),
]
