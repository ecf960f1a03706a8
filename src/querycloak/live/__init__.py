"""The process around a stream: source, engine and sink at work together."""
