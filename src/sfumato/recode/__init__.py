"""Decide on counts what becomes of a table: full-domain, local, refined, within memory."""
