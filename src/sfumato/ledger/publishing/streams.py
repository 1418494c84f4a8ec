"""Increments from a source that grows: a table by one of its columns, or a folder by its files."""

import hashlib
import re
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

from sfumato.dataclasses import dataclass
from sfumato.errors import InputError, ParameterError, some
from sfumato.evidence.keys import Key
from sfumato.files.private import refuse_inside_release
from sfumato.ledger import chain, pending
from sfumato.ledger.publishing.increments import IncrementJob, NoNewPeopleError, Publication
from sfumato.ledger.publishing.outputs import FolderOutput, choose_output, finish_tables
from sfumato.ledger.store import WAIT, Settings
from sfumato.ledger.streams import (
    BEGINNING,
    FILES,
    FORMS,
    Intake,
    Period,
    Position,
    ValueForm,
    read_zone,
)
from sfumato.releases.manifest import MANIFEST
from sfumato.releases.release import GivenTables
from sfumato.showing.content import Cell, Content, ContentTable, Part, Sentence, Showable
from sfumato.tables import DatabaseTable, Extent, JoinedFiles, Table, Window
from sfumato.tables.capabilities import Windows, into_memory
from sfumato.tables.formats import data_endings
from sfumato.typing import Value

# What comes back.


class StreamIncrement(NamedTuple):
    """One window of a stream, and the increment that it became."""

    window: str
    rows: int
    publication: Publication | None
    """None for those that a dry run only lists: they depend on what is published before them."""


@dataclass(frozen=True, eq=False)
class StreamPublication(Showable):
    """What was new in a source that grows, and what became of it."""

    ledger: Path
    since: str
    increments: tuple[StreamIncrement, ...]
    notes: tuple[str, ...] = ()
    """What was not taken, and why; what was found in the source that should not be."""

    dry_run: bool = False

    @property
    def rows(self) -> int:
        """The number of rows that were new, of all increments."""
        return sum(each.rows for each in self.increments)

    @property
    def publications(self) -> tuple[Publication, ...]:
        """The increments that were decided."""
        return tuple(each.publication for each in self.increments if each.publication)

    @property
    def sequence(self) -> int:
        """The number of the last entry; 0 if nothing was new."""
        return self.publications[-1].sequence if self.publications else 0

    @property
    def folder(self) -> None:
        """None: each increment has a folder of its own."""

    @property
    def place(self) -> None:
        """None: each increment has a place of its own."""

    @property
    def head(self) -> str:
        """The hash of the last entry: keep it elsewhere. Empty if nothing was new."""
        return self.publications[-1].head if self.publications else ""

    @property
    def headline(self) -> str:
        """The number of increments, and of their rows."""
        if not self.increments:
            return f"nothing new by {self.since!r}: nothing was changed"
        n = len(self.increments)
        would = "would make " if self.dry_run else "made "
        increments = "1 increment" if n == 1 else f"{n} increments"
        return f"{_rows(self.rows, 'new ')} {would}{increments}"

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values that JSON can hold. Refused rows are in it."""
        return {
            "ledger": str(self.ledger),
            "since": self.since,
            "dry_run": self.dry_run,
            "rows": self.rows,
            "increments": [
                {
                    "window": each.window,
                    "rows": each.rows,
                    "publication": each.publication and each.publication.to_dict(),
                }
                for each in self.increments
            ],
            "head": self.head,
            "notes": list(self.notes),
        }

    def content(self) -> Content:
        """Return one line per increment, and what was not taken."""
        lines: list[tuple[Cell, ...]] = []
        warnings: list[str] = []
        for window, rows, done in self.increments:
            if done is None:
                lines.append((window, rows, "", "", "", "", ""))
                continue
            warnings += [f"Warning: {each} ({window})" for each in done.warnings]
            place = done.folder if done.place is None else done.place
            numbers = (done.sequence, done.admitted, done.refused_rows, done.waiting)
            lines.append((window, rows, *numbers, "" if place is None else str(place)))
        heads = ("window", "rows", "release", "admitted", "refused", "wait", "written")
        parts: list[Part] = [ContentTable.of("", heads, lines)] if lines else []
        parts += [Sentence(note) for note in self.notes]
        return Content(self.headline, tuple(parts), remarks=tuple(warnings))

    def __repr__(self) -> str:
        return f"<StreamPublication {self.headline}>"


def _rows(n: int, which: str = "") -> str:
    return f"1 {which}row" if n == 1 else f"{n} {which}rows"


# One run.


class NextIncrement(NamedTuple):
    """What the next increment takes."""

    table: Table
    taken: Intake
    rows: int


@dataclass(frozen=True, eq=False)
class StreamJob:
    """Everything that `Ledger.publish_since` is told, apart from the source."""

    file: Path
    since: str
    stream: str = ""
    start: Value = None
    until: Value = None
    every: str | int | None = None
    zone: str | None = None
    late: bool = False
    output: str | PathLike[str] | None = None
    whole: bool = False
    dry_run: bool = False
    form: str | None = None
    wait: float = WAIT
    key: Key | None = None
    head: str | None = None
    seed: int | None = None
    even_so: bool = False

    def run(self, source: object) -> StreamPublication:
        """Publish what is new, window by window."""
        if source is None:
            raise InputError("no source is given. Give the table or the folder that grows.")
        folder = _folder_of(source)
        tables = GivenTables(None if folder else source)
        self._require_output()
        with chain.reading(self.file, head=self.head) as db:
            position, settings = Position.read(db, self.stream), Settings.load(db)
            waits = bool(pending.staged_names(db))
        if waits and not self.dry_run:
            self._finish(tables)
        new: Growth
        if folder is not None:
            new = GrowingFolder(self, folder, position, settings.salt)
        else:
            new = GrowingTable(self, tables.open(source), position)
        before = position.last
        done: list[StreamIncrement] = []
        while (piece := new.take()) is not None:
            report = None
            if not self.dry_run or not done:
                try:
                    job = self._job(piece, before, tables, first=not done)
                    report = job.run(piece.table, None, None, tables)
                except NoNewPeopleError as error:
                    new.notes.append(str(error))
                    continue
            rows = piece.rows if report is None else report.given
            before = replace(piece.taken, rows=piece.taken.rows or rows)
            done.append(StreamIncrement(piece.taken.window, rows, report))
        notes = (*new.notes, *new.left())
        return StreamPublication(self.file, self.since, tuple(done), notes, self.dry_run)

    @property
    def _parent(self) -> Path | None:
        """The folder in which all increments lie; None if each may lie elsewhere."""
        place = self._place("x")
        return place.parent if isinstance(place, Path) else None

    def _job(
        self, piece: NextIncrement, before: Intake | None, tables: GivenTables, *, first: bool
    ) -> IncrementJob:
        where = choose_output(
            self._place(piece.taken.window), tables, self.form, self.key, even_so=self.even_so
        )
        if isinstance(where, FolderOutput):
            # All increments of a run lie beside each other: the first one looks around.
            where = replace(where, alone=not first and where.folder.parent == self._parent)
        refuse_inside_release(
            self.file, "the ledger", output=None if where is None else where.folder
        )
        return IncrementJob(
            self.file,
            where,
            whole=self.whole,
            # Windows do not overlap: equal rows of two windows are other people.
            again=True,
            dry_run=self.dry_run,
            wait=self.wait,
            seed=self.seed,
            taken=piece.taken,
            before=before,
        )

    def _require_output(self) -> None:
        """Raise if the increments could not be told apart by where they are."""
        output = self._place("x")
        if output is not None and output == self._place("y"):
            raise ParameterError(
                "output",
                str(self.output),
                "a folder, or a name with {window} in it, such as table:visits_{window}",
                why="each increment has a place of its own",
            )

    def _place(self, window: str) -> str | PathLike[str] | None:
        """Return where the increment of a window is written."""
        if self.output is None:
            return None
        text = str(self.output)
        if text.startswith("table:") or "://" in text:
            # Letters, digits and lines are what all databases allow in a name.
            return text.replace("{window}", re.sub(r"\W", "_", window))
        if "{" in text:
            return text.replace("{window}", re.sub(r"[^\w.-]", "-", window))
        return Path(self.output) / re.sub(r"[^\w.+() -]", "-", window)

    def _finish(self, tables: GivenTables) -> None:
        """Rename what a run that was interrupted left under hidden names."""
        with chain.writing(self.file, wait=self.wait) as db:
            pending.finish(db)
            finish_tables(db, tables.database)


class Growth(ABC):
    """What is new in a source, taken piece by piece."""

    notes: list[str]

    @abstractmethod
    def take(self) -> NextIncrement | None:
        """Return the next piece, and go on after it; None if there is no further one."""

    @abstractmethod
    def left(self) -> list[str]:
        """Return what is there and was not taken, in sentences."""


# A table that grows by a column.


class GrowingTable(Growth):
    """The rows of a table that were not taken yet, by a column that only grows.

    Args:
        job: What was asked.
        table: All rows; the window is compared where they are.
        position: How far the stream was taken.
    """

    def __init__(self, job: StreamJob, table: Table, position: Position) -> None:
        table.require([job.since])
        self.job, self.table, self.notes = job, table, []
        self.zone = read_zone(job.zone)
        position.require_column(job.since)
        self.form = _find_form(job.since, table, position.last)
        if job.zone is not None and self.form.kind != "moments":
            raise ParameterError(
                "zone", job.zone, "left out", why=f"the times in {job.since!r} have no zone"
            )
        self.period = None if job.every is None else Period.parse(job.every)
        if self.period is not None:
            self.period.require(self.form)
        start = None if job.start is None else self._bound("start", job.start)
        position.require_start(start)
        last = position.last
        self.start = str(start if last is None else last.start)
        self.until = None if job.until is None else self._bound("until", job.until)
        self.limit = self._latest()
        self.window = self._after(last)
        self._overdue: NextIncrement | None = None
        if last is not None:
            self._find_late(position)
        everything = self._extent(replace(self.window, high=None))
        self._tell_others(everything)
        if self.limit is not None and _reaches(self.form, everything.largest, self.limit):
            future = self._extent(replace(self.window, low=self.limit, above=False, high=None))
            self.notes.append(
                f"In the future: {_rows(future.rows)}, up to {future.largest}. They are not taken "
                "before it has come"
            )
            everything = self._extent(self.window)
        self.seen = everything
        if self.period is not None and everything.rows:
            self.table = into_memory(Windows.expect(table).within(self.window), _IN_MEMORY)

    def _bound(self, name: str, given: Value) -> str:
        if name == "start" and given == BEGINNING:
            return BEGINNING
        return self.form.parse(name, given, self.zone)

    @property
    def _word(self) -> str:
        return {"days": "day", "numbers": "number"}.get(self.form.kind, "time")

    def _latest(self) -> str | None:
        """Return the day from which on times are mistakes, whatever zone they are in."""
        if not self.form.is_calendar:
            return None
        return self.form.bound(datetime.now(UTC).date() + timedelta(days=2), UTC)

    def _after(self, last: Intake | None) -> Window:
        """Return everything after what was taken, as far as it is no mistake."""
        window = Window(self.job.since, self.form.pattern, high=self.limit)
        if last is None:
            return replace(window, low=None if self.start == BEGINNING else self.start)
        if last.end is not None:
            return replace(window, low=last.end)
        return replace(window, low=last.through, above=True)

    def _extent(self, window: Window) -> Extent:
        return Windows.expect(self.table).extent(window)

    def _find_late(self, position: Position) -> None:
        """Compare how many rows are where everything was taken with how many were taken."""
        last = position.taken[-1]
        end = last.end if last.end is not None else last.through
        before = Window(
            self.job.since,
            self.form.pattern,
            low=None if self.start == BEGINNING else self.start,
            high=end,
            through=last.end is None,
        )
        there, taken = self._extent(before).rows, position.rows
        until = f"{'before' if last.end is not None else 'up to'} {end}"
        if there > taken and self.job.late:
            again = sum(each.late for each in position.taken) + 1
            intake = replace(last, window=f"late-{again}", rows=there - taken, late=True)
            self._overdue = NextIncrement(
                Windows.expect(self.table).within(before), intake, there - taken
            )
        elif there > taken:
            self.notes.append(
                f"Late: {_rows(there - taken)} {until}, which was taken without them. They are not "
                "taken now: --late takes them, if rows name people; or publish them by themselves"
            )
        elif there < taken:
            self.notes.append(
                f"Gone: {_rows(taken - there)} {until}, which were taken and are no longer in the "
                "source. They are still published; sfumato ledger remove takes them out"
            )

    def _tell_others(self, found: Extent) -> None:
        if found.others:
            such = "" if found.other is None else f", such as {found.other[:40]!r}"
            self.notes.append(
                f"No {self._word}: {_rows(found.others)} in which {self.job.since!r} is missing or "
                f"cannot be read{such}. They are never taken; publish them by themselves"
            )

    def take(self) -> NextIncrement | None:
        """Return the rows of the next window that is over, or all before the last value."""
        if self._overdue is not None:
            overdue, self._overdue = self._overdue, None
            return overdue
        if not self.seen.rows:
            return None
        piece = self._whole() if self.period is not None else self._everything()
        if piece is not None:
            self.window = replace(
                self.window,
                low=piece.taken.through if piece.taken.end is None else piece.taken.end,
                above=piece.taken.end is None,
            )
            self.seen = self._extent(self.window)
        return piece

    def _whole(self) -> NextIncrement | None:
        assert self.period is not None  # noqa: S101 - else it is not called
        assert self.seen.least is not None  # noqa: S101 - there are rows
        stretch = self.period.around(self.seen.least, self.form, self.zone)
        over = self.seen.largest if self.until is None else self.until
        if not _reaches(self.form, over, stretch.end):
            return None
        window = replace(self.window, low=self.seen.least, above=False, high=stretch.end)
        found = self._extent(window)
        return self._piece(window, found, stretch.name, stretch.end)

    def _everything(self) -> NextIncrement | None:
        high = self.seen.largest if self.until is None else self.until
        if self.limit is not None and _reaches(self.form, high, self.limit):
            high = self.limit
        found = self._extent(replace(self.window, high=high))
        if not found.rows:
            return None
        window = replace(
            self.window, low=found.least, above=False, high=found.largest, through=True
        )
        return self._piece(window, found, str(found.largest), None)

    def _piece(self, window: Window, found: Extent, name: str, end: str | None) -> NextIncrement:
        taken = Intake(
            self.job.stream,
            self.job.since,
            self.start,
            name,
            form=self.form.name,
            through=found.largest,
            end=end,
        )
        return NextIncrement(Windows.expect(self.table).within(window), taken, found.rows)

    def left(self) -> list[str]:
        """Return how many rows wait for their window to be over."""
        if not self.seen.rows:
            return []
        if self.period is not None:
            stretch = self.period.around(str(self.seen.least), self.form, self.zone)
            why = f"A window is over when a later row is there, or with --until {stretch.end}"
            return [f"Left: {_rows(self.seen.rows)} from {stretch.name} on. {why}"]
        if self.until is not None:
            return [f"Left: {_rows(self.seen.rows)} from {self.until} on"]
        last = f"{_rows(self.seen.rows)} with the last {self._word}, {self.seen.largest}"
        return [f"Left: {last}. Others with the same may still come, unless --until says no"]


_IN_MEMORY = 1 << 28
"""Bytes of new rows of a file that are kept, so that it is not read again for every window."""


def _reaches(form: ValueForm, value: str | None, bound: str) -> bool:
    """Return whether a value is a bound, or after it."""
    if value is None:
        return False
    return value >= bound if form.is_calendar else Fraction(value) >= Fraction(bound)


def _find_form(since: str, table: Table, last: Intake | None) -> ValueForm:
    """Return the form of a column's values; raise if a table cannot grow by it."""
    order = Windows.expect(table).order_of(since)
    if last is not None and last.form in FORMS:
        form = FORMS[last.form]
        if order != ("texts" if form.pattern else form.kind):
            raise InputError(
                f"so far column {since!r} had {form.name}, and now it has {order or 'others'}: "
                "what is new cannot be known. Give it the type it had."
            )
        return form
    if order is None:
        raise InputError(
            f"column {since!r} holds {table.type_of(since)}, by which no table grows. Name a "
            "column of days, times or numbers."
        )
    if order != "texts":
        return FORMS[order]
    tried = {
        form: Windows.expect(table).extent(Window(since, form.pattern))
        for form in FORMS.values()
        # In a database, texts of numbers are compared as texts.
        if form.pattern and not (form.kind == "numbers" and isinstance(table, DatabaseTable))
    }
    best, found = max(tried.items(), key=lambda each: each[1].rows)
    if not found.rows:
        such = "" if found.other is None else f", such as {found.other[:40]!r}"
        raise InputError(
            f"column {since!r} holds texts that cannot be ordered{such}. Days and times are "
            "written as 2026-11-01, 2026-11-01 10:15:00 or, in UTC, 2026-11-01T10:15:00Z."
        )
    return best


# A folder that grows by files.


def _folder_of(source: object) -> Path | None:
    """Return the folder that was given; None if it is something else."""
    if not isinstance(source, str | PathLike):
        return None
    path = Path(source).expanduser()
    if not path.is_dir():
        return None
    if (path / MANIFEST).exists():
        raise InputError(
            f"{str(path)!r} is a release, not a folder into which new files are put. Give the rows "
            "that are new."
        )
    return path


class GrowingFolder(Growth):
    """The files of a folder that were not taken yet, in the order of their names.

    Args:
        job: What was asked.
        folder: Where the files are.
        position: How far the stream was taken.
        salt: What hashes are made with.
    """

    def __init__(self, job: StreamJob, folder: Path, position: Position, salt: str) -> None:
        if job.since != FILES:
            raise ParameterError(
                "since", job.since, f"{FILES!r}", why="files of a folder are taken whole, by name"
            )
        if job.every not in (None, "file"):
            raise ParameterError("every", job.every, "'file', or left out", why="files are taken")
        if job.zone is not None:
            raise ParameterError("zone", job.zone, "left out", why="files have no times")
        start, until = (None if b is None else str(b) for b in (job.start, job.until))
        position.require_column(FILES)
        position.require_start(start)
        last = position.last
        self.job, self.notes, self._salt = job, [], salt
        self.start = str(start if last is None else last.start)
        known = position.files
        there = self._list(folder)
        self._tell_changed(folder, there, known)
        first = "" if self.start == BEGINNING else self.start
        names = [name for name in there if name not in known and name >= first]
        self._later = [name for name in names if until is not None and name >= until]
        new = [folder / name for name in names if name not in self._later]
        self._files = JoinedFiles(new)
        empty = [path.name for path in new if path not in self._files.paths]
        if empty:
            self.notes.append(f"Empty: {some(empty)}, not taken as long as there are no rows")
        self._open = self._without_copies(known)

    def _list(self, folder: Path) -> list[str]:
        found = sorted(
            path.name
            for path in folder.iterdir()
            if path.is_file() and not path.name.startswith(".")
        )
        tables = [name for name in found if {*Path(name.lower()).suffixes[-2:]} & {*data_endings()}]
        others = [name for name in found if name not in tables]
        if others:
            self.notes.append(f"No table: {some(others)}, by the names")
        return tables

    def _tell_changed(
        self, folder: Path, names: Sequence[str], known: dict[str, tuple[str, int, int]]
    ) -> None:
        for name in names:
            hashed, *state = known.get(name, ("", 0, 0))
            if name in known and state != [*_state(folder / name)]:
                if self._hash(folder / name) == hashed:
                    continue
                self.notes.append(
                    f"Changed: {name!r}, after it was taken. Published is what it held then; give "
                    "new rows as a new file, and others with sfumato ledger correct or remove"
                )

    def _without_copies(
        self, known: dict[str, tuple[str, int, int]]
    ) -> dict[Path, tuple[str, int, int]]:
        """Hash the new files, and leave out those that were taken under another name."""
        seen = {hashed: name for name, (hashed, *_) in known.items()}
        found = {}
        for path in self._files.paths:
            hashed = self._hash(path)
            if hashed in seen:
                self.notes.append(
                    f"Copied: {path.name!r} holds the same as {seen[hashed]!r}. It is not taken; "
                    "the same people would be counted twice"
                )
                continue
            seen[hashed] = path.name
            found[path] = (hashed, *_state(path))
        return found

    def _hash(self, path: Path) -> str:
        """Return a keyed hash of a file: without the ledger, its content cannot be tried out."""
        digest = hashlib.blake2b(key=self._salt.encode()[:64], digest_size=32)
        with path.open("rb") as file:
            while block := file.read(1 << 20):
                digest.update(block)
        return digest.hexdigest()

    def take(self) -> NextIncrement | None:
        """Return all files that are new, or the next one."""
        if not self._open:
            return None
        paths = list(self._open)[: 1 if self.job.every == "file" else None]
        files = {path.name: self._open.pop(path) for path in paths}
        window = paths[-1].name.partition(".")[0] or paths[-1].name
        taken = Intake(self.job.stream, FILES, self.start, window, files=files)
        table = self._files.table(paths)
        return NextIncrement(table, taken, table.count([]).total if self.job.dry_run else 0)

    def left(self) -> list[str]:
        """Return which files were not taken because they are too late."""
        return [f"Left: {some(self._later)}, from {self.job.until} on"] if self._later else []


def _state(path: Path) -> tuple[int, int]:
    stat = path.stat()
    return stat.st_size, stat.st_mtime_ns
