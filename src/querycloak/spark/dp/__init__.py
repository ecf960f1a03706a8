"""The differentially private methods on a cluster."""
