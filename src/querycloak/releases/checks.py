"""The checks of the gate: each recomputes one promise of a statement on the finished table, and raises GateError.

None of them trusts the method: texts are looked up in the log by their letters, classes are counted from the rows, and
what is promised is read from the statement, which must promise no less than the settings ask for.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

import numpy as np

from querycloak.errors import GateError
from querycloak.releases.classes import class_sizes

if TYPE_CHECKING:
    import numpy.typing as npt

    from querycloak.logs.query_log import Codes, QueryLog
    from querycloak.releases.budget import Budget
    from querycloak.releases.release import Release, Truth
    from querycloak.releases.statement import PrivacyStatement

__all__ = [
    "OF_MECHANISMS",
    "broken",
    "check_budget",
    "check_classes",
    "check_counts",
    "check_departures",
    "check_ids",
    "check_promises",
    "check_public",
]

OF_MECHANISMS: Final = ("epsilon", "delta", "threshold", "deviation of the noise", "noise scale")
"""How the names of the numbers of a differentially private statement begin; others may be exact counts of the log."""


def check_promises(statement: PrivacyStatement) -> None:
    """Check that the statement promises no less than the settings ask for."""
    settings, parameters = statement.settings, statement.parameters
    if settings.get("epsilon_times"):  # a method may be asked to promise a multiple of its epsilon
        settings = {**settings, "epsilon": settings["epsilon"] * settings["epsilon_times"]}
    _check_numbers(statement)
    asked = 1 if settings.get("rare") == "keep" else settings.get("min_query_users") or 1
    if statement.text_users < asked:
        raise broken(
            statement, f"texts of {asked} people were asked for, the statement promises {statement.text_users}"
        )
    if settings.get("identifiers") in {True, "drop"} and not statement.identifiers_dropped:
        raise broken(statement, "identifiers were to be dropped, the statement does not promise it")
    if "k" in parameters and statement.unit != "user":
        raise broken(statement, f"k is promised for the unit {statement.unit!r}; it is a promise for users")
    if "differential" in statement.model.lower() and "epsilon" not in parameters:  # no check would look at it
        raise broken(statement, "differential privacy is promised in words, and no epsilon as a number")
    for name in ("k", "epsilon", "delta"):
        promised = parameters.get(name, parameters.get("candidates") if name == "k" else None)
        if settings.get(name) is None or (promised is None and statement.model == "none"):
            continue
        if promised is None:
            raise broken(statement, f"{name} is {settings[name]} in the settings and not promised")
        if promised < settings[name] if name == "k" else promised > settings[name]:
            raise broken(statement, f"{name} is {settings[name]} in the settings and {promised} promised")


def _check_numbers(statement: PrivacyStatement) -> None:
    """Check that what is promised are numbers that mean something: comparisons with NaN are never true."""
    for name, value in statement.parameters.items():
        if not math.isfinite(value) or value < 0:
            raise broken(statement, f"{name} is {value}, which promises nothing")
        if name in {"k", "candidates"} and (value < 1 or not value.is_integer()):
            raise broken(statement, f"{name} is {value}; it is a whole number of users")
    if not isinstance(statement.text_users, int) or statement.text_users < 1:
        raise broken(statement, "the number of people per text is no whole number of people")


def check_counts(table: QueryLog, statement: PrivacyStatement) -> None:
    """Check that every row has a text, and that what the statement says of the table's size is so."""
    if len(table) and int(table.query.min()) < 0:  # such a row would be written with any other row's text
        raise broken(statement, "a row without a text is published")
    seen = {"rows": len(table), "users": _distinct(table.user), "distinct queries": _distinct(table.query)}
    for name, stated in statement.counts_out.items():
        if stated != seen.get(name, stated):
            raise broken(statement, f"{stated:,} {name} are stated, {seen[name]:,} are published")
    if "epsilon" in statement.parameters and not statement.counts_out.keys() <= seen.keys():
        raise broken(statement, "the statement counts what the table does not show")


def _distinct(codes: Codes) -> int:
    """Count distinct codes, without sorting."""
    return int(np.count_nonzero(np.bincount(codes)))


def check_classes(table: QueryLog, statement: PrivacyStatement) -> None:
    """Check that every published user shares its rows with at least k - 1 others, where k-anonymity is promised."""
    if statement.unit != "user" or "k" not in statement.parameters:
        return
    k = int(statement.parameters["k"])
    size = class_sizes(table, ordered=True)
    few = int((size < k).sum())
    if few:
        raise broken(statement, f"{few:,} of {len(size):,} published users are in a class of fewer than {k}")


def check_ids(table: QueryLog, statement: PrivacyStatement, original: QueryLog, truth: Truth | None) -> None:
    """Check that no id of the log is published, and that each published id stands for one person of the log."""
    if statement.new_ids:
        known = int(table.users.str.to_lowercase().is_in(original.users.str.to_lowercase().implode()).sum())
        if known:
            raise broken(statement, f"{known:,} published ids are ids of the log")
    if table.users.n_unique() != len(table.users):
        raise broken(statement, "two published users have the same id")
    if statement.ids == "invented":
        _check_invented(statement, truth)
        return
    if truth is None:
        raise broken(statement, "users are published, and it is not said whom their ids stand for")
    if len(truth.user) != len(table.users):
        raise broken(statement, f"{len(table.users):,} ids are published, the truth knows {len(truth.user):,}")
    if len(truth.user) and not 0 <= truth.user.min() <= truth.user.max() < len(original.users):
        raise broken(statement, "published ids stand for nobody of the log")
    if statement.ids == "person" and len(np.unique(truth.user)) != len(truth.user):
        raise broken(statement, "two published ids stand for one person")
    if statement.ids != "person" and statement.unit != "query" and (statement.model != "none" or statement.parameters):
        raise broken(statement, "a person may have several ids, and a bound for people is promised")


def _check_invented(statement: PrivacyStatement, truth: Truth | None) -> None:
    """Check that ids which are said to stand for nobody are drawn: only differential privacy of users promises it."""
    if truth is not None:
        raise broken(statement, "ids are said to be invented, and it is known whom they stand for")
    if not statement.new_ids:
        raise broken(statement, "ids are said to be invented, and are not new")
    if statement.unit != "user" or not statement.parameters.get("epsilon"):
        raise broken(statement, "ids are said to be invented, and differential privacy of users is not promised")


def check_departures(k: int, asker: Codes, user: npt.NDArray[np.integer], candidates: npt.NDArray[np.integer]) -> None:
    """Check that no record of a stream leaves under its own asker, or with fewer than k others to draw from."""
    if not len(asker) == len(user) == len(candidates):
        raise GateError("records would leave without their asker or their candidates; nothing of this is published.")
    own = int((asker == user).sum())
    if own:
        raise GateError(f"{own:,} records would leave under the user who asked them; nothing of this is published.")
    few = int((candidates < k).sum())
    if few:
        raise GateError(f"{few:,} records would leave with fewer than {k} candidates; nothing of this is published.")


def check_budget(statement: PrivacyStatement, budget: Budget | None) -> None:
    """Check that what was spent is at most what the statement promises."""
    if budget is None:
        raise broken(statement, "differential privacy is promised, and no budget was kept")
    epsilon, delta = budget.total()
    promised = statement.parameters["epsilon"], statement.parameters.get("delta", 0.0)
    if epsilon > promised[0] or delta > promised[1]:
        raise broken(statement, f"epsilon {epsilon:g}, delta {delta:g} were spent, more than promised")
    if not budget.account:
        raise broken(statement, "differential privacy is promised, and nothing was taken from the budget")
    unused = [share.purpose for share in budget.account if not share.used]
    if unused:  # what ran then took its noise from elsewhere
        raise broken(statement, f"a share of the budget was never used: {unused[0]}")
    if statement.settings.get("ledger") and not budget.closed:
        raise broken(statement, "a ledger is named, and nothing was charged to it")


def check_public(
    table: QueryLog, statement: PrivacyStatement, kind: type[Release], *, learned: bool, found: bool
) -> None:
    """Check that a differentially private release shows nothing of the log but through its noise.

    No exact count of the input in the statement, no column kept from the log, no knowledge learned from it (`learned`),
    no column whose role was found among its records (`found`).
    """
    if any(not name.startswith(OF_MECHANISMS) for name in statement.parameters):
        raise broken(statement, "the statement holds numbers that are no bound and no setting of its noise")
    if statement.counts_in or statement.dropped or statement.figures:
        raise broken(statement, "the statement holds exact counts of the log, which are not private")
    if kind.has_users and not statement.new_ids:
        raise broken(statement, "ids of the log are published, which are not private")
    of_log = ("time", "rank", "url", *(() if kind.holds_concepts else ("category",)))
    noisy = _chosen_columns(table, statement, kind)
    kept = [name for name in of_log if getattr(table, name) is not None and name not in noisy]
    kept += [] if table.extra is None else [name for name in table.extra.columns if name not in noisy]
    if table.extra is not None and "count" in table.extra.columns and not table.extra["count"].dtype.is_integer():
        raise broken(statement, "counts are no whole numbers; what is left after the point tells of the noise")
    if kept:
        raise broken(statement, f"columns of the log are published as they were: {', '.join(kept)}")
    if learned:
        raise broken(statement, "the mapping was learned from the log; only public knowledge may be used")
    if found:
        raise broken(statement, "which column is which was found among the records, and one user's may decide it")


def _chosen_columns(table: QueryLog, statement: PrivacyStatement, kind: type[Release]) -> set[str]:
    """Return the columns that a table may have because its budget paid for what is in them.

    Without users, or with invented ones: URLs, where clicks were chosen by a threshold with a delta of its own. Without
    users, which kind of item a row is; with invented ones, times.
    """
    noisy = {"count"}
    if kind.has_users and statement.ids != "invented":
        return noisy
    if any(line.delta > 0 and line.purpose.startswith("threshold of clicks") for line in statement.account):
        noisy.add("url")
    if kind.has_users:
        return (noisy | {"time"}) if _of_calendar(table, statement) else noisy
    if table.extra is not None and "kind" in table.extra.columns:
        known = table.extra["kind"].is_in(["query", "phrase", "click"])
        noisy |= {"kind"} if known.all() else set()
    return noisy


def _of_calendar(table: QueryLog, statement: PrivacyStatement) -> bool:
    """Tell whether times may be drawn: their hours have a rho, and all are of the days that the settings name."""
    paid = any(line.rho > 0 and line.purpose == "hours of the week" for line in statement.account)
    first, days = statement.settings.get("start"), statement.settings.get("days")
    if not paid or table.time is None or not isinstance(first, str) or not isinstance(days, int):
        return False
    begin = int(np.datetime64(first, "s").astype(np.int64))
    return not len(table) or bool(begin <= table.time.min() and table.time.max() < begin + days * 86_400)


def broken(statement: PrivacyStatement, what: str) -> GateError:
    """Return the error of a promise that does not hold."""
    return GateError(f"{statement.method}: {what}. Nothing is published; this is a fault of the method.")
