"""Measures of what a release is still good for, one file each."""
