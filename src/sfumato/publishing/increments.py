"""An increment on a ledger that exists: decided, staged, committed, and put in its place."""

import json
import secrets
import sqlite3
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path

import numpy as np

from sfumato.attacks.composition import Compared, Composition, Difference
from sfumato.errors import InputError, OutputError, UnknownColumnError, some
from sfumato.ledger import increment as fingerprint
from sfumato.ledger import pending
from sfumato.ledger import store as chain
from sfumato.ledger.increment import (
    Ask,
    Kind,
    Promises,
    Result,
    Rules,
    consider,
    first_distribution,
    write_waiting,
)
from sfumato.ledger.placing import places_of
from sfumato.ledger.records import current, newcomers, write_changes
from sfumato.ledger.store import Settings, key_of, keys_of, shown_of, writing
from sfumato.policy import Policy
from sfumato.publishing.outputs import Increment, IncrementOutput, finish_tables
from sfumato.publishing.start import Publication, now
from sfumato.releases.stored import GivenTables
from sfumato.tables import Table, open_table
from sfumato.text import number_of
from sfumato.typing import Value

# From tables of rows to what is asked of a ledger.


Row = tuple[Value, ...]

OLD = "old_"
"""What the name of a column begins with that holds what was published, in corrections."""


@dataclass(eq=False)
class NewRows:
    """Rows that are given, counted, and generalised to the groups of a ledger."""

    db: sqlite3.Connection
    settings: Settings
    policy: Policy | None
    asks: Counter[Ask] = field(default_factory=Counter)
    shown: dict[tuple[int, str], str] = field(default_factory=dict)
    """How values are to be given back, by column and key."""

    def add(self, data: object, kind: Kind) -> None:
        """Count a table, and ask for each of its rows."""
        table = open_table(data)
        self._check(table.columns)
        rows, times = _rows(table, self.names)
        for (labels, row), n in zip(self._generalised(rows), times, strict=True):
            self.asks[Ask(kind, labels, row)] += n

    def correct(self, data: object) -> None:
        """Ask for rows to become others: `age` is what it should be, `old_age` what it was."""
        table = open_table(data)
        was = {f"{OLD}{name}": name for name in self.names}
        olds = {name: old for old, name in was.items() if old in table.columns}
        if not olds:
            raise InputError(
                f"the corrections name no old value. Give for every column that changes what was "
                f"published, as {OLD}{self.names[-1]}; columns are {some(table.columns, most=20)}."
            )
        self._check([name for name in table.columns if name not in was])
        rows, times = _rows(table, (*self.names, *olds.values()))
        width = len(self.names)
        place = {name: width + i for i, name in enumerate(olds)}
        before = [
            tuple(row[place.get(name, i)] for i, name in enumerate(self.names)) for row in rows
        ]
        pairs = zip(
            self._generalised(before), self._generalised([r[:width] for r in rows]), strict=True
        )
        for (old, new), n in zip(pairs, times, strict=True):
            if old != new:
                self.asks[Ask("correct", *old, *new)] += n

    @property
    def names(self) -> tuple[str, ...]:
        """The columns rows must have."""
        return (*self.settings.quasi_identifiers, *self.settings.sensitive)

    def _check(self, columns: Sequence[str]) -> None:
        for name in self.names:
            if name not in columns:
                raise UnknownColumnError(name, columns, where="the new rows")
        if self.policy is not None:
            self.policy.check_against(columns)
            return
        others = [name for name in columns if name not in self.names]
        if others:
            raise InputError(
                f"the rows have columns that the ledger does not: {some(others)}. Leave them out; "
                f"it has {some(self.names, most=20)}."
            )

    def _generalised(self, rows: Sequence[Row]) -> list[tuple[str, str]]:
        split = len(self.settings.quasi_identifiers)
        places = places_of(self.db, self.settings, self.policy, [row[:split] for row in rows])
        for column, values in enumerate(zip(*(row[split:] for row in rows), strict=True)):
            for value in set(values):
                self.shown.setdefault((column, key_of(value)), shown_of(value))
        return [(place, keys_of(row[split:])) for place, row in zip(places, rows, strict=True)]

    def as_published(self) -> dict[tuple[int, str], str]:
        """Write new values as those of the same column are: numbers where all are numbers."""
        columns = {column for column, _ in self.shown}
        numeric = {column for column in columns if self._numbers_only(column)}
        return {
            (column, key): _as_number(key) if column in numeric else shown
            for (column, key), shown in self.shown.items()
        }

    def _numbers_only(self, column: int) -> bool:
        found = self.db.execute(
            "SELECT shown FROM sensitive_values WHERE column = ? LIMIT 20", (column,)
        ).fetchall()
        values = [json.loads(shown) for [shown] in found]
        return bool(values) and all(isinstance(v, int | float) for v in values if v is not None)


def _as_number(key: str) -> str:
    text = json.loads(key)
    number = None if text is None else number_of(text)
    if number is None:
        return key
    return json.dumps(int(number) if number.is_integer() else number)


def _rows(table: Table, names: Sequence[str]) -> tuple[list[Row], list[int]]:
    """Count a table, and give its distinct rows and how many there are of each."""
    counts = table.count(names)
    columns = [
        [column.values[code] for code in codes.tolist()]
        for column, codes in zip(counts.columns, counts.codes, strict=True)
    ]
    return list(zip(*columns, strict=True)), counts.rows.tolist()


class IncrementJob:
    """An increment on a ledger that exists."""

    def __init__(
        self,
        file: Path,
        *,
        hold: bool,
        whole: bool,
        again: bool,
        dry_run: bool,
        seed: int | None,
        output: IncrementOutput | None = None,
    ) -> None:
        self._file = file
        self._hold = hold
        self._whole = whole
        self._again = again
        self._dry_run = dry_run
        self._output = output
        self._seeded = seed is not None
        self._rng = np.random.default_rng(secrets.randbits(128) if seed is None else seed)

    def run(
        self,
        data: object,
        delete: object,
        correct: object,
        tables: GivenTables,
        given: dict[str, object],
        wait: float,
    ) -> Publication:
        """Decide, stage the release, commit the ledger, and give the release its name."""
        staged: pending.Staged | None = None
        try:
            with writing(self._file, wait=wait) as db:
                problems = [*pending.finish(db), *finish_tables(db, tables.database)]
                settings = Settings.load(db)
                _refuse_another_policy(settings, given, self._file)
                policy = policy_of(settings)
                rows = NewRows(db, settings, policy)
                for source, kind in ((data, "add"), (delete, "remove")):
                    if source is not None:
                        rows.add(tables.open(source), kind)  # type: ignore[arg-type]
                if correct is not None:
                    rows.correct(tables.open(correct))
                sequence = _next(db)
                mark = self._refuse_nothing_or_twice(db, settings, rows.asks)
                result = self._consider(db, settings, policy, rows.asks, sequence)
                done = self._write(db, settings, rows, result, sequence, mark)
                staged = self._stage(db, settings, done)
                done = self._finished(db, done, staged, problems)
                if self._dry_run:
                    db.execute("ROLLBACK")
        except BaseException:
            if staged is not None and not _is_pending(self._file, staged):
                self._drop(staged)
            raise
        if staged is not None:
            self._settle(sequence, wait)
        return done

    def _refuse_nothing_or_twice(
        self, db: sqlite3.Connection, settings: Settings, asks: Counter[Ask]
    ) -> str:
        if not asks:
            raise InputError(
                "the increment has no rows: there is nothing to publish. Nothing was changed."
            )
        mark = fingerprint.of_increment(settings.salt, asks)
        before = db.execute(
            "SELECT sequence, time FROM given WHERE fingerprint = ?", (mark,)
        ).fetchone()
        if before is not None and not self._again:
            raise InputError(
                f"these very rows were given before, as increment {before[0]} on {before[1]}. "
                "Nothing was changed. If they are other people with the same values, or rows "
                "that were refused then, say so: --again (again=True)."
            )
        return mark

    def _consider(
        self,
        db: sqlite3.Connection,
        settings: Settings,
        policy: Policy | None,
        asks: Counter[Ask],
        sequence: int,
    ) -> Result:
        promises = None
        if policy is not None:
            compares = any(model.compares_with_table for model in policy.models)
            reference = first_distribution(db) if compares else {}
            promises = Promises(policy, settings.sensitive, reference).broken_by
        rules = Rules(settings.limit, settings.k, self._hold)
        return consider(
            db,
            asks,
            settings.sensitive,
            rules,
            self._rng,
            sequence=sequence,
            promises=promises,
        )

    def _write(
        self,
        db: sqlite3.Connection,
        settings: Settings,
        rows: NewRows,
        result: Result,
        sequence: int,
        mark: str,
    ) -> Publication:
        """Write everything into the ledger, and say what that was."""
        write_changes(db, sequence, result.changes, rows.as_published(), self._rng)
        write_waiting(db, result.before, result.after)
        time = now()
        row = (mark, sequence, time)
        if db.execute("INSERT OR IGNORE INTO given VALUES (?, ?, ?)", row).rowcount:
            chain.shift(db, "given", chain.rows_digest([row]))
        known = _note_refused(db, settings, result.refused_asks, sequence)
        numbers = Counter[str]()
        for ask, n in result.published.items():
            numbers[ask.kind] += n
        [waiting] = db.execute("SELECT COALESCE(SUM(rows), 0) FROM waiting").fetchone()
        tables = None
        if result.changes:
            left = numbers["remove"] or numbers["correct"]
            everything = self._whole or bool(left)
            tables = current(db, settings) if everything else newcomers(db, settings, sequence)
        return Publication(
            self._file,
            sequence,
            settings.alpha,
            settings.sensitive,
            sum(rows.asks.values()),
            numbers["add"],
            left=numbers["remove"],
            corrected=numbers["correct"],
            withdrawn=result.withdrawn,
            refused=result.refused,
            held=result.held,
            waiting=waiting,
            above=tuple((tuple(json.loads(key)), share) for key, share in result.over),
            composition=_compared(result, settings),
            refused_before=known,
            tables=tables,
            dry_run=self._dry_run,
        )

    def _stage(
        self, db: sqlite3.Connection, settings: Settings, done: Publication
    ) -> pending.Staged | None:
        """Write the release where nobody looks, and note that it is to get its name."""
        if self._output is None or done.tables is None or self._dry_run:
            return None
        everything = self._whole or bool(done.left or done.corrected)
        increment = Increment(
            done.tables, settings, done.sequence, everything, self._rng, self._seeded
        )
        staged = self._output.stage(increment, db)
        try:
            pending.note(db, done.sequence, staged)
        except BaseException:
            self._drop(staged)
            raise
        return staged

    def _drop(self, staged: pending.Staged) -> None:
        if self._output is not None:
            self._output.drop(staged)

    def _finished(
        self,
        db: sqlite3.Connection,
        done: Publication,
        staged: pending.Staged | None,
        problems: list[str],
    ) -> Publication:
        """Add the entry to the chain, and the rest of what there is to say."""
        entry = {
            "sequence": done.sequence,
            "kind": "increment",
            "time": now(),
            "files": "" if staged is None else staged.hash,
            "rows": {
                "given": done.given,
                "joined": done.admitted + done.corrected,
                "left": done.left + done.corrected,
                "corrected": done.corrected,
                "refused": done.refused_rows,
                "waiting": done.waiting,
            },
        }
        head = chain.append(db, entry)
        output = None if staged is None else self._output
        if self._output is not None and staged is None and not self._dry_run:
            problems = [*problems, "nothing is published yet, so nothing was written"]
        return replace(
            done,
            head="" if self._dry_run else head,
            folder=None if output is None else output.folder,
            place=None if output is None else output.place,
            warnings=tuple(problems),
        )

    def _settle(self, sequence: int, wait: float) -> None:
        """Give the release its name; if that fails, the next publish does it."""
        if self._output is None:
            return
        with writing(self._file, wait=wait) as db:
            problems = self._output.finish(db)
            [waits] = db.execute(
                "SELECT COUNT(*) FROM pending WHERE sequence = ?", (sequence,)
            ).fetchone()
        if waits and problems:
            raise OutputError(
                f"the release is in the ledger, but {problems[-1]} The next publish tries again."
            )


def _is_pending(file: Path, staged: pending.Staged) -> bool:
    """Tell whether what was staged belongs to a release that was committed."""
    with suppress(OSError, ValueError), writing(file, wait=1) as db:
        return staged.stage in pending.staged(db)
    return True


def _next(db: sqlite3.Connection) -> int:
    [last] = db.execute("SELECT MAX(sequence) FROM releases").fetchone()
    return int(last) + 1


def policy_of(settings: Settings) -> Policy | None:
    """Read the policy a ledger was started with."""
    if not settings.policy:
        return None
    return Policy.from_yaml(settings.policy, origin="the ledger's policy", folder=settings.folder)


def _refuse_another_policy(settings: Settings, given: dict[str, object], file: Path) -> None:
    own = {"alpha": settings.alpha, "k": settings.k, "policy": policy_of(settings)}
    for name, value in given.items():
        if own[name] == value:
            continue
        asked = f"{name} {value!r}, it was started with {own[name]!r}"
        if name == "policy":
            asked = "another policy than it was started with"
            if own["policy"] is None:
                asked = "a policy, and it was started without one"
        raise InputError(
            f"the ledger {str(file)!r} is asked to work with {asked}. What was promised once "
            "holds for all its releases; leave it out, or start a new ledger."
        )


def _note_refused(
    db: sqlite3.Connection, settings: Settings, refused: Counter[Ask], sequence: int
) -> int:
    """Remember refused rows by their fingerprints; give how many were refused before."""
    known = 0
    for ask, rows in refused.items():
        mark = fingerprint.of_row(settings.salt, ask)
        if db.execute("SELECT 1 FROM refused WHERE fingerprint = ?", (mark,)).fetchone():
            known += rows
        db.execute(
            "INSERT INTO refused VALUES (?, ?, ?) ON CONFLICT (fingerprint) DO UPDATE SET "
            "times = times + excluded.times, sequence = excluded.sequence",
            (mark, rows, sequence),
        )
    return known


def _compared(result: Result, settings: Settings) -> Compared:
    """Say what a comparison with the last release will show, group by group."""
    differences = []
    for change, settled in zip(result.changes, result.settled, strict=True):
        newcomer, leaver = settled.newcomers, settled.leavers
        gone = not settled.now.size
        differences.append(
            Difference(
                tuple(json.loads(change.state.key)),
                newcomer.size,
                0 if gone else leaver.size,
                newcomer.worst,
                Fraction(0) if gone else leaver.worst,
                settled.wishes.start.worst,
                settled.now.worst,
            )
        )
    return Compared(Composition(settings.alpha, settings.k), tuple(differences))
