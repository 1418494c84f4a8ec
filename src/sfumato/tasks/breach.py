"""Breach: what an adversary who joins the parts of a decoupled table can guess."""

from collections.abc import Sequence

from sfumato.counts import FrequencySet
from sfumato.decouplings.base import GroupedTables, join_columns
from sfumato.errors import ParameterError
from sfumato.leaks import Exposure, RiskLevels
from sfumato.policy import GivenPolicy
from sfumato.releases.drawn import require_rows_of_people
from sfumato.releases.opening import open_release
from sfumato.tables import Table
from sfumato.typing import Progress, silent


def breach(
    data: object,
    *,
    quasi_identifiers: Sequence[str] | None = None,
    sensitive: Sequence[str] | None = None,
    policy: GivenPolicy | None = None,
    original: object = None,
    alpha: float | None = None,
    levels: RiskLevels | None = None,
    progress: Progress | None = None,
) -> Exposure:
    """Return what a decoupled release leaves to guess, or what decoupling a table would.

    A release in several tables is taken as it is. Any other release or table is decoupled in
    memory, and each person's risk before and after stands side by side.

    Args:
        data: A release or its folder, or a table: a path (CSV, Parquet, SPSS, Excel …), pandas,
            Polars, Arrow.
        quasi_identifiers: The columns that make groups; a release knows its own.
        sensitive: The columns that are guessed.
        policy: Where the roles come from if they are not named.
        original: For a decoupled release the table it was made of, to compare with.
        alpha: Count also how many people are above this.
        levels: The risk levels; None takes the policy's or the release's, else the usual ones.
        progress: Told how far each stage is.

    Example:
        >>> import pyarrow as pa
        >>> work = ["state", "state", "federal", "private", "local"]
        >>> wed = ["single", "single", "married", "divorced", "separated"]
        >>> table = pa.table({"age": ["30-50"] * 5, "work": work, "marital": wed})
        >>> exposure = breach(table, quasi_identifiers=["age"], sensitive=["work", "marital"])
        >>> print(exposure.person({"age": "30-50"}, {"work": "state"}))
        age=30-50: 5 people, known besides: work=state
        marital    how surely  level     before breaking
        single           40 %  moderate            100 %
        divorced         20 %  ...
    """
    report = progress or silent

    def count(table: Table, names: Sequence[str]) -> FrequencySet:
        counts = table.count(
            tuple(names), progress=lambda done, total: report("count", done, total)
        )
        folded = counts.fold([name for name in release.folded if name in names])
        return release.without_general_stars(folded)

    release = open_release(data, policy, quasi_identifiers=quasi_identifiers, sensitive=sensitive)
    require_rows_of_people(release, "whose values could be guessed")
    if not release.kind.in_one_piece:
        folded = release.groups.fold(release.folded)
        grouped = _choose_columns(folded, quasi_identifiers, sensitive)
        known = tuple(column.name for column in grouped.quasi_identifiers)
        counts = None
        if original is not None:
            held = [column.name for table in grouped.sensitive for column in table.columns]
            counts = count(open_release(original).table, (*known, *held))
            for names in release.together:
                if {*names} <= {*held}:
                    counts, _ = join_columns(counts, names)
        return Exposure(grouped, counts, levels or release.risk_levels, alpha)
    if original is not None:
        raise ParameterError(
            "original", original, "left out", why="the table that is given is whole itself"
        )
    if not release.sensitive:
        raise ParameterError(
            "sensitive", [], "the columns that are guessed", why="sensitive=['illness'] names them"
        )
    counts = count(release.table, release.columns)
    grouped = GroupedTables.of(counts, release.quasi_identifiers, release.sensitive)
    return Exposure(grouped, counts, levels or release.risk_levels, alpha)


def _choose_columns(
    grouped: GroupedTables, quasi_identifiers: Sequence[str] | None, sensitive: Sequence[str] | None
) -> GroupedTables:
    """Return the tables of the sensitive columns that were asked for."""
    if quasi_identifiers is not None:
        raise ParameterError(
            "quasi_identifiers",
            list(quasi_identifiers),
            "left out",
            why="a decoupled release has groups of its own",
        )
    if sensitive is None:
        return grouped
    tables = tuple(grouped.table(name) for name in dict.fromkeys(sensitive))
    return GroupedTables(grouped.quasi_identifiers, grouped.labels, grouped.sizes, tables)
