"""The group of each new row.

A row belongs to a group whose labels its values have on their way up: the value itself, the label
of level 1, of level 2, up to `*`, or an interval the value lies in. With one level per column that
is one group. Where rows were generalised differently several may fit, and the most specific is
taken: the one whose labels stand for the fewest values, of several such the one with the lowest
levels, and of those the one that was first. If none fits, the row asks for a new group, at the
level the column has in all groups, or else the highest at which any row of the increment found
its label.
"""

import json
import sqlite3
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from itertools import product
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from sfumato.counts import group
from sfumato.dataclasses import dataclass
from sfumato.errors import HierarchyError, InputError, some
from sfumato.hierarchy import HierarchyBuilder, Ladder
from sfumato.hierarchy.intervals import number_point
from sfumato.hierarchy.labels import respell, spell_as_before
from sfumato.ledger.store import Settings, key_of
from sfumato.policy import Policy
from sfumato.text import STAR, date_of, text_or_none
from sfumato.typing import FloatArray, IntArray, Value

_BETWEEN = 1_000_000
"""The level of an interval: no hierarchy is that high."""


_AT_ONCE = 20_000
"""Combinations of values that are held against all groups at once."""

_BITS = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1).sum(axis=1, dtype=np.int64)
"""How many bits each byte has."""


class Rung(NamedTuple):
    """A label a value can have."""

    label: str | None
    level: int
    share: float
    """Of all the values there are, the share it stands for: 0 says most, 1 nothing."""


@dataclass(frozen=True, eq=False)
class Climbs:
    """For every distinct value of one quasi-identifier, the labels it can have."""

    column: int
    values: tuple[Value, ...]
    rungs: tuple[tuple[Rung, ...], ...]


class Places(NamedTuple):
    """The groups that rows belong to, each named once; or other keys of rows."""

    keys: list[str]
    of_row: IntArray
    """The position of each row's key among them."""


def find_places(
    db: sqlite3.Connection,
    settings: Settings,
    policy: Policy | None,
    values: Sequence[Sequence[Value]],
    codes: IntArray,
) -> Places:
    """Return the group of each row: one there is, or a new one.

    How values were generalised is written down, so that it stays so. Rows that have the same
    labels to choose from are looked up once, and all of them together.

    Args:
        db: The ledger.
        settings: What it was started with.
        policy: Where the hierarchies come from; None if rows come with their labels.
        values: The distinct values of each quasi-identifier.
        codes: `codes[q, r]`: the position of row r's value of quasi-identifier q among them.
    """
    climbs = [
        _climbs(db, settings, policy, column, list(each)) for column, each in enumerate(values)
    ]
    _remember(db, climbs)
    existing = [_existing(db, each) for each in climbs]
    choices = [_Choices.of(each) for each in existing]
    # Equal labels to choose from, whatever the values.
    asked = _look_up([each.of_value for each in choices], codes)
    kinds = group(list(asked), [len(each.rungs) for each in choices], n=codes.shape[1])
    keys, found = _most_specific(db, choices, asked[:, kinds.first])
    place = found[kinds.of_item]
    new = np.flatnonzero(place < 0)
    if len(new):
        labels = [
            _number_labels(_levels(settings, each, there))
            for each, there in zip(climbs, existing, strict=True)
        ]
        mine = _look_up([each.of_value for each in labels], codes[:, new])
        groups = join_keys([each.texts for each in labels], mine)
        place[new] = len(keys) + groups.of_row
        keys += groups.keys
    return Places(keys, place)


def find_sole_places(
    db: sqlite3.Connection,
    settings: Settings,
    policy: Policy | None,
    values: Sequence[Sequence[Value]],
    codes: IntArray,
) -> Places:
    """Return the group of each row, if only one has labels that its values can have; else -1.

    Where rows were generalised differently, a row may fit several groups, and it is not known
    in which of them it was published. Arguments as of `find_places`.
    """
    climbs = [
        _climbs(db, settings, policy, column, list(each)) for column, each in enumerate(values)
    ]
    _remember(db, climbs)
    keys = [key for [key] in db.execute("SELECT DISTINCT labels FROM cells ORDER BY labels")]
    texts = [json.loads(key) for key in keys]
    # One bit per group: does it have a label that the value can have?
    fits = [
        _fitting_groups(_all_existing(db, each), [text[each.column] for text in texts])
        for each in climbs
    ]
    kinds = group(list(codes), [len(each) for each in values], n=codes.shape[1])
    of_kind = np.full(kinds.n, -1, dtype=np.int64)
    for start in range(0, kinds.n, _AT_ONCE):
        first = kinds.first[start : start + _AT_ONCE]
        fit = np.full((len(first), (len(keys) + 7) // 8), 255, dtype=np.uint8)
        for table, code in zip(fits, codes, strict=True):
            fit &= table[code[first]]
        single = np.flatnonzero(_BITS[fit].sum(axis=1) == 1)
        there = np.unpackbits(fit[single], axis=1, count=len(keys))
        of_kind[start + single] = there.argmax(axis=1)
    return Places(keys, of_kind[kinds.of_item])


def _all_existing(db: sqlite3.Connection, climbs: Climbs) -> list[set[str | None]]:
    """Return for each value all labels of groups that it can have."""
    intervals = _around(climbs.values, _intervals(db, climbs.column))
    return [
        {rung.label for rung in (*rungs, *around)}
        for rungs, around in zip(_existing(db, climbs), intervals, strict=True)
    ]


def _fitting_groups(
    labels: Sequence[set[str | None]], of_group: Sequence[str | None]
) -> NDArray[np.uint8]:
    """Return for each value one bit per group: whether its label is one of the value's."""
    names = {label: i for i, label in enumerate(dict.fromkeys(of_group))}
    can = np.zeros((len(labels), len(names)), dtype=bool)
    for value, mine in enumerate(labels):
        can[value, [names[label] for label in mine if label in names]] = True
    at = np.array([names[label] for label in of_group], dtype=np.int64)
    return np.packbits(can[:, at], axis=1)


def _look_up(tables: Sequence[IntArray], codes: IntArray) -> IntArray:
    """Replace the codes of each row of an array by what its own table has for them."""
    if not len(codes):
        return codes
    return np.array([table[row] for table, row in zip(tables, codes, strict=True)])


class _LabelNumbers(NamedTuple):
    """Labels as parts of keys, each once, and which one each value has."""

    texts: list[str]
    of_value: IntArray


def _number_labels(labels: Iterable[str | None]) -> _LabelNumbers:
    ranks: dict[str, int] = {}
    of_value = [ranks.setdefault(key_of(label), len(ranks)) for label in labels]
    return _LabelNumbers(list(ranks), np.array(of_value, dtype=np.int64))


def join_keys(texts: Sequence[Sequence[str]], codes: IntArray) -> Places:
    """Return rows as keys of several values, as `keys_of` writes them, each once.

    Args:
        texts: The keys of the single values of each column.
        codes: `codes[c, r]`: the position of row r's value of column c among them.
    """
    rows = group(list(codes), [len(each) for each in texts], n=codes.shape[1])
    columns = [
        [each[code] for code in at]
        for each, at in zip(texts, codes[:, rows.first].tolist(), strict=True)
    ]
    ways = zip(*columns, strict=True) if columns else [()] * rows.n
    return Places([f"[{', '.join(way)}]" for way in ways], rows.of_item)


def _climbs(
    db: sqlite3.Connection,
    settings: Settings,
    policy: Policy | None,
    column: int,
    values: list[Value],
) -> Climbs:
    name = settings.quasi_identifiers[column]
    rule = None if policy is None else policy.columns.get(name)
    if rule is None or rule.hierarchy is None:
        star = (Rung(STAR, 1, 1.0),) if rule is not None else ()
        return Climbs(
            column,
            tuple(values),
            tuple((Rung(text_or_none(value), 0, 0.0), *star) for value in values),
        )
    recorded = {
        value: json.loads(path)
        for value, path in db.execute(
            "SELECT value, path FROM paths WHERE column = ? AND value IN "
            "(SELECT value FROM json_each(?))",
            (column, json.dumps([key_of(value) for value in values])),
        )
    }
    new = [value for value in values if key_of(value) not in recorded]
    recorded |= _new_ways(db, rule.hierarchy, name, column, new)
    return Climbs(
        column,
        tuple(values),
        tuple(
            tuple(Rung(*rung) for rung in recorded[key_of(value)])
            if key_of(value) in recorded
            else (Rung(text_or_none(value), 0, 0.0),)
            for value in values
        ),
    )


def _is_label(db: sqlite3.Connection, column: int, value: Value) -> bool:
    """Return whether a row comes with a label that a group has."""
    return bool(
        db.execute(
            "SELECT 1 FROM labels WHERE column = ? AND label = ?", (column, key_of(value))
        ).fetchone()
    )


_Ways = dict[str, list[tuple[str | None, int, float]]]
"""By the key of a value, its way up."""


def _new_ways(
    db: sqlite3.Connection,
    builder: HierarchyBuilder,
    name: str,
    column: int,
    values: list[Value],
) -> _Ways:
    """Return the ways up of new values; those that are labels and no raw values have none."""
    if not values:
        return {}
    known = _read_ways(db, column)
    texts = [json.loads(key) for key in known]
    try:
        ways = ways_up(builder.ladder(name, [*texts, *values]))
    except HierarchyError as error:
        raw = [value for value in values if not _is_label(db, column, value)]
        if len(raw) < len(values):
            return _new_ways(db, builder, name, column, raw)
        raise InputError(
            f"{error} The new rows cannot be generalised as the published ones were, and nothing "
            "was changed."
        ) from None
    if _writes_as_before(db, column, known.values()):
        ways = {key: _spell_as_before(way) for key, way in ways.items()}
    moved = [json.loads(key) for key, path in known.items() if _names(ways[key]) != _names(path)]
    if moved:
        raise InputError(
            f"with the new values of {name!r}, {some(values)}, the hierarchy would give other "
            f"labels to {some(moved)}, which were published. Leave those rows out, or start a "
            "new ledger."
        )
    return {key_of(value): ways[key_of(value)] for value in values}


def _read_ways(db: sqlite3.Connection, column: int) -> _Ways:
    """Return how values were generalised; of some only the way from a label on is left."""
    found = db.execute("SELECT value, path FROM paths WHERE column = ?", (column,))
    ways = {value: [(*rung,) for rung in json.loads(path)] for value, path in found}
    return {value: way for value, way in ways.items() if not way[0][1]}


def forget_values(
    db: sqlite3.Connection,
    settings: Settings,
    policy: Policy | None,
    only: Mapping[int, Collection[str]] | None = None,
) -> int:
    """Remove values whose labels the policy gives again without them; count what was removed.

    Of each label that groups have, the way up from there stays: labels can get coarser later.

    Args:
        db: The ledger.
        settings: What it was started with.
        policy: Where the hierarchies come from.
        only: The keys of the values that are asked about, by column; None for all.
    """
    removed = 0
    for column, name in enumerate(settings.quasi_identifiers):
        rule = None if policy is None else policy.columns.get(name)
        asked = None if only is None else only.get(column, ())
        if rule is None or rule.hierarchy is None or (asked is not None and not asked):
            continue
        if not is_one_cut(db, column):
            continue
        there = {
            label for [label] in db.execute("SELECT label FROM labels WHERE column = ?", (column,))
        }
        for value, way in _read_ways(db, column).items():
            if asked is not None and value not in asked:
                continue
            if value in there or _ways_alone(rule.hierarchy, name, value) != _names(way):
                continue
            labels = [i for i, rung in enumerate(way) if key_of(rung[0]) in there]
            db.execute("DELETE FROM paths WHERE column = ? AND value = ?", (column, value))
            removed += 1
            if labels:
                rest = way[labels[0] :]
                _record(db, [(column, key_of(rest[0][0]), rest)])
    return removed


def _ways_alone(builder: HierarchyBuilder, name: str, key: str) -> list[object] | None:
    """Return the labels that a value gets by itself; None if it gets none."""
    try:
        return _names(ways_up(builder.ladder(name, [json.loads(key)]))[key])
    except (HierarchyError, KeyError):
        return None


def _writes_as_before(
    db: sqlite3.Connection, column: int, paths: Iterable[Sequence[Sequence[object]]]
) -> bool:
    """Return whether a ledger began when labels were written otherwise: it goes on so."""
    labels = db.execute("SELECT label FROM labels WHERE column = ?", (column,))
    texts = [json.loads(key) for [key] in labels]
    texts += [label for path in paths for label in _names(path)[1:]]
    return any(isinstance(text, str) and respell(text) != text for text in texts)


def _spell_as_before(
    way: Sequence[tuple[str | None, int, float]],
) -> list[tuple[str | None, int, float]]:
    return [
        (label if label is None or not level else spell_as_before(label), level, share)
        for label, level, share in way
    ]


def ways_up(ladder: Ladder) -> _Ways:
    """Return for each value its label at every level, and what share of all values that is.

    >>> from sfumato.hierarchy import Suppress
    >>> ways_up(Suppress().ladder("sex", ["f", "m"]))['"f"']
    [('f', 0, 0.0), ('*', 1, 1.0)]
    """
    most = max(ladder.n_leaves - 1, 1)
    found = {}
    for i, value in enumerate(ladder.values):
        found[key_of(value)] = [
            (
                text_or_none(ladder.labels[level][code]),
                level,
                (float(ladder.leaves[level][code]) - 1) / most,
            )
            for level, code in enumerate(ladder.codes[:, i].tolist())
        ]
    return found


def record_ladder(db: sqlite3.Connection, column: int, ladder: Ladder) -> None:
    """Write down how all values of a column are generalised."""
    ways = ways_up(ladder)
    if _writes_as_before(db, column, ()):
        ways = {key: _spell_as_before(way) for key, way in ways.items()}
    _record(db, ((column, key, path) for key, path in ways.items()))


def _remember(db: sqlite3.Connection, climbs: Sequence[Climbs]) -> None:
    """Write down how values were generalised, so that it stays so."""
    _record(
        db,
        (
            (each.column, key_of(value), [tuple(rung) for rung in rungs])
            for each in climbs
            for value, rungs in zip(each.values, each.rungs, strict=True)
            if len(rungs) > 1
        ),
    )


def _record(db: sqlite3.Connection, ways: Iterable[tuple[int, str, object]]) -> None:
    db.executemany(
        "INSERT OR IGNORE INTO paths VALUES (?, ?, ?)",
        ((column, key, json.dumps(path, ensure_ascii=False)) for column, key, path in ways),
    )


def _names(path: Sequence[Sequence[object]]) -> list[object]:
    return [rung[0] for rung in path]


def is_one_cut(db: sqlite3.Connection, column: int) -> bool:
    """Return whether every value of a column has one label only among those that groups have."""
    there = {key for [key] in db.execute("SELECT label FROM labels WHERE column = ?", (column,))}
    known: set[str] = set()
    paths = db.execute("SELECT path FROM paths WHERE column = ?", (column,)).fetchall()
    for [path] in paths:
        labels = {key_of(label) for label in _names(json.loads(path))}
        if len(labels & there) > 1:
            return False
        known |= labels
    return not paths or there <= known


def _existing(db: sqlite3.Connection, climbs: Climbs) -> list[list[Rung]]:
    """Keep of each value the labels that some group has, and add the intervals that hold it."""
    wanted = {key_of(rung.label) for rungs in climbs.rungs for rung in rungs}
    there = {
        label
        for [label] in db.execute(
            "SELECT label FROM labels WHERE column = ? AND label IN "
            "(SELECT value FROM json_each(?))",
            (climbs.column, json.dumps(sorted(wanted))),
        )
    }
    found = [
        # A label may stand for a value at two levels; the lower one is meant.
        list({r.label: r for r in rungs[::-1] if key_of(r.label) in there}.values())[::-1]
        for rungs in climbs.rungs
    ]
    lost = [i for i, rungs in enumerate(found) if not _is_settled(rungs)]
    if lost:
        around = _around([climbs.values[i] for i in lost], _intervals(db, climbs.column))
        for i, rungs in zip(lost, around, strict=True):
            known = {rung.label for rung in found[i]}
            found[i] += [rung for rung in rungs if rung.label not in known]
    return found


def _is_settled(rungs: Sequence[Rung]) -> bool:
    """Return whether a label was found that is no last resort."""
    return any(rung.share < 1 for rung in rungs)


class _Stretch(NamedTuple):
    label: str
    low: Decimal
    high: Decimal
    closed: bool
    """Whether the upper end is inside too."""


def _intervals(db: sqlite3.Connection, column: int) -> list[_Stretch]:
    found = []
    for [key] in db.execute("SELECT label FROM labels WHERE column = ?", (column,)):
        label = json.loads(key)
        low, high, closed = ends_of(label) if label is not None else (None, None, True)
        first, last = _point(low), _point(high)
        if first is not None and last is not None and first <= last:
            found.append(_Stretch(label, first, last, closed))
    return found


def ends_of(label: str) -> tuple[str | None, str | None, bool]:
    """Read an interval as local methods write it; with whether the upper end is inside.

    >>> ends_of("20 to 29"), ends_of("2.5 to under 5"), ends_of("20-29"), ends_of("x")
    (('20', '29', True), ('2.5', '5', False), ('20', '29', True), (None, None, True))
    """
    low, found, high = respell(label).partition(" to ")
    if not found:
        return None, None, True
    return low, high.removeprefix("under "), not high.startswith("under ")


def _around(values: Sequence[Value], stretches: Sequence[_Stretch]) -> list[list[Rung]]:
    """Return for each value the intervals that hold it."""
    points = [_point(value) for value in values]
    whole = max((each.high for each in stretches), default=Decimal(0)) - min(
        (each.low for each in stretches), default=Decimal(0)
    )
    rungs = [
        Rung(each.label, _BETWEEN, float((each.high - each.low) / whole) if whole else 0.0)
        for each in stretches
    ]
    # Exact numbers are compared once, to put them in order; what is inside goes by the order.
    ends = [end for each in stretches for end in (each.low, each.high)]
    inside = [point for point in points if point is not None]
    ranks = {number: i for i, number in enumerate(sorted({*ends, *inside}))}
    low, high = np.array([ranks[end] for end in ends], dtype=np.int64).reshape(-1, 2).T
    # What is outside counts as the half below it, so that one comparison does for both.
    high = 2 * high - [not each.closed for each in stretches]
    return [
        []
        if point is None
        else [rungs[i] for i in np.flatnonzero((low <= ranks[point]) & (2 * ranks[point] <= high))]
        for point in points
    ]


def _point(value: Value) -> Decimal | None:
    number = number_point(value)
    if number is None and (day := date_of(value)) is not None:
        return Decimal(day.toordinal())
    return number


def _levels(
    settings: Settings, climbs: Climbs, existing: Sequence[Sequence[Rung]]
) -> Iterator[str | None]:
    """Yield the label each value would have in a new group."""
    fixed = settings.levels[climbs.column]
    highest = max((rung.level for rungs in existing for rung in rungs), default=None)
    level = fixed if fixed is not None else highest
    for rungs in climbs.rungs:
        at = [rung for rung in rungs if rung.level == level]
        yield (at or rungs)[-1].label


# The most specific group: all rows are followed together, column by column, through the groups.


class _Choices(NamedTuple):
    """The labels that the values of one column can have, equal ones once."""

    rungs: list[tuple[Rung, ...]]
    of_value: IntArray

    @classmethod
    def of(cls, existing: Iterable[Sequence[Rung]]) -> Self:
        ranks: dict[tuple[Rung, ...], int] = {}
        of_value = [ranks.setdefault(tuple(rungs), len(ranks)) for rungs in existing]
        return cls(list(ranks), np.array(of_value, dtype=np.int64))

    @property
    def lengths(self) -> IntArray:
        return np.array([len(rungs) for rungs in self.rungs], dtype=np.int64)


def _most_specific(
    db: sqlite3.Connection, choices: Sequence[_Choices], asked: IntArray
) -> tuple[list[str], IntArray]:
    """Find the most specific group that has one of the labels asked for in every column.

    Args:
        db: The ledger.
        choices: The labels to choose from, by column.
        asked: `asked[q, i]`: which of them are asked for in column q.

    Returns:
        The keys of groups, and for each question the position of its group, -1 if there is none.
    """
    n = asked.shape[1]
    lengths = _look_up([each.lengths for each in choices], asked)
    [there] = db.execute("SELECT COUNT(*) FROM cells").fetchone()
    # Either asks for every group that may be meant by its name, or goes through all there are.
    if np.prod(lengths.astype(np.float64), axis=0).sum() <= there:
        texts = [[[key_of(r.label) for r in each] for each in c.rungs] for c in choices]
        columns = [[text[i] for i in at] for text, at in zip(texts, asked.tolist(), strict=True)]
        ways = zip(*columns, strict=True) if columns else [()] * n
        names = {f"[{', '.join(name)}]" for way in ways for name in product(*way)}
        rows = db.execute(
            "SELECT labels FROM cells WHERE labels IN (SELECT value FROM json_each(?)) ORDER BY id",
            (json.dumps(list(names)),),
        )
    else:
        rows = db.execute("SELECT labels FROM cells ORDER BY id")
    # Of several cells with the same labels, the first.
    keys = list(dict.fromkeys(key for [key] in rows))
    if not keys:
        return [], np.full(n, -1, dtype=np.int64)
    tree = _Tree.of(keys, choices)
    parts = [tree.find(asked[:, i : i + _AT_ONCE]) for i in range(0, n, _AT_ONCE)]
    return keys, np.concatenate([*parts, np.zeros(0, dtype=np.int64)])


_AT_ONCE = 1 << 14
"""Questions that are followed at once: each may have many labels to choose from."""


class _Branches(NamedTuple):
    """One column of groups: where a label leads from what the columns before have led to."""

    label: IntArray
    """The labels to choose from, as numbers among those that groups have; one list after another.
    """

    share: FloatArray
    level: IntArray
    start: IntArray
    """Where each list begins, and after the last one where it ends."""

    width: int
    steps: IntArray
    """Sorted: `from * width + label` leads to its own position."""


class _Tree(NamedTuple):
    """Groups as a tree: a branch is a label of one column."""

    columns: list[_Branches]
    group: IntArray
    """The first group at each end of the tree."""

    @classmethod
    def of(cls, keys: Sequence[str], choices: Sequence[_Choices]) -> Self:
        labels = json.loads(f"[{','.join(keys)}]")
        node = np.zeros(len(keys), dtype=np.int64)
        columns = []
        for q, each in enumerate(choices):
            ranks: dict[str | None, int] = {}
            code = np.array([ranks.setdefault(row[q], len(ranks)) for row in labels])
            lists = [[r for r in rungs if r.label in ranks] for rungs in each.rungs]
            steps, node = np.unique(node * len(ranks) + code, return_inverse=True)
            flat = [rung for rungs in lists for rung in rungs]
            columns.append(
                _Branches(
                    np.array([ranks[rung.label] for rung in flat], dtype=np.int64),
                    np.array([rung.share for rung in flat], dtype=np.float64),
                    np.array([rung.level for rung in flat], dtype=np.int64),
                    np.cumsum([0, *map(len, lists)]),
                    len(ranks),
                    steps,
                )
            )
        _, first = np.unique(node, return_index=True)
        return cls(columns, first)

    def find(self, asked: IntArray) -> IntArray:
        """Return the most specific group for each question, -1 if there is none."""
        question = np.arange(asked.shape[1])
        node = np.zeros(len(question), dtype=np.int64)
        share = np.zeros(len(question))
        level = np.zeros(len(question), dtype=np.int64)
        for column, lists in zip(self.columns, asked, strict=True):
            which = lists[question]
            start, length = column.start[which], np.diff(column.start)[which]
            # Every question goes on with each label it can choose.
            old = np.repeat(np.arange(len(question)), length)
            at = np.arange(len(old)) + np.repeat(start - (np.cumsum(length) - length), length)
            step = node[old] * column.width + column.label[at]
            place = np.minimum(np.searchsorted(column.steps, step), len(column.steps) - 1)
            there = column.steps[place] == step
            old, at, node = old[there], at[there], place[there]
            question, share = question[old], share[old] + column.share[at]
            level = level[old] + column.level[at]
        group = self.group[node]
        # How much labels stand for, rounded so that the order of adding up decides nothing; of
        # equals, those of lower levels say more.
        order = np.lexsort((group, level, np.round(share, 9), question))
        asked_for, first = np.unique(question[order], return_index=True)
        found = np.full(asked.shape[1], -1, dtype=np.int64)
        found[asked_for] = group[order][first]
        return found
