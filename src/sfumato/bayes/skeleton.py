"""Which columns have an edge at all: those that nothing makes independent."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import TypeAlias

from sfumato.bayes.independence import Judge

Pair: TypeAlias = tuple[int, int]
"""Two columns by position, the smaller first."""

Given: TypeAlias = tuple[int, ...]

_ALIKE = 6
"""Evidence that differs only beyond so many digits is the same: the rest is rounding."""


@dataclass
class Skeleton:
    """The edges left, what separates the others, and the work it took."""

    neighbours: list[set[int]]
    separators: dict[Pair, Given] = field(default_factory=dict)
    strength: dict[Pair, float] = field(default_factory=dict)
    """The least evidence of dependence any test found, for edges that are left."""

    tests: int = 0

    @property
    def edges(self) -> list[Pair]:
        """The edges in order."""
        return [(a, b) for a, near in enumerate(self.neighbours) for b in sorted(near) if a < b]


def find_skeleton(
    judge: Judge,
    columns: int,
    *,
    most_given: int,
    kept: frozenset[Pair] = frozenset(),
    barred: frozenset[Pair] = frozenset(),
    progress: Callable[[int, int | None], None] | None = None,
) -> Skeleton:
    """Remove edges level by level: independent given nothing, one column, two, and so on.

    All tests of a level see the edges as they were when it began (PC-stable, Colombo and
    Maathuis 2014), and the given columns are neighbours of one end. So no test depends on which
    pair came first. An edge goes with the set that shows independence best.

    Args:
        judge: The test, applied to the table.
        columns: How many columns there are.
        most_given: The most columns to test independence given.
        kept: Edges that stay whatever the tests say.
        barred: Edges there must not be.
        progress: Called with the pairs looked at, and those there are as far as known.
    """
    every = [set(range(columns)) - {a} for a in range(columns)]
    found = Skeleton(every)
    for a, b in barred:
        _remove(every, a, b)
    done, total = 0, 0
    for level in range(most_given + 1):
        pairs = [pair for pair in found.edges if pair not in kept]
        ways = {pair: _sets(every, pair, level) for pair in pairs}
        pairs = [pair for pair in pairs if ways[pair]]
        if level and not pairs:
            break
        total += len(pairs)
        separating = {}
        for pair in pairs:
            separating[pair] = _separating(judge, found, pair, ways[pair])
            done += 1
            if progress:
                progress(done, total)
        _settle(found, separating)
    return found


def _sets(neighbours: Sequence[set[int]], pair: Pair, size: int) -> list[Given]:
    """List the sets of that many neighbours of one end or the other, each once."""
    a, b = pair
    near = (sorted(neighbours[a] - {b}), sorted(neighbours[b] - {a}))
    return list(dict.fromkeys(given for side in near for given in combinations(side, size)))


def _separating(
    judge: Judge, found: Skeleton, pair: Pair, ways: Sequence[Given]
) -> list[tuple[float, Given]]:
    """Find what makes a pair independent, what shows it best first."""
    tried = [(judge.evidence(*pair, given), given) for given in ways]
    found.tests += len(tried)
    found.strength[pair] = min([found.strength.get(pair, float("inf")), *(e for e, _ in tried)])
    return sorted((round(e, _ALIKE), given) for e, given in tried if e <= 0)


def _settle(found: Skeleton, separating: dict[Pair, list[tuple[float, Given]]]) -> None:
    """Remove the edges of a level, those with the best evidence of independence first.

    Of columns that are copies of each other, each makes the others independent, and
    without care all their edges would go. So an edge goes only if what separates its ends
    still lies between them.
    """
    order = sorted((ways[0][0], pair) for pair, ways in separating.items() if ways)
    for _, (a, b) in order:
        for _, given in separating[a, b]:
            if all(_between(found.neighbours, a, b, c) for c in given):
                _remove(found.neighbours, a, b)
                found.separators[a, b] = given
                break


def _remove(neighbours: Sequence[set[int]], a: int, b: int) -> None:
    neighbours[a].discard(b)
    neighbours[b].discard(a)


def _between(neighbours: Sequence[set[int]], a: int, b: int, c: int) -> bool:
    """Tell whether some path from a to b that visits nothing twice visits c.

    By Menger's theorem it does unless leaving out one node cuts c off from what is left
    of the two ends.
    """
    if not (
        _connected(neighbours, c, {b}, without=a) and _connected(neighbours, c, {a}, without=b)
    ):
        return False
    if b in neighbours[c] or a in neighbours[c]:
        return True
    cuts = (v for v in range(len(neighbours)) if v not in (a, b, c))
    return all(_connected(neighbours, c, {a, b}, without=v) for v in cuts)


def _connected(neighbours: Sequence[set[int]], start: int, ends: set[int], *, without: int) -> bool:
    seen = {start, without}
    waiting = [start]
    while waiting:
        new = neighbours[waiting.pop()] - seen
        if new & ends:
            return True
        seen |= new
        waiting += new
    return False
