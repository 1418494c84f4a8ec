"""The contract of searches, which walk a lattice and yield what they find, and their checker."""

import math
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import field, replace
from functools import cache
from secrets import randbits
from typing import ClassVar

import numpy as np

from sfumato.classes import EquivalenceClasses, overlapping
from sfumato.dataclasses import dataclass
from sfumato.errors import ParameterError, require_int, require_number
from sfumato.losses.base import Attribute, CheckedNode, LossFunction
from sfumato.models.base import PrivacyModel, TableModel
from sfumato.recoding import Lattice
from sfumato.search.grouping import Grouping
from sfumato.search.node_classes import NodeClasses
from sfumato.typing import BoolArray, FloatArray, IntArray, Node


@dataclass(frozen=True)
class Found:
    """The best valid node so far.

    A search yields one of these for every improvement, and a last one when it ends:
    only that says whether the node is proven optimal. `node` is None when no node
    that was checked keeps the promises.
    """

    node: Node | None
    loss: float
    suppressed: int
    checks: int
    proven: bool = False
    finished: bool = False
    bound: float = -math.inf
    """A loss that no valid node is below; that of the node itself if it is proven optimal."""

    minimal: tuple[Node, ...] | None = None
    """All minimal valid nodes, from searches that find them."""

    passing: tuple[Node, ...] | None = None
    """All valid nodes, from searches that find them."""

    alone: bool = False
    """Whether no other node would lose as little; only said if no row is suppressed."""

    @property
    def excess(self) -> float | None:
        """The share by which the loss may be above the best at most; None if that is not known.

        >>> Found((1,), loss=0.5, suppressed=0, checks=9, bound=0.4).excess
        0.25
        """
        return excess_of(self.loss, self.bound)


def excess_of(loss: float, bound: float) -> float | None:
    """Return how far a loss may be above the best, as a share of it; None if that is not known.

    >>> excess_of(3.0, bound=0.0)
    """
    if bound >= loss:
        return 0.0
    return loss / bound - 1.0 if bound > 0.0 and math.isfinite(loss) else None


MOST_NODES = 1_000_000
"""The largest lattice that is searched node by node without a budget: it takes up to an hour."""

NOTHING_YET = Found(None, float("inf"), 0, 0)


@dataclass
class Budget:
    """The checks and seconds a search may spend; it returns its best when either runs out.

    >>> Budget(checks=2).is_spent(2)
    True
    """

    checks: int | None = None
    seconds: float | None = None
    _start: float = field(default_factory=time.monotonic)

    def is_spent(self, checks: int) -> bool:
        """Return whether the budget is used up after this many checks."""
        if self.checks is not None and checks >= self.checks:
            return True
        return self.seconds is not None and time.monotonic() - self._start >= self.seconds


@dataclass(frozen=True)
class Search(ABC):
    """A way to find a node of the lattice that keeps the promises at least loss.

    Args:
        checks: Most nodes to check before the best so far is taken; None for no limit.
        seconds: Most seconds to search before the best so far is taken; None for no limit.
    """

    name: ClassVar[str]
    exact: ClassVar[bool]
    """Whether it proves optimality when its budget lets it finish."""

    checks: int | None = None
    seconds: float | None = None

    def __post_init__(self) -> None:
        if self.checks is not None:
            require_int("checks", self.checks, at_least=1)
        if self.seconds is not None:
            require_number("seconds", self.seconds, above=0)

    @abstractmethod
    def run(self, checker: "Checker") -> Iterator[Found]:
        """Yield improvements as they come; the last item is `finished`."""

    @property
    def finds_all(self) -> bool:
        """Whether it finds all valid nodes, and so the minimal ones, if its budget lets it."""
        return False

    def budget(self) -> Budget:
        """Start the clock."""
        return Budget(self.checks, self.seconds)

    def refuse_endless(self, lattice: Lattice) -> None:
        """Raise if a search that looks at every node would never end, and has no budget."""
        if self.checks is not None or self.seconds is not None or lattice.size <= MOST_NODES:
            return
        raise ParameterError(
            "search",
            self.name,
            "best-first or descent, or have a budget such as seconds: 60",
            why=f"it looks at every node, and there are about 10^{len(str(lattice.size)) - 1} of "
            "them. A lowest and a highest level for a column (levels: [1, 3]) make them fewer",
        )


# Checking a node: group, judge every model, measure the loss.
#
# A search knows lattices and outcomes; this is the part that knows tables, models and losses. It
# relies only on what models declare about merging (see `models.base`).


@dataclass(frozen=True, eq=False)
class CheckOutcome:
    """The result of checking one node."""

    node: Node
    valid: bool
    """Whether the promises hold after suppressing no more rows than allowed."""

    suppressed: int
    """Rows in classes that break a promise; at least this many if the node is not valid, unless it
    was asked for exactly.

    Where people are suppressed with all their rows: people.
    """

    certain: int
    """Rows, or people, that are suppressed here and, the models say, at every node below."""

    hopeless: bool
    """Whether, by what the models declare, no node below is valid either."""

    loss: float
    """The node's loss; infinite if it was not worth computing."""

    judged: CheckedNode | None = None
    """The classes and verdicts, for nodes that are not hopeless."""

    sure: CheckedNode | None = None
    """The same with only the certain rows left out: what floors below may build on."""

    @property
    def bare(self) -> "CheckOutcome":
        """The same without the classes, to be kept."""
        return CheckOutcome(
            self.node, self.valid, self.suppressed, self.certain, self.hopeless, self.loss
        )


class Checker:
    """Judges nodes of one table's lattice under one set of promises.

    Args:
        grouping: The table.
        lattice: The nodes that may be chosen.
        models: What must hold.
        loss: What is to be small.
        attributes: The quasi-identifiers as losses see them.
        limit: Most rows that may be suppressed.
        own_reference: Compare classes with the rows that stay (what a reader of the
            release sees) instead of with all rows.
        matches_any: Whether a missing value matches every value, so that classes overlap.
        whole_people: Whether people are suppressed with all their rows, where they are counted;
            the limit is then one of people.
    """

    def __init__(  # noqa: PLR0913 - each is one thing that a table or a policy says
        self,
        grouping: Grouping,
        lattice: Lattice,
        models: Sequence[PrivacyModel],
        loss: LossFunction,
        *,
        attributes: Sequence[Attribute] = (),
        limit: int = 0,
        own_reference: bool = True,
        matches_any: bool = False,
        whole_people: bool = False,
    ) -> None:
        self.grouping = grouping
        self.lattice = lattice
        self.models = tuple(models)
        self.loss = loss
        self.limit = limit
        self.own_reference = own_reference
        self.matches_any = matches_any and _some_missing(grouping)
        self.whole_people = whole_people
        people = grouping.person is not None
        self.checks = 0
        self.on_check: Callable[[int], None] | None = None
        """Called with the number of checks after each: a long search shows that it is alive."""

        self.asked: Hashable = None
        """What is asked apart from models and limit; None if lessons of others are of no use."""

        self.scattered = False
        """Whether rows that miss a quasi-identifier are suppressed: they may be of any person."""

        self._drawn: IntArray | None = None
        self.draw_order(np.random.default_rng(randbits(128)))

        # Where classes overlap, leaving some out shrinks others, and a mean over the table
        # need not fall with it: then a table model is only itself, not what it declares. Nor need
        # it where other models leave classes out.
        alone = len(models) == 1 and not self.matches_any
        parts = [
            model.part_that_absorbs(people=people)
            if alone or not isinstance(model, TableModel)
            else None
            for model in models
        ]
        # People of the population whose class is absent are plainly not in the table; what is
        # absent at a node is so at every node below.
        self._needs_every_class = any(model.needs_every_class for model in models)
        self._of_population = tuple(model for model in models if model.needs_population)
        self._absorbing = tuple(part for part in parts if part is not None)
        self.all_absorbing = all(part is model for part, model in zip(parts, models, strict=True))
        # Overlapping classes do not merge the way the declarations speak of, except that what
        # is compatible stays so when generalised: only the absorbing property survives.
        self._all_closed = not self.matches_any and all(
            model.merges(people=people).closed for model in models
        )
        self.strict = limit == 0 and self._all_closed
        """Whether one failing class makes every node below fail too: parts of it fail there."""

        self.attributes = tuple(attributes)
        # Where classes overlap, or their people leave other classes too, sizes are not of rows.
        sizes = [model.smallest_class or 1 for model in models]
        plain = not self.matches_any and not whole_people
        self.smallest = max(sizes, default=1) if plain else 1
        """The fewest rows of a class that may stay."""

        self.row_limit = limit if plain else self.total
        """The most rows that may be suppressed."""

        self._per_class = tuple(m for m in models if not isinstance(m, TableModel))
        self._per_table = tuple(m for m in models if isinstance(m, TableModel))
        # What fails under these cannot be split into parts that pass; people may be in two parts.
        self._splitting = tuple(
            model
            for model, part in zip(models, parts, strict=True)
            if part is not model
            and model.merging.closed
            and not isinstance(model, TableModel)
            and not people
            and not self.matches_any
        )
        self._by_column = self._order_by_column()
        # Leaving classes out can change the verdict on the others only for these.
        self._unstable = bool(self._per_table) or any(
            model.compares_with_table and own_reference for model in models
        )

    def _order_by_column(self) -> list[tuple[list[PrivacyModel], list[PrivacyModel]]]:
        """Return the absorbing and the splitting models by what they look at, sizes first."""
        absorbing, splitting = list(self._absorbing), list(self._splitting)
        values = {name: len(each.values) for name, each in self.grouping.sensitive.items()}
        looked_at = sorted(
            {model.columns for model in (*absorbing, *splitting)},
            key=lambda columns: (sum(values.get(name, 0) for name in columns), columns),
        )
        return [
            (
                [model for model in absorbing if model.columns == columns],
                [model for model in splitting if model.columns == columns],
            )
            for columns in looked_at
        ]

    @property
    def lesson_key(self) -> Hashable:
        """A key of searches that can learn from each other; None if they cannot.

        Where classes are compared with the rows that stay, or chance decides who goes, a stricter
        policy may suppress less; people of a population are judged beside the classes.
        """
        if self._unstable or self.matches_any or self._drawn is not None or self._of_population:
            return None
        if self.asked is None:
            return None
        levels = self.lattice.lowest, self.lattice.highest
        return self.asked, self.limit, self.own_reference, self.whole_people, levels

    @property
    def total(self) -> int:
        """The rows of the table."""
        return self.grouping.total

    def draw_order(self, rng: np.random.Generator) -> None:
        """Draw the order in which rows stay, if a model leaves that to chance.

        Once for all nodes: who is left out at one node is so at every finer one.
        """
        if any(model.draws for model in self.models):
            self._drawn = rng.permutation(len(self.grouping.rows))

    def valid_above(self, outcome: CheckOutcome) -> bool:
        """Return whether a valid node makes every node above it valid."""
        if not outcome.valid:
            return False
        return self.all_absorbing or (self._all_closed and outcome.suppressed == 0)

    def check(self, node: Node, *, exact: bool = False) -> CheckOutcome:
        """Judge a node; its loss is computed only if it is valid.

        Args:
            node: The node.
            exact: Whether to count all that is suppressed, unless the node is hopeless; else no
                further than until it is too much.
        """
        return self._check(node, always=False, exact=exact)

    def evaluate(self, node: Node) -> CheckOutcome:
        """Judge a node and compute its loss whether it is valid or not."""
        return self._check(node, always=True, exact=True)

    def _check(self, node: Node, *, always: bool, exact: bool) -> CheckOutcome:
        self.checks += 1
        if self.on_check is not None:
            self.on_check(self.checks)
        part = self.grouping.partition(node)
        self.grouping.lessons.note(node, part.rows)
        classes = self._classes(part)
        keep, below = self._keep_surely(part, classes, always=always)
        sure = self._checked_node(node, part, classes, keep)
        lost = self._count_lost(part, sure)
        certain = lost + below
        if certain > self.limit and not always:
            return CheckOutcome(node, False, certain, certain, True, np.inf, sure=sure)  # noqa: FBT003
        judged = sure
        if not self.all_absorbing:
            models = self._per_class, self._per_table
            keep = self._settle(part, classes, keep, *models, hurried=not exact)
            judged = self._checked_node(node, part, classes, keep)
            lost = self._count_lost(part, judged)
        valid = lost <= self.limit and self._passes_unseen(classes, judged)
        absent = self._needs_every_class and classes.unseen > 0
        loss = self.loss.of(judged) if valid or always else np.inf
        hopeless = certain > self.limit or (self.strict and not valid) or absent
        return CheckOutcome(node, valid, lost, certain, hopeless, loss, judged, sure)

    def _count_lost(self, part: NodeClasses, judged: CheckedNode) -> int:
        """Return what is suppressed, as the limit counts it: rows, or people."""
        if not self.whole_people:
            return judged.suppressed
        everyone = part.people
        assert everyone is not None  # noqa: S101 - whole people are suppressed where they count
        return everyone.total - everyone.without(self._everywhere(part, ~judged.keep)).total

    def _keep_surely(
        self, part: NodeClasses, classes: EquivalenceClasses, *, always: bool
    ) -> tuple[BoolArray, int]:
        """Return what may stay at nodes below too, and how many rows of it are lost there anyhow.

        Sensitive columns are looked at one by one, those of few values first, and no further than
        until more is lost than may be: where rows are nearly unique, sizes alone tell most.
        """
        keep = np.ones(len(classes), dtype=bool)
        if self.matches_any or self.whole_people:
            return self._settle(part, classes, keep, self._absorbing, ()), 0
        # A class that breaks a promise cannot be split into parts that all keep it, so that some of
        # its rows are lost whatever its parts are; the models know how many.
        looks_below = bool(self.limit) and not always
        gone = self.limit if self.own_reference else 0
        lost = np.zeros(len(classes), dtype=np.int64)
        below = 0
        for absorbing, splitting in self._by_column:
            keep &= _judge(classes, absorbing)
            certain = int(classes.rows[~keep].sum())
            if looks_below and certain <= self.limit:
                for model in splitting:
                    np.maximum(lost, model.count_lost(classes, gone), out=lost)
                below = int(lost[keep].sum())
            if certain + below > self.limit and not always:
                break
        return keep, below

    def _classes(self, part: NodeClasses) -> EquivalenceClasses:
        """Return the classes of a node, in their secret order if a model draws."""
        classes = self.grouping.classes(part)
        if self._drawn is None:
            return classes
        # The least of its tuples: the same whatever the classes were made of.
        drawn = np.full(len(part.rows), len(self._drawn), dtype=np.int64)
        np.minimum.at(drawn, self.grouping.spread(part, np.arange(len(drawn))), self._drawn)
        return replace(classes, drawn=drawn if part.population is None else drawn[part.rows > 0])

    def _passes_unseen(self, classes: EquivalenceClasses, judged: CheckedNode) -> bool:
        """Return whether the models hold of those people of a population whom no class shows."""
        if not self._of_population:
            return True
        left = replace(classes.keep(judged.keep), scattered=self.scattered)
        return all(model.passes_unseen(left) for model in self._of_population)

    def _settle(
        self,
        part: NodeClasses,
        classes: EquivalenceClasses,
        keep: BoolArray,
        per_class: Sequence[PrivacyModel],
        per_table: Sequence[PrivacyModel],
        *,
        hurried: bool = False,
    ) -> BoolArray:
        """Remove what breaks a promise until what is left keeps them all.

        Judging again is needed only where leaving out some classes changes the verdict
        on others: models of the whole table, or a missing value that matches any. In a hurry it
        ends once more rows are lost than may be: they do not come back.
        """
        again = self.matches_any or (self._unstable and per_class is not self._absorbing)
        # Who leaves with all rows leaves other classes too.
        again = again or self.whole_people
        while True:
            if self.whole_people and not keep.all():
                keep = keep & (self._rows_left(part, keep) > 0)
            view = self._left(part, classes, keep)
            verdicts = _judge(view, per_class)
            if verdicts.all():
                verdicts = _judge(view, per_table)
            if verdicts.all():
                return keep
            keep = keep.copy()
            keep[keep] = verdicts
            if not again or (hurried and int(classes.rows[~keep].sum()) > self.row_limit):
                return keep

    def _left(
        self, part: NodeClasses, classes: EquivalenceClasses, keep: BoolArray
    ) -> EquivalenceClasses:
        """Return the classes that are left, as the models see them."""
        left = classes
        if self.whole_people and part.people is not None and not keep.all():
            gone = self._everywhere(part, ~keep)
            left = self.grouping.classes(part, part.people.without(gone))
            left = replace(left, own=self._rows_left(part, keep), drawn=classes.drawn)
        if not keep.all():
            left = left.keep(keep, own_reference=self.own_reference)
        if not self.matches_any:
            return left
        codes, missing = self._labels(part, keep)
        return overlapping(codes, missing, left, own_reference=self.own_reference)

    def left(self, outcome: CheckOutcome) -> EquivalenceClasses:
        """Return what a valid node would publish, as the models judge it."""
        part = self.grouping.partition(outcome.node)
        left = self._left(part, self.grouping.classes(part), _keep_of(outcome))
        # All of them now: what they are made of need not stay in memory.
        return replace(left, sensitive=dict(left.sensitive))

    def _labels(self, part: NodeClasses, chosen: BoolArray) -> tuple[IntArray, BoolArray]:
        """Return the published labels of some classes, and which of them are missing values."""
        first = part.first if part.population is None else part.first[part.rows > 0]
        first = first[chosen]
        shape = (len(self.grouping.ladders), len(first))
        codes, missing = np.empty(shape, dtype=np.int64), np.empty(shape, dtype=bool)
        for i, (ladder, level) in enumerate(zip(self.grouping.ladders, part.node, strict=True)):
            codes[i] = ladder.codes[level][self.grouping.codes[i][first]]
            is_missing = np.array([label is None for label in ladder.labels[level]], dtype=bool)
            missing[i] = is_missing[codes[i]]
        return codes, missing

    def _checked_node(
        self, node: Node, part: NodeClasses, classes: EquivalenceClasses, keep: BoolArray
    ) -> CheckedNode:
        @cache
        def histograms() -> list[FloatArray]:
            if self.whole_people:
                return self.grouping.histograms(self._rows_in(part, ~keep))
            return self.grouping.histograms_of(part, self._everywhere(part, ~keep))

        def histogram(attribute: int) -> FloatArray:
            return histograms()[attribute]

        rows = classes.rows
        if self.whole_people and not keep.all():
            rows = np.where(keep, self._rows_left(part, keep), rows)
        return CheckedNode(node, rows, keep, self.total, histogram, self.smallest)

    def _everywhere(self, part: NodeClasses, chosen: BoolArray) -> BoolArray:
        """Return a choice of classes with those that only the population has, which are not."""
        if part.population is None:
            return chosen
        seen = part.rows > 0
        everywhere = np.zeros(len(seen), dtype=bool)
        everywhere[seen] = chosen
        return everywhere

    def _rows_in(self, part: NodeClasses, chosen: BoolArray) -> FloatArray:
        """Return the rows of each of the table's tuples that go with the chosen classes.

        All of those in them; and, if people go with all their rows, the others of such people.
        """
        gone = self._everywhere(part, chosen)
        of_tuple = self.grouping.spread(part, gone)
        rows: FloatArray = self.grouping.weights * of_tuple
        held = self.grouping.base.people
        if self.whole_people and part.people is not None and held is not None:
            theirs = held.rows
            assert theirs is not None  # noqa: S101 - the base has them
            more = part.people.leaving(gone)[theirs.kind] & ~of_tuple[theirs.item]
            rows += np.bincount(theirs.item[more], theirs.rows[more], len(rows))
        return rows

    def _rows_left(self, part: NodeClasses, keep: BoolArray) -> IntArray:
        """Return the rows of each class that are left if the others go with all their people."""
        left = self.grouping.weights - self._rows_in(part, ~keep)
        of_tuple = self.grouping.spread(part, np.arange(len(part.rows)))
        rows = np.rint(np.bincount(of_tuple, left, len(part.rows))).astype(np.int64)
        return rows if part.population is None else rows[part.rows > 0]

    def bits(self) -> list[FloatArray]:
        """Return the entropy of each column at each level it may have; predictions start there."""
        lattice = self.lattice
        return [
            entropies[low : high + 1]
            for entropies, low, high in zip(
                self.grouping.entropies, lattice.lowest, lattice.highest, strict=True
            )
        ]

    def people_gone(self, outcome: CheckOutcome) -> BoolArray:
        """Return which people have rows in classes that are left out and in others that are not."""
        part = self.grouping.partition(outcome.node)
        base = self.grouping.base.people
        assert part.people is not None  # noqa: S101 - asked for where people are counted
        assert base is not None and base.rows is not None  # noqa: PT018, S101 - the same
        gone = part.people.leaving(self._everywhere(part, ~_keep_of(outcome)))
        return gone[base.rows.of_person]

    def suppressed_classes(self, outcome: CheckOutcome) -> IntArray:
        """Return the label codes of the classes that are left out: one row each."""
        codes, _ = self._labels(self.grouping.partition(outcome.node), ~_keep_of(outcome))
        return codes.T


def _some_missing(grouping: Grouping) -> bool:
    return any(None in ladder.values for ladder in grouping.ladders)


def _judge(classes: EquivalenceClasses, models: Sequence[PrivacyModel]) -> BoolArray:
    if not models:
        return np.ones(len(classes), dtype=bool)
    first, *others = models
    keep = first.judge(classes)
    for model in others:
        keep &= model.judge(classes)
    return keep


def _keep_of(outcome: CheckOutcome) -> BoolArray:
    judged = outcome.judged if outcome.judged is not None else outcome.sure
    assert judged is not None  # noqa: S101 - every outcome has one of them
    return judged.keep
