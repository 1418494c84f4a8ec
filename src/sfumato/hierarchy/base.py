"""What a hierarchy is, and what it is for one column of one table."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np

from sfumato.errors import HierarchyError, some
from sfumato.text import STAR, is_missing, text_of
from sfumato.typing import CodeArray, FloatArray, Value


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
    """`codes[level, i]`: which label of that level the i-th raw value has."""

    @property
    def height(self) -> int:
        """How many levels there are above the raw values."""
        return len(self.labels) - 1

    @classmethod
    def from_paths(
        cls,
        values: Sequence[Value],
        paths: Sequence[Sequence[str]],
        *,
        origin: str = "hierarchy",
        places: Sequence[str] | None = None,
    ) -> Self:
        """Build from one path of labels per raw value (level 1 to the top), and check it.

        Args:
            values: The raw values, each once.
            paths: For each value its labels, all paths equally long.
            origin: What to call the hierarchy in a message, for example its file.
            places: Where each value stands ("line 7"), for messages.
        """
        where = places if places is not None else [f"entry {i + 1}" for i in range(len(values))]
        if not values:
            raise HierarchyError(f"{origin}: there are no values in it")
        texts = [text_of(value) for value in values]
        _refuse_repeats(texts, where, origin)
        height = len(paths[0])
        for path, place, text in zip(paths, where, texts, strict=True):
            if len(path) != height:
                raise HierarchyError(
                    f"{origin}, {place}: {text!r} has {len(path)} levels above it, "
                    f"the first entry has {height}. Give every value the same number of levels."
                )
        columns = [texts, *(list(level) for level in zip(*paths, strict=True))]
        labels: list[tuple[str, ...]] = []
        codes = np.empty((height + 1, len(values)), dtype=np.int32)
        for level, column in enumerate(columns):
            positions = {label: i for i, label in enumerate(dict.fromkeys(column))}
            codes[level] = [positions[label] for label in column]
            labels.append(tuple(positions))
        hierarchy = cls(tuple(values), tuple(labels), codes)
        hierarchy._check(where, origin)
        return hierarchy

    def _check(self, places: Sequence[str], origin: str) -> None:
        for level in range(1, len(self.labels)):
            parents = np.full(len(self.labels[level - 1]), -1, dtype=np.int32)
            parents[self.codes[level - 1]] = self.codes[level]
            bad = np.flatnonzero(parents[self.codes[level - 1]] != self.codes[level])
            if bad.size:
                at = int(bad[0])
                child = self.labels[level - 1][self.codes[level - 1, at]]
                one = self.labels[level][self.codes[level, at]]
                other = self.labels[level][parents[self.codes[level - 1, at]]]
                raise HierarchyError(
                    f"{origin}, {places[at]}: level {level} splits {child!r} of level {level - 1} "
                    f"into {one!r} and {other!r}. A level must be a union of groups below it."
                )
        top = self.labels[-1]
        if len(top) != 1:
            raise HierarchyError(
                f"{origin}: the top level must be one value, it has {len(top)}: {some(top)}. "
                f"Add a last level that is {STAR!r} everywhere."
            )

    def bind(self, column: str, values: Sequence[Value]) -> "Ladder":
        """Fit the hierarchy to the values a column really has (None is missing).

        Every value must be covered. Missing values are a value of their own that only
        the top level merges with the others.
        """
        positions = {text_of(value): i for i, value in enumerate(self.values)}
        known = [value for value in values if not is_missing(value)]
        unknown = [value for value in known if text_of(value) not in positions]
        if unknown:
            raise HierarchyError(
                f"the hierarchy of {column!r} does not cover {len(unknown)} of its "
                f"{len(known)} values: {some(unknown)}. Add them, or choose another hierarchy."
            )
        leaf = np.array([positions[text_of(value)] for value in known], dtype=np.int64)
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
    """How many raw values there are in all, with missing as one more if it occurs."""

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
        leaf: np.ndarray,
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
                labels = [hierarchy.labels[level][code] for code in present]
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


def _refuse_repeats(texts: Sequence[str], places: Sequence[str], origin: str) -> None:
    seen: dict[str, str] = {}
    for text, place in zip(texts, places, strict=True):
        if text in seen:
            raise HierarchyError(
                f"{origin}, {place}: {text!r} stands there already ({seen[text]}). "
                "Give every raw value once."
            )
        seen[text] = place


class HierarchyBuilder(ABC):
    """A recipe for a hierarchy; builds it for the values a column has.

    A member of the family is a frozen dataclass whose fields are its settings, with
    a `name` for policies and an `example` for the docs and the contract tests.
    """

    name: ClassVar[str]

    @abstractmethod
    def build(self, column: str, values: Sequence[Value]) -> Hierarchy:
        """Build for the distinct known values of a column (never empty, never missing)."""

    @classmethod
    @abstractmethod
    def example(cls) -> Self:
        """Give a small valid instance."""

    @classmethod
    @abstractmethod
    def example_values(cls) -> list[Value]:
        """Give values the example covers."""
