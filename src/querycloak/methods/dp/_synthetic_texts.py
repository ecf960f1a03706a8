"""The texts of `synthetic-dp`: queries and phrases that a set union chose, each with a noisy number of people.

An event of the log is represented by its whole query where that was chosen, else by the longest chosen phrase in it. A
phrase that reads like a chosen query represents nothing: it would fill in for the query, and its count would be wrong.

**What one user changes.** The choice is that of `_set_union.py`. People are counted once for each text that represents
one of their events: which text represents an event follows from the event's own letters and from what was chosen
before, so a user's squares are at most `counted` in sum (`_contribution.py`), as for `frequent-queries`.

**Order.** Texts and clicks are in the order of their letters. In that of the log, one user's rows could decide which
texts are dealt next to each other, and so which logs can be drawn at all.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from querycloak.arrays.ragged import Ragged
from querycloak.logs.query_log import NO_CODE
from querycloak.mapping.modes import DEFAULT_MAPPING
from querycloak.methods.dp._contribution import Contributions
from querycloak.methods.dp._noise import gaussian_scale
from querycloak.methods.dp._set_union_items import Items, click_items, query_items
from querycloak.methods.dp._set_union_table import choose_items, count_chosen
from querycloak.methods.dp._synthetic_domain import topic_bins
from querycloak.texts.compared import code_texts, compared
from querycloak.texts.word_runs import WordRuns

if TYPE_CHECKING:
    from collections.abc import Mapping

    import polars as pl

    from querycloak.knowledge.taxonomy import Taxonomy
    from querycloak.logs.query_log import QueryLog
    from querycloak.mapping import Mapper
    from querycloak.methods.dp._set_union import Rule
    from querycloak.methods.dp._set_union_table import Plan, Shares
    from querycloak.methods.dp._synthetic_domain import Topics
    from querycloak.randomness import Randomness
    from querycloak.releases.budget import Share

__all__ = [
    "Clicks",
    "Labels",
    "Vocabulary",
    "beyond_noise",
    "choose_vocabulary",
    "labels_of",
    "longest_chosen",
    "topics_of",
    "write_texts",
]

Int64s = npt.NDArray[np.int64]
Float64s = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]

_NUMBERS: Final = 1_000_000
"""Of texts without a topic."""


class Clicks(NamedTuple):
    """Chosen pairs of a chosen query and a URL, ordered by query, then by the letters of the URL."""

    text: Int64s
    """int64[pairs], ascending, into the vocabulary"""
    url: pl.Series
    people: Float64s
    """float64[pairs]"""


class Vocabulary(NamedTuple):
    """Chosen texts: queries first, then phrases, each by their letters."""

    text: pl.Series
    people: Float64s
    """float64[texts], noisy; of phrases 0 where it may be noise alone"""
    queries: int
    """how many of them are whole queries"""
    clicks: Clicks | None
    rules: dict[str, list[Rule]]
    """what choosing did, by kind, for the statement"""


def choose_vocabulary(
    log: QueryLog, plans: Mapping[str, Plan], shares: Mapping[str, Shares], random: Randomness
) -> Vocabulary:
    """Choose queries, phrases and, where they have a share, clicks, and count people."""
    import polars as pl

    queries = query_items(log, short=True)
    chosen = choose_items(queries, plans["query"], shares["query"], random)
    people = count_chosen(queries, chosen, plans["query"], shares["query"], random)
    rules = {"query": chosen.rules}

    form, first = code_texts(compared(log.queries))
    forms = compared(log.queries.gather(first))
    runs = WordRuns.of(forms)
    asked = log.query != NO_CODE
    phrases = _phrases(log.user[asked], form[log.query[asked]], runs)
    phrase = choose_items(phrases, plans["phrase"], shares["phrase"], random)
    rules["phrase"] = phrase.rules
    free = ~phrase.text.is_in(compared(chosen.text).implode()).to_numpy()
    phrase = phrase._replace(code=phrase.code[free], text=phrase.text.filter(pl.Series(free)))
    is_chosen = np.zeros(len(log.queries), dtype=np.bool_)
    is_chosen[chosen.code] = True
    rest = asked & ~is_chosen[log.query]
    stands_for = longest_chosen(runs, phrase.code)[form[log.query[rest]]]
    represented = phrases._replace(users=Contributions.of(log.user[rest], stands_for, len(runs.words)))
    counts = shares["phrase"].counts
    assert counts is not None
    noisy = count_chosen(represented, phrase, plans["phrase"], shares["phrase"], random)
    phrase_people = beyond_noise(noisy, plans["phrase"], counts)
    of_queries, of_phrases = (texts.arg_sort().to_numpy() for texts in (chosen.text, phrase.text))
    clicks = None
    if "click" in shares:
        pairs = click_items(log, chosen.code)
        found = choose_items(pairs, plans["click"], shares["click"], random)
        rules["click"] = found.rules
        clicks = _clicks(log, chosen.text.gather(of_queries), found.text, found.url, count_chosen(
            pairs, found, plans["click"], shares["click"], random
        ))  # fmt: skip
    return Vocabulary(
        pl.concat([chosen.text.gather(of_queries), phrase.text.gather(of_phrases)]),
        np.concatenate([people[of_queries].astype(np.float64), phrase_people[of_phrases]]),
        len(chosen.code),
        clicks,
        rules,
    )


def beyond_noise(people: Int64s, plan: Plan, counts: Share) -> Float64s:
    """float64[texts]: numbers of people, 0 where one may be noise alone; `counts` is what they took of the budget."""
    noise = gaussian_scale(np.sqrt(plan.counted), counts.rho)
    return np.where(people < 3 * noise, 0.0, people.astype(np.float64))


def _phrases(user: npt.NDArray[np.int32], form: Int64s, runs: WordRuns) -> Items:
    """Return the runs of words of each user's queries as items."""
    forms = Contributions.of(user, form, runs.of_text.rows)
    held = runs.of_text.take(forms.item)
    users = Contributions.of(np.repeat(forms.user, held.lengths), held.values, len(runs.words))
    return Items("phrase", users, runs.words.astype(np.int64), runs.texts)


def longest_chosen(runs: WordRuns, chosen: Int64s) -> Int64s:
    """int64[forms]: the longest chosen run of each form, of equally long ones the first in the text; -1 = none."""
    words = np.zeros(len(runs.words), dtype=np.int64)
    words[chosen] = runs.words[chosen]
    owner, run = runs.of_text.owner, runs.of_text.values.astype(np.int64)
    there = np.flatnonzero(words[run] > 0)
    owner, run = owner[there], run[there]
    longest = np.zeros(runs.of_text.rows, dtype=np.int64)
    np.maximum.at(longest, owner, words[run])
    best = np.flatnonzero(words[run] == longest[owner])[::-1]
    out = np.full(runs.of_text.rows, NO_CODE, dtype=np.int64)
    out[owner[best]] = run[best]  # runs of one length are in the order of the text, and the last that is written stays
    return out


def _clicks(log: QueryLog, queries: pl.Series, text: pl.Series, url: Int64s | None, people: Int64s) -> Clicks:
    import polars as pl

    if url is None or log.urls is None:
        return Clicks(np.zeros(0, dtype=np.int64), pl.Series([], dtype=pl.String), np.zeros(0))
    code_of = {word: i for i, word in enumerate(queries.to_list())}
    code = np.array([code_of[word] for word in text.to_list()], dtype=np.int64)
    address = log.urls.gather(url)
    order = np.lexsort((address.rank("ordinal").to_numpy(), code))
    return Clicks(code[order], address.gather(order), people[order].astype(np.float64))


def topics_of(texts: pl.Series, taxonomy: Taxonomy, topics: Topics, mapping: str = DEFAULT_MAPPING) -> Int64s:
    """int64[texts]: the topic of the first part of each text that has one, by public knowledge alone."""
    mapper = _mapper(taxonomy, mapping)
    return np.array([_topic(text, mapper, topics) for text in texts.to_list()], dtype=np.int64)


def _topic(text: str, mapper: Mapper, topics: Topics) -> int:
    known = [c for c in mapper.map_query(text).concepts if c != NO_CODE]
    return int(topics.bin_of[known[0]]) if known else topics.none


@lru_cache(maxsize=2)
def _mapper(taxonomy: Taxonomy, mapping: str) -> Mapper:
    """Remember the last mappers: attacks run a method several times, and words of a taxonomy are public."""
    from querycloak.mapping import Mapper

    return Mapper(taxonomy, mapping)


class Labels(NamedTuple):
    """Labels of the taxonomy, by the topic that they are read as: public knowledge."""

    text: pl.Series
    of_topic: Ragged
    """row t = the labels of topic t, into `text`; `none` has no row of its own, and others may be empty"""

    def draw(self, topic: Int64s, random: Randomness) -> Int64s:
        """int64[n]: a random label of each topic, -1 = it has none."""
        count = np.append(self.of_topic.lengths, 0)[topic]
        at = np.append(self.of_topic.start[:-1], 0)[topic] + (random.uniform(len(topic)) * count).astype(np.int64)
        return np.where(count > 0, np.append(self.of_topic.values, -1)[np.where(count > 0, at, -1)], -1)


@lru_cache(maxsize=2)
def labels_of(taxonomy: Taxonomy, mapping: str = DEFAULT_MAPPING) -> Labels:
    """Return the labels that are read as one concept, by its topic."""
    import polars as pl

    topics, mapper = topic_bins(taxonomy), _mapper(taxonomy, mapping)
    labels = list(dict.fromkeys(label for some in taxonomy.labels for label in some))
    units = [mapper.map_query(label).concepts for label in labels]
    one = np.array([u[0] if len(u) == 1 else NO_CODE for u in units], dtype=np.int64)
    known = np.flatnonzero(one != NO_CODE)
    of_topic = Ragged.of(topics.bin_of[one[known]], known, topics.none)
    return Labels(pl.Series(labels, dtype=pl.String), of_topic)


def write_texts(text: Int64s, topic: Int64s, vocabulary: Vocabulary, labels: Labels, random: Randomness) -> pl.Series:
    """Return the text of each event; text: int64[n], into the vocabulary, from its length on: none.

    A query is as it is. After a phrase, or alone, comes a label in braces, drawn from those of the event's topic: of a
    text that few people share only the topic is known, and one text for all of them would be the most popular of all.
    Without a topic, or a label of it, it is a random number. Braces, since a label in brackets is what people meant.
    """
    import polars as pl

    label = labels.draw(topic, random.child("labels"))
    number = random.child("numbers").integers(_NUMBERS, len(text))
    names = pl.concat([labels.text, pl.Series([None], dtype=pl.String)]).gather(
        np.where(label < 0, len(labels.text), label)
    )
    words = pl.concat([vocabulary.text, pl.Series([""], dtype=pl.String)])
    first = words.gather(np.minimum(text, len(vocabulary.text)))
    table = pl.DataFrame({"first": first, "label": names, "number": number, "whole": text < vocabulary.queries})
    rest = pl.concat_str(
        pl.lit(" {"), pl.coalesce("label", pl.lit("-") + pl.col("number").cast(pl.String)), pl.lit("}")
    )
    written = pl.when("whole").then(pl.col("first")).otherwise((pl.col("first") + rest).str.strip_prefix(" "))
    return table.select(written).to_series()
