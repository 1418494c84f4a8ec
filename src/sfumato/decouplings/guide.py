"""The texts beside the tables of a decoupled release, with recipes for those who analyse them."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from sfumato.dataclasses import dataclass
from sfumato.decouplings.base import DecoupledPart, Parts, free_name
from sfumato.decouplings.texts import key_of, read_text, sql_type, type_of
from sfumato.showing.plain import SAFE_NAME, render
from sfumato.tables.derived import DerivedColumn
from sfumato.tables.formats import FORMATS

_FEW = 24
"""A column is counted by its values in a recipe if it has no more, where there is a choice."""


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

    @property
    def reading(self) -> str:
        """The call of pandas that reads it: texts as texts, and only what is empty as missing."""
        file = self.file["name"]
        read = FORMATS[self.file.get("format") or "csv"].pandas
        if read:
            return read.format(file=file)
        texts = [
            column.name
            for column in self.part.content.columns
            if column.values is not None
            and sql_type(map(read_text, column.values)) in ("VARCHAR", "DATE")
            and SAFE_NAME.fullmatch(column.name)
        ]
        kinds = ", ".join(f'"{name}": str' for name in texts)
        more = ", dtype={" + kinds + "}" if kinds else ""
        sep = self.file.get("delimiter") or ","
        mark = "" if sep == "," else f", sep={sep!r}"
        return f'pd.read_csv("{file}"{mark}{more}, keep_default_na=False, na_values=[""])'


def write_companions(
    method: str,
    parts: Parts,
    manifest: Mapping[str, Any],
    groups: tuple[str, str],
    **values: object,
) -> dict[str, str]:
    """Return the texts beside the tables: SQL that defines and joins them, and a README.

    The README ends with a guide to computing with the tables. The SQL runs in DuckDB, PostgreSQL
    and SQLite as it stands.

    Args:
        method: Whose templates are taken.
        parts: The tables.
        manifest: The manifest, with their files.
        groups: The word for a group, and for several.
        values: What the templates of the method name besides.
    """
    files = manifest["files"]
    written = all(file.get("format") == "csv" for file in files)
    tables = list(zip(parts.tables, files, strict=True))
    linked = parts.linked
    known: dict[str, object] = {
        "parts": linked,
        "manifest": manifest,
        "groups": groups,
        "tables": tables,
        "by_row": any(part.table == "qi" for part in parts.tables),
        "shared": _find_shared(linked),
        "recipes": _Recipes.of(linked, [file for part, file in tables if part in linked.tables]),
        "drawn": None,
        "type_of": partial(type_of, written=written),
        "key_of": partial(key_of, count=parts.count),
        "free_name": free_name,
        **values,
    }
    return {
        name: render(f"decouplings/templates/{method}/{name}.jinja", **known)
        for name in ("schema.sql", "README.md")
    }


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
            if column.name not in (parts.group, parts.count) and SAFE_NAME.fullmatch(column.name)
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
            if known and all(map(SAFE_NAME.fullmatch, (parts.group, parts.count))):
                numbers = [side for side in sides if _is_number(side)]
                # A number in a table with a count shows how the count is used.
                numbers.sort(key=lambda side: parts.count not in side.names)
                number = numbers[0] if numbers else None
                return cls(parts.group, parts.count, known[0], one, number)
        return None

    def free(self, word: str) -> str:
        """Return a name that no column of the two tables has."""
        return free_name(word, [*self.known.names, *self.told.names])

    @property
    def on(self) -> list[str]:
        """The columns by which the two tables are joined: the link, and those that both have."""
        shared = [n for n in self.known.names if n in self.told.names and n != self.count]
        return [self.link, *(name for name in shared if name != self.link)]


def _is_number(side: _Side) -> bool:
    values = [value for value in side.column.values or () if value is not None]
    if side.file.get("format") == "csv":
        values = list(map(read_text, values))
    return bool(values) and sql_type(values) in ("INTEGER", "BIGINT", "DOUBLE PRECISION")
