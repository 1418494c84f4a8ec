"""Publish on a ledger: its first release, and increments in folders and databases."""
