"""Append: Incremental Break-Merge as its source has it, on the tables of a decoupled release."""

import os
from os import PathLike
from pathlib import Path

import numpy as np

from sfumato.decouplings import publish
from sfumato.decouplings.base import Kind
from sfumato.decouplings.likelihood import exact_limit
from sfumato.errors import InputError, OutputError, UnknownColumnError, reason_of
from sfumato.files import refuse_release, unfinished_folder
from sfumato.releases.drawn import require_rows_of_people
from sfumato.releases.opening import PublishedGroups, open_release
from sfumato.showing.content import to_markdown
from sfumato.study.appending import AppendedRows, ReadingName, ShareReading, append_rows
from sfumato.tables import open_table, write_derived
from sfumato.tables.capabilities import OrderedRows


def append(
    release: object,
    rows: object,
    *,
    alpha: float,
    reading: ReadingName = "one-known",
    known: str | None = None,
    output: str | PathLike[str] | None = None,
) -> AppendedRows:
    """Decide row by row which rows may be appended to a decoupled release, as the literature does.

    This is Incremental Break-Merge. A row is admitted if the likelihood of its values, the product
    of their shares in its group with the row, is at most alpha. It is here to study the algorithm;
    to publish increments use `sf.Ledger`.

    Promises: in the last tables by themselves, no row made its own values likelier than alpha when
    it was admitted. Does not promise: that other combinations stay below alpha, nor anything
    about more than one release. Who compares the tables with earlier ones sees the newcomers by
    themselves, and which of them were refused depends on the order of the rows.

    Args:
        release: A release decoupled by Break-Merge, its folder, or a `GroupedTables`.
        rows: New rows with the same columns, generalised to the same groups: a file, or a pandas,
            Polars or Arrow table. They are taken in their order.
        alpha: The largest likelihood allowed, above 0 and at most 1.
        reading: `one-known`, an adversary knows one sensitive value and guesses the others, and
            every row has its turn; or `printed`, Algorithm 3 word by word: the product over all
            sensitive tables, and the first refusal ends it.
        known: The sensitive column that is known; None takes for each row the one that tells most.
        output: A folder to write the new tables into, as CSV files with a README that says what
            they leak. It is no release: there is no manifest, and nothing in it is verified.

    Returns:
        The new tables; every row with its outcome and likelihood; and for each combination of
        values that rows came with its likelihood before and after, the increment ratio, and how
        many further rows are permitted.

    Example:
        >>> import pyarrow as pa
        >>> import sfumato as sf
        >>> ill, pay = ["flu", "flu", "gout", "hiv"], ["low", "low", "low", "high"]
        >>> table = pa.table({"age": ["30s"] * 4, "ill": ill, "pay": pay})
        >>> release = sf.decouple(table, quasi_identifiers=["age"], sensitive=["ill", "pay"])
        >>> new = pa.table({"age": ["30s"] * 3, "ill": ["flu"] * 3, "pay": ["high"] * 3})
        >>> print(sf.tools.append(release, new, alpha=0.6, known="pay"))
        1 of 3 rows admitted, 2 refused; alpha 0.6, reading one-known
        group  values     before  after  increment ratio  more rows
        30s    flu, high    50 %   60 %              0.2          0
        An adversary who knows the group and one value guesses the others with up to 60 %.
        ...
    """
    limit = exact_limit(alpha)
    found = open_release(release)
    require_rows_of_people(found, "whom others could join")
    if not isinstance(found, PublishedGroups):
        if found.kind is not Kind:
            raise found.lacks_groups()
        raise InputError(
            "this is a table in one piece, and rows are appended to the tables of a release "
            "decoupled by 'break-merge'. Decouple it first: sf.decouple."
        )
    grouped = found.groups
    if known is not None and known not in grouped.names:
        raise UnknownColumnError(known, grouped.names, where="the sensitive columns")
    place = None if known is None else grouped.names.index(known)
    names = [*(column.name for column in grouped.quasi_identifiers), *grouped.names]
    table = open_table(rows)
    table.require(names)
    folder = None if output is None else _require_unused(Path(output))
    done = append_rows(
        grouped, *OrderedRows.expect(table).read(names), ShareReading(limit, reading, place)
    )
    if folder is not None:
        _write(done, folder)
    return done


def _require_unused(folder: Path) -> Path:
    if os.path.lexists(folder):
        raise OutputError(f"{str(folder)!r} exists. Choose another output folder.")
    refuse_release(folder, "the study")
    return folder


def _write(done: AppendedRows, folder: Path) -> None:
    """Write the tables as the source prints them, and what is wrong with publishing them."""
    try:
        with unfinished_folder(folder) as unfinished:
            for part in publish(done.labelled, np.random.default_rng()).tables:
                target = unfinished / f"{part.name}.csv"
                write_derived(part.content, target, format="csv", likes={})
            blocks = [f"{done.headline}.", *to_markdown(done.content().parts)]
            text = _README + "\n\n".join(blocks) + "\n"
            (unfinished / "README.md").write_text(text, encoding="utf-8", newline="\n")
            unfinished.replace(folder)
    except OSError as error:
        if isinstance(error, OutputError):
            raise
        raise OutputError(
            f"cannot write {str(folder)!r}: {reason_of(error)}. Nothing was left behind."
        ) from None


_README = """\
# As printed: not for publication

These are the tables that Incremental Break-Merge makes as its source describes it: rows are
appended one by one as long as the likelihood of their own values is at most alpha. They are for
study. Nothing here was verified, and there is no manifest.

Why not to publish them: whoever has the tables from before subtracts them from these, and sees
the newcomers of each group by themselves. Which rows were refused
reveals something about them, too.
`sfumato ledger start` and `sfumato ledger add` publish increments that bound both.

"""
