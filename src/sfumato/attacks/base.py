"""What an attack is, and what it finds."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar, Self

import numpy as np

from sfumato.attacks.outcome import MOST_CASES, Case, Outcome, at_risk
from sfumato.attacks.shares import Guesses, is_value
from sfumato.attacks.target import Target
from sfumato.classes import EquivalenceClasses
from sfumato.text import text_of
from sfumato.typing import BoolArray, FloatArray, IntArray, Value


class Attack(ABC):
    """A way to learn something about a person from a release.

    A member of the family is a frozen dataclass: its fields say what is attacked, its
    docstring what is found and what is not. It sees counts only.
    """

    name: ClassVar[str]
    """What it is called in the registry, in reports and on the command line."""

    how: ClassVar[str]
    """What the adversary does, in one sentence for people."""

    @classmethod
    @abstractmethod
    def against(cls, target: Target, threshold: float) -> list[Self]:
        """Give what is worth trying on a release; nothing if it cannot be tried."""

    @classmethod
    def why_not(cls, target: Target) -> str:  # noqa: ARG003 - others look at it
        """Say why it cannot be tried on a release, if `against` gives nothing."""
        return "the release has no sensitive column"

    @abstractmethod
    def on(self, target: Target, threshold: float) -> Outcome:
        """Attack a release, and say who is at risk: see `at_risk`."""

    def params(self) -> dict[str, Any]:
        """Give the settings that were made as plain values."""
        settings = ((each.name, getattr(self, each.name)) for each in fields(self))  # type: ignore[arg-type]
        return {name: _plain(value) for name, value in settings if value is not None}

    @classmethod
    @abstractmethod
    def example(cls) -> Self:
        """Give a small valid instance whose sensitive column, if it has one, is `disease`."""

    def __str__(self) -> str:
        shown = (_shown(*item) for item in self.params().items() if item[1] != [])
        return f"{self.name}({', '.join(shown)})"


class ClassAttack(Attack):
    """An attack on a sensitive column by somebody who knows which class a person is in.

    The quasi-identifiers say so. It needs the counts of the classes and nothing else.
    """

    column: str
    """The sensitive column it is after."""

    @abstractmethod
    def run(self, classes: EquivalenceClasses) -> "Finding":
        """Attack every class, and say which gave something away."""

    def guessed(
        self, classes: EquivalenceClasses, guess: Guesses, vulnerable: BoolArray
    ) -> "Finding":
        """Say what comes of guessing one value of the column in each class."""
        believed = is_value(classes.counts_of(self.column), guess.value)
        return Finding(self, vulnerable, classes.rows, guess.prior, guess.posterior, believed)

    def find(self, target: Target) -> "Finding":
        """Attack every class of a release; it knows what the classes are recognised by, too."""
        return self.run(target.classes)

    def on(self, target: Target, threshold: float) -> Outcome:
        return self.find(target).outcome(target, threshold)


@dataclass(frozen=True, eq=False)
class Beliefs:
    """What is believed of each of some groups of people, and with what right."""

    rows: IntArray
    """How many people each group has."""

    prior: FloatArray
    posterior: FloatArray
    who: Callable[[int], Mapping[str, Value]]
    """Says what a group is recognised by."""

    believed: Callable[[int], str]
    """Says what is believed of a group."""

    def outcome(
        self, attack: Attack, column: str | None, risky: BoolArray, threshold: float
    ) -> Outcome:
        """Give the figures of an attack, and the groups that are worst off."""
        gain = self.posterior - self.prior
        order = np.lexsort((-self.rows, -gain, -self.posterior, ~risky))
        cases = tuple(
            Case(
                self.who(i),
                int(self.rows[i]),
                self.believed(i),
                float(self.prior[i]),
                float(self.posterior[i]),
            )
            for i in order[:MOST_CASES].tolist()
            if self.posterior[i] > 0
        )
        settings = attack.params()
        settings.pop("column", None)
        return Outcome(
            attack.name,
            column,
            people=int(self.rows[risky].sum()),
            of=int(self.rows.sum()),
            prior=cases[0].prior if cases else 0.0,
            posterior=cases[0].posterior if cases else 0.0,
            threshold=threshold,
            worst=cases,
            how=attack.how,
            settings=settings,
        )


@dataclass(frozen=True, eq=False)
class Finding:
    """What an attack found: which classes are vulnerable, and how many rows are in them.

    Example:
        >>> from sfumato.attacks import Homogeneity
        >>> rows = [("A", "flu"), ("A", "flu"), ("B", "flu"), ("B", "gout")]
        >>> finding = Homogeneity("disease").run(classes_of(rows, column="disease"))
        >>> print(finding)
        homogeneity(disease) exposes 2 of 4 rows, in 1 of 2 classes
        >>> finding.suffers, finding.share, finding.vulnerable.tolist()
        (True, 0.5, [True, False])
        >>> finding.prior.tolist()[0], finding.posterior.tolist()[0], finding.believed(0)
        (0.75, 1.0, 'disease = flu')
    """

    attack: ClassAttack
    vulnerable: BoolArray
    """One verdict per class, in the order of the classes. Read-only."""

    class_rows: IntArray
    """How many rows each class stands for."""

    prior: FloatArray
    """Per class, what somebody believes of its people who never saw the release."""

    posterior: FloatArray
    """What somebody believes who did: the likeliest statement of the attack's kind."""

    believed: Callable[[int], str] = field(repr=False)
    """Gives that statement for a class, in words."""

    def __post_init__(self) -> None:
        self.vulnerable.flags.writeable = False

    @property
    def name(self) -> str:
        """The attack's name."""
        return self.attack.name

    @property
    def column(self) -> str:
        """The column that was attacked."""
        return self.attack.column

    @property
    def classes(self) -> int:
        """How many classes are vulnerable."""
        return int(self.vulnerable.sum())

    @property
    def of_classes(self) -> int:
        """How many classes there are."""
        return len(self.vulnerable)

    @property
    def rows(self) -> int:
        """How many rows are in vulnerable classes."""
        return int(self.class_rows[self.vulnerable].sum())

    @property
    def of_rows(self) -> int:
        """How many rows there are."""
        return int(self.class_rows.sum())

    @property
    def share(self) -> float:
        """The share of rows in vulnerable classes; 0 for an empty table."""
        return self.rows / max(self.of_rows, 1)

    @property
    def suffers(self) -> bool:
        """Whether the attack succeeds anywhere: one class is enough."""
        return bool(self.vulnerable.any())

    def outcome(self, target: Target, threshold: float) -> Outcome:
        """Give the figures of an attack, and the classes that are worst off.

        The worst are those in which the most was learned: first the vulnerable, then the
        likeliest belief, then the largest gain.
        """
        risky = self.vulnerable & at_risk(self.prior, self.posterior, threshold)
        beliefs = Beliefs(self.class_rows, self.prior, self.posterior, target.who, self.believed)
        return beliefs.outcome(self.attack, self.column, risky, threshold)

    def to_dict(self) -> dict[str, Any]:
        """Give the attack, its settings and the figures as plain values, ready for JSON."""
        figures = ("suffers", "classes", "of_classes", "rows", "of_rows", "share")
        return {
            "attack": self.name,
            **self.attack.params(),
            **{figure: getattr(self, figure) for figure in figures},
        }

    def __str__(self) -> str:
        if not self.suffers:
            return f"{self.attack} exposes none of {self.of_rows} rows"
        return (
            f"{self.attack} exposes {self.rows} of {self.of_rows} rows, "
            f"in {self.classes} of {self.of_classes} classes"
        )


def _plain(value: object) -> object:
    """Make a value of a table, or a list of them, one that JSON can hold."""
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    if isinstance(value, np.generic):
        return _plain(value.item())
    return value if value is None or isinstance(value, bool | int | float | str) else text_of(value)


def _shown(name: str, value: object) -> str:
    if name == "column":
        return str(value)
    return f"{len(value)} {name}" if isinstance(value, list) else f"{name}={value}"
