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

from pathlib import Path
from typing import TYPE_CHECKING

from sfumato.errors import UnknownNameError
from sfumato.samples.people import synthetic

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["about", "names", "path", "policy_path", "synthetic", "synthetic_policy", "table"]

CATALOGUE: dict[str, str] = {
    "census": (
        "The ten people of `census-raw`, 5-anonymous. Who knows that a woman of the first group "
        "works for the state still learns her marital status and salary for certain."
    ),
    "census-raw": "Ten people with three sensitive columns: employer, marital status and salary.",
    "hospital": "Four patients with names. Without the names they look anonymous, and are not.",
    "driving-record": (
        "A public list with names. Joined with `hospital` it tells what Rajesh suffers from."
    ),
    "ward": "Four patients with four conditions, 4-anonymous once only 240** and age remain.",
    "homogeneity": (
        "Twelve patients. Grouped by decade of age and 240**, the four in their thirties all have "
        "the same condition: 4-anonymous, and known all the same."
    ),
    "similarity": (
        "Nine patients with salary and condition. Groups with three different conditions may "
        "still share what matters: all stomach diseases, all low salaries."
    ),
    "health": (
        "Twelve patients from three continents; conditions fall into four categories of secrecy. "
        "Those in their thirties have HIV or cancer, both of the most secret category."
    ),
    "health-mixed": (
        "Eleven patients. A group may have three distinct conditions and enough total weight, and "
        "three of its four rows may still be of the most secret category."
    ),
    "incognito": (
        "Ten rows, a lattice of 18 nodes: small enough to follow a full-domain search by hand."
    ),
    "top-down": (
        "Four rows with one quasi-identifier: local recoding keeps 73456 for two of three rows."
    ),
    "patients": (
        "Nine patients, 3-anonymous by 476** or 479** and age. All in their twenties have heart "
        "disease, so their class betrays them."
    ),
    "bucketization": (
        "Nine patients in three buckets of three; quasi-identifiers stay exact, diseases are "
        "counted per bucket."
    ),
}
"""One description per table, in the order of `sfumato.samples.names`."""
"""What each printed table shows.

The figures come from the literature on anonymity, where these tables are the standard
small examples. Column names are unified (`zipcode` everywhere), numbers are written
without separators, and obvious misprints are corrected; the values are otherwise as
printed.
"""

_DATA = Path(__file__).parent / "data"


def names() -> tuple[str, ...]:
    """List the printed tables.

    >>> names()[:3]
    ('census', 'census-raw', 'hospital')
    """
    return tuple(CATALOGUE)


def about(name: str) -> str:
    """Return what a printed table shows.

    >>> about("driving-record")
    'A public list with names. Joined with `hospital` it tells what Rajesh suffers from.'
    """
    return CATALOGUE[_check_name(name)]


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
    if name not in CATALOGUE:
        raise UnknownNameError("sample", name, CATALOGUE)
    return name
