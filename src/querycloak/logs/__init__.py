"""Query logs: their form, reading them (source) and writing them (sink)."""
