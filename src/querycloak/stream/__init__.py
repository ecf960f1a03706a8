"""Anonymizers of a live stream of records."""
