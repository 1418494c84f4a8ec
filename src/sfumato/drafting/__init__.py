"""Guess what the columns of a table are, and draft a policy from that."""
