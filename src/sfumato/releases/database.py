"""Tables of a database: opened once, and asked by the verifier."""

from pyarrow import types as t

from sfumato.errors import InputError
from sfumato.releases.manifest import Manifest
from sfumato.releases.release import Release
from sfumato.tables import DatabaseTable, Table, find_engine, open_table
from sfumato.verifier import Relation
from sfumato.verifier.counting import Kind


def is_stored(what: object) -> bool:
    """Return whether something is in a database, without looking.

    >>> is_stored("duckdb:///x.db?table=people"), is_stored("people.csv")
    (True, False)
    """
    if isinstance(what, Release):
        return what.place is not None
    if isinstance(what, Table):
        return isinstance(what, DatabaseTable)
    engine = find_engine(what)
    return engine is not None and engine.in_database


def open_stored(what: object) -> DatabaseTable | None:
    """Open a table of a database; None for anything else."""
    if not is_stored(what):
        return None
    table = open_table(what.source if isinstance(what, Release) else what)
    return table if isinstance(table, DatabaseTable) else None


def relation_of(table: DatabaseTable) -> Relation:
    """Return a table of a database as the verifier asks it."""
    columns = {name: _kind_of(table, name) for name in table.columns}
    return Relation(table.relation_name, columns, table.dialect, table.query)


def _kind_of(table: Table, name: str) -> Kind:
    kind = table.type_of(name)
    if t.is_string(kind) or t.is_large_string(kind):
        return "text"
    return "number" if t.is_floating(kind) or t.is_decimal(kind) else "other"


def origin_of(data: object) -> object:
    """Return what opened a table, which may be an address; one that was opened knows it."""
    source = data.source if isinstance(data, Release) else data
    return getattr(source, "given", None) or source


def tables_of(table: DatabaseTable, manifest: Manifest) -> dict[str, DatabaseTable]:
    """Open the tables of a release, by the names that its manifest has for them.

    Args:
        table: The first of them, beside which the manifest is.
        manifest: What that says.
    """
    first, *others = manifest.files or ([] if manifest.table is None else [manifest.table])
    # Otherwise another release would be looked at than the one that was named.
    if not table.is_called(first.name):
        raise InputError(
            f"the manifest beside {table.name} is that of a table {first.name}. A release keeps "
            "the name it was published under; rename the table back, or give the release itself."
        )
    return {first.name: table, **{file.name: table.open_beside(file.name) for file in others}}


def for_verifier(source: object) -> object:
    """Return a table as the verifier reads it: one of a database is asked, not opened."""
    table = open_stored(source)
    return source if table is None else relation_of(table)


def public_name(what: object) -> str:
    """Return what to call it in a message: an address without who connects, and how.

    >>> public_name("postgres://ann:secret@db/clinic?table=people"), public_name("people.csv")
    ('postgres://db/clinic?table=people', 'people.csv')
    """
    if isinstance(what, str) and is_stored(what):
        from sfumato.tables.sql.database import public

        return public(what)
    return str(what)


# The tables that an increment is given as.


class GivenTables:
    """Rows to add, to remove and to correct, and the database they are in, if they are in one.

    Args:
        *sources: What was given; None where nothing was.
    """

    def __init__(self, *sources: object) -> None:
        stored = [source for source in sources if is_stored(source)]
        self.first = stored[0] if stored else None
        """The first that is in a database: what is published goes there."""

        self.database: DatabaseTable | None = open_stored(self.first)

    def open(self, source: object) -> Table:
        """Open a table; one connection must do for a file that is to be written."""
        if self.database is None or not is_stored(source):
            return open_table(source)
        if source is self.first:
            return self.database
        name = _in_the_same_file(source, self.first)
        return open_table(source) if name is None else self.database.open_other(name)


def _in_the_same_file(source: object, first: object) -> str | None:
    """Return the name of a table that is in the same file as another."""
    if not (isinstance(source, str) and isinstance(first, str)):
        return None
    from sfumato.tables.sql.database import Address, format_name

    one, other = Address.parse(source), Address.parse(first)
    same = one.is_file and one.database == other.database
    return format_name(one.table) if same else None
