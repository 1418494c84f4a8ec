"""What an adversary believes who has every public folder of a ledger: all worlds that fit them.

A second source: it reads the CSV files of the folders, and nothing of the ledger's own code.

A *world* gives every person ever published a value of each column at each release in which the
person is published, so that every table of every folder comes out. The adversary knows who was
published when and under which group number, and of one person, the target, at most one value. All
worlds are equally likely. Corrections are read in two ways: *any* value may change between two
releases; or as *few* people change as the folders allow, counted for each column.

The tables of a folder say nothing about two columns together, and corrections are counted for each
column. So the worlds of all columns are the products of the worlds of each, a value of one column
tells nothing about another, and a combination of columns is at most as likely as each of its
values. (`test_worlds.py` lists the worlds of several columns together, and compares.) What is left
is one column at a time. There a combination is the values of several releases.

Missing values are no belief: how likely a value is, is counted among the worlds in which the value
is recorded. Nor are values that the policy calls harmless. Both may be what the adversary knows.
"""

import csv
import json
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import combinations, pairwise, permutations, product
from math import factorial, prod
from pathlib import Path

Value = str | None
Number = str
"""A group number as it is written."""

Trajectory = tuple[Number | None, ...]
"""The group number under which a person is published in each release, or None."""

Parts = tuple[tuple[Trajectory, int], ...]
"""Trajectories, and how many people have each: people of a part are alike."""

Counts = tuple[int, ...]
"""How many people have each of the values of a column."""

History = tuple[Value, ...]
"""The values of one person in one column, one for each release in which the person is published."""

Paths = Mapping[History, int | Fraction]
"""How many worlds there are for each history that the target may have."""


@dataclass(frozen=True)
class Group:
    """One group of a folder: its labels, its rows, and the table of each sensitive column."""

    labels: tuple[Value, ...]
    size: int
    tables: Mapping[str, Mapping[Value, int]]


State = Mapping[Number, Group]
"""Everything that is public of one release: the groups there are after it."""


@dataclass(frozen=True)
class Belief:
    """How likely the adversary holds some values of a person, and why."""

    belief: Fraction
    column: str
    trajectory: Trajectory
    knows: tuple[int, str] | None
    """The release and the value that the adversary knows of this column, if any."""
    values: tuple[tuple[int, str], ...]
    """The values believed in, each with its release."""

    def __str__(self) -> str:
        knows = f" | {self.column}@{self.knows[0]}={self.knows[1]}" if self.knows else ""
        values = ", ".join(f"{self.column}@{t}={v}" for t, v in self.values)
        return f"P({values}{knows}) = {self.belief} for {self.trajectory}"


# --- Folders -------------------------------------------------------------------------------------


def read_tables(folder: Path) -> dict[Number, Group]:
    """Return the groups that are in a folder."""
    labels: dict[Number, tuple[Value, ...]] = {}
    sizes: Counter[Number] = Counter()
    for row in _read(folder / "qi.csv"):
        number, *rest = row.values()
        labels[number or ""] = tuple(rest)
        sizes[number or ""] += 1
    tables: dict[Number, dict[str, dict[Value, int]]] = {number: {} for number in labels}
    for file in sorted(folder.glob("sensitive_*.csv")):
        for number, value, count in (row.values() for row in _read(file)):
            table = tables[number or ""].setdefault(file.stem.removeprefix("sensitive_"), {})
            assert value not in table
            table[value] = int(count or 0)
    for number, columns in tables.items():
        assert all(sum(table.values()) == sizes[number] for table in columns.values())
    return {number: Group(labels[number], sizes[number], tables[number]) for number in labels}


def _read(file: Path) -> Iterator[dict[str, Value]]:
    with file.open(encoding="utf-8", newline="") as lines:
        for row in csv.DictReader(lines):
            yield {name: cell or None for name, cell in row.items()}


def read_folder(folder: Path, before: State) -> State:
    """Return what is public after a release; a folder of newcomers adds to what was before."""
    found = read_tables(folder)
    manifest = folder / "manifest.json"
    said = json.loads(manifest.read_text(encoding="utf-8")) if manifest.exists() else {}
    if said.get("increment", {}).get("tables") != "newcomers":
        return found
    assert not before.keys() & found.keys()
    return {**before, **found}


def read_folders(folders: Iterable[Path]) -> list[State]:
    """Return what was public after each release."""
    states: list[State] = []
    for folder in folders:
        states.append(read_folder(folder, states[-1] if states else {}))
    return states


# --- Parts ---------------------------------------------------------------------------------------


def count_parts(states: Sequence[State], people: Iterable[Trajectory]) -> Counter[Trajectory]:
    """Return how many people have each trajectory; raise if the folders have other numbers."""
    parts = Counter(people)
    for t, state in enumerate(states):
        here: Counter[Number] = Counter()
        for trajectory, n in parts.items():
            if (number := trajectory[t]) is not None:
                here[number] += n
        public = {number: group.size for number, group in state.items()}
        if dict(here) != public:
            raise ValueError(f"release {t + 1} has {public}, and these people are {dict(here)}")
    return parts


def split_components(parts: Mapping[Trajectory, int]) -> list[Parts]:
    """Return the parts, those that share a group number with one another together."""
    components: list[tuple[set[Number], list[tuple[Trajectory, int]]]] = []
    for trajectory, n in parts.items():
        numbers = {number for number in trajectory if number is not None}
        members = [(trajectory, n)]
        others = []
        for component in components:
            if component[0] & numbers:
                numbers |= component[0]
                members += component[1]
            else:
                others.append(component)
        components = [*others, (numbers, members)]
    return [tuple(sorted(members, key=repr)) for _, members in components]


def seen_tables(
    states: Sequence[State], people: Mapping[Hashable, Sequence[Number | None]], column: str
) -> Iterator[Counter[Value]]:
    """Yield the table of everybody who can be seen together: who joined, left, moved or stayed."""
    before: State = {}
    for t, state in enumerate(states):
        for number in before.keys() | state.keys():
            now = Counter(state[number].tables[column] if number in state else {})
            if now:
                yield now
            if number in before:
                gone = Counter(before[number].tables[column])
                gone.subtract(now)
                moved = {each[t] for each in people.values() if t and each[t - 1] == number}
                for other in moved - {number, None}:
                    gone.subtract(state[str(other)].tables[column])
                if any(gone.values()) and sum(gone.values()):
                    yield gone
        before = state


# --- Worlds in which as few people change as can be ---------------------------------------------


@cache
def _portions(n: int, room: Counts) -> tuple[Counts, ...]:
    """Return all ways in which n people can take from the room of each value."""
    if len(room) == 1:
        return ((n,),) if n <= room[0] else ()
    rest = sum(room[1:])
    return tuple(
        (first, *others)
        for first in range(max(0, n - rest), min(n, room[0]) + 1)
        for others in _portions(n - first, room[1:])
    )


def _arrangements(counts: Counts) -> int:
    return factorial(sum(counts)) // prod(map(factorial, counts))


Before = tuple[tuple[int | None, int], ...]
"""How many people of a part had each value before, or no value yet."""


def _values_before(had: Counts | None, people: int) -> Before:
    return ((None, people),) if had is None else tuple((v, n) for v, n in enumerate(had) if n)


@cache
def _fillings(
    parts: tuple[Before, ...], room: Counts, most: int
) -> tuple[tuple[tuple[Counts, ...], int, int], ...]:
    """Return all ways in which parts fill a table: the values of each, worlds, and changes."""
    if not parts:
        return () if any(room) else (((), 1, 0),)
    found: Counter[tuple[tuple[Counts, ...], int]] = Counter()
    for now, left, ways, changes in _changes(parts[0], room, most):
        for others, more, cost in _fillings(parts[1:], left, most - changes):
            found[(now, *others), changes + cost] += ways * more
    return tuple((now, ways, changes) for (now, changes), ways in found.items())


@cache
def _changes(
    before: Before, room: Counts, most: int
) -> tuple[tuple[Counts, Counts, int, int], ...]:
    """Return what a part may have now, with the room it leaves, worlds, and changes."""
    if not before:
        return (((0,) * len(room), room, 1, 0),)
    (old, n), rest = before[0], before[1:]
    found: Counter[tuple[Counts, Counts, int]] = Counter()
    for taken in _portions(n, room):
        changes = 0 if old is None else n - taken[old]
        if changes <= most:
            less = tuple(a - b for a, b in zip(room, taken, strict=True))
            for now, left, ways, more in _changes(rest, less, most - changes):
                has = tuple(a + b for a, b in zip(now, taken, strict=True))
                found[has, left, changes + more] += ways * _arrangements(taken)
    return tuple((now, left, ways, changes) for (now, left, changes), ways in found.items())


Table = tuple[tuple[Value, int], ...]
Tables = tuple[tuple[tuple[Number, Table], ...], ...]
"""The tables of one column: for each release, each group number with its table."""


Had = tuple[Counts | None, ...]
"""Of each part, how many people had each value when they were last published."""


def count_worlds(
    component: Parts, tables: Tables, target: Trajectory, most: int
) -> dict[tuple[History, int], int]:
    """Return how many worlds there are for each history of a target, and number of changes.

    Worlds that differ only in who of one part has which value are counted, not listed: people of
    a part are alike. The target is a part alone.

    Args:
        component: The parts, and how many people each has.
        tables: Of one column, the groups of the component.
        target: The trajectory of the target.
        most: The most changes that a world may have, over all people and releases.
    """
    values = sorted({v for step in tables for _, table in step for v, _ in table}, key=repr)
    parts = [(target, 1)] + [(each, n - (each == target)) for each, n in component]
    last = [max(t for t, g in enumerate(each) if g is not None) for each, _ in parts]
    states: dict[tuple[History, Had, int], int] = {((), (None,) * len(parts), 0): 1}
    for t, step in enumerate(tables):
        for number, table in step:
            room = tuple(dict(table).get(value, 0) for value in values)
            here = [i for i, (each, n) in enumerate(parts) if each[t] == number and n]
            after: Counter[tuple[History, Had, int]] = Counter()
            for (path, had, changes), worlds in states.items():
                before = [_values_before(had[i], parts[i][1]) for i in here]
                for now, ways, more in _fillings(tuple(before), room, most - changes):
                    has = list(had)
                    for i, counts in zip(here, now, strict=True):
                        has[i] = counts
                    new = (values[now[0].index(1)],) if here[0] == 0 else ()
                    after[path + new, tuple(has), changes + more] += worlds * ways
            states = dict(after)
        # Those who never come again make no difference to what follows.
        after = Counter()
        for (path, had, changes), worlds in states.items():
            rest = tuple(h if t < end else None for h, end in zip(had, last, strict=True))
            after[path, rest, changes] += worlds
        states = dict(after)
    found: Counter[tuple[History, int]] = Counter()
    for (path, _, changes), worlds in states.items():
        found[path, changes] += worlds
    return dict(found)


@cache
def paths_with_few_changes(component: Parts, tables: Tables, target: Trajectory) -> Paths:
    """Return the worlds for each history of a target, with as few changes as can be."""
    for most in range(sum(n for _, n in component) * len(target) + 1):
        if found := count_worlds(component, tables, target, most):
            return {path: worlds for (path, _), worlds in found.items()}
    raise ValueError("no world fits the folders")


@cache
def paths_with_rate(
    component: Parts, tables: Tables, target: Trajectory, rate: Fraction
) -> dict[History, Fraction]:
    """Return the same over all worlds, each of which counts less with every change it has."""
    found: dict[History, Fraction] = {}
    most = sum(n for _, n in component) * len(target)
    for (path, changes), worlds in count_worlds(component, tables, target, most).items():
        found[path] = found.get(path, Fraction(0)) + worlds * rate**changes
    return found


# --- Beliefs -------------------------------------------------------------------------------------


def strongest_belief(
    paths: Paths, releases: Sequence[int], harmless: frozenset[Value] = frozenset()
) -> tuple[Fraction, tuple[int, Value] | None, tuple[tuple[int, Value], ...]]:
    """Return the strongest belief in values that the adversary does not know already.

    Args:
        paths: The worlds of each history.
        releases: The release of each value of a history.
        harmless: Values that no person minds to be known.
    """
    places = [
        i
        for i in range(len(releases))
        if i == 0 or any(path[i] != path[i - 1] for path in paths)  # else it is the same value
    ]
    known: list[tuple[int, Value] | None] = [None]
    known += sorted({(i, path[i]) for path in paths for i in places}, key=repr)
    best: tuple[Fraction, tuple[int, Value] | None, tuple[tuple[int, Value], ...]]
    best = (Fraction(0), None, ())
    for knows in known:
        fits = [
            (path, n) for path, n in paths.items() if knows is None or path[knows[0]] == knows[1]
        ]
        others = [i for i in places if knows is None or i != knows[0]]
        for size in range(1, len(others) + 1):
            for chosen in combinations(others, size):
                worlds: Counter[tuple[Value, ...]] = Counter()
                for path, n in fits:
                    worlds[tuple(path[i] for i in chosen)] += n
                recorded = {each: n for each, n in worlds.items() if None not in each}
                total = sum(recorded.values())
                for each, n in recorded.items():
                    if set(each) <= harmless | {knows[1] if knows else None}:
                        continue  # It hurts no person, or is what the adversary knows.
                    if Fraction(n, total) > best[0]:
                        said = tuple(
                            (releases[i] + 1, v) for i, v in zip(chosen, each, strict=True)
                        )
                        told = None if knows is None else (releases[knows[0]] + 1, knows[1])
                        best = (Fraction(n, total), told, said)
    return best


def share_belief(
    trajectory: Trajectory, tables: Tables, harmless: frozenset[Value] = frozenset()
) -> tuple[Fraction, tuple[int, Value] | None, tuple[tuple[int, Value], ...]]:
    """Return the strongest belief if any value may change at any release.

    Then the worlds of all releases are the products of the worlds of each. So nothing that is
    known of one release tells anything about another, and the strongest belief is a share.
    """
    best: tuple[Fraction, tuple[int, Value] | None, tuple[tuple[int, Value], ...]]
    best = (Fraction(0), None, ())
    for t, number in enumerate(trajectory):
        table = dict(dict(tables[t])[number]) if number is not None else {}
        total = sum(n for value, n in table.items() if value is not None)
        for value, n in table.items():
            if value not in harmless | {None} and Fraction(n, total) > best[0]:
                best = (Fraction(n, total), None, ((t + 1, value),))
    return best


READINGS = ("any", "few")
"""How corrections are read."""


@cache
def part_belief(
    component: Parts,
    tables: Tables,
    target: Trajectory,
    reading: str | Fraction,
    harmless: frozenset[Value] = frozenset(),
) -> tuple[Fraction, tuple[int, Value] | None, tuple[tuple[int, Value], ...]]:
    """Return the strongest belief about the people of one part, in one column."""
    if reading == "any":
        return share_belief(target, tables, harmless)
    paths: Paths = (
        paths_with_few_changes(component, tables, target)
        if reading == "few"
        else paths_with_rate(component, tables, target, Fraction(reading))
    )
    releases = [t for t, number in enumerate(target) if number is not None]
    return strongest_belief(paths, releases, harmless)


def tables_of(
    component: Iterable[tuple[Trajectory, int]], states: Sequence[State], column: str
) -> Tables:
    """Return the tables of one column, of the groups in which the people of a component are."""
    return tuple(
        tuple(
            (number, tuple(sorted(states[t][number].tables[column].items(), key=repr)))
            for number in sorted({each[t] for each, _ in component} - {None})
        )
        for t in range(len(states))
    )


@dataclass(frozen=True)
class Verdict:
    """What the adversary found: beliefs, the strongest first, and the smallest part seen."""

    beliefs: tuple[Belief, ...]
    smallest: int

    def above(self, alpha: Fraction) -> list[Belief]:
        """Return the beliefs that are above a limit."""
        return [each for each in self.beliefs if each.belief > alpha]


def judge(
    states: Sequence[State],
    people: Mapping[Hashable, Sequence[Number | None]],
    *,
    readings: Sequence[str | Fraction] = READINGS,
    harmless: Iterable[Value] = (),
) -> Verdict:
    """Return the strongest belief about each part in each column, after every release.

    Args:
        states: What was public after each release.
        people: The trajectory of every person ever published.
        readings: How corrections are read; a fraction is how much less likely a world is with
            every value that changes.
        harmless: Values that no person minds to be known.
    """
    beliefs: set[Belief] = set()
    smallest = len(people)
    for end in range(1, len(states) + 1):
        seen = [tuple(each[:end]) for each in people.values()]
        parts = count_parts(states[:end], [each for each in seen if set(each) != {None}])
        smallest = min([smallest, *parts.values()])
        for component in split_components(parts):
            columns = {c for each, _ in component for c in _columns(each, states)}
            for column in sorted(columns):
                tables = tables_of(component, states[:end], column)
                for (target, _), reading in product(component, readings):
                    found, knows, values = part_belief(
                        component, tables, target, reading, frozenset(harmless)
                    )
                    beliefs.add(Belief(found, column, target, knows, values))
    return Verdict(tuple(sorted(beliefs, key=lambda each: -each.belief)), smallest)


def _columns(trajectory: Trajectory, states: Sequence[State]) -> Iterable[str]:
    return next(
        states[t][number].tables.keys() for t, number in enumerate(trajectory) if number is not None
    )


# --- People with several rows --------------------------------------------------------------------


@dataclass(frozen=True)
class PersonVerdict:
    """What the adversary found about people who have several rows.

    The adversary knows of one person, the target, every row: when it was published and under which
    number; and at most one value, of a row that may be known or not. Believed is that some of the
    rows has a value, each in a release of its own.
    """

    strongest: Fraction
    """The strongest belief about a person."""

    whose: str
    """Of which person that is, and what is known."""

    mixed: Fraction
    """The strongest belief of one who does not know which rows are the person's, only how many: it
    is no stronger than about the worst choice of as many that one person could have."""

    smallest: int
    """The fewest people who are seen together."""

    shared: frozenset[Hashable]
    """People who have two rows among those who are seen together."""


def judge_people(
    states: Sequence[State],
    rows: Mapping[Hashable, Sequence[Number | None]],
    owners: Mapping[Hashable, Hashable],
    most: int,
    *,
    alone: bool = False,
    harmless: Iterable[Value] = (),
) -> PersonVerdict:
    """Return the strongest belief about each person in each column, after every release.

    Args:
        states: What was public after each release.
        rows: The trajectory of every row ever published.
        owners: Whose each row is.
        most: How many rows a person may have.
        alone: Whether each row is looked at by itself.
        harmless: Values that no person minds to be known.
    """
    best, whose, mixed, smallest = Fraction(0), "", Fraction(0), len(rows)
    shared: set[Hashable] = set()
    for end in range(1, len(states) + 1):
        seen = {row: tuple(each[:end]) for row, each in rows.items() if set(each[:end]) != {None}}
        parts = count_parts(states[:end], seen.values())
        components = split_components(parts)
        of_part = {part: i for i, each in enumerate(components) for part, _ in each}
        for part in parts:
            here = {owners[row] for row, each in seen.items() if each == part}
            smallest = min(smallest, len(here))
        mine: dict[Hashable, list[Trajectory]] = {}
        for row, part in seen.items():
            mine.setdefault(owners[row], []).append(part)
        for person, those in mine.items():
            if len({of_part[part] for part in those}) < len(those):
                shared.add(person)
        for column in _columns(next(iter(seen.values())), states):
            tables = {i: tables_of(each, states[:end], column) for i, each in enumerate(components)}
            views = {
                part: view_of(components[i], tables[i], part, frozenset(harmless))
                for part, i in of_part.items()
            }
            for person, those in mine.items():
                chosen = tuple(sorted((views[part] for part in those), key=repr))
                for some in combinations(chosen, 1 if alone else len(chosen)):
                    belief, knows = person_belief(some)
                    if belief > best:
                        best, whose = belief, f"{person} in {column}, who knows {knows}"
            mixed = max(mixed, _mixed_belief(views, of_part, most))
    return PersonVerdict(best, whose, mixed, smallest, frozenset(shared))


View = tuple[tuple[tuple[Value, ...], Fraction], ...]
"""What a row may be: the values in its releases, as far as they differ, and how likely; those that
are harmless are there, and are no belief: they are marked."""


_HARMLESS = "harmless "


@cache
def view_of(component: Parts, tables: Tables, part: Trajectory, harmless: frozenset[Value]) -> View:
    """Return what a row of a part may be, with as few corrections as can be."""
    paths = paths_with_few_changes(component, tables, part)
    total = sum(paths.values())
    length = len(next(iter(paths)))
    places = [i for i in range(length) if i == 0 or any(p[i] != p[i - 1] for p in paths)]
    found: dict[tuple[Value, ...], Fraction] = {}
    for path, n in paths.items():
        values = tuple(f"{_HARMLESS}{path[i]}" if path[i] in harmless else path[i] for i in places)
        found[values] = found.get(values, Fraction(0)) + Fraction(n, total)
    return tuple(sorted(found.items(), key=repr))


def _believed(
    view: View, at: int, value: Value, known: tuple[int, Value] | None = None
) -> Fraction:
    """Return how likely a row has a value in one of its releases, if it is recorded there."""
    fits = [(v, n) for v, n in view if known is None or v[known[0]] == known[1]]
    total = sum(n for v, n in fits if v[at] is not None)
    return (
        sum((n for v, n in fits if v[at] == value), Fraction(0)) / total if total else Fraction(0)
    )


def _places(view: View) -> range:
    return range(len(view[0][0]))


def _strongest(view: View, value: Value) -> Fraction:
    return max(_believed(view, at, value) for at in _places(view))


def _limited(views: Iterable[View]) -> list[str]:
    found = {value for view in views for values, _ in view for value in values}
    return sorted(v for v in found if v is not None and not v.startswith(_HARMLESS))


@cache
def person_belief(views: tuple[View, ...]) -> tuple[Fraction, str]:
    """Return the strongest belief that one of some rows, of different cells, has a value.

    Rows of different cells have nothing to do with one another: worlds are products.
    """
    best, how = Fraction(0), ""
    known_values = sorted({v for view in views for vs, _ in view for v in vs if v is not None})
    for value in _limited(views):
        alone = [_strongest(view, value) for view in views]
        found = [(1 - prod(1 - each for each in alone), "nothing")]
        for r, view in enumerate(views):
            rest = prod(1 - each for i, each in enumerate(alone) if i != r)
            for at, known in product(_places(view), known_values):
                if known == value or not _believed(view, at, known):
                    continue
                there = [_believed(view, i, value, (at, known)) for i in _places(view) if i != at]
                found.append((1 - rest * (1 - max(there, default=Fraction(0))), f"a row's {known}"))
        for known in known_values:
            if known != value:
                found += [
                    (each, f"that a row has {known}")
                    for each in _beliefs_if_some(views, value, known)
                ]
        best, how = max([(best, how), *found])
    return best, how


def _beliefs_if_some(views: Sequence[View], value: Value, known: Value) -> Iterator[Fraction]:
    """Yield how likely some row has a value if some row, it is not said which, has another."""
    ways = [list(product(_places(view), repeat=2)) for view in views]
    for chosen in product(*ways):
        none = neither = without = Fraction(1)
        for view, (at, when) in zip(views, chosen, strict=True):
            fits = [(v, n) for v, n in view if v[at] is not None and v[when] is not None]
            total = sum(n for _, n in fits)
            if not total:
                continue
            none *= sum(n for v, n in fits if v[at] != value) / total
            without *= sum(n for v, n in fits if v[when] != known) / total
            neither *= sum(n for v, n in fits if v[at] != value and v[when] != known) / total
        if without < 1:
            yield 1 - (none - neither) / (1 - without)


def _mixed_belief(
    views: Mapping[Trajectory, View], of_part: Mapping[Trajectory, int], most: int
) -> Fraction:
    """Return the strongest belief about as many rows as a person can have, of different cells."""
    best = Fraction(0)
    for value in _limited(views.values()):
        worst: dict[int, Fraction] = {}
        for part, view in views.items():
            i = of_part[part]
            worst[i] = max(worst.get(i, Fraction(0)), _strongest(view, value))
        top = sorted(worst.values(), reverse=True)[:most]
        best = max(best, 1 - prod(1 - each for each in top))
    return best


# --- The same, listed --------------------------------------------------------------------------


World = Mapping[tuple[Hashable, int], Value]
"""The value of each person at each release."""


def list_worlds(
    states: Sequence[State], people: Mapping[Hashable, Sequence[Number | None]], column: str
) -> Iterator[World]:
    """Yield every world of one column, whoever changes: all orders of all tables."""
    choices: list[list[dict[tuple[Hashable, int], Value]]] = []
    for t, state in enumerate(states):
        for number, group in state.items():
            members = [person for person, each in people.items() if each[t] == number]
            values = list(Counter(group.tables[column]).elements())
            orders = sorted(set(permutations(values)), key=repr)
            choices.append(
                [{(p, t): v for p, v in zip(members, order, strict=True)} for order in orders]
            )
    for chosen in product(*choices):
        yield {key: value for each in chosen for key, value in each.items()}


def count_changes(world: World, people: Mapping[Hashable, Sequence[Number | None]]) -> int:
    """Return how often somebody's value differs from the one published of them before."""
    changes = 0
    for person, trajectory in people.items():
        path = [world[person, t] for t, number in enumerate(trajectory) if number is not None]
        changes += sum(a != b for a, b in pairwise(path))
    return changes


def list_paths(
    states: Sequence[State],
    people: Mapping[Hashable, Sequence[Number | None]],
    column: str,
    target: Hashable,
    reading: str | Fraction,
) -> Paths:
    """Return the worlds for each history of a target, by listing all worlds."""
    worlds = list(list_worlds(states, people, column))
    changes = [count_changes(world, people) for world in worlds]
    when = [t for t, number in enumerate(people[target]) if number is not None]
    found: dict[History, int | Fraction] = {}
    for world, n in zip(worlds, changes, strict=True):
        history = tuple(world[target, t] for t in when)
        counts = reading**n if isinstance(reading, Fraction) else 1
        if reading != "few" or n == min(changes):
            found[history] = found.get(history, 0) + counts
    return found
