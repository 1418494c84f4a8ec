"""Hierarchies, ladders (hierarchies fitted to one column of one table), and the plain star."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import fields
from decimal import Decimal
from pathlib import Path
from typing import Any, ClassVar, Literal, NamedTuple, Self

import numpy as np

from sfumato.dataclasses import dataclass
from sfumato.errors import HierarchyError, SfumatoError, some
from sfumato.files import in_folder
from sfumato.registry import Member
from sfumato.text import STAR, is_missing, text_of
from sfumato.typing import CodeArray, FloatArray, IntArray, Value

EXAMPLE_FOLDER = Path(__file__).parent
"""Where the files stand that the examples of file-reading builders name."""


@dataclass(frozen=True, eq=False)
class Hierarchy:
    """Ever more general names for the values of one attribute.

    Level 0 is the raw value, the top level is one value. Every level is a union of
    groups of the level below; `from_paths` refuses anything else.

    Example:
        >>> h = Hierarchy.from_paths(["flat", "house"], [["home", "*"], ["home", "*"]])
        >>> h.height, h.labels[1]
        (2, ('home',))
    """

    values: tuple[Value, ...]
    """The raw values it knows, which may be more than a table holds."""

    labels: tuple[tuple[str, ...], ...]
    """The names of each level, level 0 first."""

    codes: CodeArray
    """`codes[level, i]`: which label of that level the i-th raw value has. Read-only."""

    def __post_init__(self) -> None:
        self.codes.flags.writeable = False

    @property
    def height(self) -> int:
        """The number of levels above the raw values."""
        return len(self.labels) - 1

    @classmethod
    def from_function(
        cls, column: str, values: Iterable[Value], path: Callable[[Value], Sequence[str]]
    ) -> Self:
        """Build from a rule that gives the labels of a value, level 1 to the top.

        >>> h = Hierarchy.from_function("word", ["to", "tea"], lambda word: [word[0], "*"])
        >>> h.labels
        (('to', 'tea'), ('t',), ('*',))
        """
        # 1, 1.0 and "1" are one value; a column of mixed types may hold several of them.
        distinct = {text_of(value): value for value in values}
        paths = [path(value) for value in distinct.values()]
        return cls.from_paths(
            tuple(distinct.values()), paths, origin=f"the hierarchy of {column!r}"
        )

    @classmethod
    def from_paths(
        cls,
        values: Sequence[Value],
        paths: Sequence[Sequence[str]],
        *,
        origin: str = "hierarchy",
        places: Sequence[str] | None = None,
        quoted: bool = True,
    ) -> Self:
        """Build from one path of labels per raw value (level 1 to the top), and check it.

        Args:
            values: The raw values, each once.
            paths: For each value its labels, all paths equally long.
            origin: What to call the hierarchy in a message, for example its file.
            places: Where each value stands ("line 7"), for messages.
            quoted: Whether messages may quote values and labels.
        """
        where = places if places is not None else [f"entry {i + 1}" for i in range(len(values))]
        if not values:
            raise HierarchyError(f"{origin}: there are no values in it")
        texts = [text_of(value) for value in values]
        _refuse_repeats(texts, where, origin, quoted=quoted)
        height = len(paths[0])
        for path, place, text in zip(paths, where, texts, strict=True):
            if len(path) != height:
                raise HierarchyError(
                    f"{origin}, {place}: {_name(text, quoted)} has {len(path)} levels above it, "
                    f"the first entry has {height}. Give every value the same number of levels."
                )
            if "" in path:
                raise HierarchyError(
                    f"{origin}, {place}: level {list(path).index('') + 1} of "
                    f"{_name(text, quoted)} is empty, "
                    "and an empty cell is a missing value. Name every level."
                )
        columns: list[Sequence[str]] = [texts, *zip(*paths, strict=True)]
        labels: list[tuple[str, ...]] = []
        codes = np.empty((height + 1, len(values)), dtype=np.int32)
        for level, column in enumerate(columns):
            positions = {label: i for i, label in enumerate(dict.fromkeys(column))}
            codes[level] = [positions[label] for label in column]
            labels.append(tuple(positions))
        hierarchy = cls(tuple(values), tuple(labels), codes)
        hierarchy._check(where, origin, quoted=quoted)
        return hierarchy

    def _check(self, places: Sequence[str], origin: str, *, quoted: bool) -> None:
        for level in range(1, len(self.labels)):
            children, parents = self.codes[level - 1], self.codes[level]
            _, first = np.unique(children, return_index=True)
            bad = np.flatnonzero(parents[first][children] != parents)
            if bad.size:
                here = int(bad[0])
                there = int(first[children[here]])
                above = self.labels[level]
                child = _name(self.labels[level - 1][children[here]], quoted, "a group")
                parent = _name(above[parents[here]], quoted, "one group")
                other = _name(above[parents[there]], quoted, "another")
                raise HierarchyError(
                    f"{origin}, {places[here]}: level {level} splits {child} of level "
                    f"{level - 1}: here it is in {parent}, at {places[there]} it is in {other}. "
                    "A level must be a union of groups of the level below; give each group one "
                    "parent, or different groups different names."
                )
        top = self.labels[-1]
        if len(top) != 1:
            raise HierarchyError(
                f"{origin}: the top level must be one value, it has {len(top)}"
                f"{f': {some(top)}' if quoted else ''}. "
                f"Add a last level that is {STAR!r} everywhere."
            )

    def bind(self, column: str, values: Sequence[Value]) -> "Ladder":
        """Fit the hierarchy to the values a column really has (None is missing).

        Every value must be covered. Missing values are a value of their own that only
        the top level merges with the others.
        """
        position = {text_of(value): i for i, value in enumerate(self.values)}
        known = [value for value in values if not is_missing(value)]
        found = [position.get(text_of(value), -1) for value in known]
        leaf = np.array(found, dtype=np.int64)
        unknown = [known[i] for i in np.flatnonzero(leaf < 0)]
        if unknown:
            raise HierarchyError(
                f"the hierarchy of {column!r} does not cover {len(unknown)} of its "
                f"{len(known)} values: {some(unknown)}. {_spelt_otherwise(unknown, position)}"
                "Add them, or choose another hierarchy."
            )
        has_missing = len(known) < len(values)
        return Ladder.fit(self, column, tuple(values), leaf, has_missing=has_missing)


@dataclass(frozen=True, eq=False)
class Ladder:
    """One column's values at every level: what the searches climb.

    Only labels that occur are kept, so codes at a level are dense. Missing values
    have their own label (None) at every level but the top.

    Example:
        >>> h = Hierarchy.from_paths(["a", "b", "c"], [["ab", "*"], ["ab", "*"], ["c", "*"]])
        >>> ladder = h.bind("letter", ["a", "c", None])
        >>> ladder.codes.tolist(), ladder.labels[1]
        ([[0, 1, 2], [0, 1, 2], [0, 0, 0]], ('ab', 'c', None))
    """

    column: str
    values: tuple[Value, ...]
    codes: CodeArray
    """`codes[level, i]`: the label of the column's i-th value at that level."""

    labels: tuple[tuple[Value, ...], ...]
    """The labels of each level; level 0 holds the raw values themselves."""

    leaves: tuple[FloatArray, ...]
    """For each label of each level, how many raw values of the hierarchy it stands for."""

    n_leaves: int
    """The number of raw values in all, with missing as one more if it occurs."""

    def __post_init__(self) -> None:
        self.codes.flags.writeable = False
        for leaves in self.leaves:
            leaves.flags.writeable = False

    @property
    def height(self) -> int:
        """The top level."""
        return len(self.labels) - 1

    @classmethod
    def fit(
        cls,
        hierarchy: Hierarchy,
        column: str,
        values: tuple[Value, ...],
        leaf: IntArray,
        *,
        has_missing: bool,
    ) -> Self:
        """Keep of a hierarchy what these values need; `leaf` is where each known value stands."""
        levels = len(hierarchy.labels)
        codes = np.zeros((levels, len(values)), dtype=np.int32)
        known = np.array([not is_missing(value) for value in values], dtype=bool)
        n_leaves = len(hierarchy.values) + has_missing
        all_labels: list[tuple[Value, ...]] = []
        all_leaves: list[FloatArray] = []
        for level in range(levels):
            present, dense = np.unique(hierarchy.codes[level, leaf], return_inverse=True)
            counts = np.bincount(hierarchy.codes[level]).astype(np.float64)[present]
            if level == 0:
                labels: list[Value] = [values[i] for i in np.flatnonzero(known)]
                dense = np.arange(len(leaf))
                counts = np.ones(len(leaf))
            else:
                labels = [hierarchy.labels[level][code] for code in present.tolist()]
            codes[level, known] = dense
            top = level == levels - 1 and level > 0
            if has_missing and not (top and labels):
                codes[level, ~known] = len(labels)
                labels.append(STAR if top else None)
                counts = np.append(counts, 1.0)
            if top:
                counts = np.full(len(labels), float(n_leaves))
            all_labels.append(tuple(labels))
            all_leaves.append(counts)
        return cls(column, values, codes, tuple(all_labels), tuple(all_leaves), n_leaves)


def _name(text: str, quoted: bool, otherwise: str = "the value") -> str:  # noqa: FBT001
    """Return a value in quotes, or in general words if it must not be quoted."""
    return repr(text) if quoted else otherwise


def _refuse_repeats(
    texts: Sequence[str], places: Sequence[str], origin: str, *, quoted: bool
) -> None:
    seen: dict[str, str] = {}
    for text, place in zip(texts, places, strict=True):
        if text in seen:
            raise HierarchyError(
                f"{origin}, {place}: {_name(text, quoted)} stands there already ({seen[text]}). "
                "Give every raw value once."
            )
        seen[text] = place


def _spelt_otherwise(unknown: Sequence[Value], known: Iterable[str]) -> str:
    """Hint at a value that differs only in case or blanks, the commonest cause."""
    folded = {text.strip().casefold(): text for text in known}
    for value in unknown:
        near = folded.get(text_of(value).strip().casefold())
        if near is not None:
            return f"It has {near!r}: mind capitals and blanks. "
    return ""


class WrittenEnds(NamedTuple):
    """The places where joined ranges may begin or end."""

    between: tuple[Decimal, ...]
    """Where rows are cut apart."""

    outside: tuple[Decimal, ...]
    """Where nothing is cut, and the range ends because no row of its class lies beyond: an end must
    not be the number of the last one."""

    language: str = "en"
    """The language that ranges are written in."""


class HierarchyBuilder(Member, ABC):
    """A recipe for a hierarchy; builds it for the values a column has.

    A member of the family is a frozen dataclass whose fields are its settings, with
    a `name` for policies and an `example` for the docs and the contract tests.
    """

    begins_with: ClassVar[Literal["values", "groups", "file"]] = "values"
    """What one is made from where people choose a kind: the values of a column, the groups it has
    at present, or a file."""

    of_dates: ClassVar[bool | None] = False
    """Whether it reads values as dates; None if the values decide."""

    is_common: ClassVar[bool] = False
    """Whether what its labels stand for is common knowledge, and told by no table."""

    labels_show_level: ClassVar[bool] = False
    """Whether a label below the top shows its level, whatever other values there are."""

    has_ends: ClassVar[bool] = False
    """Whether its finest labels end somewhere, and what lies beyond has a label of its own."""

    def open_range_of(self, value: Value) -> str | None:
        """Return the label of the open range that holds a value; None if it has no such label."""
        del value
        return None

    @property
    def states_domain(self) -> bool:
        """Whether these values are those that can occur at all, and no draft read them off a table.

        Then they are a public domain: what is drawn under differential privacy may depend on them.
        """
        return self.states_values

    @property
    def states_values(self) -> bool:
        """Whether it says itself which values each label stands for, whatever a table has."""
        return False

    @property
    def takes_unlisted(self) -> bool:
        """Whether a value that it does not list is in a group of its own kind, and not refused."""
        return False

    names_files: ClassVar[tuple[str, ...]] = ()
    """Its settings that name files: relative to the policy's folder, and inside of that of the
    app where the app uses them."""

    @property
    def suggests(self) -> bool:
        """Whether its ranges are a suggestion: who cuts rows may join neighbouring ones."""
        return False

    def ends_around(self, values: Sequence[Value]) -> "WrittenEnds | None":
        """Return the only places where joined ranges may begin or end; None if any will do.

        Args:
            values: The values that ranges are to hold.
        """
        return None

    def in_language(self, language: str) -> "HierarchyBuilder":
        """Return it with labels in a language; itself if no label has words of its own.

        Args:
            language: The code of the language, as in `de`.
        """
        return self

    @property
    def fixed_height(self) -> int | None:
        """The number of levels above the raw values, the same for all; None if values decide it.

        A manifest states heights that are fixed. Others may tell of values that are not published.
        """
        return None

    def build_stated(self, column: str) -> Hierarchy | None:
        """Return the hierarchy whatever values a table has; None if it is made from values.

        Args:
            column: The column's name, for messages.
        """
        return None

    @abstractmethod
    def build(
        self, column: str, values: Sequence[Value], counts: Sequence[int] | None = None
    ) -> Hierarchy:
        """Build for the distinct known values of a column (never empty, never missing).

        Args:
            column: The column's name, for messages.
            values: Its distinct values; their order does not change the groups.
            counts: How many rows have each value; only builders that look at
                frequencies use it, and without it all values count the same.
        """

    def ladder(
        self, column: str, values: Sequence[Value], counts: Sequence[int] | None = None
    ) -> Ladder:
        """Build and bind in one step; `values` may include the missing value, or be empty.

        >>> from sfumato.hierarchy import Suppress
        >>> Suppress().ladder("sex", ["f", "m", None]).labels
        (('f', 'm', None), ('*',))
        """
        at = [i for i, value in enumerate(values) if not is_missing(value)]
        known = [values[i] for i in at]
        if not known:
            nothing = Hierarchy((), ((), (STAR,)), np.zeros((2, 0), dtype=np.int32))
            return nothing.bind(column, values)
        known_counts = None if counts is None else [int(counts[i]) for i in at]
        return self.build(column, known, known_counts).bind(column, values)

    @classmethod
    def begin(
        cls,
        column: str,  # noqa: ARG003 - others need it
        values: Sequence[Value],  # noqa: ARG003 - as above
        counts: Sequence[int],  # noqa: ARG003 - as above
    ) -> "HierarchyBuilder":
        """Return one to begin with for the known values of a column, to be edited then.

        Args:
            column: The column's name, for messages.
            values: Its distinct values.
            counts: How many rows have each.
        """
        return cls()

    @classmethod
    def fits(cls, column: str, values: Sequence[Value]) -> bool:
        """Return whether one can be made of these values."""
        if cls.begins_with != "values":
            return cls.begins_with == "groups"
        try:
            cls.begin(column, values, [1] * len(values)).build(column, values)
        except SfumatoError:
            return False
        return True

    def relative_to(self, folder: str | Path) -> Self:
        """Read files from this folder, usually the policy's."""
        return in_folder(self, self.names_files, folder)

    def params(self) -> dict[str, Any]:
        """Return the settings that differ from the defaults, as a policy writes them.

        >>> from sfumato.hierarchy import Intervals
        >>> Intervals(widths=[5, 10]).params()
        {'widths': [5, 10]}
        """
        return {
            field.name: _plain(getattr(self, field.name))
            for field in fields(self)  # type: ignore[arg-type]
            if getattr(self, field.name) != field.default
        }

    @classmethod
    @abstractmethod
    def example_values(cls) -> list[Value]:
        """Return values the example covers."""


def _plain(value: object) -> object:
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, list | tuple) else value


# Suppression: a value is published as it is, or not at all.


@dataclass(frozen=True)
class Suppress(HierarchyBuilder):
    """Two levels: the raw value, and `*`.

    For columns with nothing in between, such as sex.

    Example:
        >>> Suppress().build("sex", ["f", "m"]).labels
        (('f', 'm'), ('*',))
    """

    name: ClassVar[str] = "star"
    title: ClassVar[str] = "All or nothing"
    in_words: ClassVar[str] = "The value as it is, or a star."

    @property
    def fixed_height(self) -> int:
        return 1

    def build(
        self,
        column: str,
        values: Sequence[Value],
        counts: Sequence[int] | None = None,
    ) -> Hierarchy:
        return Hierarchy.from_function(column, values, lambda _: (STAR,))

    @classmethod
    def example_values(cls) -> list[Value]:
        return ["f", "m", "x"]
