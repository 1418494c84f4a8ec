"""The attack by equal counts: values that occur equally often in every group belong together."""

from typing import ClassVar, NamedTuple, Self

import numpy as np

from sfumato.attacks.base import MOST_CASES, Attack, Case, Outcome
from sfumato.attacks.target import Target
from sfumato.dataclasses import dataclass
from sfumato.decouplings.base import GroupedTables
from sfumato.errors import InputError, UnknownColumnError, require_text
from sfumato.harm import HarmRule, Level, Secrecy, count_tail
from sfumato.models import TCloseness
from sfumato.policy.adversaries import Knows
from sfumato.policy.remedies import GiveRole, PromiseMore, Remedy
from sfumato.schema import Role
from sfumato.text import text_of
from sfumato.typing import FloatArray, IntArray

_VALUES = 256
"""The most values of a column that are compared, the commonest first."""

_LIMIT = 0.001
"""What is less probable than this is not taken for chance."""


@dataclass(frozen=True)
class EqualCounts(Attack):
    """Join two tables of a decoupled release by values that are equally frequent in each group.

    In one group 37 people take AZT and 37 have HIV, in the next it is 12 and 12, and no other
    values agree so. Who knows that a person takes AZT then knows the illness, however few groups
    there are: no statistics of many groups are needed.

    Finds: pairs of values, one of each column, with the same counts in all groups, which no other
    value has, where columns that have nothing to do with each other would not agree like that:
    as many pairs by chance have a probability of less than one in a thousand, or this pair alone.
    Does not find: a value that goes with several others, or nearly always with one; from six
    groups on `DeFinetti` learns that.

    Args:
        column: The sensitive column that is revealed.
        known: The one that is known.

    Example:
        >>> from sfumato.counts import FrequencySet
        >>> rows = [("north", "AZT", "hiv")] * 37 + [("north", "statin", "lipids")] * 23
        >>> rows += [("south", "AZT", "hiv")] * 12 + [("south", "statin", "lipids")] * 41
        >>> counts = FrequencySet.from_rows(["area", "drug", "ill"], rows)
        >>> grouped = GroupedTables.of(counts, ["area"], ["drug", "ill"])
        >>> target = Target.of_grouped("break-merge", grouped)
        >>> outcome = EqualCounts("ill", "drug").on(target, HarmRule())
        >>> outcome.people, str(outcome.worst[0])
        (49, 'drug=AZT (49): ill = hiv, 43 % before, >99 % after')
    """

    name: ClassVar[str] = "equal-counts"
    how: ClassVar[str] = (
        "Looks for values of two tables that are equally frequent in every group, and takes them "
        "for those of the same people."
    )
    advice: ClassVar[str] = (
        "Make groups more alike (models: [{{model: t-closeness, column: {column}, t: 0.1}}]), or "
        "publish fewer columns."
    )

    column: str
    known: str

    def __post_init__(self) -> None:
        require_text("column", self.column)
        require_text("known", self.known)

    def remedies(self, outcome: Outcome, rule: HarmRule) -> tuple[Remedy, ...]:
        return (
            PromiseMore((TCloseness(self.column, 0.1),)),
            GiveRole(self.column, Role.DROPPED),
        )

    def on(self, target: Target, rule: HarmRule) -> Outcome:
        grouped = target.grouped
        if grouped is None:
            raise InputError(f"{self.name} cannot be tried: {self.why_not(target)}.")
        for name in (self.column, self.known):
            if name not in grouped.names:
                raise UnknownColumnError(name, grouped.names, where="the sensitive columns")
        known, told = (_Vectors.of(grouped, name) for name in (self.known, self.column))
        pairs = _find_pairs(known, told, grouped.sizes)
        total = max(int(told.people.sum()), 1)
        prior, people = told.people[pairs.told] / total, known.people[pairs.known]
        secrecy = target.classes.counts_of(self.column).column.secrecy
        secret = None if secrecy is None else secrecy[told.value[pairs.told]]
        levels = rule.judge(prior, pairs.belief, total, secrecy=secret).levels
        if secret is not None:
            levels = np.where(secret == Secrecy.HARMLESS, 0, levels)
        order = np.lexsort((-people, -pairs.belief, -levels))[:MOST_CASES]
        values = grouped.table(self.known).column.values, grouped.table(self.column).column.values
        worst = tuple(
            Case(
                {self.known: values[0][int(known.value[pairs.known[at]])]},
                int(people[at]),
                f"{self.column} = {text_of(values[1][int(told.value[pairs.told[at]])])}",
                float(prior[at]),
                float(pairs.belief[at]),
                Level(int(levels[at])),
            )
            for at in order.tolist()
        )
        at_level = [int(people[levels == level].sum()) for level in Level]
        return Outcome.of_levels(
            self,
            self.column,
            at_level,
            worst,
            rule,
            of=target.classes.n_people,
            judged=target.against.values >= Knows.ONE_VALUE.values,
            settings={"known": self.known},
            advice=self.advice.format(column=self.column) if levels.any() else "",
        )

    @classmethod
    def against(cls, target: Target, rule: HarmRule) -> list[Self]:  # noqa: ARG003 - all alike
        if target.grouped is None:
            return []
        names = target.grouped.names
        knowable = [name for name in names if name not in target.unknown]
        return [cls(told, known) for known in knowable for told in names if told != known]

    @classmethod
    def why_not(cls, target: Target) -> str:
        if target.counts is not None:
            return "the table is in one piece: nothing has to be joined"
        return "there are not two tables of sensitive columns with the same groups"

    @classmethod
    def example(cls) -> Self:
        return cls("disease", "drug")


class _Vectors(NamedTuple):
    """How many people of each group have each value of a column."""

    value: IntArray
    """The code of each value, the commonest first."""

    counts: IntArray
    """`counts[value, group]`."""

    people: IntArray

    @classmethod
    def of(cls, grouped: GroupedTables, name: str) -> Self:
        table = grouped.table(name)
        known = table.value != table.column.missing
        n, values = len(grouped), len(table.column.values)
        every = np.bincount(table.value[known], table.rows[known], values).astype(np.int64)
        order = np.argsort(-every, kind="stable")[:_VALUES]
        order = order[every[order] > 0]
        place = np.full(values, -1, dtype=np.int64)
        place[order] = np.arange(len(order))
        here = known & (place[table.value] >= 0)
        key = place[table.value[here]] * n + table.group[here]
        cells = np.bincount(key, table.rows[here], len(order) * n).astype(np.int64)
        return cls(order, cells.reshape(len(order), n), every[order])


class _Pairs(NamedTuple):
    """Values that belong together."""

    known: IntArray
    told: IntArray
    belief: FloatArray


def _find_pairs(known: _Vectors, told: _Vectors, sizes: IntArray) -> _Pairs:
    """Find the values with equal counts in every group, and how sure it is that they agree."""
    nothing = np.zeros(0, dtype=np.int64)
    if not len(known.value) or not len(told.value):
        return _Pairs(nothing, nothing, np.zeros(0))
    both = np.concatenate([known.counts, told.counts])
    _, number = np.unique(both, axis=0, return_inverse=True)
    number = number.ravel()
    mine, theirs = number[: len(known.value)], number[len(known.value) :]
    once = (np.bincount(mine, minlength=len(both)) == 1) & (
        np.bincount(theirs, minlength=len(both)) == 1
    )
    at = np.flatnonzero(once[mine])
    place = np.full(len(both), -1, dtype=np.int64)
    place[theirs] = np.arange(len(theirs))
    pair = place[mine[at]]
    shares = sizes / max(int(sizes.sum()), 1)
    expected = _chance_of_equality(known.people, told.people, shares)
    every = float(expected.sum())
    by_itself = np.minimum(expected[at, pair] * expected.size, 1.0)
    belief = 1 - by_itself
    if count_tail(len(at), every) <= _LIMIT:
        # There are more of them than chance makes: few of them are its work.
        belief = np.maximum(belief, 1 - min(every / max(len(at), 1), 1.0))
    else:
        belief = np.where(by_itself <= _LIMIT, belief, 0.0)
    kept = belief > 0
    return _Pairs(at[kept], pair[kept], belief[kept])


def _chance_of_equality(one: IntArray, other: IntArray, shares: FloatArray) -> FloatArray:
    """Return how likely two values that are dealt out to groups at random have equal counts.

    Counts of a group are taken for Poisson numbers. The difference of two of them is 0 with the
    probability exp(-a - b) I0(2 sqrt(ab)) (Skellam 1946, doi:10.2307/2981372).
    """
    log = np.zeros((len(one), len(other)))
    # Many groups have the same size.
    sizes, times = np.unique(shares, return_counts=True)
    for share, groups in zip(sizes.tolist(), times.tolist(), strict=True):
        a, b = one[:, None] * share, other[None, :] * share
        x = 2 * np.sqrt(a * b)
        # For large numbers the Bessel function is nearly exp(x) / sqrt(2 pi x).
        near = np.log(np.i0(np.minimum(x, 500.0)))
        far = x - 0.5 * np.log(2 * np.pi * np.maximum(x, 1.0))
        log += groups * (-a - b + np.where(x < 500, near, far))
    found: FloatArray = np.exp(log)
    return found
