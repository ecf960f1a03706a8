"""Anonymization methods, one file each: settings and a pure function from a log to a release."""
