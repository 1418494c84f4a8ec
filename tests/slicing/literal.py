"""Slicing as its definition says it, word by word: slow, and easy to believe."""

from collections import Counter
from fractions import Fraction


def sub(row, names, column):
    return tuple(row[names.index(name)] for name in column)


def f(person, bucket, names, columns, sensitive):
    """Multiply the shares of sub-tuples that equal the person's; beside the sensitive: known."""
    product = Fraction(1)
    for column in columns:
        known = [name for name in column if name != sensitive]
        alike = [row for row in bucket if sub(row, names, known) == sub(person, names, known)]
        product *= Fraction(len(alike), len(bucket))
    return product


def beliefs(person, buckets, names, columns, sensitive):
    """Give p(t, s) for every s that is above 0."""
    weights = [f(person, bucket, names, columns, sensitive) for bucket in buckets]
    [column] = [column for column in columns if sensitive in column]
    known = [name for name in column if name != sensitive]
    found = Counter()
    for bucket, weight in zip(buckets, weights, strict=True):
        if not weight:
            continue
        alike = [row for row in bucket if sub(row, names, known) == sub(person, names, known)]
        for row in alike:
            [value] = sub(row, names, [sensitive])
            found[value] += weight / sum(weights) * Fraction(1, len(alike))
    return found


def is_exposed(person, buckets, names, columns, sensitive, l):
    """Tell whether some p(t, s) is above 1/l."""
    return any(
        p > Fraction(1, l) for p in beliefs(person, buckets, names, columns, sensitive).values()
    )
