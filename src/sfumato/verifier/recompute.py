"""Recompute everything a table promises from its rows alone."""

from collections.abc import Callable, Mapping
from typing import Any

from sfumato.errors import SfumatoError, some
from sfumato.text import STAR
from sfumato.verifier import closeness, diversity, sizes
from sfumato.verifier.cells import text_key
from sfumato.verifier.counting import Counted, count
from sfumato.verifier.database import Relation
from sfumato.verifier.groups import Groups
from sfumato.verifier.judging import Finding, Number, same
from sfumato.verifier.promises import Promise, Promises, is_number
from sfumato.verifier.reading import Source, readable
from sfumato.verifier.verdict import Check, status

MODEL_CHECKS: dict[str, Callable[[Promise, Groups], Finding]] = {
    "k-anonymity": sizes.k_anonymity,
    "k-map": sizes.k_map,
    "delta-presence": sizes.delta_presence,
    "maximum-risk": sizes.maximum_risk,
    "average-risk": sizes.average_risk,
    "sample-uniqueness": sizes.sample_uniqueness,
    "distinct-l-diversity": diversity.distinct_l_diversity,
    "probabilistic-l-diversity": diversity.probabilistic_l_diversity,
    "entropy-l-diversity": diversity.entropy_l_diversity,
    "recursive-cl-diversity": diversity.recursive_cl_diversity,
    "alpha-k-anonymity": diversity.alpha_k_anonymity,
    "p-sensitive-k-anonymity": diversity.p_sensitive,
    "p-alpha-sensitive-k-anonymity": diversity.p_alpha_sensitive,
    "enhanced-p-alpha-sensitive-k-anonymity": diversity.enhanced_p_alpha_sensitive,
    "t-closeness": closeness.t_closeness,
    "basic-beta-likeness": closeness.basic_beta_likeness,
    "enhanced-beta-likeness": closeness.enhanced_beta_likeness,
    "delta-disclosure": closeness.delta_disclosure,
}
"""How each model is recomputed. A model that is not here cannot be vouched for."""


def recompute(source: Source | Relation, promises: Promises) -> list[Check]:
    """Make every check that needs the rows."""
    named = [model.get("column") for model in promises.models]
    sensitive = [name for name in dict.fromkeys(filter(_is_text, named)) if name in source.names]
    columns = [*promises.quasi_identifiers, *sensitive]
    stars = promises.quasi_identifiers if promises.suppression == "star" else ()
    with readable("the table"):
        counted = count(source, columns, stars=stars)
    left_out = min(counted.starred, promises.suppressed)
    kept = _without_starred(counted, left_out, promises, len(sensitive))
    table = Groups.of(
        kept,
        promises.quasi_identifiers,
        sensitive,
        any_=promises.missing == "matches-any",
        population=promises.population,
        hierarchies=promises.hierarchies,
    )
    return [*_row_checks(counted, kept, promises), *judge(table, promises)]


def judge(table: Groups, promises: Promises) -> list[Check]:
    """Make every check that needs the classes: levels, missing cells, models."""
    checks = _top_checks(table, promises)
    if promises.missing == "suppress":
        checks.append(_nothing_missing(table))
    checks += _absent_classes(table, promises)
    checks += [check_model(model, table) for model in promises.models]
    if not promises.models:
        checks.append(Check("models", "unchecked", detail="no model is promised"))
    return checks


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _without_starred(
    counted: Counted, left_out: int, promises: Promises, n_sensitive: int
) -> Counted:
    """Take the suppressed rows out; they all look the same."""
    if not left_out:
        return counted
    starred = (*(STAR for _ in promises.quasi_identifiers), *[None] * n_sensitive)
    left = dict(counted.combinations)
    # A stranger's manifest may look at one column twice; then no combination is like that.
    still = left.pop(starred, 0) - left_out
    if still > 0:
        left[starred] = still
    return Counted(left, counted.rows - left_out, counted.starred)


def _row_checks(counted: Counted, kept: Counted, promises: Promises) -> list[Check]:
    checks = []
    if promises.published is not None:
        removed = promises.suppression == "remove" and promises.suppressed
        checks.append(
            Check(
                "rows",
                status(holds=kept.rows == promises.published),
                promises.published,
                kept.rows,
                f"{promises.suppressed} more were removed, says its maker" if removed else "",
            )
        )
    if promises.suppression == "star":
        enough = counted.starred >= promises.suppressed
        checks.append(
            Check(
                "starred rows",
                status(holds=enough),
                promises.suppressed,
                min(counted.starred, promises.suppressed),
                "" if enough else "a starred row has nothing but * in the quasi-identifiers",
            )
        )
    return checks


def _top_checks(table: Groups, promises: Promises) -> list[Check]:
    if not promises.at_top:
        return []
    split = []
    for name in promises.at_top:
        position = list(table.quasi_identifiers).index(name)
        if len({group.key[position] for group in table.groups}) > 1:
            split.append(name)
    detail = f"more than one value in {some(split)}" if split else ""
    return [Check("top levels", status(holds=not split), list(promises.at_top), detail=detail)]


def _nothing_missing(table: Groups) -> Check:
    lacking = [group for group in table.groups if None in group.key]
    rows = sum(group.rows for group in lacking)
    detail = "rows with a missing quasi-identifier should have been suppressed" if rows else ""
    return Check("missing values", status(holds=not rows), 0, rows, detail)


def _absent_classes(table: Groups, promises: Promises) -> list[Check]:
    """Where a least presence is promised, a class of the population that is absent betrays it.

    Suppressed rows make classes absent too, which tells nothing of who was in them; so
    this is looked at only where it is said that no row was suppressed.
    """
    least = [m for m in promises.models if m.get("model") == "delta-presence" and m.get("minimum")]
    said = promises.published is not None and not promises.suppressed
    if not least or promises.population is None or not said:
        return []
    seen = {text_key(group.key) for group in table.groups}
    absent = [key for key, people in promises.population.items() if people and key not in seen]
    detail = f"for example {some(absent, most=1)}" if absent else ""
    return [Check("absent classes", status(holds=not absent), 0, len(absent), detail)]


def check_model(plain: Mapping[str, Any], table: Groups) -> Check:
    """Recompute one model and compare it with its promise and its maker's figures."""
    promise = Promise(plain)
    recomputed = MODEL_CHECKS.get(promise.model)
    promised = dict(promise.parameters)

    def unchecked(why: str) -> Check:
        return Check(promise.model, "unchecked", promised, detail=why)

    if recomputed is None:
        return unchecked("this verifier does not know the model")
    try:
        finding = recomputed(promise, table)
    except SfumatoError as error:
        return unchecked(str(error))
    unread = promise.unread()
    if unread:
        return unchecked(f"this verifier does not know its parameter {some(unread)}")
    found = {name: _plain(figure) for name, figure in finding.found.items()}
    wrong = _wrong_measured(promise.measured, found)
    detail = "; ".join(filter(None, [finding.detail, wrong]))
    worst = None
    if finding.worst:
        worst = dict(zip(table.quasi_identifiers, finding.worst.key, strict=True))
    good = status(holds=finding.holds and not wrong)
    return Check(promise.model, good, promised, found, detail, worst)


def _plain(figure: Number) -> int | float:
    return figure if isinstance(figure, int) else float(figure)


def _wrong_measured(measured: object, found: Mapping[str, int | float]) -> str:
    """Say where the maker's own figures are not what was found."""
    if measured is None:
        return ""
    if not isinstance(measured, Mapping):
        return "the measured figures cannot be read"
    strange = [name for name in measured if name not in found]
    if strange:
        return f"measured names {some(strange)}, which was not recomputed"
    wrong = [name for name in measured if not _agrees(measured[name], found[name])]
    return f"measured says {some(f'{n}={measured[n]}' for n in wrong)}" if wrong else ""


def _agrees(claimed: object, found: int | float) -> bool:
    # JSON has no infinity; makers write it as text or leave the figure empty.
    value = float("inf") if claimed in (None, "inf", "Infinity") else claimed
    try:
        return is_number(value) and same(value, found)
    except OverflowError:
        return False
