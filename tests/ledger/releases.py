"""Small broken releases and increments for ledger tests."""

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
    """Everything a broken table says, by labels: {labels: (size, {column: {value: rows}})}."""
    found = {}
    for g, size in enumerate(grouped.sizes.tolist()):
        labels = tuple(
            column.values[code]
            for column, code in zip(grouped.quasi_identifiers, grouped.labels[:, g], strict=True)
        )
        tables = {}
        for table in grouped.sensitive:
            here = table.group == g
            tables[table.column.name] = {
                table.column.values[v]: n
                for v, n in zip(table.value[here].tolist(), table.rows[here].tolist(), strict=True)
            }
        found[labels] = (size, tables)
    return found
