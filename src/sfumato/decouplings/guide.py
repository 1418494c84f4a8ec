"""The analyst's guide to a release in several tables: what is exact, how to join, which weights."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sfumato.decouplings.base import DecoupledPart, Parts, free_name
from sfumato.decouplings.texts import code, quote, read_text, sql_type
from sfumato.tables.derived import DerivedColumn

_SAFE_NAME = re.compile(r"[^\W\d][\w .()/%&#:-]{0,60}")
"""Names that recipes are written with: no sign of a quote, a comment or a new line is in them."""

_FEW = 24
"""A column is counted by its values in a recipe if it has no more, where there is a choice."""

_TEXT = """\
## How to work with these tables

- **Exact** is whatever one table tells by itself: counts, shares, means and regressions over its
  columns. {count_rule}
- **Expected** is whatever needs two tables. Within a {group} nothing says which row of one belongs
  to which row of another, so join all of them by {link}, and give each joined row the weight
  {weight}. The weights of a {group} add up to its people, and so do all totals.
- What columns of different tables have to do with each other shows only as far as the {groups}
  differ in them; within a {group} it is lost. Correlations and slopes across tables may be weaker
  than the truth, or of another sign. Rows of the join are no people: do not take their number for
  that of a sample.
{more}- For a row per person, draw one of all the ways to join the tables:
  `sfumato merge . -o people.csv --how sample`. Tables by themselves stay exact in it; what belongs
  together between them is made up. Repeat it, and report how far a result changes from draw to
  draw.
"""

_OVERLAP = """\
- Tables that share columns are joined by these too: {names}. The weight then is the count over that
  of all rows that agree in them.
"""

_WEIGHT = """\
- {names} says how many people of the population a row stands for: multiply the weight by it.
"""


@dataclass(frozen=True)
class _Side:
    """A table, and the column of it that a recipe is about."""

    part: DecoupledPart
    file: Mapping[str, Any]
    column: DerivedColumn

    @property
    def name(self) -> str:
        return self.column.name

    @property
    def names(self) -> list[str]:
        return [column.name for column in self.part.content.columns]


def write_guide(parts: Parts, manifest: Mapping[str, Any], groups: tuple[str, str]) -> str:
    """Return the section of a README that says how to compute with the tables.

    Args:
        parts: The tables.
        manifest: The manifest, with their files.
        groups: The word for a group, and for several.
    """
    files = manifest["files"]
    counted = [part for part in parts.tables if part.table != "qi"]
    by_row = len(counted) < len(parts.tables)
    rule = f"In tables with a column {code(parts.count)}, that is the weight of a row."
    weight = f"{code(parts.count)} / people of the {groups[0]}"
    if not by_row:
        weight = f"{code(parts.count)} · {code(parts.count)} / people of the {groups[0]}"
    more = ""
    shared = _find_shared(parts)
    if shared:
        more += _OVERLAP.format(names=", ".join(map(code, shared)))
    weights = [c["name"] for c in manifest["columns"] if c["role"] == "weight"]
    if weights:
        more += _WEIGHT.format(names=", ".join(map(code, weights)))
    text = _TEXT.format(
        count_rule=rule,
        group=groups[0],
        groups=groups[1],
        link=code(parts.group),
        weight=weight,
        more=more,
    )
    recipes = _Recipes.of(parts, files)
    return "\n" + text + ("" if recipes is None else f"\n{recipes.text}\n")


def _find_shared(parts: Parts) -> list[str]:
    """Return the columns that stand in several tables."""
    own = (parts.group, parts.count)
    every = [c.name for part in parts.tables for c in part.content.columns if c.name not in own]
    return [name for name in dict.fromkeys(every) if every.count(name) > 1]


@dataclass(frozen=True)
class _Recipes:
    """Recipes with the columns of a release."""

    link: str
    count: str
    known: _Side
    told: _Side
    number: _Side | None

    @classmethod
    def of(cls, parts: Parts, files: Sequence[Mapping[str, Any]]) -> "_Recipes | None":
        """Choose the columns that recipes are about; None if no names can be written there."""
        sides = [
            _Side(part, file, column)
            for part, file in zip(parts.tables, files, strict=True)
            for column in part.content.columns
            if column.name not in (parts.group, parts.count) and _SAFE_NAME.fullmatch(column.name)
        ]
        few = [side for side in sides if len(side.column.values or ()) <= _FEW]
        every = [column.name for table in parts.grouped.sensitive for column in table.columns]
        # Where nothing is sensitive, any two slices show how it is done.
        secret = [s for s in (*few, *sides) if s.name in every] or [*few, *sides]
        told = [side for side in secret if side.part.table != "qi"]
        for one in told:
            known = [
                s for s in (*few, *sides) if s.part is not one.part and s.name not in one.names
            ]
            if known and all(map(_SAFE_NAME.fullmatch, (parts.group, parts.count))):
                numbers = [side for side in sides if _is_number(side)]
                # A number in a table with a count shows how the count is used.
                numbers.sort(key=lambda side: parts.count not in side.names)
                number = numbers[0] if numbers else None
                return cls(parts.group, parts.count, known[0], one, number)
        return None

    @property
    def text(self) -> str:
        """The recipes, by language."""
        loaded = "With the tables loaded as `schema.sql` says (DuckDB, PostgreSQL, SQLite):"
        lines = [loaded, "", "```sql", self._sql(), "```"]
        if self.told.file.get("format") in ("csv", "parquet", "feather"):
            lines += ["", "In Python:", "", "```python", self._pandas(), "```"]
        return "\n".join(lines)

    def _free(self, word: str) -> str:
        """Return a name that no column of the two tables has."""
        return free_name(word, [*self.known.names, *self.told.names])

    @property
    def _on(self) -> list[str]:
        """The columns by which the two tables are joined."""
        shared = [n for n in self.known.names if n in self.told.names and n != self.count]
        return [self.link, *(name for name in shared if name != self.link)]

    def _sql(self) -> str:
        told, known = self.told, self.known
        table, column, count = quote(told.part.name), quote(told.name), quote(self.count)
        lines = [
            f"-- Exact: how many people have each {told.name}.",
            f"SELECT {column}, SUM({count}) AS people",
            f"FROM {table} GROUP BY {column} ORDER BY {column};",
        ]
        if self.number is not None:
            name, of = quote(self.number.name), quote(self.number.part.name)
            weight = count if self.count in self.number.names else "1"
            lines += [
                "",
                f"-- Exact: the mean of {self.number.name}, of those who have one.",
                f"SELECT SUM({weight} * 1.0 * {name}) / SUM({weight}) AS mean",
                f"FROM {of} WHERE {name} IS NOT NULL;",
            ]
        keys = ", ".join(map(quote, self._on))
        agree = " AND ".join(
            f"(b.{k} = t.{k} OR (b.{k} IS NULL AND t.{k} IS NULL))" if k != quote(self.link)
            else f"b.{k} = t.{k}"
            for k in map(quote, self._on)
        )  # fmt: skip
        joined = " AND ".join(
            f"(t.{k} = q.{k} OR (t.{k} IS NULL AND q.{k} IS NULL))" if k != quote(self.link)
            else f"t.{k} = q.{k}"
            for k in map(quote, self._on)
        )  # fmt: skip
        size = quote(self._free("size"))
        own = f"q.{count} * " if self.count in known.names else ""
        both = f"q.{quote(known.name)}, t.{column}"
        lines += [
            "",
            f"-- Expected: how many people have each {known.name} and {told.name}.",
            f"SELECT {both}, SUM({own}t.{count} * 1.0 / b.{size}) AS expected",
            # Every name is quoted, and nothing here is ever run by us.
            f"FROM {quote(known.part.name)} AS q",
            f"JOIN {table} AS t ON {joined}",
            f"JOIN (SELECT {keys}, SUM({count}) AS {size} FROM {table}",  # noqa: S608
            f"      GROUP BY {keys}) AS b ON {agree}",
            f"GROUP BY {both} ORDER BY {both};",
        ]
        return "\n".join(lines)

    def _pandas(self) -> str:
        told, known = self.told, self.known
        lines = ["import pandas as pd", "", f"values = {_read(told)}", f"people = {_read(known)}"]
        lines += [
            "",
            f"# Exact: how many people have each {told.name}.",
            f'print(values.groupby("{told.name}", dropna=False)["{self.count}"].sum())',
        ]
        if self.number is not None:
            name = self.number.name
            weight = f'table["{self.count if self.count in self.number.names else name}"]'
            if self.count not in self.number.names:
                weight += " * 0 + 1"
            lines += [
                "",
                f"# Exact: the mean of {name}, of those who have one.",
                f"table = {_read(self.number)}",
                f'table = table[table["{name}"].notna()]',
                f"weight = {weight}",
                f'print((weight * table["{name}"]).sum() / weight.sum())',
            ]
        by = "[" + ", ".join(f'"{name}"' for name in self._on) + "]"
        start = f'people["{self.count}"]' if self.count in known.names else "1.0"
        share, weighs = self._free("share"), self._free("weight")
        kept = [f'"{name}"' for name in dict.fromkeys([*self._on, known.name, weighs])]
        lines += [
            "",
            f"# Expected: how many people have each {known.name} and {told.name}.",
            f'size = values.groupby({by}, dropna=False)["{self.count}"].transform("sum")',
            f'values["{share}"] = values["{self.count}"] / size',
            f'people["{weighs}"] = {start}',
            f"joined = people[[{', '.join(kept)}]].merge(values, on={by})",
            f'joined["{weighs}"] *= joined["{share}"]',
            f'by = ["{known.name}", "{told.name}"]',
            f'print(joined.groupby(by, dropna=False)["{weighs}"].sum())',
        ]
        return "\n".join(lines)


def _is_number(side: _Side) -> bool:
    values = [value for value in side.column.values or () if value is not None]
    if side.file.get("format") == "csv":
        values = list(map(read_text, values))
    return bool(values) and sql_type(values) in ("INTEGER", "BIGINT", "DOUBLE PRECISION")


def _read(side: _Side) -> str:
    """Return how pandas reads a table: texts as texts, and only what is empty as missing."""
    file = side.file["name"]
    if side.file.get("format") == "parquet":
        return f'pd.read_parquet("{file}")'
    if side.file.get("format") == "feather":
        return f'pd.read_feather("{file}")'
    texts = [
        column.name
        for column in side.part.content.columns
        if column.values is not None
        and sql_type(map(read_text, column.values)) in ("VARCHAR", "DATE")
        and _SAFE_NAME.fullmatch(column.name)
    ]
    kinds = ", ".join(f'"{name}": str' for name in texts)
    more = ", dtype={" + kinds + "}" if kinds else ""
    sep = side.file.get("delimiter") or ","
    mark = "" if sep == "," else f", sep={sep!r}"
    return f'pd.read_csv("{file}"{mark}{more}, keep_default_na=False, na_values=[""])'
