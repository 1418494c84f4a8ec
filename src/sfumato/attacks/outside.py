"""A list of people from elsewhere, held against the classes of a release."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Self

import numpy as np

from sfumato.attacks.reading import reads
from sfumato.attacks.target import Target
from sfumato.counts import FrequencySet, group, sums
from sfumato.errors import ParameterError
from sfumato.hierarchy import Ladder
from sfumato.text import text_of
from sfumato.typing import BoolArray, IntArray

_AT_ONCE = 1 << 24
"""Pairs of a person and a class that are looked at together."""


@dataclass(frozen=True, eq=False)
class Outside:
    """How many people of a list fit each class, going by what the list says of them.

    A list may lack some quasi-identifiers. Classes that differ in those only look the same to
    whoever has the list, and are taken as one.

    Example:
        >>> release = [("1305*", "2*", "flu"), ("1305*", "2*", "hiv"), ("2407*", "2*", "hiv")]
        >>> counts = FrequencySet.from_rows(["zip", "age", "ill"], release)
        >>> drivers = [("Rajesh", 24078, 26), ("David", 13053, 28), ("Liza", 13053, 41)]
        >>> people = FrequencySet.from_rows(["name", "zip", "age"], drivers)
        >>> found = Outside.of(people, Target.of_table(counts, ("zip", "age"), ("ill",)))
        >>> found.fitting.tolist(), found.rows.tolist(), found.who(1)
        ([1, 1], [2, 1], 'Rajesh, 24078, 26')
    """

    people: FrequencySet
    of_class: IntArray
    """Per class of the release, which of the classes below it is part of."""

    rows: IntArray
    """How many rows each of them has."""

    fitting: IntArray
    """How many people of the list fit each of them."""

    last: IntArray
    """Somebody who fits: the position among the list's combinations; -1 if nobody does."""

    @classmethod
    def of(
        cls,
        people: FrequencySet,
        target: Target,
        ladders: Mapping[str, Ladder] | None = None,
        levels: Mapping[str, int] | None = None,
    ) -> Self:
        """Join a list with a release on the quasi-identifiers they share.

        Args:
            people: The list, in raw values. Columns that are no quasi-identifiers tell who it is.
            target: The release.
            ladders: The hierarchies that labels come from, for the list's values.
            levels: The level of each column that was published at one level.
        """
        shared = [name for name in target.quasi_identifiers if name in people.names]
        if not shared:
            raise ParameterError(
                "people",
                list(people.names),
                f"a list with some of {list(target.quasi_identifiers)}",
            )
        at = [target.quasi_identifiers.index(name) for name in shared]
        sizes = [len(target.columns[position].values) for position in at]
        merged = group([target.labels[position] for position in at], sizes)
        read = [
            reads(
                people.column(name),
                target.columns[position],
                (ladders or {}).get(name),
                (levels or {}).get(name),
            )
            for name, position in zip(shared, at, strict=True)
        ]
        codes = [people.codes_of(name) for name in shared]
        labels = [target.labels[position][merged.first] for position in at]
        fitting = np.zeros(merged.n, dtype=np.int64)
        last = np.full(merged.n, -1, dtype=np.int64)
        for start, fits in _joined(codes, labels, read, len(people), merged.n):
            fitting += people.rows[start : start + len(fits)] @ fits
            found = fits.any(axis=0)
            last[found] = start + len(fits) - 1 - np.argmax(fits[::-1, found], axis=0)
        rows = sums(merged.of_item, target.classes.rows, merged.n)
        return cls(people, merged.of_item, rows, fitting, last)

    @property
    def size(self) -> int:
        """How many people are on the list."""
        return self.people.total

    @property
    def hiding(self) -> IntArray:
        """Among how many each row is hidden: the people who fit it, or the rows that look like it.

        As many people as there are rows exist, so a list with fewer of them lacks some.
        """
        return np.maximum(self.fitting, self.rows)

    def who(self, merged: int) -> str | None:
        """Name the only one who fits; None if that is nobody or several."""
        if self.fitting[merged] != 1:
            return None
        codes = self.people.codes[:, self.last[merged]].tolist()
        values = [c.values[code] for c, code in zip(self.people.columns, codes, strict=True)]
        return ", ".join("(missing)" if value is None else text_of(value) for value in values)


def _joined(
    codes: list[np.ndarray], labels: list[np.ndarray], read: list[BoolArray], n: int, classes: int
) -> Iterator[tuple[int, BoolArray]]:
    """Tell for `[person, class]` whether they fit, some people at a time."""
    step = max(_AT_ONCE // max(classes, 1), 1)
    for start in range(0, n, step):
        part = slice(start, start + step)
        fits = np.ones((len(codes[0][part]), classes), dtype=np.bool_)
        for code, label, covers in zip(codes, labels, read, strict=True):
            fits &= covers[code[part]][:, label]
        yield start, fits
