"""How a live stream is watched: figures, events, `/metrics` and `/health` (ADR 156)."""
