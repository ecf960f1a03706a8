"""The command line: parse, call, translate errors."""
