"""Incremental Break-Merge: which new rows of a group may be published.

The rule, for one group: **a row is admitted unless a combination it makes likelier ends above
alpha** (`sfumato.ledger.limit` says likelier for whom). So a group whose tables are within alpha
stays within alpha, whatever is admitted; and in a group that was published above alpha, nothing
above it ever rises. What is admitted is *maximal*: when it ends, no refused row could be added
without breaking the rule. Which of several maximal choices it is, is drawn at random.
"""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from sfumato.ledger.limit import Tally, fits
from sfumato.typing import BoolArray, IntArray


@dataclass(frozen=True, eq=False)
class Offers:
    """Rows that want to join (or to leave) a group, equal ones counted together."""

    values: IntArray
    """`values[i, c]`: the value of sensitive column i in combination c."""

    rows: IntArray
    """How many rows have combination c."""

    @property
    def total(self) -> int:
        """How many rows there are."""
        return int(self.rows.sum())


def admit(start: Tally, offers: Offers, alpha: Fraction, rng: np.random.Generator) -> IntArray:
    """Give how many rows of each combination are admitted.

    Rows are considered in random order, many at a time as long as that goes well: what is
    within the limit together need not be tried row by row. A combination of which one row
    was refused waits until the others had their turn, because they may make room for it. When
    no single row is admissible any more, several may still be together.

    Example:
        >>> start = Tally(4, (np.array([2, 2]), np.array([2, 2])))
        >>> offers = Offers(np.array([[0, 1], [0, 1]]), np.array([3, 1]))
        >>> admit(start, offers, Fraction(1, 2), np.random.default_rng(1)).tolist()
        [1, 1]
    """
    if fits(start, start.plus(offers.values, offers.rows), alpha):
        return offers.rows.copy()
    run = _Run(start, offers, alpha)
    run.admit_singly(rng)
    while run.admit_together(rng):
        run.admit_singly(rng)
    return run.taken


def thinned(offers: Offers, alpha: Fraction, rng: np.random.Generator) -> IntArray:
    """Give how many rows of each combination may be published as a group of their own.

    Somebody who compares two releases sees the newcomers of a group by themselves, and so does
    everybody when a group is new. Rows whose values are too frequent among them are left out
    until the tables of the rest are within alpha. Nobody may be left.

    Example:
        >>> offers = Offers(np.array([[0, 0, 1, 1], [0, 1, 0, 1]]), np.array([3, 1, 1, 1]))
        >>> thinned(offers, Fraction(1, 2), np.random.default_rng(1)).tolist()
        [1, 1, 1, 1]
    """
    widths = [int(codes.max(initial=-1)) + 1 for codes in offers.values]
    nobody = Tally(0, tuple(np.zeros(width, dtype=np.int64) for width in widths))
    return admit(nobody, offers, alpha, rng)


class _Run:
    """A group while rows are being admitted to it."""

    def __init__(self, start: Tally, offers: Offers, alpha: Fraction) -> None:
        self._now = start
        self._offers = offers
        self._alpha = alpha
        self.taken: IntArray = np.zeros(len(offers.rows), dtype=np.int64)

    @property
    def left(self) -> IntArray:
        """How many rows of each combination are not admitted yet."""
        return self._offers.rows - self.taken

    def admit_singly(self, rng: np.random.Generator) -> None:
        """Admit rows until no single one fits any more."""
        queue = np.repeat(np.arange(len(self.taken)), self.left)
        before = len(queue) + 1
        while 0 < len(queue) < before:
            before = len(queue)
            rng.shuffle(queue)
            queue = self._go_through(queue)

    def admit_together(self, rng: np.random.Generator) -> bool:
        """Admit several rows that fit together, if there are such."""
        together = _without_the_frequent(self._now, self._offers, self.left, self._alpha, rng)
        if together is None or not together.any():
            return False
        self._now = self._now.plus(self._offers.values, together)
        self.taken += together
        return True

    def _go_through(self, queue: IntArray) -> IntArray:
        """Admit what fits, in this order, and give back what did not."""
        left = []
        length = len(queue)
        while len(queue):
            block = queue[: max(length, 1)]
            if self._admit(block):
                queue = queue[len(block) :]
                length = 2 * len(block)
            elif len(block) > 1:
                length = len(block) // 2
            else:
                alike: BoolArray = queue == block[0]
                left.append(queue[alike])
                queue = queue[~alike]
                length = 1
        return np.concatenate(left) if left else queue

    def _admit(self, block: IntArray) -> bool:
        after = self._now.plus(self._offers.values[:, block])
        if not fits(self._now, after, self._alpha):
            return False
        self._now = after
        self.taken += np.bincount(block, minlength=len(self.taken))
        return True


def _without_the_frequent(
    base: Tally, offers: Offers, rows: IntArray, alpha: Fraction, rng: np.random.Generator
) -> IntArray | None:
    """Leave rows with the most frequent values out until the rest fits; None if none does.

    Those go first whose other values are frequent too. A combination with many rows loses a
    quarter of them at once: what is too much comes back when rows are admitted singly.
    """
    rows = rows.copy()
    order = rng.permutation(len(rows))
    tally = base.plus(offers.values, rows)
    while tally.worst > alpha:
        weight = np.sum([c[v] for c, v in zip(tally.counts, offers.values, strict=True)], axis=0)
        guilty = _guilty(tally, offers, rows, order)
        if not len(guilty):
            return None
        out = guilty[int(weight[guilty].argmax())]
        fewer = max(1, int(rows[out]) // 4)
        rows[out] -= fewer
        tally = tally.minus(offers.values[:, [out]], fewer)
    return rows


def _guilty(tally: Tally, offers: Offers, rows: IntArray, order: IntArray) -> IntArray:
    """Give the combinations with the most frequent value there is that still have rows."""
    columns = sorted(range(len(tally.counts)), key=lambda i: -int(tally.counts[i].max(initial=0)))
    for column in columns:
        most = int(tally.counts[column].argmax())
        guilty: IntArray = order[(offers.values[column][order] == most) & (rows[order] > 0)]
        if len(guilty):
            return guilty
    return order[:0]
