"""The price of a drafted policy, measured on counts before anything is written."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from types import MappingProxyType
from typing import Any, NamedTuple

from sfumato.attacks.adversary.trial import Trial
from sfumato.attacks.at_risk import AdversaryLine
from sfumato.dataclasses import dataclass
from sfumato.models import PrivacyModel
from sfumato.recode.gone import DataGone
from sfumato.showing.content import (
    Cell,
    Content,
    ContentTable,
    Listing,
    Part,
    Sentence,
    Share,
    Showable,
)
from sfumato.text import format_integer, percent

MUCH_LOST = 0.25
"""The loss from which on little is left of the quasi-identifiers."""

MUCH_HIDDEN = 0.10
"""The share of cells that are * from which on little is left of a table."""


@dataclass(frozen=True)
class DraftAlternative:
    """One of the drafts to choose from: what would be published, and the answer to it."""

    name: str
    """What it is asked for by: columns, detail or apart."""

    trial: Trial
    answer: str
    """What `sf.verify` would say."""

    at_risk: int
    """The people of whom some adversary would learn too much."""

    left_out: tuple[str, ...] = ()
    """The columns that it leaves out by itself."""

    chosen: bool = False

    @property
    def gone(self) -> float:
        """The share of the data that would be gone."""
        return 1.0 if self.trial.gone is None else self.trial.gone.share

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values that JSON can hold."""
        return {
            "name": self.name,
            "gone": self.gone,
            "people_at_risk": self.at_risk,
            "answer": self.answer,
            "left_out": list(self.left_out),
            "chosen": self.chosen,
        }


WAYS: Mapping[str, str] = {
    "columns": "keep columns",
    "detail": "keep detail",
    "apart": "publish apart",
}
"""The drafts to choose from, and what they are called in tables."""


class JudgedDraft(NamedTuple):
    """The verdict on what a draft would publish."""

    answer: str
    at_risk: int
    people: int
    adversaries: tuple[AdversaryLine, ...]
    told: Mapping[str, int]
    """The columns of which who knows the quasi-identifiers learns too much, of how many people."""

    besides: Mapping[str, int]
    """The columns of which who also knows other values learns too much."""

    remedies: Mapping[str, tuple[PrivacyModel, ...]] = MappingProxyType({})
    """For columns of which too much is learned the models that the verdict advises."""

    undoing: tuple[str, ...] = ()
    """The columns that undo labels as they are, and that the verdict advises to generalise, too."""


@dataclass(frozen=True)
class ColumnPrice:
    """What one quasi-identifier costs."""

    name: str
    hidden: float
    """The share of its cells that would be `*`."""

    cost: float
    """By how much the loss of the others would fall if it were left out, as a few rows tell."""


@dataclass(frozen=True)
class Price(Showable):
    """What a policy would cost, measured before anything is written."""

    rows: int
    """The rows it was measured on."""

    of_rows: int
    """The rows of the table; where they are more, the price is that of a sample, and too high."""

    loss: float
    """How much exactness quasi-identifiers lose, from 0 (nothing) to 1 (all are `*`)."""

    hidden: float
    """The share of the published cells that would be `*`."""

    suppressed: float
    """The share of the rows that would be left out."""

    gone: DataGone
    """How much of the whole table would be gone, with columns that are left out."""

    people_at_risk: int
    """The people of whom some adversary would learn too much, as `sf.verify` counts them."""

    people: int
    """The people who would be published."""

    answer: str = ""
    """The answer of `sf.verify` to a release by this policy; empty if none could be made."""

    adversaries: tuple[AdversaryLine, ...] = ()
    """How many people each adversary would learn too much of."""

    columns: tuple[ColumnPrice, ...] = ()
    """The quasi-identifiers, the most expensive first."""

    left_out: tuple[str, ...] = ()
    """The columns that the draft leaves out because the others gain more by it."""

    alternatives: tuple[DraftAlternative, ...] = ()
    """The drafts to choose from; one of them is chosen."""

    advice: tuple[str, ...] = ()
    """What would help, if little would survive or a person is at risk."""

    @property
    def headline(self) -> str:
        """One line with the price."""
        return (
            f"gone {self.gone}; loss {self.loss:.2f} of 1, "
            f"{percent(self.hidden)} of cells hidden (*), "
            f"{percent(self.suppressed)} of rows left out, "
            f"{format_integer(self.people_at_risk)} people at risk"
        )

    @property
    def much(self) -> bool:
        """Whether little would survive."""
        return self.loss > MUCH_LOST or self.hidden > MUCH_HIDDEN

    def content(self) -> Content:
        """Return the price, what each quasi-identifier costs, and what would help."""
        parts: list[Part] = []
        if self.columns:
            rows: list[Sequence[Cell]] = [
                (each.name, Share(each.hidden), f"{each.cost:.2f}") for each in self.columns
            ]
            heads = ["quasi-identifier", "hidden", "costs the others"]
            parts.append(ContentTable.of("", heads, rows, most=10))
        if len(self.alternatives) > 1:
            parts.append(_alternatives_table(self.alternatives))
        if self.answer:
            parts.append(Sentence(f"sfumato verify would answer: {self.answer}."))
        if self.people_at_risk:
            parts.append(Listing(tuple(map(str, self.adversaries))))
        parts += [Sentence(text) for text in self.advice]
        where = (
            ""
            if self.rows == self.of_rows
            else f" (of {format_integer(self.rows)} of {format_integer(self.of_rows)} rows)"
        )
        return Content(f"Expected price{where}: {self.headline}.", tuple(parts))

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values that JSON can hold."""
        lines = [line.to_dict() for line in self.adversaries]
        others = [each.to_dict() for each in self.alternatives]
        own = asdict(replace(self, alternatives=(), adversaries=()))
        gone = self.gone.to_dict()
        return {**own, "gone": gone, "adversaries": lines, "alternatives": others}

    def __repr__(self) -> str:
        return f"<Price {self.headline}>"


def _alternatives_table(found: Sequence[DraftAlternative]) -> ContentTable:
    rows: list[Sequence[Cell]] = [
        (
            f"{WAYS[each.name]}{' (this draft)' if each.chosen else ''}",
            each.name,
            Share(each.gone),
            each.at_risk,
            each.answer or "not known",
            ", ".join(each.left_out) or "nothing",
        )
        for each in found
    ]
    heads = ["way", "--prefer", "gone", "people at risk", "answer", "leaves out"]
    return ContentTable.of("", heads, rows, most=None)
