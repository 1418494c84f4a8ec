"""The people who are in two releases: what their classes in both say together.

A world is a way to say which row of one release and which row of the other are of the same person:
the classes of the two rows can hold one person, and their sensitive values are the same. All
worlds in which as many people as possible are in both are taken to be equally likely. Of a person
who is in class `a` of the one and class `b` of the other, a value v is then believed with

    (expected number of people of `a` and `b` who have v) / (expected number of people of both),

because the person is any of them. Values do not mix, so every value is dealt out by itself. Where
all classes of one release that have a value fit all of the other that have it, the expected
numbers are `a_v · b_v / max(A_v, B_v)`, with A_v and B_v the sums over these classes: exactly.
Where some fit and others do not, they are those of the largest entropy with the same sums
(Sinkhorn's iteration), which is close: the exact numbers are a ratio of permanents.
"""

from typing import NamedTuple

import numpy as np

from sfumato.attacks.overlap import MatchedPairs, cut_lists, number_items
from sfumato.classes import ValueCounts
from sfumato.counts import add_up
from sfumato.dataclasses import dataclass
from sfumato.errors import InputError
from sfumato.text import text_of
from sfumato.typing import BoolArray, FloatArray, IntArray

_MOST_ENTRIES = 1 << 24
"""The most values of pairs that are solved together."""

_SLACK = 1e-6
"""How unlikely, beside a match, it is that a row is of a person who is in one release only."""

_LEAST = 0.01
"""Fewer people than this are none, but for rounding."""

_ROUNDS = 200
_CLOSE = 1e-7


class Side(NamedTuple):
    """The values of the classes of one release, in a dictionary that both share."""

    starts: IntArray
    value: IntArray
    rows: IntArray
    totals: IntArray
    """The rows of each class whose value is known."""

    @property
    def of_entry(self) -> IntArray:
        """The class of each entry."""
        return np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))


def shared_values(one: ValueCounts, other: ValueCounts) -> tuple[Side, Side, int]:
    """Write the values of two releases in those of the first; the last code is missing.

    Values that only the second has come after those of the first. Returned is also the code of
    a missing value.
    """
    codes = {text_of(value): code for code, value in enumerate(one.column.values)}
    lookup = [codes.setdefault(text_of(value), len(codes)) for value in other.column.values]
    missing = len(codes)
    same = np.append(np.arange(len(one.column.values)), missing)
    return _side(one, same, missing), _side(other, np.array([*lookup, missing]), missing), missing


def _side(counts: ValueCounts, lookup: IntArray, missing: int) -> Side:
    value = lookup[counts.value]
    order = np.lexsort((value, counts.class_id))
    n = int(counts.class_id.max(initial=-1)) + 1
    starts = np.searchsorted(counts.class_id, np.arange(n + 1))
    known = np.where(value == missing, 0, counts.rows)
    totals = np.bincount(counts.class_id, weights=known, minlength=n).astype(np.int64)
    return Side(starts, value[order], counts.rows[order], totals)


@dataclass(frozen=True, eq=False)
class JointValues:
    """Per pair of classes and value, the number of people that is expected.

    Entries are sorted by pair; missing values are among them.
    """

    pair: IntArray
    value: IntArray
    one: IntArray
    """The entry of the first release that each is part of."""

    other: IntArray
    people: FloatArray
    exact: bool
    """Whether the numbers are exact, and not those of the largest entropy."""

    joined: FloatArray
    """Per entry of the first release, the rows whose people are not in the second."""

    left: FloatArray
    """The same for the second."""


def join_values(pairs: MatchedPairs, one: Side, other: Side) -> JointValues:
    """Return how many people of each pair of classes are expected to have each value.

    Example:
        >>> rows = np.array([1, 1, 1]), np.array([1, 2])
        >>> first = Side(np.array([0, 3]), np.array([0, 1, 2]), rows[0], np.array([3]))
        >>> second = Side(np.array([0, 2]), np.array([2, 3]), rows[1], np.array([3]))
        >>> found = join_values(MatchedPairs(np.array([0]), np.array([0])), first, second)
        >>> found.value.tolist(), found.people.tolist(), found.exact
        ([2], [1.0], True)
    """
    width = np.diff(one.starts)[pairs.one]
    key = other.of_entry * (int(other.value.max(initial=0)) + 1) + other.value
    span = int(other.value.max(initial=0)) + 1
    found: list[tuple[IntArray, IntArray, IntArray]] = []
    held = 0
    for part in cut_lists(width):
        at, within = number_items(width[part])
        at += part.start
        first = one.starts[pairs.one[at]] + within
        value = one.value[first]
        asked = pairs.other[at] * span + value
        place = np.minimum(np.searchsorted(key, asked), max(len(key) - 1, 0))
        good = (key[place] == asked) & (value < span) if len(key) else np.zeros(len(at), dtype=bool)
        found.append((at[good], first[good], place[good]))
        held += int(good.sum())
        if held > _MOST_ENTRIES:
            raise InputError(
                f"more than {_MOST_ENTRIES} values of pairs of classes fit both releases, which is "
                "more than can be solved together."
            )
    none = np.zeros(0, dtype=np.int64)
    pair, first, second = (np.concatenate([none, *(each[i] for each in found)]) for i in range(3))
    return _solve(pair, first, second, one, other)


def _solve(
    pair: IntArray, first: IntArray, second: IntArray, one: Side, other: Side
) -> JointValues:
    n = len(one.rows), len(other.rows)
    component, their_component = _components(first, second, n)
    parts = int(max(component.max(initial=-1), their_component.max(initial=-1))) + 1
    totals = add_up(component, one.rows, parts), add_up(their_component, other.rows, parts)
    entries = np.bincount(component[first], minlength=parts)
    members = [np.bincount(each, minlength=parts) for each in (component, their_component)]
    complete = entries == members[0] * members[1]
    most = np.maximum(np.maximum(totals[0], totals[1]), 1)
    of_entry = component[first]
    people = one.rows[first] * other.rows[second] / most[of_entry]
    open_entries = ~complete[of_entry]
    if open_entries.any():
        people[open_entries] = _scale(
            first[open_entries], second[open_entries], one.rows, other.rows, component,
            totals,
        )  # fmt: skip
    joined = np.maximum(one.rows - add_up(first, people, n[0]), 0.0)
    left = np.maximum(other.rows - add_up(second, people, n[1]), 0.0)
    return JointValues(
        pair,
        one.value[first],
        first,
        second,
        people,
        bool(complete[of_entry].all()),
        joined,
        left,
    )


def _components(first: IntArray, second: IntArray, n: tuple[int, int]) -> tuple[IntArray, IntArray]:
    """Number the parts of a graph with edges between two lists of entries."""
    label = np.arange(n[0] + n[1])
    edges = first, second + n[0]
    while True:
        lowest = np.minimum(label[edges[0]], label[edges[1]])
        new = label.copy()
        for ends in edges:
            np.minimum.at(new, ends, lowest)
        # Halve the paths: a label is itself an entry that may have a lower one.
        new = new[new]
        if np.array_equal(new, label):
            break
        label = new
    number = np.unique(label, return_inverse=True)[1]
    return number[: n[0]], number[n[0] :]


def _scale(
    first: IntArray,
    second: IntArray,
    rows: IntArray,
    their_rows: IntArray,
    component: IntArray,
    totals: tuple[FloatArray, FloatArray],
) -> FloatArray:
    """Return the numbers of largest entropy whose sums are the rows of either side.

    A row may be of a person who is in one release only, which is as unlikely as `_SLACK` says:
    so the sums can always be had, and as few people as possible joined or left.
    """
    n = len(rows), len(their_rows)
    # The solution where all fit all is where to begin: it has the right share of both sides.
    mine, theirs = totals
    less = (mine - theirs) / _SLACK
    inner = np.sqrt(less**2 + 4 * np.maximum(np.minimum(mine, theirs), 1e-300))
    # Written so that no two large numbers are subtracted.
    lesser = np.minimum(mine, theirs)
    factor = np.where(less >= 0, (less + inner) / 2, 2 * lesser / np.maximum(inner - less, 1e-300))
    u = rows / np.maximum(mine, 1.0)[component] * factor[component]
    v = np.zeros(n[1])
    for _ in range(_ROUNDS):
        v = their_rows / (add_up(second, u[first], n[1]) + _SLACK)
        new = rows / (add_up(first, v[second], n[0]) + _SLACK)
        change = np.max(np.abs(new - u) / np.maximum(new, 1e-300), initial=0.0)
        u = new
        if change < _CLOSE:
            break
    people: FloatArray = u[first] * v[second]
    return people


def one_way(
    pairs: MatchedPairs, joint: JointValues, one: Side, other: Side
) -> tuple[BoolArray, BoolArray]:
    """Return the classes of the first that only gained people, and those of the second that lost.

    Classes that fit each other are taken together. Where some values became more and others
    less, who joined cannot be told from who changed.
    """
    n = len(one.totals), len(other.totals)
    mine, theirs = _components(pairs.one, pairs.other, n)
    parts = int(max(mine.max(initial=-1), theirs.max(initial=-1))) + 1
    gained = add_up(mine[one.of_entry], joint.joined, parts) > _LEAST
    lost = add_up(theirs[other.of_entry], joint.left, parts) > _LEAST
    return (gained & ~lost)[mine], (lost & ~gained)[theirs]
