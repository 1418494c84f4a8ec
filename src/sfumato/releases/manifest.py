"""Writing down what was done and what was measured."""

import math
import platform
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from sfumato._version import __version__
from sfumato.errors import InputError, some
from sfumato.hierarchy import Ladder
from sfumato.models import MODELS, PrivacyModel
from sfumato.models.base import promise_text
from sfumato.policy import Policy
from sfumato.policy.document import Fault
from sfumato.policy.family import choose
from sfumato.recode.problem import Decision
from sfumato.recoding import FullDomainRecoding, Recoding
from sfumato.releases.stored import for_verifier
from sfumato.schema import Role
from sfumato.text import text_of
from sfumato.typing import IntArray
from sfumato.verifier import Promises, Verdict, count_population, verify_folder
from sfumato.verifier.manifest import Column, DataFile, Manifest

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
        "risk_levels": policy.risk_levels.to_plain(),
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


def read_promise(promise: Mapping[str, Any]) -> PrivacyModel:
    """Build the model that a manifest promises.

    >>> read_promise({"model": "k-anonymity", "k": 5, "measured": {"k": 7}})
    KAnonymity(k=5)
    """
    settings = {key: value for key, value in promise.items() if key != "measured"}
    try:
        return choose(MODELS, "model", settings)
    except Fault as fault:
        raise InputError(f"the manifest promises what is not known here: {fault}") from None


def _readable(promise: Mapping[str, Any]) -> PrivacyModel | None:
    try:
        return read_promise(promise)
    except InputError:
        return None


def promised_class_size(promises: Iterable[Mapping[str, Any]]) -> int | None:
    """Return the largest class size that a manifest promises, None if it promises none.

    >>> promised_class_size([{"model": "maximum-risk", "risk": 0.2}, {"model": "k-map", "k": 9}])
    5
    """
    sizes = []
    for promise in promises:
        model = _readable(promise)
        # A model that cannot be read may still be a k-anonymity: with k = 1, or of a plug-in.
        size = promise.get("k") if model is None else model.smallest_class
        if isinstance(size, int):
            sizes.append(size)
    return max(sizes, default=None)


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
        column for model in policy.models if model.needs_hierarchy for column in model.columns
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


# Telling the verifier what was promised, as plain data.


def promises_of(
    policy: Policy,
    roles: Mapping[str, Role],
    manifest: Mapping[str, Any],
    recoding: Recoding,
) -> Promises:
    """Say what a table in memory should keep."""
    names = policy.quasi_identifiers
    population = None
    if policy.population is not None and isinstance(recoding, FullDomainRecoding):
        people = for_verifier(policy.population)
        population = count_population(people, names, generalization_of(recoding))
    return Promises(
        quasi_identifiers=names,
        sensitive=[name for name, role in roles.items() if role is Role.SENSITIVE],
        models=manifest["models"],
        missing=manifest["missing"],
        published=manifest["rows"]["published"],
        suppressed=manifest["rows"]["suppressed"],
        suppression=manifest["rows"]["suppression"],
        hierarchies=manifest["hierarchies"],
        population=population,
        at_top=at_top_of(recoding),
    )


def verify_release_folder(folder: Path, policy: Policy, recoding: Recoding) -> Verdict:
    """Verify a written release, with the population where models compare with one."""
    if policy.population is None or not isinstance(recoding, FullDomainRecoding):
        return verify_folder(folder)
    people = for_verifier(policy.population)
    return verify_folder(folder, population=people, generalization=generalization_of(recoding))


def claims_in(plain: Mapping[str, Any]) -> Manifest:
    """Give the manifest of a release in memory as the verifier reads those of files."""
    kind = plain.get("kind")
    files = [] if kind is None else plain["files"]
    return Manifest(
        files=tuple(
            DataFile(
                *(f["name"], "", None, f["rows"], "", f["table"], f.get("column")),
                tuple(f.get("columns", ())),
            )
            for f in files
        ),
        columns=tuple(
            Column(c["name"], c["role"], c.get("level"), c.get("height")) for c in plain["columns"]
        ),
        published=plain["rows"]["published"],
        suppressed=plain["rows"]["suppressed"],
        suppression=plain["rows"]["suppression"],
        missing=plain["missing"],
        models=tuple(plain["models"]),
        hierarchies=plain["hierarchies"],
        kind=kind,
        group=plain.get("group", ""),
        count=plain.get("count", ""),
    )


def at_top_of(recoding: Recoding) -> list[str]:
    """Name the columns that have one single value for all rows."""
    if not isinstance(recoding, FullDomainRecoding):
        return []
    return [column.column for column in recoding.columns if column.level == column.height > 0]


def generalization_of(recoding: FullDomainRecoding) -> dict[str, dict[str | None, object]]:
    """Give per column the label each raw text became."""
    return {
        column.column: {
            None if value is None else text_of(value): column.labels[code]
            for value, code in zip(column.values, column.codes.tolist(), strict=True)
            if code >= 0
        }
        for column in recoding.columns
    }


# Compare what a release promises with what a policy asks.


def differences(manifest: Manifest, policy: Policy) -> list[str]:
    """Say in what a manifest promises less than the policy asks, or something else.

    A verifier that believes nothing a manifest says still takes from it what to check;
    who holds the policy can check that too.
    """
    promised = [model for promise in manifest.models if (model := _readable(promise))]
    unpromised = [
        promise_text(promise_of(model))
        for model in policy.models
        if not any(given.implies(model) for given in promised)
    ]
    roles = {column.name: column.role for column in manifest.columns}
    other = [
        name
        for name, role in roles.items()
        if role != (policy.columns[name].role if name in policy.columns else policy.other)
    ]
    # A decoupled release leaves plain columns out, for they would tie its tables together.
    roles_there = PUBLISHED if manifest.kind is None else PUBLISHED[:2]
    to_publish = [name for role in roles_there for name in policy.with_role(role)]
    lacking = [name for name in to_publish if name not in roles]
    total = manifest.published + manifest.suppressed
    allowed = policy.suppression.most_rows(total)
    found = {
        f"the release does not promise {', '.join(unpromised)}": unpromised,
        f"the policy gives {some(other)} another role": other,
        f"the policy publishes {some(lacking)}, the release does not": lacking,
        f"missing is {manifest.missing} in the release and {policy.missing.value} in the policy": (
            manifest.missing != policy.missing.value
        ),
        f"{manifest.suppressed} of {total} rows were suppressed, the policy allows {allowed}": (
            manifest.suppressed > allowed
        ),
    }
    return [text for text, differs in found.items() if differs]
