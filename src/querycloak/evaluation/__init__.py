"""Runs of methods, attacked and measured, side by side."""
