"""Attacks on a release, one file each. An attacker sees only the release and what it knows of users."""
