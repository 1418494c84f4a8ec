"""Draft public domains: what columns could hold, read off a table for a person to confirm."""

from collections import Counter
from collections.abc import Mapping
from datetime import date
from decimal import Decimal

import numpy as np

from sfumato.drafting.policy import DraftedColumn
from sfumato.hierarchy.dates import likely_days
from sfumato.hierarchy.intervals import number_point
from sfumato.policy.domains import DomainRule
from sfumato.schema import Role
from sfumato.tables import Domain
from sfumato.text import in_order, text_of

_NAMED = 5
"""The fewest rows of a value that is named, as in all drafts: what one row says is in none."""

_MOST_LISTED = 100
_CELLS = 20
"""About how many cells a line is cut into."""

_WIDTHS = (1, 2, 5, 10)


def with_domains(
    columns: Mapping[str, DraftedColumn], domains: Mapping[str, Domain]
) -> dict[str, DraftedColumn]:
    """Return columns with a domain each, as far as values that several rows have tell of one.

    Args:
        columns: The columns as they were drafted.
        domains: Their values.
    """
    found = dict(columns)
    for name, column in columns.items():
        drawn = column.rule.role in (Role.QUASI_IDENTIFIER, Role.SENSITIVE, Role.PLAIN)
        if not drawn or name not in domains or column.rule.domain is not None:
            continue
        drafted = draft_domain(domains[name])
        if drafted is not None:
            found[name] = DraftedColumn(column.rule.replace(domain=drafted), column.guess)
    return found


def draft_domain(domain: Domain) -> DomainRule | None:
    """Return what a column could hold, marked as drafted; None if few rows have each value.

    Ends of numbers and days are round, and a few rows lie outside: no single row is an end.

    >>> sex = Domain("sex", np.array([9, 5, 1]), 0, lambda at: ["f", "m", "x"])
    >>> age = Domain("age", np.ones(15, dtype=int), 0, lambda at: [*range(18, 78, 4)])
    >>> for each in (sex, age):
    ...     print(draft_domain(each).to_plain())
    {'values': ['f', 'm'], 'drafted': True}
    {'from': 34, 'to': 60, 'width': 2, 'drafted': True}
    """
    values, rows = domain.values(), domain.rows.tolist()
    if not values:
        return None
    days = likely_days(values)
    if days is not None:
        return _drafted_days(days, rows)
    points = [number_point(value) for value in values]
    known = [point for point in points if point is not None]
    many = len(values) > _CELLS
    if len(known) == len(values) and (many or len(values) > sum(n >= _NAMED for n in rows)):
        return _drafted_numbers(known, rows)
    counted: Counter[str] = Counter()
    for value, n in zip(values, rows, strict=True):
        counted[text_of(value)] += n
    named = [text_of(v) for v in in_order(values) if counted[text_of(v)] >= _NAMED]
    if not named or len(named) > _MOST_LISTED:
        return None
    return DomainRule(values=tuple(dict.fromkeys(named)), drafted=True)


def _ends(points: list[float], rows: list[int]) -> tuple[float, float]:
    """Return where all rows but a few begin and end."""
    order = np.argsort(points)
    sums = np.cumsum(np.asarray(rows)[order])
    few = min(_NAMED, (int(sums[-1]) + 1) // 2)
    first = int(np.searchsorted(sums, few))
    last = int(np.searchsorted(sums, sums[-1] - few + 1))
    return points[order[first]], points[order[last]]


def _drafted_numbers(points: list[Decimal], rows: list[int]) -> DomainRule:
    low, high = (Decimal(str(end)) for end in _ends([float(p) for p in points], rows))
    width = _round_width((high - low) / _CELLS, whole=all(p == int(p) for p in points))
    first, last = low // width * width, high // width * width + width
    if low < 0:
        first -= width  # `//` of a decimal rounds towards zero
    return DomainRule(
        **{"from": text_of(first), "to": text_of(last), "width": text_of(width), "drafted": True}
    )


def _round_width(about: Decimal, *, whole: bool) -> Decimal:
    """Return 1, 2 or 5 times a power of ten that is no smaller.

    >>> [str(_round_width(Decimal(x), whole=False)) for x in ("0.03", "3", "7")]
    ['0.05', '5', '10']
    """
    if about <= 0 or (whole and about <= 1):
        return Decimal(1)
    power = Decimal(1).scaleb(about.adjusted())
    return next(step * power for step in _WIDTHS if step * power >= about)


def _drafted_days(days: list[str], rows: list[int]) -> DomainRule:
    points = [float(date.fromisoformat(day[:10]).toordinal()) for day in days]
    low, high = (date.fromordinal(int(end)) for end in _ends(points, rows))
    wide = (high - low).days > 2 * 365
    if wide:
        first, last = date(low.year, 1, 1), date(high.year, 12, 31)
    else:
        first, last = low.replace(day=1), high.replace(day=28)
    return DomainRule(
        **{
            "from": first.isoformat(),
            "to": last.isoformat(),
            "width": "365d" if wide else "30d",
            "drafted": True,
        }
    )
