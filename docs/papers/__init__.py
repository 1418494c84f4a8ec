"""Experiments of the literature, run again: `python -m docs.papers` writes the pages and the plots.

`results.json` and `break-merge.json` hold every number; pages and plots are made from them alone.
"""
