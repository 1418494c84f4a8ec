"""Dividing a table into fragments, each of which can be parted by itself."""

from dataclasses import dataclass, replace

import numpy as np

from sfumato.counts import FrequencySet, sums
from sfumato.partition.frontier import Frontier, starting_groups
from sfumato.partition.lines import Boxes, Branches, Interval, Line
from sfumato.partition.mondrian import cut_boxes
from sfumato.partition.problem import Problem
from sfumato.typing import IntArray

NOWHERE = -1
"""The fragment of items that are in none, because nothing allowed protects them."""


@dataclass(frozen=True, eq=False)
class Fragments:
    """Which fragment each item is in."""

    of_item: IntArray
    """The number of the fragment, `NOWHERE` if the item is suppressed."""

    sizes: IntArray
    """How many rows each fragment has."""

    @property
    def n(self) -> int:
        """How many fragments there are."""
        return len(self.sizes)


def fragmented(problem: Problem, intervals: tuple[bool, ...], most: int) -> Fragments:
    """Cut a table until no fragment has more than `most` rows, as far as that is possible.

    Promises: all rows of a fragment together keep the models, so whatever else is found, they
    can be one class. Items with equal quasi-identifiers are in one fragment. Does not promise
    that every fragment is small enough: whoever asks must look.

    Args:
        problem: What is divided; its classes are compared with the rows that are in fragments.
        intervals: Which attributes are published as intervals of values.
        most: How many rows a fragment may have.

    Example:
        >>> from sfumato.hierarchy import Masking
        >>> from sfumato.losses import Attribute
        >>> from sfumato.models import KAnonymity
        >>> counts = FrequencySet.from_rows(["zip"], [("10",), ("11",), ("20",), ("21",)])
        >>> zips = Attribute(Masking().ladder("zip", counts.columns[0].values), counts.rows)
        >>> problem = Problem(counts, (zips,), (0,), (2,), (KAnonymity(2),), {})
        >>> fragmented(problem, (False,), most=2).of_item.tolist()
        [0, 0, 1, 1]
    """
    items, start = _protected(problem)
    some = _among(problem, items)
    lines: list[Line] = [
        Interval(some, a) if as_interval else Branches(some, a)
        for a, as_interval in enumerate(intervals)
    ]
    boxes = Boxes.of(start.item, start.rows, start.group, len(start))
    of_item = np.full(len(problem.counts), NOWHERE, dtype=np.int64)
    n = 0
    while boxes.n:
        cut = cut_boxes(some, lines, boxes, boxes.sizes > most)
        item, _, box = boxes.portions(~cut.done)
        of_item[items[item]] = box + n
        n += boxes.n - int(np.count_nonzero(cut.done))
        boxes = cut.halves()
    inside = of_item != NOWHERE
    return Fragments(of_item, sums(of_item[inside], problem.rows[inside], n))


def _protected(problem: Problem) -> tuple[IntArray, Frontier]:
    """Leave out what breaks a model at the highest levels, until all the rest keeps them."""
    items = np.arange(len(problem.counts))
    while True:
        some = _among(problem, items)
        start = starting_groups(some)
        passes = some.judge.passes(start.group, start.item, start.rows, len(start))
        if passes.all():
            return items, start
        # Whoever stays is compared with those who stay, so they must be asked again.
        items = items[passes[start.group]]


def _among(problem: Problem, items: IntArray) -> Problem:
    counts = problem.counts
    some = FrequencySet(counts.columns, counts.codes[:, items], counts.rows[items])
    return replace(problem, counts=some)
