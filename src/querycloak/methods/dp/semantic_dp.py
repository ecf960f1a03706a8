"""Semantic differential privacy (Sánchez et al. 2018): queries become others, drawn near their meaning.

A concept is replaced by one drawn by the exponential mechanism over the concepts of a domain (equations 3, 5, 6, 12;
`_semantic_dp_mechanism.py` has the draw, `_semantic_dp_calibration.py` the proof of its ε). Two shapes of release:

- `user` (`_semantic_dp_rows.py`, the default): exactly r rows for every user, each drawn for one of the user's units at
  random. ε covers a user's whole log, its length too.
- `paper` (`_semantic_dp_paper.py`): a row for every query, as the paper has it. ε covers which concepts they are about,
  and nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, cast

from querycloak._version import __version__
from querycloak.errors import ParameterError
from querycloak.knowledge.topics import read_topics
from querycloak.methods.dp._domains import DOMAIN_HELP, TOPICS_HELP, choose_domains
from querycloak.methods.dp._dp_settings import MOST_PER_USER, DpSettings, ledger_log_setting, ledger_setting
from querycloak.methods.dp._semantic_dp_mechanism import Criterion, Mechanism
from querycloak.methods.dp._semantic_dp_paper import draw_units
from querycloak.methods.dp._semantic_dp_rows import draw_rows
from querycloak.methods.dp._semantic_dp_statement import covers, does_not_cover, model, promised
from querycloak.methods.dp._spending import check_columns_public
from querycloak.progress import QUIET, Progress
from querycloak.releases.publish import Evidence, publish_log
from querycloak.releases.statement import PrivacyStatement
from querycloak.releases.table import count_out, under_new_ids
from querycloak.settings import setting

if TYPE_CHECKING:
    from querycloak.knowledge.taxonomy import Taxonomy
    from querycloak.logs.query_log import QueryLog
    from querycloak.mapping.concept_log import ConceptLog
    from querycloak.randomness import Randomness
    from querycloak.releases.release import LogRelease

__all__ = ["SemanticDp", "prepare", "semantic_dp", "semantic_statement"]

KEY_OF_DRAWS = ", of which a key is drawn for each release; rows follow from the key and the user"
_ROWS = 20
_OF_PAPER = {
    "per_user_queries": None, "epsilon_for": "user", "epsilon_times": 1, "weights": "calibrated", "rebuild": "label",
}  # fmt: skip
"""settings of the paper's shape alone, with their defaults"""


@dataclass(frozen=True)
class SemanticDp(DpSettings):
    """Settings of `semantic-dp`."""

    epsilon: float = setting(1.0, "budget of each user over all of the user's rows", above=0, below=1e9)
    shape: str = setting(
        "user",
        "user = exactly --rows-per-user rows for every user, which hides all of a user's log; paper = a row for every "
        "query, which shows how many there are and in which order",
        choices=("user", "paper"),
    )
    rows_per_user: int = setting(_ROWS, "rows of each user, all at epsilon / rows", minimum=1, below=MOST_PER_USER + 1)
    criterion: str = setting(
        "sqc1",
        "how near is near: sqc1 = by shared ancestors, sqc2 = the same, within a finer topic, nsqc = equal or not",
        choices=("sqc1", "sqc2", "nsqc"),
    )
    domain: str = setting("all", DOMAIN_HELP)
    topics: str = setting("paper", TOPICS_HELP)
    per_user_queries: int | None = setting(
        None, "with --shape paper, cut each user's budget into so many draws, one per unit of a query, and leave out "
        "what goes beyond; none = as many as the user has", minimum=1, below=MOST_PER_USER + 1,
    )  # fmt: skip
    epsilon_for: str = setting(
        "user",
        "with --shape paper: user = all units of a user share epsilon; query = each unit has all of it, as in the "
        "paper's figures, and nothing is promised for users",
        choices=("user", "query"),
    )
    epsilon_times: int = setting(
        1, "with --per-user-queries: so many times as many draws of a user, at the same epsilon each; the promise is "
        "so many times epsilon", minimum=1, below=10_001,
    )  # fmt: skip
    weights: str = setting(
        "calibrated",
        "weights of the draw: calibrated = all of epsilon is used; with --shape paper also paper = half of it, as in "
        "equation 3 of the paper",
        choices=("calibrated", "paper"),
    )
    rebuild: str = setting(
        "label",
        "text of a published query: label = labels of the drawn concepts; with --shape paper also shape = plurals and "
        "words like in, the, how; paper = all words around the concepts, which are not protected",
        choices=("label", "shape", "paper"),
    )
    ledger: str | None = ledger_setting()
    ledger_log: str | None = ledger_log_setting()

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.shape == "user":
            self._check_user_shape()
            return
        if self.rows_per_user != _ROWS:
            raise ParameterError("--rows-per-user is an option of --shape user: the paper's shape has a row per query.")
        if self.epsilon_for == "query" and (self.per_user_queries, self.epsilon_times) != (None, 1):
            raise ParameterError(
                "With --epsilon-for query no budget of a user is kept: leave out --per-user-queries and "
                "--epsilon-times."
            )
        if self.epsilon_times > 1 and self.per_user_queries is None:
            raise ParameterError("--epsilon-times needs --per-user-queries: it is so many times as many draws.")
        if self.ledger is not None:
            raise ParameterError("A ledger needs --shape user: the paper's shape bounds nothing for a whole person.")

    def _check_user_shape(self) -> None:
        if self.domain == "topics":
            raise ParameterError(
                "A domain per topic needs --shape paper: topics share no outcome, so a row would tell its topic at any "
                "epsilon; take --domain one, or the name of one topic."
            )
        for name, default in _OF_PAPER.items():
            if getattr(self, name) != default:
                option = f"--{name.replace('_', '-')}"
                raise ParameterError(f"{option} {getattr(self, name)} needs --shape paper.")


def prepare(settings: SemanticDp, taxonomy: Taxonomy) -> Mechanism:
    """Build the mechanism that the settings name. It depends on taxonomy and topics only, never on a log."""
    domains, topics = choose_domains(taxonomy, settings.domain, settings.topics)
    profile: tuple[int, ...] = ()
    if settings.criterion == "sqc2":
        profile = (topics or read_topics(settings.topics, taxonomy)).fine
    return _mechanism(taxonomy, domains, cast("Criterion", settings.criterion), profile, settings.weights == "paper")


@lru_cache(maxsize=4)
def _mechanism(
    taxonomy: Taxonomy, domains: tuple[int, ...], criterion: Criterion, profile: tuple[int, ...], as_in_paper: bool
) -> Mechanism:
    """Remember the last mechanisms: attacks run a method several times, and the worst case of a domain is public."""
    return Mechanism.over(taxonomy, domains, criterion=criterion, profile=profile, as_in_paper=as_in_paper)


def semantic_dp(
    log: QueryLog,
    settings: SemanticDp,
    random: Randomness,
    progress: Progress = QUIET,
    *,
    concepts: ConceptLog,
    taxonomy: Taxonomy,
) -> LogRelease:
    """Draw the rows of every user, and publish them under new ids."""
    check_columns_public(log)
    mechanism = prepare(settings, taxonomy)
    draw = draw_rows if settings.shape == "user" else draw_units
    rows = draw(log, settings, mechanism, random, progress, concepts=concepts, taxonomy=taxonomy)
    digits = False if settings.shape == "user" else None  # the paper's neighbours have the same ids
    published, truth, *_ = under_new_ids(log, rows.user, rows.query, random, queries=rows.words, digits=digits)
    randomness = random.describe()
    if settings.shape == "user" and random.seed is None:
        randomness += KEY_OF_DRAWS
    statement = semantic_statement(settings, taxonomy, mechanism, randomness, count_out(published))
    return publish_log(published, statement, truth, Evidence(log, budget=rows.budget, learned=concepts.learned))


def semantic_statement(
    settings: SemanticDp, taxonomy: Taxonomy, mechanism: Mechanism, randomness: str, counts_out: dict[str, int]
) -> PrivacyStatement:
    """Return the statement of a release."""
    return PrivacyStatement(
        method="semantic-dp",
        settings=settings.public(),
        version=__version__,
        model=model(settings),
        parameters={"epsilon": promised(settings)},
        unit=settings.epsilon_for,
        covers=covers(settings, taxonomy, mechanism),
        does_not_cover=does_not_cover(settings),
        assumptions=(
            "one person is one user of the log",
            "the taxonomy, the topics and the settings were chosen without looking at the log",
        ),
        randomness=randomness,
        new_ids=True,
        counts_in={},
        counts_out=counts_out,
        dropped={},
    )
