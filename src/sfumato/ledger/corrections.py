"""Corrections: those who know an old value may learn the new one from them, and the reverse.

If three of a cell's ten people with flu are corrected to gout, an adversary who knows that a person
had flu believes in gout with three tenths; and if five have gout now, one who knows the gout
believes that it was flu with three fifths. So a correction is published only if, over the whole
history of the cell, an adversary who knows the value of one release believes no value of another
release with more than alpha.

The releases show by how much each count fell or rose, and not who was corrected. Every choice of
people is as likely as any other. So, given the value a person has after a correction, the value
before it has a distribution: a *kernel*, one row per value. Kernels of successive corrections are
multiplied. They hold for every part of the cell, because a person's history does not depend on who
leaves later; but the parts have other tables, and by them a history may become likelier. So a cell
in which values were corrected is split only if both parts pass the same check.
"""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from sfumato.dataclasses import dataclass
from sfumato.ledger.admission import SeenTogether
from sfumato.typing import BoolArray, FloatArray, IntArray

_ROUNDING = 1e-12

Kernels = tuple[FloatArray, ...]
"""For each correction of one column, the first first: `[now, before]`."""


@dataclass(frozen=True, eq=False)
class Memory:
    """What was corrected in a cell, for each sensitive column."""

    kernels: tuple[Kernels, ...]

    def allows(self, part: SeenTogether, alpha: Fraction) -> bool:
        """Return whether nothing is believed of a part's people with more than alpha."""
        return all(
            _allows(
                count,
                kernels,
                _ValueMasks(part.says(column), _limit_mask(part, column)),
                float(alpha) + _ROUNDING,
            )
            for column, (count, kernels) in enumerate(zip(part.counts, self.kernels, strict=True))
            if kernels
        )

    def with_correction(self, column: int, before: IntArray, after: IntArray) -> "Memory":
        """Return the memory after the counts of a column have changed."""
        kernels = list(self.kernels)
        kernels[column] = (*kernels[column], kernel_of(before, after))
        return Memory(tuple(kernels))


def kernel_of(before: IntArray, after: IntArray) -> FloatArray:
    """Return the distribution of the value before a correction, for each value after it.

    Example:
        >>> kernel_of(np.array([0, 10, 2]), np.array([0, 7, 5])).round(2).tolist()
        [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.6, 0.4]]
    """
    gained, lost = np.maximum(after - before, 0), np.maximum(before - after, 0)
    came = gained / np.maximum(after, 1)
    found: FloatArray = np.diag(1 - came) + np.outer(came, lost / max(int(lost.sum()), 1))
    return found


def _limit_mask(part: SeenTogether, column: int) -> BoolArray:
    """Return the values of which a belief is limited: those that are said and not harmless."""
    every = part.says(column)
    return every if part.harmless is None else every & ~part.harmless[column]


class _ValueMasks(NamedTuple):
    """Of each code of a column, what its value is."""

    said: BoolArray
    limited: BoolArray


def _allows(count: IntArray, kernels: Kernels, values: _ValueMasks, alpha: float) -> bool:
    width = len(count)
    steps = [_widen(kernel, width) for kernel in reversed(kernels)]
    now: FloatArray = count.astype(np.float64)
    for i in range(len(steps)):
        way: FloatArray = np.eye(width)
        for step in steps[i:]:
            way = way @ step
            if not _is_hidden(now, way, values, alpha):
                return False
        now = now @ steps[i]
    return True


def _widen(kernel: FloatArray, width: int) -> FloatArray:
    """Add values that came to the cell later."""
    wide = np.eye(width)
    wide[: len(kernel), : len(kernel)] = kernel
    return wide


def _is_hidden(later: FloatArray, way: FloatArray, values: _ValueMasks, alpha: float) -> bool:
    """Return whether neither the earlier value nor the later one is believed with more than alpha.

    Args:
        later: How many have each value in the later release.
        way: The distribution of the earlier value, for each later one.
        values: Which say something, and of which a belief is limited.
        alpha: The limit.
    """
    both = later[:, None] * way
    earlier = both.sum(axis=0)
    if earlier[values.limited].max(initial=0.0) > alpha * earlier[values.said].sum():
        return False
    there = later > 0
    # Who knows the later value, and who knows the earlier one: of the others, which is believed?
    return _is_bounded(way[there], np.flatnonzero(there), values, alpha) and _is_bounded(
        both.T, np.arange(len(earlier)), values, alpha
    )


def _is_bounded(believed: FloatArray, known: IntArray, values: _ValueMasks, alpha: float) -> bool:
    """Return whether no row has a share above alpha of a value that is not the known one."""
    others = believed.copy()
    others[np.arange(len(known)), known] = 0
    others[:, ~values.limited] = 0
    totals = believed[:, values.said].sum(axis=1)
    return bool((others <= alpha * totals[:, None] + _ROUNDING).all())


@dataclass(frozen=True, eq=False)
class Wish:
    """Corrections of one column of a cell: how many rows are to go from one value to another."""

    column: int
    old: IntArray
    new: IntArray
    """The codes before and after, one per row."""


def choose_corrections(
    cell: SeenTogether, wish: Wish, memory: Memory, alpha: Fraction, rng: np.random.Generator
) -> IntArray:
    """Return the positions of the corrections that are published now: as many as can be.

    Args:
        cell: Who is there now.
        wish: The corrections.
        memory: What was corrected before.
        alpha: The limit.
        rng: The order in which they are tried.
    """

    def may_happen(at: Sequence[int]) -> bool:
        # The releases show the sum of all corrections: it must be what happened.
        if np.intersect1d(wish.old[list(at)], wish.new[list(at)]).size:
            return False
        after = apply_corrections(cell, wish, at)
        if not after.possible or not after.is_within(alpha):
            return False
        more = memory.with_correction(
            wish.column, cell.counts[wish.column], after.counts[wish.column]
        )
        return more.allows(after, alpha)

    order: list[int] = rng.permutation(len(wish.old)).tolist()
    if may_happen(order):
        return np.array(sorted(order), dtype=np.int64)
    taken: list[int] = []
    for i in order:
        if may_happen([*taken, i]):
            taken.append(i)
    return np.array(sorted(taken), dtype=np.int64)


def apply_corrections(cell: SeenTogether, wish: Wish, at: Sequence[int]) -> SeenTogether:
    """Return a cell after some of the corrections."""
    count = cell.counts[wish.column].copy()
    np.subtract.at(count, wish.old[list(at)], 1)
    np.add.at(count, wish.new[list(at)], 1)
    counts = list(cell.counts)
    counts[wish.column] = count
    return replace(cell, counts=tuple(counts))
