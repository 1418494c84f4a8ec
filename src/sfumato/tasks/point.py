"""One policy among those that are compared: its figures, or why there are none."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sfumato.attacks import Outcome
from sfumato.errors import InfeasibleError
from sfumato.losses import NormalizedLoss
from sfumato.policy import Policy
from sfumato.tasks.percent import percent

AT_RISK, BELIEF, GAIN, PROSECUTOR, MEAN = "at-risk", "belief", "gain", "prosecutor", "mean"

RISKS: Mapping[str, str] = {
    AT_RISK: "people at risk",
    BELIEF: "strongest belief",
    GAIN: "strongest gain in belief",
    PROSECUTOR: "highest prosecutor risk",
    MEAN: "mean prosecutor risk",
}
"""The risks to choose from, and what each is called in tables and drawings."""


QUERY_ERROR = "query-error"
"""The loss that is measured with questions, and so for releases of every kind."""


def loss_words(loss: str) -> str:
    """Say what a loss is called in tables and drawings.

    >>> loss_words("normalized-loss"), loss_words("query-error"), loss_words("discernibility")
    ('normalised loss', 'mean error of counting queries', 'discernibility')
    """
    special = {
        NormalizedLoss.name: "normalised loss",
        QUERY_ERROR: "mean error of counting queries",
    }
    return special.get(loss, loss.replace("-", " "))


@dataclass(frozen=True)
class Measured:
    """What would be published with a policy, in figures."""

    losses: Mapping[str, float]
    """By name; where nothing is generalised there are only those that are asked for."""

    published: int
    suppressed: int
    classes: int
    smallest: int
    """People in the smallest class; 0 if nothing is published."""

    risks: Mapping[str, float]
    """By name, each between 0 and 1: see `RISKS`. Without sensitive columns some are absent."""

    people: int = 0
    """How many people the worst attack puts at risk."""

    prior: float | None = None
    """What was believed before the release, where the belief is strongest."""

    attacks: tuple[Outcome, ...] = ()
    """What each attack achieved, without the people it found."""

    def to_dict(self) -> dict[str, Any]:
        """Give the figures as plain values that JSON can hold."""
        return {
            "losses": dict(self.losses),
            "published": self.published,
            "suppressed": self.suppressed,
            "classes": self.classes,
            "smallest_class": self.smallest,
            "people_at_risk": self.people if AT_RISK in self.risks else None,
            "prior": self.prior,
            "risks": {name: self.risks.get(name) for name in RISKS},
        }


@dataclass(frozen=True)
class Point:
    """One policy among those that are compared: what came out of it, or why nothing did."""

    name: str
    policy: Policy = field(repr=False)
    """The policy itself, ready for `sf.anonymize`."""

    measured: Measured | None
    reason: str | None = None
    """Why no release keeps the policy, if none does."""

    seconds: float = field(default=0.0, compare=False)
    """How long the decision took."""

    @property
    def possible(self) -> bool:
        """Whether some release keeps the policy."""
        return self.measured is not None

    @property
    def figures(self) -> Measured:
        """What came out; refused with the reason if nothing did."""
        if self.measured is None:
            raise InfeasibleError(f"{self.name}: {self.reason}")
        return self.measured

    @property
    def loss(self) -> float:
        """The loss that its policy asks to keep small; nothing if nothing is generalised."""
        return self.figures.losses.get(self.policy.loss.name, 0.0)

    @property
    def losses(self) -> Mapping[str, float]:
        """Every loss by name."""
        return self.figures.losses

    @property
    def suppressed(self) -> int:
        """How many rows are not published."""
        return self.figures.suppressed

    @property
    def risks(self) -> Mapping[str, float]:
        """Every risk by name; see `RISKS`."""
        return self.figures.risks

    def told(self, loss: str = NormalizedLoss.name) -> str:
        """Say the most important about it in one line."""
        risks = [
            f"{words} {percent(self.risks[name])}"
            for name, words in RISKS.items()
            if name in self.risks
        ]
        lost = [f"{loss_words(loss)} {self.losses[loss]:.4f}"] if loss in self.losses else []
        return f"{self.name}: " + ", ".join([*lost, f"{self.suppressed} rows suppressed", *risks])

    def to_dict(self) -> dict[str, Any]:
        """Give it as plain values that JSON can hold; figures are null if nothing came out."""
        blank = {**dict.fromkeys(_NOTHING.to_dict()), "losses": {}, "risks": dict.fromkeys(RISKS)}
        apart = self.policy.decouple
        return {
            "name": self.name,
            "possible": self.possible,
            "reason": self.reason,
            "loss": self.loss if self.possible else None,
            **(blank if self.measured is None else self.measured.to_dict()),
            "loss_name": self.policy.loss.name,
            "method": self.policy.method.name,
            "decouple": None if apart is None else apart.name,
            "seconds": round(self.seconds, 6),
            "policy": self.policy.to_yaml(),
        }


_NOTHING = Measured({}, 0, 0, 0, 0, {})
