"""Facts of a column: its values, drawn, and how many people it singles out."""

from dataclasses import field

import numpy as np

from sfumato.counts import FrequencySet
from sfumato.dataclasses import dataclass
from sfumato.drafting.inspection import SubsetRisk, people_alone, telling_subsets
from sfumato.showing.charts import histogram_svg, sketch_svg
from sfumato.tables import Domain
from sfumato.text import date_of, number_of, text_of
from sfumato.typing import IntArray, Value

_BINS = 20
_CATEGORIES = 12
_MOST_NUMBERS = 200_000
"""Of more values only the most frequent are shown."""


@dataclass(frozen=True)
class Bar:
    """One value, or a range of values, and the rows that have it."""

    label: str
    rows: int


@dataclass(frozen=True)
class ColumnFacts:
    """What a column is like, and whom it singles out.

    >>> facts = ColumnFacts("sex", 2, 0.0, 0.0, None, (Bar("f", 3), Bar("m", 5)))
    >>> "f: 3 rows, 38 %." in facts.svg
    True
    """

    name: str
    distinct: int
    """The number of different values; a missing one is none."""

    missing: float
    """The share of the rows without a value."""

    alone: float
    """The share of people who are the only ones with their value."""

    together: float | None
    """The share of people who are unique by it and all that others may know; None if that is not
    known, or if there is nothing else."""

    histogram: tuple[Bar, ...] = ()
    """Up to 20 ranges of numbers or dates in order, or the most frequent values."""

    others: int = 0
    """The rows whose value is none of those in the histogram."""

    ordered: bool = False
    """Whether the bars are ranges in their order, and not values by frequency."""

    telling: tuple[SubsetRisk, ...] = field(default=())
    """The sets of quasi-identifiers with this one that single out most people."""

    @property
    def sketch(self) -> str:
        """The histogram, drawn as a small picture."""
        return sketch_svg(
            [bar.label for bar in self.histogram],
            [bar.rows for bar in self.histogram],
            title=self.name,
        )

    @property
    def svg(self) -> str:
        """The histogram, drawn."""
        bars = [*self.histogram, *([Bar("all others", self.others)] if self.others else [])]
        return histogram_svg(
            [bar.label for bar in bars],
            [bar.rows for bar in bars],
            title=self.name,
            noun="row",
            nouns="rows",
        )


def facts_of(
    domain: Domain, counts: FrequencySet | None, known: tuple[str, ...], person: str | None
) -> ColumnFacts:
    """Return the facts of a column.

    Args:
        domain: Its values.
        counts: The table over the column, the quasi-identifiers and the person; None if they are
            not counted.
        known: The quasi-identifiers.
        person: The column that tells people apart, if they are counted.

    >>> from sfumato.tables import open_table
    >>> import pyarrow as pa
    >>> table = open_table(pa.table({"age": [31, 31, 47], "sex": ["f", "m", "f"]}))
    >>> domain, counts = table.domains(["age"])["age"], table.count(["age", "sex"])
    >>> facts = facts_of(domain, counts, ("age", "sex"), None)
    >>> facts.alone, facts.together, facts.histogram
    (0.3333333333333333, 1.0, (Bar(label='31', rows=2), Bar(label='47', rows=1)))
    """
    name, total = domain.column, max(domain.total, 1)
    alone = int(np.count_nonzero(domain.rows == 1)) / total
    together, telling = None, tuple[SubsetRisk, ...]()
    if counts is not None:
        others = tuple(dict.fromkeys((*known, name)))
        if person is not None:
            alone = _share_alone(counts, (name,), person)
        if len(others) > 1:
            together = _share_alone(counts, others, person)
            private = () if person is None else (person,)
            found = telling_subsets(counts.project((*others, *private)), 2, person=person).found
            telling = tuple(each for each in found if name in each.columns)[:_MOST_TELLING]
    bars, rest, ordered = _bars(domain)
    return ColumnFacts(
        name, len(domain.rows), domain.missing / total, alone, together, bars, rest, ordered,
        telling,
    )  # fmt: skip


_MOST_TELLING = 3


def _share_alone(counts: FrequencySet, names: tuple[str, ...], person: str | None) -> float:
    if person is None:
        rows = counts.project(names).rows
        return int(np.count_nonzero(rows == 1)) / max(counts.total, 1)
    positions = tuple(counts.index(name) for name in names)
    everyone = len(np.unique(counts.codes_of(person)))
    return len(people_alone(counts, positions, person)) / max(everyone, 1)


def _bars(domain: Domain) -> tuple[tuple[Bar, ...], int, bool]:
    """Return ranges of numbers or dates, or the most frequent values, and the rows left."""
    n = len(domain.rows)
    if not n:
        return (), 0, False
    if n <= _MOST_NUMBERS:
        values = domain.values(_LOOKED_AT)
        days = all(date_of(value) is not None for value in values)
        if days or all(number_of(value) is not None for value in values):
            found = _ranges(domain.values(), domain.rows, days=days)
            if found is not None:
                return found, 0, True
    # A draw between values that are as frequent is decided by how they are written.
    most = np.argsort(-domain.rows, kind="stable")[: _CATEGORIES + 1 if n > _CATEGORIES else n]
    most = most[:_CATEGORIES]
    bars = sorted(
        (Bar(text_of(v), int(r)) for v, r in zip(domain.take(most), domain.rows[most].tolist(),
                                               strict=False)),
        key=lambda bar: (-bar.rows, bar.label),
    )  # fmt: skip
    return tuple(bars), int(domain.rows.sum()) - sum(bar.rows for bar in bars), False


_LOOKED_AT = 50


def _ranges(values: list[Value], rows: IntArray, *, days: bool) -> tuple[Bar, ...] | None:
    """Return the rows in up to 20 ranges of the same width; None if some value has no place."""
    found = [_place(value, days=days) for value in values]
    places = np.array([place for place in found if place is not None], dtype=np.float64)
    if len(places) < len(values) or len(values) != len(rows):
        return None
    low, high = float(places.min()), float(places.max())
    if len(values) <= _BINS:
        order = np.argsort(places, kind="stable").tolist()
        return tuple(Bar(text_of(values[i]), int(rows[i])) for i in order)
    whole = days or bool((places == np.rint(places)).all())
    width = (high - low + whole) / _BINS
    if whole:
        width = max(float(np.ceil(width)), 1.0)
    if not np.isfinite(width) or width <= 0:
        return None
    at = np.minimum(((places - low) / width).astype(np.int64), _BINS - 1)
    numbers = np.bincount(at, weights=rows, minlength=_BINS).astype(np.int64).tolist()
    bars = []
    for i, number in enumerate(numbers):
        start, end = low + i * width, low + (i + 1) * width - whole
        if start > high:
            break
        bars.append(Bar(_range_label(start, min(end, high), days=days, whole=whole), number))
    return tuple(bars)


def _place(value: Value, *, days: bool) -> float | None:
    if not days:
        return number_of(value)
    day = date_of(value)
    return None if day is None else float(day.toordinal())


def _range_label(start: float, end: float, *, days: bool, whole: bool) -> str:
    if days:
        from datetime import date

        ends = [date.fromordinal(int(each)).isoformat() for each in (start, end)]
    else:
        ends = [f"{each:.0f}" if whole else f"{each:.4g}" for each in (start, end)]
    return ends[0] if ends[0] == ends[1] else f"{ends[0]} to {ends[1]}"
