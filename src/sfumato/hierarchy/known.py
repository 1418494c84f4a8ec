"""Known trees: names that are grouped alike by all, such as states, countries and diagnoses."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache, lru_cache
from pathlib import Path
from typing import ClassVar, Self

from sfumato.dataclasses import dataclass
from sfumato.errors import HierarchyError, ParameterError, some
from sfumato.hierarchy.base import Hierarchy, HierarchyBuilder
from sfumato.hierarchy.language import DEFAULT, language_of, languages
from sfumato.hierarchy.ordered import fold_words
from sfumato.hierarchy.unlisted import name_for_others
from sfumato.lists import read_lists
from sfumato.text import STAR, text_of
from sfumato.typing import Value

TREES = (
    "us-states",
    "countries",
    "german-states",
    "months",
    "weekdays",
    "marital-status",
    "icd-10",
)
"""The trees by their names. Of two that fit, the first is meant."""

_ANOTHER = "any value that is not listed"


@dataclass(frozen=True)
class KnownTree(HierarchyBuilder):
    """A tree of common knowledge, kept in the package, so that a policy need not spell it out.

    - `us-states`: the states of the USA → census divisions → regions;
    - `countries`: countries → regions of the United Nations → continents;
    - `german-states`: the states of Germany → parts of the country → west and east;
    - `months` → quarters of a year, `weekdays` → working days and weekend;
    - `marital-status` → been married or not → living with a partner or not;
    - `icd-10`: diagnoses → their first three characters (`E11.-`) → chapters.

    Codes and names count, in English and German, whatever their capitals. A value that is not in
    the tree is among the `other`.

    Args:
        tree: The name of the tree.
        language: The language of groups: en, de, fr, es, it or nl.

    Example:
        >>> KnownTree("us-states").build("state", ["Alaska", "TX"]).labels
        (('Alaska', 'TX'), ('Pacific', 'West South Central'), ('West', 'South'), ('*',))
    """

    name: ClassVar[str] = "known"
    title: ClassVar[str] = "Known tree"
    in_words: ClassVar[str] = "Names that are grouped alike by all: states, countries, diagnoses."
    is_common: ClassVar[bool] = True

    tree: str
    language: str = DEFAULT

    def __post_init__(self) -> None:
        language_of(self.language)
        if self.tree not in TREES:
            raise ParameterError("tree", self.tree, f"one of {', '.join(TREES)}")

    def in_language(self, language: str) -> Self:
        return replace(self, language=language)

    @property
    def fixed_height(self) -> int:
        return _height(self.tree)

    @property
    def states_values(self) -> bool:
        return True

    def build_stated(self, column: str) -> Hierarchy | None:
        # Of diagnoses there are too many; the labels say themselves what they span.
        return None if self.tree == "icd-10" else self.build(column, ())

    def build(
        self,
        column: str,
        values: Sequence[Value],
        counts: Sequence[int] | None = None,
    ) -> Hierarchy:
        way_up = _way_up(self.tree)
        values = values or _members(self.tree)
        found = {text: way_up(text) for text in map(text_of, values)}
        strange = [text for text, way in found.items() if way is None]
        if len(strange) == len(found) and strange:
            raise HierarchyError(
                f"{column!r} has no value that is in the tree {self.tree!r}: {some(strange)}. "
                f"Choose another hierarchy; trees are {', '.join(TREES)}."
            )
        said = _groups_in(self.language)
        found = {
            text: None if way is None else tuple(said.get(label, label) for label in way)
            for text, way in found.items()
        }
        groups = {label for way in found.values() for label in way or ()}
        other = name_for_others({*groups, *found}, self.language)
        above = _height(self.tree) - 1

        def path(value: Value) -> tuple[str, ...]:
            text = text_of(value)
            way = found[text] or (other,) * above
            # A value that is called like a group would be taken for it.
            return (*(f"{label} (all)" if label in found else label for label in way), STAR)

        return Hierarchy.from_function(column, values, path)

    @classmethod
    def begin(cls, column: str, values: Sequence[Value], counts: Sequence[int]) -> HierarchyBuilder:
        tree = tree_of(column, [text_of(value) for value in values], counts)
        return cls(tree or next((each for each in TREES if _holds(each, column, values)), TREES[0]))

    @classmethod
    def fits(cls, column: str, values: Sequence[Value]) -> bool:
        return any(_holds(each, column, values) for each in TREES)

    @classmethod
    def example(cls) -> Self:
        return cls("us-states")

    @classmethod
    def example_values(cls) -> list[Value]:
        return ["Alaska", "Hawaii", "Texas", "Maine", "Atlantis"]


@cache
def _groups_in(language: str) -> Mapping[str, str]:
    """Return the names of groups in a language by those in English."""
    at = languages().index(language)
    lines = read_lists(Path(__file__).with_name("groups.txt"))["groups"].splitlines()
    names = [[name.strip() for name in line.split("|")] for line in lines]
    return {each[0]: each[at] for each in names}


def _holds(tree: str, column: str, values: Sequence[Value]) -> bool:
    """Return whether a tree has any of the values."""
    try:
        KnownTree(tree).build(column, values)
    except HierarchyError:
        return False
    return True


_LEAST_KNOWN = 0.8
"""The share of values, of rows too, that must be in a tree for a column to be one of its kind."""

_LOOKED_AT = 50

_DIAGNOSIS = re.compile(r"([A-Z]\d[\dA-Z])(\.?[\dA-Z]{1,4}|\.-)?")
_OF_DIAGNOSES = re.compile(r"icd|diag|disease|cause|dx", re.IGNORECASE)


def tree_of(column: str, texts: Sequence[str], counts: Sequence[int]) -> str | None:
    """Return the name of the tree that the values of a column are in; None if there is none.

    >>> tree_of("region", ["Kansas", "Ohio", "Utah"], [1, 1, 1]), tree_of("x", ["a", "b"], [1, 1])
    ('us-states', None)
    """
    if len(texts) < 3:
        return None
    for tree in TREES:
        way_up = _way_up(tree)
        # Of a column of very many values a few tell that it is not of this kind.
        if not any(way_up(text) for text in texts[:: max(len(texts) // _LOOKED_AT, 1)]):
            continue
        ways = [way_up(text) for text in texts]
        there = [way is not None for way in ways]
        rows = sum(count for count, is_there in zip(counts, there, strict=True) if is_there)
        enough = sum(there) >= _LEAST_KNOWN * len(texts) and rows >= _LEAST_KNOWN * sum(counts)
        if not enough or len({way for way in ways if way}) < 2:
            continue
        if tree == "icd-10" and not (
            _OF_DIAGNOSES.search(column) or sum("." in text for text in texts) * 2 > len(texts)
        ):
            continue
        # Two letters may be anything: codes of places are many.
        if max(map(len, texts)) <= 3 and tree != "icd-10" and len(texts) < _FEW[tree]:
            continue
        return tree
    return None


_FEW = {"months": 6, "weekdays": 5, "german-states": 10, "marital-status": 3, "us-states": 8}
_FEW |= {"countries": 3}

Way = tuple[str, ...]


def _lines(tree: str) -> list[str]:
    return read_lists(Path(__file__).with_name("trees.txt"))[tree].splitlines()


def _chapters() -> list[tuple[str, str, str]]:
    """Return the chapters of diagnoses: the first code, the last one and the name of each."""
    found = [line.split(" ", 2) for line in _lines("icd-10")]
    return [(first, last, name) for first, last, name in found]


@lru_cache(maxsize=8)
def _way_up(tree: str) -> Callable[[str], Way | None]:
    """Return what gives the groups of a value, level 1 upwards; None outside the tree."""
    if tree == "icd-10":
        chapters = _chapters()
        return lambda text: _chapter_of(text.strip().upper(), chapters)
    members: dict[str, Way] = {}
    lines = [line.partition(":") for line in _lines(tree)]
    deep = any("(" in head for head, _, _ in lines)
    for head, _, listed in lines:
        group, _, above = head.rstrip(")").partition(" (")
        way = (group, above or group) if deep else (group,)
        for member in listed.split(","):
            for name in member.split("/"):
                members.setdefault(fold_words(name), way)
    return lambda text: members.get(fold_words(text))


def _members(tree: str) -> list[str]:
    """Return values with all labels of a tree; of diagnoses, with all chapters."""
    if tree == "icd-10":
        return [*(first for first, _, _ in _chapters()), _ANOTHER]
    listed = [member for line in _lines(tree) for member in line.partition(":")[2].split(",")]
    return [*(member.split("/")[-1].strip() for member in listed), _ANOTHER]


def _height(tree: str) -> int:
    deep = tree in ("us-states", "countries", "german-states", "marital-status", "icd-10")
    return 3 if deep else 2


def _chapter_of(code: str, chapters: Sequence[tuple[str, str, str]]) -> Way | None:
    found = _DIAGNOSIS.fullmatch(code)
    if found is None:
        return None
    for first, last, name in chapters:
        if first <= found[1] <= f"{last}Z":
            return f"{found[1]}.-", f"{first} to {last}: {name}"
    return None
