"""Where something may be learned from the log's own clicks, and where not: told before any work is done."""

from __future__ import annotations

from querycloak.errors import InputError, ParameterError

__all__ = ["check_learning", "refuse_learning"]


def check_learning(*, clicks: bool) -> None:
    """Refuse where the log has no clicks."""
    if not clicks:
        raise InputError(
            "There is nothing to learn from: the log has no clicked URLs. Leave --learn-from-clicks "
            "(learn_from_clicks=True) out."
        )


def refuse_learning(method: str, *, private: bool) -> None:
    """Refuse a method that promises differential privacy: one person's rows would change another's categories."""
    if private:
        raise ParameterError(
            f"{method} promises differential privacy and may use public knowledge alone: leave --learn-from-clicks "
            "(learn_from_clicks=True) out."
        )
