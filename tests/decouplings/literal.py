"""Breaking and joining word by word, on Python's own lists and counters."""

import csv
import json
from collections import Counter
from fractions import Fraction
from itertools import product


def grouped(rows, n_quasi):
    """Rows with the same quasi-identifiers are a group: its size, and its values by column."""
    members = {}
    for row in rows:
        members.setdefault(tuple(row[:n_quasi]), []).append(row[n_quasi:])
    return {
        key: (len(group), [Counter(column) for column in zip(*group, strict=True)])
        for key, group in members.items()
    }


def joined(rows, n_quasi):
    """Every combination of a group's values, and how many people it stands for."""
    expected = {}
    for key, (size, columns) in grouped(rows, n_quasi).items():
        for values in product(*columns):
            people = Fraction(size)
            for column, value in zip(columns, values, strict=True):
                people *= Fraction(column[value], size)
            expected[(*key, *values)] = people
    return expected


def read(folder):
    """Read the CSV files of a folder the way a stranger would, into what `broken` gives."""
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    group, count = manifest["group"], manifest["count"]
    keys, sizes, columns = {}, Counter(), {}
    for file in manifest["files"]:
        with (folder / file["name"]).open(encoding="utf-8", newline="") as handle:
            rows = list(csv.DictReader(handle))
        assert len(rows) == file["rows"]
        for row in rows:
            label = row.pop(group)
            if file["table"] == "qi":
                key = tuple(cell or None for cell in row.values())
                assert keys.setdefault(label, key) == key
                sizes[label] += 1
            else:
                value = row[file["column"]] or None
                counts = columns.setdefault(label, {}).setdefault(file["column"], Counter())
                assert value not in counts
                counts[value] = int(row[count])
    assert len(set(keys.values())) == len(keys)
    return {keys[label]: (sizes[label], list(columns[label].values())) for label in keys}
