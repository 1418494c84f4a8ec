"""People with several rows: recounted from the people file of a release.

The file is private. It has a line for each published combination of each person: the labels of the
quasi-identifiers, the values of the sensitive columns, a drawn number that stands for the person,
perhaps one for the household, and how many rows they are. It must tell exactly the rows that are
public; then who has which of them is what its maker says, and every promise is recomputed so.
"""

import hashlib
import re
from collections.abc import Mapping, Sequence
from math import prod
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from sfumato.dataclasses import dataclass
from sfumato.errors import InputError, some
from sfumato.text import text_of
from sfumato.verifier.counting import (
    Combination,
    Source,
    normalise,
    open_source,
    python_values,
    readable,
    text_key,
)
from sfumato.verifier.spelling import folded_text

_MOST = 10**15
"""No line stands for more rows."""


@dataclass(frozen=True)
class CountedPeople:
    """The different people of each class, and those who have each value there, every one once."""

    sizes: Mapping[Combination, int]
    """The people of each class."""

    values: Mapping[str, Mapping[Combination, Mapping[object, int]]]
    """Per sensitive column and class, the people who have each value; None is missing."""

    known: Mapping[str, Mapping[Combination, int]]
    """Per sensitive column, the people of each class who have some value that is not missing."""

    total: int
    """All people, every one once."""


def count_people(
    data: object,
    public: Mapping[Combination, int],
    quasi_identifiers: Sequence[str],
    sensitive: Sequence[str],
    *,
    others: Sequence[str] = (),
    exact: Sequence[str] = (),
    sha256: str | None = None,
) -> CountedPeople:
    """Count people, if their rows are exactly those that are public; else raise.

    Args:
        data: The people file, or a table of the same.
        public: The published combinations of quasi-identifiers and sensitive columns, with the
            rows of each; suppressed ones are not among them.
        quasi_identifiers: The columns that make up the classes.
        sensitive: The others that were counted.
        others: Published columns that it has besides, and that no promise is about.
        exact: Those of them in which values that differ only in spelling are different.
        sha256: The hash that the file should have, if its release says so.

    Example:
        >>> public = {("3*", "flu"): 3, ("3*", "hiv"): 1}
        >>> lines = {"age": ["3*"] * 3, "ill": ["flu", "hiv", "flu"], "person": [7, 7, 4]}
        >>> table = pa.table({**lines, "rows": [2, 1, 1]})
        >>> found = count_people(table, public, ["age"], ["ill"])
        >>> found.sizes, found.values["ill"]
        ({('3*',): 2}, {('3*',): {'flu': 2, 'hiv': 1}})
    """
    if sha256 is not None:
        _require_hash(data, sha256)
    names = [*quasi_identifiers, *sensitive]
    published = list(dict.fromkeys([*names, *others]))
    person, rows = name_columns(published)
    with readable("the people file"):
        source = open_source(data)
        _require_columns(source, [*published, person, rows], name_household(published))
        lines = _read(source, [*names, person, rows])
        numbers = _whole_rows(lines[rows])
        spelt = [set(cells) for cells in zip(*public, strict=True)] or [set() for _ in names]
        columns = [
            _Column.of(lines[name], name, known, fold=name in sensitive and name not in exact)
            for name, known in zip(names, spelt, strict=True)
        ]
        who = _Numbers.of([lines[person].dictionary_encode(null_encoding="encode").indices])
        if lines[person].null_count:
            raise InputError("a line of it does not say whose the rows are")
        cells = _Numbers.of([column.codes for column in columns], len(numbers))
        _require_rows(columns, cells, numbers, public)
    width = len(quasi_identifiers)
    classes = cells
    if sensitive:
        classes = _Numbers.of([column.codes for column in columns[:width]], len(numbers))
    keys = classes.members(columns[:width])
    pairs = _Numbers.of([classes.of_line, who.of_line])
    sizes = _tally(pairs.codes[0], len(keys))
    values: dict[str, dict[Combination, dict[object, int]]] = {}
    known: dict[str, dict[Combination, int]] = {}
    for column in columns[width:]:
        held = _Numbers.of([classes.of_line, column.judged, who.of_line])
        counted = _Numbers.of(held.codes[:2])
        found: dict[Combination, dict[object, int]] = {key: {} for key in keys}
        people = _tally(counted.of_line, len(counted))
        of_class, of_value = (codes.to_pylist() for codes in counted.codes)
        for at, code, n in zip(of_class, of_value, people, strict=True):
            found[keys[at]][column.judged_values[code]] = n
        values[column.name] = found
        missing = [code for code, v in enumerate(column.judged_values) if v is None]
        lacking = pc.is_in(held.codes[1], value_set=_array(missing))
        at_all = [codes.filter(pc.invert(lacking)) for codes in (held.codes[0], held.codes[2])]
        knowing = _tally(_Numbers.of(at_all).codes[0], len(keys))
        known[column.name] = dict(zip(keys, knowing, strict=True))
    return CountedPeople(dict(zip(keys, sizes, strict=True)), values, known, len(who))


def name_columns(published: Sequence[str]) -> tuple[str, str]:
    """Return what the last two columns of a people file are called: whose, and how many.

    >>> name_columns(["age", "rows"])
    ('person', 'rows_')
    """
    return _free("person", published), _free("rows", published)


def name_household(published: Sequence[str]) -> str:
    """Return what the column of a people file is called that says who lives together.

    >>> name_household(["age", "household"])
    'household_'
    """
    return _free("household", published)


def _free(name: str, taken: Sequence[str]) -> str:
    while name in taken:
        name += "_"
    return name


def _require_hash(data: object, sha256: str) -> None:
    """Raise if a file is not the one that a release was made with; a table has no hash."""
    if not isinstance(data, str | Path):
        return
    path = Path(data)
    if not path.is_file():
        raise InputError(f"there is no people file {str(path)!r}")
    with path.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found != sha256.lower():
        raise InputError(
            "it is not the people file that this release was made with, or it was changed since: "
            "its hash is another one than the manifest has"
        )


def _require_columns(source: Source, names: Sequence[str], household: str) -> None:
    """Raise if a file has not the columns of the people file of a release.

    It may also say who lives together, which no promise is about.
    """
    lacking = [name for name in names if name not in source.names]
    added = [name for name in source.names if name not in {*names, household}]
    faults = [
        f"it lacks {some(lacking)}" if lacking else "",
        f"it also has {some(added)}" if added else "",
    ]
    if any(faults):
        raise InputError(
            f"its columns are not those of this release: {' and '.join(filter(None, faults))}"
        )


def _read(source: Source, names: Sequence[str]) -> dict[str, pa.Array]:
    """Return the columns of a table, equal cells as equal bytes."""
    batches = list(source.batches(names))
    found = {}
    for name in names:
        chunks = [normalise(batch.column(name)) for batch in batches]
        kinds = {chunk.type for chunk in chunks}
        if len(kinds) > 1:
            chunks = [chunk.cast(pa.large_string()) for chunk in chunks]
        found[name] = pa.concat_arrays(chunks) if chunks else pa.array([], pa.string())
    return found


def _whole_rows(column: pa.Array) -> pa.Array:
    """Return the numbers of rows, or raise if one is none."""
    try:
        numbers = column.cast(pa.int64())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        raise InputError("a number of rows in it is not a whole number") from None
    ends = pc.min_max(numbers)
    if numbers.null_count or (
        len(numbers) and not (ends["min"].as_py() >= 1 and ends["max"].as_py() <= _MOST)
    ):
        raise InputError("a number of rows in it is not a whole number of at least 1")
    return numbers


@dataclass(frozen=True)
class _Column:
    """A column of the people file, in the values of the public table."""

    name: str
    codes: pa.Array
    values: list[object]
    judged: pa.Array
    """The same with values that differ only in spelling taken for one."""

    judged_values: list[object]

    @classmethod
    def of(cls, column: pa.Array, name: str, public: set[object], *, fold: bool) -> "_Column":
        """Find the published value of every cell, however the two files write it."""
        encoded = column.dictionary_encode(null_encoding="encode")
        texts = text_key(python_values(encoded.dictionary))
        as_written = dict(zip(text_key(list(public)), public, strict=True))
        alike: dict[str, list[object]] = {}
        if not {*texts} <= {*as_written}:
            for text, value in as_written.items():
                if text is not None:
                    alike.setdefault(_plainly(text), []).append(value)
        values: list[object] = []
        for text in texts:
            several = [] if text is None else alike.get(_plainly(text), [])
            if text in as_written:
                values.append(as_written[text])
            elif len(several) == 1:
                values.append(several[0])
            else:
                shown = "a missing value" if text is None else repr(text[:60])
                raise InputError(f"it has {shown} in {name!r}, which is not published")
        values, codes = _renumber(values, encoded.indices)
        # Numbers and days have one spelling.
        textual = fold and any(isinstance(value, str) for value in public)
        folded = [folded_text(v) if isinstance(v, str) and textual else v for v in values]
        judged_values, judged = _renumber(folded, codes)
        return cls(name, codes, values, judged, judged_values)


def _renumber(values: Sequence[object], codes: pa.Array) -> tuple[list[object], pa.Array]:
    """Return each value once, and which of them each line has."""
    number = {value: at for at, value in enumerate(dict.fromkeys(values))}
    return list(number), _array([number[value] for value in values]).take(codes)


def _plainly(text: str) -> str:
    """Return a number or a time however a program writes it: 1.50 is 1.5, midnight is the day.

    SPSS and Stata have no truth values, so they are numbers there.

    >>> [_plainly(text) for text in ("1.50", "2020-01-31 00:00:00.000", "True")]
    ['15e-1', '2020-01-31', '1']
    """
    found = folded_text(text) or ""
    found = {"true": "1", "false": "0"}.get(found, found)
    if _TIME.match(found):
        found = re.sub(r"(\.\d*?)0+$", r"\1", found).rstrip(".")
        found = found.removesuffix("00:00:00").removesuffix("t")
    return found


_TIME = re.compile(r"\d{4}-\d\d-\d\dt?\d\d:\d\d:\d\d")


class _Numbers:
    """Numbers for the different combinations of codes, given as they first occur."""

    def __init__(self, of_line: pa.Array, codes: list[pa.Array]) -> None:
        self.of_line = of_line
        self.codes = codes
        """Of each combination its code in each column."""

    @classmethod
    def of(cls, columns: Sequence[pa.Array], lines: int = 0) -> "_Numbers":
        """Number the lines of columns; without any, all lines are one combination."""
        if not columns:
            return cls(_array([0] * lines), [])
        left = [(column.cast(pa.int64()), _width(column)) for column in columns]
        of_line: Any = None
        codes: list[pa.Array] = []
        while left:
            # As many columns as fit are packed into one number, which are numbered then.
            packed, widths = of_line, [] if of_line is None else [len(codes[0])]
            while left and prod(widths) * left[0][1] < _WIDEST:
                code, width = left.pop(0)
                widths.append(width)
                packed = code if packed is None else pc.add(pc.multiply(packed, width), code)
            numbered = packed.dictionary_encode()
            parts = _unpack(numbered.dictionary, widths)
            if of_line is not None:
                codes = [each.take(parts[0]) for each in codes]
                parts = parts[1:]
            codes += parts
            of_line = numbered.indices.cast(pa.int64())
        return cls(of_line, codes)

    def __len__(self) -> int:
        return len(self.codes[0]) if self.codes else min(len(self.of_line), 1)

    def members(self, columns: "Sequence[_Column]") -> list[Combination]:
        """Return the values of each combination."""
        if not self.codes:
            return [()] * len(self)
        cells = (
            [column.values[code] for code in codes.to_pylist()]
            for column, codes in zip(columns, self.codes, strict=True)
        )
        return list(zip(*cells, strict=True))


_WIDEST = 2**62
"""Packed codes stay below this, so that nothing overflows."""


def _width(codes: pa.Array) -> int:
    return int(pc.max(codes).as_py() or 0) + 1


def _unpack(packed: pa.Array, widths: Sequence[int]) -> list[pa.Array]:
    """Return the codes that were packed into numbers, column by column.

    >>> [codes.to_pylist() for codes in _unpack(pa.array([5, 3]), [4, 3])]
    [[1, 1], [2, 0]]
    """
    found = []
    for width in reversed(widths[1:]):
        before = pc.divide(packed, width)
        found.append(pc.subtract(packed, pc.multiply(before, width)))
        packed = before
    return [packed, *reversed(found)]


def _array(numbers: Sequence[int]) -> pa.Array:
    from array import array

    return pa.Array.from_buffers(
        pa.int64(), len(numbers), [None, pa.py_buffer(array("q", numbers))]
    )


def _tally(codes: pa.Array, n: int) -> list[int]:
    """Return how often each of n codes occurs."""
    found = [0] * n
    counted = pc.value_counts(codes)
    for code, times in zip(counted.field(0).to_pylist(), counted.field(1).to_pylist(), strict=True):
        found[code] = times
    return found


def _require_rows(
    columns: Sequence[_Column],
    cells: _Numbers,
    numbers: pa.Array,
    public: Mapping[Combination, int],
) -> None:
    """Raise if the lines do not add up to the public rows of every combination."""
    lines = pa.table({"cell": cells.of_line, "rows": numbers})
    # In this thread: others would drop the numbers, which are Python's, when they get to it.
    summed = lines.group_by("cell", use_threads=False).aggregate([("rows", "sum")])
    found: dict[int, int] = dict(
        zip(summed["cell"].to_pylist(), summed["rows_sum"].to_pylist(), strict=True)
    )
    told = {member: found[at] for at, member in enumerate(cells.members(columns))}
    if told == public:
        return
    wrong = [key for key, rows in public.items() if told.get(key, 0) != rows]
    wrong += [key for key in told if key not in public]
    key = wrong[0]
    where = dict(zip([column.name for column in columns], map(_in_words, key), strict=True))
    raise InputError(
        "its rows are not those that are public: they differ in "
        f"{len(wrong)} {'combination' if len(wrong) == 1 else 'combinations'}. Where "
        f"{', '.join(f'{name} is {value}' for name, value in where.items())} it has "
        f"{told.get(key, 0)} and the release {public.get(key, 0)}"
    )


def _in_words(value: object) -> str:
    return "missing" if value is None else text_of(value)[:60]
