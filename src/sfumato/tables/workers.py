"""Tables whose rows are recoded by workers, where they are, one fragment at a time."""

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import NamedTuple, TypeAlias

import pyarrow as pa

from sfumato.tables.base import Survey, Table
from sfumato.tables.capabilities import Capability
from sfumato.typing import CodeArray, IntArray

Solve: TypeAlias = Callable[[pa.Table], pa.Table]
"""Returns what becomes of the rows of one fragment. Must be picklable."""


class Division(NamedTuple):
    """Which rows are in which fragment: it depends on the quasi-identifiers, taken coarsely."""

    found: Survey
    """The columns, the quasi-identifiers first, as the table itself surveyed them."""

    merged: Sequence[CodeArray]
    """For each value of each column, which one it is taken for."""

    combinations: CodeArray
    """`combinations[c, i]`: the value of quasi-identifier c in combination i."""

    fragments: IntArray
    """The fragment of each combination; rows with other combinations are in none."""


class SolvedTables(NamedTuple):
    """The rows of a table, recoded by workers."""

    published: Table
    """The rows that are published."""

    every: Table
    """The same and the starred ones, with a column of notes."""

    note: str
    """The name of that column: it is missing in rows that are published."""

    notes: list[str]
    """The notes of the workers on their fragments."""


class Workers(Capability):
    """A table that has workers, which run Python on its rows."""

    refusal = (
        "the combinations do not fit into this memory, and tables of the engine {kind} have no "
        "workers that could recode a part each. Allow more memory, or choose method: full-domain."
    )

    @abstractmethod
    def solving(
        self,
        division: Division,
        solve: Solve,
        columns: Mapping[str, str | None],
        output: str | None,
    ) -> AbstractContextManager[SolvedTables]:
        """Solve every fragment on the workers, and keep what they make until the block ends.

        Args:
            division: Which rows are in which fragment.
            solve: Recodes the rows of one.
            columns: The columns to hand through, each with the one whose type it has, if not its
                own.
            output: The table that will be written, if it is one.
        """
