"""Users published as generalized concepts that at least k of them share."""
