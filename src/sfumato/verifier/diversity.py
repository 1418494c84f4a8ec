"""Models about how many sensitive values a class shows, and how evenly.

Missing values count for nothing: shares are over the rows with a known value, and a
class without any is no protection at all.
"""

import math
from collections.abc import Callable, Mapping
from fractions import Fraction

from sfumato.errors import InputError, some
from sfumato.text import text_of
from sfumato.verifier.groups import Group, Groups
from sfumato.verifier.judging import Bound, Finding, Number, at_least, at_most, below, judge_groups
from sfumato.verifier.promises import Promise
from sfumato.verifier.sizes import SIZE

Known = Mapping[object, int]
"""Rows by known value in one class."""


def _bound(
    promise: Promise,
    table: Groups,
    parameter: str,
    figure: Callable[[Known], Number],
    keeps: Callable[[Number, Number], bool] = at_least,
) -> Bound:
    """Look at the known values of the promise's column."""
    column = promise.text("column")
    table.reference_of(column)

    def of_group(group: Group) -> Number:
        return figure(group.known(column))

    return Bound(parameter, of_group, keeps)


def distinct_l_diversity(promise: Promise, table: Groups) -> Finding:
    """Need m >= l."""
    return judge_groups(promise, table, [_bound(promise, table, "l", len)])


def probabilistic_l_diversity(promise: Promise, table: Groups) -> Finding:
    """Need c1/n <= 1/l, that is n/c1 >= l."""

    def figure(known: Known) -> Number:
        return Fraction(sum(known.values()), max(known.values())) if known else 0

    return judge_groups(promise, table, [_bound(promise, table, "l", figure)])


def entropy_l_diversity(promise: Promise, table: Groups) -> Finding:
    """Need exp(-sum p ln p) >= l."""

    def figure(known: Known) -> Number:
        n = sum(known.values())
        return math.exp(-sum(c / n * math.log(c / n) for c in known.values())) if known else 0

    return judge_groups(promise, table, [_bound(promise, table, "l", figure)])


def recursive_cl_diversity(promise: Promise, table: Groups) -> Finding:
    """Need c1 < c (c_l + … + c_m), counts in falling order, that is c1 / tail < c."""
    l = promise.number("l")
    if l != int(l) or l < 1:
        raise InputError(f"{promise.model}: l must be a whole number of at least 1, got {l}")

    def figure(known: Known) -> Number:
        counts = sorted(known.values(), reverse=True)
        tail = sum(counts[int(l) - 1 :])
        return Fraction(counts[0], tail) if tail else math.inf

    finding = judge_groups(promise, table, [_bound(promise, table, "c", figure, below)])
    finding.found["l"] = l
    return finding


def alpha_k_anonymity(promise: Promise, table: Groups) -> Finding:
    """Need n >= k and c/n <= alpha for every protected value (all if none is named)."""
    protected = set(promise.texts("protected"))

    def figure(known: Known) -> Number:
        if not known:
            return math.inf
        counts = [c for v, c in known.items() if not protected or text_of(v) in protected]
        return Fraction(max(counts, default=0), sum(known.values()))

    return judge_groups(promise, table, [_bound(promise, table, "alpha", figure, at_most), SIZE])


def p_sensitive(promise: Promise, table: Groups) -> Finding:
    """Need n >= k and m >= p."""
    return judge_groups(promise, table, [_bound(promise, table, "p", len), SIZE])


def p_alpha_sensitive(promise: Promise, table: Groups) -> Finding:
    """Need n >= k, m >= p, and the class weighs at least alpha."""
    _, weigh = _categories(promise, table)
    return judge_groups(
        promise,
        table,
        [_bound(promise, table, "p", len), _bound(promise, table, "alpha", weigh), SIZE],
    )


def enhanced_p_alpha_sensitive(promise: Promise, table: Groups) -> Finding:
    """Need n >= k, at least p different categories, and the class weighs at least alpha."""
    categories, weigh = _categories(promise, table)

    def distinct(known: Known) -> Number:
        return len({categories[text_of(value)] for value in known})

    return judge_groups(
        promise,
        table,
        [_bound(promise, table, "p", distinct), _bound(promise, table, "alpha", weigh), SIZE],
    )


def _categories(
    promise: Promise, table: Groups
) -> tuple[Mapping[str, int], Callable[[Known], Number]]:
    """Give each value's category, most secret first, and what the values of a class weigh.

    The i-th of x categories weighs (i-1)/(x-1). The sum goes over the rows, or over the
    distinct values if the promise says so.
    """
    named = promise.lists_of_texts("categories")
    if len(named) < 2:
        raise InputError(f"{promise.model}: there must be at least 2 categories")
    category = {value: i for i, values in enumerate(named) for value in values}
    if len(category) < sum(map(len, named)):
        raise InputError(f"{promise.model}: a value stands in more than one place in categories")
    values = {text_of(v) for v in table.reference_of(promise.text("column")) if v is not None}
    homeless = sorted(values - set(category))
    if homeless:
        raise InputError(f"{promise.model}: no category has {some(homeless)}")
    by_rows = promise.text("weight", "rows", "distinct", default="rows") == "rows"

    def weigh(known: Known) -> Number:
        total = sum(category[text_of(v)] * (c if by_rows else 1) for v, c in known.items())
        return Fraction(total, len(named) - 1)

    return category, weigh
