import numpy as np

from sfumato.typing import CodeArray, IntArray

VERSION: int

def group_items(
    codes: tuple[np.ndarray, ...],
    tables: tuple[IntArray, ...],
    width: int,
    rows: CodeArray,
    of_item: CodeArray,
    first: CodeArray,
    total: CodeArray,
    /,
) -> int: ...
def group_entries(
    of_item: CodeArray,
    groups: int,
    item: CodeArray,
    value: CodeArray,
    values: int,
    rows: CodeArray,
    group: CodeArray,
    new: CodeArray,
    total: CodeArray,
    /,
) -> int: ...
def add_up_chosen(
    of_item: CodeArray,
    chosen: np.ndarray,
    rows: CodeArray,
    codes: np.ndarray,
    sums: IntArray,
    /,
) -> None: ...
def sum_boxes(counts: np.ndarray, shape: tuple[int, ...], above: bool, /) -> None: ...
