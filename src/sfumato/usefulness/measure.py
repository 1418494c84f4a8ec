"""The same questions for every release of a table."""

from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from importlib.util import find_spec
from itertools import combinations
from typing import Any, NamedTuple, Self

import numpy as np

from sfumato.counts import Column, FrequencySet, group
from sfumato.dataclasses import dataclass
from sfumato.decouplings.slices.correlation import cells_in, cramers_v
from sfumato.errors import (
    MissingExtraError,
    ParameterError,
    UnknownNameError,
    require_int,
    require_text,
)
from sfumato.hierarchy.labels import RawLabels
from sfumato.showing.content import (
    Cell,
    Content,
    ContentTable,
    FineShare,
    Part,
    Sentence,
    Showable,
    plain_of,
)
from sfumato.text import format_integer, number_of, percent, text_of
from sfumato.typing import FloatArray, IntArray
from sfumato.usefulness.estimators import Estimator
from sfumato.usefulness.numbers import (
    MEANS,
    PEARSON,
    QUANTILES,
    REGRESSION,
    VARIANCES,
    NumberUtility,
)
from sfumato.usefulness.propensity import DISTINGUISHABILITY, Propensity
from sfumato.usefulness.queries import QueryErrors, Workload

# How much of what columns have to do with each other is still in a release.


MOST_CELLS = 1_000_000
"""Pairs of columns with more pairs of values than this are left out, and named."""


class Pair(NamedTuple):
    """Two columns, and Cramér's V between them in the original and in the release."""

    one: str
    other: str
    before: float
    after: float

    @property
    def difference(self) -> float:
        """The distance between release and original."""
        return abs(self.after - self.before)


@dataclass(frozen=True)
class Associations:
    """Cramér's V of every pair of columns, before and after.

    Example:
        >>> from sfumato.decouplings.base import GroupedTables
        >>> from sfumato.counts import FrequencySet
        >>> from sfumato.usefulness import Estimator
        >>> rows = [("30s", "flu", "low"), ("30s", "gout", "high")]
        >>> table = FrequencySet.from_rows(["age", "ill", "pay"], rows)
        >>> grouped = GroupedTables.of(table, ["age"], ["ill", "pay"])
        >>> release = Estimator.of_groups(grouped, table.columns)
        >>> names = ["ill", "pay"]
        >>> before = strengths(Estimator.of_original(table), names)
        >>> print(Associations.between(before, release, names))
        correlations (Cramér's V) of 1 pair of columns: off by 1.000 in the mean, most in ill and
        pay (1.000 became 0.000)
    """

    pairs: tuple[Pair, ...]
    left_out: tuple[tuple[str, str], ...] = ()
    """Pairs of columns with too many values to be compared."""

    @classmethod
    def between(
        cls, before: Mapping[tuple[str, str], float], release: Estimator, names: Sequence[str]
    ) -> Self:
        """Compare the strengths of the original with those of a release."""
        after = strengths(release, names)
        pairs = tuple(Pair(*names, before[names], after[names]) for names in before)
        return cls(pairs, tuple(each for each in combinations(names, 2) if each not in before))

    @property
    def mean_difference(self) -> float:
        """The mean distance over all pairs; 0 is a perfect release."""
        return sum(p.difference for p in self.pairs) / len(self.pairs) if self.pairs else 0.0

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as plain values that JSON can hold."""
        return {
            "mean_difference": self.mean_difference,
            "pairs": [
                {"columns": [p.one, p.other], "before": p.before, "after": p.after}
                for p in self.pairs
            ],
            "left_out": [list(names) for names in self.left_out],
        }

    def __str__(self) -> str:
        if not self.pairs:
            return "correlations: no pair of columns to compare"
        worst = max(self.pairs, key=lambda pair: pair.difference)
        pairs = "1 pair" if len(self.pairs) == 1 else f"{len(self.pairs)} pairs"
        rest = f"; {len(self.left_out)} with too many values left out" if self.left_out else ""
        return (
            f"correlations (Cramér's V) of {pairs} of columns: off by "
            f"{self.mean_difference:.3f} in the mean, most in {worst.one} and {worst.other} "
            f"({worst.before:.3f} became {worst.after:.3f}){rest}"
        )


def strengths(estimator: Estimator, names: Sequence[str]) -> dict[tuple[str, str], float]:
    """Return Cramér's V of each pair of columns; pairs of more than `MOST_CELLS` are left out.

    >>> from sfumato.counts import FrequencySet
    >>> from sfumato.usefulness import Estimator
    >>> table = FrequencySet.from_rows(["ill", "pay"], [("flu", "low"), ("gout", "high")])
    >>> strengths(Estimator.of_original(table), ["ill", "pay"])
    {('ill', 'pay'): 1.0}
    """
    sizes = {name: len(estimator.column(name).values) for name in names}
    return {
        (one, other): cramers_v(*cells_in(estimator.joint(one, other)))
        for one, other in combinations(names, 2)
        if sizes[one] * sizes[other] <= MOST_CELLS
    }


# How well a classifier that learnt from a release does.


@dataclass(frozen=True)
class Accuracy:
    """How often a column is told right from the others.

    Example:
        >>> print(Accuracy("ill", baseline=0.5, before=0.9, after=0.75))
        decision tree for ill: right in 75.0 % of rows; 90.0 % if learnt from the original, 50.0 %
        by guessing the most frequent value
    """

    target: str
    baseline: float
    """By always guessing the most frequent value."""

    before: float
    """After learning from the original."""

    after: float
    """After learning from the release."""

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as plain values that JSON can hold."""
        return plain_of(self, "target baseline before after")

    def __str__(self) -> str:
        return (
            f"decision tree for {self.target}: right in {percent(self.after, 1)} of rows; "
            f"{percent(self.before, 1)} if learnt from the original, "
            f"{percent(self.baseline, 1)} by guessing the most frequent value"
        )


@dataclass(frozen=True, eq=False)
class Classification:
    """A decision tree that learns to tell one column from all others.

    It learns from rows drawn as the release leaves them possible, and is asked about rows of
    the original, or better about rows that were never published. Needs scikit-learn.

    Args:
        target: The column that is told.
        test: A table of people to ask about; None takes the original. People whose rows were
            learnt from are told a little better than others, before and after alike.
        leaf: Fewest rows that the tree bases an answer on.

    Example:
        >>> from sfumato.usefulness import Estimator
        >>> rows = [(age, "gout" if age > 39 else "flu") for age in range(20, 60)]
        >>> table = FrequencySet.from_rows(["age", "ill"], rows)
        >>> tree = Classification("ill", leaf=5)
        >>> tree.accuracy(Estimator.of_original(table), table, rng=np.random.default_rng(1))
        1.0
    """

    target: str
    test: object = None
    leaf: int = 20

    def __post_init__(self) -> None:
        require_text("target", self.target)
        require_int("leaf", self.leaf, at_least=1)

    def accuracy(
        self, estimator: Estimator, test: FrequencySet, *, rng: np.random.Generator
    ) -> float:
        """Learn from a release, and give the share of the rows of a table that are told right.

        Args:
            estimator: What is learnt from.
            test: The people asked about.
            rng: Where the rows that are learnt from come from.
        """
        told = estimator.column(self.target)
        known = [column for column in estimator.columns if column is not told]
        if not known:
            raise ParameterError("target", self.target, "one of at least two columns")
        names = [column.name for column in estimator.columns]
        cells, rows = _distinct(estimator.possible(rng), estimator.columns)
        tree = _tree(min(self.leaf / max(int(rows.sum()), 1), 0.5))
        at = [names.index(column.name) for column in known]
        tree.fit(cells[at].T, cells[names.index(told.name)], sample_weight=rows)
        asked = np.array([_codes(test, column) for column in known])
        right = tree.predict(asked.T) == _codes(test, told)
        return float(test.rows[right].sum() / max(test.total, 1))

    def baseline(self, test: FrequencySet) -> float:
        """Return the share of the most frequent value."""
        return float(test.value_counts(self.target).max(initial=0) / max(test.total, 1))


CLASSIFIER_ERROR = "classifier-error"

_FINEST_LEAF = 100
"""A tree that is compared bases no answer on less than this part of the rows: it learns what holds
of many, and not single rows by heart, which only the original would have."""

_LEAST_LEARNT = 0.01
"""Where the original teaches a tree less than this beyond guessing, nothing can be lost."""


def classifier_error(
    original: Estimator, release: Estimator, counts: FrequencySet, targets: Sequence[str], seed: int
) -> float | None:
    """Return how much of what a decision tree tells beyond guessing is lost, between 0 and 1.

    It is the mean over the columns that are told from all others; None where none of them can be
    told from the original either. Needs scikit-learn.

    Args:
        original: The original.
        release: What was published, read by the same columns.
        counts: The original, whose rows are asked about.
        targets: The columns that are told.
        seed: Where the rows that are learnt from come from.
    """
    lost = []
    for target in targets:
        tree = Classification(target, leaf=max(20, counts.total // _FINEST_LEAF))
        before, after = (
            tree.accuracy(each, counts, rng=np.random.default_rng(seed))
            for each in (original, release)
        )
        guessed = tree.baseline(counts)
        if before - guessed >= _LEAST_LEARNT:
            lost.append(min(1.0, max(0.0, (before - after) / (before - guessed))))
    return float(np.mean(lost)) if lost else None


def _distinct(cells: IntArray, columns: tuple[Column, ...]) -> tuple[IntArray, IntArray]:
    """Count equal rows, so that a tree does not depend on the order they are drawn in."""
    groups = group(list(cells), [len(column.values) for column in columns])
    return cells[:, groups.first], np.bincount(groups.of_item)


def _codes(table: FrequencySet, column: Column) -> IntArray:
    """Write a column in the codes of the original; -1 is what the original does not have."""
    code = {None if v is None else text_of(v): i for i, v in enumerate(column.values)}
    values = table.column(column.name).values
    found = [code.get(None if v is None else text_of(v), -1) for v in values]
    return np.array(found, dtype=np.int64)[table.codes_of(column.name)]


def require_trees() -> None:
    """Raise with the install command if the library of trees is not there."""
    if find_spec("sklearn") is None:
        raise MissingExtraError("scikit-learn", "ml")


def _tree(share: float) -> Any:  # noqa: ANN401 - a class of a library that may not be there
    try:
        trees = import_module("sklearn.tree")
    except ImportError:
        raise MissingExtraError("scikit-learn", "ml") from None
    # Columns are shuffled before each split even if all are looked at: a fixed seed breaks ties.
    return trees.DecisionTreeClassifier(min_weight_fraction_leaf=share, random_state=0)


# What a survey says of its population, and what the release says.


class WeightedColumn(NamedTuple):
    """What the weights say of a column, in the original and in the release."""

    name: str
    share_off: float
    """The largest difference between the shares of the people who have a value."""

    before: float | None = None
    """The weighted mean in the original; None if the values are not numbers."""

    after: float | None = None
    """The weighted mean in the release."""


@dataclass(frozen=True, eq=False)
class WeightedUtility:
    """How far estimates for the population are off that go by the weight of a survey.

    Example:
        >>> from sfumato.populations.weights import add_weights
        >>> rows = [(31, 20.0), (39, 10.0), (39, 30.0)]
        >>> counts, people = add_weights(FrequencySet.from_rows(["age", "w"], rows), "w")
        >>> truth = Estimator.of_weighted(counts, people, counts.columns)
        >>> none = np.array([])
        >>> print(WeightedUtility.between("w", truth, truth, none, none, ["age"]))
        weighted by w: 60 people estimated, 60 of them by the release; relative error of 0 counting
        queries: median 0 %, mean 0 %, 90 % of them at most 0 %; mean of age 36.33 became 36.33;
        shares off by 0 % at most
    """

    weight: str
    """The column of weights."""

    people: float
    """How many people the original stands for."""

    published: float
    """How many the release stands for."""

    queries: QueryErrors
    """The relative error of estimated numbers of people."""

    columns: tuple[WeightedColumn, ...]

    @classmethod
    def between(
        cls,
        weight: str,
        original: Estimator,
        release: Estimator,
        truth: FloatArray,
        answers: FloatArray,
        names: Sequence[str],
    ) -> Self:
        """Compare the estimates of two tables of a survey.

        Args:
            weight: The column of weights.
            original: The table as it was.
            release: What was published.
            truth: The answers of the original to some queries.
            answers: Those of the release.
            names: The columns to compare.
        """
        bound = max(original.total / 1000, 1e-300)
        columns = tuple(_weighted_column(original, release, name) for name in names)
        errors = QueryErrors(truth, answers, bound)
        return cls(weight, original.total, release.total, errors, columns)

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as plain values that JSON can hold."""
        return {
            **plain_of(self, "weight people published queries"),
            "columns": [
                {key: value for key, value in each._asdict().items() if value is not None}
                for each in self.columns
            ],
        }

    def __str__(self) -> str:
        means = [
            f"mean of {each.name} {each.before:.4g} became {each.after:.4g}"
            for each in self.columns
            if each.before is not None
        ]
        off = max((each.share_off for each in self.columns), default=0.0)
        first = (
            f"weighted by {self.weight}: {format_integer(round(self.people))} people estimated, "
            f"{format_integer(round(self.published))} of them by the release"
        )
        shares = f"shares off by {percent(off, 1)} at most"
        return "; ".join([first, str(self.queries), *means, shares])


def _weighted_column(original: Estimator, release: Estimator, name: str) -> WeightedColumn:
    before, after = (
        each.distribution(name) / max(each.total, 1e-300) for each in (original, release)
    )
    off = float(np.abs(after - before).max(initial=0.0))
    values = original.column(name).values
    numbers = [None if value is None else number_of(value) for value in values]
    known = np.array([number is not None for number in numbers], dtype=bool)
    if not known.any() or any(
        v is not None and n is None for v, n in zip(values, numbers, strict=True)
    ):
        return WeightedColumn(name, off)
    figures = np.array([number or 0.0 for number in numbers])
    means = [
        float((shares * figures)[known].sum() / max(float(shares[known].sum()), 1e-300))
        for shares in (before, after)
    ]
    return WeightedColumn(name, off, *means)


# What a recipient computes, and what the original says.


class Figure(NamedTuple):
    """What the recipes in the README of a release compute, from the original and from the release.

    >>> print(Figure("mean of age", 41.204, 41.5), "·", Figure("rows", 31254.2, 31200))
    mean of age 41.2 became 41.5 · rows 31 254 became 31 200
    """

    what: str
    before: float
    """From the original."""

    after: float
    """From the release, with ranges and hidden values as recipients have them."""

    def __str__(self) -> str:
        texts = (
            f"{format_integer(round(each))}" if abs(each) >= 10_000 else f"{each:.4g}"
            for each in (self.before, self.after)
        )
        return f"{self.what} {' became '.join(texts)}"


# What came out of comparing releases with the original.


@dataclass(frozen=True)
class PeopleLeft:
    """How many of the people of a table a release still has, where they may have several rows.

    >>> print(PeopleLeft(600, 580))
    580 of 600 people published; all other figures count rows, of which a person may have several
    """

    people: int
    """The people of the original, every one once."""

    published: int | None
    """Those who have a row in the release; None if nothing says whose its rows are."""

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as plain values that JSON can hold."""
        return {"people": self.people, "published": self.published}

    def __str__(self) -> str:
        rows = "all other figures count rows, of which a person may have several"
        if self.published is None:
            told = "how many of them are published takes the people file"
            return f"{self.people} people in the original, and {told}; {rows}"
        return f"{self.published} of {self.people} people published; {rows}"


@dataclass(frozen=True, eq=False)
class Utility(Showable):
    """What a release is still good for: how far its answers are from those of the original."""

    rows: int
    """The number of rows the original has."""

    published: int
    """The number of them that the release has."""

    queries: QueryErrors
    """The relative error of counting queries."""

    associations: Associations
    """How far correlations between columns are off."""

    seed: int
    """Where the queries came from; the same seed asks the same queries."""

    accuracy: Accuracy | None = None
    """How well a classifier does, if one was asked for."""

    weighted: WeightedUtility | None = None
    """How far estimates for a population are off, if original and release have a weight."""

    people: PeopleLeft | None = None
    """How many people are left, where they may have several rows; all other figures count rows."""

    numbers: NumberUtility | None = None
    """How far means, variances, quantiles, correlations and regressions are off."""

    propensity: Propensity | None = None
    """How well a model separates published rows from original ones."""

    recipes: tuple[Figure, ...] = ()
    """What the recipes in its README compute, if it is a release of one table with numbers."""

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as plain values that JSON can hold."""
        return {
            **plain_of(self, "rows published queries associations"),
            **({} if self.accuracy is None else {"accuracy": self.accuracy.to_dict()}),
            **({} if self.weighted is None else {"weighted": self.weighted.to_dict()}),
            **({} if self.people is None else {"people": self.people.to_dict()}),
            **({} if self.numbers is None else {"numbers": self.numbers.to_dict()}),
            **({} if self.propensity is None else {"propensity": self.propensity.to_dict()}),
            **({"recipes": [each._asdict() for each in self.recipes]} if self.recipes else {}),
            "seed": self.seed,
        }

    @property
    def number_losses(self) -> dict[str, float]:
        """The losses of an analyst who computes with numbers, by name; absent: not measured."""
        found = {} if self.numbers is None else dict(self.numbers.losses)
        if self.propensity is not None:
            found[DISTINGUISHABILITY] = self.propensity.loss
        return found

    def __repr__(self) -> str:
        return f"<Utility {self.queries}>"

    def content(self) -> Content:
        """Return the errors of counting queries and of correlations."""
        found: list[object] = [*filter(None, [self.people]), self.queries, self.associations]
        found += filter(None, [self.accuracy, self.weighted])
        if self.recipes:
            found.append("computed as its README says: " + "; ".join(map(str, self.recipes)))
        published = f"{self.published} of {self.rows} rows published"
        parts: list[Part] = [Sentence(str(each)) for each in found]
        parts += [] if self.numbers is None else self.numbers.parts()
        parts += [] if self.propensity is None else [Sentence(str(self.propensity))]
        return Content(published, tuple(parts))


@dataclass(frozen=True, eq=False)
class Utilities(Showable):
    """Several releases of one table, asked the same."""

    results: Mapping[str, Utility]
    """By the name that each release was given."""

    def __getitem__(self, name: str) -> Utility:
        if name not in self.results:
            raise UnknownNameError("release", name, self.results)
        return self.results[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.results)

    def __len__(self) -> int:
        return len(self.results)

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as plain values that JSON can hold."""
        return {name: result.to_dict() for name, result in self.results.items()}

    def content(self) -> Content:
        """Return one line per release; of a single one everything."""
        titles = [
            "release",
            "rows",
            "median error",
            "mean error",
            "90 % below",
            "correlation error",
        ]
        people = any(r.people for r in self.results.values())
        titles[2:2] = ["people"] if people else []
        titles += ["told right"] if any(r.accuracy for r in self.results.values()) else []
        weighted = any(r.weighted is not None for r in self.results.values())
        titles += ["median error, weighted"] if weighted else []
        rows = [
            _row(name, result, weighted=weighted, people=people)
            for name, result in self.results.items()
        ]
        table = ContentTable.of("", titles, rows, most=None)
        single = [
            Sentence(f"{name}: {one}") for name, one in self.results.items() if len(self) == 1
        ]
        asked = len(next(iter(self.results.values())).queries) if self.results else 0
        headline = f"{asked} counting queries, asked of the original and of each release:"
        numbers = self._numbers() if len(self) > 1 else []
        return Content(headline, (table, *numbers, *single))

    def _numbers(self) -> list[Part]:
        """Return the losses of numbers, a line per release, and what was not measured."""
        losses = {name: result.number_losses for name, result in self.results.items()}
        known = [name for name in _NUMBER_TITLES if any(name in each for each in losses.values())]
        if not known:
            return []
        rows = [[name, *(each.get(loss) for loss in known)] for name, each in losses.items()]
        shown: list[list[Cell]] = [
            [cell if cell is None or isinstance(cell, str) else FineShare(cell) for cell in row]
            for row in rows
        ]
        title = "Errors of computing with numbers; 100 % is also what cannot be computed any more"
        found: list[Part] = [
            ContentTable.of(
                title, ["release", *(_NUMBER_TITLES[n] for n in known)], shown, most=None
            )
        ]
        notes = dict.fromkeys(
            note
            for result in self.results.values()
            if result.numbers is not None
            for note in result.numbers.notes
        )
        return [*found, *map(Sentence, notes)]

    def __repr__(self) -> str:
        return f"<Utilities of {', '.join(self.results)}>"


def _row(name: str, result: Utility, *, weighted: bool, people: bool) -> list[Cell]:
    errors = result.queries
    left: list[Cell] = []
    if people:
        left.append(None if result.people is None else result.people.published)
    survey: list[Cell] = []
    if weighted:
        survey.append(
            None if result.weighted is None else FineShare(result.weighted.queries.median)
        )
    return [
        name,
        result.published,
        *left,
        *map(FineShare, (errors.median, errors.mean, errors.quantile(0.9))),
        round(result.associations.mean_difference, 3),
        *([] if result.accuracy is None else [FineShare(result.accuracy.after)]),
        *survey,
    ]


_NUMBER_TITLES: Mapping[str, str] = {
    MEANS: "means",
    VARIANCES: "variances",
    QUANTILES: "quantiles",
    PEARSON: "Pearson",
    REGRESSION: "regression",
    DISTINGUISHABILITY: "told apart",
}
"""What the losses of numbers are called above a column."""


class Exam:
    """Knows the right answers and marks those of releases.

    Args:
        counts: The original table.
        quasi_identifiers: The columns that others may know.
        sensitive: The sensitive columns.
        workload: What queries are asked.
        seed: Where they come from.
        learning: What a classifier learns, and the people it is asked about; None leaves it out.
        weight: The name of a weight, and how many people each combination of `counts` stands for;
            None if there is none.

    Example:
        >>> rows = [(31, "flu"), (32, "flu"), (38, "gout"), (39, "gout")]
        >>> table = FrequencySet.from_rows(["age", "ill"], rows)
        >>> exam = Exam(table, ["age"], ["ill"], Workload(100), seed=1)
        >>> exam.of(Estimator.of_original(table)).queries.mean
        0.0
    """

    def __init__(
        self,
        counts: FrequencySet,
        quasi_identifiers: Sequence[str],
        sensitive: Sequence[str],
        workload: Workload,
        seed: int,
        learning: tuple[Classification, FrequencySet] | None = None,
        weight: tuple[str, FloatArray] | None = None,
    ) -> None:
        self._names = (*quasi_identifiers, *sensitive)
        self._seed = seed
        self._rows = counts.total
        self._truth = Estimator.of_original(counts)
        rng = np.random.default_rng(seed)
        self._queries = workload.draw(counts, quasi_identifiers, sensitive, rng=rng)
        self._answers = self._truth.counts(self._queries)
        self._strengths = strengths(self._truth, self._names)
        self._learning = learning
        self._weight = None if weight is None else weight[0]
        self._survey: Estimator | None = None
        if weight is not None:
            self._survey = Estimator.of_weighted(counts, weight[1], counts.columns, RawLabels())
            self._weighted = self._survey.counts(self._queries)

    def of(self, release: Estimator, weighted: Estimator | None = None) -> Utility:
        """Mark the answers of a release.

        Args:
            release: What counts its rows.
            weighted: What counts the people they stand for, if it has a weight.
        """
        # What hardly a row answers would drown all else: its error is taken relative to a
        # thousandth of the rows.
        bound = max(1.0, self._rows / 1000)
        return Utility(
            self._rows,
            round(release.total),
            QueryErrors(self._answers, release.counts(self._queries), bound),
            Associations.between(self._strengths, release, self._names),
            self._seed,
            self._accuracy(release),
            self._of_weighted(weighted),
        )

    def _of_weighted(self, release: Estimator | None) -> WeightedUtility | None:
        if release is None or self._survey is None or self._weight is None:
            return None
        answers = release.counts(self._queries)
        return WeightedUtility.between(
            self._weight, self._survey, release, self._weighted, answers, self._names
        )

    def _accuracy(self, release: Estimator) -> Accuracy | None:
        if self._learning is None:
            return None
        tree, test = self._learning
        before, after = (
            tree.accuracy(each, test, rng=np.random.default_rng(self._seed))
            for each in (self._truth, release)
        )
        return Accuracy(tree.target, tree.baseline(test), before, after)
