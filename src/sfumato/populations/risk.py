"""The risk of a sample against the population it was drawn from, as far as it can be estimated."""

from typing import Self

from sfumato.dataclasses import dataclass
from sfumato.populations.base import Sample, Uniqueness
from sfumato.populations.estimators import ESTIMATORS
from sfumato.populations.individual import individual_risk
from sfumato.populations.unique_match import unique_match
from sfumato.showing.content import ContentTable, FineShare, Sentence
from sfumato.text import format_integer, in_thousands, percent
from sfumato.typing import FloatArray, IntArray


@dataclass(frozen=True)
class SampleRisk:
    """How likely people of a sample are found in the population it was drawn from.

    Estimates, no promises, of an adversary who knows the quasi-identifiers of all people and does
    not know who is in the sample. Each says what it assumes; see the estimators.
    """

    basis: str
    """What the size of the population comes from: "fraction", or the column of weights."""

    fraction: float
    """The share of the population that is in the sample."""

    people: float
    """The number of people of the population."""

    unique_in_sample: float
    """The share of rows that are alone in their class: counted, not estimated."""

    uniqueness: tuple[Uniqueness, ...]
    """The share of people who are alone in the population, by each estimator."""

    unique_match: float
    """How likely a match with a row that is alone is right."""

    maximum: float
    """The largest individual risk of a row, after Benedetti and Franconi."""

    average: float
    """The individual risk of a row, on average over all rows."""

    expected: float
    """The rows that an adversary who tries each is expected to find: the sum of their risks.

    Too few where many people are unique in the population."""

    @classmethod
    def of(
        cls,
        sizes: IntArray,
        *,
        fraction: float | None = None,
        people: FloatArray | None = None,
        weight: str = "weights",
    ) -> Self | None:
        """Estimate from the classes of a sample; None where there are none.

        Args:
            sizes: The rows of each class.
            fraction: The share of the population that is in the sample.
            people: In place of it, the people that the weights of each class add up to.
            weight: The column of weights, if there is one.

        Example:
            >>> import numpy as np
            >>> found = SampleRisk.of(np.array([1, 1, 1, 2, 5]), fraction=0.1)
            >>> found.people, round(found.maximum, 3), round(found.expected, 2)
            (100.0, 0.256, 1.05)
        """
        rows = int(sizes.sum())
        if not rows:
            return None
        basis = "fraction" if fraction is not None else weight
        if people is None:
            people = sizes / (1.0 if fraction is None else fraction)
        if fraction is None:
            fraction = min(rows / float(people.sum()), 1.0)
        sample = Sample.of(sizes, fraction)
        risks = individual_risk(sizes, people)
        expected = float((risks * sizes).sum())
        return cls(
            basis,
            fraction,
            sample.population,
            sample.unique,
            tuple(kind().estimate(sample) for kind in ESTIMATORS.values()),
            unique_match(sample),
            float(risks.max()),
            expected / rows,
            expected,
        )

    @property
    def likeliest(self) -> Uniqueness:
        """The estimate of Dankar's rule, which chooses among the others."""
        return self.uniqueness[0]

    def sentence(self) -> Sentence:
        """Return the estimates in words, with what they are."""
        share, rows = self.likeliest.share, self.people * self.fraction
        unique = (
            "it could not be estimated who is unique in the population"
            if share is None
            else f"{percent(share, 1)} of the population are unique, about "
            f"{format_integer(round(share * rows))} of "
            "them in the table, where an adversary who knows all people finds them"
        )
        return Sentence(
            f"A sample of {percent(self.fraction, 1)} of about "
            f"{format_integer(round(self.people))} people. "
            f"Estimated, which is no promise: {unique}; a match with a row that is alone in the "
            f"table is right with a probability of {percent(self.unique_match)}; the individual "
            f"risks of rows, {percent(self.average, 1)} on average and {percent(self.maximum, 1)} "
            f"at most, add up to {in_thousands(f'{self.expected:,.1f}')} people found, which is "
            "too few where many are unique"
        )

    def table(self) -> ContentTable:
        """Return what each estimator says, and why if it has no answer."""
        return ContentTable.of(
            "",
            ("unique in the population, estimated", "share", "people", "assumes", "note"),
            [
                [
                    each.estimator,
                    "no answer" if each.share is None else FineShare(each.share),
                    "" if each.share is None else round(each.share * self.people),
                    ESTIMATORS[each.estimator].assumes,
                    each.note,
                ]
                for each in self.uniqueness
            ],
        )
