"""The classes of a published table, as dictionaries of counts.

With `own-value`, the rows that agree on every quasi-identifier, missing cells
agreeing with missing cells. With `matches-any`, one group per distinct tuple, holding
every row that agrees with it wherever both are known; such groups overlap.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from sfumato.errors import InputError, UnknownColumnError
from sfumato.verifier.counting import Counts, text_key
from sfumato.verifier.promises import Promises

Key = tuple[object, ...]
Values = dict[Key, dict[object, int]]
"""Per key, how many of its rows hold each value."""

Population = Mapping[tuple[str | None, ...], int]


class Group(NamedTuple):
    """The rows that a person with these quasi-identifiers may be."""

    key: Key
    own: int
    """Rows with exactly this key."""

    rows: int
    """Rows compatible with it: the same number unless missing cells match any value."""

    values: Mapping[str, Mapping[object, int]]
    """Per sensitive column, how many of the rows hold each value; None is missing."""

    population: int | None = None
    """How many people of the population are compatible with it."""

    def known_values(self, column: str) -> Mapping[object, int]:
        """Count the values of a column without the missing ones."""
        counts = self.values[column]
        return {v: n for v, n in counts.items() if v is not None} if None in counts else counts


@dataclass(frozen=True)
class Groups:
    """All groups of a table and what models compare them with.

    Example:
        >>> counts = Counts({("A", "flu"): 2, ("A", None): 1, (None, "flu"): 1}, 4, 0)
        >>> own = Groups.from_counts(counts, ["label"], ["ill"])
        >>> [(group.key, group.rows, group.known_values("ill")) for group in own.groups]
        [(('A',), 3, {'flu': 2}), ((None,), 1, {'flu': 1})]
        >>> rule = Promises(["label"], missing="matches-any")
        >>> [group.rows for group in Groups.from_counts(counts, ["label"], ["ill"], rule).groups]
        [4, 4]
    """

    quasi_identifiers: Sequence[str]
    groups: tuple[Group, ...]
    rows: int
    reference: Mapping[str, Mapping[object, int]]
    """Per sensitive column, the rows of each value in the whole table."""

    hierarchies: Mapping[str, Mapping[str, Sequence[str]]] = field(default_factory=dict)

    @classmethod
    def from_counts(
        cls,
        counts: Counts,
        quasi_identifiers: Sequence[str],
        sensitive: Sequence[str],
        promises: Promises | None = None,
    ) -> "Groups":
        """Form the groups of a table counted over its quasi-identifiers, then the others."""
        tallies = _tallies(counts, len(quasi_identifiers), sensitive)
        return cls._form(tallies, sensitive, quasi_identifiers, promises)

    @classmethod
    def from_parts(
        cls,
        sizes: Mapping[Key, int],
        values: Mapping[str, Values],
        quasi_identifiers: Sequence[str],
        promises: Promises | None = None,
    ) -> "Groups":
        """Form groups whose rows, and the values of each sensitive column, come apart.

        >>> groups = Groups.from_parts({("A",): 2}, {"ill": {("A",): {"flu": 2}}}, ["label"])
        >>> groups.groups[0].values, groups.reference
        ({'ill': {'flu': 2}}, {'ill': {'flu': 2}})
        """
        tallies = {
            key: _Tally(rows, {name: of_column[key] for name, of_column in values.items()})
            for key, rows in sizes.items()
        }
        return cls._form(tallies, list(values), quasi_identifiers, promises)

    @classmethod
    def _form(
        cls,
        tallies: "Mapping[Key, _Tally]",
        columns: Sequence[str],
        quasi_identifiers: Sequence[str],
        promises: Promises | None,
    ) -> "Groups":
        promises = promises or Promises(quasi_identifiers)
        any_ = promises.missing == "matches-any"
        people = _people(tallies, promises.population, any_=any_)
        groups_of = _compatible(tallies, tallies, columns) if any_ else tallies
        groups = tuple(
            Group(key, tallies[key].rows, tally.rows, tally.values, people.get(key))
            for key, tally in groups_of.items()
        )
        reference = {
            name: _add_up(tally.values[name] for tally in tallies.values()) for name in columns
        }
        rows = sum(tally.rows for tally in tallies.values())
        return cls(quasi_identifiers, groups, rows, reference, promises.hierarchies)

    def reference_of(self, column: str) -> Mapping[object, int]:
        """Return the whole table's counts of a sensitive column."""
        if column not in self.reference:
            raise UnknownColumnError(column, self.reference, where="the counted columns")
        return self.reference[column]

    def require_population(self) -> None:
        """Raise an error if there is no population to compare with."""
        if any(group.population is None for group in self.groups):
            raise InputError("no population was given to compare with")


class _Tally:
    """A number of rows, and how many of them hold each value of each sensitive column."""

    __slots__ = ("rows", "values")

    def __init__(self, rows: int, values: dict[str, dict[object, int]]) -> None:
        self.rows = rows
        self.values = values

    @classmethod
    def none(cls, columns: Iterable[str]) -> "_Tally":
        return cls(0, {name: {} for name in columns})

    def add(self, other: "_Tally") -> None:
        self.rows += other.rows
        for name, mine in self.values.items():
            for value, rows in other.values[name].items():
                mine[value] = mine.get(value, 0) + rows


def _tallies(counts: Counts, width: int, columns: Sequence[str]) -> "dict[Key, _Tally]":
    """Add up the rows of each key, and for each column the rows of each of its values."""
    tallies: dict[Key, _Tally] = {}
    for combination, rows in counts.combinations.items():
        key = combination[:width]
        # Hashing a key takes longest, so it is looked up once.
        tally = tallies.get(key)
        if tally is None:
            tally = tallies[key] = _Tally.none(columns)
        tally.rows += rows
        for of_value, value in zip(tally.values.values(), combination[width:], strict=True):
            of_value[value] = of_value.get(value, 0) + rows
    return tallies


def _add_up(several: Iterable[Mapping[object, int]]) -> dict[object, int]:
    sums: dict[object, int] = {}
    for counts in several:
        for value, rows in counts.items():
            sums[value] = sums.get(value, 0) + rows
    return sums


def _people(keys: Iterable[Key], population: Population | None, *, any_: bool) -> Mapping[Key, int]:
    if population is None:
        return {}
    texts = {key: text_key(key) for key in keys}
    if not any_:
        return {key: population.get(text, 0) for key, text in texts.items()}
    tallies: dict[Key, _Tally] = {text: _Tally(people, {}) for text, people in population.items()}
    sums = _compatible(set(texts.values()), tallies, ())
    return {key: sums[text].rows for key, text in texts.items()}


def _compatible(
    keys: Iterable[Key], tallies: Mapping[Key, _Tally], columns: Sequence[str]
) -> dict[Key, _Tally]:
    """Add up, for every key, the tallies of all keys that agree wherever both are known.

    Keys that lack the same cells are compared in one go: what two such families both
    know is the same for all their members, so it is added up once and looked up.
    """
    result = {key: _Tally.none(columns) for key in keys}
    others = _families(tallies)
    for lacking, family in _families(result).items():
        for others_lacking, other_family in others.items():
            shared = [
                position
                for position in range(len(lacking))
                if not lacking[position] and not others_lacking[position]
            ]
            sums: dict[Key, _Tally] = defaultdict(lambda: _Tally.none(columns))
            for key in other_family:
                sums[tuple(key[position] for position in shared)].add(tallies[key])
            for key in family:
                agreeing = sums.get(tuple(key[position] for position in shared))
                if agreeing:
                    result[key].add(agreeing)
    return result


def _families(keys: Iterable[Key]) -> dict[tuple[bool, ...], list[Key]]:
    families: dict[tuple[bool, ...], list[Key]] = defaultdict(list)
    for key in keys:
        families[tuple(value is None for value in key)].append(key)
    return families
