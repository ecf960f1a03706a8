"""Policies on a cluster: the rules of `methods/policy`, one function each, from draft to draft."""
