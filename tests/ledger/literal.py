"""Breach probabilities word by word: every combination, every known value, in fractions."""

from fractions import Fraction
from itertools import product
from math import prod

import numpy as np

from sfumato.ledger.admission import Tally


def tally_of(rows, widths) -> Tally:
    """Count rows (tuples of codes) column by column."""
    counts = tuple(
        np.bincount([row[i] for row in rows], minlength=width).astype(np.int64)
        for i, width in enumerate(widths)
    )
    return Tally(len(rows), counts)


def breaches(rows, widths):
    """Give {(combination, known column): probability} of a group that holds these rows."""
    n = len(rows)
    columns = range(len(widths))
    found = {}
    for combination in product(*map(range, widths)):
        share = [
            Fraction(sum(r[i] == combination[i] for r in rows), n) if n else 0 for i in columns
        ]
        if len(widths) == 1:
            found[combination, None] = share[0]
        for known in columns if len(widths) > 1 else ():
            found[combination, known] = prod(share[i] for i in columns if i != known)
    return found


def may_follow(before, after, widths, alpha):
    """The rule: whatever became likelier is at most alpha."""
    old, new = breaches(before, widths), breaches(after, widths)
    return all(new[key] <= alpha or new[key] <= old[key] for key in new)
