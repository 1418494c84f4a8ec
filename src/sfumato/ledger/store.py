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
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from hashlib import sha256
from itertools import combinations
from math import prod
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np

from sfumato.checks import require_number
from sfumato.errors import InputError, OutputError
from sfumato.text import text_of
from sfumato.typing import BoolArray, IntArray, Value

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


# How much a group's tables tell, and whether a row would make them tell too much.
#
# The tables of a decoupled release are public, so an adversary may form *any* combination of a
# group's values out of them, whether or not a person has it. Somebody who knows that a person is
# in the group, and one of the person's sensitive values, believes the other values with the
# product of their shares in the group. The most that can be believed in a group is therefore
# reached by its most frequent values, with the least telling of them known: no combination needs
# to be listed. With a single sensitive column nothing is left to learn from knowing it, and what
# is limited is the share itself.
#
# Everything is compared in whole numbers, so 2/5 · 4/5 is 0.32 and not a little more.


def exact(alpha: float) -> Fraction:
    """Read a limit as it is written: 0.32 is 32/100, whatever a float makes of it.

    >>> exact(0.32)
    Fraction(8, 25)
    """
    require_number("alpha", alpha, above=0, at_most=1)
    return Fraction(Decimal(repr(float(alpha))))


@dataclass(frozen=True, eq=False)
class Tally:
    """What is published of one group: how many rows it has, and how many have each value.

    Example:
        >>> group = Tally(5, (np.array([2, 1, 1, 1]), np.array([2, 3]), np.array([4, 1])))
        >>> group.worst  # 3/5 · 4/5, known by whoever knows the first column
        Fraction(12, 25)
    """

    size: int
    counts: tuple[IntArray, ...]
    """One array per sensitive column; each adds up to the size."""

    @property
    def factors(self) -> int:
        """How many shares are multiplied: all columns but the one that is known."""
        return max(len(self.counts) - 1, 1)

    @property
    def worst(self) -> Fraction:
        """The largest breach probability of any combination; 0 in an empty group."""
        if not self.size:
            return Fraction(0)
        largest = sorted((int(count.max(initial=0)) for count in self.counts), reverse=True)
        return Fraction(prod(largest[: self.factors]), self.size**self.factors)

    def plus(self, values: IntArray, rows: IntArray | int = 1) -> "Tally":
        """Add rows: `values[i, r]` is the value of column i in combination r."""
        weights = np.broadcast_to(np.asarray(rows, dtype=np.int64), values.shape[1:])
        counts = tuple(
            count + np.bincount(code, weights=weights, minlength=len(count)).astype(np.int64)
            for count, code in zip(self.counts, values, strict=True)
        )
        return Tally(self.size + int(weights.sum()), counts)

    def minus(self, values: IntArray, rows: IntArray | int = 1) -> "Tally":
        """Take rows away; a count may become negative, see `possible`."""
        return self.plus(values, -np.asarray(rows, dtype=np.int64))

    @property
    def possible(self) -> bool:
        """Whether no count is negative."""
        return self.size >= 0 and all(int(count.min(initial=0)) >= 0 for count in self.counts)


def fits(before: Tally, after: Tally, alpha: Fraction) -> bool:
    """Tell whether a group may be published so: nothing that became likelier is above alpha.

    So a group within the limit must stay within it, and in one that was above it before, what
    is above may only fall.

    >>> start = Tally(4, (np.array([2, 2]), np.array([2, 2])))
    >>> fits(start, start.plus(np.array([[0], [0]])), exact(0.5))
    False
    >>> everybody = Tally(3, (np.array([3, 0]), np.array([1, 2])))
    >>> fits(everybody, everybody.plus(np.array([[1], [0]])), exact(0.5))
    True
    """
    if after.worst <= alpha:
        return True
    if before.worst <= alpha:
        return False
    columns = [_frequent(*pair, alpha) for pair in _shares(before, after)]
    return not any(
        _some_rose(looked_at, Fraction(1), Fraction(1), alpha)
        for looked_at in combinations(columns, after.factors)
    )


_Pairs = list[tuple[Fraction, Fraction]]
"""The share of each value before and after."""


def _shares(before: Tally, after: Tally) -> list[tuple[IntArray, int, IntArray, int]]:
    return [
        (old, max(before.size, 1), new, after.size)
        for old, new in zip(before.counts, after.counts, strict=True)
    ]


def _frequent(
    old: IntArray, old_size: int, new: IntArray, new_size: int, alpha: Fraction
) -> _Pairs:
    """Keep the values whose own share is above alpha: with any other the product is not."""
    # A whole number is above a fraction if it is above the whole number below it.
    least = alpha.numerator * new_size // alpha.denominator
    return [
        (Fraction(int(old[i]), old_size), Fraction(int(new[i]), new_size))
        for i in np.flatnonzero(new > least)
    ]


def _some_rose(columns: Sequence[_Pairs], was: Fraction, now: Fraction, alpha: Fraction) -> bool:
    """Tell whether a product of one share per column is above alpha and was less before.

    Shares above alpha are few and products soon fall below it, so this never goes far.
    """
    if now <= alpha:
        return False
    if not columns:
        return now > was
    return any(_some_rose(columns[1:], was * b, now * a, alpha) for b, a in columns[0])


def breach(tally: Tally, row: Sequence[int]) -> tuple[Fraction, Fraction]:
    """Give the breach probability of one combination: knowing the group, and one value more.

    >>> group = Tally(5, (np.array([2, 3]), np.array([2, 3]), np.array([4, 1])))
    >>> [str(p) for p in breach(group, (0, 0, 0))]
    ['16/125', '8/25']
    """
    counts = [int(count[code]) for count, code in zip(tally.counts, row, strict=True)]
    if not tally.size:
        return Fraction(0), Fraction(0)
    group_only = Fraction(prod(counts), tally.size ** len(counts))
    largest = sorted(counts, reverse=True)[: tally.factors]
    return group_only, Fraction(prod(largest), tally.size**tally.factors)


def permitted(tally: Tally, row: Sequence[int], alpha: Fraction) -> int | None:
    """Give how many further rows of one combination a group takes, one after the other.

    None if there is no end, because nothing that rises passes alpha. Combinations of the row's
    own values only become likelier with every row. Those with some of its values and some of
    others become likelier up to a point and then less so; each is followed to its peak.

    >>> group = Tally(5, (np.array([2, 3]), np.array([2, 3]), np.array([4, 1])))
    >>> permitted(group, (0, 0, 0), exact(0.6))
    4
    """
    own = [int(count[code]) for count, code in zip(tally.counts, row, strict=True)]
    others = [
        int(np.delete(count, code).max(initial=0))
        for count, code in zip(tally.counts, row, strict=True)
    ]
    least: int | None = None
    for looked_at in combinations(range(len(own)), tally.factors):
        for picked in range(1, len(looked_at) + 1):
            for mine in combinations(looked_at, picked):
                rest = prod(others[i] for i in looked_at if i not in mine)
                rising = _Rising(tuple(own[i] for i in mine), rest, tally.size, tally.factors)
                limit = rising.last_within(alpha)
                if limit is not None and (least is None or limit < least):
                    least = limit
    return least


@dataclass(frozen=True)
class _Rising:
    """A combination's breach probability as rows with some of its values are added."""

    own: tuple[int, ...]
    rest: int
    """The product of the counts that stay as they are."""

    size: int
    factors: int

    def at(self, n: int) -> Fraction:
        total = self.size + n
        return Fraction(prod(c + n for c in self.own) * self.rest, total**self.factors or 1)

    def last_within(self, alpha: Fraction) -> int | None:
        """Give the last n before it passes alpha on its way up; None if it never does."""
        if alpha >= 1 or self.at(1) <= self.at(0):
            return None
        high = 1
        # It rises, and may fall again: doubling ends beyond alpha, or beyond the peak.
        while self.at(high) <= alpha and self.at(high) > self.at(high - 1):
            high *= 2
        if self.at(high) <= alpha:
            high = _last(lambda n: self.at(n) > self.at(n - 1), 1, high)
        if self.at(high) <= alpha:
            return None
        return _last(lambda n: self.at(n) <= alpha, 0, high)


def _last(good: Callable[[int], bool], low: int, high: int) -> int:
    """Find the last number from `low`, which is good, before `high`, which is not."""
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if good(middle) else (low, middle)
    return low


# What a ledger was started with, and where its chain ends.


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
        return exact(self.alpha)

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


# How values are written in a ledger: found by their text, shown as what they were.


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
    """Give the single keys of several, the reverse of `keys_of`.

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
# changes it made to the counts, and one of everything that waited after it. Whoever changes a
# number breaks a link. Somebody who writes the whole chain anew cannot be found out from the file
# alone: keep the last hash, which every publish shows, in another place.


_MODULUS = 2**256

HASHED = {
    "waiting": "SELECT kind, labels, row, new_labels, new_row, rows, since FROM waiting",
    "paths": "SELECT column, value, path FROM paths",
    "given": "SELECT fingerprint, sequence, time FROM given",
}
"""Tables that are hashed as they grow and shrink: a row more is a term more."""


def append(db: sqlite3.Connection, entry: dict[str, Any]) -> str:
    """Add an entry for a release whose changes are written already; give its hash."""
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
    """Recompute everything that can be, and say what does not agree; nothing if all does.

    Args:
        db: The ledger.
        head: The last hash as it was kept elsewhere, to find out a chain written anew.
    """
    import json

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


# Incremental Break-Merge: which new rows of a group may be published.
#
# The rule, for one group: **a row is admitted unless a combination it makes likelier ends above
# alpha** (`sfumato.ledger.store` says likelier for whom). So a group whose tables are within
# alpha stays within alpha, whatever is admitted; and in a group that was published above alpha,
# nothing above it ever rises. What is admitted is *maximal*: when it ends, no refused row could
# be added without breaking the rule. Which of several maximal choices it is, is drawn at random.


@dataclass(frozen=True, eq=False)
class Offers:
    """Rows that want to join (or to leave) a group, equal ones counted together."""

    values: IntArray
    """`values[i, c]`: the value of sensitive column i in combination c."""

    rows: IntArray
    """How many rows have combination c."""

    @property
    def total(self) -> int:
        """How many rows there are."""
        return int(self.rows.sum())


def admit(start: Tally, offers: Offers, alpha: Fraction, rng: np.random.Generator) -> IntArray:
    """Give how many rows of each combination are admitted.

    Rows are considered in random order, many at a time as long as that goes well: what is
    within the limit together need not be tried row by row. A combination of which one row
    was refused waits until the others had their turn, because they may make room for it. When
    no single row is admissible any more, several may still be together.

    Example:
        >>> start = Tally(4, (np.array([2, 2]), np.array([2, 2])))
        >>> offers = Offers(np.array([[0, 1], [0, 1]]), np.array([3, 1]))
        >>> admit(start, offers, Fraction(1, 2), np.random.default_rng(1)).tolist()
        [1, 1]
    """
    if fits(start, start.plus(offers.values, offers.rows), alpha):
        return offers.rows.copy()
    run = _Run(start, offers, alpha)
    run.admit_singly(rng)
    while run.admit_together(rng):
        run.admit_singly(rng)
    return run.taken


def thinned(offers: Offers, alpha: Fraction, rng: np.random.Generator) -> IntArray:
    """Give how many rows of each combination may be published as a group of their own.

    Somebody who compares two releases sees the newcomers of a group by themselves, and so does
    everybody when a group is new. Rows whose values are too frequent among them are left out
    until the tables of the rest are within alpha. Nobody may be left.

    Example:
        >>> offers = Offers(np.array([[0, 0, 1, 1], [0, 1, 0, 1]]), np.array([3, 1, 1, 1]))
        >>> thinned(offers, Fraction(1, 2), np.random.default_rng(1)).tolist()
        [1, 1, 1, 1]
    """
    widths = [int(codes.max(initial=-1)) + 1 for codes in offers.values]
    nobody = Tally(0, tuple(np.zeros(width, dtype=np.int64) for width in widths))
    return admit(nobody, offers, alpha, rng)


class _Run:
    """A group while rows are being admitted to it."""

    def __init__(self, start: Tally, offers: Offers, alpha: Fraction) -> None:
        self._now = start
        self._offers = offers
        self._alpha = alpha
        self.taken: IntArray = np.zeros(len(offers.rows), dtype=np.int64)

    @property
    def left(self) -> IntArray:
        """How many rows of each combination are not admitted yet."""
        return self._offers.rows - self.taken

    def admit_singly(self, rng: np.random.Generator) -> None:
        """Admit rows until no single one fits any more."""
        queue = np.repeat(np.arange(len(self.taken)), self.left)
        before = len(queue) + 1
        while 0 < len(queue) < before:
            before = len(queue)
            rng.shuffle(queue)
            queue = self._go_through(queue)

    def admit_together(self, rng: np.random.Generator) -> bool:
        """Admit several rows that fit together, if there are such."""
        together = _without_the_frequent(self._now, self._offers, self.left, self._alpha, rng)
        if together is None or not together.any():
            return False
        self._now = self._now.plus(self._offers.values, together)
        self.taken += together
        return True

    def _go_through(self, queue: IntArray) -> IntArray:
        """Admit what fits, in this order, and give back what did not."""
        left = []
        length = len(queue)
        while len(queue):
            block = queue[: max(length, 1)]
            if self._admit(block):
                queue = queue[len(block) :]
                length = 2 * len(block)
            elif len(block) > 1:
                length = len(block) // 2
            else:
                alike: BoolArray = queue == block[0]
                left.append(queue[alike])
                queue = queue[~alike]
                length = 1
        return np.concatenate(left) if left else queue

    def _admit(self, block: IntArray) -> bool:
        after = self._now.plus(self._offers.values[:, block])
        if not fits(self._now, after, self._alpha):
            return False
        self._now = after
        self.taken += np.bincount(block, minlength=len(self.taken))
        return True


def _without_the_frequent(
    base: Tally, offers: Offers, rows: IntArray, alpha: Fraction, rng: np.random.Generator
) -> IntArray | None:
    """Leave rows with the most frequent values out until the rest fits; None if none does.

    Those go first whose other values are frequent too. A combination with many rows loses a
    quarter of them at once: what is too much comes back when rows are admitted singly.
    """
    rows = rows.copy()
    order = rng.permutation(len(rows))
    tally = base.plus(offers.values, rows)
    while tally.worst > alpha:
        weight = np.sum([c[v] for c, v in zip(tally.counts, offers.values, strict=True)], axis=0)
        guilty = _guilty(tally, offers, rows, order)
        if not len(guilty):
            return None
        out = guilty[int(weight[guilty].argmax())]
        fewer = max(1, int(rows[out]) // 4)
        rows[out] -= fewer
        tally = tally.minus(offers.values[:, [out]], fewer)
    return rows


def _guilty(tally: Tally, offers: Offers, rows: IntArray, order: IntArray) -> IntArray:
    """Give the combinations with the most frequent value there is that still have rows."""
    columns = sorted(range(len(tally.counts)), key=lambda i: -int(tally.counts[i].max(initial=0)))
    for column in columns:
        most = int(tally.counts[column].argmax())
        guilty: IntArray = order[(offers.values[column][order] == most) & (rows[order] > 0)]
        if len(guilty):
            return guilty
    return order[:0]
