"""One file per format of a log."""
