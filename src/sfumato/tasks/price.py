"""Prices of remedies: what each costs that was tried, and what the answer is afterwards."""

from dataclasses import field
from typing import Any, Literal, TypeAlias

from sfumato.dataclasses import dataclass
from sfumato.leaks import Findings
from sfumato.policy import Policy
from sfumato.policy.remedies import Remedy
from sfumato.recode.gone import DataGone
from sfumato.showing.content import Cell, Content, ContentTable, Part, Sentence, Showable, plain_of
from sfumato.tasks.assessment import Answer, Assessment, Reason
from sfumato.text import format_integer, percent

ORDER: tuple[Answer, ...] = ("no", "with care", "yes")
"""The answers, the worst first."""


def people_at_risk(found: Assessment) -> int:
    """Return the people at risk by a verdict: the one number that every price is given with."""
    return found.at_risk


def trouble(found: Assessment) -> tuple[int, int, int, int]:
    """Return what is compared to see whether a remedy helped: less is better."""
    left = [each for each in found.judged if not each.accepted]
    return (
        -ORDER.index(found.answer),
        found.at_risk,
        sum(reason.refuses for reason in found.reasons),
        sum(each.concerned for each in left) + len(found.reasons),
    )


@dataclass(frozen=True)
class Standing:
    """Where a policy leaves a table: what it costs, who is at risk, and the answer."""

    answer: Answer
    people: int
    """The people at risk."""

    of: int
    """The people who are published."""

    loss: float | None
    """The loss that the policy keeps small; None if only published rows are known."""

    normalised: float | None
    """The normalised loss of the quasi-identifiers, whatever the policy keeps small; None if only
    published rows are known."""

    gone: DataGone
    """How much of the whole table is gone."""

    suppressed: int
    """The rows that are not published."""

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values that JSON can hold."""
        return {
            "answer": self.answer,
            "people_at_risk": self.people,
            "people": self.of,
            "loss": self.loss,
            "normalised_loss": self.normalised,
            "gone": self.gone.to_dict(),
            "suppressed": self.suppressed,
        }


@dataclass(frozen=True)
class PricedRemedy:
    """A remedy, what it costs, and what the answer is afterwards."""

    remedy: Remedy
    before: Standing
    after: Standing | None = None
    """Where it leads; None if it was not tried."""

    policy: Policy | None = field(default=None, repr=False, compare=False)
    """The policy with it; None if there is no policy."""

    why_not: str = ""
    """Why it was not tried, if it was not."""

    told: tuple[int, int] | None = None
    """The people at risk by the reason that it is for, before and after; None in a chain."""

    @property
    def tried(self) -> bool:
        """Whether a release with it was made and judged."""
        return self.after is not None

    @property
    def words(self) -> str:
        """Return what is done."""
        return str(self.remedy)

    @property
    def cost(self) -> tuple[float, float]:
        """Return what is gone afterwards, and the loss: what remedies are sorted by."""
        after = self.after
        return (2.0, 2.0) if after is None else (after.gone.share, after.normalised or 0.0)

    @property
    def columns_lost(self) -> tuple[str, ...]:
        """The columns of which nothing is left any more."""
        if self.after is None:
            return ()
        after = self.after.gone.columns
        return tuple(n for n, share in self.before.gone.columns.items() if share < 1 <= after[n])

    @property
    def rows_lost(self) -> int:
        """Return how many more rows are not published; fewer than 0 if more of them are."""
        return 0 if self.after is None else self.after.suppressed - self.before.suppressed

    def __str__(self) -> str:
        if self.after is None:
            return f"{self.remedy} (not tried: {self.why_not})"
        before, after = self.before, self.after
        people = then(format_integer(before.people), format_integer(after.people))
        return (
            f"{self.remedy}: {self._told}{people} people at risk, "
            f"gone {then(percent(before.gone.share), percent(after.gone.share))}, "
            f"loss {then(_figure(before.normalised), _figure(after.normalised))}; "
            f"then: {after.answer}"
        )

    @property
    def _told(self) -> str:
        return "" if self.told is None else f"{then(*self.told)} by this, of all "

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values that JSON can hold."""
        return {
            "remedy": self.remedy.to_dict(),
            "words": str(self.remedy),
            **plain_of(self, "tried before after columns_lost rows_lost"),
            **({} if self.told is None else {"people_by_this_reason": list(self.told)}),
            "why_not": self.why_not,
        }


def then(before: object, after: object) -> str:
    """Return two figures, before and after."""
    return f"{before} → {after}"


def _figure(loss: float | None) -> str:
    return "?" if loss is None else f"{loss:.2f}"


HEADS = ("remedy", "people at risk", "gone", "loss", "columns left", "rows left out", "then")


def _by(each: PricedRemedy) -> str:
    return "" if each.told is None else then(*each.told)


def people_by(reason: Reason, found: Assessment) -> int | None:
    """Return the people at risk by the attack that a reason comes from; None if it is none."""
    if reason.outcome is None:
        return None
    same = (reason.outcome.attack, reason.outcome.column)
    return max((e.people for e in found.judged if (e.attack, e.column) == same), default=0)


def row_of(each: PricedRemedy) -> list[Cell]:
    """Return the line of a remedy in a table, under `HEADS`."""
    before, after = each.before, each.after
    if after is None:
        return [str(each.remedy), "not tried", "", "", "", "", ""]
    return [
        str(each.remedy),
        then(format_integer(before.people), format_integer(after.people)),
        then(percent(before.gone.share), percent(after.gone.share)),
        then(_figure(before.normalised), _figure(after.normalised)),
        f"{after.gone.left} of {after.gone.of}",
        then(format_integer(before.suppressed), format_integer(after.suppressed)),
        after.answer,
    ]


Wanted: TypeAlias = Literal["yes", "with care"]
"""The answers that a chain may lead to."""


@dataclass(frozen=True)
class RemedyChain(Showable):
    """Remedies that were applied one after the other, each with its price."""

    until: Wanted
    """The answer that was wanted."""

    first: Standing
    steps: tuple[PricedRemedy, ...]
    policy: Policy = field(repr=False)
    """The policy with all of them."""

    refine: tuple[Findings, ...] = field(default=(), repr=False, compare=False)
    """What is refined beside it; see `sf.anonymize`."""

    tried: int = 0
    """The policies that were tried to find it."""

    stopped: bool = False
    """Whether more policies could have been tried."""

    @property
    def last(self) -> Standing:
        """Return where it ends."""
        found = self.steps[-1].after if self.steps else None
        return self.first if found is None else found

    @property
    def reached(self) -> bool:
        """Whether the answer at its end is the one that was wanted, or a better one."""
        return ORDER.index(self.last.answer) >= ORDER.index(self.until)

    @property
    def headline(self) -> str:
        """Return where it begins and where it ends, in one line."""
        first, last = self.first, self.last
        many = "remedy" if len(self.steps) == 1 else "remedies"
        return (
            f"{len(self.steps)} {many}: "
            f"{then(format_integer(first.people), format_integer(last.people))} people at risk, "
            f"gone {then(percent(first.gone.share), percent(last.gone.share))}, answer "
            f"{then(first.answer, last.answer)}"
        )

    def content(self) -> Content:
        """Return the steps and their prices."""
        parts: list[Part] = []
        if self.steps:
            rows = [row_of(each) for each in self.steps]
            parts.append(ContentTable.of("", HEADS, rows, most=None))
        if not self.reached:
            more = ", and more could be tried" if self.stopped else ""
            told = f"No chain of remedies that was tried leads to {self.until!r}{more}."
            parts.append(Sentence(told))
        return Content(self.headline, tuple(parts))

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values that JSON can hold."""
        return {
            **plain_of(self, "until reached first steps tried stopped"),
            "policy": self.policy.to_yaml(),
        }

    def __repr__(self) -> str:
        return f"<RemedyChain of {len(self.steps)}: {self.first.answer} → {self.last.answer}>"


@dataclass(frozen=True)
class PricedReason:
    """One reason of an answer, and the remedies for it that were tried, the cheapest first."""

    reason: Reason
    remedies: tuple[PricedRemedy, ...]

    @property
    def title(self) -> str:
        """Return what the remedies are against, in a few words."""
        outcome = self.reason.outcome
        text = self.reason.text if outcome is None else outcome.title
        return f"Against {text}" if outcome is not None else text

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values that JSON can hold."""
        remedies = [each.to_dict() for each in self.remedies]
        return {"reason": self.reason.text, "remedies": remedies}


@dataclass(frozen=True)
class Prices(Showable):
    """What can be done about the reasons of an answer, with the price of each.

    Promises: a remedy that was tried is possible, takes people out of risk or makes the answer
    better, and a release that is made with it and the same seed has these figures and this answer.
    Does not promise that there is no cheaper one.
    """

    before: Standing
    reasons: tuple[PricedReason, ...]
    chain: RemedyChain | None = None
    """Remedies that lead to a better answer together, if none does by itself."""

    left: int = 0
    """The remedies that were not tried, because it would have taken too long."""

    def content(self) -> Content:
        """Return the remedies of each reason, the cheapest first."""
        parts: list[Part] = []
        for each in self.reasons:
            if each.remedies:
                rows = [[one.words, _by(one), *row_of(one)[1:]] for one in each.remedies]
                heads = ("remedy", "by this", *HEADS[1:])
                parts.append(ContentTable.of(each.title, heads, rows, most=None))
            else:
                parts.append(Sentence(f"{each.title}: no remedy that was tried helps by itself."))
        if self.chain is not None and self.chain.steps:
            together = self.chain.content()
            parts += [Sentence(f"Together, {together.headline}."), *together.parts]
        if self.left:
            told = f"{self.left} more remedies were not tried: it would have taken too long."
            parts.append(Sentence(told))
        every = [one for each in self.reasons for one in each.remedies]
        parts += [
            Sentence(f"What was not tried: {why}.")
            for why in dict.fromkeys(one.why_not for one in every if one.why_not)
        ]
        people = f"{format_integer(self.before.people)} people at risk"
        tried = any(one.tried for one in every) or not every
        told = "that were tried" if tried else "that could not be tried"
        # Without the table that a release was made of nobody knows what is gone of it by now.
        gone = "" if self.before.loss is None else f", gone: {self.before.gone}"
        return Content(f"Remedies {told}; now {people}{gone}", (*parts,))

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values that JSON can hold."""
        return plain_of(self, "before reasons chain left")

    def __repr__(self) -> str:
        tried = sum(len(each.remedies) for each in self.reasons)
        return f"<Prices of {tried} remedies for {len(self.reasons)} reasons>"
