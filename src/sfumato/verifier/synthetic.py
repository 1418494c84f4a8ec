"""Checks of rows that a mechanism is said to have drawn, as far as files can show it.

Files show the domain, and the arithmetic of the budget: what each list of noisy counts spent
follows from the scale of its noise. That such noise was drawn, that the domain was stated and not
read off the data, and that nothing else was published of them, no file shows: it is believed, and
the answer says so.
"""

import math
from collections.abc import Mapping, Sequence
from datetime import date
from decimal import Decimal, InvalidOperation
from typing import Any

from sfumato.errors import some
from sfumato.text import date_of, fold_spelling, number_of, text_of
from sfumato.verifier.counting import Countable, count, readable
from sfumato.verifier.promises import Check, Promises, is_number, status

_ROUNDING = 1e-6
"""Sums of floats, and conversions that were rounded, differ by less."""

_UNITS = ("row", "person", "household")
_NOISE = ("gaussian", "laplace")
_MOST = 10**9


def check_synthetic(source: Countable, promises: Promises) -> list[Check]:
    """Check what is said of a mechanism that drew the rows; nothing if none is said to have."""
    claimed = promises.synthetic
    if claimed is None:
        return []
    names = (*promises.quasi_identifiers, *promises.sensitive)
    wrong = find_damage(claimed)
    if wrong:
        return [Check("synthetic", "broken", detail=wrong)]
    return [check_budget(claimed), _check_domain(source, claimed, names)]


def find_damage(claimed: Mapping[str, Any]) -> str:
    """Return what cannot be read of it; empty if nothing."""
    for key in ("epsilon", "delta", "selection", "contributions"):
        value = claimed.get(key)
        if not is_number(value) or not 0 <= value <= _MOST:  # NaN is not either
            return f"{key!r} must be a number of at least 0, got {repr(value)[:40]}"
    rho, rows = claimed.get("rho"), claimed["contributions"]
    if rho is not None and (not is_number(rho) or not 0 < rho <= _MOST):
        return f"'rho' must be a number above 0, got {repr(rho)[:40]}"
    measured, domain = claimed.get("measurements"), claimed.get("domain")
    derived = claimed.get("derived") or []
    gaussian = claimed.get("noise") == "gaussian"
    with_delta = rho is not None and 0 < claimed["delta"] < 1
    without = rho is None and claimed["delta"] == 0
    found = {
        "'unit' is none that is known here": claimed.get("unit") not in _UNITS,
        "'noise' is none that is known here": claimed.get("noise") not in _NOISE,
        "Gaussian noise is said with rho and delta, and Laplace's without": (
            not (with_delta if gaussian else without)
        ),
        "'contributions' must be a number of rows": rows < 1 or rows != int(rows),
        "it names no measurement that has columns, a scale and what it spent": not (
            isinstance(measured, list) and measured and all(map(_is_measurement, measured))
        ),
        "it says no domain": not (
            isinstance(domain, dict) and all(isinstance(each, dict) for each in domain.values())
        ),
        "'derived' must be a list of columns": not (
            isinstance(derived, list) and all(isinstance(each, str) for each in derived)
        ),
    }
    return next((text for text, wrong in found.items() if wrong), "")


def _is_measurement(each: object) -> bool:
    if not isinstance(each, dict) or not isinstance(each.get("columns"), list):
        return False
    numbers = [each.get("scale"), each.get("spent")]
    good = all(is_number(value) and 0 < value <= _MOST for value in numbers)
    return good and all(isinstance(name, str) for name in each["columns"])


def check_budget(claimed: Mapping[str, Any], *, chosen: bool = True) -> Check:
    """Add up again what was spent, by the scale of each noise, and say what it means at δ.

    Args:
        claimed: What is said of it, without damage.
        chosen: Whether which columns are counted together was chosen by looking at the table.
    """
    rows, gaussian = claimed["contributions"], claimed["noise"] == "gaussian"
    parts = [claimed["selection"]]
    wrong = []
    for each in claimed["measurements"]:
        spent = rows**2 / (2 * each["scale"] ** 2) if gaussian else rows / each["scale"]
        parts.append(spent)
        if not math.isclose(spent, each["spent"], rel_tol=_ROUNDING):
            wrong.append(f"noise of scale {each['scale']:.6g} spends {spent:.6g}")
    together = any(len(each["columns"]) > 1 for each in claimed["measurements"])
    if chosen and together and not parts[0]:
        wrong.append("which columns to count together was chosen, and nothing is said to be spent")
    whole = math.fsum(parts)
    budget = claimed["rho"] if gaussian else claimed["epsilon"]
    name = "rho" if gaussian else "epsilon"
    if whole > budget * (1 + _ROUNDING):
        wrong.append(f"measurements and selection spend {whole:.6g} of {name} {budget:.6g}")
    epsilon = epsilon_at(budget, claimed["delta"]) if gaussian else whole
    if epsilon > claimed["epsilon"] * (1 + _ROUNDING):
        wrong.append(f"that is epsilon {epsilon:.6g}, not {claimed['epsilon']:.6g}")
    detail = "; ".join(wrong[:5]) or (
        "that noise of these scales was drawn, and the domain not read off the data, rests on the "
        "mechanism"
    )
    promised = {"epsilon": claimed["epsilon"], "delta": claimed["delta"]}
    found = {name: whole, "epsilon": epsilon}
    return Check("privacy budget", status(holds=not wrong), promised, found, detail)


def epsilon_at(rho: float, delta: float) -> float:
    """Return the ε that ρ of zero-concentrated differential privacy means at δ.

    The least over all orders α of αρ + (ln(1/δ) + (α − 1) ln(1 − 1/α) − ln α) / (α − 1), as in
    Canonne, Kamath and Steinke (2020), https://doi.org/10.48550/arXiv.2004.00010. Any order gives
    a bound, so that a search that misses the best one errs on the safe side.

    >>> round(epsilon_at(0.5, 1e-6), 3)
    5.222
    """

    def at(log_less: float) -> float:
        less = math.exp(log_less)
        order = 1 + less
        inside = -math.log(delta) + less * math.log(less / order) - math.log(order)
        return order * rho + inside / less

    low, high = math.log(1e-6), math.log(1e9)
    golden = (math.sqrt(5) - 1) / 2
    for _ in range(200):
        first, second = high - golden * (high - low), low + golden * (high - low)
        low, high = (low, second) if at(first) <= at(second) else (first, high)
    return max(0.0, at((low + high) / 2))


def _check_domain(source: Countable, claimed: Mapping[str, Any], names: Sequence[str]) -> Check:
    """Check that every published value is in a cell of the stated domain."""
    domain, derived = claimed["domain"], claimed.get("derived") or []
    there = list(source.names)
    unknown = [name for name in there if name not in domain and name not in derived]
    unknown += [name for name in names if name not in there]
    more = [name for name in domain if name not in there]
    measured = {name for each in claimed["measurements"] for name in each["columns"]}
    unmeasured = sorted(measured - {*domain})
    alone = {each["columns"][0] for each in claimed["measurements"] if len(each["columns"]) == 1}
    left_out = sorted({*domain} - alone)
    wrong = [
        f"no domain is said of {some(unknown)}" if unknown else "",
        f"a domain is said of {some(more)}, which is not there" if more else "",
        f"{some(unmeasured)} was measured and has no domain" if unmeasured else "",
        f"no noisy counts are listed of {some(left_out)}, whose values say something all the same"
        if left_out
        else "",
    ]
    for name in there:
        if name not in domain:
            continue
        with readable("the table"):
            counts = count(source, [name])
        values = [cells[0] for cells in counts.combinations]
        outside = _outside(values, domain[name])
        if outside is None:
            wrong.append(f"the domain of {name!r} cannot be read")
        elif outside:
            wrong.append(f"{name!r} holds {some(outside[:5])}, which its domain does not have")
    detail = "; ".join(filter(None, wrong))
    return Check("domain", status(holds=not detail), sorted(domain), detail=detail)


def _outside(values: Sequence[object], domain: Mapping[str, Any]) -> list[str] | None:
    """Return the values that a domain does not have, as texts; None if it cannot be read."""
    missing = domain.get("missing") is not False
    lacking = [] if missing else ["a missing value"] * any(value is None for value in values)
    given = [value for value in values if value is not None]
    if isinstance(domain.get("values"), list):
        known = {fold_spelling(text_of(value)) for value in domain["values"]}
        found = [text_of(v) for v in given if fold_spelling(text_of(v)) not in known]
        return [*lacking, *found]
    ends = domain.get("cells_from"), domain.get("to")
    if not isinstance(ends[0], list) or not ends[0] or not isinstance(ends[1], str):
        return None
    days = domain.get("line") == "days"
    low, high = (_point(text, days=days) for text in (ends[0][0], ends[1]))
    if low is None or high is None:
        return None
    points = {text_of(value): _point(value, days=days) for value in given}
    return [*lacking, *(t for t, at in points.items() if at is None or not low <= at <= high)]


def _point(value: object, *, days: bool) -> Decimal | None:
    if days:
        day = date_of(value)
        return Decimal(day.toordinal()) if isinstance(day, date) else None
    if number_of(value) is None:
        return None
    try:
        return Decimal(text_of(value).strip())
    except InvalidOperation:
        return None
