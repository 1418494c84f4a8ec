"""The composition attack: what two releases tell together that neither tells alone."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar, Self

import numpy as np

from sfumato.attacks.base import MOST_CASES, Attack, Case, Outcome
from sfumato.attacks.target import Target
from sfumato.decouplings.base import GroupedTables
from sfumato.errors import ParameterError, require_int, require_number
from sfumato.harm import HarmRule, Level
from sfumato.likelihood import exact, likelihood_with_a_value
from sfumato.text import text_or_none
from sfumato.typing import IntArray

Labels = tuple[str | None, ...]


@dataclass(frozen=True)
class Difference:
    """What changed in one group from one release to the next, as any reader can see."""

    labels: Labels
    joined: int
    """The least number of rows that are new."""

    left: int
    """The least number of rows that are gone."""

    newcomers: Fraction
    """The largest breach probability among the rows that joined; 0 if none did."""

    leavers: Fraction
    before: Fraction
    """The same for the whole group, in the earlier release."""

    after: Fraction

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as plain values."""
        shares = ("newcomers", "leavers", "before", "after")
        return {
            "labels": list(self.labels),
            "joined": self.joined,
            "left": self.left,
            **{name: float(getattr(self, name)) for name in shares},
        }


@dataclass(frozen=True)
class ComparedReleases:
    """What comparing two releases shows, and which groups it betrays."""

    attack: "Composition"
    differences: tuple[Difference, ...]

    @property
    def exposed(self) -> tuple[Difference, ...]:
        """The groups whose newcomers (or leavers) are too few, or too much alike."""
        return tuple(each for each in self.differences if self.attack.betrays(each))

    @property
    def suffers(self) -> bool:
        """Whether people who joined or left are betrayed."""
        return bool(self.exposed)

    @property
    def people(self) -> int:
        """The number of rows that concerns."""
        return sum(each.joined + each.left for each in self.exposed)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, ready for JSON."""
        return {
            "attack": "composition",
            "alpha": self.attack.alpha,
            "k": self.attack.k,
            "suffers": self.suffers,
            "people": self.people,
            "groups": [each.to_dict() for each in self.exposed],
        }

    def __str__(self) -> str:
        if not self.suffers:
            return f"composition exposes nobody in {len(self.differences)} groups that changed"
        return (
            f"composition exposes {self.people} people who joined or left, "
            f"in {len(self.exposed)} of {len(self.differences)} groups that changed"
        )


@dataclass(frozen=True)
class Composition(Attack):
    """Subtract one release from the next, group by group.

    If a release adds n rows to a group, the difference of the counts is the table of exactly
    those n. An adversary who knows that a person joined between the two looks the person up among
    n, not among the whole group.

    Finds: groups in which fewer than k rows joined (or left), and those in which the values of
    those who did are likelier than alpha, for an adversary who knows that a person did and one of
    the person's sensitive values; with a single sensitive column, who knows the former.
    Does not find: what can be told from knowing who *else* joined, or from releases by other
    publishers. Where rows joined and left the same group at once, only the difference is seen,
    and only that is judged.
    Remedy: hold rows back until enough have come together, as `sf.Ledger.publish` does by default.

    Reference: Ganta, Kasiviswanathan and Smith, "Composition attacks and auxiliary information in
    data privacy", 2008, doi:10.1145/1401890.1401926

    Args:
        alpha: The largest breach probability among newcomers that is no attack.
        k: The fewest newcomers of a group that are no attack.

    Example:
        >>> from sfumato.counts import FrequencySet
        >>> def of(rows):
        ...     counts = FrequencySet.from_rows(["age", "ill"], rows)
        ...     return GroupedTables.of(counts, ["age"], ["ill"])
        >>> first = [("30s", "flu"), ("30s", "gout"), ("30s", "hiv")]
        >>> print(Composition(alpha=0.5, k=2).run(of(first), of([*first, ("30s", "hiv")])))
        composition exposes 1 people who joined or left, in 1 of 1 groups that changed
    """

    name: ClassVar[str] = "composition"
    how: ClassVar[str] = (
        "Subtracts the release before from this one, and looks the person up among the few who "
        "joined or left."
    )
    advice: ClassVar[str] = "Hold rows back until enough have come together: sfumato publish."

    alpha: float
    k: int = 2

    def __post_init__(self) -> None:
        require_number("alpha", self.alpha, above=0, at_most=1)
        require_int("k", self.k, at_least=1)

    def betrays(self, difference: Difference) -> bool:
        """Return whether too little hides those who joined or left a group."""
        limit = exact(self.alpha)
        return any(
            rows and (rows < self.k or share > limit)
            for rows, share in (
                (difference.joined, difference.newcomers),
                (difference.left, difference.leavers),
            )
        )

    def run(self, earlier: GroupedTables, later: GroupedTables) -> ComparedReleases:
        """Compare two releases of the same columns; a missing value is a value of its own."""
        return ComparedReleases(self, tuple(_differences(_by_labels(earlier, later))))

    @classmethod
    def against(cls, target: Target, rule: HarmRule) -> list[Self]:
        if target.grouped is None or target.earlier is None:
            return []
        return [cls(rule.very_high)]

    @classmethod
    def why_not(cls, target: Target) -> str:
        if target.grouped is None:
            return "it compares releases by break-merge, and this is none"
        return "there is no release before this one to compare with"

    def on(self, target: Target, rule: HarmRule) -> Outcome:
        if target.grouped is None or target.earlier is None:
            raise ParameterError("target", target.kind, "two releases", why=self.why_not(target))
        names = target.grouped.quasi_identifiers
        both = _by_labels(target.earlier, target.grouped)
        found = [
            case
            for difference in _differences(both, _without_missing)
            for case in _cases(tuple(column.name for column in names), difference)
        ]
        prior = np.array([case.prior for case in found])
        posterior = np.array([case.posterior for case in found])
        people = np.array([case.people for case in found], dtype=np.int64)
        levels = rule.levels(prior, posterior)
        order = np.lexsort((-people, prior - posterior, -posterior, -levels))
        worst = tuple(
            replace(found[i], level=Level(int(levels[i]))) for i in order[:MOST_CASES].tolist()
        )
        return Outcome(
            self.name,
            None,
            people=int(people[levels == Level.VERY_HIGH].sum()),
            high=int(people[levels == Level.HIGH].sum()),
            moderate=int(people[levels == Level.MODERATE].sum()),
            of=target.classes.total,
            prior=worst[0].prior if worst else 0.0,
            posterior=worst[0].posterior if worst else 0.0,
            threshold=rule.very_high,
            worst=worst,
            how=self.how,
            note="what is believed before is what one of the two releases tells by itself",
            settings=self.params(),
            advice=self.advice,
        )

    @classmethod
    def example(cls) -> Self:
        return cls(0.5)


def _cases(names: tuple[str, ...], difference: Difference) -> list[Case]:
    """Return what is believed of those who joined and of those who left, beside what it was."""
    who = dict(zip(names, difference.labels, strict=True))
    moved = (
        ("joined", difference.joined, difference.after, difference.newcomers),
        ("left", difference.left, difference.before, difference.leavers),
    )
    return [
        Case(who, rows, f"who {did} has the likeliest values", float(before), float(after))
        for did, rows, before, after in moved
        if rows
    ]


@dataclass(frozen=True)
class _Group:
    size: int
    counts: tuple[dict[str | None, int], ...]
    only_known: bool = False
    """Whether missing values were left out, which may be more in one column than in another."""

    @property
    def worst(self) -> Fraction:
        """The most that can be believed there."""
        largest = [max(each.values(), default=0) for each in self.counts]
        if not self.only_known:
            return likelihood_with_a_value(largest, self.size)
        return likelihood_with_a_value(largest, [sum(each.values()) for each in self.counts])


def _without_missing(group: _Group) -> _Group:
    """Return a group without missing values: they hide no person, and give nothing away."""
    counts: tuple[dict[str | None, int], ...] = tuple(
        {value: n for value, n in each.items() if value is not None} for each in group.counts
    )
    size = max((sum(each.values()) for each in counts), default=0)
    return _Group(size, counts, only_known=True)


def _differences(
    pairs: Iterable[tuple[Labels, _Group, _Group]], of: Callable[[_Group], _Group] | None = None
) -> Iterator[Difference]:
    """Yield how groups differ that do, perhaps in some respect only."""
    for labels, *both in pairs:
        old, new = both if of is None else map(of, both)
        if old != new:
            yield _difference(labels, old, new)


def _by_labels(
    earlier: GroupedTables, later: GroupedTables
) -> Iterator[tuple[Labels, _Group, _Group]]:
    """Yield the groups of two releases beside each other."""
    for kind in ("quasi_identifiers", "sensitive"):
        names = [_names(grouped, kind) for grouped in (earlier, later)]
        if names[0] != names[1]:
            raise ParameterError(
                "later", names[1], f"a release with the {kind} of the earlier, {names[0]}"
            )
    before, after = _groups(earlier), _groups(later)
    empty = _Group(0, tuple({} for _ in earlier.sensitive))
    for labels in sorted(before.keys() | after.keys(), key=str):
        yield labels, before.get(labels, empty), after.get(labels, empty)


def _difference(labels: Labels, old: _Group, new: _Group) -> Difference:
    gained, lost = _gain(old, new), _gain(new, old)
    # A group that is gone as a whole tells nothing that its last tables did not.
    if not new.size:
        lost = new
    return Difference(
        labels, gained.size, lost.size, gained.worst, lost.worst, old.worst, new.worst
    )


def _gain(old: _Group, new: _Group) -> _Group:
    """Return what the later tables hold more of: the least number of rows, with these values."""
    more = tuple(
        {value: n - before.get(value, 0) for value, n in after.items() if n > before.get(value, 0)}
        for before, after in zip(old.counts, new.counts, strict=True)
    )
    size = max((sum(counts.values()) for counts in more), default=0)
    return _Group(size, more, new.only_known)


def _groups(grouped: GroupedTables) -> dict[Labels, _Group]:
    texts = [[text_or_none(value) for value in c.values] for c in grouped.quasi_identifiers]
    tables = []
    for table in grouped.sensitive:
        values = [text_or_none(value) for value in table.column.values]
        starts = np.searchsorted(table.group, np.arange(len(grouped) + 1))
        tables.append((values, starts, table))
    found = {}
    for g, size in enumerate(grouped.sizes.tolist()):
        labels = tuple(text[code] for text, code in zip(texts, grouped.labels[:, g], strict=True))
        counts = tuple(
            _counts(values, table.value[a:b], table.rows[a:b])
            for values, starts, table in tables
            for a, b in [(starts[g], starts[g + 1])]
        )
        found[labels] = _Group(size, counts)
    return found


def _counts(values: list[str | None], codes: np.ndarray, rows: IntArray) -> dict[str | None, int]:
    return {values[code]: n for code, n in zip(codes.tolist(), rows.tolist(), strict=True)}


def _names(grouped: GroupedTables, kind: str) -> list[str]:
    if kind == "sensitive":
        return list(grouped.names)
    return [column.name for column in grouped.quasi_identifiers]
