"""Models that compare each class with the whole published table.

A missing value is one more value here: a class where the diagnosis is missing more
often than elsewhere tells something too.

With n rows in the class and N in the table, c and r rows of a value, p - q is
(cN - rn)/(nN): whole numbers until the last division, so nothing is rounded.
"""

import math
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction

from sfumato.errors import InputError, some
from sfumato.text import in_order, text_of
from sfumato.verifier.groups import Group, Groups
from sfumato.verifier.judging import Bound, Finding, Number, at_most, below, judge_groups
from sfumato.verifier.promises import Promise

Excess = dict[object, int]
"""For each value of the table (p - q) nN, how much more of it a class has, in whole numbers."""


def t_closeness(promise: Promise, table: Groups) -> Finding:
    """Need EMD(class, table) <= t."""
    column = promise.text("column")
    distance = promise.text("distance", "equal", "ordered", "hierarchical", default="equal")
    reference = table.reference_of(column)
    work: Callable[[Excess], Fraction]
    if distance == "equal":
        work = _equal
    elif distance == "ordered":
        order = in_order(reference)
        work = lambda excess: _ordered(excess, order)  # noqa: E731 - three shapes of one thing
    else:
        paths = _paths(table.hierarchies.get(column), reference, column)
        work = lambda excess: _hierarchical(excess, paths)  # noqa: E731

    def figure(group: Group) -> Number:
        counts = group.values[column]
        excess = {v: counts.get(v, 0) * table.rows - r * group.rows for v, r in reference.items()}
        return work(excess) / (group.rows * table.rows)

    return judge_groups(promise, table, [Bound("t", figure, at_most)])


def _equal(excess: Excess) -> Fraction:
    """Whatever is too much somewhere moves by 1."""
    return Fraction(sum(e for e in excess.values() if e > 0))


def _ordered(excess: Excess, order: Sequence[object]) -> Fraction:
    """What has piled up so far moves one step on, and a step costs 1/(m-1)."""
    if len(order) < 2:
        return Fraction(0)
    carried = moved = 0
    for value in order:
        carried += excess[value]
        moved += abs(carried)
    return Fraction(moved, len(order) - 1)


def _hierarchical(excess: Excess, paths: Mapping[object, Sequence[str | None]]) -> Fraction:
    """Below each inner node, what is too much moves to where it is too little.

    At level h of H that costs h/H; what cannot be evened out there goes up.
    """
    height = len(next(iter(paths.values())))
    # A node is named by its whole way from the top, so equal names elsewhere do not mix.
    nodes = {(*reversed(paths[value]), value): e for value, e in excess.items()}
    moved = 0
    for level in range(1, height + 1):
        children: dict[tuple[object, ...], list[int]] = defaultdict(list)
        for node, extra in nodes.items():
            children[node[:-1]].append(extra)
        for extras in children.values():
            too_much = sum(e for e in extras if e > 0)
            too_little = -sum(e for e in extras if e < 0)
            moved += level * min(too_much, too_little)
        nodes = {node: sum(extras) for node, extras in children.items()}
    return Fraction(moved, height)


def _paths(
    hierarchy: Mapping[str, Sequence[str]] | None, values: Mapping[object, int], column: str
) -> dict[object, Sequence[str | None]]:
    """Find each value's labels from level 1 to the top; a missing value joins only there."""
    if not hierarchy:
        raise InputError(f"no hierarchy of {column!r} was given to measure distances with")
    unknown = [v for v in values if v is not None and text_of(v) not in hierarchy]
    if unknown:
        raise InputError(f"the hierarchy of {column!r} does not cover {some(unknown)}")
    tops = {path[-1] if path else None for path in hierarchy.values()}
    if len({len(path) for path in hierarchy.values()}) > 1 or len(tops) > 1 or None in tops:
        raise InputError(f"the hierarchy of {column!r} has no single top")
    some_path = next(iter(hierarchy.values()))
    missing = [*[None] * (len(some_path) - 1), some_path[-1]]
    return {v: missing if v is None else hierarchy[text_of(v)] for v in values}


def basic_beta_likeness(promise: Promise, table: Groups) -> Finding:
    """Need (p - q)/q <= beta for every value."""
    return _likeness(promise, table, enhanced=False)


def enhanced_beta_likeness(promise: Promise, table: Groups) -> Finding:
    """Need (p - q)/q <= min(beta, -ln q) for every value; if -ln q is exceeded, no beta will do."""
    return _likeness(promise, table, enhanced=True)


def _likeness(promise: Promise, table: Groups, *, enhanced: bool) -> Finding:
    column = promise.text("column")
    reference = table.reference_of(column)

    def figure(group: Group) -> Number:
        most: Number = 0
        for value, c in group.values[column].items():
            r = reference[value]
            gain = Fraction(c * table.rows - r * group.rows, r * group.rows)
            if enhanced and not at_most(gain, -math.log(r / table.rows)):
                return math.inf
            most = max(most, gain)
        return most

    return judge_groups(promise, table, [Bound("beta", figure, at_most)])


def delta_disclosure(promise: Promise, table: Groups) -> Finding:
    """Need |ln(p/q)| < delta for every value of the table; one that the class lacks breaks it."""
    column = promise.text("column")
    reference = table.reference_of(column)

    def figure(group: Group) -> Number:
        counts = group.values[column]
        if len(counts) < len(reference):
            return math.inf
        return max(
            abs(math.log(counts[value] * table.rows / (r * group.rows)))
            for value, r in reference.items()
        )

    return judge_groups(promise, table, [Bound("delta", figure, below)])
