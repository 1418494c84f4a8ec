"""The roles of columns."""

from enum import StrEnum


class Role(StrEnum):
    """The part a column plays.

    >>> Role("sensitive")
    <Role.SENSITIVE: 'sensitive'>
    """

    IDENTIFIER = "identifier"
    """Names a person by itself (name, social security number): dropped from every release."""

    QUASI_IDENTIFIER = "quasi-identifier"
    """Known to others and linkable (age, postcode): generalised."""

    SENSITIVE = "sensitive"
    """What no adversary should learn about a person (diagnosis, salary): kept, and protected."""

    SET = "set"
    """Several values per row (diagnoses, purchases), some of which others may know: generalised."""

    PLAIN = "plain"
    """Neither: published as it is."""

    WEIGHT = "weight"
    """How many people of the population a row of a survey stands for: never published as it is, but
    as one number for all rows of a class."""

    DROPPED = "dropped"
    """Not identifying, but not to be published."""
