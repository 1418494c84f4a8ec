"""Published tables whose rows say how many people they stand for."""

import numpy as np

from sfumato.counts import FrequencySet
from sfumato.errors import InputError
from sfumato.text import number_of
from sfumato.typing import FloatArray


def people_of(table: FrequencySet, count: str) -> FloatArray:
    """Read how many people each entry stands for, which a CSV file holds as text.

    >>> people_of(FrequencySet.from_rows(["ill", "count"], [("flu", "2"), ("gout", 1)]), "count")
    array([2., 1.])
    """
    numbers = np.array([number_of(number) or 0.0 for number in table.column(count).values])
    found: FloatArray = table.rows * numbers[table.codes_of(count)]
    return found


def apart() -> InputError:
    """Say that buckets differ from table to table."""
    return InputError(
        "the tables do not belong together: a bucket has not as many people in one as in another. "
        "See what is wrong with them: sfumato verify."
    )
