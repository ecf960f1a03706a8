"""Where replacements may come from: the domains that `--domain` names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from querycloak.knowledge.taxonomy import ROOT
from querycloak.knowledge.topics import find_topic, read_topics

if TYPE_CHECKING:
    from querycloak.knowledge.taxonomy import Taxonomy
    from querycloak.knowledge.topics import Topics

__all__ = ["DOMAIN_HELP", "TOPICS_HELP", "choose_domains", "describe_domains"]

DOMAIN_HELP = (
    "where replacements come from: all = the whole taxonomy, one = the lowest concept above all topics, "
    "topics = the topic that a query is in, or the label or path of a concept"
)
TOPICS_HELP = (
    "file of topics, one per line, finer ones indented; paper = the four topics of the paper, for WordNet; "
    "paper-fine = the 19 below them"
)


def choose_domains(taxonomy: Taxonomy, domain: str, topics: str) -> tuple[tuple[int, ...], Topics | None]:
    """Return the roots of the domains, and the topics where the domain is made of them (section 3.6)."""
    if domain == "all":
        return (ROOT,), None
    if domain in {"one", "topics"}:
        read = read_topics(topics, taxonomy)
        return (read.main if domain == "topics" else (read.common(taxonomy),)), read
    return (find_topic(domain, taxonomy),), None


def describe_domains(taxonomy: Taxonomy, domains: tuple[int, ...]) -> str:
    """Name the domains for the statement: how much is hidden in each."""
    shown = ", ".join(f"{taxonomy.label(d)} ({int(taxonomy.size[d]):,} concepts)" for d in domains[:12])
    return shown + (", …" if len(domains) > 12 else "")
