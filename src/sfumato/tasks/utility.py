"""Utility: how much can still be learnt from what is published, for those who may."""

from collections.abc import Mapping, Sequence
from os import PathLike

from sfumato.checks import require_int
from sfumato.counts import FrequencySet
from sfumato.errors import ParameterError
from sfumato.policy import Policy
from sfumato.tasks.ladders import ladders_of
from sfumato.tasks.measure import counted
from sfumato.tasks.published import published, require_alike
from sfumato.typing import Progress
from sfumato.usefulness import Classification, Exam, Utilities, Utility, Workload


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


def compare_utility(  # noqa: PLR0913 - all but two have a default and are named
    original: object,
    releases: Mapping[str, object],
    *,
    policy: Policy | str | PathLike[str] | None = None,
    quasi_identifiers: Sequence[str] | None = None,
    sensitive: Sequence[str] | None = None,
    queries: int | Workload = 1000,
    classify: str | Classification | None = None,
    seed: int = 0,
    progress: Progress | None = None,
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
        progress: Told how far it is.

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
    require_alike(found, columns)
    counts = counted(original, columns).project(columns)
    if not counts.total:
        raise ParameterError("original", original, "a table with at least one row")
    exam = Exam(
        counts,
        first.quasi_identifiers,
        first.sensitive,
        workload,
        seed,
        _learning(classify, counts),
    )
    ladders = ladders_of(policy, counts, first.quasi_identifiers)
    marked: dict[str, Utility] = {}
    for name, release in found.items():
        marked[name] = exam.of(release.read(counts.columns, ladders))
        if progress is not None:
            progress("compare", len(marked), len(found))
    return Utilities(marked)


def _learning(
    classify: str | Classification | None, counts: FrequencySet
) -> tuple[Classification, FrequencySet] | None:
    """Find what is learnt, and count the people it is asked about."""
    if classify is None:
        return None
    tree = Classification(classify) if isinstance(classify, str) else classify
    return tree, counts if tree.test is None else counted(tree.test, counts.names)
