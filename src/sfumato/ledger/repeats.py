"""Rows of an earlier increment that come again: the same people would be counted twice.

People who have identifiers are recognised by them. Of rows without, a ledger keeps none that was
published, but a *sketch* of each increment: a keyed hash of every row, shortened so far that one in
sixteen other rows has the same. A thief of the ledger can try out a row and is told "perhaps" for
many that were never given; a whole increment that comes again still stands out.

Equal values need not be equal people. So the rows that two increments have in common are held
against chance: if all rows of both were dealt out again, how many would they have in common?
"""

import hashlib
import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import field
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sfumato.dataclasses import dataclass
from sfumato.ledger.store import key_of
from sfumato.typing import FloatArray, IntArray, Value

_BUCKETS_PER_ROW = 16
"""One in this many other rows has the same shortened hash as some row of the increment."""

_MOST_BUCKETS = 2**32 - 1

_DEVIATIONS = 3.0
"""Of the standard deviations of chance; more are asked if there are more increments to compare."""

_Hashes = npt.NDArray[np.uint64]
_Places = npt.NDArray[np.uint32]


def hash_texts(salt: str, texts: Iterable[str]) -> _Hashes:
    """Return a keyed hash of each text; the key is the ledger's own.

    >>> hash_texts("s", ["a", "a"]).tolist() == hash_texts("t", "aa").tolist()
    False
    """
    key = hashlib.sha256(f"values\n{salt}".encode()).digest()
    hashed = b"".join(
        hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8, key=key).digest()
        for text in texts
    )
    return np.frombuffer(hashed, dtype="<u8").astype(np.uint64)


def hash_rows(salt: str, values: Sequence[Sequence[Value]], codes: np.ndarray) -> _Hashes:
    """Return a keyed hash of each row: every value is hashed once, and rows are mixed of them.

    Args:
        salt: The ledger's own key.
        values: The distinct values of each column.
        codes: `codes[c, r]`: the position of row r's value of column c among them.

    >>> codes = np.array([[0, 1, 0], [0, 0, 0]])
    >>> one, other, again = hash_rows("s", [["f", "m"], [39]], codes).tolist()
    >>> one == again, one == other
    (True, False)
    """
    mixed = np.zeros(codes.shape[1], dtype=np.uint64)
    for column, code in zip(values, codes, strict=True):
        mixed = _mix(mixed + hash_texts(salt, map(key_of, column))[code])
    return mixed


def _mix(numbers: _Hashes) -> _Hashes:
    """Spread numbers over all 64 bits, one to one: the last steps of SplitMix64."""
    numbers = (numbers ^ (numbers >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    numbers = (numbers ^ (numbers >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return numbers ^ (numbers >> np.uint64(31))


@dataclass(frozen=True, eq=False)
class GivenRows:
    """The rows of an increment that are to be added, by their hashes."""

    hashes: list[_Hashes] = field(default_factory=list)

    def add(self, hashes: _Hashes, rows: Sequence[int] | IntArray) -> None:
        """Add distinct rows, and how often each was given."""
        self.hashes.append(np.repeat(hashes, rows))

    @property
    def every(self) -> _Hashes:
        """One hash for each row."""
        return np.concatenate([*self.hashes, np.zeros(0, dtype=np.uint64)])

    def write(self, db: sqlite3.Connection, sequence: int) -> None:
        """Keep a sketch of them."""
        hashes = self.every
        if len(hashes):
            buckets = min(_BUCKETS_PER_ROW * len(hashes), _MOST_BUCKETS)
            # In the order of the hashes: the order of the rows must not be told.
            placed = np.sort(_place(hashes, buckets)).tobytes()
            db.execute("INSERT INTO sketches VALUES (?, ?, ?)", (sequence, buckets, placed))


class Repeat(NamedTuple):
    """An earlier increment with which a new one has more rows in common than by chance."""

    sequence: int
    rows: int
    """About how many rows of the new one were in it."""

    of: int
    """How many rows the new one has."""


def find_repeats(db: sqlite3.Connection, given: GivenRows) -> list[Repeat]:
    """Compare new rows with every earlier increment; return those that come again."""
    hashes = given.every
    sketches = db.execute("SELECT sequence, buckets, rows FROM sketches").fetchall()
    bar = (_DEVIATIONS**2 + 2 * np.log(max(len(sketches), 1))) ** 0.5
    found = []
    for sequence, buckets, placed in sketches:
        old = np.frombuffer(placed, dtype="<u4")
        rows = _count(old, np.sort(_place(hashes, buckets)), bar)
        found += [Repeat(sequence, rows, len(hashes))] if rows else []
    return found


def _place(hashes: _Hashes, buckets: int) -> _Places:
    return (hashes % np.uint64(buckets)).astype("<u4")


def _count(old: _Places, new: _Places, bar: float) -> int:
    """Return about how many new rows are old ones; 0 if chance explains it. Both are in order."""
    if not len(old) or not len(new):
        return 0
    places, before = _runs(old)
    others, now = _runs(new)
    # Few new ones are looked up among many old ones: these are in order, and stay as they are.
    at = np.minimum(np.searchsorted(places, others), len(places) - 1)
    both = places[at] == others
    common = int(np.minimum(before[at], now)[both].sum())
    before[at[both]] += now[both]
    together = np.concatenate([before, now[~both]])
    mean, variance = _common_by_chance(together, len(new) / (len(old) + len(new)))
    if common - mean <= bar * max(variance, 1e-9) ** 0.5:
        return 0
    # Of the rows that are new, some have the shortened hash of another.
    full = len(places) / (_BUCKETS_PER_ROW * len(old))
    return max(round((common - full * len(new)) / (1 - full)), 1)


def _runs(numbers: _Places) -> tuple[_Places, IntArray]:
    """Return the different ones of numbers in order, and how often each is there."""
    first = np.flatnonzero(np.concatenate([[True], numbers[1:] != numbers[:-1]]))
    return numbers[first], np.diff(first, append=len(numbers))


def _common_by_chance(together: IntArray, share: float) -> tuple[float, float]:
    """Return mean and variance of the rows in common if all rows were dealt out again.

    Args:
        together: How many rows of both increments have each hash.
        share: The share of rows that are new.
    """
    sizes, times = np.unique(together[together > 1], return_counts=True)
    if not len(sizes):
        return 0.0, 0.0
    factorials = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, sizes[-1] + 1)))])
    mean = variance = 0.0
    for size, n in zip(sizes.tolist(), times.tolist(), strict=True):
        drawn = np.arange(size + 1)
        chance: FloatArray = np.exp(
            factorials[size]
            - factorials[drawn]
            - factorials[size - drawn]
            + drawn * np.log(share)
            + (size - drawn) * np.log1p(-share)
        )
        least = np.minimum(drawn, size - drawn)
        expected = float(chance @ least)
        mean += n * expected
        variance += n * (float(chance @ least**2) - expected**2)
    return mean, variance
