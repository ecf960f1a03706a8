"""Groups of at least k users, each group published with one log."""
