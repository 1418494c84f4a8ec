"""The attack of those who know some items of a person: a few purchases, or diagnoses."""

from dataclasses import replace
from math import comb
from typing import ClassVar, NamedTuple, Self

import numpy as np

from sfumato.attacks.base import MOST_CASES, ONE_ROW_EACH, Attack, Case, Outcome, advise
from sfumato.attacks.knowledge import ItemRows
from sfumato.attacks.target import Target
from sfumato.counts.baskets import Baskets, Combinations, combinations_of
from sfumato.dataclasses import dataclass
from sfumato.errors import InputError, UnknownColumnError, require_int
from sfumato.harm import Chance, HarmRule, Level, chance_of_values
from sfumato.models import KmAnonymity
from sfumato.policy.remedies import PromiseMore, Remedy
from sfumato.text import text_of
from sfumato.typing import FloatArray, IntArray

_MOST_SETS = 20_000_000
"""Sets of items that are looked at, counted once for each row that has them."""

_UNKNOWN = 2
"""How many items are taken to be known if nothing is promised about it."""


@dataclass(frozen=True)
class KnownItems(Attack):
    """Look for a person among the rows that have the items which are known of them.

    Who knows the quasi-identifiers of a person and some of their items (a diagnosis from work, a
    purchase that was seen) finds the rows of the class that have all of them. Of n such rows one is
    the person's with 1/n; and whatever most of them have in a sensitive column is believed of the
    person. Items that were generalised are looked up by their labels, and those that were left out
    tell nothing. Every set of items that a row has is tried, up to as many as are known, and each
    person counts by the worst of theirs.

    Finds: how surely a row is a person's, or with `column` what their value is.
    Does not find: what is told by items that a person does *not* have; by more items than `known`;
    which other items go with those that are known.

    Reference: Terrovitis, Mamoulis and Kalnis, "Privacy-preserving anonymization of set-valued
    data", Proceedings of the VLDB Endowment 1(1), 2008, doi:10.14778/1453856.1453874

    Args:
        known: How many items of a person the adversary knows at most.
        column: The sensitive column that is told; None if it is about the person's row.

    Example:
        >>> from sfumato.counts import FrequencySet
        >>> baskets = Baskets.of_cells(
        ...     np.array([0, 1, 2, 2]), np.array([0, 0, 0, 1]), 3, ("tea", "ice"))
        >>> rows = ItemRows((), np.empty((0, 3), dtype=np.int32), baskets, ("meal", "meal"), {})
        >>> everybody = Target.of_table(FrequencySet.from_rows(["sex"], [("f",)] * 3), ("sex",), ())
        >>> print(KnownItems(1).on(replace(everybody, items=rows), HarmRule()).worst[0])
        meal=ice (1): the row is the person's, 33 % before, 100 % after
    """

    name: ClassVar[str] = "known-items"
    counts_people: ClassVar[bool] = False
    how: ClassVar[str] = (
        "Knows some items of a person, and looks at the rows of their class that have all of them."
    )
    advice: ClassVar[str] = (
        "Let more people share any items that are known: models: [{{model: km-anonymity, k: 10, m: "
        "2}}]."
    )

    known: int = _UNKNOWN
    column: str | None = None

    def remedies(self, outcome: Outcome, rule: HarmRule) -> tuple[Remedy, ...]:
        return (PromiseMore((KmAnonymity(10, 2),)),)

    def __post_init__(self) -> None:
        require_int("known", self.known, at_least=1)

    @classmethod
    def against(cls, target: Target, rule: HarmRule) -> list[Self]:  # noqa: ARG003 - all alike
        if target.items is None or target.person is not None:
            return []
        known = target.items.known or _UNKNOWN
        return [cls(known, column) for column in (None, *target.items.sensitive)]

    @classmethod
    def why_not(cls, target: Target) -> str:
        if target.items is not None:
            return ONE_ROW_EACH
        return "the release has no column of several items per row (role set)"

    def on(self, target: Target, rule: HarmRule) -> Outcome:
        if target.items is None:
            raise InputError(f"{self.name} cannot be tried: {self.why_not(target)}.")
        self.require_countable(target)
        rows = target.items
        if self.column is not None and self.column not in rows.sensitive:
            raise UnknownColumnError(
                self.column, list(rows.sensitive), where="the sensitive columns"
            )
        known = _reachable(rows.baskets, self.known)
        sets = _all_sets(rows, known)
        found = _links(rows, sets) if self.column is None else _values(rows, sets, self.column)
        # A row that is found is no value learned yet: one in five, as promised so often, is low.
        judging = replace(rule, moderate=rule.high) if self.column is None else rule
        return self._outcome(rows, sets, found, judging, known)

    def _outcome(
        self, rows: ItemRows, sets: "_Sets", found: "_Guesses", rule: HarmRule, known: int
    ) -> Outcome:
        of = rows.baskets.rows
        judged = rule.judge(found.prior, found.posterior, of, chance=found.chance(rule))
        levels = judged.levels
        harm = 4.0 * levels + found.posterior - found.prior
        # Of what is known of a person, what harms them most; of equals, the first.
        order = np.lexsort((-sets.number, harm[sets.number], sets.row))
        last = np.flatnonzero(np.diff(sets.row[order], append=-1))
        worst_of = sets.number[order[last]]
        people = np.bincount(worst_of, minlength=len(harm))
        shown = np.lexsort((np.arange(len(harm)), -people, -found.posterior, -levels))
        shown = shown[(people[shown] > 0) & (found.posterior[shown] > 0)][:MOST_CASES]
        cases = tuple(
            Case(
                rows.who(int(sets.example[at]), sets.items(at)),
                int(people[at]),
                found.belief(at),
                float(found.prior[at]),
                float(found.posterior[at]),
                Level(int(levels[at])),
            )
            for at in shown.tolist()
        )
        settings = self.params()
        settings.pop("column", None)
        left = f"{self.known} items known at once: too many sets of more than {known}"
        return Outcome.of_levels(
            self,
            self.column,
            [int(people[levels == level].sum()) for level in Level],
            cases,
            rule,
            of=of,
            by_chance=int(people[judged.by_chance].sum()),
            settings=settings,
            unreached=left if known < self.known else "",
            advice=advise(self.advice, self.column, cases[0] if cases else None, rule),
        )


def _reachable(baskets: Baskets, known: int) -> int:
    """Return up to how many items at once all sets can be looked at; one at least."""
    sizes, rows = np.unique(baskets.sizes, return_counts=True)
    sets = 0
    for size in range(1, known + 1):
        pairs = zip(sizes.tolist(), rows.tolist(), strict=True)
        sets += sum(comb(n, size) * times for n, times in pairs)
        if sets > _MOST_SETS:
            return max(size - 1, 1)
    return known


class _Sets(NamedTuple):
    """All sets of items that rows have, of every size."""

    row: IntArray
    number: IntArray
    support: IntArray
    example: IntArray
    """For each set, a row that has it."""

    several: list[Combinations]

    def items(self, at: int) -> IntArray:
        """Return the items of a set."""
        for each in self.several:
            if at < len(each.support):
                return each.items[:, each.first[at]]
            at -= len(each.support)
        raise IndexError(at)


def _all_sets(rows: ItemRows, known: int) -> _Sets:
    classes = rows.class_of
    several = [combinations_of(rows.baskets, classes, size) for size in range(1, known + 1)]
    before = np.cumsum([0, *(len(each.support) for each in several)])
    return _Sets(
        np.concatenate([each.row for each in several]),
        np.concatenate([e.number + b for e, b in zip(several, before[:-1], strict=True)]),
        np.concatenate([each.support for each in several]),
        np.concatenate([each.row[each.first] for each in several]),
        several,
    )


class _Guesses(NamedTuple):
    """What is believed of those who have each set of items."""

    prior: FloatArray
    posterior: FloatArray
    text: tuple[str, ...]
    """What is believed, by `which`."""

    which: IntArray
    counts: tuple[IntArray, IntArray, IntArray, IntArray] | None = None
    """Known rows, those with the value, the table's rows with it, and of each value."""

    def belief(self, at: int) -> str:
        """Return what is believed, in words."""
        return self.text[int(self.which[at])]

    def chance(self, rule: HarmRule) -> Chance | None:
        """Return how far independence explains it."""
        return None if self.counts is None else chance_of_values(rule, *self.counts)


def _links(rows: ItemRows, sets: _Sets) -> _Guesses:
    among = rows.baskets.rows
    prior = 1 / among if among > 1 else 0.0
    n = len(sets.support)
    return _Guesses(
        np.full(n, prior),
        1 / np.maximum(sets.support, 1),
        ("the row is the person's",),
        np.zeros(n, dtype=np.int64),
    )


def _values(rows: ItemRows, sets: _Sets, name: str) -> _Guesses:
    """Guess the most frequent value of those who have a set; of equals the one rarest elsewhere."""
    column, codes = rows.sensitive[name]
    width = len(column.values)
    reference = np.bincount(codes, minlength=width)[: len(column.known)]
    share = reference / max(int(reference.sum()), 1)
    of_row = codes[sets.row].astype(np.int64)
    given = of_row < len(column.known)
    keys, times = np.unique(sets.number[given] * width + of_row[given], return_counts=True)
    which, value = keys // max(width, 1), keys % max(width, 1)
    order = np.lexsort((-share[value], times, which))
    last = order[np.flatnonzero(np.diff(which[order], append=-1))]
    n = len(sets.support)
    known = np.bincount(which, weights=times, minlength=n).astype(np.int64)
    guessed = np.full(n, width, dtype=np.int64)
    most = np.zeros(n, dtype=np.int64)
    guessed[which[last]], most[which[last]] = value[last], times[last]
    prior = np.append(share, [0.0] * (width + 1 - len(share)))[guessed]
    marked = np.append(reference, [0] * (width + 1 - len(reference)))[guessed]
    texts = tuple(f"{name} = {text_of(each)}" for each in column.values)
    return _Guesses(
        prior,
        most / np.maximum(known, 1),
        (*texts, "nothing"),
        guessed,
        (known, most, marked, reference),
    )
