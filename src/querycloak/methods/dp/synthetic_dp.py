"""A log that nobody wrote: invented users, drawn from noised statistics of the real ones.

Everything published is computed from the noised statistics of `_synthetic_statistics.py`, from public knowledge
(WordNet, the calendar of the settings) and from random numbers. So (ε, δ)-differential privacy of each user, whole logs
added or removed, covers all of it: ids, texts, times, clicks, lengths, and how many users there are.

1. `_synthetic_events.py`: each user's events in order, their sessions and topics
2. `_synthetic_texts.py`: queries, phrases and clicks that many users have, chosen by set union, with numbers of people
3. `_synthetic_statistics.py`: histograms, clusters of users, moves between topics
4. `_synthetic_model.py`: shares that add up
5. `_synthetic_draw.py`: users, sessions, times, topics, texts, clicks

**Ids.** The gate refuses to publish an id of the log. That it refuses would tell that the id is there, so the chance of
it, below 2^-44, is an entry of the account; new ids are 64 random bits, whatever form the log's ids have.

**Which days the log covers** is a fact about its users: the first and the last event are somebody's. The days of the
invented log are a setting.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from querycloak._version import __version__
from querycloak.errors import ParameterError
from querycloak.logs.query_log import NO_CODE, QueryLog
from querycloak.methods.dp._dp_settings import MOST_PER_USER, DpSettings, ledger_log_setting, ledger_setting
from querycloak.methods.dp._noise import check_library, describe_noise
from querycloak.methods.dp._set_union_table import PLURALS, RESERVED
from querycloak.methods.dp._spending import charge, check_columns_public
from querycloak.methods.dp._synthetic_domain import topic_bins
from querycloak.methods.dp._synthetic_draw import Calendar, deal_texts, draw_clicks, draw_users, swap_repeated
from querycloak.methods.dp._synthetic_events import read_events
from querycloak.methods.dp._synthetic_model import make_model
from querycloak.methods.dp._synthetic_statistics import find_statistics, plans, take_all
from querycloak.methods.dp._synthetic_texts import choose_vocabulary, labels_of, topics_of, write_texts
from querycloak.progress import QUIET, Progress
from querycloak.releases.budget import Budget
from querycloak.releases.publish import Evidence, publish_log
from querycloak.releases.statement import PrivacyStatement
from querycloak.releases.table import count_out
from querycloak.settings import setting
from querycloak.texts.compared import code_texts

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import polars as pl

    from querycloak.knowledge.taxonomy import Taxonomy
    from querycloak.mapping.concept_log import ConceptLog
    from querycloak.methods.dp._set_union import Rule
    from querycloak.methods.dp._synthetic_domain import Topics
    from querycloak.methods.dp._synthetic_draw import Invented
    from querycloak.methods.dp._synthetic_model import Model
    from querycloak.methods.dp._synthetic_statistics import Statistics
    from querycloak.methods.dp._synthetic_texts import Labels, Vocabulary
    from querycloak.randomness import Randomness
    from querycloak.releases.release import LogRelease

__all__ = [
    "ROUNDS",
    "Source",
    "SyntheticDp",
    "invent_rows",
    "make_source",
    "synthetic_dp",
    "synthetic_statement",
]

Int64s = npt.NDArray[np.int64]
Float64s = npt.NDArray[np.float64]

_LEAST_DELTA: Final = 1e-11
"""Ten times what the account has for invented ids."""
ROUNDS: Final = {"sips": 2, "gaussian": 1}


@dataclass(frozen=True)
class SyntheticDp(DpSettings):
    """Settings of `synthetic-dp`."""

    epsilon: float = setting(3.0, "budget of each user, for everything in the invented log", above=0)
    delta: float = setting(1e-6, "probability that something of one user alone is published", above=0, below=1)
    choose: str = setting(
        "sips", "how texts are chosen: sips = set union in two rounds, gaussian = in one", choices=("sips", "gaussian")
    )
    per_user: int = setting(
        50,
        "most distinct queries of a user that count in a choice; twice as many phrases",
        minimum=1,
        below=MOST_PER_USER + 1,
    )
    clusters: int = setting(16, "groups of users with like interests that are told apart", minimum=1, below=257)
    clicks: bool = setting(True, "invent clicks, where the log has them: URLs that many users clicked for a query")
    start: str = setting("2000-01-03", "first day of the invented log; not that of the log, which is somebody's")
    days: int = setting(91, "days that the invented log covers", minimum=7, below=36_525)
    ledger: str | None = ledger_setting()
    ledger_log: str | None = ledger_log_setting()

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.delta < _LEAST_DELTA:
            raise ParameterError.of("SyntheticDp.delta", f"at least {_LEAST_DELTA:g}: ids are drawn", self.delta)
        try:
            first = datetime.strptime(self.start, "%Y-%m-%d").replace(tzinfo=UTC)
        except ValueError:
            first = None
        if first is None or not 1970 <= first.year <= 2199:
            raise ParameterError.of("SyntheticDp.start", "a day such as 2000-01-03, from 1970 to 2199", self.start)

    @property
    def has_truth(self) -> bool:
        """Its ids stand for nobody."""
        return False

    @property
    def calendar(self) -> Calendar:
        """The days of the invented log."""
        first = datetime.strptime(self.start, "%Y-%m-%d").replace(tzinfo=UTC)
        return Calendar(int(first.timestamp()), self.days)


def synthetic_dp(
    log: QueryLog,
    settings: SyntheticDp,
    random: Randomness,
    progress: Progress = QUIET,
    *,
    concepts: ConceptLog,
    taxonomy: Taxonomy,
) -> LogRelease:
    """Publish a log of invented users."""
    if random.seed is None:
        check_library()
    check_columns_public(log)
    has_clicks = settings.clicks and log.url is not None
    texts = plans(rounds=ROUNDS[settings.choose], per_user=settings.per_user, clicks=has_clicks)
    budget = Budget(float(settings.epsilon), float(settings.delta), reserved_delta=float(settings.delta) * RESERVED)
    taken = take_all(texts, budget, times=log.time is not None)
    takes_part = charge(log, settings, budget, progress, method="synthetic-dp")

    rows = takes_part[log.user]
    progress.start("choosing texts")
    vocabulary = choose_vocabulary(log if rows.all() else log.take(rows), texts, taken.texts, random)
    progress.start("counting events")
    topics = topic_bins(taxonomy)
    events = read_events(log, concepts, topics, takes_part)
    found = find_statistics(events, topics, len(log.users), settings.clusters, taken, random)
    progress.start("inventing users")
    published = invent(vocabulary, found, topics, taxonomy, settings.calendar, random, concepts.mapping)
    published = replace(published, form=_form(log, published))
    said = describe_noise(random)
    statement = synthetic_statement(
        settings, vocabulary.rules, said, clicks=published.url is not None, counts_out=count_out(published)
    )
    return publish_log(published, statement, None, Evidence(log, budget=budget, learned=concepts.learned))


def synthetic_statement(
    settings: SyntheticDp,
    rules: Mapping[str, Sequence[Rule]],
    randomness: str,
    *,
    clicks: bool,
    counts_out: dict[str, int],
) -> PrivacyStatement:
    """Return the statement of an invented log; `clicks` = it has a column of them."""
    return PrivacyStatement(
        method="synthetic-dp",
        settings=settings.public(),
        version=__version__,
        model=(
            "(epsilon, delta)-differential privacy of each user, "
            f"epsilon {settings.epsilon:g}, delta {settings.delta:g}"
        ),
        parameters={"epsilon": float(settings.epsilon), "delta": float(settings.delta), **_rules(rules)},
        unit="user",
        ids="invented",
        counts_in={},
        counts_out=counts_out,
        dropped={},
        **_said(settings, randomness, clicks=clicks),
    )


def invent(
    vocabulary: Vocabulary,
    found: Statistics,
    topics: Topics,
    taxonomy: Taxonomy,
    calendar: Calendar,
    random: Randomness,
    mapping: str,
) -> QueryLog:
    """Draw a log from what was published with noise; nothing of the real log comes here."""
    import polars as pl

    source = make_source(vocabulary, found, topics, taxonomy, mapping)
    rows = invent_rows(source, calendar, random)
    code, queries = _coded(rows.text)
    url, urls = None, None
    if rows.pair is not None and vocabulary.clicks is not None:
        there = rows.pair >= 0
        url = np.full(len(rows.pair), NO_CODE, dtype=np.int32)
        url[there], urls = _coded(vocabulary.clicks.url.gather(rows.pair[there]))
    at, drawn = rows.at, rows.drawn
    order = np.arange(len(at)) if drawn.time is None else np.lexsort((drawn.time, drawn.user))
    return QueryLog(
        user=drawn.user[order].astype(np.int32),
        users=pl.Series(sorted(random.child("ids").identifiers(drawn.users)), dtype=pl.String),
        query=code[at][order],
        queries=queries,
        time=None if drawn.time is None else drawn.time[order],
        url=None if url is None else url[order],
        urls=urls,
    )


class Source(NamedTuple):
    """What invented users are drawn from; all of it was published with noise, or is public."""

    model: Model
    vocabulary: Vocabulary
    labels: Labels
    topic: Int64s
    """int64[texts of the vocabulary]"""
    wanted: Float64s
    """float64[texts]: events that a query is to have"""
    filler: Float64s
    """float64[texts]: people who have a phrase"""
    topics: int

    def block(self, number: int, of: int) -> Source:
        """Return the part of the users that a block of many has; all blocks together have all of them."""
        users, fewest, most = self.model.sizes
        mine = users * (number + 1) // of - users * number // of
        middle = (fewest + most) / 2
        part = float((mine * middle).sum() / max(float((users * middle).sum()), 1.0))
        model = self.model._replace(sizes=(mine, fewest, most))
        return self._replace(model=model, wanted=self.wanted * part, filler=self.filler * part)


class InventedRows(NamedTuple):
    """Events of invented users with their texts."""

    drawn: Invented
    at: Int64s
    """int64[events]: the text of each, into `text`"""
    text: pl.Series
    pair: Int64s | None
    """int64[events]: which pair of the clicks each clicks, -1 = none; None = there are no clicks"""


def make_source(vocabulary: Vocabulary, found: Statistics, topics: Topics, taxonomy: Taxonomy, mapping: str) -> Source:
    """Put together what users are drawn from."""
    text_topic = topics_of(vocabulary.text, taxonomy, topics, mapping)
    wanted, filler = vocabulary.people.copy(), vocabulary.people.copy()
    wanted[vocabulary.queries :] = 0.0
    filler[: vocabulary.queries] = 0.0
    of_queries, of_phrases = (np.bincount(text_topic, weights=w, minlength=topics.total) for w in (wanted, filler))
    model = make_model(found, topics, of_queries.astype(np.float64), of_phrases.astype(np.float64))
    return Source(model, vocabulary, labels_of(taxonomy, mapping), text_topic, wanted, filler, topics.total)


def invent_rows(source: Source, calendar: Calendar, random: Randomness) -> InventedRows:
    """Draw users and their events."""
    vocabulary, topics = source.vocabulary, source.topics
    drawn = draw_users(source.model, calendar, random)
    new = np.flatnonzero(drawn.source == np.arange(len(drawn.source)))
    topic = drawn.topic[new]
    dealt = deal_texts(topic, source.topic, source.wanted, source.filler, topics, random.child("texts"))
    dealt = swap_repeated(drawn.user[new], topic, dealt, vocabulary.queries, random.child("swaps"))
    text = write_texts(dealt, topic, vocabulary, source.labels, random.child("words"))
    at = np.empty(len(drawn.source), dtype=np.int64)  # of events with a new text, the number among them
    at[new] = np.arange(len(new))
    at = at[drawn.source]
    pair = None
    if vocabulary.clicks is not None:
        people = np.append(vocabulary.people, np.zeros(topics))
        pair = draw_clicks(dealt[at], people, vocabulary.clicks, random.child("clicks"))
    return InventedRows(drawn, at, text, pair)


def _coded(texts: pl.Series) -> tuple[npt.NDArray[np.int32], pl.Series]:
    """Return a code for each text, and the distinct texts."""
    code, first = code_texts(texts)
    return code.astype(np.int32), texts.gather(first)


def _form(log: QueryLog, published: QueryLog) -> Any:
    """Keep the form of the input for the columns that are published."""
    if log.form is None:
        return None
    roles = {"user", "query"} | {role for role in ("time", "url") if getattr(published, role) is not None}
    return replace(log.form, columns=tuple(c for c in log.form.columns if c.role in roles))


def _rules(of_kinds: Mapping[str, Sequence[Rule]]) -> dict[str, float]:
    """Return the numbers of the choice, which follow from the settings alone."""
    out: dict[str, float] = {}
    for kind, rules in of_kinds.items():
        for i, done in enumerate(rules):
            name = f" of {PLURALS[kind]}, round {i + 1}"
            out |= {f"deviation of the noise{name}": done.deviation, f"threshold{name}": done.threshold}
    return out


def _said(settings: SyntheticDp, randomness: str, *, clicks: bool) -> dict[str, Any]:
    """Return what a statement says besides numbers."""
    promise = (
        f"without any one user, any such log would have been as likely, up to a factor of exp({settings.epsilon:g}) "
        f"and an exception of probability {settings.delta:g}: its texts, times, clicks, lengths and number of users"
    )
    of_clicks = ("a click is there only where its query and URL were chosen; others are missing, so are all ranks",)
    return {
        "covers": (promise, "no published id stands for a person: users, sessions and times are drawn"),
        "does_not_cover": (
            "published texts are verbatim: a secret that many users share is published",
            "what all users have in common is published: the guarantee is about each user alone",
            "words in braces are labels drawn for a topic: the topic was counted, the label was not",
            *(of_clicks if clicks else ()),
            "the log is invented: no sequence of rows was seen, and what is rare in the real one is missing",
            settings.adds_up,
        ),
        "assumptions": (
            "one person is one user of the log",
            "the taxonomy and the settings, days included, were chosen without looking at the log",
        ),
        "randomness": randomness,
        "new_ids": True,
    }
