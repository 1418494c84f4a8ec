"""Diff: what changed in risk and utility between two releases, and why."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Literal

from sfumato.attacks import Outcome
from sfumato.comparison.trial import ASKED
from sfumato.dataclasses import dataclass
from sfumato.policy import GivenPolicy, Policy, policy_of
from sfumato.releases.manifest import Manifest
from sfumato.releases.opening import open_release
from sfumato.showing.content import Content, ContentTable, Part, Sentence, Showable
from sfumato.synthesis.belief import most_believed
from sfumato.tasks.assessment import Assessment
from sfumato.tasks.utility import utility
from sfumato.tasks.verify import verify
from sfumato.text import percent, text_of
from sfumato.usefulness import Utility

Direction = Literal["safer", "riskier", "more useful", "less useful", "other"]


@dataclass(frozen=True)
class FigureChange:
    """One figure or setting of two releases.

    Example:
        >>> print(FigureChange("people at risk by linking", 3, 0, "safer"))
        people at risk by linking: 3 became 0 (safer)
    """

    name: str
    old: object
    new: object
    direction: Direction = "other"

    @property
    def meaning(self) -> str:
        """Whether that is good or bad, where it is one of them."""
        return "" if self.direction == "other" else self.direction

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values that JSON can hold."""
        return {
            "name": self.name,
            "old": _plain(self.old),
            "new": _plain(self.new),
            "direction": self.direction,
        }

    def __str__(self) -> str:
        meaning = f" ({self.meaning})" if self.meaning else ""
        if self.old is None:
            return f"{self.name}: {show_figure(self.new)} is new{meaning}"
        if self.new is None:
            return f"{self.name}: {show_figure(self.old)} is gone{meaning}"
        return f"{self.name}: {show_figure(self.old)} became {show_figure(self.new)}{meaning}"


@dataclass(frozen=True, eq=False)
class Changes(Showable):
    """What changed between two releases, and which settings it comes from."""

    old: Assessment
    new: Assessment
    causes: tuple[FigureChange, ...]
    """What was done differently: the people, the promises, the levels, the method."""

    risk: tuple[FigureChange, ...]
    """What adversaries learn."""

    utility: tuple[FigureChange, ...]
    """What others can still learn."""

    @property
    def same(self) -> bool:
        """Whether nothing changed that is looked at."""
        return not (self.causes or self.risk or self.utility)

    @property
    def riskier(self) -> tuple[FigureChange, ...]:
        """The changes for the worse."""
        return tuple(change for change in self.risk if change.direction == "riskier")

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values that JSON can hold."""
        parts = ("causes", "risk", "utility")
        return {
            "old": self.old.answer,
            "new": self.new.answer,
            **{part: [change.to_dict() for change in getattr(self, part)] for part in parts},
        }

    def content(self) -> Content:
        """Return what changed in risk and usefulness, and what was done differently."""
        parts = (
            _changes_part("Risk", self.risk, "no attack learns more or less"),
            _changes_part("Usefulness", self.utility, "nothing measured changed"),
            _changes_part("What was done differently", self.causes, "nothing that shows"),
        )
        headline = f"May it be published? Before: {self.old.answer}. Now: {self.new.answer}."
        return Content(headline, parts, self.new.answer)

    def __repr__(self) -> str:
        return f"<Changes: {self.old.answer} before, {self.new.answer} now>"


def _changes_part(title: str, changes: Sequence[FigureChange], nothing: str) -> Part:
    if not changes:
        return Sentence(f"{title}: {nothing}.")
    rows = [
        [each.name, show_figure(each.old), show_figure(each.new), each.meaning] for each in changes
    ]
    return ContentTable.of("", [title, "before", "now", "so it is"], rows, most=None)


def show_figure(value: object) -> str:
    """Write a figure for people.

    >>> [show_figure(value) for value in (0.123456, 0.99996, None, ["a", 1])]
    ['0.1235', '0.9999', 'none', 'a, 1']
    """
    if value is None:
        return "none"
    if isinstance(value, float):
        # What is nearly certain is not certain.
        return f"{min(value, 0.9999) if value < 1 else value:.4g}"
    if isinstance(value, list | tuple):
        return ", ".join(map(show_figure, value)) or "none"
    return text_of(value)


def _plain(value: object) -> object:
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return text_of(value)


def diff(
    old: object,
    new: object,
    *,
    policy: GivenPolicy | None = None,
    quasi_identifiers: Sequence[str] | None = None,
    sensitive: Sequence[str] | None = None,
    data: object = None,
) -> Changes:
    """Compare two releases: what adversaries learn from each, what others can, and why it differs.

    Both are verified and attacked as `sf.verify` does it, and by the same rules. What was done
    differently is read from their manifests. A plain table has none; then only what it gives
    away is compared.

    Does not promise: that a cause stands beside its effect. Settings that changed together are
    told together.

    Args:
        old: The release before: a release, its folder, or a table.
        new: The release after.
        policy: The policy both are held to; roles and risk levels of plain tables.
        quasi_identifiers: The columns others may know, where nothing else says so.
        sensitive: The sensitive columns, likewise.
        data: The table both were made of. With it, answers to counting queries are compared.

    Example:
        >>> import pyarrow as pa
        >>> import sfumato as sf
        >>> ill = ["flu", "gout", "hiv", "flu"]
        >>> fine = pa.table({"age": ["30", "31", "30", "31"], "ill": ill})
        >>> coarse = pa.table({"age": ["30s"] * 4, "ill": ill})
        >>> roles = {"quasi_identifiers": ["age"], "sensitive": ["ill"]}
        >>> print(sf.diff(fine, coarse, **roles).risk[0])
        linking(view=prosecutor): strongest belief: 0.5 became 0.25 (safer)
    """
    policy = policy_of(policy)
    before, after = (
        verify(one, policy, quasi_identifiers=quasi_identifiers, sensitive=sensitive)
        for one in (old, new)
    )
    manifests = open_release(old).manifest, open_release(new).manifest
    useful = [*_losses(*manifests)]
    if data is not None:
        useful += _answers(old, new, data, policy, quasi_identifiers, sensitive)
    return Changes(
        before, after, tuple(_causes(*manifests)), tuple(_risks(before, after)), tuple(useful)
    )


def _risks(old: Assessment, new: Assessment) -> Iterator[FigureChange]:
    yield from _settings_changed(
        {f"promise {check.name}": check.status for check in old.checks},
        {f"promise {check.name}": check.status for check in new.checks},
    )
    beliefs = [{each.what: each for each in one.beliefs} for one in (old, new)]
    for what in dict.fromkeys([*beliefs[0], *beliefs[1]]):
        was, now = (
            most_believed(_BEFORE, each[what].epsilon) if what in each else None for each in beliefs
        )
        if was != now:
            name = f"{what}: most that {percent(_BEFORE)} becomes"
            yield FigureChange(name, was, now, _direction(was, now))
    before, after = ({each.title: each for each in one.attacks} for one in (old, new))
    for name in dict.fromkeys([*before, *after]):
        one, other = (found.get(name) for found in (before, after))
        for figure, of in _FIGURES.items():
            was, now = (
                None if each is None or not each.tried else of(each) for each in (one, other)
            )
            if was != now and not _both_near(was, now):
                yield FigureChange(f"{name}: {figure}", was, now, _direction(was, now))


_BEFORE = 0.1
"""The belief whose growth is told, of what noise allows."""

_FIGURES: Mapping[str, Callable[[Outcome], float | None]] = {
    "people at risk": lambda outcome: outcome.people,
    "strongest belief": lambda outcome: outcome.posterior,
}


def _both_near(old: object, new: object) -> bool:
    """Return whether two shares differ by rounding only."""
    return isinstance(old, float) and isinstance(new, float) and abs(old - new) < 1e-9


def _direction(old: float | None, new: float | None) -> Direction:
    if old is None or new is None:
        return "other"
    return "safer" if new < old else "riskier"


def _losses(old: Manifest | None, new: Manifest | None) -> Iterator[FigureChange]:
    before, after = ({} if one is None else one.known_losses for one in (old, new))
    for name in before:
        if name in after and before[name] != after[name]:
            worse = after[name] > before[name]
            yield FigureChange(
                name, before[name], after[name], "less useful" if worse else "more useful"
            )


def _answers(
    old: object,
    new: object,
    data: object,
    policy: Policy | None,
    quasi_identifiers: Sequence[str] | None,
    sensitive: Sequence[str] | None,
) -> Iterator[FigureChange]:
    found = utility(
        data,
        {"old": old, "new": new},
        policy=policy,
        quasi_identifiers=quasi_identifiers,
        sensitive=sensitive,
    )
    figures: Mapping[str, Callable[[Utility], float]] = {
        "median error of counting queries": lambda one: one.queries.median,
        "mean error of correlations": lambda one: one.associations.mean_difference,
    }
    for name, of in figures.items():
        before, after = of(found["old"]), of(found["new"])
        if before != after:
            yield FigureChange(
                name, before, after, "less useful" if after > before else "more useful"
            )
    old_losses, new_losses = found["old"].number_losses, found["new"].number_losses
    for name, before in old_losses.items():
        after = new_losses.get(name, before)
        if before != after:
            worse = after > before
            yield FigureChange(
                ASKED[name], before, after, "less useful" if worse else "more useful"
            )


def _causes(old: Manifest | None, new: Manifest | None) -> Iterator[FigureChange]:
    if old is None or new is None:
        return
    yield from _settings_changed(_settings(old), _settings(new))
    yield from _settings_changed(_promises(old), _promises(new))
    yield from _settings_changed(_levels(old), _levels(new))


def _settings(manifest: Manifest) -> dict[str, object]:
    return {
        "decoupled by": manifest.kind or "nothing",
        "method": None if manifest.kind else manifest.method_name,
        "rows published": manifest.rows.published,
        "rows suppressed": manifest.rows.suppressed,
        "missing values": manifest.missing,
        **{f"role of {column.name}": column.role for column in manifest.columns},
    }


def _promises(manifest: Manifest) -> dict[str, object]:
    """Return promises without their parameters, so that a stronger one is a change."""
    found: dict[str, object] = {}
    for promise in manifest.models:
        column = promise.column
        name = promise.model if column is None else f"{promise.model} of {column}"
        found[f"promise {name}"] = str(promise)
    for hidden in manifest.hiding or ():
        found[f"promise of no rule to {hidden.column}"] = str(hidden)
    if manifest.drawn is not None:
        found["promise differential privacy"] = str(manifest.drawn)
    return found


def _levels(manifest: Manifest) -> dict[str, object]:
    return {column.name: column.level_text for column in manifest.known_columns if column.recoded}


def _settings_changed(
    old: Mapping[str, object], new: Mapping[str, object]
) -> Iterator[FigureChange]:
    for name in dict.fromkeys([*old, *new]):
        if old.get(name) != new.get(name):
            yield FigureChange(name, old.get(name), new.get(name))
