"""What a differentially private release asks of its log before anything is drawn: public columns, and budget."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from querycloak.errors import UserError

if TYPE_CHECKING:
    from querycloak.logs.form import LogForm
    from querycloak.logs.query_log import QueryLog
    from querycloak.methods.dp._dp_settings import DpSettings
    from querycloak.progress import Progress
    from querycloak.releases.budget import Budget

__all__ = ["charge", "check_columns_public", "check_form_public"]


def check_columns_public(log: QueryLog) -> None:
    """Refuse a log whose columns were found among its records; what a header or the user named is public."""
    check_form_public(log.form)


def check_form_public(form: LogForm | None) -> None:
    """Refuse the form of a log if its columns were found among its records.

    JSON has no header. One record with the key `time` took the time of all other users' records, which have `ts`, away
    from them, and with it what joins the clicks of one search: the count of one text went from 299 to 599.
    """
    if form is not None and form.found:
        there = ",".join(f"{c.role}={c.name}" for c in form.columns if c.role in {"user", "query"})
        raise UserError(
            "JSON does not say which columns there are, and one person's record could change what they mean for all: "
            f"for differential privacy name all that are to be used, as in --columns {there} (time=…, url=… as well). "
            "Nothing was spent."
        )


def charge(
    log: QueryLog, settings: DpSettings, budget: Budget, progress: Progress, *, method: str
) -> npt.NDArray[np.bool_]:
    """Return who takes part in a release, bool[users of the vocabulary]; a ledger has been charged when this returns.

    Call it when all shares are taken from the budget, all settings are checked, and nothing is drawn: what follows
    costs nobody more, and what fails before costs nothing. Everybody in the log pays the whole account, whatever they
    asked. The method leaves out the rows of everybody else. Where the number of users is published, they stay as users
    without a row that counts: to leave them out would tell how many paid for earlier releases.
    """
    present = np.unique(log.user)
    takes_part = np.zeros(len(log.users), dtype=np.bool_)
    takes_part[present] = True
    path, name = getattr(settings, "ledger", None), getattr(settings, "ledger_log", None)
    if path is None:
        return takes_part
    from querycloak.releases.ledger import Ledger

    ledger = Ledger(path, log=name or "")
    takes_part[present] = ledger.reserve(log.users.gather(present).to_list(), budget.lines, method=method)
    budget.closed = True
    some = int(takes_part.sum())
    progress.note(
        f"Ledger {ledger.path.name}: {some:,} of {len(present):,} people take part, the others have too little left "
        f"(not in the statement: these counts are exact). Its head is now {ledger.head}: keep that elsewhere."
    )
    return takes_part
