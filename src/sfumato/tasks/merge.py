"""Merge: what the tables of a decoupled release say when they are joined again."""

import os
from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import Any

from sfumato.decouplings import MergedTables
from sfumato.decouplings.base import Kind
from sfumato.errors import InputError, OutputError, ParameterError, reason_of, require_int
from sfumato.files import refuse_release, unfinished_folder
from sfumato.releases.manifest import MANIFEST
from sfumato.releases.opening import PublishedGroups, open_release
from sfumato.tables import FORMATS, derived_table, write_derived
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
        format: csv, parquet, feather, sav, dta or xlsx; None goes by the ending of `output`.
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
        >>> decoupled = sf.decouple(table, quasi_identifiers=["age"], sensitive=["ill"])
        >>> sf.tools.merge(decoupled).select(["age", "ill", "expected"]).to_pydict()
        {'age': ['30s', '30s'], 'ill': ['flu', 'gout'], 'expected': [3.0, 1.0]}
    """
    require_int("most", most, at_least=1)
    target = None if output is None else Path(output)
    chosen = "" if target is None else _form_of(target, format, force=force)
    found = _open_groups(release)
    merged = MergedTables(found.read_groups(), columns)
    if merged.total > most:
        raise ParameterError(
            "columns",
            [table.column.name for table in merged.tables],
            f"columns whose combinations are at most {most} rows",
            why=f"these would be {merged.total}. Take fewer columns, or allow more rows with most",
        )
    derived, likes = merged.to_table(str(found.record and found.record.group)), found.likes
    if target is None:
        return found.people.native(derived_table(derived, likes))
    report = progress or silent
    try:
        with unfinished_folder(target) as folder:
            unfinished = folder / target.name
            write_derived(
                derived,
                unfinished,
                format=chosen,
                likes=likes,
                progress=lambda done, total: report("merge", done, total),
            )
            unfinished.replace(target)
    except OSError as error:
        if isinstance(error, OutputError):
            raise
        raise OutputError(
            f"cannot write {str(target)!r}: {reason_of(error)}. Nothing was left behind."
        ) from None
    return target


def _open_groups(release: object) -> PublishedGroups:
    """Open a release in groups; refuse anything else."""
    found = open_release(release)
    if isinstance(found, PublishedGroups) and found.manifest is not None:
        return found
    if found.kind is not Kind:
        raise found.lacks_groups()
    if not isinstance(release, str | PathLike):
        raise InputError(
            f"a {type(release).__name__} is not a decoupled release. Give what sf.decouple gave, "
            "or the folder it wrote."
        )
    folder = Path(release).expanduser()
    if not (folder / MANIFEST).is_file():
        raise InputError(
            f"there is no {MANIFEST} in {str(folder)!r}. Give the folder of a decoupled release."
        )
    raise InputError(
        f"{str(folder)!r} is a release in one table: there is nothing to put together. "
        "Decouple it first: sfumato decouple."
    )


def _form_of(target: Path, given: str | None, *, force: bool) -> str:
    if target.is_dir() or (os.path.lexists(target) and not force):
        raise OutputError(
            f"{str(target)!r} exists. Choose another name"
            + (", or replace it with --force (force=True)." if not target.is_dir() else ".")
        )
    chosen = given or target.suffix.lstrip(".").lower()
    if chosen not in FORMATS:
        raise ParameterError("format", chosen, "one of " + ", ".join(FORMATS))
    refuse_release(target)
    return chosen
