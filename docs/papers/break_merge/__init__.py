"""Dependency detection, Break-Merge and Incremental Break-Merge, run again.

`docs/papers/break-merge.json` holds every number; the page and the plots are made from it.
"""

from docs.papers.results import HERE

RESULTS = HERE / "break-merge.json"
