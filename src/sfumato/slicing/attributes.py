"""The attribute partition: what belongs together is published side by side."""

from collections.abc import Iterator, Sequence

import numpy as np

from sfumato.counts import FrequencySet
from sfumato.errors import InfeasibleError
from sfumato.slicing.columns import Columns, redundant
from sfumato.slicing.correlation import Correlations, correlations
from sfumato.slicing.diversity import crowds
from sfumato.slicing.laid import Laid
from sfumato.slicing.medoids import medoids


def correlated_columns(
    counts: FrequencySet,
    quasi_identifiers: Sequence[str],
    sensitive: str,
    l: int,
    *,
    most: int,
    overlap: float | None = None,
) -> Columns:
    """Cluster attributes, so that correlated ones share a column.

    Clusters are around medoids, at the distance 1 - φ² (mean-square contingency). Beside the
    sensitive attribute stay those of its cluster with which the table as a whole is l-diverse,
    the most correlated first; the others get a column of their own.

    Args:
        counts: The table.
        quasi_identifiers: What others may know.
        sensitive: What nobody should learn.
        l: The least diversity.
        most: The most attributes a column has, before any overlap.
        overlap: Pairs at least as strongly correlated as this are published together, even if
            an attribute has to stand in two columns for it; None leaves each in one.

    Example:
        >>> rows = [(i, str(i), j, "xyz"[(i % 2 + j) % 3]) for i in range(4) for j in range(3)]
        >>> counts = FrequencySet.from_rows(["age", "born", "zip", "ill"], rows)
        >>> correlated_columns(counts, ["age", "born", "zip"], "ill", 2, most=2).columns
        (('age', 'born'), ('zip', 'ill'))
    """
    found = correlations(counts, (*quasi_identifiers, sensitive))
    clusters = list(_clusters(found, most))
    [beside] = [
        [n for n in cluster if n != sensitive] for cluster in clusters if sensitive in cluster
    ]
    kept: list[str] = []
    for name in sorted(beside, key=lambda name: -found.between(name, sensitive)):
        if not _fails(counts, [*kept, name], sensitive, l):
            kept.append(name)
    parted = [name for name in beside if name not in kept]
    columns = [cluster for cluster in clusters if sensitive not in cluster]
    columns += [parted] * bool(parted) + [[*kept, sensitive]]
    if overlap is not None:
        columns = _overlapped(columns, found, overlap, counts, sensitive, l)
    return Columns.of(columns, quasi_identifiers, sensitive)


def require_diverse(counts: FrequencySet, columns: Columns, l: int) -> None:
    """Refuse a table that is not l-diverse even as one bucket: cutting it does not help."""
    laid = Laid.of(counts, columns)
    found = crowds(laid, np.zeros(len(laid), dtype=np.int64))
    failing = np.flatnonzero(found.fail(l))
    if not len(failing):
        return
    name = columns.sensitive
    number = len(counts.column(name).values)
    shares = found.most[failing] / np.maximum(found.rows[failing], 1)
    worst = failing[np.argmax(np.where(found.rows[failing] > 0, shares, 2))]
    what = f"{found.most[worst]} of {found.rows[worst]} people with a known {name!r} have the same"
    if columns.known:
        at = int(np.flatnonzero(laid.known == found.known[worst])[0])
        alike = {
            known: counts.column(known).values[counts.codes_of(known)[at]]
            for known in columns.known
        }
        what += f" among those with {alike}"
    hint = (
        "take a smaller l, or put less beside the sensitive column"
        if columns.known
        else "take a smaller l"
    )
    raise InfeasibleError(
        f"no slicing can be {l}-diverse: {what}, more than 1 in {l}; {name!r} has {number} values "
        f"in all. What to try: {hint}."
    )


def _fails(counts: FrequencySet, known: Sequence[str], sensitive: str, l: int) -> bool:
    """Tell whether the table as one bucket is not l-diverse, with these beside the sensitive."""
    laid = Laid.of(counts, Columns(((*known, sensitive),), sensitive))
    return bool(crowds(laid, np.zeros(len(laid), dtype=np.int64)).fail(l).any())


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


def _overlapped(
    columns: list[list[str]],
    found: Correlations,
    threshold: float,
    counts: FrequencySet,
    sensitive: str,
    l: int,
) -> list[list[str]]:
    """Let attributes stand in further columns; the strongest correlations come first."""
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
            if held in column and added != sensitive
        ]
        for _, at, added in sorted(choices):
            column = columns[at]
            if sensitive in column:
                grown = [added, *column]
                good = not _fails(counts, [n for n in grown if n != sensitive], sensitive, l)
            else:
                grown, good = [*column, added], True
            trial = [*columns[:at], grown, *columns[at + 1 :]]
            trial = [each for each in trial if each not in redundant(trial)]
            # With one column left whole rows would be published.
            if good and len(trial) > 1:
                columns = trial
                break
    return columns
