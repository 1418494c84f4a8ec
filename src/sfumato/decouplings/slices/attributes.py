"""The attribute partition: what belongs together is published side by side."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from sfumato.classes import KnownCounts
from sfumato.counts import FrequencySet, group
from sfumato.decouplings.slices.correlation import Correlations, correlations
from sfumato.decouplings.slices.diversity import Crowds, DiversityForm, crowds
from sfumato.decouplings.slices.layout import SubTuples
from sfumato.errors import InfeasibleError, ParameterError
from sfumato.schema import Columns, redundant
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
"""Attributes of a column, unless the policy says otherwise."""

Aim: TypeAlias = Literal["correlations", "membership"]
AIMS: tuple[Aim, ...] = ("correlations", "membership")

_TIED = 0.001
"""What is correlated less may as well stand apart."""

_COVERED = 0.95
"""With membership in mind, made-up people find their part of a column in the table so often."""


def correlated_columns(  # noqa: PLR0913 - all but four have a default and are named
    counts: FrequencySet,
    quasi_identifiers: Sequence[str],
    sensitive: Sequence[str],
    form: DiversityForm,
    *,
    most: int = MOST,
    slices: int | None = None,
    overlap: float | None = None,
    measure: str = "phi-square",
    aim: Aim = "correlations",
) -> Columns:
    """Cluster attributes, so that correlated ones share a column.

    Clusters are around medoids, at the distance 1 - strength. Beside a sensitive attribute
    stay those of its cluster with which the table as a whole is diverse, the most correlated
    first; the others get a column of their own, or with a given number of columns go to the one
    they are tied to most. No two sensitive attributes share a column.

    With membership in mind, columns are put together one pair at a time, the most correlated first,
    as long as nearly all combinations of their values occur: then hardly any person whose values
    all occur can be ruled out by a column.

    Args:
        counts: The table.
        quasi_identifiers: What others may know.
        sensitive: The columns that are to stay secret; there may be none.
        form: How diverse the table has to be.
        most: The most attributes a column has, before any overlap; not with `slices`.
        slices: How many columns there are; None makes as many as `most` needs.
        overlap: Pairs at least as strongly correlated as this are published together, even if
            an attribute has to stand in two columns for it; None leaves each in one.
        measure: How correlation is measured: one of `MEASURES`.
        aim: What columns are chosen for; with "membership" there is no number of `slices`.

    Example:
        >>> from sfumato.decouplings.slices.diversity import Probabilistic
        >>> rows = [(i, str(i), j, "xyz"[(i % 2 + j) % 3]) for i in range(4) for j in range(3)]
        >>> counts = FrequencySet.from_rows(["age", "born", "zip", "ill"], rows)
        >>> names, form = ["age", "born", "zip"], Probabilistic(2)
        >>> correlated_columns(counts, names, ["ill"], form, most=2).columns
        (('age', 'born'), ('zip', 'ill'))
        >>> correlated_columns(counts, names, ["ill"], form, slices=3).columns
        (('age', 'born'), ('zip',), ('ill',))
        >>> correlated_columns(counts, names, [], form, most=2).columns
        (('age', 'born'), ('zip',))
        >>> correlated_columns(counts, names, ["ill"], form, aim="membership").columns
        (('age',), ('born',), ('zip',), ('ill',))
    """
    found = correlations(counts, (*quasi_identifiers, *sensitive), measure=measure)
    _require_some(found.names, slices, sensitive)
    trial = _Trial(counts, tuple(sensitive), form, slices or min(2, len(found.names)))
    if aim == "membership":
        columns = _cover_columns(found, trial, most)
    elif len(sensitive) < 2:
        columns = _cluster(found, trial, most, slices)
    else:
        columns = _cluster_several(found, trial, most, slices)
    if overlap is not None:
        columns = _overlap(columns, found, overlap, trial)
    return Columns.of(columns, quasi_identifiers, sensitive)


def _require_some(names: Sequence[str], slices: int | None, sensitive: Sequence[str]) -> None:
    """Raise an error for a number of columns that cannot be."""
    n, fewest = len(names), max(2, len(sensitive) + (len(sensitive) > 1))
    if n < 2:
        why = "with one column whole rows are published, and nothing is hidden"
        raise ParameterError("quasi_identifiers", list(names), "at least two columns", why=why)
    if slices is not None and not fewest <= slices <= n:
        why = f"there are {n} attributes, and every column holds one at least"
        if fewest > 2:
            why += f", a sensitive one no other sensitive one: {', '.join(sensitive)}"
        raise ParameterError("slices", slices, f"an integer from {fewest} to {n}", why=why)


def _cluster(
    found: Correlations, trial: "_Trial", most: int, slices: int | None
) -> list[list[str]]:
    """Cluster attributes of which one at most is sensitive."""
    clusters = list(_clusters(found, most) if slices is None else _exactly(found, slices))
    columns = [cluster for cluster in clusters if not {*cluster} & {*trial.sensitive}]
    for name in trial.sensitive:
        [held] = [cluster for cluster in clusters if name in cluster]
        kept = _keep_beside(held, found, trial, name)
        parted = [each for each in held if each not in (*kept, name)]
        if slices is None:
            columns += [parted] * bool(parted)
        else:
            columns = _assign(parted, columns, found)
        columns.append([*kept, name])
    return columns


def _cluster_several(
    found: Correlations, trial: "_Trial", most: int, slices: int | None
) -> list[list[str]]:
    """Cluster attributes of which several are sensitive: each of those gets a column of its own."""
    if slices is not None:
        rest = _without(found, trial.sensitive)
        clusters = _exactly(rest, slices - len(trial.sensitive))
        return [*clusters, *([name] for name in trial.sensitive)]
    columns, beside = [], {name: [name] for name in trial.sensitive}
    for cluster in _clusters(found, most):
        secret = [name for name in cluster if name in trial.sensitive]
        parted = [name for name in cluster if name not in secret]
        for name in secret:
            # Each goes beside the secret it is tied to most, or beside none.
            own = [
                each
                for each in parted
                if name == max(secret, key=lambda s, each=each: found.between(each, s))  # type: ignore[misc]
            ]
            kept = _keep_beside(own, found, trial, name)
            beside[name] = [*kept, name]
            parted = [each for each in parted if each not in kept]
        columns += [parted] * bool(parted)
    return [*columns, *beside.values()]


def _without(found: Correlations, names: Sequence[str]) -> Correlations:
    """Return the correlations between the other attributes."""
    at = [i for i, name in enumerate(found.names) if name not in names]
    return replace(
        found,
        names=tuple(found.names[i] for i in at),
        strength=found.strength[np.ix_(at, at)],
    )


def _cover_columns(found: Correlations, trial: "_Trial", most: int) -> list[list[str]]:
    """Return columns of attributes whose combinations nearly all occur, strongest ties first."""
    columns = [[name] for name in found.names]
    for _, one, other in _strongest(found, _TIED):
        [mine] = [column for column in columns if one in column]
        [theirs] = [column for column in columns if other in column]
        both = [name for name in found.names if name in (*mine, *theirs)]
        secret = [name for name in both if name in trial.sensitive]
        if (
            mine is theirs
            or len(both) > most
            or len(columns) <= trial.fewest
            or len(secret) > 1
            or trial.cover(both) < _COVERED
        ):
            continue
        both = [*(name for name in both if name not in secret), *secret]
        if not secret or not trial.fails(both[:-1], secret[0]):
            columns = [column for column in columns if column not in (mine, theirs)] + [both]
    return columns


def require_diverse(counts: FrequencySet, columns: Columns, form: DiversityForm) -> None:
    """Raise an error if the table is not diverse even as one bucket: cutting does not help."""
    for name, laid in zip(columns.sensitive or ("",), SubTuples.of(counts, columns), strict=True):
        found = crowds(laid, np.zeros(len(laid), dtype=np.int64))
        failing = np.flatnonzero(form.fail(found.tally))
        if not len(failing):
            continue
        known = columns.beside(name) if name else ()
        hints = [form.advice(found.tally)]
        hints += ["put less beside the sensitive column"] * bool(known)
        hint = ", or ".join(filter(None, hints))
        advice = f"What to try: {hint}." if hint else f"No column {name!r} like this can."
        why = _why(counts, (name, known), laid, found, failing, form)
        raise InfeasibleError(f"no slicing can be {form}: {why}. {advice}")


def _why(
    counts: FrequencySet,
    secret: tuple[str, Sequence[str]],
    laid: SubTuples,
    found: Crowds,
    failing: np.ndarray,
    form: DiversityForm,
) -> str:
    """Return what is wrong: with the column as a whole, or with those who are worst off."""
    name, beside = secret
    number = len(np.unique(laid.value[laid.value != laid.missing]))
    if 0 < number < form.l and form.of_shares:
        return f"{name!r} has only {number} different values, fewer than {form.l}"
    worst = int(failing[_worst(found.tally, failing)])
    among = ""
    if beside:
        at = int(np.flatnonzero(laid.known == found.known[worst])[0])
        alike = {known: counts.column(known).values[counts.codes_of(known)[at]] for known in beside}
        among = f" among those with {alike}"
    if not found.tally.totals[worst]:
        return f"no person{among} has a known {name!r}, and a missing value hides no person"
    return form.complaint(found.tally, worst, name, among)


def _worst(tally: KnownCounts, failing: np.ndarray) -> int:
    """Return where the most frequent value has the largest share; all, if none is known."""
    total, largest = tally.totals[failing], tally.largest[failing]
    return int(np.argmax(np.where(total > 0, largest / np.maximum(total, 1), 2)))


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
    of_name = medoids(1 - found.strength, slices)
    for cluster in range(slices):
        yield [found.names[i] for i in np.flatnonzero(of_name == cluster)]


def _keep_beside(
    held: list[str], found: Correlations, trial: "_Trial", sensitive: str
) -> list[str]:
    """Choose what stays beside a sensitive attribute, the most correlated first."""
    kept: list[str] = []
    beside = [name for name in held if name != sensitive]
    for name in sorted(beside, key=lambda name: -found.between(name, sensitive)):
        if not trial.fails([*kept, name], sensitive):
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
    sensitive: tuple[str, ...]
    form: DiversityForm
    fewest: int
    """The fewest columns there may be; with one left whole rows would be published."""

    def fails(self, known: Sequence[str], sensitive: str) -> bool:
        """Return whether the table as one bucket is not diverse, with these beside a secret."""
        columns = Columns(((*known, sensitive),), (sensitive,))
        [laid] = SubTuples.of(self.counts, columns)
        found = crowds(laid, np.zeros(len(laid), dtype=np.int64))
        return bool(self.form.fail(found.tally).any())

    def add(self, columns: list[list[str]], at: int, added: str) -> list[list[str]] | None:
        """Add an attribute to a column, unless a secret is then given away."""
        column = columns[at]
        secret = [name for name in column if name in self.sensitive]
        grown = [added, *column] if secret else [*column, added]
        tried = [*columns[:at], grown, *columns[at + 1 :]]
        tried = [each for each in tried if each not in redundant(tried)]
        if len(tried) < self.fewest:
            return None
        if secret:
            known = [name for name in grown if name != secret[0]]
            return None if self.fails(known, secret[0]) else tried
        return tried

    def cover(self, names: Sequence[str]) -> float:
        """Return how likely a combination of values, each drawn by itself, occurs in the table."""
        codes = [self.counts.codes_of(name) for name in names]
        sizes = [len(self.counts.column(name).values) for name in names]
        first = group(codes, sizes, n=len(self.counts)).first
        shares = [self.counts.value_counts(name) / self.counts.total for name in names]
        likely = np.prod([s[c[first]] for s, c in zip(shares, codes, strict=True)], axis=0)
        return float(likely.sum())


def _strongest(found: Correlations, threshold: float) -> list[tuple[float, str, str]]:
    """List pairs of attributes, the strongest correlations first."""
    return sorted(
        (-found.strength[i, j], one, other)
        for i, one in enumerate(found.names)
        for j, other in enumerate(found.names[:i])
        if found.strength[i, j] >= threshold
    )


def _overlap(
    columns: list[list[str]], found: Correlations, threshold: float, trial: _Trial
) -> list[list[str]]:
    """Add attributes to further columns; the strongest correlations come first."""
    for _, one, other in _strongest(found, threshold):
        if any(one in column and other in column for column in columns):
            continue
        choices = [
            (len(column), at, added)
            for at, column in enumerate(columns)
            for held, added in ((one, other), (other, one))
            if held in column and added not in trial.sensitive
        ]
        for _, at, added in sorted(choices):
            grown = trial.add(columns, at, added)
            if grown is not None:
                columns = grown
                break
    return columns
