"""Whether the texts of a release keep what its statement says of them, counted again: a statement can be edited."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from querycloak.logs.query_log import NO_CODE
from querycloak.releases.release import StreamRelease
from querycloak.releases.verify import Finding

if TYPE_CHECKING:
    from querycloak.releases.askers import Askers
    from querycloak.releases.release import Release

__all__ = ["verify_texts"]


def verify_texts(release: Release, askers: Askers) -> list[Finding]:
    """Check what is promised of texts. Nothing is found where nothing is promised.

    Texts of nobody, such as hashes, are not counted here: exposure tells of them. Ids that are taken for machines count
    as people here, so that this finds no more than the gate does.
    """
    statement, table = release.statement, release.log
    settings, found = statement.settings, []
    if statement.parts and (settings.get("rare") in {"keep", "drop"} or settings.get("as_in_paper")):
        said = "by its settings texts are whole queries, and people were counted as for parts"
        found.append(Finding("parts of queries are published", False, said))
    if statement.text_users <= 1:
        return found
    published = np.zeros(len(table.queries), dtype=np.bool_)
    published[table.query[table.query != NO_CODE]] = True
    if isinstance(release, StreamRelease):  # its labels are of categories that the log itself has
        published &= ~(table.queries.str.starts_with("[") & table.queries.str.ends_with("]")).to_numpy()
    few = int((published & ~askers.public & (askers.people >= 1) & (askers.people < statement.text_users)).sum())
    seen = "none is of fewer" if few == 0 else f"{few:,} of {int(published.sum()):,} texts are of fewer"
    return [
        *found,
        Finding(f"every published text, labels too, is of at least {statement.text_users} people", few == 0, seen),
    ]
