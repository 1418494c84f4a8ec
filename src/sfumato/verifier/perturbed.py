"""Checks of columns that are said to be perturbed, as far as files can show it.

Of most perturbations nothing can be seen: noise is seen by who has the true values. Of those there
is no check, because one that nothing can break would read as if something held.
"""

from collections.abc import Mapping
from typing import Any

from sfumato.errors import some
from sfumato.text import STAR, number_of, text_of
from sfumato.verifier.counting import Countable, count, readable
from sfumato.verifier.promises import Check, Promises, is_number, status

KINDS = {
    "rounding": "multiples of {step}",
    "top-coding": "nothing above {above}",
    "bottom-coding": "nothing below {below}",
    "noise": "within its limits",
    "correlated-noise": "within its limits",
    "rank-swapping": "",
    "record-swapping": "",
    "pram": "values that its matrix allows",
}
"""What can be seen of each kind, if it was the last."""

_ROUNDING = 1e-6


def check_perturbed(source: Countable, promises: Promises) -> list[Check]:
    """Check columns that are said to be perturbed, where files can show something of it."""
    checks = []
    for name, steps in promises.perturbed.items():
        kinds = [str(step.get("kind"))[:40] for step in steps]
        unknown = [kind for kind in kinds if kind not in KINDS]
        told = ", then ".join(kinds)
        if unknown:
            detail = f"{name!r} is said to be perturbed by {unknown[0]!r}, which is not known here"
            checks.append(Check("perturbed", "unchecked", told, detail=detail))
        # What is generalised afterwards shows labels.
        elif name not in promises.quasi_identifiers and shows(steps[-1]):
            checks.append(_check_values(source, name, steps[-1], told))
    return checks


def _check_values(source: Countable, name: str, step: Mapping[str, Any], told: str) -> Check:
    with readable("the table"):
        counts = count(source, [name])
    values = [cells[0] for cells in counts.combinations]
    given = [value for value in values if value is not None and value != STAR]
    wrong = [value for value in given if not _is_allowed(value, step)]
    seen = KINDS[step["kind"]].format(**step)
    detail = f"{name!r} shows {seen}; the rest is believed as the manifest says"
    if wrong:
        detail = f"{name!r} holds {some(map(text_of, wrong))}, which {told} does not leave"
    return Check("perturbed", status(holds=not wrong), told, detail=detail)


def shows(step: Mapping[str, Any]) -> bool:
    """Return whether files can show something of a perturbation.

    >>> shows({"kind": "noise", "sd": 5}), shows({"kind": "noise", "sd": 5, "at_least": 0})
    (False, True)
    """
    limits = {"top-coding": ["above"], "bottom-coding": ["below"], "rounding": ["step"]}
    for kind in ("noise", "correlated-noise"):
        limits[kind] = ["at_least", "at_most"]
    given = [step.get(key) for key in limits.get(str(step.get("kind")), ())]
    if step.get("kind") == "pram":
        return isinstance(step.get("matrix"), Mapping)
    return any(is_number(each) for each in given)


def _is_allowed(value: object, step: Mapping[str, Any]) -> bool:
    """Return whether a value can be published after a perturbation, as far as it says.

    >>> _is_allowed(30, {"kind": "rounding", "step": 10}), _is_allowed(31, {"kind": "pram"})
    (True, True)
    >>> _is_allowed("31", {"kind": "rounding", "step": 10})
    False
    """
    if step["kind"] == "pram":
        return _is_reachable(text_of(value), step.get("matrix"))
    number = number_of(value)
    if number is None:
        return False
    if step["kind"] == "rounding":
        times = float(number / step["step"]) if step["step"] else 0.5
        return abs(times - round(times)) <= _ROUNDING
    low, high = step.get("at_least"), step.get("at_most")
    if step["kind"] == "top-coding":
        low, high = None, step["above"]
    if step["kind"] == "bottom-coding":
        low, high = step["below"], None
    if is_number(step.get("becomes")) and number == step["becomes"]:
        return True
    above = not is_number(low) or number >= low - _ROUNDING * max(abs(low), 1)
    below = not is_number(high) or number <= high + _ROUNDING * max(abs(high), 1)
    return bool(above and below)


def _is_reachable(text: str, matrix: object) -> bool:
    """Return whether some value becomes this one, or it stays as it is.

    >>> matrix = {"a": {"b": 1.0}}
    >>> [_is_reachable(text, matrix) for text in "abc"]
    [False, True, True]
    """
    if not isinstance(matrix, Mapping) or text not in matrix:
        return True
    lines = [line for line in matrix.values() if isinstance(line, Mapping)]
    return any(is_number(line.get(text)) and line[text] > 0 for line in lines)
