"""Ranges as numbers: columns that are published as the ends of their labels, or as the middle.

A mean of the rows of a class stands beside the ends. It is the same for all rows that readers see
as one class, so it tells no two of them apart and splits none.

The columns that readers see are quasi-identifiers of their own, so every promise is recomputed from
the numbers as they stand in the files. Two labels that become the same number make one class of
two. What is measured is measured after that. For everything else a release is opened with its
labels again.
"""

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from datetime import date
from typing import TYPE_CHECKING

import numpy as np

from sfumato.counts import Column, FrequencySet, add_up, group
from sfumato.dataclasses import dataclass
from sfumato.errors import InputError
from sfumato.hierarchy.labels import day_of, reader_of
from sfumato.policy import Missing, Policy, PublishAs
from sfumato.recode.recoded import RecodedEntries, recode_entries
from sfumato.recoding import Recoding
from sfumato.releases.codebook import DATES, ReadLabels, read_labels
from sfumato.releases.manifest import ColumnRecord, Manifest
from sfumato.releases.places import FinishedRows
from sfumato.schema import Role
from sfumato.tables import DatabaseTable, Table, open_table
from sfumato.tables.capabilities import OrderedRows
from sfumato.text import STAR, join_words, number_of, text_of, text_or_none
from sfumato.typing import FloatArray, IntArray, Value

if TYPE_CHECKING:
    import pyarrow as pa

LOW, HIGH, MIDDLE, MEAN, MEDIAN = "low", "high", "middle", "mean", "median"
"""What a column of numbers says of the labels of another."""

OF_CLASSES = (MEAN, MEDIAN)
"""What is one number for all rows of a class."""

_EPOCH = date(1970, 1, 1).toordinal()


def columns_as_numbers(policy: Policy) -> dict[str, PublishAs]:
    """Return the columns that are published as numbers, and how."""
    return {
        name: rule.as_ for name, rule in policy.columns.items() if rule.as_ is not PublishAs.TEXT
    }


def columns_of_days(policy: Policy, published: FrequencySet) -> list[str]:
    """Return the columns that are published as numbers and were days.

    Args:
        policy: Which columns are published as numbers.
        published: The published rows as they were.
    """
    return [
        name
        for name in columns_as_numbers(policy)
        if name in published.names and reader_of(published.column(name)) is day_of
    ]


def require_numbers(
    policy: Policy, table: Table, names: Sequence[str], *, stored: bool, limited: bool
) -> None:
    """Raise if columns cannot be published as numbers with this policy.

    Args:
        policy: What must hold.
        table: Where the rows are.
        names: The columns of the table.
        stored: Whether the release goes into a database.
        limited: Whether a limit of memory is kept.
    """
    asked = columns_as_numbers(policy)
    if not asked:
        return
    first = next(iter(asked))
    weights = ", ".join(policy.weights)
    reasons = {
        "rows that are starred have no numbers. Leave them out: suppression: {rows: remove}": (
            policy.suppression.rows == "star"
        ),
        "an empty number may be a hidden value, and with missing: matches-any it would match every "
        "row. Say missing: own-value": policy.missing is Missing.MATCHES_ANY,
        "people are counted, and the people file knows labels only": (
            policy.counted_person is not None
        ),
        "a population is compared with labels": policy.population is not None,
        f"the weight {weights} is one number for the rows of a class, and classes with the same "
        "numbers would have several": bool(weights),
        "sets of items are published with labels only": bool(policy.sets),
        "rows of a database are not brought into memory. Give the table as a file": (
            stored or isinstance(table, DatabaseTable)
        ),
    }
    why = next((text for text, holds in reasons.items() if holds), None)
    if why is not None:
        raise policy.error_at(
            "columns", first, "as", text=f"it can only be published as text here: {why}."
        )
    for name, how in asked.items():
        if how in (PublishAs.MEAN, PublishAs.MEDIAN) and limited:
            said = (
                f"the {how} of a class takes the values as they were, and a limit of memory may "
                "count coarser ones. Leave the limit out, or choose bounds or midpoint."
            )
            raise policy.error_at("columns", name, "as", text=said)
        taken = [each for each in _names_of(name, how) if each != name and each in names]
        if taken:
            text = f"there is a column {taken[0]!r} already. Rename it, or publish as text."
            raise policy.error_at("columns", name, "as", text=text)


def _names_of(name: str, how: PublishAs) -> tuple[str, ...]:
    ends = (f"{name}_{LOW}", f"{name}_{HIGH}")
    if how in (PublishAs.MEAN, PublishAs.MEDIAN):
        return name, *ends
    return ends if how is PublishAs.BOUNDS else (name,)


_PARTS = {
    PublishAs.BOUNDS: (LOW, HIGH),
    PublishAs.MIDPOINT: (MIDDLE,),
    PublishAs.MEAN: (MEAN, LOW, HIGH),
    PublishAs.MEDIAN: (MEDIAN, LOW, HIGH),
}
"""What each of the columns says that stand in place of one."""


@dataclass(frozen=True, eq=False)
class RawRows:
    """The published rows as counts: the values that they had, and the labels that they have.

    Suppressed rows are not among them, so no mean or median depends on those.
    """

    counts: FrequencySet
    entries: RecodedEntries

    @classmethod
    def of(cls, counts: FrequencySet, recoding: Recoding) -> "RawRows":
        """Recode counts. Whichever of equal rows go where, the values of a class are the same."""
        rng = np.random.default_rng()
        return cls(counts, recode_entries(counts, recoding, counts.names, rng))

    def middles(
        self, name: str, part: str, rows: "pa.Table", known: Sequence[str], kind: str
    ) -> FloatArray:
        """Return the mean or median of the values of each row's class; NaN where it has none.

        Args:
            name: The column.
            part: Which of the two.
            rows: The same rows with labels, one by one.
            known: The quasi-identifiers: rows with the same labels in them are a class.
            kind: What the labels of the column are: numbers, or dates.
        """
        labels, item, weights = self.entries
        codes, sizes = [], []
        for each in known:
            values, of_row = _distinct(rows.column(each))
            number: dict[str | None, int] = {}
            seen = np.array([number.setdefault(text_or_none(v), len(number)) for v in values])
            told = labels.get(each)
            if told is None:
                told = self.counts.column(each).values, self.counts.codes_of(each)[item]
            asked = [number.setdefault(text_or_none(v), len(number)) for v in told[0]]
            codes.append(np.concatenate([seen[of_row], np.array(asked)[told[1]]]))
            sizes.append(len(number))
        groups = group(codes, sizes)
        here, there = groups.of_item[: rows.num_rows], groups.of_item[rows.num_rows :]
        if not np.array_equal(
            np.bincount(here, minlength=groups.n), add_up(there, weights, groups.n)
        ):
            raise InputError(f"the rows of {name!r} changed while they were published")
        codes_of = self.counts.codes_of(name)[item]
        raw, decimals = _raw_numbers(self.counts.column(name), np.unique(codes_of), kind)
        values_of = raw[codes_of]
        used = ~np.isnan(values_of)
        find = _means_of if part == MEAN else _medians_of
        found = find(there[used], values_of[used], weights[used], groups.n)
        digits = int(decimals[codes_of].max(initial=0)) + 1
        return np.round(found, digits)[here] + 0.0


def _means_of(group: IntArray, values: FloatArray, weights: IntArray, n: int) -> FloatArray:
    """Return the mean of each of `n` groups; NaN where nothing is.

    >>> _means_of(np.array([0, 0]), np.array([1.0, 4.0]), np.array([2, 1]), 1).tolist()
    [2.0]
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        means: FloatArray = add_up(group, values * weights, n) / add_up(group, weights, n)
    return means


def _medians_of(group: IntArray, values: FloatArray, weights: IntArray, n: int) -> FloatArray:
    """Return the median of each of `n` groups; NaN where nothing is.

    >>> _medians_of(np.array([0, 0, 1]), np.array([1.0, 4.0, 7.0]), np.array([2, 2, 5]), 3).tolist()
    [2.5, 7.0, nan]
    """
    order = np.lexsort([values, group])
    group, values, weights = group[order], values[order], weights[order]
    ends = np.cumsum(weights)
    sizes = add_up(group, weights, n).astype(np.int64)
    start = np.cumsum(sizes) - sizes
    medians = np.full(n, np.nan)
    there = sizes > 0
    # The row in the middle, or the two there: counted from the first row of each group.
    low = values[np.searchsorted(ends, (start + (sizes - 1) // 2)[there], side="right")]
    high = values[np.searchsorted(ends, (start + sizes // 2)[there], side="right")]
    medians[there] = low + (high - low) / 2
    return medians


_MOST_DECIMALS = 6


def _raw_numbers(column: Column, used: IntArray, kind: str) -> tuple[FloatArray, IntArray]:
    """Return values of a column as numbers, and how many decimals they are written with.

    Args:
        column: The column.
        used: The values that are published, by their codes. No other is looked at.
        kind: What the labels of the column are: numbers, or dates.
    """
    texts = {int(at): text_or_none(column.values[at]) for at in used}
    read = read_labels([text for text in texts.values() if text is not None])
    numbers = np.full(len(column.values), np.nan)
    decimals = np.zeros(len(column.values), dtype=np.int64)
    for at, text in texts.items():
        if text is None or read is None or read.kind != kind:
            continue
        numbers[at] = read.stretches[text].low
        known = text.partition(".")[2] if kind != DATES else ""
        decimals[at] = (
            len(known)
            if known.isdigit() and len(known) < _MOST_DECIMALS
            else (_MOST_DECIMALS if known else 0)
        )
    return numbers, decimals


@dataclass(frozen=True, eq=False)
class NumberRows(FinishedRows):
    """Recoded rows in which some columns are numbers in place of labels."""

    what = "columns as numbers"

    columns: Mapping[str, tuple[ColumnRecord, ...]]
    """What stands in place of each of those columns."""

    merged: bool
    """Whether several labels became one number, so that classes may be one."""

    @classmethod
    def of(
        cls,
        rows: "pa.Table",
        policy: Policy,
        raw: Callable[[], RawRows],
        days: Collection[str] = (),
    ) -> "NumberRows":
        """Replace labels by numbers; raise if a label has none.

        Args:
            rows: The rows as they are published, with labels.
            policy: Which columns are numbers, and how.
            raw: Gives the values that these rows had; asked only if there are means or medians.
            days: The columns whose values were days: what looks like a number there is a year.
        """
        import pyarrow as pa

        asked = columns_as_numbers(policy)
        columns: dict[str, tuple[ColumnRecord, ...]] = {}
        found: dict[str, pa.ChunkedArray] = {}
        merged = False
        before: RawRows | None = None
        for name in rows.column_names:
            if name not in asked:
                found[name] = rows.column(name)
                continue
            values, codes = _distinct(rows.column(name))
            read, texts = _read(policy, name, values, days=name in days)
            arrays = _arrays(policy, name, asked[name], read, texts)
            merged |= len({*zip(*(each.to_pylist() for each in arrays), strict=True)}) < len(texts)
            names = _names_of(name, asked[name])
            parts = _PARTS[asked[name]]
            columns[name] = tuple(
                _record(*each, name, read) for each in zip(names, parts, strict=True)
            )
            if policy.missing is Missing.SUPPRESS:
                # Rows with missing values are gone, so an empty cell hides one; how many do is
                # told, for otherwise readers could not tell them from missing ones.
                empty = np.array([text is None for text in texts], dtype=np.bool_)
                hidden = int(empty[codes].sum()) or None
                columns[name] = (replace(columns[name][0], hidden=hidden), *columns[name][1:])
            if parts == (MIDDLE,):
                ranges = _ranges(arrays[0].to_pylist(), texts, read)
                columns[name] = (replace(columns[name][0], ranges=ranges),)
            take = pa.array(codes)
            ended = [each.take(take) for each in arrays]
            if parts[0] in OF_CLASSES:
                before = raw() if before is None else before
                middle = _middle_array(before, (name, parts[0]), rows, policy, read, ended)
                ended = [middle, *ended]
            found |= dict(zip(names, ended, strict=True))
        return cls(pa.table(found), columns, merged)

    def expand(self, manifest: Manifest) -> Manifest:
        """Return a manifest that describes the columns of numbers."""
        columns = (self.columns.get(column.name, (column,)) for column in manifest.columns)
        return replace(manifest, columns=tuple(each for some in columns for each in some))


def _distinct(column: "pa.ChunkedArray") -> tuple[list[Value], IntArray]:
    """Return the values of a column, missing included, and which of them each row has."""
    import pyarrow as pa

    whole = column.combine_chunks()
    whole = whole.chunk(0) if isinstance(whole, pa.ChunkedArray) else whole
    if pa.types.is_dictionary(whole.type):
        whole = whole.cast(whole.type.value_type)
    encoded = whole.dictionary_encode(null_encoding="encode")
    return encoded.dictionary.to_pylist(), encoded.indices.to_numpy(zero_copy_only=False)


def _read(
    policy: Policy, name: str, values: Sequence[Value], *, days: bool
) -> tuple[ReadLabels | None, list[str | None]]:
    """Return what labels stand for; None for those that say nothing."""
    texts = [
        None if value is None or text_of(value) == STAR else text_of(value) for value in values
    ]
    known = [text for text in texts if text is not None]
    read = (read_labels(known, days=True) if days else None) or read_labels(known)
    if known and read is None:
        # Whichever comes first among rows must not depend on their order, which is drawn.
        wrong = min((text for text in known if read_labels([text]) is None), default=min(known))
        said = f"{wrong!r} is neither a number nor a date, nor a range of such. Publish it as text."
        raise policy.error_at("columns", name, "as", text=said)
    return read, texts


def _arrays(
    policy: Policy,
    name: str,
    how: PublishAs,
    read: ReadLabels | None,
    texts: Sequence[str | None],
) -> list["pa.Array"]:
    if read is None:
        import pyarrow as pa

        return [
            pa.nulls(len(texts), pa.float64()) for part in _PARTS[how] if part not in OF_CLASSES
        ]
    ends = [(math.nan, math.nan) if t is None else read.ends_of(t) for t in texts]
    low, high = (np.array(each, dtype=np.float64) for each in zip(*ends, strict=True))
    if how is not PublishAs.MIDPOINT:
        return [_array(low, read, whole=read.whole), _array(high, read, whole=read.whole)]
    open_ended = [t for t, *e in zip(texts, low, high, strict=True) if t and np.isinf(e).any()]
    if open_ended:
        said = (
            f"{open_ended[0]!r} has no middle. Publish bounds, or give the hierarchy ends: lower "
            "and upper of intervals."
        )
        raise policy.error_at("columns", name, "as", text=said)
    middle = (low + high) / 2
    if read.kind == DATES:
        middle = np.floor(middle)
    known = middle[np.isfinite(middle)]
    return [_array(middle, read, whole=bool((known == np.floor(known)).all()))]


def _middle_array(
    raw: RawRows,
    wanted: tuple[str, str],
    rows: "pa.Table",
    policy: Policy,
    read: ReadLabels | None,
    ends: Sequence["pa.Array"],
) -> "pa.Array":
    """Return the mean or median of the class of each row; nothing where the value is hidden.

    Args:
        raw: The values that rows had.
        wanted: The column, and which of the two.
        rows: The rows with labels.
        policy: What is published.
        read: What the labels of the column stand for.
        ends: The ends of each row's label.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    name, part = wanted

    if read is None:
        return pa.nulls(rows.num_rows, pa.float64())
    known = [each for each in rows.column_names if each in policy.quasi_identifiers]
    means = raw.middles(name, part, rows, known, read.kind)
    if read.kind == DATES:
        means = np.floor(means)
    hidden = pc.and_(*(each.is_null() for each in ends)).to_numpy(zero_copy_only=False)
    if np.isnan(means[~hidden]).any():
        said = f"some values are neither numbers nor dates, and have no {part}. Choose bounds."
        raise policy.error_at("columns", name, "as", text=said)
    means = np.where(hidden, np.nan, means)
    whole = bool((means[~hidden] == np.floor(means[~hidden])).all())
    found = _array(means, read, whole=whole)
    # A digit that was rounded leads out of no range.
    for end, choose in zip(ends, (pc.max_element_wise, pc.min_element_wise), strict=True):
        if read.kind != DATES:
            inside = choose(found, end.cast(found.type, safe=False), skip_nulls=True)
            found = pc.if_else(pa.array(hidden), pa.scalar(None, found.type), inside)
    return found


def _array(ends: np.ndarray, read: ReadLabels, *, whole: bool) -> "pa.Array":
    """Return ends as days, whole numbers or numbers; what is not finite is missing."""
    import pyarrow as pa

    gone = ~np.isfinite(ends)
    if read.kind == DATES:
        days = np.where(gone, 0, ends).astype(np.int64) - _EPOCH
        return pa.array(days.astype(np.int32), mask=gone).cast(pa.date32())
    if whole and (np.abs(ends[~gone]) < 2**53).all():
        return pa.array(np.where(gone, 0, ends).astype(np.int64), mask=gone)
    return pa.array(ends, mask=gone)


def _record(name: str, part: str, of: str, read: ReadLabels | None) -> ColumnRecord:
    ranges = [] if read is None else [s for s in read.stretches.values() if s.low != s.high]
    excluded = bool(ranges) and not any(each.closed for each in ranges)
    upper = "excluded" if excluded and part != LOW else None
    return ColumnRecord(name, "quasi-identifier", generalised=True, of=of, part=part, upper=upper)


def _ranges(
    middles: Sequence[Value], texts: Sequence[str | None], read: ReadLabels | None
) -> dict[str, tuple[str, ...]]:
    """Return the ends of what each middle stands for; of several labels, all of them together."""
    found: dict[str, tuple[float, float]] = {}
    for middle, text in zip(middles, texts, strict=True):
        if middle is not None and text is not None and read is not None:
            low, high = read.ends_of(text)
            before = found.get(text_of(middle), (low, high))
            found[text_of(middle)] = min(low, before[0]), max(high, before[1])
    if read is None:
        return {}
    # By their ends: the order of rows, in which they were met, is random.
    ordered = sorted(found.items(), key=lambda each: each[1])
    return {middle: (read.write(low), read.write(high)) for middle, (low, high) in ordered}


# With labels again.


def has_numbers(manifest: Manifest) -> bool:
    """Return whether columns are numbers in place of labels."""
    return any(column.of is not None for column in manifest.columns)


def means_in(source: object, manifest: Manifest) -> "pa.Table | None":
    """Return the columns that hold means or medians of classes, row by row; None without any."""
    import pyarrow as pa

    parts = {c.name: c.part for c in manifest.columns if c.part in OF_CLASSES}
    if not parts:
        return None
    columns, codes = OrderedRows.expect(open_table(source)).read(list(parts))
    found, fields = [], []
    for column, place in zip(columns, codes, strict=True):
        texts = [text_or_none(value) for value in column.values]
        read = read_labels([text for text in texts if text is not None])
        if read is None and any(text is not None for text in texts):
            raise InputError(f"column {column.name!r} holds a value that is not a mean of numbers")
        array = pa.nulls(len(texts), pa.float64())
        if read is not None:
            numbers = np.array([math.nan if t is None else read.stretches[t].low for t in texts])
            array = _array(numbers, read, whole=False)
        found.append(array.take(pa.array(place)))
        fields.append(pa.field(column.name, array.type, metadata={"part": parts[column.name]}))
    return pa.table(found, pa.schema(fields))


def with_labels(source: object, manifest: Manifest) -> "tuple[pa.Table, Manifest]":
    """Return a release with labels in place of numbers, and a manifest that describes them.

    Args:
        source: What opens the rows.
        manifest: What the release says of itself.
    """
    import pyarrow as pa

    _require_numbers_of_labels(manifest)
    table = open_table(source)
    columns, codes = OrderedRows.expect(table).read(table.columns)
    cells = {
        column.name: [column.values[code] for code in range(len(column.values))]
        for column in columns
    }
    at = {column.name: place for column, place in zip(columns, codes, strict=True)}
    found: dict[str, pa.Array] = {}
    records: dict[str, ColumnRecord] = {}
    for record in manifest.columns:
        if record.of is None:
            found[record.name] = pa.array(cells[record.name]).take(pa.array(at[record.name]))
            records[record.name] = record
            continue
        if record.of in records:
            continue
        records[record.of] = ColumnRecord(record.of, record.role, generalised=True)
        parts = [
            each
            for each in manifest.columns
            if each.of == record.of and each.part not in OF_CLASSES
        ]
        lists = [cells[each.name] for each in parts]
        pairs, place = np.unique(
            np.array([at[each.name] for each in parts]), axis=1, return_inverse=True
        )
        labels = [
            _label([values[code] for values, code in zip(lists, pair, strict=True)], parts)
            for pair in pairs.T.tolist()
        ]
        found[record.of] = pa.array(labels, pa.string()).take(pa.array(place.ravel()))
    return pa.table(found), replace(manifest, columns=tuple(records.values()))


def _require_numbers_of_labels(manifest: Manifest) -> None:
    """Raise an error for numbers that would stand in place of what is there itself, or of a secret.

    Whoever calls a sensitive column the numbers of another would have it looked at by nobody.
    """
    parts: dict[str, list[str]] = {}
    alone = {each.name for each in manifest.columns if each.of is None}
    for each in manifest.columns:
        if each.of is None:
            continue
        parts.setdefault(each.of, []).append(str(each.part))
        if each.of in alone:
            raise InputError(
                f"column {each.name!r} is said to have the numbers of {each.of!r}, which is there"
            )
        if each.role != Role.QUASI_IDENTIFIER:
            raise InputError(
                f"column {each.name!r} is said to have numbers in place of labels, and to be "
                f"{each.role!r}: only quasi-identifiers have"
            )
    known = {tuple(sorted(some)) for some in _PARTS.values()}
    for name, some in parts.items():
        if tuple(sorted(some)) not in known:
            raise InputError(f"the numbers of {name!r} are said to be {join_words(some)}")


def _label(ends: Sequence[Value], parts: Sequence[ColumnRecord]) -> str:
    """Return the label that numbers were; a star if there are none.

    >>> both = (ColumnRecord("a_low", "", part="low"), ColumnRecord("a_high", "", part="high"))
    >>> [_label(ends, both) for ends in ((60, 64), (7, 7), (None, 60), (80, None), (None, None))]
    ['60 to 64', '7', 'under 60', '80 or more', '*']
    """
    texts = [None if end is None else text_of(end) for end in ends]
    if len(texts) == 1:
        texts = list((parts[0].ranges or {}).get(str(texts[0]), texts * 2))
    if texts[0] == texts[1]:
        return texts[0] or STAR
    low, high = texts
    days = any(text is not None and number_of(text) is None for text in texts)
    if low is None:
        return f"{'before' if days else 'under'} {high}"
    if high is None:
        return f"{low} or {'later' if days else 'more'}"
    return f"{low} to {'under ' if parts[-1].upper == 'excluded' else ''}{high}"
