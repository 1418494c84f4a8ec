"""Tables as a policy means them: dates in one form, and with the columns that are derived."""

import re
import secrets
from collections.abc import Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path

from sfumato.derivations import Preparation, Shift
from sfumato.derivations.dates import YEAR_FIRST, DateForm
from sfumato.errors import InputError, some
from sfumato.files import read_small, write_file
from sfumato.files.private import refuse_inside_release
from sfumato.files.reading import Reading
from sfumato.hierarchy.labels import day_of, stretch_of
from sfumato.policy import Policy
from sfumato.tables import Table, open_table
from sfumato.text import STAR

_SECRET_BYTES = 32
_KEY = re.compile(r"sfumato shift key ([0-9a-f]{64})\s*")
_WHAT = "the key of a shift"


def open_prepared(
    data: object, policy: Policy | None, output: object = None, *, lasting: bool = False
) -> Table:
    """Open a table that is to be published, with everything that a policy asks for done before.

    Args:
        data: Anything that `open_table` takes; a table that was prepared by the same policy is
            taken as it is.
        policy: What says how the file and its dates are written, and what is derived; None if
            there is none.
        output: The release folder that is about to be written, if there is one.
        lasting: Whether other tables of the same people are published beside it, so that dates
            must be moved by a secret that lasts.

    Example:
        >>> import pyarrow as pa
        >>> from sfumato.policy import policy_of
        >>> people = pa.table({"born": ["31.12.2001", "1.1.2000"]})
        >>> policy = policy_of({
        ...     "columns": {"born": "dropped", "age": "quasi-identifier"},
        ...     "derive": [{"kind": "age", "of": "born", "at": "2020-12-30", "into": "age"}],
        ...     "models": [{"model": "k-anonymity", "k": 2}],
        ... })
        >>> open_prepared(people, policy).count(["age"]).columns[0].values
        (18, 20)
    """
    if policy is None:
        return open_table(data)
    table = open_table(data, policy.reading)
    if lasting and policy.perturbations:
        raise InputError(
            "the releases of a ledger are about the same people, and perturbed columns "
            f"({some(policy.perturbations)}) would be drawn again in each of them: together they "
            "reveal more than one draw. Publish such a table once, or leave perturb out."
        )
    shift = policy.preparation.shift
    if lasting and shift is not None and shift.key is None:
        raise InputError(
            "the releases of a ledger are about the same people, so their dates must be moved "
            "alike in all of them. Keep the secret in a private file: add key: shift.key to the "
            "shift."
        )
    return _prepare(table, policy.preparation, new=True, output=output)


def open_value_by_value(data: object, policy: Policy | None, output: object = None) -> Table:
    """Open a table in which every value is read by itself, for what noise is added to.

    How numbers and dates are written is found out from all values of a column elsewhere, and of a
    file: one person could so change how all others are read, which no noise hides. Here the policy
    says it, or it is the same for every value: numbers are read by `Reading.number` later, and
    dates whose order is not said only if they have one reading, as 2020-02-29 and 29 Feb 2020.

    Args:
        data: Anything that `open_table` takes.
        policy: What says how the file and its dates are written, and what is derived.
        output: The release folder that is about to be written, if there is one.

    Example:
        >>> import pyarrow as pa
        >>> from sfumato.policy import policy_of
        >>> people = pa.table({"born": ["2001-12-31", "31.12.2001"]})
        >>> policy = policy_of({
        ...     "columns": {"born": {"role": "quasi-identifier", "dates": "detect"}},
        ...     "models": [{"model": "k-anonymity", "k": 2}],
        ... })
        >>> open_value_by_value(people, policy).count(["born"])
        Traceback (most recent call last):
        sfumato.errors.InputError: the table: 'born' does not hold dates that are written
        year-first in 1 row: '31.12.2001'. Leave unknown dates empty, correct them, or say how they
        are written, as in dates: day-first.
    """
    reading = Reading() if policy is None else policy.reading
    table = open_table(data, replace(reading, as_written=True))
    if policy is None:
        return table
    asked = policy.preparation
    dates = {name: form if form.settled else _ONE_READING for name, form in asked.dates.items()}
    return _prepare(table, replace(asked, dates=dates, likely=()), new=True, output=output)


_ONE_READING = DateForm(YEAR_FIRST)
"""The form of dates that mean one day in whatever order they are written: the year comes first, or
the month has a name."""


def open_original(data: object, policy: Policy | None, wanted: Sequence[str]) -> Table:
    """Open a table that something was published of, or that tells of people who may be in it.

    What is derived is computed where it is asked for and not there already. Dates are moved as
    they were for the release, for which the secret must still be there.

    Args:
        data: Anything that `open_table` takes.
        policy: The policy of the release; None if there is none.
        wanted: The columns that are to be counted.
    """
    table = open_table(data, None if policy is None else policy.reading)
    if policy is None or not table.prepared.empty:
        return table
    preparation = policy.preparation.only(table.columns, wanted)
    return _prepare(table, preparation, new=False)


def open_as_it_is(data: object, policy: Policy, wanted: Sequence[str]) -> Table:
    """Open a table that may be raw, or a release that was made by the policy.

    Columns of dates that hold a label above days (`2020-02`, `2020 Q1`, `*`) are taken as they
    are written; in all others dates are read as the policy says.

    Args:
        data: Anything that `open_table` takes.
        policy: The policy of the table.
        wanted: The columns that are to be counted.

    Example:
        >>> import pyarrow as pa
        >>> from sfumato.policy import policy_of
        >>> dates = {"role": "quasi-identifier", "hierarchy": {"kind": "dates"}}
        >>> models = [{"model": "k-anonymity", "k": 2}]
        >>> policy = policy_of({"columns": {"born": dates}, "models": models})
        >>> people = pa.table({"born": ["2001-12-31", "2000 Q1", "*"]})
        >>> open_as_it_is(people, policy, ["born"]).count(["born"]).columns[0].values
        ('*', '2000 Q1', '2001-12-31')
    """
    table = open_table(data, policy.reading)
    if not table.prepared.empty:
        return table
    asked = policy.preparation.only(table.columns, wanted)
    named = [name for name in (*asked.dates, *asked.likely) if name in table.columns]
    labelled = {
        column.name
        for column in (table.count((name,)).columns[0] for name in dict.fromkeys(named))
        if any(isinstance(value, str) and _is_above_days(value) for value in column.known)
    }
    dates = {name: form for name, form in asked.dates.items() if name not in labelled}
    likely = tuple(name for name in asked.likely if name not in labelled)
    return _prepare(table, replace(asked, dates=dates, likely=likely), new=False)


def _is_above_days(text: str) -> bool:
    """Return whether a text is a label of dates, and no date itself."""
    if text == STAR:
        return True
    return day_of(text) is None and stretch_of(text, day_of) is not None


def prepare_alike(data: object, policies: Sequence[Policy]) -> Table:
    """Open a table for several policies, which must ask for the same to be done before."""
    if not policies:
        return open_table(data)
    if len({policy.reading for policy in policies}) > 1:
        raise InputError(
            "the policies read the data in different ways, so that their releases are not of one "
            "table. Compare policies with the same input."
        )
    table = open_table(data, policies[0].reading)
    every = [policy.preparation for policy in policies]
    for other in every[1:]:
        both = other.dates.keys() & every[0].dates.keys()
        changed = (other.steps, other.codes, other.owned) != (
            every[0].steps,
            every[0].codes,
            every[0].owned,
        )
        if changed or any(other.dates[name] != every[0].dates[name] for name in both):
            raise InputError(
                "the policies derive different columns, or read dates or missing values in "
                "different ways, so that their releases are not of one table. Compare policies "
                "with the same derive, dates, missing_codes and person."
            )
    dates = {name: form for each in every for name, form in each.dates.items()}
    likely = tuple(dict.fromkeys(n for each in every for n in each.likely if n not in dates))
    return _prepare(table, replace(every[0], dates=dates, likely=likely), new=True)


def _prepare(table: Table, preparation: Preparation, *, new: bool, output: object = None) -> Table:
    done = replace(table.prepared, secret=None)
    if preparation.empty or done == preparation:
        return table
    dates = {n: form for n, form in preparation.dates.items() if n in table.columns}
    likely = tuple(name for name in preparation.likely if name in table.columns)
    # A column that is lacking is found out when the policy is held against the table.
    codes = {name: each for name, each in preparation.codes.items() if name in table.columns}
    owned = preparation.owned if preparation.owned in table.columns else None
    asked = replace(preparation, dates=dates, likely=likely, codes=codes, owned=owned)
    if asked.empty:
        return table
    shift = asked.shift
    secret = None if shift is None else _secret(shift, output, new=new)
    return table.prepare(replace(asked, secret=secret))


def _secret(shift: Shift, output: object, *, new: bool) -> bytes:
    """Return the secret by which dates are moved: of a file, or a fresh one."""
    if shift.key is None:
        if not new:
            raise InputError(
                f"the dates of {', '.join(map(repr, shift.columns))} were moved by a secret that "
                "was forgotten, so the original cannot be held against the release. Keep the "
                "secret of later releases in a private file, as in key: shift.key"
            )
        return secrets.token_bytes(_SECRET_BYTES)
    path = Path(shift.key).expanduser()
    folder = output if isinstance(output, str | PathLike) else None
    refuse_inside_release(path, _WHAT, output=folder)
    if path.exists():
        found = _KEY.fullmatch(read_small(path, _WHAT, 1024).decode("ascii", "replace"))
        if found is None:
            raise InputError(
                f"{str(path)!r} is not {_WHAT}: it holds something else. Name another file, which "
                "is made if it is not there."
            )
        return bytes.fromhex(found[1])
    if not new:
        raise InputError(
            f"{_WHAT} {str(path)!r} is not there, and without it dates cannot be moved as they "
            "were for the release."
        )
    secret = secrets.token_bytes(_SECRET_BYTES)
    write_file(path, f"sfumato shift key {secret.hex()}\n", private=_WHAT)
    return secret
