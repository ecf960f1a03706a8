"""From the text of a query to the concepts it is about."""
