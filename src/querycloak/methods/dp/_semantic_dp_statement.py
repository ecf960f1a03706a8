"""What a release of `semantic-dp` promises, and what it leaves open, by its shape."""

from __future__ import annotations

from typing import TYPE_CHECKING

from querycloak.methods.dp._domains import describe_domains

if TYPE_CHECKING:
    from querycloak.knowledge.taxonomy import Taxonomy
    from querycloak.methods.dp._semantic_dp_mechanism import Mechanism
    from querycloak.methods.dp.semantic_dp import SemanticDp

__all__ = ["covers", "does_not_cover", "model", "promised"]


def promised(settings: SemanticDp) -> float:
    """Return the ε of the promise: that of the settings, or so many times as much (section 3.2, second option)."""
    return float(settings.epsilon) * settings.epsilon_times


def model(settings: SemanticDp) -> str:
    """Return the formal model in one line."""
    epsilon = f"epsilon {promised(settings):g}"
    if settings.shape == "user":
        return f"epsilon-differential privacy of each user's whole log, {epsilon}"
    if settings.epsilon_for == "query":
        return f"epsilon-differential privacy of the concept of one unit of a query, {epsilon}; not of a user"
    return f"epsilon-differential privacy of the concepts of each user's queries, {epsilon}"


def covers(settings: SemanticDp, taxonomy: Taxonomy, mechanism: Mechanism) -> tuple[str, ...]:
    """Return what the guarantee says, one sentence each."""
    factor = f"any release would have been as likely, up to a factor of exp({promised(settings):g})"
    domains = f"domains: {describe_domains(taxonomy, mechanism.domains)}"
    if settings.shape == "user":
        each = settings.epsilon / settings.rows_per_user
        shape = (
            f"every user has exactly {settings.rows_per_user} rows, in random order, each drawn with epsilon {each:g} "
            "over one domain; a user without a concept draws blindly"
        )
        return f"if one user's whole log had been any other, of any length and about anything, {factor}", shape, domains
    if settings.epsilon_for == "query":
        return f"if the concept of one unit of one query had been any other of its domain, {factor}", domains
    return f"if the concepts of one user's queries had been any others of their domains, {factor}", domains


def does_not_cover(settings: SemanticDp) -> tuple[str, ...]:
    """Return what stays visible or is published as it was."""
    lines = _open_in_user_shape() if settings.shape == "user" else _open_in_paper_shape(settings)
    return (*lines, settings.adds_up)


def _open_in_user_shape() -> list[str]:
    return [
        "how many users the log has is visible",
        "what many users have in common is learned, as it is meant to be: a sum over users is nobody's log",
    ]


def _open_in_paper_shape(settings: SemanticDp) -> list[str]:
    lines = [
        "how many queries each user has, of how many units each, and in which order, is visible",
        "attacks find users by that alone, at any epsilon",
        "queries without a concept in a domain are left out, and that is visible",
    ]
    if settings.epsilon_for == "query":
        lines.append("a user's log costs epsilon for each unit of its queries: nothing is promised for users")
    if settings.epsilon_times > 1:
        lines.append(
            f"the promise is {settings.epsilon_times} times the epsilon of the settings: each user may have so many "
            f"times {settings.per_user_queries} draws"
        )
    if settings.domain == "topics":
        lines.append("the topic of every query is visible: each is replaced within its topic")
    elif settings.domain != "all":
        lines.append("that every published query is about something in the domain is visible")
    if settings.rebuild == "shape":
        lines.append("plurals and closed-class words (in, the, how) of the original queries are published as they were")
    if settings.rebuild == "paper":
        lines.append("all words around the concepts are published as they were: names and numbers may be among them")
    return lines
