"""Unique matches: how often someone who is alone in a sample is the only one it could be."""

from sfumato.populations.base import Sample


def unique_match(sample: Sample) -> float:
    """Return how likely a match with a person who is alone in the sample is right.

    Someone is drawn from the population at random and found to match one row only. Of U rows that
    are alone and P rows in pairs, and a sampling fraction of f, it is the right row with about
    probability U f / (U f + P (1 - f)): a person of a pair is found alone if the other was not
    drawn. Known as data intrusion simulation (DIS).

    Assumes: people were drawn independently with the same probability. Needs no model of the
    population, and is 0 where no one is alone.

    References: M. J. Elliot, "DIS: a new approach to the measurement of statistical disclosure
    risk", Risk Management 2(4), 2000, doi:10.1057/palgrave.rm.8240067; C. J. Skinner, M. J. Elliot,
    "A measure of disclosure risk for microdata", 2002, doi:10.1111/1467-9868.00365

    Example:
        >>> import numpy as np
        >>> unique_match(Sample.of(np.array([1, 1, 1, 2]), 0.1))
        0.142...
    """
    alone = sample.of_size(1) * sample.fraction
    pairs = 2 * sample.of_size(2) * (1 - sample.fraction)
    return alone / (alone + pairs) if alone else 0.0
