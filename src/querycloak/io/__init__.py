"""Reading and writing logs: the format is recognised by content, and what is written has the form of what was read."""
