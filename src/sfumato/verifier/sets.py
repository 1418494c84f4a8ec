"""Sets of items as the verifier counts them: who shares the items of a row, class by class."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from itertools import chain, combinations
from math import comb

import pyarrow as pa

from sfumato.dataclasses import dataclass
from sfumato.errors import InputError, UnknownColumnError
from sfumato.text import format_integer, is_missing, text_of
from sfumato.verifier.counting import Countable, Source, normalise, python_values, readable

Key = tuple[object, ...]
Item = tuple[str, str]
"""A column and what stands there."""

_MOST_SETS = 10**9
"""With more sets of items than this it would take hours to count them."""


@dataclass(frozen=True)
class ItemsByClass:
    """The items of every row, by the class of the row.

    Example:
        >>> rows = [(("A",), [("x", "tea"), ("x", "ice")])] * 2 + [(("A",), [("x", "ice")])]
        >>> shared = ItemsByClass.of(rows)
        >>> shared.fewest(1), shared.fewest(2)
        ((2, (('A',), (('x', 'tea'),))), (2, (('A',), (('x', 'tea'),))))
    """

    classes: Mapping[Key, Sequence[Sequence[int]]]
    """Per class, the items of each row that has any, as numbers that rise."""

    items: tuple[Item, ...]
    """The item of each number."""

    untidy: int = 0
    """Cells whose items are not in order, or repeat, or have blanks: that can tell rows apart."""

    _known: dict[int, tuple[int, tuple[Key, tuple[Item, ...]]] | None] = field(
        default_factory=dict, repr=False, compare=False
    )

    @classmethod
    def of(cls, rows: Iterable[tuple[Key, Iterable[Item]]]) -> "ItemsByClass":
        """Collect the items of rows."""
        numbers: dict[Item, int] = {}
        classes: dict[Key, list[tuple[int, ...]]] = {}
        for key, items in rows:
            own = sorted({numbers.setdefault(item, len(numbers)) for item in items})
            if own:
                classes.setdefault(key, []).append(tuple(own))
        return cls(classes, tuple(numbers))

    def fewest(self, most: int) -> tuple[int, tuple[Key, tuple[Item, ...]]] | None:
        """Return the fewest rows of a class that share up to `most` items that one of them has.

        Returns:
            How many they are, and the class and the items; None if no row has an item.
        """
        if most not in self._known:
            self._known[most] = self._fewest(most)
        return self._known[most]

    def _fewest(self, most: int) -> tuple[int, tuple[Key, tuple[Item, ...]]] | None:
        self._require_few(most)
        worst: tuple[int, Key, tuple[int, ...]] | None = None
        for key, baskets in self.classes.items():
            for size in range(1, most + 1):
                # Counted in one go: a loop in Python would take ten times as long.
                found = Counter(chain.from_iterable(combinations(b, size) for b in baskets))
                if not found:
                    break
                items = min(found, key=found.__getitem__)
                if worst is None or found[items] < worst[0]:
                    worst = found[items], key, items
        if worst is None:
            return None
        rows, key, items = worst
        return rows, (key, tuple(self.items[item] for item in items))

    def _require_few(self, most: int) -> None:
        sizes = Counter(len(basket) for baskets in self.classes.values() for basket in baskets)
        sets = 0
        for size, rows in sizes.items():
            for chosen in range(1, min(most, size) + 1):
                sets += rows * comb(size, chosen)
                if sets > _MOST_SETS:
                    raise InputError(
                        f"there are more than {format_integer(_MOST_SETS)} sets of up to {most} "
                        "items: too many "
                        "to count"
                    )


def collect_sets(
    source: Countable, quasi_identifiers: Sequence[str], sets: Mapping[str, str | None]
) -> ItemsByClass:
    """Read the items of a table.

    Args:
        source: The table.
        quasi_identifiers: The columns that make up the classes.
        sets: Per column of items, what stands between two of them in a cell of text.
    """
    if not isinstance(source, Source):
        raise InputError("items are not counted in a database")
    for name in (*quasi_identifiers, *sets):
        if name not in source.names:
            raise UnknownColumnError(name, source.names)
    untidy = [0]
    with readable("the table"):
        found = ItemsByClass.of(_rows(source, quasi_identifiers, sets, untidy))
    return replace(found, untidy=untidy[0])


def _rows(
    source: Source,
    quasi_identifiers: Sequence[str],
    sets: Mapping[str, str | None],
    untidy: list[int],
) -> Iterator[tuple[Key, list[Item]]]:
    wanted = list(dict.fromkeys((*quasi_identifiers, *sets)))
    for batch in source.batches(wanted):
        keys: Iterable[Key] = zip(
            *(_values(batch.column(name)) for name in quasi_identifiers), strict=True
        )
        if not quasi_identifiers:
            keys = [()] * batch.num_rows
        cells = [
            [
                [(name, item) for item in items]
                for items in _items(batch.column(name), separator, untidy)
            ]
            for name, separator in sets.items()
        ]
        for key, *several in zip(keys, *cells, strict=True):
            yield key, [item for items in several for item in items]


def _values(column: pa.Array) -> list[object]:
    return python_values(pa.chunked_array([normalise(column)]))


def _items(cells: pa.Array, separator: str | None, untidy: list[int]) -> Iterator[list[str]]:
    """Return the items of each cell, as texts without blanks around them, and count untidy cells.

    >>> untidy = [0]
    >>> list(_items(pa.array(["a; b", None]), ";", untidy)), untidy
    ([['a', 'b'], []], [1])
    >>> list(_items(pa.array([["a", None]]), None, untidy))
    [['a']]
    """
    for cell in cells.to_pylist():
        if is_missing(cell):
            yield []
            continue
        if isinstance(cell, str):
            if separator is None:
                raise InputError("nothing says what stands between two items of a cell of text")
            several: Iterable[object] = cell.split(separator)
        elif isinstance(cell, list):
            several = cell
        else:
            raise InputError("a column of items holds single values")
        texts = [text_of(item) for item in several if not is_missing(item)]
        found = [text for text in map(str.strip, texts) if text]
        # As it is published: each item once, in order; an empty set is a missing cell.
        untidy[0] += not texts or found != sorted(set(texts))
        yield found
