"""Personal identifiers left in a release: mail, phone, card, addresses and the other kinds, and names of persons."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from querycloak.attacks.interval import NOTHING, result_of
from querycloak.knowledge.wordnet import load_wordnet
from querycloak.progress import QUIET, Progress
from querycloak.texts.identifiers import KINDS, find_identifiers
from querycloak.texts.names import find_names

if TYPE_CHECKING:
    from querycloak.attacks.result import AttackResult
    from querycloak.logs.query_log import QueryLog
    from querycloak.randomness import Randomness
    from querycloak.releases.release import Release

__all__ = ["personal_identifiers"]

OWN_NAME: Final = (
    r"^(?:my name is|i am|who is|find) [a-z]+ [a-z]+$"
    r"|^[a-z]+ [a-z]+ (?:obituary|genealogy|family tree|home address|phone number|arrest record|born [0-9]{4})\b"
)
"""Patterns of queries by which people look up themselves or someone they know."""


def personal_identifiers(
    log: QueryLog,  # noqa: ARG001 - all attacks are called alike
    release: Release,
    random: Randomness,  # noqa: ARG001
    progress: Progress = QUIET,
) -> AttackResult:
    """Return the share of published rows that contain an identifier or a name; the details have each kind.

    Identifiers are found by patterns, names by lists of first and last names (`texts/names.py`). `own name` are the
    searches by which people look up themselves or someone they know, whatever the name.
    """
    progress.start("attack: personal identifiers")
    mask = find_identifiers(release.log.queries)[release.log.query]
    own_name = release.log.queries.str.to_lowercase().str.contains(OWN_NAME).to_numpy().astype(np.bool_)
    own = own_name[release.log.query]
    named = find_names(release.log.queries, load_wordnet())[release.log.query]
    rows = max(len(mask), 1)
    details = {kind: float((mask >> bit & 1).sum()) / rows for bit, kind in enumerate(KINDS)}
    details["own name"] = float(own.sum()) / rows
    details["name"] = float(named.sum()) / rows
    success = ((mask != 0) | own | named).astype(np.float64)
    return result_of(
        "personal-identifiers",
        success,
        release,
        question="singling out",
        risk="count",
        knows="nothing",
        unit="record",
        baseline=NOTHING,
        details=details,
    )
