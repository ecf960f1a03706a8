"""Policies: rules of regulators and services, applied one after the other. Each rule is a file of its own."""
