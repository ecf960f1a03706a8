"""Auditing: is the epsilon that a method claims possible? A lower bound from thousands of runs on neighbouring logs.

1. **Pairs.** Small logs that differ in one user (`audit_pairs.py`), for the neighbours that the method's account names.
2. **Choosing.** The method runs some times on both logs of every pair, and more often on the most telling ones; events
   that tell the logs apart are looked for in everything that is published, the statement included (`audit_events.py`,
   `audit_features.py`).
3. **Measuring.** The most telling pairs run again, many more times. How often each chosen event happens on either side
   bounds epsilon from below (Clopper and Pearson), at 99.9 % over all bounds together: each has its part of the error.

Runs go through `Workbench.anonymize`: the released method with its real noise, the gate and its statement. A seed makes
them repeatable; then the noise is NumPy's, and the audit is about that. For a method with a delta, everything is done
twice: as asked, and with a delta of 0.05. A threshold that is too low changes a probability of 1e-6 at a delta of 1e-6,
which no number of runs would show, and one of 0.05 at 0.05.

What a bound below the claim shows is little: these pairs and events found nothing. A bound above it is a proof, up to
an error of 0.1 %.
"""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any, Final

from querycloak.catalog import METHODS
from querycloak.catalog import method as find_method
from querycloak.errors import ParameterError, UnknownNameError, UserError
from querycloak.evaluation.audit_pairs import Pair, crowd_log, pairs_for, small_taxonomy
from querycloak.evaluation.audit_result import Audit
from querycloak.evaluation.audit_runs import AuditedMethod, Candidate
from querycloak.evaluation.estimates import audit_seconds, in_words
from querycloak.evaluation.workbench import load_taxonomy
from querycloak.mapping.modes import check_mapping
from querycloak.names import match_name
from querycloak.progress import QUIET, Progress
from querycloak.releases.account import ADD_REMOVE

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from os import PathLike

    from querycloak.knowledge.taxonomy import Taxonomy
    from querycloak.releases.account import Relation
    from querycloak.releases.statement import PrivacyStatement

__all__ = ["ERROR", "LARGE_DELTA", "audit"]

ERROR: Final = 0.001
"""Probability that any bound of an audit is above the true epsilon."""
LARGE_DELTA: Final = 0.05
FOLLOWED: Final = 6
"""Pairs that have a second, longer look, of all that events are looked for in."""
MEASURED: Final = 3
"""Pairs that are measured, of those."""
_FIRST_LOOK: Final = 0.07
_SECOND_LOOK: Final = 0.3
"""Runs of the looks, as a share of those for measuring."""
_LEAST: Final = 100
_CROWDS: Final = (2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32, 40, 48, 64, 80, 96, 128, 192, 256, 384, 512)
_CROWD_RUNS: Final = 12
_NO_CROWD: Final = 24


def audit(
    method: str,
    *,
    runs: int = 2000,
    pairs: Iterable[str] | None = None,
    seed: int | None = None,
    taxonomy: Taxonomy | str | PathLike[str] | None = None,
    mapping: str | None = None,
    progress: Progress = QUIET,
    **settings: Any,
) -> Audit:
    """Run a differentially private method many times on neighbouring logs, and bound its epsilon from below.

    `runs` are those of each side of each measured pair; `pairs` are names, None = all that fit. `taxonomy` is one of
    seven concepts without a name or file, `mapping` how queries are read. The statement's claim is true only if no
    bound is above it (`passed`).
    """
    if isinstance(runs, bool) or not isinstance(runs, int) or not 100 <= runs <= 10_000_000:
        raise ParameterError.of("runs", "an integer from 100 to 10,000,000", runs)
    check_mapping(mapping)
    settings, tree = _checked(method, settings, taxonomy)
    named = None if pairs is None else list(pairs)
    first = max(_LEAST, int(runs * _FIRST_LOOK))
    second = max(_LEAST, int(runs * _SECOND_LOOK))
    found: list[Candidate] = []
    audited = []
    relation: Relation = ADD_REMOVE
    for wanted in _deltas(method, settings):
        one = AuditedMethod(find_method(method).name, wanted, tree, seed, mapping)
        audited.append(one)
        claimed = one.statement(crowd_log(8, 1))
        chosen = _pairs_of(claimed, named)
        relation = claimed.account[0].relation
        claim, delta = claimed.parameters["epsilon"], claimed.parameters.get("delta", 0.0)
        if len(audited) == 1:
            _note_time(method, runs, first, second, len(chosen) * len(_deltas(method, settings)), progress)
        crowds = _crowds(one, {pair.texts for pair in chosen if pair.crowd != "few"}, progress)
        progress.start(f"a first look at {len(chosen)} pairs, delta {delta:g}", total=2 * first * len(chosen))
        for pair in chosen:
            found.append(Candidate(one, pair, pair.sides(_people(pair, crowds)), claim, delta))
            found[-1].look(first, progress)
    found.sort(key=Candidate.rank, reverse=True)
    progress.start("a longer look at the most telling", total=2 * second * len(found[:FOLLOWED]))
    for candidate in found[:FOLLOWED]:
        candidate.look(second, progress)
    found[:FOLLOWED] = sorted(found[:FOLLOWED], key=Candidate.rank, reverse=True)
    measured = found[:MEASURED]
    progress.start("measuring", total=2 * runs * len(measured))
    done = [one.measure(runs, ERROR / len(measured), progress) for one in measured]
    done.sort(key=lambda pair: pair.bound - pair.claim, reverse=True)
    return Audit(
        method=find_method(method).name,
        settings=settings,
        relation=relation,
        taxonomy=tree.name,
        seed=seed,
        error=ERROR,
        runs=sum(one.runs for one in audited),
        pairs=(*done, *(c.audited() for c in found[MEASURED:])),
    )


def _note_time(method: str, runs: int, first: int, second: int, pairs: int, progress: Progress) -> None:
    """Say how many runs there will be, and how long they take."""
    number = 2 * (first * pairs + second * min(FOLLOWED, pairs) + runs * min(MEASURED, pairs))
    seconds = audit_seconds(find_method(method).name, number)
    if seconds is not None:
        progress.note(f"{number:,} runs: {in_words(seconds)} if this machine has nothing else to do")


def _checked(
    method: str, settings: dict[str, Any], taxonomy: Taxonomy | str | PathLike[str] | None
) -> tuple[dict[str, Any], Taxonomy]:
    """Refuse what cannot be audited; return the settings, and the taxonomy that the method runs over."""
    entry = find_method(method)
    known = {f.name for f in fields(entry.settings)}
    if "epsilon" not in known:
        private = ", ".join(sorted(n for n, m in METHODS.items() if "differential privacy" in m.guarantee))
        raise UserError(f"{entry.name} claims no differential privacy, so there is no epsilon to audit; try {private}.")
    for name in settings:
        if name not in known:
            raise ParameterError.unknown(
                "audit", name, [*known, "runs", "pairs", "seed", "taxonomy", "mapping", "progress"]
            )
    if settings.get("ledger") is not None:
        raise ParameterError("An audit takes no ledger: nobody's log is released, so nobody pays.")
    if taxonomy is None and "domain" in known:
        settings = {"domain": "all", **settings}  # the small tree has no topics
    entry.settings.from_json({**entry.given, **settings})
    return {**entry.given, **settings}, small_taxonomy() if taxonomy is None else load_taxonomy(taxonomy)


def _deltas(method: str, settings: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the settings as asked, and with a large delta where the method has one."""
    defaults = {f.name: f.default for f in fields(find_method(method).settings)}
    delta = settings.get("delta", defaults.get("delta"))
    if delta is None or delta >= LARGE_DELTA:
        return [settings]
    return [settings, {**settings, "delta": LARGE_DELTA}]


def _pairs_of(claimed: PrivacyStatement, named: Sequence[str] | None) -> list[Pair]:
    """Return the pairs of the claimed relation, or those named."""
    relation = claimed.account[0].relation if claimed.account else None
    all_of_them = () if relation is None else pairs_for(relation)
    if "epsilon" not in claimed.parameters or claimed.unit != "user" or not all_of_them:
        raise UserError(
            f"{claimed.method} with these settings promises no differential privacy of a user's whole log "
            f"({claimed.model}), so there is no epsilon of a user to audit."
        )
    names = {pair.name: pair for pair in all_of_them}
    meant = [match_name(name, names) for name in named or ()]
    for name, found in zip(named or (), meant, strict=True):
        if found is None:
            raise UnknownNameError.of("pair", name, names)
    if named is not None and not named:
        raise ParameterError("pairs names no pair; leave it out for all.")
    return list(all_of_them) if named is None else [names[name] for name in dict.fromkeys(meant) if name]


def _crowds(method: AuditedMethod, texts: Iterable[int], progress: Progress) -> dict[int, int]:
    """Find the crowds with which it is undecided whether a text is published: texts per person → people.

    The logs are the audit's own, so looking for it costs nobody anything.
    """
    out = {}
    for number in sorted(texts):
        progress.start(f"how many people make {number} texts frequent", total=len(_CROWDS) * _CROWD_RUNS)
        out[number] = _NO_CROWD
        for people in _CROWDS:
            log = crowd_log(people, number)
            runs = method.run(log, frozenset(), _CROWD_RUNS, f"crowd {people} {number}", progress)
            seen = sum(any(name.startswith("rows of") and "'tea'" in name for name in run) for run in runs)
            if seen >= _CROWD_RUNS // 4:
                out[number] = people - 1  # the user of the pair is one more
                break
    return out


def _people(pair: Pair, crowds: dict[int, int]) -> int:
    if pair.crowd == "few":
        return 2
    undecided = crowds[pair.texts]
    return undecided if pair.crowd == "undecided" else 2 * undecided + 8
