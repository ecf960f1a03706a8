"""Releases: the kinds, what they promise, the gate they pass, and their files."""
