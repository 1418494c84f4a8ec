"""The ledger of a publisher: its first release, increments on it, and what it can be asked."""

import json
import secrets
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from hashlib import sha256
from os import PathLike
from pathlib import Path
from typing import Any, Literal, TypedDict, Unpack

import numpy as np

from sfumato.attacks.composition import ComparedReleases, Composition
from sfumato.content import (
    Cell,
    Content,
    Heading,
    Share,
    Showable,
    Table,
    join_values,
)
from sfumato.decouplings.base import GroupedTables
from sfumato.errors import (
    InputError,
    ParameterError,
    UnknownColumnError,
    require_int,
    require_number,
    require_text,
    some,
)
from sfumato.evidence.keys import Key
from sfumato.ledger import chain, pending, records
from sfumato.ledger.admission import Tally
from sfumato.ledger.increment import require_group_models
from sfumato.ledger.placing import record_ladder
from sfumato.ledger.records import GroupState, groups_above, start_tables
from sfumato.ledger.repeats import GivenRows
from sfumato.ledger.store import WAIT, Settings, key_of, new_ledger, reading
from sfumato.likelihood import exact_limit, increment_ratio, likelihood_with_a_value
from sfumato.policy import GivenPolicy, Policy, policy_of
from sfumato.private import refuse_inside_release
from sfumato.publishing.increments import (
    IncrementJob,
    Publication,
    distinct_rows,
    note_rows,
    now,
    stored_policy,
)
from sfumato.publishing.outputs import FolderOutput, IncrementOutput, TablesOutput
from sfumato.recode.deciding import ladder_of
from sfumato.releases.line_breaks import count_line_breaks_of_groups, warn_of_line_breaks
from sfumato.releases.manifest import Manifest, Promise, promised_class_size
from sfumato.releases.opening import Published, PublishedTable, open_release
from sfumato.releases.places import Database, Folder, place_for
from sfumato.releases.release import GivenTables, is_stored, public_name
from sfumato.releases.spellings import warn_of_spellings
from sfumato.tables import FORMATS, open_table
from sfumato.text import text_or_none
from sfumato.typing import Value


class PublishOptions(TypedDict, total=False):
    """What `Ledger.delete` and `Ledger.correct` take besides their rows; see `Ledger.publish`."""

    output: str | PathLike[str] | None
    hold: bool
    whole: bool
    again: bool
    dry_run: bool
    format: str | None
    wait: float
    key: Key | None
    head: str | None
    seed: int | None


class Ledger:
    """A publisher's private record of what was released, on which later releases grow.

    It is started from a decoupled release with `alpha`, the most that its tables may tell: the
    probability of any combination of sensitive values, to an adversary who knows a person's group
    and one of the values. New rows, raw or generalised like the release, are each *admitted*,
    *refused* because alpha would be exceeded, or *wait* until they can be published with others.

    Promises: a group within alpha stays within alpha, and one above it never tells more than it
    did; no refused row could have been admitted besides; every group keeps the policy's
    models and k; with `hold`, the rows that join or leave a group between two releases are at
    least k and within alpha by themselves. The ledger and the release are both written or
    neither is, whatever interrupts it: a release that is recorded and not visible yet gets its
    name at the next publish. Does not promise anything against an adversary who knows the
    values of other people in a group, or who has the ledger itself.

    Args:
        path: The file of a ledger that exists. It is private: rows that wait are in it.

    Example:
        >>> import pyarrow as pa, tempfile
        >>> import sfumato as sf
        >>> table = pa.table({"age": ["30s"] * 4, "ill": ["flu", "flu", "gout", "hiv"]})
        >>> release = sf.decouple(table, quasi_identifiers=["age"], sensitive=["ill"])
        >>> path = tempfile.mkdtemp() + "/clinic.ledger"
        >>> ledger = sf.Ledger.start(release, path, alpha=0.5, k=2)
        >>> print(ledger.started)
        ledger started with 4 rows, alpha 0.5
        >>> new = pa.table({"age": ["30s"] * 3, "ill": ["gout", "flu", "flu"]})
        >>> print(ledger.publish(new).headline)
        release 2: 2 rows admitted, 1 refused, 0 held back; 0 wait in the ledger
        >>> print(ledger.headroom([{"ill": "hiv"}]))
        1 groups, alpha 0.5
        group  rows  values  which          tells  raised by  more rows
        30s       6  flu     most frequent   50 %       ...        0
        30s       6  hiv     asked           17 %       ...        4
        >>> ledger.verify()
        []
    """

    def __init__(self, path: str | PathLike[str]) -> None:
        self.path = Path(path)
        with reading(self.path):
            pass  # It raises if the file is no ledger.
        self.started: Publication | None = None
        """What was reported when it was started; None if it existed already."""

    @cached_property
    def _settings(self) -> Settings:
        # Not read at once: `verify` must be able to judge a ledger whose settings were edited.
        with chain.reading(self.path) as db:
            return Settings.load(db)

    @classmethod
    def start(
        cls,
        release: object,
        path: str | PathLike[str],
        *,
        alpha: float,
        k: int | None = None,
        policy: GivenPolicy | None = None,
        source: object = None,
    ) -> "Ledger":
        """Record a decoupled release in a new ledger.

        Args:
            release: Its folder, its first table in a database, what `sf.decouple` returned, or a
                `GroupedTables`.
            path: The file to make.
            alpha: The limit, above 0 and at most 1.
            k: The fewest rows of a group; None takes the k that is promised.
            policy: The roles, hierarchies and models; new rows are generalised by it.
            source: The table the release was made of, for hierarchies that depend on it.
        """
        report = start_ledger(release, path, alpha, k, policy, source)
        ledger = cls(path)
        ledger.started = report
        return ledger

    @classmethod
    def open(
        cls,
        path: str | PathLike[str],
        *,
        alpha: float | None = None,
        k: int | None = None,
        policy: GivenPolicy | None = None,
    ) -> "Ledger":
        """Open a ledger that exists; raise if it was started with another alpha, k or policy."""
        ledger = cls(path)
        ledger._require_same(alpha, k, _load(policy))
        return ledger

    @property
    def alpha(self) -> float:
        """The limit."""
        return self._settings.alpha

    @property
    def k(self) -> int:
        """The fewest rows of a group."""
        return self._settings.k

    @property
    def quasi_identifiers(self) -> tuple[str, ...]:
        """The columns that make groups."""
        return self._settings.quasi_identifiers

    @property
    def sensitive(self) -> tuple[str, ...]:
        """The columns that are in tables of their own."""
        return self._settings.sensitive

    @property
    def policy(self) -> Policy | None:
        """The policy it was started with."""
        return stored_policy(self._settings)

    @property
    def history(self) -> list[dict[str, Any]]:
        """The entries, the first release first."""
        with chain.reading(self.path) as db:
            return records.entries(db)

    @property
    def current(self) -> GroupedTables:
        """All tables as they are published now."""
        return self.contents().tables

    def publish(  # noqa: PLR0913 - all but one have a default and are named
        self,
        rows: object = None,
        *,
        output: str | PathLike[str] | None = None,
        delete: object = None,
        correct: object = None,
        hold: bool = True,
        whole: bool = False,
        again: bool = False,
        dry_run: bool = False,
        format: str | None = None,  # noqa: A002 - the word users know
        wait: float = WAIT,
        key: Key | None = None,
        head: str | None = None,
        seed: int | None = None,
    ) -> Publication:
        """Publish new rows, and delete or correct others in the same release.

        Args:
            rows: A path, pandas, Polars, Arrow, or a table of a database, where they are counted
                and stay. None if rows are only deleted or corrected.
            output: The folder to write the tables of the increment to. For rows of a database also
                `table:april`, or such an address, in the same database: the first table is called
                that, and the others after it.
            delete: Rows to remove, given as they were published or raw.
            correct: Rows to change: each column as it should be, and as `old_…` what was published.
            hold: Hold rows back until at least k join a group and are within alpha by themselves.
            whole: Write all tables and not only those of the newcomers. Always so if rows left.
            again: Publish an increment that was given before.
            dry_run: Decide and report, and change nothing.
            format: csv, parquet or feather; None takes csv.
            wait: Seconds to wait for another publish on the same ledger.
            key: The private key to sign the release with, or its file; see `sf.evidence.keygen`.
            head: The hash that the last publish showed, as you kept it elsewhere: an old copy of
                the ledger, or a rewritten one, is refused by it.
            seed: Fixes all that is random, for tests; not for publication.
        """
        if seed is not None:
            require_int("seed", seed, at_least=0)
        if head is not None:
            require_text("head", head)
        require_number("wait", wait, at_least=0)
        if format is not None and format not in FORMATS:
            raise ParameterError("format", format, "one of " + ", ".join(FORMATS))
        tables = GivenTables(rows, delete, correct)
        if _is_release(rows, tables):
            raise InputError(
                f"{str(self.path)!r} is a ledger already, and {_describe(rows)} is a release, not "
                "new rows. Give the rows to add, or another name for a new ledger."
            )
        where = _choose_output(output, tables, format, key)
        refuse_inside_release(
            self.path, "the ledger", output=None if where is None else where.folder
        )
        job = IncrementJob(self.path, where, hold, whole, again, dry_run, wait, seed, head)
        return job.run(rows, delete, correct, tables)

    def delete(self, rows: object, **options: Unpack[PublishOptions]) -> Publication:
        """Remove rows, given as they were published or raw; options as of `publish`."""
        return self.publish(delete=rows, **options)

    def correct(self, rows: object, **options: Unpack[PublishOptions]) -> Publication:
        """Change rows: columns as they should be, `old_…` what was published; see `publish`."""
        return self.publish(correct=rows, **options)

    def headroom(
        self,
        combinations: Sequence[Mapping[str, Value]] = (),
        *,
        group: Mapping[str, Value] | None = None,
        most: int | None = None,
    ) -> "Headroom":
        """Count the further rows that each group takes before it reaches alpha.

        A group has more combinations of values than any reader wants to see. Shown are the
        likeliest of each group (the most frequent value of every column), those that are asked
        for, and those of rows that wait.

        Args:
            combinations: Values to look at in every group, as `{"ill": "flu", "pay": "low"}`; a
                column that is left out takes its most frequent value.
            group: Only groups with these labels, as `{"age": "30-39"}`.
            most: Return at most this many, those closest to the limit.
        """
        if most is not None:
            require_int("most", most, at_least=1)
        rooms: list[Room] = []
        n = 0
        with chain.reading(self.path) as db:
            settings = Settings.load(db)
            for asked in combinations:
                _require_known(asked, settings.sensitive, "the sensitive columns")
            _require_known(group or {}, settings.quasi_identifiers, "the quasi-identifiers")
            waiting: dict[str, list[str]] = {}
            for labels, row in db.execute("SELECT labels, row FROM waiting WHERE kind = 'add'"):
                waiting.setdefault(labels, []).append(row)
            for state in records.states(db, settings):
                n += 1
                if state.record is None or not _is_in(state, settings, group or {}):
                    continue
                change = records.last_change(db, state.record.id)
                chosen = _choose_combinations(
                    state, settings, combinations, waiting.get(state.key, ())
                )
                rooms += [_room(state, which, row, change, settings.limit) for which, row in chosen]
        if group and not rooms:
            raise InputError(
                f"the ledger has no group with {dict(group)!r}. See: sfumato ledger show"
            )
        rooms.sort(key=_closeness)
        return Headroom(
            settings.alpha, settings.quasi_identifiers, settings.sensitive, tuple(rooms[:most]), n
        )

    def verify(self, head: str | None = None) -> list[str]:
        """Recompute the chain and the counts, and return what does not agree, or nothing.

        Args:
            head: The hash of the last entry as it was kept elsewhere; a rewritten chain is found
                by it.
        """
        if head is not None:
            require_text("head", head)
        with reading(self.path) as db:
            return chain.faults(db, head)

    def contents(self, release: int | None = None) -> "Contents":
        """Return what it was started with, and its tables now or after some release."""
        with chain.reading(self.path) as db:
            settings = Settings.load(db)
            [last] = db.execute("SELECT MAX(sequence) FROM releases").fetchone()
            [waiting] = db.execute("SELECT COALESCE(SUM(rows), 0) FROM waiting").fetchone()
            tables = (
                records.current(db, settings)
                if release is None
                else records.at(db, settings, release)
            )
        return Contents(
            settings.alpha,
            settings.k,
            settings.created,
            tables,
            last if release is None else release,
            waiting,
            bool(settings.policy),
        )

    def compare(self, earlier: int, later: int) -> ComparedReleases:
        """Return what two of its releases tell together."""
        with chain.reading(self.path) as db:
            settings = Settings.load(db)
            tables = [records.at(db, settings, each) for each in (earlier, later)]
        return Composition(settings.alpha, settings.k).run(*tables)

    def _require_same(self, alpha: float | None, k: int | None, policy: Policy | None) -> None:
        if alpha is None and k is None and policy is None:
            return
        own: dict[str, object] = {"alpha": self.alpha, "k": self.k, "policy": self.policy}
        if policy is not None:
            policy = Policy.from_yaml(policy.to_yaml(), folder=Path.cwd())
        for name, value in {"alpha": alpha, "k": k, "policy": policy}.items():
            if value is None or own[name] == value:
                continue
            asked = f"{name} {value!r}, it was started with {own[name]!r}"
            if name == "policy":
                asked = "another policy than it was started with"
                if own["policy"] is None:
                    asked = "a policy, and it was started without one"
            raise InputError(
                f"the ledger {str(self.path)!r} is asked to work with {asked}. What was promised "
                "once holds for all its releases; leave it out, or start a new ledger."
            )

    def __repr__(self) -> str:
        return f"<Ledger {str(self.path)!r}: alpha {self.alpha:g}, k {self.k}>"


def _load(policy: GivenPolicy | None) -> Policy | None:
    if isinstance(policy, str | PathLike):
        # The whole path, so that files it names are found from any folder.
        policy = Path(policy).expanduser().resolve()
    return policy_of(policy)


def _choose_output(
    output: str | PathLike[str] | None, tables: GivenTables, form: str | None, key: Key | None
) -> IncrementOutput | None:
    """Return where the release goes; raise before any work is done if it cannot be written."""
    place = place_for(output, tables.first, format=form, key=key)
    if isinstance(place, Database) and tables.database is not None:
        tables.database.staging("").require_unused(place.names(["", "manifest"]))
        return TablesOutput(tables.database, place)
    return FolderOutput(place.path, form or "csv", place.key) if isinstance(place, Folder) else None


def _is_release(data: object, tables: GivenTables) -> bool:
    found = open_release(tables.open(data) if is_stored(data) else data)
    return not isinstance(found, PublishedTable) or found.manifest is not None


def _describe(data: object) -> str:
    if isinstance(data, tuple) and is_stored(data):
        return f"table {data[1]}"
    return (
        repr(public_name(data)) if isinstance(data, str | PathLike) else f"a {type(data).__name__}"
    )


# Starting a ledger.


_USUAL_K = 5
"""Fewest newcomers of a group where no k is promised, if the groups are as large."""


def start_ledger(
    data: object,
    path: str | PathLike[str],
    alpha: float | None,
    k: int | None = None,
    policy: GivenPolicy | None = None,
    source: object = None,
    *,
    dry_run: bool = False,
) -> Publication:
    """Start a ledger from a decoupled release, or only report on it; see `Ledger.start`."""
    if not str(path):
        raise ParameterError("path", path, "the name of a file")
    if alpha is None:
        raise ParameterError(
            "alpha",
            None,
            "a number above 0 and at most 1",
            why="a new ledger needs to know how much its tables may tell",
        )
    refuse_inside_release(path, "the ledger")
    limit = exact_limit(alpha)
    if k is not None:
        require_int("k", k, at_least=1)
    policy = _load(policy)
    grouped, manifest, origin = _open_decoupled(data)
    if policy is not None:
        _require_same_columns(policy, grouped)
        require_group_models(policy)
    exact = () if policy is None else policy.exact
    spelt = [t.column for t in grouped.sensitive if t.column.name not in exact]
    # What is limited are values, so each has one spelling in a ledger.
    grouped = grouped.fold([column.name for column in spelt])
    settings = _settings(grouped, manifest, alpha, k, policy)
    above = tuple(groups_above(grouped, limit))
    head = ""
    if not dry_run:
        with new_ledger(Path(path)) as db:
            settings.save(db)
            if source is not None and policy is not None:
                _record_source(db, settings, policy, source)
            start_tables(db, grouped, np.random.default_rng(secrets.randbits(128)))
            head = chain.append(
                db,
                {
                    "sequence": 1,
                    "kind": "start",
                    "time": settings.created,
                    "files": origin,
                    "rows": {"joined": grouped.total, "left": 0, "refused": 0, "waiting": 0},
                },
            )
    text = (
        f"{len(above)} groups tell more than alpha already: no row will be admitted that raises "
        "what is above it"
    )
    return Publication(
        Path(path),
        1,
        alpha,
        settings.sensitive,
        grouped.total,
        grouped.total,
        above=above,
        tables=grouped,
        head=head,
        dry_run=dry_run,
        warnings=(
            *((text,) if above else ()),
            *warn_of_line_breaks(count_line_breaks_of_groups(grouped)),
            *warn_of_spellings(spelt),
        ),
    )


def _open_decoupled(data: object) -> tuple[GroupedTables, Manifest | None, str]:
    """Return the tables of a decoupled release, its manifest, and a hash of it."""
    release = None if data is None else open_release(data)
    what = "None" if data is None else _describe(data)
    if isinstance(release, PublishedTable) and release.manifest is not None:
        raise InputError(
            f"a ledger starts from a decoupled release, and {what} is a release in one table. "
            "Decouple it first: sfumato decouple."
        )
    if isinstance(release, PublishedTable) and release.folder and release.manifest:
        raise InputError(
            f"{str(release.folder)!r} is a release in one table: there is nothing to put together. "
            "Decouple it first: sfumato decouple."
        )
    if release is None or isinstance(release, PublishedTable):
        raise InputError(
            f"a ledger starts from a decoupled release, and {what} is none. Anonymise the table "
            "and decouple it first: sfumato anonymize, then sfumato decouple; or name a ledger "
            "that exists to publish new rows on it."
        )
    grouped, manifest = _require_kept(release, what)
    if release.folder is not None:
        return grouped, manifest, pending.folder_hash(release.folder)
    if release.stored is None or manifest is None:
        return grouped, manifest, ""
    # There is no checksum of tables in a database.
    return grouped, manifest, sha256(manifest.to_json().encode()).hexdigest()


def _require_kept(release: Published, what: str) -> tuple[GroupedTables, Manifest | None]:
    """Return the tables and the manifest of a release; raise if its promises do not hold.

    Everything that a ledger admits is decided on the counts it begins with.
    """
    manifest = release.manifest
    checks = () if manifest is None else release.recompute().checks
    broken = [check for check in checks if check.status == "broken"]
    if broken:
        details = (f"{check.name}{check.detail and f' ({check.detail})'}" for check in broken)
        raise InputError(
            f"{what} does not keep what it promises, so a ledger cannot start from it: "
            f"{'; '.join(details)}. See sfumato verify; publish it again if it was changed."
        )
    grouped = release.groups
    counted = (np.bincount(t.group, t.rows, len(grouped)) for t in grouped.sensitive)
    if not all(np.array_equal(rows, grouped.sizes) for rows in counted):
        raise InputError(
            "the tables of groups do not count every row once, so a ledger cannot start from "
            "them. Give what sf.decouple returned."
        )
    return grouped, manifest


def _settings(
    grouped: GroupedTables,
    manifest: Manifest | None,
    alpha: float,
    k: int | None,
    policy: Policy | None,
) -> Settings:
    if not grouped.total or not grouped.sensitive:
        raise InputError(
            "the release has no rows, or no sensitive column: there is nothing to keep"
        )
    levels = {} if manifest is None else manifest.levels
    names = tuple(column.name for column in grouped.quasi_identifiers)
    smallest = int(grouped.sizes.min())
    models = policy.models if policy is not None else ()
    promised = promised_class_size(map(Promise.of, models))
    promised = promised or (None if manifest is None else manifest.k)
    return Settings(
        alpha=float(alpha),
        k=k or promised or max(min(_USUAL_K, smallest), 2),
        quasi_identifiers=names,
        sensitive=grouped.names,
        levels=tuple(levels.get(name) for name in names),
        policy="" if policy is None else policy.to_yaml(),
        folder=str(Path.cwd()),
        created=now(),
        salt=secrets.token_hex(32),
    )


def _require_same_columns(policy: Policy, grouped: GroupedTables) -> None:
    names = tuple(column.name for column in grouped.quasi_identifiers)
    for what, mine, theirs in (
        ("quasi-identifiers", names, policy.quasi_identifiers),
        ("sensitive columns", grouped.names, policy.sensitive),
    ):
        if set(mine) != set(theirs):
            raise InputError(
                f"the policy has the {what} {some(theirs, most=20)}, the release has "
                f"{some(mine, most=20)}. Give the policy the release was made with."
            )


def _record_source(
    db: sqlite3.Connection, settings: Settings, policy: Policy, source: object
) -> None:
    table = open_table(source)
    counts = table.count(settings.quasi_identifiers)
    for column, name in enumerate(settings.quasi_identifiers):
        if policy.columns[name].hierarchy is not None:
            record_ladder(db, column, ladder_of(policy, counts, name))
    names = (*settings.quasi_identifiers, *settings.sensitive)
    if set(names) <= set(table.columns):
        added = GivenRows()
        note_rows(added, settings, policy, table, distinct_rows(table, names))
        added.write(db, 1)


# Headroom: how many more rows the groups take.


Which = Literal["most frequent", "asked", "waiting"]


@dataclass(frozen=True)
class Room:
    """One combination of values in one group: what it tells, and how many more may have it."""

    group: tuple[str | None, ...]
    size: int
    values: tuple[str | None, ...]
    which: Which
    """Why it is looked at: it is the likeliest of its group, was asked for, or rows wait for it."""

    breach: Fraction
    """Its breach probability now, for an adversary who knows the group and one of the values."""

    before: Fraction | None
    """The same before the last release that changed the group; None if there was none."""

    permitted: int | None
    """How many further rows would be admitted one after the other; None if there is no end."""

    @property
    def ratio(self) -> float | None:
        """By how much the last release raised it: (new − old) / old; None if that says nothing."""
        return None if not self.before else float(increment_ratio(self.before, self.breach))


@dataclass(frozen=True, eq=False)
class Headroom(Showable):
    """The combinations that were looked at, those closest to the limit first.

    How many rows are permitted counts rows of that combination alone. Rows of other
    combinations in the group make room for more.
    """

    alpha: float
    quasi_identifiers: tuple[str, ...]
    sensitive: tuple[str, ...]
    rooms: tuple[Room, ...]
    groups: int
    """How many groups there are; not all need be shown."""

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values that JSON can hold."""
        return {
            "alpha": self.alpha,
            "groups": self.groups,
            "rooms": [
                {
                    "group": dict(zip(self.quasi_identifiers, room.group, strict=True)),
                    "size": room.size,
                    "values": dict(zip(self.sensitive, room.values, strict=True)),
                    "which": room.which,
                    "breach": float(room.breach),
                    "before": None if room.before is None else float(room.before),
                    "ratio": room.ratio,
                    "permitted": room.permitted,
                }
                for room in self.rooms
            ],
        }

    def svg(self) -> str:
        """Draw what each combination told before the last release, and what it tells now."""
        from sfumato.drawing import bars_svg

        return bars_svg(
            [f"{join_values(room.group)}: {join_values(room.values)}" for room in self.rooms],
            [float(room.breach if room.before is None else room.before) for room in self.rooms],
            [float(room.breach) for room in self.rooms],
            title=f"Breach probabilities in the ledger; the limit is {self.alpha:g}",
        )

    @property
    def headline(self) -> str:
        """The number of groups, and the limit."""
        return f"{self.groups} groups, alpha {self.alpha:g}"

    def content(self) -> Content:
        """Return one line per combination, those closest to the limit first."""
        rows: list[list[Cell]] = [
            [
                join_values(room.group),
                room.size,
                join_values(room.values),
                room.which,
                Share(room.breach),
                "" if room.ratio is None else f"{100 * room.ratio:+.0f} %",
                "any number" if room.permitted is None else room.permitted,
            ]
            for room in self.rooms
        ]
        heads = (
            "group",
            "rows",
            "values",
            "which",
            Heading("tells", bar=15),
            "raised by",
            "more rows",
        )
        return Content(self.headline, (Table.of("", heads, rows, most=None),) if rows else ())

    def drawings(self) -> tuple[str, ...]:
        return (self.svg(),) if self.rooms else ()

    def __repr__(self) -> str:
        return f"<Headroom {self.headline}>"


def _closeness(room: Room) -> tuple[bool, int, Fraction]:
    return room.permitted is None, room.permitted or 0, -room.breach


def _require_known(named: Mapping[str, Value], known: tuple[str, ...], where: str) -> None:
    for name in named:
        if name not in known:
            raise UnknownColumnError(name, known, where=where)


def _is_in(state: GroupState, settings: Settings, group: Mapping[str, Value]) -> bool:
    labels = dict(zip(settings.quasi_identifiers, json.loads(state.key), strict=True))
    return all(key_of(labels[name]) == key_of(value) for name, value in group.items())


def _choose_combinations(
    state: GroupState,
    settings: Settings,
    combinations: Sequence[Mapping[str, Value]],
    waiting: Sequence[str],
) -> Iterator[tuple[Which, tuple[str, ...]]]:
    """Yield the combinations to look at, each once."""
    frequent = tuple(
        max(sorted(codes), key=lambda value, c=codes, r=rows: r[c[value]])  # type: ignore[misc]
        for codes, rows in zip(state.codes, state.rows, strict=True)
    )
    seen = {frequent}
    yield "most frequent", frequent
    asked = [
        tuple(
            key_of(named[name]) if name in named else usual
            for name, usual in zip(settings.sensitive, frequent, strict=True)
        )
        for named in combinations
    ]
    in_line = [tuple(key_of(value) for value in json.loads(row)) for row in waiting]
    for which, rows in (("asked", asked), ("waiting", in_line)):
        for row in rows:
            if row not in seen:
                seen.add(row)
                yield which, row  # type: ignore[misc]


def _room(
    state: GroupState,
    which: Which,
    row: tuple[str, ...],
    change: tuple[int, dict[tuple[int, str], int]],
    limit: Fraction,
) -> Room:
    codes = tuple(state.code(column, value) for column, value in enumerate(row))
    tally = state.tally()
    return Room(
        tuple(json.loads(state.key)),
        tally.size,
        tuple(json.loads(value) for value in row),
        which,
        tally.breach(codes)[1],
        _before(tally, row, codes, change),
        tally.permitted_rows(codes, limit),
    )


def _before(
    tally: Tally,
    row: tuple[str, ...],
    codes: tuple[int, ...],
    change: tuple[int, dict[tuple[int, str], int]],
) -> Fraction | None:
    """Return a breach probability as it was before the last release that changed the group."""
    grown, counts = change
    if not counts or tally.size == grown:
        return None
    earlier = (
        int(tally.counts[i][code]) - counts.get((i, value), 0)
        for i, (value, code) in enumerate(zip(row, codes, strict=True))
    )
    return likelihood_with_a_value(earlier, tally.size - grown)


@dataclass(frozen=True, eq=False)
class Contents(Showable):
    """What a ledger holds. Whole rows are not among it, not even those that wait."""

    alpha: float
    k: int
    created: str
    tables: GroupedTables
    release: int
    waiting: int
    with_policy: bool

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values that JSON can hold."""
        return {
            "alpha": self.alpha,
            "k": self.k,
            "created": self.created,
            "release": self.release,
            "rows": self.tables.total,
            "waiting": self.waiting,
            "policy": self.with_policy,
            "sensitive": list(self.tables.names),
            "groups": [
                {
                    "group": {name: text_or_none(v) for name, v in self.tables.group_at(g)},
                    "rows": int(size),
                }
                for g, size in enumerate(self.tables.sizes)
            ],
        }

    def content(self) -> Content:
        """Return what it was started with, and its largest groups."""
        groups = sorted(self.to_dict()["groups"], key=lambda group: -group["rows"])
        names = [column.name for column in self.tables.quasi_identifiers]
        rows = [
            (*("(missing)" if v is None else v for v in group["group"].values()), group["rows"])
            for group in groups
        ]
        policy = "with its policy" if self.with_policy else "without a policy"
        headline = (
            f"release {self.release}: {self.tables.total} rows in {len(groups)} groups, "
            f"{self.waiting} wait; alpha {self.alpha:g}, k {self.k}, started {self.created} "
            f"{policy}"
        )
        return Content(headline, (Table.of("", [*names, "rows"], rows),))


def history_content(entries: Sequence[dict[str, Any]]) -> Content:
    """Return one line per release of a ledger."""
    counted = ("joined", "left", "refused", "waiting")
    rows = [
        [
            str(entry["sequence"]),
            entry["time"],
            *(entry["rows"].get(name, 0) for name in counted),
            entry["hash"][:12],
        ]
        for entry in entries
    ]
    return Content("", (Table.of("", ["release", "time", *counted, "hash"], rows, most=None),))
