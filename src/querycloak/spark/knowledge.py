"""Background knowledge on a cluster: each Python process of an executor loads it once, by its name.

What has a name (`wordnet`, `topics`) comes with the package and is loaded where it is needed. What was read from a
file of the driver is sent along, once to each executor.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any

from querycloak.knowledge.named import load_taxonomy, named_taxonomy
from querycloak.mapping.mappers import mapper_of
from querycloak.mapping.modes import check_mapping

if TYPE_CHECKING:
    from pyspark.core.broadcast import Broadcast
    from pyspark.sql import SparkSession

    from querycloak.knowledge.directory import SiteDirectory
    from querycloak.knowledge.taxonomy import Taxonomy
    from querycloak.mapping import Mapper

__all__ = ["Knowledge"]


@dataclass(frozen=True, eq=False, repr=False)
class Knowledge:
    """A taxonomy and how queries are read, wherever it is asked for: on the driver and, in a task, on an executor."""

    name: str
    """of a taxonomy of the package; "" = it is sent along"""
    sent: Broadcast[Taxonomy] | None
    mapping: str
    """how queries are read (`mapping.modes`)"""
    is_usual: bool = False
    """nobody has asked for this taxonomy: a stream takes that of the usual categories"""
    sites: Broadcast[SiteDirectory] | None = None
    """a directory of sites; None = there is none"""

    @classmethod
    def of(
        cls,
        session: SparkSession,
        taxonomy: Taxonomy | str | PathLike[str] | None = None,
        mapping: str | None = None,
        directory: SiteDirectory | None = None,
    ) -> Knowledge:
        """Take a taxonomy, its name or a file, None = WordNet; and a directory of sites, where there is one."""
        mapping = check_mapping(mapping)
        sites = None if directory is None else session.sparkContext.broadcast(directory)
        source = "wordnet" if taxonomy is None else taxonomy
        if isinstance(source, (str, PathLike)) and named_taxonomy(fspath(source)) is not None:
            return cls(fspath(source), None, mapping, taxonomy is None, sites)
        return cls("", session.sparkContext.broadcast(load_taxonomy(source)), mapping, sites=sites)

    @cached_property
    def taxonomy(self) -> Taxonomy:
        """The taxonomy, loaded once per process."""
        return load_taxonomy(self.name) if self.sent is None else self.sent.value

    @property
    def directory(self) -> SiteDirectory | None:
        """The directory of sites, if there is one."""
        return None if self.sites is None else self.sites.value

    @cached_property
    def mapper(self) -> Mapper:
        """What finds the concepts of queries (`mapping.map_log`), made once per process."""
        return mapper_of(self.taxonomy, self.mapping)

    def __getstate__(self) -> dict[str, Any]:
        kept = ("name", "sent", "mapping", "is_usual", "sites")  # nothing that was loaded
        return {name: self.__dict__[name] for name in kept}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
