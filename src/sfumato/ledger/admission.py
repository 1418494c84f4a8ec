"""Admission: which rows join a group now, which leave it, and which wait, cell by cell.

A *cell* is the people who joined one group in one release. All that is ever published of a ledger
are the tables of cells, one table per sensitive column, as they are born and as they are after
some have left. Who compares the releases sees *parts*: those who joined together, those of them
who left together, and those who are still there. A person belongs to one part, and what is
believed of the person is a share in its tables. So one rule is enough:

**Every part that can be seen has at least k people, no value has a share above alpha in it, and it
keeps the policy.** Shares are among the values that are known: a missing value hides no person,
and nor does one that says nothing, such as `unknown`.

Combinations of values need no rule of their own. The tables of two columns say nothing about who
has both values, so a combination is believed with the product of shares, which is no larger.

A value that is corrected is seen by those who knew the old one: see `sfumato.ledger.corrections`.
What does not fit waits. Which of several choices it is, is drawn at random.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from fractions import Fraction
from math import ceil

import numpy as np

from sfumato.dataclasses import dataclass
from sfumato.ledger.store import RowsPerPerson
from sfumato.typing import BoolArray, IntArray

MISSING = 0
"""The code of a missing value, in every column."""

_TRIES = 8
"""How often another choice of rows is drawn before they wait."""

_MOST_DRAWN = 10**9
"""NumPy draws exactly among fewer rows than this."""


@dataclass(frozen=True, eq=False)
class SeenTogether:
    """People who are seen together: how many there are, and how many have each value.

    Example:
        >>> part = SeenTogether(5, (np.array([0, 2, 1, 2]), np.array([2, 2, 1])))
        >>> part.worst  # of three people whose value is known, two have the same
        Fraction(2, 3)
    """

    size: int
    counts: tuple[IntArray, ...]
    """One array per sensitive column, by code: the first number counts missing values. Each adds
    up to the size."""

    harmless: tuple[BoolArray, ...] | None = None
    """Of each column and code, whether the policy calls the value harmless; None if none is."""

    silent: tuple[BoolArray, ...] | None = None
    """Of each column and code, whether the value says that nothing was said; None if none does."""

    @property
    def worst(self) -> Fraction:
        """The largest share of any value among those that are known; 0 if none is.

        A value that the policy calls harmless is no finding, and counts among those known.
        """
        shares = [Fraction(0)]
        for column in range(len(self.counts)):
            known = self.count_known(column)
            if known:
                most = int(self.limited_counts(column)[1:].max(initial=0))
                shares.append(Fraction(most, known))
        return max(shares)

    def limited_counts(self, column: int) -> IntArray:
        """Return the counts of a column without values that are harmless or say nothing."""
        count = self.counts[column]
        if self.silent is not None:
            count = np.where(self.silent[column], 0, count)
        return count if self.harmless is None else np.where(self.harmless[column], 0, count)

    def says(self, column: int) -> BoolArray:
        """Return of each code of a column whether it says a value: neither is it missing."""
        found: BoolArray = np.ones(len(self.counts[column]), dtype=bool)
        if self.silent is not None:
            found = ~self.silent[column]
        found[MISSING] = False
        return found

    def count_known(self, column: int) -> int:
        """Return of how many people a value of a column is said."""
        count = self.counts[column]
        return int(count[1:].sum() if self.silent is None else count[self.says(column)].sum())

    @property
    def possible(self) -> bool:
        """Whether no count is negative."""
        return self.size >= 0 and all(int(count.min(initial=0)) >= 0 for count in self.counts)

    def is_within(self, alpha: Fraction) -> bool:
        """Return whether no share is above a limit."""
        return self.find_excess(alpha) is None

    def find_excess(self, alpha: Fraction) -> tuple[int, int] | None:
        """Return the column and the code of the value that is most above a limit, if any is."""
        found: tuple[int, int] | None = None
        most = 0
        for column, count in enumerate(self.counts):
            if len(count) == 1:
                continue
            limited = self.limited_counts(column)[1:]
            value = int(limited.argmax())
            above = int(limited[value]) * alpha.denominator - alpha.numerator * self.count_known(
                column
            )
            if above > most:
                most, found = above, (column, value + 1)
        return found

    def plus(self, values: IntArray, rows: IntArray) -> "SeenTogether":
        """Add rows: `values[i, r]` is the code of combination r in column i."""
        counts = tuple(
            count + np.bincount(code, weights=rows, minlength=len(count)).astype(np.int64)
            for count, code in zip(self.counts, values, strict=True)
        )
        return replace(self, size=self.size + int(rows.sum()), counts=counts)

    def minus(self, other: "SeenTogether") -> "SeenTogether":
        """Remove people; a count may become negative, see `possible`."""
        counts = tuple(a - b for a, b in zip(self.counts, other.counts, strict=True))
        return replace(self, size=self.size - other.size, counts=counts)

    def without_people(self) -> "SeenTogether":
        """Return a part with the same values and without people."""
        return replace(self, size=0, counts=tuple(np.zeros_like(count) for count in self.counts))

    def is_limited(self, column: int, code: int) -> bool:
        """Return whether alpha limits a value: it is said, and not called harmless."""
        if code == MISSING or (code > 0 and self.silent is not None and self.silent[column][code]):
            return False
        return self.harmless is None or code < 0 or not self.harmless[column][code]


@dataclass(frozen=True, eq=False)
class Offers:
    """Rows that want to join a group or to leave a cell, equal ones counted together."""

    values: IntArray
    """`values[i, c]`: the code of combination c in sensitive column i."""

    rows: IntArray
    """How many rows have combination c."""

    @property
    def total(self) -> int:
        """The number of rows."""
        return int(self.rows.sum())

    def none(self) -> IntArray:
        """Return that no row is chosen."""
        return np.zeros_like(self.rows)


@dataclass(frozen=True)
class Rules:
    """What every part that can be seen must keep."""

    alpha: Fraction
    """The largest share of a value. Where people have several rows it is what alpha leaves for
    each of them."""

    k: int
    broken: Callable[[SeenTogether], str] = field(default=lambda part: "")  # noqa: ARG005
    """Lists the promises of the policy that a part would break."""

    closed: Mapping[str, str] = field(default_factory=dict)
    """Groups that stay as they are, by their keys, and why."""

    at_once: bool = False
    """Whether rows that are to be removed leave now, at whatever cost for others."""

    rows_per_person: RowsPerPerson | None = None
    """How many rows a person may have; None if each row is a person."""

    hide_waiting: bool = False
    """Whether newcomers are decided on in lots, so that waiting tells no value."""

    draws: dict[str, float] = field(default_factory=dict)
    """The number drawn for each lot: the same if a release is decided on again."""

    def objection(self, part: SeenTogether, who: str) -> str:
        """Return why a part may not be seen; empty if it may."""
        if part.size < self.k:
            return f"{who} would be {part.size}, fewer than k={self.k}"
        if not part.is_within(self.alpha):
            return (
                f"{who} would show a value with up to {_percent(part.worst)}, more than "
                f"{_percent(self.alpha)}"
            )
        broken = self.broken(part)
        return f"{who} would break {broken}" if broken else ""


@dataclass(frozen=True, eq=False)
class AdmittedRows:
    """Which rows are published, and why not all of them are."""

    taken: IntArray
    part: SeenTogether
    """The people who are, by themselves."""

    why: str = ""


def choose_newcomers(
    empty: SeenTogether, offers: Offers, rules: Rules, rng: np.random.Generator
) -> AdmittedRows:
    """Return which rows make a new cell: as many as can be, or none.

    Example:
        >>> empty = SeenTogether(0, (np.zeros(3, dtype=np.int64),))
        >>> offers = Offers(np.array([[1, 2]]), np.array([3, 1]))
        >>> rules, rng = Rules(Fraction(1, 2), 2), np.random.default_rng(1)
        >>> choice = choose_newcomers(empty, offers, rules, rng)
        >>> choice.taken.tolist(), choice.why
        ([1, 1], 'a value is too frequent among the newcomers')
    """
    if offers.total < rules.k:
        why = f"the newcomers would be {offers.total}, fewer than k={rules.k}"
        return AdmittedRows(offers.none(), empty, why)
    taken = offers.rows
    if not empty.plus(offers.values, taken).is_within(rules.alpha):
        # Which rows are dropped first decides how many are left in the end.
        drawn = (_take_within(empty, offers, taken, rules.alpha, rng) for _ in range(_TRIES))
        taken = max(drawn, key=lambda rows: int(rows.sum()))
    part = empty.plus(offers.values, taken)
    if not part.size:
        return AdmittedRows(offers.none(), empty, "the newcomers are too much alike")
    why = rules.objection(part, "the newcomers")
    if why:
        return AdmittedRows(offers.none(), empty, why)
    frequent = "a value is too frequent among the newcomers"
    return AdmittedRows(taken, part, frequent if part.size < offers.total else "")


def choose_leavers(
    cell: SeenTogether,
    offers: Offers,
    rules: Rules,
    rng: np.random.Generator,
    *,
    fits: Callable[[SeenTogether], bool] = lambda part: True,  # noqa: ARG005
) -> AdmittedRows:
    """Return which rows leave a cell together: as many as can be, or none.

    Those who leave are seen by themselves, and so are those who stay. If all leave, nothing is
    seen that was not before.

    Args:
        cell: Who is there now.
        offers: Who wants to leave.
        rules: What both parts must keep.
        rng: Draws among equals.
        fits: Whether a part may be seen in spite of what was corrected in the cell.
    """
    empty = cell.without_people()
    everyone = empty.plus(offers.values, offers.rows)
    if everyone.size == cell.size and cell.minus(everyone).possible:
        return AdmittedRows(offers.rows.copy(), everyone)
    why = "those who leave do not hide each other"
    for _ in range(_TRIES if _may_hide(everyone, rules) else 0):
        taken = _take_apart(cell, offers, rules, rng)
        if taken is None:
            continue
        part = empty.plus(offers.values, taken)
        rest = cell.minus(part)
        why = rules.objection(part, "those who leave") or rules.objection(rest, "those who stay")
        if not why and not (fits(part) and fits(rest)):
            why = "a value was corrected before, and those who left would reveal whose"
        if not why:
            kept = "" if part.size == offers.total else "those who stay would reveal too much"
            return AdmittedRows(taken, part, kept)
    if offers.total < rules.k:
        why = f"those who leave would be {offers.total}, fewer than k={rules.k}"
    return AdmittedRows(offers.none(), empty, why)


def _may_hide(everyone: SeenTogether, rules: Rules) -> bool:
    """Return whether some k of these people may be within alpha, as far as each column tells.

    Cells are asked this in every release in which people wait to leave them, and most have too few.

    >>> _may_hide(SeenTogether(4, (np.array([0, 3, 1]),)), Rules(Fraction(1, 2), 3))
    False
    """
    if everyone.size < rules.k:
        return False
    for column in range(len(everyone.counts)):
        known = everyone.count_known(column)
        missing = everyone.size - known
        if missing >= rules.k:
            continue
        # Of m whose value is known, each value may be that of a share of alpha.
        m = np.arange(rules.k - missing, known + 1)
        limited = everyone.limited_counts(column)[1:]
        most = np.minimum(limited[:, None], m * rules.alpha.numerator // rules.alpha.denominator)
        if not (most.sum(axis=0) + known - limited.sum() >= m).any():
            return False
    return True


def _take_apart(
    cell: SeenTogether, offers: Offers, rules: Rules, rng: np.random.Generator
) -> IntArray | None:
    """Return rows that may leave a cell together as far as k and alpha go, or None."""
    taken = offers.rows
    for _ in range(2 * len(cell.counts) + 2):
        taken = _take_within(cell.without_people(), offers, taken, rules.alpha, rng)
        rest = cell.minus(cell.without_people().plus(offers.values, taken))
        if not rest.possible:
            return None
        if rest.size < rules.k:
            taken = _drop(taken, taken > 0, rules.k - rest.size, rng)
            continue
        excess = rest.find_excess(rules.alpha)
        if excess is None:
            return taken if taken.sum() >= rules.k else None
        # A value is too frequent among those who stay: some with others must stay too.
        column, value = excess
        count, known = int(rest.counts[column][value]), rest.count_known(column)
        others = (offers.values[column] != value) & rest.says(column)[offers.values[column]]
        taken = _drop(taken, others, ceil(count / rules.alpha) - known, rng)
    return None


def _take_within(
    base: SeenTogether, offers: Offers, rows: IntArray, alpha: Fraction, rng: np.random.Generator
) -> IntArray:
    """Return as many of some rows as keep a part within alpha, together with those in it."""
    taken = rows.copy()
    part = base.plus(offers.values, taken)
    while (excess := part.find_excess(alpha)) is not None:
        column, value = excess
        count, known = int(part.counts[column][value]), part.count_known(column)
        guilty = (offers.values[column] == value) & (taken > 0)
        above = count * alpha.denominator - alpha.numerator * known
        too_many = -(-above // (alpha.denominator - alpha.numerator))
        taken = _drop(taken, _worst_of(part, offers, guilty, alpha), too_many, rng)
        part = base.plus(offers.values, taken)
    return _add_back(part, offers, rows, taken, alpha, rng)


def _worst_of(part: SeenTogether, offers: Offers, guilty: BoolArray, alpha: Fraction) -> BoolArray:
    """Keep of some rows those that have most other values that are too frequent."""
    score = np.zeros(len(guilty), dtype=np.int64)
    for column, codes in enumerate(offers.values):
        known = part.count_known(column)
        frequent = part.limited_counts(column) * alpha.denominator > alpha.numerator * known
        frequent[MISSING] = False
        score += frequent[codes]
    worst: BoolArray = guilty & (score == score[guilty].max(initial=0))
    return worst


def _drop(taken: IntArray, which: BoolArray, n: int, rng: np.random.Generator) -> IntArray:
    """Return fewer rows: n are drawn among some combinations, or all if there are fewer."""
    left = np.where(which, taken, 0)
    n = min(n, int(left.sum()))
    if n <= 0:
        return taken
    return taken - _draw(left, n, rng)


def _draw(rows: IntArray, n: int, rng: np.random.Generator) -> IntArray:
    """Draw n of the rows of some combinations, each row alike.

    >>> _draw(np.array([2**53, 0, 2**52]), 2**52, np.random.default_rng(1)).sum() == 2**52
    np.True_
    """
    total = int(rows.sum())
    if total < _MOST_DRAWN:
        return rng.multivariate_hypergeometric(rows, n, method="marginals").astype(np.int64)
    # About n are drawn, each row by itself; the few too many or too few are drawn of these again.
    drawn = rng.binomial(rows, n / total).astype(np.int64)
    missing = n - int(drawn.sum())
    if missing > 0:
        return drawn + _draw(rows - drawn, missing, rng)
    return drawn - _draw(drawn, -missing, rng) if missing else drawn


def _add_back(
    part: SeenTogether,
    offers: Offers,
    rows: IntArray,
    taken: IntArray,
    alpha: Fraction,
    rng: np.random.Generator,
) -> IntArray:
    """Return more rows: those that were dropped for a value that is not too frequent any more."""
    if not part.size:
        return taken
    counts = [count.tolist() for count in part.counts]
    known = [part.count_known(column) for column in range(len(counts))]
    says = [part.says(column).tolist() for column in range(len(counts))]
    before = -1
    # A row that is taken may make room for one that was passed over.
    while before < (before := int(taken.sum())):
        for c in rng.permutation(np.flatnonzero(rows > taken)).tolist():
            codes = offers.values[:, c].tolist()
            while taken[c] < rows[c] and all(
                not part.is_limited(i, code)
                or (counts[i][code] + 1) * alpha.denominator <= alpha.numerator * (known[i] + 1)
                for i, code in enumerate(codes)
            ):
                taken[c] += 1
                for i, code in enumerate(codes):
                    counts[i][code] += 1
                    known[i] += says[i][code]
    return taken


def count_room(part: SeenTogether, row: Sequence[int], alpha: Fraction) -> int | None:
    """Return how many further rows of one combination a part takes; None if there is no end.

    A code below 0 is a value that no row has.

    >>> part = SeenTogether(4, (np.array([0, 2, 2]),))
    >>> count_room(part, [1], Fraction(3, 5))
    1
    """
    if alpha == 1:
        return None
    found = None
    for column, (count, code) in enumerate(zip(part.counts, row, strict=True)):
        if not part.is_limited(column, code):
            continue
        known, mine = part.count_known(column), int(count[code]) if code >= 0 else 0
        room = max(int((alpha * known - mine) / (1 - alpha)), 0)
        found = room if found is None else min(found, room)
    return found


def count_of_next(part: SeenTogether, row: Sequence[int], alpha: Fraction, fewest: int) -> int:
    """Return how many of the next rows may have a combination, if all others have other values.

    Args:
        part: Those who wait.
        row: The codes of the combination; below 0 is a value that no row has.
        alpha: The limit.
        fewest: How many rows make a cell: the next ones are those that are missing, at least one.

    >>> part = SeenTogether(1, (np.array([0, 1, 0]),))
    >>> count_of_next(part, [1], Fraction(1, 2), 4), count_of_next(part, [2], Fraction(1, 2), 4)
    (1, 2)
    """
    more = max(fewest - part.size, 1)
    found = more
    for column, (count, code) in enumerate(zip(part.counts, row, strict=True)):
        if part.is_limited(column, code):
            known, mine = part.count_known(column), int(count[code]) if code >= 0 else 0
            most = (known + more) * alpha.numerator // alpha.denominator
            found = min(found, max(most - mine, 0))
    return found


def _percent(share: Fraction) -> str:
    return f"{100 * float(share):.4g} %"
