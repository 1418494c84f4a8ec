"""The people file: who has which of the published rows, so that promises about people are proven.

It is private. In place of what tells people apart it has a drawn number for each, so it leads back
to no one by itself; but who knows some rows of a person finds the others in it.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from hashlib import file_digest
from os import PathLike
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from sfumato.counts import FrequencySet, group, sums
from sfumato.errors import InputError, OutputError, ParameterError, reason_of
from sfumato.files import PRIVATE, refuse_special, unfinished_folder
from sfumato.files.private import refuse_inside_release
from sfumato.recode.deciding import require_owners
from sfumato.recode.recoded import recode_entries
from sfumato.recoding import Recoding
from sfumato.tables import Table, open_table
from sfumato.text import text_or_none
from sfumato.typing import CodeArray, IntArray, Value
from sfumato.verifier.people import name_columns, name_household

_FORMS = {".csv": "csv", ".parquet": "parquet", ".pq": "parquet"}
_WHAT = "the people file"


def tell_people_apart(
    counts: FrequencySet,
    recoding: Recoding,
    columns: Sequence[str],
    person: str,
    rng: np.random.Generator,
    *,
    household: str | None = None,
) -> pa.Table:
    """Return who has which published combinations, in random order.

    Args:
        counts: The table, as it was decided on.
        recoding: What becomes of it.
        columns: The quasi-identifiers and then the sensitive columns.
        person: The column that tells people apart.
        rng: Draws the numbers that stand for people, and the order.
        household: The column that says who lives together; a drawn number stands for each.

    Example:
        >>> from sfumato.hierarchy import Hierarchy
        >>> from sfumato.recoding import FullDomainRecoding
        >>> rows = [(31, "flu", "ann"), (38, "flu", "ann"), (38, "hiv", "bob")]
        >>> counts = FrequencySet.from_rows(["age", "ill", "who"], rows)
        >>> ladder = Hierarchy.from_paths([31, 38], [["30s"], ["30s"]]).bind("age", [31, 38])
        >>> recoding, rng = FullDomainRecoding.at([ladder], (1,)), np.random.default_rng(0)
        >>> found = tell_people_apart(counts, recoding, ["age", "ill"], "who", rng)
        >>> sorted(zip(found["ill"].to_pylist(), found["rows"].to_pylist()))
        [('flu', 2), ('hiv', 1)]
    """
    labels, item, rows = recode_entries(counts, recoding, counts.names, rng)
    return _lines(counts, labels, item, rows, columns, person, rng, household)


def tell_rows_apart(
    counts: FrequencySet,
    columns: Sequence[str],
    person: str,
    rng: np.random.Generator,
) -> pa.Table:
    """Return the same of a table as it stands: what the people file of it would be.

    Args:
        counts: The table, with the column that identifies people.
        columns: The columns that are looked at.
        person: The column that tells people apart.
        rng: Draws the numbers that stand for people, and the order.

    >>> counts = FrequencySet.from_rows(["age", "who"], [(31, "ann"), (31, "ann"), (31, "bob")])
    >>> found = tell_rows_apart(counts, ["age"], "who", np.random.default_rng(0))
    >>> sorted(found["rows"].to_pylist())
    [1, 2]
    """
    item = np.arange(len(counts))
    return _lines(counts, {}, item, counts.rows, columns, person, rng, None)


def _lines(
    counts: FrequencySet,
    labels: Mapping[str, tuple[Sequence[Value], CodeArray]],
    item: IntArray,
    rows: IntArray,
    columns: Sequence[str],
    person: str,
    rng: np.random.Generator,
    household: str | None,
) -> pa.Table:
    """Return a line for each combination of each person, in random order."""
    cells = [
        labels.get(name) or (counts.column(name).values, counts.codes_of(name)[item])
        for name in columns
    ]
    # Not by a label: a recoding that suppresses people whole has one for all who are left.
    who, n_people = counts.codes_of(person)[item], len(counts.column(person).values)
    codes, sizes = [codes for _, codes in cells], [len(values) for values, _ in cells]
    home = np.zeros(len(item), dtype=np.int64)
    if household is not None:
        home = counts.codes_of(household)[item].astype(np.int64)
    homes = int(home.max(initial=0)) + 1
    groups = group([*codes, who, home], [*sizes, n_people, homes], n=len(item))
    order = rng.permutation(groups.n)
    chosen = groups.first[order]
    total = sums(groups.of_item, rows, groups.n)[order]
    shown = {
        name: pa.array([text_or_none(value) for value in values], pa.string()).take(
            pa.array(codes[chosen])
        )
        for name, (values, codes) in zip(columns, cells, strict=True)
    }
    names = name_columns(columns)
    if household is not None:
        missing = home[chosen] == counts.column(household).missing
        number = pa.array(_draw(homes, rng)[home[chosen]], mask=missing)
        shown[name_household(columns)] = number
    drawn = _draw(n_people, rng)[who[chosen]]
    return pa.table({**shown, names[0]: pa.array(drawn), names[1]: pa.array(total)})


def _draw(n: int, rng: np.random.Generator) -> IntArray:
    """Return different numbers, too large to be tried out."""
    while True:
        drawn = rng.integers(2**63, size=n, dtype=np.int64)
        if len(np.unique(drawn)) == n:
            return drawn


class UnfinishedPeople:
    """A people file that is written, and is not yet where it should be."""

    def __init__(self, path: Path) -> None:
        self.path = path
        """Where it is until the release is published."""

    def write(self, people: pa.Table) -> str:
        """Write it; return its hash."""
        os.close(os.open(self.path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, PRIVATE))
        if _FORMS[self.path.suffix.lower()] == "csv":
            from pyarrow import csv

            csv.write_csv(people, self.path)
        else:
            import pyarrow.parquet as pq

            pq.write_table(people, self.path)
        with self.path.open("rb") as file:
            return file_digest(file, "sha256").hexdigest()


@contextmanager
def unfinished_people(
    path: str | PathLike[str] | None,
    *,
    output: str | PathLike[str] | None = None,
    force: bool = False,
) -> Iterator[UnfinishedPeople | None]:
    """Yield where to write a people file, which appears if the block succeeds.

    What cannot be written is refused before any work.

    Args:
        path: The file; None for none.
        output: The release folder that is going to be written, if it is one.
        force: Replace a people file that is there; no other file is replaced.
    """
    if path is None:
        yield None
        return
    target = Path(path).expanduser()
    if target.suffix.lower() not in _FORMS:
        raise ParameterError("people_file", str(path), "a file that ends in .parquet or .csv")
    refuse_inside_release(target, _WHAT, output=output)
    refuse_special(target, OutputError)
    if os.path.lexists(target):
        _refuse_other(target, force=force)
    with unfinished_folder(target) as stage:
        unfinished = UnfinishedPeople(stage / target.name)
        yield unfinished
        if unfinished.path.exists():
            try:
                unfinished.path.replace(target)
            except OSError as error:
                raise OutputError(
                    f"the release was published, and {_WHAT} {str(path)!r} cannot be written: "
                    f"{reason_of(error)}. Without it people cannot be recounted; make the release "
                    "again."
                ) from None


def _refuse_other(target: Path, *, force: bool) -> None:
    """Raise if there is a file that may not be replaced."""
    if not force:
        raise OutputError(
            f"{str(target)!r} exists. Choose another people file, or replace it with --force "
            "(force=True)."
        )
    columns: tuple[str, ...] = ()
    if target.is_file():
        try:
            columns = tuple(open_table(target).columns)
        except InputError:
            columns = ()
    if columns[-2:] != name_columns(columns[:-2]):
        raise OutputError(
            f"{str(target)!r} exists and is no people file, so it is not replaced. Choose another "
            "file."
        )


class PublishedPeople(NamedTuple):
    """Who has which rows of a release."""

    counts: FrequencySet
    """Over its quasi-identifiers, its sensitive columns and those below."""

    person: str
    """The column that tells people apart, by drawn numbers."""

    household: str | None = None
    """The column that says who lives together, if the file does."""


def read_people(
    people: object, columns: Sequence[str], published: FrequencySet | None = None
) -> PublishedPeople:
    """Return who has which rows as counts, and the column that identifies people in them.

    It is not checked here that these are the rows of a release: the verifier does that.

    Args:
        people: The people file, or a table of the same.
        columns: The quasi-identifiers and then the sensitive columns of the release.
        published: Its rows as counts; a value that it has is taken in the form that it has there.

    Example:
        >>> table = pa.table({"ill": ["7", "7"], "person": [4, 9], "rows": [2, 1]})
        >>> found = read_people(table, ["ill"], FrequencySet.from_rows(["ill"], [(7,)]))
        >>> found.counts.column("ill").values, found.counts.rows.tolist(), found.person
        ((7,), [2, 1], 'person')
    """
    table = open_table(people)
    lacking = [name for name in columns if name not in table.columns]
    names = name_columns([name for name in table.columns if name not in ("person", "rows")])
    person, rows = table.columns[-2:] if len(table.columns) > 1 else names
    if lacking or person in columns or rows in columns:
        raise InputError(
            f"{_WHAT} does not have the columns of this release. Give the one that was written "
            "when the release was made."
        )
    home = name_household(columns)
    household = home if home in table.columns else None
    private = (person,) if household is None else (person, household)
    counts = table.count((*columns, *private, rows))
    try:
        several = np.array([int(str(v)) for v in counts.column(rows).values], dtype=np.int64)
    except (ValueError, OverflowError):
        raise InputError(f"{_WHAT} has a number of rows that is none.") from None
    weighted = FrequencySet(
        counts.columns, counts.codes, counts.rows * several[counts.codes_of(rows)]
    ).project((*columns, *private))
    if published is not None:
        weighted = _as_published(weighted, published)
    return PublishedPeople(weighted, person, household)


_TRUTH = ("true", "1"), ("false", "0")


def _as_published(counts: FrequencySet, published: FrequencySet) -> FrequencySet:
    """Return counts in which values have the form that they have in a published table."""
    values = []
    for column in counts.columns:
        own = published.column(column.name).values if column.name in published.names else ()
        known = {text_or_none(value): value for value in own}
        # SPSS and Stata have no truth values: they are published as numbers.
        for text, as_number in _TRUTH:
            if as_number in known:
                known.setdefault(text, known[as_number])
        values.append([known.get(text_or_none(value), value) for value in column.values])
    return FrequencySet.from_codes(counts.names, values, counts.codes, counts.rows)


def read_table_of_people(
    table: Table,
    columns: Sequence[str],
    person: str,
    household: str | None = None,
    published: FrequencySet | None = None,
) -> PublishedPeople:
    """Return who has which rows, from a table with the column that identifies people.

    Args:
        table: The table that is judged, or another one with the same rows.
        columns: The quasi-identifiers and then the sensitive columns.
        person: The column that tells people apart.
        household: The column that says who lives together; it need not be there.
        published: The rows that are judged, if they are those of another table.

    Example:
        >>> table = open_table(pa.table({"id": [4, 4, 9], "ill": ["flu", "flu", "gout"]}))
        >>> read_table_of_people(table, ["ill"], "id").counts.rows.tolist()
        [2, 1]
    """
    home = household if household is not None and household in table.columns else None
    private = (person,) if home is None else (person, home)
    for name in (*columns, person):
        if name not in table.columns:
            raise InputError(
                f"what says whose the rows are has no column {name!r}. Give a table with the "
                f"columns that are judged and {person!r}, which identifies people in the policy."
            )
    counts = table.count((*columns, *private)).project((*columns, *private))
    require_owners(counts, person)
    if published is not None:
        counts = _as_published(counts, published)
    return PublishedPeople(counts, person, home)
