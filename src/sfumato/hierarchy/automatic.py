"""Automatic hierarchies: a first draft from the values themselves."""

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from decimal import Decimal
from itertools import takewhile
from math import ceil, log2
from typing import ClassVar

from sfumato.dataclasses import dataclass
from sfumato.errors import HierarchyError, require_int
from sfumato.hierarchy.base import Hierarchy, HierarchyBuilder, Suppress
from sfumato.hierarchy.by_counts import even_ranges, nested_cuts
from sfumato.hierarchy.dates import UNITS, Dates, likely_days
from sfumato.hierarchy.frequent import frequent_of
from sfumato.hierarchy.intervals import Days, Intervals, Numbers, Scale, mark_of, number_point
from sfumato.hierarchy.known import KnownTree, tree_of
from sfumato.hierarchy.masking import Masking
from sfumato.hierarchy.ordered import OrderedCategories, is_no_answer, order_of
from sfumato.text import in_order, text_of
from sfumato.typing import Value

_MOST_CATEGORIES = 60
"""A scale has fewer steps, and bands are fewer."""

_CODE = re.compile(r"[A-Z0-9][A-Z0-9 ./-]{1,11}")
_CODE_COLUMN = re.compile(r"zip|postal|post_?code|plz", re.IGNORECASE)


@dataclass(frozen=True)
class Automatic(HierarchyBuilder):
    """Look at the values and choose: a draft to start from, better replaced by your own.

    - two values or fewer: `Suppress`;
    - dates: `Dates`, with the units that make a difference;
    - numbers: `Intervals` of even, round widths with open ends; where the numbers are skewed, cut
      points that halve the rows again and again, at round numbers;
    - bands of numbers and words of a known scale: `OrderedCategories`;
    - names of which there is a tree (countries, states, months, diagnoses): `KnownTree`;
    - codes: `Masking`. Codes are short, of similar length, all capitals and digits and nearly
      all with digits (E11.9, SW1A 1AA), or digits with leading zeros (02139), or any digits in
      a column called zip, postcode, postal code or PLZ;
    - other names: `Frequent`, rare values first;
    - names that hardly two rows share: `Suppress`.

    `describe` gives the explicit builder that `build` uses. Cut points and groups are
    taken from the data and so say a little about it, roughly where its quantiles are; where
    that matters write the hierarchy down before looking at the data. A value of a single row
    is named in no group, and is no cut point if there is a number beside it.

    Args:
        levels: Most levels above the raw values, `*` included; by default about five.

    Example:
        >>> Automatic().describe("age", list(range(18, 91))).params()
        {'widths': [5, 10, 20, 40], 'upper': 80}
        >>> Automatic().describe("zip", ["02139", "02141", "10001"]).name
        'masking'
    """

    name: ClassVar[str] = "auto"
    title: ClassVar[str] = "Automatic"
    in_words: ClassVar[str] = "Sfumato looks at the values and chooses for each table by itself."
    of_dates: ClassVar[bool | None] = None

    levels: int | None = None

    def __post_init__(self) -> None:
        if self.levels is not None:
            require_int("levels", self.levels, at_least=1)

    @property
    def suggests(self) -> bool:
        return True

    def build(
        self,
        column: str,
        values: Sequence[Value],
        counts: Sequence[int] | None = None,
    ) -> Hierarchy:
        # Labels are published, also where the row of a value is not: with counts it can be told.
        hide = counts is not None
        found = self.describe(column, values, counts, hide_single=hide)
        return found.build(column, values, counts)

    def describe(
        self,
        column: str,
        values: Sequence[Value],
        counts: Sequence[int] | None = None,
        *,
        hide_single: bool = False,
        order: Sequence[Value] | None = None,
    ) -> HierarchyBuilder:
        """Return the explicit builder, to be written into a policy and edited there.

        Args:
            column: The column's name.
            values: Its distinct values.
            counts: How many rows have each.
            hide_single: Whether labels and bounds avoid the values of single rows.
            order: The values in their order, the least first, if they have one: that of a
                categorical column, or of the codes of value labels.
        """
        rows: defaultdict[str, int] = defaultdict(int)
        distinct: dict[str, Value] = {}
        weighed = [1] * len(values) if counts is None else counts
        for value, count in zip(values, weighed, strict=True):
            rows[text_of(value)] += int(count)
            distinct[text_of(value)] = value
        ordered = in_order(distinct.values())
        if len(ordered) <= 2 or self.levels == 1:
            return Suppress()
        texts = [text_of(value) for value in ordered]
        weights = [rows[text] for text in texts]
        days = likely_days(ordered) if order is None else None
        if days is not None:
            return self._dates(days)
        points = [number_point(value) for value in ordered]
        numbers = [point for point in points if point is not None]
        numeric = len(numbers) == len(ordered)
        known = self._order(texts, order) or self._tree(column, texts, weights)
        if known is not None and not numeric:
            return known
        if _are_codes(column, texts, numeric=numeric):
            return self._codes(texts)
        if numeric:
            return self._numbers(numbers, weights, hide_single=hide_single)
        return frequent_of(texts, weights, self._most - 1, hide_single=hide_single) or Suppress()

    @property
    def _most(self) -> int:
        """The most levels above the raw values."""
        return self.levels or 5

    def _tree(
        self, column: str, texts: Sequence[str], weights: Sequence[int]
    ) -> HierarchyBuilder | None:
        tree = tree_of(column, texts, weights)
        known = None if tree is None else KnownTree(tree)
        return known if known is not None and known.fixed_height <= (self.levels or 6) else None

    def _order(
        self, texts: Sequence[str], given: Sequence[Value] | None
    ) -> OrderedCategories | None:
        """Return the builder of ordered categories, if they are some."""
        if given is not None:
            named = dict.fromkeys(text for text in map(text_of, given) if not is_no_answer(text))
            order = tuple(named)
            apart = tuple(text for text in texts if text not in named)
        else:
            found = order_of(texts) if len(texts) <= _MOST_CATEGORIES else None
            if found is None:
                return None
            order, apart = found
        if len(order) < 3:
            return None
        builder = OrderedCategories(order, apart)
        return builder if (builder.fixed_height or 0) <= (self.levels or 6) else None

    def _halvings(self, n: int) -> int:
        """The number of levels that suits n values, each with about half as many groups."""
        return min(self.levels or 5, ceil(log2(n))) - 1

    def _dates(self, days: Sequence[str]) -> HierarchyBuilder:
        units: list[str] = []
        fewest = len({*days})
        for unit, name in UNITS.items():
            groups = len({name(day) for day in days})
            if 1 < groups < fewest:
                units.append(unit)
                fewest = groups
        # Too many levels: the finest units go, because the next ones are only a little coarser.
        units = units[-(self.levels - 1) :] if self.levels else units
        return Dates(levels=units) if units else Suppress()

    def _numbers(
        self, points: Sequence[Decimal], weights: Sequence[int], *, hide_single: bool
    ) -> HierarchyBuilder:
        rows: defaultdict[Decimal, int] = defaultdict(int)
        for point, weight in zip(points, weights, strict=True):
            rows[point] += max(weight, 1)
        line = Numbers()
        even = even_ranges(rows)
        if even is not None:
            widths = [mark_of(line, width) for width in even.widths][-(self._most - 1) :]
            lower, upper = (None if end is None else mark_of(line, end) for end in even[1:])
            return Intervals(widths=widths, lower=lower, upper=upper)
        levels = nested_cuts(rows, self._halvings(len(points)), hide_single=hide_single)
        bounds = [[mark_of(line, cut) for cut in level] for level in levels]
        return Intervals(bounds=bounds) if bounds else Suppress()

    def _codes(self, texts: Sequence[str]) -> HierarchyBuilder:
        length = max(map(len, texts))
        first, last = min(texts), max(texts)
        shared = (a == b for a, b in zip(first, last, strict=False))
        keep = sum(takewhile(bool, shared))
        step = 1
        while True:
            masking = Masking(keep=keep, step=step, length=length)
            if len(masking.lengths(length)) < (self.levels or 6):
                return masking
            step += 1

    @classmethod
    def example_values(cls) -> list[Value]:
        return [17, 23, 27, 35, 44, 61, 80, 95]


def _are_codes(column: str, texts: Sequence[str], *, numeric: bool) -> bool:
    shortest, longest = min(map(len, texts)), max(map(len, texts))
    if numeric:
        digits = all(text.isascii() and text.isdigit() for text in texts) and longest > 1
        fixed = shortest == longest and any(text[0] == "0" for text in texts)
        return digits and (fixed or _CODE_COLUMN.search(column) is not None)
    with_digits = sum(any(char.isdigit() for char in text) for text in texts)
    return (
        longest - shortest <= 4
        and with_digits >= 0.8 * len(texts)
        and all(_CODE.fullmatch(text) for text in texts)
    )


def intervals_for(
    column: str, values: Sequence[Value], counts: Sequence[int] | None = None
) -> Intervals:
    """Return intervals to start from, for a column of numbers or of dates in ISO 8601.

    Args:
        column: The column's name.
        values: The column's distinct values.
        counts: How many rows have each; without it, one each.

    Example:
        >>> intervals_for("age", [*range(18, 91)]).params()
        {'widths': [5, 10, 20, 40], 'upper': 80}
        >>> intervals_for("day", ["2020-01-01", "2020-02-01", "2020-06-01"]).params()
        {'bounds': [['2020-01-26']]}
    """
    texts = [text_of(value) for value in values]
    rows = dict(zip(texts, counts or [1] * len(texts), strict=True))
    scales: tuple[Scale, ...] = (Numbers(), Days())
    fits = [scale for scale in scales if all(scale.read(text) is not None for text in texts)]
    if not fits or not texts:
        raise HierarchyError(
            f"{column!r} cannot be put into intervals: not all of its values are numbers, or dates "
            "as in 2020-02-29. Choose another hierarchy."
        )
    scale = fits[0]
    if isinstance(scale, Numbers):
        found = Automatic().describe(column, texts, list(rows.values()), hide_single=True)
        if isinstance(found, Intervals):
            return found
    weights: Counter[Decimal] = Counter()
    for text, number in rows.items():
        weights[scale.read(text) or Decimal(0)] += max(number, 1)
    levels = nested_cuts(weights, min(4, max(1, len(weights).bit_length() - 1)), hide_single=True)
    if not levels:
        raise HierarchyError(
            f"{column!r} cannot be put into intervals: all of its values are the same. Choose "
            "another hierarchy."
        )
    return Intervals(bounds=[[mark_of(scale, cut) for cut in level] for level in levels])
