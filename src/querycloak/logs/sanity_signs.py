"""What columns that look wrong look like: shares and patterns, for `logs.sanity` and for who looks without Polars."""

from __future__ import annotations

from typing import Final

FEWEST_ROWS: Final = 50
FEWEST_ROWS_FOR_USERS: Final = 100
"""a short log of many people is not odd"""
SAMPLE: Final = 20_000
"""rows whose texts are looked at, spread evenly over the log; the same log is always judged alike"""
SAMPLE_USERS: Final = 1_000

MOST_USERS_PER_ROW: Final = 0.9
MOST_IDS_OF_USERS: Final = 0.05
MOST_CODES: Final = 0.8
MOST_MAILS: Final = 0.1
MOST_REQUESTS: Final = 0.5
MOST_SPACED_USERS: Final = 0.2
MOST_ONE_QUERY: Final = 0.9
MOST_BAD_TIMES: Final = 0.5
FULL_NAMES: Final = 0.95
"""where nearly all users have a space they are called by first and last name, which is allowed"""
FEWEST_SINGLE: Final = 0.5
"""texts that people type have a long tail: most of the different ones are typed once, whatever the size of the log"""

CODE: Final = r"^\S*[\d@_.]\S*$"
MAIL: Final = r"[^\s@]@[^\s@]+\.[^\s@]"
REQUEST: Final = r"(?i)^\s*([{\[<]|https?://|select |get /|post /)"
SHORT_NUMBER: Final = r"^\d{1,4}$"
SEVERAL_WORDS: Final = r"\S\s+\S"
