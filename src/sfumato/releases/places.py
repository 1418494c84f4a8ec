"""Places a release can go to: memory, a folder, a database.

Each publishes tables, their manifest and evidence: whole and verified, or not at all.
"""

import os
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import field, replace
from hashlib import file_digest
from itertools import chain, count
from os import PathLike
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol

import numpy as np

from sfumato.dataclasses import dataclass
from sfumato.decouplings.base import DecoupledPart
from sfumato.errors import (
    InputError,
    OutputError,
    ParameterError,
    VerificationError,
    reason_of,
)
from sfumato.evidence import Key, SigningKey, write_evidence
from sfumato.evidence.keys import signing_key
from sfumato.files import open_to_readers, refuse_release, replace_folder, unfinished_folder
from sfumato.files.private import is_release
from sfumato.files.reading import Reading, saying
from sfumato.policy import Policy
from sfumato.populations.weights import Averaging
from sfumato.recoding import FullDomainRecoding, Recoding
from sfumato.releases.codebook import CODEBOOK, CODEBOOK_TEXT, WrittenTable, describe
from sfumato.releases.evidence import attestation
from sfumato.releases.manifest import (
    MANIFEST,
    ColumnRecord,
    DocumentRecord,
    FileRecord,
    Manifest,
    generalization_of,
    labels_as_written,
)
from sfumato.releases.readme import README, write_readme
from sfumato.releases.release import (
    file_in,
    for_verifier,
    is_stored,
    open_stored,
    origin_of,
    relation_of,
)
from sfumato.schema import Role
from sfumato.tables import (
    DatabaseTable,
    Table,
    derived_table,
    open_table,
    refuse_address,
    write_derived,
)
from sfumato.tables.base import Domain, Suppression, WrittenFile
from sfumato.tables.base import Progress as RowProgress
from sfumato.tables.formats import format_like, require_format
from sfumato.tables.variables import PublishedVariable
from sfumato.text import text_of
from sfumato.typing import Progress, silent
from sfumato.verifier import (
    Verdict,
    verify_file,
    verify_folder,
    verify_stored,
    verify_tables,
)
from sfumato.verifier.release import promises_in

if TYPE_CHECKING:
    import pyarrow as pa

    from sfumato.tables.sql.releases import UnfinishedRelease

_TABLE = "table:"
"""What an output starts with that is a table of the database the input is in."""


class TablePart(Protocol):
    """A table that is to be published, alone or with others."""

    @property
    def name(self) -> str:
        """The name of its file, without the ending."""

    @property
    def record(self) -> FileRecord:
        """Its entry in the manifest, as far as it is the same in every place."""

    def to_memory(self, progress: RowProgress) -> "pa.Table":
        """Make the table in memory."""

    def to_file(self, path: Path, form: str, progress: RowProgress) -> WrittenFile:
        """Write the table to a new file."""

    def to_table(self, database: DatabaseTable, name: str, progress: RowProgress) -> int:
        """Create the table in a database; return how many rows it has."""


@dataclass(frozen=True, eq=False)
class FinishedRows:
    """The rows of a table as they are published, finished in memory: for files, not databases."""

    table: "pa.Table"
    separators: Mapping[str, str] = field(default_factory=dict, kw_only=True)
    """What stands between the items of each column of sets in a CSV file."""

    name: ClassVar[str] = "data"
    what: ClassVar[str]
    """Which kind of rows they are, as an error calls them."""

    @property
    def record(self) -> FileRecord:
        """Its entry in the manifest, as far as it is the same in every place."""
        return FileRecord(self.name)

    def to_memory(self, progress: RowProgress) -> "pa.Table":
        """Return the rows."""
        progress(self.table.num_rows, self.table.num_rows)
        return self.table

    def to_file(self, path: Path, form: str, progress: RowProgress) -> WrittenFile:
        """Write the rows to a new file."""
        from sfumato.tables.arrow.sets import write_rows

        written = write_rows(self.table, path, form, separators=self.separators)
        progress(written.rows, written.rows)
        return written

    def to_table(self, database: DatabaseTable, name: str, progress: RowProgress) -> int:
        """Raise: such rows are not published in a database."""
        raise InputError(f"{self.what} cannot be published into {name!r}. Give a folder.")


@dataclass(frozen=True, eq=False)
class RecodedRows:
    """The rows of a table as a recoding publishes them."""

    table: Table
    """The rows; workers may have recoded them already."""

    recoding: Recoding
    columns: Sequence[str]
    suppression: Suppression
    rng: np.random.Generator
    weights: Mapping[str, Averaging] = field(default_factory=dict)
    name: str = "data"

    @property
    def record(self) -> FileRecord:
        """Its entry in the manifest, as far as it is the same in every place."""
        return FileRecord(self.name)

    @property
    def _more(self) -> dict[str, Any]:
        # An engine from elsewhere may not know of weights, and need not if there are none.
        return {"weights": self.weights} if self.weights else {}

    def to_memory(self, progress: RowProgress) -> "pa.Table":
        """Recode the rows in memory."""
        return self.table.publish_table(
            self.recoding,
            self.columns,
            suppression=self.suppression,
            rng=self.rng,
            progress=progress,
            **self._more,
        )

    def to_file(self, path: Path, form: str, progress: RowProgress) -> WrittenFile:
        """Write the recoded rows to a new file."""
        return self.table.publish(
            self.recoding,
            self.columns,
            path,
            format=form,
            suppression=self.suppression,
            rng=self.rng,
            progress=progress,
            **self._more,
        )

    def to_table(
        self,
        database: DatabaseTable,
        name: str,
        progress: RowProgress,
    ) -> int:
        """Create a table of the recoded rows in the database they are in."""
        if not isinstance(self.table, DatabaseTable):
            raise OutputError(
                f"the table ({self.table.kind}) is in no database, so it cannot be published into "
                f"{name!r}. Publish it to a file."
            )
        stored = self.table.publish_into(
            self.recoding,
            self.columns,
            name,
            suppression=self.suppression,
            progress=progress,
            **self._more,
        )
        return stored.rows


@dataclass(frozen=True, eq=False)
class DecoupledTable:
    """A table of a decoupled release."""

    part: DecoupledPart
    likes: Mapping[str, Table]
    """Per column, an opened table that has a column of this name and type."""

    @property
    def name(self) -> str:
        """The name of its file, without the ending."""
        return self.part.name

    @property
    def record(self) -> FileRecord:
        """Its entry in the manifest, as far as it is the same in every place."""
        return FileRecord(self.name, rows=self.part.content.rows, **self.part.describe())

    def to_memory(self, progress: RowProgress) -> "pa.Table":
        """Make the table in memory."""
        return derived_table(self.part.content, self.likes)

    def to_file(self, path: Path, form: str, progress: RowProgress) -> WrittenFile:
        """Write the table to a new file."""
        return write_derived(
            self.part.content, path, format=form, likes=self.likes, progress=progress
        )

    def to_table(
        self,
        database: DatabaseTable,
        name: str,
        progress: RowProgress,
    ) -> int:
        """Create the table in a database."""
        database.store(self.part.content, name, self.likes)
        return self.part.content.rows


class LabelledPopulation(NamedTuple):
    """The people that models compare a release with, as the verifier counts them."""

    people: object = None
    labels: Mapping[str, Mapping[str | None, object]] | None = None
    """Per column, the label each raw text became."""

    @classmethod
    def of(cls, policy: Policy, recoding: Recoding) -> "LabelledPopulation":
        """Return the population of a policy at the levels of a release; none if it has none."""
        if policy.population is None or not isinstance(recoding, FullDomainRecoding):
            return cls()
        people = policy.population_table
        return cls(people, labels_as_written(generalization_of(recoding), policy, people))

    def for_verifier(self) -> "LabelledPopulation":
        """Return it as the verifier reads it; not before that, for a file may be written first."""
        return self._replace(people=for_verifier(self.people))


@dataclass(frozen=True, eq=False)
class UnpublishedRelease:
    """A release that was decided and is nowhere yet."""

    parts: Sequence[TablePart]
    manifest: Manifest
    """Everything but the files."""

    report: Progress = silent
    population: LabelledPopulation = LabelledPopulation()
    companions: Callable[[Manifest], Mapping[str, str]] = lambda manifest: {}  # noqa: ARG005
    """Writes what lies beside the tables in a folder, by the name of the file."""

    called: str = "release"
    """What a message calls it."""

    people: object = None
    """Who has which of its rows, if people are counted: the people file, or a table of the same."""

    orders: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """The values of columns that are categories with an order, also those that no row has."""

    members: Mapping[str, Mapping[str, Sequence[str]]] = field(default_factory=dict)
    """What labels of columns stand for, as far as it may be told, also those that no row has."""

    answer: "Callable[[PlacedRelease], Mapping[str, Any]] | None" = None
    """Asked before it is signed: whether it may be published. It raises if that is not signed."""

    explained: bool = False
    """Whether its maker said why it is published all the same: evidence has that unsigned too."""

    def answer_to(
        self, key: SigningKey | None, placed: "PlacedRelease"
    ) -> Mapping[str, Any] | None:
        """Return what the evidence says of the answer; None if nothing is signed, or explained.

        Args:
            key: Signs the release, if there is one.
            placed: The release, complete and verified, but for its evidence.
        """
        if key is None and not self.explained:
            return None
        assert self.answer is not None  # noqa: S101 - nothing is signed unasked
        return self.answer(placed)

    def with_orders(self, manifest: Manifest, tables: Iterable[object]) -> Manifest:
        """Return the manifest with orders and members of published values, and of no others.

        Args:
            manifest: What the release says of itself.
            tables: The published tables, as an engine opens them.
        """
        if not (self.orders or self.members) or not manifest.rows.published:
            return manifest
        shown: dict[str, set[str]] = {}
        for each in tables:
            table = each if isinstance(each, WrittenTable) else open_table(each)
            there = [n for n in table.columns if n in self.orders or n in self.members]
            for name, domain in table.domains(there).items():
                shown[name] = {text_of(value) for value in domain.values()}
        return replace(
            manifest,
            columns=tuple(
                self._describe(column, shown[column.name]) if shown.get(column.name) else column
                for column in manifest.columns
            ),
        )

    def _describe(self, column: ColumnRecord, shown: set[str]) -> ColumnRecord:
        """Return a column with the order and the members of its published values."""
        order = tuple(v for v in self.orders.get(column.name, ()) if v in shown)
        members = {
            label: tuple(each)
            for label, each in self.members.get(column.name, {}).items()
            if label in shown
        }
        return replace(column, order=order or column.order, members=members or column.members)

    def progress(self, number: int) -> RowProgress:
        """Report that a part is begun; return what reports its rows."""
        if len(self.parts) > 1:
            self.report("publish", number, len(self.parts))
        return lambda done, total: self.report("publish", done, total)

    def require(self, verdict: Verdict) -> Verdict:
        """Return a verdict that holds; refuse to publish with any other."""
        if not verdict.holds:
            raise VerificationError(
                f"the {self.called} was not published, because the verifier does not find in it "
                f"what was promised. This is a fault of Sfumato; please report it.\n{verdict}"
            )
        return verdict


class PlacedRelease(NamedTuple):
    """A release that is where it should be."""

    manifest: Manifest
    verdict: Verdict
    tables: Mapping[str, Any]
    """By the names of the manifest: tables in memory, files, or what opens them in a database."""

    folder: Path | None = None
    address: str | None = None
    """Where its first table is in a database, without credentials."""

    domains: Mapping[str, Mapping[str, Domain]] = MappingProxyType({})
    """By the names of its files, the values of columns that are known without reading them."""


class Place(ABC):
    """Where a release goes."""

    format: str | None
    """The format of its files, if one was named."""

    table: str | None
    """The table of a database that it is, if it is one."""

    even_so: bool | str
    """Whether it is signed, if there is a key, although the answer is *no*."""

    def form_of(self, source: Table) -> str:
        """Return the format of its files; refuse one that there is not."""
        return format_like(source.kind) if self.format is None else require_format(self.format).name

    def writes(self, source: Table) -> str | None:
        """Return the format of its files; None if it has none."""
        return None

    def require_room(
        self,
        source: Table,
        roles: Mapping[str, Role] | None = None,
    ) -> None:
        """Raise before any work is done if the release cannot be written as promised.

        Args:
            source: Where the rows are.
            roles: What the columns are, if rows are published and not only their counts.
        """
        self.form_of(source)

    @abstractmethod
    def publish(self, release: UnpublishedRelease, source: Table) -> PlacedRelease:
        """Make the release appear, whole and verified, or not at all.

        Args:
            release: What is published.
            source: The table it was made of.
        """


def place_for(
    output: str | PathLike[str] | None,
    data: object,
    *,
    format: str | None = None,  # noqa: A002 - the word users know
    force: bool = False,
    key: Key | None = None,
    even_so: bool | str = False,
    whole_rows: bool = False,
) -> Place:
    """Find the place that an output names; refuse what cannot be written, before any work.

    Args:
        output: A folder, a table of the database the data is in, or None for memory.
        data: What is going to be published.
        format: The format of the files.
        force: Replace a release that is there.
        key: The private key to sign with, or its file.
        even_so: Whether it is signed although the answer is *no*.
        whole_rows: Whether rows are published as they are: those of a database stay there.
    """
    if output is None and whole_rows and is_stored(data):
        raise InputError(
            "rows of a database are not brought into memory. Name an output: a table of the same "
            f"database ({_TABLE}released), or a folder."
        )
    table = _table_in(output, data)
    if table is not None and format is not None:
        raise ParameterError(
            "format", format, "left out when the output is a table", why="it is for files"
        )
    if table is None and output is not None:
        refuse_address(output)
        refuse_what_is_there(Path(output), force=force)
    if output is None:
        if key is not None:
            why = "what is in memory cannot be signed. Name a folder to write"
            raise ParameterError("key", key, "left out when there is no output", why=why)
        return MemoryPlace(format)
    signer = None if key is None else signing_key(key)
    if table is not None:
        return replace(table, key=signer, even_so=even_so, force=force)
    return Folder(Path(output), format, signer, force, even_so)


# Memory.


@dataclass(frozen=True)
class MemoryPlace(Place):
    """Tables of the kind that was given."""

    format: str | None = None
    table: None = None
    even_so: bool | str = False

    def publish(self, release: UnpublishedRelease, source: Table) -> PlacedRelease:
        """Make the tables."""
        tables = {
            part.name: part.to_memory(release.progress(number))
            for number, part in enumerate(release.parts)
        }
        manifest = release.with_orders(release.manifest, tables.values())
        if manifest.kind is not None:
            manifest = replace(manifest, files=tuple(part.record for part in release.parts))
        release.report("verify", 0, None)
        claims = manifest.claims()
        population = release.population.for_verifier()
        promises = promises_in(claims, *population, people=release.people)
        if manifest.kind is None:
            [table] = tables.values()
            verdict = verify_file(table, promises)
        else:
            verdict = verify_tables(tables, claims, promises)
        native = {name: source.native(table) for name, table in tables.items()}
        return PlacedRelease(manifest, release.require(verdict), native)


# A folder.


@dataclass(frozen=True)
class Folder(Place):
    """A folder that appears only when it is complete and verified."""

    path: Path
    format: str | None = None
    key: SigningKey | None = None
    force: bool = False
    even_so: bool | str = False
    table: None = None

    def writes(self, source: Table) -> str:
        """Return the format of its files."""
        return self.form_of(source)

    def require_room(self, source: Table, roles: Mapping[str, Role] | None = None) -> None:
        """Raise before any work is done if a database cannot write such files as promised."""
        form, stored = self.form_of(source), open_stored(source)
        if stored is not None and roles is not None:
            kept = [name for name, role in roles.items() if role in (Role.SENSITIVE, Role.PLAIN)]
            stored.require_writable(form, kept)

    def publish(self, release: UnpublishedRelease, source: Table) -> PlacedRelease:
        """Write it under another name first, and rename it at the end."""
        with staged_folder(self.path, force=self.force) as stage:
            made = write_folder(stage, release, self.form_of(source), key=self.key)
        files = {file.name: self.path / file.name for file in made.manifest.files}
        return made._replace(tables=files, folder=self.path)


def write_folder(
    folder: Path, release: UnpublishedRelease, form: str, *, key: SigningKey | None
) -> PlacedRelease:
    """Write a release into an empty private folder, and let the verifier read it again."""
    files = []
    variables: dict[str, Sequence[PublishedVariable]] = {}
    domains: dict[str, Mapping[str, Domain]] = {}
    for number, part in enumerate(release.parts):
        path = folder / f"{part.name}.{form}"
        written = part.to_file(path, form, release.progress(number))
        variables[path.name] = written.variables
        domains[path.name] = written.domains
        files.append(
            replace(
                part.record,
                name=path.name,
                format=written.format,
                rows=written.rows,
                sha256=_hash_of(path),
                delimiter=written.delimiter,
            )
        )
    # What is declared about inputs does not hold for what was written just now.
    with saying(Reading()):
        tables = {
            file.name: WrittenTable(open_table(file_in(folder, file)), domains[file.name]).read()
            for file in files
            if file.rows
        }
        manifest = release.with_orders(release.manifest, tables.values())
        manifest = replace(manifest, files=tuple(files))
        texts = dict(release.companions(manifest))
        codebook = describe(manifest, tables, variables)
    texts |= {CODEBOOK: codebook.to_csv(), CODEBOOK_TEXT: codebook.to_markdown()}
    if manifest.kind is None:
        texts[README] = write_readme(manifest, codebook)
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8", newline="\n")
    documents = (DocumentRecord(name, _hash_of(folder / name)) for name in sorted(texts))
    manifest = replace(manifest, documents=tuple(documents))
    (folder / MANIFEST).write_text(manifest.to_json(), encoding="utf-8")
    release.report("verify", 0, None)
    people, labels = release.population.for_verifier()
    # As it stands: a table that is read has one form of each value, as every format has.
    verdict = release.require(
        verify_folder(folder, population=people, generalization=labels, people=release.people)
    )
    paths = {file.name: folder / file.name for file in files}
    domains |= {name: table.small_domains() for name, table in tables.items()}
    placed = PlacedRelease(manifest, verdict, paths, folder=folder, domains=domains)
    write_evidence(folder, verdict, key, release.answer_to(key, placed))
    return placed


def _hash_of(path: Path) -> str:
    with path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()


@contextmanager
def staged_folder(target: Path, *, force: bool) -> Iterator[Path]:
    """Yield a private folder that becomes `target` if the block succeeds, and vanishes if not.

    Nothing half-written is ever visible: the folder is made beside the target and renamed
    at the end. An existing release is replaced only with `force`; anything else that is
    there is never touched.
    """
    refuse_what_is_there(target, force=force)
    try:
        with unfinished_folder(target) as stage:
            yield stage
            # The private mode of a temporary folder is not what a published folder should have.
            open_to_readers(stage)
            refuse_what_is_there(target, force=force)
            if os.path.lexists(target):
                replace_folder(stage, target)
            else:
                stage.rename(target)
    except OSError as error:
        if isinstance(error, OutputError):
            raise
        raise OutputError(
            f"cannot write {str(target)!r}: {reason_of(error)}. Nothing was left behind."
        ) from None


def refuse_what_is_there(target: Path, *, force: bool) -> None:
    """Raise if an output folder may not be written or replaced."""
    refuse_release(target)
    if not os.path.lexists(target):
        return
    if target.is_dir() and not target.is_symlink() and not any(target.iterdir()):
        return
    # Other programs have folders with a `manifest.json` too.
    if not target.is_dir() or target.is_symlink() or not is_release(target):
        raise OutputError(
            f"{str(target)!r} exists and is not a release, so it is not replaced. "
            "Choose another output folder."
        )
    if not force:
        raise OutputError(
            f"{str(target)!r} exists. Choose another output folder, "
            "or replace that release with --force (force=True)."
        )


# A database.


@dataclass(frozen=True)
class DatabasePlace(Place):
    """Tables of the database that the rows are in; they appear only when they are verified."""

    table: str
    """The first table."""

    address: str
    """Where that will be, without credentials."""

    given: str | None
    """The address of the data, if it has one."""

    key: SigningKey | None = None
    force: bool = False
    even_so: bool | str = False
    format: None = None

    def names(self, parts: Sequence[str]) -> list[str]:
        """Return names for the tables: the first one as was asked, and the others after it.

        Spark allows nothing in a name but letters without accents, digits and _.

        >>> DatabasePlace("ward.out", "table:ward.out", None).names(["qi", "is_ill", "is ill"])
        ['ward.out', 'ward.out_is_ill', 'ward.out_is_ill_2']
        """
        from sfumato.tables.sql.database import format_name, name_of

        *schema, name = name_of(self.table)
        found: dict[str, str] = {}
        for part in parts[1:]:
            plain = f"{name}_{re.sub('[^A-Za-z0-9_]', '_', part)}"
            tries = chain([plain], (f"{plain}_{n}" for n in count(2)))
            # Letters' case means nothing to most databases.
            free = next(each for each in tries if each.lower() not in found)
            found[free.lower()] = free
        return [self.table, *(format_name((*schema, each)) for each in found.values())]

    def publish(self, release: UnpublishedRelease, source: Table) -> PlacedRelease:
        """Create the tables under other names first, and rename them at the end."""
        database = open_stored(source)
        assert database is not None  # noqa: S101 - `place_for` refuses other sources
        names = self.names([part.name for part in release.parts])
        signed = self.key is not None
        with database.releasing(names[0], names[1:], force=self.force, signed=signed) as unfinished:
            manifest, verdict = create_tables(database, unfinished, names, release, key=self.key)
        tables = {name: self._opener(name, database) for name in names}
        return PlacedRelease(manifest, verdict, tables, address=self.address)

    def _opener(self, name: str, database: DatabaseTable) -> object:
        """Return what opens a table again: an address does not hold a connection."""
        if self.given is None:
            return database.open_other(name)
        from sfumato.tables.sql.database import sibling

        return sibling(self.given, name)


def create_tables(
    database: DatabaseTable,
    unfinished: "UnfinishedRelease",
    names: Sequence[str],
    release: UnpublishedRelease,
    *,
    key: SigningKey | None,
) -> tuple[Manifest, Verdict]:
    """Create the tables of a release under their unfinished names, verified.

    Args:
        database: Any table of the database.
        unfinished: What they are called until they are complete.
        names: What they will be called.
        release: What is created.
        key: Signs them, if there is one.
    """
    made, files = {}, []
    for number, (part, name, now) in enumerate(
        zip(release.parts, names, unfinished.names, strict=True)
    ):
        rows = part.to_table(database, now, release.progress(number))
        made[name] = database.open_other(now)
        files.append(replace(part.record, name=name, rows=rows))
    described = release.with_orders(release.manifest, [*made.values()])
    if described.kind is None:
        manifest = replace(described, table=files[0])
    else:
        manifest = replace(described, files=tuple(files))
    text = manifest.to_json()
    unfinished.store_manifest(text)
    release.report("verify", 0, None)
    people, labels = release.population.for_verifier()
    relations = {name: relation_of(table) for name, table in made.items()}
    if manifest.kind is None:
        verdict = verify_stored(
            relations[names[0]],
            text,
            population=people,
            generalization=labels,
            people=release.people,
        )
    else:
        claims = manifest.claims()
        verdict = verify_tables(relations, claims, promises_in(claims, people, labels))
    release.require(verdict)
    # As tables in memory: under its name there may be the release that this one replaces.
    told = release.answer_to(key, PlacedRelease(manifest, verdict, made))
    if key is not None and told is not None:
        unfinished.store_evidence(attestation(text, made, verdict, key, told))
    return manifest, verdict


def _table_in(output: object, data: object) -> DatabasePlace | None:
    """Read an output that is a table of the database the data is in; None if it is a folder.

    >>> found = _table_in("table:released", "postgres://ann:secret@db/clinic?table=people")
    >>> found.table, found.address
    ('released', 'postgres://db/clinic?table=released')
    >>> _table_in("release/", "people.csv")
    """
    if not isinstance(output, str):
        return None
    origin = origin_of(data)
    if output.startswith(_TABLE):
        name = output.removeprefix(_TABLE)
    elif is_stored(output):
        name = _name_in_same_database(output, origin)
    else:
        return None
    if not is_stored(data):
        raise OutputError(
            "the table is in no database, so it cannot be published into a table there. Give a "
            "folder to write, or load it into the database first."
        )
    from sfumato.tables.sql.database import format_name, name_of, public, sibling

    name = format_name(name_of(name))
    if not isinstance(origin, str):
        return DatabasePlace(name, f"{_TABLE}{name}", None)
    return DatabasePlace(name, public(sibling(origin, name)), origin)


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
