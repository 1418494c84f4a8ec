"""Looking into a ledger: its releases, its groups, and whether it was edited."""

from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

from sfumato.attacks.composition import Compared, Composition
from sfumato.broken import Broken
from sfumato.ledger import chain, history
from sfumato.ledger.meta import Settings
from sfumato.ledger.records import current
from sfumato.ledger.starting import labels_at
from sfumato.ledger.store import reading


def log(ledger: str | PathLike[str]) -> list[dict[str, Any]]:
    """Give the entries of a ledger, the first release first."""
    with reading(Path(ledger)) as db:
        return history.entries(db)


def verify_ledger(ledger: str | PathLike[str], head: str | None = None) -> list[str]:
    """Recompute the chain and the counts; give what does not agree, or nothing."""
    with reading(Path(ledger)) as db:
        return chain.faults(db, head)


def compare(ledger: str | PathLike[str], earlier: int, later: int) -> Compared:
    """Say what two releases of a ledger tell together."""
    with reading(Path(ledger)) as db:
        settings = Settings.load(db)
        tables = [history.at(db, settings, sequence) for sequence in (earlier, later)]
    return Composition(settings.alpha, settings.k).run(*tables)


@dataclass(frozen=True, eq=False)
class Contents:
    """What a ledger holds. Whole rows are not among it, not even those that wait."""

    alpha: float
    k: int
    created: str
    tables: Broken
    release: int
    waiting: int
    with_policy: bool

    def to_dict(self) -> dict[str, Any]:
        """Give everything as plain values that JSON can hold."""
        names = [column.name for column in self.tables.quasi_identifiers]
        return {
            "alpha": self.alpha,
            "k": self.k,
            "created": self.created,
            "release": self.release,
            "rows": self.tables.total,
            "waiting": self.waiting,
            "policy": self.with_policy,
            "sensitive": list(self.tables.names),
            "groups": [
                {
                    "group": dict(zip(names, labels_at(self.tables, g), strict=True)),
                    "rows": int(size),
                }
                for g, size in enumerate(self.tables.sizes)
            ],
        }


def contents(ledger: str | PathLike[str], release: int | None = None) -> Contents:
    """Give what a ledger was started with, and its groups now or after some release."""
    with reading(Path(ledger)) as db:
        settings = Settings.load(db)
        [last] = db.execute("SELECT MAX(sequence) FROM releases").fetchone()
        [waiting] = db.execute("SELECT COALESCE(SUM(rows), 0) FROM waiting").fetchone()
        now = release is None
        tables = current(db, settings) if now else history.at(db, settings, int(release or 0))
    return Contents(
        settings.alpha,
        settings.k,
        settings.created,
        tables,
        release or last,
        waiting,
        bool(settings.policy),
    )
