"""Assumptions: what is taken for true of a release, and who is at risk if it is not."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from sfumato.attacks.adversary.claims import chance_claims, hidden_columns
from sfumato.attacks.adversary.judging import COUNTING, held_to, judge
from sfumato.attacks.adversary.target import at_face_value
from sfumato.attacks.at_risk import AdversaryLine, largest
from sfumato.attacks.base import Outcome
from sfumato.attacks.knowledge_breach import facts_of, facts_without_each, sets_of_values
from sfumato.attacks.target import Target
from sfumato.dataclasses import dataclass
from sfumato.harm import HarmRule, Level
from sfumato.leaks.facts import AdversaryColumns, Facts
from sfumato.releases.opening import Published, PublishedTable
from sfumato.schema import Role
from sfumato.showing.content import plain_of
from sfumato.text import format_integer, join_words
from sfumato.typing import BoolArray

Kind = Literal["unknown", "plain", "harmless", "accepted", "noise", "roles", "mechanism"]


@dataclass(frozen=True)
class Assumption:
    """Something that is taken for true and that the files cannot show.

    Example:
        >>> print(Assumption("unknown", ("drug",), "others do not know 'drug'", 35, 2000))
        others do not know 'drug' (if that is wrong, 35 of 2 000 people are at risk)
    """

    kind: Kind
    columns: tuple[str, ...]
    text: str
    """What is assumed, as a clause."""

    people: int | None = None
    """The people at risk if it is wrong; None if it cannot be told."""

    of: int = 0
    because: str | None = None
    """Why it is right, as the reader's policy says; what only a manifest says is no reason."""

    at_least: bool = False
    """Whether there may be more such people than were counted."""

    @property
    def open(self) -> bool:
        """Whether no one has said why it is right."""
        return self.because is None

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, ready for JSON."""
        return {
            **plain_of(self, "kind columns text"),
            "people_if_wrong": self.people,
            **plain_of(self, "at_least of because open"),
        }

    def __str__(self) -> str:
        told = self.text
        if self.people is not None:
            least = "at least " * self.at_least
            number = f"{least}{format_integer(self.people)} of {format_integer(self.of)} people are"
            told += f" (if that is wrong, {number} at risk)"
        return told if self.because is None else f"{told}, because {self.because.rstrip('.')}"


@dataclass(frozen=True, eq=False)
class _Release:
    """What assumptions are looked for in."""

    release: Published
    target: Target
    rule: HarmRule
    found: Sequence[Outcome]
    lines: Sequence[AdversaryLine]
    priced: bool = True

    @property
    def of(self) -> int:
        return self.target.classes.n_people

    def reason(self, column: str) -> str | None:
        """Return why the reader's policy says that what it says of a column is right."""
        policy = self.release.policy
        rule = None if policy is None else policy.columns.get(column)
        return None if rule is None else rule.because

    def count(self, flags: BoolArray) -> int:
        """Count the people of some rows, with all who are at risk as it is."""
        target = self.target
        known = {each.knows for each in self.lines if each.counts}
        every = flags.copy()
        for each in self.found:
            if each.found is None or each.found.of is not target.counts or not each.judged:
                continue
            for knows, mine in each.found.flags.items():
                if knows in known and not each.accepted:
                    every |= mine
        return int(target.count_at_worst(every.astype(np.int64), 2)[1])


def assumptions_of(
    release: Published,
    target: Target,
    rule: HarmRule,
    found: Sequence[Outcome],
    lines: Sequence[AdversaryLine],
    *,
    priced: bool = True,
) -> tuple[Assumption, ...]:
    """Return what is taken for true of a release, with the people at risk if it is not.

    Args:
        release: What is judged.
        target: The same as an adversary sees it.
        rule: What harms.
        found: What attacks achieved.
        lines: How many people are at risk as it is.
        priced: Whether to count the people at risk if it is not.
    """
    given = _Release(release, target, rule, found, lines, priced)
    kinds = (_of_accepted, _of_unknown, _of_plain, _of_harmless, _of_noise)
    every = [each for kind in kinds for each in kind(given)]
    if release.manifest is not None and release.policy is None and not any(release.named):
        told = "the roles of the columns are what its manifest says"
        every.append(Assumption("roles", (), told, None, given.of))
    # Those that matter most come first; no one can say how much the roles matter.
    return tuple(sorted(every, key=lambda each: (-(each.people or 0), each.kind, each.columns)))


def _of_accepted(given: _Release) -> Iterator[Assumption]:
    policy = given.release.policy
    reasons = () if policy is None else tuple(map(str, policy.accept))
    for each in given.found:
        if each.accepted and each.level:
            columns = join_words(list(each.columns))
            told = f"what {each.attack} reveals about {columns} is meant to be known"
            people = max(each.people, largest(given.lines))
            # That columns stay together says that readers need both, and not why it harms nobody.
            because = each.accepted if each.accepted in reasons else None
            yield Assumption("accepted", each.columns, told, people, given.of, because)


def _of_unknown(given: _Release) -> Iterator[Assumption]:
    target = given.target
    asked = {
        name: [
            AdversaryColumns((name,), with_class=True),
            *(
                AdversaryColumns((name, other), with_class=True)
                for other in target.knowable
                if other != name
            ),
        ]
        for name in target.unknown
    }
    found: dict[str, tuple[int, bool]] = {}
    counts, several = target.counts, len(target.sensitive) > 1
    if asked and several and counts is not None and given.priced:
        for name, facts in facts_without_each(target, counts, asked, given.rule):
            found[name] = _people_of(given, facts, [*facts.told])
    for name, known in asked.items():
        told = [other for other in target.sensitive if other != name]
        people, least = found.get(name) or _people_told(given, known, told, share=len(asked))
        text = f"others do not know {name!r} of a person"
        yield Assumption("unknown", (name,), text, people, given.of, given.reason(name), least)


def _of_plain(given: _Release) -> Iterator[Assumption]:
    release, target = given.release, given.target
    names = [
        *target.beside,
        *target.unread,
        *(() if target.counts is not None else release.plain),
    ]
    known = [AdversaryColumns((), with_class=True)]
    known += [AdversaryColumns((each,), with_class=True) for each in target.knowable]
    told = _facts_told(given, known, target.beside)
    weights = {n for n, role in _roles_beside(release).items() if role is Role.WEIGHT}
    for name in dict.fromkeys(names):
        if name in weights:
            # It says how a sample was drawn: others may know it, and no person is harmed by it.
            continue
        people, least = None, False
        if told is not None and name in target.beside:
            people, least = _people_of(given, told, [name])
        text = f"it harms no person if {name!r} becomes known"
        yield Assumption("plain", (name,), text, people, given.of, given.reason(name), least)


def _roles_beside(release: Published) -> Mapping[str, Role | None]:
    return release.open_columns if isinstance(release, PublishedTable) else {}


def _of_harmless(given: _Release) -> Iterator[Assumption]:
    target = given.target
    for name, counts in target.classes.sensitive.items():
        secrecy = counts.column.secrecy
        if secrecy is None or name in given.release.plain or not (secrecy < 0).any():
            continue
        column = replace(counts.column, secrecy=np.where(secrecy < 0, 0, secrecy))
        sensitive = {**target.classes.sensitive, name: replace(counts, column=column)}
        meant = replace(target, classes=replace(target.classes, sensitive=sensitive))
        known = [AdversaryColumns((), with_class=True)]
        known += sets_of_values([each for each in target.knowable if each != name])
        people, least = _people_told(replace(given, target=meant), known, [name])
        text = f"some values of {name!r} are harmless"
        yield Assumption("harmless", (name,), text, people, given.of, given.reason(name), least)


def _of_noise(given: _Release) -> Iterator[Assumption]:
    """Return what chance did to columns: files cannot show it."""
    release = given.release
    claims = [each for each in chance_claims(release) if each.believed]
    hidden = hidden_columns(release) if claims else ()
    for each in claims:
        if each.column not in hidden:
            # Its values count as they stand: nothing is softened by it.
            continue
        because = "the policy asks for it" if each.confirmed else None
        text = f"chance changed the values of {each.column!r} ({each.kind})"
        people = None if each.confirmed else _people_at_face_value(given)
        yield Assumption("noise", (each.column,), text, people, given.of, because)


def _people_at_face_value(given: _Release) -> int | None:
    """Return the people at risk if no value was changed of which only the manifest says so."""
    target = at_face_value(given.release) if given.priced else None
    if target is None:
        return None
    policy = given.release.policy
    target = held_to(target, policy)
    known = given.release.quasi_identifiers
    _, lines = judge(target, COUNTING, given.rule, policy, known)
    return max(largest(lines), largest(given.lines))


def _people_told(
    given: _Release,
    known: Sequence[AdversaryColumns],
    told: Sequence[str],
    *,
    share: int = 1,
) -> tuple[int | None, bool]:
    """Return the people of whom some columns would be told, and whether there may be more."""
    facts = _facts_told(given, known, told, share)
    if facts is not None:
        return _people_of(given, facts, told)
    counts = given.target.counts
    if counts is None or not given.priced:
        return None, False
    return given.count(np.zeros(len(counts), dtype=np.bool_)), False


def _facts_told(
    given: _Release, known: Sequence[AdversaryColumns], told: Sequence[str], share: int = 1
) -> Facts | None:
    """Count what all others would tell about each of some columns; None if there are none."""
    counts = given.target.counts
    if counts is None or not told or not given.priced:
        return None
    return facts_of(
        given.target, counts, known, given.rule, told=tuple(told), share=share, examples=False
    )


def _people_of(given: _Release, facts: Facts, told: Sequence[str]) -> tuple[int, bool]:
    return given.count(facts.levels_of(told) == Level.VERY_HIGH), bool(facts.note)
