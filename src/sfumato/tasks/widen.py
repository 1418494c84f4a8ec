"""One row per person: what changes within a person is put side by side."""

from collections.abc import Sequence
from dataclasses import field
from os import PathLike
from pathlib import Path
from typing import Any

from sfumato.dataclasses import dataclass
from sfumato.errors import ParameterError, names_in, require_int
from sfumato.showing.content import Content, Sentence, Showable, plain_of
from sfumato.tables import open_table
from sfumato.tables.capabilities import OrderedRows, WideRows
from sfumato.text import format_integer, join_words
from sfumato.typing import Progress, silent


@dataclass(frozen=True, eq=False)
class WideTable(WideRows, Showable):
    """A table with one row per person. It can be given wherever a table can."""

    table: Any
    """The rows, as the kind of table that was given; an Arrow table if it was a file."""

    person: str = field(kw_only=True)
    path: Path | None = field(kw_only=True, default=None)
    """The file it was written to, if it was."""

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Return the rows for whatever takes tables of Arrow."""
        import pyarrow as pa

        table = self.table if isinstance(self.table, pa.Table) else pa.table(self.table)
        return table.__arrow_c_stream__(requested_schema)

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as plain values that JSON can hold."""
        return plain_of(self, "person people rows lost side_by_side ties constant changing path")

    def content(self) -> Content:
        """Return what became of the rows and of the columns."""
        parts = [
            Sentence(
                f"One column each: {join_words(self.constant, most=20)}"
                if self.constant
                else "Every column changes within a person"
            )
        ]
        if self.changing:
            last = f"{self.changing[0]}_{self.side_by_side}"
            parts.append(
                Sentence(
                    f"Side by side, as {self.changing[0]}_1 to {last}: "
                    f"{join_words(self.changing, most=20)}"
                )
            )
        remarks = []
        if self.lost:
            remarks.append(
                f"{format_integer(self.lost)} of {format_integer(self.rows)} rows were left out: "
                "their person has more than "
                f"{self.side_by_side}"
            )
        if self.ties:
            remarks.append(
                f"{format_integer(self.ties)} people have rows with the same place in the order: "
                "those stay in "
                "the order in which they were given"
            )
        headline = f"{format_integer(self.people)} people from {format_integer(self.rows)} rows"
        return Content(headline, tuple(parts), remarks=tuple(remarks))

    def __repr__(self) -> str:
        return f"<WideTable {self.headline}>"


def widen(  # noqa: PLR0913 - each is one thing that users say
    data: object,
    *,
    person: str,
    order: str | None = None,
    columns: Sequence[str] | None = None,
    most: int | None = None,
    count: str = "rows",
    output: str | PathLike[str] | None = None,
    force: bool = False,
    progress: Progress | None = None,
) -> WideTable:
    """Make a table with one row per person of one in which people have several rows.

    Columns that never change within a person stay one column. Each other column becomes several:
    `name_1` for the first row of a person, `name_2` for the second, and so on, missing where a
    person has fewer rows. So all rows of a person are one record, and are protected together.

    Promises: nothing is lost or changed, unless `most` says so. Does not promise that the result is
    safe: it is a table about people, to be anonymised like any other.

    Args:
        data: A path (CSV, Parquet, SPSS, Excel …) or a pandas, Polars or Arrow table.
        person: The column that is the same in all rows of a person.
        order: The column by which the rows of a person are ordered, such as a date or a wave;
            None for the order in which they are given.
        columns: The columns to take over; None takes all.
        most: How many rows of each person are kept, the first ones; None keeps all.
        count: The name of the column with the number of rows that each person had.
        output: A file to write it to: .csv, .parquet or .feather.
        force: Replace that file if it exists.
        progress: Told how far each stage is.

    Example:
        >>> import pyarrow as pa
        >>> visits = pa.table({
        ...     "id": [7, 8, 7], "sex": ["f", "m", "f"], "year": [2021, 2020, 2020],
        ...     "ill": ["gout", "flu", "flu"],
        ... })
        >>> wide = widen(visits, person="id", order="year")
        >>> wide
        <WideTable 2 people from 3 rows>
        >>> wide.table.column_names
        ['id', 'rows', 'sex', 'year_1', 'year_2', 'ill_1', 'ill_2']
        >>> wide.table["ill_2"].to_pylist()
        ['gout', None]
    """
    if most is not None:
        require_int("most", most, at_least=1)
    if not isinstance(count, str) or not count:
        raise ParameterError("count", count, "the name of a column")
    table = open_table(data)
    for name in (person, *([] if order is None else [order])):
        if not isinstance(name, str):
            raise ParameterError("person", name, "the name of a column")
    asked = table.columns if columns is None else names_in("columns", columns)
    table.require([person])
    table.require(asked)
    if order is not None:
        table.require([order])
    target = None if output is None else Path(output)
    report = progress or silent
    report("widen", 0, None)
    made = OrderedRows.expect(table).widen(person, order, asked, most, count)
    if target is not None:
        report("write", 0, None)
        from sfumato.tables.arrow.writing import write_table

        write_table(made.table, target, force=force, private="the widened table")
    return WideTable(
        **(vars(made) | {"table": table.native(made.table)}), person=person, path=target
    )
