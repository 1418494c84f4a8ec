"""Slicing and overlapping slicing on Adult, beside generalisation and Anatomy.

`docs/papers/slicing.json` holds every number; the page and the plots are made from it.
"""

from docs.papers.results import HERE

RESULTS = HERE / "slicing.json"
"""Everything that is on the page, computed."""
