"""Synthesise: rows that no person has, drawn under differential privacy, verified."""

from dataclasses import replace
from os import PathLike

from sfumato.errors import InputError, ParameterError
from sfumato.evidence import Key
from sfumato.policy import GivenPolicy, policy_of
from sfumato.releases.places import UnpublishedRelease, place_for
from sfumato.releases.release import Release
from sfumato.releases.synthetic import SyntheticRows, describe_synthetic, rows_of
from sfumato.synthesis.budget import PrivacyBudget, require_scale
from sfumato.synthesis.mechanisms import MECHANISMS, fit, require_cells
from sfumato.synthesis.opendp import require_extra
from sfumato.tasks.private_source import PrivateSource, secret_generator
from sfumato.tasks.signing import answer_to_sign
from sfumato.typing import Progress, silent


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
    place = place_for(
        output, data, format=format, force=force, key=key, even_so=even_so, whole_rows=True
    )
    if place.table is not None:
        raise ParameterError("output", output, "a folder", why="synthetic rows are made in memory")
    source = PrivateSource.open(
        data, given, output, unit=unit, contributions=contributions, account=account
    )
    domain = source.domain
    require_cells(domain.names, domain.sizes)
    # Importing OpenDP takes seconds: what can be wrong was found before.
    budget = PrivacyBudget.of(epsilon, delta, rho)
    require_scale(budget, 2 * len(domain.names), contributions)
    cells = source.count(report)
    source.spend(budget, "synthesize")
    model = fit(cells, budget, mechanism=mechanism, contributions=contributions, report=report)
    rows = rows_of(model, domain, source.names, source.steps, secret_generator())
    manifest = describe_synthetic(
        given,
        source.roles,
        rows,
        model,
        budget,
        domain,
        mechanism=mechanism,
        unit=source.kind,
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
    made = Release.of(place.publish(release, source.table), given)
    return replace(made, notes=source.table.notes)
