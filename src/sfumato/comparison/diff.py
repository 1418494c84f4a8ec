"""Diff: what changed in risk and utility between two releases, and why."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from sfumato.attacks import Outcome
from sfumato.comparison.changes import Change, Changes, Direction
from sfumato.models.base import promise_text
from sfumato.policy import GivenPolicy, Policy, policy_of
from sfumato.releases.opening import manifest_of
from sfumato.releases.release import level_text, method_of, recoded_columns
from sfumato.tasks.utility import compare_utility
from sfumato.tasks.verify import Assessment, verify
from sfumato.usefulness import Utility


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
        sensitive: The columns nobody should learn, likewise.
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
    manifests = manifest_of(old) or {}, manifest_of(new) or {}
    useful = [*_losses(*manifests)]
    if data is not None:
        useful += _answers(old, new, data, policy, quasi_identifiers, sensitive)
    return Changes(
        before, after, tuple(_causes(*manifests)), tuple(_risks(before, after)), tuple(useful)
    )


def _risks(old: Assessment, new: Assessment) -> Iterator[Change]:
    yield from _changed(
        {f"promise {check.name}": check.status for check in old.checks},
        {f"promise {check.name}": check.status for check in new.checks},
    )
    before, after = ({each.title: each for each in one.attacks} for one in (old, new))
    for name in dict.fromkeys([*before, *after]):
        one, other = (found.get(name) for found in (before, after))
        for figure, of in _FIGURES.items():
            was, now = (
                None if each is None or not each.tried else of(each) for each in (one, other)
            )
            if was != now and not _both_near(was, now):
                yield Change(f"{name}: {figure}", was, now, _direction(was, now))


_FIGURES: Mapping[str, Callable[[Outcome], float | None]] = {
    "people at risk": lambda outcome: outcome.people,
    "strongest belief": lambda outcome: outcome.posterior,
}


def _both_near(old: object, new: object) -> bool:
    """Tell whether two shares differ by rounding only."""
    return isinstance(old, float) and isinstance(new, float) and abs(old - new) < 1e-9


def _direction(old: float | None, new: float | None) -> Direction:
    if old is None or new is None:
        return "other"
    return "safer" if new < old else "riskier"


def _losses(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Change]:
    before, after = (_numbers(one.get("losses")) for one in (old, new))
    for name in before:
        if name in after and before[name] != after[name]:
            worse = after[name] > before[name]
            yield Change(name, before[name], after[name], "less useful" if worse else "more useful")


def _numbers(losses: object) -> dict[str, float]:
    """Take the losses of a manifest that are numbers: it may be a stranger's."""
    given = losses.items() if isinstance(losses, Mapping) else ()
    return {str(name): float(loss) for name, loss in given if isinstance(loss, int | float)}


def _answers(
    old: object,
    new: object,
    data: object,
    policy: Policy | None,
    quasi_identifiers: Sequence[str] | None,
    sensitive: Sequence[str] | None,
) -> Iterator[Change]:
    found = compare_utility(
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
            yield Change(name, before, after, "less useful" if after > before else "more useful")


def _causes(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Change]:
    if not old or not new:
        return
    yield from _changed(_settings(old), _settings(new))
    yield from _changed(_promises(old), _promises(new))
    yield from _changed(_levels(old), _levels(new))


def _settings(manifest: Mapping[str, Any]) -> dict[str, object]:
    rows, kind = manifest["rows"], manifest.get("kind")
    return {
        "decoupled by": kind or "nothing",
        "method": None if kind else method_of(manifest),
        "rows published": rows["published"],
        "rows suppressed": rows["suppressed"],
        "missing values": manifest["missing"],
        **{f"role of {column['name']}": column["role"] for column in manifest["columns"]},
    }


def _promises(manifest: Mapping[str, Any]) -> dict[str, object]:
    """Name promises without their parameters, so that a stronger one is a change."""
    found: dict[str, object] = {}
    for model in manifest["models"]:
        column, kind = model.get("column"), str(model.get("model"))
        name = kind if column is None else f"{kind} of {column}"
        found[f"promise {name}"] = promise_text(model)
    return found


def _levels(manifest: Mapping[str, Any]) -> dict[str, object]:
    return {f"{column['name']}": level_text(column) for column in recoded_columns(manifest)}


def _changed(old: Mapping[str, object], new: Mapping[str, object]) -> Iterator[Change]:
    for name in dict.fromkeys([*old, *new]):
        if old.get(name) != new.get(name):
            yield Change(name, old.get(name), new.get(name))
