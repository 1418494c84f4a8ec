"""Frequent values: those that many have keep their names, rare ones become `other`."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate, pairwise
from typing import ClassVar, Self

from sfumato.dataclasses import dataclass
from sfumato.errors import ParameterError
from sfumato.hierarchy.base import Hierarchy, HierarchyBuilder, Suppress
from sfumato.hierarchy.language import DEFAULT, Language, language_of
from sfumato.hierarchy.unlisted import free_name
from sfumato.text import STAR, text_of
from sfumato.typing import Value

_COVERED = (0.98, 0.9, 0.75, 0.5)
"""The share of the rows whose values keep their names, level by level."""

_MOST_KEPT = 60
_LEAST_COVERED = 0.2
"""Of a column in which fewer rows have one of the most frequent values, little would be left."""

_MOST_NAMED = 3
"""Values that the label of all others may name."""

_LONGEST = 40

_ANOTHER = "any value that is not listed"


@dataclass(frozen=True)
class Frequent(HierarchyBuilder):
    """Values that many rows have stay; all others are one group, which grows level by level.

    For names without an order and without a known tree: such groups mean nothing, and the fewest
    rows are in them. Every value that is not listed is among the others, also one that comes
    later. The group is called by the values that stay if they are few (`other than flu or
    cold`), else `other`, and on higher levels `other than the 8 most frequent`. Its label never
    names its members: some may be values that are not published.

    Args:
        keep: Per level the values that keep their names, finest first; each level's are some of
            the level's below. A single list is one level.
        together: Whether there is one more level, on which the values that keep their names on the
            last one are a group too (`flu or cold` beside `other than flu or cold`), so that less
            is hidden.
        language: The language of labels: en, de, fr, es, it or nl.

    Example:
        >>> h = Frequent([["flu", "cold"], ["flu"]]).build("ill", ["flu", "cold", "gout"])
        >>> h.labels[1:]
        (('flu', 'cold', 'other than flu or cold'), ('flu', 'other than flu'), ('*',))
        >>> Frequent(["flu", "cold"], together=True).build("ill", ["flu", "cold", "gout"]).labels[2]
        ('flu or cold', 'other than flu or cold')
    """

    name: ClassVar[str] = "frequent"
    title: ClassVar[str] = "Frequent values"
    in_words: ClassVar[str] = "What many have keeps its name, all else is other."

    keep: Sequence[Sequence[str]] | Sequence[str]
    together: bool = False
    language: str = DEFAULT

    def __post_init__(self) -> None:
        language_of(self.language)
        if not isinstance(self.together, bool):
            raise ParameterError("together", self.together, "true or false")
        given = self.keep
        levels = [[given] if isinstance(given, str) else given]
        if isinstance(given, list | tuple) and given and isinstance(given[0], list | tuple):
            levels = list(given)
        names = [tuple(map(text_of, level)) for level in levels]
        if not all(names) or any(not {*b} < {*a} for a, b in pairwise(names)):
            expected = "a list of values per level, each level's fewer, and some of the one before"
            raise ParameterError("keep", given, expected)
        if self.together and len(names[-1]) < 2:
            why = "one value has its own name on the last level"
            raise ParameterError("together", self.together, "false with a single value", why=why)
        object.__setattr__(self, "keep", tuple(names))

    def in_language(self, language: str) -> Self:
        return replace(self, language=language)

    @property
    def fixed_height(self) -> int:
        return len(self.keep) + 1 + self.together

    def build(
        self,
        column: str,
        values: Sequence[Value],
        counts: Sequence[int] | None = None,
    ) -> Hierarchy:
        kept = [frozenset(level) for level in self.keep]
        values = values or [*self.keep[0], _ANOTHER]
        named = {text_of(value) for value in values}
        others: list[str] = []
        for level in range(len(kept)):
            taken = {*named, *kept[0], *others}
            others.append(_name(self.keep[level], level, taken, language_of(self.language)))

        group = _name_group(self.keep[-1], {*named, *kept[0], *others}, language_of(self.language))

        def path(value: Value) -> tuple[str, ...]:
            text = text_of(value)
            stays = [
                text if text in there else other for there, other in zip(kept, others, strict=True)
            ]
            if self.together:
                stays.append(group if text in kept[-1] else others[-1])
            return (*stays, STAR)

        return Hierarchy.from_function(column, values, path)

    @classmethod
    def begin(
        cls,
        column: str,  # noqa: ARG003 - of any column
        values: Sequence[Value],
        counts: Sequence[int],
    ) -> HierarchyBuilder:
        return frequent_of([text_of(value) for value in values], counts, 4) or Suppress()

    @classmethod
    def fits(cls, column: str, values: Sequence[Value]) -> bool:  # noqa: ARG003 - any column
        return len(values) > 2

    @classmethod
    def example(cls) -> Self:
        return cls([["flu", "cold"], ["flu"]])

    @classmethod
    def example_values(cls) -> list[Value]:
        return ["flu", "cold", "gout", "mumps"]


def _name(kept: Sequence[str], level: int, taken: set[str], words: Language) -> str:
    """Return what the others are called; two levels have two names, and no value has one."""
    name = words.say("other than", names=words.list_or(kept))
    if len(kept) > _MOST_NAMED or len(name) > _LONGEST:
        name = words.say("outside", number=len(kept)) if level else words.say("other")
    return free_name(name, taken)


def _name_group(kept: Sequence[str], taken: set[str], words: Language) -> str:
    """Return what the values that keep their names longest are called together."""
    name = words.list_or(kept)
    if len(kept) > _MOST_NAMED or len(name) > _LONGEST:
        name = words.say("among", number=len(kept))
    return free_name(name, taken)


def frequent_of(
    texts: Sequence[str], counts: Sequence[int], levels: int, *, hide_single: bool = False
) -> Frequent | None:
    """Return what keeps the names of values that most rows have; None if too few would be left.

    Args:
        texts: The values, in an order that does not depend on the table's.
        counts: How many rows have each.
        levels: The most levels between the raw values and the top.
        hide_single: Whether a value of a single row is never named: that row may not be published.

    Example:
        >>> frequent_of(["a", "b", "c", "d", "e"], [50, 40, 3, 2, 1], 4).keep
        (('a', 'b', 'c'), ('a', 'b'), ('a',))
    """
    order = sorted(range(len(texts)), key=lambda i: (-counts[i], i))
    reached = list(accumulate(max(counts[i], 1) for i in order))
    most = min(len(texts) - 2, _MOST_KEPT)
    if hide_single:
        most = min(most, sum(count > 1 for count in counts))
    if most < 1 or reached[most - 1] < _LEAST_COVERED * reached[-1]:
        return None
    numbers: list[int] = []
    for share in _COVERED:
        enough = 1 + sum(rows < share * reached[-1] for rows in reached)
        number = min(enough, most)
        if not numbers or number < numbers[-1]:
            numbers.append(number)
    numbers = numbers[-levels:] if levels else []
    return Frequent([[texts[i] for i in sorted(order[:n])] for n in numbers]) if numbers else None
