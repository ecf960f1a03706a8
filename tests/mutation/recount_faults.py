"""Faults of what is counted again: further columns, edited statements, machines of a stream, URLs with names."""

from __future__ import annotations

from mutation.fault import fault

__all__ = ["RECOUNTS"]

RECOUNTS = [
    fault(
        "spaces: two of them hide an identifier",
        "texts/plain.py",
        'if "  " not in text:',
        "if text:",
        "texts/test_spaced_identifiers.py",
    ),
    fault(
        "parts: also where nothing is promised",
        "texts/text_promises.py",
        "rule.promised > 1 and rule.rare",
        "rule.rare",
        "releases/test_stated_parts.py",
    ),
    fault(
        "gate: any further column passes",
        "releases/column_checks.py",
        "if further or table.category is not None:",
        "if table.category is not None:",
        "releases/test_gate_columns.py",
    ),
    fault(
        "gate: a rare query behind another reading passes",
        "releases/text_checks.py",
        "(shown > 0) & (shown < statement.text_users)",
        "(shown > 0) & (shown < 1)",
        "releases/test_gate_columns.py",
    ),
    fault(
        "gate: later records of a machine count in a stream",
        "releases/text_checks.py",
        "asking[nth < most]",
        "asking[nth >= 0]",
        "methods/stream/test_stream_machines.py",
    ),
    fault(
        "verify: people of texts are not counted",
        "releases/verify_promises.py",
        "statement) < statement.text_users",
        "statement) < 1",
        "releases/test_verify_promises.py",
    ),
    fault(
        "check: people of texts are not counted",
        "evaluation/_stated_texts.py",
        "(askers.people < statement.text_users)",
        "(askers.people < 1)",
        "evaluation/test_stated_texts.py",
    ),
    fault(
        "gate: a URL with a name passes",
        "releases/column_checks.py",
        "urls_that_identify(table.urls) | urls_with_names(table.urls)",
        "urls_that_identify(table.urls)",
        "releases/test_urls_with_names.py",
    ),
]
