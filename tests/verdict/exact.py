"""What a published table tells, counted in plain Python: the second source for the verdict.

It shares no code with the package. People look alike to an adversary if they agree in what the
adversary knows: the quasi-identifiers, and besides them no, one or two other published values.
Of the people who look alike a share has each sensitive value; of all people in the table another
share has it. The first is what is believed, the second what was believed before. All shares are
fractions of whole numbers, so that nothing is rounded.

A missing value hides nobody. Who misses a value that has to be known is not found by it; of the
others a share is one of those whose value is published, and it is believed of everybody who looks
alike.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache
from itertools import combinations
from math import comb, exp, lgamma, log

QUASI_IDENTIFIERS, ONE_VALUE, TWO_VALUES = "quasi-identifiers", "one-value", "two-values"
EVERY = (QUASI_IDENTIFIERS, ONE_VALUE, TWO_VALUES)

LOW, MODERATE, HIGH, VERY_HIGH = range(4)

HARMLESS, ORDINARY, SECRET = "harmless", "ordinary", "secret"


@cache
def level_of(prior: Fraction, posterior: Fraction, secrecy: str = ORDINARY) -> int:
    """Return how much a belief harms, by the rule as its table says it.

    The end of doubt about what most people have is moderate; of a secret it is high, and a secret
    counts one level more.

    >>> level_of(Fraction(1, 4), Fraction(3, 4)), level_of(Fraction(6, 10), Fraction(1))
    (3, 1)
    """
    if posterior <= prior or secrecy == HARMLESS:
        return LOW
    doubt_gone = posterior >= Fraction(3, 4) and 1 - posterior <= (1 - prior) / 4
    reached = {
        VERY_HIGH: posterior >= max(Fraction(3, 4), 2 * prior)
        or (doubt_gone and prior <= Fraction(1, 2)),
        HIGH: posterior >= max(Fraction(1, 2), 4 * prior)
        or (doubt_gone and prior < Fraction(3, 4) and secrecy == SECRET),
        MODERATE: posterior >= max(Fraction(1, 5), 10 * prior)
        or (doubt_gone and prior < Fraction(3, 4)),
    }
    level = max((level for level, true in reached.items() if true), default=LOW)
    return min(level + 1, VERY_HIGH) if secrecy == SECRET and level else level


@dataclass(frozen=True)
class Statement:
    """Something that can be believed of a person: a value of a column, or one of several."""

    column: str
    values: frozenset[str]
    secrecy: str


@dataclass
class Counted:
    """What was found out about a table."""

    people: dict[str, int]
    """For each adversary, of how many people something is as good as known."""

    against: Sequence[str] = EVERY
    exposed: bool = False
    """Whether a value is certain of somebody that at most half of all have."""

    harmless: bool = True
    """Whether nothing is believed of anybody that reaches one half and doubles."""

    example: str = ""
    """The first thing found that exposes somebody, or that is not harmless."""

    flags: dict[str, list[bool]] = field(default_factory=dict, repr=False)
    """For each adversary, whether each row is of somebody at risk."""

    @property
    def at_risk(self) -> int:
        """The people at risk by an adversary who counts: who knows more can do what others can."""
        return max((self.people[knows] for knows in self.against), default=0)

    @property
    def kind(self) -> str:
        """What the table is: exposed, harmless, or between."""
        if self.exposed:
            return "exposed"
        return "harmless" if self.harmless and not self.at_risk else "between"


def statements(
    column: str,
    values: Sequence[str],
    *,
    secret: Sequence[str] = (),
    harmless: Sequence[str] = (),
    categories: Sequence[Sequence[str]] = (),
) -> Iterator[Statement]:
    """Yield what can be believed of a column: each value, each category, all but the harmless.

    A category is a secret if all its values are, and harmless if all are; else it is ordinary.
    What three quarters of all people have is one of the harmless values here, if it is no secret.
    """
    there = Counter(values)
    usual = {v for v, n in there.items() if 4 * n >= 3 * len(values)} - {*secret}

    def secrecy(some: frozenset[str]) -> str:
        if some <= {*secret}:
            return SECRET
        return HARMLESS if some <= {*harmless} else ORDINARY

    sets = [frozenset([value]) for value in there]
    sets += [frozenset(category) & {*there} for category in categories]
    if len({*secret}) > 1:
        sets.append(frozenset(secret) & {*there})
    if harmless or usual:
        sets.append(frozenset(there) - {*harmless} - usual)
    for some in dict.fromkeys(sets):
        if some:
            yield Statement(column, some, secrecy(some))


def count(
    table: Mapping[str, Sequence[str | None]],
    quasi_identifiers: Sequence[str],
    sensitive: Sequence[str],
    *,
    plain: Sequence[str] = (),
    unknown: Sequence[str] = (),
    secret: Mapping[str, Sequence[str]] | None = None,
    harmless: Mapping[str, Sequence[str]] | None = None,
    categories: Mapping[str, Sequence[Sequence[str]]] | None = None,
    against: Sequence[str] = EVERY,
) -> Counted:
    """Count what each adversary believes of each person.

    Args:
        table: The published cells of each column; None where one is missing.
        quasi_identifiers: The columns that every adversary knows.
        sensitive: The columns that are told.
        plain: The columns that others may know, and that are no secret.
        unknown: Those of both that others do not know.
        secret: For sensitive columns, values that are worse to be known.
        harmless: For sensitive columns, values that no person minds to be known.
        categories: For sensitive columns, values that come to the same.
        against: The adversaries that count.
    """
    n = len(next(iter(table.values())))
    knowledge = [name for name in (*sensitive, *plain) if name not in unknown]
    told = {
        name: [
            *statements(
                name,
                [value for value in table[name] if value is not None],
                secret=(secret or {}).get(name, ()),
                harmless=(harmless or {}).get(name, ()),
                categories=(categories or {}).get(name, ()),
            )
        ]
        for name in sensitive
    }
    classes = [*zip(*(table[name] for name in quasi_identifiers), strict=True)] or [()] * n
    found = Counted({}, against)
    flags = _alone(classes, found)
    for number, knows in enumerate(EVERY):
        for known in combinations(knowledge, number):
            columns = [table[name] for name in known]
            cells = [*zip(classes, *columns, strict=True)]
            if any(None in column for column in columns):
                missed = [None in values for values in zip(*columns, strict=True)]
                cells = [None if m else c for m, c in zip(missed, cells, strict=True)]
            for name in sensitive:
                if name not in known:
                    bad = _tell(table[name], cells, told[name], found, knows in against)
                    if bad:
                        flags = [f or c in bad for f, c in zip(flags, cells, strict=True)]
        found.people[knows] = sum(flags)
        found.flags[knows] = flags
    return found


def _alone(classes: Sequence[tuple[str | None, ...]], found: Counted) -> list[bool]:
    """Return who is alone in their class: which row is theirs is certain, and was not before."""
    n, sizes = len(classes), Counter(classes)
    if n > 1 and min(sizes.values()) <= 2 < n:
        found.harmless, found.example = False, "a class of at most two rows"
    elif n == 2 and len(sizes) == 2:
        found.harmless = False
    if n > 1 and min(sizes.values()) == 1:
        found.exposed = True
    one = Fraction(1)
    return [sizes[c] == 1 and level_of(one / n, one) == VERY_HIGH for c in classes]


def _tell(
    values: Sequence[str | None],
    cells: Sequence[object],
    told: Sequence[Statement],
    found: Counted,
    counts: bool,
) -> set[object]:
    """Return the cells of whose people too much is told, and note what else there is."""
    bad = set()
    for one, cell, prior, posterior in _beliefs(values, cells, told):
        level = level_of(prior, posterior, one.secrecy)
        if level == VERY_HIGH:
            bad.add(cell)
        if not counts or posterior <= prior:
            continue
        certain = posterior == 1 and 2 * prior <= 1
        doubled = 2 * posterior >= 1 and posterior >= 2 * prior
        if certain and not found.exposed:
            found.exposed, found.example = True, f"{cell} -> {sorted(one.values)}"
        if doubled or certain or (one.secrecy == SECRET and level):
            found.harmless = False
            found.example = found.example or f"{cell} -> {sorted(one.values)}"
    return bad


def _beliefs(
    values: Sequence[str | None], cells: Sequence[object], told: Sequence[Statement]
) -> Iterator[tuple[Statement, object, Fraction, Fraction]]:
    """Yield what is believed of the people of each cell, from one fifth on, and of all before."""
    both = zip(cells, values, strict=True)
    pairs = Counter((c, v) for c, v in both if c is not None and v is not None)
    of: Counter[object] = Counter()
    of_value: dict[str, list[tuple[object, int]]] = {}
    for (cell, value), rows in pairs.items():
        of[cell] += rows
        of_value.setdefault(value, []).append((cell, rows))
    everywhere = Counter(value for value in values if value is not None)
    for one in told:
        prior = Fraction(sum(everywhere[v] for v in one.values), everywhere.total())
        if one.secrecy == HARMLESS or prior == 1:
            continue
        rows_of: Counter[object] = Counter()
        for value in one.values:
            for cell, rows in of_value.get(value, ()):
                rows_of[cell] += rows
        for cell, rows in rows_of.items():
            if 5 * rows >= of[cell]:
                yield one, cell, prior, Fraction(rows, of[cell])


def count_groups(
    groups: Sequence[object],
    values: Mapping[str, Mapping[object, Mapping[str, int]]],
    *,
    secret: Mapping[str, Sequence[str]] | None = None,
    harmless: Mapping[str, Sequence[str]] | None = None,
    categories: Mapping[str, Sequence[Sequence[str]]] | None = None,
) -> Counted:
    """Count a decoupled release: each table of sensitive values says only how often in each group.

    Whoever knows one value knows no more of the others, as long as no pattern links the tables:
    the people of a group have its values in any order.

    Args:
        groups: The group of each person.
        values: For each sensitive column and group, how many people have each value.
        secret: For sensitive columns, values that are worse to be known.
        harmless: For sensitive columns, values that no person minds to be known.
        categories: For sensitive columns, values that come to the same.
    """
    found = Counted({})
    flags = [False] * len(groups)
    for name, of_group in values.items():
        # A table of its own in which people stand group by group.
        cells: list[object] = []
        cell_values: list[str | None] = []
        for group, some in of_group.items():
            for value, rows in some.items():
                cells += [group] * rows
                cell_values += [value] * rows
        told = [
            *statements(
                name,
                [value for value in cell_values if value is not None],
                secret=(secret or {}).get(name, ()),
                harmless=(harmless or {}).get(name, ()),
                categories=(categories or {}).get(name, ()),
            )
        ]
        bad = _tell(cell_values, cells, told, found, counts=True)
        flags = [f or group in bad for f, group in zip(flags, groups, strict=True)]
    for knows in EVERY:
        found.people[knows] = sum(flags)
        found.flags[knows] = flags
    return found


def paired_by_counts(
    groups: Sequence[object],
    first: Mapping[object, Mapping[str, int]],
    second: Mapping[object, Mapping[str, int]],
) -> dict[str, str]:
    """Return the values of a second table whose counts in all groups one of the first alone has.

    Where each value of one column goes with one value of the other, equal counts give it away.

    >>> ill, drug = {1: {"hiv": 3, "flu": 2}}, {1: {"a": 2, "b": 3}}
    >>> paired_by_counts([1], ill, drug)
    {'a': 'flu', 'b': 'hiv'}
    """
    every = sorted({*groups}, key=str)

    def vectors(table: Mapping[object, Mapping[str, int]]) -> dict[str, tuple[int, ...]]:
        there = sorted({value for some in table.values() for value in some})
        return {v: tuple(table.get(group, {}).get(v, 0) for group in every) for v in there}

    a, b = vectors(first), vectors(second)
    times_a, times_b = Counter(a.values()), Counter(b.values())
    names = {vector: value for value, vector in a.items() if times_a[vector] == 1}
    return {
        value: names[vector]
        for value, vector in b.items()
        if times_b[vector] == 1 and vector in names
    }


def belief_under_pram(shown: int, of: int, values: int, keep: float) -> float:
    """Return how likely a person has a value, by what a class shows of it after PRAM.

    The adversary knows the mechanism, and before looking takes every number of people with the
    value for equally likely. All ways in which chance could have made the class are added up.

    Args:
        shown: How many people of the class are published with the value.
        of: How many people the class has.
        values: How many values the column has.
        keep: How likely a value stays; else it becomes one of the others, all equally likely.

    >>> round(belief_under_pram(20, 20, 2, 0.999), 2), round(belief_under_pram(10, 20, 2, 0.9), 2)
    (1.0, 0.5)
    """
    turns = (1 - keep) / (values - 1)
    logs = []
    for true in range(of + 1):
        # Of the true ones some stay, of the others some became it.
        ways = 0.0
        for stayed in range(max(0, shown - (of - true)), min(true, shown) + 1):
            ways += (
                comb(true, stayed) * keep**stayed * (1 - keep) ** (true - stayed)
                * comb(of - true, shown - stayed)
                * turns ** (shown - stayed) * (1 - turns) ** (of - true - shown + stayed)
            )  # fmt: skip
        before = _log_before(true, of, values)
        logs.append(log(ways) + before if ways > 0 else float("-inf"))
    most = max(logs)
    weights = [exp(each - most) for each in logs]
    return sum(true * weight for true, weight in enumerate(weights)) / (of * sum(weights))


def _log_before(true: int, of: int, values: int) -> float:
    """Return the log of how many ways the other values can share the others, all alike likely."""
    others, rest = values - 1, of - true
    return lgamma(rest + others) - lgamma(rest + 1) - lgamma(others)
