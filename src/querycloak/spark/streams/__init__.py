"""Streams on a cluster: one engine of one machine for each top-level category, on a stream of Spark or over a log."""
