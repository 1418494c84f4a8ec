"""Conditional probability tables from counts, holding only what occurs."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from math import prod
from typing import Any

import numpy as np

from sfumato.counts import Column, FrequencySet, group, sums
from sfumato.dataclasses import dataclass
from sfumato.errors import (
    InputError,
    ParameterError,
    UnknownColumnError,
    UnknownNameError,
    require_number,
)
from sfumato.networks.network import Network
from sfumato.text import is_missing, text_of
from sfumato.typing import BoolArray, CodeArray, FloatArray, IntArray, Value


def codes_of(column: Column, values: Iterable[Value]) -> IntArray:
    """Find values in a column's dictionary, or refuse with the nearest one.

    Values are matched by how they are written, so the text "39" finds the number 39;
    where a dictionary has both, each finds itself. None finds the missing value only.

    >>> codes_of(Column("age", (39, 41, None)), ["41", None]).tolist()
    [1, 2]
    >>> codes_of(Column("sex", ("female", "male")), ["femal"])
    Traceback (most recent call last):
    sfumato.errors.UnknownNameError: no value 'femal' in column 'sex'. Did you mean 'female'?
        Known: 'female', 'male'.
    """
    exact = {(type(value), value): code for code, value in enumerate(column.values)}
    written: dict[str | None, int] = {}
    for code, value in enumerate(column.values):
        written.setdefault(_text(value), code)
    found = []
    for value in values:
        text = _text(value)
        place = exact.get((type(value), value), written.get(text))
        if place is None:
            known = [str(_text(v)) for v in column.values]
            raise UnknownNameError("value", str(text), known, where=f"column {column.name!r}")
        found.append(place)
    return np.array(found, dtype=np.int64)


def code_of(column: Column, value: Value) -> int:
    """Find one value in a column's dictionary, or refuse with the nearest one.

    >>> code_of(Column("age", (39, 41)), 41.0)
    1
    """
    return int(codes_of(column, [value])[0])


def _text(value: Value) -> str | None:
    return None if is_missing(value) else text_of(value)


MOST_CELLS = 2**25
"""The largest array of probabilities that is made unless asked for more: 256 MB."""


@dataclass(frozen=True, eq=False)
class Distribution(Mapping[Value, float]):
    """A probability for each value, and how many rows say so.

    Example:
        >>> heard = Distribution({"flu": 0.75, "gout": 0.25}, support=4)
        >>> heard["flu"], heard.support, heard.seen
        (0.75, 4, True)
    """

    probabilities: Mapping[Value, float]
    support: int
    """The rows behind it; 0 if no row has what was asked for."""

    @property
    def seen(self) -> bool:
        """Whether any row is behind it. Where none is, the numbers say nothing about people."""
        return self.support > 0

    def __getitem__(self, value: Value) -> float:
        return self.probabilities[value]

    def __iter__(self) -> Iterator[Value]:
        return iter(self.probabilities)

    def __len__(self) -> int:
        return len(self.probabilities)


@dataclass(frozen=True, eq=False)
class Entries:
    """The cells of a table that occur, as arrays of equal length."""

    combination: IntArray
    """Position in `combinations` and `support`."""

    value: CodeArray
    """Code of the child's value."""

    count: IntArray
    probability: FloatArray


@dataclass(frozen=True, eq=False)
class ConditionalTable:
    """How likely each value of a column is, given the values of its parents.

    Only the combinations of parent values that some row has are held: a child of five
    parents with a hundred values each costs what occurs, not 10 000 000 000 rows. A
    combination that no row has is uniform, because nothing is known about it; it has
    support 0 and must never count as a finding.

    With `prior=0` an entry is count(parents, value) / count(parents), which is what an
    adversary who counts would see. A prior above 0 is added to every cell (Dirichlet):
    (count + prior) / (support + prior * values of the child). Missing is a value.

    Example:
        >>> f = FrequencySet.from_rows(["job", "pay"], [("a", 1), ("a", 1), ("a", 2), ("b", 2)])
        >>> table = conditional_table(f, "pay", ["job"])
        >>> table.support.tolist(), table.count.tolist(), table.row({"job": "b"})[2]
        ([3, 1], [2, 1, 1], 1.0)
    """

    child: Column
    parents: tuple[Column, ...]
    combinations: CodeArray
    """`combinations[p, j]`: the value of parent p in combination j; in lexicographic order."""

    support: IntArray
    """How many rows have combination j; at least 1."""

    starts: IntArray
    """The entries of combination j are `starts[j]` up to `starts[j + 1]`."""

    value: CodeArray
    """Code of the child's value in each entry, ascending within a combination."""

    count: IntArray
    """Rows of each entry; at least 1."""

    prior: float = 0.0

    def __len__(self) -> int:
        return len(self.support)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the parents, in order."""
        return tuple(parent.name for parent in self.parents)

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of values of each parent, and then of the child."""
        return tuple(len(column.values) for column in (*self.parents, self.child))

    @property
    def cells(self) -> int:
        """The number of cells the table would have with every combination written out."""
        return prod(self.shape)

    @property
    def unseen(self) -> int:
        """The number of combinations of parent values that no row has."""
        return prod(self.shape[:-1]) - len(self)

    def list_unseen(self, most: int) -> CodeArray:
        """Return the first combinations of parent values that no row has, in order.

        >>> f = FrequencySet.from_rows(["a", "b", "c"], [(0, 0, "x"), (1, 1, "y")])
        >>> conditional_table(f, "c", ["a", "b"]).list_unseen(9).T.tolist()
        [[0, 1], [1, 0]]
        """
        # The first of all combinations: those that rows have are at most as many as are added.
        n = min(len(self) + max(most, 0), prod(self.shape[:-1]))
        every = np.empty((len(self.parents), n), dtype=np.int32)
        left = np.arange(n)
        for at in reversed(range(len(self.parents))):
            left, every[at] = np.divmod(left, self.shape[at])
        unseen: CodeArray = every[:, self.locate(every) < 0][:, : max(most, 0)]
        return unseen

    @cached_property
    def combination(self) -> IntArray:
        """The combination that each entry belongs to."""
        return np.repeat(np.arange(len(self)), np.diff(self.starts))

    @cached_property
    def probability(self) -> FloatArray:
        """The probability of each entry: its value, given its combination."""
        share: FloatArray = (self.count + self.prior) / self._weight[self.combination]
        return share

    @cached_property
    def rest(self) -> FloatArray:
        """Per combination, the probability of a value that occurs in none of its rows."""
        share: FloatArray = self.prior / self._weight
        return share

    @property
    def _weight(self) -> FloatArray:
        return self.support.astype(np.float64) + self.prior * len(self.child.values)

    @property
    def uniform(self) -> float:
        """The probability of every value where no row has the combination."""
        return 1 / len(self.child.values)

    def entries(self) -> Entries:
        """Return the cells that occur, in order of combination and value."""
        return Entries(self.combination, self.value, self.count, self.probability)

    def row(self, given: Mapping[str, Value]) -> Distribution:
        """Return the child's distribution for one combination of parent values.

        Args:
            given: The value of each parent, by name.

        >>> f = FrequencySet.from_rows(["a", "b", "c"], [(0, 0, "x"), (1, 1, "y")])
        >>> table = conditional_table(f, "c", ["a", "b"])
        >>> dict(table.row({"a": 0, "b": 0})), dict(table.row({"a": 0, "b": 1}))
        ({'x': 1.0, 'y': 0.0}, {'x': 0.5, 'y': 0.5})
        >>> table.row({"a": 0, "b": 1}).seen
        False
        """
        at = int(self.locate(self._codes(given))[0])
        r = len(self.child.values)
        shares = np.full(r, self.uniform if at < 0 else self.rest[at])
        if at >= 0:
            span = slice(self.starts[at], self.starts[at + 1])
            shares[self.value[span]] = self.probability[span]
        by_value = dict(zip(self.child.values, shares.tolist(), strict=True))
        return Distribution(by_value, int(self.support[at]) if at >= 0 else 0)

    def _codes(self, given: Mapping[str, Value]) -> IntArray:
        for name in given:
            if name not in self.names:
                where = f"the parents of {self.child.name!r}"
                raise UnknownColumnError(name, self.names, where=where)
        absent = [name for name in self.names if name not in given]
        if absent:
            expected = f"a value for every parent of {self.child.name!r}"
            raise ParameterError("given", dict(given), expected, why=f"{absent} left out")
        codes = [code_of(parent, given[parent.name]) for parent in self.parents]
        return np.array(codes, dtype=np.int64).reshape(-1, 1)

    def locate(self, codes: np.ndarray) -> IntArray:
        """Find combinations: the position of each, or -1 if no row has it.

        Args:
            codes: `codes[p, i]`, the value of parent p in the i-th combination looked for.
        """
        n = codes.shape[1]
        # Grouping both lists together stays exact however wide the combinations are.
        both = np.concatenate([self.combinations, codes], axis=1)
        groups = group(list(both), self.shape[:-1], n=len(self) + n)
        position = np.full(groups.n, -1, dtype=np.int64)
        position[groups.of_item[: len(self)]] = np.arange(len(self))
        found: IntArray = position[groups.of_item[len(self) :]]
        return found

    def probability_at(self, parents: np.ndarray, child: np.ndarray) -> FloatArray:
        """Return the probabilities of many cells at once.

        Args:
            parents: `parents[p, i]`, the code of parent p in the i-th cell looked for.
            child: The code of the child's value in each.
        """
        at = self.locate(parents)
        r = len(self.child.values)
        if not len(self):
            return np.full(len(child), self.uniform)
        keys = self.combination * r + self.value
        entry = np.minimum(np.searchsorted(keys, at * r + child), len(keys) - 1)
        occurs = (at >= 0) & (keys[entry] == at * r + child)
        other = np.where(at >= 0, self.rest[at], self.uniform)
        return np.where(occurs, self.probability[entry], other)

    def restrict(self, known: Mapping[str, int]) -> "ConditionalTable":
        """Fix the values of some parents, by code; the others stay parents."""
        free = [p for p, parent in enumerate(self.parents) if parent.name not in known]
        keep: BoolArray = np.ones(len(self), dtype=np.bool_)
        for p, parent in enumerate(self.parents):
            if parent.name in known:
                keep &= self.combinations[p] == known[parent.name]
        entry = keep[self.combination]
        lengths = np.diff(self.starts)[keep]
        return replace(
            self,
            parents=tuple(self.parents[p] for p in free),
            combinations=self.combinations[free][:, keep],
            support=self.support[keep],
            starts=np.concatenate([[0], np.cumsum(lengths)]),
            **self._take_entries(entry),
        )

    def _take_entries(self, entries: BoolArray) -> dict[str, Any]:
        """Return what belongs to each entry, of some of them."""
        return {"value": self.value[entries], "count": self.count[entries]}

    def dense(self, *, most_cells: int = MOST_CELLS) -> FloatArray:
        """Write every combination out: one axis per parent in order, the child last.

        >>> f = FrequencySet.from_rows(["a", "b"], [("x", 0), ("y", 1)])
        >>> conditional_table(f, "b", ["a"]).dense().tolist()
        [[1.0, 0.0], [0.0, 1.0]]
        """
        if self.cells > most_cells:
            raise InputError(
                f"the table of {self.child.name!r} given {list(self.names)} has {self.cells} cells "
                f"when written out, and at most {most_cells} are allowed. Read what occurs with "
                "entries(), generalise a parent, or raise most_cells"
            )
        r = len(self.child.values)
        flat = np.full((self.cells // r, r), self.uniform)
        at: IntArray = np.zeros(len(self), dtype=np.int64)
        for codes, size in zip(self.combinations, self.shape, strict=False):
            at = at * size + codes
        flat[at] = self.rest[:, None]
        flat[at[self.combination], self.value] = self.probability
        return flat.reshape(self.shape)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values that JSON can hold; missing is null."""
        rows = [
            {
                "given": [_plain(p.values[c]) for p, c in zip(self.parents, codes, strict=True)],
                "support": int(self.support[j]),
                "entries": [
                    {
                        "value": _plain(self.child.values[self.value[e]]),
                        "count": int(self.count[e]),
                        "probability": float(self.probability[e]),
                    }
                    for e in range(self.starts[j], self.starts[j + 1])
                ],
                "each_other_value": float(self.rest[j]),
            }
            for j, codes in enumerate(self.combinations.T)
        ]
        return {
            "child": self.child.name,
            "values": [_plain(value) for value in self.child.values],
            "parents": list(self.names),
            "prior": self.prior,
            "unseen": self.unseen,
            "rows": rows,
        }


def conditional_table(
    counts: FrequencySet, child: str, parents: Sequence[str], *, prior: float = 0.0
) -> ConditionalTable:
    """Count how a column depends on others.

    Args:
        counts: Counts over these columns, and maybe more.
        child: The column that depends.
        parents: The columns it depends on; none gives the column's own distribution.
        prior: What to add to every cell. 0 gives plain shares; 0.5 is Jeffreys' prior.

    >>> f = FrequencySet.from_rows(["a"], [("x",), ("x",), ("y",)])
    >>> conditional_table(f, "a", []).probability.round(3).tolist()
    [0.667, 0.333]
    >>> conditional_table(f, "a", [], prior=0.5).probability.tolist()
    [0.625, 0.375]
    """
    require_number("prior", prior, at_least=0)
    if child in parents or len(set(parents)) < len(parents):
        expected = f"different columns, and none of them {child!r}"
        raise ParameterError("parents", list(parents), expected)
    if not counts.column(child).values:
        raise InputError(f"column {child!r} has no values: the table has no rows to count")
    joint = counts.project([*parents, child])
    joint = joint.without(joint.rows <= 0)
    columns, codes = joint.columns[:-1], joint.codes[:-1]
    groups = group(list(codes), [len(column.values) for column in columns], n=len(joint))
    return ConditionalTable(
        joint.columns[-1],
        columns,
        codes[:, groups.first],
        sums(groups.of_item, joint.rows, groups.n),
        np.append(groups.first, len(joint)),
        joint.codes[-1],
        joint.rows,
        float(prior),
    )


def tables_of(
    counts: FrequencySet, network: Network, *, prior: float = 0.0
) -> dict[str, ConditionalTable]:
    """Count every column of a network given its parents.

    >>> f = FrequencySet.from_rows(["a", "b"], [("x", 0), ("y", 1)])
    >>> tables = tables_of(f, Network.of(["a", "b"], [("a", "b")]))
    >>> [(table.child.name, table.names) for table in tables.values()]
    [('a', ()), ('b', ('a',))]
    """
    return {
        column: conditional_table(counts, column, network.parents[column], prior=prior)
        for column in network.columns
    }


def _plain(value: Value) -> Any:  # noqa: ANN401 - whatever JSON can hold
    plain = value is None or isinstance(value, str | int | float | bool)
    return value if plain else text_of(value)
