"""What a ledger was started with, and where its chain ends."""

import json
import sqlite3
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from sfumato.ledger.limit import exact


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
