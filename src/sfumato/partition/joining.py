"""Finding a class for the rows that are left over."""

import numpy as np

from sfumato.partition.frontier import starting_groups
from sfumato.partition.parted import Parted
from sfumato.partition.problem import Problem
from sfumato.typing import CodeArray, FloatArray, IntArray

_AT_ONCE = 2**22
"""Pairs of an item and a class that are weighed at a time."""


def join(problem: Problem, parted: Parted, items: IntArray, rows: IntArray | None = None) -> Parted:
    """Let items join the classes they harm least; merge classes where that breaks a model.

    Joining costs what the item itself loses with the labels it then needs, and what all
    rows of the class lose on top of what they have lost. If a class no longer passes, it
    is merged with the classes made last, the dearest ones, until it does.

    Args:
        problem: What is parted.
        parted: The classes there are.
        items: Who is to join them.
        rows: How many rows of each item; None for all it has.
    """
    rows = problem.rows[items] if rows is None else rows
    # Nothing allowed covers rows that differ at the highest levels, so they stay apart.
    apart = starting_groups(problem).group
    if not apart.any():
        return _joined(problem, parted, items, rows)
    wanted = np.unique(apart[items])
    elsewhere = ~np.isin(apart[parted.item], wanted)
    pieces = [(parted.item[elsewhere], parted.rows[elsewhere], parted.classes[elsewhere])]
    n = parted.n
    for place in wanted.tolist():
        here = apart[parted.item] == place
        there = Parted.of(parted.item[here], parted.rows[here], parted.classes[here])
        coming = apart[items] == place
        found = _joined(problem, there, items[coming], rows[coming])
        pieces.append((found.item, found.rows, found.classes + n))
        n += found.n
    item, portions, classes = (np.concatenate(parts) for parts in zip(*pieces, strict=True))
    return Parted.of(item, portions, classes)


def _joined(problem: Problem, parted: Parted, items: IntArray, rows: IntArray) -> Parted:
    """Let items join classes any of which they may join."""
    if not parted.n:
        return Parted.of(items, rows, np.zeros(len(items)))
    chosen = _cheapest_class(problem, parted, items, rows)
    joined = Parted.of(
        np.concatenate([parted.item, items]),
        np.concatenate([parted.rows, rows]),
        np.concatenate([parted.classes, chosen]),
    )
    passes = problem.judge.passes(joined.classes, joined.item, joined.rows, joined.n)
    return joined if passes.all() else _merged(problem, joined, np.flatnonzero(~passes))


def _cheapest_class(problem: Problem, parted: Parted, items: IntArray, rows: IntArray) -> IntArray:
    """Give the class each item harms least; of equals the first."""
    example = parted.item[parted.starts]
    sizes = parted.sizes.astype(np.float64)
    harms = [
        _Harm(problem, a, example, _levels(problem, parted, a), sizes)
        for a in range(len(problem.attributes))
    ]
    best = np.empty(len(items), dtype=np.int64)
    step = max(_AT_ONCE // parted.n, 1)
    for start in range(0, len(items), step):
        some = items[start : start + step]
        total = np.zeros((len(some), parted.n))
        for harm in harms:
            total += harm.of(some, rows[start : start + step])
        best[start : start + step] = np.argmin(total, axis=1)
    return best


class _Harm:
    """What joining costs on one attribute.

    It depends on the item's raw value and on the label of the class only, so it is worked
    out once for each pair of those.
    """

    def __init__(
        self, problem: Problem, a: int, example: IntArray, own: IntArray, sizes: FloatArray
    ) -> None:
        self._raw = problem.raw[a]
        self._costs, self._codes = problem.costs[a], problem.codes[a]
        self._sizes = sizes
        theirs = self._raw[example]
        _, first, self._of_class = np.unique(
            own * self._codes.shape[1] + theirs, return_index=True, return_inverse=True
        )
        self._level, self._value = own[first], theirs[first]

    def of(self, items: IntArray, rows: IntArray) -> FloatArray:
        """Give what each item and each class lose if they come together."""
        mine, of_item = np.unique(self._raw[items], return_inverse=True)
        costs, level, value = self._costs, self._level, self._value
        together = _common(self._codes, mine[:, None], value[None, :], level[None, :])
        for_class = (costs[together, value] - costs[level, value])[:, self._of_class]
        for_item = costs[together, mine[:, None]][:, self._of_class]
        mine_too = for_item[of_item] * rows.astype(np.float64)[:, None]
        harm: FloatArray = (for_class * self._sizes)[of_item] + mine_too
        return harm


def _levels(problem: Problem, parted: Parted, a: int) -> IntArray:
    """Give the lowest level at which all rows of each class have one label."""
    raw = problem.raw[a][parted.item]
    level = np.full(parted.n, problem.highest[a], dtype=np.int64)
    for height in range(problem.highest[a] - 1, problem.lowest[a] - 1, -1):
        codes = problem.codes[a][height][raw]
        one = np.minimum.reduceat(codes, parted.starts) == np.maximum.reduceat(codes, parted.starts)
        level[one] = height
    return level


def _common(codes: CodeArray, mine: IntArray, theirs: IntArray, lowest: IntArray) -> IntArray:
    """Give the lowest level, from `lowest` up, at which two raw values have one label."""
    level = np.broadcast_to(lowest, np.broadcast_shapes(mine.shape, theirs.shape)).copy()
    for _ in range(len(codes) - 1):
        apart = (codes[level, mine] != codes[level, theirs]) & (level < len(codes) - 1)
        if not apart.any():
            break
        level += apart
    return level


def _merged(problem: Problem, parted: Parted, failing: IntArray) -> Parted:
    """Make one class of those that fail and of the fewest last classes that make it pass."""
    others = np.setdiff1d(np.arange(parted.n), failing)[::-1]
    fewest, most = 0, len(others)
    known_good = most
    count = 1 if most else 0
    # Double until it passes, then halve the distance: not every model gets easier with each.
    while True:
        if _passes_with(problem, parted, failing, others[:count]):
            known_good = count
            break
        fewest = count
        if count == most:
            break
        count = min(2 * count, most)
    while known_good - fewest > 1:
        middle = (fewest + known_good) // 2
        if _passes_with(problem, parted, failing, others[:middle]):
            known_good = middle
        else:
            fewest = middle
    into = parted.classes.copy()
    into[np.isin(parted.classes, np.concatenate([failing, others[:known_good]]))] = failing[0]
    return Parted.of(parted.item, parted.rows, into)


def _passes_with(problem: Problem, parted: Parted, failing: IntArray, others: IntArray) -> bool:
    at = np.isin(parted.classes, np.concatenate([failing, others]))
    one = np.zeros(int(np.count_nonzero(at)), dtype=np.int64)
    return bool(problem.judge.passes(one, parted.item[at], parted.rows[at], 1)[0])
