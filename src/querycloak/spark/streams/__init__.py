"""Streams on a cluster: one engine of one machine for each top-level category, on Structured Streaming or over a log."""
