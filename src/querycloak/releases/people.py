r"""Who is one person for a ledger: the normal form of a user id.

A log's reader already writes an id in one way (`logs/user_ids.py`): Unicode NFKC, trimmed, without what is shown as
nothing. A ledger lives longer than one log file, and ids come to it from exports of several systems. It therefore also
removes all control and format characters and folds case, unless it was made for ids in which case tells people apart.
Two people taken for one cost budget; one person taken for two would have it twice.

>>> {normal_person(id) for id in ("Ann", " ann", "ann\u200b", "\uff21nn")}
{'ann'}
>>> normal_person("Ann ", fold_case=False)
'Ann'
"""

from __future__ import annotations

import unicodedata

from querycloak.logs.user_ids import normal_user

__all__ = ["normal_person"]


def normal_person(user: str, *, fold_case: bool = True) -> str:
    """Return the id under which a ledger knows a user."""
    while True:  # what is removed can bring together what combines, or leave a space at an end
        normal = "".join(c for c in normal_user(user) if unicodedata.category(c) not in {"Cc", "Cf"})
        normal = normal_user(normal.casefold() if fold_case else normal)
        if normal == user:
            return normal
        user = normal
