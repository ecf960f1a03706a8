"""What may be published instead of each query of a log: the query, a phrase of it that many people share, a label.

For a text of words and a number m of people: if at least m people asked the whole text, it is published. Else the
longest run of at most six consecutive words that at least m people asked inside their queries and that holds a word
which is no stop word; ties: more people, then the left one. Else the label of its deepest concept, or of an ancestor at
depth 5 or deeper, that the queries of at least m people reach; ties: more people, then left. Else nothing.

Texts are compared in lower case, runs of spaces as one. A text is published as it was spelled where m people spelled
it so, else as it is compared. A text with an identifier, or with the name of somebody who is not famous, is never
published; a shorter run of it may be.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

from querycloak.arrays.ragged import CountedRows
from querycloak.logs.query_log import NO_CODE
from querycloak.texts._fame import people_of_names
from querycloak.texts._longest_runs import LONGEST, longest_runs
from querycloak.texts._shared_labels import LEAST_DEPTH, clear_name, no_labels, shared_labels
from querycloak.texts.compared import code_texts, compared
from querycloak.texts.identifiers import find_identifiers
from querycloak.texts.names import find_rare_names

if TYPE_CHECKING:
    import polars as pl

    from querycloak.arrays.ragged import Ragged
    from querycloak.knowledge.taxonomy import Taxonomy
    from querycloak.logs.query_log import QueryLog
    from querycloak.mapping.concept_log import ConceptLog
    from querycloak.texts.text_settings import TextRule

__all__ = [
    "LABEL",
    "LEAST_DEPTH",
    "LONGEST",
    "NOTHING",
    "PHRASE",
    "QUERY",
    "SharedTexts",
    "as_label",
    "clear_name",
    "shared_texts",
]

QUERY: Final = 0
"""The whole query is published."""
PHRASE: Final = 1
"""A part of the query is published."""
LABEL: Final = 2
"""What the query is about is published."""
NOTHING: Final = 3
"""Nothing is published."""
NOT_PUBLISHED: Final = "not published: too few people share any part of it, or an identifier"
COUNT_NAMES: Final = ("published as whole queries", "published as phrases", "published as labels", NOT_PUBLISHED)
"""Names of the kinds in a statement, by their codes; the last one is a reason to be left out."""


@dataclass(frozen=True, eq=False)
class SharedTexts:
    """For each distinct query of a log, what may be published instead of it."""

    text: npt.NDArray[np.int64]
    """int64[distinct queries], into `words`; -1 = nothing"""
    kind: npt.NDArray[np.int8]
    """int8[distinct queries]: QUERY, PHRASE, LABEL or NOTHING"""
    words: pl.Series
    """distinct texts; labels stand in brackets"""
    people: npt.NDArray[np.int64]
    """int64[words]: how many people of the log asked, hold or mean each"""
    label: npt.NDArray[np.int64]
    """int64[taxonomy]: the concept whose label may be published for each that the log is about; -1 = none"""

    def counts(self, queries: npt.NDArray[np.integer]) -> dict[str, int]:
        """Count events, given by the codes of their queries, by what is published of them."""
        of_kind = np.bincount(self.kind[queries], minlength=4)
        return {name: int(n) for name, n in zip(COUNT_NAMES, of_kind, strict=True)}


def as_label(label: str) -> str:
    """Return a label in the form in which it is published, so that nobody takes it for a query.

    >>> as_label("restaurant")
    '[restaurant]'
    """
    return f"[{label}]"


def shared_texts(log: QueryLog, rule: TextRule, *, concepts: ConceptLog, taxonomy: Taxonomy) -> SharedTexts:
    """Find what may be published instead of each distinct query; people are counted over the whole log."""
    import polars as pl

    plain = compared(log.queries)
    form, first = code_texts(plain)  # one code per compared form
    forms = plain.gather(first)
    n, n_forms, n_users = len(log.queries), len(forms), len(log.users)
    people_of_query = _askers(log, rule)
    of_query, of_form = people_of_query.lengths, _distinct(form[people_of_query.owner], people_of_query, n_forms)
    kind = np.full(n, NOTHING, dtype=np.int8)
    text = np.full(n, -1, dtype=np.int64)  # into the texts of `found`, one after the other
    found, people = [log.queries, forms], [of_form.lengths[form], of_form.lengths]

    def may(texts: pl.Series, asked_by: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
        """Tell which texts hold neither an identifier nor the name of somebody who is not famous: bool[texts]."""
        if rule.identifiers == "keep":
            return np.ones(len(texts), dtype=np.bool_)
        out = np.asarray(find_identifiers(texts) == 0)
        few = np.flatnonzero(out & (asked_by < rule.famous))  # a text of many people holds a name of many
        out[few] = ~find_rare_names(
            texts.gather(few), taxonomy, lambda names: people_of_names(names, forms, of_form), famous=rule.famous
        )
        return out

    whole = np.ones(n, dtype=np.bool_) if rule.rare == "keep" else of_form.lengths[form] >= rule.people
    which = np.flatnonzero(whole)
    which = which[may(log.queries.gather(which), of_form.lengths[form[which]])]
    kind[which] = QUERY
    so_spelled = (of_query[which] >= rule.people) | (rule.rare == "keep")
    text[which] = np.where(so_spelled, which, n + form[which])
    if rule.rare == "phrase":
        open_forms = np.unique(form[kind == NOTHING])
        runs = longest_runs(forms, of_form, n_users, rule.people, open_forms, may)
        rest = np.flatnonzero((kind == NOTHING) & (runs.text[form] >= 0))
        kind[rest], text[rest] = PHRASE, n + n_forms + runs.text[form[rest]]
        found.append(runs.texts)
        people.append(runs.people)
    labels = no_labels(n, taxonomy)
    if rule.rare in {"phrase", "label"}:
        labels = shared_labels(n, people_of_query, n_users, rule.people, concepts, taxonomy)
        rest = np.flatnonzero((kind == NOTHING) & (labels.of_query >= 0))
        used, label = np.unique(labels.of_query[rest], return_inverse=True)
        kind[rest], text[rest] = LABEL, sum(map(len, found)) + label
        found.append(pl.Series([as_label(taxonomy.label(c)) for c in used.tolist()], dtype=pl.String))
        people.append(labels.people[used])
    return _of_texts(text, kind, pl.concat(found), np.concatenate(people), labels.of_concept)


def _askers(log: QueryLog, rule: TextRule) -> Ragged:
    """Return the people who asked each query, each once, without ids that are taken for machines."""
    counted = log.query != NO_CODE
    if rule.most_rows is not None:
        counted &= (np.bincount(log.user, minlength=len(log.users)) <= rule.most_rows)[log.user]
    return CountedRows.of(log.query[counted], log.user[counted], len(log.queries)).uncounted


def _distinct(form: npt.NDArray[np.int64], people_of_query: Ragged, n_forms: int) -> Ragged:
    """Return the people who asked each form, each once; form: int64[values], of each value of `people_of_query`."""
    return CountedRows.of(form.astype(np.int32), people_of_query.values, n_forms).uncounted


def _of_texts(
    text: npt.NDArray[np.int64],
    kind: npt.NDArray[np.int8],
    found: pl.Series,
    people: npt.NDArray[np.int64],
    label: npt.NDArray[np.int64],
) -> SharedTexts:
    """Keep the texts that are used, each once; `text` is into `found`, and so is `people`."""
    used, inverse = np.unique(text[text >= 0], return_inverse=True)
    code, first = code_texts(found.gather(used))
    most = np.zeros(len(first), dtype=np.int64)
    np.maximum.at(most, code, people[used])
    out = np.full(len(text), -1, dtype=np.int64)
    out[text >= 0] = code[inverse]
    return SharedTexts(out, kind, found.gather(used[first]), most, label)
