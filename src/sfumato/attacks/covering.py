"""Matching classes whose labels cover values: a value may have become several labels."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Self

import numpy as np

from sfumato.counts import Column, FrequencySet
from sfumato.errors import ParameterError
from sfumato.hierarchy import Ladder
from sfumato.text import text_of
from sfumato.typing import BoolArray, CodeArray, IntArray, Value

Covers = Mapping[str | None, Collection[str | None]]
"""Per label, the raw texts it stands for."""

_AT_ONCE = 1 << 24
"""Pairs of a row and a class that are looked at together."""


@dataclass(frozen=True, eq=False)
class Covered:
    """Classes of a locally recoded release: a row matches all whose labels cover its values.

    Where every value became one label, `Groups` finds the same and is faster: here each row is
    held against each class.

    Example:
        >>> people = FrequencySet.from_rows(["zip"], [("13053",), ("13068",)])
        >>> published = FrequencySet.from_rows(["zip"], [("130**",), ("13053",)])
        >>> covers = {"zip": {"130**": ["13053", "13068"]}}
        >>> Covered.of(people, published, covers).matches(people.codes).tolist()
        [2, 1]
    """

    columns: tuple[Column, ...]
    labels: CodeArray
    """`labels[column, class]`: the published code."""

    covers: tuple[BoolArray, ...]
    """Per column, whether `[value, label]` belong together."""

    @classmethod
    def of(cls, people: FrequencySet, table: FrequencySet, covers: Mapping[str, Covers]) -> Self:
        """Read classes from the published table, counted.

        Args:
            people: Whose dictionaries the rows are written in.
            table: The same columns as published; every combination is a class.
            covers: Per column, what its labels stand for. A label that is not named stands
                for the value that is written like it.
        """
        if set(table.names) != set(people.names):
            raise ParameterError(
                "table", list(table.names), f"a table of the columns {list(people.names)}"
            )
        classes = table.project(people.names)
        found = [
            _covers(raw, published, covers.get(raw.name, {}))
            for raw, published in zip(people.columns, classes.columns, strict=True)
        ]
        return cls(people.columns, classes.codes, tuple(found))

    def matches(self, codes: CodeArray) -> IntArray:
        """Give the number of classes each row matches."""
        n, classes = codes.shape[1], self.labels.shape[1]
        step = max(_AT_ONCE // max(classes, 1), 1)
        found = np.zeros(n, dtype=np.int64)
        for start in range(0, n, step):
            rows = codes[:, start : start + step]
            good = np.ones((rows.shape[1], classes), dtype=np.bool_)
            for cover, value, label in zip(self.covers, rows, self.labels, strict=True):
                good &= cover[value][:, label]
            found[start : start + step] = good.sum(axis=1)
        return found


def covers_of(ladder: Ladder) -> Covers:
    """Say what the labels of a hierarchy stand for, on all its levels.

    >>> from sfumato.hierarchy import Hierarchy
    >>> ladder = Hierarchy.from_paths(["a", "b"], [["*"], ["*"]]).bind("letter", ["a", "b"])
    >>> {label: sorted(raw) for label, raw in covers_of(ladder).items()}
    {'a': ['a'], 'b': ['b'], '*': ['a', 'b']}
    """
    found: dict[str | None, set[str | None]] = {}
    texts = [_text(value) for value in ladder.values]
    for codes, labels in zip(ladder.codes, ladder.labels, strict=True):
        for text, code in zip(texts, codes.tolist(), strict=True):
            found.setdefault(_text(labels[code]), set()).add(text)
    return found


def _covers(raw: Column, published: Column, covers: Covers) -> BoolArray:
    at = {_text(value): code for code, value in enumerate(raw.values)}
    found = np.zeros((len(raw.values), len(published.values)), dtype=np.bool_)
    for label, value in enumerate(published.values):
        text = _text(value)
        under = covers.get(text, [text])
        found[[at[each] for each in under if each in at], label] = True
    return found


def _text(value: Value) -> str | None:
    return None if value is None else text_of(value)
