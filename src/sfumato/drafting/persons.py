"""Keys of people that the data show: columns whose values repeat while a person's traits stay.

Whatever it is called, a column is the key of people if rows with the same value in it agree in sex,
day of birth or origin, far oftener than chance explains. Where nothing is known of traits, several
columns that stay the same and a column of times, in which no value comes twice, say as much.
"""

from collections.abc import Collection, Mapping, Sequence
from math import log
from typing import NamedTuple

import numpy as np

from sfumato.counts import Column
from sfumato.dataclasses import dataclass
from sfumato.policy.meanings import Key, has_word, is_of_a_person, key_of_people
from sfumato.text import number_of
from sfumato.typing import BoolArray, CodeArray, IntArray

_FEWEST_PEOPLE = 8
"""Fewer different values are those of a category."""

_MOST_ROWS = 200
"""Rows of a person, on average; without known traits, fewer."""

_MOST_ROWS_UNTOLD = 50
_FEWEST_ROWS_UNTOLD = 1.5
_FEWEST_REPEATED = 10
"""Values with several rows, where traits do not tell; some people are entered twice."""

_MOST_PAIRS, _FEWEST_COMPARED = 4_000, 200
"""Pairs of rows that are compared, of few columns and of many."""

_WORK = 100_000_000
"""Cells that are compared at most, give or take."""

_FEWEST_PAIRS = 5
_ONCE, _FILLED = 0.995, 0.1
"""The shares of rows that are the only one of a person at a time, and of times that people have."""

_STEADY = 0.97
_SHIFTS = 0.9
"""The shares of pairs that agree from which on a column stays the same, and below which not."""

_EVIDENCE = log(1e-6)
"""So unlikely must it be that rows agree by chance."""

_ALWAYS_ALIKE = 0.95
"""A column in which two rows agree so often by themselves says nothing."""

_YEARS_APART = 20
"""Ages of one person are not further apart; those of a family are."""


class Traits(NamedTuple):
    """What is known of columns by their names and values."""

    fixed: Collection[str]
    """Those that say something of a person that does not change: sex, birth, origin."""

    deciding: Collection[str]
    """Those of them in which no person has two values: sex, days and years of birth."""

    ages: Collection[str]
    times: Collection[str]
    """Those that may say when a row was written: dates, years, waves, visits."""

    shared: Collection[str]
    """Those that others share: places, work. That they stay the same says nothing of a person."""


@dataclass(frozen=True)
class PersonKey:
    """A column that tells people apart who have several rows."""

    column: str
    people: int
    """How many different values it has in the rows that were looked at."""

    steady: tuple[str, ...]
    """The columns that stay the same in all rows of a person."""

    time: str | None = None
    """The column in which no person has a value twice, if there is one: a panel."""

    @property
    def reason(self) -> str:
        """Why it is one, in a few words."""
        if not self.steady:
            return f"once for each {self.time!r}: the number of a person with several rows"
        shown = ", ".join(map(repr, self.steady[:3]))
        more = f" and {len(self.steady) - 3} more" if len(self.steady) > 3 else ""
        stay = f"{shown}{more} stay{'s' * (len(self.steady) == 1)} the same where it repeats"
        panel = "" if self.time is None else f", once for each {self.time!r}"
        return f"{stay}{panel}: the number of a person with several rows"


def find_person(
    columns: Sequence[Column],
    codes: CodeArray,
    candidates: Mapping[str, float],
    traits: Traits,
) -> PersonKey | None:
    """Find the column that identifies people; None if no column repeats as one does.

    Of several that do, the one whose name says so best is taken; then the one with fewest gaps;
    then the one with fewest values, because visits have numbers too.

    Args:
        columns: The columns of a table, or of some of its rows.
        codes: `codes[c, i]`, the value of column c in row i.
        candidates: Those that may be numbers of people, with how many rows of the whole table
            have each value, on average.
        traits: What is known of the columns.

    Example:
        >>> who = Column("x", tuple(range(40)))
        >>> sex, year = Column("sex", ("f", "m")), Column("year", (2001, 2002, 2003))
        >>> rows = np.arange(120)
        >>> codes = np.array([rows // 3, rows // 3 % 7 % 2, rows % 3], dtype=np.int32)
        >>> traits = Traits({"sex"}, {"sex"}, (), {"year"}, ())
        >>> find_person([who, sex, year], codes, {"x": 3.0}, traits)
        PersonKey(column='x', people=40, steady=('sex',), time='year')
    """
    most = max(_FEWEST_COMPARED, min(_MOST_PAIRS, _WORK // (len(columns) * len(candidates) + 1)))
    found = [
        (each, at)
        for at, column in enumerate(columns)
        if column.name in candidates and not has_word(column.name, "things")
        for each in [
            _SortedRows.of(columns, codes, at, most).as_person(traits, candidates[column.name])
        ]
        if each is not None
    ]
    if not found:
        return None

    def rank(each: tuple[PersonKey, int]) -> tuple[float, ...]:
        key, at = each
        by_name = key_of_people(key.column, identifier=True)
        gaps = np.count_nonzero(codes[at] == columns[at].missing) / codes.shape[1]
        named = by_name is not Key.NONE
        return (-named, round(gaps, 1), key.people, -int(by_name), at)

    return min(found, key=rank)[0]


@dataclass(frozen=True, eq=False)
class _SortedRows:
    """Rows in the order of one column, and how often rows that are equal in it agree in others."""

    columns: Sequence[Column]
    codes: CodeArray
    at: int

    one: IntArray
    two: IntArray
    """Pairs of rows with the same value."""

    people: int
    several: int
    """How many values there are, and how many of them have more than one row."""

    @classmethod
    def of(cls, columns: Sequence[Column], codes: CodeArray, at: int, most: int) -> "_SortedRows":
        mine, missing = codes[at], columns[at].missing
        known = np.flatnonzero(mine != missing)
        order = known[np.argsort(mine[known], kind="stable")]
        same = np.flatnonzero(mine[order[:-1]] == mine[order[1:]])
        sizes = np.bincount(mine[known]) if known.size else np.zeros(0, dtype=np.int64)
        step = max(1, len(same) // most)
        pairs = same[::step]
        return cls(
            columns,
            codes,
            at,
            order[pairs],
            order[pairs + 1],
            int(np.count_nonzero(sizes)),
            int(np.count_nonzero(sizes > 1)),
        )

    def as_person(  # noqa: C901, PLR0911 - one for each way in which a column is no key
        self, traits: Traits, rows: float
    ) -> PersonKey | None:
        """Return the key of people that the column is; None if it is none.

        Args:
            traits: What is known of the other columns.
            rows: How many rows a value has on average.
        """
        if self.people < _FEWEST_PEOPLE or rows > _MOST_ROWS:
            return None
        steady, shifting = self._compare()
        names = [column.name for column in self.columns]
        if self._are_several(steady, shifting, traits.deciding):
            return None
        if self._ages_apart(traits.ages):
            return None
        name = names[self.at]
        fixed = [j for j, each in enumerate(names) if steady[j] and each in traits.fixed]
        if fixed and self._is_evident(fixed):
            kept = tuple(names[j] for j in fixed)
            return PersonKey(name, self.people, kept, self._time(traits.times))
        others = [j for j in np.flatnonzero(steady).tolist() if names[j] not in traits.shared]
        others = [j for j in others if not self._is_copy(j)]
        time, kept = self._time(traits.times), tuple(names[j] for j in others)
        if is_of_a_person(name) and (time is not None or self._is_evident(others)):
            return PersonKey(name, self.people, kept, time)
        if rows > _MOST_ROWS_UNTOLD or self.several < _FEWEST_REPEATED:
            return None
        if not self._is_evident(others) or _is_scale(self.columns[self.at]):
            return None
        if time is not None and not self._fills(time):
            return None
        if time is None and (rows < _FEWEST_ROWS_UNTOLD or not self._are_independent(others)):
            return None
        if time is None and not shifting.any():
            # Rows that are alike in all that is known are no longer told apart by anything.
            return None
        return PersonKey(name, self.people, kept, time)

    def _are_several(
        self, steady: BoolArray, shifting: BoolArray, deciding: Collection[str]
    ) -> bool:
        """Return whether a value is that of several people: their sexes or births differ.

        The sex of a doctor or a child stands in a row, too. So it says nothing where another of
        these columns stays the same that has nearly as many values as this one: days of births.
        """
        found = [j for j, column in enumerate(self.columns) if column.name in deciding]
        own = [j for j in found if steady[j] and 2 * len(np.unique(self.codes[j])) > self.people]
        return not own and any(shifting[j] for j in found)

    def _compare(self) -> tuple[BoolArray, BoolArray]:
        """Return which columns stay the same where this one repeats, and which do not."""
        gaps = np.array([[column.missing] for column in self.columns])
        left, right = self.codes[:, self.one], self.codes[:, self.two]
        known = (left != gaps) & (right != gaps)
        pairs = known.sum(axis=1)
        share = ((left == right) & known).sum(axis=1) / np.maximum(pairs, 1)
        steady = (share >= _STEADY) & (pairs >= _FEWEST_PAIRS)
        shifting = (share < _SHIFTS) & (pairs >= _FEWEST_PAIRS)
        steady[self.at] = shifting[self.at] = False
        for j in np.flatnonzero(steady):
            steady[j] = self._agreement(int(j)) <= _ALWAYS_ALIKE
        return steady, shifting

    def _agreement(self, j: int) -> float:
        """Return how likely two rows have the same value of a column, if they have one."""
        # Only rows that have a value here: a weight at birth is known of live births alone.
        codes = self.codes[j, self.codes[self.at] != self.columns[self.at].missing]
        known = codes[codes != self.columns[j].missing]
        shares = np.bincount(known) / max(known.size, 1)
        return float(np.square(shares).sum()) if known.size else 1.0

    def _is_evident(self, steady: Sequence[int]) -> bool:
        """Return whether values with several rows agree more often than by chance."""
        if not steady:
            return False
        agree = sum(log(max(self._agreement(j), 1e-12)) for j in steady)
        return self.several * agree <= _EVIDENCE

    def _is_copy(self, j: int) -> bool:
        """Return whether a column has nearly as many values as this one: another spelling."""
        return len(np.unique(self.codes[j])) >= 0.9 * self.people

    def _are_independent(self, steady: Sequence[int]) -> bool:
        """Return whether two of the columns say different things of the people."""
        for i in steady:
            for j in steady:
                if i < j and not (self._tells(i, j) or self._tells(j, i)):
                    return True
        return False

    def _tells(self, i: int, j: int) -> bool:
        a, b = self.codes[i], self.codes[j]
        both = len(np.unique(a.astype(np.int64) * (int(b.max()) + 1) + b))
        return both <= 1.02 * len(np.unique(a))

    def _ages_apart(self, ages: Collection[str]) -> bool:
        """Return whether ages of the same value differ as only those of several people do.

        A column may hold the ages of others: one that stays about the same is enough.
        """
        found = [self._is_apart(j) for j, c in enumerate(self.columns) if c.name in ages]
        return bool(found) and all(found)

    def _is_apart(self, j: int) -> bool:
        numbers = [number_of(value) for value in self.columns[j].values]
        years = np.array([np.nan if n is None else n for n in numbers], dtype=float)
        apart = np.abs(years[self.codes[j, self.one]] - years[self.codes[j, self.two]])
        known = apart[~np.isnan(apart)]
        if known.size < _FEWEST_PAIRS:
            return False
        limit = max(_YEARS_APART, 0.3 * float(np.nanmax(years) - np.nanmin(years)))
        return bool(np.count_nonzero(known > limit) > 0.05 * known.size)

    def _fills(self, time: str) -> bool:
        """Return whether most people have a row at a good part of all times."""
        j = next(i for i, column in enumerate(self.columns) if column.name == time)
        rows = self.codes.shape[1]
        return bool(rows >= _FILLED * self.people * len(np.unique(self.codes[j])))

    def _time(self, times: Collection[str]) -> str | None:
        """Return the column in which nearly no value comes twice for the same person."""
        for j, column in enumerate(self.columns):
            if column.name in times and j != self.at:
                known = (self.codes[self.at] != self.columns[self.at].missing) & (
                    self.codes[j] != column.missing
                )
                mine = self.codes[self.at, known].astype(np.int64)
                both = mine * (len(column.values) + 1) + self.codes[j, known]
                if both.size < 0.8 * len(known):
                    continue
                if len(np.unique(both)) >= _ONCE * both.size:
                    return column.name
        return None


def _is_scale(column: Column) -> bool:
    """Return whether values are numbers with decimals, which do not number people."""
    numbers = [number_of(value) for value in column.known]
    return any(number is not None and not number.is_integer() for number in numbers)
