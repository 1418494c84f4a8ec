"""Membership disclosure: can others tell who is in the data at all?"""

from math import prod, sqrt
from statistics import NormalDist
from typing import Any, ClassVar, Self

import numpy as np

from sfumato.attacks.base import Attack, Case, Outcome
from sfumato.attacks.matching import Matcher
from sfumato.attacks.target import Target
from sfumato.counts import FrequencySet, group
from sfumato.counts.people import ClassPeople
from sfumato.dataclasses import dataclass
from sfumato.errors import ParameterError, require_int, require_number
from sfumato.harm import HarmRule, Level
from sfumato.models import MODELS
from sfumato.showing.content import Content, Showable, plain_of
from sfumato.text import percent
from sfumato.typing import BoolArray, CodeArray, FloatArray


@dataclass(frozen=True)
class Presence(Showable):
    """How well real rows and fake ones can be told apart by a release.

    A fake row that matches no group is certainly not in the data; if nearly all of them are so,
    matching a group says that a person is.
    """

    attack: "Membership"
    people: int
    matched: int
    """The number of them that match a group. Those who do not were suppressed."""

    groups: float
    """The number of groups a person matches, on average."""

    fakes: int
    """The number of fake rows held against the groups; none of them is in the data."""

    ruled_out: float | None
    """The share of fake rows that match no group; None if all combinations are in the data."""

    interval: tuple[float, float] | None
    """Where that share lies, if it was sampled; both ends are the share itself if not."""

    fake_groups: float | None
    """The number of groups a fake row matches, on average."""

    exact: bool
    """Whether every combination was looked at, instead of a sample."""

    @property
    def advantage(self) -> float | None:
        """The gain of taking those who match for members over guessing: 0 to 1.

        The share of people who match, less the share of fake rows that do.
        """
        if self.ruled_out is None:
            return None
        return self.matched / max(self.people, 1) - (1 - self.ruled_out)

    def belief(self, ruled_out: float) -> float:
        """Return how likely a person whom a group fits is in the data, as likely in as out before.

        Args:
            ruled_out: The share of fake rows that no group fits.
        """
        real = self.matched / max(self.people, 1)
        both = real + (1 - ruled_out)
        return real / both if both else 0.0

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as plain values, ready for JSON."""
        return {
            "attack": "membership",
            **plain_of(self, "people matched groups fakes ruled_out interval"),
            "confidence": self.attack.confidence,
            **plain_of(self, "fake_groups advantage exact"),
        }

    def content(self) -> Content:
        """Return the figures in one sentence."""
        return Content(self.headline)

    @property
    def headline(self) -> str:
        """The people who match a group, and the fakes that can be ruled out."""
        real = f"{self.matched} of {self.people} people match a group, {self.groups:.3g} on average"
        if self.ruled_out is None or self.interval is None:
            return f"membership: {real}; there is no combination that no person has"
        of = f"{self.fakes} fake rows"
        if not self.exact:
            low, high = self.interval
            of += f" (between {percent(low, 1)} and {percent(high, 1)} of all, at "
            of += f"{percent(self.attack.confidence)})"
        out = percent(self.ruled_out, 1)
        return f"membership: {real}; {out} of {of} match none and can be ruled out"


_PRIOR = 0.5
"""Before anything is published a person is as likely in the data as not."""


@dataclass(frozen=True)
class Membership(Attack):
    """Hold people who are in the data and people who are not against the groups of a release.

    Fake people are made by recombining: every quasi-identifier is drawn by itself, with the
    values as frequent as they are among the real ones. Recombinations that a person in the
    data has are no fakes and are set aside. If there are no more combinations than `fakes`, all
    are looked at, each with its probability, and the share is exact.

    Finds: how many groups real and fake people match, and which share of the fake ones can
    be ruled out. Exact quasi-identifiers rule all of them out, one label for everything none.
    Does not find: what those who match a group learn from it; nor how likely a particular
    person outside the data is, for real people outside resemble those inside more than
    recombinations do.

    Reference: Li, Li, Zhang and Molloy, "Slicing: a new approach for privacy preserving data
    publishing", 2012, doi:10.1109/TKDE.2010.236

    Args:
        fakes: How many fake rows to draw, where not all combinations are looked at.
        confidence: How sure the interval of a sampled share is.
        seed: Where fake rows come from when it is tried among other attacks.

    Example:
        >>> from sfumato.attacks.matching import LinkedTables, matcher
        >>> people = FrequencySet.from_rows(["age", "sex"], [(30, "f"), (30, "f"), (40, "m")])
        >>> exact = matcher(people, LinkedTables((people,)))
        >>> print(Membership().run(people, exact, rng=np.random.default_rng()))
        membership: 3 of 3 people match a group, 1 on average; 100 % of 2 fake rows match none \
and can be ruled out
    """

    name: ClassVar[str] = "membership"
    leaves_open: ClassVar[str] = "who is in the data at all"
    how: ClassVar[str] = (
        "Looks whether any group fits the person, and takes those for members whom one fits."
    )
    advice: ClassVar[str] = (
        "Promise presence: models: [{{model: delta-presence, minimum: 0, maximum: 0.5}}]."
    )

    fakes: int = 10_000
    confidence: float = 0.95
    seed: int = 0

    def __post_init__(self) -> None:
        require_int("fakes", self.fakes, at_least=1)
        require_number("confidence", self.confidence, above=0, below=1)
        require_int("seed", self.seed, at_least=0)

    @classmethod
    def against(cls, target: Target, rule: HarmRule) -> list[Self]:  # noqa: ARG003 - all alike
        people = target.people
        return [] if people is None or target.matcher is None or not people.total else [cls()]

    @classmethod
    def why_not(cls, target: Target) -> str:  # noqa: ARG003 - always the same
        return "it needs the original table, to know who is in the data and who is not"

    def on(self, target: Target, rule: HarmRule) -> Outcome:
        """Attack a release: how likely is a person whom a group fits in the data?

        Before, each person is as likely in the data as a fake row is not to be. Unless the release
        promises δ-presence it hides what people have, and not that they are in it: then the
        outcome is told and no reason to refuse.
        """
        if target.people is None or target.matcher is None:
            raise ParameterError("target", target.kind, "a release", why=self.why_not(target))
        rng = np.random.default_rng(self.seed)
        found = self.run(target.people, target.matcher, rng=rng, members=target.members)
        posterior = _PRIOR if found.ruled_out is None else found.belief(found.ruled_out)
        level = Level(int(rule.levels(np.array([_PRIOR]), np.array([posterior]))[0]))
        case = Case({}, found.matched, "the person is in the data", _PRIOR, posterior, level)
        ends = None if found.exact or found.interval is None else found.interval
        return Outcome(
            self.name,
            None,
            people=found.matched if level is Level.VERY_HIGH else 0,
            high=found.matched if level is Level.HIGH else 0,
            of=found.people,
            prior=_PRIOR,
            posterior=posterior,
            threshold=rule.very_high,
            worst=(case,),
            how=self.how,
            judged=any(name in MODELS and MODELS[name].counts_presence for name in target.promised),
            note=_note(found),
            advice=self.advice.format(),
            interval=None if ends is None else (found.belief(ends[0]), found.belief(ends[1])),
            seed=None if found.exact else self.seed,
            settings={"fakes": self.fakes, "confidence": self.confidence},
        )

    @classmethod
    def example(cls) -> Self:
        return cls(fakes=100)

    def run(
        self,
        people: FrequencySet,
        matcher: Matcher,
        *,
        rng: np.random.Generator,
        members: ClassPeople | None = None,
    ) -> Presence:
        """Attack a release whose groups the matcher knows.

        Args:
            people: The quasi-identifiers of those who are in the data, as others know them.
            matcher: The groups of the release.
            rng: Where fake rows come from.
            members: Which of these combinations each person has, if they may have several: who
                fits a group with one of them is matched, and counts once.
        """
        wanted = [(column.name, column.values) for column in matcher.columns]
        if [(column.name, column.values) for column in people.columns] != wanted:
            raise ParameterError(
                "people", list(people.names), f"the rows that {[n for n, _ in wanted]} were read of"
            )
        if not people.total:
            raise ParameterError("people", 0, "at least one row")
        real = matcher.matches(people.codes)
        codes, weights, exact = self._fakes(people, rng)
        fake = matcher.matches(codes)
        total = float(weights.sum())
        ruled_out = float(weights[fake == 0].sum()) / total if total else None
        matched = int(people.rows[real > 0].sum())
        if members is not None:
            matched = int(members.at_worst((real > 0).astype(np.int64), 2)[1])
        return Presence(
            self,
            people.total if members is None else members.total,
            matched,
            float(people.rows @ real) / people.total,
            len(weights),
            ruled_out,
            None if ruled_out is None else self._interval(ruled_out, len(weights), exact=exact),
            float(weights @ fake) / total if total else None,
            exact,
        )

    def _fakes(
        self, people: FrequencySet, rng: np.random.Generator
    ) -> tuple[CodeArray, FloatArray, bool]:
        """Recombine values: rows no person has, how probable each is, and whether that is all."""
        shares = [people.value_counts(name) / people.total for name in people.names]
        sizes = tuple(len(share) for share in shares)
        exact = prod(sizes) <= self.fakes
        if exact:
            codes = np.array(np.unravel_index(np.arange(prod(sizes)), sizes), dtype=np.int32)
            weights = np.prod([s[c] for s, c in zip(shares, codes, strict=True)], axis=0)
        else:
            drawn = [rng.choice(len(share), size=self.fakes, p=share) for share in shares]
            codes = np.array(drawn, dtype=np.int32)
            weights = np.ones(self.fakes)
        good = ~_has(people, codes) & (weights > 0)
        return codes[:, good], weights[good], exact

    def _interval(self, share: float, n: int, *, exact: bool) -> tuple[float, float]:
        """Return Wilson's interval of a sampled share."""
        if exact:
            return share, share
        z = NormalDist().inv_cdf((1 + self.confidence) / 2)
        middle = (share + z * z / (2 * n)) / (1 + z * z / n)
        half = z / (1 + z * z / n) * sqrt(share * (1 - share) / n + z * z / (4 * n * n))
        # At 0 and 1 the bound is the share itself; rounding must not put it beyond.
        return min(max(middle - half, 0.0), share), max(min(middle + half, 1.0), share)


def _note(found: Presence) -> str:
    if found.ruled_out is None:
        return "every combination of values is a person's: there are no fake rows to compare with"
    return (
        f"a group fits {found.matched} of {found.people} people, and "
        f"{percent(1 - found.ruled_out, 1)} of "
        f"{found.fakes} fake rows"
    )


def _has(people: FrequencySet, codes: CodeArray) -> BoolArray:
    """Return which rows a person in the data has."""
    n = len(people)
    both = np.concatenate([people.codes, codes], axis=1)
    tuples = group(list(both), [len(column.values) for column in people.columns])
    there = np.zeros(tuples.n, dtype=np.bool_)
    there[tuples.of_item[:n]] = True
    found: BoolArray = there[tuples.of_item[n:]]
    return found
