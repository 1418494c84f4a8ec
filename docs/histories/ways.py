"""The same history published in other ways: only counts, to weigh what each way costs.

None of these is a publisher. `Cells` follows the rules of the ledger and decides with its
functions, without a file; the others say what would wait, what would be made up, and of how many
people too much would be believed.
"""

from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from docs.histories.clinic import VALUES, Clinic, Month, Setting
from docs.papers.results import Record
from sfumato.ledger.admission import (
    Offers,
    Rules,
    SeenTogether,
    choose_leavers,
    choose_newcomers,
)
from sfumato.ledger.corrections import Memory, Wish, apply_corrections, choose_corrections
from sfumato.typing import FloatArray, IntArray

WIDTH = max(VALUES.values()) + 1
"""Codes of a sensitive column, the missing value among them."""


def groups_of(clinic: Clinic) -> IntArray:
    """Return the group of each person now."""
    known = clinic.known
    return known["age"] // 20 * 8 + known["region"] * 2 + known["sex"]


def values_of(clinic: Clinic) -> IntArray:
    """Return the sensitive values of everybody now, one row per column."""
    return np.array([clinic.known[name] for name in VALUES])


def table_of(values: IntArray) -> IntArray:
    """Count the values of some people: one row per column."""
    return np.array([np.bincount(column, minlength=WIDTH) for column in values])


def part_of(values: IntArray) -> SeenTogether:
    """Return some people as a part."""
    return SeenTogether(values.shape[1], tuple(table_of(values)))


@dataclass(eq=False)
class Cell:
    """Who joined a group in one month, and what is asked of them."""

    group: int
    people: set[int]
    leaving: set[int] = field(default_factory=set)
    wrong: dict[int, tuple[int, int]] = field(default_factory=dict)
    """By person, the column that is wrong and what it should be."""

    moving: dict[int, int] = field(default_factory=dict)
    memory: Memory = field(default_factory=lambda: Memory(tuple(() for _ in VALUES)))


class Cells:
    """The rules of the ledger, in memory.

    Args:
        clinic: Whose history it is.
        alpha: The limit.
        k: The fewest people of a part.
        every: In which months people join; 3 collects those of a quarter.
        heirs: Whether who wants to leave gives the place to a newcomer with the same values, after
            so many months; None if not. In a month, a cell has one heir and no other change.
    """

    def __init__(
        self,
        clinic: Clinic,
        alpha: float,
        k: int = 5,
        *,
        every: int = 1,
        heirs: int | None = None,
    ) -> None:
        self.clinic, self.every, self.heirs = clinic, every, heirs
        self.since: dict[int, int] = {}
        """The month in which those who wait to leave asked to."""

        self.rules = Rules(Fraction(str(alpha)), k)
        self.rng = np.random.default_rng(7)
        people = len(clinic.here)
        self.cell_of: list[Cell | None] = [None] * people
        self.shown = np.zeros((len(VALUES), people), dtype=np.int64)
        """What is published of each."""

        self.waiting: dict[int, list[int]] = defaultdict(list)
        self.waits_in: dict[int, int] = {}
        self.gone: set[int] = set()
        self.cells = 0
        self.number = 0
        self.published = 0

    def run(self) -> list[Record]:
        """Publish all months."""
        return [self.take(month) for month in self.clinic.run()]

    def take(self, month: Month) -> Record:
        """Publish a month."""
        group, values = groups_of(self.clinic), values_of(self.clinic)
        self.done: Counter[str] = Counter()
        touched: dict[int, Cell] = {}
        for person in [*month.new.tolist(), *month.returned.tolist()]:
            self._arrive(person, int(group[person]), touched)
        for person in month.left.tolist():
            self._go(person, touched)
        for i, person in enumerate(month.corrected.tolist()):
            before = [int(month.before[name][i]) for name in VALUES]
            self._mend(person, int(group[person]), before, values[:, person].tolist(), touched)
        self.inherited: set[int] = set()
        if self.heirs is not None:
            self._inherit(values, self.heirs)
        if self.number % self.every == 0:
            self._join(values)
        self.number += 1
        for cell in touched.values():
            if id(cell) not in self.inherited and not self._split(cell):
                self._correct(cell)
        return self._describe()

    def _arrive(self, person: int, group: int, touched: dict[int, Cell]) -> None:
        cell = self.cell_of[person]
        if cell is not None:
            cell.leaving.discard(person)
            self.since.pop(person, None)
            touched[id(cell)] = cell
            self.done["withdrawn"] += 1
        elif person in self.gone:
            self.done["returns refused"] += 1
        else:
            self.waiting[group].append(person)
            self.waits_in[person] = group

    def _go(self, person: int, touched: dict[int, Cell]) -> None:
        cell = self.cell_of[person]
        if cell is not None:
            cell.leaving.add(person)
            self.since[person] = self.number
            cell.wrong.pop(person, None)
            cell.moving.pop(person, None)
            touched[id(cell)] = cell
        elif person in self.waits_in:
            self.waiting[self.waits_in.pop(person)].remove(person)

    def _mend(
        self, person: int, group: int, old: list[int], new: list[int], touched: dict[int, Cell]
    ) -> None:
        cell = self.cell_of[person]
        if cell is None:
            if person in self.waits_in:
                self.waiting[self.waits_in[person]].remove(person)
                self.waiting[group].append(person)
                self.waits_in[person] = group
            return
        touched[id(cell)] = cell
        for column in range(len(VALUES)):
            if old[column] != new[column]:
                cell.wrong[person] = (column, new[column])
        if group != cell.group:
            cell.moving[person] = group
        else:
            cell.moving.pop(person, None)

    def _inherit(self, values: IntArray, months: int) -> None:
        """Let newcomers take the places of people who want to leave: no table changes."""
        free: dict[tuple[int, ...], list[int]] = defaultdict(list)
        for person, since in self.since.items():
            cell = self.cell_of[person]
            if cell is not None and self.number - since >= months:
                free[cell.group, *self.shown[:, person].tolist()].append(person)
        for group, people in self.waiting.items():
            for heir in list(people):
                places = free.get((group, *values[:, heir].tolist()), [])
                person = places.pop() if places else -1
                cell = self.cell_of[person] if person >= 0 else None
                if cell is None or id(cell) in self.inherited:
                    continue
                self.inherited.add(id(cell))
                cell.people.remove(person)
                cell.leaving.remove(person)
                cell.people.add(heir)
                self.cell_of[person], self.cell_of[heir] = None, cell
                self.shown[:, heir] = values[:, heir]
                self.gone.add(person)
                del self.since[person], self.waits_in[heir]
                people.remove(heir)
                self.done["left"] += 1
                self.done["joined"] += 1
                self.done["inherited"] += 1

    def _join(self, values: IntArray) -> None:
        for group, people in self.waiting.items():
            if not people:
                continue
            who = np.array(people)
            offers = Offers(values[:, who], np.ones(len(who), dtype=np.int64))
            empty = part_of(values[:, :0])
            choice = choose_newcomers(empty, offers, self.rules, self.rng)
            joined = who[choice.taken > 0].tolist()
            if joined:
                self._found(group, joined)
                self.shown[:, joined] = values[:, joined]
                self.waiting[group] = who[choice.taken == 0].tolist()
                for person in joined:
                    del self.waits_in[person]
                self.published += len(joined)
                self.done["joined"] += len(joined)

    def _found(self, group: int, people: list[int], memory: Memory | None = None) -> None:
        cell = Cell(group, set(people))
        cell.memory = memory or cell.memory
        self.cells += 1
        for person in people:
            self.cell_of[person] = cell

    def _split(self, cell: Cell) -> bool:
        """Let people leave or move; return whether some did."""
        done = False
        for to in [-1, *sorted(set(cell.moving.values()))]:
            asked = cell.leaving if to < 0 else {p for p, g in cell.moving.items() if g == to}
            if len(asked) < self.rules.k and len(asked) < len(cell.people):
                continue
            who = np.array(sorted(asked))
            offers = Offers(self.shown[:, who], np.ones(len(who), dtype=np.int64))
            choice = choose_leavers(
                part_of(self.shown[:, sorted(cell.people)]),
                offers,
                self.rules,
                self.rng,
                fits=lambda part: cell.memory.allows(part, self.rules.alpha),
            )
            gone = who[choice.taken > 0].tolist()
            if not gone:
                continue
            done = True
            cell.people.difference_update(gone)
            for person in gone:
                cell.leaving.discard(person)
                self.since.pop(person, None)
                cell.moving.pop(person, None)
                self.cell_of[person] = None
            if to < 0:
                self.gone.update(gone)
                self.published -= len(gone)
                self.done["left"] += len(gone)
            else:
                self._found(to, gone, cell.memory)
                self.done["moved"] += len(gone)
            self.cells -= not cell.people
        return done

    def _correct(self, cell: Cell) -> None:
        start = part_of(self.shown[:, sorted(cell.people)])
        for column in self.rng.permutation(len(VALUES)).tolist():
            who = [person for person, (c, _) in cell.wrong.items() if c == column]
            if not who:
                continue
            new = np.array([cell.wrong[person][1] for person in who])
            wish = Wish(column, self.shown[column, who], new)
            at = choose_corrections(start, wish, cell.memory, self.rules.alpha, self.rng).tolist()
            if not at:
                continue
            after = apply_corrections(start, wish, at)
            cell.memory = cell.memory.with_correction(
                column, start.counts[column], after.counts[column]
            )
            for i in at:
                self.shown[column, who[i]] = new[i]
                del cell.wrong[who[i]]
            self.done["corrected"] += len(at)
            return

    def _describe(self) -> Record:
        alive = {id(cell): cell for cell in self.cell_of if cell is not None}
        return {
            "month": self.number,
            "here": int(self.clinic.here.sum()),
            "published": self.published,
            "cells": self.cells,
            **{
                name: self.done[name]
                for name in ("joined", "left", "inherited", "corrected", "withdrawn")
            },
            "waiting to join": len(self.waits_in),
            "waiting to leave": sum(len(cell.leaving) for cell in alive.values()),
            "waiting to be corrected": sum(len(cell.wrong) for cell in alive.values()),
            "waiting to move": sum(len(cell.moving) for cell in alive.values()),
            "returns refused": self.done["returns refused"],
        }


# Ways that tell too much.


def believe(*parts: tuple[IntArray, IntArray]) -> FloatArray:
    """Return how likely each value is for one who is in several tables, one row per column.

    A person who was in table J and then in table L, of a group with table q, has value v with a
    likelihood of J(v) L(v) / q(v), if the others in L are drawn from the group at random. Each
    pair is such a table and its group's; the first group is not used.
    """
    found = np.ones((len(VALUES), WIDTH))
    for i, (table, of) in enumerate(parts):
        found *= table / (np.maximum(of, 1) if i else 1)
    found[:, 0] = 0
    shares: FloatArray = found / np.maximum(found.sum(axis=1, keepdims=True), 1e-300)
    return shares


@dataclass
class Exposed:
    """Of how many people too much is believed."""

    alpha: float
    looked_at: int = 0
    above: int = 0
    certain: int = 0

    def look(self, belief: FloatArray) -> None:
        """Count one person."""
        most = belief.max()
        self.looked_at += 1
        self.above += bool(most > self.alpha + 1e-9)
        self.certain += bool(most > 1 - 1e-9)


def publish_groups(setting: Setting, alpha: float, k: int = 5) -> Record:
    """Publish groups as a whole: whoever joins or leaves does so with k others of the group.

    So did ledgers before there were cells. Returns whether a value is certain, or above alpha, of
    those who left, and of those who returned after that.
    """
    clinic = Clinic(setting)
    joined: dict[int, tuple[IntArray, IntArray]] = {}
    """The table that each person joined with."""

    leaving: dict[int, list[int]] = defaultdict(list)
    now: dict[int, IntArray] = defaultdict(lambda: np.zeros((len(VALUES), WIDTH), dtype=np.int64))
    home: dict[int, int] = {}
    shown = np.zeros((len(VALUES), len(clinic.here)), dtype=np.int64)
    trail: dict[int, list[tuple[IntArray, IntArray]]] = {}
    left, again = Exposed(alpha), Exposed(alpha)
    for month in clinic.run():
        group, values = groups_of(clinic), values_of(clinic)
        come = np.concatenate([month.new, month.returned])
        back = set(month.returned.tolist())
        for person in back & {p for people in leaving.values() for p in people}:
            leaving[home[person]].remove(person)
            come = come[come != person]
        for g in np.unique(group[come]).tolist():
            who = come[group[come] == g]
            table = table_of(values[:, who])
            now[g] = now[g] + table
            shown[:, who] = values[:, who]
            for person in who.tolist():
                home[person] = g
                if person in trail:
                    again.look(believe(*trail[person], (table, now[g])))
                joined[person] = (table, now[g])
        for person in month.left.tolist():
            leaving[home[person]].append(person)
        for g, people in leaving.items():
            if len(people) < k:
                continue
            table = table_of(shown[:, people])
            for person in people:
                trail[person] = [joined[person], (table, now[g])]
                left.look(believe(*trail[person]))
            now[g] = now[g] - table
            leaving[g] = []
    return {
        "left": left.looked_at,
        "left, above alpha": left.above,
        "left, certain": left.certain,
        "returned": again.looked_at,
        "returned, above alpha": again.above,
        "returned, certain": again.certain,
        "waiting to leave": sum(map(len, leaving.values())),
        "published": int(sum(int(table[0].sum()) for table in now.values())),
        "here": int(clinic.here.sum()),
    }


def publish_epochs(setting: Setting, alpha: float, years: int = 1) -> Record:
    """Publish cells that are made anew after some years: of everybody who is there then.

    Those who left in the meantime are gone from the new tables, as a sum over all cells of a group.
    """
    clinic = Clinic(setting)
    cells = Cells(clinic, alpha)
    records, left = [], Exposed(alpha)
    for number, month in enumerate(clinic.run(), 1):
        records.append(cells.take(month))
        if number % (12 * years) or number == setting.months:
            continue
        by_group: dict[int, list[Cell]] = defaultdict(list)
        for cell in {id(c): c for c in cells.cell_of if c is not None}.values():
            by_group[cell.group].append(cell)
        for group in by_group.values():
            everyone = [person for cell in group for person in cell.people]
            leavers = [person for cell in group for person in cell.leaving]
            if not leavers:
                continue
            all_of_them = table_of(cells.shown[:, everyone])
            lost = table_of(cells.shown[:, leavers])
            for cell in group:
                if cell.leaving:
                    own = table_of(cells.shown[:, sorted(cell.people)])
                    belief = believe((own, own), (lost, all_of_them))
                    for _ in cell.leaving:
                        left.look(belief)
        _start_anew(cells, clinic)
    last = records[-1]
    return {
        **last,
        "left at an epoch": left.looked_at,
        "left at an epoch, above alpha": left.above,
        "left at an epoch, certain": left.certain,
        "mean waiting to leave": float(np.mean([each["waiting to leave"] for each in records])),
    }


def _start_anew(cells: Cells, clinic: Clinic) -> None:
    """Forget all cells, and publish everybody who is there in new ones."""
    group = groups_of(clinic)
    cells.cell_of = [None] * len(clinic.here)
    cells.waiting.clear()
    cells.waits_in.clear()
    cells.gone.clear()
    cells.cells = cells.published = 0
    for person in np.flatnonzero(clinic.here).tolist():
        cells.waiting[int(group[person])].append(person)
        cells.waits_in[person] = int(group[person])
    cells._join(values_of(clinic))  # noqa: SLF001 - a variant of the same way


# Counterfeits.

Slot = tuple[int, tuple[int, ...]]
"""A group, and the values of somebody in it."""


class Signatures:
    """m-invariant buckets with counterfeits (Xiao and Tao 2007), for all columns at once.

    A bucket is m people, m = 1 / alpha rounded up, whose values differ in every column. Its
    values, the signature, stay. Who leaves is replaced by a newcomer with the same values, or else
    by a counterfeit, which stays until nobody real is left in the bucket. Who moves takes the
    signature along, in a bucket of counterfeits. Values that are corrected wait.
    """

    def __init__(self, setting: Setting, alpha: float) -> None:
        self.m = int(np.ceil(1 / alpha - 1e-9))
        self.clinic = Clinic(setting)
        self.rng = np.random.default_rng(5)
        self.waiting: dict[int, list[int]] = defaultdict(list)
        self.bucket_of: dict[int, int] = {}
        self.slot_of: dict[int, Slot] = {}
        self.slots: dict[int, list[Slot]] = {}
        """By bucket, what is published of it."""

        self.real: Counter[int] = Counter()
        self.vacant: dict[Slot, list[int]] = defaultdict(list)
        """The buckets that have a counterfeit, by its group and values."""

        self.fakes = self.buckets = self.wrong = 0

    def run(self) -> Record:
        """Publish all months, and return how things are in the end."""
        for month in self.clinic.run():
            group, values = groups_of(self.clinic), values_of(self.clinic)
            slots = {
                person: (int(group[person]), tuple(values[:, person].tolist()))
                for people in (month.new, month.returned, month.corrected)
                for person in people.tolist()
            }
            for person in month.left.tolist():
                self._go(person)
            for person in month.corrected.tolist():
                self._mend(person, slots[person])
            for person in [*month.new.tolist(), *month.returned.tolist()]:
                self._arrive(person, slots[person])
            self._fill(values)
        return {
            "m": self.m,
            "here": int(self.clinic.here.sum()),
            "published": len(self.bucket_of) + self.fakes,
            "counterfeits": self.fakes,
            "waiting to join": sum(map(len, self.waiting.values())),
            "waiting to be corrected": self.wrong,
        }

    def _go(self, person: int) -> None:
        if person not in self.bucket_of:
            self.waiting[self.slot_of[person][0]].remove(person)
            return
        bucket = self.bucket_of.pop(person)
        self.vacant[self.slot_of[person]].append(bucket)
        self.real[bucket] -= 1
        self.fakes += 1
        if not self.real[bucket]:
            for slot in self.slots.pop(bucket):
                self.vacant[slot].remove(bucket)
                self.fakes -= 1

    def _mend(self, person: int, slot: Slot) -> None:
        if person not in self.bucket_of:
            self.waiting[self.slot_of[person][0]].remove(person)
            self.slot_of[person] = slot
            self.waiting[slot[0]].append(person)
            return
        old = self.slot_of[person]
        self.wrong += slot[1] != old[1]
        if slot[0] == old[0]:
            return
        signature = [(slot[0], values) for _, values in self.slots[self.bucket_of[person]]]
        self._go(person)
        self.buckets += 1
        self.slots[self.buckets] = signature
        signature = signature.copy()
        self.slot_of[person] = (slot[0], old[1])
        signature.remove(self.slot_of[person])
        for each in signature:
            self.vacant[each].append(self.buckets)
        self.fakes += len(signature)
        self._sit(person, self.buckets)

    def _arrive(self, person: int, slot: Slot) -> None:
        self.slot_of[person] = slot
        if self.vacant.get(slot):
            self._sit(person, self.vacant[slot].pop())
            self.fakes -= 1
        else:
            self.waiting[slot[0]].append(person)

    def _sit(self, person: int, bucket: int) -> None:
        self.bucket_of[person] = bucket
        self.real[bucket] += 1

    def _fill(self, values: IntArray) -> None:
        """Make new buckets of those who wait."""
        for group, people in self.waiting.items():
            made, self.waiting[group] = _make_buckets(people, values, self.m, self.rng)
            for bucket in made:
                self.buckets += 1
                for person in bucket:
                    self.slot_of[person] = (group, tuple(values[:, person].tolist()))
                    self._sit(person, self.buckets)
                self.slots[self.buckets] = [self.slot_of[person] for person in bucket]


def publish_signatures(setting: Setting, alpha: float) -> Record:
    """Publish buckets with counterfeits."""
    return Signatures(setting, alpha).run()


def _make_buckets(
    people: list[int], values: IntArray, m: int, rng: np.random.Generator
) -> tuple[list[list[int]], list[int]]:
    """Return buckets of m whose values differ in every column, and those who are left over."""
    who = rng.permutation(people).tolist()
    rows = {person: values[:, person].tolist() for person in who}
    # The frequent values of the smallest column first: they are the hardest to place.
    counts = [Counter(row[i] for row in rows.values()) for i in range(len(VALUES))]
    who.sort(key=lambda p: -max(c[v] for c, v in zip(counts, rows[p], strict=True)))
    open_: list[tuple[list[int], list[set[int]]]] = []
    full: list[list[int]] = []
    for person in who:
        row = rows[person]
        for i, (bucket, seen) in enumerate(open_):
            if all(v == 0 or v not in s for v, s in zip(row, seen, strict=True)):
                bucket.append(person)
                for v, s in zip(row, seen, strict=True):
                    s.add(v)
                if len(bucket) == m:
                    full.append(bucket)
                    del open_[i]
                break
        else:
            open_.append(([person], [{v} for v in row]))
    return full, [person for bucket, _ in open_ for person in bucket]


def publish_heirs(setting: Setting, alpha: float) -> Record:
    """Publish cells in which who has waited to leave for three months has an heir."""
    return Cells(Clinic(setting), alpha, heirs=3).run()[-1]


WAYS: dict[str, Callable[[Setting, float], Record]] = {
    "heirs": publish_heirs,
    "signatures": publish_signatures,
    "epochs": publish_epochs,
    "groups": publish_groups,
}
"""Each returns how things are after the last month."""
