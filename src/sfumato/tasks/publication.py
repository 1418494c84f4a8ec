"""What a publish on a ledger gives back."""

import json
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

from sfumato.attacks.composition import Compared
from sfumato.broken import Broken
from sfumato.ledger.increment import Held, Refusal
from sfumato.ledger.meta import Settings
from sfumato.ledger.records import current
from sfumato.ledger.store import reading


@dataclass(frozen=True, eq=False)
class Publication:
    """What became of an increment, or that a ledger was started.

    Nothing in it is for publication but the tables: refused and waiting rows are whole rows.
    """

    ledger: Path
    sequence: int
    """The number of this entry in the ledger; the first release is 1."""

    alpha: float
    columns: tuple[str, ...]
    """The sensitive columns, in the order in which rows below have their values."""

    given: int
    """How many rows were given."""

    admitted: int
    """How many rows joined the published tables, of those given now and those that had waited."""

    left: int = 0
    """How many rows left them."""

    corrected: int = 0
    withdrawn: int = 0
    """How many rows were taken back before they were published."""

    refused: tuple[Refusal, ...] = ()
    held: tuple[Held, ...] = ()
    waiting: int = 0
    """How many rows wait in the ledger now."""

    above: tuple[tuple[tuple[str | None, ...], Fraction], ...] = ()
    """Groups that were published above alpha, and what they tell now; nothing in them may rise."""

    composition: Compared | None = None
    """What a comparison with the last release shows; None for the first."""

    refused_before: int = 0
    """How many of the refused rows had been refused before."""

    tables: Broken | None = None
    """The tables of those who joined, or all of them if somebody left; None if nothing changed."""

    folder: Path | None = None
    place: str | None = None
    """The address of the first table that was written, if it is in a database."""

    head: str = ""
    """The hash of this entry: keep it elsewhere, and `ledger verify` finds any forgery."""

    dry_run: bool = False
    warnings: tuple[str, ...] = field(default=())

    @property
    def current(self) -> Broken:
        """All tables as they are published now, read from the ledger."""
        with reading(self.ledger) as db:
            return current(db, Settings.load(db))

    @property
    def refused_rows(self) -> int:
        """How many rows were refused."""
        return sum(each.rows for each in self.refused)

    @property
    def held_rows(self) -> int:
        """How many rows of this increment, or in its groups, wait."""
        return sum(each.rows for each in self.held)

    def to_dict(self) -> dict[str, Any]:
        """Give everything as plain values that JSON can hold. Refused rows are in it."""
        return {
            "ledger": str(self.ledger),
            "sequence": self.sequence,
            "alpha": self.alpha,
            "dry_run": self.dry_run,
            "given": self.given,
            "admitted": self.admitted,
            "left": self.left,
            "corrected": self.corrected,
            "withdrawn": self.withdrawn,
            "refused": [self._refusal(each) for each in self.refused],
            "refused_before": self.refused_before,
            "held": [self._held(each) for each in self.held],
            "waiting": self.waiting,
            "above": [
                {"group": list(labels), "breach": float(share)} for labels, share in self.above
            ],
            "composition": None if self.composition is None else self.composition.to_dict(),
            "folder": None if self.folder is None else str(self.folder),
            **({} if self.place is None else {"place": self.place}),
            "head": self.head,
            "warnings": list(self.warnings),
        }

    def _refusal(self, refusal: Refusal) -> dict[str, Any]:
        return {
            "group": list(refusal.labels),
            "values": dict(zip(self.columns, refusal.row, strict=True)),
            "rows": refusal.rows,
            "breach_by_group": float(refusal.group_only),
            "breach_with_a_value": float(refusal.with_a_value),
            "largest_breach": float(refusal.worst),
        }

    def _held(self, held: Held) -> dict[str, Any]:
        return {
            "kind": held.ask.kind,
            "group": json.loads(held.ask.labels),
            "values": dict(zip(self.columns, json.loads(held.ask.row), strict=True)),
            "rows": held.rows,
            "why": held.why,
        }

    def __repr__(self) -> str:
        return f"<Publication {str(self).splitlines()[0]}>"

    def __str__(self) -> str:
        if self.sequence == 1:
            return f"ledger started with {self.admitted} rows, alpha {self.alpha:g}"
        would = "would be " if self.dry_run else ""
        parts = [f"{self.admitted} rows {would}admitted"]
        parts += [f"{self.left} left"] if self.left else []
        parts += [f"{self.corrected} corrected"] if self.corrected else []
        parts += [f"{self.withdrawn} withdrawn"] if self.withdrawn else []
        parts += [f"{self.refused_rows} refused", f"{self.held_rows} held back"]
        return f"release {self.sequence}: {', '.join(parts)}; {self.waiting} wait in the ledger"
