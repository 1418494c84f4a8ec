"""The ICS search of Weka 3.6, to reproduce figures that were made with it."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import field
from itertools import combinations, permutations, product
from typing import ClassVar

import numpy as np

from sfumato.counts import FrequencySet
from sfumato.dataclasses import dataclass
from sfumato.errors import ParameterError, require_int
from sfumato.networks.independence import Counter, IndependenceJudge, OneSidedScoreTest
from sfumato.networks.network import (
    UNCONSTRAINED,
    Constraints,
    LearnedNetwork,
    Learner,
    Network,
    Progress,
)
from sfumato.typing import BoolArray


@dataclass(frozen=True)
class WekaIcs(Learner):
    """Learn what Weka's ICS search learns, with its dependence on column order and its cycles.

    For reproducing results only: the test is one-sided, edges are removed one by one, so the
    order of the columns matters, and the arrows may form cycles, which `LearnedNetwork.cycles`
    lists. Exact ties, which that program decides by rounding, are independent here.

    Args:
        most_given: The most columns independence is tested given.
        declared: How many values columns are declared to have, where more than occur.

    Example:
        >>> rows = [("x", "f", 1), ("x", "f", 1), ("y", "m", 2), ("y", "m", 2)] * 3
        >>> WekaIcs().learn(FrequencySet.from_rows("abc", rows)).network.edges
        (('c', 'b'), ('a', 'c'))
    """

    name: ClassVar[str] = "weka-ics"
    acyclic: ClassVar[bool] = False
    constrained: ClassVar[bool] = False

    most_given: int = 2
    declared: Mapping[str, int] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        require_int("most_given", self.most_given, at_least=0)

    def learn(
        self,
        counts: FrequencySet,
        constraints: Constraints = UNCONSTRAINED,
        progress: Progress | None = None,
    ) -> LearnedNetwork:
        if constraints != UNCONSTRAINED:
            why = "it reproduces a program that has none; learner 'ic' keeps them"
            raise ParameterError("constraints", constraints, "absent with 'weka-ics'", why=why)
        judge = OneSidedScoreTest().on(Counter(counts, self.declared))
        search = _EdgeSearch(judge, len(counts.columns))
        search.remove_edges(self.most_given, progress)
        search.make_colliders()
        chosen = search.orient()
        names = counts.names
        return LearnedNetwork(
            Network.of(
                names, _name_edges(names, search.arrow), _name_edges(names, chosen & search.arrow)
            ),
            {
                (names[a], names[b]): tuple(names[c] for c in given)
                for (a, b), given in search.separators.items()
            },
            search.tests,
        )


class _EdgeSearch:
    """The state of a search: which edges there are, and which have which direction."""

    def __init__(self, judge: IndependenceJudge, columns: int) -> None:
        self.judge = judge
        self.columns = range(columns)
        self.edge: BoolArray = ~np.eye(columns, dtype=bool)
        self.arrow: BoolArray = np.zeros((columns, columns), dtype=bool)
        self.separators: dict[tuple[int, int], tuple[int, ...]] = {}
        self.tests = 0

    def remove_edges(self, most_given: int, progress: Progress | None) -> None:
        pairs = list(combinations(self.columns, 2))
        for level in range(most_given + 1):
            for done, (a, b) in enumerate(pairs, level * len(pairs) + 1):
                if self.edge[a, b]:
                    self._separate(a, b, level)
                if progress:
                    progress(done, len(pairs) * (most_given + 1))

    def _separate(self, a: int, b: int, level: int) -> None:
        common = np.flatnonzero(self.edge[a] & self.edge[b]).tolist()
        for given in combinations(common, level):
            self.tests += 1
            if self.judge.evidence(a, b, given) <= 0:
                self.edge[a, b] = self.edge[b, a] = False
                self.separators[a, b] = given
                return

    def make_colliders(self) -> None:
        for (a, b), given in sorted(self.separators.items()):
            for c in np.flatnonzero(self.edge[a] & self.edge[b]).tolist():
                if c not in given:
                    self.arrow[a, c] = self.arrow[b, c] = True

    def open(self, a: int, b: int) -> bool:
        return bool(self.edge[a, b]) and not self.arrow[a, b] and not self.arrow[b, a]

    def orient(self) -> BoolArray:
        """Apply the rules until every edge has a direction; return which were open at first."""
        rules: list[Callable[[], bool]] = [self._r1, self._r2, self._r3, self._r4]
        left: BoolArray | None = None
        while True:
            fired = [rule() for rule in rules]
            if any(fired):
                continue
            if left is None:
                left = self.edge & ~self.arrow & ~self.arrow.T
            undirected = [(a, b) for a, b in combinations(self.columns, 2) if self.open(a, b)]
            if not undirected:
                return left
            self.arrow[undirected[0]] = True

    def _r1(self) -> bool:
        """I → j – k with i and k not adjacent: j → k."""
        return self._point(
            ((j, k),)
            for i, j, k in permutations(self.columns, 3)
            if self.arrow[i, j] and self.open(j, k) and not self.edge[i, k]
        )

    def _r2(self) -> bool:
        """I → j → k with i – k: i → k."""
        return self._point(
            ((i, k),)
            for i, j, k in permutations(self.columns, 3)
            if self.arrow[i, j] and self.arrow[j, k] and self.open(i, k)
        )

    def _r3(self) -> bool:
        """I → j ← k with i and k not adjacent, m – i, m – j, m – k: m → j."""
        return self._point(
            ((m, j),)
            for i, j, k, m in permutations(self.columns, 4)
            if self.arrow[i, j]
            and self.arrow[k, j]
            and not self.edge[i, k]
            and self.open(m, i)
            and self.open(m, j)
            and self.open(m, k)
        )

    def _r4(self) -> bool:
        """J → i, k – j, k – i, m – i, m – k: i → m and k → m."""
        return self._point(
            ((i, m), (k, m))
            for i, j, k, m in permutations(self.columns, 4)
            if self.arrow[j, i]
            and self.open(k, j)
            and self.open(k, i)
            and self.open(m, i)
            and self.open(m, k)
        )

    def _point(self, found: Iterator[tuple[tuple[int, int], ...]]) -> bool:
        changed = False
        for arrows in found:
            for arrow in arrows:
                self.arrow[arrow] = changed = True
        return changed


def _name_edges(names: tuple[str, ...], arrow: BoolArray) -> set[tuple[str, str]]:
    return {(a, b) for (i, a), (j, b) in product(enumerate(names), repeat=2) if arrow[i, j]}
