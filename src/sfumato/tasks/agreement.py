"""Compare what a release promises with what a policy asks."""

from collections.abc import Mapping
from typing import Any

from sfumato.errors import some
from sfumato.policy import Policy
from sfumato.release import promise_text
from sfumato.tasks.manifest import PUBLISHED, promise_of
from sfumato.verifier.manifest import Manifest

_STRICTER = {"k": 1, "l": 1, "p": 1, "t": -1, "beta": -1, "delta": -1, "c": -1}
"""Parameters of which a larger (1) or a smaller one (-1) promises more, whatever the model."""


def differences(manifest: Manifest, policy: Policy) -> list[str]:
    """Say in what a manifest promises less than the policy asks, or something else.

    A verifier that believes nothing a manifest says still takes from it what to check;
    who holds the policy can check that too.
    """
    promised = [
        {key: value for key, value in model.items() if key != "measured"}
        for model in manifest.models
    ]
    asked = map(promise_of, policy.models)
    unpromised = [
        promise_text(promise)
        for promise in asked
        if not any(_keeps(given, promise) for given in promised)
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
    allowed = policy.suppression.allowed(total)
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


def _keeps(given: Mapping[str, Any], asked: Mapping[str, Any]) -> bool:
    """Tell whether a promise is the one that was asked for, or a stricter one.

    >>> _keeps({"model": "k-anonymity", "k": 20}, {"model": "k-anonymity", "k": 5})
    True
    >>> _keeps({"model": "t-closeness", "t": 0.3}, {"model": "t-closeness", "t": 0.2})
    False
    """
    if given.keys() != asked.keys():
        return False
    return all(
        given[name] == asked[name]
        or (name in _STRICTER and (given[name] - asked[name]) * _STRICTER[name] > 0)
        for name in asked
    )
