"""Decoupled releases put together by hand, from rows and the bucket of each."""

from collections import Counter

import pyarrow as pa

from sfumato.releases.manifest import Manifest
from sfumato.releases.release import DecoupledRelease
from sfumato.verifier.promises import ANATOMY, SLICING


def table_of(names, rows) -> pa.Table:
    columns = zip(*rows, strict=True) if rows else [[] for _ in names]
    return pa.table({name: list(cells) for name, cells in zip(names, columns, strict=True)})


def _counted(names, rows, buckets, held) -> pa.Table:
    """How many people of each bucket have which values of some columns."""
    at = [names.index(name) for name in held]
    people = Counter((b, *(row[i] for i in at)) for row, b in zip(rows, buckets, strict=True))
    return table_of(["bucket", *held, "count"], [(*key, n) for key, n in people.items()])


def _decoupled(kind, names, sensitive, rows, files, tables) -> DecoupledRelease:
    roles = {name: "sensitive" if name == sensitive else "quasi-identifier" for name in names}
    manifest = {
        "kind": kind,
        "group": "bucket",
        "count": "count",
        "files": [{"rows": tables[f["name"]].num_rows, **f} for f in files],
        "columns": [{"name": name, "role": role} for name, role in roles.items()],
        "rows": {"published": len(rows), "suppressed": 0, "suppression": "remove"},
        "missing": "own-value",
        "models": [],
        "hierarchies": {},
    }
    return DecoupledRelease(Manifest.from_dict(manifest), None, None, tables=tables)


def sliced(names, sensitive, rows, buckets, slices) -> DecoupledRelease:
    """Publish some columns together in each slice."""
    files = [
        {"name": f"slice_{i}", "table": "slice", "columns": held} for i, held in enumerate(slices)
    ]
    tables = {f["name"]: _counted(names, rows, buckets, f["columns"]) for f in files}
    return _decoupled(SLICING, names, sensitive, rows, files, tables)


def anatomised(names, sensitive, rows, buckets) -> DecoupledRelease:
    """Publish quasi-identifiers per person, and the sensitive column per bucket."""
    at = names.index(sensitive)
    people = [(b, *row[:at], *row[at + 1 :]) for row, b in zip(rows, buckets, strict=True)]
    others = [name for name in names if name != sensitive]
    tables = {
        "people": table_of(["bucket", *others], people),
        "values": _counted(names, rows, buckets, [sensitive]),
    }
    files = [
        {"name": "people", "table": "qi"},
        {"name": "values", "table": "sensitive", "column": sensitive},
    ]
    return _decoupled(ANATOMY, names, sensitive, rows, files, tables)
