"""Rows gone through one by one: what the attacks are compared with."""

from collections import defaultdict
from fractions import Fraction

import pytest

TREE = {
    "flu": ["viral", "infection", "*"],
    "hiv": ["viral", "infection", "*"],
    "gout": ["gout", "other", "*"],
    "cancer": ["tumour", "other", "*"],
}
"""The hierarchy of `tests.models.tables.TREE`, as plain paths."""


def values_by_class(rows):
    """The values of each class, in the order of the labels."""
    classes = defaultdict(list)
    for label, value in rows:
        classes[label].append(value)
    return [classes[label] for label in sorted(classes)]


def literally(rows, alike):
    """One verdict per class: it has a known value, and any two known values are alike."""
    verdicts = []
    for values in values_by_class(rows):
        known = [value for value in values if value is not None]
        verdicts.append(bool(known) and all(alike(a, b) for a in known for b in known))
    return verdicts


def harm(prior, posterior):
    """The rule as it is written, for one belief."""
    sure = posterior >= Fraction(3, 4) and (1 - posterior) * 4 <= 1 - prior
    if posterior <= prior:
        return 0
    if posterior >= Fraction(3, 4) and (posterior >= 2 * prior or (sure and prior <= 1 / 2)):
        return 3
    if posterior >= 1 / 2 and posterior >= 4 * prior:
        return 2
    rare = posterior >= Fraction(1, 5) and posterior >= 10 * prior
    return int(rare or (sure and prior < Fraction(3, 4)))


def worst_of(rows, sets):
    """Per class, the level and the gain of the worst of all statements; only known values count."""
    everybody = [value for _, value in rows if value is not None]
    found = {}
    for label, values in zip(sorted({row[0] for row in rows}), values_by_class(rows), strict=True):
        known = [value for value in values if value is not None]
        beliefs = [
            (Fraction(sum(map(each, everybody)), len(everybody)),
             Fraction(sum(map(each, known)), len(known)))
            for each in sets(known) if known
        ]  # fmt: skip
        found[label] = max(((harm(p, q), q - p) for p, q in beliefs), default=(0, Fraction(0)))
    return found


def agree(outcome, rows, expected):
    """What an outcome says of each class, and of how many people, is what is expected."""
    for level, name in ((3, "very high"), (2, "high"), (1, "moderate")):
        people = sum(expected[label][0] == level for label, _ in rows)
        assert outcome.by_level[name] == people
    for case in outcome.worst:
        level, gain = expected[case.who["label"]]
        assert case.level == level
        assert case.gain == pytest.approx(float(gain), abs=1e-12)
