"""From what leaks to what to do: decouple columns, or generalise some classes further."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sfumato.counts import FrequencySet, group, sums
from sfumato.leaks.rules import Rule
from sfumato.text import text_of
from sfumato.typing import Value


@dataclass(frozen=True)
class Vulnerable:
    """A class in which rules tell the truth about people."""

    group: tuple[tuple[str, Value], ...]
    """The quasi-identifiers and their published values."""

    rows: int
    people: int
    """How many of its people are exposed."""

    def to_dict(self) -> dict[str, Any]:
        """Give everything as plain values that JSON can hold."""
        return {
            "class": {n: None if v is None else text_of(v) for n, v in self.group},
            "rows": self.rows,
            "people": self.people,
        }


@dataclass(frozen=True)
class Advice:
    """What to do about what was found."""

    decouple: tuple[str, ...]
    """Sensitive columns that tell about each other: publish each in a table of its own."""

    generalise: tuple[str, ...]
    """Sensitive columns that quasi-identifiers tell: generalise those classes further."""

    classes: tuple[Vulnerable, ...]
    """The classes whose people are exposed, those with most people first."""

    def to_dict(self) -> dict[str, Any]:
        """Give everything as plain values that JSON can hold."""
        return {
            "decouple": list(self.decouple),
            "generalise": list(self.generalise),
            "classes": [one.to_dict() for one in self.classes],
        }

    def __str__(self) -> str:
        if not self.classes:
            return "Nothing that was looked for leaks."
        lines = []
        if self.decouple:
            lines.append(
                f"Decouple {', '.join(self.decouple)}: knowing one of them tells about another, "
                "and generalising quasi-identifiers does not change that."
            )
        if self.generalise:
            lines.append(
                f"Generalise further for {', '.join(self.generalise)}: the quasi-identifiers "
                "alone tell it. sf.anonymize(..., refine=findings) does it where it is needed."
            )
        people = sum(one.people for one in self.classes)
        lines.append(f"{people} people in {len(self.classes)} classes are exposed.")
        return "\n".join(lines)


def advise(
    counts: FrequencySet,
    leaks: Sequence[Rule],
    quasi_identifiers: Sequence[str],
    sensitive: Sequence[str],
) -> Advice:
    """Turn rules that reveal something into advice."""
    decouple: set[str] = set()
    generalise: set[str] = set()
    for rule in leaks:
        known = [column.name for column in rule.known]
        inside = [name for name in known if name in sensitive]
        if inside:
            decouple |= {*inside, rule.told.name}
        else:
            generalise.add(rule.told.name)
    return Advice(
        tuple(name for name in sensitive if name in decouple),
        tuple(name for name in sensitive if name in generalise),
        _vulnerable(counts, leaks, quasi_identifiers),
    )


def _vulnerable(
    counts: FrequencySet, leaks: Sequence[Rule], quasi_identifiers: Sequence[str]
) -> tuple[Vulnerable, ...]:
    hit = np.zeros(len(counts), dtype=bool)
    for rule in leaks:
        hit |= rule.matches(counts)
    names = list(quasi_identifiers)
    classes = group(
        [counts.codes_of(name) for name in names],
        [len(counts.column(name).values) for name in names],
        n=len(counts),
    )
    sizes = sums(classes.of_item, counts.rows, classes.n)
    people = sums(classes.of_item, counts.rows * hit, classes.n)
    found = []
    for i in np.argsort(-people, kind="stable")[: np.count_nonzero(people)].tolist():
        item = classes.first[i]
        values = tuple((n, counts.column(n).values[counts.codes_of(n)[item]]) for n in names)
        found.append(Vulnerable(values, int(sizes[i]), int(people[i])))
    return tuple(found)
