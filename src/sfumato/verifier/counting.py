"""Count combinations of values: GROUP BY, batch by batch.

Memory grows with the distinct combinations, not with the rows.
"""

from collections.abc import Mapping, Sequence
from functools import reduce
from typing import TYPE_CHECKING, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from sfumato.errors import UnknownColumnError
from sfumato.text import STAR
from sfumato.verifier.cells import normalised, text_key
from sfumato.verifier.reading import Source, open_source
from sfumato.verifier.tally import Tally

if TYPE_CHECKING:
    from sfumato.verifier.database import Relation


class Counted(NamedTuple):
    """Every distinct combination with its number of rows."""

    combinations: dict[tuple[object, ...], int]
    rows: int
    starred: int
    """Rows with `*` in every starred column and nothing anywhere else."""


def count(
    source: "Source | Relation", columns: Sequence[str], *, stars: Sequence[str] = ()
) -> Counted:
    """Count the distinct combinations of some columns.

    Args:
        source: The table.
        columns: The columns to count, in the order of the combinations.
        stars: If given, also count the rows that have `*` in all these columns and no
            other value in any column.

    >>> count(open_source(pa.table({"sex": ["f", None, "f"]})), ["sex"])
    Counted(combinations={('f',): 2, (None,): 1}, rows=3, starred=0)
    """
    if not isinstance(source, Source):
        # Not above: that module counts into what is here.
        from sfumato.verifier.database import count_in

        return count_in(source, columns, stars=stars)
    for name in columns:
        if name not in source.names:
            raise UnknownColumnError(name, source.names)
    wanted = list(source.names if stars or not columns else dict.fromkeys(columns))
    tally = Tally(len(columns))
    rows = starred = 0
    for batch in source.batches(wanted):
        if not batch.num_rows:
            continue
        rows += batch.num_rows
        if stars:
            starred += _starred(batch, stars)
        if columns:
            tally.add([batch.column(c) for c in columns])
    sums = tally.sums()
    if not columns and rows:
        sums[()] = rows
    return Counted(sums, rows, starred)


def opened(data: object) -> "Source | Relation":
    """Open a file or a table; a table of a database is asked as it is."""
    from sfumato.verifier.database import Relation

    return data if isinstance(data, Relation) else open_source(data)


def _starred(batch: pa.RecordBatch, stars: Sequence[str]) -> int:
    masks = []
    for name in batch.schema.names:
        array = normalised(batch.column(name))
        if name not in stars:
            masks.append(pc.is_null(array))
        elif pa.types.is_string(array.type) or pa.types.is_large_string(array.type):
            masks.append(pc.equal(array, STAR))
        else:
            return 0
    # A missing cell equals nothing: the mask is null there, and a sum skips nulls.
    return int(pc.sum(reduce(pc.and_, masks)).as_py() or 0)


def count_population(
    population: object,
    quasi_identifiers: Sequence[str],
    generalization: Mapping[str, Mapping[str | None, object]] | None = None,
) -> dict[tuple[str | None, ...], int]:
    """Count the people of a population on each tuple of published labels.

    Whoever has a value that the generalisation does not know cannot be in a published
    class and is not counted.

    Args:
        population: A path, table or `Relation` with the quasi-identifiers as they were before.
        quasi_identifiers: The columns, in the order of the tuples.
        generalization: Per column, the label each raw text became; None stands for a
            missing value, on either side. A column that is not named stays as it is.

    >>> people = pa.table({"age": [21, 29, 35], "sex": ["f", "f", None]})
    >>> count_population(people, ["age", "sex"], {"age": {"21": "2*", "29": "2*", "35": "3*"}})
    {('2*', 'f'): 2, ('3*', None): 1}
    """
    labels = generalization or {}
    unknown = object()
    sums: dict[tuple[str | None, ...], int] = {}
    counted = count(opened(population), quasi_identifiers)
    for combination, rows in counted.combinations.items():
        texts = text_key(combination)
        key = tuple(
            labels[name].get(text, unknown) if name in labels else text
            for name, text in zip(quasi_identifiers, texts, strict=True)
        )
        if unknown not in key:
            as_text = text_key(key)
            sums[as_text] = sums.get(as_text, 0) + rows
    return sums
