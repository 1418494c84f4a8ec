"""One increment on a ledger: what is asked, what waits, and what becomes of each row."""

import hmac
import json
import sqlite3
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cache, cached_property
from typing import Literal, NamedTuple

import numpy as np

from sfumato.classes import (
    MISSING,
    EquivalenceClasses,
    SensitiveColumn,
    ValueCounts,
    merge_counts,
    reference_of,
)
from sfumato.dataclasses import dataclass
from sfumato.errors import InputError, PolicyError
from sfumato.ledger.admission import (
    AdmittedRows,
    Offers,
    Rules,
    SeenTogether,
    choose_leavers,
    choose_newcomers,
)
from sfumato.ledger.chain import digest_text
from sfumato.ledger.corrections import Memory, Wish, apply_corrections, choose_corrections
from sfumato.ledger.counting import CellCounts
from sfumato.ledger.records import CellState, Change, Codes, Harmless, cell_states, memory_of
from sfumato.ledger.store import ANY, OWNER, RowsPerPerson, keys_of, split_keys
from sfumato.ledger.waiting import chance_aside, hides_any, smallest_lot
from sfumato.models.base import PrivacyModel, TableModel
from sfumato.policy import Policy
from sfumato.text import in_order
from sfumato.typing import IntArray, Value

Kind = Literal["add", "remove", "correct", "aside"]

WISHES: dict[str, str] = {
    "add": "join",
    "remove": "leave",
    "correct": "be corrected",
    "aside": "nothing: set aside",
}
"""What people wait for, in words."""


class Ask(NamedTuple):
    """One row, generalised: the labels of its group, and its sensitive values.

    A correction names the row as it was published and as it should have been.
    """

    kind: Kind
    labels: str
    row: str
    new_labels: str = ""
    new_row: str = ""
    person: str = ""
    """The fingerprint of the person's identifiers; empty if there is none. Where people may have
    several rows, that of the row; see `owner`."""

    @property
    def owner(self) -> str:
        """The part of a row's fingerprint that all rows of the person have."""
        return self.person[: 2 * OWNER]

    def is_settled(self) -> bool:
        """Return whether a correction has nothing left to correct."""
        return self.kind == "correct" and (self.labels, self.row) == (self.new_labels, self.new_row)

    def moves(self) -> bool:
        """Return whether the values are right, and only the group is another."""
        return self.kind == "correct" and self.row == self.new_row


_ASK = ", ".join(Ask._fields)
"""The columns of a row that waits."""


@dataclass(frozen=True)
class Waiting:
    """The number of rows of a kind that wait, and the release since which they do."""

    rows: int
    since: int


def all_waiting(db: sqlite3.Connection) -> dict[Ask, Waiting]:
    """Read all rows that wait."""
    rows = db.execute(f"SELECT {_ASK}, rows, since FROM waiting")  # noqa: S608
    return {Ask(*ask): Waiting(rows, since) for *ask, rows, since in rows}


def waiting_in(
    db: sqlite3.Connection, groups: Iterable[str], people: Iterable[str]
) -> dict[Ask, Waiting]:
    """Read the rows that wait in some groups, or are of some people."""
    found = {}
    for column, keys in (("labels", groups), ("person", people)):
        for *ask, rows, since in db.execute(
            f"SELECT {_ASK}, rows, since FROM waiting "  # noqa: S608
            f"WHERE {column} IN (SELECT value FROM json_each(?))",
            (json.dumps(list(keys)),),
        ):
            found[Ask(*ask)] = Waiting(rows, since)
    return found


def write_waiting(
    db: sqlite3.Connection, before: Mapping[Ask, Waiting], after: Mapping[Ask, Waiting]
) -> None:
    """Write down rows that wait now, and overwrite those that do not any more."""
    changed = [ask for ask in before.keys() | after.keys() if before.get(ask) != after.get(ask)]
    places = ", ".join("?" * len(Ask._fields))
    db.executemany(
        f"DELETE FROM waiting WHERE ({_ASK}) = ({places})",  # noqa: S608
        [ask for ask in changed if ask in before],
    )
    db.executemany(
        f"INSERT INTO waiting ({_ASK}, rows, since) VALUES ({places}, ?, ?)",  # noqa: S608
        [(*ask, after[ask].rows, after[ask].since) for ask in sorted(changed) if ask in after],
    )


class Person(NamedTuple):
    """Where a person is in the ledger."""

    cell: int
    joined: int
    left: int
    """The release in which the person left; 0 if not."""


def people_in(db: sqlite3.Connection, fingerprints: Iterable[str]) -> dict[str, Person]:
    """Find people by their fingerprints."""
    found = {}
    for fingerprint in fingerprints:
        row = db.execute(
            "SELECT cell_id, joined, left_it FROM people WHERE fingerprint = ?",
            (bytes.fromhex(fingerprint),),
        ).fetchone()
        if row is not None:
            found[fingerprint] = Person(*row)
    return found


def count_rows_of(db: sqlite3.Connection, owners: Iterable[str]) -> Counter[str]:
    """Count the rows of some people that were ever published, or wait to be."""
    found: Counter[str] = Counter()
    for owner in owners:
        first, last = owner + "00" * OWNER, owner + "ff" * OWNER
        [found[owner]] = db.execute(
            "SELECT (SELECT COUNT(*) FROM people WHERE fingerprint BETWEEN ? AND ?) + "
            "(SELECT COUNT(*) FROM waiting WHERE kind IN ('add', 'aside') AND "
            "person BETWEEN ? AND ?)",
            (bytes.fromhex(first), bytes.fromhex(last), first, last),
        ).fetchone()
    return found


def count_owners(db: sqlite3.Connection) -> int:
    """Count the people whose rows are published now, where people may have several."""
    [people] = db.execute(
        f"SELECT COUNT(DISTINCT substr(fingerprint, 1, {OWNER})) FROM people WHERE left_it = 0"  # noqa: S608
    ).fetchone()
    return int(people)


def count_known(db: sqlite3.Connection, cells: Sequence[int]) -> Counter[int]:
    """Count the people of some cells who are known by name, and have not left."""
    if not cells:
        return Counter()
    return Counter(
        dict(
            db.execute(
                "SELECT cell_id, COUNT(*) FROM people WHERE left_it = 0 AND "
                "cell_id IN (SELECT value FROM json_each(?)) GROUP BY 1",
                (json.dumps(cells),),
            ).fetchall()
        )
    )


def homes_of(db: sqlite3.Connection, cells: Iterable[int]) -> dict[int, str]:
    """Return the key of the group of each cell."""
    return dict(
        db.execute(
            "SELECT id, labels FROM cells WHERE id IN (SELECT value FROM json_each(?))",
            (json.dumps(sorted(cells)),),
        ).fetchall()
    )


@dataclass(frozen=True)
class Refusal:
    """Rows that are not taken, and why."""

    labels: tuple[str | None, ...]
    row: tuple[str | None, ...]
    rows: int
    why: str
    who: str = ""
    """The person, as given now; empty if nothing says it."""

    person: str = ""
    """The fingerprint of the person, or the person's row."""

    @classmethod
    def of(cls, ask: Ask, rows: int, why: str) -> "Refusal":
        """Describe an ask that is refused."""
        labels, row = tuple(json.loads(ask.labels)), tuple(json.loads(ask.row))
        return cls(labels, row, rows, why, person=ask.person)


@dataclass(frozen=True)
class HeldRows:
    """Rows that are not published yet, and why."""

    ask: Ask
    rows: int
    why: str


@dataclass(frozen=True, eq=False)
class IncrementResult:
    """What becomes of everything that was asked, and of what had been waiting."""

    changes: tuple[Change, ...]
    published: Counter[Kind]
    """How many rows joined, left, or were corrected or moved."""

    refused: tuple[Refusal, ...]
    held: tuple[HeldRows, ...]
    before: Mapping[Ask, Waiting]
    """What had been waiting in the groups concerned."""

    after: Mapping[Ask, Waiting]
    withdrawn: int
    others: int
    """How many left who did not ask to, because they could not be told from one who had to."""

    drawn: int
    """How many rows without an identifier left cells that were drawn."""

    told: "ToldByWaiting | None" = None
    """What who waits tells, if that is not hidden."""


class ToldByWaiting(NamedTuple):
    """What is learned by those who know that a person waits."""

    share: Fraction
    """The largest share of a value among those who wait in one group, or to leave one cell."""

    rows: int
    """How many wait because of their values."""


def consider(  # noqa: PLR0913 - half of them are named
    db: sqlite3.Connection,
    given: Counter[Ask],
    columns: tuple[str, ...],
    rules: Rules,
    rng: np.random.Generator,
    *,
    sequence: int,
    promises: "GroupPromises | None" = None,
    harmless: Harmless | None = None,
    way: "type[GroupWork] | None" = None,
) -> IncrementResult:
    """Decide on an increment. Reads the cells it concerns, and writes nothing.

    Args:
        db: The ledger.
        given: What is asked, with the number of rows.
        columns: The sensitive columns.
        rules: What every part must keep.
        rng: In which order rows are considered.
        sequence: The number the release will have.
        promises: What the policy promises.
        harmless: The values that it calls harmless; None for none.
        way: Who joins and leaves together; None for people with the same labels.
    """
    way = way or GroupWork
    desk = way.desk_of(db, given, rules, rng)
    desk.settle()
    harmless = harmless or Harmless.of(None, columns)
    work = way(db, desk, columns, harmless, rules, rng, promises)
    work.require_published()
    work.let_join()
    work.let_leave()
    held = work.held_rows()
    since = {ask: each.since for ask, each in desk.before.items()}
    return IncrementResult(
        tuple(work.changes),
        work.published,
        tuple(desk.refused),
        held,
        desk.before,
        {each.ask: Waiting(each.rows, since.get(each.ask, sequence)) for each in held},
        desk.withdrawn,
        work.others,
        work.drawn,
        None if rules.hide_waiting else work.told_by_waiting(),
    )


class RequestDesk:
    """Takes what is asked, and settles it with what waits and with who is published."""

    one = "the person"
    """What a fingerprint is of."""

    several = False
    """Whether people may have several rows."""

    def __init__(self, db: sqlite3.Connection, given: Counter[Ask], *, at_once: bool) -> None:
        self.db, self.given = db, given
        self.named: set[str] = set()
        """The groups in which people are known by name, of those that are asked about."""

        names = {ask.person for ask in given if ask.person}
        self.people = people_in(db, names)
        self.homes = homes_of(db, {person.cell for person in self.people.values()})
        groups = {*(ask.labels for ask in given), *self.homes.values()}
        # If nothing is given, all that waits is tried again.
        self.before = self._read_waiting(groups, names) if given else all_waiting(db)
        self.people |= people_in(db, {ask.person for ask in self.before if ask.person} - names)
        self.total: Counter[Ask] = Counter({ask: w.rows for ask, w in self.before.items()})
        self.of_person = {ask.person: ask for ask in self.before if ask.person}
        self.refused: list[Refusal] = []
        self.withdrawn = 0
        leaving = [ask for ask in given if ask.kind == "remove"] if at_once else []
        self.urgent: set[object] = {ask.person or (ask.labels, ask.row) for ask in leaving}

    def _read_waiting(self, groups: Iterable[str], people: Iterable[str]) -> dict[Ask, Waiting]:
        """Return the rows that wait, and that what is asked may concern."""
        return waiting_in(self.db, groups, people)

    def settle(self) -> None:
        """Settle all that is asked, one after the other."""
        if all(ask.kind == "add" and not ask.person for ask in self.given):
            self.total.update(self.given)
            self.total = +self.total
            return
        # Those who leave go first: a person may be removed and given again in one increment.
        order = {"remove": 0, "correct": 1, "add": 2}
        for ask, rows in sorted(self.given.items(), key=lambda item: order[item[0].kind]):
            if ask.person:
                self._settle_person(ask, rows)
            elif ask.kind == "add":
                self.total[ask] += rows
            else:
                self._settle_unknown(ask, rows)
        self.total = +self.total

    def _settle_unknown(self, ask: Ask, rows: int) -> None:
        """Withdraw rows that still wait: what was never published need not be removed."""
        unpublished = Ask("add", ask.labels, ask.row)
        n = min(rows, self.total[unpublished])
        self.total[unpublished] -= n
        self.withdrawn += n
        if ask.kind == "correct" and n:
            self.total[Ask("add", ask.new_labels, ask.new_row)] += n
        # Who waits to leave, and is to leave at once now, is no other person.
        meant = min(rows - n, self.total[ask]) if (ask.labels, ask.row) in self.urgent else 0
        if rows > n + meant:
            self.total[ask] += self._take_strangers(ask, rows - n - meant)

    def _settle_person(self, ask: Ask, rows: int) -> None:
        if rows > 1:
            self._refuse(ask, rows - 1, f"{self.one} comes more than once")
        waiting = self.of_person.get(ask.person)
        known = self.people.get(ask.person)
        if known is not None and known.left:
            self._refuse(
                ask,
                1,
                f"{self.one} left in release {known.left}: who compares the two would know more "
                "than alpha allows",
            )
        elif waiting is not None and waiting.kind == "aside":
            if ask.kind == "remove":
                self.withdrawn += 1  # Nothing of the row is kept but whose it was.
            else:
                self._refuse(ask, 1, f"{self.one} was set aside, and is not decided on again")
        elif ask.kind == "add":
            self._add_person(ask, known, waiting)
        elif waiting is not None and waiting.kind == "add":
            self._drop(waiting)
            self.withdrawn += 1
            if ask.kind == "correct":
                self._take(
                    ask._replace(
                        kind="add",
                        labels=ask.new_labels,
                        row=ask.new_row,
                        new_labels="",
                        new_row="",
                    )
                )
        elif known is not None or waiting is not None or self._take_strangers(ask, 1):
            self._change_person(self._at_home(ask, known), waiting)

    def _add_person(self, ask: Ask, known: Person | None, waiting: Ask | None) -> None:
        if known is None and waiting is None:
            self._take(ask)
        elif known is None:
            self._refuse(ask, 1, f"{self.one} waits already")
        elif waiting is None or waiting.kind != "remove":
            self._refuse(ask, 1, f"{self.one} was published in release {known.joined}")
        else:
            # A person who waits to leave is published still: to return is not to leave.
            self._drop(waiting)
            self.withdrawn += 1
            back = Ask("correct", waiting.labels, waiting.row, ask.labels, ask.row, ask.person)
            if not back.is_settled():
                self._take(back)

    def _at_home(self, ask: Ask, known: Person | None) -> Ask:
        """Return a wish with the labels under which the person is published."""
        return ask if known is None else ask._replace(labels=self.homes[known.cell])

    def _change_person(self, ask: Ask, waiting: Ask | None) -> None:
        if waiting is not None:
            if waiting.kind == "remove":
                if ask.person not in self.urgent:
                    self._refuse(ask, 1, f"{self.one} waits to leave already")
                return
            # What is published is what the earlier correction was to change.
            self._drop(waiting)
            ask = ask._replace(labels=waiting.labels, row=waiting.row)
        if not ask.is_settled():
            self._take(ask)

    def _take(self, ask: Ask) -> None:
        self.total[ask] = 1
        self.of_person[ask.person] = ask

    def _drop(self, ask: Ask) -> None:
        self.total[ask] = 0
        self.of_person.pop(ask.person, None)

    def _refuse(self, ask: Ask, rows: int, why: str) -> None:
        self.refused.append(Refusal.of(ask, rows, why))

    @cached_property
    def _strangers(self) -> Counter[str]:
        """Published rows of each group of people not known by name, and not to leave already."""
        groups = json.dumps(sorted({ask.labels for ask in self.given if ask.kind != "add"}))
        asked = "WHERE labels IN (SELECT value FROM json_each(?))"
        found = Counter(
            dict(
                self.db.execute(
                    f"SELECT labels, SUM(rows) FROM current {asked} GROUP BY 1",  # noqa: S608
                    (groups,),
                ).fetchall()
            )
        )
        for labels, known in self.db.execute(
            "SELECT c.labels, COUNT(*) FROM people p JOIN cells c ON c.id = p.cell_id "  # noqa: S608
            f"{asked} AND p.left_it = 0 GROUP BY 1",
            (groups,),
        ):
            found[labels] -= known
            self.named.add(labels)
        for ask, waiting in self.before.items():
            if ask.kind not in {"add", "aside"} and ask.person not in self.people:
                found[ask.labels] -= waiting.rows
        return found

    def _take_strangers(self, ask: Ask, rows: int) -> int:
        """Return how many of some rows may be of people whom the ledger does not know by name."""
        room = self._strangers[ask.labels]
        if not ask.person and ask.labels not in self.named:
            return rows  # Whether such rows were published at all is asked later.
        n = max(min(rows, room), 0)
        self._strangers[ask.labels] -= n
        if n < rows:
            why = (
                "the ledger has no such person"
                if ask.person
                else "all who are published in this group are known: say who is meant"
            )
            self._refuse(ask, rows - n, why)
        return n


class _RowDesk(RequestDesk):
    """The same where people may have several rows, each with a fingerprint of its own.

    Args:
        db: The ledger.
        given: What is asked.
        most: How many rows of a person are ever published.
        rng: In which order the rows of a person are taken, if not all can be.
        at_once: Whether rows that are to be removed leave now.
    """

    one = "the row"
    several = True

    def __init__(
        self,
        db: sqlite3.Connection,
        given: Counter[Ask],
        most: RowsPerPerson,
        rng: np.random.Generator,
        *,
        at_once: bool,
    ) -> None:
        asks = list(given)
        mixed = Counter({asks[i]: given[asks[i]] for i in rng.permutation(len(asks)).tolist()})
        super().__init__(db, mixed, at_once=at_once)
        self.most = most
        limited = most != ANY
        self.rows_of = count_rows_of(db, {ask.owner for ask in asks} if limited else ())

    def _add_person(self, ask: Ask, known: Person | None, waiting: Ask | None) -> None:
        new = known is None and waiting is None
        if new and self.most != ANY and self.rows_of[ask.owner] >= self.most:
            why = (
                f"the person has {self.rows_of[ask.owner]} rows in the ledger, and alpha bounds "
                f"what is believed of {self.most} together"
            )
            self._refuse(ask, 1, why)
        else:
            super()._add_person(ask, known, waiting)

    def _take(self, ask: Ask) -> None:
        super()._take(ask)
        self.rows_of[ask.owner] += ask.kind == "add"

    def _drop(self, ask: Ask) -> None:
        super()._drop(ask)
        self.rows_of[ask.owner] -= ask.kind == "add"


class GroupWork:
    """Decides on every new cell and on every cell that is concerned."""

    def __init__(
        self,
        db: sqlite3.Connection,
        desk: RequestDesk,
        columns: tuple[str, ...],
        harmless: Harmless,
        rules: Rules,
        rng: np.random.Generator,
        promises: "GroupPromises | None",
    ) -> None:
        self.db, self.desk, self.columns, self.rng = db, desk, columns, rng
        self.harmless = harmless
        self.rules, self.promises = rules, promises
        self.left = Counter(desk.total)
        """What is not published yet."""

        self.why: dict[Ask, str] = {}
        self.changes: list[Change] = []
        self.published: Counter[Kind] = Counter()
        self.others = self.drawn = 0
        self.of_cell: dict[int, list[Ask]] = defaultdict(list)
        """What is asked of people whose cell is known."""

        self.of_group: dict[str, list[Ask]] = defaultdict(list)
        """What is asked of others."""

        for ask in desk.total:
            if ask.kind in {"add", "aside"}:
                continue
            if ask.person in desk.people:
                self.of_cell[desk.people[ask.person].cell].append(ask)
            else:
                self.of_group[ask.labels].append(ask)
        self.cells = cell_states(db, self.of_group, self.of_cell, harmless)
        self.cells_of = Counter(cell.record.labels for cell in self.cells)
        asked = [cell.record for cell in self.cells if cell.record.labels in self.of_group]
        known = count_known(db, [record.id for record in asked])
        self.strangers = Counter({each.id: each.rows - known[each.id] for each in asked})
        """How many people of a cell nobody knows by name: no row without a name is of another."""

    @staticmethod
    def desk_of(
        db: sqlite3.Connection, given: Counter[Ask], rules: Rules, rng: np.random.Generator
    ) -> RequestDesk:
        """Return what takes and settles what is asked."""
        if rules.rows_per_person is None:
            return RequestDesk(db, given, at_once=rules.at_once)
        return _RowDesk(db, given, rules.rows_per_person, rng, at_once=rules.at_once)

    def _group_of(self, ask: Ask) -> str:
        """Return the key of those together with whom a row may join."""
        return ask.labels

    def require_published(self) -> None:
        """Raise if rows are to be removed or corrected that cannot have been published."""
        wanted: Counter[tuple[object, int, str]] = Counter()
        for ask, rows in self.desk.total.items():
            if ask.kind != "add" and ask not in self.desk.before:
                known = self.desk.people.get(ask.person)
                if known is not None and ask.kind == "remove" and ask.person in self.desk.urgent:
                    continue  # In which cell the person is, is known; all of it can leave.
                where: object = ask.labels if known is None else known.cell
                for column, value in enumerate(split_keys(ask.row)):
                    wanted[where, column, value] += rows
        there: Counter[tuple[object, int, str]] = Counter()
        for cell in self.cells:
            for column, codes in enumerate(cell.codes.columns):
                for value, code in codes.items():
                    n = cell.rows[column].get(code, 0)
                    there[cell.record.id, column, value] += n
                    unnamed = min(n, self.strangers[cell.record.id])
                    there[cell.record.labels, column, value] += unnamed
        names = {cell.record.id: cell.record.labels for cell in self.cells}
        for (where, column, value), rows in wanted.items():
            if rows > there[where, column, value]:
                labels = names.get(where, where) if isinstance(where, int) else where
                unnamed = where in self.desk.named
                raise InputError(
                    f"{rows} rows with {self.columns[column]} {value} are to leave the group "
                    f"{labels}, which was published with {there[where, column, value]}"
                    f"{' of people whom the ledger does not know by name' * unnamed}. Give rows "
                    "to delete or correct as they were published; nothing was changed."
                )

    def let_join(self) -> None:
        """Make a new cell of those who want to join a group, where it can be seen."""
        groups: dict[str, list[Ask]] = defaultdict(list)
        for ask, rows in self.left.items():
            if ask.kind == "add" and rows:
                groups[self._group_of(ask)].append(ask)
        for labels, asks in groups.items():
            if self.rules.hide_waiting:
                self._join_lots(labels, asks)
                continue
            if labels in self.rules.closed:
                self.why.update(dict.fromkeys(asks, self.rules.closed[labels]))
                continue
            # The rows of a person join one after the other, each in another cell.
            while self._join_group(labels, asks) and self.desk.several:
                pass

    def _join_group(self, labels: str, asks: Sequence[Ask]) -> int:
        """Make a new cell of rows that want to join a group, of each person one; count them."""
        asks = self._one_each(asks)
        codes = Codes.of(self.harmless)
        offers = _offers(codes, [ask.row for ask in asks], [self.left[ask] for ask in asks])
        empty = codes.empty()
        choice = self._choose_newcomers(empty, offers, codes)
        why = choice.why
        if choice.part.size and self.promises is not None:
            broken = self.promises.broken_together(self.db, labels, codes, choice.part)
            if broken:
                why = f"the group would break {broken}"
                choice = AdmittedRows(offers.none(), empty, why)
        for ask, n in zip(asks, choice.taken.tolist(), strict=True):
            self._publish(ask, n)
            if why and self.left[ask]:
                self.why[ask] = why
        if choice.part.size:
            self._make_cells(labels, codes, asks, choice)
        return choice.part.size

    def _choose_newcomers(self, empty: SeenTogether, offers: Offers, codes: Codes) -> AdmittedRows:
        return choose_newcomers(empty, offers, self._rules(codes), self.rng)

    def _make_cells(
        self, labels: str, codes: Codes, asks: Sequence[Ask], choice: AdmittedRows
    ) -> None:
        """Make a new cell of those who join."""
        part, people = choice.part, _who(asks, choice.taken)
        self.changes.append(
            Change(labels, codes, codes.empty(), part, joined=part.size, people=people)
        )

    def _one_each(self, asks: Sequence[Ask]) -> list[Ask]:
        """Return the asks with rows, of each person one that is drawn."""
        asks = [ask for ask in asks if self.left[ask]]
        if self.desk.several:
            first = {asks[i].owner: i for i in self.rng.permutation(len(asks)).tolist()}
            self.why.update(dict.fromkeys(asks, "another row of the person goes first"))
            asks = [asks[i] for i in sorted(first.values())]
        return asks

    def _join_lots(self, labels: str, asks: Sequence[Ask]) -> None:
        """Decide on newcomers together and for good, once they are enough."""
        least = smallest_lot(self.rules.alpha, self.rules.k)
        number = 0
        while True:
            lot = self._one_each(asks)
            rows = sum(self.left[ask] for ask in lot)
            if rows < least:
                why = f"the newcomers would be {rows}, and are decided on when they are {least}"
                self.why.update(dict.fromkeys(lot, why))
                return
            codes = Codes.of(self.harmless)
            offers = _offers(codes, [ask.row for ask in lot], [self.left[ask] for ask in lot])
            part = codes.empty().plus(offers.values, offers.rows)
            number += 1
            if self._is_set_aside(f"{labels} {number}", labels, codes, part):
                for ask in lot:
                    self._set_aside(ask)
            else:
                for ask in lot:
                    self._publish(ask, self.left[ask])
                self._make_cells(labels, codes, lot, AdmittedRows(offers.rows, part))

    def _is_set_aside(self, lot: str, labels: str, codes: Codes, part: SeenTogether) -> bool:
        """Return whether a lot cannot be published, or is drawn not to be: see `waiting`."""
        drawn = self.rules.draws.setdefault(lot, float(self.rng.random()))
        return (
            drawn
            < chance_aside(
                self.rules.alpha, [part.count_known(column) for column in range(len(part.counts))]
            )
            or labels in self.rules.closed
            or bool(self._rules(codes).objection(part, "the newcomers"))
            or (
                self.promises is not None
                and bool(self.promises.broken_together(self.db, labels, codes, part))
            )
        )

    def _set_aside(self, ask: Ask) -> None:
        """Keep of a row no more than whose it is, and of which group."""
        nothing = keys_of([None] * len(self.columns))
        aside = Ask("aside", self._group_of(ask), nothing, person=ask.person)
        self.left[aside] += self.left[ask]
        self.left[ask] = 0
        self.why[aside] = (
            "set aside for good: the newcomers cannot be published together, or were drawn to "
            "hide who cannot"
        )

    def let_leave(self) -> None:
        """Split cells by those who leave or move, and correct values in the others."""
        for i in self.rng.permutation(len(self.cells)).tolist():
            cell = self.cells[i]
            asks = [ask for ask in self._asks_of(cell) if not self._is_closed(ask)]
            if not asks:
                continue
            for ask in asks:
                cell.codes.encode(ask.row)
                if ask.kind == "correct":
                    cell.codes.encode(ask.new_row)
            urgent = self.rules.at_once and any(
                (ask.person or (ask.labels, ask.row)) in self.desk.urgent for ask in asks
            )
            if not self._split(cell, asks, urgent=urgent):
                self._correct(cell, asks)

    def _is_closed(self, ask: Ask) -> bool:
        """Return whether a group that a row leaves or moves to is to stay as it is."""
        why = self.rules.closed.get(ask.labels) or self.rules.closed.get(ask.new_labels)
        if why is None or (self.rules.at_once and ask.kind == "remove"):
            return False
        self.why[ask] = why
        return True

    def _asks_of(self, cell: CellState) -> list[Ask]:
        """Return what is asked of the people of a cell, or may be meant by it."""
        asks = self.of_cell[cell.record.id]
        if self.strangers[cell.record.id] > 0:
            asks = asks + [a for a in self.of_group[cell.record.labels] if _has_values(cell, a)]
        return [ask for ask in asks if self.left[ask]]

    def _split(self, cell: CellState, asks: list[Ask], *, urgent: bool) -> bool:
        """Return whether people left a cell, or moved from it, in parts."""
        start = rest = cell.codes.widen(cell.part())
        gone: tuple[str, ...] = ()
        for destination in sorted({_destination(ask) for ask in asks} - {None}, key=str):
            leaving = [ask for ask in asks if _destination(ask) == destination]
            choice = self._choose(cell, leaving, rest)
            if not choice.part.size:
                continue
            rest = rest.minus(choice.part)
            who = _who(leaving, choice.taken)
            if destination:
                self.changes.append(_new_cell(cell, destination, choice.part, who))
            else:
                gone = who
        if urgent and any(self.left[ask] and ask.kind == "remove" for ask in asks):
            self._withdraw(cell, asks, rest)
            rest = rest.without_people()
        left = start.size - rest.size
        if left:
            labels, record = cell.record.labels, cell.record
            self.changes.append(
                Change(
                    labels,
                    cell.codes,
                    start,
                    rest,
                    record,
                    left=left,
                    gone=gone,
                    everyone=not rest.size,
                )
            )
        return bool(left)

    def _choose(self, cell: CellState, leaving: list[Ask], rest: SeenTogether) -> AdmittedRows:
        """Publish those of some people who may leave what is left of a cell."""
        rules = self._rules(cell.codes)
        # Read only if it is asked for: from most cells no person can leave yet.
        memory = cache(lambda: memory_of(self.db, cell))

        def fits(part: SeenTogether) -> bool:
            kept = memory()  # It may know values that no person has any more.
            return kept.allows(cell.codes.widen(part), rules.alpha)

        offers = self._held_by(cell, leaving, rest)
        blind = self.rules.hide_waiting and offers.total < rest.size
        if blind and not self._hides_any(rest, offers.total, memory()):
            why = "other people of the cell, as many as these, would not hide each other"
            choice = AdmittedRows(offers.none(), rest.without_people(), why)
        else:
            choice = choose_leavers(rest, offers, rules, self.rng, fits=fits)
        several = self.cells_of[cell.record.labels] > 1
        for ask, n in zip(leaving, choice.taken.tolist(), strict=True):
            if choice.why:
                self.why[ask] = choice.why
            self._publish(ask, n)
            if ask.person not in self.desk.people:
                self.strangers[cell.record.id] -= n
                self.drawn += n if several else 0
        return choice

    def _hides_any(self, rest: SeenTogether, leaving: int, memory: Memory) -> bool:
        """Return whether so many people may leave a cell, whoever they are."""
        models = () if self.promises is None else self.promises.models
        return (
            self.rules.k <= leaving <= rest.size - self.rules.k
            and hides_any(rest, leaving, self.rules.alpha)
            and not any(memory.kernels)
            and not any(model.columns for model in models)
        )

    def _withdraw(self, cell: CellState, asks: list[Ask], rest: SeenTogether) -> None:
        """Remove all who are left in a cell, so that one of them can leave."""
        leaving = [ask for ask in asks if ask.kind == "remove"]
        offers = self._held_by(cell, leaving, rest)
        gone = 0
        for ask, held in zip(leaving, offers.rows.tolist(), strict=True):
            # A person known to be in the cell leaves with it, whatever values were given.
            n = self.left[ask] if ask.person in self.desk.people else held
            self._publish(ask, n)
            gone += n
        for ask in asks:
            if ask.kind == "correct" and ask.person:
                self.left[ask] = 0  # Who is gone has nothing to be corrected.
        self.others += max(rest.size - gone, 0)

    def _correct(self, cell: CellState, asks: list[Ask]) -> None:
        """Correct the values of one column, as many as can be."""
        wrong = [ask for ask in asks if ask.kind == "correct" and not ask.moves()]
        if not wrong:
            return
        memory = memory_of(self.db, cell)
        start = cell.codes.widen(cell.part())
        for column in self.rng.permutation(len(self.columns)).tolist():
            concerned = [
                ask
                for ask in wrong
                if split_keys(ask.row)[column] != split_keys(ask.new_row)[column]
            ]
            rows = [
                (ask, cell.codes.encode(ask.row)[column], cell.codes.encode(ask.new_row)[column])
                for ask, n in self._within_room(cell, concerned)
                for _ in range(n)
            ]
            if not rows:
                continue
            old, new = (np.array([row[i] for row in rows], dtype=np.int64) for i in (1, 2))
            wish = Wish(column, old, new)
            rules = self._rules(cell.codes)
            at = choose_corrections(start, wish, memory, rules.alpha, self.rng)
            after = apply_corrections(start, wish, at.tolist())
            why = "who knows the old value, or the new one, would learn the other"
            if len(at) and (broken := rules.broken(after)):
                at, why = at[:0], f"the group would break {broken}"
            for ask in wrong:
                self.why.setdefault(ask, why)
            if not len(at):
                continue
            for i in at.tolist():
                self._correct_column(rows[i][0], column)
            now = apply_corrections(start, wish, at.tolist())
            self.changes.append(Change(cell.record.labels, cell.codes, start, now, cell.record))
            return

    def _within_room(self, cell: CellState, asks: Iterable[Ask]) -> Iterator[tuple[Ask, int]]:
        """Yield how many rows of each ask may be of a cell: of people without a name not more."""
        room = self.strangers[cell.record.id]
        for ask in asks:
            n = self.left[ask]
            if ask.person not in self.desk.people:
                n = min(n, room)
                room -= n
            yield ask, n

    def _correct_column(self, ask: Ask, column: int) -> None:
        """Note that one column of a row is right now; what is left of the correction waits."""
        old, new = list(split_keys(ask.row)), split_keys(ask.new_row)
        old[column] = new[column]
        rest = ask._replace(row=f"[{', '.join(old)}]")
        self.left[ask] -= 1
        if rest.is_settled():
            self.published["correct"] += 1
        else:
            self.left[rest] += 1
            self.why[rest] = "one column of a cell is corrected in a release, and people move later"

    def _held_by(self, cell: CellState, asks: list[Ask], rest: SeenTogether) -> Offers:
        """Return how many of some rows a cell can hold, those of its own people first."""
        offers = _offers(cell.codes, [a.row for a in asks], [self.left[a] for a in asks])
        free = [count.copy() for count in rest.counts]
        rows = np.zeros_like(offers.rows)
        known = [i for i, ask in enumerate(asks) if ask.person in self.desk.people]
        others = [i for i, ask in enumerate(asks) if ask.person not in self.desk.people]
        room = self.strangers[cell.record.id]
        for i in [*known, *self.rng.permutation(others).astype(int).tolist()]:
            codes = offers.values[:, i].tolist()
            n = min(int(offers.rows[i]), *(int(f[c]) for f, c in zip(free, codes, strict=True)))
            if asks[i].person not in self.desk.people:
                n = min(n, room)
                room -= n
            rows[i] = n
            for count, code in zip(free, codes, strict=True):
                count[code] -= n
        return Offers(offers.values, rows)

    def _publish(self, ask: Ask, n: int) -> None:
        self.left[ask] -= n
        self.published[ask.kind] += n

    def _rules(self, codes: Codes) -> Rules:
        promises = self.promises
        if promises is None:
            return self.rules
        return replace(self.rules, broken=lambda part: promises.broken_by(codes, part))

    def told_by_waiting(self) -> ToldByWaiting | None:
        """Return what is told by who waits although there are enough of them; None if nothing."""
        together: dict[object, list[Ask]] = defaultdict(list)
        for ask, rows in self.left.items():
            known = self.desk.people.get(ask.person)
            if rows and ask.kind in {"add", "remove"}:
                together[ask.kind, self._group_of(ask), known and known.cell].append(ask)
        born = {change.labels for change in self.changes if change.joined}
        changed = {change.record.id for change in self.changes if change.record is not None}
        share, waiting = Fraction(0), 0
        for asks in together.values():
            first, known = asks[0], self.desk.people.get(asks[0].person)
            rows = sum(self.left[ask] for ask in asks)
            others = (
                self._group_of(first) in born
                if first.kind == "add"
                else known and known.cell in changed
            )
            if rows < self.rules.k and not others:
                continue  # There are too few of them, which says nothing of their values.
            codes = Codes.of(self.harmless)
            offers = _offers(codes, [ask.row for ask in asks], [self.left[ask] for ask in asks])
            share = max(share, codes.empty().plus(offers.values, offers.rows).worst)
            waiting += rows
        return ToldByWaiting(share, waiting) if waiting else None

    def held_rows(self) -> tuple[HeldRows, ...]:
        """Return the rows that wait, and why."""
        usual = "the people of its cell cannot be told apart yet"
        return tuple(
            HeldRows(ask, rows, self.why.get(ask, usual)) for ask, rows in self.left.items() if rows
        )


def _has_values(cell: CellState, ask: Ask) -> bool:
    """Return whether a cell has each of the values that a row was published with."""
    values = zip(cell.codes.columns, cell.rows, split_keys(ask.row), strict=True)
    return all(rows.get(codes.get(key, -1), 0) > 0 for codes, rows, key in values)


def _new_cell(cell: CellState, labels: str, part: SeenTogether, people: tuple[str, ...]) -> Change:
    """Return the new cell of those who move to another group together."""
    return Change(
        labels,
        cell.codes,
        cell.codes.empty(),
        part,
        joined=part.size,
        parent=cell.record.id,
        people=people,
    )


def _destination(ask: Ask) -> str | None:
    """Return where a row goes from its cell: another group, nowhere (empty), or None: it stays."""
    if ask.kind == "remove":
        return ""
    return ask.new_labels if ask.moves() else None


def _offers(codes: Codes, rows: Sequence[str], times: Sequence[int]) -> Offers:
    values = np.array([codes.encode(row) for row in rows], dtype=np.int64)
    return Offers(values.reshape(len(rows), len(codes.columns)).T, np.array(times, dtype=np.int64))


def _who(asks: Sequence[Ask], taken: IntArray) -> tuple[str, ...]:
    """Return the fingerprints of those whose rows are taken."""
    return tuple(
        ask.person for ask, n in zip(asks, taken.tolist(), strict=True) if n and ask.person
    )


# Promises: the policy's models, asked about single groups as they would be published.


def require_group_models(policy: Policy) -> None:
    """Raise if a policy has a model that no group can be asked about by itself."""
    for model in policy.models:
        if isinstance(model, TableModel) or model.needs_population or model.of_weights:
            raise PolicyError(
                f"a ledger cannot keep {model}: it judges all groups together, or compares them "
                "with a population, and an increment is decided group by group. Start the ledger "
                "with a policy without it, for example with k-anonymity."
            )


class GroupPromises:
    """Which models of a policy a group breaks.

    Models that compare a group with the whole table compare it with the first release: that
    distribution is public, and does not move with every increment.

    Args:
        policy: What every group must keep.
        sensitive: The sensitive columns in the order of the ledger.
        reference: For each column, how many rows of the first release have each value.
    """

    def __init__(
        self,
        policy: Policy,
        sensitive: tuple[str, ...],
        reference: Mapping[int, Mapping[str, int]],
    ) -> None:
        self._policy = policy
        self._sensitive = sensitive
        self._reference = reference

    @property
    def models(self) -> tuple[PrivacyModel, ...]:
        """What the policy promises."""
        return self._policy.models

    def broken_by(self, codes: Codes, part: SeenTogether) -> str:
        """List the models that people with these counts break; empty if they keep all."""
        return self._list_broken(codes, part, self._policy.models)

    def broken_together(
        self, db: sqlite3.Connection, labels: str, codes: Codes, part: SeenTogether
    ) -> str:
        """List the models that a group breaks if a new cell joins those it has.

        A model that is kept by all parts is kept by them together, unless it says otherwise.
        """
        models = [model for model in self._policy.models if not model.merging.closed]
        if not models:
            return ""
        wide = Codes(tuple(dict(column) for column in codes.columns), codes.harmless)
        total = part
        for cell in cell_states(db, [labels], (), codes.harmless):
            places = [
                [wide.code(column, value) for value in known]
                for column, known in enumerate(cell.codes.columns)
            ]
            total = wide.widen(total)
            for count, place, rows in zip(total.counts, places, cell.part().counts, strict=True):
                np.add.at(count, place, rows)
            total = replace(total, size=total.size + cell.record.rows)
        return self._list_broken(wide, total, models)

    def _list_broken(self, codes: Codes, part: SeenTogether, models: Iterable[PrivacyModel]) -> str:
        models = list(models)
        named = {column for model in models for column in model.columns}
        counts = {
            name: self._counts(i, codes, part)
            for i, name in enumerate(self._sensitive)
            if name in named
        }
        classes = EquivalenceClasses(np.array([part.size], dtype=np.int64), counts)
        return ", ".join(str(model) for model in models if not model.passes(classes)[0])

    def _counts(self, column: int, codes: Codes, part: SeenTogether) -> ValueCounts:
        whole = self._reference.get(column, {})
        texts = [json.loads(key) for key in {**whole, **codes.columns[column]}]
        known = [value for value in in_order(texts) if value is not None]
        code = {value: i for i, value in enumerate(known)} | {None: MISSING}
        described = self._column(self._sensitive[column], tuple(known))
        reference = reference_of(
            np.array([code[json.loads(key)] for key in whole], dtype=np.int64),
            np.array(list(whole.values()), dtype=np.int64),
            len(known),
        )
        here = [
            (code[json.loads(key)], int(part.counts[column][i]))
            for key, i in codes.columns[column].items()
            if i < len(part.counts[column]) and part.counts[column][i] > 0
        ]
        value, rows = np.array(sorted(here), dtype=np.int64).reshape(-1, 2).T
        group = np.zeros(len(rows), dtype=np.int64)
        return merge_counts(ValueCounts(described, group, value, rows, reference), group)

    def _column(self, name: str, known: tuple[Value, ...]) -> SensitiveColumn:
        rule = self._policy.columns.get(name)
        builder = None if rule is None else rule.hierarchy
        if builder is None or not known:
            return SensitiveColumn(name, known)
        return SensitiveColumn(name, known, builder.build(name, known).bind(name, known))


def first_distribution(db: sqlite3.Connection) -> dict[int, dict[str, int]]:
    """Read how many rows of the first release have each value of each sensitive column."""
    packed = db.execute("SELECT counts FROM parts WHERE sequence = 1 ORDER BY cell_id").fetchall()
    counted = CellCounts.unpack([each for [each] in packed])
    total = np.bincount(counted.value, counted.rows).astype(np.int64).tolist()
    found: dict[int, dict[str, int]] = defaultdict(dict)
    for number, column, value in db.execute(
        "SELECT id, column, value FROM sensitive_values ORDER BY id"
    ):
        if number < len(total) and total[number]:
            found[column][value] = total[number]
    return found


# Fingerprints: an increment that is given twice is recognised, without being kept.


def increment_fingerprint(salt: str, asks: Mapping[Ask, int]) -> str:
    """Return the fingerprint of all rows together, whatever their order.

    The salt is the ledger's own: fingerprints of different ledgers cannot be compared.

    >>> one, two = Ask("add", '["a"]', '["x"]'), Ask("add", '["a"]', '["y"]')
    >>> both = Counter([one, two])
    >>> increment_fingerprint("s", both) == increment_fingerprint("s", Counter([two, one]))
    True
    """
    # Labels and rows are written as JSON, which has no line breaks.
    rows = sorted("\n".join((*ask, str(n))) for ask, n in asks.items())
    return hmac.digest(salt.encode(), digest_text(rows).encode(), "sha256").hex()
