"""Summing a product of arrays over some of their variables, one variable at a time."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from string import ascii_letters

import numpy as np

from sfumato.bayes.factors import Factor, Scope


@dataclass(frozen=True)
class Plan:
    """In which order to sum variables out, and what the widest step needs."""

    order: Scope
    widest: Scope
    """The variables of the step with the largest product."""

    cells: int
    """The cells of that product."""


def plan(scopes: Iterable[Scope], sizes: Mapping[int, int], keep: Collection[int] = ()) -> Plan:
    """Choose an order: always the variable whose step has the smallest product (min-weight).

    Args:
        scopes: The scopes of the factors.
        sizes: How many values each variable has.
        keep: The variables that are not summed out.

    >>> plan([(0, 1), (1, 2), (2,)], {0: 2, 1: 3, 2: 4}, keep=[0])
    Plan(order=(2, 1), widest=(1, 2), cells=12)
    """
    near = _neighbours(scopes)
    weight = {v: sizes[v] * prod(sizes[u] for u in near[v]) for v in near if v not in keep}
    steps: list[tuple[int, Scope]] = [(prod(sizes[v] for v in keep), tuple(keep))]
    order: list[int] = []
    while weight:
        chosen = min(weight, key=lambda v: (weight[v], v))
        steps.append((weight.pop(chosen), tuple(sorted({chosen, *near[chosen]}))))
        order.append(chosen)
        around = near.pop(chosen)
        for v in around:
            near[v] = (near[v] | around) - {v, chosen}
            if v in weight:
                weight[v] = sizes[v] * prod(sizes[u] for u in near[v])
    cells, widest = max(steps)
    return Plan(tuple(order), widest, cells)


def _neighbours(scopes: Iterable[Scope]) -> dict[int, set[int]]:
    near: dict[int, set[int]] = {}
    for scope in scopes:
        for v in scope:
            near.setdefault(v, set()).update(scope)
    for v, around in near.items():
        around.discard(v)
    return near


def eliminate(factors: Iterable[Factor], order: Iterable[int]) -> Factor:
    """Multiply the factors and sum the variables out, up to a constant.

    The constant keeps the largest number at 1: the probability of a lot of evidence may
    be too small for a float, though what follows from it is not.

    >>> f = Factor((0, 1), np.array([[0.2, 0.8], [0.5, 0.5]]))
    >>> eliminate([f, Factor((0,), np.array([0.5, 0.5]))], [0]).values.round(3).tolist()
    [0.538, 1.0]
    """
    left = list(factors)
    for variable in order:
        touching = [factor for factor in left if variable in factor.scope]
        left = [factor for factor in left if variable not in factor.scope]
        left.append(_product(touching, without=variable))
    return _product(left)


def _product(factors: Sequence[Factor], without: int | None = None) -> Factor:
    # The small ones first: the products stay small for longer.
    first, *others = sorted(factors, key=lambda factor: factor.values.size)
    for other in others[:-1]:
        first = _times(first, other, without=None)
    last = others[-1] if others else Factor((), np.array(1.0))
    return _times(first, last, without=without)


def _times(one: Factor, other: Factor, *, without: int | None) -> Factor:
    union = dict.fromkeys((*one.scope, *other.scope))
    # einsum has only 52 letters for axes, so they are dealt out anew for each product.
    letter = dict(zip(union, ascii_letters, strict=False))
    scope = tuple(variable for variable in union if variable != without)
    first, second, result = (
        "".join(letter[v] for v in axes) for axes in (one.scope, other.scope, scope)
    )
    values = np.einsum(f"{first},{second}->{result}", one.values, other.values)
    return _scaled(Factor(scope, np.asarray(values)))


def _scaled(factor: Factor) -> Factor:
    largest = factor.values.max()
    return Factor(factor.scope, factor.values / largest) if largest > 0 else factor
