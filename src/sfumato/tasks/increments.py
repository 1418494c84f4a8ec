"""An increment on a ledger that exists: decided, staged, committed, and moved into place."""

import json
import secrets
import shutil
import sqlite3
from collections import Counter
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from hashlib import sha256
from os import PathLike
from pathlib import Path

import numpy as np

from sfumato.attacks.composition import Compared, Composition, Difference
from sfumato.errors import InputError, OutputError
from sfumato.evidence import SigningKey
from sfumato.ledger import chain, fingerprint, pending
from sfumato.ledger.asks import Ask, write_waiting
from sfumato.ledger.decision import Rules
from sfumato.ledger.increment import Result, consider
from sfumato.ledger.meta import Settings
from sfumato.ledger.promises import Promises, first_distribution
from sfumato.ledger.records import current, newcomers, write_changes
from sfumato.ledger.store import writing
from sfumato.policy import Policy
from sfumato.tasks.increment_folder import write_tables
from sfumato.tasks.new_rows import NewRows
from sfumato.tasks.publication import Publication
from sfumato.tasks.start_ledger import now


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
        form: str,
        seed: int | None,
        key: SigningKey | None = None,
    ) -> None:
        self._file = file
        self._hold = hold
        self._whole = whole
        self._again = again
        self._dry_run = dry_run
        self._form = form
        self._seeded = seed is not None
        self._key = key
        self._rng = np.random.default_rng(secrets.randbits(128) if seed is None else seed)

    def run(
        self,
        data: object,
        delete: object,
        correct: object,
        given: dict[str, object],
        output: str | PathLike[str] | None,
        wait: float,
    ) -> Publication:
        """Decide, stage the folder, commit the ledger, and move the folder into place."""
        target = None if output is None else Path(output)
        stage: Path | None = None
        try:
            with writing(self._file, wait=wait) as db:
                problems = pending.finish(db)
                settings = Settings.load(db)
                _refuse_another_policy(settings, given, self._file)
                policy = policy_of(settings)
                rows = NewRows(db, settings, policy)
                for table, kind in ((data, "add"), (delete, "remove")):
                    if table is not None:
                        rows.add(table, kind)  # type: ignore[arg-type]
                if correct is not None:
                    rows.correct(correct)
                sequence = _next(db)
                mark = self._refuse_nothing_or_twice(db, settings, rows.asks)
                result = self._consider(db, settings, policy, rows.asks, sequence)
                done = self._write(db, settings, rows, result, sequence, mark)
                if target is not None and done.tables is not None and not self._dry_run:
                    stage = self._stage(db, settings, target, done)
                    pending.note(db, sequence, stage, target)
                done = self._finished(db, result, done, target, problems)
                if self._dry_run:
                    db.execute("ROLLBACK")
        except BaseException:
            if stage is not None and not _is_pending(self._file, stage):
                shutil.rmtree(stage, ignore_errors=True)
            raise
        if stage is not None:
            self._move(wait)
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
        self, db: sqlite3.Connection, settings: Settings, target: Path, done: Publication
    ) -> Path:
        ledger_id = sha256(settings.salt.encode()).hexdigest()[:12]
        pending.sweep(target, ledger_id, keep=pending.staged(db))
        broken = done.tables
        if broken is None:
            raise RuntimeError("nothing to write")
        everything = self._whole or bool(done.left or done.corrected)
        about = {"sequence": done.sequence, "tables": "all" if everything else "newcomers"}
        return pending.stage_for(
            target,
            ledger_id,
            lambda stage: write_tables(
                stage,
                broken,
                settings,
                about,
                form=self._form,
                rng=self._rng,
                reproducible=self._seeded,
                key=self._key,
            ),
        )

    def _finished(
        self,
        db: sqlite3.Connection,
        result: Result,
        done: Publication,
        target: Path | None,
        problems: list[str],
    ) -> Publication:
        """Add the entry to the chain, and the rest of what there is to say."""
        found = db.execute(
            "SELECT hash FROM pending WHERE sequence = ?", (done.sequence,)
        ).fetchone()
        entry = {
            "sequence": done.sequence,
            "kind": "increment",
            "time": now(),
            "files": "" if found is None else found[0],
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
        if target is not None and found is None and not self._dry_run:
            problems = [*problems, "nothing is published yet, so no folder was written"]
        return replace(
            done,
            head="" if self._dry_run else head,
            folder=target if found is not None else None,
            warnings=tuple(problems),
        )

    def _move(self, wait: float) -> None:
        """Put the folder into its place; if that fails, the next publish does it."""
        with writing(self._file, wait=wait) as db:
            problems = pending.finish(db)
        if problems:
            raise OutputError(
                f"the release is in the ledger, but {problems[0]} The next publish tries again."
            )


def _is_pending(file: Path, stage: Path) -> bool:
    """Tell whether a hidden folder belongs to a release that was committed."""
    with suppress(OSError, ValueError), writing(file, wait=1) as db:
        return str(stage.absolute()) in pending.staged(db)
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
