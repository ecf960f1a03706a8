"""Anonymizers of a live stream of queries: each record leaves soon, with the user of another record like it."""

from querycloak.stream.engine import Departures, FixedDepth, Flat, SelfAdjusting

__all__ = ["Departures", "FixedDepth", "Flat", "SelfAdjusting"]
