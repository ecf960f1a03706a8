"""Exposure: what of single people is readable in a release, counted against the original log. No attacker is needed.

An **own text** is a published text that exactly one person of the original log asked (`releases/askers.py` says who
asked a phrase, a label or an item). Whoever knows that one person may ask such a thing has found the person, whatever
the published id; so the counts are of people and texts, not of ids.

Texts that are drawn from public knowledge under differential privacy are counted apart. They are never own texts,
identifiers, names or sensitive texts: noise names everybody and nobody.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

from querycloak.evaluation._exposed_columns import own_moment_share, own_value_shares
from querycloak.evaluation._exposed_groups import count_groups
from querycloak.logs.query_log import NO_CODE
from querycloak.releases.askers import UNKNOWN
from querycloak.texts.identifiers import KINDS, find_identifiers
from querycloak.texts.names import find_names
from querycloak.texts.sensitive import NOT_SENSITIVE, SensitiveWords, load_sensitive, sensitive_topics

if TYPE_CHECKING:
    from querycloak.knowledge.taxonomy import Taxonomy
    from querycloak.logs.query_log import QueryLog
    from querycloak.releases.askers import Askers
    from querycloak.releases.release import Release

__all__ = ["FEW_PEOPLE", "Exposure", "exposure", "exposure_rows"]

Int64s = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

FEW_PEOPLE: Final = (2, 5, 10, 30)
"""The histogram counts texts asked by fewer people than each of these."""


@dataclass(frozen=True, kw_only=True)
class Exposure:
    """What of single people is readable in a release. Rows are weighted: a row with a count is that many rows."""

    rows: float
    """published rows"""
    texts: int
    """distinct published texts"""
    people: int
    """people of the original log"""

    own_rows: float
    """rows with an own text"""
    own_texts: int
    """distinct texts that exactly one person of the original log asked"""
    own_row_share: float
    own_text_share: float
    exposed_people: int
    """people with at least one own text published"""
    exposed_share: float
    """their share of the people of the original log"""
    most_own_in_one_log: int | None
    """the most own texts of one person in one published log; None where the release has no user logs"""
    logs_with_own: int | None
    """distinct published logs with an own text; ids with the same log have one log"""
    logs_naming_member: int | None
    """those in which the person with the most own texts is a member: one of the ids with that log is the person's.
    None without the truth. Of several people with equally many, one member is enough."""

    public_rows: float
    """rows with a text from public knowledge under differential privacy"""
    public_texts: int
    texts_of_nobody: int
    """distinct texts, not public, that no query of the original log is, holds or means"""
    unknown_texts: int
    """those of them with words that no query of the log holds: what they give away cannot be told"""
    own_value_shares: dict[str, float]
    """further column, such as the URL → share of rows with a value that one person alone has in the original log.
    `url with its text`: a text and a URL that one person alone has together"""
    own_moment_share: float | None
    """share of rows whose text one person alone asked in that hour, day or week; None where no times are published"""
    few_people: dict[int, int]
    """n → distinct texts asked by at least one person and fewer than n"""

    identifiers: dict[str, int]
    """kind → distinct texts with such an identifier"""
    identifier_texts: int
    """distinct texts with an identifier of any kind"""
    identifier_rows: float
    name_texts: int
    """distinct texts with the name of a person who is not famous"""
    name_rows: float

    smallest_class: int | None
    """ids that share the rarest published log; None where the release has no user logs"""
    classes: int | None
    """distinct published logs"""
    sensitive_own_texts: dict[str, int]
    """topic → own texts that hold a sensitive word"""
    classes_with_sensitive: int | None
    """distinct published logs with a sensitive text"""
    classes_sharing_sensitive: int | None
    """those that have a sensitive text which all their members asked; None without the truth"""

    not_counted: tuple[str, ...] = ()
    """what could not be counted, and why"""


def exposure(
    log: QueryLog,
    release: Release,
    askers: Askers,
    *,
    sensitive: SensitiveWords | None = None,
    taxonomy: Taxonomy | None = None,
) -> Exposure:
    """Count what of single people is readable in a release of a log.

    `sensitive`: the list of sensitive words, ours by default. `taxonomy`: who is in it is famous, WordNet by default.
    """
    table = release.log
    has_text = table.query != NO_CODE
    weight = release.row_weights() * has_text
    published = np.bincount(table.query[has_text], minlength=len(table.queries)) > 0  # bool[texts]
    public = askers.public & published
    counted = published & ~public
    own = askers.own & published
    person = askers.of_own_texts(log)

    def rows(of: Bools) -> float:
        return float(weight[has_text][of[table.query[has_text]]].sum())

    identifiers = _identifiers(release, counted)
    names = _names(release, counted, taxonomy)
    words = load_sensitive() if sensitive is None else sensitive
    topic = _topics(release, counted, words)
    sensitive_own = topic[own & (topic != NOT_SENSITIVE)]
    people, exposed = len(np.unique(log.user)), len(np.unique(person[own]))
    return Exposure(
        rows=float(weight.sum()),
        texts=int(published.sum()),
        people=people,
        own_rows=rows(own),
        own_texts=int(own.sum()),
        own_row_share=_share(rows(own), weight.sum()),
        own_text_share=_share(own.sum(), published.sum()),
        exposed_people=exposed,
        exposed_share=_share(exposed, people),
        public_rows=rows(public),
        public_texts=int(public.sum()),
        texts_of_nobody=int((counted & (askers.people == 0)).sum()),
        unknown_texts=int((counted & (askers.how == UNKNOWN)).sum()),
        own_value_shares=own_value_shares(log, release),
        own_moment_share=own_moment_share(log, release),
        few_people={n: int((counted & (askers.people >= 1) & (askers.people < n)).sum()) for n in FEW_PEOPLE},
        identifiers={kind: int((identifiers >> bit & 1).sum()) for bit, kind in enumerate(KINDS)},
        identifier_texts=int((identifiers != 0).sum()),
        identifier_rows=rows(identifiers != 0),
        name_texts=int(names.sum()),
        name_rows=rows(names),
        sensitive_own_texts={name: int((sensitive_own == t).sum()) for t, name in enumerate(words.topics)},
        **count_groups(log, release, askers, own, person, topic),
    )


def _share(part: float, whole: float) -> float:
    return float(part / whole) if whole else 0.0


def _identifiers(release: Release, counted: Bools) -> npt.NDArray[np.uint16]:
    """uint16[texts]: kinds of identifiers as bits, 0 for texts that are not counted."""
    out = np.zeros(len(counted), dtype=np.uint16)
    out[counted] = find_identifiers(release.log.queries.filter(counted))
    return out


def _names(release: Release, counted: Bools, taxonomy: Taxonomy | None) -> Bools:
    """bool[texts]: texts with a name; False for texts that are not counted."""
    if taxonomy is None:
        from querycloak.knowledge.wordnet import load_wordnet

        taxonomy = load_wordnet()
    out = np.zeros(len(counted), dtype=np.bool_)
    out[counted] = find_names(release.log.queries.filter(counted), taxonomy)
    return out


def _topics(release: Release, counted: Bools, words: SensitiveWords) -> npt.NDArray[np.int8]:
    """int8[texts]: the sensitive topic, NOT_SENSITIVE for texts that are not counted."""
    out = np.full(len(counted), NOT_SENSITIVE, dtype=np.int8)
    out[counted] = sensitive_topics(release.log.queries.filter(counted), words)
    return out


def exposure_rows(found: Exposure) -> list[tuple[str, str, str]]:
    """Return what was counted as (what, value, one sentence on what it means).

    Lower is better wherever the sentence says so; the others tell what was counted apart, or not at all. The command
    line, the report and the page of a check all show these rows.
    """

    def of(part: float, whole: float, share: float) -> str:
        return f"{share:.1%} ({part:,.0f} of {whole:,.0f})"

    rows = [
        (
            "rows with an own text",
            of(found.own_rows, found.rows, found.own_row_share),
            "Published rows whose text exactly one person of the original log asked; lower is better.",
        ),
        (
            "own texts",
            of(found.own_texts, found.texts, found.own_text_share),
            "Distinct published texts that exactly one person asked, whatever the id above them; lower is better.",
        ),
        (
            "people with an own text",
            of(found.exposed_people, found.people, found.exposed_share),
            "People of the original log of whom something is published that nobody else asked; lower is better.",
        ),
    ]
    if found.most_own_in_one_log is not None:
        rows.append((
            "most own texts of one person in one log",
            f"{found.most_own_in_one_log:,}",
            "Texts next to each other that all come from the same single person; lower is better.",
        ))  # fmt: skip
    if found.logs_naming_member is not None and found.logs_with_own is not None:
        rows.append((
            "logs that name a member",
            of(found.logs_naming_member, found.logs_with_own, _share(found.logs_naming_member, found.logs_with_own)),
            "Published logs with own texts in which the person with most of them is in the group; lower is better.",
        ))  # fmt: skip
    for column, share in found.own_value_shares.items():
        meaning = "Published rows with a value in this column that one person of the original log has; lower is better."
        rows.append((f"rows with an own {column}", f"{share:.1%}", meaning))
    if found.own_moment_share is not None:
        rows.append((
            "rows with a text of one person at that time",
            f"{found.own_moment_share:.1%}",
            "Published rows whose text one person alone asked in that hour, day or week; lower is better.",
        ))  # fmt: skip
    for n, texts in found.few_people.items():
        if n > 2:  # fewer than 2 people are one person: the own texts
            share = _share(texts, found.texts)
            meaning = f"Distinct published texts that at least one and fewer than {n} people asked; lower is better."
            rows.append((f"texts of fewer than {n} people", of(texts, found.texts, share), meaning))
    kinds = ", ".join(f"{n:,} {kind}" for kind, n in found.identifiers.items() if n)
    rows += [
        (
            "texts with an identifier",
            f"{found.identifier_texts:,}" + (f" ({kinds})" if kinds else ""),
            "Distinct published texts with a mail address, phone, card or other number of a person; lower is better.",
        ),
        (
            "texts with a person's name",
            f"{found.name_texts:,}",
            "Distinct published texts with a first and last name of somebody not famous; lower is better.",
        ),
        (
            "sensitive own texts",
            f"{sum(found.sensitive_own_texts.values()):,}",
            f"Own texts on {_listed(tuple(found.sensitive_own_texts))}; lower is better.",
        ),
    ]
    if found.smallest_class is not None:
        rows.append((
            "chance by the smallest group",
            f"{1 / found.smallest_class:.1%} (1 of {found.smallest_class:,})",
            "Ids that share the rarest published log: the chance to guess which one is the person's; lower is better.",
        ))  # fmt: skip
    if found.classes_sharing_sensitive is not None and found.classes is not None:
        share = _share(found.classes_sharing_sensitive, found.classes)
        rows.append((
            "groups that all asked a sensitive text",
            of(found.classes_sharing_sensitive, found.classes, share),
            "To know that a person is in the group is to know that the person asked it; lower is better.",
        ))  # fmt: skip
    if found.public_texts:
        rows.append((
            "texts from public knowledge",
            of(found.public_texts, found.texts, _share(found.public_texts, found.texts)),
            "Labels drawn with the noise of differential privacy: counted apart, they name everybody and nobody.",
        ))  # fmt: skip
    if found.unknown_texts:
        rows.append((
            "texts of unknown words",
            of(found.unknown_texts, found.texts, _share(found.unknown_texts, found.texts)),
            "Distinct published texts with words that nobody asked, such as codes: what they tell is not counted.",
        ))  # fmt: skip
    return rows + [("not counted", "-", f"{reason[0].upper()}{reason[1:]}.") for reason in found.not_counted]


def _listed(names: tuple[str, ...]) -> str:
    """Join names to a list in words.

    >>> _listed(("health", "sex", "crime"))
    'health, sex or crime'
    """
    return " or ".join([part for part in (", ".join(names[:-1]), *names[-1:]) if part])
