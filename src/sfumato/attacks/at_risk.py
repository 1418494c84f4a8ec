"""People at risk: how many, by what an adversary knows of them.

Each attack says of whom too much is told, and by what knowledge. People whom several attacks find
are the same people: they are counted once.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from typing import Any, Protocol

import numpy as np

from sfumato.dataclasses import dataclass
from sfumato.policy.adversaries import Knows
from sfumato.text import format_integer, join_words
from sfumato.typing import BoolArray


@dataclass(frozen=True, eq=False)
class PeopleFound:
    """Whom an attack puts at risk, by what has to be known of them for that."""

    flags: Mapping[Knows, BoolArray]
    """For each combination of rows that is told apart, or each group, whether it is found."""

    count: Callable[[BoolArray], int] = field(repr=False)
    """Counts the people of such combinations or groups."""

    of: object = field(repr=False)
    """What the combinations or groups are of: flags of the same are about the same people."""


class FoundByAttack(Protocol):
    """The parts of an attack's outcome that say how many people are at risk."""

    @property
    def people(self) -> int:
        """The people at risk."""

    @property
    def judged(self) -> bool:
        """Whether they count."""

    @property
    def tried(self) -> bool:
        """Whether the attack could be tried."""

    @property
    def accepted(self) -> str:
        """Why it was accepted, if it was."""

    @property
    def found(self) -> PeopleFound | None:
        """Return who they are, if the attack tells them apart."""

    @property
    def unreached(self) -> str:
        """The part of it that was not tried; empty if all was."""

    @property
    def unreached_by(self) -> Knows:
        """The adversary who knows least of those for whom something was not tried."""


@dataclass(frozen=True)
class AdversaryLine:
    """What one adversary learns: of how many people too much.

    >>> print(AdversaryLine(Knows.ONE_VALUE, 12, 5000, ("age", "zip")))
    who knows age and zip and one other value: 12 of 5 000 people at risk
    >>> print(AdversaryLine(Knows.QUASI_IDENTIFIERS, 0, 50, ("age",), in_part=True))
    who knows age: 0 of 50 people at risk, as far as that was tried
    """

    knows: Knows
    people: int
    of: int
    quasi_identifiers: tuple[str, ...] = ()
    counts: bool = True
    """Whether the answer goes by it: the policy may say that there is no such adversary."""

    in_part: bool = False
    """Whether not all was tried that this adversary can do."""

    @property
    def who(self) -> str:
        """The adversary, by what is known."""
        names = self.quasi_identifiers
        first = join_words(names) if 0 < len(names) <= 4 else "the quasi-identifiers"
        return " and ".join(filter(None, [f"who knows {first}", self.knows.besides]))

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, ready for JSON."""
        return {
            "knows": str(self.knows),
            "people": self.people,
            "of": self.of,
            "counts": self.counts,
            "in_part": self.in_part,
        }

    def __str__(self) -> str:
        found = f"{format_integer(self.people)} of {format_integer(self.of)}"
        partly = ", as far as that was tried" if self.in_part else ""
        ignored = "" if self.counts else " (does not count: see against)"
        return f"{self.who}: {found} people at risk{partly}{ignored}"


def count_at_risk(
    outcomes: Sequence[FoundByAttack],
    of: int,
    *,
    quasi_identifiers: Sequence[str] = (),
    against: Sequence[Knows] = tuple(Knows),
    most: int = 2,
) -> tuple[AdversaryLine, ...]:
    """Return for each adversary how many people they learn too much of, everyone once.

    Who knows more can do what others can who know less. Attacks that do not say who the people are
    (those with a list of people, other releases or households) count with the largest number that
    one of them found, for every adversary.

    Args:
        outcomes: What attacks achieved; accepted ones and those that are told only do not count.
        of: The number of people.
        quasi_identifiers: What adversaries know, for the words.
        against: The adversaries that count.
        most: How many other columns there are of which a value may be known.
    """
    judged = [each for each in outcomes if each.judged and each.tried and not each.accepted]
    elsewhere = max((each.people for each in judged if each.found is None), default=0)
    lines = []
    for knows in Knows:
        if knows.values > most:
            # There is no such value to know.
            break
        every: dict[int, tuple[PeopleFound, BoolArray]] = {}
        for each in judged:
            found = each.found
            if found is None:
                continue
            for needed, flags in found.flags.items():
                if needed.values > knows.values:
                    continue
                before = every.get(id(found.of))
                every[id(found.of)] = (found, flags if before is None else before[1] | flags)
        people = max((found.count(flags) for found, flags in every.values()), default=0)
        in_part = any(e.unreached and e.unreached_by.values <= knows.values for e in judged)
        lines.append(
            AdversaryLine(
                knows,
                max(people, elsewhere),
                of,
                tuple(quasi_identifiers),
                counts=knows in against,
                in_part=in_part,
            )
        )
    return tuple(lines)


def largest(lines: Sequence[AdversaryLine]) -> int:
    """Return the number of people at risk: of all adversaries that count, the worst.

    >>> few = AdversaryLine(Knows.QUASI_IDENTIFIERS, 2, 9)
    >>> largest([few, AdversaryLine(Knows.TWO_VALUES, 5, 9, counts=False)])
    2
    """
    return max((line.people for line in lines if line.counts), default=0)


def found_at(
    count: Callable[[BoolArray], int], of: object, flags: Mapping[Knows, BoolArray]
) -> PeopleFound:
    """Return the people of some flags; adversaries who find no one are left out."""
    return PeopleFound({k: f for k, f in flags.items() if np.any(f)}, count, of)
