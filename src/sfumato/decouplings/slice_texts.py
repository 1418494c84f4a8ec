"""What lies beside the tables of a sliced release: a description and SQL."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from sfumato.decouplings.base import Part, Parts, unused
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
{promise}
{overlap}- Values are exact. The order of the rows is random. An empty cell is a missing value.

`schema.sql` defines the tables. `manifest.json` says what is promised; whoever has Sfumato
checks it with `sfumato verify` and this folder.
"""

_PROMISES = {
    "probabilistic-l-diversity": """\
- Whoever looks for a person finds no {column} with a probability above 1/{l}, as far as these
  tables tell.""",
    "entropy-l-diversity": """\
- Whoever looks for a person finds the values of {column} on average as hard to guess as {l}
  equally likely ones, as far as these tables tell.""",
    "recursive-cl-diversity": """\
- Whoever looks for a person finds the likeliest {column} less than {c} times as likely as all
  but the {others} likeliest together, as far as these tables tell.""",
}

_OVERLAP = """\
- What stands in several tables says the same in each, and joins them within a bucket: {names}.
"""

_POSSIBLE = """\
-- What the tables say together: every combination that a bucket may hold, and how many people
-- have it if the slices have nothing to do with each other. It grows with the product of the
-- combinations: leave out the slices you do not need."""

_OVERLAPPING = """\
-- A column of several slices is there once: slices are joined where they agree in it, and have
-- nothing else to do with each other. Where slices overlap in a circle, what one of them rules out
-- is left out, and the numbers of a bucket may add up to less than its people."""


def slice_readme(manifest: Mapping[str, Any]) -> str:
    """Describe the files of a sliced release."""
    [model] = manifest["models"]
    held = Counter(name for file in manifest["files"] for name in file["columns"])
    twice = [code(name) for name, times in held.items() if times > 1]
    return _README.format(
        rows=manifest["rows"]["published"],
        buckets=manifest["classes"]["count"],
        files="\n".join(
            f"| `{file['name']}` | {', '.join(map(code, file['columns']))} | {file['rows']} |"
            for file in manifest["files"]
        ),
        group=code(manifest["group"]),
        count=code(manifest["count"]),
        promise=_promise(model),
        overlap=_OVERLAP.format(names=", ".join(twice)) if twice else "",
    )


def _promise(model: Mapping[str, Any]) -> str:
    """Say in words what holds of everybody."""
    told = {**model, "column": code(model["column"]), "others": model["l"] - 1}
    return _PROMISES[model["model"]].format(**told)


def slice_sql(parts: Parts) -> str:
    """Write the definitions of the tables, and a view that joins them again within a bucket.

    The joined number of people is that of the first slice, times the share that each further
    slice gives its own values among the people who agree with what is joined already.
    """
    bucket, count = quoted(parts.group), quoted(parts.count)
    names = list(dict.fromkeys(name for part in parts.tables for name in part.columns))
    # Of a column in several slices the first is taken; all others agree with it.
    home = {n: f"s{i}" for i, part in reversed(_numbered(parts)) for n in part.columns}
    share, expected = (
        quoted(unused(word, [*names, parts.group])) for word in ("share", "expected")
    )
    chosen = [
        f"s1.{bucket} AS {bucket}",
        *(f"{home[name]}.{quoted(name)} AS {quoted(name)}" for name in names),
        " * ".join([f"s1.{count}", *(f"s{i}.{share}" for i, _ in _numbered(parts)[1:])])
        + f" AS {expected}",
    ]
    lines = [
        'CREATE VIEW "possible" AS',
        "SELECT\n    " + ",\n    ".join(chosen),
        f"FROM {quoted(parts.tables[0].name)} AS s1",
    ]
    overlapping = False
    for i, part in _numbered(parts)[1:]:
        shared = [name for name in part.columns if home[name] != f"s{i}"]
        overlapping |= bool(shared)
        lines += _joined(f"s{i}", part, shared, home, (bucket, count, share))
    said = "\n".join([_POSSIBLE, _OVERLAPPING] if overlapping else [_POSSIBLE])
    return "\n\n".join([definitions(parts), said, "\n".join(lines) + ";"]) + "\n"


def _numbered(parts: Parts) -> list[tuple[int, Part]]:
    return list(enumerate(parts.tables, start=1))


def _joined(
    alias: str, part: Part, shared: Sequence[str], home: Mapping[str, str], words: Sequence[str]
) -> list[str]:
    """Join one more slice: by the bucket, and by what stands in a slice before it too."""
    bucket, count, share = words
    own = [quoted(name) for name in part.columns]
    by = ", ".join([bucket, *map(quoted, shared)])
    agreeing = [f"{alias}.{bucket} = s1.{bucket}"]
    agreeing += [_same(f"{alias}.{quoted(n)}", f"{home[n]}.{quoted(n)}") for n in shared]
    # Every name is quoted, and nothing here is ever run by us.
    return [
        f"JOIN (SELECT {', '.join([bucket, *own])},",
        f"    {count} * 1.0 / SUM({count}) OVER (PARTITION BY {by}) AS {share}",
        f"    FROM {quoted(part.name)}) AS {alias} ON " + "\n    AND ".join(agreeing),
    ]


def _same(one: str, other: str) -> str:
    """Compare as values are compared here: a missing one agrees with a missing one."""
    return f"({one} = {other} OR ({one} IS NULL AND {other} IS NULL))"
