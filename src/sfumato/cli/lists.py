"""Lists of column names on the command line."""

import csv
from collections.abc import Iterable


def listed(texts: Iterable[str]) -> list[str]:
    """Split at commas; a name that holds one stands in double quotes.

    >>> listed(["age, sex", '"pay, net"'])
    ['age', 'sex', 'pay, net']
    """
    return [
        name.strip() for row in csv.reader(texts, skipinitialspace=True) for name in row if name
    ]
