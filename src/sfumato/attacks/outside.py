"""A list of people from elsewhere, held against the classes of a release."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np

from sfumato.attacks.target import Target
from sfumato.counts import FrequencySet, group, sums
from sfumato.errors import ParameterError
from sfumato.hierarchy import Ladder
from sfumato.hierarchy.labels import codes_read
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
    kinds: FrequencySet
    """The same people, by what they share with the release alone."""

    of_class: IntArray
    """Per class of the release, which of the classes below it is part of."""

    rows: IntArray
    """How many rows each of them has."""

    fitting: IntArray
    """How many people of the list fit each of them."""

    last: IntArray
    """Somebody who fits: the position among the kinds; -1 if nobody does."""

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
            _Labels.of(
                len(people.column(name).values),
                codes_read(
                    people.column(name),
                    target.columns[position],
                    (ladders or {}).get(name),
                    (levels or {}).get(name),
                    # What a release does not say of somebody may be anything.
                    matches_any=True,
                ),
            )
            for name, position in zip(shared, at, strict=True)
        ]
        kinds = people.project(shared)
        labels = [target.labels[position][merged.first] for position in at]
        fitting = np.zeros(merged.n, dtype=np.int64)
        last = np.full(merged.n, -1, dtype=np.int64)
        for kind, fits in _joined(list(kinds.codes), labels, read, merged.n):
            fitting += sums(fits, kinds.rows[kind], merged.n)
            last[fits] = kind
        rows = sums(merged.of_item, target.classes.rows, merged.n)
        return cls(people, kinds, merged.of_item, rows, fitting, last)

    @property
    def size(self) -> int:
        """How many people are on the list."""
        return self.people.total

    def who(self, merged: int) -> str | None:
        """Name the only one who fits; None if that is nobody or several."""
        if self.fitting[merged] != 1:
            return None
        same = np.ones(len(self.people), dtype=np.bool_)
        for column, code in zip(self.kinds.columns, self.kinds.codes, strict=True):
            same &= self.people.codes_of(column.name) == code[self.last[merged]]
        codes = self.people.codes[:, np.flatnonzero(same)[0]].tolist()
        values = [c.values[code] for c, code in zip(self.people.columns, codes, strict=True)]
        return ", ".join("(missing)" if value is None else text_of(value) for value in values)


class _Labels(NamedTuple):
    """The labels that each value of a column may have become, value after value."""

    starts: IntArray
    """Where the labels of each value begin; one entry more at the end."""

    label: IntArray
    n: int
    """How many labels there are."""

    @classmethod
    def of(cls, values: int, codes: Sequence[IntArray]) -> Self:
        value = np.concatenate([np.zeros(0, dtype=np.int64), *codes])
        label = np.repeat(np.arange(len(codes)), [len(each) for each in codes])
        order = np.argsort(value, kind="stable")
        starts = np.searchsorted(value[order], np.arange(values + 1))
        return cls(starts, label[order], len(codes))

    @property
    def only(self) -> IntArray | None:
        """The one label of each value, -1 for none; None if some value has several."""
        number = np.diff(self.starts)
        if number.max(initial=0) > 1:
            return None
        found = np.full(len(number), -1, dtype=np.int64)
        found[number == 1] = self.label
        return found

    def fits(self, codes: np.ndarray) -> BoolArray:
        """Tell for some values which labels each may have become."""
        first, number = self.starts[codes], np.diff(self.starts)[codes]
        at = np.repeat(np.arange(len(codes)), number)
        offset = np.arange(len(at)) - np.repeat(np.cumsum(number) - number, number)
        found = np.zeros((len(codes), self.n), dtype=np.bool_)
        found[at, self.label[np.repeat(first, number) + offset]] = True
        return found


def _joined(
    codes: list[np.ndarray], labels: list[np.ndarray], read: list[_Labels], classes: int
) -> Iterator[tuple[IntArray, IntArray]]:
    """List which people fit which classes, as pairs, some people at a time."""
    if not classes:
        return
    only = [each.only for each in read]
    if all(each is not None for each in only):
        sizes = [each.n for each in read]
        yield _looked_up(codes, labels, [each for each in only if each is not None], sizes, classes)
        return
    n = len(codes[0])
    step = max(_AT_ONCE // max(classes, *(each.n for each in read)), 1)
    for start in range(0, n, step):
        part = slice(start, start + step)
        fits = np.ones((len(codes[0][part]), classes), dtype=np.bool_)
        for code, label, covers in zip(codes, labels, read, strict=True):
            fits &= covers.fits(code[part])[:, label]
        person, fitting = np.nonzero(fits)
        yield person + start, fitting


def _looked_up(
    codes: list[np.ndarray],
    labels: list[np.ndarray],
    only: list[IntArray],
    sizes: list[int],
    classes: int,
) -> tuple[IntArray, IntArray]:
    """Find the one class of each person, where every value has become one label at most."""
    # A value that no label stands for is a code more, which no class has.
    both = [
        np.concatenate([label + 1, became[code] + 1])
        for code, label, became in zip(codes, labels, only, strict=True)
    ]
    found = group(both, [size + 1 for size in sizes])
    number = np.full(found.n, -1, dtype=np.int64)
    number[found.of_item[:classes]] = np.arange(classes)
    of_person = number[found.of_item[classes:]]
    person = np.flatnonzero(of_person >= 0)
    return person, of_person[person]
