"""What the verifier answers: one line per promise, and whether all of them hold."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

from sfumato.errors import UnknownNameError
from sfumato.fragment import fragment
from sfumato.text import is_missing, text_of

Status = Literal["holds", "broken", "unchecked"]


def status(*, holds: bool) -> Status:
    """Name the outcome of a check that was made."""
    return "holds" if holds else "broken"


@dataclass(frozen=True)
class Check:
    """One promise, what was promised and what was found.

    `unchecked` is not a pass: nothing may be claimed that was not recomputed.
    """

    name: str
    """What was checked: a model, or something like `rows` or `sha256`."""

    status: Status
    """`holds`, `broken` or `unchecked`."""

    promised: object = None
    found: object = None
    """What the rows themselves say."""

    detail: str = ""
    """What is wrong, in words."""

    worst: Mapping[str, object] | None = None
    """The quasi-identifiers of the class that is worst off, when a model is broken."""

    def to_dict(self) -> dict[str, Any]:
        """Give it as plain values that JSON can hold."""
        plain = {
            "name": self.name,
            "status": self.status,
            "promised": _plain(self.promised),
            "found": _plain(self.found),
            "detail": self.detail,
        }
        return plain if self.worst is None else {**plain, "worst": _plain(self.worst)}


@dataclass(frozen=True)
class Verdict:
    """Every check of a release; it holds when each of them does.

    Example:
        >>> verdict = Verdict((Check("rows", "holds", 4, 4), Check("k-anonymity", "broken",
        ...     {"k": 3}, {"k": 2}, "1 class of 2 is too small", {"age": "2*"})))
        >>> verdict.holds
        False
        >>> print(verdict)
        Broken: 1 of 2 checks does not hold.
          holds      rows         promised 4    found 4
          broken     k-anonymity  promised k=3  found k=2
                     1 class of 2 is too small; worst: age=2*
    """

    checks: tuple[Check, ...]
    """All checks, in the order they were made; `verdict[name]` gives one of them."""

    @property
    def holds(self) -> bool:
        """Whether every check was made and held."""
        return bool(self.checks) and all(check.status == "holds" for check in self.checks)

    def __getitem__(self, name: str) -> Check:
        """Find the first check of a name."""
        for check in self.checks:
            if check.name == name:
                return check
        raise UnknownNameError("check", name, [check.name for check in self.checks])

    def to_dict(self) -> dict[str, Any]:
        """Give it as plain values that JSON can hold."""
        return {"holds": self.holds, "checks": [check.to_dict() for check in self.checks]}

    def _repr_html_(self) -> str:
        # What is wrong comes first: long lists are cut.
        checks = sorted(self.checks, key=lambda check: check.status == "holds")
        rows = [[c.status, c.name, _shown("", c.promised), _shown("", c.found)] for c in checks]
        details = [f"{check.name}: {check.detail}" for check in checks if check.detail]
        headline, *_ = str(self).splitlines()
        return fragment(headline, ["result", "check", "promised", "found"], rows, notes=details)

    def __str__(self) -> str:
        failing = sum(check.status != "holds" for check in self.checks)
        n = len(self.checks)
        lines = [
            f"Holds: all {n} checks."
            if self.holds
            else f"Broken: {failing} of {n} checks {'does' if failing == 1 else 'do'} not hold."
        ]
        names = max((len(check.name) for check in self.checks), default=0)
        promises = [_shown("promised", check.promised) for check in self.checks]
        width = max(map(len, promises), default=0)
        for check, promise in zip(self.checks, promises, strict=True):
            cells = [f"{check.status:<9}", f"{check.name:<{names}}", f"{promise:<{width}}"]
            lines.append(("  " + "  ".join([*cells, _shown("found", check.found)])).rstrip())
            worst = "" if check.worst is None else f"worst: {in_words(check.worst)}"
            note = "; ".join(filter(None, [check.detail, worst]))
            if note:
                lines.append(" " * 13 + note)
        return "\n".join(lines)


def _shown(label: str, value: object) -> str:
    return "" if value is None else f"{label} {in_words(value)}".lstrip()


def in_words(value: object) -> str:
    """Write what was promised or found for people, in one line that is not too long.

    >>> in_words({"column": "ill", "t": 0.25})
    'column=ill, t=0.25'
    """
    if isinstance(value, Mapping):
        return ", ".join(
            f"{key}={in_words(item)}" if item is not None else f"{key} missing"
            for key, item in value.items()
        )
    if isinstance(value, float | Fraction):
        return f"{float(value):.6g}"
    if isinstance(value, list | tuple):
        shown = ", ".join(map(in_words, value))
        return f"[{shown[:40]}…]" if len(shown) > 40 else f"[{shown}]"
    text = text_of(value)
    return f"{text[:12]}…" if len(text) > 60 else text


def _plain(value: object) -> object:
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, Fraction):
        return float(value)
    if isinstance(value, float) and math.isinf(value):
        # JSON has no infinity.
        return "inf" if value > 0 else "-inf"
    if value is None or isinstance(value, bool | int | float | str):
        return None if is_missing(value) else value
    return text_of(value)
