"""Methods that leave out what looks dangerous."""
