"""The tables that an increment is given as."""

from typing import TYPE_CHECKING

from sfumato.engines import Table, open_table
from sfumato.tasks.stored import is_stored, open_stored

if TYPE_CHECKING:
    from sfumato.engines.ibis.table import IbisTable


class GivenTables:
    """Rows to add, to remove and to correct, and the database they are in, if they are in one.

    Args:
        *sources: What was given; None where nothing was.
    """

    def __init__(self, *sources: object) -> None:
        stored = [source for source in sources if is_stored(source)]
        self.first = stored[0] if stored else None
        """The first that is in a database: what is published goes there."""

        self.database: IbisTable | None = open_stored(self.first)

    def open(self, source: object) -> Table:
        """Open a table; one connection must do for a file that is to be written."""
        if self.database is None or not is_stored(source):
            return open_table(source)
        if source is self.first:
            return self.database
        name = _in_the_same_file(source, self.first)
        return open_table(source) if name is None else self.database.other(name)


def _in_the_same_file(source: object, first: object) -> str | None:
    """Give the name of a table that is in the same file of DuckDB as another."""
    if not (isinstance(source, str) and isinstance(first, str)):
        return None
    from sfumato.engines.ibis.address import Address, written

    one, other = Address.parse(source), Address.parse(first)
    same = one.scheme == "duckdb" and one.database == other.database
    return written(one.table) if same else None
