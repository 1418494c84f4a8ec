"""Releases in a database: a table, and beside it tables that hold its manifest and evidence."""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from hashlib import sha256
from secrets import token_hex
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from sfumato.dataclasses import dataclass
from sfumato.errors import InputError, OutputError, SfumatoError
from sfumato.tables.arrow.sources import from_numpy
from sfumato.tables.derived import Batch, DerivedTable
from sfumato.tables.sql.database import (
    Name,
    appear,
    appearing,
    dropping_on_failure,
    format_name,
    name_of,
    raising_output_errors,
    single_column,
    sweep,
)
from sfumato.typing import IntArray

if TYPE_CHECKING:
    from sfumato.tables.sql.database import Database

COLUMN = "manifest"
"""The one column of a table that holds a manifest."""

EVIDENCE = "evidence"
"""The one column of a table that holds evidence."""


def manifest_of(name: Name) -> Name:
    """Return the name of the table that holds the manifest of a table.

    >>> manifest_of(("ward", "people"))
    ('ward', 'people_manifest')
    """
    return _beside(name, COLUMN)


def evidence_of(name: Name) -> Name:
    """Return the name of the table that holds the evidence of a table, if it is signed.

    >>> evidence_of(("ward", "people"))
    ('ward', 'people_evidence')
    """
    return _beside(name, EVIDENCE)


def _beside(name: Name, column: str) -> Name:
    return (*name[:-1], f"{name[-1]}_{column}")


def read_manifest(database: "Database", name: Name) -> str | None:
    """Return the manifest of a table of the same database; None if it is no release."""
    return _text_beside(database, name, COLUMN)


def read_evidence(database: "Database", name: Name) -> str | None:
    """Return the evidence of a table of the same database; None if it has none."""
    return _text_beside(database, name, EVIDENCE)


def _text_beside(database: "Database", name: Name, column: str) -> str | None:
    beside = _beside(name, column)
    if not database.exists(beside):
        return None
    if [field.name for field in database.open_table(beside).fields] != [column]:
        # A table of another purpose may have such a name.
        return None
    # Whatever is in it, more than the first of several is not needed to see that it is wrong.
    source = database.dialect.quote(*beside)
    texts = single_column(database.query(f"SELECT {column} FROM {source} LIMIT 2"))  # noqa: S608
    if len(texts) != 1 or not isinstance(texts[0], str):
        raise InputError(
            f"{format_name(beside)} should hold one text: the {column} of {format_name(name)}"
        )
    return texts[0]


def store_evidence(database: "Database", name: Name, text: str) -> None:
    """Store the evidence of a release that is there, in place of what it had before."""
    beside = evidence_of(name)
    _require_short(database, [beside])
    database.require_free(beside, force=True)
    if database.exists(beside) and read_evidence(database, name) is None:
        raise OutputError(
            f"{format_name(beside)} exists and is no evidence, so it is not replaced. Rename it, "
            "or publish the release under another name."
        )
    with raising_output_errors(format_name(beside)):
        _store(database, beside, EVIDENCE, text, force=True)


def _store(database: "Database", name: Name, column: str, text: str, *, force: bool) -> None:
    with database.scope():
        query = database.upload(pa.table({"o0": pa.array([text], pa.string())}))
        database.store(query, [column], name, lambda _: None, force=force)


@dataclass(frozen=True)
class UnfinishedRelease:
    """A release under temporary names, which no reader looks at yet."""

    database: "Database"
    manifest: Name
    table: Name
    others: tuple[Name, ...] = ()
    """The temporary names of further tables, in the order they were given."""

    evidence: Name | None = None
    """The temporary name of its evidence, if it is signed."""

    def store_manifest(self, text: str) -> None:
        """Store its manifest."""
        _store(self.database, self.manifest, COLUMN, text, force=False)

    def store_evidence(self, text: str) -> None:
        """Store its evidence."""
        assert self.evidence is not None  # noqa: S101 - a place was asked for
        _store(self.database, self.evidence, EVIDENCE, text, force=False)

    @property
    def name(self) -> str:
        """The temporary name of the table, as text."""
        return format_name(self.table)

    @property
    def names(self) -> list[str]:
        """The temporary names of the table and all further ones, as text."""
        return [format_name(name) for name in (self.table, *self.others)]


@contextmanager
def releasing(
    database: "Database",
    name: Name,
    others: Sequence[Name] = (),
    *,
    force: bool,
    signed: bool = False,
) -> Iterator[UnfinishedRelease]:
    """Yield temporary names; at the end of the block all tables appear together, or none.

    Args:
        database: Where the rows are, and the release will be.
        name: The final name of the table.
        others: The final names of further tables of the release.
        force: Replace a release of that name; any other table is never touched.
        signed: Whether its evidence appears with them.
    """
    others = [*others, *([evidence_of(name)] if signed else [])]
    final, old = final_names(database, name, others, force=force)
    with (
        raising_output_errors(format_name(name)),
        database.scope(),
        appearing(database, old, final) as (manifest, table, *further),
    ):
        evidence = further.pop() if signed else None
        yield UnfinishedRelease(database, manifest, table, tuple(further), evidence)


def final_names(
    database: "Database", name: Name, others: Sequence[Name], *, force: bool
) -> tuple[list[Name], list[Name]]:
    """Return the tables of a release, its manifest first, and those of the one it replaces.

    Raises if a name cannot be given.
    """
    final = [manifest_of(name), name, *others]
    _require_short(database, final)
    for each in final:
        database.require_free(each, force=True)
    sweep(database, final[0])
    return final, _old_release(database, name, final, force=force)


def _require_short(database: "Database", names: Sequence[Name]) -> None:
    most = database.longest_name
    long = [name for name in names if most is not None and len(name[-1].encode()) > most]
    if long:
        raise OutputError(f"{format_name(long[0])} is too long a name. Choose a shorter one.")


def _old_release(
    database: "Database", name: Name, final: Sequence[Name], *, force: bool
) -> list[Name]:
    """Return the tables of the release that is replaced; raise if there is anything else."""
    there = [each for each in (*final[1:], final[0]) if database.exists(each)]
    if there and not force:
        raise OutputError(
            f"there is a table {format_name(there[0])} already. Choose another name, or replace "
            "that release with --force (force=True)."
        )
    manifest = read_manifest(database, name) if there else None
    old = [] if manifest is None else [manifest_of(name), name, *_further(name, manifest)]
    if old and read_evidence(database, name) is not None:
        old.append(evidence_of(name))
    strange = [each for each in there if each not in old]
    if strange:
        raise OutputError(
            f"{format_name(strange[0])} exists and is not a release, so it is not replaced. "
            "Choose another name."
        )
    for each in old:
        database.require_free(each, force=True)
    return [each for each in old if database.exists(each)]


def _further(name: Name, manifest: str) -> list[Name]:
    """Return the further tables of a release, whose names all begin with that of the first."""
    try:
        files = json.loads(manifest)["files"]
        names = [name_of(file["name"]) for file in files]
    except (ValueError, KeyError, TypeError):
        return []
    # A stranger's manifest may name any table, and what is named is dropped.
    return [each for each in names if _belongs(each, name)]


def _belongs(other: Name, name: Name) -> bool:
    return other[:-1] == name[:-1] and other[-1].startswith(f"{name[-1]}_")


# Tables that are finished and verified before they get their names. A ledger and a database cannot
# commit together. So the tables are there first, under temporary names; then the ledger records
# them; and only then do they get their names. Whatever interrupts this, the ledger never forgets
# what was published, and the rest can be made up for.


@dataclass(frozen=True)
class Staging:
    """The place where a ledger's tables wait for their names. All names are text."""

    database: "Database"
    owner: str
    """The ledger: letters and digits that are in the names of its waiting tables."""

    def require_unused(self, names: Sequence[str]) -> None:
        """Raise if there are tables of these names."""
        for name in map(name_of, names):
            if self.database.exists(name):
                raise OutputError(
                    f"there is a table {format_name(name)} already, and what a ledger published is "
                    "never replaced. Choose another name."
                )

    @contextmanager
    def stage(
        self, name: str, others: Sequence[str], *, signed: bool, keep: Sequence[str]
    ) -> Iterator[UnfinishedRelease]:
        """Yield temporary names, which tables and their manifest keep after the block.

        Args:
            name: The final name of the first table.
            others: The final names of the further ones.
            signed: Whether their evidence is among them.
            keep: First tables that wait still; all others that were staged are removed.
        """
        first, further = name_of(name), [name_of(other) for other in others]
        every = [*further, *([evidence_of(first)] if signed else [])]
        self.require_unused([format_name(each) for each in (first, manifest_of(first), *every)])
        final_names(self.database, first, every, force=False)
        if self.database.in_transaction:
            raise OutputError(
                f"cannot publish into {name}: the connection is in a transaction, and what a "
                "ledger records is not undone with it. Commit it first, or give another connection."
            )
        self._sweep(first, [name_of(each)[-1] for each in keep])
        base = (*first[:-1], f"{self._prefix}{token_hex(8)}")
        waiting = [(*base[:-1], f"{base[-1]}_{i}") for i in range(1, len(others) + 1)]
        evidence = evidence_of(base) if signed else None
        every = [manifest_of(base), evidence_of(base), base, *waiting]
        with (
            self.database.scope(),
            raising_output_errors(name),
            dropping_on_failure(self.database, every),
        ):
            yield UnfinishedRelease(
                self.database, manifest_of(base), base, tuple(waiting), evidence
            )

    def settle(self, staged: Sequence[str], final: Sequence[str], expected: str) -> str:
        """Rename tables that were staged, if that is not done; return the problem, if there is one.

        Args:
            staged: Their temporary names, the first table first; without the manifest.
            final: Their final names.
            expected: The hash of their manifest.
        """
        try:
            before, after = map(_with_manifest, (staged, final))
            self.database.require_free(after[0], force=True)
            sweep(self.database, after[0])
            waits = [self.database.exists(name) for name in before]
            there = [self.database.exists(name) for name in after]
            text = read_manifest(self.database, before[1] if waits[0] else after[1])
            complete = all(one or other for one, other in zip(waits, there, strict=True))
            if not complete or text is None or manifest_hash(text) != expected:
                return (
                    f"{staged[0]} is not in this database, or was changed. Publish rows of the "
                    "database it is in; if it is gone, write it again from the ledger."
                )
            if any(waits):
                self.require_unused([format_name(name) for name in after])
                with self.database.scope():
                    appear(self.database, [], before, after)
        except SfumatoError as error:
            return str(error)
        return ""

    def drop(self, staged: Sequence[str]) -> None:
        """Remove tables that were staged and are not to be published."""
        first = name_of(staged[0])
        self._drop([manifest_of(first), *map(name_of, staged)])

    def _sweep(self, near: Name, keep: Sequence[str]) -> None:
        """Remove what an interrupted publish left; tables that begin with `keep` stay."""
        with suppress(SfumatoError):
            found = self.database.tables_like(near[:-1], self._prefix)
            left = [name for name in found if not name.startswith(tuple(keep))]
            self._drop([(*near[:-1], name) for name in left])

    def _drop(self, names: Sequence[Name]) -> None:
        for name in names:
            # What cannot be reached any more is removed by the next sweep.
            with suppress(SfumatoError):
                self.database.drop(name)

    @property
    def _prefix(self) -> str:
        return f"sfumato_{self.owner}_"


def manifest_hash(text: str) -> str:
    """Return a hash of a manifest.

    >>> manifest_hash("{}") == manifest_hash("{ }")
    False
    """
    return sha256(text.encode()).hexdigest()


def _with_manifest(names: Sequence[str]) -> list[Name]:
    """Return the manifest's name first, so that no reader meets a release without one."""
    found = [name_of(name) for name in names]
    return [manifest_of(found[0]), *found]


_TIMES = "sfumato_times"


def kinds_of(derived: DerivedTable) -> tuple[DerivedTable, IntArray]:
    """Return every kind of row once, and the number of rows of each.

    >>> from sfumato.tables.derived import DerivedColumn
    >>> table = DerivedTable.repeat(
    ...     (DerivedColumn("group"),), (np.array([71, 28]),), np.array([2, 1]),
    ...     np.random.default_rng(),
    ... )
    >>> kinds, times = kinds_of(table)
    >>> kinds.rows, times.tolist()
    (2, [2, 1])
    """
    batches: dict[int, Batch] = {}
    times: dict[int, IntArray] = {}
    for batch in derived.batches():
        n = len(batch.kinds[0])
        key = id(batch.kinds)
        here = (
            np.ones(n, np.int64) if batch.picks is None else np.bincount(batch.picks, minlength=n)
        )
        # The batch is kept, so no other can get its place in memory.
        batches[key] = Batch(batch.kinds)
        times[key] = times[key] + here if key in times else here.astype(np.int64)
    every = np.concatenate([np.empty(0, np.int64), *times.values()])
    return DerivedTable(derived.columns, len(every), lambda: iter(batches.values())), every


def store_kinds(database: "Database", kinds: pa.Table, times: IntArray, name: Name) -> None:
    """Create a table in which each kind of row is repeated some times, in random order."""
    numbered = kinds.rename_columns([f"o{i}" for i in range(kinds.num_columns)])
    numbered = numbered.append_column(_TIMES, from_numpy(times))
    rows = int(times.sum())

    def check(found: int) -> None:
        if found != rows:
            raise OutputError(f"{format_name(name)} got {found} rows and not {rows}")

    with database.scope():
        query: Any = database.upload(numbered)
        if (times != 1).any():
            query = database.repeat_rows(query, _TIMES, int(times.max(initial=0)))
        cells = query.select([f"o{i}" for i in range(kinds.num_columns)])
        database.store(cells, kinds.column_names, name, check, force=False)
