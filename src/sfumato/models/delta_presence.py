"""δ-presence: whether someone of the population is in the table stays uncertain."""

from collections.abc import Mapping
from typing import ClassVar, Self

import numpy as np

from sfumato.classes import EquivalenceClasses
from sfumato.dataclasses import dataclass
from sfumato.errors import ParameterError, require_number
from sfumato.models.base import CLOSED, Merging, PrivacyModel
from sfumato.models.rounding import at_least, at_most, ratio
from sfumato.typing import BoolArray


@dataclass(frozen=True)
class DeltaPresence(PrivacyModel):
    """In every class between `minimum` and `maximum` of the population's people are in the table.

    Promises: an adversary who knows that a person of the population has the quasi-identifiers of
    a class believes with a probability in this range that the person is in the table.
    With a `minimum` above 0, every class of the population must be in the table: of people
    whose class it does not show it is plain that they are not in it, or that their class is one
    that was suppressed, which breaks a promise itself. So no class with people in the population
    is suppressed. With a `maximum` alone, classes may be absent or suppressed: suppressed rows
    can be of any person whose class is not shown, so they are one more class, with all these
    people, and it keeps the maximum too.
    Does not promise: anything about sensitive values. The population given must be the
    one the adversary has. Rows left out because a quasi-identifier is missing may be of any
    person, so no row may be suppressed beside `missing: suppress`; with `matches-any` it cannot
    be said who is in which class, and the model is refused. Which of the people who are not shown
    were suppressed is taken to be as likely of one as of another; an adversary who reasons about
    why a class was suppressed may know better.

    Reference: "Hiding the Presence of Individuals from Shared Databases", 2007,
    doi:10.1145/1247480.1247554

    Args:
        minimum: Smallest share allowed, 0 to 1.
        maximum: Largest share allowed, 0 to 1 and not below `minimum`.

    Example:
        >>> classes = EquivalenceClasses(np.array([2, 2]), population=np.array([10, 2]))
        >>> DeltaPresence(0.1, 0.5).passes(classes)
        array([ True, False])
        >>> DeltaPresence(0.1, 0.5).measure(classes)
        {'minimum': 0.2, 'maximum': 1.0}
        >>> hidden = classes.keep(np.array([True, False]))  # the two rows of two people
        >>> DeltaPresence(0, 0.5).passes(hidden), DeltaPresence(0, 0.5).passes_unseen(hidden)
        (array([ True]), False)
    """

    name: ClassVar[str] = "delta-presence"
    in_words: ClassVar[str] = (
        "Who knows a person of the population believes with {minimum_percent} to {maximum_percent} "
        "that they are in the data."
    )
    of_population: ClassVar[bool] = True
    stricter: ClassVar[Mapping[str, int]] = {"minimum": 1, "maximum": -1}
    merging: ClassVar[Merging] = CLOSED
    needs_population: ClassVar[bool] = True
    counts_presence: ClassVar[bool] = True

    minimum: float
    maximum: float

    def __post_init__(self) -> None:
        require_number("minimum", self.minimum, at_least=0, at_most=1)
        require_number("maximum", self.maximum, at_least=0, at_most=1)
        if self.minimum > self.maximum:
            raise ParameterError(
                "minimum", self.minimum, f"at most the maximum, which is {self.maximum!r}"
            )
        if self.minimum == 0 and self.maximum == 1:
            raise ParameterError(
                "maximum", self.maximum, "below 1 if minimum is 0", why="every class would pass"
            )

    @property
    def needs_every_class(self) -> bool:
        return self.minimum > 0

    def passes(self, classes: EquivalenceClasses) -> BoolArray:
        present = ratio(classes.sizes, classes.population_sizes())
        verdicts: BoolArray = at_least(present, self.minimum) & at_most(present, self.maximum)
        return verdicts

    def passes_unseen(self, classes: EquivalenceClasses) -> bool:
        if classes.scattered and classes.suppressed:
            return False
        if not classes.unseen:
            return True
        hidden = np.array([classes.suppressed / classes.unseen])
        return self.minimum == 0 and bool(at_most(hidden, self.maximum).all())

    def measure(self, classes: EquivalenceClasses) -> dict[str, float]:
        present = ratio(classes.sizes, classes.population_sizes())
        if classes.scattered and classes.suppressed:
            return {"minimum": 0.0, "maximum": np.inf}
        if classes.unseen:
            hidden = classes.suppressed / classes.unseen
            return {"minimum": 0.0, "maximum": float(present.max(initial=hidden))}
        if not len(classes):
            return {"minimum": self.minimum, "maximum": self.maximum}
        return {"minimum": float(present.min()), "maximum": float(present.max())}

    @classmethod
    def example(cls) -> Self:
        return cls(minimum=0.1, maximum=0.6)
