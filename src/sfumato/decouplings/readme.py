"""What a reader of a decoupled release should know, beside its files."""

from collections.abc import Mapping, Sequence
from typing import Any

_TEXT = """\
# A release in several tables

{rows} people in {groups} groups. People of one group look alike in everything that others may
know of them. What is sensitive stands in tables of its own, one for each column, which say how
many people of a group have a value; not who, nor which values of two columns belong together.

| file | what is in it | rows |
|---|---|---|
{files}

- The column {group} links the tables. Its numbers are drawn at random and mean nothing.
- The column {count} says how many people of the group have the value. In each table these
  numbers add up to the size of the group.
- The order of the rows is random.
- Sensitive values are exact. An empty cell is a missing value.

`schema.sql` defines the tables and joins them. `manifest.json` says what is promised; whoever
has Sfumato checks it with `sfumato verify` and this folder.
"""


def readme(manifest: Mapping[str, Any]) -> str:
    """Describe the files of a decoupled release."""
    return _TEXT.format(
        rows=manifest["rows"]["published"],
        groups=manifest["classes"]["count"],
        files="\n".join(map(_line, manifest["files"])),
        group=code(manifest["group"]),
        count=code(manifest["count"]),
    )


def _line(file: Mapping[str, Any]) -> str:
    what = "one row per person: what others may know, generalised"
    if file["table"] == "sensitive":
        what = f"how many people of each group have which {code(file['column'])}"
    return f"| `{file['name']}` | {what} | {file['rows']} |"


def code(name: str) -> str:
    r"""Show a name as it is, whatever it holds, in a cell of a table.

    >>> print(code("a|b"), code("pay `net`"))
    `a\|b` ``` pay `net` ```
    """
    text = " ".join(name.split()).replace("|", "\\|")
    fence, space = _fence(text.split("`")), " " if "`" in text else ""
    return f"{fence}{space}{text}{space}{fence}"


def _fence(parts: Sequence[str]) -> str:
    """Give a fence longer than any run of ticks."""
    return "`" * (1 if len(parts) == 1 else len(parts))
