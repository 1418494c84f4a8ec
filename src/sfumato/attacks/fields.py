"""Fields of codes: a number of a patient such as `AX-1970-0017` is a place, a year and a count."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple, Self

import numpy as np

from sfumato.attacks.in_step import points_of
from sfumato.counts import Column, FrequencySet
from sfumato.text import in_order, text_of

_FIELD = re.compile(r"\d+|[^\W\d_]+")

_MOST = 8
"""The most fields of a code; what has more is prose."""

_FEWEST = 8
"""Fewer different values hold no code of several fields."""

_LOOKED_AT = 60
"""The values of a column that show whether it holds codes."""

_NEARLY_ALL = 0.9

_LONG = 6
"""Digits from which on a field may be several, such as a day of birth: it is read in twos."""


class FieldsOfCodes(NamedTuple):
    """Where the fields of one column begin and end.

    Example:
        >>> column = Column("id", tuple(f"AX{70 + i}-{i % 3}" for i in range(9)))
        >>> fields = FieldsOfCodes.of(column)
        >>> fields.read(column)[1].values[:3], fields.read(column)[1].name
        (('70', '71', '72'), 'id, field 2')
        >>> FieldsOfCodes.of(Column("ill", ("flu", "gout", "acne"))) is None
        True
    """

    number: int
    """How many there are."""

    digits: tuple[int, ...]
    """For each, how many digits all of it have; 0 if it is no number, or of no fixed length."""

    @classmethod
    def of(cls, column: Column) -> Self | None:
        """Find the fields of a column; None if it does not hold codes of one form."""
        texts = [value for value in column.values if isinstance(value, str)]
        if len(texts) < _FEWEST or len(texts) < _NEARLY_ALL * len(column.known):
            return None
        found = [_FIELD.findall(text) for text in texts[:: len(texts) // _LOOKED_AT + 1]]
        number, most = Counter(map(len, found)).most_common(1)[0]
        if most < _NEARLY_ALL * len(found) or not 0 < number <= _MOST:
            return None
        alike = [each for each in found if len(each) == number]
        widths = [
            {len(text) if text.isdigit() else 0 for text in each}
            for each in zip(*alike, strict=True)
        ]
        digits = tuple(each.pop() if len(each) == 1 else 0 for each in widths)
        if number == 1 and digits[0] < _LONG:
            return None
        return cls(number, digits)

    def read(self, column: Column) -> list[Column]:
        """Return the fields as columns, of which each value is at the code of the whole one."""
        none: list[str] = []
        found = [
            fields if len(fields) == self.number else none
            for fields in (_FIELD.findall(text_of(value)) for value in column.values)
        ]
        read = []
        for at, width in enumerate(self.digits):
            texts = [fields[at] if fields else None for fields in found]
            if self.number > 1:
                read.append(_in_line(texts) if width == 2 else texts)
            if width >= _LONG:
                twos = range(0, width - 1, 2)
                read += [_in_line([text and text[i : i + 2] for text in texts]) for i in twos]
        return [
            Column(f"{column.name}, field {at}", tuple(texts)) for at, texts in enumerate(read, 1)
        ]


def _in_line(texts: list[str | None]) -> list[str | None]:
    """Return numbers of two digits, of which those after the widest gap come before the others.

    They may be of years: whoever was born in 98 is older than who was born in 04.

    >>> _in_line(["98", "04", None, "99"])
    ['98', '104', None, '99']
    """
    there = sorted({int(text) for text in texts if text})
    if not there:
        return texts
    gaps = zip(there, [there[-1] - 100, *there], strict=False)
    first = max(gaps, key=lambda pair: pair[0] - pair[1])[0]
    return [str(int(t) + 100) if t and int(t) < first else t for t in texts]


def with_fields(
    counts: FrequencySet, fields: Mapping[str, FieldsOfCodes]
) -> tuple[FrequencySet, dict[str, str]]:
    """Return counts with the fields of some columns as further columns, and whose each is."""
    columns, codes, owner = list(counts.columns), [counts.codes], {}
    for name, each in fields.items():
        for field in each.read(counts.column(name)):
            values = in_order({*field.values, None})
            if len(values) < 3 or field.name in counts.names:
                continue
            number = {value: i for i, value in enumerate(values)}
            of_value = np.array([number[value] for value in field.values], dtype=np.int32)
            columns.append(Column(field.name, tuple(values)))
            codes.append(of_value[counts.codes_of(name)].reshape(1, -1))
            owner[field.name] = name
    if not owner:
        return counts, owner
    return FrequencySet(tuple(columns), np.concatenate(codes), counts.rows), owner


def fields_of(counts: FrequencySet, names: Sequence[str]) -> dict[str, FieldsOfCodes]:
    """Return the columns that hold codes, with their fields."""
    found = {}
    for name in names:
        column = counts.column(name)
        fields = FieldsOfCodes.of(column)
        # What is read as a number or a day needs no taking apart, unless it may be another day.
        few = np.arange(min(len(column.values), _LOOKED_AT))
        if fields is not None and (all(fields.digits) or points_of(column, few) is None):
            found[name] = fields
    return found
