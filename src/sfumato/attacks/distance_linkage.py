"""Record linkage by distance: whose row is nearest, where chance has changed what is known?"""

from dataclasses import replace
from typing import ClassVar, Self

import numpy as np

from sfumato.attacks.base import MOST_CASES, Attack, Case, Outcome
from sfumato.attacks.perturbed import PerturbedRows
from sfumato.attacks.target import Target
from sfumato.dataclasses import dataclass
from sfumato.errors import UnknownColumnError, names_in
from sfumato.harm import HarmRule, Level
from sfumato.typing import FloatArray, IntArray, Value

_MOST_PAIRS = 20_000_000
_MOST_PEOPLE = 2_000
_LEAST = 1e-200
"""What is less likely is as good as impossible, and would overflow."""

_AT_ONCE = 2_000_000
"""Pairs of a person and a row that are held in memory."""


@dataclass(frozen=True)
class DistanceLinkage(Attack):
    """Look for a person's row by true values of columns that chance has changed.

    The adversary knows the class of a person and the true values of these columns, and how they
    were changed, as the manifest says. Of the rows of the class the nearest is taken: the one that
    came of the true values most likely, beside how likely it came of those of others. How sure
    that is follows from how likely the other rows are. For normal noise it is about the least
    distance, each column measured by its noise.

    The true values stay with the publisher, so the attack supposes people whose true values are
    those of a published row: one for each row, or for some rows that are drawn where there are
    many. A person's own row is among the nearest then, so the figures are rather too high.

    Finds: how surely the nearest row is a person's. Columns that are plain are judged; that others
    know sensitive ones is told only.
    Does not find: what is known of columns that chance has not changed (see `Linking`, and what
    columns single out); rows that a person has several of.

    Reference: Domingo-Ferrer and Torra, "Disclosure risk assessment in statistical data
    protection", Journal of Computational and Applied Mathematics 164, 2004,
    doi:10.1016/S0377-0427(03)00643-5

    Args:
        columns: The columns whose true values are known: some that chance has changed.
        seed: Fixes whose rows are drawn where there are many.

    Example:
        >>> from sfumato.counts import FrequencySet
        >>> from sfumato.perturbations import PlainNoise
        >>> counts = FrequencySet.from_rows(["zip", "pay"], [("A", 10), ("A", 11), ("A", 90)])
        >>> rows = PerturbedRows(counts, np.array([0, 0, 0]), {"pay": PlainNoise(sd=2)})
        >>> target = Target.of_table(counts.project(["zip"]), ("zip",), (), perturbed=rows)
        >>> print(DistanceLinkage(("pay",)).on(target, HarmRule()))
        distance-linkage: 1 of 3 people at risk; strongest belief 100 %, 33 % before
    """

    name: ClassVar[str] = "distance-linkage"
    how: ClassVar[str] = (
        "Takes the published row that is nearest to the true values of a person, measured by what "
        "chance makes of them."
    )
    advice: ClassVar[str] = (
        "Change {columns} more: a larger sd, distance or share, or a smaller keep; or code its "
        "ends, so that no value is far from all others."
    )
    counts_people: ClassVar[bool] = False
    links: ClassVar[bool] = True

    columns: tuple[str, ...]
    seed: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", names_in("columns", self.columns))

    @classmethod
    def against(cls, target: Target, rule: HarmRule) -> list[Self]:  # noqa: ARG003 - all alike
        rows = target.perturbed
        if rows is None or target.person is not None:
            return []
        secret = tuple(name for name in rows.sensitive if name not in rows.unknown)
        others = len(target.sensitive) + len(rows.sensitive) > 1
        # Who knows the only secret learns none from the row.
        sets = [rows.plain, *([secret] if others else [])]
        return [cls(names) for names in sets if names]

    @classmethod
    def why_not(cls, target: Target) -> str:
        if target.perturbed is not None and target.person is not None:
            return "people have several rows, and which row is nearest says little of the others"
        return "chance has changed no column that others may know"

    @classmethod
    def example(cls) -> Self:
        return cls(("disease",))

    def on(self, target: Target, rule: HarmRule) -> Outcome:
        self.require_countable(target)
        rows = target.perturbed
        known = [] if rows is None else list(rows.members)
        for name in self.columns:
            if rows is None or name not in known:
                where = "the columns that chance has changed"
                raise UnknownColumnError(name, known, where=where)
        assert rows is not None  # noqa: S101 - its columns are there
        found = _link(rows, self.columns, np.random.default_rng(self.seed))
        total = int(rows.counts.rows.sum())
        prior = 1.0 / max(total, 1)
        # A row that is found is no value learned yet; see `Linking`.
        judging = replace(rule, moderate=rule.high)
        levels = judging.levels(np.full(len(found.risk), prior), found.risk)
        share = total / max(int(found.rows.sum()), 1)
        people = [
            round(float(found.rows[levels == level].sum()) * share)
            for level in (Level.VERY_HIGH, Level.HIGH)
        ]
        order = np.lexsort((-found.rows, -found.risk, -levels))[:MOST_CASES]
        worst = tuple(
            Case(
                found.who(rows, self.columns, int(i)),
                int(found.rows[i]),
                "the nearest row is the person's",
                prior,
                float(found.risk[i]),
                Level(int(levels[i])),
            )
            for i in order
        )
        judged = not any(name in rows.sensitive for name in self.columns)
        note = "" if share == 1 else f"people were drawn: {int(found.rows.sum())} of {total}"
        return Outcome(
            self.name,
            None,
            people=people[0],
            high=people[1],
            of=total,
            prior=worst[0].prior if worst else 0.0,
            posterior=worst[0].posterior if worst else 0.0,
            threshold=rule.very_high,
            worst=worst,
            how=self.how,
            judged=judged,
            note=note,
            advice=self.advice.format(columns=", ".join(self.columns)),
            settings={"known": ", ".join(self.columns)},
            seed=None if share == 1 else self.seed,
        )


@dataclass(frozen=True, eq=False)
class _DistanceLinks:
    """Some combinations of published values, and how surely a row of them is a person's."""

    item: IntArray
    rows: IntArray
    risk: FloatArray

    def who(self, rows: PerturbedRows, columns: tuple[str, ...], at: int) -> dict[str, Value]:
        """Return what people with true values like these are recognised by."""
        counts, item = rows.counts, int(self.item[at])
        names = [n for n in counts.names if n in rows.quasi_identifiers or n in columns]
        return {n: counts.column(n).values[int(counts.codes_of(n)[item])] for n in names}


def _link(
    rows: PerturbedRows, columns: tuple[str, ...], rng: np.random.Generator
) -> _DistanceLinks:
    """Find how sure the nearest row is for people with the values of each combination."""
    quasi = rows.quasi_identifiers
    counts = rows.counts.project((*quasi, *columns))
    kept = rows.counts.group_by((*quasi, *columns))
    class_of = rows.class_of[kept.first]
    known = np.ones(len(counts), dtype=bool)
    for name in columns:
        known &= counts.codes_of(name) != counts.column(name).missing
    every = np.flatnonzero(known)
    order = every[np.argsort(class_of[every], kind="stable")]
    starts = np.flatnonzero(np.diff(class_of[order], prepend=-1))
    ends = np.append(starts[1:], len(order))[: len(starts)]
    seen = {name: rows.look_at(name) for name in columns}
    every_code = {name: counts.codes_of(name).astype(np.int64) for name in columns}
    items, risks = [], []
    pairs = float(((ends - starts).astype(float) ** 2).sum())
    share = 1.0
    if pairs > _MOST_PAIRS:
        share = min(_MOST_PAIRS / pairs, _MOST_PEOPLE / len(order))
    for start, end in zip(starts.tolist(), ends.tolist(), strict=True):
        inside = order[start:end]
        supposed = inside if share >= 1 else inside[rng.random(len(inside)) < share]
        if not len(supposed):
            continue
        parts = np.array_split(supposed, len(supposed) * len(inside) // _AT_ONCE + 1)

        def likely(part: IntArray, inside: IntArray = inside) -> FloatArray:
            found = np.ones((len(part), len(inside)))
            for name, codes in every_code.items():
                found *= rows.members[name].likelihood(
                    codes[inside][None, :], codes[part][:, None], seen[name]
                )
            return found

        # A value that others are likely to be published with tells less of whose row it is.
        among = sum(counts.rows[part] @ likely(part) for part in parts)
        weight = np.where(among > _LEAST, 1.0 / np.maximum(among, _LEAST), 0.0)
        for part in parts:
            mine = likely(part) * weight
            total = mine @ counts.rows[inside]
            risks.append(mine.max(axis=1) / np.where(total > 0, total, 1.0))
            items.append(part)
    item = np.concatenate(items) if items else np.zeros(0, dtype=np.int64)
    risk = np.concatenate(risks) if risks else np.zeros(0)
    return _DistanceLinks(kept.first[item], counts.rows[item], np.minimum(risk, 1.0))
