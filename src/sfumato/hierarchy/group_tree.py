"""Values in named groups, level by level, edited by hand; every edit gives a new, valid tree."""

import csv
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import field, replace
from io import StringIO
from typing import Any, Self, TypeAlias, TypeVar

from sfumato.dataclasses import dataclass
from sfumato.errors import HierarchyError, ParameterError, some, suggest
from sfumato.hierarchy.base import Hierarchy, HierarchyBuilder, Suppress
from sfumato.hierarchy.taxonomy import Taxonomy
from sfumato.text import STAR, has_line_break, is_missing, text_of
from sfumato.typing import Value

MOST_LEVELS = 20
"""More levels than this are of no use."""

_LONGEST = 40
"""The most letters of a name that is made of other names."""

_MOST_JOINED = 3

Tree = TypeVar("Tree", bound="GroupTree")

Path: TypeAlias = tuple[str, ...]
"""The labels of a value, level 1 up to the last one below the top."""


@dataclass(frozen=True)
class GroupTree:
    """Values in named groups, level by level: what a hand edits of a hierarchy of names.

    Level 0 are the values, the highest level is one label for all; both stay as they are. The
    levels between are edited. A group is called by its level and its label. Whatever is done,
    each value stays in exactly one group of each level, and each group in one group of the next;
    a group that loses its last value is gone.

    A name given by hand must be free: at its level, and at others where it would stand for other
    values, because a published label must tell what it stands for. Where an edit leaves a group
    with a name that now means something else, the group is called by what is in it.

    Example:
        >>> from sfumato.hierarchy.editing import edit
        >>> tree = edit(Suppress(), "drink", ["tea", "coffee", "beer"], [5, 4, 1])
        >>> tree = tree.add_level(0).group(1, ["tea", "coffee"], "hot")
        >>> tree.groups(1)
        {'hot': ('tea', 'coffee'), 'beer': ('beer',)}
        >>> tree.builder().params()
        {'tree': [{'hot': ['tea', 'coffee']}, 'beer']}
    """

    column: str
    rows: Mapping[str, int]
    """Each value, as text, and how many rows have it; 0 if it is one of the hierarchy alone."""

    paths: Mapping[str, Path]
    """Each value and its labels between itself and the top."""

    top: str = STAR
    missing: int = 0
    """Rows without a value: a label of their own at every level but the top."""

    origin: HierarchyBuilder | None = field(default=None, compare=False)
    """The builder it was made from, as long as nothing is edited."""

    @classmethod
    def of(
        cls,
        hierarchy: Hierarchy,
        column: str,
        values: Sequence[Value],
        counts: Sequence[int] | None = None,
        *,
        origin: HierarchyBuilder | None = None,
    ) -> Self:
        """Return the editable form of a hierarchy; values it does not have stand by themselves.

        Args:
            hierarchy: Any hierarchy.
            column: The column's name.
            values: The column's values, the missing one too if there is one.
            counts: How many rows have each; without it, one each.
            origin: The builder that made the hierarchy.
        """
        rows, missing = rows_of(values, counts)
        between = range(1, hierarchy.height)
        columns = [[hierarchy.labels[at][code] for code in hierarchy.codes[at]] for at in between]
        known = [text_of(value) for value in hierarchy.values]
        ways = zip(*columns, strict=True) if columns else [()] * len(known)
        paths = dict(zip(known, ways, strict=True))
        strange = [text for text in rows if text not in paths]
        taken = {*rows, *known}.union(*paths.values())
        # A value that is called like a group would be taken for it.
        names = {
            (level, text): _free(f"{text} (all)", taken) for text in strange for level in between
        }
        paths = _rename(paths, names) if strange else paths
        tree = cls(
            column,
            {**dict.fromkeys(known, 0), **rows},
            {**paths, **{text: (text,) * len(between) for text in strange}},
            hierarchy.labels[-1][0] if hierarchy.labels[-1] else STAR,
            missing,
            None if strange else origin,
        )
        return tree.settle_names(paths) if strange else tree

    @property
    def height(self) -> int:
        """The top level."""
        return len(next(iter(self.paths.values()), ())) + 1

    def labels(self, level: int) -> tuple[str, ...]:
        """Return the labels of a level, each once."""
        return tuple(self.groups(level))

    def groups(self, level: int) -> dict[str, tuple[str, ...]]:
        """Return each label of a level and the values it stands for."""
        found: defaultdict[str, list[str]] = defaultdict(list)
        for value in self.paths:
            found[self._label(value, level)].append(value)
        return {label: tuple(members) for label, members in found.items()}

    def parts(self, level: int) -> dict[str, tuple[str, ...]]:
        """Return each label of a level and the labels of the level below that are in it."""
        found: defaultdict[str, dict[str, None]] = defaultdict(dict)
        for value in self.paths:
            found[self._label(value, level)][self._label(value, level - 1)] = None
        return {label: tuple(below) for label, below in found.items()}

    def counts(self, level: int) -> dict[str, int]:
        """Return each label of a level and how many rows have a value of it."""
        found: Counter[str] = Counter()
        for value in self.paths:
            found[self._label(value, level)] += self.rows[value]
        return dict(found)

    def _label(self, value: str, level: int) -> str:
        if level == 0:
            return value
        path = self.paths[value]
        return path[level - 1] if level <= len(path) else self.top

    # Edits of groups.

    def rename(self, level: int, label: str, to: str) -> Self:
        """Return it with another name for a group.

        >>> from sfumato.hierarchy.editing import edit
        >>> drinks = Taxonomy({"hot": ["tea", "mocha"], "cold": ["beer"]})
        >>> edit(drinks, "drink", ["tea"]).rename(1, "hot", "warm").labels(1)
        ('warm', 'cold')
        """
        self._require_groups(level, [label])
        name = self._usable(to)
        if name == label:
            return self
        if name in self.labels(level):
            raise HierarchyError(
                f"level {level} of {self.column!r} has a group {name!r} already. Choose another "
                "name, or merge the two groups."
            )
        paths = _rename(self.paths, {(level, label): name})
        return self._with(lambda value, _: paths[value], name)

    def merge(self, level: int, labels: Sequence[str], name: str | None = None) -> Self:
        """Return it with several groups of a level as one, above which the first one's groups are.

        Args:
            level: The level of the groups.
            labels: Two groups or more.
            name: What the group is called; by default as the first one.

        >>> from sfumato.hierarchy.editing import edit
        >>> drinks = Taxonomy({"hot": ["tea", "mocha"], "cold": ["beer"]})
        >>> edit(drinks, "drink", ["tea"]).merge(1, ["hot", "cold"], "drinks").groups(1)
        {'drinks': ('tea', 'mocha', 'beer')}
        """
        chosen = tuple(dict.fromkeys(labels))
        self._require_groups(level, chosen)
        if len(chosen) < 2:
            raise HierarchyError(
                f"merging takes two groups or more, got {some(chosen)}. Choose another group of "
                f"level {level} of {self.column!r}."
            )
        parts = self.parts(level)
        inside = [part for label in chosen for part in parts[label]]
        return self._gather(level, inside, name, chosen[0])

    def group(self, level: int, parts: Sequence[str], name: str | None = None) -> Self:
        """Return it with a new group of a level, made of labels of the level below.

        They leave the groups they are in. The new group is where the first of them was.

        Args:
            level: The level of the new group.
            parts: Labels of the level below; at level 1 these are values.
            name: What the group is called; by default by what is in it.

        >>> from sfumato.hierarchy.editing import edit
        >>> drinks = Taxonomy({"hot": ["tea", "mocha"], "cold": ["beer"]})
        >>> edit(drinks, "drink", ["tea"]).group(1, ["mocha", "beer"], "strong").groups(1)
        {'hot': ('tea',), 'strong': ('mocha', 'beer')}
        """
        self._require_level(level)
        chosen = tuple(dict.fromkeys(parts))
        self._require_labels(level - 1, chosen)
        return self._gather(level, chosen, name, None)

    def split(self, level: int, label: str, parts: Sequence[str], name: str | None = None) -> Self:
        """Return it with some parts of a group as a group of their own, beside it.

        Args:
            level: The level of the group.
            label: The group.
            parts: Some of what is in it, of the level below, but not all.
            name: What the new group is called; by default by what is in it.

        >>> from sfumato.hierarchy.editing import edit
        >>> drinks = Taxonomy({"hot": ["tea", "mocha"], "cold": ["beer"]})
        >>> edit(drinks, "drink", ["tea"]).split(1, "hot", ["mocha"], "sweet").groups(1)
        {'hot': ('tea',), 'sweet': ('mocha',), 'cold': ('beer',)}
        """
        self._require_groups(level, [label])
        inside, chosen = self.parts(level)[label], dict.fromkeys(parts)
        others = [part for part in chosen if part not in inside]
        if others:
            raise HierarchyError(
                f"{some(others)} is not in {label!r}, which has {some(inside)}. Choose what leaves "
                f"it among these."
            )
        if not chosen or len(chosen) == len(inside):
            what = "nothing was chosen" if not chosen else "everything in it was chosen"
            raise HierarchyError(
                f"{label!r} cannot be split: {what}. Choose some of {some(inside)}."
            )
        return self._gather(level, tuple(chosen), name, None)

    def ungroup(self, level: int, label: str) -> Self:
        """Return it without a group: each label in it is a group by itself.

        >>> from sfumato.hierarchy.editing import edit
        >>> drinks = Taxonomy({"hot": ["tea", "mocha"], "cold": ["beer"]})
        >>> edit(drinks, "drink", ["tea"]).ungroup(1, "hot").labels(1)
        ('tea', 'mocha', 'cold')
        """
        self._require_groups(level, [label])
        taken = {*self.labels(level)} - {label}
        names = {part: _free(part, taken) for part in self.parts(level)[label]}

        def way(value: str, path: Path) -> Path:
            if path[level - 1] != label:
                return path
            return (*path[: level - 1], names[self._label(value, level - 1)], *path[level:])

        return self._with(way)

    def move(self, level: int, labels: Sequence[str], to: str) -> Self:
        """Return it with values or groups in another group of the next level.

        Args:
            level: The level of what moves; 0 are the values.
            labels: What moves.
            to: The group of the level above that they come into.

        >>> from sfumato.hierarchy.editing import edit
        >>> drinks = Taxonomy({"hot": ["tea", "mocha"], "cold": ["beer"]})
        >>> edit(drinks, "drink", ["tea"]).move(0, ["mocha"], "cold").groups(1)
        {'hot': ('tea',), 'cold': ('mocha', 'beer')}
        """
        self._require_level(level + 1, f"what is at level {level} is in one group alone, the top")
        chosen = dict.fromkeys(labels)
        self._require_labels(level, chosen)
        self._require_groups(level + 1, [to])
        above = next(path[level:] for path in self.paths.values() if path[level] == to)
        return self._with(
            lambda value, path: (
                (*path[:level], *above) if self._label(value, level) in chosen else path
            )
        )

    def add_level(self, above: int) -> Self:
        """Return it with one level more, above another: each label of that is a group of its own.

        Args:
            above: The level above which it comes; 0 are the values.
        """
        if not 0 <= above < self.height:
            allowed = f"a level from 0 to {self.height - 1}"
            raise ParameterError("above", above, allowed, why="the top stays the top")
        if self.height >= MOST_LEVELS:
            raise HierarchyError(
                f"{self.column!r} has {self.height} levels, and more than {MOST_LEVELS} are of no "
                "use. Remove one first."
            )
        return self._with(
            lambda value, path: (*path[:above], self._label(value, above), *path[above:])
        )

    def remove_level(self, level: int) -> Self:
        """Return it without one of the levels between the values and the top.

        >>> from sfumato.hierarchy.editing import edit
        >>> drinks = Taxonomy({"hot": ["tea", "mocha"], "cold": ["beer"]})
        >>> edit(drinks, "drink", ["tea"]).remove_level(1).height
        1
        """
        self._require_level(level)
        return self._with(lambda _, path: (*path[: level - 1], *path[level:]))

    # Results.

    def builder(self) -> HierarchyBuilder:
        """Return what a policy can hold: the builder it came from, or a taxonomy of it."""
        if self.origin is not None:
            return self.origin
        if self.height == 1 and self.top == STAR:
            return Suppress()
        return Taxonomy(self._plain())

    def _plain(self) -> object:
        """Write the tree as nested lists and mappings."""
        # A taxonomy takes branches that differ in length: a value that keeps its name at the
        # lower levels need not repeat it, as long as one branch is as long as the tree is high.
        sizes = [Counter(path[at] for path in self.paths.values()) for at in range(self.height - 1)]

        def alone(value: str, path: Path) -> int:
            shorter = 0
            while shorter < len(path) and path[shorter] == value and sizes[shorter][value] == 1:
                shorter += 1
            return shorter

        short = {value: alone(value, path) for value, path in self.paths.items()}
        if min(short.values()) > 0:
            short = dict.fromkeys(short, 0)
        root: dict[str | None, Any] = {}
        for value, path in self.paths.items():
            node = root
            for label in reversed(path[short[value] :]):
                node = node.setdefault(label, {})
            node.setdefault(_VALUES, []).append(value)
        tree = _write(root)
        # A single group would be taken for the top; and the top may have another name.
        single = isinstance(tree, dict) and len(tree) == 1
        return {self.top: tree} if single or self.top != STAR else tree

    def to_csv(self) -> str:
        """Return it as ARX writes hierarchies: a line per value, its levels from left to right.

        >>> from sfumato.hierarchy.editing import edit
        >>> drinks = Taxonomy({"hot": ["tea", "mocha"], "cold": ["beer"]})
        >>> print(edit(drinks, "drink", ["tea"]).to_csv().strip())
        tea;hot;*
        mocha;hot;*
        beer;cold;*
        """
        text = StringIO()
        writer = csv.writer(text, delimiter=";", lineterminator="\n")
        writer.writerows([value, *path, self.top] for value, path in self.paths.items())
        return text.getvalue()

    # What all edits share.

    def _with(self, way: Callable[[str, Path], Path], name: str | None = None) -> Self:
        """Change the way of each value upwards, and see to it that names tell groups apart."""
        paths = {value: way(value, path) for value, path in self.paths.items()}
        return replace(self, paths=paths, origin=None).settle_names(self.paths, name)

    def _gather(
        self, level: int, parts: Sequence[str], name: str | None, otherwise: str | None
    ) -> Self:
        """Make one group of some labels of the level below, where the first of them is."""
        chosen = {*parts}
        owned: dict[str, set[str]] = {
            label: {*inside} for label, inside in self.parts(level).items()
        }
        taken = {label for label, inside in owned.items() if not inside <= chosen}
        called = otherwise
        if name is not None:
            called = self._usable(name)
            if called in taken:
                raise HierarchyError(
                    f"level {level} of {self.column!r} has a group {called!r} already. Choose "
                    "another name, or move the values into that group."
                )
        elif called is None:
            called = _free(_join(list(parts)), taken)
        first = next(value for value in self.paths if self._label(value, level - 1) == parts[0])
        above = (called, *self.paths[first][level:])
        return self._with(
            lambda value, path: (
                (*path[: level - 1], *above) if self._label(value, level - 1) in chosen else path
            ),
            name and called,
        )

    def settle_names(self, before: Mapping[str, Path], name: str | None = None) -> Self:
        """Return it with other names for groups whose name stands for something else, too.

        Args:
            before: The paths before an edit: what was not clear then stays.
            name: A name that was given by hand: it is refused instead.
        """
        known = _ambiguous(before, self.top)
        tree = self
        while new := _ambiguous(tree.paths, tree.top) - known:
            if name in new:
                raise HierarchyError(
                    f"{name!r} stands for something else in the hierarchy of {self.column!r}: a "
                    "value or a group of another level. Choose another name, so that a published "
                    "label has one meaning."
                )
            label = min(new)
            mended = _tell_apart(tree, label)
            # A value that is called like the top cannot be called otherwise.
            known |= {label} if mended is tree else set()
            tree = mended
        return tree

    def _usable(self, name: str) -> str:
        name = name.strip()
        if not name or has_line_break(name) or name in (STAR, self.top):
            raise HierarchyError(
                f"a group cannot be called {name!r}. Give it a name of one line that is not "
                f"{self.top!r}, the name of everything."
            )
        return name

    def _require_level(self, level: int, why: str = "") -> None:
        if not 1 <= level < self.height:
            between = "no level" if self.height == 1 else f"levels 1 to {self.height - 1}"
            raise HierarchyError(
                f"level {level} of {self.column!r} cannot be edited"
                f"{f': {why}' if why else ''}. Between the values and the top there is "
                f"{between}; add a level, or choose one of them."
            )

    def _require_groups(self, level: int, labels: Collection[str]) -> None:
        self._require_level(level)
        self._require_labels(level, labels)

    def _require_labels(self, level: int, labels: Collection[str]) -> None:
        known = self.labels(level)
        there = {*known}
        for label in labels:
            if label not in there:
                what = "value" if level == 0 else f"group of level {level}"
                raise HierarchyError(
                    f"{self.column!r} has no {what} {label!r}. {suggest(label, known)}"
                )
        if not labels:
            raise HierarchyError(f"nothing of level {level} of {self.column!r} was chosen")


_VALUES = None
"""The key of a group's own values while a tree is written; no label is None."""


def _write(node: Mapping[str | None, Any]) -> object:
    """Turn a group into what a taxonomy takes: a mapping of groups, a list, or both."""
    values = list(node.get(_VALUES, ()))
    groups = {label: _write(below) for label, below in node.items() if label is not _VALUES}
    if not values:
        return groups
    return [*({label: below} for label, below in groups.items()), *values] if groups else values


def _tell_apart(tree: Tree, label: str) -> Tree:
    """Call the largest group of a name by what is in it; the same tree if no group has it."""
    sizes = {
        level: len(members)
        for level in range(1, tree.height)
        for name, members in tree.groups(level).items()
        if name == label
    }
    if not sizes:
        return tree
    largest = [level for level, size in sizes.items() if size == max(sizes.values())]
    parts = tree.parts(largest[0])[label]
    beside = {name for level in largest for name in tree.labels(level)}
    # A single part is the same set of values, and so may have the same name.
    taken = beside if len(parts) == 1 else {tree.top, *tree.paths}.union(*tree.paths.values())
    name = _free(_join(parts), taken)
    return replace(tree, paths=_rename(tree.paths, {(level, label): name for level in largest}))


def _rename(paths: Mapping[str, Path], names: Mapping[tuple[int, str], str]) -> dict[str, Path]:
    return {
        value: tuple(names.get((at, label), label) for at, label in enumerate(path, start=1))
        for value, path in paths.items()
    }


def _ambiguous(paths: Mapping[str, Path], top: str) -> set[str]:
    """Return the names that stand for different sets of values, at whichever levels."""
    # Of nested groups, two are the same if they begin with the same value and are equally large.
    first: dict[tuple[int, str], str] = {}
    size: Counter[tuple[int, str]] = Counter()
    for value, path in paths.items():
        for key in ((0, value), *enumerate(path, start=1)):
            first.setdefault(key, value)
            size[key] += 1
    meant: defaultdict[str, set[tuple[str, int]]] = defaultdict(set)
    for key, value in first.items():
        meant[key[1]].add((value, size[key]))
    if paths:
        meant[top].add((next(iter(paths)), len(paths)))
    return {label for label, groups in meant.items() if len(groups) > 1}


def _join(names: Sequence[str]) -> str:
    """Return a name for a group by what is in it."""
    name = " or ".join(filter(None, [", ".join(names[:-1]), names[-1]]))
    if len(names) > _MOST_JOINED or len(name) > _LONGEST:
        name = f"{names[0]} and {len(names) - 1} more" if len(names) > 1 else names[0]
    return name


def _free(name: str, taken: Collection[str]) -> str:
    while name in taken:
        name = f"{name} (all)"
    return name


def rows_of(values: Sequence[Value], counts: Sequence[int] | None) -> tuple[dict[str, int], int]:
    """Return the rows of each value by its text, and those without a value."""
    rows: dict[str, int] = {}
    missing = 0
    weights = [1] * len(values) if counts is None else counts
    for value, count in zip(values, weights, strict=True):
        if is_missing(value):
            missing += int(count)
        else:
            rows[text_of(value)] = rows.get(text_of(value), 0) + int(count)
    return rows, missing
