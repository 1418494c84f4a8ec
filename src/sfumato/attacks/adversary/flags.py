"""Columns read otherwise: one value or none, a value at all, the numbers of a cell with several."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from sfumato.attacks.common_parts import answers_of, parts_of, terms_of
from sfumato.counts import Column, FrequencySet, group, number_keys, sums
from sfumato.decouplings.base import GroupedTables, SensitiveTable
from sfumato.hierarchy.ordered import is_unsaid
from sfumato.text import in_order, text_of
from sfumato.typing import CodeArray, IntArray

NONE = "no value"
"""What is shown in place of a missing value, where it tells as much as a value."""


ANY = "any value"
"""What is shown in place of a value, where most people have none."""


def read_presence(
    counts: FrequencySet, names: Sequence[str], person: str | None = None
) -> FrequencySet | None:
    """Return rows whose columns say only who has a value; None if that tells nothing new.

    There is one for each row of those given, and alike ones may come again. Of a column in which
    half of the cells or more are empty, such as a drug that few people take, it is a statement that
    a person has a value, whichever it is.

    Args:
        counts: The published rows.
        names: The columns to look at: sensitive ones.
        person: The column that tells people apart, if they are counted: what a person has twice
            counts once.

    Example:
        >>> rows = [("A", "x"), ("A", "y"), ("B", None), ("B", None)]
        >>> read_presence(FrequencySet.from_rows(["zip", "drug"], rows), ["drug"]).column("drug")
        Column(name='drug', values=('any value', 'no value'))
    """
    found = []
    told = counts if person is None else replace(counts, rows=np.ones_like(counts.rows))
    for name in names:
        rows, column = told.value_counts(name), counts.column(name)
        shown = int((rows > 0).sum())
        if column.missing >= 0 and shown > 2 and 2 * rows[column.missing] >= rows.sum():
            found.append(name)
    if not found:
        return None
    kept = [i for i, n in enumerate(counts.names) if n not in names or n in found]
    columns, codes = [counts.columns[i] for i in kept], counts.codes[kept]
    for at, column in enumerate(columns):
        if column.name in found:
            codes[at] = codes[at] == column.missing
            columns[at] = Column(column.name, (ANY, NONE))
    return FrequencySet(tuple(columns), codes, counts.rows)


_NUMBERS = re.compile(
    r"[\s\[({]*([-+]?\d+(?:\.\d+)?)"
    + 3 * r"(?:\s*(?:[/,;:|x× ]|zu|auf|über|over|sur|su|op)\s*([-+]?\d+(?:\.\d+)?))?"
    + r"[^\d]*"
)
"""A cell of up to four numbers: `120/80 mmHg`, `48.1, 11.2`, `3 x 4 x 5`; but not a range."""

_PLACES = ("first", "second", "third", "fourth")


def read_numbers(counts: FrequencySet, names: Sequence[str]) -> Iterator[FrequencySet]:
    """Yield rows with the first number of cells that hold several, with the second, and so on.

    All of a class may have nearly the same first number, however many pairs there are. Columns of
    which most values are no such cells are left out. There is one row for each of those given.

    Args:
        counts: The published rows.
        names: The columns to look at: sensitive ones.

    Example:
        >>> rows = [("A", "120/80"), ("B", "140/90"), ("B", "refused")]
        >>> counts = FrequencySet.from_rows(["zip", "pressure"], rows)
        >>> for found in read_numbers(counts, ["pressure"]):
        ...     found.column("pressure").values
        ('120 first', '140 first', None)
        ('80 second', '90 second', None)
    """
    read = {name: _numbers_of(counts.column(name)) for name in names}
    for place, word in enumerate(_PLACES):
        told = {name: cells for name, cells in read.items() if any(len(c) > place for c in cells)}
        if not told:
            return
        kept = [i for i, n in enumerate(counts.names) if n not in names or n in told]
        columns, codes = [counts.columns[i] for i in kept], counts.codes[kept]
        for at, column in enumerate(columns):
            if column.name in told:
                each = told[column.name]
                texts = [f"{c[place]} {word}" if len(c) > place else None for c in each]
                values = in_order({*texts, None})
                number = {text: i for i, text in enumerate(values)}
                codes[at] = np.array([number[text] for text in texts], dtype=np.int32)[codes[at]]
                columns[at] = Column(column.name, tuple(values))
        yield FrequencySet(tuple(columns), codes, counts.rows)


def _numbers_of(column: Column) -> list[tuple[str, ...]]:
    """Return the numbers of each value; nothing of all if most values are not several numbers."""
    none: tuple[str, ...] = ()
    found = []
    for value in column.values:
        cell = _NUMBERS.fullmatch(value) if isinstance(value, str) else None
        numbers = none if cell is None else tuple(each for each in cell.groups() if each)
        found.append(numbers if len(numbers) > 1 else none)
    widths = Counter(map(len, found))
    width, n = widths.most_common(1)[0] if widths else (0, 0)
    return found if width and 2 * n >= len(column.known) else [none] * len(found)


_PLACE = re.compile(r"[\W_]*(?:\d+|\b[a-h])$")
"""The number or letter of a column of several: of `dx1`, `diag_2`, `illness b`."""

_WORD = re.compile(r"[^\W\d_]{3,}|[A-Z]\d[0-9A-Z](?:\.?[0-9A-Z]{1,4})?")
"""What means the same in any column: a word or the code of an illness, and no grade or letter."""

_MOST_TOGETHER, _MOST_PARTS = 40, 5_000_000
"""The most parts of columns of a kind that are looked for, and the most of all rows."""

_LEAST_SHARE = 0.2
"""What fewer people of a class have is of no level, whatever it is."""

_GAIN = 1.25
"""How much likelier it is there than elsewhere, at least: no level asks for less."""

OTHERS = "none of it"
"""What is shown of people in none of whose columns something stands."""


class JoinedColumns(NamedTuple):
    """Rows in which one column says whether something stands in any of several columns."""

    rows: FrequencySet
    alike: tuple[str, ...]
    """These; the first of them says so."""

    held_by: frozenset[tuple[str, str]]
    """The columns with the values that come to it."""


def read_together(
    counts: FrequencySet, quasi_identifiers: Sequence[str], names: Sequence[str]
) -> Iterator[JoinedColumns]:
    """Yield rows by what stands in any of several numbered columns that have the same words.

    Where all of a class have hiv, some as the first diagnosis and others as the second, neither
    column shows it by itself. Columns whose names differ in a number are of a kind if they have
    words in common: what `yes` or 3 means is another thing in each. There is one row for each of
    those given.

    Args:
        counts: The published rows.
        quasi_identifiers: What classes are recognised by.
        names: The columns to look at: sensitive ones.

    Example:
        >>> rows = [("A", "hiv", "gout"), ("A", "flu", "hiv"), ("B", "gout", "flu")]
        >>> counts = FrequencySet.from_rows(["zip", "dx1", "dx2"], 2 * rows + 9 * rows[2:])
        >>> [found] = read_together(counts, ["zip"], ["dx1", "dx2"])
        >>> found.rows.column("dx1").values
        ('hiv in dx1 or dx2', 'none of it')
    """
    kinds: dict[str, list[str]] = {}
    for name in names:
        stem = _PLACE.sub("", name.casefold())
        if stem and stem != name.casefold():
            kinds.setdefault(stem, []).append(name)
    every = counts.group_by(quasi_identifiers)
    for some in kinds.values():
        alike = _with_words_in_common(counts, some)
        if len(alike) > 1:
            yield from _read_parts(counts, every.of_item, every.n, alike, names)


def _read_parts(
    counts: FrequencySet, class_of: IntArray, n: int, alike: Sequence[str], names: Sequence[str]
) -> Iterator[JoinedColumns]:
    """Yield rows by the parts that are more frequent in some class, the most telling first."""
    columns = [counts.column(name) for name in alike]
    texts = sorted({text_of(value) for column in columns for value in column.known})
    terms = terms_of(texts)
    parts = {t: {t} | parts_of(t) | more for t, more in zip(texts, terms, strict=True)}
    number = {part: i for i, part in enumerate(dict.fromkeys(p for t in texts for p in parts[t]))}
    pairs: list[IntArray] = []
    there = np.zeros(len(counts), dtype=np.bool_)
    for column in columns:
        codes = counts.codes_of(column.name)
        known = np.flatnonzero(codes != column.missing)
        there[known] = True
        held = [[number[part] for part in parts[text_of(value)]] for value in column.known]
        sizes = np.array([len(each) for each in held], dtype=np.int64)
        ends = np.cumsum(sizes)
        mine = codes[known]
        if sum(each.size for each in pairs) + int(sizes[mine].sum()) > _MOST_PARTS:
            return
        row = np.repeat(known, sizes[mine])
        within = np.arange(len(row)) - np.repeat(np.cumsum(sizes[mine]) - sizes[mine], sizes[mine])
        flat = np.array([part for each in held for part in each], dtype=np.int64)
        pairs.append(
            row * len(number) + flat[np.repeat((ends - sizes)[mine], sizes[mine]) + within]
        )
    keys = np.unique(np.concatenate(pairs))
    row, part = keys // len(number), keys % len(number)
    cells = number_keys(class_of[row] * len(number) + part, n * len(number))
    people = sums(class_of, np.where(there, counts.rows, 0), n)
    shares = sums(cells.of_item, counts.rows[row], cells.n) / people[cells.keys // len(number)]
    most = np.zeros(len(number))
    np.maximum.at(most, cells.keys % len(number), shares)
    prior = sums(part, counts.rows[row], len(number)) / max(int(people.sum()), 1)
    told = np.flatnonzero((most >= _LEAST_SHARE) & (most >= _GAIN * prior) & (prior < 1))
    told = told[np.lexsort((told, prior[told], -most[told]))][:_MOST_TOGETHER]
    where = " or ".join(alike) if len(alike) <= 3 else f"one of {len(alike)} columns"
    known_as = list(number)
    seen = set[frozenset[tuple[str, str]]]()
    for each in told.tolist():
        held_by = frozenset(
            (column.name, text_of(value))
            for column in columns
            for value in column.known
            if known_as[each] in parts[text_of(value)]
        )
        if held_by in seen or len({name for name, _ in held_by}) < 2:
            continue
        seen.add(held_by)
        code = np.where(there, 1, 2).astype(np.int32)
        code[row[part == each]] = 0
        values = (f"{known_as[each]} in {where}", OTHERS, None)
        kept = [i for i, name in enumerate(counts.names) if name not in names]
        shown = Column(alike[0], values if (~there).any() else values[:2])
        rows = FrequencySet(
            (*(counts.columns[i] for i in kept), shown),
            np.vstack([counts.codes[kept], code]),
            counts.rows,
        )
        yield JoinedColumns(rows, tuple(alike), held_by)


def _with_words_in_common(counts: FrequencySet, names: Sequence[str]) -> list[str]:
    """Return the columns of texts that have words which another of them has, too."""
    words = {
        name: {v for v in counts.column(name).known if isinstance(v, str) and _WORD.search(v)}
        for name in names
    }
    times = Counter(word for each in words.values() for word in each)
    shared = {name: {word for word in each if times[word] > 1} for name, each in words.items()}
    found = []
    for name in names:
        known = counts.column(name).known
        answers = answers_of([text_of(value) for value in known])
        if shared[name] and 2 * len(words[name]) >= len(known) and not any(answers):
            found.append(name)
    return found


def read_unsaid(counts: FrequencySet, names: Sequence[str]) -> FrequencySet | None:
    """Return rows in which cells that say that nothing was said are missing; None if none does.

    Whoever has `unknown` may have what all others of the class have: it is no other value. There is
    one row for each of those given.

    Args:
        counts: The published rows.
        names: The columns to look at: sensitive ones.

    Example:
        >>> rows = [("A", "hiv"), ("A", "k. A."), ("B", "flu"), ("B", "Unknown")]
        >>> read_unsaid(FrequencySet.from_rows(["zip", "ill"], rows), ["ill"]).column("ill").values
        ('flu', 'hiv', None)
    """
    read = {}
    for name in names:
        said = _what_is_said(counts.column(name))
        if said is not None:
            read[name] = said
    if not read:
        return None
    kept = [i for i, n in enumerate(counts.names) if n not in names or n in read]
    columns, codes = [counts.columns[i] for i in kept], counts.codes[kept]
    for at, column in enumerate(columns):
        if column.name in read:
            columns[at], number = read[column.name]
            codes[at] = number[codes[at]]
    return FrequencySet(tuple(columns), codes, counts.rows)


def read_unsaid_groups(groups: GroupedTables) -> GroupedTables | None:
    """Return groups in whose tables cells that say that nothing was said are missing; else None.

    Only tables in which some are, and that are of one column.

    Example:
        >>> rows = [("A", "hiv"), ("A", "k. A."), ("B", "flu"), ("B", "Unknown")]
        >>> counts = FrequencySet.from_rows(["zip", "ill"], rows)
        >>> read = read_unsaid_groups(GroupedTables.of(counts, ["zip"], ["ill"]))
        >>> read.sensitive[0].totals(len(read)).tolist()
        [1, 1]
    """
    tables = []
    for table in groups.sensitive:
        said = None if table.joint is not None else _what_is_said(table.column)
        if said is not None:
            column, number = said
            code = number[table.value]
            cells = group([table.group, code], [len(groups), len(column.values)])
            first, rows = cells.first, sums(cells.of_item, table.rows, cells.n)
            tables.append(SensitiveTable(column, table.group[first], code[first], rows))
    return replace(groups, sensitive=tuple(tables)) if tables else None


def _what_is_said(column: Column) -> tuple[Column, CodeArray] | None:
    """Return a column without values that say nothing, and the code of each of its own there.

    None if it has no such values, or only one other.
    """
    told = [None if isinstance(v, str) and is_unsaid(v) else v for v in column.values]
    if told == [*column.values] or len({*told} - {None}) < 2:
        return None
    values = [*dict.fromkeys(v for v in told if v is not None), None]
    number = {value: i for i, value in enumerate(values)}
    codes = np.array([number[v] for v in told], dtype=np.int32)
    return Column(column.name, tuple(values)), codes


def read_flags(counts: FrequencySet, names: Sequence[str]) -> FrequencySet:
    """Return counts in which columns of one value have another for what is missing.

    Elsewhere a missing value may be any. Where there is one value only, a person without one
    would have it too then, and no one could learn anything: that some have hiv and others
    nothing is told by such a column, all the same.

    Args:
        counts: The published rows.
        names: The columns to look at: sensitive ones.

    Example:
        >>> rows = [("A", "hiv"), ("B", None), ("B", None)]
        >>> read_flags(FrequencySet.from_rows(["zip", "ill"], rows), ["ill"]).column("ill").values
        ('hiv', 'no value')
    """
    columns = list(counts.columns)
    for name in names:
        at = counts.index(name)
        column = columns[at]
        # A value that no row has does not count.
        shown = set(counts.codes_of(name)[counts.rows > 0].tolist())
        if len(column.known) != 1 or len(shown) != 2:
            continue
        # The codes stay as they are: what is missing comes last.
        columns[at] = Column(name, (text_of(column.known[0]), NONE))
    return replace(counts, columns=tuple(columns))
