"""Where categories may be learned from the log's own clicks, and where not: told before any work is done."""

from __future__ import annotations

from querycloak.errors import InputError, ParameterError

__all__ = ["check_learning", "refuse_learning"]


def check_learning(*, directory: bool, clicks: bool) -> None:
    """Refuse where there is no directory of sites, or the log has no clicks."""
    if not directory:
        raise ParameterError(
            "--learn-from-clicks (learn_from_clicks=True) needs to know the categories of the sites that were clicked: "
            "give a directory of sites with --directory (directory=…)."
        )
    if not clicks:
        from querycloak.mapping.click_categories import NO_CLICKS

        raise InputError(f"{NO_CLICKS} Leave --learn-from-clicks (learn_from_clicks=True) out.")


def refuse_learning(method: str, *, private: bool) -> None:
    """Refuse a method that promises differential privacy: one person's rows would change another's categories."""
    if private:
        raise ParameterError(
            f"{method} promises differential privacy and may use public knowledge alone: leave --learn-from-clicks "
            "(learn_from_clicks=True) out."
        )
