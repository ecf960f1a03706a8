"""Generated logs with known truth."""
