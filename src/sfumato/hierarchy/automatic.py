"""Automatic hierarchies: a first draft from the values themselves."""

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import takewhile
from math import ceil, log2
from typing import ClassVar, Self

from sfumato.errors import require_int
from sfumato.hierarchy.base import Hierarchy, HierarchyBuilder, Suppress
from sfumato.hierarchy.by_counts import frequency_tree, nested_cuts
from sfumato.hierarchy.dates import UNITS, Dates, likely_days
from sfumato.hierarchy.intervals import Intervals, Mark, is_whole, number_point
from sfumato.hierarchy.masking import Masking
from sfumato.hierarchy.taxonomy import Taxonomy
from sfumato.text import in_order, text_of
from sfumato.typing import Value

_MOST_NAMES = 1000
"""A tree of more names than this is nothing a person would edit."""

_CODE = re.compile(r"[A-Z0-9][A-Z0-9 ./-]{1,11}")
_RANGE = re.compile(r"(\d+) ?- ?(\d+)")
_CODE_COLUMN = re.compile(r"zip|postal|post_?code|plz", re.IGNORECASE)


@dataclass(frozen=True)
class Automatic(HierarchyBuilder):
    """Look at the values and choose: a draft to start from, better replaced by your own.

    - two values or fewer: `Suppress`;
    - dates: `Dates`, with the units that make a difference;
    - numbers: `Intervals` whose cut points halve the rows again and again, at round numbers;
    - codes: `Masking`. Codes are short, of similar length, all capitals and digits and nearly
      all with digits (E11.9, SW1A 1AA), or digits with leading zeros (02139), or any digits in
      a column called zip, postcode, postal code or PLZ;
    - up to 1000 other names: `Taxonomy`, rare values joined first;
    - more: `Suppress`.

    `describe` gives the explicit builder that `build` uses. Cut points and groups are
    taken from the data and so say a little about it, roughly where its quantiles are; where
    that matters write the hierarchy down before looking at the data. A value of a single row
    is named in no group, and is no cut point if there is a number beside it.

    Args:
        levels: Most levels above the raw values, `*` included; by default about five.

    Example:
        >>> Automatic().describe("age", list(range(18, 91))).params()["bounds"][-2:]
        [[35, 50, 70], [50]]
        >>> Automatic().describe("zip", ["02139", "02141", "10001"]).name
        'masking'
    """

    name: ClassVar[str] = "auto"

    levels: int | None = None

    def __post_init__(self) -> None:
        if self.levels is not None:
            require_int("levels", self.levels, at_least=1)

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
    ) -> HierarchyBuilder:
        """Return the explicit builder, to be written into a policy and edited there.

        Args:
            column: The column's name.
            values: Its distinct values.
            counts: How many rows have each.
            hide_single: Whether labels and bounds avoid the values of single rows.
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
        days = likely_days(ordered)
        if days is not None:
            return self._dates(days)
        points = [number_point(value) for value in ordered]
        numbers = [point for point in points if point is not None]
        if _are_codes(column, texts, numeric=len(numbers) == len(ordered)):
            return self._codes(texts)
        if len(numbers) == len(ordered):
            return self._numbers(numbers, weights, hide_single=hide_single)
        if len(texts) > _MOST_NAMES:
            return Suppress()
        depth = self._halvings(len(texts))
        return Taxonomy(frequency_tree(texts, weights, depth, hide_single=hide_single))

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
        levels = nested_cuts(rows, self._halvings(len(points)), hide_single=hide_single)
        bounds = [[_mark(cut) for cut in level] for level in levels]
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
    def example(cls) -> Self:
        return cls()

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
        and not all(_is_range(text) for text in texts)
    )


def _is_range(text: str) -> bool:
    """Return whether a text is a range such as 20-29, and no code such as 02139-1234."""
    ends = _RANGE.fullmatch(text)
    return ends is not None and int(ends[1]) < int(ends[2])


def _mark(cut: Decimal) -> Mark:
    """Write a cut as plainly as it can be without moving it."""
    if is_whole(cut):
        return int(cut)
    return float(cut) if number_point(float(cut)) == cut else text_of(cut)
