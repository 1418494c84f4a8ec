"""The attribute partition: what belongs together is published side by side."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from sfumato.classes import KnownCounts
from sfumato.counts import FrequencySet
from sfumato.errors import InfeasibleError, ParameterError
from sfumato.slicing.correlation import Correlations, correlations
from sfumato.slicing.diversity import Crowds, Form, crowds
from sfumato.slicing.layout import Columns, SubTuples, redundant
from sfumato.typing import FloatArray, IntArray

# k-medoids: clusters around members of their own, by exchange (PAM).


def medoids(distance: FloatArray, k: int) -> IntArray:
    """Divide items into k clusters, each around the member nearest to all of it.

    Starts with the item nearest to all, adds one at a time what helps most (BUILD), and then
    exchanges a medoid for another item as long as that helps (SWAP). Nothing is random, and of
    equal choices the first is taken.

    Reference: "Finding Groups in Data", 1990, doi:10.1002/9780470316801

    Args:
        distance: `distance[i, j]`: how far items are apart.
        k: How many clusters; at most as many as there are items.

    Returns:
        The cluster of each item; clusters are numbered in the order of their first items.

    Example:
        >>> distance = np.abs(np.subtract.outer([1.0, 2, 8, 9], [1.0, 2, 8, 9]))
        >>> medoids(distance, 2).tolist()
        [0, 0, 1, 1]
    """
    chosen: list[int] = []
    for _ in range(k):
        chosen.append(_best(distance, chosen))
    cost = _cost(distance, chosen)
    while (better := _exchange(distance, chosen, cost)) is not None:
        cost, chosen = better
    nearest = np.argmin(distance[:, chosen], axis=1)
    # A medoid is in its own cluster, even if another one is at no distance.
    nearest[chosen] = np.arange(k)
    _, first, inverse = np.unique(nearest, return_index=True, return_inverse=True)
    rank = np.argsort(np.argsort(first))
    numbers: IntArray = rank[inverse].astype(np.int64)
    return numbers


def _best(distance: FloatArray, chosen: list[int]) -> int:
    free = [i for i in range(len(distance)) if i not in chosen]
    return min(free, key=lambda i: (_cost(distance, [*chosen, i]), i))


def _cost(distance: FloatArray, chosen: list[int]) -> float:
    # Rounded, so that sums which differ only by their order are equal.
    return round(float(distance[:, chosen].min(axis=1).sum()), 12)


def _exchange(
    distance: FloatArray, chosen: list[int], cost: float
) -> tuple[float, list[int]] | None:
    """Find the exchange that helps most; None if none does."""
    free = [i for i in range(len(distance)) if i not in chosen]
    tried = [[*chosen[:at], i, *chosen[at + 1 :]] for at in range(len(chosen)) for i in free]
    best = min(tried, key=lambda each: _cost(distance, each), default=chosen)
    least = _cost(distance, best)
    return (least, best) if least < cost else None


MOST = 3
"""Attributes of a column, unless it is said otherwise."""


def correlated_columns(
    counts: FrequencySet,
    quasi_identifiers: Sequence[str],
    sensitive: str,
    form: Form,
    *,
    most: int = MOST,
    slices: int | None = None,
    overlap: float | None = None,
    measure: str = "phi-square",
) -> Columns:
    """Cluster attributes, so that correlated ones share a column.

    Clusters are around medoids, at the distance 1 - strength. Beside the sensitive attribute
    stay those of its cluster with which the table as a whole is diverse, the most correlated
    first; the others get a column of their own, or with a given number of columns go to the one
    they are tied to most.

    Args:
        counts: The table.
        quasi_identifiers: What others may know.
        sensitive: The column that is to stay secret.
        form: How diverse the table has to be.
        most: The most attributes a column has, before any overlap; not with `slices`.
        slices: How many columns there are; None makes as many as `most` needs.
        overlap: Pairs at least as strongly correlated as this are published together, even if
            an attribute has to stand in two columns for it; None leaves each in one.
        measure: How correlation is measured: one of `MEASURES`.

    Example:
        >>> from sfumato.slicing.diversity import Probabilistic
        >>> rows = [(i, str(i), j, "xyz"[(i % 2 + j) % 3]) for i in range(4) for j in range(3)]
        >>> counts = FrequencySet.from_rows(["age", "born", "zip", "ill"], rows)
        >>> names, form = ["age", "born", "zip"], Probabilistic(2)
        >>> correlated_columns(counts, names, "ill", form, most=2).columns
        (('age', 'born'), ('zip', 'ill'))
        >>> correlated_columns(counts, names, "ill", form, slices=3).columns
        (('age', 'born'), ('zip',), ('ill',))
    """
    found = correlations(counts, (*quasi_identifiers, sensitive), measure=measure)
    clusters = list(_clusters(found, most) if slices is None else _exactly(found, slices))
    columns = [cluster for cluster in clusters if sensitive not in cluster]
    [held] = [cluster for cluster in clusters if sensitive in cluster]
    kept = _keep_beside(held, found, counts, sensitive, form)
    parted = [name for name in held if name not in (*kept, sensitive)]
    if slices is None:
        columns += [parted] * bool(parted)
    else:
        columns = _assign(parted, columns, found)
    columns.append([*kept, sensitive])
    if overlap is not None:
        trial = _Trial(counts, sensitive, form, fewest=slices or 2)
        columns = _overlap(columns, found, overlap, trial)
    return Columns.of(columns, quasi_identifiers, sensitive)


def require_diverse(counts: FrequencySet, columns: Columns, form: Form) -> None:
    """Raise an error if the table is not diverse even as one bucket: cutting does not help."""
    laid = SubTuples.of(counts, columns)
    found = crowds(laid, np.zeros(len(laid), dtype=np.int64))
    failing = np.flatnonzero(form.fail(found.tally))
    if not len(failing):
        return
    hints = [form.advice(found.tally)]
    hints += ["put less beside the sensitive column"] * bool(columns.known)
    hint = ", or ".join(filter(None, hints))
    advice = f"What to try: {hint}." if hint else f"No column {columns.sensitive!r} like this can."
    why = _why(counts, columns, laid, found, failing, form)
    raise InfeasibleError(f"no slicing can be {form}: {why}. {advice}")


def _why(
    counts: FrequencySet,
    columns: Columns,
    laid: SubTuples,
    found: Crowds,
    failing: np.ndarray,
    form: Form,
) -> str:
    """Return what is wrong: with the column as a whole, or with those who are worst off."""
    name = columns.sensitive
    number = int(np.count_nonzero(counts.value_counts(name)[: len(counts.column(name).known)]))
    if 0 < number < form.l:
        return f"{name!r} has only {number} different values, fewer than {form.l}"
    worst = int(failing[_worst(found.tally, failing)])
    among = ""
    if columns.known:
        at = int(np.flatnonzero(laid.known == found.known[worst])[0])
        alike = {
            known: counts.column(known).values[counts.codes_of(known)[at]]
            for known in columns.known
        }
        among = f" among those with {alike}"
    if not found.tally.totals[worst]:
        return f"nobody{among} has a known {name!r}, and a missing value hides nobody"
    return form.complaint(found.tally, worst, name, among)


def _worst(tally: KnownCounts, failing: np.ndarray) -> int:
    """Return where the most frequent value has the largest share; all, if none is known."""
    total, largest = tally.totals[failing], tally.largest[failing]
    return int(np.argmax(np.where(total > 0, largest / np.maximum(total, 1), 2)))


def _fails(counts: FrequencySet, known: Sequence[str], sensitive: str, form: Form) -> bool:
    """Return whether the table as one bucket is not diverse, with these beside the sensitive."""
    laid = SubTuples.of(counts, Columns(((*known, sensitive),), sensitive))
    found = crowds(laid, np.zeros(len(laid), dtype=np.int64))
    return bool(form.fail(found.tally).any())


def _clusters(found: Correlations, most: int) -> Iterator[list[str]]:
    """Cluster attributes, and clusters that are too large again; at least two come out."""
    names = np.arange(len(found.names))
    waiting = [(names, max(-(-len(names) // most), 2))]
    while waiting:
        names, k = waiting.pop(0)
        number = medoids(1 - found.strength[np.ix_(names, names)], k)
        for cluster in range(k):
            members = names[number == cluster]
            if len(members) > most:
                waiting.append((members, -(-len(members) // most)))
            else:
                yield [found.names[i] for i in members]


def _exactly(found: Correlations, slices: int) -> Iterator[list[str]]:
    """Cluster attributes into as many columns as are wanted."""
    n = len(found.names)
    if not 2 <= slices <= n:
        why = f"there are {n} attributes, and every column holds one at least"
        raise ParameterError("slices", slices, f"an integer from 2 to {n}", why=why)
    of_name = medoids(1 - found.strength, slices)
    for cluster in range(slices):
        yield [found.names[i] for i in np.flatnonzero(of_name == cluster)]


def _keep_beside(
    held: list[str], found: Correlations, counts: FrequencySet, sensitive: str, form: Form
) -> list[str]:
    """Choose what stays beside the sensitive attribute, the most correlated first."""
    kept: list[str] = []
    beside = [name for name in held if name != sensitive]
    for name in sorted(beside, key=lambda name: -found.between(name, sensitive)):
        if not _fails(counts, [*kept, name], sensitive, form):
            kept.append(name)
    return kept


def _assign(names: list[str], columns: list[list[str]], found: Correlations) -> list[list[str]]:
    """Add each attribute to the column it is tied to most, on average."""
    joined = [list(column) for column in columns]
    for name in names:
        ties = [np.mean([found.between(name, other) for other in column]) for column in columns]
        joined[int(np.argmax(ties))].append(name)
    return joined


class _Trial(NamedTuple):
    """What columns have to keep when attributes are added to them."""

    counts: FrequencySet
    sensitive: str
    form: Form
    fewest: int
    """The fewest columns there may be; with one left whole rows would be published."""

    def add(self, column: list[str], added: str) -> list[str] | None:
        """Add an attribute to a column, unless the sensitive one in it is then given away."""
        if self.sensitive not in column:
            return [*column, added]
        known = [added, *(name for name in column if name != self.sensitive)]
        return None if _fails(self.counts, known, self.sensitive, self.form) else [added, *column]


def _overlap(
    columns: list[list[str]], found: Correlations, threshold: float, trial: _Trial
) -> list[list[str]]:
    """Add attributes to further columns; the strongest correlations come first."""
    pairs = [
        (-found.strength[i, j], one, other)
        for i, one in enumerate(found.names)
        for j, other in enumerate(found.names[:i])
        if found.strength[i, j] >= threshold
    ]
    for _, one, other in sorted(pairs):
        if any(one in column and other in column for column in columns):
            continue
        choices = [
            (len(column), at, added)
            for at, column in enumerate(columns)
            for held, added in ((one, other), (other, one))
            if held in column and added != trial.sensitive
        ]
        for _, at, added in sorted(choices):
            grown = trial.add(columns[at], added)
            if grown is None:
                continue
            tried = [*columns[:at], grown, *columns[at + 1 :]]
            tried = [each for each in tried if each not in redundant(tried)]
            if len(tried) >= trial.fewest:
                columns = tried
                break
    return columns
