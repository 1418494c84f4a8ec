"""Inductive causation: edges where nothing separates, arrows where the data tells."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import field
from itertools import combinations
from typing import ClassVar, NamedTuple, Self, TypeAlias

from sfumato.counts import FrequencySet
from sfumato.dataclasses import dataclass
from sfumato.errors import ParameterError, require_int
from sfumato.networks.independence import (
    Counter,
    G2Test,
    IndependenceJudge,
    IndependenceTest,
    ScoreTest,
)
from sfumato.networks.network import (
    UNCONSTRAINED,
    Constraints,
    LearnedNetwork,
    Learner,
    Network,
    Progress,
)

Pair: TypeAlias = tuple[int, int]
"""Two columns by position, the smaller first."""

Given: TypeAlias = tuple[int, ...]

_ALIKE = 6
"""Evidence that differs only beyond this many digits is the same: the rest is rounding."""


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
        """Remove an edge."""
        a, b = pair
        self.neighbours[a].discard(b)
        self.neighbours[b].discard(a)


class _Way(NamedTuple):
    """A set that makes a pair independent; the more convincing ones come first."""

    doubt: float
    given: Given


def find_skeleton(
    judge: IndependenceJudge,
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


def _separating(
    judge: IndependenceJudge, found: Skeleton, pair: Pair, sets: Sequence[Given]
) -> list[_Way]:
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
        _is_connected(neighbours, c, a, without=b) and _is_connected(neighbours, c, b, without=a)
        for c in way.given
    )


def _clear_doubts(judge: IndependenceJudge, found: Skeleton) -> None:
    """Remove doubtful edges without which each of their ends is explained best."""
    doubtful = [pair for pair in found.edges if pair in found.doubtful]
    ends = sorted({column for pair in doubtful for column in pair})
    best = {column: judge.explanation(column, found.neighbours[column]) for column in ends}
    for a, b in doubtful:
        if a not in best[b] and b not in best[a]:
            found.remove((a, b))
            found.separators[a, b] = found.doubtful[a, b]


def _is_connected(neighbours: Sequence[set[int]], start: int, end: int, *, without: int) -> bool:
    seen = {start, without}
    waiting = [start]
    while waiting:
        new = neighbours[waiting.pop()] - seen
        if end in new:
            return True
        seen |= new
        waiting += new
    return False


class Pattern:
    """A graph with edges that have a direction and edges that have none yet.

    Nodes are positions. `orient` keeps it free of cycles: an edge that cannot point one
    way points the other.

    Example:
        >>> graph = Pattern(3, [(0, 1), (1, 2)])
        >>> graph.orient(0, 1)
        True
        >>> close(graph)  # 1 – 2 must not meet 0 → 1 at a collider
        >>> sorted(graph.arrows)
        [(0, 1), (1, 2)]
    """

    def __init__(self, nodes: int, edges: Iterable[tuple[int, int]]) -> None:
        self.nodes = range(nodes)
        self.neighbours: list[set[int]] = [set() for _ in self.nodes]
        self.children: list[set[int]] = [set() for _ in self.nodes]
        for a, b in edges:
            self.neighbours[a].add(b)
            self.neighbours[b].add(a)

    @property
    def arrows(self) -> set[tuple[int, int]]:
        """The edges that have a direction."""
        return {(a, b) for a in self.nodes for b in self.children[a]}

    def adjacent(self, a: int, b: int) -> bool:
        """Return whether there is an edge, with a direction or without."""
        return b in self.neighbours[a]

    def arrow(self, a: int, b: int) -> bool:
        """Return whether a → b."""
        return b in self.children[a]

    def open(self, a: int, b: int) -> bool:
        """Return whether a – b, without a direction."""
        return self.adjacent(a, b) and not self.arrow(a, b) and not self.arrow(b, a)

    def open_edges(self) -> Iterator[tuple[int, int]]:
        """List the edges without a direction, in order."""
        return (
            (a, b)
            for a in self.nodes
            for b in sorted(self.neighbours[a])
            if a < b and self.open(a, b)
        )

    def reaches(self, a: int, b: int) -> bool:
        """Return whether arrows lead from a to b."""
        seen: set[int] = set()
        waiting = [a]
        while waiting:
            new = self.children[waiting.pop()] - seen
            if b in new:
                return True
            seen |= new
            waiting += new
        return False

    def orient(self, a: int, b: int) -> bool:
        """Point an edge from a to b, or the other way if that would close a circle."""
        if self.reaches(b, a):
            self.children[b].add(a)
            return False
        self.children[a].add(b)
        return True

    def drop(self, a: int, b: int) -> None:
        """Remove an edge."""
        self.neighbours[a].discard(b)
        self.neighbours[b].discard(a)


def close(graph: Pattern) -> None:
    """Orient what follows from the arrows there are, until nothing more does (Meek 1995)."""
    changed = True
    while changed:
        changed = False
        for a, b in list(graph.open_edges()):
            for tail, head in ((a, b), (b, a)):
                if graph.open(tail, head) and _follows(graph, tail, head):
                    graph.orient(tail, head)
                    changed = True


def _follows(graph: Pattern, a: int, b: int) -> bool:
    """Return whether a – b must be a → b."""
    near_a, near_b = graph.neighbours[a], graph.neighbours[b]
    into_b = [c for c in near_b if graph.arrow(c, b)]
    # R1: else c → a – b would be a new collider.
    if any(graph.arrow(c, a) and c not in near_b for c in near_a):
        return True
    # R2: else a → c → b → a would be a circle.
    if any(graph.arrow(a, c) for c in into_b):
        return True
    # R3: with b → a, both c → a and d → a would follow from R2, a new collider.
    beside = [c for c in into_b if graph.open(a, c)]
    if any(not graph.adjacent(c, d) for c, d in combinations(beside, 2)):
        return True
    # R4: with b → a, R2 gives d → a and then c → a, a new collider with b.
    return any(
        graph.open(a, c) and graph.arrow(c, d) and c not in near_b
        for d in into_b
        if d in near_a
        for c in near_a
    )


def choose_rest(graph: Pattern) -> set[tuple[int, int]]:
    """Orient what is left open, from the first node on; tell which arrows that made.

    >>> graph = Pattern(3, [(0, 2), (1, 2)])
    >>> sorted(choose_rest(graph))  # the second follows from the first
    [(0, 2), (2, 1)]
    """
    left = list(graph.open_edges())
    for a, b in left:
        if graph.open(a, b):
            graph.orient(a, b)
            close(graph)
    return {(a, b) if graph.arrow(a, b) else (b, a) for a, b in left}


def unshielded_triples(graph: Pattern) -> Iterator[tuple[int, int, int]]:
    """List a – c – b with a and b not adjacent, as (a, c, b) with a < b."""
    for c in graph.nodes:
        for a, b in combinations(sorted(graph.neighbours[c]), 2):
            if not graph.adjacent(a, b):
                yield a, c, b


def compelled_arrows(nodes: int, arrows: Iterable[tuple[int, int]]) -> set[tuple[int, int]]:
    """Return the arrows of a network that all equivalent networks share.

    >>> sorted(compelled_arrows(4, [(0, 1), (1, 2), (3, 2)]))
    [(1, 2), (3, 2)]
    """
    directed = set(arrows)
    graph = Pattern(nodes, directed)
    for a, c, b in unshielded_triples(graph):
        if {(a, c), (b, c)} <= directed:
            graph.orient(a, c)
            graph.orient(b, c)
    close(graph)
    return graph.arrows


_TESTS = ("score", "g2")


@dataclass(frozen=True)
class InductiveCausation(Learner):
    """Learn by testing independence: the same table gives the same network, in any column order.

    Columns without an edge are independent given some neighbours of one of them. Where only
    a lack of rows may make them look so, the edge stays if the best explanation of one end
    needs the other. An arrow is told by the data where two independent columns become dependent
    given a third, or where any other direction would make such a place or a circle. What is
    left points from names earlier in the alphabet to later ones; `Network.chosen` lists it.

    Args:
        test: "score" (the Dirichlet-multinomial marginal likelihood) or "g2".
        significance: For g2, the share of independent pairs taken for dependent; 0.01.
        most_given: The most columns independence is tested given. With 3 fewer edges that are
            not there were left in trials than with 2; each more multiplies the tests.

    Example:
        >>> rows = [("x", "f", 1), ("x", "f", 1), ("y", "m", 2), ("y", "m", 2)] * 3
        >>> learned = InductiveCausation().learn(FrequencySet.from_rows("abc", rows))
        >>> learned.network.edges, learned.separators
        ((('c', 'b'), ('a', 'c')), {('a', 'b'): ('c',)})

    References:
        Verma and Pearl, Equivalence and synthesis of causal models, 1990.
        Colombo and Maathuis, Order-independent constraint-based causal structure learning, 2014.
        Meek, Causal inference and causal explanation with background knowledge, 1995.
    """

    name: ClassVar[str] = "ic"

    test: str = "score"
    significance: float | None = None
    most_given: int = 3

    def __post_init__(self) -> None:
        if self.test not in _TESTS:
            raise ParameterError("test", self.test, " or ".join(map(repr, _TESTS)))
        if self.test == "score" and self.significance is not None:
            why = "a score test has no significance level; ask for test='g2'"
            raise ParameterError("significance", self.significance, "None", why=why)
        require_int("most_given", self.most_given, at_least=0)
        self._test()

    def _test(self) -> IndependenceTest:
        if self.test == "score":
            return ScoreTest()
        return G2Test() if self.significance is None else G2Test(self.significance)

    def learn(
        self,
        counts: FrequencySet,
        constraints: Constraints = UNCONSTRAINED,
        progress: Progress | None = None,
    ) -> LearnedNetwork:
        constraints.check(counts.names)
        ordered = _by_name(counts)
        names = ordered.names
        judge = self._test().on(Counter(ordered))
        known = _KnownEdges.of(names, constraints)
        skeleton = find_skeleton(
            judge,
            len(names),
            most_given=self.most_given,
            kept=known.kept,
            barred=known.barred,
            progress=progress,
        )
        graph = Pattern(len(names), skeleton.edges)
        dropped = _apply(graph, known, skeleton)
        _make_colliders(graph, judge, skeleton)
        close(graph)
        chosen = choose_rest(graph)
        return LearnedNetwork(
            Network.of(
                counts.names,
                {(names[a], names[b]) for a, b in graph.arrows},
                {(names[a], names[b]) for a, b in chosen},
            ),
            {
                (names[a], names[b]): tuple(names[c] for c in given)
                for (a, b), given in sorted(skeleton.separators.items())
            },
            skeleton.tests,
            frozenset(frozenset((names[a], names[b])) for a, b in dropped),
        )


def _by_name(counts: FrequencySet) -> FrequencySet:
    """Sort the columns by name, so that their order in the table has no effect."""
    order = sorted(range(len(counts.columns)), key=lambda c: counts.names[c])
    columns = tuple(counts.columns[c] for c in order)
    return FrequencySet(columns, counts.codes[order], counts.rows)


@dataclass(frozen=True)
class _KnownEdges:
    """Constraints on positions: edges that stay, that must not be, that have but one direction."""

    kept: frozenset[Pair]
    barred: frozenset[Pair]
    required: tuple[Pair, ...]
    one_way: frozenset[tuple[int, int]]

    @classmethod
    def of(cls, names: tuple[str, ...], constraints: Constraints) -> Self:
        position = {name: i for i, name in enumerate(names)}
        required = sorted((position[a], position[b]) for a, b in constraints.required)
        allowed = {
            (a, b)
            for a, parent in enumerate(names)
            for b, child in enumerate(names)
            if a != b and constraints.allows(parent, child)
        }
        pairs = {(a, b) for a in range(len(names)) for b in range(a + 1, len(names))}
        return cls(
            frozenset((min(edge), max(edge)) for edge in required),
            frozenset((a, b) for a, b in pairs if not {(a, b), (b, a)} & allowed),
            tuple(required),
            frozenset((a, b) for a, b in allowed if (b, a) not in allowed),
        )


def _apply(graph: Pattern, known: _KnownEdges, skeleton: Skeleton) -> list[Pair]:
    """Orient what the constraints say, strong edges first; drop what they leave no direction."""
    for a, b in known.required:
        graph.orient(a, b)
    forced = [
        (tail, head)
        for a, b in graph.open_edges()
        for tail, head in ((a, b), (b, a))
        if (tail, head) in known.one_way
    ]
    dropped = []
    for a, b in sorted(forced, key=lambda e: (-skeleton.strength[min(e), max(e)], e)):
        if graph.reaches(b, a):
            graph.drop(a, b)
            dropped.append((min(a, b), max(a, b)))
        else:
            graph.orient(a, b)
    return dropped


def _make_colliders(graph: Pattern, judge: IndependenceJudge, skeleton: Skeleton) -> None:
    """Point a → c ← b where a and b are independent without c and dependent with it.

    The clearest come first; one that contradicts an arrow already there is left out.
    """
    found = []
    for a, c, b in unshielded_triples(graph):
        given = skeleton.separators.get((a, b))
        if given is None or c in given:
            continue
        skeleton.tests += 1
        evidence = judge.evidence(a, b, (*given, c))
        if evidence > 0:
            found.append((-round(evidence, 6), a, c, b))
    for _, a, c, b in sorted(found):
        if not (graph.reaches(c, a) or graph.reaches(c, b)):
            graph.orient(a, c)
            graph.orient(b, c)
