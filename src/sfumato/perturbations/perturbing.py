"""Columns of a table as they are after their perturbations, rows by rows."""

from collections.abc import Mapping, Sequence

import numpy as np

from sfumato.counts import Column, group
from sfumato.perturbations.base import ColumnCells, Perturbation
from sfumato.typing import BoolArray, IntArray


def perturb_cells(
    cells: Mapping[str, ColumnCells],
    rules: Mapping[str, Sequence[Perturbation]],
    rng: np.random.Generator,
    person: IntArray | None = None,
    kept: BoolArray | None = None,
) -> dict[str, ColumnCells]:
    """Return the columns that are perturbed, as they are published.

    Args:
        cells: The columns, those that are perturbed and those that exchanges stay within.
        rules: What is done with each column, one after the other; what is done with several
            columns together comes last.
        rng: Where chance comes from.
        person: Whose row each is, where people have several. A value that a person has again
            becomes the same again, so that several rows tell no more than one.
        kept: Which rows are published; None for all. The others are missing in what is returned,
            and nothing depends on their values: no limit, no spread, no exchange.

    Example:
        >>> from sfumato.counts import Column
        >>> from sfumato.perturbations import Rounding, TopCoding
        >>> pay = ColumnCells(Column("pay", (12, 48, 99)), np.array([2, 0, 1]))
        >>> rules = {"pay": (TopCoding(above=60), Rounding(step=10))}
        >>> found = perturb_cells({"pay": pay}, rules, np.random.default_rng())["pay"]
        >>> [found.column.values[code] for code in found.codes]
        [60, 10, 50]
    """
    if kept is not None:
        cells = {name: _only(each, kept) for name, each in cells.items()}
    found = {name: cells[name] for name in rules}
    together: dict[object, tuple[Perturbation, list[str]]] = {}
    for name, chain in rules.items():
        for member in chain:
            if member.joint:
                # Columns with the same settings are changed together, after what each has before.
                together.setdefault(repr(member), (member, []))[1].append(name)
            else:
                levels = _levels(member, cells, kept)
                [found[name]] = _change(member, [found[name]], levels, rng, person)
    for member, names in together.values():
        given = [found[name] for name in names]
        changed = _change(member, given, _levels(member, cells, kept), rng, person)
        found |= dict(zip(names, changed, strict=True))
    return found


def _only(cells: ColumnCells, kept: BoolArray) -> ColumnCells:
    """Return a column in which rows that are not published are missing."""
    used = np.unique(cells.codes[kept & cells.known])
    number = np.full(len(cells.column.values), len(used), dtype=np.int64)
    number[used] = np.arange(len(used))
    codes = np.where(kept, number[cells.codes], len(used))
    values = tuple(cells.column.values[code] for code in used.tolist())
    missing = () if (codes < len(used)).all() else (None,)
    return ColumnCells(Column(cells.column.name, (*values, *missing)), codes)


def _levels(
    member: Perturbation, cells: Mapping[str, ColumnCells], kept: BoolArray | None
) -> IntArray | None:
    """Return the group of rows that each row may exchange with, by true values."""
    within = [cells[name] for name in member.within]
    if not within and kept is None:
        return None
    codes = [each.codes for each in within]
    sizes = [len(each.column.values) for each in within]
    if kept is not None:
        # A row that is not published is alone.
        codes.append(np.where(kept, 0, np.cumsum(~kept)))
        sizes.append(int(np.count_nonzero(~kept)) + 1)
    return group(codes, sizes).of_item


def _change(
    member: Perturbation,
    given: Sequence[ColumnCells],
    levels: IntArray | None,
    rng: np.random.Generator,
    person: IntArray | None,
) -> list[ColumnCells]:
    if person is None or not member.random or member.rearranges:
        return member.change(given, levels, rng)
    codes = [person, *(each.codes for each in given)]
    sizes = [int(person.max(initial=-1)) + 1, *(len(each.column.values) for each in given)]
    once = group(codes, sizes)
    first = [ColumnCells(each.column, each.codes[once.first]) for each in given]
    drawn = member.change(first, None, rng)
    return [ColumnCells(each.column, each.codes[once.of_item]) for each in drawn]
