"""The contract of a perturbation: values of a column that are changed before all else."""

import re
from abc import ABC, abstractmethod
from collections.abc import Sequence
from decimal import Decimal
from functools import cached_property
from typing import ClassVar, NamedTuple, Self

import numpy as np

from sfumato.counts import Column
from sfumato.dataclasses import dataclass
from sfumato.errors import InputError, ParameterError, require_number
from sfumato.registry import Member
from sfumato.text import number_of, text_of
from sfumato.typing import BoolArray, FloatArray, IntArray, Value

MOST_DECIMALS = 15
_EXACT = 2.0**53
"""Below it floating point holds every whole number."""

_MOST_VALUES = 2000
"""The most values of which each is held against each."""

_PERCENT = re.compile(r"\s*(\d{1,12}(?:\.\d{1,12})?)\s*%\s*")


class Amount(NamedTuple):
    """A number, or a share of something that a table has."""

    value: float
    share: bool

    @classmethod
    def read(cls, name: str, given: object, *, below: float | None = None) -> Self:
        """Read a number, or a share such as 10%.

        >>> Amount.read("sd", "10%"), Amount.read("sd", 500)
        (Amount(value=0.1, share=True), Amount(value=500.0, share=False))
        """
        found = _PERCENT.fullmatch(given) if isinstance(given, str) else None
        if isinstance(given, str) and found is None:
            raise ParameterError(name, given, "a number, or a share as in 10%")
        value = float(found[1]) / 100 if found is not None else given
        limit = below if found is not None else None
        require_number(name, value, above=0, below=limit)
        return cls(float(value), share=found is not None)  # type: ignore[arg-type]


def read_share(name: str, given: object) -> float:
    """Read a share above 0 and below 1: as in 5%, or 0.05.

    >>> read_share("share", "5%"), read_share("share", 0.05)
    (0.05, 0.05)
    """
    value = Amount.read(name, given).value
    require_number(name, value, above=0, below=1, why="as in 5% or 0.05")
    return value


@dataclass(frozen=True, eq=False)
class ColumnCells:
    """The cells of one column: its values, and which of them each row has."""

    column: Column
    codes: IntArray

    @property
    def known(self) -> BoolArray:
        """Whether each row has a value."""
        known: BoolArray = self.codes != self.column.missing
        return known

    def numbers(self) -> "SeenNumbers":
        """Return the cells as numbers; raise if one is none."""
        known = self.column.known
        if {*map(type, known)} <= {int, float}:
            # A million of them in a hundredth of the time that reading each takes.
            plain = np.array(known, dtype=float)
            if np.isfinite(plain).all():
                return self._numbers(plain, decimals_of_floats(plain))
        spelt = _read_simple(known)
        if spelt is not None:
            return self._numbers(*spelt)
        read = [number_of(value) for value in known]
        wrong = [v for v, n in zip(known, read, strict=True) if n is None]
        if wrong:
            raise InputError(
                f"column {self.column.name!r} is perturbed as numbers, and {text_of(wrong[0])!r} "
                "is none. Perturb it by pram or record-swapping, which take any values, or move "
                "dates with derive: [{kind: shift, ...}]."
            )
        decimals = max((decimals_in(value) for value in known), default=0)
        return self._numbers(np.array(read, dtype=float), decimals)

    def _numbers(self, known: FloatArray, decimals: int) -> "SeenNumbers":
        values = np.append(known, np.nan)
        return SeenNumbers(values[np.where(self.known, self.codes, -1)], decimals)


class SeenNumbers(NamedTuple):
    """The numbers of a column, row by row, NaN where none is known."""

    values: FloatArray
    decimals: int
    """With how many decimals they are written, at most."""

    def to_cells(self, name: str) -> ColumnCells:
        """Return them as cells, written with as many decimals.

        >>> found = SeenNumbers(np.array([2.04, np.nan, 1.0]), 1).to_cells("pay")
        >>> found.column.values, found.codes.tolist()
        ((1.0, 2.0, None), [1, 2, 0])
        """
        largest = np.nanmax(np.abs(self.values), initial=0)
        # A number without that many exact decimals stays as it is: to round it would change it.
        exact = largest < _EXACT / 10.0**self.decimals
        rounded = (np.round(self.values, self.decimals) if exact else self.values) + 0.0
        missing = np.isnan(rounded)
        found, codes = np.unique(rounded[~missing], return_inverse=True)
        whole = self.decimals == 0 and largest < _EXACT
        values: list[Value] = found.astype(np.int64).tolist() if whole else found.tolist()
        every = np.full(len(rounded), len(values), dtype=np.int64)
        every[~missing] = codes
        return ColumnCells(Column(name, (*values, *([None] if missing.any() else []))), every)


_SIMPLE = frozenset("0123456789.-")


def _read_simple(values: Sequence[Value]) -> tuple[FloatArray, int] | None:
    """Return texts of digits as numbers, and with how many decimals; None if one is another text.

    As in a CSV file: a million in a fifth of the time that looking at each of them takes.

    >>> numbers, decimals = _read_simple(("3.50", "-7"))
    >>> numbers.tolist(), decimals
    ([3.5, -7.0], 2)
    """
    texts = [value for value in values if isinstance(value, str)]
    if not texts or len(texts) < len(values) or not _SIMPLE.issuperset("".join(texts)):
        return None
    try:
        numbers = np.array(list(map(float, texts)))
    except ValueError:
        return None
    decimals = max(len(text.partition(".")[2]) for text in texts)
    return (numbers, min(decimals, MOST_DECIMALS)) if np.isfinite(numbers).all() else None


def decimals_in(value: Value) -> int:
    """Return with how many decimals a number is written.

    >>> [decimals_in(v) for v in (3, 3.0, 3.25, "3.50", "1e-3")]
    [0, 0, 2, 2, 3]
    """
    exponent = Decimal(text_of(value).strip()).as_tuple().exponent
    return min(max(-exponent, 0), MOST_DECIMALS) if isinstance(exponent, int) else 0


def decimals_of_floats(numbers: FloatArray) -> int:
    """Return with how many decimals numbers are written, at most.

    >>> decimals_of_floats(np.array([3.0, 3.25, 0.1]))
    2
    """
    for decimals in range(MOST_DECIMALS):
        if np.abs(numbers).max(initial=0) >= _EXACT / 10.0**decimals:
            return MOST_DECIMALS
        if (np.round(numbers, decimals) == numbers).all():
            return decimals
    return MOST_DECIMALS


@dataclass(frozen=True, eq=False)
class SeenColumn:
    """What readers of a release see of a column: its numbers or values, and how many have each."""

    name: str
    values: tuple[Value, ...]
    rows: IntArray

    @cached_property
    def shares(self) -> FloatArray:
        """The share of the rows that have each value."""
        found: FloatArray = self.rows / max(int(self.rows.sum()), 1)
        return found

    @cached_property
    def numbers(self) -> FloatArray:
        """The values as numbers; NaN where one is none."""
        read = [number_of(value) for value in self.values]
        return np.array([np.nan if each is None else each for each in read], dtype=float)

    @cached_property
    def known(self) -> BoolArray:
        """Whether each is a value, not a missing one."""
        return np.array([value is not None for value in self.values], dtype=bool)

    @cached_property
    def sd(self) -> float:
        """The standard deviation of the numbers."""
        numbers = self.numbers
        known = ~np.isnan(numbers)
        rows, numbers = self.rows[known], numbers[known]
        if not rows.sum():
            return 0.0
        mean = np.average(numbers, weights=rows)
        return float(np.sqrt(np.average((numbers - mean) ** 2, weights=rows)))

    @cached_property
    def width(self) -> float:
        """The width of the stretch that a number stands for.

        It is the step between numbers that are all as far apart, as the middles of stretches are;
        else the last decimal.

        >>> SeenColumn("pay", (2.5, 7.5, 12.5), np.ones(3)).width
        5.0
        >>> SeenColumn("pay", (1.0, 2.0, 7.5), np.ones(3)).width
        0.1
        """
        numbers = self.numbers[~np.isnan(self.numbers)]
        gaps = np.diff(np.sort(numbers))
        if len(gaps) > 1 and gaps.max() - gaps.min() < 1e-9 * gaps.max():
            return float(gaps.mean())
        return float(10.0 ** -decimals_of_floats(numbers))


class PublishedLimits(NamedTuple):
    """How often a row is published in parts of the values, whatever its true value is."""

    part: IntArray
    """The part of each value that is shown."""

    least: FloatArray
    """Per part, how likely a row is published there at least."""

    most: FloatArray
    """Per part, how likely it is at most."""


class Perturbation(Member, ABC):
    """A change of the values of a column, made before anything else is done with a table.

    A member of the family is a frozen dataclass: its fields are what the manifest of a release
    tells of it, so none of them may depend on what a table has. Its docstring says what it
    promises, and what not.
    """

    random: ClassVar[bool] = True
    """Whether what a value becomes is drawn. Else every value has one published value."""

    numeric: ClassVar[bool] = True
    """Whether it takes numbers only."""

    joint: ClassVar[bool] = False
    """Whether columns with the same settings are changed together."""

    near: ClassVar[bool] = False
    """Whether a value becomes one that is near it."""

    adds_noise: ClassVar[bool] = False
    """Whether what is drawn is added, so that numbers spread wider than they did."""

    rearranges: ClassVar[bool] = False
    """Whether rows exchange their values, so that it needs all rows, and not persons."""

    within: Sequence[str] = ()
    """Columns whose values stay with what is exchanged."""

    @property
    def keeps_shares(self) -> bool:
        """Whether published shares of values are the true ones, at least expected."""
        return self.rearranges

    @abstractmethod
    def change(
        self, columns: Sequence[ColumnCells], groups: IntArray | None, rng: np.random.Generator
    ) -> list[ColumnCells]:
        """Return columns as they are published.

        Args:
            columns: The columns with these settings: one, unless the member is joint.
            groups: The group of each row that exchanges stay in, if there are several.
            rng: Where chance comes from.
        """

    @abstractmethod
    def note(self, columns: Sequence[str]) -> str:
        """Return what readers of a release must know of it."""

    def likelihood(self, published: IntArray, true: IntArray, shown: SeenColumn) -> FloatArray:
        """Return how likely a value is published for a true one.

        Args:
            published: The places of published values among those that are shown.
            true: The places of the true values; the two are broadcast.
            shown: What readers see of the column.
        """
        raise NotImplementedError

    def stays(self, shown: SeenColumn, prior: FloatArray, step: float | None = None) -> FloatArray:
        """Return how likely the true value of a row is what is published, per published value.

        Args:
            shown: What readers see of the column.
            prior: The shares of the true values, as far as readers know.
            step: Numbers with the same nearest multiple of it are the same; None for equal ones.

        Example:
            >>> from sfumato.perturbations import Pram
            >>> shown = SeenColumn("ill", ("hiv", "none"), np.array([208, 792]))
            >>> Pram(keep=0.8).stays(shown, np.array([0.01, 0.99])).round(2).tolist()
            [0.04, 1.0]
        """
        n = len(shown.values)
        if n > _MOST_VALUES:
            return np.zeros(n)
        at = np.arange(n)
        together = self.likelihood(at[:, None], at[None, :], shown) * prior[None, :]
        totals = together.sum(axis=1)
        place = at if step is None else np.round(shown.numbers / step)
        same = np.where(place[:, None] == place[None, :], together, 0.0).sum(axis=1)
        found: FloatArray = np.where(totals > 0, same / np.where(totals > 0, totals, 1.0), 1.0)
        return found

    def limits(self, shown: SeenColumn) -> list[PublishedLimits]:
        """Return how often rows are published as they are, whatever their true values are.

        By this a claim that chance has changed a column is held against what is published. Nothing
        is returned where every table can come of some true one.

        Args:
            shown: What readers see of the column.
        """
        del shown
        return []


class NumberPerturbation(Perturbation):
    """A change of numbers, each row by itself."""

    def change(
        self, columns: Sequence[ColumnCells], groups: IntArray | None, rng: np.random.Generator
    ) -> list[ColumnCells]:
        found = [cells.numbers() for cells in columns]
        matrix = np.stack([each.values for each in found])
        changed = self.move(matrix, rng)
        return [
            SeenNumbers(row, self.decimals_of(each)).to_cells(cells.column.name)
            for row, each, cells in zip(changed, found, columns, strict=True)
        ]

    def decimals_of(self, numbers: SeenNumbers) -> int:
        """Return with how many decimals the changed numbers are written."""
        return numbers.decimals

    @abstractmethod
    def move(self, numbers: FloatArray, rng: np.random.Generator) -> FloatArray:
        """Return numbers that were changed: a line for each column, NaN where none is known."""


def join_names(columns: Sequence[str]) -> str:
    """Return names of columns in words."""
    return ", ".join(map(repr, columns))
