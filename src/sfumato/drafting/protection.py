"""Models for a sensitive column: the weakest that keeps attacks on classes off, and stronger ones.

The rule for harm (`sfumato.harm`) counts a belief as very high from three quarters on. A model that
keeps the share of a value below that in every class destroys least of those that do.
"""

from collections.abc import Sequence

import numpy as np

from sfumato.attacks.similarity import widths
from sfumato.attacks.target import value_counts
from sfumato.classes import EquivalenceClasses, classes_from, sensitive_column
from sfumato.counts import Column, FrequencySet
from sfumato.harm import HarmRule, Level
from sfumato.models import (
    AlphaKAnonymity,
    CategoryShare,
    DistinctLDiversity,
    PrivacyModel,
    RangeShare,
    TCloseness,
)
from sfumato.policy import ColumnRule
from sfumato.tables import Domain
from sfumato.text import fold_spelling, in_order, number_of, text_of
from sfumato.typing import IntArray

Protection = tuple[PrivacyModel, ...]
"""The models of one column that are asked for together."""

_BELOW_VERY_HIGH = 0.74

_COMMON = 0.5
"""A value that more people have is what one would have guessed: no class makes it worse."""

_OFTEN = 0.1
"""A number that fewer people have hardly becomes what most of a class have."""

_RARE_SECRET = 0.3
"""A secret value that more people have cannot be kept below one half at little cost."""

_FEWEST_NUMBERS = 6
"""This many different numbers are a scale, on which close ones are alike."""

_MOST_LISTED = 12
"""The most values that a model lists, the most frequent ones."""

_MOST_FOLDED = 1000
"""Of this many values at least three differ in more than their spelling. Of more the most frequent
ones are looked at."""

_FEW_MISSING = 0.02
"""Where more cells are missing, classes without any value are common and must not be forbidden."""

_MOST_ON_A_LINE = 200_000
"""Of more different numbers it is not asked how close they are."""

_WIDEST = 1e12
"""No wider range is promised anything of: such numbers are hardly a scale."""

_SELDOM = 0.02
"""A value that fewer people have is hardly ever most of a class; stronger models look at it."""

_ROOM = 0.04
"""By this much the table itself must be below a limit: classes differ from it by chance."""

_NOT_ALL = 0.99
"""Not all of a class may be within a small amount."""

_NOT_AT_AN_END = 0.4
"""A class of which all are among the lowest or the highest tenth is farther from the table."""

_CLOSENESS = (0.3, 0.2, 0.15, 0.1)
_LOWER = (0.0, 0.12, 0.24)


def protections(
    rule: ColumnRule, domain: Domain, k: int, *, people: bool = False
) -> tuple[Protection, ...]:
    """Return what may protect a sensitive column, the weakest first; nothing if nothing can.

    Args:
        rule: Its rule, with the values that are secret.
        domain: Its values.
        k: The fewest people of a class.
        people: Whether people may have several rows, so that models must count people.

    Example:
        >>> from sfumato.tables import open_table
        >>> import pyarrow as pa
        >>> table = open_table(pa.table({"ill": ["flu", "flu", "flu", "hiv"]}))
        >>> rule = ColumnRule(role="sensitive")
        >>> protections(rule, table.domains(["ill"])["ill"], 2)[0]
        (AlphaKAnonymity(column='ill', alpha=0.74, k=2, protected=('hiv',)),)
    """
    at = _most_frequent(domain)
    values = domain.take(at)
    texts = [text_of(value) for value in values]
    if len({fold_spelling(text) for text in texts} - {""}) < 2:
        return ()
    name = domain.column
    spread = [*values, *(domain.values(_MOST_FOLDED) if len(at) < len(domain.rows) else ())]
    numbers = all(number_of(value) is not None for value in spread)
    shares = _shares(texts, domain, at)
    if numbers and len(values) >= _FEWEST_NUMBERS:
        return _protect_scale(domain, texts, shares, k, people=people)
    if len(domain.rows) > _MOST_FOLDED:
        return ((AlphaKAnonymity(name, _BELOW_VERY_HIGH, k),),)
    # Harmless values too: who verifies without the policy does not know that they are.
    guarded = [
        text for text in texts if shares[fold_spelling(text)] <= _COMMON and fold_spelling(text)
    ]
    if not guarded:
        return ((DistinctLDiversity(name, 2),),)
    largest = max(shares[fold_spelling(text)] for text in guarded)
    if domain.missing > _FEW_MISSING * domain.total:
        known = 1 - domain.missing / domain.total
        bounds = [_BELOW_VERY_HIGH - largest * known - lower for lower in _LOWER]
        close = [(TCloseness(name, round(t, 2)),) for t in bounds if t > 0.1]
        # Of what most people miss the known value of a class is not to be the only one.
        known_by_many = AlphaKAnonymity(name, _BELOW_VERY_HIGH, k, tuple(guarded[:_MOST_LISTED]))
        mostly = domain.missing > _COMMON * domain.total
        return (*close, *[(known_by_many,)] * (mostly and bool(close)))
    listed = _choose_listed(guarded, texts, shares)
    secret = {fold_spelling(text) for text in rule.secret}
    rare = [
        text
        for text in guarded
        if fold_spelling(text) in secret and shares[fold_spelling(text)] < _RARE_SECRET
    ]
    rare = sorted(rare, key=lambda text: -shares[fold_spelling(text)])[:_MOST_LISTED]
    more = _limit_shares(name, rare, shares, k, secret=True)
    alphas = [_BELOW_VERY_HIGH - lower for lower in _LOWER]
    common = [text for text in listed or guarded if shares[fold_spelling(text)] > _SELDOM]
    own = _limit_shares(name, common, shares, k)
    if len(own) == 1 and len(common) == len(texts):
        own = (AlphaKAnonymity(name, own[0].alpha, k),)
    each_own: Protection = (*own, *more)
    if not common:
        each_own = (AlphaKAnonymity(name, _BELOW_VERY_HIGH, k, listed), *more)
    found: list[Protection] = [
        (AlphaKAnonymity(name, round(alpha, 2), k, listed), *more)
        for alpha in alphas
        if alpha > largest + 0.05
    ]
    if each_own not in found:
        found.insert(0, each_own)
    every = [text for text in texts if fold_spelling(text) in secret]
    prior = sum(
        shares[fold_spelling(text)] for text in {fold_spelling(t): t for t in every}.values()
    )
    most = _most_allowed(prior, secret=True)
    if len(every) > 1 and prior < most - _ROOM and len(every) < len(texts):
        # That a person has one of several secrets is a secret too.
        any_of = CategoryShare(name, most, categories=(tuple(every),))
        found = [found[0], *((*each, any_of) for each in found)]
    return tuple(found)


def breaks_it_whole(protection: Protection, domain: Domain) -> bool:
    """Return whether a table breaks models even as one class, so that hardly a release keeps them.

    Example:
        >>> from sfumato.tables import open_table
        >>> import pyarrow as pa
        >>> domain = open_table(pa.table({"ill": ["flu"] * 99 + ["hiv"]})).domains(["ill"])["ill"]
        >>> models = (AlphaKAnonymity("ill", 0.74, 5), AlphaKAnonymity("ill", 0.74, 5, ("hiv",)))
        >>> [breaks_it_whole((model,), domain) for model in models]
        [True, False]
    """
    if len(domain.rows) > _MOST_FOLDED:
        # No value of so many is what nearly all have.
        return False
    column = Column(domain.column, tuple(in_order(domain.values())))
    rows = dict(zip(map(text_of, domain.values()), domain.rows.tolist(), strict=True))
    counts = FrequencySet(
        (column,),
        np.arange(len(column.values), dtype=np.int32).reshape(1, -1),
        np.array([rows[text_of(value)] for value in column.values], dtype=np.int64),
    )
    whole = classes_from(counts, (), (domain.column,))
    return not all(bool(model.passes(whole).all()) for model in protection)


def _protect_scale(
    domain: Domain, texts: Sequence[str], shares: dict[str, float], k: int, *, people: bool
) -> tuple[Protection, ...]:
    """Return what may protect a column of numbers, of which close ones are alike."""
    name = domain.column
    often = [t for t in texts if _OFTEN <= shares[fold_spelling(t)] <= _COMMON]
    alone = _limit_shares(name, often, shares, k)
    limits = [] if people else _limit_close(domain)
    # Close to the table a class may still be much of one value, and all within a small amount.
    first: list[PrivacyModel] = [*limits] or [DistinctLDiversity(name, 2)]
    spread = [TCloseness(name, t, "ordered") for t in (_NOT_AT_AN_END, *_CLOSENESS)]
    return (
        (first[0], *alone),
        *((limit, *alone, spread[0]) for limit in first),
        *((first[-1], *alone, each) for each in spread[1:]),
    )


def _limit_close(domain: Domain) -> list[RangeShare]:
    """Return limits of the share of close numbers, the weakest first, as far as the table keeps.

    That all of a class are within a small amount is a fact about them. That most are, or that all
    are within a larger one, may be chance, and is forbidden only where it is none.
    """
    name, values = domain.column, tuple(domain.values(_MOST_ON_A_LINE))
    if len(values) < len(domain.rows):
        return []
    column = Column(name, values)
    of_class = np.zeros(len(values), dtype=np.int64)
    codes = np.arange(len(values), dtype=np.int32)
    described = sensitive_column(column, exact=True)
    counts = value_counts(described, column, of_class, codes, domain.rows)
    found = [width for width in widths(counts) if width <= _WIDEST]
    whole = EquivalenceClasses(np.array([domain.rows.sum()]), {name: counts})
    limits = [RangeShare(name, width, _NOT_ALL) for width in found[:1]]
    limits += [RangeShare(name, width, _BELOW_VERY_HIGH) for width in found]
    return [limit for limit in limits if limit.measure(whole)["share"] <= limit.share - _ROOM]


def _limit_shares(
    name: str, values: Sequence[str], shares: dict[str, float], k: int, *, secret: bool = False
) -> tuple[AlphaKAnonymity, ...]:
    """Return what keeps values from becoming as good as known, each as far as it must be.

    Of what few people have three quarters of a class are too many; of what nearly half have it
    takes more until a belief harms.
    """
    found: dict[float, list[str]] = {}
    for text in values:
        alpha = _most_allowed(shares[fold_spelling(text)], secret=secret)
        found.setdefault(alpha, []).append(text)
    return tuple(
        AlphaKAnonymity(name, alpha, k, tuple(some[:_MOST_LISTED]))
        for alpha, some in sorted(found.items())
    )


def _most_allowed(prior: float, *, secret: bool) -> float:
    """Return the largest share of a class that a value may have before a belief harms.

    >>> _most_allowed(0.1, secret=False), _most_allowed(0.45, secret=False)
    (0.74, 0.86)
    >>> _most_allowed(0.1, secret=True), _most_allowed(0.2, secret=True)
    (0.49, 0.74)
    """
    level = Level.HIGH if secret else Level.VERY_HIGH
    flag = np.array([True]) if secret else None
    least = float(HarmRule().least_belief(np.array([prior]), level, flag)[0])
    if np.isinf(least):
        return _BELOW_VERY_HIGH
    return round(float(np.ceil(least * 100 - 1 - 1e-9)) / 100, 2) if least < 1 else 0.99


def _choose_listed(
    guarded: Sequence[str], texts: Sequence[str], shares: dict[str, float]
) -> tuple[str, ...]:
    """Return the values that a model names; none if it is all of them."""
    if len(guarded) == len(texts):
        return ()
    ranked = sorted(guarded, key=lambda text: -shares[fold_spelling(text)])
    return tuple(sorted(ranked[:_MOST_LISTED], key=texts.index))


def _most_frequent(domain: Domain) -> IntArray:
    """Return where the values are that most rows have, in their order: all of them, if few."""
    order = np.argsort(-domain.rows, kind="stable")[:_MOST_FOLDED]
    return np.sort(order)


def _shares(texts: Sequence[str], domain: Domain, at: IntArray) -> dict[str, float]:
    """Return the share of each value among the known ones, whatever its spelling.

    Args:
        texts: The values.
        domain: The column.
        at: Where those values are in it.
    """
    rows: dict[str, int] = {}
    for text, count in zip(texts, domain.rows[at].tolist(), strict=True):
        rows[fold_spelling(text)] = rows.get(fold_spelling(text), 0) + count
    total = max(int(np.sum(domain.rows)), 1)
    return {text: count / total for text, count in rows.items()}
