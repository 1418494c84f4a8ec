"""Equivalence classes: their sizes and the sensitive values inside them."""

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import field, replace
from functools import cached_property
from typing import Any, TypeAlias, TypeVar

import numpy as np

from sfumato.counts import Column, FrequencySet, add_up, align, group, sums
from sfumato.counts.people import ClassPeople
from sfumato.dataclasses import dataclass
from sfumato.errors import PolicyError, UnknownColumnError
from sfumato.hierarchy.base import Ladder
from sfumato.text import fold_spelling, text_of
from sfumato.typing import BoolArray, FloatArray, IntArray, Value

MISSING = -1
"""The code of a missing sensitive value."""

Weights: TypeAlias = IntArray | FloatArray
"""Numbers of rows, or probabilities."""

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class SensitiveColumn:
    """What models may ask of a sensitive column apart from the counts.

    `values` holds the known values in order; code -1 is missing. `ladder` is the
    column's hierarchy if it has one (for hierarchical distances).
    """

    name: str
    values: tuple[Value, ...]
    ladder: Ladder | None = None
    secrecy: IntArray | None = None
    """How much each value is a secret (see `sfumato.harm.Secrecy`); None if all are ordinary."""

    width: float | None = None
    """How close two numbers, or days, are alike; None if that is not said, 0 if none are."""

    folded: bool = False
    """Whether values that differ only in spelling are one here."""

    _memo: dict[Hashable, Any] = field(default_factory=dict, repr=False)

    def key(self, text: str) -> str:
        """Return what a text is recognised by: itself, or what is left of it when folded."""
        return fold_spelling(text) if self.folded else text

    @property
    def keys(self) -> list[str]:
        """The texts that the values are recognised by."""
        return [self.key(text_of(value)) for value in self.values]

    def memoize(self, key: Hashable, build: Callable[["SensitiveColumn"], T]) -> T:
        """Compute something about the values once and keep it (category codes, weights)."""
        if key not in self._memo:
            self._memo[key] = build(self)
        result: T = self._memo[key]
        return result


@dataclass(frozen=True, eq=False)
class ValueCounts:
    """The rows that hold each value in each class: one entry per pair that occurs.

    Entries are sorted by class, then value; every class has at least one entry.
    """

    column: SensitiveColumn
    class_id: IntArray
    value: IntArray
    """Code of the value, `MISSING` for none."""

    rows: IntArray
    reference: IntArray
    """Rows of each value in the whole table, missing last: what classes are compared with."""

    people: IntArray | None = None
    """Where people are counted: those of each class who have some value that is known.

    `rows` are then the people who have a value, and one who has two is in two entries.
    """

    everyone: int | None = None
    """Where people are counted: how many the reference is of, each once per class."""

    everyone_known: int | None = None
    """Where people are counted: those of them who have some value that is known."""

    @property
    def known_total(self) -> int:
        """The number of rows, or people, of the reference whose value is known."""
        if self.everyone_known is None:
            return int(self.reference[:-1].sum())
        return self.everyone_known

    @property
    def reference_total(self) -> int:
        """The number of rows, or people, that the reference is of."""
        return int(self.reference.sum()) if self.everyone is None else self.everyone

    @cached_property
    def held(self) -> IntArray:
        """The values that are held in each class, each as often as it is.

        As many as there are rows; where people are counted, a person holds each of theirs once.
        """
        classes = int(self.class_id[-1]) + 1 if len(self.class_id) else 0
        return sums(self.class_id, self.rows, classes)

    @cached_property
    def starts(self) -> IntArray:
        """The position at which each class's entries begin."""
        return np.flatnonzero(np.diff(self.class_id, prepend=-1))

    @cached_property
    def known(self) -> "KnownCounts":
        """The entries without the missing values, and each class's number of known rows."""
        class_id, value, rows = self.class_id, self.value, self.rows
        # Entries are in order of their classes, and none is without any.
        classes = int(class_id[-1]) + 1 if len(class_id) else 0
        keep = value != MISSING
        if not keep.all():
            class_id, value, rows = class_id[keep], value[keep], rows[keep]
        if self.people is not None:
            return KnownCounts(class_id, value, rows, self.people, several=True)
        totals = np.bincount(class_id, weights=rows, minlength=classes).astype(np.int64)
        return KnownCounts(class_id, value, rows, totals)


class LazyCounts(Mapping[str, ValueCounts]):
    """Value counts by column, each made when it is asked for: many verdicts need none of them.

    Args:
        names: The sensitive columns.
        make: Makes the counts of one.
    """

    def __init__(self, names: Iterable[str], make: Callable[[str], ValueCounts]) -> None:
        self._names = tuple(names)
        self._make = make
        self._made: dict[str, ValueCounts] = {}

    def __getitem__(self, name: str) -> ValueCounts:
        if name not in self._made:
            if name not in self._names:
                raise KeyError(name)
            self._made[name] = self._make(name)
        return self._made[name]

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


@dataclass(frozen=True, eq=False)
class KnownCounts:
    """Value counts without missing values; a class may have no entry at all.

    Instead of rows, entries may have probabilities: shares of a person's belief, say.

    Example:
        >>> class_id, rows = np.array([0, 0, 0, 1]), np.array([2, 3, 1, 4])
        >>> ill = KnownCounts(class_id, np.array([0, 1, 2, 1]), rows, np.array([6, 4]))
        >>> ill.largest.tolist(), ill.beyond(1).tolist(), np.exp(ill.entropy).round(2).tolist()
        ([3, 4], [3, 0], [2.75, 1.0])
    """

    class_id: IntArray
    value: IntArray
    rows: Weights
    totals: Weights
    """Rows with a known value, per class."""

    several: bool = False
    """Whether rows are people, one of whom may have several values.

    The diversity of a class is then the least that it can be if one value of each person matters.
    The most frequent value is taken of all who have it, the next one of as many as are left over,
    and so on. No choice of one value per person is more uneven.
    """

    def __len__(self) -> int:
        return len(self.totals)

    @cached_property
    def distinct(self) -> IntArray:
        """The number of different known values each class shows."""
        if self.several:
            return np.bincount(self.class_id[self._falling > 0], minlength=len(self.totals))
        return np.bincount(self.class_id, minlength=len(self.totals))

    @cached_property
    def largest(self) -> Weights:
        """Rows of each class's most frequent known value, 0 if it has none."""
        result: Weights = self.totals * 0
        starts = np.flatnonzero(np.diff(self.class_id, prepend=-1))
        if len(starts):
            result[self.class_id[starts]] = np.maximum.reduceat(self.rows, starts)
        return result

    @cached_property
    def entropy(self) -> FloatArray:
        """The entropy of each class's shares, to base e; -∞ where no value is known."""
        # -Σ c/n log(c/n) = log n - (Σ c log c)/n, one pass over the counts.
        rows = np.maximum(self._falling, 1) if self.several else self.rows
        sums = add_up(self.class_id, rows * np.log(rows), len(self))
        result = np.full(len(self), -np.inf)
        some = self.totals > 0
        totals = self.totals[some]
        # Rounding must not make the entropy of a single value negative.
        result[some] = np.maximum(np.log(totals) - sums[some] / totals, 0.0)
        return result

    def beyond(self, n: int) -> Weights:
        """Rows of each class outside its `n` most frequent known values."""
        # Where one value of each person matters, some of the entries count for none.
        entries = self.distinct
        if self.several:
            entries = np.bincount(self.class_id, minlength=len(self.totals))
        first = np.cumsum(entries) - entries
        rank = np.arange(len(self.rows)) - first[self.class_id]
        tail = np.where(rank >= n, self._falling, 0)
        sums = add_up(self.class_id, tail, len(self))
        return sums if self.rows.dtype.kind == "f" else sums.astype(np.int64)

    @cached_property
    def _falling(self) -> Weights:
        """The rows of the entries, class by class, largest first."""
        falling = self._sorted
        if not self.several:
            return falling
        starts = np.flatnonzero(np.diff(self.class_id, prepend=-1))
        before = np.cumsum(falling) - falling
        if len(starts):
            before -= np.repeat(before[starts], np.diff(starts, append=len(falling)))
        return np.clip(self.totals[self.class_id] - before, 0, falling)

    @property
    def _sorted(self) -> Weights:
        if self.rows.dtype.kind == "f":
            return self.rows[np.lexsort((-self.rows, self.class_id))]
        # One sort of packed keys orders every class's counts downwards.
        width = int(self.rows.max(initial=0)) + 1
        falling: IntArray = np.sort(self.class_id * width + (width - 1 - self.rows)) % width
        return width - 1 - falling


@dataclass(frozen=True, eq=False)
class EquivalenceClasses:
    """The classes of a table as models see them: counts and nothing else.

    Example:
        >>> classes = classes_of([("A", "flu"), ("A", "gout"), ("B", "flu")], column="disease")
        >>> classes.sizes.tolist(), classes.counts_of("disease").rows.tolist()
        ([2, 1], [1, 1, 1])
    """

    sizes: IntArray
    sensitive: Mapping[str, ValueCounts] = field(default_factory=dict)
    population: IntArray | None = None
    """The people of the population table in each class, if one was given."""

    own: IntArray | None = None
    """Rows published with each class's own values, where `sizes` is not their number.

    Classes may overlap, so that more rows look like one person's, or people have several rows.
    """

    unseen: int = 0
    """The people of the population in classes that the table does not show at all."""

    suppressed: int = 0
    """Rows that are not shown."""

    scattered: bool = False
    """Whether suppressed rows may also be of people in classes that the table shows."""

    overlap: "Overlap | None" = None
    """The published tuples, where missing values match any: `sizes` is then the least."""

    by_person: bool = False
    """Whether sizes and values are of people, who may have several rows: `own` has the rows."""

    drawn: IntArray | None = None
    """A secret random order of the classes, for models that draw among them; a number each."""

    people: ClassPeople | None = None
    """Where people are counted, and asked for: who is in several classes, to count each once."""

    def __len__(self) -> int:
        return len(self.sizes)

    @cached_property
    def total(self) -> int:
        """The number of rows."""
        return int(self.rows.sum())

    @property
    def rows(self) -> IntArray:
        """The number of rows each class stands for; its size, unless `own` says otherwise."""
        return self.sizes if self.own is None else self.own

    @property
    def inside(self) -> IntArray:
        """The people each class stands for: its rows, or where people are counted, its people."""
        return self.sizes if self.by_person else self.rows

    @property
    def n_people(self) -> int:
        """The number of people, every one once; of rows, where each is a person."""
        return self.total if self.people is None else self.people.total

    def at_worst(self, levels: IntArray, n: int) -> IntArray:
        """Return how many people are of each of n levels, every one at the worst of their classes.

        Args:
            levels: The level of each class.
            n: How many levels there are.
        """
        if self.people is None:
            return sums(levels, self.rows, n)
        return self.people.at_worst(levels, n)

    def counts_of(self, column: str) -> ValueCounts:
        """Return the value counts of a sensitive column, or refuse with the nearest name."""
        if column not in self.sensitive:
            raise UnknownColumnError(column, self.sensitive, where="the sensitive columns")
        return self.sensitive[column]

    def population_sizes(self) -> IntArray:
        """Return the population's class sizes, or refuse if there is no population."""
        if self.population is None:
            raise PolicyError(
                "this model compares the table with a population and none was given. "
                "Name one in the policy: population: people.csv"
            )
        return self.population

    def merge(self, into: IntArray) -> "EquivalenceClasses":
        """Merge classes: class i becomes part of class `into[i]` (numbers without gaps)."""
        n = int(into.max()) + 1 if len(into) else 0

        def add(per_class: IntArray) -> IntArray:
            return sums(into, per_class, n)

        if self.people is not None:
            people = self.people.roll_up(into, n)
            columns = {name: counts.column for name, counts in self.sensitive.items()}
            return replace(classes_of_people(people, add(self.rows), columns), people=people)
        sensitive = {
            name: merge_counts(counts, into[counts.class_id])
            for name, counts in self.sensitive.items()
        }
        population = None if self.population is None else add(self.population)
        own = None if self.own is None else add(self.own)
        return replace(
            self,
            sizes=add(self.sizes),
            sensitive=sensitive,
            population=population,
            own=own,
            drawn=None,
        )

    def keep(self, keep: np.ndarray, *, own_reference: bool = False) -> "EquivalenceClasses":
        """Remove the classes where `keep` is false: their rows are suppressed, their people unseen.

        With `own_reference` the remaining rows become what classes are compared with.
        """
        number = np.cumsum(keep) - 1

        def counts_left(name: str) -> ValueCounts:
            counts = self.sensitive[name]
            entries = keep[counts.class_id]
            value, rows = counts.value[entries], counts.rows[entries]
            reference, everyone = counts.reference, counts.everyone
            people, known = counts.people, counts.everyone_known
            if own_reference:
                reference = reference_of(value, rows, len(counts.column.values))
                everyone = None if everyone is None else int(self.sizes[keep].sum())
                known = None if people is None else int(people[keep].sum())
            return ValueCounts(
                counts.column,
                number[counts.class_id[entries]],
                value,
                rows,
                reference,
                None if people is None else people[keep],
                everyone,
                known,
            )

        sensitive = LazyCounts(self.sensitive, counts_left)
        population = self.population
        hidden = 0 if population is None else int(population[~keep].sum())
        return EquivalenceClasses(
            self.sizes[keep],
            sensitive,
            None if population is None else population[keep],
            None if self.own is None else self.own[keep],
            self.unseen + hidden,
            self.suppressed + int(self.rows[~keep].sum()),
            self.scattered,
            by_person=self.by_person,
            drawn=None if self.drawn is None else self.drawn[keep],
            people=None if self.people is None else self.people.keep(keep),
        )


def reference_of(value: IntArray, rows: IntArray, n_values: int) -> IntArray:
    """Count the rows of each value over all classes, the missing ones last.

    >>> reference_of(np.array([0, -1, 0]), np.array([2, 1, 3]), 2).tolist()
    [5, 0, 1]
    """
    code = np.where(value == MISSING, n_values, value)
    return sums(code, rows, n_values + 1)


def merge_counts(counts: ValueCounts, class_id: IntArray) -> ValueCounts:
    """Add up entries that now share class and value."""
    width = len(counts.column.values) + 1
    groups = group([class_id, counts.value + 1], [int(class_id.max(initial=0)) + 1, width])
    rows = sums(groups.of_item, counts.rows, groups.n)
    return ValueCounts(
        counts.column, class_id[groups.first], counts.value[groups.first], rows, counts.reference
    )


def sensitive_column(
    column: Column, ladder: Ladder | None = None, *, exact: bool = False
) -> SensitiveColumn:
    """Describe a counted column to the models.

    Args:
        column: The column.
        ladder: The hierarchy of its values; if it is folded, of those that stand for others.
        exact: Whether values that differ only in spelling are different values.
    """
    known = column.known if exact else column.folded.column.known
    return SensitiveColumn(column.name, known, ladder, folded=not exact)


def classes_from(
    counts: FrequencySet,
    quasi_identifiers: tuple[str, ...],
    sensitive: Mapping[str, SensitiveColumn] | tuple[str, ...] = (),
    *,
    person: str | None = None,
) -> EquivalenceClasses:
    """Group a frequency set by its quasi-identifiers as they are, without generalising.

    Args:
        counts: The rows.
        quasi_identifiers: The columns to group by.
        sensitive: The columns whose values are counted.
        person: The column whose value is the same in all rows of a person, to count people.

    >>> f = FrequencySet.from_rows(["sex", "ill"], [("f", "flu"), ("f", None), ("m", "flu")])
    >>> classes_from(f, ("sex",), ("ill",)).counts_of("ill").value.tolist()
    [-1, 0, 0]
    """
    positions = [counts.index(name) for name in quasi_identifiers]
    sizes = [len(counts.columns[p].values) for p in positions]
    groups = group([counts.codes[p] for p in positions], sizes, n=len(counts))
    class_sizes = np.bincount(groups.of_item, weights=counts.rows, minlength=groups.n)
    described = (
        sensitive
        if isinstance(sensitive, Mapping)
        else {name: sensitive_column(counts.column(name)) for name in sensitive}
    )
    if person is not None and groups.n == 1 and not described:
        # All of them in one class: no one has to be told from others like them.
        every = np.count_nonzero(np.bincount(counts.codes_of(person)))
        rows = class_sizes.astype(np.int64)
        return EquivalenceClasses(np.array([every]), own=rows, by_person=True)
    if person is not None:
        values = {
            name: (sensitive_codes(counts, name, folded=each.folded) + 1, len(each.values) + 1)
            for name, each in described.items()
        }
        people = ClassPeople.count(
            counts.codes_of(person).astype(np.int64), groups.of_item, values, groups.n
        )
        found = classes_of_people(people, class_sizes.astype(np.int64), described)
        return replace(found, people=people)
    tables = {}
    for name, column in described.items():
        value = sensitive_codes(counts, name, folded=column.folded)
        reference = reference_of(value, counts.rows, len(column.values))
        raw = ValueCounts(column, groups.of_item, value, counts.rows, reference)
        tables[name] = merge_counts(raw, groups.of_item)
    return EquivalenceClasses(class_sizes.astype(np.int64), tables)


def classes_of_people(
    people: ClassPeople, rows: IntArray, sensitive: Mapping[str, SensitiveColumn]
) -> EquivalenceClasses:
    """Return classes in which people are counted, and people of each value.

    Args:
        people: The people of each class.
        rows: The rows of each class.
        sensitive: The columns whose values were counted with them.

    >>> people = ClassPeople.count(np.array([0, 0, 1]), np.array([0, 0, 0]), {}, 1)
    >>> classes_of_people(people, np.array([3]), {}).sizes.tolist()
    [2]
    """
    sizes, counted = people.sizes, {}
    for name, column in sensitive.items():
        found = people.entries_of(name)
        value = found.value - 1
        counted[name] = ValueCounts(
            column,
            found.item,
            value,
            found.people,
            reference_of(value, found.people, len(column.values)),
            people=found.known,
            everyone=int(sizes.sum()),
            everyone_known=int(found.known.sum()),
        )
    return EquivalenceClasses(sizes, counted, own=rows, by_person=True)


def sensitive_codes(counts: FrequencySet, name: str, *, folded: bool) -> IntArray:
    """Return a column's codes, or those of its folded values, with missing as `MISSING`."""
    column = counts.column(name)
    codes = counts.codes_of(name)
    if folded:
        codes, column = column.folded.codes[codes], column.folded.column
    found: IntArray = codes.astype(np.int64)
    if column.missing >= 0:
        found[found == column.missing] = MISSING
    return found


# Classes when a missing value matches every value: they overlap.
#
# An adversary knows the whole tuple of a person, and not which cells of the person's row are
# missing. So they find every published tuple that agrees with it wherever that one is known. Of a
# published tuple with gaps it is not known whose it is: the person may have any values there, also
# such as no other row has. Each tuple is therefore judged on its worst completion.
#
# Filling a gap with a value that no row has leaves the fewest rows: those that miss the cell too.
# Every other completion finds these and more. So models that more rows never break (k, distinct
# values) need that one completion per tuple, which is what `overlapping` gives; the others ask
# for all, in `Overlap.completions`.

_MOST_COMPLETIONS = 1 << 16
"""Completions, beside four per tuple, beyond which tuples are judged apart instead."""


@dataclass(frozen=True, eq=False)
class Completions:
    """Tuples that fill the gaps of published ones, and the rows that fit each."""

    classes: EquivalenceClasses
    """One class per completion: all rows that fit it."""

    completion: IntArray
    """With `published`: pairs of a completion and a published tuple that fits it."""

    published: IntArray

    def spread(self, verdicts: BoolArray, n: int) -> BoolArray:
        """Return for each of n published tuples whether all its completions pass."""
        keep = np.ones(n, dtype=np.bool_)
        keep[self.published[~verdicts[self.completion]]] = False
        return keep


@dataclass(frozen=True, eq=False)
class Overlap:
    """Published tuples of which some have gaps that match any value.

    The cost is the number of tuples times the number of different patterns of missing cells,
    never the square of the tuples.

    Args:
        codes: The published label of each tuple: one row per quasi-identifier.
        missing: Where that label is a missing value.
        apart: The rows of each tuple by itself.
        own_reference: Whether these rows are what classes are compared with.

    Example:
        >>> apart = classes_of([("a", "flu"), ("b", "hiv"), ("c", "hiv")], column="ill")
        >>> codes = np.array([[0, 0, 2], [5, 9, 5]])  # (0, 5), (0, gap) and (gap, 5)
        >>> missing = np.array([[False, False, True], [False, True, False]])
        >>> overlap = Overlap(codes, missing, apart, own_reference=True)
        >>> overlap.least.sizes.tolist(), overlap.completions.classes.sizes.tolist()
        ([3, 1, 1], [1, 1, 3])
    """

    codes: IntArray
    missing: BoolArray
    apart: EquivalenceClasses
    own_reference: bool

    @cached_property
    def least(self) -> EquivalenceClasses:
        """Per tuple the rows that fit if its gaps hold values that no row has."""
        found = self._classes(self.codes, ~self.missing)
        drawn = self.apart.drawn
        return replace(found.classes, own=self.apart.sizes, overlap=self, drawn=drawn)

    @cached_property
    def completions(self) -> Completions:
        """Every set of rows that a completion of some tuple finds, each once.

        If these are too many, the tuples by themselves. What a model that is closed under
        merging finds good of all of them is good of every completion: its rows are those of
        some tuples together.
        """
        found = self._join_all()
        if found is None:
            every = np.arange(len(self.apart))
            return Completions(self.apart, every, every)
        return self._classes(*found)

    @cached_property
    def _patterns(self) -> list[tuple[BoolArray, IntArray]]:
        """The patterns of known cells, each with the tuples of which it is true."""
        known = ~self.missing
        groups = group(list(known.astype(np.int64)), [2] * len(known), n=known.shape[1])
        return [
            (known[:, first], np.flatnonzero(groups.of_item == i))
            for i, first in enumerate(groups.first.tolist())
        ]

    def _classes(self, codes: IntArray, known: BoolArray) -> Completions:
        """Find the published tuples that fit some tuples, and count their rows.

        A published tuple fits if it knows nothing but what the other knows, and the same.
        """
        completion, published = [], []
        groups = group(list(known.astype(np.int64)), [2] * len(known), n=known.shape[1])
        for i, first in enumerate(groups.first.tolist()):
            mine = np.flatnonzero(groups.of_item == i)
            for mask, theirs in self._patterns:
                if (mask & ~known[:, first]).any():
                    continue
                my_key, their_key, n = _common_keys(
                    codes[:, mine], self.codes[:, theirs], np.flatnonzero(mask)
                )
                at = np.full(n, -1, dtype=np.int64)
                at[their_key] = theirs
                found = at[my_key]
                completion.append(mine[found >= 0])
                published.append(found[found >= 0])
        pairs = np.concatenate(completion), np.concatenate(published)
        n = codes.shape[1]
        sizes = sums(pairs[0], self.apart.sizes[pairs[1]], n)
        sensitive = {
            name: self._counts(counts, *pairs) for name, counts in self.apart.sensitive.items()
        }
        # A completion that is not published stands for no row of its own.
        own = np.zeros(n, dtype=np.int64)
        classes = replace(
            self.apart, sizes=sizes, sensitive=sensitive, population=None, own=own, drawn=None
        )
        return Completions(classes, *pairs)

    def pick(self, name: str, score: Callable[[ValueCounts], FloatArray]) -> ValueCounts:
        """Return per tuple the values of a column in the completion that scores highest.

        Args:
            name: The sensitive column.
            score: Gives a figure for each entry of the counts; a completion has its highest.
        """
        completions = self.completions
        if completions.classes is self.apart:
            return self.least.counts_of(name)
        counts = completions.classes.counts_of(name)
        best = np.full(len(completions.classes), -np.inf)
        np.maximum.at(best, counts.class_id, score(counts))
        # Of each tuple's completions the last is the highest.
        order = np.lexsort((best[completions.completion], completions.published))
        chosen = np.empty(len(self.apart), dtype=np.int64)
        chosen[completions.published[order]] = completions.completion[order]
        entries = np.bincount(counts.class_id, minlength=len(best))
        at, of = repeat_spans(np.cumsum(entries) - entries, entries, chosen)
        return ValueCounts(counts.column, of, counts.value[at], counts.rows[at], counts.reference)

    def _counts(
        self, counts: ValueCounts, completion: IntArray, published: IntArray
    ) -> ValueCounts:
        """Add up the value counts of the tuples that fit each completion."""
        entries = np.bincount(counts.class_id, minlength=len(self.apart))
        chosen, pair = repeat_spans(np.cumsum(entries) - entries, entries, published)
        class_id = completion[pair]
        reference = counts.reference
        if self.own_reference:
            reference = reference_of(counts.value, counts.rows, len(counts.column.values))
        raw = ValueCounts(
            counts.column, class_id, counts.value[chosen], counts.rows[chosen], reference
        )
        return merge_counts(raw, class_id)

    def _join_all(self) -> tuple[IntArray, BoolArray] | None:
        """Join published tuples that agree, in all ways; None if that makes too many.

        A completion matters as far as rows with known cells fit it: it is the join of these. So
        the patterns are gone through one by one, each tuple so far joined with all of the next
        pattern that agree with it.
        """
        most = _MOST_COMPLETIONS + 4 * len(self.apart)
        joins: dict[bytes, tuple[BoolArray, IntArray]] = {}
        for mask, theirs in self._patterns:
            new = [(mask, np.where(mask[:, None], self.codes[:, theirs], 0))]
            for known, tuples in joins.values():
                if (known & ~mask).any() and (mask & ~known).any():
                    joined = _join(tuples, known, self.codes[:, theirs], mask, most)
                    if joined is None:
                        return None
                    new.append((known | mask, joined))
            for known, tuples in new:
                key = known.tobytes()
                if key in joins:
                    tuples = np.concatenate([joins[key][1], tuples], axis=1)  # noqa: PLW2901
                joins[key] = known, _distinct(tuples, known)
            if sum(tuples.shape[1] for _, tuples in joins.values()) > most:
                return None
        found = list(joins.values())
        known = np.repeat(
            np.array([mask for mask, _ in found]).T, [t.shape[1] for _, t in found], axis=1
        )
        return np.concatenate([tuples for _, tuples in found], axis=1), known


def overlapping(
    codes: IntArray, missing: BoolArray, classes: EquivalenceClasses, *, own_reference: bool
) -> EquivalenceClasses:
    """Return each class with the rows of its smallest completion; models ask for the others.

    Args:
        codes: The published label of each class: one row per quasi-identifier.
        missing: Where that label is a missing value, which matches any.
        classes: The classes as they stand, without overlap.
        own_reference: Whether these rows are what classes are compared with.

    Example:
        >>> classes = EquivalenceClasses(np.array([3, 1]))
        >>> codes, missing = np.array([[0, 1]]), np.array([[False, True]])
        >>> overlapping(codes, missing, classes, own_reference=True).sizes.tolist()
        [4, 1]
    """
    if not missing.any():
        return classes
    return Overlap(codes, missing, classes, own_reference).least


def _common_keys(
    one: IntArray, other: IntArray, shared: IntArray
) -> tuple[IntArray, IntArray, int]:
    """Number two sets of tuples by what they have on the shared attributes."""
    columns = [np.concatenate([one[a], other[a]]) for a in shared]
    widths = [int(column.max(initial=0)) + 1 for column in columns]
    groups = group(columns, widths, n=one.shape[1] + other.shape[1])
    return groups.of_item[: one.shape[1]], groups.of_item[one.shape[1] :], groups.n


def _join(
    one: IntArray, known: BoolArray, other: IntArray, mask: BoolArray, most: int
) -> IntArray | None:
    """Join the tuples of two sets that agree where both are known; None if these are too many."""
    my_key, their_key, n = _common_keys(one, other, np.flatnonzero(known & mask))
    order = np.argsort(their_key, kind="stable")
    of_key = np.bincount(their_key, minlength=n)
    if int(of_key[my_key].sum()) > most:
        return None
    at, mine = repeat_spans(np.cumsum(of_key) - of_key, of_key, my_key)
    theirs = order[at]
    joined: IntArray = np.where(known[:, None], one[:, mine], other[:, theirs])
    return np.where((known | mask)[:, None], joined, 0)


def repeat_spans(first: IntArray, length: IntArray, chosen: IntArray) -> tuple[IntArray, IntArray]:
    """Return the positions of all items of the chosen spans, and whose they are.

    >>> at, of = repeat_spans(np.array([0, 2]), np.array([2, 3]), np.array([1, 0, 1]))
    >>> at.tolist(), of.tolist()
    ([2, 3, 4, 0, 1, 2, 3, 4], [0, 0, 0, 1, 1, 2, 2, 2])
    """
    repeats = length[chosen]
    of = np.repeat(np.arange(len(chosen)), repeats)
    offset = np.arange(len(of)) - np.repeat(np.cumsum(repeats) - repeats, repeats)
    return first[chosen][of] + offset, of


def _distinct(tuples: IntArray, known: BoolArray) -> IntArray:
    columns = list(tuples[known])
    widths = [int(column.max(initial=0)) + 1 for column in columns]
    first = group(columns, widths, n=tuples.shape[1]).first
    return tuples[:, first]


def classes_with(
    counts: FrequencySet,
    quasi_identifiers: tuple[str, ...],
    sensitive: tuple[str, ...] = (),
    population: FrequencySet | None = None,
    *,
    person: str | None = None,
) -> EquivalenceClasses:
    """Group a table by its quasi-identifiers, and count the people of a population there too.

    People whose class the table does not show are left out. Where a column tells people apart who
    may have several rows, they are counted.

    >>> table = FrequencySet.from_rows(["age"], [(31,), (31,), (47,)])
    >>> people = FrequencySet.from_rows(["age"], [("31",)] * 9 + [("52",)])
    >>> classes_with(table, ("age",), population=people).population.tolist()
    [9, 0]
    """
    if population is None:
        return classes_from(counts, quasi_identifiers, sensitive, person=person)
    counts, population = align(counts, population, quasi_identifiers)
    classes = classes_from(counts, quasi_identifiers, sensitive, person=person)
    both = [
        np.concatenate([counts.codes_of(name), population.codes_of(name)])
        for name in quasi_identifiers
    ]
    groups = group(both, [len(counts.column(name).values) for name in quasi_identifiers])
    people = np.bincount(
        groups.of_item[len(counts) :], weights=population.rows, minlength=groups.n
    ).astype(np.int64)
    # Groups are in the same order as the classes; those without a row of the table go.
    shown = np.unique(groups.of_item[: len(counts)])
    unseen = int(people.sum() - people[shown].sum())
    return replace(classes, population=people[shown], unseen=unseen)
