"""Checks of clauses: what a program can find of a rule, by name, for profiles of all kinds."""

import math
from collections.abc import Sequence
from typing import ClassVar, Self

import numpy as np

from sfumato.attacks import ATTACKS, Target
from sfumato.dataclasses import dataclass
from sfumato.drafting.identifiers import IdentifierKind
from sfumato.errors import ParameterError, require_int, require_number
from sfumato.hierarchy.zip_areas import small_zip_areas
from sfumato.profiles.base import ClauseCheck, ClauseResult, ClauseStanding, PublishedFacts
from sfumato.registry import Registry
from sfumato.text import format_integer, join_words, percent

_SLACK = 1e-9
_NO_GROUPS = (
    "The release is not in groups of people who look alike, so no such group can be counted. Judge "
    "the table it was made of."
)
_NO_COLUMNS = "Nothing is named that others know. Name the quasi-identifiers in the policy."


@dataclass(frozen=True)
class ForAPerson(ClauseCheck):
    """A clause that no program can check: a person has to.

    Args:
        how: What to do for it.
    """

    name: ClassVar[str] = "person"

    how: str = "No program can check this."

    def on(self, facts: PublishedFacts) -> ClauseResult:
        del facts
        return ClauseResult(ClauseStanding.PERSON, "", detail=self.how)


@dataclass(frozen=True)
class NoIdentifiers(ClauseCheck):
    """No published column holds identifiers of some of the 18 kinds of the Safe Harbor rule.

    Columns are recognised by their names and their values.

    Args:
        kinds: The letters of the kinds, A to R; without them, all that name people by themselves.
        areas_file: A file with the ZIP areas of 20 000 people or fewer; else those of 2000.
    """

    name: ClassVar[str] = "no-identifiers"

    kinds: Sequence[str] | None = None
    areas_file: str | None = None

    def __post_init__(self) -> None:
        if self.kinds is None:
            return
        known = [str(kind) for kind in IdentifierKind]
        given = [self.kinds] if isinstance(self.kinds, str) else list(self.kinds)
        if not given or not {*given} <= {*known}:
            raise ParameterError("kinds", given, "some of the letters A to R")
        object.__setattr__(self, "kinds", tuple(given))

    def on(self, facts: PublishedFacts) -> ClauseResult:
        kinds = self.kinds or [str(kind) for kind in DIRECT]
        areas = None if self.areas_file is None else small_zip_areas(self.areas_file)
        found = [each for each in facts.identifiers(areas) if each.kind in kinds]
        columns = len({domain.column for domain in facts.domains})
        checked = f"The names and values of {columns} published columns."
        names = tuple(dict.fromkeys(each.column for each in found))
        figure = f"{len(names)} of {columns} columns"
        if not found:
            return ClauseResult(ClauseStanding.HOLDS, checked, figure)
        told = "; ".join(map(str, found))
        return ClauseResult(
            ClauseStanding.BROKEN, checked, figure, f"{told}. {self._todo(kinds)}", names
        )

    def _todo(self, kinds: Sequence[str]) -> str:
        if IdentifierKind.DATES in kinds:
            return "Publish the year alone, and ages as 90 or more above 89; or leave it out."
        if IdentifierKind.GEOGRAPHY in kinds:
            return "Publish the state, or three digits of a ZIP code; or leave it out."
        return "Leave it out."


DIRECT = tuple(
    kind for kind in IdentifierKind if kind not in (IdentifierKind.GEOGRAPHY, IdentifierKind.DATES)
)
"""Kinds that name a person by themselves; places and dates do so only together with others."""


@dataclass(frozen=True)
class SmallestGroup(ClauseCheck):
    """Every person looks like a number of people in what others know.

    Args:
        at_least: That number, the person included.
    """

    name: ClassVar[str] = "smallest-group"

    at_least: int

    def __post_init__(self) -> None:
        require_int("at_least", self.at_least, at_least=2)

    @property
    def smallest_class(self) -> int:
        return self.at_least

    def on(self, facts: PublishedFacts) -> ClauseResult:
        checked = f"The size of the groups of people who look alike: {self.at_least} or more."
        return _on_groups(facts.target, checked, self.at_least, str)

    @classmethod
    def example(cls) -> Self:
        return cls(5)


@dataclass(frozen=True)
class LargestRisk(ClauseCheck):
    """The risk that a person's row is found is at most a share, for every person.

    In a group of n people who look alike it is 1/n.

    Args:
        at_most: The largest share allowed.
    """

    name: ClassVar[str] = "largest-risk"

    at_most: float

    def __post_init__(self) -> None:
        require_number("at_most", self.at_most, above=0, below=1)

    @property
    def smallest_class(self) -> int:
        return math.ceil(1 / self.at_most - _SLACK)

    def on(self, facts: PublishedFacts) -> ClauseResult:
        checked = f"The largest risk 1/n of a group of n people: at most {self.at_most}."
        return _on_groups(facts.target, checked, self.smallest_class, lambda n: f"{1 / n:.4f}")

    @classmethod
    def example(cls) -> Self:
        return cls(0.09)


def _on_groups(target: Target, checked: str, least: int, shown: object) -> ClauseResult:
    if not target.looks_alike:
        return ClauseResult(ClauseStanding.OPEN, checked, detail=_NO_GROUPS)
    if not target.columns:
        return ClauseResult(ClauseStanding.OPEN, checked, detail=_NO_COLUMNS)
    sizes = target.classes.sizes[target.classes.rows > 0]
    if not sizes.size:
        return ClauseResult(ClauseStanding.HOLDS, checked, "no groups")
    smallest = int(sizes.min())
    figure = str(shown(smallest) if callable(shown) else smallest)
    if smallest >= least:
        return ClauseResult(ClauseStanding.HOLDS, checked, figure)
    small = target.classes.sizes < least
    people = int(target.classes.inside[small].sum())
    detail = (
        f"{format_integer(people)} people are in groups of fewer than {least}. Promise larger "
        f"ones: models: [{{model: k-anonymity, k: {least}}}]."
    )
    return ClauseResult(ClauseStanding.BROKEN, checked, figure, detail)


@dataclass(frozen=True)
class LargestShare(ClauseCheck):
    """In no group of people who look alike do more than a share have the same sensitive value.

    Values that most people have anyway count too: that is what output checkers of statistical
    offices go by.

    Args:
        at_most: The largest share allowed.
    """

    name: ClassVar[str] = "largest-share"

    at_most: float

    def __post_init__(self) -> None:
        require_number("at_most", self.at_most, above=0, below=1)

    def on(self, facts: PublishedFacts) -> ClauseResult:
        checked = (
            f"The share of each group that has its most frequent sensitive value: less than "
            f"{percent(self.at_most)}."
        )
        target = facts.target
        if not target.looks_alike:
            return ClauseResult(ClauseStanding.OPEN, checked, detail=_NO_GROUPS)
        if not facts.release.sensitive:
            return ClauseResult(
                ClauseStanding.OPEN, checked, detail="No column is called sensitive."
            )
        worst, people, wrong = 0.0, 0, []
        for each in (target, *target.also):
            for name, counts in each.classes.sensitive.items():
                sizes = each.classes.sizes[counts.class_id]
                shares = counts.rows / np.maximum(sizes, 1)
                at = shares >= self.at_most
                worst = max(worst, float(shares.max(initial=0.0)))
                if at.any():
                    wrong.append(name)
                    people = max(people, int(counts.rows[at].sum()))
        figure = percent(worst)
        if not wrong:
            return ClauseResult(ClauseStanding.HOLDS, checked, figure)
        names = tuple(dict.fromkeys(wrong))
        detail = (
            f"In some groups nearly all have the same value of {join_words(names)}; it concerns up "
            f"to {format_integer(people)} people. Ask for more different values, as in "
            f"{{model: category-share, column: {names[0]}, share: {self.at_most}}}."
        )
        return ClauseResult(ClauseStanding.BROKEN, checked, figure, detail, names)

    @classmethod
    def example(cls) -> Self:
        return cls(0.9)


@dataclass(frozen=True)
class NobodySingledOut(ClauseCheck):
    """No record is that of one person only: not by what others know, nor by any published column.

    Args:
        at_least: People who must look alike; 2 is that nobody is alone.
    """

    name: ClassVar[str] = "nobody-singled-out"

    at_least: int = 2

    def __post_init__(self) -> None:
        require_int("at_least", self.at_least, at_least=2)

    @property
    def smallest_class(self) -> int:
        return self.at_least

    def on(self, facts: PublishedFacts) -> ClauseResult:
        checked = (
            "The size of the groups of people who look alike, whether a column names people, and "
            "whom the other published columns single out, up to three at a time."
        )
        found = _on_groups(facts.target, checked, self.at_least, str)
        named = [each for each in facts.columns if each.kind == "identifier"]
        alone = [e for e in facts.columns if e.kind == "singles out" and (e.alone or 0) > 0]
        unread = [each for each in facts.columns if each.kind in ("no role", "not looked at")]
        if found.standing is ClauseStanding.BROKEN:
            return found
        if named or alone:
            wrong = (named or alone)[0]
            figure = found.figure if not alone else f"{alone[0].alone} people alone"
            return ClauseResult(ClauseStanding.BROKEN, checked, figure, f"{wrong}.", wrong.columns)
        if found.standing is ClauseStanding.HOLDS and unread:
            return ClauseResult(
                ClauseStanding.OPEN, checked, found.figure, f"{unread[0]}.", unread[0].columns
            )
        return found


@dataclass(frozen=True)
class NotLinkable(ClauseCheck):
    """No two records can be told to be of one person, here or in another table of the same people.

    The other table is an earlier release, or a list of people that others have. Without one there
    is nothing to link with, and the clause is not shown.
    """

    name: ClassVar[str] = "not-linkable"

    def on(self, facts: PublishedFacts) -> ClauseResult:
        checked = "Columns that show which rows belong to one person, and attacks that link tables."
        rows = [each for each in facts.columns if each.kind == "rows"]
        codes = [
            each
            for each in facts.identifiers()
            if each.kind in DIRECT and each.column not in facts.release.sensitive
        ]
        target = facts.target
        others = bool(target.earlier) or target.outside is not None
        linked = [
            each
            for each in facts.outcomes
            if each.tried and each.judged and each.attack in ATTACKS and ATTACKS[each.attack].links
        ]
        people = max((each.people for each in linked), default=0)
        if rows or codes:
            told = f"{rows[0]}" if rows else f"{codes[0]}"
            names = rows[0].columns if rows else (codes[0].column,)
            return ClauseResult(
                ClauseStanding.BROKEN, checked, "", f"{told}: it links records.", names
            )
        if people:
            worst = max(linked, key=lambda each: each.people)
            figure = f"{format_integer(people)} of {format_integer(worst.of)} people"
            return ClauseResult(ClauseStanding.BROKEN, checked, figure, f"{worst.reason}.")
        if not others:
            detail = (
                "No other table of the same people was given to link with: give an earlier release "
                "(--earlier), or a list that others have (--outside)."
            )
            return ClauseResult(ClauseStanding.OPEN, checked, "0 people", detail)
        return ClauseResult(ClauseStanding.HOLDS, checked, "0 people")


@dataclass(frozen=True)
class NobodyAtRisk(ClauseCheck):
    """No adversary learns of anyone what is as good as known then, and was not before."""

    name: ClassVar[str] = "nobody-at-risk"

    def on(self, facts: PublishedFacts) -> ClauseResult:
        tried = [each for each in facts.outcomes if each.tried]
        checked = (
            f"{len(tried)} attacks, by adversaries who know what others may know and up to two "
            f"other values; from a belief of {percent(facts.rule.very_high)} on a person is at "
            "risk."
        )
        n, of = format_integer(facts.at_risk), format_integer(facts.people)
        figure = f"{n} of {of} people"
        accepted = [each for each in tried if each.accepted and each.level]
        unreached = [each.attack for each in facts.outcomes if each.unreached]
        if facts.at_risk or accepted:
            worst = max(tried, key=lambda each: each.people)
            told = accepted[0] if accepted and not worst.people else worst
            return ClauseResult(ClauseStanding.BROKEN, checked, figure, f"{told.reason}.")
        missing = list(dict.fromkeys((*facts.untried, *unreached)))
        if missing or not tried:
            detail = f"Not tried to the end: {join_words(missing)}." if missing else "Not tried."
            return ClauseResult(ClauseStanding.OPEN, checked, figure, detail)
        return ClauseResult(ClauseStanding.HOLDS, checked, figure)


CHECKS: Registry[ClauseCheck] = Registry(
    "check",
    "sfumato.profiles.checks",
    [
        NoIdentifiers,
        SmallestGroup,
        LargestRisk,
        LargestShare,
        NobodySingledOut,
        NotLinkable,
        NobodyAtRisk,
        ForAPerson,
    ],
)
"""The checks that profiles written in YAML choose from."""
