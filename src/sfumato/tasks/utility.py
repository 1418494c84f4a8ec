"""Utility: how much can still be learnt from what is published, for those who may."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any, Self, TypedDict, Unpack, overload

import numpy as np

from sfumato.counts import Column, FrequencySet
from sfumato.dataclasses import dataclass
from sfumato.decouplings.base import LinkedTables
from sfumato.decouplings.slices import Correlations
from sfumato.decouplings.slices import correlations as measured
from sfumato.decouplings.slices.correlation import MEASURES
from sfumato.errors import InputError, ParameterError, UnknownNameError, require_int
from sfumato.files import write_file
from sfumato.hierarchy import Ladder
from sfumato.hierarchy.labels import Labels, stretch_of
from sfumato.policy import GivenPolicy, Policy, policy_of
from sfumato.populations.weights import add_weights
from sfumato.recode.deciding import ladders_of
from sfumato.releases.codebook import WrittenTable, describe
from sfumato.releases.manifest import FileRecord
from sfumato.releases.opening import (
    Published,
    PublishedTable,
    count_columns,
    open_release,
    require_alike,
)
from sfumato.releases.preparing import open_original
from sfumato.releases.readme import Recipes
from sfumato.schema import Role
from sfumato.showing.content import Cell, Content, ContentTable, Heading, Showable, Strength
from sfumato.showing.heatmap import HeatmapWords, heatmap_svg
from sfumato.synthesis.mechanisms import COUNTS
from sfumato.tables import Table, open_table
from sfumato.tables.capabilities import OrderedRows
from sfumato.text import STAR, number_of, text_of, text_or_none
from sfumato.typing import FloatArray, Progress, Value
from sfumato.usefulness import (
    AnalystCells,
    Classification,
    Estimator,
    Exam,
    Figure,
    NumberExam,
    NumberUtility,
    PeopleLeft,
    Propensity,
    Utilities,
    Utility,
    Workload,
    measure_propensity,
)
from sfumato.usefulness.cells import is_number_column, why_not_computed
from sfumato.usefulness.combinations import TABLE_ERROR, table_error
from sfumato.usefulness.measure import CLASSIFIER_ERROR, classifier_error
from sfumato.usefulness.propensity import DISTINGUISHABILITY


class _Settings(TypedDict, total=False):
    policy: GivenPolicy | None
    quasi_identifiers: Sequence[str] | None
    sensitive: Sequence[str] | None
    queries: int | Workload
    classify: str | Classification | None
    seed: int
    people_file: object
    progress: Progress | None


@overload
def utility(  # type: ignore[overload-overlap] # a mapping holds releases and is none
    original: object, release: Mapping[str, object], **settings: Unpack[_Settings]
) -> Utilities: ...


@overload
def utility(original: object, release: object, **settings: Unpack[_Settings]) -> Utility: ...


def utility(  # noqa: PLR0913 - all but two have a default and are named
    original: object,
    release: object,
    *,
    policy: GivenPolicy | None = None,
    quasi_identifiers: Sequence[str] | None = None,
    sensitive: Sequence[str] | None = None,
    queries: int | Workload = 1000,
    classify: str | Classification | None = None,
    seed: int = 0,
    people_file: object = None,
    progress: Progress | None = None,
) -> Utility | Utilities:
    """Compare the answers of the original and of a release, or of several, to the same questions.

    Random counting queries ("how many are between 30 and 45 and have the flu?") are
    answered from the original, and from the release as a careful reader would: rows behind a
    generalised label are taken to be spread evenly over the raw values it covers, and columns
    published apart to have nothing to do with each other within a group. Then the
    correlations between columns are compared in the same way. If the release has a weight, the
    same queries are asked for people instead of rows, and weighted means and shares are compared.
    A mean, a count and the slope of a regression are computed as the README of the release says.
    Means, variances, quantiles, Pearson's correlations and regressions of all columns of numbers
    are compared, plain ones too, and a model tries to tell published rows from original ones.
    Where people have several rows, it is said how many of them are left; all else counts rows.

    Does not promise: that an analysis of another kind fares the same. Figures are for
    comparing releases of one table with each other.

    Args:
        original: The table that was released: anything `sfumato.anonymize` takes.
        release: What was published: a release or its folder, decoupled or not, or a table. Or a
            mapping of names to such releases; they may differ in all but the hierarchies.
        policy: The policy the release was made with. Its hierarchies say what labels stand for;
            without it only intervals, masks such as `476**` and `*` can be read.
        quasi_identifiers: The columns others may know; a release and a policy know their own.
            Of several releases it is the first that says.
        sensitive: The sensitive columns, likewise.
        queries: How many queries are asked, or a `sfumato.usefulness.Workload` that says also
            of what kind.
        classify: A column that a decision tree learns to tell from the others, or a
            `sfumato.usefulness.Classification`; needs scikit-learn. None leaves it out.
        seed: Where queries, and rows to learn from, are drawn from.
        people_file: The people file of a release that counts people, if it is the only one; None
            takes the people that a release has when it was just made.
        progress: Told how many releases are done.

    Example:
        >>> import pyarrow as pa
        >>> import sfumato as sf
        >>> ages, ills = [31, 32, 38, 39] * 5, ["flu", "flu", "gout", "gout"] * 5
        >>> table = pa.table({"age": ages, "ill": ills})
        >>> coarse = pa.table({"age": ["31 to 39"] * 20, "ill": ills})
        >>> print(sf.utility(table, coarse, quasi_identifiers=["age"], sensitive=["ill"]))
        20 of 20 rows published
        relative error of 1000 counting queries: median 50.0 %, mean ...
        correlations (Cramér's V) of 1 pair of columns: off by 1.000 in the mean, most in age and
        ill (1.000 became 0.000)
        ...
        >>> both = {"as it is": table, "coarse": coarse}
        >>> roles = {"quasi_identifiers": ["age"], "sensitive": ["ill"]}
        >>> print(sf.utility(table, both, **roles, queries=100))
        100 counting queries, asked of the original and of each release:
        release   rows  median error  mean error  90 % below  correlation error
        as it is    20           0 %         0 %         0 %                 0
        coarse      20        50.0 %         ...
    """
    require_int("seed", seed, at_least=0)
    workload = queries if isinstance(queries, Workload) else Workload(queries)
    releases = release if isinstance(release, Mapping) else {"release": release}
    if not releases:
        expected = "a release, or a mapping of names to releases"
        raise ParameterError("release", release, expected, why="{'k=5': release}")
    policy = policy_of(policy)
    if people_file is not None and len(releases) > 1:
        why = "it is that of one release. Ask about each by itself"
        raise ParameterError("people_file", str(people_file), "left out beside several", why=why)
    found = {
        name: open_release(
            each,
            policy,
            quasi_identifiers=quasi_identifiers,
            sensitive=sensitive,
            people_file=people_file,
        )
        for name, each in releases.items()
    }
    first = next(iter(found.values()))
    columns = (*first.quasi_identifiers, *first.sensitive)
    require_alike(found, columns)
    counts, weight = _count_original(original, columns, _weight_in(found), policy or first.policy)
    if not counts.total:
        raise ParameterError("original", original, "a table with at least one row")
    counts = _with_new_values(counts, found)
    exam = Exam(
        counts,
        first.quasi_identifiers,
        first.sensitive,
        workload,
        seed,
        _learning(classify, counts),
        weight,
    )
    ladders = ladders_of(policy, counts, (*first.quasi_identifiers, *generalised_in(found)))
    numbers = _Arithmetic.of(original, found, policy, counts, weight, ladders)
    marked: dict[str, Utility] = {}
    for name, each in found.items():
        weighted = None
        if weight is not None and each.weight == weight[0]:
            weighted = each.weighted_estimator(counts.columns, ladders)
        marked[name] = replace(
            exam.of(each.estimator(counts.columns, ladders), weighted),
            people=_people_left(original, each),
            recipes=_figures(original, each, policy),
        )
        computed, told = numbers.compare(each, seed)
        marked[name] = replace(marked[name], numbers=computed, propensity=told)
        if progress is not None:
            progress("compare", len(marked), len(found))
    return Utilities(marked) if isinstance(release, Mapping) else marked["release"]


@dataclass(frozen=True, eq=False)
class _ReadAlike:
    """An original and a release whose answers can be compared: both know the same values."""

    counts: FrequencySet
    published: Published
    estimator: Estimator

    @classmethod
    def of(cls, counts: FrequencySet, release: object, policy: Policy) -> Self:
        published = open_release(release, policy)
        counts = _with_new_values(counts, {"release": published})
        names = (*published.quasi_identifiers, *published.generalised)
        ladders = ladders_of(policy, counts, names)
        return cls(counts, published, published.estimator(counts.columns, ladders))


def query_error(counts: FrequencySet, release: object, *, policy: Policy, seed: int) -> float:
    """Return the mean relative error of counting queries, and measure nothing else.

    Args:
        counts: The original.
        release: What was published.
        policy: The policy it was made with.
        seed: Where queries are drawn from.
    """
    both = _ReadAlike.of(counts, release, policy)
    known, sensitive = both.published.quasi_identifiers, both.published.sensitive
    exam = Exam(both.counts, known, sensitive, Workload(), seed)
    return exam.of(both.estimator).queries.mean


def combination_losses(
    counts: FrequencySet, release: object, *, policy: Policy, seed: int, losses: Collection[str]
) -> dict[str, float]:
    """Return how far two- and three-way tables are off, and what a classifier does not learn.

    Args:
        counts: The original.
        release: What was published.
        policy: The policy it was made with.
        seed: Where rows that could be behind the release, and tables of many columns, are drawn
            from.
        losses: Which of both are asked for.
    """
    found: dict[str, float | None] = {}
    if {TABLE_ERROR, CLASSIFIER_ERROR}.isdisjoint(losses):
        return {}
    both = _ReadAlike.of(counts, release, policy)
    truth = Estimator.of_original(both.counts)
    if TABLE_ERROR in losses:
        found[TABLE_ERROR] = table_error(truth, both.estimator, np.random.default_rng(seed))
    if CLASSIFIER_ERROR in losses:
        targets = learnt_columns(counts, policy.sensitive)
        found[CLASSIFIER_ERROR] = classifier_error(
            truth, both.estimator, both.counts, targets, seed
        )
    return {name: error for name, error in found.items() if error is not None}


def learnt_columns(counts: FrequencySet, sensitive: Sequence[str]) -> list[str]:
    """Return the sensitive columns of categories, which a classifier can be asked about."""
    columns = [column for column in counts.columns if column.name in sensitive]
    return [
        each.name
        for each in columns
        if len(each.values) <= (_MOST_GROUPS if is_number_column(each) else _MOST_CLASSES)
    ]


_MOST_CLASSES, _MOST_GROUPS = 100, 12
"""A column of more categories is told in too many ways for a tree; numbers that are so few are
groups or grades."""


def number_losses(
    counts: FrequencySet, release: object, *, policy: Policy, seed: int, tell_apart: bool
) -> dict[str, float]:
    """Return the losses of an analyst who computes with numbers, by name.

    What cannot be measured is absent; what cannot be computed from the release any more is 1.

    Args:
        counts: The original.
        release: What was published.
        policy: The policy it was made with.
        seed: Where rows that could be behind the release are drawn from.
        tell_apart: Whether to measure also how well published and original rows can be told apart.
    """
    published = {"release": open_release(release, policy)}
    [each] = published.values()
    counts = _with_new_values(counts, published)
    ladders = ladders_of(policy, counts, (*each.quasi_identifiers, *generalised_in(published)))
    numbers = _Arithmetic.of(counts, published, policy, counts, None, ladders)
    found, told = numbers.compare(each, seed, tell_apart=tell_apart)
    return {**found.losses, **({} if told is None else {DISTINGUISHABILITY: told.loss})}


@dataclass(frozen=True, eq=False)
class _Arithmetic:
    """What is computed with numbers from the original, and the way releases are read for it."""

    exam: NumberExam
    counts: FrequencySet
    ladders: Mapping[str, Ladder]
    weight: str | None
    """The weight that the original has; None if it has none."""

    weighted: NumberExam
    """The same for releases that have the weight: people count, not rows."""

    @classmethod
    def of(
        cls,
        original: object,
        releases: Mapping[str, Published],
        policy: Policy | None,
        counts: FrequencySet,
        weight: tuple[str, FloatArray] | None,
        ladders: Mapping[str, Ladder],
    ) -> "_Arithmetic":
        """Find the columns of numbers, those that nothing protects included, and count them.

        Args:
            original: The table that was released.
            releases: What was published of it.
            policy: The policy it was made with.
            counts: The original over quasi-identifiers and sensitive columns.
            weight: The name of a weight and how many people each combination stands for.
            ladders: The hierarchies of some columns.
        """
        first = next(iter(releases.values()))
        more = _plain_numbers(original, first, policy or first.policy, counts.names)
        if more:
            name = None if weight is None else weight[0]
            names = (*counts.names, *more)
            counts, weight = _count_original(original, names, name, policy or first.policy)
        numeric = [each for each in counts.columns if is_number_column(each)]
        reasons = {each.name: why_not_computed(each, ladders.get(each.name)) for each in numeric}
        left_out = {name: why for name, why in reasons.items() if why}
        names = tuple(each.name for each in numeric if each.name not in left_out)
        exam = NumberExam(counts, names, left_out=left_out)
        if weight is None:
            return cls(exam, counts, ladders, None, exam)
        weighted = NumberExam(counts, names, weight, left_out)
        return cls(exam, counts, ladders, weight[0], weighted)

    def compare(
        self, release: Published, seed: int, *, tell_apart: bool = True
    ) -> tuple[NumberUtility, Propensity | None]:
        """Compare a release with the original, and let a model tell their rows apart.

        Args:
            release: What was published.
            seed: Where rows that could be behind it are drawn from.
            tell_apart: Whether to do the second.
        """
        columns, numbers = self.counts.columns, self.exam.names
        labels = Labels(self.ladders, release.levels, strict=False)
        cells = AnalystCells(self._tables(release, ()), columns, numbers, labels)
        told = None
        if tell_apart:
            told = measure_propensity(self.exam.cells, cells, rng=np.random.default_rng(seed))
        if self.weight is not None and release.weight == self.weight:
            [table] = self._tables(release, (self.weight,)).tables
            counts, people = add_weights(table, self.weight)
            cells = AnalystCells(LinkedTables((counts,)), columns, numbers, labels, people)
            return self.weighted.of(cells), told
        return self.exam.of(cells), told

    def _tables(self, release: Published, more: tuple[str, ...]) -> LinkedTables:
        """Count a release; means of classes are its numbers where it has them."""
        published = _published_columns(release)
        names = (*(name for name in self.counts.names if name in published), *more)
        means = _with_means(release) if isinstance(release, PublishedTable) else None
        if means is None:
            return release.counts(names)
        return LinkedTables((means.count(names).project(names),))


def _published_columns(release: Published) -> tuple[str, ...]:
    """Return the columns that a release has, whatever their role."""
    if not isinstance(release, PublishedTable):
        return (*release.columns, *release.plain)
    data = release.data
    return data.names if isinstance(data, FrequencySet) else tuple(release.table.columns)


def _plain_numbers(
    original: object, release: Published, policy: Policy | None, known: Sequence[str]
) -> tuple[str, ...]:
    """Return the published columns of numbers that are neither quasi-identifiers nor sensitive."""
    if isinstance(original, FrequencySet):
        return ()
    rules = {} if policy is None else policy.columns
    weights = () if release.manifest is None else release.manifest.with_role("weight")
    others = [
        name
        for name in _published_columns(release)
        if name not in (*known, *weights, *release.sets)
        and (name not in rules or rules[name].role is Role.PLAIN)
    ]
    if not others:
        return ()
    table = open_original(original, policy, others)
    domains = table.domains([name for name in others if name in table.columns])
    return tuple(
        name
        for name in others
        if name in domains
        and is_number_column(Column(name, tuple(domains[name].values(_LOOKED_AT))))
    )


_LOOKED_AT = 100
"""Values of a column that are looked at to see whether it may hold numbers."""


def _people_left(original: object, release: Published) -> PeopleLeft | None:
    """Count the people of the original and of a release, if it counts people."""
    policy = release.policy or getattr(release.given, "policy", None)
    person = policy.counted_person if isinstance(policy, Policy) else None
    if not release.counts_people or person is None or isinstance(original, FrequencySet):
        return None
    table = open_original(original, policy, (person,))
    if person not in table.columns:
        return None
    everyone = len(table.domains((person,))[person].rows)
    people = release.people if isinstance(release, PublishedTable) else None
    if people is None or not isinstance(release, PublishedTable) or release.person is None:
        return PeopleLeft(everyone, None)
    return PeopleLeft(everyone, len(people.project((release.person,))))


def _figures(original: object, release: Published, policy: Policy | None) -> tuple[Figure, ...]:
    """Compute what the README of a release says how to compute, and the same of the original."""
    if not isinstance(release, PublishedTable) or isinstance(original, FrequencySet):
        return ()
    manifest = release.manifest
    if manifest is None or isinstance(release.data, FrequencySet) or not manifest.rows.published:
        return ()
    # What lies in memory has no file yet.
    file = next(iter(manifest.files), FileRecord("data", rows=manifest.rows.published))
    manifest = replace(manifest, files=(file,))
    recipes = Recipes.of(manifest, describe(manifest, {file.name: WrittenTable(release.table)}, {}))
    names = [each.name for each in (recipes.number, recipes.outcome) if each is not None]
    after = recipes.answers(release.table, _with_means(release))
    if not after:
        return ()
    before = recipes.answers(open_original(original, policy or release.policy, names))
    return tuple(Figure(what, before[what], after[what]) for what in after if what in before)


def _with_means(release: PublishedTable) -> Table | None:
    """Return the rows with means of classes in place of labels; None if there are no means."""
    import pyarrow as pa

    if release.means is None:
        return None
    columns, codes = OrderedRows.expect(release.table).read(release.table.columns)
    found = {
        column.name: pa.array(column.values).take(pa.array(place))
        for column, place in zip(columns, codes, strict=True)
    }
    found |= {name: release.means[name] for name in release.means.column_names}
    return open_table(pa.table(found))


def _weight_in(releases: Mapping[str, Published]) -> str | None:
    """Return the first weight that a release has."""
    return next((each.weight for each in releases.values() if each.weight is not None), None)


def _count_original(
    original: object, columns: Sequence[str], weight: str | None, policy: Policy | None
) -> tuple[FrequencySet, tuple[str, FloatArray] | None]:
    """Count the original, and the people it stands for if it has the weight."""
    names = tuple(dict.fromkeys(columns))
    if weight is None or isinstance(original, FrequencySet):
        return count_columns(original, names, policy).project(names), None
    table = open_original(original, policy, (*names, weight))
    if weight not in table.columns or weight in names:
        return table.count(names).project(names), None
    counts, people = table.count_weighted(names, weight)
    return counts, (weight, people)


def generalised_in(releases: Mapping[str, Published]) -> tuple[str, ...]:
    """Return the sensitive columns that have labels in place of values in some release."""
    return tuple(dict.fromkeys(name for each in releases.values() for name in each.generalised))


def _with_new_values(counts: FrequencySet, releases: Mapping[str, Published]) -> FrequencySet:
    """Return counts whose columns know the values that a release has and no row of the original.

    Perturbation makes such values, and a mechanism draws them from the domain of a column.
    """
    values = {column.name: list(column.values) for column in counts.columns}
    known = {name: {text_or_none(value) for value in own} for name, own in values.items()}
    more = False
    for release in releases.values():
        record = None if release.record is None else release.record.drawn
        drawn = record is not None and record.mechanism != COUNTS
        for name in values.keys() if drawn else release.perturbed & values.keys():
            labelled = name in release.quasi_identifiers and not drawn
            for table in release.counts((name,)).tables:
                shown = table.column(name).known if name in table.names else ()
                new = [_value_behind(value) if labelled else value for value in shown]
                for value in new:
                    if value is not None and text_or_none(value) not in known[name]:
                        known[name].add(text_or_none(value))
                        values[name].append(value)
                        more = True
    if not more:
        return counts
    own = [values[name] for name in counts.names]
    return FrequencySet.from_codes(counts.names, own, counts.codes, counts.rows)


def _value_behind(label: Value) -> Value:
    """Return a number that a label stands for: itself, or an end of its range; None if none is."""
    if number_of(label) is not None:
        return label
    stretch = stretch_of(text_of(label), number_of)
    ends = [] if stretch is None else [stretch.low, stretch.high]
    return next((end for end in ends if np.isfinite(end)), None)


def _learning(
    classify: str | Classification | None, counts: FrequencySet
) -> tuple[Classification, FrequencySet] | None:
    """Find what is learnt, and count the people it is asked about."""
    if classify is None:
        return None
    tree = Classification(classify) if isinstance(classify, str) else classify
    return tree, counts if tree.test is None else count_columns(tree.test, counts.names)


# Correlations: which columns of a table have how much to do with each other.


@dataclass(frozen=True, eq=False)
class CorrelationMap(Correlations, Showable):
    """How strongly each pair of columns is tied, as a table, a drawing and a list of pairs.

    What is tied belongs into one slice, where it stays known; what is not may be parted at little
    cost. What is tied to a sensitive column tells most about it.
    """

    measure: str
    """How the strength of a pair is measured."""

    rows: int
    """How many rows were counted."""

    sensitive: tuple[str, ...]
    """Which of the columns are sensitive."""

    @property
    def pairs(self) -> tuple[tuple[str, str, float], ...]:
        """Every pair of columns with its strength, the strongest first."""
        one, other = np.triu_indices(len(self.names), k=1)
        strength = self.strength[one, other]
        order = np.argsort(-strength, kind="stable")
        return tuple(
            (self.names[i], self.names[j], value)
            for i, j, value in zip(
                one[order].tolist(), other[order].tolist(), strength[order].tolist(), strict=True
            )
        )

    def svg(self) -> str:
        """Draw a heat map: the darker, the stronger."""
        # What a column has to do with itself says nothing, and would be the darkest of all.
        values = np.where(np.eye(len(self.names), dtype=bool), np.nan, self.strength)
        words = HeatmapWords("Table of correlations", "most tied to", "{:.2f}".format)
        title = f"Correlations ({self.measure})"
        return heatmap_svg(self.names, self.names, values, title=title, words=words)

    def save(self, path: str | PathLike[str]) -> Path:
        """Write the heat map as an SVG file; one of the same name is replaced."""
        target = Path(path)
        if target.suffix.lower() != ".svg":
            raise ParameterError("path", target.name, "a file that ends in .svg")
        write_file(target, self.svg(), private="the drawing")
        return target

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values that JSON can hold."""
        return {
            "measure": self.measure,
            "rows": self.rows,
            "columns": list(self.names),
            "sensitive": list(self.sensitive),
            "strength": self.strength.tolist(),
            "pairs": [
                {"columns": [one, other], "strength": value} for one, other, value in self.pairs
            ],
        }

    @property
    def headline(self) -> str:
        """One line about the rows and columns that were looked at, and the measure."""
        return f"{self.rows} rows, {len(self.names)} columns, {self.measure}"

    def content(self) -> Content:
        """Return the strength of all pairs, and the strongest of them."""
        numbers = [str(number) for number in range(1, len(self.names) + 1)]
        rows: list[list[Cell]] = [
            [
                f"{number} {name}",
                *(None if i == j else Strength(v) for j, v in enumerate(strengths)),
            ]
            for i, (number, name, strengths) in enumerate(
                zip(numbers, self.names, self.strength.tolist(), strict=True)
            )
        ]
        pairs = [(f"{one} – {other}", Strength(value)) for one, other, value in self.pairs]
        strongest = ("strongest pairs", Heading(self.measure, bar=20))
        return Content(
            self.headline,
            (
                ContentTable.of("", ["column", *numbers], rows, most=None),
                ContentTable.of("", strongest, pairs, most=_MOST_PAIRS),
            ),
        )

    def drawings(self) -> tuple[str, ...]:
        return (self.svg(),)

    def __repr__(self) -> str:
        return f"<CorrelationMap {self.headline}>"


_MOST_PAIRS = 10


def correlations(
    data: object,
    *,
    quasi_identifiers: Sequence[str] | None = None,
    sensitive: Sequence[str] | None = None,
    policy: GivenPolicy | None = None,
    measure: str = "phi-square",
) -> CorrelationMap:
    """Measure how strongly each pair of quasi-identifiers and sensitive columns is tied.

    Every measure is between 0, where one column tells nothing about the other, and 1. Numbers of
    many values are put into bins first, and a missing value is one like any other; what is hidden
    (`*`) is none, and such rows are left out of the pair. Columns that
    hold another value in nearly every row look tied to everything: their value tells the row.

    Args:
        data: A release, its folder, or a table: a path (CSV, Parquet, SPSS, Excel …), pandas,
            Polars, Arrow. Decoupled releases are refused: they have no rows any more.
        quasi_identifiers: The columns others may know; a release knows its own.
        sensitive: The columns to protect.
        policy: Where roles come from, if the data is a plain table.
        measure: phi-square (the mean-square contingency, by which slicing chooses its columns),
            cramers-v (its root) or mutual-information (of the most it could be).

    Example:
        >>> import pyarrow as pa
        >>> table = pa.table({"sex": ["f", "f", "m", "m"], "job": ["a", "a", "b", "b"],
        ...     "ill": ["flu", "gout", "flu", "gout"]})
        >>> print(correlations(table, quasi_identifiers=["sex", "job"], sensitive=["ill"]))
        4 rows, 3 columns, phi-square
        column     1     2     3
        1 sex      –  1.00  0.00
        2 job   1.00     –  0.00
        3 ill   0.00  0.00     –
        <BLANKLINE>
        strongest pairs  phi-square
        sex – job              1.00
        sex – ill              0.00
        job – ill              0.00
    """
    if measure not in MEASURES:
        raise UnknownNameError("measure", measure, list(MEASURES))
    release = open_release(data, policy, quasi_identifiers=quasi_identifiers, sensitive=sensitive)
    table = release.table
    assert isinstance(release, PublishedTable)  # noqa: S101 - nothing else has rows
    counts = release.without_starred(table.count(release.columns))
    if not counts.total:
        raise InputError("there is no row that is not suppressed: nothing can be compared")
    found = measured(counts, release.columns, measure=measure, hidden=STAR)
    rows, told = counts.total, found.told
    return CorrelationMap(found.names, found.strength, told, measure, rows, release.sensitive)
