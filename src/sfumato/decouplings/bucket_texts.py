"""What lies beside the tables of an anatomised release: a description and SQL."""

from collections.abc import Mapping
from typing import Any

from sfumato.decouplings.base import Parts, unused
from sfumato.decouplings.readme import code
from sfumato.decouplings.sql import definitions, quoted

_README = """\
# A release in two tables

{rows} people in {buckets} buckets. The table of quasi-identifiers has one row per person, with
exact values; the sensitive table says how many people of a bucket have which {column}, and not who.

| file | what is in it | rows |
|---|---|---|
{files}

- The column {group} links the tables. Its numbers are drawn at random and mean nothing.
- The column {count} says how many people of the bucket have the value. These numbers add up to
  the size of the bucket.
- Every bucket has at least {l} different values. Who is in it has any of them with
  probability 1/{l} at most, as far as these tables tell.
- Quasi-identifiers are exact, so the tables tell who is in the data.
- The order of the rows is random. An empty cell is a missing value.

`schema.sql` defines the tables and joins them. `manifest.json` says what is promised; whoever
has Sfumato checks it with `sfumato verify` and this folder.
"""

_POSSIBLE = """\
-- What the tables say together: every value a person may have, and how likely it is."""


def bucket_readme(manifest: Mapping[str, Any]) -> str:
    """Describe the files of an anatomised release."""
    [column] = [file["column"] for file in manifest["files"] if file["table"] == "sensitive"]
    what = {"qi": "one row per person: what others may know, as it is"}
    what["sensitive"] = f"how many people of each bucket have which {code(column)}"
    return _README.format(
        rows=manifest["rows"]["published"],
        buckets=manifest["classes"]["count"],
        column=code(column),
        files="\n".join(
            f"| `{file['name']}` | {what[file['table']]} | {file['rows']} |"
            for file in manifest["files"]
        ),
        group=code(manifest["group"]),
        count=code(manifest["count"]),
        l=manifest["models"][0]["l"],
    )


def bucket_sql(parts: Parts) -> str:
    """Write the definitions of the tables, and the join an analyst would make, as a view."""
    people, values = parts.tables
    names = [column.name for column in people.content.columns]
    bucket, count, value = quoted(parts.group), quoted(parts.count), quoted(str(values.column))
    likely = quoted(unused("probability", [*names, str(values.column)]))
    size = quoted(unused("size", names))
    chosen = [f"q.{quoted(name)} AS {quoted(name)}" for name in names]
    chosen += [f"s.{value} AS {value}", f"s.{count} * 1.0 / b.{size} AS {likely}"]
    lines = [
        'CREATE VIEW "possible" AS',
        "SELECT\n    " + ",\n    ".join(chosen),
        f"FROM {quoted(people.name)} AS q",
        f"JOIN (SELECT {bucket}, SUM({count}) AS {size}",
        # Every name is quoted, and nothing here is ever run by us.
        f"    FROM {quoted(values.name)} GROUP BY {bucket}) AS b ON b.{bucket} = q.{bucket}",
        f"JOIN {quoted(values.name)} AS s ON s.{bucket} = q.{bucket}",
    ]
    return "\n\n".join([definitions(parts), _POSSIBLE, "\n".join(lines) + ";"]) + "\n"
