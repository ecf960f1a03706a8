"""One person is one user: the normal form of a user id.

The same id may be written in full-width digits, with a space at its end, or with characters that are shown as nothing.
To count such spellings as different people would make groups look larger than they are: k spellings of one person are
no k people. Ids are therefore normalised once, where a log is read: Unicode NFKC, without white space at the ends,
without characters that are shown as nothing (Unicode's Default_Ignorable_Code_Point). Case is kept: ids of many systems
tell "a" and "A" apart.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

__all__ = ["normal_user"]

_INVISIBLE: Final = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f"
    "\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]+"
)


def normal_user(text: str) -> str:
    r"""Return the normal form of a user id; an id of white space and invisible characters alone becomes ''.

    >>> normal_user(" 44\u200b17\uff17\uff14\uff19\u00a0"), normal_user("ann"), normal_user("\ufeff ")
    ('4417749', 'ann', '')
    """
    if text.isascii():
        return text.strip()
    # Twice may be needed: what an invisible character held apart can combine, and a combination can leave a space.
    while True:
        normal = unicodedata.normalize("NFKC", _INVISIBLE.sub("", text)).strip()
        if normal == text:
            return normal
        text = normal
