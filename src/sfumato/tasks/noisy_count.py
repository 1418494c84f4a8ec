"""Count people with noise: one answer to one question, from a budget."""

from collections.abc import Callable, Mapping
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from sfumato.conditions import Question, Range
from sfumato.counts import Column
from sfumato.dataclasses import dataclass
from sfumato.errors import ParameterError
from sfumato.files.reading import Reading
from sfumato.hierarchy.labels import day_of
from sfumato.policy import GivenPolicy, policy_of
from sfumato.releases.people import require_people
from sfumato.releases.preparing import open_value_by_value
from sfumato.showing.content import Content, Showable, plain_of
from sfumato.synthesis.account import read_account, spend
from sfumato.synthesis.budget import PrivacyBudget
from sfumato.synthesis.noise import noise_of_sum
from sfumato.synthesis.opendp import Libraries, libraries, require_extra
from sfumato.tables import said_of
from sfumato.text import fold_spelling, number_of, text_of
from sfumato.typing import BoolArray, Value


@dataclass(frozen=True)
class NoisyCount(Showable):
    """A number of people with noise: about as many, and what that tells of each of them is bounded.

    Example:
        >>> print(NoisyCount(118, 0.5, {"ill": "flu"}, "person"))
        about 118 people have ill=flu, 112 to 124 with 95 % confidence (epsilon 0.5)
    """

    count: int
    """The count with its noise: it may be below zero."""

    epsilon: float
    where: Mapping[str, str]
    unit: str = "row"
    """Whom the promise is about."""

    @property
    def within(self) -> int:
        """How far off the count is at most, in 95 of 100 draws."""
        return noise_of_sum(1 / self.epsilon, 1, 0.95, pure=True)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, ready for JSON."""
        return plain_of(self, "count epsilon within unit where")

    def content(self) -> Content:
        """Return the count and how far off it may be."""
        asked = " and ".join(f"{name}={given}" for name, given in self.where.items())
        what = "rows" if self.unit == "row" else "people"
        low, high = self.count - self.within, self.count + self.within
        return Content(
            f"about {self.count} {what} have {asked}, {low} to {high} with 95 % confidence "
            f"(epsilon {self.epsilon:.4g})"
        )


def noisy_count(
    data: object,
    where: Mapping[str, object],
    *,
    epsilon: float,
    policy: GivenPolicy | None = None,
    account: str | PathLike[str] | None = None,
) -> NoisyCount:
    """Count the people who have some values, with the noise that a budget asks for.

    Promises: differential privacy for each person of the policy, or for each row if it names none:
    who has a row that fits counts once, however many there are. OpenDP draws the noise. What is
    asked is public, and must not be chosen by looking at the table.

    Does not promise: anything about other answers of the same people. Budgets add up; an account
    adds them, together with those of synthetic rows, and refuses what is beyond its limit.

    Args:
        data: The table itself, and no release: what was published needs no budget (`sf.estimate`).
        where: Per column a range `(low, high)` with both ends inside (None leaves one open), a
            list of values, or a value. None is the missing value.
        epsilon: How much one person may change.
        policy: Says what a person is, and how the table is read.
        account: The account of the source, where what is spent is written down before it is.
    """
    require_extra()
    if not isinstance(where, Mapping) or not where:
        raise ParameterError("where", where, "at least one condition")
    asked = {name: Question.of(name, given) for name, given in where.items()}
    given = policy_of(policy)
    table = open_value_by_value(data, given)
    reading = said_of(data, None if given is None else given.reading)
    who = None if given is None else given.counted_person
    if given is not None and who is None:
        require_people(table, given)
    columns = dict.fromkeys((*asked, *([] if who is None else [who])))
    if account is not None:
        read_account(Path(account))
    budget = PrivacyBudget.of(epsilon=epsilon)
    counts = table.count(list(columns))
    fits = np.ones(len(counts), dtype=bool)
    for name, question in asked.items():
        fits &= _fitting(counts.column(name), question, reading)[counts.codes_of(name)]
    if who is None:
        exact = int(counts.rows[fits].sum())
    else:
        # A row without a person is nobody's, and counts for none.
        known = np.array([value is not None for value in counts.column(who).values], dtype=bool)
        person = counts.codes_of(who)
        exact = len(np.unique(person[fits & known[person]]))
    unit = "row" if who is None else "person"
    if account is not None:
        spend(Path(account), budget, "noisy count", unit=unit, contributions=1)
    noisy = with_noise(libraries(), budget.epsilon)(exact)
    return NoisyCount(int(noisy), budget.epsilon, {n: str(q) for n, q in asked.items()}, unit)


def with_noise(lib: Libraries, epsilon: float) -> Any:  # noqa: ANN401 - OpenDP's
    """Return OpenDP's measurement of a count that one person changes by one."""
    dp = lib.dp
    space = dp.atom_domain(T="i64"), dp.absolute_distance(T="i64")
    scale = dp.binary_search_param(
        lambda scale: dp.m.make_laplace(*space, scale=scale), d_in=1, d_out=epsilon, T=float
    )
    return dp.m.make_laplace(*space, scale=scale)


def _fitting(column: Column, question: Question, reading: Reading) -> BoolArray:
    """Return which values fit, each by itself: none is read by what others are."""
    return np.array([_fits(value, question, reading) for value in column.values], dtype=bool)


def _fits(value: Value, question: Question, reading: Reading = Reading()) -> bool:  # noqa: B008
    """Return whether a value is asked for.

    >>> ages, ills = Question.of("age", (30, 45)), Question.of("ill", ["flu", None])
    >>> [_fits(v, ages) for v in (30, "45", 46, "x", None)], [_fits(v, ills) for v in ("Flu", None)]
    ([True, True, False, False, False], [True, True])
    """
    number = reading.number(value) if isinstance(value, str) else value
    for item in question.items:
        if item is None or value is None:
            if item is value:
                return True
        elif isinstance(item, Range):
            if _lies_in(number, number_of, item) or _lies_in(value, day_of, item):
                return True
        elif fold_spelling(text_of(item)) in {
            fold_spelling(text_of(each)) for each in (value, number) if each is not None
        }:
            return True
    return False


def _lies_in(value: Value, reader: Callable[[Value], Any], asked: Range) -> bool:
    """Return whether a value lies in a range, both read as numbers or as days."""
    low, high = (None if end is None else reader(end) for end in (asked.low, asked.high))
    unread = (low is None) > (asked.low is None) or (high is None) > (asked.high is None)
    point = reader(value)
    if unread or point is None:
        return False
    return (low is None or low <= point) and (high is None or point <= high)
