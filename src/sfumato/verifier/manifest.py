"""A suspicious reader of manifests: what a stranger wrote is claims, not facts."""

import json
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, TypeVar, cast

from sfumato.errors import InputError, some
from sfumato.verifier.counting import Countable
from sfumato.verifier.promises import MISSING_RULES, SUPPRESSIONS, Check, Promises
from sfumato.verifier.reading import FORMATS

MANIFEST = "manifest.json"
COMPANIONS = (MANIFEST, "README.md", "report.html", "evidence.json", "schema.sql")
"""Files that may lie beside the data without being named."""

BREAK_MERGE = "break-merge"
"""The kind of a release in several tables: quasi-identifiers, and each sensitive column."""

ANATOMY = "anatomy"
"""The same with exact quasi-identifiers and one sensitive column, linked by bucket."""

SLICING = "slicing"
"""Slices: some columns each, counted in every bucket."""

STORED = "table"
"""The format of what is in no file but in a database."""

_FORMAT = 1
_MOST_BYTES = 64 * 2**20
_MOST_ROWS = 10**15

T = TypeVar("T")


@dataclass(frozen=True)
class DataFile:
    """A file of the release, or its table in a database."""

    name: str
    format: str
    delimiter: str | None
    rows: int
    sha256: str
    table: str | None = None
    """What the table is, if there are several: one of those of its kind."""

    column: str | None = None
    """The sensitive column it holds."""

    columns: tuple[str, ...] = ()
    """The columns it holds, if it is a slice."""


@dataclass(frozen=True)
class Column:
    """A published column and what it is."""

    name: str
    role: str
    level: int | None
    height: int | None


@dataclass(frozen=True)
class Manifest:
    """What a manifest claims, in shapes that can be relied on."""

    files: tuple[DataFile, ...]
    columns: tuple[Column, ...]
    published: int
    suppressed: int
    suppression: str
    missing: str
    models: tuple[Mapping[str, Any], ...]
    hierarchies: Mapping[str, Mapping[str, list[str]]]
    kind: str | None = None
    """None if the release is one table, else one of `KINDS`."""

    group: str = ""
    """The column that links several tables."""

    count: str = ""
    """The column that says how many people of a group have a value."""

    def with_role(self, role: str) -> tuple[str, ...]:
        """List the columns of one role."""
        return tuple(column.name for column in self.columns if column.role == role)


class Kind(NamedTuple):
    """What verifies one kind of release in several tables."""

    tables: tuple[str, ...]
    """What a table of such a release can be."""

    shape: Callable[[Manifest], Check]
    """Checks the parts of the manifest against each other."""

    checks: Callable[[Mapping[str, Countable], Manifest, Promises], list[Check]]
    """Recomputes from the opened tables, by the names of the manifest, what they keep."""


KINDS: dict[str, Kind] = {}
"""The kinds of release in several tables, by name; `decoupled` fills it."""


def read_manifest(path: Path) -> Manifest:
    """Read a manifest; whatever has not the right shape is an error."""
    if path.stat().st_size > _MOST_BYTES:
        raise _too_large()
    return _manifest(_load(path.read_bytes()))


def stored_manifest(text: str) -> Manifest:
    """Read the manifest of a table in a database: it names that table, and no files.

    >>> stored_manifest("[]")
    Traceback (most recent call last):
    sfumato.errors.InputError: it is not a JSON object
    """
    if len(text) > _MOST_BYTES:
        raise _too_large()
    plain = _load(text.encode("utf-8", errors="surrogatepass"))
    kind = None if plain.get("kind") is None else _one_of(plain, "kind", tuple(KINDS))
    tables = [_get(plain, "table", dict)] if kind is None else _objects(plain, "files")
    stored = tuple(_stored_table(table, kind) for table in tables)
    _refuse_repeats("files", [table.name for table in stored])
    return _manifest(plain, stored)


def _stored_table(plain: Mapping[str, Any], kind: str | None) -> DataFile:
    name, rows = _get(plain, "name", str), _whole(plain, "rows")
    return DataFile(name, STORED, None, rows, "", *_part(plain, kind))


def _manifest(plain: dict[str, Any], stored: tuple[DataFile, ...] | None = None) -> Manifest:
    if _get(plain, "format", int) != _FORMAT:
        raise InputError(f"format {plain['format']} is not known here, only format {_FORMAT}")
    rows = _get(plain, "rows", dict)
    columns = tuple(map(_column, _objects(plain, "columns")))
    _refuse_repeats("columns", [column.name for column in columns])
    kind = None if plain.get("kind") is None else _one_of(plain, "kind", tuple(KINDS))
    files = stored or tuple(_file(file, kind) for file in _objects(plain, "files"))
    _refuse_repeats("files", [file.name for file in files])
    return Manifest(
        files=files,
        columns=columns,
        published=_whole(rows, "published"),
        suppressed=_whole(rows, "suppressed"),
        suppression=_one_of(rows, "suppression", SUPPRESSIONS),
        missing=_one_of(plain, "missing", MISSING_RULES),
        models=tuple(_objects(plain, "models")),
        hierarchies=_hierarchies(plain.get("hierarchies") or {}),
        kind=kind,
        group="" if kind is None else _get(plain, "group", str),
        count="" if kind is None else _get(plain, "count", str),
    )


def _too_large() -> InputError:
    return InputError(f"it is larger than {_MOST_BYTES // 2**20} MB")


def _load(content: bytes) -> dict[str, Any]:
    try:
        plain = json.loads(content.decode("utf-8"), object_pairs_hook=_unambiguous)
    except RecursionError:
        raise InputError("it is nested too deeply") from None
    except InputError:
        raise
    except ValueError as error:
        raise InputError(f"it is not JSON: {str(error)[:200]}") from None
    if not isinstance(plain, dict):
        raise InputError("it is not a JSON object")
    return plain


def _unambiguous(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    _refuse_repeats("keys", [key for key, _ in pairs])
    return dict(pairs)


def _refuse_repeats(what: str, names: list[str]) -> None:
    twice = [name for name, n in Counter(names).items() if n > 1]
    if twice:
        raise InputError(f"{what} stand there more than once: {some(twice)}")


def _get(plain: Mapping[str, Any], key: str, kind: type[T]) -> T:
    value = plain.get(key)
    if not isinstance(value, kind) or isinstance(value, bool):
        shown = "nothing" if key not in plain else repr(value)[:60]
        names = {str: "a text", int: "a whole number", dict: "an object", list: "a list"}
        raise InputError(f"{key!r} must be {names[kind]}, got {shown}")
    return value


def _whole(plain: Mapping[str, Any], key: str) -> int:
    value = _get(plain, key, int)
    if not 0 <= value <= _MOST_ROWS:
        raise InputError(f"{key!r} must be a number of rows, got {str(value)[:40]}")
    return value


def _one_of(plain: Mapping[str, Any], key: str, allowed: tuple[str, ...]) -> str:
    value = _get(plain, key, str)
    if value not in allowed:
        raise InputError(f"{key!r} must be {' or '.join(map(repr, allowed))}, got {value[:60]!r}")
    return value


def _objects(plain: Mapping[str, Any], key: str) -> list[dict[str, Any]]:
    items = _get(plain, key, list)
    if not items or not all(isinstance(item, dict) for item in items):
        raise InputError(f"{key!r} must be a list of at least one object")
    return items


def _file(plain: Mapping[str, Any], kind: str | None) -> DataFile:
    name = _get(plain, "name", str)
    # A file of the release lies in its folder; any other name is an attempt to read elsewhere.
    if not name or name in (".", "..") or set(name) & set("/\\:\0") or name in COMPANIONS:
        raise InputError(f"{name[:60]!r} is not a name for a data file in this folder")
    delimiter = plain.get("delimiter")
    if delimiter is not None and (
        not isinstance(delimiter, str)
        or len(delimiter) != 1
        or not delimiter.isascii()
        or delimiter in '"\r\n\0'
    ):
        raise InputError(f"'delimiter' must be one character, got {repr(delimiter)[:60]}")
    return DataFile(
        name,
        _one_of(plain, "format", tuple(FORMATS)),
        delimiter,
        _whole(plain, "rows"),
        _get(plain, "sha256", str),
        *_part(plain, kind),
    )


def _part(
    plain: Mapping[str, Any], kind: str | None
) -> tuple[str | None, str | None, tuple[str, ...]]:
    """Read what a table of several is, and which columns it holds."""
    if kind is None:
        return None, None, ()
    table = _one_of(plain, "table", KINDS[kind].tables)
    return (
        table,
        _get(plain, "column", str) if table == "sensitive" else None,
        _texts(plain, "columns") if table == "slice" else (),
    )


def _texts(plain: Mapping[str, Any], key: str) -> tuple[str, ...]:
    items = _get(plain, key, list)
    if not items or not all(isinstance(item, str) for item in items):
        raise InputError(f"{key!r} must be a list of at least one text")
    return tuple(items)


def _column(plain: Mapping[str, Any]) -> Column:
    name, role = _get(plain, "name", str), _get(plain, "role", str)
    level, height = (
        None if plain.get(key) is None else _whole(plain, key) for key in ("level", "height")
    )
    if level is not None and height is not None and level > height:
        raise InputError(f"column {name!r}: level {level} is above its height {height}")
    return Column(name, role, level, height)


def _hierarchies(plain: object) -> dict[str, dict[str, list[str]]]:
    good = isinstance(plain, dict) and all(
        isinstance(paths, dict)
        and all(
            isinstance(path, list) and all(isinstance(label, str) for label in path)
            for path in paths.values()
        )
        for paths in plain.values()
    )
    if not good:
        raise InputError("'hierarchies' must give, per column, each value's list of labels")
    return cast("dict[str, dict[str, list[str]]]", plain)
