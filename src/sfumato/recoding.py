"""Recodings, the label of each value for an engine to write, and the lattice of their levels."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import product
from typing import TypeAlias

import numpy as np

from sfumato.counts import Column, group
from sfumato.dataclasses import dataclass
from sfumato.errors import ParameterError
from sfumato.hierarchy.base import Ladder
from sfumato.text import STAR, text_or_none
from sfumato.typing import BoolArray, CodeArray, IntArray, Node, Value

DROP = -2
"""The code of a raw value whose rows are all suppressed."""

SUPPRESSED = -1
"""The class of rows that are suppressed, in a local recoding."""


@dataclass(frozen=True, eq=False)
class ColumnRecoding:
    """One column's lookup: raw value → published value.

    Example:
        >>> from sfumato.hierarchy import Hierarchy
        >>> h = Hierarchy.from_paths(["a", "b"], [["*"], ["*"]])
        >>> ColumnRecoding.at(h.bind("letter", ["a", "b"]), 1).labels
        ('*',)
    """

    column: str
    level: int
    height: int
    values: tuple[Value, ...]
    """The raw values in the order they were counted; None is missing."""

    codes: CodeArray
    """Which label each raw value becomes; `DROP` if a row that has it is suppressed."""

    labels: tuple[Value, ...]
    """The published values; None is missing. At level 0 they are the raw values themselves.

    One may have several codes, so that some of the rows that have it can be suppressed.
    """

    @cached_property
    def published_codes(self) -> CodeArray:
        """The code under which each label is published: rows with one label have one code.

        >>> values = ("a", "b", "c")
        >>> ColumnRecoding("x", 1, 2, values, np.arange(3), ("0", "1", "0")).published_codes
        array([0, 1, 0], dtype=int32)
        """
        first: dict[Value, int] = {}
        for code, label in enumerate(self.labels):
            first.setdefault(label, code)
        return np.array([first[label] for label in self.labels], dtype=np.int32)

    @property
    def is_merged(self) -> bool:
        """Whether a label has several codes."""
        return bool((np.diff(self.published_codes) != 1).any())

    @classmethod
    def at(cls, ladder: Ladder, level: int) -> "ColumnRecoding":
        """Read a ladder at one level."""
        return cls(
            ladder.column,
            level,
            ladder.height,
            ladder.values,
            ladder.codes[level],
            ladder.labels[level],
        )

    @classmethod
    def of_cut(cls, ladder: Ladder, level: int, height: int) -> "ColumnRecoding":
        """Read the only level of a ladder, which is a cut through one of that height.

        Args:
            ladder: The cut.
            level: The highest level of its labels in the tree; 0 if values stay as they are.
            height: The height of the tree.
        """
        [codes], [labels] = ladder.codes, ladder.labels
        return cls(ladder.column, level, height, ladder.values, codes, labels)


@dataclass(frozen=True, eq=False)
class FullDomainRecoding:
    """One lookup per column for the whole table, and the classes that are left out.

    It is one level per column, or one cut through each column's tree (regional recoding).
    `suppressed` has one row per suppressed class, one label code per column.
    """

    columns: tuple[ColumnRecoding, ...]
    suppressed: IntArray

    def dropping(self, column: Column, gone: BoolArray) -> "FullDomainRecoding":
        """Suppress every row that has one of some values in a column that is not published.

        Args:
            column: The column: what tells people apart.
            gone: Whether the rows of each of its values are suppressed.
        """
        codes = np.where(gone, np.int32(DROP), np.int32(0))
        lookup = ColumnRecoding(column.name, 1, 1, column.values, codes, (STAR,))
        none = np.zeros((len(self.suppressed), 1), dtype=self.suppressed.dtype)
        return replace(
            self, columns=(*self.columns, lookup), suppressed=np.hstack([self.suppressed, none])
        )

    def covering(self, columns: Sequence[Column]) -> "FullDomainRecoding":
        """Suppress every row that has a value which the recoding does not know.

        Values that only people of a population have keep their labels: models compare with them.

        Args:
            columns: All values there are, of each of its columns.

        >>> from sfumato.hierarchy import Suppress
        >>> ages = FullDomainRecoding.at([Suppress().ladder("age", (30, 41))], (0,))
        >>> [covered] = ages.covering([Column("age", (30, 41, 99))]).columns
        >>> covered.codes.tolist()
        [0, 1, -2]
        """
        covered = []
        for column, known in zip(columns, self.columns, strict=True):
            if column.values == known.values:
                covered.append(known)
                continue
            code = {text_or_none(v): c for v, c in zip(known.values, known.codes, strict=True)}
            codes = [code.get(text_or_none(value), DROP) for value in column.values]
            here = {*map(text_or_none, column.values)}
            others = [value for value in known.values if text_or_none(value) not in here]
            codes += [code[text_or_none(value)] for value in others]
            found = np.array(codes, dtype=np.int32)
            covered.append(replace(known, values=(*column.values, *others), codes=found))
        return replace(self, columns=tuple(covered))

    def telling_apart(self, gone: BoolArray, codes: Sequence[CodeArray]) -> "FullDomainRecoding":
        """Suppress some combinations of raw values in place of classes.

        Where such a combination has the labels of a class that is published, each raw value
        gets a label code of its own.

        Args:
            gone: Whether each combination is suppressed.
            codes: One array per column: the raw value of each combination.
        """
        found = self.without(gone, codes) or self._by_value().without(gone, codes)
        if found is None:
            raise RuntimeError("rows with the same values would be both published and suppressed")
        return found

    def without(self, gone: BoolArray, codes: Sequence[CodeArray]) -> "FullDomainRecoding | None":
        """Suppress the classes of some combinations; None if others are in these classes, too."""
        labels = [column.codes[raw] for column, raw in zip(self.columns, codes, strict=True)]
        dropped = np.any([label == DROP for label in labels], axis=0)
        sizes = [len(column.labels) for column in self.columns]
        groups = group([np.maximum(label, 0) for label in labels], sizes, n=len(gone))
        leaves, stays = np.zeros(groups.n, dtype=bool), np.zeros(groups.n, dtype=bool)
        leaves[groups.of_item[gone & ~dropped]] = True
        stays[groups.of_item[~gone & ~dropped]] = True
        if (leaves & stays).any():
            return None
        first = np.zeros(groups.n, dtype=np.int64)
        first[groups.of_item[~dropped]] = np.flatnonzero(~dropped)
        suppressed = np.stack([label[first[leaves]] for label in labels], axis=1)
        return replace(self, suppressed=suppressed.astype(np.int64))

    def _by_value(self) -> "FullDomainRecoding":
        """Number labels by the raw values that have them."""
        columns = []
        for column in self.columns:
            kept = column.codes != DROP
            if column.level == 0:
                columns.append(column)
                continue
            codes = np.where(kept, np.cumsum(kept) - 1, DROP).astype(np.int32)
            labels = tuple(column.labels[code] for code in column.codes[kept].tolist())
            columns.append(replace(column, codes=codes, labels=labels))
        return replace(self, columns=tuple(columns))

    def dropping_missing(self) -> "FullDomainRecoding":
        """Suppress every row in which one of the columns is missing."""
        columns = []
        for column in self.columns:
            known = [value is not None for value in column.values]
            columns.append(
                replace(
                    column,
                    values=(*(value for value in column.values if value is not None), None),
                    codes=np.append(column.codes[known], np.int32(DROP)),
                )
            )
        return replace(self, columns=tuple(columns))

    @classmethod
    def at(
        cls, ladders: Sequence[Ladder], node: Node, suppressed: IntArray | None = None
    ) -> "FullDomainRecoding":
        """Recode every column to its level of a node."""
        columns = tuple(
            ColumnRecoding.at(ladder, level) for ladder, level in zip(ladders, node, strict=True)
        )
        nothing = np.empty((0, len(columns)), dtype=np.int64)
        return cls(columns, nothing if suppressed is None else suppressed)

    @property
    def looked_at(self) -> tuple[str, ...]:
        """The columns it must know of a row."""
        return tuple(column.column for column in self.columns)

    @property
    def node(self) -> Node:
        """The level of each column."""
        return tuple(column.level for column in self.columns)


@dataclass(frozen=True, eq=False)
class LocalColumn:
    """A quasi-identifier that is recoded differently in different rows."""

    column: str
    values: tuple[Value, ...]
    """The raw values in the order they were counted; None is missing."""

    labels: tuple[Value, ...]
    """What is published in it, each text once; None is missing."""

    raw: bool
    """Whether every label is a raw value, so that the column can keep its type."""


@dataclass(frozen=True, eq=False)
class LocalRecoding:
    """What each distinct combination becomes; rows that are alike may part ways.

    A combination is handed out in portions: of these 12 rows 7 go to one class and 5 to
    another. Which rows they are is drawn when they are published.

    Example:
        >>> zips = LocalColumn("zip", ("73455", "73456"), ("73456", "7345*"), raw=False)
        >>> recoding = LocalRecoding(
        ...     columns=(zips,),
        ...     others=(),
        ...     combinations=np.array([[0, 1]], dtype=np.int32),
        ...     starts=np.array([0, 1, 3]),
        ...     rows=np.array([1, 1, 2]),
        ...     classes=np.array([1, 1, 0]),
        ...     labels=np.array([[0, 1]], dtype=np.int32),
        ... )
        >>> recoding.total  # 73455 becomes 7345*, of three rows with 73456 one does too
        4
    """

    columns: tuple[LocalColumn, ...]
    """The quasi-identifiers."""

    others: tuple[Column, ...]
    """Columns that were counted with them and are published as they are."""

    combinations: CodeArray
    """`combinations[c, i]`: the raw value of column c (first `columns`, then `others`) in i."""

    starts: IntArray
    """The portions of combination i are those from `starts[i]` to `starts[i + 1]`."""

    rows: IntArray
    """How many rows each portion has; none is empty."""

    classes: IntArray
    """The class of each portion, `SUPPRESSED` for none."""

    labels: CodeArray
    """`labels[c, k]`: which label of column c the rows of class k have."""

    @property
    def looked_at(self) -> tuple[str, ...]:
        """The columns it must know of a row, those that are recoded first."""
        return (*(column.column for column in self.columns), *(each.name for each in self.others))

    @property
    def total(self) -> int:
        """The number of rows, suppressed ones included."""
        return int(self.rows.sum())


@dataclass(frozen=True, eq=False)
class SolvedRecoding:
    """What is left to do where rows were recoded already: choosing types, and starring rows.

    Example:
        >>> SolvedRecoding(("age",), {"age": "age_raw"}, "note", rows=9, suppressed=1).columns
        ('age',)
    """

    columns: tuple[str, ...]
    """The quasi-identifiers; they hold labels, as text."""

    raw: Mapping[str, str]
    """Of those in which every label is the row's own value, the column that has it as it is."""

    note: str
    """The column that is missing in a row that is published, and not in one that is starred."""

    rows: int
    """How many rows there are with the suppressed ones."""

    suppressed: int

    @property
    def looked_at(self) -> tuple[str, ...]:
        """The columns it must know of a row."""
        return self.columns


Recoding: TypeAlias = FullDomainRecoding | LocalRecoding | SolvedRecoding
"""Everything an engine can publish."""

# The lattice: all ways to choose one level per quasi-identifier.


@dataclass(frozen=True)
class Lattice:
    """Every node between a lowest and a highest one, ordered level by level.

    Example:
        >>> lattice = Lattice((0, 0), (2, 1))
        >>> len(lattice), list(lattice.above((1, 0)))
        (6, [(2, 0), (1, 1)])
    """

    lowest: Node
    highest: Node

    def __post_init__(self) -> None:
        if len(self.lowest) != len(self.highest) or any(
            low > high or low < 0 for low, high in zip(self.lowest, self.highest, strict=True)
        ):
            raise ParameterError(
                "levels", (self.lowest, self.highest), "a lowest level not above the highest one"
            )

    @cached_property
    def shape(self) -> tuple[int, ...]:
        """The number of levels each attribute has to choose from."""
        return tuple(high - low + 1 for low, high in zip(self.lowest, self.highest, strict=True))

    @cached_property
    def size(self) -> int:
        """The number of nodes (may exceed what fits in memory)."""
        return math.prod(self.shape)

    def __len__(self) -> int:
        return self.size

    def __iter__(self) -> Iterator[Node]:
        """Yield all nodes in lexicographic order."""
        return product(
            *(range(low, high + 1) for low, high in zip(self.lowest, self.highest, strict=True))
        )

    def __contains__(self, node: object) -> bool:
        return (
            isinstance(node, tuple)
            and len(node) == len(self.lowest)
            and all(
                low <= level <= high
                for low, level, high in zip(self.lowest, node, self.highest, strict=True)
            )
        )

    def above(self, node: Node) -> Iterator[Node]:
        """Yield the nodes one step more general."""
        for i, level in enumerate(node):
            if level < self.highest[i]:
                yield (*node[:i], level + 1, *node[i + 1 :])

    def below(self, node: Node) -> Iterator[Node]:
        """Yield the nodes one step less general."""
        for i, level in enumerate(node):
            if level > self.lowest[i]:
                yield (*node[:i], level - 1, *node[i + 1 :])


def is_below(lower: Node, upper: Node) -> bool:
    """Return whether every level of one node is at most the other's.

    >>> is_below((0, 1), (0, 2)), is_below((1, 0), (0, 2))
    (True, False)
    """
    return all(a <= b for a, b in zip(lower, upper, strict=True))
