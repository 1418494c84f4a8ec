"""Synthesise: rows that no person has, drawn under differential privacy, verified."""

import secrets
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Literal

import numpy as np

from sfumato.errors import InputError, ParameterError
from sfumato.evidence import Key
from sfumato.files.reading import tell
from sfumato.policy import GivenPolicy, Policy, policy_of
from sfumato.releases.people import require_people
from sfumato.releases.places import UnpublishedRelease, place_for
from sfumato.releases.preparing import open_value_by_value
from sfumato.releases.release import Release
from sfumato.releases.synthetic import (
    SyntheticRows,
    bound_contributions,
    derived_steps,
    describe_synthetic,
    rows_of,
)
from sfumato.synthesis.account import read_account, spend
from sfumato.synthesis.budget import PrivacyBudget, require_contributions, require_scale
from sfumato.synthesis.domain import PublicDomain, require_drawn
from sfumato.synthesis.mechanisms import MECHANISMS, fit, require_cells
from sfumato.synthesis.opendp import require_extra
from sfumato.tables import Table, said_of
from sfumato.tables.base import require_single_values
from sfumato.tasks.signing import answer_to_sign
from sfumato.typing import Progress, silent

Unit = Literal["person", "household"]


def synthesize(  # noqa: PLR0913 - all but two have a default and are named
    data: object,
    policy: GivenPolicy,
    *,
    epsilon: float | None = None,
    delta: float | None = None,
    rho: float | None = None,
    mechanism: str = "mst",
    contributions: int = 1,
    unit: str = "person",
    account: str | PathLike[str] | None = None,
    output: str | PathLike[str] | None = None,
    format: str | None = None,  # noqa: A002 - the word users know
    force: bool = False,
    key: Key | None = None,
    even_so: bool = False,
    progress: Progress | None = None,
) -> Release:
    """Publish rows that no person has, drawn from a model of noisy counts.

    Promises: differential privacy. Whether a person is in the table with all their rows changes
    the probability of anything that is published by a factor of at most e to the epsilon, apart
    from delta. The domain of every column is stated by the policy: by its `domain`, or by a
    hierarchy that lists its values. Columns that the policy derives from published ones are
    derived again, and not drawn. If anything fails, nothing is written.

    Does not promise: that what the rows say of groups of people is right beyond noise; that nothing
    can be concluded of a person from what holds for all; or anything about other releases of the
    same people: budgets add up. There is no seed: OpenDP draws its noise from the operating
    system, so that no one can draw it again.

    It takes the extra `synthetic`, and most of the time goes to fitting: it grows with columns and
    cells, and not with rows.

    Args:
        data: A path (CSV, Parquet, SPSS, Excel …), a pandas, Polars or Arrow table, or a table of
            DuckDB, PostgreSQL or Spark.
        policy: The roles of the columns and their domains; its models are not used.
        epsilon: How much one person may change: 1 or less is strong, above 3 says little.
        delta: With probability at most delta nothing is promised: far below one in the number of
            people. Without it the promise is pure, and noise is wider.
        rho: In place of epsilon, with delta: the budget of zero-concentrated differential privacy.
        mechanism: `mst` counts single columns and the strongest pairs; `aim` chooses sets of up to
            three columns in turn, which takes far longer.
        contributions: The most rows of a person that count; others are left out at random. Without
            `person` in the policy each row is a person.
        unit: `person`, or `household`: whom the promise is about.
        account: The account of the source, where it has one (`sf.tools.account`): what is spent is
            written down there before it is, and refused beyond the limit of all its releases.
        output: The release folder to write; None gives the table back in memory.
        format: csv, parquet, feather, sav, dta or xlsx; None takes the input's.
        force: Replace a release that is already in `output`.
        key: The private key to sign it with, or its file; see `sf.evidence.keygen`.
        even_so: Sign it although the answer is *no*.
        progress: Told how far each stage is.
    """
    require_extra()
    report = progress or silent
    given = policy_of(policy)
    if mechanism not in MECHANISMS:
        raise ParameterError("mechanism", mechanism, " or ".join(map(repr, MECHANISMS)))
    require_contributions(contributions)
    place = place_for(
        output, data, format=format, force=force, key=key, even_so=even_so, whole_rows=True
    )
    if place.table is not None:
        raise ParameterError("output", output, "a folder", why="synthetic rows are made in memory")
    table = open_value_by_value(data, given, output)
    roles = given.check_against(table.columns)
    names = require_drawn(given, roles)
    who = _unit_of(given, table, unit, contributions)
    _require_within_unit(given, who)
    require_single_values(table, list(names))
    steps = derived_steps(given, names)
    derived = {name for step in steps for name in step.made}
    domain = PublicDomain.of(given, [name for name in names if name not in derived])
    require_cells(domain.names, domain.sizes)
    if account is not None:
        read_account(Path(account))
    # Importing OpenDP takes seconds: what can be wrong was found before.
    budget = PrivacyBudget.of(epsilon, delta, rho)
    require_scale(budget, len(domain.names), contributions)
    columns = (*domain.names, *([] if who is None else [who]))
    counts = table.count(columns, progress=lambda done, total: report("count", done, total))
    if who is not None:
        if None in counts.column(who).values:
            text = _NO_ONES.format(who) + (_LEFT_OUT if unit == "person" else _COMPLETE)
            raise given.error_at(unit, text=text)
        # The bound holds as long as no one knows which rows were left out, so that what draws them
        # is not what draws the rows that are published.
        every = counts.total
        counts = bound_contributions(counts, who, contributions, _secret_generator())
        if counts.total < every:
            tell(_BOUNDED.format(unit, contributions))
    cells = domain.cells_of(counts, given, said_of(data, given.reading))
    kind = "row" if who is None else unit
    if account is not None:
        # From here on it counts as spent, whatever happens.
        spend(Path(account), budget, "synthesize", unit=kind, contributions=contributions)
    model = fit(cells, budget, mechanism=mechanism, contributions=contributions, report=report)
    rows = rows_of(model, domain, names, steps, _secret_generator())
    manifest = describe_synthetic(
        given,
        roles,
        rows,
        model,
        budget,
        domain,
        mechanism=mechanism,
        unit=kind,
        contributions=contributions,
        notes=[step.note() for step in given.derive],
    )
    if not rows.num_rows:
        raise InputError(
            "noise leaves no row: the table is too small for this budget. What was spent is spent."
        )
    release = UnpublishedRelease(
        [SyntheticRows(rows)],
        manifest,
        report,
        answer=lambda placed: answer_to_sign(Release.of(placed, given), even_so=place.even_so),
    )
    made = Release.of(place.publish(release, table), given)
    return replace(made, notes=table.notes)


def _secret_generator() -> np.random.Generator:
    """Return a generator whose seed nothing else has."""
    return np.random.default_rng(secrets.randbits(128))


def _require_within_unit(policy: Policy, who: str | None) -> None:
    """Raise if rows of one unit change what is computed for those of another."""
    person = policy.counted_person
    for position, step in enumerate(policy.derive):
        across = (step if person is None else step.of_person(person)).across
        if across is not None and across != who:
            whom = "each row" if who is None else f"those of a {who!r}"
            text = (
                f"reads all rows of a {across!r} together, and the promise is for {whom}: one of "
                "them would change others, which no noise hides. Leave it out, or protect all "
                f"rows of one: person: {across}"
            )
            raise policy.error_at("derive", position, text=text)


_NO_ONES = "some rows have no {!r}, so that it is not known whose they are. "
_LEFT_OUT = "Leave them out, as in person: {column: …, missing: leave-out}, or complete the table."
_COMPLETE = "Leave them out, or complete the table."
_BOUNDED = (
    "some have more rows than count of one {0}: {1} of each, drawn at random. contributions (now "
    "{1}) says how many, and more of them take more noise"
)


def _unit_of(policy: Policy, table: Table, unit: str, contributions: int) -> str | None:
    """Return the column that says whose rows are whose; None if each row is a person."""
    if unit not in ("person", "household"):
        raise ParameterError("unit", unit, "'person' or 'household'")
    if unit == "household":
        if policy.household is None:
            why = "the policy does not say who lives together. Name the column: household: …"
            raise ParameterError("unit", unit, "'person'", why=why)
        return policy.household
    name = policy.counted_person
    if name is None:
        # A key of people that repeats is refused, or said to be meant.
        require_people(table, policy)
        if contributions > 1:
            why = "each row is a person here. Name the column that identifies people: person: …"
            raise ParameterError("contributions", contributions, "1", why=why)
    return name
