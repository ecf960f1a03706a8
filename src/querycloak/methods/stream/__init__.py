"""Methods for a live stream: each record leaves soon, under another user."""
