"""The inner loops of searches: compiled where they could be, else in NumPy.

`_kernel.c` is compiled when the package is built, if there is a compiler; without one the build
succeeds all the same. Both give the same numbers, bit for bit: the functions here whose names begin
with `numpy_` are what the compiled ones are tested against. Neither works on arrays that cannot be
right: a code outside its table is an `IndexError`, a sum that does not fit its array an
`OverflowError`. The variable `SFUMATO_KERNEL=off` leaves the compiled ones out.
"""

import os
from collections.abc import Sequence
from importlib import import_module
from types import ModuleType

import numpy as np

from sfumato.counts import Groups, add_up, group_keys, sums
from sfumato.typing import BoolArray, FloatArray, IntArray

_VERSION = 5
"""What `_kernel.c` says of itself; one that was compiled from an older source is left alone."""


def _load() -> ModuleType | None:
    if os.environ.get("SFUMATO_KERNEL") == "off":
        return None
    try:
        kernel = import_module("sfumato.search._kernel")
    except ImportError:
        return None
    return kernel if getattr(kernel, "VERSION", 0) == _VERSION else None


COMPILED = _load()
"""The compiled loops; None if there are none."""

_MOST_ITEMS = 2**31 - 1
"""The compiled loops number items with 32 bits."""

_MOST_KEYS = 2**63
"""Keys have 64 bits, and none is below 0."""

Items = tuple[np.ndarray, np.ndarray, np.ndarray]
"""The group of each item, an item of each group, and the rows of each group."""

EntriesOf = tuple[np.ndarray, np.ndarray, np.ndarray]
"""Group, value and rows of each entry."""


def group_items(
    codes: Sequence[np.ndarray], tables: Sequence[IntArray], width: int, rows: np.ndarray
) -> Items:
    """Group items by the sum of what tables say of their codes, in the order of these keys.

    Args:
        codes: Arrays with a code of each item, of 16 or 32 bits.
        tables: For each of them, what a code adds to the key.
        width: All keys are below this.
        rows: The rows of each item: of 32 bits, or 64 if all of them together need that.

    >>> [a.tolist() for a in group_items(
    ...     [np.array([1, 0, 1], "i4")], [np.array([3, 7])], 9, np.array([1, 5, 2], "i4")
    ... )]
    [[1, 0, 1], [1, 0], [5, 3]]
    """
    n = len(rows)
    if COMPILED is None or n > _MOST_ITEMS or rows.dtype != np.int32:
        return numpy_group_items(codes, tables, width, rows)
    of_item, first, total = (np.empty(n, dtype=np.int32) for _ in range(3))
    found = COMPILED.group_items(tuple(codes), tuple(tables), width, rows, of_item, first, total)
    # Copies: a view would keep all of an array that is mostly empty.
    return of_item, first[:found].copy(), total[:found].copy()


def numpy_group_items(
    codes: Sequence[np.ndarray], tables: Sequence[IntArray], width: int, rows: np.ndarray
) -> Items:
    """Group items as `group_items` does."""
    key = np.zeros(len(rows), dtype=np.int64)
    for code, table in zip(codes, tables, strict=True):
        _check_range("codes", code, len(table))
        key += table[code]
        # A key that gets too large wraps, and is then below 0.
        _check_range("keys", key, _MOST_KEYS)
    _check_range("keys", key, width)
    return narrow_groups(group_keys(key, width), rows)


def _check_range(name: str, found: np.ndarray, bound: int) -> None:
    """Raise if an index is outside a table: NumPy would count one below 0 from the end."""
    for worst in (found.min(), found.max()) if len(found) else ():
        if not 0 <= worst < bound:
            msg = f"{name}: {worst} is not from 0 to below {bound}"
            raise IndexError(msg)


def narrow_groups(groups: Groups, rows: np.ndarray) -> Items:
    """Return groups with the sums of their rows, in 32 bits where these are enough."""
    numbers = np.int32 if len(rows) <= _MOST_ITEMS else np.int64
    total = _narrow(sums(groups.of_item, rows, groups.n), rows.dtype)
    return groups.of_item.astype(numbers), groups.first.astype(numbers), total


def _narrow(total: IntArray, numbers: np.dtype) -> np.ndarray:
    """Return sums in as many bits as what was added up had."""
    if len(total) and not np.can_cast(total.dtype, numbers):
        bounds = np.iinfo(numbers)
        if total.min() < 0 or total.max() > bounds.max:
            msg = f"rows: a sum is below 0, or has more than {bounds.bits} bits"
            raise OverflowError(msg)
    return total.astype(numbers, copy=False)


def group_entries(
    of_item: np.ndarray,
    groups: int,
    entries: tuple[np.ndarray, np.ndarray, np.ndarray],
    values: int,
) -> EntriesOf:
    """Add up the entries of items that are in one group and have one value.

    Args:
        of_item: The group of each item.
        groups: How many there are; none is empty.
        entries: Item, value and rows of each entry, in the order of items.
        values: All values are below this.

    >>> entries = np.array([0, 1, 1], "i4"), np.array([2, 0, 2], "i4"), np.array([5, 1, 1], "i4")
    >>> [a.tolist() for a in group_entries(np.array([0, 0], "i4"), 1, entries, 3)]
    [[0, 0], [0, 2], [1, 6]]
    """
    narrow = all(array.dtype == np.int32 for array in (of_item, *entries))
    if COMPILED is None or len(entries[0]) > _MOST_ITEMS or not narrow:
        return numpy_group_entries(of_item, groups, entries, values)
    item, value, rows = entries
    group, new, total = (np.empty(len(item), dtype=np.int32) for _ in range(3))
    found = COMPILED.group_entries(of_item, groups, item, value, values, rows, group, new, total)
    return group[:found].copy(), new[:found].copy(), total[:found].copy()


def numpy_group_entries(
    of_item: np.ndarray,
    groups: int,
    entries: tuple[np.ndarray, np.ndarray, np.ndarray],
    values: int,
) -> EntriesOf:
    """Add up entries as `group_entries` does."""
    item, value, rows = entries
    _check_range("items", item, len(of_item))
    _check_range("values", value, values)
    _check_range("groups", of_item[item], groups)
    key = of_item[item].astype(np.int64) * values + value
    found = group_keys(key, max(groups * values, 1))
    group, new = np.divmod(key[found.first], values)
    total = _narrow(sums(found.of_item, rows, found.n), rows.dtype)
    return group.astype(of_item.dtype), new.astype(value.dtype), total


def add_up_chosen(
    of_item: np.ndarray, chosen: BoolArray, rows: np.ndarray, codes: np.ndarray, size: int
) -> FloatArray:
    """Add up, by their codes, the rows of the items that are in chosen groups.

    Args:
        of_item: The group of each item.
        chosen: Whether each group is chosen.
        rows: The rows of each item.
        codes: The code of each item, of 16 or 32 bits.
        size: All codes are below this.

    >>> of_item, rows, codes = (np.array(each, "i4") for each in ([0, 1, 0], [5, 1, 2], [1, 1, 0]))
    >>> add_up_chosen(of_item, np.array([True, False]), rows, codes, 2).tolist()
    [2.0, 5.0]
    """
    if COMPILED is None or of_item.dtype != np.int32 or rows.dtype != np.int32:
        return numpy_add_up_chosen(of_item, chosen, rows, codes, size)
    sums = np.zeros(size, dtype=np.int64)
    COMPILED.add_up_chosen(of_item, chosen.view(np.uint8), rows, codes, sums)
    return sums.astype(np.float64)


def numpy_add_up_chosen(
    of_item: np.ndarray, chosen: BoolArray, rows: np.ndarray, codes: np.ndarray, size: int
) -> FloatArray:
    """Add up rows as `add_up_chosen` does."""
    _check_range("items", of_item, len(chosen))
    _check_range("codes", codes, size)
    return add_up(codes, rows * chosen[of_item].astype(np.float64), size)


def sum_boxes(counts: np.ndarray, shape: tuple[int, ...], *, above: bool) -> bool:
    """Return whether counts became the sums of all at or below each place, or above it.

    They are 32-bit floats, and are changed in place; without compiled loops they are not.
    """
    if COMPILED is None:
        return False
    COMPILED.sum_boxes(counts, shape, above)
    return True
