"""Experiments of the literature, run again: `python -m docs.papers` writes the pages and the plots.

`results.json`, `break-merge.json` and `slicing.json` hold every number; pages and plots are made
from them alone.
"""
