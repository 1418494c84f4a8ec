"""The file a ledger is kept in: one SQLite database, readable by its owner only.

It holds what was published, as counts: groups, and how many rows of each have each value of each
sensitive column, now and as every release changed it. It holds no row that was published or
refused: which values belonged to the same person is what a decoupled release keeps secret, and a
ledger that is lost must not tell. The exceptions are rows that *wait*: they are kept, generalised,
until they are published or withdrawn, and overwritten then.
"""

import json
import os
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any
from urllib.parse import quote

from sfumato.errors import InputError, OutputError
from sfumato.likelihood import exact_limit
from sfumato.text import text_of
from sfumato.typing import Value

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
    """Open an empty ledger that gets its name if the block succeeds, and else vanishes."""
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
        with closing(_connect(draft)) as db, _transaction(db):
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
    with closing(_open_checked(file)) as db, _readable(file):
        db.execute("PRAGMA query_only = ON")
        with _transaction(db, "BEGIN"):
            yield db


@contextmanager
def writing(path: str | os.PathLike[str], *, wait: float = WAIT) -> Iterator[sqlite3.Connection]:
    """Open a ledger to publish on it: no other process can until the block ends.

    What is written is committed if the block succeeds and forgotten if not.
    """
    file = Path(path)
    with closing(_open_checked(file)) as db:
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
    """Raise our own errors when the database is in use or damaged, or the disk full."""
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


def _open_checked(file: Path) -> sqlite3.Connection:
    if not file.is_file():
        what = "is a folder, not a ledger" if file.is_dir() else "does not exist"
        raise InputError(
            f"the ledger {str(file)!r} {what}. Start one from a decoupled release: "
            "sfumato publish release/ --ledger FILE --alpha 0.5"
        )
    db = None
    try:
        db = _connect(file)
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


def _connect(file: Path) -> sqlite3.Connection:
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


# Settings: what a ledger was started with, and where its chain ends.


def get(db: sqlite3.Connection, key: str) -> str:
    """Read one setting."""
    found = db.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
    return "" if found is None else str(found[0])


def put(db: sqlite3.Connection, key: str, value: str) -> None:
    """Write one setting."""
    db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, value))


@dataclass(frozen=True)
class Settings:
    """What holds for all releases of a ledger."""

    alpha: float
    k: int
    quasi_identifiers: tuple[str, ...]
    sensitive: tuple[str, ...]
    levels: tuple[int | None, ...]
    """The level of each quasi-identifier, where it is the same in all groups and known."""

    policy: str
    """The policy as text; empty if there is none."""

    folder: str
    """What file names in the policy are relative to."""

    created: str
    salt: str
    """What fingerprints are made with; secret as the ledger is."""

    @property
    def limit(self) -> Fraction:
        """The exact alpha."""
        return exact_limit(self.alpha)

    def save(self, db: sqlite3.Connection) -> None:
        """Write them into an empty ledger."""
        for key, value in self.__dict__.items():
            put(db, key, json.dumps(value, ensure_ascii=False))
        put(db, "head", "")
        for table in ("waiting", "paths", "given"):
            put(db, f"{table}_hash", "0" * 64)

    @classmethod
    def load(cls, db: sqlite3.Connection) -> "Settings":
        """Read them."""
        plain: dict[str, Any] = {
            name: json.loads(get(db, name)) for name in cls.__dataclass_fields__
        }
        for name in ("quasi_identifiers", "sensitive", "levels"):
            plain[name] = tuple(plain[name])
        return cls(**plain)


# Keys: values are found by their text, and shown as what they were.


def key_of(value: Value) -> str:
    """Write a value so that equal ones are written alike, and missing is no text.

    >>> key_of("39"), key_of(39.0), key_of(None)
    ('"39"', '"39"', 'null')
    """
    return _key(None if value is None else text_of(value))


@lru_cache(maxsize=1 << 16)
def _key(text: str | None) -> str:
    return json.dumps(text, ensure_ascii=False)


@lru_cache(maxsize=1 << 16)
def split_keys(keys: str) -> tuple[str, ...]:
    """Return the single keys of several, the reverse of `keys_of`.

    >>> split_keys('["30-50", null]')
    ('"30-50"', 'null')
    """
    return tuple(map(_key, json.loads(keys)))


def keys_of(values: Iterable[Value]) -> str:
    """Write several values as one key.

    >>> keys_of(["30-50", None])
    '["30-50", null]'
    """
    return f"[{', '.join(map(key_of, values))}]"


def shown_of(value: Value) -> str:
    """Write a value so that it can be given back as it was; dates and the like become text."""
    plain = (
        value if value is None or isinstance(value, str | bool | int | float) else text_of(value)
    )
    return json.dumps(plain, ensure_ascii=False)


def digest_text(plain: object) -> str:
    """Write plain values in one way only, so that their hash is always the same."""
    return json.dumps(plain, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


# The chain of entries: a ledger that was edited by hand is found out.
#
# Every release is one entry, and every entry holds the hash of the one before, a hash of all the
# changes it made to the counts, and one of everything that waited after it. To change a number
# breaks a link. A forger who rewrites the whole chain cannot be found out from the file alone:
# keep the last hash, which every publish shows, in another place.


_MODULUS = 2**256

HASHED = {
    "waiting": "SELECT kind, labels, row, new_labels, new_row, rows, since FROM waiting",
    "paths": "SELECT column, value, path FROM paths",
    "given": "SELECT fingerprint, sequence, time FROM given",
}
"""Tables that are hashed as they grow and shrink: a row more is a term more."""


def append(db: sqlite3.Connection, entry: dict[str, Any]) -> str:
    """Add an entry for a release whose changes are written already, and return its hash."""
    previous = get(db, "head")
    whole = {
        **entry,
        "changes": changes_digest(db, entry["sequence"]),
        **{f"{table}_hash": get(db, f"{table}_hash") for table in HASHED},
        "settings": settings_digest(db),
    }
    text = digest_text(whole)
    hashed = _link(previous, text)
    db.execute(
        "INSERT INTO releases VALUES (?, ?, ?, ?)", (entry["sequence"], text, previous, hashed)
    )
    put(db, "head", hashed)
    return hashed


def _link(previous: str, text: str) -> str:
    return sha256(f"{previous}\n{text}".encode()).hexdigest()


def changes_digest(db: sqlite3.Connection, sequence: int) -> str:
    """Hash what a release changed: groups by their labels, values by their text."""
    digest = sha256()
    for row in db.execute(
        "SELECT g.labels, g.label, m.joined, m.left_it FROM moves m JOIN groups g ON g.id = "
        "m.group_id WHERE m.sequence = ? ORDER BY g.labels",
        (sequence,),
    ):
        digest.update(digest_text(row).encode())
    for row in db.execute(
        "SELECT g.labels, v.column, v.value, c.rows FROM changes c JOIN groups g ON g.id = "
        "c.group_id JOIN sensitive_values v ON v.id = c.value_id WHERE c.sequence = ? "
        "ORDER BY g.labels, v.column, v.value",
        (sequence,),
    ):
        digest.update(digest_text(row).encode())
    return digest.hexdigest()


def settings_digest(db: sqlite3.Connection) -> str:
    """Hash what a ledger was started with."""
    rows = db.execute(
        "SELECT key, value FROM meta WHERE key <> 'head' AND key NOT LIKE '%_hash' ORDER BY key"
    ).fetchall()
    return sha256(digest_text(rows).encode()).hexdigest()


def rows_digest(rows: Iterable[tuple[object, ...]]) -> int:
    """Hash rows, whatever their order: a sum, so that one more is one more term."""
    return (
        sum(int.from_bytes(sha256(digest_text(row).encode()).digest()) for row in rows) % _MODULUS
    )


def shift(db: sqlite3.Connection, table: str, by: int) -> None:
    """Note that rows were added to a table, or taken from it."""
    key = f"{table}_hash"
    put(db, key, f"{(int(get(db, key), 16) + by) % _MODULUS:064x}")


def faults(db: sqlite3.Connection, head: str | None = None) -> list[str]:
    """Recompute everything that can be, and return what does not agree; nothing if all does.

    Args:
        db: The ledger.
        head: The last hash as it was kept elsewhere, to find out a rewritten chain.
    """
    found = []
    previous = ""
    entry: dict[str, Any] = {}
    for sequence, text, before, hashed in db.execute(
        "SELECT sequence, entry, previous, hash FROM releases ORDER BY sequence"
    ).fetchall():
        entry = json.loads(text)
        if before != previous or hashed != _link(previous, text) or entry["sequence"] != sequence:
            found.append(f"entry {sequence} is not the one that was written")
        if entry["changes"] != changes_digest(db, sequence):
            found.append(f"the changes of release {sequence} are not those that were published")
        previous = hashed
    if get(db, "head") != previous:
        found.append("the last entry is missing, or was added by hand")
    if head is not None and head != previous:
        found.append(f"the last hash is {previous}, not {head}")
    found += _disagreements(db)
    if entry.get("settings") != settings_digest(db):
        found.append("the settings are not those the ledger was started with")
    for table, rows in HASHED.items():
        hashed = f"{rows_digest(db.execute(rows)):064x}"
        if not hashed == get(db, f"{table}_hash") == entry.get(f"{table}_hash"):
            found.append(f"the table {table!r} is not as it was written")
    return found


def _disagreements(db: sqlite3.Connection) -> list[str]:
    """Compare the counts with the sum of all changes, and with the sizes of the groups."""
    found = []
    [wrong] = db.execute(
        "SELECT COUNT(*) FROM (SELECT group_id, value_id, SUM(rows) AS n FROM (SELECT group_id, "
        "value_id, rows FROM changes UNION ALL SELECT group_id, value_id, -rows FROM counts) "
        "GROUP BY group_id, value_id HAVING n <> 0)"
    ).fetchone()
    if wrong:
        found.append(f"{wrong} counts are not what the releases add up to")
    [wrong] = db.execute(
        "SELECT COUNT(*) FROM groups g WHERE g.rows <> (SELECT COALESCE(SUM(joined - left_it), 0) "
        "FROM moves m WHERE m.group_id = g.id)"
    ).fetchone()
    if wrong:
        found.append(f"{wrong} groups do not have as many rows as the releases add up to")
    [wrong] = db.execute(
        "SELECT COUNT(*) FROM (SELECT c.group_id FROM counts c JOIN sensitive_values v ON v.id = "
        "c.value_id JOIN groups g ON g.id = c.group_id GROUP BY c.group_id, v.column HAVING "
        "SUM(c.rows) <> MAX(g.rows))"
    ).fetchone()
    if wrong:
        found.append(f"{wrong} tables of groups do not count every row once")
    return found
