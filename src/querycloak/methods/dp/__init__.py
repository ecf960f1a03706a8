"""Differentially private methods."""
