"""The studio: a local web page that takes a log to a checked release."""
