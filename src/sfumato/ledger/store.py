"""The file a ledger is kept in: one SQLite database, readable by its owner only.

It holds what was published, as counts: groups, and how many rows of each have each value of each
sensitive column, now and as every release changed it. It holds no row that was published or
refused: which values belonged to the same person is what a broken release keeps secret, and a
ledger that is lost must not tell. The exceptions are rows that *wait*: they are kept, generalised,
until they are published or withdrawn, and overwritten then.
"""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from urllib.parse import quote

from sfumato.errors import InputError, OutputError

MARK = 0x53464C47
"""`SFLG`: by this a ledger is told from other databases."""

FORMAT = 1
"""The version of the tables below; raised when they change."""

WAIT = 10.0
"""Seconds to wait for another publish to end."""

_SCHEMA = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE releases (
    sequence INTEGER PRIMARY KEY,
    entry TEXT NOT NULL,
    previous TEXT NOT NULL,
    hash TEXT NOT NULL
);
CREATE TABLE groups (
    id INTEGER PRIMARY KEY,
    label INTEGER NOT NULL UNIQUE,
    labels TEXT NOT NULL UNIQUE,
    rows INTEGER NOT NULL CHECK (rows >= 0)
);
CREATE TABLE labels (
    column INTEGER NOT NULL, label TEXT NOT NULL, PRIMARY KEY (column, label)
) WITHOUT ROWID;
CREATE TABLE sensitive_values (
    id INTEGER PRIMARY KEY,
    column INTEGER NOT NULL,
    value TEXT NOT NULL,
    shown TEXT NOT NULL,
    UNIQUE (column, value)
);
CREATE TABLE counts (
    group_id INTEGER NOT NULL REFERENCES groups,
    value_id INTEGER NOT NULL REFERENCES sensitive_values,
    rows INTEGER NOT NULL CHECK (rows > 0),
    PRIMARY KEY (group_id, value_id)
) WITHOUT ROWID;
CREATE TABLE moves (
    sequence INTEGER NOT NULL REFERENCES releases DEFERRABLE INITIALLY DEFERRED,
    group_id INTEGER NOT NULL REFERENCES groups,
    joined INTEGER NOT NULL,
    left_it INTEGER NOT NULL,
    PRIMARY KEY (sequence, group_id)
) WITHOUT ROWID;
CREATE INDEX moves_of_group ON moves (group_id, sequence);
CREATE TABLE changes (
    sequence INTEGER NOT NULL REFERENCES releases DEFERRABLE INITIALLY DEFERRED,
    group_id INTEGER NOT NULL REFERENCES groups,
    value_id INTEGER NOT NULL REFERENCES sensitive_values,
    rows INTEGER NOT NULL,
    PRIMARY KEY (sequence, group_id, value_id)
) WITHOUT ROWID;
CREATE TABLE waiting (
    id INTEGER PRIMARY KEY,
    kind TEXT NOT NULL,
    labels TEXT NOT NULL,
    row TEXT NOT NULL,
    new_labels TEXT NOT NULL,
    new_row TEXT NOT NULL,
    rows INTEGER NOT NULL CHECK (rows > 0),
    since INTEGER NOT NULL,
    UNIQUE (kind, labels, row, new_labels, new_row)
);
CREATE INDEX waiting_new_labels ON waiting (new_labels);
CREATE INDEX waiting_labels ON waiting (labels);
CREATE TABLE paths (
    column INTEGER NOT NULL, value TEXT NOT NULL, path TEXT NOT NULL,
    PRIMARY KEY (column, value)
) WITHOUT ROWID;
CREATE TABLE given (
    fingerprint TEXT PRIMARY KEY, sequence INTEGER NOT NULL, time TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE refused (
    fingerprint TEXT PRIMARY KEY, times INTEGER NOT NULL, sequence INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE pending (
    sequence INTEGER PRIMARY KEY, stage TEXT NOT NULL, target TEXT NOT NULL, hash TEXT NOT NULL
);
"""


@contextmanager
def new_ledger(path: Path) -> Iterator[sqlite3.Connection]:
    """Give an empty ledger that appears under its name if the block succeeds, and else vanishes."""
    if os.path.lexists(path):
        raise OutputError(
            f"{str(path)!r} exists. Give another name, or publish new rows on that ledger."
        )
    draft = path.with_name(f".{path.name}.{os.getpid()}.unfinished")
    try:
        # Private from the first byte: SQLite gives its journal the mode of the file.
        os.close(os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    except OSError as error:
        raise OutputError(
            f"cannot write in {str(path.parent)!r}: {error.strerror}. "
            "Choose another place for the ledger, or change the permissions of the folder."
        ) from None
    try:
        with closing(_opened(draft)) as db, _transaction(db):
            for statement in _SCHEMA.split(";\n"):
                db.execute(statement)
            db.execute(f"PRAGMA application_id = {MARK}")
            db.execute(f"PRAGMA user_version = {FORMAT}")
            yield db
        _into_place(draft, path)
    finally:
        with suppress(OSError):
            draft.unlink()


def _into_place(draft: Path, path: Path) -> None:
    try:
        # A link, not a renaming: it never replaces what is there.
        os.link(draft, path)
    except FileExistsError:
        raise OutputError(
            f"{str(path)!r} was made by somebody else meanwhile. Nothing was changed."
        ) from None
    except OSError:
        draft.rename(path)


@contextmanager
def reading(path: str | os.PathLike[str]) -> Iterator[sqlite3.Connection]:
    """Open a ledger to look at it; everything that is read is of one moment."""
    file = Path(path)
    # Not mode=ro: what an interrupted publish left half-done must be undone before it is read.
    with closing(_checked(file)) as db, _readable(file):
        db.execute("PRAGMA query_only = ON")
        with _transaction(db, "BEGIN"):
            yield db


@contextmanager
def writing(path: str | os.PathLike[str], *, wait: float = WAIT) -> Iterator[sqlite3.Connection]:
    """Open a ledger to publish on it: nobody else can until the block ends.

    What is written is committed if the block succeeds and forgotten if not.
    """
    file = Path(path)
    with closing(_checked(file)) as db:
        db.execute(f"PRAGMA busy_timeout = {int(1000 * wait)}")
        try:
            db.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError as error:
            if "readonly" in str(error):
                raise OutputError(
                    f"{str(file)!r} cannot be written. Nothing was changed."
                ) from None
            raise OutputError(
                f"another publish is at work on {str(file)!r}, and did not end within {wait:g} "
                "seconds. Nothing was changed; try again when it is done."
            ) from None
        with _readable(file), _transaction(db, None):
            yield db


@contextmanager
def _transaction(db: sqlite3.Connection, begin: str | None = "BEGIN IMMEDIATE") -> Iterator[None]:
    if begin:
        db.execute(begin)
    try:
        yield
        if db.in_transaction:
            db.execute("COMMIT")
    except BaseException:
        if db.in_transaction:
            with suppress(sqlite3.Error):
                db.execute("ROLLBACK")
        raise


@contextmanager
def _readable(file: Path) -> Iterator[None]:
    """Say it in our words when the database is in use or damaged, or the disk full."""
    try:
        yield
    except sqlite3.OperationalError as error:
        raise OutputError(
            f"{str(file)!r} cannot be read or written just now: {error}. Nothing was changed; try "
            "again when nobody else uses it and there is space."
        ) from None
    except sqlite3.DatabaseError as error:
        raise InputError(
            f"{str(file)!r} cannot be used as a ledger: {error}. Nothing was changed; restore it "
            "from a copy if it is damaged."
        ) from None


def _checked(file: Path) -> sqlite3.Connection:
    if not file.is_file():
        what = "is a folder, not a ledger" if file.is_dir() else "does not exist"
        raise InputError(
            f"the ledger {str(file)!r} {what}. Start one from a decoupled release: "
            "sfumato publish release/ --ledger FILE --alpha 0.5"
        )
    db = None
    try:
        db = _opened(file)
        [mark], [version] = (
            db.execute(f"PRAGMA {name}").fetchone() for name in ("application_id", "user_version")
        )
    except sqlite3.OperationalError as error:
        _close(db)
        if "locked" in str(error):
            raise OutputError(
                f"another publish is at work on {str(file)!r}. Try again when it is done."
            ) from None
        raise InputError(f"{str(file)!r} cannot be opened: {error}") from None
    except sqlite3.DatabaseError:
        _close(db)
        raise InputError(_NO_LEDGER.format(str(file))) from None
    if mark != MARK:
        _close(db)
        raise InputError(_NO_LEDGER.format(str(file)))
    if version > FORMAT:
        _close(db)
        raise InputError(
            f"{str(file)!r} is a ledger of format {version}, this Sfumato knows formats up to "
            f"{FORMAT}. Install a newer Sfumato; nothing was changed."
        )
    return db


_NO_LEDGER = "{!r} is not a ledger. Ledgers are made by sfumato publish from a decoupled release."


def _close(db: sqlite3.Connection | None) -> None:
    if db is not None:
        db.close()


def _opened(file: Path) -> sqlite3.Connection:
    where = f"file:{quote(str(file.absolute()))}?mode=rw"
    db = sqlite3.connect(where, uri=True, timeout=WAIT, isolation_level=None)
    try:
        db.execute("PRAGMA foreign_keys = ON")
        # One file without companions; on the disk before anything else happens.
        db.execute("PRAGMA journal_mode = DELETE")
        db.execute("PRAGMA synchronous = FULL")
        # What is deleted is overwritten: rows that waited must not be found in free pages.
        db.execute("PRAGMA secure_delete = ON")
    except sqlite3.Error:
        db.close()
        raise
    return db
