"""The models as the verifier knows them: classes of a table, and every promise about them."""

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field, replace
from fractions import Fraction
from os import PathLike
from typing import Any, NamedTuple, TypeVar

from sfumato.dataclasses import dataclass
from sfumato.errors import InputError, SfumatoError, UnknownColumnError, some
from sfumato.text import STAR, date_of, in_order, number_of, text_of
from sfumato.verifier.counting import (
    CodedCombinations,
    Countable,
    Counts,
    SplitCombinations,
    count,
    count_parted,
    readable,
    text_key,
    without_collecting,
)
from sfumato.verifier.people import CountedPeople, count_people
from sfumato.verifier.perturbed import check_perturbed
from sfumato.verifier.promises import Check, ClaimedPromise, Promises, is_number, status
from sfumato.verifier.sets import ItemsByClass, collect_sets
from sfumato.verifier.spelling import current_label, folded_text
from sfumato.verifier.synthetic import check_synthetic

# The classes of a published table, as dictionaries of counts.
#
# With `own-value`, the rows that agree on every quasi-identifier, missing cells agreeing with
# missing cells. With `matches-any`, an adversary looks up a whole tuple and finds every row that
# agrees with it where the row is known. A person who left a cell out may have any value there, so a
# published tuple is judged on every whole tuple it may stand for. If the value is one that no row
# has, only rows that lack the cell too are found: the fewest.


Key = tuple[object, ...]
Values = dict[Key, dict[object, int]]
"""Per key, how many of its rows hold each value."""

_Counts = Mapping[object, int]

Population = Mapping[tuple[str | None, ...], int]


class Group(NamedTuple):
    """The rows that a person with these quasi-identifiers may be."""

    key: Key
    own: int
    """Rows with exactly this key."""

    rows: int
    """Rows found for it: the same number unless missing cells match any value."""

    values: Mapping[str, Mapping[object, int]]
    """Per sensitive column, how many of the rows hold each value; None is missing."""

    population: int | None = None
    """How many people of the population have it."""

    members: tuple[Key, ...] = ()
    """The published keys of the rows that are found, if they are several."""

    known: Mapping[str, int] | None = None
    """Where rows are people: per sensitive column, those who have some value that is known.

    A person may have several values, and is then counted with each.
    """

    def known_values(self, column: str) -> Mapping[object, int]:
        """Count the values of a column without the missing ones."""
        counts = self.values[column]
        return {v: n for v, n in counts.items() if v is not None} if None in counts else counts

    def known_rows(self, column: str) -> int:
        """Count the rows, or people, with a value that is known."""
        if self.known is not None:
            return self.known[column]
        return sum(self.known_values(column).values())

    def least_diverse(self, column: str) -> Mapping[object, int]:
        """Count known values, of people with several the one that makes them most uneven.

        The most frequent value is that of all who have it, the next that of as many as are left
        over, and so on: no choice of one value per person leaves fewer values or larger shares.

        >>> ill = {"flu": 3, "gout": 2, "hiv": 1}
        >>> Group((), 4, 4, {"ill": ill}, known={"ill": 4}).least_diverse("ill")
        {'flu': 3, 'gout': 1}
        """
        counts = self.known_values(column)
        if self.known is None:
            return counts
        left = self.known[column]
        chosen: dict[object, int] = {}
        for value, people in sorted(counts.items(), key=lambda item: -item[1]):
            if left:
                chosen[value] = min(people, left)
                left -= chosen[value]
        return chosen


@dataclass(frozen=True)
class ModelGroups:
    """All groups of a table and what models compare them with.

    Example:
        >>> counts = Counts({("A", "flu"): 2, ("A", None): 1, (None, "flu"): 1}, 4, 0)
        >>> own = ModelGroups.from_counts(counts, ["label"], ["ill"])
        >>> [(group.key, group.rows, group.known_values("ill")) for group in own.groups]
        [(('A',), 3, {'flu': 2}), ((None,), 1, {'flu': 1})]
        >>> rule = Promises(["label"], missing="matches-any")
        >>> groups = ModelGroups.from_counts(counts, ["label"], ["ill"], rule).groups
        >>> [group.rows for group in groups]
        [4, 1]
    """

    quasi_identifiers: Sequence[str]
    groups: tuple[Group, ...]
    rows: int
    reference: Mapping[str, Mapping[object, int]]
    """Per sensitive column, the rows of each value in the whole table."""

    hidden: "Absence"
    completed: tuple[Group, ...] = ()
    """All ways to complete the published keys; empty if there is one way each."""

    hierarchies: Mapping[str, Mapping[str, Sequence[str]]] = field(default_factory=dict)
    exact: frozenset[str] = frozenset()
    """Sensitive columns in which values that differ only in spelling are different."""

    sets: ItemsByClass | None = None
    """The items of every row, if a column has several."""
    unit: str = "rows"
    """What is counted: rows, or people."""

    def name(self, column: str, value: object) -> str:
        """Return what a value is recognised by: its text, folded unless the column is exact."""
        text = text_of(value)
        return text if column in self.exact else folded_text(text) or ""

    @classmethod
    def from_counts(
        cls,
        counts: Counts,
        quasi_identifiers: Sequence[str],
        sensitive: Sequence[str],
        promises: Promises | None = None,
    ) -> "ModelGroups":
        """Form the groups of a table counted over its quasi-identifiers, then the others.

        Values of the others that differ only in spelling are one, unless the promises say that
        a column is exact.
        """
        exact = () if promises is None else promises.exact
        tallies = _tallies(counts, len(quasi_identifiers), sensitive, exact)
        return cls._form(tallies, sensitive, quasi_identifiers, promises)

    @classmethod
    def from_parts(
        cls,
        sizes: Mapping[Key, int],
        values: Mapping[str, Values],
        quasi_identifiers: Sequence[str],
        promises: Promises | None = None,
        *,
        exact: Sequence[str] = (),
    ) -> "ModelGroups":
        """Form groups whose rows, and the values of each sensitive column, come apart.

        >>> groups = ModelGroups.from_parts({("A",): 2}, {"ill": {("A",): {"flu": 2}}}, ["label"])
        >>> groups.groups[0].values, groups.reference
        ({'ill': {'flu': 2}}, {'ill': {'flu': 2}})
        """
        shared = {name: share_equal(of_column) for name, of_column in values.items()}
        tallies = {
            key: _Tally(rows, {name: of_column[key] for name, of_column in shared.items()})
            for key, rows in sizes.items()
        }
        promises = promises or Promises(quasi_identifiers, exact=exact)
        folded = [name for name in values if name not in promises.exact]
        tallies = _fold_tallies(tallies, folded)
        return cls._form(tallies, list(values), quasi_identifiers, promises)

    @classmethod
    def from_people(
        cls,
        people: CountedPeople,
        quasi_identifiers: Sequence[str],
        promises: Promises | None = None,
    ) -> "ModelGroups":
        """Form groups of people, each of whom is in every class that they have a row in."""
        tallies = {
            key: _Tally(
                size,
                {name: {**of_column[key]} for name, of_column in people.values.items()},
                {name: of_class[key] for name, of_class in people.known.items()},
            )
            for key, size in people.sizes.items()
        }
        exact = () if promises is None else promises.exact
        tallies = _fold_tallies(tallies, [name for name in people.values if name not in exact])
        found = cls._form(tallies, list(people.values), quasi_identifiers, promises)
        return replace(found, unit="people")

    @classmethod
    def _form(
        cls,
        tallies: "dict[Key, _Tally]",
        columns: Sequence[str],
        quasi_identifiers: Sequence[str],
        promises: Promises | None,
    ) -> "ModelGroups":
        promises = promises or Promises(quasi_identifiers)
        promises = replace(promises, population=_as_published(promises.population, tallies))
        people = _people(tallies, promises.population)
        completed: tuple[Group, ...] = ()
        if promises.missing == "matches-any" and any(None in key for key in tallies):
            groups = _found(tallies, tallies, columns)
            every = _complete(tallies)
            # If there are too many, published keys by themselves: what holds of each of some
            # groups of rows holds of them together, whichever model asks for all.
            completed = _plain_groups(tallies) if every is None else _found(every, tallies, columns)
        else:
            groups = _plain_groups(tallies, people)
        reference = {
            name: _add_up(tally.values[name] for tally in tallies.values()) for name in columns
        }
        rows = sum(tally.rows for tally in tallies.values())
        hidden = Absence.of(tallies, promises)
        return cls(
            quasi_identifiers,
            groups,
            rows,
            reference,
            hidden,
            completed,
            promises.hierarchies,
            frozenset(promises.exact),
        )

    def reference_of(self, column: str) -> Mapping[object, int]:
        """Return the whole table's counts of a sensitive column."""
        if column not in self.reference:
            raise UnknownColumnError(column, self.reference, where="the counted columns")
        return self.reference[column]

    def require_population(self) -> None:
        """Raise an error if there is no population to compare with."""
        if self.hidden.unknown:
            raise InputError("no population was given to compare with")


@dataclass(frozen=True)
class Absence:
    """What a table does not show of the population: people, and suppressed rows."""

    classes: tuple[tuple[str | None, ...], ...] = ()
    """The classes of the population that no published row is in."""

    people: int = 0
    """The people of the population in these classes."""

    rows: int = 0
    """The suppressed rows: each is of a person in one of these classes."""

    anywhere: bool = False
    """Whether a suppressed row may also be of a person in a class that is published."""

    lacking: bool = False
    """Whether cells are missing, of rows or people, that match any value."""

    unknown: bool = False
    """Whether there is no population to compare with."""

    @classmethod
    def of(cls, keys: Iterable[Key], promises: Promises) -> "Absence":
        """Compare the published keys with the population."""
        if promises.population is None:
            return cls(unknown=True)
        texts = {text_key(key) for key in keys}
        people = {key: n for key, n in promises.population.items() if n}
        if any(_is_starred(text) and text not in promises.population for text in texts):
            # All who are in no other class are people of the rows of stars.
            texts |= set(people)
        absent = {key: n for key, n in people.items() if key not in texts}
        gaps = any(None in key for several in (texts, people) for key in several)
        return cls(
            tuple(absent),
            sum(absent.values()),
            promises.suppressed,
            anywhere=promises.missing == "suppress" and promises.suppressed > 0,
            lacking=promises.missing == "matches-any" and gaps,
        )


_K = TypeVar("_K")


def share_equal(values: Mapping[_K, _Counts]) -> dict[_K, dict[object, int]]:
    """Return the same counts, where those that are equal are one object.

    Groups of a few people have few different counts. Each is folded and judged once.

    >>> one, two = share_equal({"A": {"flu": 2}, "B": {"flu": 2}}).values()
    >>> one is two
    True
    """
    known: dict[tuple[tuple[object, int], ...], dict[object, int]] = {}
    found = {}
    for key, counts in values.items():
        # In the order they came, which a sum of shares may show in its last digit.
        found[key] = known.setdefault(tuple(counts.items()), counts)  # type: ignore[arg-type]
    return found


class _Tally:
    """A number of rows, and how many of them hold each value of each sensitive column."""

    __slots__ = ("known", "rows", "values")

    def __init__(
        self,
        rows: int,
        values: dict[str, dict[object, int]],
        known: Mapping[str, int] | None = None,
    ) -> None:
        self.rows = rows
        self.values = values
        self.known = known

    @classmethod
    def none(cls, columns: Iterable[str]) -> "_Tally":
        return cls(0, {name: {} for name in columns})

    def add(self, other: "_Tally") -> None:
        self.rows += other.rows
        for name, mine in self.values.items():
            for value, rows in other.values[name].items():
                mine[value] = mine.get(value, 0) + rows


def _fold_tallies(tallies: "dict[Key, _Tally]", columns: Sequence[str]) -> "dict[Key, _Tally]":
    """Add up the rows of values that differ only in spelling."""
    folds: dict[str, dict[object, object]] = {}
    for name in columns:
        met = set[object]()
        for counts in _distinct(tally.values[name] for tally in tallies.values()):
            met.update(counts)
        fold = _fold(met)
        if fold:
            folds[name] = fold
    if not folds:
        return tallies
    folded = {}
    added: dict[tuple[str, int], dict[object, int]] = {}
    for key, tally in tallies.items():
        values = dict(tally.values)
        for name, fold in folds.items():
            # What several keys share is added up once, and is shared again.
            shared = name, id(values[name])
            if shared not in added:
                sums = added[shared] = {}
                for value, rows in values[name].items():
                    one = fold[value]
                    sums[one] = sums.get(one, 0) + rows
            values[name] = added[shared]
        folded[key] = _Tally(tally.rows, values, tally.known)
    return folded


def _distinct(several: Iterable[_Counts]) -> Iterable[_Counts]:
    """Return the objects among some, each once."""
    return {id(counts): counts for counts in several}.values()


def _fold(values: Iterable[object]) -> dict[object, object]:
    """Return what each value is folded to; nothing if all stay as they are.

    >>> _fold(["HIV", "flu", None])
    {'HIV': 'hiv', 'flu': 'flu', None: None}
    """
    folds = {value: folded_text(value) if isinstance(value, str) else value for value in values}
    return folds if any(value != fold for value, fold in folds.items()) else {}


def _tallies(
    counts: Counts, width: int, columns: Sequence[str], exact: Sequence[str]
) -> "dict[Key, _Tally]":
    """Add up the rows of each key, and for each column the rows of each of its values.

    Values that differ only in spelling are one, but in columns that are exact.
    """
    keys, key_of, others, times = split(counts.combinations, width, len(columns))
    tallies = [_Tally.none(columns) for _ in keys]
    for at, rows in zip(key_of, times, strict=True):
        tallies[at].rows += rows
    for name, (values, codes) in zip(columns, others, strict=True):
        fold = {} if name in exact else _fold(values)
        spelt = [fold[value] for value in values] if fold else values
        of_key = [tally.values[name] for tally in tallies]
        for at, code, rows in zip(key_of, codes, times, strict=True):
            sums, value = of_key[at], spelt[code]
            sums[value] = sums.get(value, 0) + rows
    return dict(zip(keys, tallies, strict=True))


def split(combinations: Mapping[Key, int], width: int, n: int) -> SplitCombinations:
    """Split combinations into their first columns, which many may share, and n others."""
    if isinstance(combinations, CodedCombinations):
        return combinations.split(width)
    number: dict[Key, int] = {}
    key_of = [number.setdefault(each[:width], len(number)) for each in combinations]
    # Each is a value of its own, whether it is another or not.
    every = range(len(combinations))
    others = [([each[at] for each in combinations], every) for at in range(width, width + n)]
    return SplitCombinations(list(number), key_of, [*others], list(combinations.values()))


def _add_up(several: Iterable[_Counts]) -> dict[object, int]:
    every = list(several)
    times = Counter(map(id, every))
    sums: dict[object, int] = {}
    for counts in _distinct(every):
        for value, rows in counts.items():
            sums[value] = sums.get(value, 0) + rows * times[id(counts)]
    return sums


def _as_published(population: Population | None, keys: Iterable[Key]) -> Population | None:
    """Return a population with its labels as the table writes them: older ones write otherwise."""
    if population is None:
        return None
    published: dict[int, dict[str | None, str | None]] = {}
    for key in keys:
        for at, text in enumerate(text_key(key)):
            published.setdefault(at, {})[text] = text
    for texts in published.values():
        for text in [*texts]:
            texts.setdefault(current_label(text), text)
    if all(len(texts) == len({*texts.values()}) for texts in published.values()):
        return population
    found: dict[tuple[str | None, ...], int] = {}
    for person, n in population.items():
        named = tuple(published[at].get(text, text) for at, text in enumerate(person))
        found[named] = found.get(named, 0) + n
    return found


def _people(keys: Iterable[Key], population: Population | None) -> Mapping[Key, int]:
    if population is None:
        return {}
    texts = {key: text_key(key) for key in keys}
    found = {key: population.get(text, 0) for key, text in texts.items()}
    stars = [key for key, text in texts.items() if _is_starred(text) and text not in population]
    # Rows of stars are of people who are in no other class.
    rest = sum(population.values()) - sum(found.values())
    return {**found, **dict.fromkeys(stars, rest)}


def _is_starred(key: Key) -> bool:
    return bool(key) and all(value == STAR for value in key)


def _plain_groups(
    tallies: Mapping[Key, _Tally], people: Mapping[Key, int] | None = None
) -> tuple[Group, ...]:
    """Return the rows of each key by themselves."""
    found = people or {}
    return tuple(
        [
            Group(key, tally.rows, tally.rows, tally.values, found.get(key), (), tally.known)
            for key, tally in tallies.items()
        ]
    )


def _found(
    keys: Iterable[Key], tallies: Mapping[Key, _Tally], columns: Sequence[str]
) -> tuple[Group, ...]:
    """Find the rows for each key: those that know no cell it lacks, and differ in none.

    A missing cell of such a key stands for a value that no row has. For each set of cells that
    rows lack there is one published key at most: the key itself without these cells.
    """
    patterns = list(_families(tallies))
    groups = []
    for lacking, family in _families(keys).items():
        fewer = [pattern for pattern in patterns if not _adds(pattern, lacking)]
        for key in family:
            tally = _Tally.none(columns)
            members = []
            for pattern in fewer:
                less = tuple([None if gap else key[at] for at, gap in enumerate(pattern)])
                rows = tallies.get(less)
                if rows is not None:
                    tally.add(rows)
                    members.append(less)
            own = tallies[key].rows if key in tallies else 0
            groups.append(Group(key, own, tally.rows, tally.values, None, tuple(members)))
    return tuple(groups)


def _complete(keys: Mapping[Key, _Tally]) -> set[Key] | None:
    """Join keys that do not contradict each other, in all ways; None if too many.

    A whole tuple is looked up by what rows know of it. So any tuple finds the same rows as what
    these rows know together, and no other tuples need be tried.
    """
    most = MOST_COMPLETIONS + 4 * len(keys)
    found: dict[tuple[bool, ...], set[Key]] = {}
    for lacking, family in _families(keys).items():
        new: dict[tuple[bool, ...], set[Key]] = defaultdict(set)
        new[lacking].update(family)
        for other, known in found.items():
            if not _adds(lacking, other) or not _adds(other, lacking):
                continue
            both = [at for at in range(len(lacking)) if not lacking[at] and not other[at]]
            by_shared: dict[Key, list[Key]] = defaultdict(list)
            for key in family:
                by_shared[tuple(key[at] for at in both)].append(key)
            together = new[tuple(a and b for a, b in zip(lacking, other, strict=True))]
            for one in known:
                for key in by_shared.get(tuple(one[at] for at in both), ()):
                    together.add(
                        tuple(b if a is None else a for a, b in zip(one, key, strict=True))
                    )
                if len(together) > most:
                    return None
        for pattern, several in new.items():
            found.setdefault(pattern, set()).update(several)
        if sum(map(len, found.values())) > most:
            return None
    return set().union(*found.values())


def _adds(lacking: tuple[bool, ...], other: tuple[bool, ...]) -> bool:
    """Return whether the first knows a cell that the second lacks."""
    return any(not mine and theirs for mine, theirs in zip(lacking, other, strict=True))


MOST_COMPLETIONS = 65536
"""Ways to complete keys, beside four for each, beyond which keys are judged by themselves."""


def _families(keys: Iterable[Key]) -> dict[tuple[bool, ...], list[Key]]:
    families: dict[tuple[bool, ...], list[Key]] = defaultdict(list)
    for key in keys:
        families[tuple(value is None for value in key)].append(key)
    return families


# A promise of 1/3 cannot be written as a decimal and a logarithm is rounded, so two figures that
# differ by no more than rounding count as equal: enough for "at least" and "at most", not enough
# for "below".

Number = int | float | Fraction
_FORGIVEN = 1e-9
"""What rounding may do, in whatever order the makers add up."""

_EXACT = 1e-12
"""What rounding may do here, where counts are whole numbers until the last step."""


def same(one: Number, other: Number, tolerance: float = _FORGIVEN) -> bool:
    """Return whether two figures differ by rounding only.

    >>> same(Fraction(1, 3), 0.3333333333333333), same(0.1, 0.2)
    (True, False)
    """
    return math.isclose(float(one), float(other), rel_tol=tolerance, abs_tol=tolerance)


def at_least(found: Number, promised: Number) -> bool:
    """`found >= promised`, rounding forgiven."""
    return found >= promised or same(found, promised)


def at_most(found: Number, promised: Number) -> bool:
    """`found <= promised`, rounding forgiven."""
    return found <= promised or same(found, promised)


def below(found: Number, promised: Number) -> bool:
    """`found < promised`, and by more than rounding."""
    return found < promised and not same(found, promised, _EXACT)


def spans_at_least(found: Number, promised: Number) -> bool:
    """`found >= promised` of lengths in any unit: rounding is forgiven in proportion only."""
    return found >= Fraction(promised) * (1 - Fraction(1, 10**9))


@dataclass(frozen=True)
class Bound:
    """A figure of each group that must keep to one parameter of the model."""

    parameter: str
    figure: Callable[[Group], Number]
    keeps: Callable[[Number, Number], bool]

    @property
    def worst(self) -> Callable[..., Number]:
        """The function that finds the worst of several figures: the least or the greatest."""
        return min if self.keeps in (at_least, spans_at_least) else max


@dataclass(frozen=True)
class ModelFinding:
    """The strictest parameters the table keeps, and the group that is worst off if they fail."""

    found: dict[str, Number]
    holds: bool
    worst: Group | None = None
    detail: str = ""


def judge_groups(
    promise: ClaimedPromise, table: ModelGroups, bounds: Sequence[Bound]
) -> ModelFinding:
    """Judge every group by every bound."""
    promised = {bound.parameter: promise.number(bound.parameter) for bound in bounds}
    if not table.groups:
        return ModelFinding(dict(promised), holds=True)
    found: dict[str, Number] = {}
    failing: set[Key] = set()
    worst: Group | None = None
    for bound in bounds:
        limit = promised[bound.parameter]
        figures = [bound.figure(group) for group in table.groups]
        # Equal figures are often one object. Of equal ones the first counts, as of all figures.
        extreme = bound.worst({id(figure): figure for figure in figures}.values())
        found[bound.parameter] = extreme
        if not bound.keeps(extreme, limit):
            worst = worst or table.groups[figures.index(extreme)]
            for group, figure in zip(table.groups, figures, strict=True):
                if not bound.keeps(figure, limit):
                    # A published key fails with each of its completions.
                    failing.update(group.members or (group.key,))
    if worst is None:
        return ModelFinding(found, holds=True)
    rows = sum(group.own for group in table.groups if group.key in failing)
    classes = sum(group.own > 0 for group in table.groups)
    # People may be in several classes, so that adding them up would count some twice.
    share = f" ({rows} of {table.rows} rows)" if table.unit == "rows" else ""
    detail = f"fails in {len(failing)} of {classes} classes{share}"
    return ModelFinding(found, holds=False, worst=worst, detail=detail)


def judge_table(
    promise: ClaimedPromise, table: ModelGroups, parameter: str, figure: Callable[[], Number]
) -> ModelFinding:
    """Judge a figure of the whole table, the smaller the better, by its bound."""
    limit = promise.number(parameter)
    found = figure() if table.groups else limit
    return ModelFinding({parameter: found}, holds=at_most(found, limit))


# Models about the number of people in a class, here or in a population.

SIZE = Bound("k", lambda group: group.rows, at_least)
"""The size of a class."""


def k_anonymity(promise: ClaimedPromise, table: ModelGroups) -> ModelFinding:
    """Judge whether n >= k."""
    return judge_groups(promise, table, [SIZE])


def km_anonymity(promise: ClaimedPromise, table: ModelGroups) -> ModelFinding:
    """Judge whether n >= k rows share any m items that a row of their class has."""
    k, m = promise.number("k"), promise.whole("m")
    if table.sets is None:
        raise InputError("no column of items is named")
    alone = judge_groups(promise, table, [SIZE])
    fewest = table.sets.fewest(m)
    if fewest is None or fewest[0] >= k:
        least = alone.found["k"] if fewest is None else min(alone.found["k"], fewest[0])
        return ModelFinding({"k": least}, alone.holds, alone.worst, alone.detail)
    rows, (key, items) = fewest
    shown = ", ".join(f"{column} {item}" for column, item in items)
    detail = f"{rows} {'row shares' if rows == 1 else 'rows share'} {shown}"
    worst = next((group for group in table.groups if group.key == key), None)
    detail = "; ".join(filter(None, [detail, alone.detail]))
    return ModelFinding({"k": min(alone.found["k"], rows)}, holds=False, worst=worst, detail=detail)


def maximum_risk(promise: ClaimedPromise, table: ModelGroups) -> ModelFinding:
    """Judge whether 1/n <= risk."""
    risk = Bound("risk", lambda group: Fraction(1, group.rows), at_most)
    return judge_groups(promise, table, [risk])


def average_risk(promise: ClaimedPromise, table: ModelGroups) -> ModelFinding:
    """Judge whether the mean of 1/n over all rows is <= risk; without overlaps: classes/rows."""

    def mean() -> Number:
        by_size: dict[int, int] = {}
        for group in table.groups:
            by_size[group.rows] = by_size.get(group.rows, 0) + group.own
        return sum(Fraction(own, rows) for rows, own in by_size.items()) / table.rows

    return judge_table(promise, table, "risk", mean)


def sample_uniqueness(promise: ClaimedPromise, table: ModelGroups) -> ModelFinding:
    """Judge whether at most this share of the rows is alone in its class.

    How those who are not were chosen (`drawn`) no row shows, and the share is the same.
    """
    promise.truth("drawn")

    def share() -> Number:
        return Fraction(sum(g.own for g in table.groups if g.rows == 1), table.rows)

    return judge_table(promise, table, "share", share)


def k_map(promise: ClaimedPromise, table: ModelGroups) -> ModelFinding:
    """Judge whether at least k people of the population fall into every published class."""
    if table.groups:
        _require_people(table)
    return judge_groups(promise, table, [Bound("k", _models_people, at_least)])


def estimated_k_map(promise: ClaimedPromise, table: ModelGroups) -> ModelFinding:
    """Judge whether a class of fewer than k people would hardly show as many rows.

    Of a class of k - 1 people, each drawn with the fraction, and of whom one was drawn: at least n
    rows are there with 1 - confidence at most.
    """
    k, fraction, confidence = (promise.number(name) for name in ("k", "fraction", "confidence"))
    if not fraction:
        raise InputError("a fraction of 0 is no sample")
    if not table.groups:
        return ModelFinding({"k": k}, holds=True)
    cache: dict[tuple[int, int], bool] = {}

    def shows(people: int, rows: int) -> bool:
        """Return whether a class of some people may well show as many rows."""
        if (people, rows) not in cache:
            chance = _chance_of_rows(people, rows, fraction)
            cache[people, rows] = chance > 1 - confidence + _UNLIKELY
        return cache[people, rows]

    fewest = min(group.rows for group in table.groups)
    low, high = fewest - 1, fewest
    while not shows(high, fewest):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if shows(middle, fewest) else (middle, high)
    # Of the other classes it matters only whether they fail.
    judged = Bound("k", lambda group: k - shows(int(k) - 1, group.rows), at_least)
    return replace(judge_groups(promise, table, [judged]), found={"k": low + 1})


def weighted_k_map(promise: ClaimedPromise, table: ModelGroups) -> ModelFinding:
    """Judge whether a class of fewer than k people would hardly show as many rows, by its weights.

    A class of n rows whose weights add up to F was drawn with n/F. Of k - 1 people, each drawn so,
    and of whom one was drawn: at least n rows are there with 1 - confidence at most.
    """
    column, k = promise.text("column"), promise.number("k")
    confidence = promise.number("confidence")
    weight = _weights(table.reference_of(column), column)
    if not table.groups:
        return ModelFinding({"k": k}, holds=True)

    def share_of(group: Group) -> tuple[int, float]:
        """Return the rows of a class, and the share of its people that they are."""
        people = sum(weight[v] * n for v, n in group.known_values(column).items())
        return group.rows, float(Fraction(group.rows) / max(people, Fraction(group.rows)))

    cache: dict[tuple[int, int, float], bool] = {}

    def shows(people: int, rows: int, fraction: float) -> bool:
        """Return whether a class of some people may well show as many rows."""
        asked = people, rows, fraction
        if asked not in cache:
            cache[asked] = _chance_of_rows(*asked) > 1 - confidence + _UNLIKELY
        return cache[asked]

    # The most people that no class may well be: one that may is looked at more closely.
    most: int | None = None
    for rows, fraction in {share_of(group) for group in table.groups}:
        if most is not None and not shows(most, rows, fraction):
            continue
        low, high = rows - 1, rows if most is None else most
        while not shows(high, rows, fraction):
            low, high = high, 2 * high
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if shows(middle, rows, fraction) else (middle, high)
        most = low
    judged = Bound("k", lambda group: k - shows(int(k) - 1, *share_of(group)), at_least)
    return replace(judge_groups(promise, table, [judged]), found={"k": (most or 0) + 1})


def _weights(values: Iterable[object], column: str) -> dict[object, Fraction]:
    """Read every known weight exactly as it is written."""
    known = [value for value in values if value is not None]
    wrong = [value for value in known if number_of(value) is None]
    if wrong:
        raise InputError(f"{column!r} has weights that are no numbers: {some(wrong)}")
    return _numbers(known, column)


_UNLIKELY = 1e-10
"""What rounding may do to a chance."""


def _chance_of_rows(people: int, rows: int, fraction: float) -> float:
    """Return how likely as many people of a class are drawn, or more, if one is.

    >>> round(_chance_of_rows(2, 2, 0.5), 12)  # 1 of 4 ways, 3 of which draw someone
    0.333333333333
    """
    if rows > people:
        return 0.0
    if rows <= 1 or fraction == 1:
        return 1.0
    mean = people * fraction
    likely = mean - 12 * math.sqrt(mean) - 50
    if rows > mean + 12 * math.sqrt(mean) + 50:
        return 0.0
    fewer = math.fsum(
        math.exp(
            math.lgamma(people + 1)
            - math.lgamma(n + 1)
            - math.lgamma(people - n + 1)
            + n * math.log(fraction)
            + (people - n) * math.log1p(-fraction)
        )
        for n in range(max(1, int(likely)), rows)
    )
    return 1 + fewer / math.expm1(people * math.log1p(-fraction))


def delta_presence(promise: ClaimedPromise, table: ModelGroups) -> ModelFinding:
    """Judge whether minimum <= n / people <= maximum, for every class of the population.

    Of people whose class is not published it is known that their class is empty or was
    suppressed: there is no least presence. Suppressed rows are of some of these people, so all of
    them together are one more class.
    """
    _require_people(table)
    hidden = table.hidden
    bounds = [Bound("minimum", _presence, at_least), Bound("maximum", _presence, at_most)]
    finding = judge_groups(promise, table, bounds)
    if not hidden.people and not hidden.anywhere:
        return finding
    most = math.inf if hidden.anywhere else Fraction(hidden.rows, hidden.people)
    shown = [_presence(group) for group in table.groups]
    found: dict[str, Number] = {"minimum": 0, "maximum": max([most, *shown])}
    faults = [finding.detail]
    if promise.number("minimum") > 0:
        where = f", for example {some(hidden.classes, most=1)}" if hidden.classes else ""
        faults.append(f"{hidden.people} people of the population are in no published class{where}")
    if not at_most(most, promise.number("maximum")):
        faults.append(f"{hidden.rows} suppressed rows are of {hidden.people} people")
    detail = "; ".join(filter(None, faults))
    return ModelFinding(
        found, holds=finding.holds and not detail, worst=finding.worst, detail=detail
    )


def _require_people(table: ModelGroups) -> None:
    """Raise an error if the people of the population in each class cannot be counted."""
    if table.hidden.lacking:
        raise InputError(
            "missing cells match any value, so it cannot be said who is in which class"
        )
    table.require_population()


def _models_people(group: Group) -> int:
    return group.population or 0


def _presence(group: Group) -> Number:
    # Rows about people who are not in the population: it is not the population of this table.
    return Fraction(group.rows, group.population) if group.population else math.inf


# Models about how many sensitive values a class shows, and how evenly.
#
# Missing values count for nothing: shares are over the rows with a known value, and a class
# without any is no protection at all.

Known = Mapping[object, int]
"""Rows by known value in one class; of people with several values, the least diverse choice."""


def _bound(
    promise: ClaimedPromise,
    table: ModelGroups,
    parameter: str,
    figure: Callable[[Known], Number],
    keeps: Callable[[Number, Number], bool] = at_least,
) -> Bound:
    """Build a bound on the known values of the promise's column."""
    column = promise.text("column")
    table.reference_of(column)
    judged: dict[int, Number] = {}

    def of_group(group: Group) -> Number:
        if group.known is not None:
            return figure(group.least_diverse(column))
        # Small groups often have the same counts, as one object; it lives as long as the table.
        number = id(group.values[column])
        if number not in judged:
            judged[number] = figure(group.known_values(column))
        return judged[number]

    return Bound(parameter, of_group, keeps)


def distinct_l_diversity(promise: ClaimedPromise, table: ModelGroups) -> ModelFinding:
    """Judge whether m >= l."""
    promise.whole("l")
    return judge_groups(promise, table, [_bound(promise, table, "l", len)])


def probabilistic_l_diversity(promise: ClaimedPromise, table: ModelGroups) -> ModelFinding:
    """Judge whether c1/n <= 1/l, that is n/c1 >= l."""

    def figure(known: Known) -> Number:
        return Fraction(sum(known.values()), max(known.values())) if known else 0

    return judge_groups(promise, table, [_bound(promise, table, "l", figure)])


def entropy_l_diversity(promise: ClaimedPromise, table: ModelGroups) -> ModelFinding:
    """Judge whether exp(-sum p ln p) >= l."""

    def figure(known: Known) -> Number:
        n = sum(known.values())
        return math.exp(-sum(c / n * math.log(c / n) for c in known.values())) if known else 0

    return judge_groups(promise, table, [_bound(promise, table, "l", figure)])


def recursive_cl_diversity(promise: ClaimedPromise, table: ModelGroups) -> ModelFinding:
    """Judge whether c1 < c (c_l + … + c_m), counts in falling order, that is c1 / tail < c."""
    l = promise.whole("l")

    def figure(known: Known) -> Number:
        counts = sorted(known.values(), reverse=True)
        tail = sum(counts[l - 1 :])
        return Fraction(counts[0], tail) if tail else math.inf

    finding = judge_groups(promise, table, [_bound(promise, table, "c", figure, below)])
    finding.found["l"] = l
    return finding


def alpha_k_anonymity(promise: ClaimedPromise, table: ModelGroups) -> ModelFinding:
    """Judge whether n >= k and c/n <= alpha for every protected value (all if none is named)."""
    column = promise.text("column")
    protected = {table.name(column, text) for text in promise.texts("protected")}

    table.reference_of(column)

    def figure(group: Group) -> Number:
        known = group.known_values(column)
        if not known:
            return math.inf
        counts = [
            c for v, c in known.items() if not protected or table.name(column, v) in protected
        ]
        return Fraction(max(counts, default=0), group.known_rows(column))

    return judge_groups(promise, table, [Bound("alpha", figure, at_most), SIZE])


def p_sensitive(promise: ClaimedPromise, table: ModelGroups) -> ModelFinding:
    """Judge whether n >= k and m >= p."""
    return judge_groups(promise, table, [_bound(promise, table, "p", len), SIZE])


def p_alpha_sensitive(promise: ClaimedPromise, table: ModelGroups) -> ModelFinding:
    """Judge whether n >= k, m >= p, and the class weighs at least alpha."""
    _, weigh = _categories(promise, table)
    return judge_groups(
        promise,
        table,
        [_bound(promise, table, "p", len), _bound(promise, table, "alpha", weigh), SIZE],
    )


def enhanced_p_alpha_sensitive(promise: ClaimedPromise, table: ModelGroups) -> ModelFinding:
    """Judge whether n >= k, p categories or more, and the class weighs at least alpha."""
    column = promise.text("column")
    categories, weigh = _categories(promise, table)

    def distinct(known: Known) -> Number:
        return len({categories[table.name(column, value)] for value in known})

    return judge_groups(
        promise,
        table,
        [_bound(promise, table, "p", distinct), _bound(promise, table, "alpha", weigh), SIZE],
    )


def _categories(
    promise: ClaimedPromise, table: ModelGroups
) -> tuple[Mapping[str, int], Callable[[Known], Number]]:
    """Return each value's category, most secret first, and what weighs the values of a class.

    The i-th of x categories weighs (i-1)/(x-1). The sum goes over the rows, or over the
    distinct values if the promise says so.
    """
    column = promise.text("column")
    category, last = _ordered_categories(promise, table, column)
    by_rows = promise.text("weight", "rows", "distinct", default="rows") == "rows"

    def weigh(known: Known) -> Number:
        total = sum(
            category[table.name(column, v)] * (c if by_rows else 1) for v, c in known.items()
        )
        return Fraction(total, last)

    return category, weigh


def _ordered_categories(
    promise: ClaimedPromise, table: ModelGroups, column: str
) -> tuple[Mapping[str, int], int]:
    """Return the number of each value's category, and that of the last one; all must have one."""
    named = promise.lists_of_texts("categories")
    if len(named) < 2:
        raise InputError(f"{promise.model}: there must be at least 2 categories")
    category = _number_lists(named, table, column)
    if category is None:
        raise InputError(f"{promise.model}: a value stands in more than one place in categories")
    values = {table.name(column, v) for v in table.reference_of(column) if v is not None}
    homeless = sorted(values - set(category))
    if homeless:
        raise InputError(f"{promise.model}: no category has {some(homeless)}")
    return category, len(named) - 1


def _number_lists(
    named: Sequence[Sequence[str]], table: ModelGroups, column: str
) -> dict[str, int] | None:
    """Return the number of the list that each value is in; None if it is in two."""
    texts = [text for texts in named for text in texts]
    if len({*texts}) < len(texts):
        return None
    found: dict[str, int] = {}
    for number, several in enumerate(named):
        for text in several:
            if found.setdefault(table.name(column, text), number) != number:
                return None
    return found


def category_share(promise: ClaimedPromise, table: ModelGroups) -> ModelFinding:
    """Judge whether every category has at most this share of the rows with a known value."""
    column = promise.text("column")
    category_of = _category_finder(promise, table, column)

    table.reference_of(column)

    def figure(group: Group) -> Number:
        known = group.known_values(column)
        if not known:
            return math.inf
        rows: dict[object, int] = defaultdict(int)
        for value, c in known.items():
            category = category_of(table.name(column, value))
            if category is not None:
                rows[category] += c
        # A person with two values of a category is in it once: no more than all can be.
        every = group.known_rows(column)
        return Fraction(min(max(rows.values(), default=0), every), every)

    return judge_groups(promise, table, [Bound("share", figure, at_most)])


def _category_finder(
    promise: ClaimedPromise, table: ModelGroups, column: str
) -> Callable[[str], object | None]:
    """Return what finds the category of a text: the list it is in, or its label at a level."""
    if promise.parameters.get("level") is None:
        named = promise.lists_of_texts("categories")
        found = _number_lists(named, table, column)
        if not named or found is None:
            raise InputError(
                f"{promise.model}: categories must be disjoint lists, and one at least"
            )
        return found.get
    if promise.parameters.get("categories") is not None:
        raise InputError(f"{promise.model}: categories or level, not both")
    paths = _paths(table, column)
    labels = {table.name(column, v): path for v, path in paths.items() if v is not None}
    height = len(next(iter(labels.values()), ()))
    level = promise.number("level")
    if level != int(level) or not (1 <= level < height or not labels):
        raise InputError(
            f"{promise.model}: level must be a whole number from 1 to {height - 1}, got {level}"
        )

    def of(text: str) -> object | None:
        label, top = labels[text][int(level) - 1], labels[text][-1]
        return None if label == top else label

    return of


def k_e_anonymity(promise: ClaimedPromise, table: ModelGroups) -> ModelFinding:
    """Judge whether k different numbers or more, and largest - smallest >= e."""
    column = promise.text("column")
    number = _numbers(table.reference_of(column), column)

    def distinct(known: Known) -> Number:
        return len({number[value] for value in known})

    def width(known: Known) -> Number:
        on_line = [number[value] for value in known]
        wide = max(on_line) - min(on_line) if on_line else Fraction(0)
        return wide if wide < _WIDEST else math.inf

    return judge_groups(
        promise,
        table,
        [
            _bound(promise, table, "k", distinct),
            _bound(promise, table, "e", width, spans_at_least),
        ],
    )


def range_share(promise: ClaimedPromise, table: ModelGroups) -> ModelFinding:
    """Judge whether close numbers are at most this share of the rows with a known one."""
    column = promise.text("column")
    number = _numbers(table.reference_of(column), column)
    within = Fraction(repr(promise.number("within")))
    # In whole numbers of their smallest unit, which are as exact as fractions and much faster.
    unit = math.lcm(within.denominator, *(each.denominator for each in number.values()))
    place = {value: int(each * unit) for value, each in number.items()}
    reach = int(within * unit)

    def figure(group: Group) -> Number:
        rows: dict[int, int] = defaultdict(int)
        for value, c in group.known_values(column).items():
            rows[place[value]] += c
        if not rows:
            return math.inf
        line = sorted(rows)
        inside = most = first = 0
        for last in line:
            inside += rows[last]
            while last - line[first] > reach:
                inside -= rows[line[first]]
                first += 1
            most = max(most, inside)
        return Fraction(most, sum(rows.values()))

    return judge_groups(promise, table, [Bound("share", figure, at_most)])


_WIDEST = Fraction(10) ** 308
"""What a float can hold; wider than that is wide enough for every promise."""


def _numbers(values: Iterable[object], column: str) -> dict[object, Fraction]:
    """Read every known value as an exact number, or every one as a day."""
    known = [value for value in values if value is not None]
    wrong = [value for value in known if number_of(value) is None]
    if not wrong:
        # As it is written, and zero if a float is: 1e-999999 is no number to count with.
        return {v: Fraction(text_of(v).strip()) if number_of(v) else Fraction(0) for v in known}
    days = {value: date_of(value) for value in known}
    if None in days.values():
        raise InputError(f"{column!r} has values that are neither numbers nor days: {some(wrong)}")
    return {value: Fraction(day.toordinal()) for value, day in days.items() if day is not None}


# Models that compare each class with the whole published table.
#
# A missing value is one more value here: a class where the diagnosis is missing more often than
# elsewhere tells something too.
#
# With n rows in the class and N in the table, c and r rows of a value, p - q is (cN - rn)/(nN):
# whole numbers until the last division, so nothing is rounded.


Excess = dict[object, int]
"""For each value of the table (p - q) nN, how much more of it a class has, in whole numbers."""


_DISTANCES = ("equal", "ordered", "hierarchical", "category")


def t_closeness(promise: ClaimedPromise, table: ModelGroups) -> ModelFinding:
    """Judge whether EMD(class, table) <= t."""
    column = promise.text("column")
    distance = promise.text("distance", *_DISTANCES, default="equal")
    reference = table.reference_of(column)
    work: Callable[[Excess], Fraction]
    if distance == "equal":
        work = _work_if_equal
    elif distance == "ordered":
        order = in_order(reference)
        work = lambda excess: _work_in_order(excess, order)  # noqa: E731 - shapes of one thing
    elif distance == "category":
        category, last = _ordered_categories(promise, table, column)
        halves = {v: last if v is None else 2 * category[table.name(column, v)] for v in reference}
        work = lambda excess: _work_in_categories(excess, halves, last)  # noqa: E731
    else:
        paths = _paths(table, column)
        work = lambda excess: _work_in_hierarchy(excess, paths)  # noqa: E731

    # Each row holds one value; of people, each holds every one of theirs once.
    several = table.unit == "people"
    everything = sum(reference.values()) if several else table.rows

    def figure(group: Group) -> Number:
        counts = group.values[column]
        held = sum(counts.values()) if several else group.rows
        excess = {v: counts.get(v, 0) * everything - r * held for v, r in reference.items()}
        return work(excess) / (held * everything)

    return judge_groups(promise, table, [Bound("t", figure, at_most)])


def _work_if_equal(excess: Excess) -> Fraction:
    """Move whatever is too much somewhere by 1."""
    return Fraction(sum(e for e in excess.values() if e > 0))


def _work_in_order(excess: Excess, order: Sequence[object]) -> Fraction:
    """Move what has piled up so far one step on; a step costs 1/(m-1)."""
    if len(order) < 2:
        return Fraction(0)
    carried = moved = 0
    for value in order:
        carried += excess[value]
        moved += abs(carried)
    return Fraction(moved, len(order) - 1)


def _work_in_categories(excess: Excess, halves: Mapping[object, int], last: int) -> Fraction:
    """Move as in order, from category to category, in steps of half of one.

    What is missing first comes to the middle, half the way from one end to the other.
    """
    piles = [0] * (2 * last + 1)
    for value, extra in excess.items():
        piles[halves[value]] += extra
    carried = moved = 0
    for pile in piles:
        carried += pile
        moved += abs(carried)
    return Fraction(moved, 2 * last) + Fraction(abs(excess.get(None, 0)), 2)


def _work_in_hierarchy(excess: Excess, paths: Mapping[object, Sequence[str | None]]) -> Fraction:
    """Move, below each inner node, what is too much to where it is too little.

    At level h of H that costs h/H; what cannot be evened out there goes up.
    """
    height = len(next(iter(paths.values())))
    # A node is named by its whole way from the top, so equal names elsewhere do not mix.
    nodes = {(*reversed(paths[value]), value): e for value, e in excess.items()}
    moved = 0
    for level in range(1, height + 1):
        children: dict[tuple[object, ...], list[int]] = defaultdict(list)
        for node, extra in nodes.items():
            children[node[:-1]].append(extra)
        for extras in children.values():
            too_much = sum(e for e in extras if e > 0)
            too_little = -sum(e for e in extras if e < 0)
            moved += level * min(too_much, too_little)
        nodes = {node: sum(extras) for node, extras in children.items()}
    return Fraction(moved, height)


def _paths(table: ModelGroups, column: str) -> dict[object, Sequence[str | None]]:
    """Find each value's labels from level 1 to the top; a missing value joins only there."""
    given, values = table.hierarchies.get(column), table.reference_of(column)
    if all(value is None for value in values):
        # Nothing is published that could be far from anything, and no hierarchy tells of it.
        return {value: [STAR] for value in values}
    if not given:
        raise InputError(f"no hierarchy of {column!r} was given to measure distances with")
    hierarchy: dict[str, Sequence[str]] = {}
    for text, path in given.items():
        if list(hierarchy.setdefault(table.name(column, text), path)) != list(path):
            raise InputError(f"the hierarchy of {column!r} has two places for {text!r}")
    unknown = [v for v in values if v is not None and table.name(column, v) not in hierarchy]
    if unknown:
        raise InputError(f"the hierarchy of {column!r} does not cover {some(unknown)}")
    tops = {path[-1] if path else None for path in hierarchy.values()}
    if len({len(path) for path in hierarchy.values()}) > 1 or len(tops) > 1 or None in tops:
        raise InputError(f"the hierarchy of {column!r} has no single top")
    some_path = next(iter(hierarchy.values()))
    missing = [*[None] * (len(some_path) - 1), some_path[-1]]
    return {v: missing if v is None else hierarchy[table.name(column, v)] for v in values}


def basic_beta_likeness(promise: ClaimedPromise, table: ModelGroups) -> ModelFinding:
    """Judge whether (p - q)/q <= beta for every value."""
    return _likeness(promise, table, enhanced=False)


def enhanced_beta_likeness(promise: ClaimedPromise, table: ModelGroups) -> ModelFinding:
    """Judge whether (p - q)/q <= min(beta, -ln q) for every value; beyond -ln q no beta will do."""
    return _likeness(promise, table, enhanced=True)


def _likeness(promise: ClaimedPromise, table: ModelGroups, *, enhanced: bool) -> ModelFinding:
    column = promise.text("column")
    reference = table.reference_of(column)

    def figure(group: Group) -> Number:
        most: Number = 0
        for value, c in group.values[column].items():
            r = reference[value]
            gain = Fraction(c * table.rows - r * group.rows, r * group.rows)
            if enhanced and not at_most(gain, -math.log(r / table.rows)):
                return math.inf
            most = max(most, gain)
        return most

    return judge_groups(promise, table, [Bound("beta", figure, at_most)])


def delta_disclosure(promise: ClaimedPromise, table: ModelGroups) -> ModelFinding:
    """Judge whether |ln(p/q)| < delta for every value of the table; one a class lacks breaks it."""
    column = promise.text("column")
    reference = table.reference_of(column)

    def figure(group: Group) -> Number:
        counts = group.values[column]
        if len(counts) < len(reference):
            return math.inf
        return max(
            abs(math.log(counts[value] * table.rows / (r * group.rows)))
            for value, r in reference.items()
        )

    return judge_groups(promise, table, [Bound("delta", figure, below)])


MODEL_CHECKS: dict[str, Callable[[ClaimedPromise, ModelGroups], ModelFinding]] = {
    "k-anonymity": k_anonymity,
    "km-anonymity": km_anonymity,
    "k-map": k_map,
    "estimated-k-map": estimated_k_map,
    "weighted-k-map": weighted_k_map,
    "delta-presence": delta_presence,
    "maximum-risk": maximum_risk,
    "average-risk": average_risk,
    "sample-uniqueness": sample_uniqueness,
    "distinct-l-diversity": distinct_l_diversity,
    "probabilistic-l-diversity": probabilistic_l_diversity,
    "entropy-l-diversity": entropy_l_diversity,
    "recursive-cl-diversity": recursive_cl_diversity,
    "alpha-k-anonymity": alpha_k_anonymity,
    "p-sensitive-k-anonymity": p_sensitive,
    "p-alpha-sensitive-k-anonymity": p_alpha_sensitive,
    "enhanced-p-alpha-sensitive-k-anonymity": enhanced_p_alpha_sensitive,
    "category-share": category_share,
    "k-e-anonymity": k_e_anonymity,
    "range-share": range_share,
    "t-closeness": t_closeness,
    "basic-beta-likeness": basic_beta_likeness,
    "enhanced-beta-likeness": enhanced_beta_likeness,
    "delta-disclosure": delta_disclosure,
}
"""The function that recomputes each model. A model that is not here cannot be vouched for."""

_GROWING = frozenset(
    {
        "k-anonymity",
        "km-anonymity",
        "estimated-k-map",
        "maximum-risk",
        "average-risk",
        "sample-uniqueness",
        "distinct-l-diversity",
        "p-sensitive-k-anonymity",
        "p-alpha-sensitive-k-anonymity",
        "enhanced-p-alpha-sensitive-k-anonymity",
        "k-e-anonymity",
    }
)
"""Models that more rows in a class never break: the completion with the fewest rows decides."""


def recompute(source: Countable, promises: Promises) -> list[Check]:
    """Make every check that needs the rows."""
    named = [model.get("column") for model in promises.models]
    # A people file from elsewhere must tell all published rows; of a table that is here, what
    # promises are about.
    elsewhere = promises.counts_people and isinstance(promises.people, str | PathLike)
    told = promises.sensitive if elsewhere else ()
    sensitive = [
        name for name in dict.fromkeys((*told, *filter(_is_text, named))) if name in source.names
    ]
    columns = [*promises.quasi_identifiers, *sensitive]
    stars = promises.quasi_identifiers if promises.suppression == "star" else ()
    with readable("the table"), without_collecting():
        counts = count(source, columns, stars=stars)
    if stars and promises.published is None and not promises.suppressed:
        # Their number is not stated: all rows of stars without anything else are meant.
        promises = replace(promises, suppressed=counts.starred)
    kept = _without_starred(counts, promises, len(sensitive))
    people, found = None, None
    if promises.counts_people:
        people, found = _recount(kept, promises, sensitive)
    if people is not None:
        # Models are about people; of rows only the sizes of classes are asked.
        sensitive, kept = [], _sizes_alone(kept, len(promises.quasi_identifiers))
    with without_collecting():
        table = ModelGroups.from_counts(kept, promises.quasi_identifiers, sensitive, promises)
    if promises.sets:
        shared = collect_sets(source, promises.quasi_identifiers, promises.sets)
        table = replace(table, sets=shared)
    return [
        *_row_checks(counts, kept, promises),
        *_item_checks(table.sets, promises),
        *(part_checks(source, promises) if counts.mixed else ()),
        *([] if found is None else [found]),
        *judge(table, promises, people),
        *_weight_checks(source, promises),
        *_mean_checks(kept, promises),
        *check_perturbed(source, promises),
        *check_synthetic(source, promises),
    ]


NOT_RECOUNTED = (
    "they are promises about people, and the public files do not say which rows belong to whom. "
    "To check them, give the private people file (people_file= or --people-file). There are enough "
    "rows, which is necessary but not sufficient"
)
"""What is to be said where promises are about people, and nothing says who has which rows."""


def _sizes_alone(counts: Counts, width: int) -> Counts:
    """Return counts over the first columns."""
    sizes: dict[Key, int] = {}
    for combination, rows in counts.combinations.items():
        key = combination[:width]
        sizes[key] = sizes.get(key, 0) + rows
    return counts._replace(combinations=sizes)


def _recount(
    kept: Counts, promises: Promises, sensitive: Sequence[str]
) -> tuple[ModelGroups | None, Check]:
    """Return the people of each class, if something says who they are, and what is to be said."""
    if promises.people is None:
        return None, Check("people", "not recounted", detail=NOT_RECOUNTED)
    try:
        if promises.missing == "matches-any":
            raise InputError("where missing values match any, people of a class are not counted")
        found = count_people(
            promises.people,
            kept.combinations,
            promises.quasi_identifiers,
            sensitive,
            others=promises.sensitive,
            exact=promises.exact,
            sha256=promises.people_hash,
        )
    except SfumatoError as error:
        return None, Check("people", "broken", detail=str(error))
    table = ModelGroups.from_people(found, promises.quasi_identifiers, promises)
    # Not how many they are: evidence is public, and would tell who is in two classes.
    return table, Check("people", "holds")


def _weight_checks(source: Countable, promises: Promises) -> list[Check]:
    """Check that weights tell no rows of a class apart: each class has one, and it is a number."""
    names = list(promises.weights)
    if not names:
        return []
    known = promises.quasi_identifiers
    with readable("the table"):
        counts = count(source, [*known, *names])
    starred = (*[STAR] * len(known), *[None] * len(names))
    found: dict[tuple[object, ...], set[tuple[object, ...]]] = {}
    for combination in counts.combinations:
        if promises.suppressed and promises.suppression == "star" and combination == starred:
            continue
        found.setdefault(combination[: len(known)], set()).add(combination[len(known) :])
    parted = {key: weights for key, weights in found.items() if len(weights) > 1}
    wrong = {
        key: fault
        for key, weights in found.items()
        for cells in weights
        if (fault := _wrong_weight(dict(zip(names, cells, strict=True)), promises))
    }
    details = []
    if parted:
        of = f"{len(parted)} of {len(found)} {'class' if len(found) == 1 else 'classes'}"
        details.append(f"rows of {of} can be told apart by their weight: {some(names)}")
    if wrong:
        details.append(next(iter(wrong.values())))
    worst = next(iter({**parted, **wrong}), None)
    shown = None if worst is None else dict(zip(known, worst, strict=True))
    most = max(map(len, found.values()), default=0)
    return [
        Check("weights", status(holds=not details), "1 per class", most, "; ".join(details), shown)
    ]


def _mean_checks(kept: Counts, promises: Promises) -> list[Check]:
    """Check that means tell no rows of a class apart, and lie between the ends beside them."""
    if not promises.means:
        return []
    known = list(promises.quasi_identifiers)
    means = [known.index(name) for name in promises.means]
    others = [at for at in range(len(known)) if at not in means]
    found: dict[tuple[object, ...], set[tuple[object, ...]]] = {}
    details, shown = [], None
    for cells in kept.combinations:
        key = tuple(cells[at] for at in others)
        found.setdefault(key, set()).add(tuple(cells[at] for at in means))
        for name, ends in promises.means.items():
            three = [cells[known.index(each)] for each in (name, *ends)]
            if shown is None and not _lies_between(*three):
                shown = dict(zip(known, cells, strict=False))
                details.append(f"{name!r} holds {three[0]!r}, which is outside its bounds")
    parted = sum(len(each) > 1 for each in found.values())
    if parted:
        details.append(f"rows of {parted} of {len(found)} classes have several means")
    most = max(map(len, found.values()), default=0)
    return [
        Check("means", status(holds=not details), "1 per class", most, "; ".join(details), shown)
    ]


def _lies_between(mean: object, low: object, high: object) -> bool:
    """Return whether a mean is there exactly if it has an end, and lies between its ends.

    >>> [_lies_between(*each) for each in ((3, 1, 5), (None, None, None), ("9", "1", None))]
    [True, True, True]
    >>> [_lies_between(*each) for each in ((7, 1, 5), (None, 1, 5), (3, None, None))]
    [False, False, False]
    """
    ends = [end for end in (low, high) if end is not None]
    if mean is None or not ends:
        return mean is None and not ends
    numbers = [number_of(each) for each in (mean, *ends)]
    # Days are compared as they are written: years, months, days.
    values = [str(each) for each in (mean, *ends)] if None in numbers else numbers
    below = low is None or values[0] >= values[1]  # type: ignore[operator]
    return below and (high is None or values[0] <= values[-1])  # type: ignore[operator]


def _wrong_weight(cells: Mapping[str, object], promises: Promises) -> str:
    """Return what is wrong with the weights of a class; nothing if nothing is."""
    for name, value in cells.items():
        weight = number_of(value)
        if weight is None:
            return f"{name!r} holds what is no weight: {'nothing' if value is None else value!r}"
        step = promises.weights[name]
        times = 0.0 if step is None else weight / step
        if abs(times - round(times)) > 1e-9 * max(1.0, abs(times)):
            return f"{name!r} holds {weight:g}, which is no multiple of {step:g}"
    return ""


def _item_checks(items: ItemsByClass | None, promises: Promises) -> list[Check]:
    """Check that the items of a release stand in order, each once; of a plain table they need not.

    There is no check where nothing is wrong.
    """
    if items is None or not items.untidy or promises.published is None:
        return []
    detail = (
        f"{items.untidy} cells have items out of order, repeated, or with blanks around them: that "
        "can tell rows apart. Write each item once, in order, and an empty set as a missing cell"
    )
    return [Check("items", "broken", 0, items.untidy, detail)]


def part_checks(source: Countable, promises: Promises) -> list[Check]:
    """Check that rows of a class do not differ in how equal values are written.

    Where a k is promised, that number of rows written alike is enough. Without one, a class that is
    parted at all is reported. There is no check where nothing is wrong.
    """
    with readable("the table"):
        parted = count_parted(source, promises.quasi_identifiers)
    sizes = [
        model["k"] for model in promises.models if is_number(model.get("k")) and model["k"] >= 1
    ]
    least = min(parted.values(), default=None)
    if least is None or (sizes and least >= max(sizes)):
        return []
    worst = min(parted, key=lambda key: (parted[key], str(key)))
    detail = (
        f"rows of {len(parted)} {'class' if len(parted) == 1 else 'classes'} can be told apart by "
        f"their bytes, down to {least}: a missing cell or zero is written in several ways (null, "
        "NaN or an empty text; 0.0 or -0.0). Write each value in one way"
    )
    shown = dict(zip(promises.quasi_identifiers, worst, strict=True))
    return [Check("one form", "broken", None, least, detail, shown)]


def judge(table: ModelGroups, promises: Promises, people: ModelGroups | None = None) -> list[Check]:
    """Make every check that needs the classes: levels, missing cells, models.

    Args:
        table: The classes, in rows.
        promises: What should hold.
        people: The same classes in people, if promises are about them and they are known.
    """
    sizes = [group.own for group in table.groups]
    checks = [*_top_checks(table, promises), *_cut_checks(table, promises)]
    checks += check_figures(sizes, promises, None if people is None else people.groups)
    if promises.missing == "suppress":
        checks.append(_nothing_missing(table, promises))
    checks += _absent_classes(table, promises)
    if people is not None or not promises.counts_people:
        judged = table if people is None else people
        checks += [check_model(model, judged) for model in promises.models]
    else:
        checks += [_check_by_rows(model, table) for model in promises.models]
    if not promises.models and promises.synthetic is None:
        checks.append(Check("models", "unchecked", detail="no model is promised"))
    return checks


_AT_MOST_AS_MANY = frozenset(
    {
        "k-anonymity",
        "estimated-k-map",
        "maximum-risk",
        "distinct-l-diversity",
        "p-sensitive-k-anonymity",
    }
)
"""Models that rows break only if people do: no class has more people, or values, than rows."""

_OF_POPULATION = "k-map"
"""The model that counts people of the population alone, who have one row each there."""

_ONE_VALUE_EACH = frozenset(
    {
        "weighted-k-map",
        "p-alpha-sensitive-k-anonymity",
        "enhanced-p-alpha-sensitive-k-anonymity",
        "k-e-anonymity",
        "range-share",
    }
)
"""Models that are defined for people with one value each."""


def _check_by_rows(plain: Mapping[str, Any], table: ModelGroups) -> Check:
    """Check what rows alone tell of a promise about people: that it is broken, if they break it."""
    found = check_model({k: v for k, v in plain.items() if k != "measured"}, table)
    if found.name == _OF_POPULATION:
        return check_model(plain, table)
    if found.name in _AT_MOST_AS_MANY and found.status != "holds":
        return found
    figures = ""
    if found.name in _AT_MOST_AS_MANY and isinstance(found.found, Mapping):
        figures = ", ".join(f"{name}={value:.6g}" for name, value in found.found.items())
    detail = f"in rows it is {figures}" if figures else ""
    return Check(found.name, "not recounted", found.promised, None, detail)


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _without_starred(counts: Counts, promises: Promises, n_sensitive: int) -> Counts:
    """Remove the suppressed rows, which all look the same."""
    suppressed = min(counts.starred, promises.suppressed)
    if not suppressed:
        return counts
    starred = (*(STAR for _ in promises.quasi_identifiers), *[None] * n_sensitive)
    left = dict(counts.combinations)
    # A stranger's manifest may look at one column twice; then no combination is like that.
    still = left.pop(starred, 0) - suppressed
    if still > 0:
        left[starred] = still
    return Counts(left, counts.rows - suppressed, counts.starred)


def _row_checks(counts: Counts, kept: Counts, promises: Promises) -> list[Check]:
    checks = []
    if promises.published is not None:
        removed = promises.suppression == "remove" and promises.suppressed
        checks.append(
            Check(
                "rows",
                status(holds=kept.rows == promises.published),
                promises.published,
                kept.rows,
                f"{promises.suppressed} more were removed, says the publisher" if removed else "",
            )
        )
    if promises.suppression == "star" and (promises.suppressed or promises.published is not None):
        enough = counts.starred >= promises.suppressed
        checks.append(
            Check(
                "starred rows",
                status(holds=enough),
                promises.suppressed,
                min(counts.starred, promises.suppressed),
                "" if enough else "a starred row has nothing but * in the quasi-identifiers",
            )
        )
    return checks


def _top_checks(table: ModelGroups, promises: Promises) -> list[Check]:
    if not promises.at_top:
        return []
    split = []
    for name in promises.at_top:
        position = list(table.quasi_identifiers).index(name)
        if len({group.key[position] for group in table.groups}) > 1:
            split.append(name)
    detail = f"more than one value in {some(split)}" if split else ""
    return [Check("top levels", status(holds=not split), list(promises.at_top), detail=detail)]


def _cut_checks(table: ModelGroups, promises: Promises) -> list[Check]:
    """Check that each column was cut in one way: no published label is above another one."""
    faults = []
    for name, tree in promises.cuts.items():
        position = list(table.quasi_identifiers).index(name)
        shown = {group.key[position] for group in table.groups}
        texts = {text_of(value) for value in shown if value is not None}
        faults += [f"{name!r}: {fault}" for fault in _cut_faults(tree, texts)]
    if not promises.cuts:
        return []
    return [Check("cuts", status(holds=not faults), list(promises.cuts), detail="; ".join(faults))]


def _cut_faults(tree: Mapping[str, Any], shown: set[str]) -> list[str]:
    """List what is wrong with a cut that a stranger may have drawn, and with its labels.

    >>> _cut_faults({"*": {"1*": {"10": {}, "11": {}}, "2*": {}}}, {"1*", "10", "2*"})
    ["'1*' is published, and '10' below it too", "'11' is in the cut, and no row has it"]
    >>> _cut_faults({"*": {"*": {}, "10": {}}}, {"*", "10"})
    []
    """
    if len(tree) != 1:
        return ["it does not have one top"]
    leaves: list[str] = []
    inner: dict[str, str] = {}
    waiting: list[tuple[str, object, tuple[str, ...]]] = [(*pair, ()) for pair in tree.items()]
    while waiting:
        label, below, above = waiting.pop()
        if not isinstance(below, Mapping):
            return [f"what is below {label[:60]!r} cannot be read"]
        if not below:
            leaves.append(label)
            inner |= {each: label for each in above if each in shown and label in shown}
        waiting += [(each, more, (*above, label)) for each, more in below.items()]
    repeated = sorted(label for label, times in Counter(leaves).items() if times > 1)
    if repeated:
        return [f"{some(repeated)} stands in two places of it"]
    # A value may be written like what is above it; then it is the value that is published.
    inner = {label: one for label, one in inner.items() if label not in {*leaves}}
    faults = [
        f"{label[:60]!r} is published, and {inner[label][:60]!r} below it too"
        for label in sorted(inner)
    ]
    strange = sorted(shown - {*leaves} - {*inner})
    absent = sorted({*leaves} - shown)
    faults += [f"{some(strange)} is no label of the cut"] if strange else []
    return faults + ([f"{some(absent)} is in the cut, and no row has it"] if absent else [])


_ROUNDING = Fraction(1, 10**9)
"""How far a figure may be off, relative to what it should be: it was computed as a float."""


def check_figures(
    sizes: Sequence[int], promises: Promises, people: Sequence[Group] | None = None
) -> list[Check]:
    """Recompute what is claimed of classes and losses, from the sizes of the published classes.

    Args:
        sizes: The rows of each class.
        promises: What is claimed.
        people: The same classes in people, if they are known.
    """
    # A loss without a figure is one that was measured and is kept from readers.
    losses = {name: loss for name, loss in promises.losses.items() if loss is not None}
    if not promises.classes and not losses:
        return []
    claimed = {**promises.classes, **losses}
    if promises.counts_people and people is None:
        # Statements about people are judged where they are counted.
        claimed = {name: each for name, each in claimed.items() if name not in _OF_PEOPLE}
    found = {**_sizes_of(sizes), **_losses_of(sizes, promises.suppressed)}
    found |= {} if people is None else _people_of([group.rows for group in people])
    wrong = [
        f"{name} is {_plain(found[name]):.6g}, not {str(value)[:40]}"
        for name, value in claimed.items()
        if name in found and not _is_near(value, found[name])
    ]
    strange = [name for name in claimed if name not in found]
    if strange and not wrong:
        detail = f"{some(strange)} cannot be recomputed from the published rows"
        return [Check("figures", "unchecked", detail=detail)]
    counted = {name: _plain(value) for name, value in found.items()} if wrong else None
    return [Check("figures", status(holds=not wrong), found=counted, detail="; ".join(wrong))]


def _sizes_of(sizes: Sequence[int]) -> dict[str, Number]:
    """Measure the classes; without any there is nothing but their number."""
    if not sizes:
        return {"count": 0}
    mean = Fraction(sum(sizes), len(sizes))
    return {"count": len(sizes), "smallest": min(sizes), "largest": max(sizes), "average": mean}


_OF_PEOPLE = ("fewest_people", "average_people")


def _people_of(sizes: Sequence[int]) -> dict[str, Number]:
    """Measure classes by their people."""
    if not sizes:
        return {}
    return dict(zip(_OF_PEOPLE, (min(sizes), Fraction(sum(sizes), len(sizes))), strict=True))


def _losses_of(sizes: Sequence[int], suppressed: int) -> dict[str, Number]:
    """Measure what classes and suppressed rows cost.

    >>> _losses_of([3, 2], 1)
    {'average-class-size': Fraction(2, 1), 'discernibility': 19}
    """
    rows = sum(sizes) + suppressed
    classes = len(sizes) + (suppressed > 0)
    return {
        "average-class-size": Fraction(rows, max(classes, 1)),
        "discernibility": sum(size**2 for size in sizes) + rows * suppressed,
    }


def _is_near(claimed: object, found: Number) -> bool:
    if not is_number(claimed) or not math.isfinite(claimed):
        return False
    off, size = abs(Fraction(claimed) - Fraction(found)), abs(Fraction(found))
    return off <= _ROUNDING * max(size, Fraction(1))


def _nothing_missing(table: ModelGroups, promises: Promises) -> Check:
    """Check that no row misses a quasi-identifier.

    A number is empty where a range has no end, and both are where the value is hidden. How often
    it is hidden is told: an empty cell more would be a missing value.
    """
    place = {name: at for at, name in enumerate(promises.quasi_identifiers)}
    numbers = {
        name: [place[part] for part in parts if part in place]
        for name, (parts, _) in promises.hidden.items()
    }
    means = {place[mean]: [place[end] for end in ends] for mean, ends in promises.means.items()}
    ends_of_ranges = {at for ends in numbers.values() for at in ends}
    rows = 0
    untold = dict.fromkeys(numbers, 0)
    for group in table.groups:
        empty = {at for at, value in enumerate(group.key) if value is None}
        for name, ends in numbers.items():
            untold[name] += group.rows if ends and empty.issuperset(ends) else 0
        hidden = {at for at, ends in means.items() if empty.issuperset(ends)}
        rows += group.rows if empty - ends_of_ranges - hidden else 0
    others = [name for name, n in untold.items() if n != promises.hidden[name][1]]
    details = ["rows with a missing quasi-identifier should have been suppressed"] if rows else []
    details += [f"{name!r} is empty in other rows than those said to be hidden" for name in others]
    rows += sum(abs(untold[name] - promises.hidden[name][1]) for name in others)
    return Check("missing values", status(holds=not rows), 0, rows, "; ".join(details))


def _absent_classes(table: ModelGroups, promises: Promises) -> list[Check]:
    """Check that no class of the population is absent, where a least presence is promised.

    Whether its rows were suppressed or it never had any makes no difference: a class is
    suppressed because it breaks a promise.
    """
    least = [m for m in promises.models if m.get("model") == "delta-presence" and m.get("minimum")]
    if not least or promises.population is None or promises.published is None:
        return []
    absent = table.hidden.classes
    detail = f"for example {some(absent, most=1)}" if absent else ""
    return [Check("absent classes", status(holds=not absent), 0, len(absent), detail)]


def check_model(plain: Mapping[str, Any], table: ModelGroups) -> Check:
    """Recompute one model and compare it with its promise and its maker's figures."""
    promise = ClaimedPromise(plain)
    recomputed = MODEL_CHECKS.get(promise.model)
    promised = dict(promise.parameters)

    def leave_unchecked(why: str) -> Check:
        return Check(promise.model, "unchecked", promised, detail=why)

    if recomputed is None:
        return leave_unchecked("this verifier does not know the model")
    if table.unit == "people" and promise.model in _ONE_VALUE_EACH:
        return leave_unchecked("it is defined for people with one value each")
    if table.completed and promise.model not in _GROWING:
        table = replace(table, groups=table.completed)
    try:
        finding = recomputed(promise, table)
    except SfumatoError as error:
        return leave_unchecked(str(error))
    unread = promise.unread()
    if unread:
        return leave_unchecked(f"this verifier does not know its parameter {some(unread)}")
    found = {name: _plain(figure) for name, figure in finding.found.items()}
    wrong = _wrong_measured(promise.measured, found)
    detail = "; ".join(filter(None, [finding.detail, wrong]))
    worst = None
    if finding.worst:
        worst = dict(zip(table.quasi_identifiers, finding.worst.key, strict=True))
    good = status(holds=finding.holds and not wrong)
    return Check(promise.model, good, promised, found, detail, worst)


def _plain(figure: Number) -> int | float:
    return figure if isinstance(figure, int) else float(figure)


def _wrong_measured(measured: object, found: Mapping[str, int | float]) -> str:
    """Describe where the maker's own figures are not what was found; "" if nowhere."""
    if measured is None:
        return ""
    if not isinstance(measured, Mapping):
        return "the measured figures cannot be read"
    strange = [name for name in measured if name not in found]
    if strange:
        return f"measured names {some(strange)}, which was not recomputed"
    wrong = [name for name in measured if not _agrees(measured[name], found[name])]
    return f"measured says {some(f'{n}={measured[n]}' for n in wrong)}" if wrong else ""


def _agrees(claimed: object, found: int | float) -> bool:
    # JSON has no infinity; makers write it as text or leave the figure empty.
    value = float("inf") if claimed in (None, "inf", "Infinity") else claimed
    try:
        return is_number(value) and same(value, found)
    except OverflowError:
        return False
