"""Exact inference: what follows from some values about all the others."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cached_property
from math import prod
from string import ascii_letters
from typing import TypeAlias

import numpy as np

from sfumato.counts import FrequencySet, Groups, group
from sfumato.dataclasses import dataclass
from sfumato.errors import InputError, ParameterError, UnknownColumnError
from sfumato.networks.network import Network
from sfumato.networks.tables import MOST_CELLS, ConditionalTable, Distribution, code_of, codes_of
from sfumato.text import format_integer
from sfumato.typing import FloatArray, IntArray, Value

Scope: TypeAlias = tuple[int, ...]
"""The variables of an array, by number, one per axis."""


@dataclass(frozen=True, eq=False)
class Factor:
    """An array with one axis per variable of its scope."""

    scope: Scope
    values: FloatArray


@dataclass(frozen=True, eq=False)
class Piece:
    """What one column contributes to the product that inference sums.

    Written *whole* it is one array over the parents and the child, which explodes when
    there are many parents. Written *split* it uses one more variable, the `case`: every
    combination that occurs is a case, and the combinations that do not occur are covered
    by boxes, each a case too. Each parent then has an array of its own (parent, case) of
    zeros and ones, and the child one (case, child). Their product, summed over the cases,
    is the whole array again; there are about as many cases as combinations that occur.
    """

    table: ConditionalTable
    """Restricted to the known values of the parents."""

    parents: Scope
    child: int
    case: int
    """The number of the variable for the cases."""

    known: int | None = None
    """The code of the child's value, if it is known."""

    @property
    def _unknown_child(self) -> Scope:
        return () if self.known is not None else (self.child,)

    @property
    def _depends(self) -> Scope:
        # Nothing known about any combination: the child is uniform whatever the parents are.
        return self.parents if len(self.table) else ()

    @cached_property
    def splits(self) -> bool:
        """Whether split it takes less memory than whole."""
        if len(self._depends) < 2:
            return False
        shape = self.table.shape if self.known is None else self.table.shape[:-1]
        return self.cover.cases * sum(shape) < prod(shape)

    @cached_property
    def cover(self) -> "Cover":
        """The cases of the parents' values."""
        # Parents with few values first: the fewer ways to begin, the fewer boxes.
        order = sorted(range(len(self.parents)), key=lambda p: self.table.shape[p])
        return Cover(self.table, tuple(order))

    def scopes(self, *, split: bool) -> list[Scope]:
        """Return the scopes of the factors without making them."""
        if not (split and self.splits):
            return [(*self._depends, *self._unknown_child)]
        return [
            *((parent, self.case) for parent in self.parents),
            (self.case, *self._unknown_child),
        ]

    def factors(self, *, split: bool) -> list[Factor]:
        """Make the factors, or take them from the last time."""
        return self._split if split and self.splits else self._whole

    @cached_property
    def _whole(self) -> list[Factor]:
        table = self.table
        if len(table):
            values = table.dense(most_cells=table.cells)
        else:
            values = np.full(table.shape[-1], table.uniform)
        values = values if self.known is None else values[..., self.known]
        return [Factor((*self._depends, *self._unknown_child), values)]

    @cached_property
    def _split(self) -> list[Factor]:
        table, cover = self.table, self.cover
        by_case = np.full((cover.cases, table.shape[-1]), table.uniform)
        by_case[: len(table)] = table.rest[:, None]
        by_case[table.combination, table.value] = table.probability
        by_case = by_case if self.known is None else by_case[:, self.known]
        masks = [Factor((v, self.case), cover.mask(p)) for p, v in enumerate(self.parents)]
        return [*masks, Factor((self.case, *self._unknown_child), by_case)]


@dataclass(frozen=True, eq=False)
class Cover:
    """Every combination of parent values, in exactly one case.

    The first cases are the combinations that occur. A combination that does not occur
    agrees with some that do for a while, in `order`, and then leaves them: the values
    before, and the values with which one leaves, are a box.
    """

    table: ConditionalTable
    order: tuple[int, ...]

    @cached_property
    def cases(self) -> int:
        """The number of cases."""
        return len(self.table) + sum(len(boxes) for _, boxes in self._levels)

    @cached_property
    def _levels(self) -> list[tuple[Groups, IntArray]]:
        """Per parent in order: the beginnings that occur before it, and which can be left."""
        codes = [self.table.combinations[p] for p in self.order]
        sizes = [self.table.shape[p] for p in self.order]
        n = len(self.table)
        begun = [group(codes[:i], sizes[:i], n=n) for i in range(len(codes) + 1)]
        levels = []
        for before, after, size in zip(begun[:-1], begun[1:], sizes, strict=True):
            ways = np.bincount(before.of_item[after.first], minlength=before.n)
            levels.append((before, np.flatnonzero(ways < size)))
        return levels

    def mask(self, parent: int) -> FloatArray:
        """For one parent, `mask[value, case]`: 1 if the case has the value, else 0."""
        codes, size = self.table.combinations[parent], self.table.shape[parent]
        place = self.order.index(parent)
        blocks = [_one_hot(codes, size)]
        for level, (before, boxes) in enumerate(self._levels):
            if level > place:
                blocks.append(_one_hot(codes[before.first[boxes]], size))
                continue
            block = np.ones((size, len(boxes)))
            if level == place:
                number = np.full(before.n, -1, dtype=np.int64)
                number[boxes] = np.arange(len(boxes))
                box = number[before.of_item]
                block[codes[box >= 0], box[box >= 0]] = 0
            blocks.append(block)
        return np.concatenate(blocks, axis=1)


def _one_hot(codes: np.ndarray, size: int) -> FloatArray:
    hot: FloatArray = (np.arange(size)[:, None] == codes).astype(np.float64)
    return hot


@dataclass(frozen=True)
class Plan:
    """In which order to sum variables out, and what the widest step needs."""

    order: Scope
    widest: Scope
    """The variables of the step with the largest product."""

    cells: int
    """The cells of that product."""


def plan(scopes: Iterable[Scope], sizes: Mapping[int, int], keep: Collection[int] = ()) -> Plan:
    """Choose an order: always the variable whose step has the smallest product (min-weight).

    Args:
        scopes: The scopes of the factors.
        sizes: How many values each variable has.
        keep: The variables that are not summed out.

    >>> plan([(0, 1), (1, 2), (2,)], {0: 2, 1: 3, 2: 4}, keep=[0])
    Plan(order=(2, 1), widest=(1, 2), cells=12)
    """
    near = _neighbours(scopes)
    weight = {v: sizes[v] * prod(sizes[u] for u in near[v]) for v in near if v not in keep}
    steps: list[tuple[int, Scope]] = [(prod(sizes[v] for v in keep), tuple(keep))]
    order: list[int] = []
    while weight:
        chosen = min(weight, key=lambda v: (weight[v], v))
        steps.append((weight.pop(chosen), tuple(sorted({chosen, *near[chosen]}))))
        order.append(chosen)
        around = near.pop(chosen)
        for v in around:
            near[v] = (near[v] | around) - {v, chosen}
            if v in weight:
                weight[v] = sizes[v] * prod(sizes[u] for u in near[v])
    cells, widest = max(steps)
    return Plan(tuple(order), widest, cells)


def _neighbours(scopes: Iterable[Scope]) -> dict[int, set[int]]:
    near: dict[int, set[int]] = {}
    for scope in scopes:
        for v in scope:
            near.setdefault(v, set()).update(scope)
    for v, around in near.items():
        around.discard(v)
    return near


def eliminate(factors: Iterable[Factor], order: Iterable[int]) -> Factor:
    """Multiply the factors and sum the variables out, up to a constant.

    The constant keeps the largest number at 1: the probability of a lot of evidence may
    be too small for a float, though what follows from it is not.

    >>> f = Factor((0, 1), np.array([[0.2, 0.8], [0.5, 0.5]]))
    >>> eliminate([f, Factor((0,), np.array([0.5, 0.5]))], [0]).values.round(3).tolist()
    [0.538, 1.0]
    """
    left = list(factors)
    for variable in order:
        touching = [factor for factor in left if variable in factor.scope]
        left = [factor for factor in left if variable not in factor.scope]
        left.append(_product(touching, without=variable))
    return _product(left)


def _product(factors: Sequence[Factor], without: int | None = None) -> Factor:
    # The small ones first: the products stay small for longer.
    first, *others = sorted(factors, key=lambda factor: factor.values.size)
    for other in others[:-1]:
        first = _times(first, other, without=None)
    last = others[-1] if others else Factor((), np.array(1.0))
    return _times(first, last, without=without)


def _times(one: Factor, other: Factor, *, without: int | None) -> Factor:
    union = dict.fromkeys((*one.scope, *other.scope))
    # einsum has only 52 letters for axes, so they are dealt out again for each product.
    letter = dict(zip(union, ascii_letters, strict=False))
    scope = tuple(variable for variable in union if variable != without)
    first, second, result = (
        "".join(letter[v] for v in axes) for axes in (one.scope, other.scope, scope)
    )
    values = np.einsum(f"{first},{second}->{result}", one.values, other.values)
    return _rescale(Factor(scope, np.asarray(values)))


def _rescale(factor: Factor) -> Factor:
    largest = factor.values.max()
    return Factor(factor.scope, factor.values / largest) if largest > 0 else factor


_SMALL = 2**20
"""Products up to this many cells take milliseconds; there is no need to look for better."""

Tables = Mapping[str, ConditionalTable]


def infer(
    network: Network,
    tables: Tables,
    evidence: Mapping[str, Value],
    *,
    columns: Sequence[str] | None = None,
    most_cells: int = MOST_CELLS,
) -> dict[str, dict[Value, float]]:
    """Return how likely each value of the other columns is for a person of whom this is known.

    Exact, by variable elimination. Combinations that no row has are uniform (see
    `ConditionalTable`), so the network also answers where the rows are silent: set
    `empirical` beside it to see how many rows there are.

    Args:
        network: Which columns depend on which; without a cycle.
        tables: The table of every column, as `tables_of` makes them.
        evidence: The values that are known, by column.
        columns: The columns to ask about; all that are not known if left out.
        most_cells: The largest array of probabilities that may be made.

    Raises:
        InputError: The network has a cycle, the evidence never occurs together, or an
            array would be too large.

    Example:
        >>> from sfumato.networks import Network, tables_of
        >>> rows = [("old", "gout"), ("old", "gout"), ("old", "flu"), ("young", "flu")]
        >>> f = FrequencySet.from_rows(["age", "ill"], rows)
        >>> net = Network.of(["age", "ill"], [("age", "ill")])
        >>> infer(net, tables_of(f, net), {"ill": "flu"})
        {'age': {'old': 0.5, 'young': 0.5}}
    """
    model = _Model.of(network, tables, evidence, most_cells)
    if not model.possible:
        raise _impossible(model, evidence)
    wanted = network.columns if columns is None else columns
    for name in wanted:
        _require_column(network, name)
    return {name: model.posterior(name) for name in wanted if name not in evidence}


def probability_of(network: Network, tables: Tables, row: Mapping[str, Value]) -> float:
    """Return the probability of a whole row: the product of its entries in every table.

    Args:
        network: Which columns depend on which; without a cycle.
        tables: The table of every column.
        row: A value for every column of the network. Other columns are not looked at.

    >>> from sfumato.networks import Network, tables_of
    >>> f = FrequencySet.from_rows(["a", "b"], [("x", 0), ("x", 1), ("y", 1), ("y", 1)])
    >>> net = Network.of(["a", "b"], [("a", "b")])
    >>> probability_of(net, tables_of(f, net), {"a": "x", "b": 1})
    0.25
    """
    _require_fit(network, tables)
    absent = [name for name in network.columns if name not in row]
    if absent:
        why = f"{absent} left out. For part of a row, ask infer()"
        raise ParameterError("row", dict(row), "a value for every column of the network", why=why)
    codes = {name: np.array([code_of(tables[name].child, row[name])]) for name in network.columns}
    return float(_products(network, tables, codes)[0])


def probabilities_of(network: Network, tables: Tables, counts: FrequencySet) -> FloatArray:
    """Return the probability of every combination of a frequency set, as `probability_of` does.

    >>> from sfumato.networks import Network, tables_of
    >>> f = FrequencySet.from_rows(["a", "b"], [("x", 0), ("x", 1), ("y", 1), ("y", 1)])
    >>> net = Network.of(["a", "b"], [("a", "b")])
    >>> probabilities_of(net, tables_of(f, net), f).tolist()
    [0.25, 0.25, 0.5]
    """
    _require_fit(network, tables)
    codes = {}
    for name in network.columns:
        into = codes_of(tables[name].child, counts.column(name).values)
        codes[name] = into[counts.codes_of(name)]
    return _products(network, tables, codes)


def empirical(counts: FrequencySet, evidence: Mapping[str, Value], column: str) -> Distribution:
    """Return the plain shares of a column's values among the rows that have the evidence.

    No network, no prior. Where no row has the evidence the answer is empty.

    >>> f = FrequencySet.from_rows(["a", "b"], [("x", 0), ("x", 1), ("y", 1)])
    >>> share = empirical(f, {"a": "x"}, "b")
    >>> dict(share), share.support
    ({0: 0.5, 1: 0.5}, 2)
    """
    if column in evidence:
        raise ParameterError("column", column, "a column that is not in the evidence")
    match = np.ones(len(counts), dtype=np.bool_)
    for name, value in evidence.items():
        match &= counts.codes_of(name) == code_of(counts.column(name), value)
    matching = counts.without(~match)
    if not matching.total:
        return Distribution({}, 0)
    shares = matching.value_counts(column) / matching.total
    values = counts.column(column).values
    return Distribution(dict(zip(values, shares.tolist(), strict=True)), matching.total)


@dataclass(frozen=True, eq=False)
class _Model:
    """A network with its tables, and what is known."""

    network: Network
    tables: Tables
    known: Mapping[str, int]
    """Codes of the evidence."""

    most_cells: int

    @classmethod
    def of(
        cls, network: Network, tables: Tables, evidence: Mapping[str, Value], most_cells: int
    ) -> "_Model":
        _require_fit(network, tables)
        for name in evidence:
            _require_column(network, name)
        known = {name: code_of(tables[name].child, value) for name, value in evidence.items()}
        return cls(network, tables, known, most_cells)

    @cached_property
    def _pieces(self) -> dict[str, Piece]:
        """Each column's table, restricted to what is known."""
        columns = self.network.columns
        number = {name: i for i, name in enumerate(columns)}
        # A column with one value is as good as known, and costs no axis.
        fixed = {name: 0 for name in columns if self._size(name) == 1} | dict(self.known)
        pieces = {}
        for name, i in number.items():
            table = self.tables[name].restrict(fixed)
            parents = tuple(number[parent] for parent in table.names)
            pieces[name] = Piece(table, parents, i, len(columns) + i, fixed.get(name))
        return pieces

    def _size(self, name: str) -> int:
        return len(self.tables[name].child.values)

    @cached_property
    def possible(self) -> bool:
        """Whether the evidence has a probability above 0."""
        return bool(self._sum(self._relevant(self.known)).values > 0)

    def posterior(self, name: str) -> dict[Value, float]:
        """Return the distribution of one column that is not known."""
        values = self.tables[name].child.values
        if len(values) == 1:
            return {values[0]: 1.0}
        shares = self._sum(
            _connected_pieces(self._relevant([*self.known, name]), name), name
        ).values
        return dict(zip(values, (shares / shares.sum()).tolist(), strict=True))

    def _relevant(self, names: Iterable[str]) -> list[Piece]:
        """Return the pieces of these columns and of those from which arrows lead to them."""
        found: set[str] = set()
        waiting = list(names)
        while waiting:
            name = waiting.pop()
            if name not in found:
                found.add(name)
                waiting.extend(self.network.parents[name])
        return [piece for name, piece in self._pieces.items() if name in found]

    def _sum(self, pieces: Sequence[Piece], name: str | None = None) -> Factor:
        """Sum the product of some pieces over all that is not known, except one column."""
        keep = () if name is None else (self.network.columns.index(name),)
        way, split = self._way(pieces, keep), False
        if way.cells > _SMALL and any(piece.splits for piece in pieces):
            other = self._way(pieces, keep, split=True)
            way, split = (other, True) if other.cells < way.cells else (way, False)
        if way.cells > self.most_cells:
            raise self._too_large(way)
        factors = [factor for piece in pieces for factor in piece.factors(split=split)]
        return eliminate([Factor((), np.array(1.0)), *factors], way.order)

    def _way(self, pieces: Sequence[Piece], keep: tuple[int, ...], *, split: bool = False) -> Plan:
        scopes = [scope for piece in pieces for scope in piece.scopes(split=split)]
        sizes = {i: self._size(name) for i, name in enumerate(self.network.columns)}
        sizes |= {piece.case: piece.cover.cases for piece in pieces if split and piece.splits}
        return plan(scopes, sizes, keep)

    def _too_large(self, way: Plan) -> InputError:
        columns = self.network.columns
        names = [
            f"{columns[v]!r}"
            if v < len(columns)
            else f"the combinations of the parents of {columns[v - len(columns)]!r}"
            for v in way.widest
        ]
        return InputError(
            f"this needs one array over {', '.join(names)} with {format_integer(way.cells)} cells "
            f"({format_integer(round(way.cells * 8 / 2**20))} MB), and at most "
            f"{format_integer(self.most_cells)} are allowed. "
            "Add evidence on one of these columns, generalise one to fewer values, learn a "
            "network with fewer parents, ask about fewer columns, or raise most_cells"
        )


def _connected_pieces(pieces: Sequence[Piece], name: str) -> list[Piece]:
    """Keep the pieces that share unknown columns with one, directly or through others."""
    scopes = {piece: set().union(*piece.scopes(split=False)) for piece in pieces}
    start = next(piece for piece in pieces if piece.table.child.name == name)
    found, waiting = {start}, [start]
    while waiting:
        around = scopes[waiting.pop()]
        new = [piece for piece in pieces if piece not in found and scopes[piece] & around]
        found.update(new)
        waiting.extend(new)
    return [piece for piece in pieces if piece in found]


def _products(network: Network, tables: Tables, codes: Mapping[str, np.ndarray]) -> FloatArray:
    result = np.ones(len(codes[network.columns[0]]) if network.columns else 1)
    for name in network.columns:
        table = tables[name]
        empty = np.empty((0, len(result)), dtype=np.int64)
        parents = np.stack([codes[p] for p in table.names]) if table.names else empty
        result *= table.probability_at(parents, codes[name])
    return result


def _impossible(model: _Model, evidence: Mapping[str, Value]) -> InputError:
    """Build the error that names the smallest part of the evidence with probability 0."""
    left = dict(model.known)
    for name in model.known:
        fewer = {other: code for other, code in left.items() if other != name}
        if not _Model(model.network, model.tables, fewer, model.most_cells).possible:
            left = fewer
    shown = ", ".join(f"{name}={evidence[name]!r}" for name in left)
    together = "never occurs" if len(left) == 1 else "never occur together"
    return InputError(
        f"{shown} {together}: by these tables no person has {'it' if len(left) == 1 else 'them'}, "
        "and nothing follows. Leave one out, or make the tables with a prior (prior=0.5), by "
        "which nothing is impossible"
    )


def _require_column(network: Network, name: str) -> None:
    if name not in network.columns:
        raise UnknownColumnError(name, network.columns, where="the network")


def _require_fit(network: Network, tables: Tables) -> None:
    """Raise an error for a cycle, or for tables that are not this network's."""
    if not network.acyclic:
        raise InputError(
            f"the network has a cycle, {' → '.join(_cycle(network))}, and tables around a cycle "
            "do not make one distribution: nothing can be inferred. Learn a network without "
            "cycles, or read the tables one by one"
        )
    for name in network.columns:
        if name not in tables or set(tables[name].names) != set(network.parents[name]):
            given = list(tables[name].names) if name in tables else "no table"
            raise InputError(
                f"column {name!r} depends on {list(network.parents[name])} in the network, and "
                f"in the tables on {given}. Make the tables with tables_of(counts, network)"
            )
        for parent in tables[name].parents:
            if parent.name in tables and parent.values != tables[parent.name].child.values:
                raise InputError(
                    f"the tables of {parent.name!r} and {name!r} disagree about the values of "
                    f"{parent.name!r}. Make all tables with tables_of from the same counts"
                )


def _cycle(network: Network) -> list[str]:
    """Find a cycle, its first column again at the end."""
    left = set(network.columns)
    while free := {c for c in left if not left & set(network.parents[c])}:
        left -= free
    path = [next(c for c in network.columns if c in left)]
    while path[-1] not in path[:-1]:
        path.append(next(p for p in network.parents[path[-1]] if p in left))
    return path[path.index(path[-1]) :][::-1]
