"""Synthetic tables: a public domain, a budget, OpenDP's mechanisms, and rows drawn from models."""
