"""Models about the number of people in a class, here or in a population."""

import math
from fractions import Fraction

from sfumato.verifier.groups import Group, Groups
from sfumato.verifier.judging import (
    Bound,
    Finding,
    Number,
    at_least,
    at_most,
    judge_groups,
    judge_table,
)
from sfumato.verifier.promises import Promise

SIZE = Bound("k", lambda group: group.rows, at_least)
"""The size of a class."""


def k_anonymity(promise: Promise, table: Groups) -> Finding:
    """Need n >= k."""
    return judge_groups(promise, table, [SIZE])


def maximum_risk(promise: Promise, table: Groups) -> Finding:
    """Need 1/n <= risk."""
    risk = Bound("risk", lambda group: Fraction(1, group.rows), at_most)
    return judge_groups(promise, table, [risk])


def average_risk(promise: Promise, table: Groups) -> Finding:
    """The mean of 1/n over all rows is at most the risk; without overlaps that is classes/rows."""

    def mean() -> Number:
        by_size: dict[int, int] = {}
        for group in table.groups:
            by_size[group.rows] = by_size.get(group.rows, 0) + group.own
        return sum(Fraction(own, rows) for rows, own in by_size.items()) / table.rows

    return judge_table(promise, table, "risk", mean)


def sample_uniqueness(promise: Promise, table: Groups) -> Finding:
    """At most this share of the rows is alone in its class."""

    def share() -> Number:
        return Fraction(sum(g.own for g in table.groups if g.rows == 1), table.rows)

    return judge_table(promise, table, "share", share)


def k_map(promise: Promise, table: Groups) -> Finding:
    """At least k people of the population fall into every published class."""
    table.require_population()
    return judge_groups(promise, table, [Bound("k", _people, at_least)])


def delta_presence(promise: Promise, table: Groups) -> Finding:
    """Need minimum <= n / people <= maximum, for every published class."""
    table.require_population()
    bounds = [Bound("minimum", _presence, at_least), Bound("maximum", _presence, at_most)]
    return judge_groups(promise, table, bounds)


def _people(group: Group) -> int:
    return group.population or 0


def _presence(group: Group) -> Number:
    # Rows about people who are not in the population: it is not the population of this table.
    return Fraction(group.rows, group.population) if group.population else math.inf
