"""A lattice judged node by node: which generalisations are valid, minimal and chosen."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from functools import cached_property, partial
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

import numpy as np

from sfumato.classes import EquivalenceClasses
from sfumato.counts import FrequencySet
from sfumato.dataclasses import dataclass
from sfumato.decouplings.base import file_names
from sfumato.errors import ParameterError
from sfumato.files import write_folder
from sfumato.policy import FULL_DOMAIN, Policy
from sfumato.recode.deciding import (
    Maker,
    checker_of,
    prepare,
    refuse_population,
    search_levels,
)
from sfumato.recoding import Lattice
from sfumato.search import Checker
from sfumato.search.incognito import candidates_of, with_top
from sfumato.showing.content import (
    Cell,
    Content,
    ContentTable,
    Heading,
    Part,
    Sentence,
    Share,
    Showable,
)
from sfumato.showing.lattice import MOST_CELLS, DrawnNode, lattice_map_svg, lattice_svg
from sfumato.text import join_words
from sfumato.typing import BoolArray, FloatArray, IntArray, Node, Progress

MOST_NODES = 100_000
"""The nodes of a lattice that is judged unless more are allowed."""

_ALL_JUDGED = 1000
"""The nodes up to which each is judged by itself; of more, those below a hopeless one are not."""

_MOST_LISTED = 100
"""The nodes that a text lists one by one; of more it shows the heights and the minimal ones."""


class JudgedNode(NamedTuple):
    """A choice of levels, and what it costs."""

    node: Node
    """The level of each column."""

    valid: bool
    """Whether all promises hold after suppressing no more rows than allowed."""

    minimal: bool
    """Whether it is valid and no node below it is."""

    suppressed: int
    """The rows that would have to be suppressed for the promises to hold; at least these, if the
    node was not judged."""

    loss: float | None
    """What would be lost; None if it was not computed."""

    judged: bool
    """Whether it was judged by itself. In large lattices a node below a hopeless one is not."""

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values that JSON can hold."""
        return {**self._asdict(), "node": list(self.node)}


class AttackedClasses(NamedTuple):
    """How many classes of a table an attack exposes, and how many people are in them."""

    attack: str
    classes: int
    people: int


@dataclass(frozen=True, eq=False)
class NodeFigures:
    """What is known of each node of a lattice; every array is in the order of the lattice."""

    columns: tuple[str, ...]
    """The quasi-identifiers, in the order of the levels of a node."""

    lattice: Lattice
    """The nodes."""

    valid: BoolArray
    """Which keep the promises; `found[node]` has all that is known of one."""

    suppressed: IntArray
    """The rows that would have to be suppressed, at least these where a node was not judged."""

    losses: FloatArray
    """What would be lost; NaN where it was not computed."""

    judged: BoolArray
    """Which were judged by themselves."""

    @cached_property
    def is_minimal(self) -> BoolArray:
        """True where a node is minimal."""
        return self.valid & ~_any_below(self.valid, self.lattice.shape)

    @property
    def minimal(self) -> tuple[Node, ...]:
        """All minimal nodes: they are valid, and no node below them is."""
        return _nodes_at(self.is_minimal, self.lattice)

    @property
    def passing(self) -> tuple[Node, ...]:
        """All valid nodes."""
        return _nodes_at(self.valid, self.lattice)

    def __len__(self) -> int:
        return self.lattice.size

    def __iter__(self) -> Iterator[JudgedNode]:
        """Yield all nodes in lexicographic order."""
        return map(self._at, range(len(self)), self.lattice)

    def __getitem__(self, node: Sequence[int]) -> JudgedNode:
        key = tuple(node)
        if key not in self.lattice:
            lowest, highest = list(self.lattice.lowest), list(self.lattice.highest)
            allowed = f"a level for each of {join_words(self.columns)}, from {lowest} to {highest}"
            raise ParameterError("node", node, allowed)
        place = [level - low for level, low in zip(key, self.lattice.lowest, strict=True)]
        return self._at(int(np.ravel_multi_index(place, self.lattice.shape)), key)

    def _at(self, i: int, node: Node) -> JudgedNode:
        loss = float(self.losses[i])
        return JudgedNode(
            node,
            bool(self.valid[i]),
            bool(self.is_minimal[i]),
            int(self.suppressed[i]),
            None if math.isnan(loss) else loss,
            bool(self.judged[i]),
        )

    @property
    def title(self) -> str:
        """A heading for drawings."""
        return f"Lattice of {join_words(self.columns)}"


@dataclass(frozen=True, eq=False)
class Sublattice(NodeFigures):
    """The lattice of a set of columns, as if the others were not published.

    Incognito goes through these from single columns to all of them: what fails for some columns
    fails for more. No losses are computed for them.
    """

    looked_at: BoolArray
    """Which nodes Incognito looks at: no smaller set of columns rules them out."""

    checked: BoolArray
    """Which of them it judges; the others are valid because a node below them is."""

    def _repr_svg_(self) -> str:
        return self.svg()

    def svg(self) -> str:
        """Draw it; what Incognito never looks at is struck out."""
        drawn = [
            DrawnNode(
                each.node, each.valid, each.suppressed, minimal=each.minimal, skipped=not seen
            )
            for each, seen in zip(self, self.looked_at.tolist(), strict=True)
        ]
        return lattice_svg(self.columns, drawn, title=self.title)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values that JSON can hold."""
        ways = np.where(self.checked, "checked", np.where(self.looked_at, "follows", "ruled out"))
        return {
            "columns": list(self.columns),
            "nodes": [
                {**each.to_dict(), "incognito": way}
                for each, way in zip(self, ways.tolist(), strict=True)
            ],
        }


@dataclass(frozen=True, eq=False)
class JudgedLattice(NodeFigures, Showable):
    """All choices of levels for a table and a policy: which are valid, and what each costs.

    A node is a tuple of levels in the order of `columns`. It depends on all raw values, so nothing
    of it is for publication.
    """

    rows: int
    """The rows of the table."""

    limit: int
    """Most rows that may be suppressed, or people."""

    loss: str
    """The name of the loss that the policy keeps small."""

    chosen: Node | None
    """The node that the policy's search takes; None if none keeps the promises."""

    proven: bool
    """Whether it was proven that no other node loses less."""

    method: str = FULL_DOMAIN
    """The method of the policy; a local one publishes no node."""

    subsets: tuple[Sublattice, ...] = field(default=(), repr=False)
    """The lattices of all sets of columns, if they were asked for: single ones first, all last."""

    people: int | None = None
    """The people of the table, if they are suppressed with all rows: the limit counts them."""

    attacked: Mapping[Node, tuple[AttackedClasses, ...]] = field(default_factory=dict, repr=False)
    """What attacks expose in the table of each minimal node, if that was asked for."""

    def suffering(self, attack: str) -> tuple[Node, ...]:
        """Return the minimal nodes in whose tables an attack exposes some class."""
        return tuple(
            node
            for node, found in self.attacked.items()
            if any(each.attack == attack and each.classes for each in found)
        )

    @property
    def worse_above(self) -> int:
        """The nodes that are not valid although one below them is.

        With k-anonymity there are none. With some models generalising can make things worse.
        """
        above = _any_below(self.valid, self.lattice.shape)
        return int(np.count_nonzero(above & ~self.valid))

    def svg(self) -> str:
        """Draw it: valid nodes, what they cost, the minimal ones and the chosen one.

        A lattice with too many nodes to be read is drawn as one bar per height.
        """
        return lattice_svg(self.columns, self._drawn_nodes(), title=self.title)

    def map_svg(self) -> str:
        """Draw it as a map, a cell per node; some thousands of nodes can be read so."""
        if len(self) > MOST_CELLS:
            return self.svg()
        return lattice_map_svg(self.columns, self._drawn_nodes(), title=self.title)

    def _drawn_nodes(self) -> list[DrawnNode]:
        return [
            DrawnNode(
                each.node,
                each.valid,
                each.suppressed,
                each.loss,
                minimal=each.minimal,
                chosen=each.node == self.chosen,
            )
            for each in self
        ]

    def neighbours(self, node: Sequence[int], by: int) -> dict[str, JudgedNode | None]:
        """Return for each column the node with that column `by` levels higher, or lower.

        Args:
            node: The level of each column.
            by: How many levels higher; -1 is one level less. None where there is no such level.
        """
        found: dict[str, JudgedNode | None] = {}
        for place, column in enumerate(self.columns):
            moved = (*node[:place], node[place] + by, *node[place + 1 :])
            found[column] = self[moved] if moved in self.lattice else None
        return found

    def draw(self, folder: str | PathLike[str]) -> list[Path]:
        """Write the drawing as `lattice.svg`, and one for each set of columns that was asked for.

        Args:
            folder: Where to write; made if it is not there. Files of the same name are replaced.
        """
        sets = ["_".join(each.columns) for each in self.subsets]
        names = file_names(sets, "lattice_", most=120)
        texts = {"lattice.svg": self.svg()}
        texts |= {f"{n}.svg": each.svg() for n, each in zip(names, self.subsets, strict=True)}
        return write_folder(Path(folder), texts, private="the drawing")

    def drawings(self) -> tuple[str, ...]:
        return (self.svg(),)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values that JSON can hold."""
        return {
            "columns": list(self.columns),
            "lowest": list(self.lattice.lowest),
            "highest": list(self.lattice.highest),
            "rows": self.rows,
            **({} if self.people is None else {"people": self.people}),
            "limit": self.limit,
            "loss": self.loss,
            "method": self.method,
            "valid": int(np.count_nonzero(self.valid)),
            "minimal": [list(node) for node in self.minimal],
            "chosen": None if self.chosen is None else list(self.chosen),
            "optimal": self.proven,
            "nodes": [each.to_dict() for each in self],
            **({"subsets": [each.to_dict() for each in self.subsets]} if self.subsets else {}),
            **({"attacked": self._attacked_plain()} if self.attacked else {}),
        }

    def _attacked_plain(self) -> list[dict[str, Any]]:
        return [
            {"node": list(node), **each._asdict()}
            for node, found in self.attacked.items()
            for each in found
        ]

    @property
    def headline(self) -> str:
        """One line with the number of nodes, and the chosen one."""
        valid, minimal = int(np.count_nonzero(self.valid)), int(np.count_nonzero(self.is_minimal))
        chosen = "none keeps the promises"
        if self.chosen is not None:
            chosen = f"chosen is {self.name_of(self.chosen)}"
        return f"{valid} of {len(self)} nodes are valid and {minimal} of them minimal; {chosen}"

    @property
    def _everything(self) -> str:
        return f"{self.rows} rows" if self.people is None else f"{self.people} people"

    def name_of(self, node: Node) -> str:
        """Return a node in words."""
        return ", ".join(f"{c} {level}" for c, level in zip(self.columns, node, strict=True))

    def content(self) -> Content:
        """Return the nodes, or where they are many the heights and the minimal nodes."""
        parts: list[Part] = [
            Sentence(
                f"A node is the level of {join_words(self.columns)}. It is valid if the promises "
                f"hold after suppressing at most {self.limit} of {self._everything}."
            )
        ]
        if len(self) <= _MOST_LISTED:
            order = sorted(self, key=lambda each: (sum(each.node), each.node))
            parts.append(self._table("Nodes", order, most=None))
        else:
            parts += [self._heights(), self.minimal_table()]
        if self.attacked:
            parts.append(self._attacked_table())
        if self.subsets:
            parts.append(_subsets_table(self.subsets))
        return Content(self.headline, tuple(parts), remarks=tuple(self._remarks()))

    def minimal_table(self) -> ContentTable:
        """Return the minimal nodes and the chosen one, those that lose least first."""
        shown = {*self.minimal} if self.chosen is None else {*self.minimal, self.chosen}
        nodes = [self[node] for node in shown]
        nodes.sort(key=lambda each: (each.loss or 0.0, each.node))
        return self._table("Minimal nodes", nodes)

    def _table(
        self, caption: str, nodes: Sequence[JudgedNode], *, most: int | None = 40
    ) -> ContentTable:
        rows: list[list[Cell]] = [
            [
                ", ".join(map(str, each.node)),
                "yes" if each.valid else "no",
                each.suppressed,
                each.loss,
                self._mark(each),
            ]
            for each in nodes
        ]
        headings = (
            "node",
            Heading("valid", "Whether the promises hold."),
            Heading("suppressed", "Rows that would have to go for all promises to hold there."),
            Heading(self.loss, "What is lost there; the smaller, the better."),
            "",
        )
        return ContentTable.of(caption, headings, rows, most=most)

    def _attacked_table(self) -> ContentTable:
        """Return how many of the minimal tables suffer each attack."""
        every = [each for found in self.attacked.values() for each in found]
        of = len(self.attacked)
        rows: list[list[Cell]] = []
        for attack in dict.fromkeys(each.attack for each in every):
            mine, suffer = [each for each in every if each.attack == attack], self.suffering(attack)
            most = max(each.classes for each in mine), max(each.people for each in mine)
            rows.append([attack, len(suffer), of, Share(len(suffer) / of), *most])
        headings = (
            "attack",
            Heading("tables that suffer", "Minimal nodes in whose table some class is exposed."),
            "of",
            "share",
            Heading("most classes", "Exposed in one of these tables."),
            "most people",
        )
        return ContentTable.of("Minimal tables that suffer an attack", headings, rows, most=None)

    def _mark(self, each: JudgedNode) -> str:
        words = ("minimal" if each.minimal else "", "chosen" if each.node == self.chosen else "")
        return " and ".join(filter(None, words))

    def _heights(self) -> ContentTable:
        """Count the nodes at each height, the sum of their levels."""
        heights = heights_of(self.lattice)
        rows: list[list[Cell]] = []
        for height in np.unique(heights).tolist():
            here = heights == height
            good = here & self.valid
            least = float(self.losses[good].min()) if good.any() else None
            rows.append(
                [
                    height,
                    int(np.count_nonzero(here)),
                    int(np.count_nonzero(good)),
                    int(np.count_nonzero(here & self.is_minimal)),
                    least,
                ]
            )
        headings = (
            Heading("height", "The sum of the levels."),
            "nodes",
            "valid",
            "minimal",
            Heading(f"least {self.loss}", "Of the valid nodes at this height."),
        )
        return ContentTable.of("Heights", headings, rows, most=None)

    def _remarks(self) -> Iterator[str]:
        if self.method != FULL_DOMAIN and self.chosen is not None:
            yield (
                f"The policy recodes by {self.method}, which publishes no node: the chosen one is "
                "what full-domain would publish."
            )
        if self.worse_above:
            yield (
                f"{self.worse_above} nodes are not valid although a node below them is: with these "
                "models generalising can make things worse."
            )

    def __repr__(self) -> str:
        return f"<JudgedLattice {self.headline}>"


def _subsets_table(subsets: Sequence[Sublattice]) -> ContentTable:
    rows: list[list[Cell]] = [
        [
            ", ".join(each.columns),
            len(each),
            int(np.count_nonzero(each.valid)),
            "; ".join(", ".join(map(str, node)) for node in each.minimal) or None,
            int(np.count_nonzero(each.checked)),
            int(np.count_nonzero(~each.looked_at)),
        ]
        for each in subsets
    ]
    headings = (
        Heading("columns", "As if the others were not published."),
        "nodes",
        "valid",
        "minimal",
        Heading("judged", "Nodes that Incognito judges; other valid ones follow from them."),
        Heading("ruled out", "Nodes it never looks at: a smaller set of columns fails there."),
    )
    return ContentTable.of(
        "Sets of columns, as Incognito goes through them", headings, rows, most=40
    )


def heights_of(lattice: Lattice) -> IntArray:
    """Return the sum of the levels of each node.

    >>> heights_of(Lattice((0, 1), (1, 2))).tolist()
    [1, 2, 2, 3]
    """
    heights: IntArray = np.indices(lattice.shape).sum(axis=0).ravel() + sum(lattice.lowest)
    return heights


def _any_below(valid: BoolArray, shape: tuple[int, ...]) -> BoolArray:
    """Return the nodes that have a valid one strictly below."""
    grid = valid.reshape(shape)
    at_or_below = grid
    for axis in range(len(shape)):
        at_or_below = np.logical_or.accumulate(at_or_below, axis=axis)
    found = np.zeros(shape, dtype=bool)
    for axis in range(len(shape)):
        # What is at or below the next node down on one attribute lies strictly below this one.
        here = tuple(slice(1, None) if a == axis else slice(None) for a in range(len(shape)))
        there = tuple(slice(None, -1) if a == axis else slice(None) for a in range(len(shape)))
        found[here] |= at_or_below[there]
    return found.ravel()


def _nodes_at(marked: BoolArray, lattice: Lattice) -> tuple[Node, ...]:
    """Return the marked nodes in lexicographic order."""
    places = np.array(np.unravel_index(np.flatnonzero(marked), lattice.shape)).T
    return tuple(tuple(map(int, place)) for place in places + np.array(lattice.lowest))


# Judging: few nodes each by itself; of many, what lies below a hopeless one is not looked at.


def judge_lattice(  # noqa: PLR0913 - what is judged, and how
    policy: Policy,
    counts: FrequencySet,
    population: FrequencySet | None,
    *,
    subsets: bool = False,
    most: int = MOST_NODES,
    rng: np.random.Generator,
    report: Progress,
    maker: Maker | None = None,
    lost: int = 0,
    attack: Callable[[EquivalenceClasses], tuple[AttackedClasses, ...]] | None = None,
) -> JudgedLattice:
    """Judge every node of a policy's lattice on a counted table.

    Args:
        policy: What must hold, and the hierarchies.
        counts: The table, over the columns that the policy decides on.
        population: All people the data was drawn from, if the policy names them.
        subsets: Judge the lattices of some of the columns as well.
        most: The nodes that are judged at most; larger lattices are refused.
        rng: Draws who stays where a model leaves that to chance.
        report: Told how far it is.
        maker: Makes hierarchies, or has them already; None makes them.
        lost: Rows that were left out before and are not in the counts.
        attack: Attacks the classes that the table of each minimal node would have.
    """
    ready = prepare(policy, counts, population, maker=maker, lost=lost)
    refuse_population(policy, ready)
    checker = checker_of(policy, ready, rng=rng)
    lattice = checker.lattice
    columns = tuple(ladder.column for ladder in checker.grouping.ladders)
    total = _count_nodes(lattice, subsets=subsets)
    if total > most:
        _refuse(total, most, subsets=subsets)
    judge = _NodeJudge(checker, counts.total - checker.total, total, report)
    whole = judge.run(lattice, tuple(range(len(columns))))
    parts = []
    for subset, looks in (candidates_of(checker) if subsets else {}).items():
        part = Lattice(
            tuple(lattice.lowest[a] for a in subset), tuple(lattice.highest[a] for a in subset)
        )
        figures = whole if len(subset) == len(columns) else judge.run(part, subset)
        parts.append(
            Sublattice(
                tuple(columns[a] for a in subset),
                part,
                **replace(figures, losses=np.full(part.size, np.nan)).__dict__,
                looked_at=np.array([node in looks for node in part]),
                checked=np.array([looks.get(node, False) for node in part]),
            )
        )
    chosen, proven = None, True
    if whole.valid.any():
        found = search_levels(policy, checker, lambda checks: report("search", checks, None))
        chosen, proven = found.node, found.proven
    judged = JudgedLattice(
        columns,
        lattice,
        **whole.__dict__,
        rows=counts.total,
        limit=checker.limit + counts.total - checker.total,
        loss=policy.loss.name,
        chosen=chosen,
        proven=proven,
        method=policy.method.name,
        subsets=tuple(parts),
        people=checker.grouping.people if checker.whole_people else None,
    )
    if attack is None:
        return judged
    tables = {node: checker.left(checker.check(node)) for node in judged.minimal}
    return replace(judged, attacked={node: attack(left) for node, left in tables.items()})


@dataclass(frozen=True, eq=False)
class _Figures:
    """The figures of all nodes of a lattice."""

    valid: BoolArray
    suppressed: IntArray
    losses: FloatArray
    judged: BoolArray


class _NodeJudge:
    """Judges lattices of sets of columns.

    Args:
        checker: The checker of the whole lattice.
        dropped: Rows that are suppressed whatever is generalised.
        total: How many nodes there are in all, for progress.
        report: Told how far it is.
    """

    def __init__(self, checker: Checker, dropped: int, total: int, report: Progress) -> None:
        self._checker = checker
        self._dropped = dropped
        self._total = total
        self._report = report
        self._settled = 0
        self._tops = tuple(ladder.height for ladder in checker.grouping.ladders)
        self._every = total <= _ALL_JUDGED

    def run(self, lattice: Lattice, subset: tuple[int, ...]) -> _Figures:
        """Judge the nodes of a set of attributes, the most general ones first."""
        checker, n = self._checker, lattice.size
        suppressed, losses = np.zeros(n, dtype=np.int64), np.full(n, np.nan)
        valid, judged = np.zeros(n, dtype=bool), np.zeros(n, dtype=bool)
        settled, bound = np.zeros(lattice.shape, dtype=bool), suppressed.reshape(lattice.shape)
        evaluate = checker.evaluate if self._every else partial(checker.check, exact=True)
        for i in np.argsort(-heights_of(lattice), kind="stable").tolist():
            if settled.flat[i]:
                continue
            place = tuple(map(int, np.unravel_index(i, lattice.shape)))
            node = tuple(at + low for at, low in zip(place, lattice.lowest, strict=True))
            outcome = evaluate(with_top(node, subset, self._tops))
            if outcome.hopeless and not self._every:
                # By what the models declare, as many rows fail at every node below.
                below = tuple(slice(0, at + 1) for at in place)
                self._settled += int(np.count_nonzero(~settled[below]))
                settled[below] = True
                np.maximum(bound[below], outcome.certain, out=bound[below])
            else:
                self._settled += 1
                suppressed[i] = outcome.suppressed
                judged[i] = True
            valid[i] = outcome.valid
            if np.isfinite(outcome.loss):
                losses[i] = outcome.loss
            self._report("lattice", self._settled, self._total)
        return _Figures(valid, suppressed + self._dropped, losses, judged)


def _count_nodes(lattice: Lattice, *, subsets: bool) -> int:
    """Return the number of nodes of a lattice, or of those of all its sets of columns.

    >>> _count_nodes(Lattice((0, 0), (2, 1)), subsets=True)  # 3 and 2 of single columns, 6 of both
    11
    """
    if not subsets:
        return lattice.size
    # Each column is at one of its levels, or not in the set; one choice has no column at all.
    return math.prod(levels + 1 for levels in lattice.shape) - 1


def _refuse(total: int, most: int, *, subsets: bool) -> NoReturn:
    what = f"{total} nodes with those of all sets of columns" if subsets else f"{total} nodes"
    raise ParameterError(
        "most",
        most,
        f"at least {total} to judge them all",
        why=f"there are {what}, and each is judged by itself. Limit the levels of a column in the "
        "policy (levels: [1, 3]), leave a column out, or let anonymize find the minimal nodes with "
        "search: incognito",
    )
