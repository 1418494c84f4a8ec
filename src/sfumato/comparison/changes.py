"""What changed from one release to the next: settings, risk and usefulness."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from sfumato.content import Content, Part, Sentence, Showable, Table
from sfumato.tasks.verify import Assessment
from sfumato.text import text_of

Direction = Literal["safer", "riskier", "more useful", "less useful", "other"]


@dataclass(frozen=True)
class Change:
    """One figure or setting of two releases.

    Example:
        >>> print(Change("people at risk by linking", 3, 0, "safer"))
        people at risk by linking: 3 became 0 (safer)
    """

    name: str
    old: object
    new: object
    direction: Direction = "other"

    @property
    def meaning(self) -> str:
        """Say whether that is good or bad, where it is one of them."""
        return "" if self.direction == "other" else self.direction

    def to_dict(self) -> dict[str, Any]:
        """Give it as plain values that JSON can hold."""
        return {
            "name": self.name,
            "old": _plain(self.old),
            "new": _plain(self.new),
            "direction": self.direction,
        }

    def __str__(self) -> str:
        meaning = f" ({self.meaning})" if self.meaning else ""
        if self.old is None:
            return f"{self.name}: {shown(self.new)} is new{meaning}"
        if self.new is None:
            return f"{self.name}: {shown(self.old)} is gone{meaning}"
        return f"{self.name}: {shown(self.old)} became {shown(self.new)}{meaning}"


@dataclass(frozen=True, eq=False)
class Changes(Showable):
    """What changed between two releases, and which settings it comes from."""

    old: Assessment
    new: Assessment
    causes: tuple[Change, ...]
    """What was done differently: the people, the promises, the levels, the method."""

    risk: tuple[Change, ...]
    """What adversaries learn."""

    utility: tuple[Change, ...]
    """What others can still learn."""

    @property
    def same(self) -> bool:
        """Whether nothing changed that is looked at."""
        return not (self.causes or self.risk or self.utility)

    @property
    def riskier(self) -> tuple[Change, ...]:
        """What has become riskier."""
        return tuple(change for change in self.risk if change.direction == "riskier")

    def to_dict(self) -> dict[str, Any]:
        """Give everything as plain values that JSON can hold."""
        parts = ("causes", "risk", "utility")
        return {
            "old": self.old.answer,
            "new": self.new.answer,
            **{part: [change.to_dict() for change in getattr(self, part)] for part in parts},
        }

    def content(self) -> Content:
        """Return what changed in risk and usefulness, and what was done differently."""
        parts = (
            _changes_part("Risk", self.risk, "no attack learns more or less"),
            _changes_part("Usefulness", self.utility, "nothing measured changed"),
            _changes_part("What was done differently", self.causes, "nothing that shows"),
        )
        headline = f"May it be published? Before: {self.old.answer}. Now: {self.new.answer}."
        return Content(headline, parts, self.new.answer)

    def __repr__(self) -> str:
        return f"<Changes: {self.old.answer} before, {self.new.answer} now>"


def _changes_part(title: str, changes: Sequence[Change], nothing: str) -> Part:
    if not changes:
        return Sentence(f"{title}: {nothing}.")
    rows = [[each.name, shown(each.old), shown(each.new), each.meaning] for each in changes]
    return Table.of("", [title, "before", "now", "so it is"], rows, most=None)


def shown(value: object) -> str:
    """Write a figure for people.

    >>> shown(0.123456), shown(0.99996), shown(None), shown(["a", 1])
    ('0.1235', '0.9999', 'none', 'a, 1')
    """
    if value is None:
        return "none"
    if isinstance(value, float):
        # What is nearly certain is not certain.
        return f"{min(value, 0.9999) if value < 1 else value:.4g}"
    if isinstance(value, list | tuple):
        return ", ".join(map(shown, value)) or "none"
    return text_of(value)


def _plain(value: object) -> object:
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return text_of(value)
