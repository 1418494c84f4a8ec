"""An adversary who imagines every table that fits a release, one by one, all equally likely.

What is believed of a person is then the share of these tables in which it is so. Nothing here
is clever, and nothing is shared with the attacks: for classes of a few people it is the judge.
"""

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from itertools import combinations, permutations, product

Test = Callable[[object], bool]
PERSON = 0
"""Whom the adversary asks about: the first of the class. All look alike, so anybody will do."""


def is_known(value) -> bool:
    return value is not None


def believed(
    values: Sequence,
    told: Test,
    given: Test = is_known,
    rate: Mapping | None = None,
    usual: Mapping | None = None,
) -> Fraction | None:
    """How likely a person of a class has what is told, to whoever knows what is given.

    The tables that fit are the ways to deal the class's values out to its people. If a rate is
    given, the person's value follows it and everybody else's follows what is usual; a table is
    as likely as the product says. None if no table fits what is given.
    """
    fitting = hit = Fraction(0)
    for world in permutations(values):
        weight = Fraction(1)
        if rate is not None and usual is not None:
            for person, value in enumerate(world):
                source = rate if person == PERSON else usual
                weight *= Fraction(1) if value is None else source[value]
        if given(world[PERSON]):
            fitting += weight
            hit += weight * told(world[PERSON])
    return hit / fitting if fitting else None


def shares(values: Sequence) -> dict:
    """The share of each value among the known ones: what is believed without classes."""
    known = [value for value in values if value is not None]
    return {value: Fraction(known.count(value), len(known)) for value in known}


def likeliest(values: Sequence, given: Test = is_known, **knowledge) -> Fraction:
    """The strongest belief in any single value."""
    found = [believed(values, lambda v, x=x: v == x, given, **knowledge) for x in set(values)]
    return max((p for p in found if p is not None), default=Fraction(0))


def in_one_set(values: Sequence, sets: Sequence[Test]) -> Fraction:
    """The strongest belief that the value is in one of some sets."""
    found = [believed(values, lambda v, s=s: v is not None and s(v)) for s in sets]
    return max((p for p in found if p is not None), default=Fraction(0))


def ruling_out(values: Sequence, n: int) -> Fraction:
    """The strongest belief of anybody who can rule out any n values, over all ways to do so."""
    known = sorted({value for value in values if value is not None})
    ways = [set(out) for size in range(n + 1) for out in combinations(known, size)]
    return max(
        (
            likeliest(values, given=lambda v, out=out: v is not None and v not in out)
            for out in ways
        ),
        default=Fraction(0),
    )


def joining(group: Sequence[tuple], known: int, value) -> dict[tuple, Fraction]:
    """What is believed of the other columns of somebody of a broken group, one value known.

    The tables that fit are all ways to deal out each column by itself.
    """
    hits: dict[tuple, int] = {}
    fitting = 0
    for columns in product(*(permutations(column) for column in zip(*group, strict=True))):
        person = [column[PERSON] for column in columns]
        if person.pop(known) == value:
            fitting += 1
            hits[tuple(person)] = hits.get(tuple(person), 0) + 1
    return {rest: Fraction(n, fitting) for rest, n in hits.items()}


def reading(group: Sequence[tuple], known: int, value) -> dict[tuple, Fraction]:
    """The same for a class of a table in one piece: whole rows are dealt out."""
    hits: dict[tuple, int] = {}
    fitting = 0
    for world in permutations(group):
        person = list(world[PERSON])
        if person.pop(known) == value:
            fitting += 1
            hits[tuple(person)] = hits.get(tuple(person), 0) + 1
    return {rest: Fraction(n, fitting) for rest, n in hits.items()}
