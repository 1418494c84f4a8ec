"""What an attack achieved: the same few figures for every attack, whatever it does."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sfumato.text import percent_of, text_of
from sfumato.typing import BoolArray, FloatArray, Value

MOST_CASES = 5
"""How many of the worst cases an outcome holds."""

_TELLING = {"level", "within", "view", "known"}
"""Settings by which attacks of one kind on one column differ."""


def at_risk(prior: FloatArray, posterior: FloatArray, threshold: float) -> BoolArray:
    """Tell whom a release betrays: what is believed of them is likely, and the release made it so.

    A belief counts if it reaches the threshold and the release has at least halved the doubt. If
    nine in ten earn little, everybody believes that of everybody before anything is published.

    >>> prior, posterior = np.array([0.01, 0.75, 0.75]), np.array([0.8, 0.8, 1.0])
    >>> at_risk(prior, posterior, 0.75).tolist()
    [True, False, True]
    """
    # Shares are quotients of counts: what is exactly the threshold must not fall below it.
    slack = 1e-12
    likely = posterior >= threshold - slack
    learned = (1 - posterior) * 2 <= (1 - prior) + slack
    found: BoolArray = likely & learned & (posterior > prior + slack)
    return found


@dataclass(frozen=True)
class Case:
    """Some people who look alike, and what the adversary believes of them."""

    who: Mapping[str, Value]
    """What they are recognised by, as it was published."""

    people: int
    believed: str
    """What is believed of them, in words."""

    prior: float
    """How likely that is to somebody who never saw the release."""

    posterior: float

    @property
    def gain(self) -> float:
        """How much likelier the release made it."""
        return self.posterior - self.prior

    def to_dict(self) -> dict[str, Any]:
        """Give everything as plain values, ready for JSON."""
        return {
            "who": {
                name: None if value is None else text_of(value) for name, value in self.who.items()
            },
            "people": self.people,
            "believed": self.believed,
            "prior": self.prior,
            "posterior": self.posterior,
            "gain": self.gain,
        }

    def __str__(self) -> str:
        who = ", ".join(
            f"{name}={'(missing)' if value is None else text_of(value)}"
            for name, value in self.who.items()
        )
        return (
            f"{who or 'everybody'} ({self.people}): {self.believed}, "
            f"{percent_of(self.prior)} before, {percent_of(self.posterior)} after"
        )


@dataclass(frozen=True)
class Outcome:
    """What one attack on one release achieved.

    Example:
        >>> case = Case({"age": "30s"}, 4, "disease = flu", prior=0.25, posterior=1.0)
        >>> print(Outcome("homogeneity", "disease", people=4, of=20, prior=0.25, posterior=1.0,
        ...     threshold=0.75, worst=(case,)))
        homogeneity(disease): 4 of 20 people at risk; strongest belief 100%, 25% before
    """

    attack: str
    column: str | None
    """The sensitive column it is after; None if it is after the person's row or presence."""

    people: int
    """How many are at risk."""

    of: int
    """How many there are."""

    prior: float | None
    """In the worst case, what somebody believes who never saw the release."""

    posterior: float | None
    """In the worst case, what somebody believes who did; None if the attack could not be tried."""

    threshold: float
    """From which belief on somebody is at risk."""

    worst: tuple[Case, ...] = ()
    how: str = ""
    """What the adversary does, in one sentence."""

    judged: bool = True
    """Whether the release is to withstand it; else it is told, and no reason to refuse."""

    note: str = ""
    interval: tuple[float, float] | None = None
    """Where the posterior lies, if it was sampled."""

    seed: int | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)

    @property
    def gain(self) -> float | None:
        """How much likelier the release made the worst case."""
        if self.posterior is None or self.prior is None:
            return None
        return self.posterior - self.prior

    @property
    def share(self) -> float:
        """The share of people at risk."""
        return self.people / max(self.of, 1)

    @property
    def about(self) -> str:
        """What it is after, and the setting by which it differs from others of its kind.

        >>> settings = {"within": 10, "fakes": 100}
        >>> Outcome("similarity", "pay", 0, 9, 0.1, 0.2, 0.75, settings=settings).about
        'pay, within=10'
        """
        telling = [f"{k}={v}" for k, v in self.settings.items() if k in _TELLING]
        return ", ".join(filter(None, [self.column, *telling]))

    @property
    def title(self) -> str:
        """The attack and what it is about."""
        return f"{self.attack}({self.about})" if self.about else self.attack

    @property
    def tried(self) -> bool:
        """Whether the attack could be tried on this release."""
        return self.posterior is not None

    @property
    def holds(self) -> bool:
        """Whether the release withstands it, as far as it is to."""
        return not self.judged or not self.people

    def to_dict(self) -> dict[str, Any]:
        """Give everything as plain values, ready for JSON."""
        return {
            "attack": self.attack,
            "column": self.column,
            "settings": dict(self.settings),
            "how": self.how,
            "tried": self.tried,
            "judged": self.judged,
            "holds": self.holds,
            "people": self.people,
            "of": self.of,
            "share": self.share,
            "threshold": self.threshold,
            "prior": self.prior,
            "posterior": self.posterior,
            "gain": self.gain,
            "interval": None if self.interval is None else list(self.interval),
            "seed": self.seed,
            "note": self.note,
            "worst": [case.to_dict() for case in self.worst],
        }

    def __str__(self) -> str:
        name = self.attack if self.column is None else f"{self.attack}({self.column})"
        if self.posterior is None:
            return f"{name}: not tried, {self.note}"
        before = "" if self.prior is None else f", {percent_of(self.prior)} before"
        return (
            f"{name}: {self.people} of {self.of} people at risk; "
            f"strongest belief {percent_of(self.posterior)}{before}"
        )
