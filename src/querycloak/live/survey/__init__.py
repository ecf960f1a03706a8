"""A stream surveyed while it runs: attackers and measures on windows of records, where the truth is known (ADR 157)."""
