"""Every promise counted again in plain Python, from what a stranger reads.

The conditions are those of the textbooks in `tests/models`; where one stands there as a function it
is used, the others are a line each here. Nothing of the package has a part in it.
"""

import csv
import gzip
import io
import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import date, datetime
from fractions import Fraction
from functools import cache
from itertools import combinations, product
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet

from tests.fuzz.guards import Fault
from tests.models import (
    test_alpha_k_anonymity as alpha_k,
)
from tests.models import (
    test_category_share as category,
)
from tests.models import (
    test_entropy_l_diversity as entropy,
)
from tests.models import (
    test_recursive_cl_diversity as recursive,
)
from tests.models import (
    test_risk_models as risks,
)
from tests.models.tables import known
from tests.models.test_t_closeness import ground_equal, ground_ordered, transport
from tests.tasks.test_spelling import fold_cell

Row = dict[str, str | None]

fold = cache(fold_cell)
"""Some cells are long, and folded once per class."""


# Reading, as a stranger would.


def text(value: object) -> str | None:
    """Return a cell as text; whatever is no value is None."""
    if value is None or value == "" or value != value:  # noqa: PLR0124 - NaN
        return None
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
    if isinstance(value, datetime):
        nanoseconds = getattr(value, "nanosecond", 0)  # Timestamps of pandas have them.
        time = value.hour, value.minute, value.second, value.microsecond, nanoseconds
        return str(value) if any(time) or value.tzinfo else value.date().isoformat()
    if isinstance(value, date):
        return value.isoformat()
    return str(value)


def read_file(path: Path) -> list[Row]:
    """Read a table of any format into rows of texts."""
    if path.suffix == ".csv":
        return list(read_csv(path.read_bytes()))
    if path.suffix == ".gz":
        return list(read_csv(gzip.decompress(path.read_bytes())))
    if path.suffix == ".parquet":
        return read_table(pa.parquet.ParquetFile(path).read())
    return read_table(pa.feather.read_table(path))


def read_csv(data: bytes) -> Iterable[Row]:
    """Read CSV with a header; an empty cell is a missing one."""
    before = csv.field_size_limit(2**31 - 1)
    try:
        reader = csv.DictReader(io.StringIO(data.decode(), newline=""))
        return [{name: cell or None for name, cell in row.items()} for row in reader]
    finally:
        csv.field_size_limit(before)


def read_table(table: object) -> list[Row]:
    """Read a table in memory into rows of texts."""
    if hasattr(table, "to_arrow"):  # Polars
        table = table.to_arrow()
    elif not isinstance(table, pa.Table):
        table = pa.Table.from_pandas(table, preserve_index=False)
    rows = table.to_pylist()
    return [{name: text(cell) for name, cell in row.items()} for row in rows]


# The models.

Counts = Counter[str | None]


def _gains(counts: Counts, table: Counts) -> list[tuple[Fraction, Fraction]]:
    """Return ((p-q)/q, q) of all values of the table."""
    size, all_rows = counts.total(), table.total()
    shares = {value: Fraction(rows, all_rows) for value, rows in table.items()}
    return [(Fraction(counts[value], size) / q - 1, q) for value, q in shares.items()]


def _weight(counts: Counts, model: Mapping[str, Any]) -> Fraction:
    """Add up (i-1)/(x-1) of the category of each row, or of each value."""
    named = model["categories"]
    of = {str(value): i for i, values in enumerate(named) for value in values}
    by_rows = model.get("weight", "rows") == "rows"
    return sum(
        (
            Fraction(of[value], len(named) - 1) * (rows if by_rows else 1)
            for value, rows in counts.items()
            if value is not None
        ),
        Fraction(0),
    )


def _kinds(counts: Counts, model: Mapping[str, Any]) -> int:
    of = {str(value): i for i, values in enumerate(model["categories"]) for value in values}
    return len({of[value] for value in counts if value is not None})


def _numbers(counts: Counts) -> list[Fraction]:
    return [Fraction(value) for value in counts if value is not None]


def _largest_range(counts: Counts, within: Fraction) -> Fraction:
    """The largest share of numbers in a range of a width, tried from every number on."""
    rows = [(Fraction(value), n) for value, n in counts.items() if value is not None]
    held = (sum(n for each, n in rows if 0 <= each - low <= within) for low, _ in rows)
    return Fraction(max(held), sum(n for _, n in rows))


def _distance(counts: Counts, table: Counts, distance: str, paths: Mapping[str, Any]) -> float:
    def place(value: str) -> tuple[bool, float, str]:
        # In data about people "nan", "infinity" and "1_000" are texts.
        if "_" not in value and value.lstrip()[:1] in set("+-.0123456789"):
            with suppress(ValueError):
                return False, float(value), value
        # Spellings count as one value, and have its place.
        return True, 0.0, fold_cell(value) or ""

    values: list[str | None] = sorted((v for v in table if v is not None), key=place)
    values += [None] * (None in table)
    if distance == "hierarchical":
        top = max((len(path) for path in paths.values()), default=1)
        chains = {v: (v, *paths[v]) for v in values if v is not None}
        # A missing value is a branch of its own below the root.
        chains[None] = (None,) * top + ("*",)  # type: ignore[assignment]
        chains = {v: (*chain[:-1], "*") for v, chain in chains.items()}
        cost = [
            [next(i for i in range(top + 1) if chains[a][i] == chains[b][i]) / top for b in values]
            for a in values
        ]
    else:
        cost = (ground_equal if distance == "equal" else ground_ordered)(values)
    supply = [counts[value] / counts.total() for value in values]
    demand = [table[value] / table.total() for value in values]
    return float(transport(supply, demand, cost))


def _decimal(number: object) -> Fraction:
    """Return a parameter as the decimal that was written."""
    return Fraction(repr(number)) if isinstance(number, float) else Fraction(number)  # type: ignore[call-overload]


def _shows(people: int, rows: int, fraction: Fraction) -> Fraction:
    """Return how likely a class of some people shows as many rows, if it shows any."""

    def at_least(least: int) -> Fraction:
        return sum(
            (
                math.comb(people, n) * fraction**n * (1 - fraction) ** (people - n)
                for n in range(least, people + 1)
            ),
            Fraction(0),
        )

    return at_least(rows) / at_least(1)


def _stands_for(weights: Counts) -> Fraction:
    """Return how many people the rows of a class stand for."""
    return sum((Fraction(w) * n for w, n in weights.items() if w is not None), Fraction(0))


SLACK = 1e-7
"""What rounding may do where logarithms or a linear programme are involved."""

Judge = Callable[[int, Counts, Counts, Mapping[str, Any]], bool]
"""Whether a class passes: its size, its values, those of the table, the model's settings."""

CLASS_MODELS: dict[str, Judge] = {
    "k-anonymity": lambda n, _c, _t, m: n >= m["k"],
    "maximum-risk": lambda n, _c, _t, m: Fraction(1, n) <= _decimal(m["risk"]) + Fraction(1, 10**9),
    "distinct-l-diversity": lambda _n, c, _t, m: len(known(c)) >= m["l"],
    "probabilistic-l-diversity": lambda _n, c, _t, m: (
        bool(known(c)) and known(c)[0] * _decimal(m["l"]) <= sum(known(c)) + Fraction(1, 10**8)
    ),
    "entropy-l-diversity": lambda _n, c, _t, m: entropy.textbook(
        known(c), _decimal(m["l"]) * (1 - Fraction(1, 10**9))
    ),
    "recursive-cl-diversity": lambda _n, c, _t, m: recursive.textbook(
        known(c), _decimal(m["c"]), m["l"]
    ),
    "t-closeness": lambda _n, c, t, m: (
        _distance(c, t, m.get("distance", "equal"), m.get("paths", {})) <= m["t"] + SLACK
    ),
    "alpha-k-anonymity": lambda _n, c, _t, m: alpha_k.textbook(
        c, _decimal(m["alpha"]), m["k"], [str(v) for v in m.get("protected", ())]
    ),
    "p-sensitive-k-anonymity": lambda n, c, _t, m: n >= m["k"] and len(known(c)) >= m["p"],
    "p-alpha-sensitive-k-anonymity": lambda n, c, _t, m: (
        n >= m["k"] and len(known(c)) >= m["p"] and _weight(c, m) >= _decimal(m["alpha"])
    ),
    "enhanced-p-alpha-sensitive-k-anonymity": lambda n, c, _t, m: (
        n >= m["k"] and _kinds(c, m) >= m["p"] and _weight(c, m) >= _decimal(m["alpha"])
    ),
    "category-share": lambda _n, c, _t, m: category.textbook(
        c, [[str(v) for v in each] for each in m["categories"]], _decimal(m["share"])
    ),
    "k-e-anonymity": lambda _n, c, _t, m: (
        len(set(_numbers(c))) >= m["k"]
        and max(_numbers(c)) - min(_numbers(c)) >= _decimal(m["e"]) * (1 - Fraction(1, 10**9))
    ),
    "range-share": lambda _n, c, _t, m: (
        bool(_numbers(c))
        and _largest_range(c, _decimal(m["within"])) <= _decimal(m["share"]) + Fraction(1, 10**9)
    ),
    "estimated-k-map": lambda n, _c, _t, m: (
        _shows(m["k"] - 1, n, _decimal(m["fraction"]))
        <= 1 - _decimal(m.get("confidence", 0.99)) + Fraction(1, 10**9)
    ),
    "weighted-k-map": lambda n, c, _t, m: (
        _shows(m["k"] - 1, n, Fraction(n) / max(_stands_for(c), Fraction(n)))
        <= 1 - _decimal(m.get("confidence", 0.99)) + Fraction(1, 10**9)
    ),
    "basic-beta-likeness": lambda _n, c, t, m: all(
        gain <= _decimal(m["beta"]) + Fraction(1, 10**9) for gain, _ in _gains(c, t)
    ),
    "enhanced-beta-likeness": lambda _n, c, t, m: all(
        gain <= min(m["beta"], -math.log(q)) + SLACK for gain, q in _gains(c, t)
    ),
    "delta-disclosure": lambda _n, c, t, m: all(
        gain > -1 and abs(math.log(gain + 1)) < m["delta"] + SLACK for gain, _ in _gains(c, t)
    ),
}
TABLE_MODELS: dict[str, Callable[[Sequence[int], Mapping[str, Any]], bool]] = {
    "average-risk": lambda sizes, m: (
        risks.average(sizes) <= _decimal(m["risk"]) + Fraction(1, 10**9)
    ),
    "sample-uniqueness": lambda sizes, m: (
        risks.uniqueness(sizes) <= _decimal(m["share"]) + Fraction(1, 10**9)
    ),
}
PEOPLE_MODELS: dict[str, Callable[[int, int, Mapping[str, Any]], bool]] = {
    "k-map": lambda _n, people, m: people >= m["k"],
    "delta-presence": lambda n, people, m: (
        people > 0
        and _decimal(m["minimum"]) - Fraction(1, 10**9)
        <= Fraction(n, people)
        <= _decimal(m["maximum"]) + Fraction(1, 10**9)
    ),
}


def _km_holds(baskets: Sequence[frozenset[tuple[str, str]]], model: Mapping[str, Any]) -> bool:
    """Return whether any few items that some row has are had by k rows."""
    had: Counter[tuple[tuple[str, str], ...]] = Counter()
    for basket in baskets:
        for size in range(1, model["m"] + 1):
            had.update(combinations(sorted(basket), size))
    return all(rows >= model["k"] for rows in had.values())


def baskets_of(rows: Sequence[Row], sets: Sequence[str]) -> list[frozenset[tuple[str, str]]]:
    """Return the items of each row, each with its column."""
    return [
        frozenset((name, item) for name in sets for item in (row[name] or "").split(";") if item)
        for row in rows
    ]


SET_MODELS: dict[str, Callable[[Sequence[frozenset[tuple[str, str]]], Mapping[str, Any]], bool]] = {
    "km-anonymity": _km_holds
}


# The classes.

_FRESH = object()
"""A value that no row has."""


def groups_of(rows: Sequence[Row], names: Sequence[str], missing: str) -> list[list[Row]]:
    """Return the rows that a person may be, for every person there may be."""
    by_key: dict[tuple[str | None, ...], list[Row]] = {}
    for row in rows:
        by_key.setdefault(tuple(row[name] for name in names), []).append(row)
    if missing != "matches-any" or not any(None in key for key in by_key):
        return list(by_key.values())
    domains: list[list[object]] = [
        [*dict.fromkeys(key[at] for key in by_key if key[at] is not None), _FRESH]
        for at in range(len(names))
    ]
    found = []
    for whole in product(*domains):
        keys = [
            key for key in by_key if all(k in (None, w) for k, w in zip(key, whole, strict=True))
        ]
        if keys:
            found.append([row for key in keys for row in by_key[key]])
    return found


def spelt_once(model: Mapping[str, Any], table: Counts) -> Callable[[Counts], Counts]:
    """Return what counts values with all spellings of one taken for one of them."""
    one: dict[str, str] = {}
    # A spelling that the model names is the one it looks for.
    for text in (*_texts_in(model), *table):
        if text is not None and (key := fold(text)) is not None:
            one.setdefault(key, text)

    def count(values: Counts) -> Counts:
        found: Counts = Counter()
        for text, rows in values.items():
            found[one.get(fold(text) or "")] += rows
        return found

    return count


def _texts_in(what: object) -> Iterator[str]:
    if isinstance(what, Mapping):
        what = list(what.values())
    if isinstance(what, str):
        yield what
    elif isinstance(what, list | tuple):
        for each in what:
            yield from _texts_in(each)


def recount(  # noqa: C901 - one case per kind of model
    rows: Sequence[Row],
    quasi_identifiers: Sequence[str],
    models: Sequence[Mapping[str, Any]],
    *,
    missing: str = "own-value",
    people: Counter[tuple[str | None, ...]] | None = None,
    sets: Sequence[str] = (),
    unseen: Iterable[str] = (),
) -> None:
    """Raise a fault if a model does not hold in these rows.

    Args:
        rows: What is published, without rows of stars.
        quasi_identifiers: The columns whose values make the classes.
        models: As a policy states them; `paths` has the labels of a sensitive column's values.
        missing: What a missing value of a quasi-identifier is.
        people: How many people of the population have each published key.
        sets: The columns with several items per row, separated by `;`.
        unseen: Models that are judged elsewhere.
    """
    if not rows:
        return
    groups = groups_of(rows, quasi_identifiers, missing)
    for model in models:
        name = model["model"]
        if name in unseen:
            continue
        column = model.get("column")
        table = Counter(row[column] for row in rows) if column else Counter()
        if name in CLASS_MODELS:
            once = spelt_once(model, table)
            table = once(table)
            good = all(
                CLASS_MODELS[name](
                    len(g),
                    once(Counter(r[column] for r in g) if column else Counter()),
                    table,
                    model,
                )
                for g in groups
            )
        elif name in TABLE_MODELS:
            if missing == "matches-any":
                continue  # A row is in several groups; the verifier's own tests judge that.
            good = TABLE_MODELS[name]([len(group) for group in groups], model)
        elif name in PEOPLE_MODELS:
            if people is None:
                continue
            good = all(
                PEOPLE_MODELS[name](
                    len(g), people[tuple(g[0][q] for q in quasi_identifiers)], model
                )
                for g in groups
            )
        elif name in SET_MODELS:
            good = all(SET_MODELS[name](baskets_of(g, sets), model) for g in groups)
        else:
            raise Fault("no recount", f"write {name} again in tests/fuzz/recount.py")
        if not good:
            raise Fault(f"{name} does not hold", f"{dict(model)} in {len(rows)} rows")
