"""Columns read otherwise: one value or none, a value at all, the numbers of a cell with several."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from sfumato.attacks.common_parts import answers_of
from sfumato.counts import Column, FrequencySet, group, sums
from sfumato.decouplings.base import GroupedTables, SensitiveTable
from sfumato.hierarchy.ordered import is_unsaid
from sfumato.text import in_order, text_of
from sfumato.typing import CodeArray

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

_MOST_TOGETHER = 50_000
"""A list for each of more combinations of values takes longer than all else."""


class JoinedColumns(NamedTuple):
    """Rows in which several columns of a kind are one of lists."""

    rows: FrequencySet
    column: str
    """The first of them, which has the lists."""

    parts: Mapping[str, tuple[tuple[str, str], ...]]
    """Of each list the values that it is made of, each with its column."""


def read_together(counts: FrequencySet, names: Sequence[str]) -> Iterator[JoinedColumns]:
    """Yield rows in which numbered columns with the same words are one column of lists.

    Where all of a class have hiv, some as the first diagnosis and others as the second, neither
    column shows it by itself. Columns whose names differ in a number are of a kind if they have
    words in common: what `yes` or 3 means is another thing in each. There is one row for each of
    those given.

    Args:
        counts: The published rows.
        names: The columns to look at: sensitive ones.

    Example:
        >>> rows = [("A", "hiv", "gout"), ("A", "flu", "hiv"), ("B", "gout", "flu")]
        >>> counts = FrequencySet.from_rows(["zip", "dx1", "dx2"], rows)
        >>> [found] = read_together(counts, ["dx1", "dx2"])
        >>> found.rows.column("dx1").values
        ('flu; gout', 'flu; hiv', 'gout; hiv')
    """
    kinds: dict[str, list[str]] = {}
    for name in names:
        stem = _PLACE.sub("", name.casefold())
        if stem and stem != name.casefold():
            kinds.setdefault(stem, []).append(name)
    for some in kinds.values():
        alike = _with_words_in_common(counts, some)
        if len(alike) < 2:
            continue
        codes = [counts.codes_of(name) for name in alike]
        found = group(codes, [len(counts.column(name).values) for name in alike])
        if found.n > _MOST_TOGETHER:
            continue
        cells = [
            [counts.column(name).values[code] for code in each[found.first].tolist()]
            for name, each in zip(alike, codes, strict=True)
        ]
        parts: dict[str, tuple[tuple[str, str], ...]] = {}
        texts: list[str | None] = []
        for row in zip(*cells, strict=True):
            own = [(n, text_of(v)) for n, v in zip(alike, row, strict=True) if v is not None]
            text = "; ".join(sorted({value for _, value in own})) or None
            texts.append(text)
            if text is not None:
                parts[text] = parts.get(text, ()) + tuple(own)
        values = in_order({*texts, None})
        number = {text: i for i, text in enumerate(values)}
        first = np.array([number[text] for text in texts], dtype=np.int32)[found.of_item]
        kept = [i for i, n in enumerate(counts.names) if n not in names]
        columns = (*(counts.columns[i] for i in kept), Column(alike[0], tuple(values)))
        rows = FrequencySet(columns, np.vstack([counts.codes[kept], first]), counts.rows)
        yield JoinedColumns(rows, alike[0], parts)


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
