"""What evidence claims: the promises of the manifest, and what the verifier said of each.

Everything in it is public already: it stands in the manifest, or was computed from the
published rows. There is no time, no name and no path of a machine in it.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from sfumato.evidence.canonical import LARGEST, canonical
from sfumato.verifier import Check, Verdict

_TAKEN = ("sfumato", "kind", "increment", "rows", "models", "reproducible")


def claims_of(manifest: Mapping[str, Any], checks: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Take from a manifest what it promises, and add what was checked.

    >>> claims_of({"sfumato": "1.0", "rows": {"published": 4}, "notes": []}, [])
    {'sfumato': '1.0', 'rows': {'published': 4}, 'checks': []}
    """
    taken = {key: _exact(manifest[key]) for key in _TAKEN if key in manifest}
    return {**taken, "checks": [_exact(check) for check in checks]}


def checks_of(verdict: Verdict) -> list[dict[str, Any]]:
    """Write down what the verifier found, check by check.

    >>> checks_of(Verdict((Check("k-anonymity", "holds", {"k": 2}, {"k": 5}),)))
    [{'name': 'k-anonymity', 'status': 'holds', 'promised': {'k': 2}, 'found': {'k': 5}}]
    """
    return [_written(check) for check in verdict.checks]


def disagreement(
    claims: Mapping[str, Any], manifest: Mapping[str, Any], hashes: Mapping[str, str]
) -> str:
    """Say where claims and manifest differ, or what is claimed and did not hold; "" if nowhere."""
    checks = claims["checks"]
    if canonical(claims) != canonical(claims_of(manifest, checks)):
        return "the manifest claims something else"
    for file in _objects(manifest.get("files")):
        name = file.get("name")
        if not isinstance(name, str) or hashes.get(name) != file.get("sha256"):
            return f"the manifest has another hash of {name!r}"
    failed = [check["name"] for check in checks if check["status"] != "holds"]
    if failed:
        return f"{failed[0]!r} did not hold when it was published"
    held = {check["name"] for check in checks}
    lacking = [m for m in _objects(manifest.get("models")) if m.get("model") not in held]
    if lacking:
        return f"{lacking[0].get('model')!r} was promised and not checked"
    return ""


def _written(check: Check) -> dict[str, Any]:
    plain = check.to_dict()
    wanted = ("name", "status", "promised", "found")
    return {key: plain[key] for key in wanted if plain[key] is not None}


def _objects(value: object) -> list[dict[str, Any]]:
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def _exact(value: Any) -> Any:  # noqa: ANN401 - any value of JSON
    """Write whole numbers as text that JSON readers would round."""
    if isinstance(value, Mapping):
        return {key: _exact(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_exact(item) for item in value]
    large = isinstance(value, int) and abs(value) > LARGEST
    return str(value) if large else value
