"""The knowledge breach: one sensitive value is known, the others are guessed together."""

from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np

from sfumato.attacks.base import Attack, Beliefs, Outcome, likeliest, priors
from sfumato.attacks.target import Target
from sfumato.counts import FrequencySet, sums
from sfumato.errors import InputError, UnknownColumnError, require_text
from sfumato.harm import HarmRule
from sfumato.leaks.breach import listing
from sfumato.typing import FloatArray


@dataclass(frozen=True)
class KnowledgeBreach(Attack):
    """Guess all other sensitive values of a person whose group and one sensitive value are known.

    Of five women two work for the state; both are single and earn little. Of the table in one
    piece, an adversary who knows that a person works for the state knows the rest. Split into a
    table per column, it is a guess: 2 in 5 are single and 4 in 5 earn little, so both together
    are 32 %, because every way of joining the tables is equally likely.

    Finds: in each group the likeliest combination of the other columns. On a decoupled release it
    is the product of the largest shares, whatever value is known; on a table in one piece,
    which is what the release was before, the commonest combination among those of the class
    with the known value. What is believed without the release is the product of the shares of
    the values in the whole table. Missing values hide no person.
    Does not find: what dependencies that are known from elsewhere add, or what several known
    values tell together.

    Args:
        known: The sensitive column whose value is known; None if only the group is.

    Example:
        >>> from sfumato.decouplings.base import GroupedTables
        >>> rows = [("3*", "state", "single", "low")] * 2
        >>> rows += [("3*", "federal", "married", "low"), ("3*", "private", "divorced", "low")]
        >>> rows += [("3*", "local", "separated", "high"), ("4*", "state", "married", "high")]
        >>> names, sensitive = ["age", "work", "marital", "pay"], ("work", "marital", "pay")
        >>> counts = FrequencySet.from_rows(names, rows)
        >>> before = Target.of_table(counts, ("age",), sensitive)
        >>> after = Target.of_grouped("break-merge", GroupedTables.of(counts, ("age",), sensitive))
        >>> for target in (before, after):
        ...     worst = KnowledgeBreach("work").on(target, HarmRule()).worst
        ...     print(max(worst, key=lambda case: case.people))
        age=3*, work=state (2): marital=single, pay=low, 22 % before, 100 % after
        age=3* (5): marital=single, pay=low, 22 % before, 32 % after
    """

    name: ClassVar[str] = "knowledge-breach"
    how: ClassVar[str] = (
        "Knows the person's group and one sensitive value, joins the tables again, and takes the "
        "likeliest combination of the others."
    )
    advice: ClassVar[str] = (
        "Publish the sensitive columns apart: sfumato protect, or sfumato decouple."
    )

    known: str | None = None

    def __post_init__(self) -> None:
        if self.known is not None:
            require_text("known", self.known)

    def guessed_columns(self, target: Target) -> tuple[str, ...]:
        """Return the columns that are guessed."""
        if self.known is not None and self.known not in target.sensitive:
            raise UnknownColumnError(self.known, target.sensitive, where="the sensitive columns")
        told = tuple(name for name in target.sensitive if name != self.known)
        if not told:
            raise InputError("a knowledge breach needs a sensitive column that is not known.")
        return told

    def beliefs(self, target: Target) -> Beliefs:
        """Return the likeliest combination of each group, or of each known value in each class."""
        if target.grouped is not None:
            return _join_tables(target, self.guessed_columns(target))
        if target.counts is not None:
            return _read_rows(target, target.counts, self.known, self.guessed_columns(target))
        raise InputError(f"a knowledge breach cannot be tried: {self.why_not(target)}.")

    def on(self, target: Target, rule: HarmRule) -> Outcome:
        told = ", ".join(self.guessed_columns(target))
        return self.beliefs(target).outcome(self, told, rule)

    @classmethod
    def against(cls, target: Target, rule: HarmRule) -> list[Self]:  # noqa: ARG003 - all alike
        if target.grouped is None or len(target.sensitive) < 2:
            return []
        return [cls(name) for name in target.sensitive]

    @classmethod
    def why_not(cls, target: Target) -> str:
        if len(target.sensitive) < 2:
            return "there are not two sensitive columns, of which one could tell the other"
        if target.counts is not None:
            return (
                "the table is in one piece: whoever knows one sensitive value looks for its row, "
                "and dependency says what that tells"
            )
        return "the sensitive columns are not in tables of their own"

    @classmethod
    def example(cls) -> Self:
        return cls("disease")


def _join_tables(target: Target, told: tuple[str, ...]) -> Beliefs:
    """Join the tables of a decoupled release: shares multiply, the known value tells nothing."""
    counts = [target.classes.counts_of(name) for name in told]
    guesses = [likeliest(each) for each in counts]

    def belief(at: int) -> str:
        codes = [int(guess.value[at]) for guess in guesses]
        values = [
            each.column.values[code] for each, code in zip(counts, codes, strict=True) if code >= 0
        ]
        return listing(tuple(zip(told, values, strict=True))) if min(codes) >= 0 else "nothing"

    return Beliefs(
        target.classes.rows,
        np.prod([guess.prior for guess in guesses], axis=0),
        np.prod([guess.posterior for guess in guesses], axis=0),
        target.who,
        belief,
    )


def _read_rows(
    target: Target, counts: FrequencySet, known: str | None, told: tuple[str, ...]
) -> Beliefs:
    """Count in a table in one piece: rows of a class that have the known value."""
    given = (*target.quasi_identifiers, *(() if known is None else (known,)))
    table = _without_missing(counts, (*told, *(() if known is None else (known,))))
    table = table.project([*given, *told])
    cells = table.group_by(given)
    prior = _priors(target, table, told)
    # The last of each cell is its commonest combination, and of equals the rarest elsewhere.
    order = np.lexsort((-prior, table.rows, cells.of_item))
    best = np.zeros(cells.n, dtype=np.int64)
    best[cells.of_item[order]] = order
    rows = sums(cells.of_item, table.rows, cells.n)

    return Beliefs(
        rows,
        prior[best],
        table.rows[best] / rows,
        lambda at: dict(table.values_at(given, int(best[at]))),
        lambda at: listing(table.values_at(told, int(best[at]))),
    )


def _without_missing(counts: FrequencySet, names: tuple[str, ...]) -> FrequencySet:
    absent = np.zeros(len(counts), dtype=bool)
    for name in names:
        absent |= counts.codes_of(name) == counts.column(name).missing
    return counts.without(absent)


def _priors(target: Target, table: FrequencySet, told: tuple[str, ...]) -> FloatArray:
    """Return the product of the shares that the values of each row have in the whole table."""
    prior = np.ones(len(table))
    for name in told:
        # Missing is the last code, so that known codes are places among the known values.
        prior *= priors(target.classes.counts_of(name))[table.codes_of(name)]
    return prior
