"""Sample data: the small printed tables of the literature, and invented people by the million.

The printed tables are shipped as CSV files; each is small enough to check a method by
eye. Their cells are text, as they are in any CSV file that Sfumato reads.

Example:
    >>> from sfumato import samples
    >>> samples.table("hospital").column("condition").to_pylist()
    ['HIV', 'HIV', 'Viral Infection', 'Cancer']
    >>> samples.synthetic(1000, seed=1).num_rows
    1000
"""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from sfumato.errors import UnknownNameError
from sfumato.lists import read_lists
from sfumato.samples.people import synthetic

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["about", "names", "path", "policy_path", "synthetic", "synthetic_policy", "table"]

_DATA = Path(__file__).parent / "data"


def _catalogue() -> Mapping[str, str]:
    """Return one description per printed table, in the order of `names`."""
    return read_lists(_DATA / "about.txt")


def names() -> tuple[str, ...]:
    """List the printed tables.

    >>> names()[:3]
    ('census', 'census-raw', 'hospital')
    """
    return tuple(_catalogue())


def about(name: str) -> str:
    """Return what a printed table shows.

    >>> about("driving-record")
    'A public list with names. Joined with `hospital` it tells what Rajesh suffers from.'
    """
    return " ".join(_catalogue()[_check_name(name)].split())


def path(name: str) -> Path:
    """Return the CSV file of a printed table.

    >>> path("patients").name
    'patients.csv'
    """
    return _DATA / f"{_check_name(name)}.csv"


def table(name: str) -> "pa.Table":
    """Read a printed table; every cell is text.

    >>> table("top-down").column_names
    ['zipcode', 'gender', 'condition']
    """
    import csv

    import pyarrow as pa

    with path(name).open(encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    columns = zip(*rows, strict=True)
    return pa.table([pa.array(column, pa.string()) for column in columns], names=header)


def policy_path(name: str) -> Path:
    """Return the policy file that goes with a sample; only some samples have one.

    >>> policy_path("incognito").name
    'incognito.policy.yaml'
    >>> policy_path("census")
    Traceback (most recent call last):
    sfumato.errors.UnknownNameError: no sample policy 'census'. Known: 'health', 'incognito', ...
    """
    suffix = ".policy.yaml"
    known = sorted(file.name.removesuffix(suffix) for file in _DATA.glob(f"*{suffix}"))
    if name not in known:
        raise UnknownNameError("sample policy", name, known)
    return _DATA / f"{name}{suffix}"


def synthetic_policy() -> Path:
    """Return the policy file for the people of `synthetic`.

    >>> synthetic_policy().name
    'synthetic.policy.yaml'
    """
    return policy_path("synthetic")


def _check_name(name: str) -> str:
    if name not in _catalogue():
        raise UnknownNameError("sample", name, _catalogue())
    return name
