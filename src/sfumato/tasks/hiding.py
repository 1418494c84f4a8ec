"""Hiding: what Q-S association hiding would cost on a table, beside decoupling it."""

from collections.abc import Sequence
from typing import Any

from sfumato.dataclasses import dataclass
from sfumato.decouplings.association_hiding import Thresholds
from sfumato.errors import InputError, ParameterError
from sfumato.hierarchy import HierarchyBuilder
from sfumato.leaks.hiding import DECOUPLED_LOSS, HiddenTable, hide
from sfumato.policy import GivenPolicy, Policy
from sfumato.releases.drawn import require_rows_of_people
from sfumato.releases.opening import open_release
from sfumato.showing.content import Cell, Content, ContentTable, Heading, Sentence, Share, Showable
from sfumato.text import percent
from sfumato.typing import Progress, silent

CONFIDENCES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
"""The thresholds that are compared unless others are named."""


@dataclass(frozen=True, eq=False)
class HidingCosts(Showable):
    """What it costs to hide associations, for one threshold after the other."""

    tables: tuple[HiddenTable, ...]
    """The table as it would be at each threshold, in the order they were asked for."""

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values that JSON can hold."""
        return {"thresholds": [table.to_dict() for table in self.tables]}

    @property
    def headline(self) -> str:
        """The most that hiding costs, beside decoupling."""
        worst = max(self.tables, key=lambda table: table.loss)
        return (
            f"hiding associations costs up to {percent(worst.loss)} of the sensitive values, above "
            f"{worst.confidence:g}; decoupling the table costs {percent(DECOUPLED_LOSS)}"
        )

    def content(self) -> Content:
        """Return the loss of each sensitive column at each threshold."""
        names = [column.name for column in self.tables[0].columns]
        rows: list[list[Cell]] = [
            [
                table.confidence,
                table.rules,
                Share(table.loss),
                *(Share(table.losses[name]) for name in names),
            ]
            for table in self.tables
        ]
        heads: tuple[str | Heading, ...] = (
            Heading("confidence", "What no rule to a value may exceed."),
            "rules to hide",
            Heading("loss", "Normalised loss of the sensitive columns: 1 is nothing left.", bar=20),
            *names,
        )
        told = (
            "A rule leads from values of quasi-identifiers to a sensitive value. Hiding "
            "generalises the sensitive values that rules lead to until none is left; decoupling "
            "(Break-Merge) publishes them as they are."
        )
        return Content(self.headline, (ContentTable.of("", heads, rows, most=None), Sentence(told)))

    def __repr__(self) -> str:
        return f"<HidingCosts {self.headline}>"


def hiding(
    data: object,
    *,
    policy: GivenPolicy | None = None,
    quasi_identifiers: Sequence[str] | None = None,
    sensitive: Sequence[str] | None = None,
    confidences: Sequence[float] = CONFIDENCES,
    support: int = 1,
    size: int = 1,
    progress: Progress | None = None,
) -> HidingCosts:
    """Measure what Q-S association hiding would cost, for one threshold after the other.

    Sensitive values are generalised along their hierarchies until no rule from quasi-identifiers
    to one of them exceeds the threshold. The loss of the sensitive columns is what that costs;
    decoupling costs them nothing. To publish a table so, use the decoupling `association-hiding`.

    Args:
        data: A release, its folder, or a table with its roles: a path, pandas, Polars, Arrow.
        policy: Where roles and the hierarchies of sensitive columns come from; a column without a
            hierarchy has its values suppressed.
        quasi_identifiers: The columns others may know; None takes those of the release or policy.
        sensitive: The columns that must not be learned, likewise.
        confidences: The thresholds, each at least 0 and below 1.
        support: Fewest rows behind a rule.
        size: How many quasi-identifiers a rule starts from, up to this.
        progress: Told how far each stage is.

    Example:
        >>> import sfumato as sf
        >>> roles = ["age", "gender", "zipcode"], ["government", "salary"]
        >>> found = sf.tools.hiding(
        ...     sf.samples.table("census"), quasi_identifiers=roles[0], sensitive=roles[1],
        ...     confidences=[0.5, 0.9],
        ... )
        >>> [(table.confidence, table.rules, table.loss) for table in found.tables]
        [(0.5, 9, 1.0), (0.9, 0, 0.0)]
    """
    if isinstance(confidences, str) or not confidences:
        raise ParameterError("confidences", confidences, "one threshold or more")
    for confidence in confidences:
        Thresholds(confidence, None, support, size)
    release = open_release(data, policy, quasi_identifiers=quasi_identifiers, sensitive=sensitive)
    require_rows_of_people(release, "about whom rules would tell something")
    if not release.kind.in_one_piece:
        raise InputError(
            "this release is decoupled: nothing is left to hide. Give the table it was made of."
        )
    for name in ("quasi_identifiers", "sensitive"):
        if not getattr(release, name):
            raise ParameterError(name, [], "at least one column")
    report = progress or silent
    names = (*release.quasi_identifiers, *release.sensitive)
    counts = release.table.count(names, progress=lambda done, total: report("count", done, total))
    builders = _hierarchies(release.policy, release.sensitive)
    tables = []
    for done, confidence in enumerate(confidences):
        report("hide", done, len(confidences))
        tables.append(
            hide(
                counts,
                release.quasi_identifiers,
                release.sensitive,
                builders,
                confidence=confidence,
                support=support,
                size=size,
            )
        )
    return HidingCosts(tuple(tables))


def _hierarchies(policy: Policy | None, sensitive: Sequence[str]) -> dict[str, HierarchyBuilder]:
    rules = {} if policy is None else policy.columns
    builders = {name: rules[name].hierarchy for name in sensitive if name in rules}
    return {name: builder for name, builder in builders.items() if builder is not None}
