"""Releases in a database: a table, and beside it tables that hold its manifest and evidence."""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa

from sfumato.engines.ibis.address import Name, name_of, written
from sfumato.engines.ibis.appearing import appearing, sweep, unpublished
from sfumato.errors import InputError, OutputError

if TYPE_CHECKING:
    from sfumato.engines.ibis.database import Database

COLUMN = "manifest"
"""The one column of a table that holds a manifest."""

EVIDENCE = "evidence"
"""The one column of a table that holds evidence."""

_LONGEST = 63
"""PostgreSQL cuts longer names off, and two names would become one."""


def manifest_of(name: Name) -> Name:
    """Name the table that holds the manifest of a table.

    >>> manifest_of(("ward", "people"))
    ('ward', 'people_manifest')
    """
    return _beside(name, COLUMN)


def evidence_of(name: Name) -> Name:
    """Name the table that holds the evidence of a table, if it is signed.

    >>> evidence_of(("ward", "people"))
    ('ward', 'people_evidence')
    """
    return _beside(name, EVIDENCE)


def _beside(name: Name, column: str) -> Name:
    return (*name[:-1], f"{name[-1]}_{column}")


def read_manifest(database: "Database", name: Name) -> str | None:
    """Give the manifest of a table of the same database; None if it is no release."""
    return _text_beside(database, name, COLUMN)


def read_evidence(database: "Database", name: Name) -> str | None:
    """Give the evidence of a table of the same database; None if it has none."""
    return _text_beside(database, name, EVIDENCE)


def _text_beside(database: "Database", name: Name, column: str) -> str | None:
    beside = _beside(name, column)
    if not database.exists(beside):
        return None
    if [field.name for field in database.other(beside).fields] != [column]:
        # Somebody else's table may have such a name.
        return None
    # Whatever is in it, more than the first of several is not needed to see that it is wrong.
    source = database.quoted(beside)
    answer = database.ask(f"SELECT {column} FROM {source} LIMIT 2")  # noqa: S608 - quoted
    texts = answer.column(0).to_pylist() if isinstance(answer, pa.Table) else [t for (t,) in answer]
    if len(texts) != 1 or not isinstance(texts[0], str):
        raise InputError(f"{written(beside)} should hold one text: the {column} of {written(name)}")
    return texts[0]


def keep_evidence(database: "Database", name: Name, text: str) -> None:
    """Store the evidence of a release that is there, in place of what it had before."""
    beside = evidence_of(name)
    _require_short(database, [beside])
    database.require_free(beside, force=True)
    if database.exists(beside) and read_evidence(database, name) is None:
        raise OutputError(
            f"{written(beside)} exists and is no evidence, so it is not replaced. Rename it, or "
            "publish the release under another name."
        )
    with unpublished(written(beside)):
        _store(database, beside, EVIDENCE, text, force=True)


def _store(database: "Database", name: Name, column: str, text: str, *, force: bool) -> None:
    with database.work():
        query = database.upload(pa.table({"o0": pa.array([text], pa.string())}))
        database.create(query, [column], name, lambda _: None, force=force)


@dataclass(frozen=True)
class Unfinished:
    """A release that nobody else looks at yet.

    `table` is what it is called until it is finished.
    """

    database: "Database"
    manifest: Name
    table: Name
    others: tuple[Name, ...] = ()
    """What further tables are called until then, in the order they were named."""

    evidence: Name | None = None
    """What its evidence is called until then, if it is signed."""

    def keep(self, text: str) -> None:
        """Store its manifest."""
        _store(self.database, self.manifest, COLUMN, text, force=False)

    def attest(self, text: str) -> None:
        """Store its evidence."""
        assert self.evidence is not None  # noqa: S101 - a place was asked for
        _store(self.database, self.evidence, EVIDENCE, text, force=False)

    @property
    def name(self) -> str:
        """What the table is called now."""
        return written(self.table)

    @property
    def names(self) -> list[str]:
        """What the table and all further ones are called now."""
        return [written(name) for name in (self.table, *self.others)]


@contextmanager
def releasing(
    database: "Database",
    name: Name,
    others: Sequence[Name] = (),
    *,
    force: bool,
    signed: bool = False,
) -> Iterator[Unfinished]:
    """Let tables and their manifest appear together at the end of the block, or none of them.

    Args:
        database: Where the rows are, and the release will be.
        name: What the table will be called.
        others: What further tables of the release will be called.
        force: Replace a release of that name; any other table is never touched.
        signed: Whether its evidence appears with them.
    """
    others = [*others, *([evidence_of(name)] if signed else [])]
    final, old = final_names(database, name, others, force=force)
    with (
        unpublished(written(name)),
        database.work(),
        appearing(database, old, final) as (manifest, table, *further),
    ):
        evidence = further.pop() if signed else None
        yield Unfinished(database, manifest, table, tuple(further), evidence)


def final_names(
    database: "Database", name: Name, others: Sequence[Name], *, force: bool
) -> tuple[list[Name], list[Name]]:
    """Name the tables of a release, its manifest first, and those of the one that is replaced.

    Refuses names that cannot be given.
    """
    final = [manifest_of(name), name, *others]
    _require_short(database, final)
    for each in final:
        database.require_free(each, force=True)
    sweep(database, final[0])
    return final, _old_release(database, name, final, force=force)


def _require_short(database: "Database", names: Sequence[Name]) -> None:
    long = [name for name in names if len(name[-1].encode()) > _LONGEST]
    if database.kind == "postgres" and long:
        raise OutputError(f"{written(long[0])} is too long a name. Choose a shorter one.")


def _old_release(
    database: "Database", name: Name, final: Sequence[Name], *, force: bool
) -> list[Name]:
    """Name the tables of the release that is replaced; refuse if there is anything else."""
    there = [each for each in (*final[1:], final[0]) if database.exists(each)]
    if there and not force:
        raise OutputError(
            f"there is a table {written(there[0])} already. Choose another name, or replace that "
            "release with --force (force=True)."
        )
    manifest = read_manifest(database, name) if there else None
    old = [] if manifest is None else [manifest_of(name), name, *_further(name, manifest)]
    if old and read_evidence(database, name) is not None:
        old.append(evidence_of(name))
    strange = [each for each in there if each not in old]
    if strange:
        raise OutputError(
            f"{written(strange[0])} exists and is not a release, so it is not replaced. "
            "Choose another name."
        )
    for each in old:
        database.require_free(each, force=True)
    return [each for each in old if database.exists(each)]


def _further(name: Name, manifest: str) -> list[Name]:
    """Name the further tables of a release, whose names all begin with that of the first."""
    try:
        files = json.loads(manifest)["files"]
        names = [name_of(file["name"]) for file in files]
    except (ValueError, KeyError, TypeError):
        return []
    # A stranger's manifest may name any table, and what is named is dropped.
    return [each for each in names if _belongs(each, name)]


def _belongs(other: Name, name: Name) -> bool:
    return other[:-1] == name[:-1] and other[-1].startswith(f"{name[-1]}_")
