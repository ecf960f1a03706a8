"""What may be published of a text."""
