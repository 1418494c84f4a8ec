"""Releases: manifests, what was published and where, and how it is opened again."""
