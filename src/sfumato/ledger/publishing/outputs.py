"""The tables of a ledger's release, and how they are written: to a folder or into a database."""

import re
import shutil
import sqlite3
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from hashlib import sha256
from os import PathLike
from pathlib import Path
from sqlite3 import Connection
from typing import TYPE_CHECKING, ClassVar, Protocol

import numpy as np

from sfumato.attacks.target import Target
from sfumato.counts import FrequencySet
from sfumato.dataclasses import dataclass
from sfumato.decouplings import Anatomy, BreakMerge, Decoupling, Parts, publish
from sfumato.decouplings.anatomy import measure_dealt, publish_buckets
from sfumato.decouplings.base import GroupedTables
from sfumato.errors import InputError, OutputError, PolicyError
from sfumato.evidence import SigningKey
from sfumato.evidence.keys import Key
from sfumato.files.private import is_release
from sfumato.ledger import pending
from sfumato.ledger.pending import StagedRelease
from sfumato.ledger.records import stored_policy
from sfumato.ledger.store import Settings
from sfumato.policy import Missing, Policy
from sfumato.releases.manifest import (
    MANIFEST,
    ClassSizes,
    ColumnRecord,
    IncrementRecord,
    LeftOut,
    LeftRecord,
    Manifest,
    Promise,
    RowRecord,
    plain,
    read_as,
)
from sfumato.releases.places import (
    DatabasePlace,
    DecoupledTable,
    Folder,
    UnpublishedRelease,
    create_tables,
    place_for,
    write_folder,
)
from sfumato.releases.release import DecoupledRelease, GivenTables
from sfumato.schema import Role
from sfumato.tables import in_types_of
from sfumato.tasks.signing import answer_to_sign
from sfumato.verifier import Verdict

if TYPE_CHECKING:
    from sfumato.tables import DatabaseTable


ROWS_OF_OTHERS = (
    "a person may have rows in several groups; those of one group are of different people"
)
"""What readers must know of a ledger in which people may have several rows."""


@dataclass(frozen=True, eq=False)
class Increment:
    """The tables of one release of a ledger."""

    grouped: GroupedTables
    """What they hold."""

    settings: Settings
    """What the ledger was started with."""

    sequence: int
    everything: bool
    """Whether they hold all rows, and not only the newcomers."""

    rng: np.random.Generator
    """The order of the rows."""

    reproducible: bool
    """Whether that comes from a seed."""

    first: str
    """A mark of the groups of the first release."""

    left: tuple[LeftRecord, ...] | None = None
    """How many of each group are counted though they left, if that is said."""

    decoupling: ClassVar[Decoupling] = BreakMerge()
    """How its tables are made."""

    @cached_property
    def parts(self) -> Parts:
        """The tables, as they are published."""
        return publish(self.grouped, self.rng)

    @property
    def raw(self) -> tuple[str, ...]:
        """The columns whose values are published as they were given."""
        names, levels = self.settings.quasi_identifiers, self.settings.levels
        if self.settings.policy:
            names = tuple(name for name, level in zip(names, levels, strict=True) if level == 0)
        return (*names, *self.settings.sensitive)

    @property
    def owner(self) -> str:
        """The mark that distinguishes the ledger's unfinished work from that of others."""
        return owner_of(self.settings)

    @property
    def manifest(self) -> Manifest:
        """The description of the release, apart from its files: all of it may be public."""
        roles = dict.fromkeys(self.settings.quasi_identifiers, Role.QUASI_IDENTIFIER)
        roles |= dict.fromkeys(self.settings.sensitive, Role.SENSITIVE)
        # If all have left, what the ledger keeps is promised.
        smallest = int(self.grouped.sizes.min()) if len(self.grouped) else self.settings.k
        policy = stored_policy(self.settings)
        classes = Target.of_grouped("break-merge", self.grouped).classes
        models = () if policy is None else policy.models
        kept = [
            replace(Promise.of(model), measured=plain(model.measure_worst(classes)))
            for model in models
            if not (model.compares_with_table or model.needs_hierarchy or not model.columns)
            # A value that the policy names may be one that no one here has.
            and not any(getattr(model, name, None) for name in ("protected", "categories"))
            and len(classes.sizes)
            and model.judge(classes).all()
        ]
        return Manifest(
            kind="break-merge",
            increment=IncrementRecord(
                self.sequence,
                "all" if self.everything else "newcomers",
                self.owner,
                self.first,
                self.left,
            ),
            columns=tuple(ColumnRecord(name, role.value) for name, role in roles.items()),
            rows=RowRecord(self.grouped.total, 0, "remove"),
            missing="own-value",
            models=(Promise("k-anonymity", {"k": smallest}, {"k": smallest}), *kept),
            classes=ClassSizes.of(self.grouped.sizes),
            left_out=LeftOut(),
            person={"rows": ROWS_OF_OTHERS} if self.settings.several else None,
            reproducible=self.reproducible,
            group=self.parts.group,
            count=self.parts.count,
        )

    def with_tables(self, tables: Sequence[DecoupledTable], *, even_so: bool) -> UnpublishedRelease:
        """Return the release with its tables, ready for a place.

        Args:
            tables: Its tables.
            even_so: Whether it is signed, if there is a key, although the answer is *no*.
        """
        return UnpublishedRelease(
            tables,
            self.manifest,
            companions=lambda manifest: self.decoupling.companions(self.parts, manifest.to_dict()),
            called="increment",
            answer=lambda placed: answer_to_sign(
                DecoupledRelease.of(placed, self.grouped, ()), even_so=even_so
            ),
        )


@dataclass(frozen=True, eq=False, kw_only=True)
class BucketIncrement(Increment):
    """The buckets that newcomers were dealt to, and which earlier ones are withdrawn."""

    people: FrequencySet
    """The bucket of each newcomer, and the row that is published of the person."""

    withdrawn: tuple[int, ...]
    """The buckets that are published no more, by their labels."""

    decoupling: ClassVar[Decoupling] = Anatomy(l=2)  # Only its texts are taken.

    @cached_property
    def parts(self) -> Parts:
        """The tables, as they are published."""
        people = self.people
        labels = np.array([int(str(label)) for label in people.columns[0].values], dtype=np.int64)
        kinds = (labels[people.codes[0]], *people.codes[1:])
        return publish_buckets(self.grouped, people.columns[1:], kinds, people.rows, self.rng)

    @property
    def raw(self) -> tuple[str, ...]:
        """The columns whose values are published as they were given: all."""
        return (*self.settings.exact, *self.settings.sensitive)

    @property
    def manifest(self) -> Manifest:
        """The description of the release, apart from its files: all of it may be public."""
        roles = dict.fromkeys(self.settings.exact, Role.QUASI_IDENTIFIER)
        roles |= dict.fromkeys(self.settings.sensitive, Role.SENSITIVE)
        models = tuple(
            read_as(Promise, each) for each in measure_dealt(self.grouped, self.settings.k)
        )
        policy = stored_policy(self.settings)
        dropped = () if policy is None else (str(Promise.of(model)) for model in policy.models)
        kept = {*map(str, models)}
        return Manifest(
            kind=self.decoupling.name,
            increment=IncrementRecord(
                self.sequence, "newcomers", self.owner, self.first, withdrawn=self.withdrawn or None
            ),
            columns=tuple(ColumnRecord(name, role.value) for name, role in roles.items()),
            rows=RowRecord(self.grouped.total, 0, "remove"),
            missing="own-value",
            models=models,
            classes=ClassSizes.of(self.grouped.sizes),
            left_out=LeftOut((), tuple(each for each in dropped if each not in kept)),
            notes=self.decoupling.notes,
            reproducible=self.reproducible,
            group=self.parts.group,
            count=self.parts.count,
        )

    def in_memory(self, policy: Policy | None) -> DecoupledRelease:
        """Return it as a release that is nowhere yet, to be judged.

        Args:
            policy: What it is held to, with what buckets promise in place of its models.
        """
        parts = [DecoupledTable(part, {}) for part in self.parts.tables]
        manifest = replace(self.manifest, files=tuple(part.record for part in parts))
        if policy is not None:
            columns = dict(policy.columns)
            columns |= {n: rule.replace(levels=None) for n, rule in columns.items() if rule.levels}
            models = [model for each in manifest.models if (model := each.readable()) is not None]
            with suppress(PolicyError):  # Without the others it may say what means nothing.
                policy = replace(
                    policy, columns=columns, models=tuple(models), missing=Missing.OWN_VALUE
                )
        tables = {part.name: part.to_memory(lambda done, total: None) for part in parts}  # noqa: ARG005
        return DecoupledRelease(manifest, Verdict(()), self.grouped, None, tables, policy=policy)


class IncrementOutput(Protocol):
    """Where a release of a ledger is written: under another name first, until it is recorded."""

    @property
    def folder(self) -> Path | None:
        """The folder, if it is one."""

    @property
    def place(self) -> str | None:
        """The address of the first table, if it is in a database; no password is in it."""

    def stage(self, increment: Increment, db: Connection) -> StagedRelease:
        """Write it, let the verifier read it again, and return its name until later."""

    def drop(self, staged: StagedRelease) -> None:
        """Remove what was staged and is not to be published."""

    def finish(self, db: Connection) -> list[str]:
        """Rename everything that waits; return what is in the way."""


def choose_output(
    output: str | PathLike[str] | None,
    tables: GivenTables,
    form: str | None,
    key: Key | None,
    *,
    even_so: bool,
) -> IncrementOutput | None:
    """Return where the release goes; raise before any work is done if it cannot be written."""
    if output is not None:
        _refuse_to_replace(Path(output))
    place = place_for(output, tables.first, format=form, key=key)
    if isinstance(place, DatabasePlace) and tables.database is not None:
        tables.database.staging("").require_unused(place.names(["", "manifest"]))
        return TablesOutput(tables.database, place, even_so)
    if not isinstance(place, Folder):
        return None
    return FolderOutput(place.path, form or "csv", place.key, even_so)


def _refuse_to_replace(folder: Path) -> None:
    """Raise if a release is there: readers add those of a ledger up, so each of them stays."""
    if not folder.is_dir() or folder.is_symlink() or not is_release(folder):
        return
    record = None
    with suppress(InputError, OSError):
        record = Manifest.read_folder(folder).increment
    what = "is a release" if record is None else f"is release {record.sequence} of a ledger"
    raise OutputError(
        f"{str(folder)!r} exists: it {what}, and no publish on a ledger replaces one. Nothing was "
        "changed. If it is what you are about to publish, it is done: sfumato ledger show --log "
        "lists all releases. Otherwise choose another output folder."
    )


def owner_of(settings: Settings) -> str:
    """Return a mark of a ledger that does not tell its secret."""
    return sha256(settings.salt.encode()).hexdigest()[:12]


@dataclass(frozen=True)
class FolderOutput:
    """A folder that a release of a ledger is to become."""

    folder: Path
    form: str
    """csv, parquet or feather."""

    key: SigningKey | None = None
    """Signs the folder, if there is one."""

    even_so: bool = False
    """Whether it is signed although the answer is *no*."""

    place: None = None
    alone: bool = False
    """Whether the run has looked already at the releases that lie beside it."""

    def stage(self, increment: Increment, db: sqlite3.Connection) -> StagedRelease:
        """Write it under a hidden name."""
        pending.sweep(self.folder, increment.owner, keep=pending.staged_names(db))
        if not self.alone:
            _refuse_later_releases(self.folder.parent, increment)
        stage = pending.stage_for(
            self.folder,
            increment.owner,
            lambda stage: write_tables(
                stage, increment, form=self.form, key=self.key, even_so=self.even_so
            ),
        )
        return pending.staged_folder(stage, self.folder)

    def drop(self, staged: StagedRelease) -> None:
        """Remove the hidden folder."""
        shutil.rmtree(staged.stage, ignore_errors=True)

    def finish(self, db: sqlite3.Connection) -> list[str]:
        """Rename every folder that waits."""
        return pending.finish(db)


_SEQUENCE = re.compile(rb'"sequence":\s*(\d{1,15})')


def _refuse_later_releases(beside: Path, increment: Increment) -> None:
    """Raise if a release of the same ledger lies there that the ledger does not know.

    Then it is an older copy, and what it does not know would be admitted twice.
    """
    for path in beside.glob(f"*/{MANIFEST}"):
        if pending.is_stage(path.parent):
            continue  # It was never published; another run may be at work on it.
        try:
            text = path.read_bytes()
            numbers = map(int, _SEQUENCE.findall(text))
            # Most are of earlier releases. To see that takes a thirtieth of reading a manifest.
            if increment.owner.encode() not in text or max(numbers, default=0) < increment.sequence:
                continue
            record = Manifest.read_folder(path.parent).increment
        except (InputError, OSError):
            continue
        if (
            record is not None
            and record.ledger == increment.owner
            and record.sequence >= increment.sequence
        ):
            raise InputError(
                f"{str(path.parent)!r} is release {record.sequence} of this ledger, which has only "
                f"{increment.sequence - 1}: the ledger is an older copy. Restore the last one, "
                "whose hash you kept. Nothing was changed."
            )


def write_tables(
    folder: Path,
    increment: Increment,
    *,
    form: str,
    key: SigningKey | None = None,
    even_so: bool = False,
) -> None:
    """Write tables as a decoupled release, and let the verifier read them again.

    Args:
        folder: An empty private folder.
        increment: What is written.
        form: csv, parquet or feather.
        key: Signs the folder, if there is one.
        even_so: Whether it is signed although the answer is *no*.
    """
    parts = [DecoupledTable(part, {}) for part in increment.parts.tables]
    write_folder(folder, increment.with_tables(parts, even_so=even_so), form, key=key)


@dataclass(frozen=True)
class TablesOutput:
    """Tables that a release of a ledger is to become."""

    database: "DatabaseTable"
    """Any table of the database they will be in."""

    output: DatabasePlace

    even_so: bool = False
    """Whether it is signed, if there is a key, although the answer is *no*."""

    folder: None = None

    @property
    def place(self) -> str:
        """The address of the first table; no password is in it."""
        return self.output.address

    def stage(self, increment: Increment, db: sqlite3.Connection) -> StagedRelease:
        """Create them under hidden names, verified, and there to stay."""
        from sfumato.tables.sql.database import format_name
        from sfumato.tables.sql.releases import manifest_hash

        parts = []
        for part in increment.parts.tables:
            # Of the types that the first release has: readers put the tables together.
            content, likes = in_types_of(part.content, self.database, increment.raw)
            parts.append(DecoupledTable(replace(part, content=content), likes))
        names, key = self.output.names([part.name for part in parts]), self.output.key
        keep = [waiting[0] for waiting in pending.waiting_tables(db)]
        staging = self.database.staging(increment.owner)
        with staging.stage(names[0], names[1:], signed=key is not None, keep=keep) as unfinished:
            release = increment.with_tables(parts, even_so=self.even_so)
            manifest, _ = create_tables(self.database, unfinished, names, release, key=key)
        waiting = list(unfinished.names)
        if unfinished.evidence is not None:
            waiting.append(format_name(unfinished.evidence))
            names.append(self.output.names(["", "evidence"])[1])
        return pending.staged_tables(waiting, names, manifest_hash(manifest.to_json()))

    def drop(self, staged: StagedRelease) -> None:
        """Remove what was staged."""
        self.database.staging("").drop(pending.names_in(staged.stage))

    def finish(self, db: sqlite3.Connection) -> list[str]:
        """Rename the tables that wait, as far as they are in this database."""
        return finish_tables(db, self.database)


def finish_tables(db: sqlite3.Connection, database: "DatabaseTable | None") -> list[str]:
    """Rename what an interrupted publish left; return what could not be renamed."""
    if database is None:
        return pending.finish_tables(db, lambda staged, final, hashed: _ELSEWHERE)  # noqa: ARG005
    return pending.finish_tables(db, database.staging(owner_of(Settings.load(db))).settle)


_ELSEWHERE = (
    "they are in a database, under other names. Publish rows of that database, and they get "
    "their names."
)
