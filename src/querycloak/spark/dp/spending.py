"""What a differentially private release asks of its settings on a cluster, before any job."""

from __future__ import annotations

from typing import TYPE_CHECKING

from querycloak.errors import ParameterError

if TYPE_CHECKING:
    from querycloak.methods.dp._dp_settings import DpSettings

__all__ = ["refuse_ledger"]


def refuse_ledger(settings: DpSettings) -> None:
    """Refuse a ledger: it is a file with a row for each person, which one process reads and charges as a whole."""
    if getattr(settings, "ledger", None) is not None:
        raise ParameterError(
            "A ledger is kept on one machine, not on Spark: it is one file with a row for each person. Nothing was "
            "read and nothing was spent. Anonymize without --ledger, and keep account of releases of the same users."
        )
