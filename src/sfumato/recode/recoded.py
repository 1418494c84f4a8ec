"""The published rows of a recoding as counts, made from counts alone."""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from sfumato.counts import Column, FrequencySet, group
from sfumato.recoding import (
    DROP,
    SUPPRESSED,
    ColumnRecoding,
    FullDomainRecoding,
    LocalRecoding,
    Recoding,
)
from sfumato.tables.arrow.publishing import Portions
from sfumato.tables.arrow.sources import from_numpy, from_texts
from sfumato.text import text_or_none
from sfumato.typing import BoolArray, CodeArray, IntArray, Value


def recode_counts(
    counts: FrequencySet, recoding: Recoding, decided: Sequence[str], rng: np.random.Generator
) -> FrequencySet:
    """Count what is published; suppressed rows are left out.

    Args:
        counts: The table, over at least the columns that were decided on. The others are
            published as they are.
        recoding: What becomes of each value, or of each combination.
        decided: The columns it was decided on.
        rng: Where it comes from which of rows that were alike to the decision go to which class.

    Example:
        >>> from sfumato.hierarchy import Hierarchy
        >>> counts = FrequencySet.from_rows(["age", "ill"], [(31, "flu"), (38, "flu")])
        >>> ladder = Hierarchy.from_paths([31, 38], [["30s"], ["30s"]]).bind("age", [31, 38])
        >>> recoding = FullDomainRecoding.at([ladder], (1,))
        >>> found = recode_counts(counts, recoding, ["age"], np.random.default_rng(0))
        >>> found.column("age").values, found.rows.tolist()
        (('30s',), [2])
    """
    return _join(counts, recode_entries(counts, recoding, decided, rng))


class PublishedPart(NamedTuple):
    """The rows of a counted table that a recoding publishes, as they were."""

    counts: FrequencySet
    """They alone: no value is left that none of them has."""

    items: IntArray
    """Where its combinations are in the whole table."""

    def cover(self, recoding: Recoding, whole: FrequencySet) -> Recoding:
        """Return a recoding of this part as one of the whole table, which suppresses the rest.

        Args:
            recoding: What becomes of this part.
            whole: The table that it is a part of.
        """
        if isinstance(recoding, FullDomainRecoding):
            looked_at = recoding.looked_at
            gone = np.ones(len(whole), dtype=bool)
            gone[self.items] = ~_by_column(self.counts, recoding)[1]
            covering = recoding.covering([whole.column(name) for name in looked_at])
            return covering.telling_apart(gone, [whole.codes_of(name) for name in looked_at])
        assert isinstance(recoding, LocalRecoding)  # noqa: S101 - no other is decided on counts
        rest = whole.rows.copy()
        rest[self.items] -= self.counts.rows
        lost = np.flatnonzero(rest)
        item = np.concatenate([np.repeat(self.items, np.diff(recoding.starts)), lost])
        classes = np.concatenate([recoding.classes, np.full(len(lost), SUPPRESSED)])
        order = np.lexsort((classes, item))
        names = [column.column for column in recoding.columns]
        return replace(
            recoding,
            columns=tuple(
                replace(column, values=whole.column(column.column).values)
                for column in recoding.columns
            ),
            others=tuple(column for column in whole.columns if column.name not in names),
            combinations=whole.codes,
            starts=np.searchsorted(item[order], np.arange(len(whole) + 1)),
            rows=np.concatenate([recoding.rows, rest[lost]])[order],
            classes=classes[order],
        )


def published_part(counts: FrequencySet, recoding: Recoding) -> PublishedPart:
    """Return the rows that are published.

    >>> from sfumato.hierarchy import Suppress
    >>> counts = FrequencySet.from_rows(["age"], [(30,), (30,), (99,)])
    >>> ages = FullDomainRecoding.at([Suppress().ladder("age", (30, 99))], (0,), np.array([[1]]))
    >>> part = published_part(counts, ages)
    >>> part.counts.column("age").values, part.counts.rows.tolist()
    ((30,), [2])
    """
    if isinstance(recoding, FullDomainRecoding):
        stay = _by_column(counts, recoding)[1]
        return PublishedPart(counts.without(~stay).compact(), np.flatnonzero(stay))
    assert isinstance(recoding, LocalRecoding)  # noqa: S101 - no other is decided on counts
    published = np.where(recoding.classes == SUPPRESSED, 0, recoding.rows)
    rows = np.add.reduceat(published, recoding.starts[:-1])
    left = replace(counts, rows=rows).without(rows == 0)
    return PublishedPart(left.compact(), np.flatnonzero(rows))


def published_labels(
    recoding: Recoding, published: FrequencySet, names: Sequence[str]
) -> dict[str, list[Value]]:
    """Return the distinct labels of some quasi-identifiers; none if others recode the rows.

    Args:
        recoding: What becomes of the table.
        published: The rows that are published, as they were.
        names: The quasi-identifiers.
    """
    codes: Labels = {}
    if isinstance(recoding, LocalRecoding):
        for local, of_class in zip(recoding.columns, recoding.labels, strict=True):
            codes[local.column] = local.labels, of_class
    elif isinstance(recoding, FullDomainRecoding):
        for column in recoding.columns:
            if column.column in names:
                found = _lookup(published.column(column.column), column)
                codes[column.column] = column.labels, column.published_codes[found]
    return {
        name: [label for code in np.unique(each).tolist() if (label := labels[code]) is not None]
        for name, (labels, each) in codes.items()
        if name in names
    }


class RecodedEntries(NamedTuple):
    """What is published of counts: an entry of them, its labels, and rows. Entries may repeat."""

    labels: "Labels"
    item: IntArray
    rows: IntArray


def recode_entries(
    counts: FrequencySet, recoding: Recoding, decided: Sequence[str], rng: np.random.Generator
) -> RecodedEntries:
    """Return the published rows entry by entry; see `recode_counts`."""
    if isinstance(recoding, FullDomainRecoding):
        every, stay = _by_column(counts, recoding)
        published = {column.column: column.published_codes for column in recoding.columns}
        labels = {
            name: (values, published[name][codes[stay]]) for name, (values, codes) in every.items()
        }
        return RecodedEntries(labels, np.flatnonzero(stay), counts.rows[stay])
    assert isinstance(recoding, LocalRecoding)  # noqa: S101 - no other is decided on counts
    item, of_class, rows = _hand_out(counts, recoding.starts, recoding.rows, decided, rng)
    classes = recoding.classes[of_class]
    stay = classes != SUPPRESSED
    labels = {
        column.column: (column.labels, codes[classes[stay]])
        for column, codes in zip(recoding.columns, recoding.labels, strict=True)
    }
    return RecodedEntries(labels, item[stay], rows[stay])


Labels = dict[str, tuple[tuple[Value, ...], CodeArray]]
"""Per quasi-identifier what is published in it, and which of that each entry has."""


def _by_column(counts: FrequencySet, recoding: FullDomainRecoding) -> tuple[Labels, BoolArray]:
    """Return the label of every value, and which combinations stay."""
    labels: Labels = {}
    stay = np.ones(len(counts), dtype=bool)
    for column in recoding.columns:
        codes = _lookup(counts.column(column.column), column)[counts.codes_of(column.column)]
        stay &= codes != DROP
        labels[column.column] = column.labels, codes
    every = [codes for _, codes in labels.values()]
    lost = recoding.suppressed.T
    if lost.shape[1]:
        both = [np.concatenate([a, np.maximum(b, 0)]) for a, b in zip(lost, every, strict=True)]
        groups = group(both, [len(names) for names, _ in labels.values()])
        gone = np.zeros(groups.n, dtype=bool)
        gone[groups.of_item[: lost.shape[1]]] = True
        stay &= ~gone[groups.of_item[lost.shape[1] :]]
    return labels, stay


def _lookup(counted: Column, recoding: ColumnRecoding) -> CodeArray:
    """Return the label of each value as it was counted; the recoding may know others too."""
    if counted.values == recoding.values:
        return recoding.codes
    at = {text_or_none(value): i for i, value in enumerate(recoding.values)}
    return recoding.codes[[at[text_or_none(value)] for value in counted.values]]


def _hand_out(
    counts: FrequencySet,
    starts: IntArray,
    portions: IntArray,
    decided: Sequence[str],
    rng: np.random.Generator,
) -> tuple[IntArray, IntArray, IntArray]:
    """Return entries of a combination, its portion in the decision, and their rows."""
    columns = [counts.column(name) for name in decided]
    codes = [counts.codes_of(name) for name in decided]
    groups = group(codes, [len(column.values) for column in columns], n=len(counts))
    first, several = starts[groups.of_item], np.diff(starts)[groups.of_item] > 1
    whole = np.flatnonzero(~several)
    # Where rows that were alike part ways, they are dealt one by one, as when they are published.
    split = np.repeat(np.flatnonzero(several), counts.rows[several])
    dealt = Portions(starts, portions, rng).hand_out(groups.of_item[split])
    return (
        np.concatenate([whole, split]),
        np.concatenate([first[whole], dealt]),
        np.concatenate([counts.rows[whole], np.ones(len(split), dtype=np.int64)]),
    )


def _join(counts: FrequencySet, entries: RecodedEntries) -> FrequencySet:
    """Join labels and other columns, with the values that are left."""
    labels, item, rows = entries
    names, values, codes = [], [], []
    for column in counts.columns:
        known, mine = labels.get(column.name, (column.values, counts.codes_of(column.name)[item]))
        used, code = np.unique(mine, return_inverse=True)
        names.append(column.name)
        values.append([known[i] for i in used.tolist()])
        codes.append(code)
    return FrequencySet.from_codes(names, values, np.array(codes), rows)


def rows_of(counts: FrequencySet) -> pa.Table:
    """Write counts out as rows, for those who need them one by one.

    >>> rows_of(FrequencySet.from_rows(["age"], [(31,), (38,), (31,)])).to_pydict()
    {'age': [31, 31, 38]}
    """
    return pa.table(
        {
            column.name: _array(column).take(from_numpy(np.repeat(codes, counts.rows)))
            for column, codes in zip(counts.columns, counts.codes, strict=True)
        }
    )


def _array(column: Column) -> pa.Array:
    texts = [value for value in column.values if value is None or isinstance(value, str)]
    if len(texts) == len(column.values):
        # Of Python objects Arrow makes an array only after it has loaded pandas.
        return from_texts(texts, pa.string())
    try:
        return pa.array(column.values)
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        # Values of several types are one only as text.
        return pa.array([text_or_none(value) for value in column.values])
