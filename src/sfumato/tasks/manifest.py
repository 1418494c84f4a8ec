"""Writing down what was done and what was measured."""

import math
import platform
from collections.abc import Mapping
from typing import Any

import numpy as np

from sfumato._version import __version__
from sfumato.hierarchy import Ladder
from sfumato.losses import LOSSES
from sfumato.models import PrivacyModel
from sfumato.policy import Policy
from sfumato.schema import Role
from sfumato.search import Checker, Found, Outcome
from sfumato.text import text_of

FORMAT = 1
PUBLISHED = (Role.QUASI_IDENTIFIER, Role.SENSITIVE, Role.PLAIN)


def build_manifest(
    policy: Policy,
    roles: Mapping[str, Role],
    checker: Checker,
    found: Found,
    outcome: Outcome,
    *,
    suppressed: int,
    reproducible: bool,
) -> dict[str, Any]:
    """Describe a release, apart from its files: everything in it may be public."""
    left = checker.left(outcome)
    return {
        "format": FORMAT,
        "sfumato": __version__,
        "columns": _columns(roles, checker, outcome),
        "rows": {
            "published": checker.total - outcome.suppressed,
            "suppressed": suppressed,
            "suppression": policy.suppression.rows,
        },
        "missing": policy.missing.value,
        "models": [
            {**promise_of(model), "measured": _plain(model.measure(left))}
            for model in policy.models
        ],
        "loss": policy.loss.name,
        "losses": _losses(policy, checker, outcome),
        "classes": _classes(outcome),
        "search": {
            "name": policy.search.name,
            "checks": found.checks,
            "nodes": checker.lattice.size,
            "optimal": found.proven,
        },
        "hierarchies": _distances(policy, checker),
        "reproducible": reproducible,
        "versions": _versions(),
    }


def promise_of(model: PrivacyModel) -> dict[str, Any]:
    """Write what a model promises, as manifests do.

    >>> from sfumato.models import KAnonymity
    >>> promise_of(KAnonymity(5))
    {'model': 'k-anonymity', 'k': 5}
    """
    return {"model": model.name, **_plain(model.params())}


def _columns(roles: Mapping[str, Role], checker: Checker, outcome: Outcome) -> list[dict[str, Any]]:
    levels = {
        ladder.column: {"level": level, "height": ladder.height}
        for ladder, level in zip(checker.grouping.ladders, outcome.node, strict=True)
    }
    return [
        {"name": name, "role": role.value, **levels.get(name, {})}
        for name, role in roles.items()
        if role in PUBLISHED
    ]


def _losses(policy: Policy, checker: Checker, outcome: Outcome) -> dict[str, float]:
    """Measure the release in every way there is, the policy's own loss first."""
    losses = {policy.loss.name: outcome.loss}
    judged = outcome.judged
    if judged is not None:
        for name in LOSSES:
            if name not in losses:
                loss = LOSSES[name].example().over(checker.attributes, checker.total)
                losses[name] = loss.of(judged)
    return losses


def _classes(outcome: Outcome) -> dict[str, float]:
    judged = outcome.judged
    sizes = judged.sizes[judged.keep] if judged is not None else np.empty(0, dtype=np.int64)
    if not len(sizes):
        return {"count": 0}
    return {
        "count": len(sizes),
        "smallest": int(sizes.min()),
        "largest": int(sizes.max()),
        "average": float(sizes.mean()),
    }


def _distances(policy: Policy, checker: Checker) -> dict[str, dict[str, list[str]]]:
    """Give the hierarchies of sensitive columns that a model measures distances in."""
    needed = {
        column
        for model in policy.models
        if model.params().get("distance") == "hierarchical"
        for column in model.columns
    }
    hierarchies = {}
    for name in needed:
        ladder = checker.grouping.sensitive[name].ladder
        if ladder is not None:
            hierarchies[name] = paths_of(ladder)
    return hierarchies


def paths_of(ladder: Ladder) -> dict[str, list[str]]:
    """Write a ladder as the labels of each value, level 1 to the top."""
    return {
        text_of(value): [
            str(ladder.labels[level][ladder.codes[level][i]])
            for level in range(1, ladder.height + 1)
        ]
        for i, value in enumerate(ladder.values)
    }


def _versions() -> dict[str, str]:
    import pyarrow as pa

    return {
        "python": platform.python_version(),
        "numpy": np.__version__,
        "pyarrow": pa.__version__,
    }


def _plain(value: Any) -> Any:  # noqa: ANN401 - any parameter of any model
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, np.generic):
        return _plain(value.item())
    if isinstance(value, float) and math.isinf(value):
        return "inf" if value > 0 else "-inf"
    return value
