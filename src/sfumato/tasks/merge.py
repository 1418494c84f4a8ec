"""Merge: what the tables of a decoupled release say when they are joined again."""

import os
import secrets
from collections.abc import Sequence
from contextlib import suppress
from os import PathLike
from pathlib import Path
from typing import Any

from sfumato.checks import require_int
from sfumato.decoupled import Decoupled
from sfumato.decouplings import Merged
from sfumato.engines import FORMATS, derived_table, write_derived
from sfumato.errors import InputError, OutputError, ParameterError
from sfumato.tasks.broken_tables import Opened, open_broken, opened
from sfumato.tasks.promises import claims_in
from sfumato.tasks.stored import stored_tables
from sfumato.typing import Progress, silent

MOST_ROWS = 10_000_000
"""Rows a join may have unless more are allowed."""


def merge(
    release: object,
    *,
    columns: Sequence[str] | None = None,
    output: str | PathLike[str] | None = None,
    format: str | None = None,  # noqa: A002 - the word users know
    most: int = MOST_ROWS,
    force: bool = False,
    progress: Progress | None = None,
) -> Any:  # noqa: ANN401 - whatever kind of table the release has
    """Join the tables of a decoupled release on the group, as an analyst or an adversary would.

    Every combination of the values of a group is a row, with the number of people who would
    have it if the columns had nothing to do with each other: |G| · Π cᵢ/|G|. That is all there
    is to know; the numbers of a group add up to its size.

    Args:
        release: A decoupled release, its folder, or its address in a database.
        columns: The sensitive columns to join; None takes all. Combinations multiply, so take
            those that are needed.
        output: The file to write, part by part; None gives the table in memory.
        format: csv, parquet or feather; None goes by the ending of `output`.
        most: Refuse to make more rows than this.
        force: Replace a file that is there.
        progress: Told how far it is.

    Returns:
        The table, of the kind the release has (Arrow for files and databases), or the path that
        was written.

    Example:
        >>> import pyarrow as pa
        >>> import sfumato as sf
        >>> table = pa.table({"age": ["30s"] * 4, "ill": ["flu", "flu", "flu", "gout"]})
        >>> broken = sf.decouple(table, quasi_identifiers=["age"], sensitive=["ill"])
        >>> sf.merge(broken).select(["age", "ill", "expected"]).to_pydict()
        {'age': ['30s', '30s'], 'ill': ['flu', 'gout'], 'expected': [3.0, 1.0]}
    """
    require_int("most", most, at_least=1)
    target = None if output is None else Path(output)
    chosen = "" if target is None else _format_of(target, format, force=force)
    found = _open(release)
    merged = Merged(found.broken, columns)
    if merged.total > most:
        raise ParameterError(
            "columns",
            [table.column.name for table in merged.tables],
            f"columns whose combinations are at most {most} rows",
            why=f"these would be {merged.total}. Take fewer columns, or allow more rows with most",
        )
    derived = merged.derived(found.manifest.group)
    if target is None:
        people = next(found.tables[f.name] for f in found.manifest.files if f.table == "qi")
        return people.native(derived_table(derived, found.likes))
    report = progress or silent
    unfinished = target.with_name(f".{target.name}.{secrets.token_hex(4)}.unfinished")
    try:
        write_derived(
            derived,
            unfinished,
            format=chosen,
            likes=found.likes,
            progress=lambda done, total: report("merge", done, total),
        )
        unfinished.replace(target)
    finally:
        with suppress(OSError):
            unfinished.unlink()
    return target


def _open(release: object) -> Opened:
    if isinstance(release, Decoupled):
        if release.folder is None:
            return opened(release.tables or {}, claims_in(release.manifest))
        release = release.folder
    if (stored := stored_tables(release)) is not None:
        return opened(stored.tables, stored.claims)
    if not isinstance(release, str | PathLike):
        raise InputError(
            f"a {type(release).__name__} is not a decoupled release. Give what sf.decouple gave, "
            "or the folder it wrote."
        )
    return open_broken(Path(release).expanduser())


def _format_of(target: Path, given: str | None, *, force: bool) -> str:
    if target.is_dir() or (os.path.lexists(target) and not force):
        raise OutputError(
            f"{str(target)!r} exists. Choose another name"
            + (", or replace it with --force (force=True)." if not target.is_dir() else ".")
        )
    chosen = given or target.suffix.lstrip(".").lower()
    if chosen not in FORMATS:
        raise ParameterError("format", chosen, "one of " + ", ".join(FORMATS))
    return chosen
