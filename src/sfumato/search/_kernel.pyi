import numpy as np

from sfumato.typing import IntArray

VERSION: int

def group_items(
    codes: tuple[IntArray, ...],
    tables: tuple[IntArray, ...],
    width: int,
    rows: IntArray,
    of_item: IntArray,
    first: IntArray,
    total: IntArray,
    /,
) -> int: ...
def group_entries(
    of_item: IntArray,
    groups: int,
    item: IntArray,
    value: IntArray,
    values: int,
    rows: IntArray,
    group: IntArray,
    new: IntArray,
    total: IntArray,
    first: IntArray,
    /,
) -> int: ...
def sum_boxes(counts: np.ndarray, shape: tuple[int, ...], above: bool, /) -> None: ...
