"""The ledger of a publisher: its first release, increments on it, and what it can be asked."""

import json
import secrets
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cached_property
from hashlib import sha256
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, NoReturn, TypedDict, Unpack

import numpy as np

from sfumato.attacks.composition import ComparedReleases, Composition
from sfumato.counts import Column, FrequencySet
from sfumato.dataclasses import dataclass
from sfumato.decouplings import BreakMerge
from sfumato.decouplings.base import GroupedTables
from sfumato.decouplings.likelihood import exact_limit, increment_ratio
from sfumato.errors import (
    InfeasibleError,
    InputError,
    ParameterError,
    PolicyError,
    UnknownColumnError,
    require_int,
    require_number,
    require_text,
    some,
)
from sfumato.evidence.keys import Key
from sfumato.files.private import refuse_inside_release
from sfumato.hierarchy import Ladder
from sfumato.ledger import chain, pending, records
from sfumato.ledger.admission import MISSING, SeenTogether, count_of_next, count_room
from sfumato.ledger.buckets import EVERYBODY
from sfumato.ledger.identity import Identity, person_column, write_likenesses
from sfumato.ledger.increment import count_owners, people_in, require_group_models
from sfumato.ledger.placing import (
    find_places,
    find_sole_places,
    forget_values,
    is_one_cut,
    record_ladder,
)
from sfumato.ledger.publishing.buckets import (
    DealtRelease,
    read_dealt,
    record_people_of_buckets,
    refuse_buckets_above,
    smallest_bucket,
)
from sfumato.ledger.publishing.increments import (
    IncrementJob,
    Publication,
    note_rows,
    now,
    tabulate,
)
from sfumato.ledger.publishing.outputs import IncrementOutput, choose_output
from sfumato.ledger.publishing.overview import Overview, read_overview
from sfumato.ledger.records import (
    CellState,
    Codes,
    Harmless,
    groups_above,
    start_tables,
    stored_policy,
)
from sfumato.ledger.remedies import find_remedy
from sfumato.ledger.repeats import GivenRows
from sfumato.ledger.store import (
    ANY,
    MOST_EACH,
    WAIT,
    RowsPerPerson,
    Settings,
    key_of,
    ledgers_of,
    new_ledger,
    reading,
    split_keys,
)
from sfumato.ledger.waiting import smallest_lot
from sfumato.policy import GivenPolicy, Policy, policy_of
from sfumato.recode.deciding import count_population, counted_columns, decide, ladders_of
from sfumato.releases.drawn import require_rows_of_people
from sfumato.releases.line_breaks import count_line_breaks_of_groups, warn_of_line_breaks
from sfumato.releases.manifest import Manifest, Promise, promised_class_size
from sfumato.releases.opening import Published, PublishedTable, open_release
from sfumato.releases.preparing import open_original
from sfumato.releases.release import GivenTables, is_stored, public_name
from sfumato.releases.spellings import warn_of_spellings
from sfumato.schema import Role
from sfumato.showing.content import (
    Cell,
    Content,
    ContentTable,
    Heading,
    Share,
    Showable,
    join_values,
)
from sfumato.tables import Table
from sfumato.tables.formats import require_format
from sfumato.text import percent, text_or_none
from sfumato.typing import Value, silent

if TYPE_CHECKING:
    from sfumato.ledger.publishing.streams import StreamPublication


class PublishOptions(TypedDict, total=False):
    """What `Ledger.delete` and `Ledger.correct` take besides their rows; see `Ledger.publish`."""

    output: str | PathLike[str] | None
    whole: bool
    again: bool
    at_once: bool
    say_left: bool
    dry_run: bool
    format: str | None
    wait: float
    key: Key | None
    even_so: bool
    head: str | None
    seed: int | None


class Ledger:
    """A publisher's private record of what was released, on which later releases grow.

    It is started from a decoupled release with `alpha`. New rows, raw or generalised like the
    release, are *admitted*, or *wait* until they can be published with others; so do people who
    are to leave, to move to another group, or to be corrected.

    Promises, after every release and for every person who was ever published: an adversary who
    has all releases, knows in which of them the person was, the person's quasi-identifiers in each,
    and one of the sensitive values or none, believes no other value and no combination of values
    with more than alpha. Those who are seen together, because they joined or left in the same
    release, are at least k and keep the policy's models. Where people may have several rows
    (`rows_per_person`), the adversary knows how many the person has, and the limit is for the
    belief that any of them has a value; or, with "any", that one of them has it.

    A release of Anatomy is continued in buckets: exact rows of newcomers, each bucket with as many
    different values as the release promises. Nobody's value is believed with more than one in so
    many; a bucket never changes, and leaves as a whole.

    It holds if people are recognised: the policy names a person's column, and rows have it. Without
    it it holds as long as no person is given twice, or returns, and for an adversary who does
    not know who left. It says nothing against those who know the values of others in a group, who
    know whose value was corrected, or who reason about why a row waited; or who have the ledger
    itself. The ledger and the release are both written or neither is, whatever interrupts it: a
    release that is recorded and not visible yet gets its name at the next publish.

    Args:
        path: The file of a ledger that exists. It is private: rows that wait are in it.

    Example:
        >>> import pyarrow as pa, tempfile
        >>> import sfumato as sf
        >>> table = pa.table({"age": ["30s"] * 4, "ill": ["flu", "flu", "gout", "hiv"]})
        >>> release = sf.decouple(table, quasi_identifiers=["age"], sensitive=["ill"])
        >>> path = tempfile.mkdtemp() + "/clinic.ledger"
        >>> ledger = sf.Ledger.start(release, path, alpha=0.5, k=2)
        >>> print(ledger.started.headline)
        ledger started with 4 rows, alpha 0.5
        >>> new = pa.table({"age": ["30s"] * 3, "ill": ["gout", "flu", "flu"]})
        >>> print(ledger.publish(new).headline)
        release 2: 2 rows admitted, 0 refused, 1 held back; 1 wait in the ledger
        >>> ledger.verify()
        []
    """

    def __init__(self, path: str | PathLike[str]) -> None:
        self.path: Path = Path(path)
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
    def start(  # noqa: PLR0913 - all but two have a default and are named
        cls,
        release: object,
        path: str | PathLike[str],
        *,
        alpha: float,
        k: int | None = None,
        policy: GivenPolicy | None = None,
        source: object = None,
        above: bool = False,
        rows_per_person: RowsPerPerson | None = None,
        hide_waiting: bool = False,
    ) -> "Ledger":
        """Record a decoupled release in a new ledger.

        Args:
            release: Its folder, its first table in a database, what `sf.decouple` returned, or a
                `GroupedTables`.
            path: The file to make.
            alpha: The limit, above 0 and at most 1.
            k: The fewest rows of a group; None takes the k that is promised. Of buckets, how many
                values of each differ; at least 1/alpha.
            policy: The roles, hierarchies and models; new rows are generalised by it.
            source: The table the release was made of: for hierarchies that depend on it, and for
                the identifiers of its people.
            above: Start also if groups of the release tell more than alpha already. The promise
                does not hold for the people in them.
            rows_per_person: How many rows of a person may be published, over all releases: alpha
                then bounds what is believed of all of them together, and shares in a cell are
                smaller. Or "any": any number, and alpha bounds what is believed of each row by
                itself. None for one. More than one needs `person` and another identifier in the
                policy, which says which row of the person it is, and `source`. The first
                release has one row of each.
            hide_waiting: Keep what is learned by those who know who waits within alpha, too, for
                whoever expects at most alpha/2 of a value: newcomers of a group are decided on
                together and once, and those who cannot be published never are. Without it each
                publish says what waiting tells.
        """
        report = start_ledger(
            release,
            path,
            alpha,
            k,
            policy,
            source,
            above=above,
            rows_per_person=rows_per_person,
            hide_waiting=hide_waiting,
        )
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
        rows_per_person: RowsPerPerson | None = None,
    ) -> "Ledger":
        """Open a ledger that exists; raise if it was started with other settings than are given."""
        ledger = cls(path)
        ledger._require_same(alpha, k, _load(policy), rows_per_person)
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
    def rows_per_person(self) -> RowsPerPerson:
        """The largest number of rows that a person may have, or "any"."""
        return self._settings.rows_per_person or 1

    @property
    def quasi_identifiers(self) -> tuple[str, ...]:
        """The columns that make groups, or that are published as they are beside buckets."""
        return self._settings.known

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
        whole: bool = False,
        again: bool = False,
        at_once: bool = False,
        say_left: bool = False,
        dry_run: bool = False,
        format: str | None = None,  # noqa: A002 - the word users know
        wait: float = WAIT,
        key: Key | None = None,
        even_so: bool = False,
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
            whole: Write all tables and not only those of the newcomers. Always so if rows left.
            again: Publish an increment that was given before.
            at_once: Remove the rows of `delete` now, as the law may demand. If they cannot leave
                together with enough others, all people of their cell leave.
            say_left: Say in the manifest how many people of each group are counted although they
                left, so that `sf.estimate` can tell how many are there; writes all tables.
            dry_run: Decide and report, and change nothing.
            format: csv, parquet, feather, sav, dta or xlsx; None takes csv.
            wait: Seconds to wait for another publish on the same ledger.
            key: The private key to sign the release with, or its file; see `sf.evidence.keygen`.
                Where the answer of `sf.verify` is *no*, nothing is signed and nothing is published.
            even_so: Sign it although the answer is *no*.
            head: The hash that the last publish showed, as you kept it elsewhere: an old copy of
                the ledger, or a rewritten one, is refused by it.
            seed: Fixes all that is random, for tests; not for publication.
        """
        _require_options(seed, head, wait, format)
        tables = GivenTables(rows, delete, correct)
        if _is_release(rows, tables):
            raise InputError(
                f"{str(self.path)!r} is a ledger already, and {_describe(rows)} is a release, not "
                "new rows. Give the rows to add, or another name for a new ledger."
            )
        where = self._choose_output(output, tables, format, key, even_so=even_so)
        job = IncrementJob(
            self.path, where, whole, again, at_once, dry_run, wait, seed, head, say_left=say_left
        )
        return job.run(rows, delete, correct, tables)

    def publish_since(  # noqa: PLR0913 - all but two have a default and are named
        self,
        source: object,
        since: str,
        *,
        start: Value = None,
        until: Value = None,
        every: str | int | None = None,
        zone: str | None = None,
        stream: str = "",
        late: bool = False,
        output: str | PathLike[str] | None = None,
        whole: bool = False,
        dry_run: bool = False,
        format: str | None = None,  # noqa: A002 - the word users know
        wait: float = WAIT,
        key: Key | None = None,
        even_so: bool = False,
        head: str | None = None,
        seed: int | None = None,
    ) -> "StreamPublication":
        """Publish what is new in a source that grows, as one increment or window by window.

        The ledger remembers what it took, in the entry of each increment. A run that was
        interrupted goes on where it stopped, and one that finds nothing new changes nothing.

        Args:
            source: A table, as for `publish`, or a folder into which files are put.
            since: The column by which the table grows: a day, a time or a number that later rows
                have no smaller. `files` for a folder: files are taken in the order of their names.
            start: The first value, or file, that is new, or `beginning`. Needed the first time:
                the ledger cannot know what its first release held.
            until: Take only what is before this value, also if no later row is there yet.
            every: Cut what is new into one increment per whole day, week, month, quarter or year,
                per 1000 numbers (or another whole number), or per `file`. The last window is left
                until it is over.
            zone: The time zone of days and longer windows, for a column of times in a zone.
            stream: A name, if several sources are published on one ledger.
            late: Take rows, too, that came late, with values before what was taken. They are told
                from those that were taken by the people they name: the policy and the source
                must have identifiers.
            output: The folder in which each increment gets its folder, called after its window; or
                a name with `{window}` in it, such as `table:visits_{window}` in a database.
            whole: As for `publish`.
            dry_run: Decide on the first increment, list the others, and change nothing.
            format: As for `publish`.
            wait: As for `publish`.
            key: As for `publish`.
            even_so: As for `publish`.
            head: As for `publish`.
            seed: As for `publish`.
        """
        from sfumato.ledger.publishing.streams import StreamJob

        _require_options(seed, head, wait, format)
        job = StreamJob(
            self.path, since, stream, start, until, every, zone, late, output, whole, dry_run,
            format, wait, key, head, seed, even_so,
        )  # fmt: skip
        return job.run(source)

    def _choose_output(
        self,
        output: str | PathLike[str] | None,
        tables: GivenTables,
        form: str | None,
        key: Key | None,
        *,
        even_so: bool,
    ) -> IncrementOutput | None:
        """Return where a release goes; raise if the ledger would lie inside it."""
        where = choose_output(output, tables, form, key, even_so=even_so)
        refuse_inside_release(
            self.path, "the ledger", output=None if where is None else where.folder
        )
        return where

    def delete(self, rows: object, **options: Unpack[PublishOptions]) -> Publication:
        """Remove rows, given as they were published or raw; options as of `publish`."""
        return self.publish(delete=rows, **options)

    def correct(self, rows: object, **options: Unpack[PublishOptions]) -> Publication:
        """Change rows: columns as they should be, `old_…` what was published; see `publish`."""
        return self.publish(correct=rows, **options)

    def generalise(  # noqa: PLR0913 - all but one have a default and are named
        self,
        levels: Mapping[str, int],
        *,
        output: str | PathLike[str] | None = None,
        dry_run: bool = False,
        format: str | None = None,  # noqa: A002 - the word users know
        wait: float = WAIT,
        key: Key | None = None,
        even_so: bool = False,
        head: str | None = None,
        seed: int | None = None,
    ) -> Publication:
        """Generalise all groups further, and publish all tables so: an epoch.

        Labels only get coarser, so nothing is told that was not known; but people who wait in
        several groups may be enough in one.

        Args:
            levels: The new level of some quasi-identifiers, as `{"age": 2}`.
            output: As for `publish`; a folder.
            dry_run: As for `publish`.
            format: As for `publish`.
            wait: As for `publish`.
            key: As for `publish`.
            even_so: As for `publish`.
            head: As for `publish`.
            seed: As for `publish`.
        """
        _require_options(seed, head, wait, format)
        if not levels:
            raise ParameterError("levels", levels, "the new level of a quasi-identifier")
        tables = GivenTables(None, None, None)
        where = self._choose_output(output, tables, format, key, even_so=even_so)
        job = IncrementJob(
            self.path,
            where,
            dry_run=dry_run,
            wait=wait,
            seed=seed,
            head=head,
            levels=dict(levels),
        )
        return job.run(None, None, None, tables)

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
            group: Only groups with these labels, as `{"age": "30 to 39"}`.
            most: Return at most this many, those closest to the limit.
        """
        if most is not None:
            require_int("most", most, at_least=1)
        rooms: list[Room] = []
        with chain.reading(self.path) as db:
            settings = Settings.load(db)
            for asked in combinations:
                _require_known(asked, settings.sensitive, "the sensitive columns")
            _require_known(group or {}, settings.quasi_identifiers, "the quasi-identifiers")
            everybody = settings.exact and EVERYBODY
            waiting: dict[str, list[tuple[str, int]]] = {}
            for labels, row, rows in db.execute(
                "SELECT labels, row, SUM(rows) FROM waiting WHERE kind = 'add' GROUP BY 1, 2"
            ):
                waiting.setdefault(everybody or labels, []).append((row, rows))
            harmless = _harmless(settings)
            groups = records.all_states(db, harmless)
            for labels in dict.fromkeys([*groups, *waiting]):
                if _is_in(labels, settings, group or {}):
                    cells = _Cells(labels, groups.get(labels, ()), waiting.get(labels, ()))
                    rooms += cells.rooms(settings, harmless, combinations)
        if group and not rooms:
            raise InputError(
                f"the ledger has no group with {dict(group)!r}. See: sfumato ledger show"
            )
        rooms.sort(key=_closeness)
        return Headroom(
            settings.alpha,
            settings.quasi_identifiers,
            settings.sensitive,
            tuple(rooms[:most]),
            len(groups),
            float(settings.limit),
            _fewest(settings),
        )

    def find(self, people: Iterable[Value | tuple[Value, ...]]) -> "list[Whereabouts]":
        """Return where each of some people is: published, gone or waiting.

        Args:
            people: The identifier of each. Where people may have several rows, a tuple for each
                row: the person's first, then the others in the order of the policy.
        """
        with chain.reading(self.path) as db:
            settings = Settings.load(db)
            identity = Identity.of(settings, stored_policy(settings))
            if identity is None:
                raise InputError(
                    "the ledger recognises no person: its policy names no identifiers. Start one "
                    "with a policy that does, and give rows that have them."
                )
            given = [each if isinstance(each, tuple) else (each,) for each in people]
            wrong = [each for each in given if len(each) != len(identity.columns)]
            if wrong:
                names = some(identity.columns, most=20)
                raise ParameterError("people", wrong[0], f"values of {names}")
            marks = identity.marks(given)
            known = people_in(db, dict.fromkeys(mark for mark in marks if mark))
            numbers = dict(db.execute("SELECT id, label FROM cells").fetchall())
            waits = dict(
                db.execute("SELECT person, kind FROM waiting WHERE person <> ''").fetchall()
            )
        return [
            Whereabouts(
                None if mark not in known else numbers[known[mark].cell],
                None if mark not in known else known[mark].joined,
                (known[mark].left or None) if mark in known else None,
                waits.get(mark),
            )
            for mark in marks
        ]

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

    def compact(self, *, wait: float = WAIT, head: str | None = None) -> int:
        """Remove the exact values that are not needed any more, and return how many they were.

        To give a value the same label each time, a ledger keeps the values that came, also of
        people who were withdrawn or erased. Where the policy gives the same labels without them,
        they are removed. What stays is listed in the documentation of increments.

        Args:
            wait: As for `publish`.
            head: As for `publish`.
        """
        _require_options(None, head, wait, None)
        with chain.writing(self.path, wait=wait, head=head) as db:
            settings = Settings.load(db)
            removed = forget_values(db, settings, stored_policy(settings))
            [last] = db.execute("SELECT MAX(sequence) FROM releases").fetchone()
            entry = {
                "sequence": int(last) + 1,
                "kind": "compact",
                "time": now(),
                "files": "",
                "rows": {"joined": 0, "left": 0, "refused": 0},
            }
            chain.append(db, entry)
        return removed

    def contents(self, release: int | None = None) -> "Contents":
        """Return what it was started with, and its tables now or after some release."""
        with chain.reading(self.path) as db:
            settings = Settings.load(db)
            [last] = db.execute("SELECT MAX(sequence) FROM releases").fetchone()
            [waiting] = db.execute(
                "SELECT COALESCE(SUM(rows), 0) FROM waiting WHERE kind <> 'aside'"
            ).fetchone()
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
            settings.rows_per_person,
        )

    def overview(self) -> Overview:
        """Return its releases, who joined in each, and who waits, as tables and a timeline."""
        with chain.reading(self.path) as db:
            settings = Settings.load(db)
            return read_overview(db, settings, _harmless(settings))

    def compare(self, earlier: int, later: int) -> ComparedReleases:
        """Return what two of its releases tell together."""
        with chain.reading(self.path) as db:
            settings = Settings.load(db)
            tables = [records.at(db, settings, each) for each in (earlier, later)]
        harmless = _harmless(settings)
        return Composition(settings.told, settings.k).run(
            *tables,
            numbered=True,
            harmless=lambda column, value: harmless.has(column, json.dumps(value)),
        )

    def _require_same(
        self,
        alpha: float | None,
        k: int | None,
        policy: Policy | None,
        rows_per_person: RowsPerPerson | None,
    ) -> None:
        asked_for = {"alpha": alpha, "k": k, "policy": policy, "rows_per_person": rows_per_person}
        if all(value is None for value in asked_for.values()):
            return
        own: dict[str, object] = {
            "alpha": self.alpha,
            "k": self.k,
            "policy": self.policy,
            "rows_per_person": self.rows_per_person,
        }
        if policy is not None:
            asked_for["policy"] = Policy.from_yaml(policy.to_yaml(), folder=Path.cwd())
        for name, value in asked_for.items():
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


def _require_options(seed: int | None, head: str | None, wait: float, form: str | None) -> None:
    if seed is not None:
        require_int("seed", seed, at_least=0)
    if head is not None:
        require_text("head", head)
    require_number("wait", wait, at_least=0)
    if form is not None:
        require_format(form)


def _harmless(settings: Settings) -> Harmless:
    return Harmless.of(stored_policy(settings), settings.sensitive)


def _load(policy: GivenPolicy | None) -> Policy | None:
    if isinstance(policy, str | PathLike):
        # The whole path, so that files it names are found from any folder.
        policy = Path(policy).expanduser().resolve()
    return policy_of(policy)


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


def start_ledger(  # noqa: PLR0913 - all but three have a default
    data: object,
    path: str | PathLike[str],
    alpha: float | None,
    k: int | None = None,
    policy: GivenPolicy | None = None,
    source: object = None,
    *,
    above: bool = False,
    dry_run: bool = False,
    rows_per_person: RowsPerPerson | None = None,
    hide_waiting: bool = False,
) -> Publication:
    """Start a ledger from a decoupled release, or only report on it; see `Ledger.start`."""
    if not str(path):
        raise ParameterError("path", path, "the name of a file")
    if alpha is None:
        raise ParameterError(
            "alpha",
            None,
            "a number above 0 and at most 1",
            why="a new ledger needs its limit, the highest probability of a value",
        )
    refuse_inside_release(path, "the ledger")
    exact_limit(alpha)
    if k is not None:
        require_int("k", k, at_least=1)
    policy = _load(policy)
    several = _require_rows_per_person(rows_per_person, policy, source)
    first = _open_decoupled(data)
    grouped, manifest, origin, dealt = first
    if dealt is not None and several is not None:
        raise InputError(
            "where people may have several rows, no ledger can be kept of buckets: who knows a "
            "person's quasi-identifiers finds each bucket with a row of the person, and a value "
            f"that stays the same is in all of them. Decouple by {BreakMerge.name!r}, or publish "
            "one row per person: sf.widen."
        )
    _require_policy(policy, first)
    _require_people(policy, source, hide_waiting=hide_waiting)
    exact = () if policy is None else policy.exact
    spelt = [t.column for t in grouped.sensitive if t.column.name not in exact]
    # What is limited are values, so each has one spelling in a ledger.
    grouped = grouped.fold([column.name for column in spelt])
    settings = replace(
        _settings(grouped, manifest, alpha, k, policy),
        rows_per_person=several,
        hide_waiting=hide_waiting,
    )
    harmless = Harmless.of(policy, settings.sensitive)
    exceeding = tuple(groups_above(grouped, settings.limit, harmless))
    if exceeding and not above:
        _refuse_groups_above(exceeding, first, settings, harmless, policy, source)
    if dealt is not None:
        settings = replace(settings, k=smallest_bucket(alpha, k, dealt), exact=dealt.exact)
    head, recognised = "", 0
    if not dry_run:
        with new_ledger(Path(path), several=settings.several) as db:
            settings.save(db)
            start_tables(db, grouped, np.random.default_rng(secrets.randbits(128)))
            if source is not None and policy is not None:
                _record_source(db, settings, policy, source, first)
            [recognised] = db.execute("SELECT COUNT(*) FROM people").fetchone()
            if settings.several:
                _require_recognised(db, recognised, grouped.total)
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
            chain.seal_file(db)
    text = (
        f"{len(exceeding)} groups have a value above alpha already: the ledger does not protect "
        "the people in them"
    )
    return Publication(
        Path(path),
        1,
        alpha,
        settings.sensitive,
        grouped.total,
        grouped.total,
        above=exceeding,
        tables=grouped,
        head=head,
        dry_run=dry_run,
        warnings=(
            *((text,) if exceeding else ()),
            *_warn_of_strangers(recognised, grouped.total, policy),
            *_warn_of_other_ledgers(Path(path), manifest, origin),
            *warn_of_line_breaks(count_line_breaks_of_groups(grouped)),
            *warn_of_spellings(spelt),
        ),
    )


def _require_rows_per_person(
    given: RowsPerPerson | None, policy: Policy | None, source: object
) -> RowsPerPerson | None:
    """Return how many rows people may have, None for one; raise if they cannot be told apart."""
    if given is None:
        return None
    whole = isinstance(given, int) and not isinstance(given, bool) and 1 <= given <= MOST_EACH
    if not whole and given != ANY:
        raise ParameterError(
            "rows_per_person", given, f"a whole number from 1 to {MOST_EACH}, or {ANY!r}"
        )
    if given == 1:
        return None
    column = None if policy is None or policy.person is None else policy.person.column
    if policy is None or column is None or source is None:
        raise InputError(
            "where people may have several rows, a ledger must know whose each is. Give a policy "
            "that names the column, as in person: patient (--policy), and the table of the first "
            "release (--data, source=...)."
        )
    names = policy.with_role(Role.IDENTIFIER)
    if column not in names or len(names) == 1:
        raise InputError(
            "where people may have several rows, a ledger must know whose each is, and which row "
            f"of the person: the policy must have the identifiers {column!r} and another one, "
            "such as the number of the visit. It has "
            f"{some(names, most=20) if names else 'none'}. Add such a column to the data."
        )
    for model in policy.models:
        if not model.merging.closed:
            raise PolicyError(
                f"a ledger in which people may have several rows cannot keep {model}: a person may "
                "be in several cells of a group, and the model is asked of the group as a whole. "
                "Start the ledger with a policy without it."
            )
    return given


def _require_recognised(db: sqlite3.Connection, recognised: int, rows: int) -> None:
    """Raise if it is not known whose each row of the first release is, or people have several."""
    people = count_owners(db)
    if people < recognised:
        raise InputError(
            f"the first release has {recognised} rows of {people} people. A ledger in which people "
            "may have several rows starts from one row of each, and takes the others as an "
            "increment."
        )
    if recognised < rows:
        raise InputError(
            f"it is not known whose {rows - recognised} of the {rows} rows of the first release "
            "are. Where people may have several rows, the table of --data must be the one it "
            "was made of, without rows that were suppressed, with all identifiers, and values "
            "generalised to the same level in all rows."
        )


def _warn_of_strangers(recognised: int, people: int, policy: Policy | None) -> tuple[str, ...]:
    """Return a warning if people of the first release are not recognised when they come again."""
    if recognised == people:
        return ()
    advice = (
        "give their identifiers in the table it was made of (--data, source=...)"
        if policy is not None and person_column(policy) is not None
        else "start the ledger with a policy that names identifiers (--policy, --data)"
    )
    text = (
        f"{people - recognised} people of the first release are not recognised if they come again "
        f"or leave: {advice}. Else what is promised holds if no person is given twice or returns"
    )
    return (text,)


def _refuse_groups_above(
    exceeding: Sequence[tuple[tuple[str | None, ...], Fraction]],
    first: "_FirstRelease",
    settings: Settings,
    harmless: Harmless,
    policy: Policy | None,
    source: object,
) -> NoReturn:
    """Raise because groups of the first release tell more than alpha."""
    grouped = first.tables
    silent = _tell_silent(grouped, harmless)
    if first.dealt is not None:
        share = max(share for _, share in exceeding)
        refuse_buckets_above(share, len(exceeding), len(grouped), settings.alpha, silent)
    remedy = find_remedy(grouped, settings, harmless, _ladders(settings, policy, source)) + silent
    allowed = f"alpha {settings.alpha:g}"
    if isinstance(settings.rows_per_person, int):
        allowed = (
            f"{percent(float(settings.limit))}, which is {allowed} of "
            f"{settings.rows_per_person} rows together,"
        )
    raise InputError(
        f"in {len(exceeding)} of {len(grouped)} groups a value exceeds {allowed} already, up "
        f"to {percent(float(max(share for _, share in exceeding)))}, for example "
        f"{some([join_values(labels) for labels, _ in exceeding])}. {remedy} Or choose a larger "
        "alpha, name the harmless values in the policy, or start without a promise for the "
        "people in these groups: --above (above=True)."
    )


def _tell_silent(grouped: GroupedTables, harmless: Harmless) -> str:
    """Return what to do about values that say nothing, and were counted where groups were made."""
    for i, table in enumerate(grouped.sensitive):
        silent = [v for v in table.column.values if harmless.is_silent(i, key_of(v))]
        if silent:
            name, codes = table.column.name, some(silent)
            return (
                f" Cells that say nothing hide nobody, and models count them as values: let the "
                f"policy say that {codes} is missing (missing_codes of {name!r})."
            )
    return ""


def _ladders(settings: Settings, policy: Policy | None, source: object) -> dict[str, Ladder]:
    """Build the hierarchies of a release from the table it was made of; none without it."""
    if policy is None or source is None:
        return {}
    names = settings.quasi_identifiers
    counts = open_original(source, policy, (*names, *settings.sensitive)).count(names)
    return ladders_of(policy, counts, names)


def _require_people(policy: Policy | None, source: object, *, hide_waiting: bool) -> None:
    """Raise if a policy names whom rows are of, and nothing says it of the first release."""
    person = None if policy is None else person_column(policy)
    if hide_waiting and person is None:
        raise InputError(
            "who waits can be hidden only where people are recognised: one who is decided on must "
            "not come again. Give a policy that names the person's column (--policy), and the "
            "table of the first release (--data)."
        )
    if person is not None and source is None:
        raise InputError(
            f"the policy says that {person!r} names a person, and nothing says who the people of "
            "the first release are: they could be published again. Give the table that the "
            "release was made of (--data, source=...), or, if no person will ever come again or "
            "leave, a policy without identifiers."
        )


def _warn_of_other_ledgers(path: Path, manifest: Manifest | None, origin: str) -> tuple[str, ...]:
    """Return warnings if the people of a release are in another ledger already."""
    found = [each.name for each in ledgers_of(path.parent, origin) if each.name != path.name]
    record = None if manifest is None else manifest.increment
    danger = "who is added to both is published twice. Go on with one of them"
    return (
        *(
            [f"a ledger beside this one has the same first release ({some(found)}): {danger}"]
            * bool(found)
        ),
        *([f"it is release {record.sequence} of another ledger: {danger}"] if record else []),
    )


class _FirstRelease(NamedTuple):
    """The release that a ledger starts with."""

    tables: GroupedTables
    manifest: Manifest | None
    origin: str = ""
    """A hash of it."""

    dealt: DealtRelease | None = None
    """The same in buckets, if it is one of those."""


def _open_decoupled(data: object) -> _FirstRelease:
    """Return a decoupled release."""
    release = None if data is None else open_release(data)
    what = "None" if data is None else _describe(data)
    if release is not None:
        require_rows_of_people(release, "whom a ledger could be kept of")
    if release is not None and release.kind.why_no_ledger is not None:
        _require_kept(release, what)
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
            "and decouple it first: sfumato anonymize, then sfumato decouple. New rows are added "
            "to a ledger that exists with sfumato ledger add."
        )
    first = _require_kept(release, what)
    manifest = first.manifest
    if manifest is not None and manifest.drawn is not None:
        raise InputError(
            f"a ledger keeps who is in which group, and {what} has noisy counts: no row is a "
            "person's. Publish the people without noise, or each table of them within the budget "
            "of an account: sfumato account."
        )
    if manifest is not None and manifest.increment and manifest.increment.tables == "newcomers":
        raise InputError(
            f"{what} holds those who joined a ledger in its release {manifest.increment.sequence}: "
            "they are in that ledger, and would be published twice. Add to that ledger, or start "
            "one from a release of all its tables (--whole)."
        )
    if release.folder is not None:
        return first._replace(origin=pending.folder_hash(release.folder))
    if release.stored is None or manifest is None:
        return first
    # There is no checksum of tables in a database.
    return first._replace(origin=sha256(manifest.to_json().encode()).hexdigest())


def _require_kept(release: Published, what: str) -> _FirstRelease:
    """Return a release; raise if its promises do not hold, or no ledger can be kept of it.

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
    files = () if release.record is None else release.record.files
    tables = [file.columns for file in files if file.columns is not None]
    why = release.kind.refuse_ledger(tables, release.sensitive)
    if why is not None:
        raise InputError(
            f"a ledger cannot be kept of {what}, which is decoupled by {release.kind.name!r}: "
            f"{why}. Decouple the table by {BreakMerge.name!r}. If people join and never leave, no "
            "ledger is needed: decouple the newcomers by themselves, each person in one release "
            "only, and what each release promises holds for its people."
        )
    if release.kind.dealt:
        assert manifest is not None  # noqa: S101 - nothing else says that people were dealt
        dealt = read_dealt(release, manifest, what)
        return _FirstRelease(dealt.tables, manifest, dealt=dealt)
    grouped = release.groups
    counted = (np.bincount(t.group, t.rows, len(grouped)) for t in grouped.sensitive)
    if not all(np.array_equal(rows, grouped.sizes) for rows in counted):
        raise InputError(
            "the tables of groups do not count every row once, so a ledger cannot start from "
            "them. Give what sf.decouple returned."
        )
    return _FirstRelease(grouped, manifest)


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


def _require_policy(policy: Policy | None, first: "_FirstRelease") -> None:
    """Raise if a policy is not that of a release, or has a model that its groups cannot keep."""
    grouped, dealt = first.tables, first.dealt
    if policy is None:
        return
    known = [column.name for column in grouped.quasi_identifiers]
    _require_same_columns(policy, known if dealt is None else dealt.exact, grouped.names)
    if dealt is None:
        # Buckets keep none of its models, but what they promise themselves.
        require_group_models(policy)


def _require_same_columns(policy: Policy, known: Sequence[str], secret: Sequence[str]) -> None:
    for what, mine, theirs in (
        ("quasi-identifiers", known, policy.quasi_identifiers),
        ("sensitive columns", secret, policy.sensitive),
    ):
        if set(mine) != set(theirs):
            raise InputError(
                f"the policy has the {what} {some(theirs, most=20)}, the release has "
                f"{some(mine, most=20)}. Give the policy the release was made with."
            )


def _record_source(
    db: sqlite3.Connection,
    settings: Settings,
    policy: Policy,
    source: object,
    first: _FirstRelease,
) -> None:
    names = (*settings.known, *settings.sensitive)
    table = open_original(source, policy, names)
    if first.dealt is None:
        _record_ladders(db, settings, policy, table, first.tables)
    identity = Identity.of(settings, policy)
    if identity is not None:
        if not identity.is_in(table):
            raise InputError(
                f"the table of --data has no {some(identity.columns, most=20)}, so it is not known "
                "who the people of the first release are: they could be published again. Give it "
                "with its identifiers, or start with a policy without them."
            )
        if first.dealt is None:
            _record_people(db, settings, policy, table, identity)
        else:
            folded = settings.sensitive[0] not in policy.exact
            record_people_of_buckets(db, settings, table, identity, first.dealt, folded=folded)
    elif set(names) <= set(table.columns):
        added = GivenRows()
        counts = table.count(names)
        note_rows(added, settings, *tabulate(counts, names), counts.rows)
        added.write(db, 1)


def _record_ladders(
    db: sqlite3.Connection,
    settings: Settings,
    policy: Policy,
    table: Table,
    grouped: GroupedTables,
) -> None:
    """Write down how the values of the first release were generalised."""
    counts = table.count(settings.quasi_identifiers)
    ladders = ladders_of(policy, counts, settings.quasi_identifiers)
    if not all(_has_labels(ladders.get(each.name), each) for each in grouped.quasi_identifiers):
        # They were built for the published rows, and others make a difference.
        ladders = ladders_of(policy, _published(policy, table, counts), settings.quasi_identifiers)
    for column, name in enumerate(settings.quasi_identifiers):
        if name in ladders:
            record_ladder(db, column, ladders[name])


def _has_labels(ladder: Ladder | None, shown: Column) -> bool:
    """Return whether a hierarchy has all labels of a column."""
    if ladder is None:
        return True
    known = {text_or_none(label) for labels in ladder.labels for label in labels}
    return all(text_or_none(label) in known for label in shown.known)


def _published(policy: Policy, table: Table, counts: FrequencySet) -> FrequencySet:
    """Return the rows of a source that its release has; all rows if that cannot be found out."""
    columns = counted_columns(policy)
    if not {*columns} <= {*table.columns} or policy.perturbations:
        return counts
    whole = table.count(columns)
    population = count_population(policy, silent)
    rng = np.random.default_rng(secrets.randbits(128))
    try:
        decision = decide(policy, policy, whole, population, rng=rng, report=silent)
    except InfeasibleError:
        return counts
    return decision.published_rows(whole).project(counts.names)


def _record_people(
    db: sqlite3.Connection,
    settings: Settings,
    policy: Policy,
    table: Table,
    identity: Identity,
) -> None:
    """Write down in which cell of the first release each person is; raise if that is not known.

    A group of which the table has more or fewer people than the release holds others, or some who
    were suppressed. And where values were generalised to different levels, a person may fit
    several groups. A person who is not recognised could be published again.
    """
    counts = table.count((*identity.columns, *settings.quasi_identifiers))
    who, at = tabulate(counts, identity.columns)
    columns = [[known[i] for i in code] for known, code in zip(who, at.tolist(), strict=True)]
    people = list(zip(*columns, strict=True))
    marks = identity.marks(people)
    one_cut = all(is_one_cut(db, column) for column in range(len(settings.quasi_identifiers)))
    find = find_places if one_cut else find_sole_places
    keys, place = find(db, settings, policy, *tabulate(counts, settings.quasi_identifiers))
    there = np.bincount(place + 1, counts.rows, len(keys) + 1)[1:].astype(np.int64).tolist()
    given = dict(zip(keys, there, strict=True))
    cells, lost = {}, 0
    for labels, number, size, n in db.execute(
        "SELECT labels, MIN(id), SUM(rows), COUNT(*) FROM current GROUP BY labels"
    ):
        cells[labels] = number
        lost += size if n > 1 or given.get(labels, 0) != size else 0
    if lost:
        _refuse_strangers(lost, one_cut=one_cut)
    cell = np.array([cells.get(key, 0) for key in keys] + [0], dtype=np.int64)[place]
    published = [i for i in np.flatnonzero(cell).tolist() if marks[i]]
    found = {marks[i]: int(cell[i]) for i in published}
    rows = int(counts.rows[published].sum())
    if len(found) < rows and not settings.several:
        raise InputError(
            f"the first release has {rows} rows of {len(found)} people. Publish one row of each, "
            "or start the ledger with --rows-per-person (rows_per_person=...)."
        )
    db.executemany(
        "INSERT INTO people VALUES (?, ?, 1, 0)",
        sorted((bytes.fromhex(mark), number) for mark, number in found.items()),
    )
    names = [people[i][0] for i in published]
    looks = dict(zip(identity.people(names), identity.likenesses(names), strict=True))
    write_likenesses(db, looks)


def _refuse_strangers(lost: int, *, one_cut: bool) -> NoReturn:
    """Raise because it is not known who some people of the first release are."""
    why = (
        "the table of --data has more or fewer people in their groups than the release"
        if one_cut
        else "values were generalised to different levels, so that their rows fit several groups, "
        "or rows were suppressed in them"
    )
    raise InputError(
        f"it is not known who {lost} people of the first release are: {why}. They could be "
        "published again. Give the table that the release was made of, without rows that were "
        "suppressed (--data, source=...); recode it by a full-domain method; or, if no person will "
        "ever come again or leave, start with a policy without identifiers."
    )


@dataclass(frozen=True)
class Whereabouts:
    """Where a person is in a ledger."""

    group: int | None
    """The number under which the person is published, or was last; None if never."""

    joined: int | None
    """The release in which the person joined."""

    left: int | None
    """The release in which the person left; None if not."""

    waits: str | None = None
    """What the person waits for: add, remove or correct; None for nothing."""


# Headroom: how many more rows the groups take.


Which = Literal["most frequent", "asked", "waiting"]


@dataclass(frozen=True)
class Room:
    """One combination of values in one group: what it tells, and how many more may have it."""

    group: tuple[str | None, ...]
    size: int
    """How many people are published in it."""

    cells: int
    """In how many releases they joined."""

    values: tuple[str | None, ...]
    which: Which
    """Why it is looked at: its values are the likeliest of the group, it was asked for, or rows
    wait for it."""

    breach: Fraction
    """The largest share that one of its values has in any of the cells."""

    waiting: int
    """How many rows wait to join the group."""

    permitted: int | None
    """How many more of the combination may join with those that wait; None if there is no end."""

    of_next: int
    """How many of the next newcomers, as many as make a cell with those that wait, may have it."""

    ratio: Fraction | None
    """By how much one more row raises the product of the values' shares in the whole group,
    relative to what it was: the increment ratio of the literature. None if it was 0."""


@dataclass(frozen=True, eq=False)
class Headroom(Showable):
    """The combinations that were looked at, those closest to the limit first.

    Rows join as a cell of their own, so what is published already leaves no less room; but those
    who join together must hide each other.
    """

    alpha: float
    quasi_identifiers: tuple[str, ...]
    sensitive: tuple[str, ...]
    rooms: tuple[Room, ...]
    groups: int
    """How many groups there are; not all need be shown."""

    limit: float
    """The largest share of a value: alpha, or what it leaves for each of a person's rows."""

    cell: int
    """The fewest newcomers that make a cell."""

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values that JSON can hold."""
        return {
            "alpha": self.alpha,
            **({} if self.limit == self.alpha else {"limit": self.limit}),
            "groups": self.groups,
            "rooms": [
                {
                    "group": dict(zip(self.quasi_identifiers, room.group, strict=True)),
                    "size": room.size,
                    "cells": room.cells,
                    "values": dict(zip(self.sensitive, room.values, strict=True)),
                    "which": room.which,
                    "breach": float(room.breach),
                    "waiting": room.waiting,
                    "permitted": room.permitted,
                    "of_next": room.of_next,
                    "increment_ratio": None if room.ratio is None else float(room.ratio),
                }
                for room in self.rooms
            ],
        }

    def svg(self) -> str:
        """Draw what the likeliest value of each combination tells."""
        from sfumato.showing.charts import shares_svg

        return shares_svg(
            [f"{join_values(room.group)}: {join_values(room.values)}" for room in self.rooms],
            {"now": [float(room.breach) for room in self.rooms]},
            title=f"What the ledger reveals; the limit is {self.limit:g}",
            looks=("now",),
        )

    @property
    def headline(self) -> str:
        """The number of groups, and the limit."""
        each = "" if self.limit == self.alpha else f", which leaves {self.limit:.3g} for a row"
        if not self.quasi_identifiers:
            each = f", buckets of {round(1 / self.limit)}"
        return f"{self.groups} groups, alpha {self.alpha:g}{each}"

    def content(self) -> Content:
        """Return one line per combination, those closest to the limit first."""
        rows: list[list[Cell]] = [
            [
                join_values(room.group),
                room.size,
                room.cells,
                join_values(room.values),
                room.which,
                Share(room.breach),
                room.waiting,
                "any number" if room.permitted is None else room.permitted,
                f"{room.of_next} of {max(self.cell - room.waiting, 1)}",
                "" if room.ratio is None else f"{float(room.ratio):+.2f}",
            ]
            for room in self.rooms
        ]
        heads = (
            "group",
            "rows",
            "cells",
            "values",
            "which",
            Heading("tells", bar=15),
            "waiting",
            "more rows",
            "of next",
            "ratio",
        )
        return Content(
            self.headline, (ContentTable.of("", heads, rows, most=None),) if rows else ()
        )

    def drawings(self) -> tuple[str, ...]:
        return (self.svg(),) if self.rooms else ()

    def __repr__(self) -> str:
        return f"<Headroom {self.headline}>"


def _closeness(room: Room) -> tuple[Fraction, int]:
    return -room.breach, -room.waiting


def _require_known(named: Mapping[str, Value], known: tuple[str, ...], where: str) -> None:
    for name in named:
        if name not in known:
            raise UnknownColumnError(name, known, where=where)


def _is_in(key: str, settings: Settings, group: Mapping[str, Value]) -> bool:
    labels = dict(zip(settings.quasi_identifiers, json.loads(key), strict=True))
    return all(key_of(labels[name]) == key_of(value) for name, value in group.items())


def _fewest(settings: Settings) -> int:
    """Return how many newcomers of a group make a cell."""
    return smallest_lot(settings.limit, settings.k) if settings.hide_waiting else settings.k


class _Cells:
    """The cells of one group, and the rows that wait to join it."""

    def __init__(
        self, labels: str, cells: Sequence[CellState], waiting: Sequence[tuple[str, int]]
    ) -> None:
        self.labels, self.cells, self.waiting = labels, cells, waiting

    def rooms(
        self,
        settings: Settings,
        harmless: Harmless,
        combinations: Sequence[Mapping[str, Value]],
    ) -> Iterator[Room]:
        """Yield the combinations to look at, each once."""
        shares = [self._shares(column) for column in range(len(settings.sensitive))]
        likeliest = tuple(
            max(sorted(each), key=each.__getitem__, default=key_of(None)) for each in shares
        )
        asked = [
            tuple(
                key_of(named[name]) if name in named else usual
                for name, usual in zip(settings.sensitive, likeliest, strict=True)
            )
            for named in combinations
        ]
        looked_at: dict[tuple[str, ...], Which] = {likeliest: "most frequent"} if self.cells else {}
        for row in asked:
            looked_at.setdefault(row, "asked")
        for key, _ in self.waiting:
            looked_at.setdefault(split_keys(key), "waiting")
        codes = Codes.of(harmless)
        part = self._count_waiting(codes)
        for row, which in looked_at.items():
            place = [codes.columns[column].get(value, -1) for column, value in enumerate(row)]
            yield Room(
                tuple(json.loads(self.labels)),
                sum(cell.record.rows for cell in self.cells),
                len(self.cells),
                tuple(json.loads(value) for value in row),
                which,
                max(
                    (each.get(value, Fraction(0)) for each, value in zip(shares, row, strict=True)),
                    default=Fraction(0),
                ),
                part.size,
                count_room(part, place, settings.limit),
                count_of_next(part, place, settings.limit, _fewest(settings)),
                self._ratio(row),
            )

    def _ratio(self, row: Sequence[str]) -> Fraction | None:
        """Return by how much one more row of a combination raises the likelihood in the group."""
        before = after = Fraction(1)
        for column, value in enumerate(row):
            known = mine = 0
            for cell in self.cells:
                rows, codes = cell.rows[column], cell.codes.columns[column]
                known += _count_said(cell, column)
                mine += rows.get(codes.get(value, -1), 0)
            if value == key_of(None):
                continue
            before *= Fraction(mine, known) if known else 0
            after *= Fraction(mine + 1, known + 1)
        return increment_ratio(before, after) if before else None

    def _shares(self, column: int) -> dict[str, Fraction]:
        """Return the largest share of each value of a column in any of the cells."""
        found: dict[str, Fraction] = {}
        for cell in self.cells:
            rows = cell.rows[column]
            known = _count_said(cell, column)
            for value, code in cell.codes.columns[column].items():
                harmless = cell.codes.harmless
                limited = not (harmless.has(column, value) or harmless.is_silent(column, value))
                if code != MISSING and limited and rows.get(code):
                    share = Fraction(rows[code], known)
                    found[value] = max(found.get(value, Fraction(0)), share)
        return found

    def _count_waiting(self, codes: Codes) -> SeenTogether:
        values = np.array([codes.encode(row) for row, _ in self.waiting], dtype=np.int64)
        values = values.reshape(len(self.waiting), len(codes.columns)).T
        return codes.empty().plus(values, np.array([n for _, n in self.waiting], dtype=np.int64))


def _count_said(cell: CellState, column: int) -> int:
    """Return of how many people of a cell a value of a column is said."""
    return sum(
        cell.rows[column].get(code, 0)
        for value, code in cell.codes.columns[column].items()
        if code != MISSING and not cell.codes.harmless.is_silent(column, value)
    )


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
    rows_per_person: RowsPerPerson | None = None
    """How many rows people may have; None if each row is a person."""

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values that JSON can hold."""
        return {
            "alpha": self.alpha,
            "k": self.k,
            **({} if self.rows_per_person is None else {"rows_per_person": self.rows_per_person}),
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
        each = "" if self.rows_per_person is None else f", rows per person {self.rows_per_person}"
        headline = (
            f"release {self.release}: {self.tables.total} rows in {len(groups)} groups, "
            f"{self.waiting} wait; alpha {self.alpha:g}, k {self.k}{each}, started {self.created} "
            f"{policy}"
        )
        return Content(headline, (ContentTable.of("", [*names, "rows"], rows),))


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
    return Content(
        "", (ContentTable.of("", ["release", "time", *counted, "hash"], rows, most=None),)
    )
