"""The ledger of privacy budget: what each person has spent over all releases of a log, by any method, never given back.

A ledger is made once (`make_ledger`) for one log, that is for one set of ids, with the (ε, δ) that each person may
spend in all. Every release is one row (`releases/ledger_chain.py`): its account, in the guarantees that its mechanisms
have, and who takes part. What a person has spent is the tightest composition of the accounts of the person's rows
(`releases/composition.py`). People are in it as keyed hashes of their normal ids (`releases/people.py`).

**What a ledger promises.** Whatever was published under it would have been as likely, up to exp(ε) and δ, had this
person's log been empty. Releases whose neighbours are "one user more" or "one user's log replaced" both imply that with
the same numbers, so all methods can spend in one ledger.

**Who takes part depends on the person's own rows alone.** Nothing of whoever cannot pay is in the release, as if that
log were empty; nobody pays less for being quiet, and no one's budget depends on what others did.

Order of events: `reserve` commits a row to disk, then the release is drawn and written. A crash in between costs budget
and never gives any back. SQLite's write lock makes reservations of several processes follow one another; each reads and
checks the whole chain first.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from dataclasses import asdict, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from querycloak.errors import InputError, ParameterError, UserError
from querycloak.releases._ledger_file import key_path, make_file, make_key, read_key, reading, writing
from querycloak.releases.account import CONCEPT, CONCEPTS
from querycloak.releases.budget import MOST_EPSILON
from querycloak.releases.composition import fits
from querycloak.releases.ledger_chain import PERSON, LedgerRow, LedgerState, head_of_row, read_state, start_of
from querycloak.releases.people import normal_person

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Sequence
    from os import PathLike

    from querycloak.releases.account import AccountLine

__all__ = ["Ledger", "make_ledger", "read_ledger"]


def make_ledger(
    path: str | PathLike[str], *, log: str, epsilon: float, delta: float = 0.0, fold_case: bool = True
) -> Ledger:
    """Make a ledger for the log of this name, in which each person may spend (ε, δ); a file that exists is refused.

    `fold_case`: "Ann" and "ann" are one person.
    """
    file = Path(path)
    if not log.strip():
        raise ParameterError.of("log", "the name of the log whose people this ledger is about", log)
    if not 0 < epsilon < MOST_EPSILON:
        raise ParameterError.of("epsilon", f"a finite number > 0 and < {MOST_EPSILON:g}", epsilon)
    if not 0 <= delta < 1:
        raise ParameterError.of("delta", "a number >= 0 and < 1", delta)
    if file.exists():
        raise UserError(f"{file} is there already, and a ledger is never replaced: name another file.")
    check = _key_check(make_key(file))
    made = {
        "log": log.strip(),
        "epsilon": float(epsilon),
        "delta": float(delta),
        "fold_case": fold_case,
        "made": _now(),
    }
    start = start_of(**made, key_check=check)  # type: ignore[arg-type]
    try:
        make_file(
            file,
            "INSERT INTO ledger VALUES (1, :log, :epsilon, :delta, :fold_case, :made, :key_check, :start, 0, :start)",
            {**made, "key_check": check, "start": start},
        )
    except UserError:
        key_path(file).unlink()
        raise
    return Ledger(file, log=log)


class Ledger:
    """A ledger opened for the log of this name."""

    def __init__(self, path: str | PathLike[str], *, log: str) -> None:
        """Open a ledger; another format, key or log is refused, and a chain that is broken."""
        self.path = Path(path)
        state = read_ledger(path)
        self._key = read_key(self.path)
        self._check_key(state)
        if state.log != log.strip():
            raise ParameterError(
                f"{self.path} is the ledger of the log {state.log!r}, and this release is of {log.strip()!r}: an id "
                "may be another person there. Use that log's ledger; nothing was spent."
            )
        self.head = state.head.hex()
        """head of the chain, after the last reservation through this object"""

    def __repr__(self) -> str:
        return f"Ledger({self.path.name})"

    def reserve(self, users: Sequence[str], account: Sequence[AccountLine], *, method: str) -> npt.NDArray[np.bool_]:
        """Charge an account to users, on disk before this returns; return bool[users]: who could pay, and takes part.

        Two users that are one person for the ledger are refused: a method bounds what each user changes, and this
        person would change twice that.
        """
        with writing(self.path) as connection:
            state = read_state(connection, self.path)
            self._check_key(state)
            _check_price(state, account)
            people = self._people(users, state)  # V16[users]
            lines, which = state.spent(people)
            can_pay = np.array([fits((*each, *account), state.epsilon, state.delta) for each in lines], dtype=np.bool_)
            takes_part = can_pay[which] if len(people) else np.zeros(0, dtype=np.bool_)
            self.head = _append(connection, state, account, method, np.sort(people[takes_part]).tobytes()).hex()
        return takes_part

    def _people(self, users: Sequence[str], state: LedgerState) -> npt.NDArray[np.void]:
        names = [normal_person(user, fold_case=state.fold_case) for user in users]
        twice = len(names) - len(set(names))
        if twice:
            remedy = "write each person's id in one way" + (
                ", or make a ledger with --case-matters if case tells people apart" if state.fold_case else ""
            )
            raise UserError(
                f"{twice:,} ids of the log are other spellings of an id that is in it too, one person for the ledger "
                f"{state.path} and two for the method: {remedy}. Nothing was spent."
            )
        hashes = [hashlib.blake2b(n.encode(), key=self._key, digest_size=16, person=b"user").digest() for n in names]
        return np.frombuffer(b"".join(hashes), dtype=PERSON)

    def _check_key(self, state: LedgerState) -> None:
        if not hmac.compare_digest(state.key_check, _key_check(self._key)):
            raise InputError.at(self.path, f"{key_path(self.path).name} is not the key of this ledger")


def read_ledger(path: str | PathLike[str]) -> LedgerState:
    """Read a ledger and check its chain; needs no key."""
    file = Path(path)
    with reading(file) as connection:
        return read_state(connection, file)


def _check_price(state: LedgerState, account: Sequence[AccountLine]) -> None:
    """Refuse what nobody can pay, ever, and what bounds nothing for a person: this depends on the settings alone."""
    if not account or any(line.relation in {CONCEPT, CONCEPTS} for line in account):
        raise ParameterError("A ledger needs a release that bounds something for a whole person; nothing was spent.")
    if not fits(account, state.epsilon, state.delta):
        cost = "; ".join(line.guarantee for line in account)
        raise ParameterError(
            f"This release costs each person more than the whole budget of the ledger {state.path} (epsilon "
            f"{state.epsilon:g}, delta {state.delta:g}): {cost}. Ask for less; nothing was spent."
        )


def _append(
    connection: sqlite3.Connection, state: LedgerState, account: Sequence[AccountLine], method: str, people: bytes
) -> bytes:
    """Add a row to the chain; return the new head."""
    row = LedgerRow(state.length + 1, _now(), method, tuple(account), people, b"")
    row = replace(row, head=head_of_row(row, state.head))
    text = json.dumps([asdict(line) for line in account])
    connection.execute(
        "INSERT INTO reservation VALUES (?, ?, ?, ?, ?, ?)", (row.number, row.at, method, text, people, row.head)
    )
    connection.execute("UPDATE ledger SET rows = ?, head = ?", (row.number, row.head))
    return row.head


def _key_check(key: bytes) -> bytes:
    return hashlib.blake2b(b"querycloak ledger", key=key, digest_size=16, person=b"check").digest()


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
