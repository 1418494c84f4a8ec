"""How well a column is explained by others: the Dirichlet-multinomial marginal likelihood."""

from collections.abc import Sequence

import numpy as np

from sfumato.bayes.counter import Cells, Counter
from sfumato.bayes.log_gamma import log_gamma_of_halves
from sfumato.counts import FrequencySet


class FamilyScores:
    """Scores of columns given parents, on one table, each worked out once.

    The score of column x with parents P is the logarithm of the probability of x's values
    in the table, given those of P and a Dirichlet prior of ½ per cell:

        S(x | P) = Σ_j [ lnΓ(r/2) − lnΓ(N_j + r/2) + Σ_k ( lnΓ(N_jk + ½) − lnΓ(½) ) ]

    over the combinations j of the parents' values and the r values k of x. Cells that are
    empty add nothing. The inner sum is one over the cells of P and x together, and the rest
    one over the cells of P, so scores of many families share their parts.

    Example:
        >>> counts = FrequencySet.from_rows(["sex", "ward"], [("f", 1), ("f", 1), ("m", 2)])
        >>> scores = FamilyScores(Counter(counts))
        >>> round(scores.of(1, [0]), 6), round(scores.of(1, []), 6)
        (-1.673976, -2.772589)
    """

    def __init__(self, counter: Counter) -> None:
        self.counter = counter
        self._joint: dict[int, float] = {}
        self._strata: dict[tuple[int, int], float] = {}

    def of(self, child: int, parents: Sequence[int]) -> float:
        """Give S(child | parents), the columns by position."""
        joint = self.joint((*parents, child))
        return joint + self.strata(tuple(parents), self.counter.values[child])

    def joint(self, columns: Sequence[int]) -> float:
        """Sum lnΓ(N + ½) − lnΓ(½) over the cells of some columns."""
        mask = sum(1 << column for column in columns)
        found = self._joint.get(mask)
        if found is None:
            found = self._joint[mask] = _excess(self.counter.cells(columns), 1)
        return found

    def strata(self, columns: Sequence[int], values: int) -> float:
        """Sum lnΓ(r/2) − lnΓ(N + r/2) over the cells of some columns, r being `values`."""
        key = sum(1 << column for column in columns), values
        found = self._strata.get(key)
        if found is None:
            found = self._strata[key] = -_excess(self.counter.cells(columns), values)
        return found


def _excess(cells: Cells, halves: int) -> float:
    """Sum lnΓ(N + h/2) − lnΓ(h/2) over cells."""
    none = log_gamma_of_halves(np.array([halves]))[0]
    return float((log_gamma_of_halves(2 * cells.counts + halves) - none) @ cells.times)


def family_score(counts: FrequencySet, child: str, parents: Sequence[str]) -> float:
    """Score one family by column names.

    >>> counts = FrequencySet.from_rows(["sex", "ward"], [("f", 1), ("f", 1), ("m", 2)])
    >>> round(family_score(counts, "ward", ["sex"]), 6)
    -1.673976
    """
    positions = [counts.index(name) for name in parents]
    return FamilyScores(Counter(counts)).of(counts.index(child), positions)
