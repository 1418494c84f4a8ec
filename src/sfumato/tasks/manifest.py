"""Writing down what was done and what was measured."""

import math
import platform
from collections.abc import Mapping
from typing import Any

import numpy as np

from sfumato._version import __version__
from sfumato.hierarchy import Ladder
from sfumato.models import PrivacyModel
from sfumato.policy import Policy
from sfumato.schema import Role
from sfumato.tasks.decision import Decision
from sfumato.text import text_of
from sfumato.typing import IntArray

FORMAT = 1
PUBLISHED = (Role.QUASI_IDENTIFIER, Role.SENSITIVE, Role.PLAIN)


def build_manifest(
    policy: Policy, roles: Mapping[str, Role], decision: Decision, *, reproducible: bool
) -> dict[str, Any]:
    """Describe a release, apart from its files: everything in it may be public."""
    manifest = {
        "format": FORMAT,
        "sfumato": __version__,
        "columns": [
            {"name": name, "role": role.value, **decision.columns.get(name, {})}
            for name, role in roles.items()
            if role in PUBLISHED
        ],
        "rows": {
            "published": int(decision.sizes.sum()),
            "suppressed": decision.suppressed,
            "suppression": policy.suppression.rows,
        },
        "missing": policy.missing.value,
        "models": [
            {**promise_of(model), "measured": plain(model.measure(decision.left))}
            for model in policy.models
        ],
        "loss": policy.loss.name,
        "losses": dict(decision.losses),
        "classes": class_sizes(decision.sizes),
        "method": dict(decision.method),
        "search": decision.search,
        "hierarchies": _distances(policy, decision),
        "risk_levels": policy.risk_levels.written(),
        "reproducible": reproducible,
        "versions": versions(),
    }
    return {key: value for key, value in manifest.items() if value is not None}


def promise_of(model: PrivacyModel) -> dict[str, Any]:
    """Write what a model promises, as manifests do.

    >>> from sfumato.models import KAnonymity
    >>> promise_of(KAnonymity(5))
    {'model': 'k-anonymity', 'k': 5}
    """
    return {"model": model.name, **plain(model.params())}


def class_sizes(sizes: IntArray) -> dict[str, float]:
    """Say how many classes there are, and how large they are.

    >>> class_sizes(np.array([2, 4]))
    {'count': 2, 'smallest': 2, 'largest': 4, 'average': 3.0}
    """
    if not len(sizes):
        return {"count": 0}
    return {
        "count": len(sizes),
        "smallest": int(sizes.min()),
        "largest": int(sizes.max()),
        "average": float(sizes.mean()),
    }


def _distances(policy: Policy, decision: Decision) -> dict[str, dict[str, list[str]]]:
    """Give the hierarchies of sensitive columns that a model measures distances in."""
    needed = {
        column
        for model in policy.models
        if model.params().get("distance") == "hierarchical"
        for column in model.columns
    }
    hierarchies = {}
    for name in needed:
        ladder = decision.sensitive[name].ladder
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


def versions() -> dict[str, str]:
    """Name what a release was made with."""
    import pyarrow as pa

    return {
        "python": platform.python_version(),
        "numpy": np.__version__,
        "pyarrow": pa.__version__,
    }


def plain(value: Any) -> Any:  # noqa: ANN401 - any parameter of any model
    """Give parameters and figures as values that JSON can hold."""
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, float) and math.isinf(value):
        return "inf" if value > 0 else "-inf"
    return value
