"""The answer about one person: the places that fit, and the beliefs about sensitive values."""

from collections.abc import Mapping
from dataclasses import field
from typing import Any

import numpy as np

from sfumato.dataclasses import dataclass
from sfumato.decouplings import kind_of
from sfumato.errors import UnknownColumnError
from sfumato.harm import HarmRule, Level
from sfumato.showing.charts import bars_svg
from sfumato.showing.content import (
    Content,
    ContentTable,
    Heading,
    Part,
    Sentence,
    Share,
    Showable,
    plain_of,
)
from sfumato.text import percent, text_of
from sfumato.typing import Value

_MOST = 10


@dataclass(frozen=True)
class PossiblePlace:
    """A class, group or bucket the person may be in."""

    labels: Mapping[str, Value]
    """What it is recognised by."""

    people: int
    probability: float
    """How likely the person is there, given all that is known."""

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values."""
        labels = {
            name: None if value is None else text_of(value) for name, value in self.labels.items()
        }
        return {"labels": labels, "people": self.people, "probability": self.probability}

    def __str__(self) -> str:
        return f"{list_values(self.labels)} ({self.people} people)"


@dataclass(frozen=True)
class Belief:
    """How likely the person has each value of one sensitive column, before and after.

    Example:
        >>> belief = Belief("ill", ("cancer", "flu"), (0.2, 0.8), (1.0, 0.0))
        >>> belief.certain, belief.gain
        ('cancer', 0.8)
        >>> print(belief)
        It is certain that ill is cancer; before the release that was 20 % likely.
    """

    column: str
    values: tuple[str, ...]
    """Likeliest first."""

    prior: tuple[float, ...]
    """To an adversary who knows the same and never saw whom the values belong to."""

    posterior: tuple[float, ...]
    missing: float = 0.0
    """How likely the person's value is missing; shares are among those that are not."""

    rule: HarmRule = field(default_factory=HarmRule)
    secrecy: tuple[int, ...] = ()
    """The secrecy of each value, as a policy declares it; empty if all are ordinary."""

    @property
    def silent(self) -> bool:
        """Whether the release says nothing, because all values that fit are missing."""
        return not any(self.posterior)

    @property
    def certain(self) -> str | None:
        """The value the person has for certain; None if there is none."""
        return self.values[0] if self.posterior and self.posterior[0] == 1 else None

    @property
    def level(self) -> Level:
        """The level of the worst of it, by the one rule for harm."""
        if self.silent:
            return Level.LOW
        # About one person there are no others to hold it against: chance is no excuse.
        secrecy = np.array(self.secrecy) if self.secrecy else None
        prior, posterior = np.array(self.prior), np.array(self.posterior)
        levels = self.rule.judge(prior, posterior, 1, secrecy=secrecy).levels
        return Level(int(levels.max(initial=0)))

    @property
    def gain(self) -> float:
        """By how much likelier the release made the likeliest value."""
        return self.posterior[0] - self.prior[0] if self.values and not self.silent else 0.0

    def of(self, value: Value) -> tuple[float, float]:
        """Return how likely a value was before and is now; both 0 if no person has it."""
        if text_of(value) not in self.values:
            return 0.0, 0.0
        at = self.values.index(text_of(value))
        return self.prior[at], self.posterior[at]

    def table(self, most: int) -> ContentTable:
        """Return how likely the `most` likeliest values were, and are."""
        shares = zip(self.values, self.prior, self.posterior, strict=True)
        rows = [(value, Share(before), Share(after)) for value, before, after in shares]
        heads = (self.column, Heading("before", bar=20), Heading("after", bar=20))
        return ContentTable.of("", heads, rows, most=most)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, ready for JSON."""
        shares = zip(self.values, self.prior, self.posterior, strict=True)
        return {
            "column": self.column,
            "certain": self.certain,
            "level": str(self.level),
            "missing": self.missing,
            "values": [{"value": v, "prior": a, "posterior": b} for v, a, b in shares],
        }

    def __str__(self) -> str:
        if self.silent:
            return (
                f"The release says nothing about {self.column}: where the person fits it is empty."
            )
        before = percent(self.prior[0])
        if self.certain is not None and self.prior[0] == 1:
            return f"{self.column} was known before: {self.certain}."
        if self.certain is not None:
            return (
                f"It is certain that {self.column} is {self.certain}; "
                f"before the release that was {before} likely."
            )
        pairs = zip(self.prior, self.posterior, strict=True)
        if all(abs(a - b) < 1e-9 for a, b in pairs):
            return (
                f"The release shows nothing about {self.column} beyond what holds for all people."
            )
        top = [
            v
            for v, p in zip(self.values, self.posterior, strict=True)
            if p > self.posterior[0] - 1e-9
        ]
        share = percent(self.posterior[0])
        if len(top) == 1:
            return f"{self.column} is most likely {top[0]}: {share}, {before} before the release."
        named = (
            f"{', '.join(top[:-1])} or {top[-1]}" if len(top) <= 3 else f"one of {len(top)} values"
        )
        return f"{self.column} is most likely {named}: {share} each."


@dataclass(frozen=True)
class Explanation(Showable):
    """What an adversary learns of one person from a release."""

    person: Mapping[str, Value]
    knows: str
    """What else is known of the person, in words; empty if nothing is."""

    kind: str
    """`table`, or the name of a decoupling."""

    of: int
    """The number of people the release has."""

    of_places: int
    """The number of classes, groups or buckets it has."""

    places: tuple[PossiblePlace, ...]
    """Where the person may be, likeliest first; none if no person fits."""

    beliefs: tuple[Belief, ...]
    """One per sensitive column that is not known; none if no person fits."""

    notes: tuple[str, ...] = ()
    fitting: int | None = None
    """The people of these places, every one once; None if they add up."""

    @property
    def found(self) -> bool:
        """Whether any person in the release fits."""
        return bool(self.places)

    def belief(self, column: str | None = None) -> Belief:
        """Find what is believed of one column; by default the one where most was learned."""
        if column is None and self.beliefs:
            return max(self.beliefs, key=lambda each: each.gain)
        for each in self.beliefs:
            if each.column == column:
                return each
        known = [each.column for each in self.beliefs]
        raise UnknownColumnError(str(column), known, where="what is believed")

    @property
    def where(self) -> str:
        """Return where the person may be, in a sentence."""
        who = list_values(self.person) or "A person of whom nothing is known"
        kind = kind_of(self.kind)
        if not self.places:
            return f"{who}: no person in the release fits."
        people = sum(place.people for place in self.places)
        people = people if self.fitting is None else self.fitting
        mixed = " people" if kind.keeps_classes else " people, not all of whom fit"
        return (
            f"{who} fits {len(self.places)} of {self.of_places} {kind.groups[1]}, "
            f"with {people} of {self.of}{mixed}."
        )

    @property
    def sentences(self) -> tuple[str, ...]:
        """Return in words where the person may be, what is known, and what is learned."""
        known = (f"Known of the person besides: {self.knows}.",) if self.knows else ()
        worst = max(self.beliefs, key=lambda each: each.level, default=None)
        harm = (
            (f"The harm to the person is {worst.level}: what is learned of {worst.column}.",)
            if worst is not None and worst.level
            else ()
        )
        return (self.where, *known, *map(str, self.beliefs), *harm, *self.notes)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, ready for JSON."""
        return {
            "person": {n: None if v is None else text_of(v) for n, v in self.person.items()},
            **plain_of(self, "knows kind found of of_places places beliefs sentences"),
        }

    def svg(self, column: str | None = None) -> str:
        """Draw what is believed of a column before and after, as bars; see `belief`."""
        belief = self.belief(column)
        title = f"{belief.column}: {list_values(self.person) or 'any person'}"
        return bars_svg(belief.values, belief.prior, belief.posterior, title=title)

    def content(self) -> Content:
        """Return the sentences, the places, and what is believed of each value."""
        headline, *rest = self.sentences
        parts: list[Part] = [*map(Sentence, rest)]
        if len(self.places) > 1:
            places = [
                (list_values(place.labels) or "all people", place.people, Share(place.probability))
                for place in self.places
            ]
            heads = ("may be in", "people", "how likely")
            parts.append(ContentTable.of("", heads, places, most=_MOST))
        parts += [belief.table(_MOST) for belief in self.beliefs]
        return Content(headline, tuple(parts))

    def drawings(self) -> tuple[str, ...]:
        return tuple(self.svg(belief.column) for belief in self.beliefs)

    def __repr__(self) -> str:
        return f"<Explanation of {list_values(self.person) or 'a person'}>"


def list_values(named: Mapping[str, Value]) -> str:
    """Write columns and values in a row.

    >>> list_values({"age": 41, "zip": None})
    'age=41, zip=(missing)'
    """
    return ", ".join(
        f"{name}={'(missing)' if value is None else text_of(value)}"
        for name, value in named.items()
    )
