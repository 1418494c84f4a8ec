"""Slicing as its definition says it, word by word: slow, and easy to believe."""

from collections import Counter
from decimal import Decimal, localcontext
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


def probabilistic(shares, l):
    """Tell whether no share is above 1/l."""
    return all(share <= Fraction(1, l) for share in shares)


def entropy(shares, l):
    """Tell whether -Σ p ln p is at least ln l, with so many digits that rounding cannot decide."""
    with localcontext(prec=60):
        exact = [Decimal(share.numerator) / Decimal(share.denominator) for share in shares]
        return -sum(p * p.ln() for p in exact) >= Decimal(l).ln() - Decimal("1e-50")


def recursive(shares, c, l):
    """Tell whether r1 < c (r_l + ... + r_m)."""
    falling = sorted(shares, reverse=True)
    return falling[0] < Fraction(c) * sum(falling[l - 1 :])


def is_exposed(person, buckets, names, columns, sensitive, diverse):
    """Tell whether p(t, ·), among the values that are known, is not diverse."""
    found = beliefs(person, buckets, names, columns, sensitive)
    del found[None]
    known = sum(found.values())
    return not known or not diverse([share / known for share in found.values()])
