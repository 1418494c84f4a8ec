"""Compare what was found with what was promised.

A promise of 1/3 cannot be written as a decimal and a logarithm is rounded, so two
figures that differ by no more than rounding count as equal: enough for "at least" and
"at most", not enough for "below".
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from sfumato.verifier.groups import Group, Groups
from sfumato.verifier.promises import Promise

Number = int | float | Fraction
_FORGIVEN = 1e-9
"""What rounding may do, in whatever order the makers add up."""

_EXACT = 1e-12
"""What rounding may do here, where counts are whole numbers until the last step."""


def same(one: Number, other: Number, tolerance: float = _FORGIVEN) -> bool:
    """Tell whether two figures differ by rounding only.

    >>> same(Fraction(1, 3), 0.3333333333333333), same(0.1, 0.2)
    (True, False)
    """
    return math.isclose(float(one), float(other), rel_tol=tolerance, abs_tol=tolerance)


def at_least(found: Number, promised: Number) -> bool:
    """`found >= promised`, rounding forgiven."""
    return found >= promised or same(found, promised)


def at_most(found: Number, promised: Number) -> bool:
    """`found <= promised`, rounding forgiven."""
    return found <= promised or same(found, promised)


def below(found: Number, promised: Number) -> bool:
    """`found < promised`, and by more than rounding."""
    return found < promised and not same(found, promised, _EXACT)


@dataclass(frozen=True)
class Bound:
    """A figure of each group that must keep to one parameter of the model."""

    parameter: str
    figure: Callable[[Group], Number]
    keeps: Callable[[Number, Number], bool]

    @property
    def worst(self) -> Callable[..., Number]:
        """Which of several figures is the worst: the least or the greatest."""
        return min if self.keeps is at_least else max


@dataclass(frozen=True)
class Finding:
    """The strictest parameters the table keeps, and who is worst off if they do not do."""

    found: dict[str, Number]
    holds: bool
    worst: Group | None = None
    detail: str = ""


def judge_groups(promise: Promise, table: Groups, bounds: Sequence[Bound]) -> Finding:
    """Hold every group against every bound."""
    promised = {bound.parameter: promise.number(bound.parameter) for bound in bounds}
    if not table.groups:
        return Finding(dict(promised), holds=True)
    found: dict[str, Number] = {}
    failing: dict[int, Group] = {}
    worst: Group | None = None
    for bound in bounds:
        limit = promised[bound.parameter]
        figures = [bound.figure(group) for group in table.groups]
        extreme = bound.worst(figures)
        found[bound.parameter] = extreme
        if not bound.keeps(extreme, limit):
            worst = worst or table.groups[figures.index(extreme)]
            for position, figure in enumerate(figures):
                if not bound.keeps(figure, limit):
                    failing[position] = table.groups[position]
    if worst is None:
        return Finding(found, holds=True)
    rows = sum(group.own for group in failing.values())
    detail = f"fails in {len(failing)} of {len(table.groups)} classes ({rows} of {table.rows} rows)"
    return Finding(found, holds=False, worst=worst, detail=detail)


def judge_table(
    promise: Promise, table: Groups, parameter: str, figure: Callable[[], Number]
) -> Finding:
    """Hold a figure of the whole table, the smaller the better, against its bound."""
    limit = promise.number(parameter)
    found = figure() if table.groups else limit
    return Finding({parameter: found}, holds=at_most(found, limit))
