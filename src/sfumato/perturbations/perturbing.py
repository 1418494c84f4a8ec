"""Columns of a table as they are after their perturbations, rows by rows."""

from collections.abc import Mapping, Sequence

import numpy as np

from sfumato.counts import group
from sfumato.perturbations.base import Cells, Perturbation
from sfumato.typing import IntArray


def perturb_cells(
    cells: Mapping[str, Cells],
    rules: Mapping[str, Sequence[Perturbation]],
    rng: np.random.Generator,
    person: IntArray | None = None,
) -> dict[str, Cells]:
    """Return the columns that are perturbed, as they are published.

    Args:
        cells: The columns, those that are perturbed and those that exchanges stay within.
        rules: What is done with each column, one after the other; what is done with several
            columns together comes last.
        rng: Where chance comes from.
        person: Whose row each is, where people have several. A value that a person has again
            becomes the same again, so that several rows tell no more than one.

    Example:
        >>> from sfumato.counts import Column
        >>> from sfumato.perturbations import Rounding, TopCoding
        >>> pay = Cells(Column("pay", (12, 48, 99)), np.array([2, 0, 1]))
        >>> rules = {"pay": (TopCoding(above=60), Rounding(step=10))}
        >>> found = perturb_cells({"pay": pay}, rules, np.random.default_rng())["pay"]
        >>> [found.column.values[code] for code in found.codes]
        [60, 10, 50]
    """
    found = {name: cells[name] for name in rules}
    together: dict[object, tuple[Perturbation, list[str]]] = {}
    for name, chain in rules.items():
        for member in chain:
            if member.joint:
                # Columns with the same settings are changed together, after what each has before.
                together.setdefault(repr(member), (member, []))[1].append(name)
            else:
                [found[name]] = _change(member, [found[name]], _levels(member, cells), rng, person)
    for member, names in together.values():
        given = [found[name] for name in names]
        changed = _change(member, given, _levels(member, cells), rng, person)
        found |= dict(zip(names, changed, strict=True))
    return found


def _levels(member: Perturbation, cells: Mapping[str, Cells]) -> IntArray | None:
    """Return the group of rows that each row may exchange with, by true values."""
    if not member.within:
        return None
    within = [cells[name] for name in member.within]
    return group([c.codes for c in within], [len(c.column.values) for c in within]).of_item


def _change(
    member: Perturbation,
    given: Sequence[Cells],
    levels: IntArray | None,
    rng: np.random.Generator,
    person: IntArray | None,
) -> list[Cells]:
    if person is None or not member.random or member.rearranges:
        return member.change(given, levels, rng)
    codes = [person, *(each.codes for each in given)]
    sizes = [int(person.max(initial=-1)) + 1, *(len(each.column.values) for each in given)]
    once = group(codes, sizes)
    first = [Cells(each.column, each.codes[once.first]) for each in given]
    drawn = member.change(first, None, rng)
    return [Cells(each.column, each.codes[once.of_item]) for each in drawn]
