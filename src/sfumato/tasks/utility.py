"""Utility: how much can still be learnt from what is published, for those who may."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Any

import numpy as np

from sfumato.checks import require_int
from sfumato.counts import FrequencySet
from sfumato.errors import ParameterError, UnknownNameError
from sfumato.hierarchy import Ladder
from sfumato.policy import Missing, Policy
from sfumato.tasks.measure import counted
from sfumato.tasks.problem import ladder_of, without_missing
from sfumato.tasks.published import published
from sfumato.usefulness import (
    Accuracy,
    Associations,
    Classification,
    Estimator,
    Original,
    QueryErrors,
    Workload,
    strengths,
)


@dataclass(frozen=True, eq=False)
class Utility:
    """What a release is still good for: how far its answers are from those of the original."""

    rows: int
    """How many rows the original has."""

    published: int
    """How many of them the release has."""

    queries: QueryErrors
    """The relative error of counting queries."""

    associations: Associations
    """How far correlations between columns are off."""

    seed: int
    """Where the queries came from; the same seed asks the same queries."""

    accuracy: Accuracy | None = None
    """How well a classifier does, if one was asked for."""

    def to_dict(self) -> dict[str, Any]:
        """Give the figures as plain values that JSON can hold."""
        return {
            "rows": self.rows,
            "published": self.published,
            "queries": self.queries.to_dict(),
            "associations": self.associations.to_dict(),
            **({} if self.accuracy is None else {"accuracy": self.accuracy.to_dict()}),
            "seed": self.seed,
        }

    def __repr__(self) -> str:
        return f"<Utility {self.queries}>"

    def __str__(self) -> str:
        published = f"{self.published} of {self.rows} rows published"
        learnt = [] if self.accuracy is None else [str(self.accuracy)]
        return "\n".join([published, str(self.queries), str(self.associations), *learnt])


@dataclass(frozen=True, eq=False)
class Utilities:
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
        """Give the figures as plain values that JSON can hold."""
        return {name: result.to_dict() for name, result in self.results.items()}

    def __repr__(self) -> str:
        return f"<Utilities of {', '.join(self.results)}>"

    def __str__(self) -> str:
        """Write a table with a line per release."""
        titles = ["release", "rows", "median error", "mean error", "90% below", "correlations off"]
        if any(result.accuracy is not None for result in self.results.values()):
            titles.append("told right")
        lines = [titles, *(_line(name, result) for name, result in self.results.items())]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        return "\n".join(
            "  ".join(
                cell.rjust(width) if at else cell.ljust(width)
                for at, (cell, width) in enumerate(zip(line, widths, strict=True))
            )
            for line in lines
        )


def utility(
    original: object,
    release: object,
    *,
    policy: Policy | str | PathLike[str] | None = None,
    quasi_identifiers: Sequence[str] | None = None,
    sensitive: Sequence[str] | None = None,
    queries: int | Workload = 1000,
    classify: str | Classification | None = None,
    seed: int = 0,
) -> Utility:
    """Ask the original and a release of it the same questions, and compare the answers.

    Random counting queries ("how many are between 30 and 45 and have the flu?") are
    answered from the original, and from the release as a careful reader would: rows behind a
    generalised label are taken to be spread evenly over the raw values it covers, and columns
    published apart to have nothing to do with each other within a group. Then the
    correlations between columns are compared in the same way.

    Does not promise: that an analysis of another kind fares the same. Figures are for
    comparing releases of one table with each other.

    Args:
        original: The table that was released: anything `sfumato.anonymize` takes.
        release: What was published: a release or its folder, decoupled or not, or a table.
        policy: The policy the release was made with. Its hierarchies say what labels stand for;
            without it only intervals, masks such as `476**` and `*` can be read.
        quasi_identifiers: The columns others may know; a release and a policy know their own.
        sensitive: The sensitive columns, likewise.
        queries: How many queries are asked, or a `sfumato.usefulness.Workload` that says also
            of what kind.
        classify: A column that a decision tree learns to tell from the others, or a
            `sfumato.usefulness.Classification`; needs scikit-learn. None leaves it out.
        seed: Where queries, and rows to learn from, are drawn from.

    Example:
        >>> import pyarrow as pa
        >>> import sfumato as sf
        >>> ages, ills = [31, 32, 38, 39] * 5, ["flu", "flu", "gout", "gout"] * 5
        >>> table = pa.table({"age": ages, "ill": ills})
        >>> coarse = pa.table({"age": ["31-39"] * 20, "ill": ills})
        >>> print(sf.utility(table, coarse, quasi_identifiers=["age"], sensitive=["ill"]))
        20 of 20 rows published
        relative error of 1000 counting queries: median 50.0%, mean ...
        correlations (Cramér's V) of 1 pair of columns: off by 1.000 in the mean, most in age and
        ill (1.000 became 0.000)
    """
    compared = compare_utility(
        original,
        {"release": release},
        policy=policy,
        quasi_identifiers=quasi_identifiers,
        sensitive=sensitive,
        queries=queries,
        classify=classify,
        seed=seed,
    )
    return compared["release"]


def compare_utility(
    original: object,
    releases: Mapping[str, object],
    *,
    policy: Policy | str | PathLike[str] | None = None,
    quasi_identifiers: Sequence[str] | None = None,
    sensitive: Sequence[str] | None = None,
    queries: int | Workload = 1000,
    classify: str | Classification | None = None,
    seed: int = 0,
) -> Utilities:
    """Ask several releases of one table the same questions.

    Args:
        original: The table that was released.
        releases: The releases, each under a name; see `utility`.
        policy: The policy they were made with; they may differ in all but the hierarchies.
        quasi_identifiers: The columns others may know; by default those of the first release.
        sensitive: The sensitive columns, likewise.
        queries: How many queries are asked, or a `sfumato.usefulness.Workload` that says also
            of what kind.
        classify: A column that a decision tree learns to tell from the others, or a
            `sfumato.usefulness.Classification`; needs scikit-learn. None leaves it out.
        seed: Where queries, and rows to learn from, are drawn from.

    Example:
        >>> import pyarrow as pa
        >>> import sfumato as sf
        >>> ages, ills = [31, 32, 38, 39] * 5, ["flu", "flu", "gout", "gout"] * 5
        >>> table = pa.table({"age": ages, "ill": ills})
        >>> coarse = pa.table({"age": ["31-39"] * 20, "ill": ills})
        >>> both = {"as it is": table, "coarse": coarse}
        >>> roles = {"quasi_identifiers": ["age"], "sensitive": ["ill"]}
        >>> print(sf.compare_utility(table, both, **roles, queries=100))
        release   rows  median error  mean error  90% below  correlations off
        as it is    20          0.0%        0.0%       0.0%             0.000
        coarse      20         50.0%       ...
    """
    require_int("seed", seed, at_least=0)
    workload = queries if isinstance(queries, Workload) else Workload(queries)
    if not isinstance(releases, Mapping) or not releases:
        raise ParameterError(
            "releases", releases, "a mapping of names to releases", why="{'k=5': release}"
        )
    if policy is not None and not isinstance(policy, Policy):
        policy = Policy.load(policy)
    found = {
        name: published(release, quasi_identifiers, sensitive, policy)
        for name, release in releases.items()
    }
    first = next(iter(found.values()))
    columns = (*first.quasi_identifiers, *first.sensitive)
    counts = counted(original, columns).project(columns)
    if not counts.total:
        raise ParameterError("original", original, "a table with at least one row")
    asked = workload.draw(
        counts, first.quasi_identifiers, first.sensitive, rng=np.random.default_rng(seed)
    )
    ladders = _ladders(policy, counts, first.quasi_identifiers)
    truth = Original(counts)
    answers, before = truth.counts(asked), strengths(truth, columns)
    # What hardly a row answers would drown all else: below a thousandth of the rows, errors
    # are measured against that.
    bound = max(1.0, counts.total / 1000)
    tell = _teller(classify, truth, counts, seed)
    results = {}
    for name, release in found.items():
        estimator = release.read(counts.columns, ladders)
        results[name] = Utility(
            counts.total,
            round(estimator.total),
            QueryErrors(answers, estimator.counts(asked), bound),
            Associations.between(before, estimator, columns),
            seed,
            tell(estimator),
        )
    return Utilities(results)


def _teller(
    classify: str | Classification | None, truth: Original, counts: FrequencySet, seed: int
) -> Callable[[Estimator], Accuracy | None]:
    """Learn from the original once, and say how to learn from a release."""
    if classify is None:
        return lambda estimator: None  # noqa: ARG005
    tree = Classification(classify) if isinstance(classify, str) else classify
    truth.column(tree.target)
    test = counts if tree.test is None else counted(tree.test, counts.names)
    baseline = tree.baseline(test)
    before = tree.accuracy(truth, test, rng=np.random.default_rng(seed))

    def tell(estimator: Estimator) -> Accuracy:
        after = tree.accuracy(estimator, test, rng=np.random.default_rng(seed))
        return Accuracy(tree.target, baseline, before, after)

    return tell


def _ladders(
    policy: Policy | None, counts: FrequencySet, quasi_identifiers: Sequence[str]
) -> dict[str, Ladder]:
    """Build the hierarchies as they were built for the release."""
    if policy is None:
        return {}
    if policy.missing is Missing.SUPPRESS:
        counts, _ = without_missing(counts, tuple(quasi_identifiers))
    return {
        name: ladder_of(policy, counts, name)
        for name in quasi_identifiers
        if name in policy.columns and policy.columns[name].hierarchy is not None
    }


def _line(name: str, result: Utility) -> list[str]:
    errors = result.queries
    return [
        name,
        str(result.published),
        f"{errors.median:.1%}",
        f"{errors.mean:.1%}",
        f"{errors.quantile(0.9):.1%}",
        f"{result.associations.mean_difference:.3f}",
        *([] if result.accuracy is None else [f"{result.accuracy.after:.1%}"]),
    ]
