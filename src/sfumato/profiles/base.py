"""Profiles: the rules people answer to, clause by clause, and what was found of each."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from datetime import date
from enum import StrEnum
from functools import cached_property
from typing import Any, ClassVar

from sfumato.attacks import Outcome, Target
from sfumato.attacks.at_risk import AdversaryLine, largest
from sfumato.dataclasses import dataclass
from sfumato.drafting.identifiers import Identifier, IdentifierKind, identifiers_in
from sfumato.drafting.unprotected import ColumnFinding, every_domain
from sfumato.harm import HarmRule
from sfumato.policy import ColumnRule
from sfumato.registry import Member
from sfumato.releases.opening import Published
from sfumato.schema import Role
from sfumato.showing.content import (
    Badge,
    Cell,
    Content,
    ContentTable,
    Heading,
    Part,
    Sentence,
    Showable,
)
from sfumato.tables import Domain
from sfumato.text import join_words

NO_ADVICE = (
    "This says what a program can find in the published figures. It is not legal advice, and does "
    "not decide whether the rule is met."
)


class ClauseStanding(StrEnum):
    """What was found of a clause."""

    HOLDS = "holds"
    BROKEN = "does not hold"
    OPEN = "not shown"
    """It could be checked, and something is missing for that."""

    PERSON = "for a person"
    """No program can check it."""


@dataclass(frozen=True, eq=False)
class PublishedFacts:
    """What is known of something published, for the clauses of a rule."""

    release: Published
    target: Target
    """It as an adversary sees it."""

    outcomes: tuple[Outcome, ...] = ()
    adversaries: tuple[AdversaryLine, ...] = ()
    columns: tuple[ColumnFinding, ...] = ()
    """What published columns that nothing protects give away."""

    untried: tuple[str, ...] = ()
    """Attacks that apply and were not tried."""

    rule: HarmRule = field(default_factory=HarmRule)
    today: date = field(default_factory=date.today)
    _identified: dict[frozenset[str] | None, tuple[Identifier, ...]] = field(
        default_factory=dict, init=False, repr=False
    )

    @property
    def at_risk(self) -> int:
        """The people of whom some adversary learns too much, whichever count for the answer."""
        return max((line.people for line in self.adversaries), default=largest(self.adversaries))

    @property
    def people(self) -> int:
        """The people there are."""
        return max((line.of for line in self.adversaries), default=0)

    @cached_property
    def domains(self) -> tuple[Domain, ...]:
        """Every published column by itself; of several tables, each column of each."""
        return tuple(every_domain(self.release))

    def identifiers(self, small_areas: frozenset[str] | None = None) -> tuple[Identifier, ...]:
        """Return the identifiers that published columns hold."""
        if small_areas not in self._identified:
            found: dict[tuple[str, IdentifierKind], Identifier] = {}
            for domain in self.domains:
                for each in identifiers_in(domain, today=self.today, small_areas=small_areas):
                    found.setdefault((each.column, each.kind), each)
            self._identified[small_areas] = tuple(found.values())
        return self._identified[small_areas]


@dataclass(frozen=True)
class ClauseResult:
    """What was found of a clause."""

    standing: ClauseStanding
    checked: str
    """What was looked at, in a sentence."""

    figure: str = ""
    """The number that decides; empty if none does."""

    detail: str = ""
    """What is wrong or missing, and what to do."""

    columns: tuple[str, ...] = ()
    """The columns it is about."""


@dataclass(frozen=True)
class Clause:
    """A clause of a rule, and what checks it.

    Example:
        >>> from sfumato.profiles.checks import ForAPerson
        >>> Clause("ii", "no actual knowledge", "45 CFR 164.514(b)(2)(ii)", ForAPerson()).id
        'ii'
    """

    id: str
    text: str
    """What it asks for, in short."""

    source: str
    """Where it stands."""

    check: "ClauseCheck"


class ClauseCheck(Member, ABC):
    """A way to check a clause; the name is what profiles written in YAML call it."""

    @abstractmethod
    def on(self, facts: PublishedFacts) -> ClauseResult:
        """Return what was found."""

    @property
    def smallest_class(self) -> int | None:
        """The people who must look alike for it; None if it asks for none."""
        return None


class Profile(Member, ABC):
    """A rule that whoever publishes answers to: its clauses, and what a draft under it asks for."""

    source: ClassVar[str] = ""
    """The document."""

    note: ClassVar[str] = ""
    """What a reader of its findings must know."""

    @abstractmethod
    def clauses(self) -> Sequence[Clause]:
        """Return its clauses, in the order of the document."""

    @property
    def called(self) -> str:
        """Its name; of one that is written in a file, the one it has there."""
        return self.name

    @property
    def headed(self) -> str:
        """Its title."""
        return self.title

    @property
    def cited(self) -> str:
        """The document it is in."""
        return self.source

    @property
    def remark(self) -> str:
        """What a reader of its findings must know."""
        return self.note

    @property
    def smallest_class(self) -> int | None:
        """The people that must look alike; None if it does not say."""
        return max((c.check.smallest_class or 1 for c in self.clauses()), default=1) or None

    def column_rule(self, domain: Domain, role: Role) -> tuple[ColumnRule, str] | None:
        """Return what a draft says of a column because of the rule, and why; None if nothing.

        Args:
            domain: The column as it is.
            role: What it would be without the rule.
        """
        del domain, role
        return None

    def judge(self, facts: PublishedFacts) -> "RuleReport":
        """Return what was found of each clause."""
        found = tuple(ClauseFinding(each, each.check.on(facts)) for each in self.clauses())
        return RuleReport(self.called, self.headed, self.cited, found, self.remark)


@dataclass(frozen=True)
class ClauseFinding:
    """A clause with what was found of it."""

    clause: Clause
    found: ClauseResult

    @property
    def standing(self) -> ClauseStanding:
        """Whether it holds."""
        return self.found.standing

    def to_dict(self) -> dict[str, Any]:
        """Return plain values that JSON can hold."""
        return {
            "clause": self.clause.id,
            "text": self.clause.text,
            "source": self.clause.source,
            "standing": str(self.standing),
            "checked": self.found.checked,
            "figure": self.found.figure,
            "detail": self.found.detail,
            "columns": list(self.found.columns),
        }

    def __str__(self) -> str:
        detail = f": {self.found.detail}" if self.found.detail else ""
        return f"{self.clause.id} ({self.clause.text}) {self.standing}{detail}"


@dataclass(frozen=True)
class RuleReport(Showable):
    """What was found of the clauses of a rule.

    Holds for every clause that a program can check, or not; the others are named, and are for a
    person. It never makes an answer better: it adds reasons against publishing, or none.
    """

    profile: str
    title: str
    source: str
    clauses: tuple[ClauseFinding, ...]
    note: str = ""

    def __getitem__(self, clause: str) -> ClauseFinding:
        """Find a clause by what the document calls it."""
        return next(each for each in self.clauses if each.clause.id == clause)

    def of(self, standing: ClauseStanding) -> tuple[ClauseFinding, ...]:
        """Return the clauses of which this was found."""
        return tuple(each for each in self.clauses if each.standing is standing)

    @property
    def broken(self) -> tuple[ClauseFinding, ...]:
        """The clauses that do not hold."""
        return self.of(ClauseStanding.BROKEN)

    @property
    def open(self) -> tuple[ClauseFinding, ...]:
        """The clauses that could be checked and were not shown to hold."""
        return self.of(ClauseStanding.OPEN)

    @property
    def holds(self) -> bool:
        """Whether no clause was found broken."""
        return not self.broken

    def to_dict(self) -> dict[str, Any]:
        """Return plain values that JSON can hold."""
        return {
            "profile": self.profile,
            "title": self.title,
            "source": self.source,
            "holds": self.holds,
            "clauses": [each.to_dict() for each in self.clauses],
            "note": self.note,
        }

    @property
    def headline(self) -> str:
        """How many clauses hold, do not hold, and are for a person."""
        counted = [(len(self.of(each)), each) for each in ClauseStanding]
        said = [f"{n} {_VERBS[each][n != 1]}" for n, each in counted if n]
        n = len(self.clauses)
        of = "1 clause" if n == 1 else f"{n} clauses"
        return f"{self.title}: of {of}, {join_words(said)}."

    def parts(self, *, every: bool = True) -> Iterator[Part]:
        """Yield its table and what to know of it.

        Args:
            every: Whether clauses that hold are listed too.
        """
        shown = [e for e in self.clauses if every or e.standing is not ClauseStanding.HOLDS]
        if shown:
            caption = f"{self.source}"
            yield ContentTable.of(caption, _HEADINGS, [_row(each) for each in shown], most=None)
        yield Sentence(" ".join(filter(None, [self.note, NO_ADVICE])))

    def content(self) -> Content:
        """Return every clause: what was checked, the figure, and whether it holds."""
        answer = "no" if self.broken else "with care" if self.open else ""
        return Content(self.headline, tuple(self.parts()), answer)


_VERBS: Mapping[ClauseStanding, tuple[str, str]] = {
    ClauseStanding.HOLDS: ("holds", "hold"),
    ClauseStanding.BROKEN: ("does not hold", "do not hold"),
    ClauseStanding.OPEN: ("is not shown", "are not shown"),
    ClauseStanding.PERSON: ("is for a person to check", "are for a person to check"),
}
_HEADINGS = (
    "clause",
    "it asks for",
    Heading("result", "Not shown: it could be checked, and something is missing for that."),
    "figure",
    "what was checked, and what to do",
    "source",
)


def _row(each: ClauseFinding) -> list[Cell]:
    found = each.found
    told = f"{found.checked} {found.detail}".strip()
    said = [each.clause.id, each.clause.text, Badge(str(each.standing)), found.figure]
    return [*said, told, each.clause.source]
