"""Inductive causation: edges where nothing separates, arrows where the data tells."""

from dataclasses import dataclass
from typing import ClassVar, Self

from sfumato.bayes.constraints import Constraints
from sfumato.bayes.counter import Counter
from sfumato.bayes.independence import G2Test, IndependenceTest, Judge, ScoreTest
from sfumato.bayes.learner import UNCONSTRAINED, Learned, Learner, Progress
from sfumato.bayes.network import Network
from sfumato.bayes.orientation import Pattern, choose_rest, close, unshielded
from sfumato.bayes.skeleton import Pair, Skeleton, find_skeleton
from sfumato.checks import require_int
from sfumato.counts import FrequencySet
from sfumato.errors import ParameterError

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

    @classmethod
    def example(cls) -> Self:
        return cls()

    def _test(self) -> IndependenceTest:
        if self.test == "score":
            return ScoreTest()
        return G2Test() if self.significance is None else G2Test(self.significance)

    def learn(
        self,
        counts: FrequencySet,
        constraints: Constraints = UNCONSTRAINED,
        progress: Progress | None = None,
    ) -> Learned:
        constraints.check(counts.names)
        ordered = _by_name(counts)
        names = ordered.names
        judge = self._test().on(Counter(ordered))
        known = _Known.of(names, constraints)
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
        return Learned(
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
    """Put the columns in alphabetical order, so that their order in the table has no effect."""
    order = sorted(range(len(counts.columns)), key=lambda c: counts.names[c])
    columns = tuple(counts.columns[c] for c in order)
    return FrequencySet(columns, counts.codes[order], counts.rows)


@dataclass(frozen=True)
class _Known:
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


def _apply(graph: Pattern, known: _Known, skeleton: Skeleton) -> list[Pair]:
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


def _make_colliders(graph: Pattern, judge: Judge, skeleton: Skeleton) -> None:
    """Point a → c ← b where a and b are independent without c and dependent with it.

    The clearest come first; one that contradicts an arrow already there is left out.
    """
    found = []
    for a, c, b in unshielded(graph):
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
