"""People with several rows: how many different people are in each class of any grouping.

People are folded first: those who have the same combinations are of one kind. Of a kind whose rows
are all in one class it is enough to know how many they are, and such numbers add up when classes
merge. Only kinds that are in several classes are carried along pair by pair (kind and class), each
pair once, until coarser classes hold all their rows.
"""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from sfumato.counts import (
    WIDEST_KEY,
    add_up,
    changes,
    distinct_keys,
    group_keys,
    number_keys,
    sums,
)
from sfumato.dataclasses import dataclass
from sfumato.typing import BoolArray, FloatArray, IntArray

_MOST_FOLDED = 64
"""People with more combinations than this are a kind each: no two of them are alike anyway."""


@dataclass(frozen=True, eq=False)
class PeopleEntries:
    """The people who have each value of a sensitive column in each class, every one once.

    All arrays but `known` are parallel. A person with two values in a class is in two entries.
    """

    item: IntArray
    value: IntArray
    """Code plus one, so that a missing value is 0."""

    people: IntArray
    known: IntArray
    """The people of each class who have some value that is not missing."""


@dataclass(frozen=True, eq=False)
class _HeldValues:
    """Value counts of people whose rows are in one class each: they add up."""

    item: IntArray
    value: IntArray
    people: IntArray
    known: IntArray
    """People with a value that is known, per class."""


@dataclass(frozen=True, eq=False)
class _SpreadValues:
    """Values of kinds that are in several classes: each kind, class and value once."""

    kind: IntArray
    item: IntArray
    value: IntArray


@dataclass(frozen=True, eq=False)
class _KindRows:
    """Rows of kinds of people in the finest classes: parallel arrays."""

    kind: IntArray
    item: IntArray
    rows: IntArray
    of_person: IntArray
    """The kind of each person."""


@dataclass(frozen=True, eq=False)
class ClassPeople:
    """The different people of each class, and what it takes to count those of coarser ones.

    Example:
        >>> person, item, value = np.array([[0, 0, 0], [0, 1, 0], [1, 1, 2], [2, 1, 1]]).T
        >>> people = ClassPeople.count(person, item, {"ill": (value, 3)}, 2)
        >>> people.sizes.tolist()  # The first of three people is in both classes.
        [1, 3]
        >>> people.roll_up(np.array([0, 0]), 1).sizes.tolist()
        [3]
    """

    multiplicity: IntArray
    """How many people are of each kind."""

    held: IntArray
    """Per class, the people of whom all rows are in it."""

    kind: IntArray
    """With `item`: the kinds that are in several classes, each class of each once, by kind."""

    item: IntArray
    values: Mapping[str, tuple[_HeldValues, _SpreadValues, int]]
    """Per sensitive column, the values that people have, and how many there are with missing."""

    rows: "_KindRows | None" = None
    """The rows of kinds that are in several of the finest classes, if they were asked for."""

    @classmethod
    def count(
        cls,
        person: IntArray,
        item: IntArray,
        values: Mapping[str, tuple[IntArray, int]],
        n_items: int,
        rows: IntArray | None = None,
    ) -> "ClassPeople":
        """Fold people who are alike, and part those of one class from those of several.

        Args:
            person: With `item`: whose the rows are. A pair may come several times.
            item: The class that they are in.
            values: Per sensitive column the value of each, as code plus one, and how many values
                there are, with missing.
            n_items: How many classes there are.
            rows: How many rows each pair stands for; only needed if people are suppressed whole.
        """
        n_people = int(person.max(initial=-1)) + 1
        combination, width = item.astype(np.int64), n_items
        for value, n_values in values.values():
            numbered = number_keys(combination * n_values + value, width * n_values)
            combination, width = numbered.of_item, numbered.n
        pairs = group_keys(person.astype(np.int64) * max(width, 1) + combination, n_people * width)
        first = pairs.first
        kind, one = _fold(person[first], combination[first], n_people)
        # One person of each kind stands for all of them.
        stands = one[kind[person[first]]] == person[first]
        chosen = first[stands]
        multiplicity = np.bincount(kind, minlength=len(one))
        kinds, items = kind[person[chosen]], item[chosen].astype(np.int64)
        nothing = np.empty(0, dtype=np.int64)
        found = {
            name: (
                _HeldValues(nothing, nothing, nothing, np.zeros(n_items, dtype=np.int64)),
                _distinct_values(kinds, items, value[chosen], n_items, n_values),
                n_values,
            )
            for name, (value, n_values) in values.items()
        }
        kinds, items = _distinct_pairs(kinds, items, n_items)
        none = np.zeros(n_items, dtype=np.int64)
        settled = cls(multiplicity, none, kinds, items, found).settle()
        if rows is None:
            return settled
        spread = np.zeros(len(one), dtype=bool)
        spread[settled.kind] = True
        wanders = spread[kind[person]]
        return replace(
            settled, rows=_KindRows(kind[person][wanders], item[wanders], rows[wanders], kind)
        )

    @property
    def sizes(self) -> IntArray:
        """The different people of each class."""
        found: IntArray = self.held + sums(self.item, self.multiplicity[self.kind], len(self.held))
        return found

    @property
    def nbytes(self) -> int:
        """The memory it takes."""
        arrays = [self.held, self.kind, self.item]
        for held, spread, _ in self.values.values():
            arrays += [held.item, held.value, held.people, held.known]
            arrays += [spread.kind, spread.item, spread.value]
        return sum(array.nbytes for array in arrays)

    def entries_of(self, name: str) -> PeopleEntries:
        """Return the people of each value of a column, in order of class and value."""
        held, spread, n_values = self.values[name]
        n = len(self.held)
        key = np.concatenate([held.item, spread.item]) * n_values
        key += np.concatenate([held.value, spread.value])
        people = np.concatenate([held.people, self.multiplicity[spread.kind]])
        numbered = number_keys(key, n * n_values)
        item = numbered.keys // n_values
        value = numbered.keys - item * n_values
        some = spread.value > 0
        kind, at = _distinct_pairs(spread.kind[some], spread.item[some], n)
        known = held.known + sums(at, self.multiplicity[kind], n)
        return PeopleEntries(item, value, sums(numbered.of_item, people, numbered.n), known)

    def roll_up(self, of_item: IntArray, n: int) -> "ClassPeople":
        """Return the people of coarser classes.

        Args:
            of_item: The coarser class that each class becomes part of.
            n: How many there are.
        """
        kind, item = _distinct_pairs(self.kind, of_item[self.item], n)
        values = {}
        for name, (held, spread, n_values) in self.values.items():
            moved = _distinct_values(spread.kind, of_item[spread.item], spread.value, n, n_values)
            values[name] = (
                _add_up(
                    of_item[held.item],
                    held.value,
                    held.people,
                    sums(of_item, held.known, n),
                    n_values,
                ),
                moved,
                n_values,
            )
        return ClassPeople(
            self.multiplicity, sums(of_item, self.held, n), kind, item, values
        ).settle()

    def without(self, gone: BoolArray) -> "ClassPeople":
        """Return those who are left if all people of some classes go, with all their rows.

        Args:
            gone: The classes whose people go.
        """
        leaving = self.leaving(gone)
        stays = ~leaving[self.kind]
        values = {}
        for name, (held, spread, n_values) in self.values.items():
            here, there = ~gone[held.item], ~leaving[spread.kind]
            values[name] = (
                _HeldValues(
                    held.item[here],
                    held.value[here],
                    held.people[here],
                    np.where(gone, 0, held.known),
                ),
                _SpreadValues(spread.kind[there], spread.item[there], spread.value[there]),
                n_values,
            )
        return ClassPeople(
            self.multiplicity,
            np.where(gone, 0, self.held),
            self.kind[stays],
            self.item[stays],
            values,
        )

    def leaving(self, gone: BoolArray) -> BoolArray:
        """Return which of the kinds that are in several classes have rows in some of these."""
        found = np.zeros(len(self.multiplicity), dtype=bool)
        found[self.kind[gone[self.item]]] = True
        return found

    @property
    def total(self) -> int:
        """All people, every one once."""
        return int(self.held.sum() + self.multiplicity[self.kind[changes(self.kind)]].sum())

    def at_worst(self, levels: IntArray, n: int) -> IntArray:
        """Return how many people are of each level, every one at the highest of their classes.

        Args:
            levels: The level of each class, from 0 on.
            n: How many levels there are.

        >>> person, item = np.array([0, 0, 1, 2]), np.array([0, 1, 1, 2])
        >>> ClassPeople.count(person, item, {}, 3).at_worst(np.array([2, 0, 0]), 3).tolist()
        [2, 0, 1]
        """
        found = sums(levels, self.held, n)
        if not len(self.kind):
            return found
        starts = np.flatnonzero(changes(self.kind))
        worst = np.maximum.reduceat(levels[self.item], starts)
        people: IntArray = found + sums(worst, self.multiplicity[self.kind[starts]], n)
        return people

    def with_known(self, name: str) -> int:
        """Return how many people have some value of a column that is not missing."""
        held, spread, _ = self.values[name]
        kinds = np.unique(spread.kind[spread.value > 0])
        return int(held.known.sum() + self.multiplicity[kinds].sum())

    def keep(self, keep: BoolArray) -> "ClassPeople":
        """Return the people of some classes only; the rows of the others are as if not there."""
        number = np.cumsum(keep) - 1
        stays = keep[self.item]
        values = {}
        for name, (held, spread, n_values) in self.values.items():
            here, there = keep[held.item], keep[spread.item]
            values[name] = (
                _HeldValues(
                    number[held.item[here]], held.value[here], held.people[here], held.known[keep]
                ),
                _SpreadValues(spread.kind[there], number[spread.item[there]], spread.value[there]),
                n_values,
            )
        return ClassPeople(
            self.multiplicity, self.held[keep], self.kind[stays], number[self.item[stays]], values
        ).settle()

    def settle(self) -> "ClassPeople":
        """Return the same with kinds of a single class counted where they are."""
        if not len(self.kind):
            return self
        # By kind, so a kind of one class stands alone.
        new = changes(self.kind)
        alone = new & np.append(new[1:], True)
        if not alone.any():
            return self
        settled = np.zeros(len(self.multiplicity), dtype=bool)
        settled[self.kind[alone]] = True
        n = len(self.held)
        held = self.held + sums(self.item[alone], self.multiplicity[self.kind[alone]], n)
        values = {}
        for name, (old, spread, n_values) in self.values.items():
            here = settled[spread.kind]
            people = self.multiplicity[spread.kind[here]]
            some = here & (spread.value > 0)
            kinds, at = _distinct_pairs(spread.kind[some], spread.item[some], n)
            known = old.known + sums(at, self.multiplicity[kinds], n)
            values[name] = (
                _add_up(
                    np.concatenate([old.item, spread.item[here]]),
                    np.concatenate([old.value, spread.value[here]]),
                    np.concatenate([old.people, people]),
                    known,
                    n_values,
                ),
                _SpreadValues(spread.kind[~here], spread.item[~here], spread.value[~here]),
                n_values,
            )
        return replace(
            self, held=held, kind=self.kind[~alone], item=self.item[~alone], values=values
        )


# Groups that are looked at once: no kinds, only the pairs that there are.


def people_of(of_item: IntArray, person: IntArray, n: int, n_people: int) -> IntArray:
    """Count the different people of each of `n` groups.

    Args:
        of_item: With `person`: who is in which group. A pair may come several times.
        person: Their numbers.
        n: How many groups there are.
        n_people: How many people there are.

    >>> people_of(np.array([0, 0, 1]), np.array([4, 4, 4]), 2, 5).tolist()
    [1, 1]
    """
    keys = distinct_keys(*_pairs(of_item, person, n, n_people))
    return np.bincount(keys // max(n_people, 1), minlength=n)


def fewest_people(of_item: IntArray, person: IntArray, n: int, n_people: int) -> FloatArray:
    """Return a number of people that each group has at least, without looking who they are.

    A person counts as one, divided among all entries that are theirs. Several times as fast as to
    count them, and exact for groups that share no person with others.

    >>> fewest_people(np.array([0, 0, 1]), np.array([4, 3, 4]), 2, 5).tolist()
    [1.5, 0.5]
    """
    share = 1 / np.maximum(np.bincount(person, minlength=n_people), 1)
    return add_up(of_item, share[person], n)


def entries_of_people(
    of_item: IntArray, person: IntArray, value: IntArray, n: int, n_people: int, n_values: int
) -> PeopleEntries:
    """Count the people who have each value in each of `n` groups, every one once.

    Args:
        of_item: With `person` and `value`: who has what in which group.
        person: Their numbers.
        value: Code plus one, so that a missing value is 0.
        n: How many groups there are.
        n_people: How many people there are.
        n_values: How many values, with missing.

    >>> group, person, value = np.array([[0, 4, 1], [0, 4, 2], [0, 4, 2], [0, 3, 2]]).T
    >>> found = entries_of_people(group, person, value, 1, 5, 3)
    >>> found.value.tolist(), found.people.tolist(), found.known.tolist()
    ([1, 2], [1, 2], [2])
    """
    pair, width = _pairs(of_item, person, n, n_people)
    if width * n_values >= WIDEST_KEY:
        pairs = number_keys(pair, width)
        in_group = pairs.keys // max(n_people, 1)
        keys = distinct_keys(pairs.of_item * n_values + value, pairs.n * n_values)
        pair = keys // n_values
        item = in_group[pair]
    else:
        keys = distinct_keys(pair * n_values + value, width * n_values)
        pair = keys // n_values
        item = pair // max(n_people, 1)
    values = keys - pair * n_values
    some = values > 0
    known = item[some][changes(pair[some])]
    numbered = number_keys(item * n_values + values, n * n_values)
    at = numbered.keys // n_values
    return PeopleEntries(
        at,
        numbered.keys - at * n_values,
        np.bincount(numbered.of_item, minlength=numbered.n),
        np.bincount(known, minlength=n),
    )


def _pairs(of_item: IntArray, person: IntArray, n: int, n_people: int) -> tuple[IntArray, int]:
    """Return one key for each pair of a group and a person, and a bound on keys."""
    return of_item * n_people + person, n * n_people


def _fold(person: IntArray, combination: IntArray, n_people: int) -> tuple[IntArray, IntArray]:
    """Return the kind of each person, and one person of each kind.

    Two people are of one kind if they have the same combinations.

    Args:
        person: With `combination`: who has which, each pair once, in order.
        combination: The combinations that they have.
        n_people: How many people there are; each has at least one combination.

    >>> person, has = np.array([0, 0, 1, 2, 2]), np.array([4, 7, 4, 4, 7])
    >>> [found.tolist() for found in _fold(person, has, 3)]
    [[1, 0, 1], [1, 0]]
    """
    number = np.bincount(person, minlength=n_people)
    start = np.cumsum(number) - number
    # Those with as many combinations are compared place by place. Exact: no hash decides.
    kind, n = number.copy(), int(number.max(initial=0)) + 1
    width = int(combination.max(initial=0)) + 1
    for place in range(min(n - 1, _MOST_FOLDED)):
        who = np.flatnonzero((number > place) & (number <= _MOST_FOLDED))
        if not len(who):
            break
        numbered = number_keys(kind[who] * width + combination[start[who] + place], n * width)
        # Numbers that were not in use yet, so that they meet none of those who are done.
        kind[who] = n + numbered.of_item
        n += numbered.n
    many = np.flatnonzero(number > _MOST_FOLDED)
    kind[many] = n + np.arange(len(many))
    groups = group_keys(kind, n + len(many))
    return groups.of_item, groups.first


def _distinct_pairs(kind: IntArray, item: IntArray, n: int) -> tuple[IntArray, IntArray]:
    """Return each pair once, in order."""
    if not len(kind):
        return kind, item
    keys = number_keys(kind * n + item, (int(kind.max()) + 1) * n).keys
    kinds = keys // n
    return kinds, keys - kinds * n


def _distinct_values(
    kind: IntArray, item: IntArray, value: IntArray, n: int, n_values: int
) -> _SpreadValues:
    """Return each kind, class and value once."""
    kinds, places = _distinct_pairs(kind, item * n_values + value, n * n_values)
    items = places // n_values
    return _SpreadValues(kinds, items, places - items * n_values)


def _add_up(
    item: IntArray, value: IntArray, people: IntArray, known: IntArray, n_values: int
) -> _HeldValues:
    """Add up the people who share class and value, in order of class, then value."""
    numbered = number_keys(item * n_values + value, len(known) * n_values)
    at = numbered.keys // n_values
    return _HeldValues(
        at, numbered.keys - at * n_values, sums(numbered.of_item, people, numbered.n), known
    )
