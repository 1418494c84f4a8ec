"""Increments on a ledger: decided, staged, committed, and put in their place."""

import json
import secrets
import sqlite3
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import field, fields, replace
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from sfumato.attacks.composition import ComparedReleases, Composition, Difference
from sfumato.counts import FrequencySet, group, sums
from sfumato.dataclasses import dataclass
from sfumato.decouplings.base import GroupedTables, free_name, mark_of
from sfumato.errors import InputError, OutputError, UnknownColumnError, some
from sfumato.files import sweep
from sfumato.files.private import describe_access
from sfumato.ledger import chain, pending
from sfumato.ledger.admission import Rules
from sfumato.ledger.buckets import BucketWork
from sfumato.ledger.epochs import coarsen
from sfumato.ledger.identity import (
    Identity,
    Likenesses,
    find_doubles,
    has_person,
    write_likenesses,
)
from sfumato.ledger.increment import (
    WISHES,
    Ask,
    GroupPromises,
    HeldRows,
    IncrementResult,
    Kind,
    Refusal,
    ToldByWaiting,
    consider,
    first_distribution,
    increment_fingerprint,
    people_in,
    write_waiting,
)
from sfumato.ledger.placing import Places, find_places, forget_values, join_keys
from sfumato.ledger.publishing.judging import find_guilty, judge
from sfumato.ledger.publishing.outputs import (
    BucketIncrement,
    Increment,
    IncrementOutput,
    finish_tables,
)
from sfumato.ledger.records import (
    Harmless,
    changed_cells,
    current,
    newcomers,
    stored_policy,
    write_changes,
)
from sfumato.ledger.repeats import GivenRows, Repeat, find_repeats, hash_rows
from sfumato.ledger.store import OWNER, WAIT, Settings, key_of, shown_of, writing
from sfumato.ledger.streams import Intake, require_position
from sfumato.models import PrivacyModel
from sfumato.policy import Policy
from sfumato.releases.line_breaks import count_line_breaks_of_groups, warn_of_line_breaks
from sfumato.releases.manifest import LeftRecord
from sfumato.releases.preparing import open_prepared
from sfumato.releases.release import GivenTables
from sfumato.releases.subject import Subject
from sfumato.showing.content import (
    Cell,
    Content,
    ContentTable,
    Part,
    Sentence,
    Share,
    Showable,
    join_values,
    plain_of,
)
from sfumato.tables import Table
from sfumato.tasks.assessment import Assessment
from sfumato.text import fold_spelling, number_of, percent, text_of
from sfumato.typing import IntArray, Value


@dataclass(frozen=True, eq=False)
class Publication(Showable):
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
    held: tuple[HeldRows, ...] = ()
    waiting: int = 0
    """How many rows wait in the ledger now."""

    others: int = 0
    """How many left without having asked, because one of their cell had to leave at once."""

    aside: int = 0
    """How many rows were set aside until now, and are never published."""

    told: ToldByWaiting | None = None
    """What is learned by those who know that a person waits; None if it is nothing."""

    leaving: int = 0
    """How many of those who wait are published still: they wait to leave, or to be corrected."""

    above: tuple[tuple[tuple[str | None, ...], Fraction], ...] = ()
    """Groups that were published above alpha before the ledger began, and what they tell."""

    composition: ComparedReleases | None = None
    """What a comparison with the last release shows; None for the first."""

    assessment: Assessment | None = None
    """The verdict on the cells that are new or changed; None if there are none."""

    tables: GroupedTables | None = None
    """The tables of the rows that joined, or all if others left, changed or are to; None if no one
    joined."""

    folder: Path | None = None
    place: str | None = None
    """The address of the first table that was written, if it is in a database."""

    buckets: bool = False
    """Whether people are in buckets, with rows of quasi-identifiers that are published as they are.
    """

    people: FrequencySet | None = None
    """Such rows of those who joined, with the bucket of each."""

    gone: tuple[int, ...] = ()
    """The buckets that are withdrawn, by their labels: readers leave them out."""

    head: str = ""
    """The hash of this entry: keep it elsewhere, and `ledger verify` finds any forgery."""

    dry_run: bool = False
    warnings: tuple[str, ...] = field(default=())

    @property
    def current(self) -> GroupedTables:
        """All tables as they are published now, read from the ledger."""
        with chain.reading(self.ledger) as db:
            return current(db, Settings.load(db))

    @property
    def refused_rows(self) -> int:
        """The number of rows that were refused."""
        return sum(each.rows for each in self.refused)

    @property
    def held_rows(self) -> int:
        """The number of rows of this increment, or in its groups, that wait."""
        return sum(each.rows for each in self.held)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values that JSON can hold. Refused rows are in it."""
        return {
            "ledger": str(self.ledger),
            **plain_of(
                self, "sequence alpha dry_run given admitted left corrected", "withdrawn others"
            ),
            "refused": [self._plain_refusal(each) for each in self.refused],
            "held": [self._plain_held(each) for each in self.held],
            **({"buckets_withdrawn": list(self.gone)} if self.gone else {}),
            "waiting": self.waiting,
            "leaving": self.leaving,
            **({"aside": self.aside} if self.aside else {}),
            **(
                {}
                if self.told is None
                else {"told": {"share": float(self.told.share), "rows": self.told.rows}}
            ),
            "above": [
                {"group": list(labels), "breach": float(share)} for labels, share in self.above
            ],
            "composition": None if self.composition is None else self.composition.to_dict(),
            "answer": None if self.assessment is None else self.assessment.answer,
            "why": [] if self.assessment is None else list(self.assessment.why),
            "folder": None if self.folder is None else str(self.folder),
            **({} if self.place is None else {"place": self.place}),
            "head": self.head,
            "warnings": list(self.warnings),
        }

    def _plain_refusal(self, refusal: Refusal) -> dict[str, Any]:
        return {
            "group": list(refusal.labels),
            "values": dict(zip(self.columns, refusal.row, strict=True)),
            "rows": refusal.rows,
            **({"who": refusal.who} if refusal.who else {}),
            "why": refusal.why,
        }

    def _plain_held(self, held: HeldRows) -> dict[str, Any]:
        return {
            "kind": held.ask.kind,
            "group": json.loads(held.ask.labels),
            "values": dict(zip(self.columns, json.loads(held.ask.row), strict=True)),
            "rows": held.rows,
            "why": held.why,
        }

    def __repr__(self) -> str:
        return f"<Publication {self.headline}>"

    def content(self) -> Content:
        """Return the numbers, the rows refused and waiting, and what a comparison shows."""
        parts: list[Part] = []
        if self.refused:
            refused: Counter[tuple[str, str]] = Counter()
            who: dict[tuple[str, str], list[str]] = {}
            for each in self.refused:
                group = self._call(each.labels)
                refused[group, each.why] += each.rows
                who.setdefault((group, each.why), []).append(each.who)
            named = any(each.who for each in self.refused)
            rows: list[list[Cell]] = [
                [group, n, *([some([each for each in who[group, why] if each])] * named), why]
                for (group, why), n in refused.most_common()
            ]
            heads = ["refused in group", "rows", *(["who"] * named), "why"]
            parts.append(ContentTable.of("", heads, rows))
        if self.held:
            waiting: Counter[tuple[str, str, str]] = Counter()
            for held in self.held:
                group, wish = self._call(json.loads(held.ask.labels)), WISHES[held.ask.kind]
                waiting[group, wish, held.why] += held.rows
            lines = [(group, wish, n, why) for (group, wish, why), n in waiting.most_common()]
            parts.append(ContentTable.of("", ["waiting in group", "to", "rows", "why"], lines))
        if self.told is not None:
            parts.append(
                Sentence(
                    f"Those who know that a person waits believe a value with up to "
                    f"{percent(float(self.told.share))}; rows that wait because of their values: "
                    f"{self.told.rows}"
                )
            )
        if self.above:
            above = [(join_values(group), Share(share)) for group, share in self.above]
            parts.append(ContentTable.of("", ["group above alpha", "tells now"], above))
        if self.gone:
            parts.append(Sentence(f"Withdrawn: {self._list_gone()}. Readers leave them out"))
        if self.composition is not None and self.composition.differences:
            parts.append(Sentence(f"Compared with the last release: {self.composition}"))
        if self.assessment is not None and self.assessment.answer != "yes":
            reasons = "; ".join(self.assessment.why)
            parts.append(Sentence(f"May it be published? {self.assessment.answer}: {reasons}"))
        remarks = tuple(f"Warning: {warning}" for warning in self.warnings)
        return Content(self.headline, tuple(parts), remarks=remarks)

    def _call(self, labels: Iterable[str | None]) -> str:
        """Return what a group is called: all buckets are one."""
        return "any bucket" if self.buckets else join_values(labels)

    def _list_gone(self) -> str:
        named = some([str(label) for label in self.gone], most=10)
        return f"{'bucket' if len(self.gone) == 1 else 'buckets'} {named}"

    @property
    def headline(self) -> str:
        """The numbers of rows admitted, refused and held back."""
        if self.sequence == 1:
            return f"ledger started with {self.admitted} rows, alpha {self.alpha:g}"
        would = "would be " if self.dry_run else ""
        parts = [f"{self.admitted} rows {would}admitted"]
        parts += [f"{self.left} left"] if self.left else []
        parts += [f"{self.corrected} corrected"] if self.corrected else []
        parts += [f"{self.withdrawn} withdrawn"] if self.withdrawn else []
        parts += [f"{self.others} others withdrawn with them"] if self.others else []
        parts += [f"{self.refused_rows} refused", f"{self.held_rows} held back"]
        published = f", {self.leaving} of them published still" if self.leaving else ""
        published += f"; {self.aside} are set aside" if self.aside else ""
        return (
            f"release {self.sequence}: {', '.join(parts)}; {self.waiting} wait in the ledger"
            f"{published}"
        )


OLD = "old_"
"""The beginning of the names of columns that hold what was published, in corrections."""


class NoNewPeopleError(InputError):
    """All people whose rows came late are in the ledger already."""


@dataclass(eq=False)
class NewRows:
    """Rows that are given, counted, and generalised to the groups of a ledger."""

    db: sqlite3.Connection
    settings: Settings
    policy: Policy | None
    again: bool = False
    """Whether people who look like others are others."""

    asks: Counter[Ask] = field(default_factory=Counter)
    refused: list[Refusal] = field(default_factory=list)
    """Rows of people who are likely to be in the ledger in another spelling."""

    given: dict[str, str] = field(default_factory=dict)
    """What people are called, as given, by fingerprint: for the report and for nothing else."""

    likenesses: Likenesses = field(default_factory=dict)
    """What the people given look like."""

    shown: dict[tuple[int, str], str] = field(default_factory=dict)
    """How values are shown, by column and key."""

    added: GivenRows = field(default_factory=GivenRows)
    """The rows to add, as they were given."""

    leaving: dict[int, set[str]] = field(default_factory=dict)
    """By column, the quasi-identifiers of those who are to leave or to be corrected, as keys."""

    taken: Intake | None = None
    """What they are of a stream: the column by which it grows needs no role."""

    lasting: tuple[str, ...] = ()
    """Warnings of columns whose values stay the same from row to row of a person."""

    _people: dict[str, Value] = field(default_factory=dict)
    """Who is to join, by the fingerprint of the person."""

    _spelt: dict[int, dict[str, Value]] = field(default_factory=dict)
    """By column, the spelling that stands for all of a value, by what is left of it when folded."""

    def add(self, data: object, kind: Kind) -> None:
        """Count the rows of a table that are to be added or removed."""
        table = open_prepared(data, self.policy, lasting=True)
        self._check(table.columns)
        late = self.taken is not None and self.taken.late
        if self.policy is not None and kind == "add" and not late and not self.settings.several:
            alone = "a ledger that was started without --rows-per-person"
            Subject.of(table, self.policy, alone=alone, roleless=self._roleless)
        identity = self._identity(table)
        who = () if identity is None else identity.columns
        counts = table.count((*who, *self.names))
        people = None if identity is None else self._read_people(counts, identity, kind)
        values, codes = tabulate(counts, self.names)
        places, rows = self._generalise(values, codes)
        if kind == "remove":
            self._note_leaving(values)
        if people is None:
            # Rows that are alike in their group and their values are one ask.
            asks = group([places.of_row, rows.of_row], [len(places.keys), len(rows.keys)])
            times = sums(asks.of_item, counts.rows, asks.n)
            first = asks.first
        else:
            times, first = counts.rows, np.arange(len(counts))
        for at, n, place, row in zip(
            first.tolist(),
            times.tolist(),
            places.of_row[first].tolist(),
            rows.of_row[first].tolist(),
            strict=True,
        ):
            person = "" if people is None else people[at]
            self.asks[Ask(kind, places.keys[place], rows.keys[row], "", "", person)] += n
        if kind == "add" and (people is None or not any(people)):
            note_rows(self.added, self.settings, values, codes, counts.rows)
        if kind == "add" and people is not None and self.settings.several:
            split = len(self.settings.known)
            self.lasting += find_lasting(
                people, self.settings.sensitive, values[split:], codes[split:]
            )

    def leave_out_known(self) -> None:
        """Remove the people whom the ledger has, published or waiting; raise if rows name none.

        Rows that came late are among rows that were taken already: only people tell them apart.
        """
        people = {ask.person for ask in self.asks}
        if "" in people:
            raise InputError(
                "late rows can be recognised only where every row names a person: by columns "
                "with the role identifier, in the policy and in the source. Publish the late rows "
                "by themselves. Nothing was changed."
            )
        known = {*people_in(self.db, people)}
        known |= {person for [person] in self.db.execute("SELECT DISTINCT person FROM waiting")}
        self.asks = Counter({ask: n for ask, n in self.asks.items() if ask.person not in known})
        if not self.asks:
            raise NoNewPeopleError(
                "Late: rows of people whom the ledger has. They are not taken again"
            )

    def refuse_doubles(self) -> None:
        """Remove people who are likely to be known in another spelling, unless said to be others.

        Only their spelling is known here, and not whom they look like.
        """
        if self.again or not self._people:
            return
        known = {person for person in self._people if has_person(self.db, person)}
        doubles = find_doubles(self.db, self._people, self.likenesses, known)
        owners = {person[: 2 * OWNER] for person in doubles}
        why = (
            "a person in the ledger, or given now, differs only in signs, accents or leading "
            "zeros: write the person as before, or say that it is another: --again (again=True)"
        )
        for ask in [ask for ask in self.asks if ask.kind == "add" and ask.owner in owners]:
            self.refused.append(Refusal.of(ask, self.asks.pop(ask), why))
        for person in doubles:
            del self.likenesses[person]

    def with_names(self, refused: Iterable[Refusal]) -> tuple[Refusal, ...]:
        """Return refusals with what the people were called."""
        return tuple(replace(each, who=self.given.get(each.person, "")) for each in refused)

    def _identity(self, table: Table) -> Identity | None:
        """Return how the people of a table are recognised; None if it does not say who they are."""
        identity = Identity.of(self.settings, self.policy)
        return identity if identity is not None and identity.is_in(table) else None

    def _read_people(self, counts: FrequencySet, identity: Identity, kind: Kind) -> list[str]:
        """Return who counted rows are of; keep what they are called, and what they look like."""
        values, codes = tabulate(counts, identity.columns)
        columns = [
            [each[code] for code in at] for each, at in zip(values, codes.tolist(), strict=True)
        ]
        rows = list(zip(*columns, strict=True))
        marks = identity.marks(rows)
        if self.settings.several and not all(marks):
            n = int(counts.rows[[not mark for mark in marks]].sum())
            raise InputError(
                f"{n} rows do not say whose they are, or which row of the person: "
                f"{some(identity.columns, most=20)} must not be missing where people may have "
                "several rows. Nothing was changed."
            )
        people = identity.people(row[0] for row in rows)
        looks = identity.likenesses(row[0] for row in rows)
        for row, mark, person, like in zip(rows, marks, people, looks, strict=True):
            if mark:
                self.given[mark] = text_of(row[0])
                self.likenesses[person] = like
                if kind == "add":
                    self._people[person] = row[0]
        return marks

    def correct(self, data: object) -> None:
        """Count rows that are to become others: `age` is as it should be, `old_age` as it was."""
        table = open_prepared(data, self.policy, lasting=True)
        was = {f"{OLD}{name}": name for name in self.names}
        olds = {name: old for old, name in was.items() if old in table.columns}
        if not olds:
            raise InputError(
                f"the corrections name no old value. Give for every column that changes what was "
                f"published, as {OLD}{self.names[-1]}; columns are {some(table.columns, most=20)}."
            )
        self._check([name for name in table.columns if name not in was])
        identity = self._identity(table)
        who = () if identity is None else identity.columns
        counts = table.count((*who, *self.names, *olds.values()))
        people = [""] * len(counts)
        if identity is not None:
            people = self._read_people(counts, identity, "correct")
        self._note_leaving([counts.column(olds.get(name, name)).values for name in self.names])
        before, after = (
            [
                (places.keys[place], rows.keys[row])
                for place, row in zip(places.of_row.tolist(), rows.of_row.tolist(), strict=True)
            ]
            for places, rows in (
                self._generalise(*tabulate(counts, [olds.get(name, name) for name in self.names])),
                self._generalise(*tabulate(counts, self.names)),
            )
        )
        for person, old, new, n in zip(people, before, after, counts.rows.tolist(), strict=True):
            if old != new:
                self.asks[Ask("correct", *old, *new, person)] += n

    def _note_leaving(self, values: Sequence[Sequence[Value]]) -> None:
        for column, known in enumerate(values[: len(self.settings.known)]):
            self.leaving.setdefault(column, set()).update(map(key_of, known))

    @property
    def names(self) -> tuple[str, ...]:
        """The columns rows must have."""
        return (*self.settings.known, *self.settings.sensitive)

    @property
    def _roleless(self) -> tuple[str, ...]:
        """The column by which a stream grows, if the policy does not name it."""
        since = None if self.taken is None else self.taken.since
        named = () if self.policy is None else self.policy.columns
        return () if since is None or since in named else (since,)

    def _check(self, columns: Sequence[str]) -> None:
        for name in self.names:
            if name not in columns:
                raise UnknownColumnError(name, columns, where="the new rows")
        columns = [name for name in columns if name not in self._roleless]
        if self.policy is not None:
            self.policy.check_against(columns)
            return
        others = [name for name in columns if name not in self.names]
        if others:
            raise InputError(
                f"the rows have columns that the ledger does not: {some(others)}. Leave them out; "
                f"it has {some(self.names, most=20)}."
            )

    def _generalise(
        self, values: Sequence[Sequence[Value]], codes: IntArray
    ) -> tuple[Places, Places]:
        """Return the group of each row, and its sensitive values, each written once."""
        split = len(self.settings.known)
        if self.settings.exact:
            rows = [[key_of(value) for value in known] for known in values[:split]]
            places = join_keys(rows, codes[:split])
        else:
            places = find_places(self.db, self.settings, self.policy, values[:split], codes[:split])
        texts = []
        for column, known in enumerate(values[split:]):
            spelling = {value: self._spell(column, value) for value in sorted(known, key=repr)}
            texts.append([key_of(spelling[value]) for value in known])
            for value in spelling.values():
                self.shown.setdefault((column, key_of(value)), shown_of(value))
        return places, join_keys(texts, codes[split:])

    def _spell(self, column: int, value: Value) -> Value:
        """Return a value in the spelling that the ledger has of it, or in its own if it is new."""
        name = self.settings.sensitive[column]
        if not isinstance(value, str) or (self.policy is not None and name in self.policy.exact):
            return value
        if column not in self._spelt:
            texts = self._known_texts(column)
            self._spelt[column] = {fold_spelling(t): t for t in reversed(texts) if t is not None}
        folded = fold_spelling(value)
        return self._spelt[column].setdefault(folded, value) if folded else None

    def _known_texts(self, column: int) -> list[str | None]:
        """Return the values of a column that are published or wait, the published ones first."""
        published = self.db.execute(
            "SELECT value FROM sensitive_values WHERE column = ? ORDER BY id", (column,)
        )
        texts = [json.loads(key) for [key] in published.fetchall()]
        waiting = self.db.execute("SELECT DISTINCT row, new_row FROM waiting").fetchall()
        rows = [json.loads(row) for pair in waiting for row in pair if row]
        return [*texts, *(row[column] for row in rows)]

    def as_published(self) -> dict[tuple[int, str], str]:
        """Return how new values are shown: as numbers where all of their column are."""
        columns = {column for column, _ in self.shown}
        numeric = {column for column in columns if self._numbers_only(column)}
        return {
            (column, key): _as_number(key) if column in numeric else shown
            for (column, key), shown in self.shown.items()
        }

    def _numbers_only(self, column: int) -> bool:
        found = self.db.execute(
            "SELECT shown FROM sensitive_values WHERE column = ? LIMIT 20", (column,)
        ).fetchall()
        values = [json.loads(shown) for [shown] in found]
        return bool(values) and all(isinstance(v, int | float) for v in values if v is not None)


_LASTING = 0.5
"""The share of people with several rows from which on a note says that all theirs are alike."""


def find_lasting(
    rows: Sequence[str],
    names: Sequence[str],
    values: Sequence[Sequence[Value]],
    codes: IntArray,
) -> tuple[str, ...]:
    """Return a warning for each column that has one value in all rows of most people.

    Args:
        rows: The fingerprint of each row.
        names: The columns.
        values: The values of each.
        codes: `codes[c, r]`: the position of row r's value of column c among them.
    """
    owners, of_row, times = np.unique(
        [row[: 2 * OWNER] for row in rows], return_inverse=True, return_counts=True
    )
    found = []
    for name, known, code in zip(names, values, codes, strict=True):
        recorded = np.array([value is not None for value in known], dtype=bool)[code]
        pairs = np.unique(np.stack([of_row[recorded], code[recorded]]), axis=1)
        different = np.bincount(pairs[0], minlength=len(owners))
        asked = (np.bincount(of_row[recorded], minlength=len(owners)) > 1) & (times > 1)
        alike = int(np.count_nonzero(asked & (different == 1)))
        if alike > _LASTING * np.count_nonzero(asked):
            found.append(
                f"{name!r} is the same in all rows of {alike} of the "
                f"{np.count_nonzero(asked)} people who come with several. Alpha bounds what is "
                "believed if rows are different facts; who knows that it stays the same compares "
                "the cells of a person. If it does, publish one row per person: sf.widen"
            )
    return tuple(found)


def note_rows(
    added: GivenRows,
    settings: Settings,
    values: Sequence[Sequence[Value]],
    codes: IntArray,
    times: IntArray,
) -> None:
    """Hash distinct rows of people without identifiers, so that they are told if they come again.

    Args:
        added: What the hashes are added to.
        settings: What the ledger was started with; its salt is the key.
        values: The values of each column.
        codes: `codes[c, r]`: the position of row r's value of column c among them.
        times: How many rows there are of each.
    """
    added.add(hash_rows(settings.salt, values, codes), times)


def tabulate(
    counts: FrequencySet, names: Sequence[str]
) -> tuple[list[tuple[Value, ...]], IntArray]:
    """Return the values of some columns, and which of them each counted row has."""
    codes = [counts.codes_of(name) for name in names]
    return (
        [counts.column(name).values for name in names],
        np.array(codes, dtype=np.int64).reshape(len(names), len(counts)),
    )


def _as_number(key: str) -> str:
    """Return how a value is shown in a column of numbers.

    >>> _as_number('"7.0"'), _as_number('"9007199254740993"'), _as_number('"1e+300"')
    ('7', '9007199254740993', '1e+300')
    """
    text = json.loads(key)
    number = None if text is None else number_of(text)
    if number is None:
        return key
    if not number.is_integer():
        return shown_of(number)
    # A float has fewer digits than some whole numbers.
    return shown_of(int(text) if text.isdecimal() else int(number))


@dataclass(frozen=True, eq=False)
class IncrementJob:
    """An increment on a ledger: how it is to be published, and where."""

    file: Path
    output: IncrementOutput | None = None
    whole: bool = False
    again: bool = False
    at_once: bool = False
    dry_run: bool = False
    wait: float = WAIT
    seed: int | None = None
    head: str | None = None
    """The last hash, from the copy you keep elsewhere."""

    taken: Intake | None = None
    """What it takes of a stream, which is recorded with it."""

    before: Intake | None = None
    """What was taken of that stream last."""

    say_left: bool = False
    """Whether the release says how many of each group are counted although they left."""

    levels: Mapping[str, int] | None = None
    """The levels to which all groups are generalised; None leaves them as they are."""

    def run(
        self, data: object, delete: object, correct: object, tables: GivenTables
    ) -> Publication:
        """Decide, stage the release, commit the ledger, and rename the release."""
        staged: pending.StagedRelease | None = None
        try:
            with chain.writing(self.file, wait=self.wait, head=self.head) as db:
                # A start that was killed at its very end leaves a second name of the ledger.
                sweep(self.file.parent)
                problems = [*describe_access(self.file), *pending.finish(db)]
                problems += finish_tables(db, tables.database)
                settings = Settings.load(db)
                if settings.exact:
                    self._refuse_for_buckets()
                if self.levels is not None:
                    settings = coarsen(db, settings, self.levels)
                policy = stored_policy(settings)
                # Of a stream nothing says who is another: those who may not be are left out.
                others = self.again and self.taken is None
                rows = NewRows(db, settings, policy, again=others, taken=self.taken)
                for source, kind in ((data, "add"), (delete, "remove")):
                    if source is not None:
                        rows.add(tables.open(source), kind)  # type: ignore[arg-type]
                if correct is not None:
                    rows.correct(tables.open(correct))
                self._follow(rows)
                rows.refuse_doubles()
                work = _IncrementSteps(self, rows, np.random.default_rng(self._seed))
                repeated = work.find_repeated()
                done = work.settle(work.require_news())
                # Of those who leave no exact value stays that the policy can do without.
                forget_values(db, settings, policy, rows.leaving)
                staged = work.stage(done)
                done = work.append(done, staged, [*problems, *repeated])
                if self.dry_run:
                    db.execute("ROLLBACK")
        except BaseException:
            if staged is not None and self.output and not _is_pending(self.file, staged):
                self.output.drop(staged)
            raise
        if staged is not None:
            self._finish(done.sequence)
        return done

    def _refuse_for_buckets(self) -> None:
        """Raise if more is asked for than a ledger of buckets can do."""
        if self.levels is not None:
            raise InputError(
                "a ledger of buckets publishes quasi-identifiers as they are: there is no level to "
                "change. Nothing was changed."
            )
        asked = "--whole (whole=True)" if self.whole else "--say-left (say_left=True)"
        if self.whole or self.say_left:
            raise InputError(
                f"{asked} needs all tables, and a ledger of buckets keeps no row that it "
                "published. Its releases hold the newcomers and name the buckets that are "
                "withdrawn: readers put them together. Nothing was changed."
            )

    def _follow(self, rows: NewRows) -> None:
        """Raise if another run took the same of a stream, and leave out who is no newcomer."""
        if self.taken is not None:
            require_position(rows.db, self.taken, self.before)
            if self.taken.late:
                rows.leave_out_known()

    @property
    def _seed(self) -> int:
        return secrets.randbits(128) if self.seed is None else self.seed

    def _finish(self, sequence: int) -> None:
        """Rename the release; if that fails, the next publish does it."""
        if self.output is None:
            return
        with chain.writing(self.file, wait=self.wait) as db:
            problems = self.output.finish(db)
            [waits] = db.execute(
                "SELECT COUNT(*) FROM pending WHERE sequence = ?", (sequence,)
            ).fetchone()
        if waits and problems:
            raise OutputError(
                f"the release is in the ledger, but {problems[-1]} The next publish tries again."
            )


_FIRST_LABELS = "SELECT COUNT(*), SUM(label), MIN(label), MAX(label) FROM cells WHERE born = 1"


class _IncrementSteps:
    """The steps of an increment inside the ledger's transaction."""

    def __init__(self, job: IncrementJob, rows: NewRows, rng: np.random.Generator) -> None:
        self.job, self.rows, self.rng = job, rows, rng
        self.db, self.settings = rows.db, rows.settings
        [last] = self.db.execute("SELECT MAX(sequence) FROM releases").fetchone()
        self.sequence = int(last) + 1
        self.draws: dict[str, float] = {}
        """The number drawn for each lot: the same if the verdict asks to decide again."""

        self.everything = job.whole or job.say_left
        """Whether all tables are published: those of newcomers cannot show who left."""

    def require_news(self) -> str:
        """Raise if there is nothing to publish, or it was given before; return its fingerprint.

        People with identifiers are known if they come again, so it is that of the others, and empty
        if there are none: of a row of one person it would confirm a guess of its values.
        """
        if not self.rows.asks and self.rows.refused:
            why = _describe_refused(self.rows.with_names(self.rows.refused))
            raise InputError(f"no rows are left to publish: {why}. Nothing was changed.")
        if not self.rows.asks and self.job.levels is None:
            raise InputError(
                "the increment has no rows: there is nothing to publish. Nothing was changed."
            )
        nameless = {ask: n for ask, n in self.rows.asks.items() if not ask.person}
        if not nameless:
            return ""
        mark = increment_fingerprint(self.settings.salt, nameless)
        before = self.db.execute(
            "SELECT sequence, time FROM given WHERE fingerprint = ?", (mark,)
        ).fetchone()
        may_repeat = self.job.again or self.job.at_once
        if before is not None and not may_repeat:
            raise InputError(
                f"these very rows were given before, as increment {before[0]} on {before[1]}. "
                "Nothing was changed. If they are other people with the same values, say so: "
                "--again (again=True)."
            )
        return mark

    def find_repeated(self) -> list[str]:
        """Return a warning for each earlier increment of which rows come again."""
        if self.job.again:
            return []
        return [_describe_repeat(each) for each in find_repeats(self.db, self.rows.added)]

    def settle(self, mark: str) -> Publication:
        """Decide on every row, write what changes, and judge it; what is judged no waits."""
        closed: dict[str, str] = {}
        while True:
            self.db.execute("SAVEPOINT decided")
            result = self.decide(mark, closed)
            done = self.write(result)
            if done.assessment is None or done.assessment.answer != "no":
                break
            concerned = {change.labels for change in result.changes} - closed.keys()
            guilty = find_guilty(done.assessment, self.settings.quasi_identifiers)
            reason = f"the verdict would be no: {done.assessment.why[0]}"
            # If it is not said where, all of it is.
            more = {key: why for key, why in guilty.items() if key in concerned}
            more = more or dict.fromkeys(concerned, reason)
            if not more:
                break
            closed |= more
            self.db.execute("ROLLBACK TO decided")
            self.db.execute("RELEASE decided")
        self.db.execute("RELEASE decided")
        return done

    def decide(self, mark: str, closed: Mapping[str, str]) -> IncrementResult:
        """Decide on every row, and write down that the increment was given."""
        settings, policy = self.settings, self.rows.policy
        promises = None
        if policy is not None:
            first = {
                name for model in policy.models if _needs_first(model) for name in model.columns
            }
            reference = first_distribution(self.db) if first else {}
            reference = {i: each for i, each in reference.items() if settings.sensitive[i] in first}
            promises = GroupPromises(policy, settings.sensitive, reference)
        result = consider(
            self.db,
            self.rows.asks,
            settings.sensitive,
            Rules(
                settings.limit,
                settings.k,
                closed=closed,
                at_once=self.job.at_once,
                rows_per_person=settings.rows_per_person,
                hide_waiting=settings.hide_waiting,
                draws=self.draws,
            ),
            self.rng,
            sequence=self.sequence,
            promises=promises,
            harmless=Harmless.of(policy, settings.sensitive),
            way=BucketWork if settings.exact else None,
        )
        if mark:
            row = (mark, self.sequence, now())
            self.db.execute("INSERT OR IGNORE INTO given VALUES (?, ?, ?)", row)
        return result

    def write(self, result: IncrementResult) -> Publication:
        """Write all changes into the ledger, and return what they were."""
        db, settings = self.db, self.settings
        shown = self.rows.as_published()
        labels = write_changes(db, self.sequence, result.changes, shown, self.rng)
        write_waiting(db, result.before, result.after)
        self.rows.added.write(db, self.sequence)
        write_likenesses(db, self.rows.likenesses)
        numbers = result.published
        kinds = dict(db.execute("SELECT kind, SUM(rows) FROM waiting GROUP BY kind").fetchall())
        aside = kinds.pop("aside", 0)
        done = Publication(
            self.job.file,
            self.sequence,
            settings.alpha,
            settings.sensitive,
            sum(self.rows.asks.values()) + sum(each.rows for each in self.rows.refused),
            numbers["add"],
            left=numbers["remove"],
            corrected=numbers["correct"],
            withdrawn=result.withdrawn,
            refused=self.rows.with_names([*self.rows.refused, *result.refused]),
            held=tuple(
                each
                for each in result.held
                if each.ask.kind != "aside" or each.ask not in result.before
            ),
            others=result.others,
            waiting=sum(kinds.values()),
            aside=aside,
            told=result.told,
            leaving=sum(kinds.values()) - kinds.get("add", 0),
            composition=_compare_with_last(result, settings),
            dry_run=self.job.dry_run,
            warnings=(*_warn_of_draws(result), *self._warn_of_nameless(), *self.rows.lasting),
            buckets=bool(settings.exact),
        )
        if settings.exact:
            return self._with_buckets(done, result, labels)
        # Newcomers have tables of their own. If others are to leave or to change, all are shown,
        # also if they still wait: that they do is not told by a release that is missing.
        self.everything = (
            self.job.whole
            or self.job.say_left
            or self.job.levels is not None
            or any(ask.kind != "add" for ask in self.rows.asks)
            or any(change.record for change in result.changes)
        )
        if not result.changes and not self.everything:
            return done
        tables = (
            current(db, settings) if self.everything else newcomers(db, settings, self.sequence)
        )
        seen = changed_cells(db, settings, self.sequence) if self.everything else tables
        assessment = judge(seen, self.rows.policy) if seen.total else None
        return replace(done, tables=tables, assessment=assessment)

    def _with_buckets(
        self, done: Publication, result: IncrementResult, labels: Sequence[int]
    ) -> Publication:
        """Return what is published of buckets, and the verdict on it."""
        if not result.changes:
            return done
        changes = list(zip(labels, result.changes, strict=True))
        tables = newcomers(self.db, self.settings, self.sequence)
        done = replace(
            done,
            tables=tables,
            people=FrequencySet.from_rows(
                (free_name("bucket", self.settings.exact), *self.settings.exact),
                ((label, *json.loads(row)) for label, change in changes for row in change.rows),
            ),
            gone=tuple(sorted(label for label, change in changes if change.record is not None)),
        )
        if not tables.total:
            return done
        made = self._increment_of(done)
        assert isinstance(made, BucketIncrement)  # noqa: S101 - it has rows of people
        return replace(done, assessment=judge(made.in_memory(self.rows.policy), self.rows.policy))

    def _warn_of_nameless(self) -> tuple[str, ...]:
        identity = Identity.of(self.settings, self.rows.policy)
        rows = sum(n for ask, n in self.rows.asks.items() if ask.kind == "add" and not ask.person)
        if identity is None or not rows:
            return ()
        text = (
            f"{rows} rows have no identifier, so the ledger cannot recognise their people if they "
            f"come again or leave: give {some(identity.columns, most=20)} with the rows"
        )
        return (text,)

    def stage(self, done: Publication) -> pending.StagedRelease | None:
        """Write the release under a hidden name, and note that it is to be renamed."""
        output = self.job.output
        if output is None or done.tables is None or self.job.dry_run:
            return None
        staged = output.stage(self._increment_of(done), self.db)
        try:
            pending.note(self.db, self.sequence, staged)
        except BaseException:
            output.drop(staged)
            raise
        return staged

    def _increment_of(self, done: Publication) -> Increment:
        """Return the release as it is written."""
        assert done.tables is not None  # noqa: S101 - else nothing is published
        made = Increment(
            done.tables,
            self.settings,
            self.sequence,
            self.everything,
            self.rng,
            self.job.seed is not None,
            mark_of(*self.db.execute(_FIRST_LABELS).fetchone()),
            self._count_left() if self.job.say_left else None,
        )
        if done.people is None:
            return made
        plain = {each.name: getattr(made, each.name) for each in fields(made)}
        return BucketIncrement(**plain, people=done.people, withdrawn=done.gone)

    def _count_left(self) -> tuple[LeftRecord, ...]:
        """Return how many of each group are counted although they left."""
        found = self.db.execute(
            "SELECT labels, SUM(rows) FROM waiting WHERE kind = 'remove' GROUP BY 1 ORDER BY 1"
        )
        return tuple(LeftRecord(tuple(json.loads(labels)), rows) for labels, rows in found)

    def append(
        self, done: Publication, staged: pending.StagedRelease | None, problems: list[str]
    ) -> Publication:
        """Add the entry to the chain, and complete the report."""
        entry = {
            "sequence": done.sequence,
            "kind": "increment" if self.job.levels is None else "epoch",
            "time": now(),
            "files": "" if staged is None else staged.hash,
            "rows": {
                "given": done.given,
                "joined": done.admitted,
                "left": done.left + done.others,
                "corrected": done.corrected,
                "refused": done.refused_rows,
                "waiting": done.waiting,
                **({"aside": done.aside} if done.aside else {}),
            },
        }
        if self.job.taken is not None:
            taken = self.job.taken
            entry["taken"] = replace(taken, rows=taken.rows or done.given).to_dict()
        head = "" if self.job.dry_run else chain.append(self.db, entry)
        output = None if staged is None else self.job.output
        if self.job.output is not None and staged is None and not self.job.dry_run:
            problems = [*problems, "nothing is published yet, so nothing was written"]
        return replace(
            done,
            head=head,
            folder=None if output is None else output.folder,
            place=None if output is None else output.place,
            warnings=(*problems, *done.warnings, *_warn_of_line_breaks(done)),
        )


def _warn_of_draws(result: IncrementResult) -> tuple[str, ...]:
    if not result.drawn:
        return ()
    text = (
        f"{result.drawn} rows left or moved without an identifier, so the ledger drew the release "
        "in which they had joined. What it promises holds for who knows no better: give "
        "identifiers, in the policy and in the rows"
    )
    return (text,)


def _warn_of_line_breaks(done: Publication) -> list[str]:
    if done.tables is None:
        return []
    return warn_of_line_breaks(count_line_breaks_of_groups(done.tables))


def _describe_refused(refused: Sequence[Refusal]) -> str:
    """Return who was refused, and why, in a sentence."""
    by_why: dict[str, list[Refusal]] = {}
    for each in refused:
        by_why.setdefault(each.why, []).append(each)
    return "; ".join(
        f"{some([each.who for each in found], most=5)}: {why}" for why, found in by_why.items()
    )


def _describe_repeat(repeat: Repeat) -> str:
    return (
        f"about {repeat.rows} of the {repeat.of} rows given have the same values as rows of "
        f"increment {repeat.sequence}, more than chance explains. If they are the same people, "
        "they are counted twice: leave them out, or remove them with sfumato ledger remove. If "
        "they are others, say so: --again"
    )


def _is_pending(file: Path, staged: pending.StagedRelease) -> bool:
    """Return whether what was staged belongs to a release that was committed."""
    with suppress(OSError, ValueError), writing(file, wait=1) as db:
        return staged.stage in pending.staged_names(db)
    return True


def now() -> str:
    """Return the time as ledgers write it."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def _compare_with_last(result: IncrementResult, settings: Settings) -> ComparedReleases:
    """Return what a comparison with the last release will show, cell by cell."""
    differences = []
    for change in result.changes:
        born = change.record is None
        part = change.now if born else change.before.minus(change.now)
        # Who leaves as a whole cell, or moves, tells nothing that the last tables did not.
        left = not born and change.left and change.now.size
        differences.append(
            Difference(
                tuple(json.loads(change.labels)),
                change.joined if change.parent is None else 0,
                change.left if left else 0,
                part.worst if born else Fraction(0),
                part.worst if left else Fraction(0),
                change.before.worst,
                change.now.worst,
            )
        )
    return ComparedReleases(Composition(settings.told, settings.k), tuple(differences))


def _needs_first(model: PrivacyModel) -> bool:
    """Return whether a model looks at the values of the first release, too.

    It compares with them, or names some that newcomers need not have: a name that no value has is
    refused, for it may be misspelt.
    """
    names = (getattr(model, name, None) for name in ("protected", "categories"))
    return model.compares_with_table or any(names)
