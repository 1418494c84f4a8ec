"""Small broken releases and increments for ledger tests."""

import csv
import json
from collections import Counter
from fractions import Fraction
from pathlib import Path

import pyarrow as pa

from sfumato.counts import FrequencySet
from sfumato.decouplings.base import GroupedTables

QI = ("age",)
SENSITIVE = ("ill", "pay")

START = [
    ("20s", "flu", "low"),
    ("20s", "gout", "low"),
    ("20s", "hiv", "high"),
    ("20s", "cold", "high"),
    ("30s", "flu", "low"),
    ("30s", "gout", "high"),
    ("30s", "hiv", "low"),
    ("30s", "cold", "high"),
]


def grouped_of(rows, qi=QI, sensitive=SENSITIVE) -> GroupedTables:
    names = (*qi, *sensitive)
    return GroupedTables.of(FrequencySet.from_rows(names, rows), qi, sensitive)


def table_of(rows, names=(*QI, *SENSITIVE)) -> pa.Table:
    return pa.table({name: [row[i] for row in rows] for i, name in enumerate(names)})


def counted(grouped: GroupedTables) -> dict:
    """Everything tables say, by labels: {labels: (size, {column: {value: rows}})}.

    Cells with the same labels are added up: see `cells_of` for each by itself.
    """
    found = {}
    for labels, size, tables in _cells(grouped):
        rows, sums = found.get(labels, (0, {name: Counter() for name in tables}))
        found[labels] = (rows + size, {name: sums[name] + tables[name] for name in tables})
    return found


def cells_of(grouped: GroupedTables) -> dict:
    """Everything tables say, by number: {number: (labels, size, {column: {value: rows}})}."""
    return dict(zip(grouped.ids.tolist(), _cells(grouped), strict=True))


def _cells(grouped):
    for g, size in enumerate(grouped.sizes.tolist()):
        labels = tuple(
            column.values[code]
            for column, code in zip(grouped.quasi_identifiers, grouped.labels[:, g], strict=True)
        )
        tables = {}
        for table in grouped.sensitive:
            here = table.group == g
            values, rows = table.value[here].tolist(), table.rows[here].tolist()
            tables[table.column.name] = Counter(
                dict(zip((table.column.values[v] for v in values), rows, strict=True))
            )
        yield labels, size, tables


def worst_of(tables: dict) -> Fraction:
    """Return the largest share of a value among those of its column that are known."""
    shares = [Fraction(0)]
    for counts in tables.values():
        known = {value: n for value, n in counts.items() if value is not None}
        shares += [Fraction(n, sum(known.values())) for n in known.values()]
    return max(shares)


def sums_of(told: dict, written=str) -> Counter:
    """Add up what `counted` gives: rows of each group, and of each value as it is written."""
    found = Counter()
    for labels, (size, tables) in told.items():
        key = tuple(label if label is None else written(label) for label in labels)
        found[key] += size
        for column, values in tables.items():
            for value, rows in values.items():
                found[(*key, column, value if value is None else written(value))] += rows
    return found


def sums_of_folder(folder: Path) -> Counter:
    """Add up the CSV tables of an increment in the same way."""
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    group, count = manifest["group"], manifest["count"]
    keys, found = {}, Counter()
    for file in sorted(manifest["files"], key=lambda each: each["table"] != "qi"):
        with (folder / file["name"]).open(encoding="utf-8", newline="") as handle:
            rows = [{n: c or None for n, c in row.items()} for row in csv.DictReader(handle)]
        for row in rows:
            if file["table"] == "qi":
                label = row.pop(group)
                keys[label] = tuple(row.values())
                found[keys[label]] += 1
            else:
                found[(*keys[row[group]], file["column"], row[file["column"]])] += int(row[count])
    return found
