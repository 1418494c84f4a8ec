"""One row per person from several: what changes within a person is put side by side."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import types as t

from sfumato.derivations.dates import Detection, look_like_dates
from sfumato.errors import InputError, some
from sfumato.tables.arrow.sources import (
    ArrowSource,
    as_type,
    canonical,
    counted_type,
    from_numpy,
    from_texts,
    is_text,
    number,
    plain_type,
    to_numpy,
)
from sfumato.tables.capabilities import WideRows
from sfumato.text import format_integer, number_of
from sfumato.typing import BoolArray, IntArray

MOST_COLUMNS = 1000
"""Columns that a table may get. More are no table that promises can be kept for."""


def widen_rows(
    source: ArrowSource,
    person: str,
    order: str | None,
    columns: Sequence[str],
    most: int | None,
    count: str,
) -> WideRows:
    """Return the rows of each person side by side; see `sfumato.tasks.widen`."""
    names = list(dict.fromkeys([person, *columns]))
    read = list(dict.fromkeys([*names, *([] if order is None else [order])]))
    arrays = _read(source, read)
    keys = _codes(arrays[person])
    missing = int((keys < 0).sum())
    if missing:
        raise InputError(
            f"{source.where}: column {person!r} does not say whose row it is in "
            f"{format_integer(missing)} "
            f"{'row' if missing == 1 else 'rows'}. Fill it in, or take those rows out."
        )
    _, first, of_row = np.unique(keys, return_index=True, return_inverse=True)
    # People in the order in which they come first.
    number = np.empty(len(first), dtype=np.int64)
    number[np.argsort(first)] = np.arange(len(first))
    who = number[of_row]
    ranks = np.zeros(len(who), dtype=np.int64)
    if order is not None:
        ranks = _ranks(arrays[order], order, source.where)
    rows = np.lexsort((ranks, who))
    who, ranks = who[rows], ranks[rows]
    sizes = np.bincount(who, minlength=len(first))
    starts = np.cumsum(sizes) - sizes
    place = np.arange(len(who)) - starts[who]
    again = (np.diff(who) == 0) & (np.diff(ranks) == 0) & (order is not None)
    ties = len(np.unique(who[1:][again]))
    kept = place < (len(who) if most is None else most)
    rows, who, place = rows[kept], who[kept], place[kept]
    width = int(sizes.max()) if most is None else min(most, int(sizes.max()))
    changing = [name for name in names if name != person and _changes(arrays[name], rows, who)]
    others = [name for name in names if name not in changing]
    _require_few(source.where, len(others) + 1 + width * len(changing), sizes, len(changing))
    made = {f"{name}_{i}": name for name in changing for i in range(1, width + 1)}
    _require_free(made, others, count, source.where)
    firsts = rows[place == 0]
    found: dict[str, pa.Array] = {}
    for name in names:
        if name not in changing:
            found[name] = arrays[name].take(from_numpy(firsts))
            if name == person:
                found[count] = from_numpy(sizes.astype(np.int64))
            continue
        for i in range(width):
            at = np.full(len(first), -1, dtype=np.int64)
            at[who[place == i]] = rows[place == i]
            found[f"{name}_{i + 1}"] = arrays[name].take(from_numpy(at, missing=at < 0))
    return WideRows(
        pa.table(found),
        tuple(name for name in others if name != person),
        tuple(changing),
        len(first),
        len(keys),
        int(len(keys) - len(rows)),
        width,
        ties,
    )


def _read(source: ArrowSource, names: Sequence[str]) -> dict[str, pa.Array]:
    for name in names:
        counted_type(source.schema.field(name).type, name)  # raises for lists and the like
    parts: dict[str, list[pa.Array]] = {name: [] for name in names}
    for batch in source.batches(list(names)):
        for name, array in zip(names, batch.columns, strict=True):
            kind = plain_type(source.schema.field(name).type)
            parts[name].append(as_type(canonical(array), kind))
    source.check_unchanged()
    if not parts[names[0]]:
        raise InputError(f"{source.where} has no rows")
    return {name: pa.concat_arrays(each) for name, each in parts.items()}


def _codes(array: pa.Array) -> IntArray:
    """Return a number for each value, -1 for a missing one."""
    plain = as_type(array, counted_type(array.type, ""))
    indices = plain.dictionary_encode().indices.cast(pa.int64())
    return to_numpy(pc.fill_null(indices, number(-1, indices.type)))


def _ranks(array: pa.Array, name: str, where: str) -> IntArray:
    """Return the place of each value in the order of values; a missing one comes last."""
    plain = as_type(array, counted_type(array.type, name))
    encoded = plain.dictionary_encode()
    values = _comparable(encoded.dictionary, name, where)
    order = np.asarray(pc.sort_indices(values), dtype=np.int64)
    ordered = values.take(from_numpy(order))
    # Two spellings of one number, or of one day, have the same place.
    place = to_numpy(ordered.dictionary_encode().indices.cast(pa.int64()))
    rank = np.empty(len(order) + 1, dtype=np.int64)
    rank[order] = place
    rank[-1] = len(order)
    ranks: IntArray = rank[
        to_numpy(pc.fill_null(encoded.indices.cast(pa.int64()), number(len(order), pa.int64())))
    ]
    return ranks


def _comparable(values: pa.Array, name: str, where: str) -> pa.Array:
    """Return values by which rows can be ordered: text that is numbers or dates as such."""
    if not is_text(values.type):
        return values.cast(pa.int8()) if t.is_boolean(values.type) else values
    texts: list[str] = values.to_pylist()
    numbers = [number_of(text) for text in texts]
    known = [number for number in numbers if number is not None]
    if len(known) == len(texts):
        return from_numpy(np.array(known, dtype=np.float64))
    if look_like_dates(texts):
        found = Detection.of(dict.fromkeys(texts, 1))
        form = found.settled
        if form is None:
            raise InputError(
                f"{where}: rows cannot be ordered by {found.problem(name)} For that, write them as "
                "1937-01-10."
            )
        return from_texts([form.read(text) for text in texts], pa.large_string())
    return values


def _changes(array: pa.Array, rows: IntArray, who: IntArray) -> bool:
    """Return whether some person has two values in a column."""
    codes = _codes(array)[rows]
    differs: BoolArray = (codes[1:] != codes[:-1]) & (who[1:] == who[:-1])
    return bool(differs.any())


def _require_few(where: str, wanted: int, sizes: IntArray, changing: int) -> None:
    if wanted <= MOST_COLUMNS:
        return
    shares = {"half": 0.5, "90 %": 0.9, "99 %": 0.99}
    spread = ", ".join(
        f"{share} of the people have up to {int(np.quantile(sizes, q, method='higher'))}"
        for share, q in shares.items()
    )
    fair = max(1, min((MOST_COLUMNS // 2) // changing, int(np.quantile(sizes, 0.99))))
    lost = int(np.maximum(sizes - fair, 0).sum())
    raise InputError(
        f"{where}: one row per person would have {format_integer(wanted)} columns, and at most "
        f"{format_integer(MOST_COLUMNS)} "
        f"are made: {changing} columns change within a person, and one person has "
        f"{format_integer(int(sizes.max()))} rows; {spread}. Name fewer columns, or keep the "
        "first rows of each "
        f"person: with most={fair}, {format_integer(lost)} of {format_integer(int(sizes.sum()))} "
        "rows are lost."
    )


def _require_free(made: dict[str, str], others: Sequence[str], count: str, where: str) -> None:
    taken = [name for name in made if name in others]
    if taken:
        raise InputError(
            f"{where} has columns that would be made: {some(taken)}. Rename them, or "
            "leave them out."
        )
    if count in others or count in made:
        raise InputError(
            f"{where}: the number of rows of a person is to be in column {count!r}, which is there "
            "already. Choose another name for it with count."
        )
