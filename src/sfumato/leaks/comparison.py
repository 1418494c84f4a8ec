"""Before and after breaking: how surely people's own values could be told."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from sfumato.broken import Broken
from sfumato.counts import FrequencySet
from sfumato.leaks.combinations import written
from sfumato.leaks.limits import likelihood
from sfumato.leaks.people import People, by_level
from sfumato.policy.levels import RiskLevels
from sfumato.typing import FloatArray, IntArray


@dataclass(frozen=True)
class Spread:
    """How likely people's own values are: the worst, the mean, and people by risk level."""

    worst: Fraction
    mean: float
    people: Mapping[str, int]
    above: int | None = None
    """How many people are above alpha, if one was given."""

    def to_dict(self) -> dict[str, Any]:
        """Give everything as plain values that JSON can hold."""
        return {
            "worst": written(self.worst),
            "mean": self.mean,
            "people": dict(self.people),
            **({} if self.above is None else {"above": self.above}),
        }


@dataclass(frozen=True)
class Change:
    """What breaking changes for an adversary who knows the group, and perhaps one column."""

    known: str | None
    """The sensitive column that is known; None if only the group is."""

    told: tuple[str, ...]
    before: Spread
    after: Spread
    raised: int
    """How many people's own values became likelier: breaking spreads what others have."""

    lowered: int
    """How many people's own values became less likely."""

    def to_dict(self) -> dict[str, Any]:
        """Give everything as plain values that JSON can hold."""
        return {
            "known": self.known,
            "told": list(self.told),
            "before": self.before.to_dict(),
            "after": self.after.to_dict(),
            "raised": self.raised,
            "lowered": self.lowered,
        }

    def __str__(self) -> str:
        known = "group" if self.known is None else f"group and {self.known}"
        return (
            f"{known} → {', '.join(self.told)}: worst {float(self.before.worst):.0%} before, "
            f"{float(self.after.worst):.0%} after; mean {self.before.mean:.0%} before, "
            f"{self.after.mean:.0%} after"
        )


@dataclass(frozen=True)
class Comparison:
    """Every adversary's gain, one after the other."""

    people: int
    changes: tuple[Change, ...]
    levels: RiskLevels = field(default_factory=RiskLevels)

    def to_dict(self) -> dict[str, Any]:
        """Give everything as plain values that JSON can hold."""
        return {"people": self.people, "changes": [change.to_dict() for change in self.changes]}

    def __str__(self) -> str:
        return "\n".join(map(str, self.changes))


def compare(
    counts: FrequencySet,
    broken: Broken,
    *,
    levels: RiskLevels | None = None,
    alpha: float | None = None,
) -> Comparison:
    """Ask the same question of a table and of its broken parts, for everybody in it.

    Before breaking, somebody who knows a person's group and one sensitive value counts the
    rows that fit, and the share of them with the person's other values. After it, only the
    product of the values' shares in the group is left. Each person counts with their own values.

    Args:
        counts: The table that was broken.
        broken: Its parts.
        levels: The risk levels.
        alpha: Count also how many people are above this.

    Example:
        >>> rows = [("30s", "state", "single"), ("30s", "state", "single")]
        >>> rows += [("30s", "private", "married"), ("30s", "private", "divorced")]
        >>> counts = FrequencySet.from_rows(["age", "work", "marital"], rows)
        >>> print(compare(counts, Broken.of(counts, ["age"], ["work", "marital"])))
        group → work, marital: worst 50% before, 25% after; mean 38% before, 19% after
        group and work → marital: worst 100% before, 50% after; mean 75% before, 38% after
        group and marital → work: worst 100% before, 50% after; mean 100% before, 50% after
    """
    people = People.of(counts, broken)
    levels = levels or RiskLevels()
    known = [None, *(broken.names if len(broken.names) > 1 else ())]
    changes = tuple(_change(people, one, levels, alpha) for one in known)
    return Comparison(broken.total, changes, levels)


def _change(people: People, known: str | None, levels: RiskLevels, alpha: float | None) -> Change:
    told = np.array([name != known for name in people.broken.names], dtype=np.bool_)
    behind = people.behind(known)
    before, after = people.rows / np.maximum(behind, 1), people.after(told)
    sure = int(np.argmax(before)) if len(before) else None
    likely = int(np.argmax(after)) if len(after) else None
    return Change(
        known,
        tuple(name for name in people.broken.names if name != known),
        _spread(
            before,
            people.rows,
            Fraction(0) if sure is None else Fraction(int(people.rows[sure]), int(behind[sure])),
            levels,
            alpha,
        ),
        _spread(
            after,
            people.rows,
            Fraction(0)
            if likely is None
            else likelihood(people.cells[told, likely].tolist(), int(people.sizes[likely])),
            levels,
            alpha,
        ),
        raised=int(people.rows[after > before].sum()),
        lowered=int(people.rows[after < before].sum()),
    )


def _spread(
    probability: FloatArray,
    rows: IntArray,
    worst: Fraction,
    levels: RiskLevels,
    alpha: float | None,
) -> Spread:
    counted = by_level(levels, probability, rows.astype(np.float64))
    return Spread(
        worst,
        float(probability @ rows) / max(int(rows.sum()), 1),
        {name: int(people) for name, people in counted.items()},
        None if alpha is None else int(rows[probability > alpha].sum()),
    )
