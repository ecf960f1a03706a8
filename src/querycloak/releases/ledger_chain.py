"""The rows of a ledger, and the chain of hashes that holds them together.

A row is one reservation: when, which method, what it costs each person (its account, in native guarantees), and whom.
Its head is the SHA-256 of all of that and of the head of the row before; the first row follows the start, which is the
SHA-256 of the ledger's budget, log and rule for ids. So a changed number breaks the chain at its row, and a row that
was taken out leaves a gap. The ledger also says how many rows it has and what the last head is, so that the last rows
cannot be cut off alone. An older copy of the whole file is in order by itself: only a head that was kept elsewhere
shows it.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt

from querycloak.errors import CheckFailedError
from querycloak.releases.account import AccountLine
from querycloak.releases.composition import compose, fits

if TYPE_CHECKING:
    import sqlite3
    from pathlib import Path

__all__ = ["LedgerRow", "LedgerState", "head_of_row", "read_state", "start_of", "verify_state"]

PERSON: Final = np.dtype("V16")
"""A person in a ledger: a keyed hash of 16 bytes."""
People = npt.NDArray[Any]


@dataclass(frozen=True)
class LedgerRow:
    """One reservation."""

    number: int
    at: str
    """UTC"""
    method: str
    account: tuple[AccountLine, ...]
    """what it costs each person"""
    people: bytes
    """the hashes of the people who take part, sorted"""
    head: bytes

    @property
    def hashes(self) -> People:
        """V16[people]."""
        return np.frombuffer(self.people, dtype=PERSON)


@dataclass(frozen=True)
class LedgerState:
    """All that a ledger says at one moment."""

    path: Path
    log: str
    epsilon: float
    delta: float
    fold_case: bool
    made: str
    key_check: bytes
    start: bytes
    length: int
    head: bytes
    rows: tuple[LedgerRow, ...]

    def spent(self, people: People) -> tuple[list[tuple[AccountLine, ...]], npt.NDArray[np.int64]]:
        """Return what people have spent: the different accounts, and int64[people], which of them each has."""
        accounts = list(dict.fromkeys(row.account for row in self.rows))
        times = np.zeros((len(people), len(accounts)), dtype=np.int64)  # how often each person paid each account
        for row in self.rows:
            times[np.isin(people, row.hashes), accounts.index(row.account)] += 1
        different, which = np.unique(times, axis=0, return_inverse=True)
        lines = [
            tuple(line for account, n in zip(accounts, each, strict=True) for _ in range(n) for line in account)
            for each in different.tolist()
        ]
        return lines, which.reshape(-1)

    def people(self) -> People:
        """Return everybody in the ledger: V16[people], sorted."""
        return np.unique(np.concatenate([np.empty(0, PERSON), *(row.hashes for row in self.rows)]))

    def epsilons(self) -> npt.NDArray[np.float64]:
        """Return the ε that each person of the ledger has spent, at the ledger's δ: float64[people], ascending."""
        lines, which = self.spent(self.people())
        totals = np.array([compose(each, self.delta)[0] for each in lines], dtype=np.float64)
        return np.sort(totals[which])


def start_of(*, log: str, epsilon: float, delta: float, fold_case: bool, made: str, key_check: bytes) -> bytes:
    """Return the hash with which a chain begins."""
    values = {"log": log, "epsilon": epsilon, "delta": delta, "fold_case": fold_case, "made": made}
    return _hash("start", {**values, "key_check": key_check.hex()})


def head_of_row(row: LedgerRow, before: bytes) -> bytes:
    """Return the hash of a row that follows the head `before`."""
    values = {"number": row.number, "at": row.at, "method": row.method, "account": [asdict(a) for a in row.account]}
    return _hash("row", {**values, "people": hashlib.sha256(row.people).hexdigest(), "before": before.hex()})


def _hash(kind: str, values: dict[str, object]) -> bytes:
    text = json.dumps(values, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(f"querycloak ledger {kind}\n{text}".encode()).digest()


def read_state(connection: sqlite3.Connection, path: Path) -> LedgerState:
    """Read a ledger, and refuse one whose chain is broken."""
    columns = "log, epsilon, delta, fold_case, made, key_check, start, rows, head"
    one = connection.execute(f"SELECT {columns} FROM ledger").fetchone()  # noqa: S608
    if one is None:
        raise _broken(path, "its budget is missing")
    log, epsilon, delta, fold_case, made, key_check, start, length, head = one
    found = connection.execute("SELECT number, at, method, account, people, head FROM reservation ORDER BY number")
    rows = tuple(
        LedgerRow(number, at, method, _lines(path, number, text), bytes(people), own)
        for number, at, method, text, people, own in found
    )
    state = LedgerState(path, log, epsilon, delta, bool(fold_case), made, key_check, start, length, head, rows)
    _check_chain(state)
    return state


def _lines(path: Path, number: int, text: str) -> tuple[AccountLine, ...]:
    try:
        return tuple(AccountLine(**line) for line in json.loads(text))
    except (ValueError, TypeError):
        raise _broken(path, f"row {number} was changed: its account cannot be read") from None


def _check_chain(state: LedgerState) -> None:
    start = start_of(
        log=state.log, epsilon=state.epsilon, delta=state.delta, fold_case=state.fold_case, made=state.made,
        key_check=state.key_check,
    )  # fmt: skip
    if start != state.start:
        raise _broken(state.path, "its budget, the name of its log or its rule for ids was changed")
    before = start
    for expected, row in enumerate(state.rows, start=1):
        if row.number != expected:
            raise _broken(state.path, f"row {expected} is missing")
        if row.head != head_of_row(row, before):
            raise _broken(state.path, f"row {expected} was changed: what it says does not agree with its hash")
        before = row.head
    if len(state.rows) < state.length:
        raise _broken(state.path, f"its last rows are missing: it had {state.length}, {len(state.rows)} are there")
    if len(state.rows) > state.length or before != state.head:
        raise _broken(state.path, "its last row is not the one that it should end with")


def verify_state(state: LedgerState, head: str = "") -> int:
    """Check what people spent, and that a head kept elsewhere is in the chain; return how many rows came after it."""
    lines, _ = state.spent(state.people())
    if not all(fits(each, state.epsilon, state.delta) for each in lines):
        raise _broken(state.path, "somebody has spent more than the budget")
    if not head:
        return 0
    heads = [state.start.hex(), *(row.head.hex() for row in state.rows)]
    if head not in heads:
        raise _broken(state.path, "the head given is none of its rows: this is an older copy, or another ledger")
    return len(heads) - 1 - heads.index(head)


def _broken(path: Path, what: str) -> CheckFailedError:
    return CheckFailedError(f"{path}: {what}. Do not spend in it; go back to a copy that `ledger verify` accepts.")
