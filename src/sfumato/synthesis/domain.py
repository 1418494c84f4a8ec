"""The public domain of a table: the cells that are counted, whatever the table holds."""

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import field
from datetime import date
from decimal import Decimal
from typing import Any, Self

import numpy as np

from sfumato.counts import FrequencySet
from sfumato.dataclasses import dataclass
from sfumato.errors import InputError, PolicyError, some
from sfumato.files.reading import Reading
from sfumato.hierarchy import Intervals
from sfumato.hierarchy.intervals import Days, Numbers, Scale, number_point
from sfumato.policy import Policy
from sfumato.policy.document import Fault
from sfumato.policy.domains import MOST_CELLS, DomainRule
from sfumato.schema import Role
from sfumato.synthesis.mechanisms import CountedCells
from sfumato.text import fold_spelling, format_integer, text_of
from sfumato.typing import Value

DRAWN = (Role.QUASI_IDENTIFIER, Role.SENSITIVE, Role.PLAIN)
"""The roles of columns that synthetic rows have."""


_AS_IT_IS = Reading()
"""Numbers are written as programs write them."""


@dataclass(frozen=True, eq=False)
class ColumnDomain:
    """The cells of one column: categories, or stretches of numbers or days; missing comes last.

    >>> ages = ColumnDomain.of("age", DomainRule.read({"from": 0, "to": 99, "cuts": [18, 65]}))
    >>> ages.size, ages.labels
    (4, ('0 to 17', '18 to 64', '65 to 99'))
    >>> [ages.cell_of(value) for value in (17, 18, "99", None, 100)]
    [0, 1, 2, 3, None]
    """

    name: str
    values: tuple[str, ...] = ()
    """The categories; none if it is a line."""

    edges: tuple[Decimal, ...] = ()
    """Where the cells of a line begin, and behind the last one where it ends."""

    digits: int = 0
    days: bool = False
    missing: bool = True
    index: Mapping[str, int] = field(default_factory=dict, repr=False)
    folded: Mapping[str, int] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, name: str, rule: DomainRule, cuts: Sequence[Decimal] = ()) -> Self:
        """Return the domain that a rule states, with the cuts of a hierarchy if it has none."""
        if rule.is_line:
            edges = tuple(rule.edges(cuts))
            days = isinstance(rule.scale, Days)
            return cls(name, (), edges, rule.digits, days, rule.missing)
        return cls.of_values(name, rule.values, missing=rule.missing)

    @classmethod
    def of_values(cls, name: str, values: Sequence[str], *, missing: bool = True) -> Self:
        """Return the domain of listed categories; spellings of one are one, if it is unambiguous.

        >>> sex = ColumnDomain.of_values("sex", ["Female", "Male"])
        >>> sex.cell_of("male "), sex.cell_of("?")
        (1, None)
        """
        folded: dict[str, int] = {}
        for at, value in enumerate(values):
            key = fold_spelling(value)
            folded[key] = -1 if key in folded else at
        index = {value: at for at, value in enumerate(values)}
        folded = {key: at for key, at in folded.items() if at >= 0}
        return cls(name, tuple(values), missing=missing, index=index, folded=folded)

    @classmethod
    def read(cls, name: str, plain: Mapping[str, Any]) -> Self:
        """Return the domain that a manifest states; see `to_dict`.

        >>> ages = ColumnDomain.of("age", DomainRule.read({"from": 0, "to": 99, "cuts": [18, 65]}))
        >>> ColumnDomain.read("age", ages.to_dict()).labels == ages.labels
        True
        """
        if "values" in plain:
            return cls.of_values(name, plain["values"], missing=plain["missing"])
        days, digits = plain["line"] == "days", int(plain["decimals"])
        scale: Scale = Days() if days else Numbers()
        points = [scale.read(mark) for mark in (*plain["cells_from"], plain["to"])]
        known = [point for point in points if point is not None]
        if len(known) < max(2, len(points)):
            raise InputError(f"the domain of {name!r} in the manifest cannot be read")
        edges = (*known[:-1], known[-1] + Decimal(1).scaleb(-digits))
        return cls(name, (), edges, digits, days, plain["missing"])

    @property
    def is_line(self) -> bool:
        """Whether its cells are stretches of numbers or days."""
        return bool(self.edges)

    @property
    def known(self) -> int:
        """The number of cells but that of missing values."""
        return len(self.edges) - 1 if self.is_line else len(self.values)

    @property
    def size(self) -> int:
        """The number of cells."""
        return self.known + self.missing

    @property
    def labels(self) -> tuple[str, ...]:
        """What the cells are called."""
        if not self.is_line:
            return self.values
        step = Decimal(1).scaleb(-self.digits)
        found = []
        for low, high in zip(self.edges, self.edges[1:], strict=False):
            first, last = self._write_point(low), self._write_point(high - step)
            found.append(first if first == last else f"{first} to {last}")
        return tuple(found)

    def _write_point(self, point: Decimal) -> str:
        return date.fromordinal(int(point)).isoformat() if self.days else text_of(point)

    def cell_of(self, value: Value, reading: Reading = _AS_IT_IS) -> int | None:
        """Return the cell of a value; None if it has none.

        Args:
            value: The value.
            reading: How numbers are written in texts, as far as that is said.
        """
        if value is None:
            return self.known if self.missing else None
        if not self.is_line:
            text = text_of(value)
            found = self.index.get(text)
            found = self.folded.get(fold_spelling(text)) if found is None else found
            return self.index.get(reading.number(text) or text) if found is None else found
        if isinstance(value, str) and not self.days:
            value = reading.number(value)
        point = Days().read(value) if self.days else number_point(value)
        if point is None or not self.edges[0] <= point < self.edges[-1]:
            return None
        return bisect_right(self.edges, point) - 1

    def draw(self, cells: np.ndarray, rng: np.random.Generator) -> list[Any]:
        """Draw a value in each of some cells: a category as text, a number, a day or None.

        >>> ages = ColumnDomain.of("age", DomainRule.read({"from": 7, "to": 7}))
        >>> ages.draw(np.array([0, 1]), np.random.default_rng(1))
        [7, None]
        """
        if not self.is_line:
            every = np.array([*self.values, None], dtype=object)
            return list(every[cells])
        scale = 10**self.digits
        ends = np.array([int(edge * scale) for edge in self.edges], dtype=np.int64)
        within = np.minimum(cells, self.known - 1)
        drawn = rng.integers(ends[within], ends[within + 1])
        missing = cells == self.known
        if self.days:
            return [
                None if gone else date.fromordinal(at)
                for at, gone in zip(drawn.tolist(), missing.tolist(), strict=True)
            ]
        numbers: list[Any] = drawn.tolist()
        if self.digits:
            numbers = [round(each / scale, self.digits) for each in numbers]
        return [
            None if gone else each for each, gone in zip(numbers, missing.tolist(), strict=True)
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return it as manifests state it."""
        if not self.is_line:
            return {"values": list(self.values), "missing": self.missing}
        edges = [self._write_point(edge) for edge in self.edges[:-1]]
        last = self._write_point(self.edges[-1] - Decimal(1).scaleb(-self.digits))
        kind = "days" if self.days else "numbers"
        return {
            "line": kind,
            "cells_from": edges,
            "to": last,
            "decimals": self.digits,
            "missing": self.missing,
        }


@dataclass(frozen=True, eq=False)
class PublicDomain:
    """The cells of all columns that synthetic rows have."""

    columns: tuple[ColumnDomain, ...]

    @classmethod
    def of(cls, policy: Policy, names: Sequence[str]) -> Self:
        """Return the domain that a policy states; raise at its line where it does not.

        Args:
            policy: States the domains of columns, and their hierarchies.
            names: The columns that synthetic rows have.
        """
        return cls(tuple(_domain_of(policy, name) for name in names))

    @property
    def names(self) -> tuple[str, ...]:
        """The columns, in order."""
        return tuple(each.name for each in self.columns)

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many cells each column has."""
        return tuple(each.size for each in self.columns)

    def cells_of(
        self, counts: FrequencySet, policy: Policy, reading: Reading = _AS_IT_IS
    ) -> CountedCells:
        """Return counts as cells; raise at the line of the first domain that misses a value.

        Args:
            counts: The counts, of these columns.
            policy: Says where the domains stand.
            reading: How numbers are written in texts, as far as that is said.
        """
        cells = np.empty((len(self.columns), len(counts)), dtype=np.int64)
        for at, domain in enumerate(self.columns):
            column = counts.column(domain.name)
            found = [domain.cell_of(value, reading) for value in column.values]
            outside = [v for v, cell in zip(column.values, found, strict=True) if cell is None]
            if outside:
                raise policy.error_at(
                    "columns", domain.name, "domain", text=_misses(domain, outside)
                )
            lookup = np.array([-1 if cell is None else cell for cell in found], dtype=np.int64)
            cells[at] = lookup[counts.codes_of(domain.name)] if len(lookup) else 0
        flat = np.ravel_multi_index(cells, self.sizes) if _fits(self.sizes) else None
        if flat is None:
            kept, of_item = np.unique(cells, axis=1, return_inverse=True)
        else:
            _, first, of_item = np.unique(flat, return_index=True, return_inverse=True)
            kept = cells[:, first]
        rows = np.bincount(of_item.reshape(-1), weights=counts.rows, minlength=kept.shape[1])
        return CountedCells(self.names, self.sizes, kept, rows.astype(np.int64))


def _fits(sizes: Sequence[int]) -> bool:
    total = 1
    for size in sizes:
        total *= size
    return total < 2**62


def _misses(domain: ColumnDomain, outside: Sequence[Value]) -> str:
    """Return in words which values a domain has no cell for."""
    if outside == [None]:
        return (
            "says that no value is missing, and some are. Leave out missing: false, or complete "
            "the table."
        )
    shown = some([text_of(value) for value in outside if value is not None])
    n = f"{len(outside)} value{'s' * (len(outside) > 1)}"
    if domain.is_line:
        low, high = domain.labels[0].split(" to ")[0], domain.labels[-1].split(" to ")[-1]
        what = "dates" if domain.days else "numbers"
        how = "dates: day-first" if domain.days else "input: {decimal: ','}"
        return (
            f"has no cell for {n} of the table, not {what} from {low} to {high}: "
            f"{shown}. State wider ends if such values can occur at all, say how {what} are "
            f"written, as in {how}, or correct the table."
        )
    return (
        f"has no cell for {n} of the table: {shown}. Add the values that can occur at all, "
        "whether or not the table has them, or correct the table."
    )


def _domain_of(policy: Policy, name: str) -> ColumnDomain:
    rule = policy.columns.get(name)
    builder = None if rule is None else rule.hierarchy
    stated = None if rule is None else rule.domain
    if stated is not None:
        if stated.drafted:
            raise policy.error_at("columns", name, "domain", "drafted", text=_DRAFTED)
        cuts: list[Decimal] = []
        if stated.is_line and stated.cuts is None and stated.width is None:
            cuts = _cuts_of(builder, stated)
        try:
            found = ColumnDomain.of(name, stated, cuts)
        except Fault as fault:
            raise policy.error_at(
                "columns", name, "domain", *map(str, fault.path), text=fault.text
            ) from None
        if found.size > MOST_CELLS + 1:
            text = f"has {format_integer(found.size)} cells, more than {format_integer(MOST_CELLS)}"
            raise policy.error_at("columns", name, "domain", text=f"{text}. Take wider ones.")
        return found
    if builder is not None and builder.states_domain:
        tree = builder.build_stated(name)
        if tree is not None:
            return ColumnDomain.of_values(name, [text_of(value) for value in tree.values])
    raise _not_stated(policy, name, builder)


_DRAFTED = (
    "says that the domain was read off a table: that a value is in it may reveal one person. "
    "Confirm that it holds whatever the table has, complete it by what can occur, and remove "
    "drafted."
)


def _not_stated(policy: Policy, name: str, builder: object) -> PolicyError:
    why = (
        "its hierarchy is made from the values of the table, or may have been drafted from them"
        if builder is not None
        else ("nothing says which values it can have")
    )
    lines = isinstance(builder, Intervals)
    example = "{from: 0, to: 120}" if lines else "[…], or {from: …, to: …, cuts: […]} for numbers"
    text = (
        f"{name!r} has no public domain: {why}. What a release says under differential privacy may "
        f"not be read off the data. State it from what is known without them, as in domain: "
        f"{example}."
    )
    return policy.error_at("columns", name, text=text)


def _cuts_of(builder: object, rule: DomainRule) -> list[Decimal]:
    """Return the cuts of the finest level of a hierarchy of intervals; none of another."""
    if not isinstance(builder, Intervals):
        return []
    edges = rule.edges()
    low, high = edges[0], edges[-1]
    if builder.bounds is not None:
        finest = builder.bounds[0]
        marks = finest if isinstance(finest, tuple | list) else builder.bounds
        points = [builder.scale.read(mark) for mark in marks]
        return [point for point in points if point is not None and low < point < high]
    found: list[Decimal] = []
    point = low
    while len(found) <= MOST_CELLS:
        # The range around a point ends where the next one begins.
        ends = {end for _, end in builder.ranges([point])[0]}
        [end] = ends
        if end is None or end >= high:
            return found
        found.append(end)
        point = end
    return found


def require_drawn(policy: Policy, roles: Mapping[str, Role]) -> tuple[str, ...]:
    """Return the columns that synthetic rows have; raise if one cannot be drawn.

    Args:
        policy: What says the roles.
        roles: The role of each column of the table.
    """
    for name, role in roles.items():
        if role in (Role.SET, Role.WEIGHT):
            text = (
                f"is {role}, and synthetic rows have no such column. Give it the role dropped, or "
                "publish it otherwise."
            )
            raise policy.error_at("columns", name, text=text)
    if policy.perturbations:
        name = next(iter(policy.perturbations))
        text = (
            "is perturbed, and synthetic rows hold no value of a person that could be: noise is in "
            "the counts they are drawn from. Remove perturb."
        )
        raise policy.error_at("columns", name, "perturb", text=text)
    found = tuple(name for name, role in roles.items() if role in DRAWN)
    if not found:
        raise InputError("no column of the table is to be published: there is nothing to draw")
    return found
