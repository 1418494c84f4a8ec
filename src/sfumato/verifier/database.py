"""Count a table where it is: in a database, by statements of the verifier's own.

Only counts of combinations leave the database, never rows. Whatever a name holds, it is
quoted; values never stand in a statement, except the star.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

import pyarrow as pa

from sfumato.errors import ParameterError, UnknownColumnError
from sfumato.text import STAR, is_missing
from sfumato.verifier.cells import normalised, python_values
from sfumato.verifier.counting import Counted

Kind: TypeAlias = Literal["text", "number", "other"]
"""What a column holds: text, numbers that may be NaN, or anything else."""

Answer: TypeAlias = pa.Table | Iterable[Sequence[object]]


class _Dialect(NamedTuple):
    mark: str
    """What stands around a name; doubled inside it."""

    text: str
    collation: str
    """Under which two texts are equal only if they are the same, whatever the column says."""


_DIALECTS = {
    "duckdb": _Dialect('"', "VARCHAR", '"binary"'),
    "postgres": _Dialect('"', "TEXT", '"C"'),
    "spark": _Dialect("`", "STRING", "UTF8_BINARY"),
}


@dataclass(frozen=True)
class Relation:
    """A table of a database that answers questions.

    Example:
        >>> asked = []
        >>> def ask(sql):
        ...     asked.append(sql)
        ...     return [("2*", 3)]
        >>> people = Relation(("ward", 'my "own" people'), {"age": "text"}, "duckdb", ask)
        >>> count_in(people, ["age"]).combinations
        {('2*',): 3}
        >>> print(asked[0])
        SELECT CAST("age" AS VARCHAR) COLLATE "binary", count(*) FROM "ward"."my ""own"" people"
        GROUP BY CAST("age" AS VARCHAR) COLLATE "binary"

    Args:
        name: The table's name in parts, such as schema and table.
        columns: Its columns and what they hold.
        dialect: duckdb, postgres or spark.
        ask: Runs a statement and gives its rows, as tuples or as an Arrow table.
    """

    name: tuple[str, ...]
    columns: Mapping[str, Kind]
    dialect: str
    ask: Callable[[str], Answer]

    def __post_init__(self) -> None:
        if self.dialect not in _DIALECTS:
            raise ParameterError("dialect", self.dialect, "one of " + ", ".join(_DIALECTS))

    @property
    def names(self) -> tuple[str, ...]:
        """The names of its columns."""
        return tuple(self.columns)

    def quoted(self, *parts: str) -> str:
        """Write a name into a statement: whatever is in it, it stays one name."""
        mark = _DIALECTS[self.dialect].mark
        return ".".join(mark + part.replace(mark, mark * 2) + mark for part in parts)

    def cell(self, column: str) -> str:
        """Write a column so that two values are grouped together only if they are equal."""
        name, dialect = self.quoted(column), _DIALECTS[self.dialect]
        if self.columns[column] != "text":
            return name
        return f"CAST({name} AS {dialect.text}) COLLATE {dialect.collation}"

    def select(self, *cells: str, then: str = "") -> list[tuple[object, ...]]:
        """Run a statement about the table; equal cells come in equal forms."""
        source = self.quoted(*self.name)
        answer = self.ask(f"SELECT {', '.join(cells)} FROM {source}{then}")  # noqa: S608 - quoted
        if isinstance(answer, pa.Table):
            return list(zip(*(_values(column) for column in answer.columns), strict=True))
        return [tuple(map(_same, row)) for row in answer]


def count_in(relation: Relation, columns: Sequence[str], *, stars: Sequence[str] = ()) -> Counted:
    """Count the distinct combinations of some columns, as `count` does in a file.

    Args:
        relation: The table.
        columns: The columns to count, in the order of the combinations.
        stars: If given, also count the rows that have `*` in all these columns and no
            other value in any column.
    """
    for name in (*columns, *stars):
        if name not in relation.columns:
            raise UnknownColumnError(name, relation.names)
    cells = [relation.cell(name) for name in columns]
    # One column may be looked at twice, and is grouped by once.
    grouped = f" GROUP BY {', '.join(dict.fromkeys(cells))}" if cells else ""
    sums: dict[tuple[object, ...], int] = {}
    for *combination, rows in relation.select(*cells, "count(*)", then=grouped):
        if rows:
            # What is one value here may be several there: NULL and NaN, 0.0 and -0.0.
            key = tuple(combination)
            sums[key] = sums.get(key, 0) + _whole(rows)
    return Counted(sums, sum(sums.values()), _starred(relation, stars) if stars else 0)


def _starred(relation: Relation, stars: Sequence[str]) -> int:
    if any(relation.columns[name] != "text" for name in stars):
        return 0
    conditions = [
        f"{relation.cell(name)} = '{STAR}'" if name in stars else _missing(relation, name)
        for name in relation.columns
    ]
    [[rows]] = relation.select("count(*)", then=f" WHERE {' AND '.join(conditions)}")
    return _whole(rows)


def _missing(relation: Relation, column: str) -> str:
    name = relation.quoted(column)
    if relation.columns[column] != "number":
        return f"{name} IS NULL"
    # Databases do not agree on how to ask for NaN, but on how to write it.
    text = _DIALECTS[relation.dialect].text
    return f"({name} IS NULL OR lower(CAST({name} AS {text})) = 'nan')"


def _values(column: pa.ChunkedArray) -> list[object]:
    if not column.num_chunks:
        return []
    return python_values(normalised(column.combine_chunks()))


def _same(value: object) -> object:
    if is_missing(value):
        return None
    return value + 0.0 if isinstance(value, float) else value


def _whole(rows: object) -> int:
    assert isinstance(rows, int)  # noqa: S101 - a count is nothing else
    return rows
