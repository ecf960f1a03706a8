"""What a method refuses on a cluster by its settings alone: known before Spark is started, let alone a job."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from querycloak.errors import ParameterError
from querycloak.methods.dp._dp_settings import DpSettings
from querycloak.methods.dp._spending import check_form_public

if TYPE_CHECKING:
    from querycloak.logs.form import LogForm

__all__ = ["is_private", "refuse_found_columns", "refuse_on_spark"]


def refuse_on_spark(method: str, settings: Any) -> None:
    """Refuse settings that are for one machine alone."""
    if getattr(settings, "ledger", None) is not None:
        raise ParameterError(
            "A ledger is kept on one machine, not on Spark: it is one file with a row for each person. Nothing was "
            "read and nothing was spent. Anonymize without --ledger, and keep account of releases of the same users."
        )
    if getattr(settings, "shape", None) == "paper":
        raise ParameterError(
            "--shape paper publishes a row for every query in the order of the log, and a table of Spark has no order: "
            "take --shape user, or one machine."
        )
    if getattr(settings, "output_form", None) == "classes":
        raise ParameterError(
            f"{method}: output_form = classes numbers all classes of a release in one order, which is for one machine; "
            "leave it out on Spark."
        )
    if method.endswith("-microaggregation") and settings.as_in_paper:
        raise ParameterError(
            f"{method}: as_in_paper draws from all queries of the log at once, and is for one machine: it reproduces a "
            "paper. Leave it out on Spark."
        )


def is_private(settings: Any) -> bool:
    """Tell whether a method with these settings promises differential privacy."""
    return isinstance(settings, DpSettings) and getattr(settings, "output_form", None) != "log"


def refuse_found_columns(settings: Any, form: LogForm | None) -> None:
    """Refuse a form whose columns one record may decide, where differential privacy is promised: as on one machine."""
    if is_private(settings):
        check_form_public(form)
