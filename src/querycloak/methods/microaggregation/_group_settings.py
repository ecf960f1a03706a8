"""Settings that methods with groups of k users share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from querycloak.errors import ParameterError
from querycloak.releases.columns import ColumnSettings
from querycloak.settings import Settings, setting
from querycloak.texts.text_settings import TextSettings

__all__ = ["BLOCKS_ABOVE", "BLOCK_USERS", "GroupSettings", "MdavSettings"]

BLOCKS_ABOVE: Final = 20_000
"""`blocks = auto` cuts logs with more users than this"""
BLOCK_USERS: Final = 5_000
"""users of a block that `auto` makes"""


@dataclass(frozen=True)
class _K(Settings):
    """The size of the groups: a base of its own, so that k is the first option."""

    k: int = setting(5, "smallest group: every published user shares its log with at least k - 1 others", minimum=2)


@dataclass(frozen=True)
class GroupSettings(ColumnSettings, TextSettings, _K):
    """What all methods with groups of users ask."""

    @property
    def usual_people(self) -> int:
        """A text is published if as many people share it as are in the smallest group, where nothing else is asked."""
        return self.k


@dataclass(frozen=True)
class MdavSettings(GroupSettings):
    """What methods that group by MDAV ask as well."""

    refine: bool = setting(False, "after grouping, move and swap users as long as groups become tighter")
    blocks: str = setting("auto", "users grouped together at a time: auto (above 20,000 users), off, or a number")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.blocks not in {"auto", "off"} and not (self.blocks.isdecimal() and int(self.blocks) >= 2 * self.k):
            expected = f"auto, off, or a number of users >= 2k ({2 * self.k})"
            raise ParameterError.of(f"{type(self).__name__}.blocks", expected, self.blocks)

    def block_users(self, n: int) -> int | None:
        """Return the users per block for a log of n users; None = one block of all."""
        if self.blocks == "off" or (self.blocks == "auto" and n <= BLOCKS_ABOVE):
            return None
        return BLOCK_USERS if self.blocks == "auto" else int(self.blocks)
