"""The enhanced model combined with t-closeness, future work of the thesis, measured."""

from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import Any

import numpy as np

from docs.generator.markdown import table
from docs.papers.data import CATEGORIES, ILLNESS, people
from docs.papers.results import HERE, Record, told, values
from docs.papers.setting import Setting, policy
from docs.papers.similarity import ATTACK, PARAMETERS
from sfumato.classes import EquivalenceClasses
from sfumato.models import CategoryShare, PrivacyModel, TCloseness
from sfumato.partition import TopDown
from sfumato.recode.deciding import (
    counted_columns,
    decide_for_columns,
    decide_locally,
)
from sfumato.tables import open_table

RESULTS = HERE / "closeness.json"
TEMPLATE = HERE / "closeness.template"

SEEDS = range(3)
LIMIT = 0.01
"""The share of the rows that may be suppressed; local methods suppress none."""

TS = (0.5, 0.4, 0.3, 0.2, 0.1)
SHARE = 0.5
MOST = 0.75
"""The share of a category from which people are at risk."""

METHODS = ("full-domain", "regional", "top-down")


def added() -> dict[str, tuple[PrivacyModel, ...]]:
    """Give what is asked for besides the enhanced model, by its name in the results."""
    by_category = {
        f"t = {t:g}, by categories": (
            TCloseness(ILLNESS, t=t, distance="category", categories=CATEGORIES),
        )
        for t in TS
    }
    return {
        "nothing": (),
        **by_category,
        "t = 0.3, all values equally far": (TCloseness(ILLNESS, t=0.3),),
        f"category-share = {SHARE:g}": (
            CategoryShare(ILLNESS, share=SHARE, categories=CATEGORIES),
        ),
    }


def run(seeds: Sequence[int] = SEEDS) -> Record:
    """Make a release with each addition and method for each draw, and attack it."""
    asked = [(seed, name, method) for seed in seeds for name in added() for method in METHODS]
    # A forked process could inherit a lock that some thread holds.
    with ProcessPoolExecutor(mp_context=get_context("spawn")) as pool:
        found = list(told("release", pool.map(release, *zip(*asked, strict=True)), len(asked)))
    return {"seeds": list(seeds), "parameters": {**PARAMETERS, "limit": LIMIT}, "releases": found}


def release(seed: int, name: str, method: str) -> dict[str, Any]:
    """Decide on one release, and say what it lost and what it gives away."""
    plain = policy(Setting("enhanced", **PARAMETERS), limit=LIMIT)
    asked = plain.replace(models=(*plain.models, *added()[name]))
    counts = open_table(people(seed)).count(counted_columns(asked))
    if method == "top-down":
        decision = decide_locally(asked, TopDown(best="loss"), counts, rng=np.random.default_rng(0))
    else:
        asked = asked.with_method(method)
        decision = decide_for_columns(asked, counts, None, lambda checks: None)  # noqa: ARG005
    return {
        "seed": seed,
        "added": name,
        "method": method,
        "distortion": round(decision.losses["distortion-ratio"], 9),
        "suppressed": decision.suppressed,
        "classes": len(decision.sizes),
        **attacked(decision.left),
    }


def attacked(left: EquivalenceClasses) -> dict[str, Any]:
    """Count who is in a class of one category, or nearly so."""
    share = CategoryShare(ILLNESS, share=MOST, categories=CATEGORIES)
    # At risk is who is in a class with this share or more of a category.
    below = CategoryShare(ILLNESS, share=MOST - 1e-6, categories=CATEGORIES)
    return {
        "alike": int(ATTACK.run(left).rows),
        "at_risk": int(left.sizes[~below.passes(left)].sum()),
        "largest": round(share.measure(left)["share"], 6),
    }


def page(results: Record) -> str:
    """Fill the words of the template with what came out."""
    words = TEMPLATE.read_text(encoding="utf-8")
    found = results["releases"]
    rows = [
        [
            _first(name, method),
            method,
            _spread([one["distortion"] for one in _of(found, name, method)], ".4f"),
            _spread([one["classes"] for one in _of(found, name, method)], ".0f"),
            _spread([one["suppressed"] for one in _of(found, name, method)], ".0f"),
            _spread([one["alike"] for one in _of(found, name, method)], ".0f"),
            _spread([one["at_risk"] for one in _of(found, name, method)], ".0f"),
            _spread([100 * one["largest"] for one in _of(found, name, method)], ".0f"),
        ]
        for name in added()
        for method in METHODS
    ]
    heads = ["besides the enhanced model", "method", "distortion", "classes", "suppressed"]
    heads += ["of one category", "at risk", "largest share, %"]
    return words.format(
        releases=table(heads, rows),
        draws=str(len(results["seeds"])),
        limit=f"{100 * LIMIT:g} %",
        most=f"{100 * MOST:g} %",
        share=f"{SHARE:g}",
        **_numbers(found),
    )


def _numbers(found: list[Record]) -> dict[str, str]:
    """Give the numbers that stand in sentences."""

    def mean(what: str, name: str, method: str) -> float:
        return float(np.mean(values(found, what, added=name, method=method)))

    close, loose = f"t = {TS[-1]:g}, by categories", f"t = {TS[0]:g}, by categories"
    bounded = f"category-share = {SHARE:g}"
    return {
        "risk_alone": f"{mean('at_risk', 'nothing', 'top-down'):.0f}",
        "risk_bounded": f"{mean('at_risk', bounded, 'top-down'):.0f}",
        "loss_alone": f"{mean('distortion', 'nothing', 'top-down'):.4f}",
        "loss_bounded": f"{mean('distortion', bounded, 'top-down'):.4f}",
        "loss_close": f"{mean('distortion', close, 'top-down'):.4f}",
        "risk_loose": f"{mean('at_risk', loose, 'top-down'):.0f}",
        "risk_close": f"{mean('at_risk', close, 'top-down'):.0f}",
        "alike_most": str(sum(one["alike"] for one in found)),
        **_saved(found),
        "safe_t": _safe_t(found),
    }


def _saved(found: list[Record]) -> dict[str, str]:
    """Give by how much regional recoding loses less than full-domain recoding."""
    pairs = [
        (one["distortion"], other["distortion"])
        for one in values_of(found, "regional")
        for other in values_of(found, "full-domain")
        if (one["seed"], one["added"]) == (other["seed"], other["added"])
    ]
    saved = [100 * (1 - regional / whole) for regional, whole in pairs]
    return {"regional_least": f"{min(saved):.0f} %", "regional_most": f"{max(saved):.0f} %"}


def values_of(found: list[Record], method: str) -> list[Record]:
    """Give the releases by one method."""
    return [one for one in found if one["method"] == method]


def _safe_t(found: list[Record]) -> str:
    """Give the largest t at which no one was at risk with any method."""
    good = [t for t in TS if not any(values(found, "at_risk", added=f"t = {t:g}, by categories"))]
    return f"{max(good):g}" if good else "none of these"


def _of(found: list[Record], name: str, method: str) -> list[Record]:
    return [one for one in found if one["added"] == name and one["method"] == method]


def _first(name: str, method: str) -> str:
    return name if method == METHODS[0] else ""


def _spread(numbers: Sequence[float], how: str) -> str:
    low, high = format(min(numbers), how), format(max(numbers), how)
    return low if low == high else f"{low} to {high}"


def plots(_: Record) -> dict[str, str]:
    """Give no plots: the table says it all."""
    return {}
