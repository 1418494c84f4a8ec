"""Identifiers: one column says who a person is, however its values are spelt.

A person is recognised by a keyed hash of the identifier, a *fingerprint*. What is hashed is what
is left of the identifier when its spelling does not matter: `P01`, `p01 ` and `P01` in wide
letters are one person, and so are 7, `0007` and `7.0`. Other identifiers look alike and may be of
two people: `P-1` and `P01`. Of these a ledger keeps hashes of *likenesses*, so that the
publisher can be asked before anything is published.
"""

import json
import re
import sqlite3
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache
from hashlib import blake2b, sha256

from sfumato.dataclasses import dataclass
from sfumato.errors import InputError, some
from sfumato.ledger.store import FINGERPRINT, OWNER, Settings
from sfumato.policy import Policy
from sfumato.schema import Role
from sfumato.tables import Table
from sfumato.text import fold_spelling, text_of
from sfumato.typing import Value

Row = tuple[Value, ...]

Likenesses = dict[str, tuple[str, ...]]
"""By the fingerprint of a person, those of the likenesses."""


@dataclass(frozen=True)
class Identity:
    """The columns that say who a person is.

    Args:
        columns: The person's column first. Where people may have several rows there are others,
            which together say which row of the person it is.
        salt: The ledger's own, so that fingerprints of two ledgers cannot be compared.
        several: Whether people may have several rows.
    """

    columns: tuple[str, ...]
    salt: str
    several: bool = False

    @classmethod
    def of(cls, settings: Settings, policy: Policy | None) -> "Identity | None":
        """Return how a ledger recognises people; None if its policy names no identifier."""
        person = None if policy is None else person_column(policy)
        if policy is None or person is None:
            return None
        names = policy.with_role(Role.IDENTIFIER) if settings.several else ()
        others = tuple(name for name in names if name != person)
        return cls((person, *others), settings.salt, settings.several)

    def is_in(self, table: Table) -> bool:
        """Return whether a table says who its rows are of."""
        return all(name in table.columns for name in self.columns)

    def marks(self, rows: Iterable[Row]) -> list[str]:
        """Return the fingerprint of each row's person, or of the row where people have several.

        It is empty where the row does not say whose it is, or which of the person's rows.

        >>> marks = Identity(("patient",), "s").marks([("P01",), ("p01 ",), ("P02",), (" ",)])
        >>> marks[0] == marks[1], marks[0] == marks[2], marks[3]
        (True, False, '')
        >>> each = Identity(("patient", "visit"), "s", several=True)
        >>> one, other = each.marks([("ann", 1), ("Ann", "2.0")])
        >>> one[: 2 * OWNER] == other[: 2 * OWNER], one == other
        (True, False)
        """
        folded = [tuple(fold_identifier(value) for value in row) for row in rows]
        owners = self._hash(_key(row[:1]) for row in folded)
        if not self.several:
            return [owner if row[0] else "" for owner, row in zip(owners, folded, strict=True)]
        half = 2 * OWNER
        return [
            owner[:half] + mark[half:] if row[0] and any(row[1:]) else ""
            for owner, mark, row in zip(owners, self._hash(map(_key, folded)), folded, strict=True)
        ]

    def people(self, values: Iterable[Value]) -> list[str]:
        """Return the fingerprint of each person, whatever their number of rows."""
        return self._hash(_key((fold_identifier(value),)) for value in values)

    def likenesses(self, people: Iterable[Value]) -> list[tuple[str, ...]]:
        """Return the fingerprints of each person's likenesses.

        It is the person's own fingerprint if the identifier has nothing that may be left out.

        >>> identity = Identity(("patient",), "s")
        >>> one, other, third = identity.likenesses(["P-007", "P7", "P8"])
        >>> one == other, one == third, identity.marks([("p7",)]) == [*one]
        (True, False, True)
        """
        return [
            tuple(self._hash(_key((each,)) for each in likenesses_of(fold_identifier(value))))
            for value in people
        ]

    def _hash(self, keys: Iterable[str]) -> list[str]:
        # A thief of the ledger can still try out identifiers; that is why it is private.
        key = sha256(f"person\n{self.salt}".encode()).digest()
        return [
            blake2b(
                each.encode("utf-8", "surrogatepass"), digest_size=FINGERPRINT, key=key
            ).hexdigest()
            for each in keys
        ]


def _key(parts: Sequence[str]) -> str:
    return json.dumps(parts, ensure_ascii=False)


def person_column(policy: Policy) -> str | None:
    """Return the column that says who a person is; None if a policy has no identifier.

    Raises:
        InputError: It has several, and does not say which.
    """
    if policy.person is not None and policy.person.column is not None:
        return policy.person.column
    names = policy.with_role(Role.IDENTIFIER)
    if len(names) > 1:
        raise InputError(
            f"the policy has {len(names)} identifiers ({some(names, most=20)}) and does not say "
            "which of them is a person's: a patient with a new visit would be a new person. Add "
            f"person: {names[0]} (or another of them) to the policy."
        )
    return names[0] if names else None


@lru_cache(maxsize=1 << 16)
def _fold(text: str) -> str:
    folded = fold_spelling(text)
    return folded if any(likenesses_of(folded)) else ""


def fold_identifier(value: Value) -> str:
    """Return what is left of an identifier when its spelling does not matter; empty if nothing.

    Signs alone identify no person.

    >>> {fold_identifier(each) for each in ("P01", "p01 ", " P 01", "\uff3001")}
    {'p01'}
    >>> {fold_identifier(each) for each in (7, 7.0, "7", "0007", "7.0", "+7")}
    {'7'}
    >>> fold_identifier(None), fold_identifier(" "), fold_identifier("--")
    ('', '', '')
    """
    return "" if value is None else _fold(text_of(value))


def likenesses_of(folded: str) -> tuple[str, ...]:
    """Return what identifiers have in common that are likely to be of one person.

    Signs, accents, leading zeros, and letters that look like others make no difference; nor do
    zeros after the comma of a number, digits of another script, and the ways to write letters
    that English does not have. Without signs, zeros within are no leading ones any more: then
    there is one likeness with them, and one without. Letters that look like one in upper case and
    like another in lower case have a likeness for both.

    >>> {likenesses_of(each) for each in ("p-007", "p7", "p/07", "#p007", "\u04407", "'p7'")}
    {('p7',)}
    >>> likenesses_of("de-10-0200"), likenesses_of("de-10-200"), likenesses_of("m\u00fcller")
    (('de100200', 'de10200'), ('de10200',), ('muller',))
    >>> likenesses_of("7,00"), likenesses_of("p\u096d"), likenesses_of("s\u00f8rensen-7")
    (('7',), ('p7',), ('sorensen7',))
    >>> likenesses_of("mueller-7"), likenesses_of("\u03b7-7")
    (('mueller7', 'muller7'), ('n7', 'h7'))
    """
    if folded.isascii():
        readings = [folded]
    else:
        plain = unicodedata.normalize("NFKD", folded).translate(_WRITTEN_AS)
        plain = "".join(_digit(c) for c in plain if not unicodedata.combining(c))
        readings = [plain.translate(_LOOKS_LIKE), plain.translate({**_LOOKS_LIKE, **_LARGE})]
    readings = [_AFTER_COMMA.sub(r"\1", each) for each in readings]
    readings += [_TWO_FOR_ONE.sub(r"\1", each) for each in readings]
    found = []
    for reading in dict.fromkeys(readings):
        parts = "".join(c if c.isalnum() else " " for c in reading).split()
        found.append(_LEADING_ZEROS.sub("", "".join(parts)))
        found.append("".join(_LEADING_ZEROS.sub("", part) for part in parts))
    return tuple(dict.fromkeys(found))


def _digit(c: str) -> str:
    """Return a digit of any script as a usual one, and other characters as they are."""
    number = None if c.isascii() else unicodedata.digit(c, None)
    return c if number is None else str(number)


_LEADING_ZEROS = re.compile(r"(?<!\d)0+(?=\d)")

_AFTER_COMMA = re.compile(r"^\W*(\d+|\d{1,3}(?:[.,'\u2019]\d{3})+)[.,]0{1,2}\W*$")
"""A whole number with a decimal comma or point, in which there may be others between thousands."""

_TWO_FOR_ONE = re.compile(r"(?<=[^\W\d_])([aou])e(?=[^\W\d_])")
"""Two letters that are written for one with an accent, inside of a word: `mueller`."""

_WRITTEN_AS = str.maketrans(
    {
        "\u00e6": "ae", "\u0153": "oe", "\u00f8": "o", "\u0142": "l", "\u0111": "d", "\u00f0": "d",
        "\u0127": "h", "\u0131": "i", "\u0167": "t", "\u00fe": "th",
    }
)  # fmt: skip
"""Letters that have no accent to be left out, and how they are written without them."""

_LOOKS_LIKE = str.maketrans(
    "\u0430\u0432\u0435\u043a\u043c\u043d\u043e\u0440\u0441\u0442\u0443\u0445\u0456\u0458\u0455"
    "\u04bb\u0475\u04cf\u051b\u051d\u050d\u0433\u0585"
    "\u03b1\u03b2\u03b3\u03b5\u03b7\u03b9\u03ba\u03bc\u03bd\u03bf\u03c1\u03c4\u03c5\u03c7\u03c9\u03b6",
    "abekmhopctyxijshvlqwgroabyenikuvoptuxwz",
)
"""Letters of other alphabets that look like Latin ones."""

_LARGE = str.maketrans("\u03b7\u03bc\u03bd\u03c5", "hmny")
"""Those that look like another one if they are large: a small eta is like n, a large one like H."""


# People who look like others.


def find_doubles(
    db: sqlite3.Connection, people: Iterable[str], likenesses: Likenesses, known: set[str]
) -> list[str]:
    """Return who is likely to be a person whom the ledger has, or another one who is given.

    Args:
        db: The ledger.
        people: The fingerprints of those who are to join.
        likenesses: The likenesses of each.
        known: Whom the ledger has by that very fingerprint: they are no doubles of others.
    """
    people = list(people)
    alike = Counter(each for person in people for each in likenesses[person])
    return [
        person
        for person in people
        if person not in known
        and any(alike[each] > 1 or _has_like(db, person, each) for each in likenesses[person])
    ]


def _has_like(db: sqlite3.Connection, person: str, likeness: str) -> bool:
    """Return whether the ledger has another person of a likeness."""
    [published] = db.execute(
        "SELECT EXISTS (SELECT 1 FROM likenesses WHERE likeness = ? AND person <> ?)",
        (bytes.fromhex(likeness), bytes.fromhex(person)),
    ).fetchone()
    return bool(published) or (likeness != person and has_person(db, likeness))


def has_person(db: sqlite3.Connection, person: str) -> bool:
    """Return whether a person is, was or waits to be published, with one row or several."""
    owner = person[: 2 * OWNER]
    first, last = owner + "00" * OWNER, owner + "ff" * OWNER
    [found] = db.execute(
        "SELECT EXISTS (SELECT 1 FROM people WHERE fingerprint BETWEEN ? AND ?) OR "
        "EXISTS (SELECT 1 FROM waiting WHERE person BETWEEN ? AND ?)",
        (bytes.fromhex(first), bytes.fromhex(last), first, last),
    ).fetchone()
    return bool(found)


def write_likenesses(db: sqlite3.Connection, likenesses: Likenesses) -> None:
    """Write down what people look like, of those whom the ledger has, and forget the others.

    Whose fingerprint is that of the likeness is found by it.
    """
    different = [
        (like, person) for person, each in likenesses.items() for like in each if person != like
    ]
    here = {person for person in {each[1] for each in different} if has_person(db, person)}
    db.executemany(
        "INSERT OR IGNORE INTO likenesses VALUES (?, ?)",
        sorted((bytes.fromhex(like), bytes.fromhex(who)) for like, who in different if who in here),
    )
    db.executemany(
        "DELETE FROM likenesses WHERE likeness = ? AND person = ?",
        [(bytes.fromhex(like), bytes.fromhex(who)) for like, who in different if who not in here],
    )
