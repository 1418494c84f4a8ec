"""Experiments of the literature, run again: `python -m docs.papers` writes the page and the plots.

`results.json` holds every number; the page and the plots are made from it alone.
"""
