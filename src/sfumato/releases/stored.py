"""Releases that are tables of a database, wherever a folder could be."""

import re
from collections.abc import Mapping, Sequence
from itertools import chain, count
from os import PathLike
from pathlib import Path
from typing import NamedTuple

from pyarrow import types as t

from sfumato.errors import InputError, OutputError, ParameterError
from sfumato.releases.manifest import Manifest
from sfumato.releases.release import Release, refuse_what_is_there
from sfumato.tables import DatabaseTable, Table, find_engine, open_table
from sfumato.verifier import Relation, verify_stored
from sfumato.verifier.counting import Kind
from sfumato.verifier.manifest import stored_manifest

_TABLE = "table:"
"""What an output starts with that is a table of the database the input is in."""


def is_stored(what: object) -> bool:
    """Tell whether something is in a database, without looking.

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
    """Let the verifier ask a table of a database whatever it wants."""
    columns = {name: _kind_of(table, name) for name in table.columns}
    return Relation(table.relation_name, columns, table.dialect, table.query)


def _kind_of(table: Table, name: str) -> Kind:
    kind = table.type_of(name)
    if t.is_string(kind) or t.is_large_string(kind):
        return "text"
    return "number" if t.is_floating(kind) or t.is_decimal(kind) else "other"


def manifest_beside(what: object) -> Manifest | None:
    """Give what a table of a database says of itself; None if it is no release."""
    if isinstance(what, Release):
        return what.manifest
    table = open_stored(what)
    text = None if table is None else table.manifest()
    return None if text is None else Manifest.read_stored(text)


class StoredTables(NamedTuple):
    """A decoupled release in a database."""

    manifest: Manifest
    text: str
    """The manifest, as it is written."""

    tables: Mapping[str, DatabaseTable]
    """By the name that the manifest has for them."""

    def relations(self) -> dict[str, Relation]:
        """Give the tables as the verifier asks them."""
        return {name: relation_of(table) for name, table in self.tables.items()}


def stored_tables(what: object) -> StoredTables | None:
    """Open a decoupled release that is in a database; None for anything else."""
    table = None if isinstance(what, Release) else open_stored(what)
    text = None if table is None else table.manifest()
    if table is None or text is None:
        return None
    manifest = Manifest.read_stored(text)
    if manifest.kind is None:
        return None
    # Otherwise another release would be looked at than the one that was named.
    if not table.is_called(manifest.files[0].name):
        raise another_manifest(table, manifest.files[0].name)
    tables = {file.name: table.open_beside(file.name) for file in manifest.files}
    return StoredTables(manifest, text, tables)


def another_manifest(table: DatabaseTable, name: str) -> InputError:
    """Say that a manifest stands beside a table it does not speak of."""
    return InputError(
        f"the manifest beside {table.name} is that of a table {name}. A release keeps the name it "
        "was published under; rename the table back, or give the release itself."
    )


def stored_release(what: object) -> Release | None:
    """Open a release that is a table of a database; None for anything else."""
    table = open_stored(what)
    text = None if table is None else table.manifest()
    if table is None or text is None or stored_manifest(text).kind is not None:
        return None
    verdict = verify_stored(relation_of(table), text)
    return Release(Manifest.from_json(text), verdict, place=shown(what), source=table)


def for_verifier(source: object) -> object:
    """Give a table as the verifier reads it: one of a database is asked, not opened."""
    table = open_stored(source)
    return source if table is None else relation_of(table)


def shown(what: object) -> str:
    """Name what was given in a message: an address without who connects, and how.

    >>> shown("postgres://ann:secret@db/clinic?table=people"), shown("people.csv")
    ('postgres://db/clinic?table=people', 'people.csv')
    """
    if isinstance(what, str) and is_stored(what):
        from sfumato.tables.sql.database import public

        return public(what)
    return str(what)


class StoredOutput(NamedTuple):
    """A table that is to be written."""

    name: str
    place: str
    """Where it will be, without credentials."""

    address: str | None
    """The address of the data, if it has one."""

    def names(self, parts: Sequence[str]) -> list[str]:
        """Name the tables of several parts: the first one as was asked, and the others after it.

        Spark allows nothing in a name but letters without accents, digits and _.

        >>> StoredOutput("ward.out", "table:ward.out", None).names(["qi", "is_ill", "is ill"])
        ['ward.out', 'ward.out_is_ill', 'ward.out_is_ill_2']
        """
        from sfumato.tables.sql.database import format_name, name_of

        *schema, name = name_of(self.name)
        found: dict[str, str] = {}
        for part in parts[1:]:
            plain = f"{name}_{re.sub('[^A-Za-z0-9_]', '_', part)}"
            tries = chain([plain], (f"{plain}_{n}" for n in count(2)))
            # Letters' case means nothing to most databases.
            free = next(each for each in tries if each.lower() not in found)
            found[free.lower()] = free
        return [self.name, *(format_name((*schema, each)) for each in found.values())]

    def opens(self, name: str, table: DatabaseTable) -> object:
        """Give what opens a table of the release again: an address does not hold a connection."""
        if self.address is None:
            return table.open_other(name)
        from sfumato.tables.sql.database import sibling

        return sibling(self.address, name)


def output_of(
    output: str | PathLike[str] | None, data: object, *, force: bool, **for_files: object
) -> StoredOutput | None:
    """Refuse what cannot be written, before any work is done; say if it is a table."""
    stored = stored_output(output, data)
    if stored is not None:
        _refuse_for_table(for_files)
    elif output is not None:
        refuse_what_is_there(Path(output), force=force)
    return stored


def _refuse_for_table(for_files: Mapping[str, object]) -> None:
    for name, value in for_files.items():
        if value is not None:
            why = "it is for files"
            raise ParameterError(name, value, "left out when the output is a table", why=why)


def stored_output(output: object, data: object) -> StoredOutput | None:
    """Read an output that is a table of the database the data is in; None if it is a folder.

    >>> found = stored_output("table:released", "postgres://ann:secret@db/clinic?table=people")
    >>> found.name, found.place
    ('released', 'postgres://db/clinic?table=released')
    >>> stored_output("release/", "people.csv")
    """
    if not isinstance(output, str):
        return None
    if output.startswith(_TABLE):
        name = output.removeprefix(_TABLE)
    elif is_stored(output):
        name = _name_in_same_database(output, _origin(data))
    else:
        return None
    if not is_stored(data):
        raise OutputError(
            "the table is in no database, so it cannot be published into a table there. Give a "
            "folder to write, or load it into the database first."
        )
    from sfumato.tables.sql.database import format_name, name_of, public, sibling

    name = format_name(name_of(name))
    data = _origin(data)
    if not isinstance(data, str):
        return StoredOutput(name, f"{_TABLE}{name}", None)
    return StoredOutput(name, public(sibling(data, name)), data)


def _origin(data: object) -> object:
    """Give what opened a table, which may be an address; one that was opened knows it."""
    source = data.source if isinstance(data, Release) else data
    return getattr(source, "given", None) or source


def _name_in_same_database(output: str, data: object) -> str:
    from sfumato.tables.sql.database import Address, format_name

    address = Address.parse(output)
    name = format_name(address.table)
    if not isinstance(data, str) or not is_stored(data):
        raise ParameterError(
            "output",
            str(address),
            f"{_TABLE}{name}, or a folder",
            why="a release stays in the database the table is in, whatever its address",
        )
    if Address.parse(data).database != address.database:
        raise OutputError(
            f"{address} is in another database than the table, and rows are not carried from one "
            f"to the other. Write {_TABLE}{name}, or give a folder."
        )
    return name


def refuse_files(table: Table, form: str, columns: Sequence[str]) -> None:
    """Refuse files that a database cannot write as promised, before any work is done.

    Args:
        table: Where the rows are; what is no table of a database writes any file.
        form: The format of the file.
        columns: What it holds as it is, not recoded.
    """
    stored = open_stored(table)
    if stored is not None:
        stored.require_writable(form, columns)


def refuse_memory(data: object) -> None:
    """Refuse to bring the rows of a database into memory, before any work is done."""
    if is_stored(data):
        raise InputError(
            "rows of a database are not brought into memory. Name an output: a table of the same "
            f"database ({_TABLE}released), or a folder."
        )


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
