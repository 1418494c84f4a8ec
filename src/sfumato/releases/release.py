"""Releases as results: the published tables, what they promise, and where they are."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from pyarrow import RecordBatch as ArrowBatch
from pyarrow import Table as ArrowRows
from pyarrow import types as t

from sfumato.dataclasses import dataclass
from sfumato.decouplings.base import GroupedTables
from sfumato.errors import InputError, some
from sfumato.files.reading import RELEASED, TextFile
from sfumato.policy import FULL_DOMAIN, REGIONAL, Policy
from sfumato.recode.gone import DataGone
from sfumato.recoding import Recoding
from sfumato.releases.line_breaks import count_line_breaks_of_groups, warn_of_line_breaks
from sfumato.releases.manifest import (
    ColumnRecord,
    FileRecord,
    LeftOut,
    Manifest,
    SyntheticRecord,
)
from sfumato.releases.spellings import warn_of_spellings
from sfumato.search.base import excess_of
from sfumato.showing.content import Cell, Content, ContentTable, Part, Sentence, Share, Showable
from sfumato.tables import DatabaseTable, Table, find_engine, open_table
from sfumato.tables.base import Domain
from sfumato.tables.capabilities import OrderedRows, reading_of
from sfumato.text import STAR, join_words
from sfumato.verifier import DatabaseRelation, Verdict
from sfumato.verifier.counting import Kind, source_of

if TYPE_CHECKING:
    import pyarrow as pa

    from sfumato.counts import FrequencySet
    from sfumato.releases.places import PlacedRelease


@dataclass(frozen=True, eq=False)
class Release(Showable):
    """A verified release: a folder on disk, a table of a database, or a table in memory.

    `manifest` is what stands in `manifest.json`: levels, promises with the values that
    were measured, losses, how it was found. `verdict` is what the independent verifier
    found when it recomputed the promises from the published rows.
    """

    manifest: Manifest
    """What stands in `manifest.json`."""

    verdict: Verdict
    """What the verifier found."""

    folder: Path | None = None
    """Where it is; None for a release in memory or in a database."""

    table: Any = None
    """The published rows, in the kind of table that was given; None for a release elsewhere."""

    place: str | None = None
    """The address of the table, if it is in a database; no password is in it."""

    source: object = field(default=None, repr=False)
    """What opens that table again. May hold a password."""

    policy: Policy | None = field(default=None, repr=False, compare=False)
    """The policy it was made with, as long as it is not opened again; it is not published."""

    unprotected: tuple[str, ...] = field(default=(), compare=False)
    """What its columns give away that nothing protects, as it was found when it was made."""

    people: "pa.Table | None" = field(default=None, repr=False, compare=False)
    """Who has which of its rows, if people are counted, as in the people file: private."""

    recoding: Recoding | None = field(default=None, repr=False, compare=False)
    """What became of each raw value, if the rows are in memory: private, and never published."""

    gone: DataGone | None = field(default=None, repr=False, compare=False)
    """How much of the table is not in it, columns that are left out included: for the publisher,
    since it depends on suppressed rows. None for a release that is opened again."""

    notes: tuple[str, ...] = field(default=(), compare=False)
    """What was found out about the form of the data: how its file was read, and its dates."""

    domains: Mapping[str, Domain] = field(default_factory=dict, repr=False, compare=False)
    """What is known of its columns since they were written, until they are looked at."""

    counted: "FrequencySet | None" = field(default=None, repr=False, compare=False)
    """Its rows as counts, if it was made of them and only tried: they need not be counted again."""

    @classmethod
    def of(cls, placed: "PlacedRelease", policy: Policy) -> Self:
        """Return the release that is in a place."""
        [table] = placed.tables.values()
        found = cls(placed.manifest, placed.verdict, placed.folder, policy=policy)
        if placed.folder is not None:
            [name] = placed.tables
            return replace(found, domains=placed.domains.get(name, {}))
        if placed.address is None:
            return replace(found, table=table)
        return replace(found, place=placed.address, source=table)

    @property
    def method(self) -> str:
        """The method of recoding: `full-domain`, `regional`, or the name of a local method."""
        return self.manifest.method_name

    @property
    def levels(self) -> dict[str, int]:
        """The level of each quasi-identifier that has the same in all rows."""
        return self.manifest.levels

    @property
    def suppressed(self) -> int:
        """The number of rows that were left out."""
        return self.manifest.rows.suppressed

    @property
    def loss(self) -> float:
        """The loss the policy asked to keep small; 0 of synthetic rows, which are no one's."""
        return 0.0 if self.manifest.drawn is not None else _own_loss(self.manifest)

    @property
    def optimal(self) -> bool:
        """Whether other levels or cuts are proven to lose no less; never by a local method."""
        return self.manifest.known_search is not None and self.manifest.known_search.optimal

    @property
    def bound(self) -> float | None:
        """A loss that no other levels which keep the promises are below; None if it is not known.

        It depends on suppressed rows too, so it is never published: a release that is opened
        again has none.
        """
        search = None if self.manifest.private is None else self.manifest.private.search
        return None if search is None or self.manifest.search is None else search.bound

    @property
    def excess(self) -> float | None:
        """The share by which the loss may be above the least possible one: 0.03 is at most 3 %.

        0 if it is proven optimal; None where nothing is known, or where the least possible loss may
        be 0.
        """
        if self.optimal:
            return 0.0
        return None if self.bound is None else excess_of(self.loss, self.bound)

    @property
    def minimal(self) -> tuple[dict[str, int], ...] | None:
        """The levels of all minimal nodes: they keep the promises, and nothing below them does.

        Known where the search finds all of them (`incognito`, `exhaustive`, or `best-first` with
        `all_minimal`), and only as long as the release is not opened again: which nodes are
        minimal depends on suppressed rows too, so it is never published.
        """
        search = None if self.manifest.private is None else self.manifest.private.search
        if search is None or search.minimal is None:
            return None
        return tuple(dict(node) for node in search.minimal)

    @property
    def warnings(self) -> tuple[str, ...]:
        """Facts that deserve a second look before publishing, although all promises hold."""
        protected = {model.column for model in self.manifest.models}
        if self.manifest.drawn is not None:
            # What is promised is about all columns.
            return (*self.unprotected, *(self.manifest.notes or ()))
        found = [
            f"column {column.name!r} is sensitive and no model protects it: it is published as "
            "it is. Add a model for it, or change its role."
            for column in self.manifest.columns
            if column.role == "sensitive" and column.name not in protected and not column.perturbed
        ]
        if not self.manifest.rows.published:
            found.append("every row was suppressed: the release is empty")
        if self.manifest.reproducible:
            found.append(
                "the order of the rows comes from a seed that others may know: not for publication"
            )
        return (*self.unprotected, *found, *(self.manifest.notes or ()))

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values that JSON can hold.

        None of it depends on rows that are not published, but for their number.
        """
        found = {} if self.bound is None else {"bound": self.bound, "excess": self.excess}
        return {
            "folder": None if self.folder is None else str(self.folder),
            **({} if self.place is None else {"place": self.place}),
            "warnings": list(self.warnings),
            "manifest": self.manifest.to_dict(),
            # A bound is one of all rows.
            **({} if self.manifest.rows.suppressed else {**found, **self._gone}),
            "verdict": self.verdict.to_dict(),
        }

    @property
    def _gone(self) -> dict[str, Any]:
        return {} if self.gone is None else {"gone": self.gone.to_dict()}

    @property
    def headline(self) -> str:
        """A summary in one line."""
        manifest, rows = self.manifest, self.manifest.rows
        if manifest.drawn is not None:
            return f"{rows.published} synthetic rows; {manifest.drawn}"
        return (
            f"{rows.published} of {rows.published + rows.suppressed} rows in "
            f"{manifest.classes.count} classes, {rows.suppressed} suppressed, {manifest.loss} "
            f"{_own_loss(manifest):.6g} ({_proof(manifest, self.excess)})"
        )

    def content(self) -> Content:
        """Return the levels of the quasi-identifiers, the promises, and what to beware of."""
        if self.manifest.drawn is not None:
            measured = _measurements_table(self.manifest.drawn)
            return Content(self.headline, (measured,), remarks=_remarks(self.warnings))
        recoded = [column for column in self.manifest.known_columns if column.recoded]
        parts: list[Part] = (
            [_levels_table(recoded)] if recoded or not self.manifest.with_role("set") else []
        )
        parts += [*_sets_table(self.manifest), _promises_table(self.manifest)]
        if self.gone is not None:
            parts.append(Sentence(f"Gone: {self.gone}."))
        if self.minimal:
            parts.append(_minimal_table(self.minimal, self.levels))
        return Content(self.headline, tuple(parts), remarks=_remarks(self.warnings))

    def __repr__(self) -> str:
        return f"<Release {self.headline}>"


def _minimal_table(minimal: Sequence[Mapping[str, int]], chosen: Mapping[str, int]) -> ContentTable:
    """Return all minimal nodes, the published one marked; it need not be one of them."""
    rows = [
        (
            ", ".join(f"{name} {level}" for name, level in node.items()),
            "published" if node == chosen else "",
        )
        for node in minimal
    ]
    return ContentTable.of("Minimal nodes, not for publication", ["minimal node", ""], rows).compact


_CONTENTS = {"qi": "quasi-identifiers", "rows": "all columns"}


def _sets_table(manifest: Manifest) -> list[ContentTable]:
    """Return what became of the items of sets, if it is known here."""
    found = {} if manifest.private is None else manifest.private.sets
    if not found:
        return []
    as_they_were, left_out = found["kept"], found["left_out"]
    general = max(1 - as_they_were - left_out, 0.0)
    shares = [Share(as_they_were), Share(general), Share(left_out)]
    heads = ["items of", "as they were", "generalised", "left out"]
    return [
        ContentTable.of("", heads, [[", ".join(manifest.with_role("set")), *shares]], most=None)
    ]


def _measurements_table(drawn: SyntheticRecord) -> ContentTable:
    """Return what was counted under noise, and what that spent."""
    rows: list[list[Cell]] = [
        [join_words(each.columns), f"{each.scale:.4g}", f"{each.spent:.4g}"]
        for each in drawn.measurements
    ]
    if drawn.selection:
        rows.append(["which columns to count together", "", f"{drawn.selection:.4g}"])
    spent = "spent of " + ("epsilon" if drawn.rho is None else "rho")
    return ContentTable.of("", ["counted under noise", "scale", spent], rows, most=None)


def _promises_table(manifest: Manifest) -> ContentTable:
    rows = [(str(model), model.figures) for model in manifest.models]
    rows += [(str(each), "") for each in manifest.hiding or ()]
    return ContentTable.of("", ["promise", "measured"], rows, most=None)


def _remarks(warnings: Sequence[str]) -> tuple[str, ...]:
    return tuple(f"Warning: {warning}" for warning in warnings)


def _levels_table(columns: Sequence[ColumnRecord]) -> ContentTable:
    """Return the level of each column, or the share of its cells at each where rows differ."""
    if all(column.level is not None for column in columns):
        rows = [
            (c.name, str(c.level) if c.height is None else f"{c.level} of {c.height}")
            for c in columns
        ]
        return ContentTable.of("", ["quasi-identifier", "level"], rows, most=None)
    levels = range(max(max(len(c.levels or ()), (c.level or 0) + 1) for c in columns))
    heads = ["quasi-identifier", *(f"level {level}" for level in levels), "mean level", "intervals"]
    return ContentTable.of("", heads, [_level_row(column, levels) for column in columns], most=None)


def _level_row(column: ColumnRecord, levels: range) -> list[Cell]:
    counts = column.levels or ()
    if column.level is not None:
        counts = (*[0] * column.level, 1)
    total = sum(counts)
    shares: list[Cell] = [
        "" if level >= len(counts) else Share(counts[level] / total) if counts[level] else None
        for level in levels
    ]
    mean = sum(level * rows for level, rows in enumerate(counts)) / max(total, 1)
    known = "" if column.height is None else f" of {column.height}"
    height = f"{mean:.2f}{known}" if total else ""
    return [column.name, *shares, height, "" if column.intervals is None else column.intervals]


def _own_loss(manifest: Manifest) -> float:
    """Return the loss that the policy asked to keep small."""
    return float(manifest.known_losses[str(manifest.loss)])


def _proof(manifest: Manifest, excess: float | None) -> str:
    method = manifest.method_name
    search = manifest.known_search
    if method == REGIONAL and search is not None:
        return f"{method}, {'proven optimal' if search.optimal else 'a heuristic'}"
    if method != FULL_DOMAIN:
        return f"{method}, a heuristic"
    if manifest.search is None:
        # What leaked was merged after the search, so nothing is proven any more.
        return f"{method} and refined, a heuristic"
    if manifest.search.optimal:
        return "proven optimal"
    near = "" if excess is None else f" but at most {percent_above(excess)} above the best there is"
    return f"the best found, not proven optimal{near}"


def percent_above(excess: float) -> str:
    """Return a share as a percentage of two digits that is not below it.

    >>> percent_above(0.0301), percent_above(1.234), percent_above(0.00011)
    ('3.1 %', '130 %', '0.011 %')
    """
    percent = 100.0 * excess
    if percent <= 0.0:
        return "0 %"
    step = 10.0 ** (math.floor(math.log10(percent)) - 1)
    return f"{math.ceil(percent / step - 1e-9) * step:.6g} %"


# What came out of a decoupling: several tables with weak links, and what they keep.


@dataclass(frozen=True, eq=False)
class DecoupledRelease(Showable):
    """A verified decoupled release: a folder on disk, tables in memory or in a database.

    `manifest` is what stands in `manifest.json`, `verdict` what the independent verifier found
    when it recomputed the promises from the published tables.
    """

    manifest: Manifest
    """What stands in `manifest.json`."""

    verdict: Verdict
    """What the verifier found."""

    grouped: GroupedTables
    """The same as counts: groups with their labels, and how often each value is in them."""

    folder: Path | None = None
    """Where it is; None for a release in memory."""

    tables: Mapping[str, Any] | None = None
    """The published tables by name, of the kind that was given; None for a release on disk. In a
    database, what opens them."""

    left_out: tuple[str, ...] = ()
    """Columns of the table that are not published; the manifest names only those of a release."""

    place: str | None = None
    """The address of the first table, if it is in a database; no password is in it."""

    private_notes: tuple[str, ...] = ()
    """What deserves a second look and depends on more than is published: it stands in no file."""

    policy: Policy | None = field(default=None, repr=False, compare=False)
    """The policy it was made with, as long as it is not opened again; it is not published."""

    @classmethod
    def of(
        cls,
        placed: "PlacedRelease",
        grouped: GroupedTables,
        left_out: tuple[str, ...],
        private_notes: tuple[str, ...] = (),
        policy: Policy | None = None,
    ) -> Self:
        """Return the release that is in a place."""
        tables = placed.tables if placed.folder is None else None
        found = cls(placed.manifest, placed.verdict, grouped, placed.folder, tables, left_out)
        return replace(found, place=placed.address, private_notes=private_notes, policy=policy)

    @property
    def method(self) -> str:
        """The name of the decoupling."""
        return str(self.manifest.kind)

    @property
    def slices(self) -> tuple[tuple[str, ...], ...]:
        """The columns that are published side by side, if the table was sliced."""
        slices = (file for file in self.manifest.files if file.table == "slice")
        return tuple(file.columns for file in slices if file.columns is not None)

    @property
    def suppressed(self) -> int:
        """The number of rows that were left out."""
        return self.manifest.rows.suppressed

    @property
    def warnings(self) -> tuple[str, ...]:
        """Facts that deserve a second look before publishing, although all promises hold."""
        if self.manifest.drawn is not None:
            # What is promised is about all columns, and no group is one of people.
            return (*(self.manifest.notes or ()), *self.private_notes)
        left_out = self.manifest.left_out or LeftOut()
        found = _left_out(self.left_out or left_out.columns)
        found += [
            f"{name} is not promised any more: it is not what these tables alone can show"
            for name in left_out.models
        ]
        found += [*(self.manifest.notes or ()), *self.private_notes]
        found += warn_of_line_breaks(count_line_breaks_of_groups(self.grouped))
        exact = [c.name for c in self.manifest.columns if c.spelling is not None]
        secret = [column for table in self.grouped.sensitive for column in table.columns]
        found += warn_of_spellings(column for column in secret if column.name not in exact)
        found += [
            f"{' and '.join(map(repr, names))} stay together: who knows one of them of a person "
            "finds the rows of the group that have it, and reads the others off"
            for names in self.manifest.together or ()
        ]
        found += self._warn_of_groups()
        if self.manifest.reproducible:
            found.append(
                "the order of the rows and the labels of the groups come from a seed that others "
                "may know: not for publication"
            )
        return tuple(found)

    def _warn_of_groups(self) -> list[str]:
        grouped = self.grouped
        alone = int((grouped.sizes == 1).sum())
        found = []
        if alone:
            found.append(
                f"{alone} of {grouped.total} people are alone in their group, which hides nothing "
                "of them: anonymise the table first, with sf.anonymize"
            )
        every = [table for each in grouped.sensitive for table in each.split(len(grouped))]
        for table in every:
            # A missing value hides no person: the others still have the same.
            largest = table.largest(len(grouped))
            same = (largest > 0) & (largest == table.totals(len(grouped)))
            # Where all have a star, nothing is known.
            stars = np.isin(
                table.value, [i for i, v in enumerate(table.column.values) if v == STAR]
            )
            same[table.group[stars]] = False
            rows = int(grouped.sizes[same & (grouped.sizes > 1)].sum())
            if rows:
                found.append(
                    f"{rows} people are in groups where all have the same "
                    f"{table.column.name!r}: who knows the group knows it"
                )
        return found

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values that JSON can hold."""
        return {
            "folder": None if self.folder is None else str(self.folder),
            **({} if self.place is None else {"place": self.place}),
            "warnings": list(self.warnings),
            "manifest": self.manifest.to_dict(),
            "verdict": self.verdict.to_dict(),
        }

    @property
    def headline(self) -> str:
        """A summary in one line."""
        drawn = self.manifest.drawn
        return (
            f"{self.manifest.rows.published} {'drawn ' * (drawn is not None)}rows in "
            f"{self.manifest.classes.count} groups, decoupled by {self.method}"
            f"{'' if drawn is None else f'; {drawn}'}"
        )

    def content(self) -> Content:
        """Return the tables, the promises, and what to beware of."""
        files = [
            (file.name, file.holds or file.column or self._holds(str(file.table)), file.rows)
            for file in self.manifest.files
        ]
        tables = ContentTable.of("", ["table", "holds", "rows"], files, most=None)
        drawn = self.manifest.drawn
        kept = _promises_table(self.manifest) if drawn is None else _measurements_table(drawn)
        return Content(self.headline, (tables, kept), remarks=_remarks(self.warnings))

    def _holds(self, table: str) -> str:
        """Return what a table holds that is not named by its columns."""
        plain = [*self.manifest.with_role("plain"), *self.manifest.with_role("weight")]
        if table != "qi" or not plain:
            return _CONTENTS[table]
        columns = "a plain column" if len(plain) == 1 else f"{len(plain)} plain columns"
        return f"{_CONTENTS[table]}, {columns}"

    def __repr__(self) -> str:
        return f"<DecoupledRelease {self.headline}>"


def _left_out(columns: Sequence[str]) -> list[str]:
    """Describe once for all columns that they are not published.

    >>> _left_out(["name"])[0]
    "column 'name' is left out: nothing says that it is plain. Say so in a policy, and it is
    published beside the quasi-identifiers"
    """
    if not columns:
        return []
    one = len(columns) == 1
    which = f"column {columns[0]!r} is" if one else f"columns {some(columns, most=12)} are"
    it, is_ = ("it", "is") if one else ("they", "are")
    why = f"nothing says that {it} {is_} plain. Say so in a policy, and {it} {is_} published"
    return [f"{which} left out: {why} beside the quasi-identifiers"]


# Files of a folder.


def file_in(folder: Path, file: FileRecord) -> Path | TextFile:
    """Return what opens a file of a release as it was written: its dialect is not guessed."""
    path = folder / file.name
    if file.delimiter is None:
        return path
    return TextFile(path, replace(RELEASED, delimiter=file.delimiter))


# Tables of a database: opened once, and asked by the verifier.


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


def relation_of(table: DatabaseTable) -> DatabaseRelation:
    """Return a table of a database as the verifier asks it."""
    columns = {name: _kind_of(table, name) for name in table.columns}
    return DatabaseRelation(table.relation_name, columns, table.dialect, table.query)


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


def for_verifier(source: object, opened: Table | None = None) -> object:
    """Return a table as the verifier reads it: one of a database is asked, not opened.

    How a text file is to be read is told: the verifier finds out nothing but delimiters. A table of
    another library, or a query, is told as Arrow: only one reader knows all of them.

    Args:
        source: The table.
        opened: The same, if it is open already.
    """
    table = open_stored(source)
    if table is not None:
        return relation_of(table)
    if isinstance(source, str | PathLike):
        reading = reading_of(opened or open_table(source))
        return source if reading is None else TextFile(Path(source), reading)
    if source is None or isinstance(source, ArrowRows | ArrowBatch):
        return source
    found = opened or open_table(source)
    return source_of(found.columns, OrderedRows.expect(found).batches)


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
