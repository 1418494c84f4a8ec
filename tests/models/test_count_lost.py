"""What a class loses however it is split: never more than the best of all ways to lose rows."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.classes import EquivalenceClasses, ValueCounts
from sfumato.hierarchy import Hierarchy
from sfumato.models import MODELS, TCloseness
from sfumato.models.base import TableModel
from tests.builders import classes_of

CLOSED = [
    name
    for name, kind in MODELS.items()
    if kind.example().merging.closed
    and not kind.example().merging.absorbing
    and not issubclass(kind, TableModel)
    and not kind.example().needs_population
    and not kind.example().needs_hierarchy
]
VALUES = ("cancer", "flu", "gout", "hiv")
NUMBERS = (1, 2, 4, 9)


def a_class(rows: tuple[int, ...], rest: tuple[int, ...], values) -> EquivalenceClasses:
    """Return a class with so many rows of each value, compared with itself and the rest."""
    cells = [("A", v) for v, n in zip(values, rows, strict=True) for _ in range(n)]
    cells += [("B", v) for v, n in zip(values, rest, strict=True) for _ in range(n)]
    return classes_of(cells, column="disease")


def parts(
    classes: EquivalenceClasses, gone: tuple[int, ...], others: np.ndarray | None
) -> EquivalenceClasses:
    """Return the first class without some rows.

    With `others`, what it is compared with has lost them too, and some rows of the other class.
    """
    counts = classes.counts_of("disease")
    mine = counts.class_id == 0
    left = counts.rows[mine] - np.array(gone)
    some = left > 0
    reference = counts.reference.copy()
    if others is not None:
        reference[counts.value[mine]] -= np.array(gone)
        reference[counts.value[~mine]] -= others
    kept = ValueCounts(
        counts.column, np.zeros(int(some.sum()), dtype=np.int64),
        counts.value[mine][some], left[some], reference,
    )  # fmt: skip
    return EquivalenceClasses(np.array([left.sum()]), {"disease": kept})


def with_tree(classes: EquivalenceClasses) -> EquivalenceClasses:
    """Return classes of illnesses with the hierarchy of these."""
    counts = classes.counts_of("disease")
    paths = [["a", "x", "*"], ["b", "x", "*"], ["b", "x", "*"], ["c", "y", "*"]]
    tree = Hierarchy.from_paths(VALUES, paths).bind("disease", counts.column.values)
    counted = replace(counts, column=replace(counts.column, ladder=tree))
    return replace(classes, sensitive={"disease": counted})


few = st.tuples(*[st.integers(0, 4)] * 4).filter(any)


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("name", CLOSED)
@pytest.mark.parametrize("moves", [False, True])
@settings(deadline=None)
@given(rows=few, other=few, data=st.data())
def test_no_way_to_lose_rows_loses_fewer(name, moves, rows, other, data):
    model = MODELS[name].example()
    if name == "t-closeness":
        distance = data.draw(st.sampled_from(["equal", "ordered", "hierarchical"]))
        model = TCloseness(
            "disease", t=data.draw(st.sampled_from([0.05, 0.2, 0.5])), distance=distance
        )
    values = NUMBERS if model.needs_numbers else VALUES
    classes = a_class(rows, other, values)
    if name == "t-closeness" and distance == "hierarchical":
        classes = with_tree(classes)
    counts = classes.counts_of("disease")
    mine, rest = counts.rows[counts.class_id == 0], counts.rows[counts.class_id == 1]
    others = None
    if moves:
        others = np.array([data.draw(st.integers(0, n)) for n in rest.tolist()], dtype=np.int64)
    ways = [
        sum(gone)
        for gone in product(*(range(n + 1) for n in mine.tolist()))
        if sum(gone) == mine.sum() or model.passes(parts(classes, gone, others))[0]
    ]
    # As many rows as leave the table, of both classes, may leave it.
    most = 0 if others is None else int(mine.sum() + others.sum())
    claimed = int(model.count_lost(classes, most)[0])
    assert claimed <= min(ways)
    if not moves and not model.passes(replace(classes))[0]:
        assert claimed > 0
