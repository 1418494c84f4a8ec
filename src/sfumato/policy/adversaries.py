"""Adversaries: what others may know of a person besides what is published."""

from enum import StrEnum


class Knows(StrEnum):
    """What someone knows of a person whom they look for.

    >>> [str(knows) for knows in Knows]
    ['quasi-identifiers', 'one-value', 'two-values']
    """

    QUASI_IDENTIFIERS = "quasi-identifiers"
    """The quasi-identifiers, and nothing else."""

    ONE_VALUE = "one-value"
    """Besides them one other value that is published: of any column that others may know."""

    TWO_VALUES = "two-values"
    """Besides them two such values."""

    @property
    def values(self) -> int:
        """Return how many values are known besides the quasi-identifiers."""
        return [*Knows].index(self)

    @property
    def besides(self) -> str:
        """Return what is known besides the quasi-identifiers, in words; empty if nothing is."""
        return ("", "one other value", "two other values")[self.values]
