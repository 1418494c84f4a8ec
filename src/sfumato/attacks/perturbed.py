"""Rows whose values chance has changed, as readers see them."""

from collections.abc import Mapping
from dataclasses import field
from typing import NamedTuple

import numpy as np

from sfumato.counts import Column, FrequencySet, sums
from sfumato.dataclasses import dataclass
from sfumato.perturbations import Perturbation, SeenColumn
from sfumato.typing import FloatArray, IntArray

_ROUNDS = 50
_ENOUGH = 1e-4


class BesideColumn(NamedTuple):
    """What the rows have in another column, as it is read."""

    column: Column
    codes: IntArray
    """The value of each combination of the perturbed rows."""


@dataclass(frozen=True, eq=False)
class PerturbedRows:
    """The published rows over quasi-identifiers and columns that chance has changed."""

    counts: FrequencySet
    class_of: IntArray
    """The class of each combination of these counts, as the target numbers them."""

    members: Mapping[str, Perturbation]
    """What chance did to each of these columns."""

    sensitive: tuple[str, ...] = ()
    """Those of them that are to stay secret; the others are plain."""

    unknown: tuple[str, ...] = ()
    """The sensitive ones that others do not know of a person, as the publisher says."""

    secrecy: Mapping[str, IntArray] | None = None
    """How much each value of sensitive columns is a secret, where the publisher says so."""

    beside: Mapping[str, BesideColumn] = field(default_factory=dict)
    """Columns that others may know of a person, and whose published values are as good as true."""

    unit_of: IntArray | None = None
    """Which of the combinations of the target's counts each of these is a part of, if any is."""

    @property
    def quasi_identifiers(self) -> tuple[str, ...]:
        """Return what classes are recognised by."""
        others = {*self.members, *self.beside}
        return tuple(name for name in self.counts.names if name not in others)

    @property
    def plain(self) -> tuple[str, ...]:
        """Those of them that others may know."""
        return tuple(name for name in self.members if name not in self.sensitive)

    def look_at(self, name: str) -> SeenColumn:
        """Return what readers see of a column, without missing values."""
        return look_at(self.counts, name)


def look_at(counts: FrequencySet, name: str) -> SeenColumn:
    """Return what readers see of a column of some counts, without missing values."""
    column = counts.column(name)
    rows = sums(counts.codes_of(name).astype(np.int64), counts.rows, len(column.values))
    return SeenColumn(name, column.known, rows[: len(column.known)])


def true_shares(likelihood: FloatArray, shares: FloatArray) -> FloatArray:
    """Return the shares of true values that make published ones likeliest.

    That is what readers work out who know how values were changed (expectation-maximisation). It
    begins with equal shares and ends early, before chance in the published shares is taken for
    truth.

    Args:
        likelihood: How likely each value is published (lines) for each true one (columns), up to a
            factor for each true one.
        shares: The published shares.

    Example:
        >>> kept = np.array([[0.8, 0.2], [0.2, 0.8]])
        >>> true_shares(kept, kept @ np.array([0.9, 0.1])).round(2).tolist()
        [0.9, 0.1]
    """
    n = likelihood.shape[1]
    totals = likelihood.sum(axis=0)
    changed = likelihood / np.where(totals > 0, totals, 1.0)
    found: FloatArray = np.full(n, 1.0 / max(n, 1))
    for _ in range(_ROUNDS):
        expected = changed @ found
        ratio = np.where(expected > 0, shares / np.where(expected > 0, expected, 1.0), 0.0)
        after = found * (changed.T @ ratio)
        total = after.sum()
        if total <= 0:
            break
        after /= total
        done = np.abs(after - found).max() < _ENOUGH / max(n, 1)
        found = after
        if done:
            break
    return found
