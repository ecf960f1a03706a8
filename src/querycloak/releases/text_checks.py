"""The gate's checks of texts: how many people each one is shared by, and whether it holds an identifier or a name.

People are counted here again, by the letters of the published texts, and by other code than a method chooses them with
(`texts/phrases.py`). A text is shared by

- everybody who typed it exactly so, or, if it is published in the form in which texts are compared, in any spelling
- where the statement says that parts of queries are published: everybody who holds it in a query, word by word
- where it is a label in brackets, and parts are published: everybody with a query at or below a concept of that label

A text in other letters than its compared form must have been typed exactly so by enough people: a capital letter can
name one of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from querycloak.arrays.ragged import Ragged
from querycloak.logs.query_log import NO_CODE
from querycloak.releases._askers_kernels import count_people
from querycloak.releases._holders import equal_queries, holding_queries, users_of_queries
from querycloak.releases._meanings import Meanings
from querycloak.releases.checks import broken
from querycloak.texts.compared import compared

if TYPE_CHECKING:
    import numpy.typing as npt
    import polars as pl

    from querycloak.logs.query_log import QueryLog
    from querycloak.releases.publish import Evidence
    from querycloak.releases.statement import PrivacyStatement

    Int64s = npt.NDArray[np.int64]

__all__ = ["check_identifiers", "check_texts", "people_by_letters", "people_per_text"]


def people_per_text(original: QueryLog, texts: pl.Series) -> Int64s:
    """int64[texts]: how many people of the log asked each text, by its letters; only these texts are counted."""
    import polars as pl

    known = pl.DataFrame({"text": original.queries, "code": np.arange(len(original.queries), dtype=np.int64)})
    found = pl.DataFrame({"text": texts}).join(known, on="text", how="left", maintain_order="left")["code"]
    code = found.fill_null(NO_CODE).to_numpy()
    wanted = np.zeros(len(original.queries) + 1, dtype=np.bool_)  # the last is for texts that are not in the log
    wanted[code] = True
    rows = np.flatnonzero(wanted[original.query])
    pairs = pl.DataFrame({"query": original.query[rows], "user": original.user[rows]})
    people = pairs.group_by("query").agg(pl.col("user").n_unique())
    count = np.zeros(len(original.queries) + 1, dtype=np.int64)
    count[people["query"].to_numpy()] = people["user"].to_numpy()
    return np.where(code == NO_CODE, 0, count[code])


def check_texts(table: QueryLog, statement: PrivacyStatement, evidence: Evidence) -> None:
    """Check that each published text is shared by at least the stated number of people, or is public knowledge.

    What somebody asked is not public knowledge here: a label that is the query of too few people names them all the
    same.
    """
    if statement.text_users <= 1:
        return
    texts = _readings(table, statement, evidence)
    log = _counted(evidence.original, statement)
    exact = people_per_text(log, texts)
    if evidence.readings is not None:  # the method says what is behind a text: at least it is no rare query itself
        shown = people_per_text(log, table.queries)
        if few := int(((shown > 0) & (shown < statement.text_users)).sum()):
            raise broken(statement, f"{few:,} published texts were asked by fewer than {statement.text_users} people")
    rare = np.flatnonzero(exact < statement.text_users)
    if not len(rare):
        return
    rare = rare[_shared_otherwise(log, texts.gather(rare), statement, evidence) < statement.text_users]
    pairs = zip(exact[rare].tolist(), texts.gather(rare).to_list(), strict=True)
    secret = sum(asked > 0 or text not in evidence.public for asked, text in pairs)
    if secret:
        raise broken(statement, f"{secret:,} published texts were asked by fewer than {statement.text_users} people")


def people_by_letters(original: QueryLog, texts: pl.Series, statement: PrivacyStatement) -> Int64s:
    """int64[texts]: how many people share each text in any spelling, whole or, as the statement says, as a part.

    For texts that were written to a file and read again: a table of lines holds spaces where a text had tabs.
    """
    return _people_of_forms(_counted(original, statement), compared(texts), parts=statement.parts)


def check_identifiers(table: QueryLog, statement: PrivacyStatement, evidence: Evidence) -> None:
    """Check that no published text holds an identifier, or a name that too few people asked for, where so promised.

    Labels in brackets are public knowledge.
    """
    if not statement.identifiers_dropped:
        return
    from querycloak.texts.identifiers import find_identifiers

    texts = _readings(table, statement, evidence)
    found = texts.gather(np.flatnonzero(find_identifiers(texts)))
    left = sum(not _is_public(text, evidence) for text in found.to_list())
    if left:
        raise broken(statement, f"{left:,} published texts hold a personal identifier")
    famous = statement.settings.get("famous")
    if famous is not None:
        _check_names(texts, int(famous), statement, evidence)


def _check_names(texts: pl.Series, famous: int, statement: PrivacyStatement, evidence: Evidence) -> None:
    """Check that names of people who are not in the taxonomy were asked by enough people."""
    from querycloak.texts.names import find_rare_names

    taxonomy = evidence.taxonomy
    if taxonomy is None:
        from querycloak.knowledge.wordnet import load_wordnet

        taxonomy = load_wordnet()
    log = _counted(evidence.original, statement)

    def people(names: pl.Series) -> Int64s:
        """int64[names]: how many people asked each name, alone or in a longer query."""
        return _people_of_forms(log, names, parts=True)

    rare = texts.gather(np.flatnonzero(find_rare_names(texts, taxonomy, people, famous=famous)))
    if not len(rare):
        return
    few = rare.gather(np.flatnonzero(_people_of_forms(log, compared(rare), parts=True) < famous))
    left = sum(not _is_public(text, evidence) for text in few.to_list())
    if left:
        raise broken(statement, f"{left:,} published texts hold a name that fewer than {famous} people asked")


def _is_public(text: str, evidence: Evidence) -> bool:
    """Tell whether a text is public knowledge; a label in brackets is."""
    if text in evidence.public:
        return True
    bracketed = text.startswith("[") and text.endswith("]")
    return bracketed and evidence.taxonomy is not None and bool(evidence.taxonomy.find(text[1:-1]))


def _readings(table: QueryLog, statement: PrivacyStatement, evidence: Evidence) -> pl.Series:
    """Return the texts of the log behind the published ones, where those are published in another form."""
    texts = table.queries if evidence.readings is None else evidence.readings
    if len(texts) != len(table.queries):
        raise broken(statement, "not every published text has its reading")
    return texts


def _counted(original: QueryLog, statement: PrivacyStatement) -> QueryLog:
    """Return the log without what the settings take for machines: they count as nobody.

    A stream cannot know at an id's first records that many will follow: there those count that come before the limit.
    Which records it leaves out for lack of a category is not known here; then all of them may have counted.
    """
    most: Any = statement.settings.get("max_rows_per_user")
    if most is None:
        return original
    if "candidates" not in statement.parameters:
        return original.take((np.bincount(original.user, minlength=len(original.users)) <= most)[original.user])
    if statement.settings.get("unclassified") == "drop":
        return original
    asking = np.flatnonzero(original.query != NO_CODE)
    order = np.argsort(original.user[asking], kind="stable")
    length = np.unique(original.user[asking], return_counts=True)[1]
    nth = np.empty(len(asking), dtype=np.int64)  # of the records of its id, from 0
    nth[order] = np.arange(len(asking)) - np.repeat(np.cumsum(length) - length, length)
    return original.take(asking[nth < most])


def _shared_otherwise(log: QueryLog, texts: pl.Series, statement: PrivacyStatement, evidence: Evidence) -> Int64s:
    """int64[texts]: how many people share each text, in any spelling, as a part of a query, or by what they mean."""
    plain = compared(texts)
    people = np.zeros(len(texts), dtype=np.int64)
    as_compared = np.flatnonzero((plain == texts).to_numpy())
    people[as_compared] = _people_of_forms(log, plain.gather(as_compared), parts=statement.parts)
    meant = _meaning(texts, statement, evidence) if statement.parts else None
    return people if meant is None else np.maximum(people, count_people(meant, users_of_queries(log), len(log.users)))


def _people_of_forms(log: QueryLog, plain: pl.Series, *, parts: bool) -> Int64s:
    """int64[texts]: how many people asked each compared text in any spelling; with `parts`, or hold it in a query."""
    code = np.unique(log.query[log.query != NO_CODE])
    queries = compared(log.queries.gather(code))
    users = users_of_queries(log).take(code)
    whole: Int64s = count_people(equal_queries(queries, plain), users, len(log.users))
    if not parts:
        return whole
    return np.maximum(whole, count_people(holding_queries(queries, plain), users, len(log.users)))


def _meaning(texts: pl.Series, statement: PrivacyStatement, evidence: Evidence) -> Ragged | None:
    """Return the queries that mean each text which is a label in brackets; none by what was learned from the log."""
    concepts, query = evidence.concepts, evidence.original.query
    if concepts is None or evidence.taxonomy is None or concepts.learned:
        return None
    if int(concepts.row.max(initial=-1)) >= len(query) or (query[concepts.row] != concepts.query).any():
        raise broken(statement, "the concepts are those of another log")
    meanings = Meanings(concepts, evidence.taxonomy)
    owner, found = [], [np.zeros(0, dtype=np.int32)]
    for i, text in enumerate(texts.to_list()):
        senses = evidence.taxonomy.find(text[1:-1]) if text.startswith("[") and text.endswith("]") else []
        for sense in senses:
            found.append(meanings.of_concept(sense))
            owner.append(np.full(len(found[-1]), i))
    return Ragged.of(np.concatenate([np.zeros(0, np.int64), *owner]), np.concatenate(found), len(texts))
