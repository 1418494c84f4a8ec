"""What lies beside the tables of a sliced release: a description and SQL."""

from collections.abc import Mapping
from typing import Any

from sfumato.decouplings.base import Parts, unused
from sfumato.decouplings.readme import code
from sfumato.decouplings.sql import definitions, quoted

_README = """\
# A release in slices

{rows} people in {buckets} buckets. Each table is a slice: some attributes of everybody, and how
many people of a bucket have each combination of them. What belongs together between two
slices is not said, beyond the bucket.

| file | what is in it | rows |
|---|---|---|
{files}

- The column {group} links the tables. Its numbers are drawn at random and mean nothing.
- The column {count} says how many people of the bucket have the values. In every table these
  numbers add up to the size of the bucket.
- Whoever looks for a person finds no {column} with a probability above 1/{l}, as far as these
  tables tell.
- Values are exact. The order of the rows is random. An empty cell is a missing value.

`schema.sql` defines the tables. `manifest.json` says what is promised; whoever has Sfumato
checks it with `sfumato verify` and this folder.
"""

_POSSIBLE = """\
-- What the tables say together: every combination that a bucket may hold, and how many people
-- have it if the slices have nothing to do with each other. It grows with the product of the
-- combinations: leave out the slices you do not need."""


def slice_readme(manifest: Mapping[str, Any]) -> str:
    """Describe the files of a sliced release."""
    [model] = manifest["models"]
    return _README.format(
        rows=manifest["rows"]["published"],
        buckets=manifest["classes"]["count"],
        files="\n".join(
            f"| `{file['name']}` | {', '.join(map(code, file['columns']))} | {file['rows']} |"
            for file in manifest["files"]
        ),
        group=code(manifest["group"]),
        count=code(manifest["count"]),
        column=code(model["column"]),
        l=model["l"],
    )


def slice_sql(parts: Parts) -> str:
    """Write the definitions of the tables, and a view that joins them where no two overlap."""
    names = [name for part in parts.tables for name in part.columns]
    if len(set(names)) < len(names):
        return definitions(parts) + "\n"
    bucket, count = quoted(parts.group), quoted(parts.count)
    size, expected = (quoted(unused(word, [*names, parts.group])) for word in ("size", "expected"))
    tables = {f"s{i}": part for i, part in enumerate(parts.tables, start=1)}
    first = quoted(parts.tables[0].name)
    shares = " * ".join(f"({s}.{count} * 1.0 / b.{size})" for s in tables)
    chosen = [
        f"b.{bucket} AS {bucket}",
        *(f"{s}.{quoted(n)} AS {quoted(n)}" for s, part in tables.items() for n in part.columns),
        f"b.{size} * {shares} AS {expected}",
    ]
    lines = [
        'CREATE VIEW "possible" AS',
        "SELECT\n    " + ",\n    ".join(chosen),
        # Every name is quoted, and nothing here is ever run by us.
        f"FROM (SELECT {bucket}, SUM({count}) AS {size}",
        f"    FROM {first} GROUP BY {bucket}) AS b",
        *(f"JOIN {quoted(p.name)} AS {s} ON {s}.{bucket} = b.{bucket}" for s, p in tables.items()),
    ]
    return "\n\n".join([definitions(parts), _POSSIBLE, "\n".join(lines) + ";"]) + "\n"
