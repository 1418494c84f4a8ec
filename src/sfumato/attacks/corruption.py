"""The corruption attack: the adversary knows the values of some others of the class."""

from dataclasses import replace
from typing import ClassVar, NamedTuple, Self

import numpy as np

from sfumato.attacks.base import Attack, Beliefs, Outcome, is_value, priors, secrecy_of
from sfumato.attacks.target import Target
from sfumato.classes import ValueCounts
from sfumato.dataclasses import dataclass
from sfumato.errors import require_int, require_text
from sfumato.harm import HarmRule, Level
from sfumato.models import RecursiveCLDiversity
from sfumato.policy.remedies import PromiseMore, Remedy
from sfumato.typing import BoolArray, FloatArray, IntArray

_TRIES = 8
"""How many numbers of others are tried for the fewest that are enough."""


@dataclass(frozen=True)
class Corruption(Attack):
    """Remove the rows of people whose sensitive value is known already, and guess from the rest.

    Three people of a class have flu, gout and HIV. The one with flu is the adversary, and the one
    with gout is a friend who told. What is left is one row.

    The adversary knows the values of `others` people of the class, and who they are. In the worst
    case none of them has the value that is guessed, so of n rows, c of which have the value, c of
    n - others are left. What is believed without the release is conditioned on the same: these
    people are left out of the whole table, too. Missing values hide no person.

    Finds: for every class the value that harms its people most, over all values and all choices
    of the others; exactly, for tables in one piece and for decoupled ones, whose groups lose the
    same rows. Only what knowing others adds is counted: where all rows left have the value
    anyway, homogeneity says so. The note says how few others are enough to put a person at risk.
    Does not find: who really knows whom. In every class of n people, an adversary who knows
    n - 1 knows the last, so some number of others always succeeds; which number is realistic
    depends on the data. So the attack with one other is told and no reason to refuse a release.
    A publisher who gives `others`, here or in a policy, says that adversaries know as many, and
    then it is judged.

    Reference: Tao, Xiao, Li and Zhang, "On Anti-Corruption Privacy Preserving Publication", 2008,
    doi:10.1109/ICDE.2008.4497481

    Args:
        column: The sensitive column.
        others: How many other people of the class are known. None stands for 1, told only.

    Example:
        >>> from sfumato.counts import FrequencySet
        >>> rows = [("2*", "flu"), ("2*", "gout"), ("2*", "hiv")] + [("3*", "flu")] * 3
        >>> counts = FrequencySet.from_rows(["age", "ill"], rows)
        >>> target = Target.of_table(counts, ("age",), ("ill",))
        >>> print(Corruption("ill", others=2).on(target, HarmRule()).worst[0])
        age=2* (1): ill = hiv, 25 % before, 100 % after
    """

    name: ClassVar[str] = "corruption"
    how: ClassVar[str] = (
        "Knows the sensitive values of others in the person's class, removes their rows, and "
        "takes the likeliest value of the rest."
    )
    advice: ClassVar[str] = (
        "Promise larger classes and more diversity: models: [{{model: recursive-cl-diversity, "
        "column: {column}, c: 2, l: 4}}]."
    )

    column: str
    others: int | None = None

    def remedies(self, outcome: Outcome, rule: HarmRule) -> tuple[Remedy, ...]:
        return (PromiseMore((RecursiveCLDiversity(self.column, 2, 4),)),)

    def __post_init__(self) -> None:
        require_text("column", self.column)
        if self.others is not None:
            require_int("others", self.others, at_least=1)

    @property
    def supposed(self) -> int:
        """The number of other people whose value is known."""
        return 1 if self.others is None else self.others

    def beliefs(self, target: Target, rule: HarmRule) -> Beliefs:
        """Return what is believed of each class after the rows of others are removed."""
        counts = target.classes.counts_of(self.column)
        known, secrecy = counts.known, secrecy_of(counts, counts.known.value)
        left, prior, posterior, removed = _without(counts, self.supposed)
        levels = rule.judge(
            prior, posterior, target.classes.n_people, applies=removed, secrecy=secrecy
        ).levels
        # The last of each class is the value that harms most; of equals the likelier, the rarer.
        order = np.lexsort((-prior, posterior, levels, known.class_id))
        best = np.full(len(target.classes), -1, dtype=np.int64)
        best[known.class_id[order]] = order
        some = best >= 0

        def pick(of_entry: FloatArray | IntArray | BoolArray, nothing: float) -> FloatArray:
            found = np.full(len(best), nothing)
            found[some] = of_entry[best[some]]
            return found

        value = pick(known.value, -1).astype(np.int64)
        return Beliefs(
            pick(left, 0).astype(np.int64),
            pick(prior, 0.0),
            pick(posterior, 0.0),
            target.who,
            is_value(counts, value),
            None if secrecy is None else pick(secrecy, 0).astype(np.int64),
            of=target.classes.n_people,
            applies=pick(removed, 0) > 0,
            people=target.classes.people,
        )

    def on(self, target: Target, rule: HarmRule) -> Outcome:
        outcome = self.beliefs(target, rule).outcome(self, self.column, rule)
        enough = _fewest(target.classes.counts_of(self.column), rule)
        n = self.supposed
        told = f"the adversary is taken to know {n} other{'s' if n > 1 else ''} of the class"
        if self.others is None:
            told = f"told only: {told}; say how many to have it judged (verdict: {{others: 2}})"
        if enough is not None:
            told += f"; {enough} known others are enough to put a person at risk"
        return replace(outcome, judged=self.others is not None, note=told)

    @classmethod
    def against(cls, target: Target, rule: HarmRule) -> list[Self]:  # noqa: ARG003 - all alike
        return [cls(column, target.others) for column in target.sensitive]

    @classmethod
    def example(cls) -> Self:
        return cls("disease", others=1)


class _Rest(NamedTuple):
    """Per value of each class: the rows that are left, and what is believed then."""

    left: IntArray
    prior: FloatArray
    posterior: FloatArray
    removed: BoolArray
    """Whether any row was removed."""


def _without(counts: ValueCounts, others: int) -> _Rest:
    """Remove rows of other values from each class, for each of its values."""
    known = counts.known
    totals = known.totals[known.class_id].astype(np.int64)
    left = np.maximum(totals - others, known.rows).astype(np.int64)
    table = counts.known_total
    prior = counts.reference[known.value] / np.maximum(table - (totals - left), 1)
    return _Rest(left, prior, known.rows / np.maximum(left, 1), totals > left)


def _fewest(counts: ValueCounts, rule: HarmRule) -> int | None:
    """Return how few others must be known until a belief is very high; None if none ever is.

    >>> rows = [("A", "flu"), ("A", "flu"), ("A", "gout"), ("A", "hiv")] + [("B", "gout")] * 4
    >>> _fewest(classes_of(rows, column="ill").counts_of("ill"), HarmRule())
    2
    """
    known = counts.known
    needed = rule.least_belief(priors(counts)[known.value], Level.VERY_HIGH)
    reachable = np.isfinite(needed)
    left = np.floor(known.rows[reachable] / needed[reachable] + 1e-9)
    others = (known.totals[known.class_id][reachable] - left).astype(np.int64)
    # The prior rises a little with every row that is removed, so a few more may be needed.
    for enough in np.unique(np.maximum(others, 1))[:_TRIES].tolist():
        rest = _without(counts, enough)
        levels = np.where(rest.removed, rule.levels(rest.prior, rest.posterior), 0)
        if (levels == Level.VERY_HIGH).any():
            return int(enough)
    return None
