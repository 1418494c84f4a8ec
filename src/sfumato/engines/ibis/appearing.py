"""Tables that appear in a database together and whole, or not at all."""

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from hashlib import sha256
from secrets import token_hex
from typing import TYPE_CHECKING, TypeAlias

import pyarrow as pa

from sfumato.engines.ibis.address import Name
from sfumato.errors import InputError, OutputError, SfumatoError

if TYPE_CHECKING:
    from sfumato.engines.ibis.database import Database

Renames: TypeAlias = list[tuple[Name, Name]]

_UNFINISHED = "unfinished"
_REPLACED = "replaced"
_JOURNAL = "journal"


def temporary(purpose: str, name: Name) -> Name:
    """Make up a name that no other table has, and that tells for which table it is.

    A run that is killed leaves tables behind where there are no transactions. The next run for
    the same table finds them by their names, and meets nobody else's.

    >>> temporary("unfinished", ("ward", "people"))[-1].startswith("sfumato_unfinished_c90226")
    True
    """
    return (*name[:-1], f"{_beginning(purpose, name)}{token_hex(8)}")


def _beginning(purpose: str, name: Name) -> str:
    # Letters' case means nothing to the databases that need this.
    return f"sfumato_{purpose}_{sha256(name[-1].lower().encode()).hexdigest()[:12]}_"


def unfinished_names(final: Sequence[Name]) -> list[Name]:
    """Name tables until they are finished; they are found by the first of their final names."""
    return [(*name[:-1], temporary(_UNFINISHED, final[0])[-1]) for name in final]


def is_temporary(name: Name) -> bool:
    """Tell whether a table has a name that was made up, so that nobody looks at it yet.

    >>> is_temporary(unfinished_names([("people",)])[0]), is_temporary(("people",))
    (True, False)
    """
    return re.fullmatch(r"sfumato_\w+_[0-9a-f]{16}(_\w+)?", name[-1]) is not None


@contextmanager
def appearing(
    database: "Database", old: Sequence[Name], final: Sequence[Name]
) -> Iterator[list[Name]]:
    """Let tables that are made under the names given get their final ones when the block ends.

    Args:
        database: Where they are made.
        old: Tables that go at that moment, and stay if anything fails.
        final: What they will be called.
    """
    unfinished = unfinished_names(final)
    try:
        yield unfinished
        appear(database, old, unfinished, final)
    except BaseException:
        if not database.transactional:
            # What cannot be undone now is undone by the next run.
            with suppress(SfumatoError):
                sweep(database, final[0])
        raise


@contextmanager
def leaving_nothing(database: "Database", names: Sequence[Name]) -> Iterator[None]:
    """Drop tables if the block fails, unless a transaction sees to that."""
    try:
        yield
    except BaseException:
        if not database.transactional:
            for name in names:
                with suppress(SfumatoError):
                    _drop(database, name)
        raise


def appear(
    database: "Database", old: Sequence[Name], unfinished: Sequence[Name], final: Sequence[Name]
) -> None:
    """Give tables their final names, and drop those that had them before.

    The first name is given first: where tables cannot be renamed together, nobody shall meet a
    release without its manifest. A failure is undone, by the next run for the same table if
    this one cannot.
    """
    aside = [(*name[:-1], temporary(_REPLACED, final[0])[-1]) for name in old]
    renames = [*zip(old, aside, strict=True), *zip(unfinished, final, strict=True)]
    if database.transactional:
        _rename(database, renames)
        for name in aside:
            _drop(database, name)
        return
    journal = temporary(_JOURNAL, final[0])
    try:
        _note(database, journal, renames)
        _rename(database, renames)
    except BaseException:
        with suppress(SfumatoError):
            _settle(database, journal, renames)
        raise
    # The release is there; what cannot be dropped now is dropped next time.
    with suppress(SfumatoError):
        _settle(database, journal, renames)


def sweep(database: "Database", name: Name) -> None:
    """Undo what killed runs for a table left behind, or finish what they had all but finished."""
    for found in database.tables_like(name[:-1], _beginning(_JOURNAL, name)):
        journal = (*name[:-1], found)
        _settle(database, journal, _noted(database, journal))
    for found in database.tables_like(name[:-1], _beginning(_UNFINISHED, name)):
        _drop(database, (*name[:-1], found))


def _rename(database: "Database", renames: Renames) -> None:
    for before, after in renames:
        database.rename(before, after)


def _drop(database: "Database", name: Name) -> None:
    database.ask(f"DROP TABLE IF EXISTS {database.quoted(name)}")


def _note(database: "Database", journal: Name, renames: Renames) -> None:
    """Write down what is going to be renamed, for whoever finds it half done."""
    text = pa.table({"o0": pa.array([json.dumps(renames)], pa.string())})
    with database.work():
        database.fill(database.upload(text), ["renames"], journal)


def _noted(database: "Database", journal: Name) -> Renames:
    answer = database.ask(f"SELECT renames FROM {database.quoted(journal)}")  # noqa: S608 - quoted
    texts = answer.column(0).to_pylist() if isinstance(answer, pa.Table) else [t for (t,) in answer]
    # A run that was killed before it had written anything down had renamed nothing.
    return [(tuple(a), tuple(b)) for text in texts for a, b in json.loads(str(text))]


def _settle(database: "Database", journal: Name, renames: Renames) -> None:
    """Leave the tables as they were before any was renamed, or as they are when all were."""
    if renames and not _complete(database, renames):
        _undo(database, renames)
    # In the order in which they were put aside: `_complete` counts on it.
    for name in _aside(renames).values():
        _drop(database, name)
    _drop(database, journal)


def _aside(renames: Renames) -> dict[Name, Name]:
    """Say what the tables that are replaced are called meanwhile."""
    return {a: b for a, b in renames if b[-1].startswith(f"sfumato_{_REPLACED}_")}


def _complete(database: "Database", renames: Renames) -> bool:
    aside = [*_aside(renames).values()]
    if aside and database.exists(aside[0]) and not database.exists(aside[-1]):
        return False
    before, after = renames[-1]
    return database.exists(after) and not database.exists(before)


def _undo(database: "Database", renames: Renames) -> None:
    aside = _aside(renames)
    for before, after in reversed(renames):
        # As long as the table that is replaced is not aside, it is the one that has the name.
        given = after not in aside or database.exists(aside[after])
        if given and database.exists(after) and not database.exists(before):
            database.rename(after, before)


@contextmanager
def unpublished(where: str) -> Iterator[None]:
    """Say of what a database refuses that nothing was published."""
    try:
        yield
    except InputError as error:
        raise OutputError(
            f"cannot publish into {where}: {error} Nothing was left there."
        ) from error
