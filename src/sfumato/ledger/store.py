"""The file a ledger is kept in: one SQLite database, readable by its owner only.

It holds what was published, as counts: cells (the people who joined a group in one release), and
how many rows of each have each value of each sensitive column, now and as every release changed
it. It holds no row that was published: which values belonged to the same person is what a
decoupled release keeps secret, and a ledger that is lost must not tell. The exceptions are rows
that *wait*: they are kept, generalised if they will be, until they are published or withdrawn, and
overwritten then. Who has an identifier is recognised by a keyed fingerprint of it, which tells the
cell.
"""

import json
import os
import sqlite3
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from fractions import Fraction
from functools import cache, lru_cache
from itertools import islice
from pathlib import Path
from typing import Any, Final, Literal
from urllib.parse import quote

from sfumato.dataclasses import dataclass
from sfumato.decouplings.likelihood import exact_limit
from sfumato.errors import InputError, OutputError, reason_of
from sfumato.files import refuse_special, unfinished_folder
from sfumato.files.confinement import require_inside
from sfumato.text import text_of
from sfumato.typing import Value

MARK = 0x53464C47
"""`SFLG`: by this a ledger is told from other databases."""

FORMAT = 5
"""The version of the tables (`schema.sql`) and of their hashes; raised when they change."""

FORMAT_OF_SEVERAL = 6
"""The version of ledgers in which people may have several rows. The tables are the same. But a
fingerprint is that of a row, with the person's in its first half: who takes it for a person's
admits too much."""

FINGERPRINT = 16
"""The bytes of the fingerprint of a person, or of a row where people may have several."""

OWNER = FINGERPRINT // 2
"""The bytes of a row's fingerprint that are the same in all rows of a person."""

_BEATEN = {
    **dict.fromkeys(
        (1, 2),
        "It does not know who joined when, so its limit can be beaten by comparing its releases",
    ),
    **dict.fromkeys(
        (3, 4),
        "It recognises people letter by letter, and by all identifiers "
        "together, so who comes again in another spelling is published twice",
    ),
}
"""What is wrong with ledgers of earlier formats."""

WAIT = 10.0
"""Seconds to wait for another publish to end."""


@contextmanager
def new_ledger(path: Path, *, several: bool = False) -> Iterator[sqlite3.Connection]:
    """Open an empty ledger that gets its name if the block succeeds, and else vanishes.

    Args:
        path: The file to make.
        several: Whether people may have several rows.
    """
    require_inside(path, OutputError)
    if os.path.lexists(path):
        raise OutputError(
            f"{str(path)!r} exists. Give another name, or add rows to that ledger: sfumato ledger "
            "add."
        )
    hint = "Choose another place for the ledger, or change the permissions of the folder."
    if not path.parent.is_dir():
        raise OutputError(f"cannot write in {str(path.parent)!r}: there is no such folder. {hint}")
    # In a folder of its own, which the next run removes with all that a killed one left in it:
    # SQLite keeps a journal beside what it writes.
    with unfinished_folder(path, hint=hint) as folder:
        draft = folder / "draft"
        try:
            # Private from the first byte: SQLite gives its journal the mode of the file.
            os.close(os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        except OSError as error:
            raise OutputError(
                f"cannot write in {str(path.parent)!r}: {reason_of(error)}. {hint}"
            ) from None
        with _readable(path), closing(_connect(draft)) as db, _transaction(db):
            create_tables(db)
            db.execute(f"PRAGMA application_id = {MARK}")
            db.execute(f"PRAGMA user_version = {FORMAT_OF_SEVERAL if several else FORMAT}")
            yield db
        _into_place(draft, path)


def create_tables(db: sqlite3.Connection) -> None:
    """Create the empty tables of a ledger."""
    for statement in _statements():
        db.execute(statement)


@cache
def _statements() -> list[str]:
    return Path(__file__).with_name("schema.sql").read_text(encoding="utf-8").split(";\n")


def _into_place(draft: Path, path: Path) -> None:
    try:
        # A link, not a renaming: it never replaces what is there.
        os.link(draft, path)
    except FileExistsError:
        raise OutputError(
            f"{str(path)!r} was made by another program meanwhile. Nothing was changed."
        ) from None
    except OSError:
        draft.rename(path)


@contextmanager
def reading(path: str | os.PathLike[str]) -> Iterator[sqlite3.Connection]:
    """Open a ledger to look at it; everything that is read is of one moment.

    Whether it is as it was written is not checked: see `sfumato.ledger.chain`.
    """
    file = Path(path)
    # Not mode=ro: what an interrupted publish left half-done must be undone before it is read.
    with closing(_open_checked(file)) as db, _readable(file):
        db.execute("PRAGMA query_only = ON")
        with _transaction(db, "BEGIN"):
            yield db


@contextmanager
def writing(path: str | os.PathLike[str], *, wait: float = WAIT) -> Iterator[sqlite3.Connection]:
    """Open a ledger to write to it: no other process can until the block ends.

    What is written is committed if the block succeeds and forgotten if not.
    """
    file = Path(path)
    with closing(_open_checked(file)) as db:
        db.execute(f"PRAGMA busy_timeout = {int(1000 * wait)}")
        try:
            db.execute("BEGIN IMMEDIATE")
        except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
            if is_damage(error) or _pretends_readonly(error, file):
                raise damage_error(file, "it cannot be read") from None
            if _is_readonly(error):
                raise _readonly_error(file) from None
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


_DAMAGE = frozenset(
    {
        sqlite3.SQLITE_ERROR,
        sqlite3.SQLITE_CORRUPT,
        sqlite3.SQLITE_TOOBIG,
        sqlite3.SQLITE_CONSTRAINT,
        sqlite3.SQLITE_MISMATCH,
        sqlite3.SQLITE_FORMAT,
        sqlite3.SQLITE_RANGE,
        sqlite3.SQLITE_NOTADB,
    }
)


def is_damage(error: Exception) -> bool:
    """Return whether an error is about what the file holds, and not about disk or locks."""
    code = getattr(error, "sqlite_errorcode", None)
    if code is None:
        # Python's own: text that is not UTF-8, in a cell or in what SQLite says of it.
        return isinstance(error, UnicodeDecodeError) or "UTF-8" in str(error)
    return code == sqlite3.SQLITE_IOERR_SHORT_READ or code & 0xFF in _DAMAGE


def _is_readonly(error: Exception) -> bool:
    """Return whether SQLite may not write the file, or the journal that it keeps beside it."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_READONLY


def _pretends_readonly(error: Exception, file: Path) -> bool:
    """Return whether only the file's own header forbids to write it."""
    code = getattr(error, "sqlite_errorcode", None)
    return code == sqlite3.SQLITE_READONLY and _may(file, os.W_OK)


def _may(file: Path, how: int) -> bool:
    # It is not opened to see: to close it again would give up the locks that SQLite holds on it.
    return os.access(file, how, effective_ids=os.access in os.supports_effective_ids)


def _readonly_error(file: Path) -> OutputError:
    """Describe a ledger that may be read and not written, or whose folder may not."""
    why = (
        f"nothing can be written in {str(file.parent)!r}, where SQLite keeps a journal meanwhile"
        if _may(file, os.W_OK)
        else "the file is read-only for you"
    )
    return OutputError(
        f"the ledger {str(file)!r} cannot be written: {why}. Nothing was changed. Change the "
        "permissions of the file and its folder, or publish as the user who owns them."
    )


def damage_error(file: Path, what: str) -> InputError:
    """Describe a ledger that cannot be used, and what to do about it."""
    return InputError(
        f"the ledger {str(file)!r} is damaged, or was edited: {what}. Nothing was changed. Restore "
        "the last copy whose hash is the one you kept (sfumato ledger verify --head), or start a "
        "new ledger from the last release of all tables."
    )


@contextmanager
def _readable(file: Path) -> Iterator[None]:
    """Raise our own errors when the database is in use or damaged, or the disk full."""
    try:
        yield
    except sqlite3.Error as error:
        # The error may quote what the file holds, so its text is shown only if it is about locks.
        if is_damage(error) or _pretends_readonly(error, file):
            raise damage_error(file, "it cannot be read") from None
        if _is_readonly(error):
            raise _readonly_error(file) from None
        raise OutputError(
            f"{str(file)!r} cannot be read or written just now: {error}. Nothing was changed; try "
            "again when no other program uses it and there is space."
        ) from None


def _open_checked(file: Path) -> sqlite3.Connection:
    refuse_special(file)
    if not file.is_file():
        what = "is a folder, not a ledger" if file.is_dir() else "does not exist"
        raise InputError(
            f"the ledger {str(file)!r} {what}. Start one from a decoupled release: "
            "sfumato ledger start FILE release/ --alpha 0.5"
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
        if is_damage(error):
            raise damage_error(file, "it cannot be read") from None
        raise InputError(
            f"the ledger {str(file)!r} cannot be opened: "
            f"{error if _may(file, os.R_OK) else 'Permission denied'}. "
            "Change the permissions of the file and its folder, or ask the user who owns them."
        ) from None
    except (sqlite3.DatabaseError, UnicodeDecodeError, MemoryError):
        # SQLite quotes what it cannot read, and Python cannot always decode that; and to open a
        # ledger takes little memory, unless its header asks for more.
        _close(db)
        raise InputError(_NO_LEDGER.format(str(file))) from None
    if mark != MARK:
        _close(db)
        raise InputError(_NO_LEDGER.format(str(file)))
    if version in _BEATEN:
        _close(db)
        raise InputError(
            f"{str(file)!r} is a ledger of format {version}. {_BEATEN[version]}, and nothing can "
            "be added to it. Start a new ledger from its last release of all tables; what that "
            "ledger promises holds for its own releases. Nothing was changed."
        )
    if version not in (FORMAT, FORMAT_OF_SEVERAL):
        _close(db)
        raise InputError(
            f"{str(file)!r} is a ledger of format {version}, this Sfumato knows formats "
            f"{FORMAT} and {FORMAT_OF_SEVERAL}. Install a newer Sfumato, or restore a copy if it "
            "is damaged; nothing was changed."
        )
    return db


_MOST_BESIDE = 1000
"""Files of a folder among which other ledgers are looked for."""


def ledgers_of(folder: Path, origin: str) -> list[Path]:
    """Return the ledgers in a folder that were started from one release.

    Args:
        folder: The folder.
        origin: The hash of the release, as ledgers write it down; empty if there is none.
    """
    found = []
    with suppress(OSError):
        for file in sorted(islice(folder.iterdir(), _MOST_BESIDE)) if origin else ():
            with suppress(OSError, sqlite3.Error, ValueError, TypeError, KeyError):
                if file.is_file() and _is_marked(file) and _first_files(file) == origin:
                    found.append(file)
    return found


def _is_marked(file: Path) -> bool:
    """Return whether the head of a file says that it is a ledger."""
    with file.open("rb") as opened:
        head = opened.read(_HEAD)
    mark = head[_HEAD - 32 : _HEAD - 28]
    return head.startswith(b"SQLite format 3\0") and mark == MARK.to_bytes(4, "big")


_HEAD = 100
"""The bytes of the head of an SQLite file."""


def _first_files(file: Path) -> object:
    """Return the hash of the release that a ledger was started from."""
    with closing(sqlite3.connect(f"file:{quote(str(file.absolute()))}?mode=ro", uri=True)) as db:
        [text] = db.execute("SELECT entry FROM releases WHERE sequence = 1").fetchone()
    return json.loads(text)["files"]


_NO_LEDGER = (
    "{!r} is not a ledger, or is damaged. Ledgers are made by sfumato ledger start from a "
    "decoupled release; restore a copy if it was one."
)


def _close(db: sqlite3.Connection | None) -> None:
    if db is not None:
        db.close()


def _connect(file: Path) -> sqlite3.Connection:
    where = f"file:{quote(str(file.absolute()))}?mode=rw"
    db = sqlite3.connect(where, uri=True, timeout=WAIT, isolation_level=None)
    try:
        db.execute("PRAGMA foreign_keys = ON")
        # What a schema defines is not trusted, and cells that overflow their page are no cells.
        db.execute("PRAGMA trusted_schema = OFF")
        db.execute("PRAGMA cell_size_check = ON")
        # One file without companions; on the disk before anything else happens.
        db.execute("PRAGMA journal_mode = DELETE")
        db.execute("PRAGMA synchronous = FULL")
        # What is deleted is overwritten: rows that waited must not be found in free pages.
        db.execute("PRAGMA secure_delete = ON")
        # What is noted beside the ledger is nowhere but in memory.
        db.execute("PRAGMA temp_store = MEMORY")
    except BaseException:
        db.close()
        raise
    return db


# Settings: what a ledger was started with, and where its chain ends.


ANY: Final = "any"
"""How many rows a person may have, if there is no end."""

RowsPerPerson = int | Literal["any"]
"""How many rows a person may have."""

MOST_EACH = 1000
"""The largest number of rows of a person that can be protected together."""

OPTIONAL = ("hide_waiting", "exact", "blind")
"""What only some ledgers have in `meta`."""

SEALS = ("head", "pending_hash", "blind")
"""What `meta` holds beside the settings: the last hash, that of the table `pending`, and what the
hashes of tables in the last entry are blinded with."""


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
    """The level of each quasi-identifier, where it is the same in all groups and known; it is
    raised by an epoch, and all other settings stay."""

    policy: str
    """The policy as text; empty if there is none."""

    folder: str
    """What file names in the policy are relative to."""

    created: str
    salt: str
    """What fingerprints are made with; secret as the ledger is."""

    rows_per_person: RowsPerPerson | None = None
    """How many rows of a person are ever published, of which alpha bounds what is believed of all
    together; any number, of which it bounds what is believed of each; None for one row each."""

    hide_waiting: bool = False
    """Whether newcomers are decided on in lots, so that who waits tells no value."""

    exact: tuple[str, ...] = ()
    """The quasi-identifiers of which each person's row is published as it is, in buckets that are
    dealt; none where people with the same labels are groups."""

    @property
    def known(self) -> tuple[str, ...]:
        """The quasi-identifiers that rows come with."""
        return self.exact or self.quasi_identifiers

    @property
    def several(self) -> bool:
        """Whether people may have several rows."""
        return self.rows_per_person is not None

    @property
    def limit(self) -> Fraction:
        """The largest share of a value in a part: the exact alpha, if rows are people.

        In buckets all values differ.
        """
        if self.exact:
            return Fraction(1, self.k)
        most = self.rows_per_person
        return row_limit(exact_limit(self.alpha), most if isinstance(most, int) else 1)

    @property
    def told(self) -> float:
        """What a comparison of releases may tell: the limit, but alpha where buckets allow less."""
        return self.alpha if self.exact else float(self.limit)

    def save(self, db: sqlite3.Connection) -> None:
        """Write them into an empty ledger."""
        for key, value in self.__dict__.items():
            if key in self.names(several=self.several) and (key not in OPTIONAL or value):
                put(db, key, json.dumps(value, ensure_ascii=False))

    @classmethod
    def names(cls, *, several: bool) -> tuple[str, ...]:
        """Return which settings a ledger has."""
        names = tuple(cls.__dataclass_fields__)
        return names if several else tuple(name for name in names if name != "rows_per_person")

    @classmethod
    def load(cls, db: sqlite3.Connection) -> "Settings":
        """Read them; raise if they are none that a ledger can be started with."""
        [version] = db.execute("PRAGMA user_version").fetchone()
        try:
            plain: dict[str, Any] = {
                name: json.loads(get(db, name))
                for name in cls.names(several=version == FORMAT_OF_SEVERAL)
                if name not in OPTIONAL or get(db, name)
            }
            last = "SELECT levels FROM epochs ORDER BY sequence DESC LIMIT 1"
            for [levels] in db.execute(last):
                plain["levels"] = json.loads(levels)
        except (TypeError, ValueError, RecursionError):
            raise InputError(_NO_SETTINGS) from None
        if not all(_FORMS[name](value) for name, value in plain.items()):
            raise InputError(_NO_SETTINGS)
        for name in ("quasi_identifiers", "sensitive", "levels", "exact"):
            plain[name] = tuple(plain.get(name, ()))
        settings = cls(**plain)
        if len(settings.levels) != len(settings.quasi_identifiers):
            raise InputError(_NO_SETTINGS)
        if settings.exact and (settings.quasi_identifiers or len(settings.sensitive) != 1):
            raise InputError(_NO_SETTINGS)
        return settings


def row_limit(alpha: Fraction, rows: int) -> Fraction:
    """Return how much may be believed of each of some rows, so that it is alpha of all together.

    Each has a value with at most b, whatever the others have: one of them has it with at most
    1 - (1 - b)^rows. The root is rounded down.

    >>> row_limit(Fraction(1, 2), 1), row_limit(Fraction(3, 4), 2), row_limit(Fraction(5, 9), 2)
    (Fraction(1, 2), Fraction(1, 2), Fraction(1, 3))
    >>> [round(float(row_limit(Fraction(1, 2), rows)), 4) for rows in (2, 3, 5)]
    [0.2929, 0.2063, 0.1294]
    """
    if rows == 1:
        return alpha
    root = Fraction(1 - float(1 - alpha) ** (1 / rows))
    simple = root.limit_denominator(1000)
    rounded = Fraction(int(root * _FINEST), _FINEST)
    while (1 - rounded) ** rows < 1 - alpha:
        rounded -= Fraction(1, _FINEST)
    return simple if simple > rounded and (1 - simple) ** rows >= 1 - alpha else rounded


_FINEST = 10**6

_NO_SETTINGS = "the settings of the ledger cannot be read: it is damaged, or was edited"

MOST_ROWS = 2**53
"""No count in a ledger is larger; sums of counts then fit into 64 bits."""


def _is_whole(value: object, least: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and least <= value <= MOST_ROWS


def _are_names(value: object) -> bool:
    return (
        isinstance(value, list)
        and all(is_text(name) for name in value)
        and len(set(value)) == len(value)
    )


def is_text(value: object) -> bool:
    """Return whether a value is text that can be written in UTF-8: JSON can hold other."""
    try:
        return isinstance(value, str) and bool(value.encode() or True)
    except UnicodeEncodeError:
        return False


_FORMS: dict[str, Callable[[Any], bool]] = {
    "alpha": lambda value: isinstance(value, float | int) and 0 < value <= 1,
    "k": lambda value: _is_whole(value, 1),
    "quasi_identifiers": _are_names,
    "sensitive": lambda value: _are_names(value) and bool(value),
    "levels": lambda value: (
        isinstance(value, list) and all(each is None or _is_whole(each, 0) for each in value)
    ),
    **dict.fromkeys(("policy", "folder", "created", "salt"), is_text),
    "hide_waiting": lambda value: value is True,
    "exact": lambda value: _are_names(value) and bool(value),
    "rows_per_person": lambda value: value == ANY or (_is_whole(value, 2) and value <= MOST_EACH),
}
"""Which values each setting may have."""


# Keys: values are found by their text, and shown as what they were.


_MOST_FLOAT = int(sys.float_info.max)


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
    """Write a value so that it can be given back as it was; dates and the like become text.

    >>> shown_of(39), shown_of(int(1e300)), shown_of(10**40 + 1)[:5]
    ('39', '1e+300', '"1000')
    """
    plain = (
        value if value is None or isinstance(value, str | bool | int | float) else text_of(value)
    )
    if isinstance(plain, int) and not -(2**63) <= plain < 2**64:
        # No column of whole numbers holds it: it came as a float, or with more digits than one has.
        plain = float(plain) if abs(plain) < _MOST_FLOAT and float(plain) == plain else str(plain)
    return json.dumps(plain, ensure_ascii=False)
