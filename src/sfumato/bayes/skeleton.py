"""Which columns have an edge at all: those that nothing makes independent."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import NamedTuple, TypeAlias

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
    """The least evidence of dependence any test found."""

    doubtful: dict[Pair, Given] = field(default_factory=dict)
    """Pairs some test calls independent, and given what it shows that best."""

    tests: int = 0

    @property
    def edges(self) -> list[Pair]:
        """The edges in order."""
        return [(a, b) for a, near in enumerate(self.neighbours) for b in sorted(near) if a < b]

    def remove(self, pair: Pair) -> None:
        """Take an edge out."""
        a, b = pair
        self.neighbours[a].discard(b)
        self.neighbours[b].discard(a)


class _Way(NamedTuple):
    """A set that makes a pair independent; the more convincing ones come first."""

    doubt: float
    given: Given


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
    Maathuis 2014), and the given columns are neighbours of one end. So no test depends on
    which pair came first. The edges of a level then go together, the most convincing first.

    Args:
        judge: The test, applied to the table.
        columns: How many columns there are.
        most_given: The most columns to test independence given.
        kept: Edges that stay whatever the tests say.
        barred: Edges there must not be.
        progress: Called with the pairs looked at, and those there are as far as known.
    """
    found = Skeleton([set(range(columns)) - {a} for a in range(columns)])
    for pair in barred:
        found.remove(pair)
    done = total = 0
    for level in range(most_given + 1):
        candidates = {p: _sets(found.neighbours, p, level) for p in found.edges if p not in kept}
        candidates = {pair: sets for pair, sets in candidates.items() if sets}
        total += len(candidates)
        separating = {}
        for pair, sets in candidates.items():
            separating[pair] = _separating(judge, found, pair, sets)
            done += 1
            if progress:
                progress(done, total)
        _settle(found, separating)
    _clear_doubts(judge, found)
    return found


def _sets(neighbours: Sequence[set[int]], pair: Pair, size: int) -> list[Given]:
    """List the sets of that many neighbours of one end or the other, each once."""
    a, b = pair
    near = (sorted(neighbours[a] - {b}), sorted(neighbours[b] - {a}))
    return list(dict.fromkeys(given for side in near for given in combinations(side, size)))


def _separating(judge: Judge, found: Skeleton, pair: Pair, sets: Sequence[Given]) -> list[_Way]:
    """Find what makes a pair independent, the most convincing first."""
    evidence = [judge.evidence(*pair, given) for given in sets]
    found.tests += len(sets)
    found.strength[pair] = min(*evidence, found.strength.get(pair, float("inf")))
    ways = []
    for given, dependent in zip(sets, evidence, strict=True):
        if dependent <= 0:
            # Given nothing there are no strata with too few rows.
            doubt = -judge.explains(*pair, given) if given else dependent
            ways.append(_Way(round(doubt, _ALIKE), given))
    return sorted(ways)


def _settle(found: Skeleton, separating: dict[Pair, list[_Way]]) -> None:
    """Remove the edges of a level, the most convincing first.

    Of columns that are copies of each other, each makes the others independent, and
    without care all their edges would go. So an edge goes only if what separates its ends
    still lies between them, beside one of them.
    """
    order = sorted((ways[0].doubt, pair) for pair, ways in separating.items() if ways)
    for _, pair in order:
        ways = separating[pair]
        found.doubtful[pair] = ways[0].given
        good = (w.given for w in ways if w.doubt <= 0 and _separates(found.neighbours, pair, w))
        given = next(good, None)
        if given is not None:
            found.remove(pair)
            found.separators[pair] = given


def _separates(neighbours: Sequence[set[int]], pair: Pair, way: _Way) -> bool:
    a, b = pair
    beside = neighbours[a].issuperset(way.given) or neighbours[b].issuperset(way.given)
    # What is beside one end lies between both if there is a way on to the other.
    return beside and all(
        _connected(neighbours, c, a, without=b) and _connected(neighbours, c, b, without=a)
        for c in way.given
    )


def _clear_doubts(judge: Judge, found: Skeleton) -> None:
    """Remove doubtful edges without which each of their ends is explained best."""
    doubtful = [pair for pair in found.edges if pair in found.doubtful]
    ends = sorted({column for pair in doubtful for column in pair})
    best = {column: judge.explanation(column, found.neighbours[column]) for column in ends}
    for a, b in doubtful:
        if a not in best[b] and b not in best[a]:
            found.remove((a, b))
            found.separators[a, b] = found.doubtful[a, b]


def _connected(neighbours: Sequence[set[int]], start: int, end: int, *, without: int) -> bool:
    seen = {start, without}
    waiting = [start]
    while waiting:
        new = neighbours[waiting.pop()] - seen
        if end in new:
            return True
        seen |= new
        waiting += new
    return False
