"""Merge: what the tables of a decoupled release say when they are joined again."""

import os
import secrets
from collections.abc import Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any, Literal

import numpy as np

from sfumato.decouplings import MergedTables
from sfumato.decouplings.base import Kind
from sfumato.errors import (
    InputError,
    OutputError,
    ParameterError,
    UnknownColumnError,
    reason_of,
    require_int,
)
from sfumato.files import refuse_release, unfinished_folder
from sfumato.releases.drawn import require_rows_of_people
from sfumato.releases.manifest import MANIFEST
from sfumato.releases.opening import PublishedTables, open_release
from sfumato.tables import derived_table, write_derived
from sfumato.tables.formats import require_format
from sfumato.typing import Progress, silent

MOST_ROWS = 10_000_000
"""Rows a join may have unless more are allowed."""


def merge(  # noqa: PLR0913 - all but one have a default and are named
    release: object,
    *,
    columns: Sequence[str] | None = None,
    how: Literal["weights", "counts", "sample"] = "weights",
    seed: int | None = None,
    output: str | PathLike[str] | None = None,
    format: str | None = None,  # noqa: A002 - the word users know
    most: int = MOST_ROWS,
    force: bool = False,
    progress: Progress | None = None,
) -> Any:  # noqa: ANN401 - whatever kind of table the release has
    """Join the tables of a decoupled release on the group, as an analyst or an adversary would.

    With `how="weights"` every combination that a group may have is a row, and `expected` says how
    many people would have it if the tables had nothing to do with each other beyond the group and
    the columns they share: |G| · Π cᵢ/|G|. That is all there is to know. The numbers add up to
    every number that is published, so use them as weights.

    With `how="counts"` it is the natural join as it stands: beside each combination also the count
    that each table gives for its part of it, as `count_illness`.

    With `how="sample"` there is a row per person: one way to join the tables, drawn from all that
    there are. Every table is a part of it as it was published, so no row contradicts one; who has
    what between tables is made up, and another draw is another table. Several draws show how far
    a result depends on that.

    Args:
        release: A decoupled release of any kind, its folder, or its address in a database.
        columns: The columns to join; None takes all. Where only sensitive ones are named, all
            others stand beside them. Combinations multiply, so take those that are needed.
        how: "weights" for all combinations, "counts" for the count of each table as well, "sample"
            for one row per person.
        seed: Fixes what a sample draws; None draws it from the system.
        output: The file to write, part by part; None gives the table in memory.
        format: csv, parquet, feather, sav, dta or xlsx; None goes by the ending of `output`.
        most: Refuse to make more rows than this.
        force: Replace a file that is there.
        progress: Told how far each stage is.

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
    if how not in _WAYS:
        raise ParameterError("how", how, " or ".join(map(repr, _WAYS)))
    if seed is not None:
        require_int("seed", seed, at_least=0)
    target = None if output is None else Path(output)
    chosen = "" if target is None else _form_of(target, format, force=force)
    found = _open_tables(release)
    linked = found.counts(_choose(found, columns))
    merged = MergedTables(linked)
    link, labels = str(found.record and found.record.group), found.labels_in(linked)
    if how == "sample":
        rng = np.random.default_rng(secrets.randbits(128) if seed is None else seed)
        derived = merged.draw(link, labels, rng)
    else:
        _require_few(merged, most)
        derived = merged.to_table(link, labels, with_counts=how == "counts")
    likes = {name: table for name, table in found.likes.items() if name in merged.columns}
    if target is None:
        return next(iter(found.tables.values())).native(derived_table(derived, likes))
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


_WAYS = ("weights", "counts", "sample")


def _require_few(merged: MergedTables, most: int) -> None:
    """Raise if a join has more rows than are allowed."""
    if merged.total > most:
        raise ParameterError(
            "columns",
            list(merged.columns),
            f"columns whose combinations are at most {most} rows",
            why=f"these would be {merged.total}. Take fewer columns, allow more rows with most, or "
            "draw a row per person: how='sample' (--how sample)",
        )


def _choose(release: PublishedTables, columns: Sequence[str] | None) -> list[str]:
    """Return the columns to join; those beside sensitive ones are all, unless some are named."""
    known = [*release.quasi_identifiers, *release.beside]
    every = [*known, *(n for n in release.likes if n not in known)]
    if columns is None:
        return every
    for name in columns:
        if name not in every:
            raise UnknownColumnError(name, every, where="the published tables")
    named = {*columns}
    if not named & {*known}:
        named |= {*known}
    return [name for name in every if name in named]


def _open_tables(release: object) -> PublishedTables:
    """Open a release in several tables; refuse anything else."""
    found = open_release(release)
    require_rows_of_people(found, "whose values stand in several tables")
    if isinstance(found, PublishedTables) and found.manifest is not None:
        # What is read again is what others have.
        return replace(found, known_groups=None)
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
    require_format(chosen)
    refuse_release(target)
    return chosen
