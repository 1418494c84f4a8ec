"""The page `docs/studies/histories.md` and its plots, made of the results."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from docs.papers.results import Record, load, text_of, where
from docs.papers.svg import Line, Panel, lines

HERE = Path(__file__).parent
RESULTS = HERE / "results.json"
STUDIES = HERE.parent / "studies"

WAITING = {
    "waiting to join": "wait to join",
    "waiting to leave": "left, and are counted still",
    "waiting to be corrected": "a value is not corrected yet",
    "waiting to move": "are counted in the old group",
}
YEARS = (1, 2, 5, 10)

MONTHLY = ("rules", "ledgers")
"""The parts of the results that have every month."""

COSTS = {"CPU s": "An increment", "ledger MB": "The ledger", "release MB": "A release, all tables"}
KEPT = {"month", "here", "published", "cells", *WAITING, *COSTS}
"""What is kept of a month."""

NAMES = {
    "groups": "groups as a whole",
    "signatures": "m-invariance with counterfeits",
    "epochs": "cells, made again every year",
    "cells": "**cells**",
    "heirs": "cells with heirs",
}


def pack(records: Sequence[Record]) -> list[Record]:
    """Return months as one record per history, which has a list of each number.

    Example:
        >>> months = [{"leaving": "few", "alpha": 0.5, "month": i, "here": i} for i in (1, 2)]
        >>> pack(months)
        [{'leaving': 'few', 'alpha': 0.5, 'month': [1, 2], 'here': [1, 2]}]
        >>> unpack(pack(months)) == months
        True
    """
    found = []
    for leaving, alpha in histories(records):
        months = [e for e in records if (e["leaving"], e["alpha"]) == (leaving, alpha)]
        names = [name for name in months[0] if name in KEPT]
        lists = {name: [each[name] for each in months] for name in names}
        found.append({"leaving": leaving, "alpha": alpha, **lists})
    return found


def unpack(packed: Sequence[Record]) -> list[Record]:
    """Return one record per month."""
    found = []
    for history in packed:
        names = [name for name in history if name in KEPT]
        for numbers in zip(*(history[name] for name in names), strict=True):
            of = {"leaving": history["leaving"], "alpha": history["alpha"]}
            found.append({**of, **dict(zip(names, numbers, strict=True))})
    return found


def load_results() -> Record:
    """Read what was computed last."""
    results = load(RESULTS)
    return {**results, **{part: unpack(results[part]) for part in MONTHLY}}


def text_of_results(results: Record) -> str:
    """Write results as they are kept."""
    return text_of({**results, **{part: pack(results.get(part, [])) for part in MONTHLY}})


def histories(records: Sequence[Record]) -> list[tuple[str, float]]:
    """Return which histories some records are of."""
    return list(dict.fromkeys((each["leaving"], each["alpha"]) for each in records))


def plots(results: Record) -> dict[str, str]:
    """Draw what waits, and what an increment costs."""
    found = {}
    for leaving in dict.fromkeys(each["leaving"] for each in results["rules"]):
        records = where(results["rules"], leaving=leaving)
        panels = [
            Panel(
                f"{leaving} leave, alpha {alpha:g}",
                "year",
                "% of the people of the clinic",
                [
                    Line(text, _points(records, leaving, alpha, what, share=True))
                    for what, text in WAITING.items()
                ],
                marked=_years(records),
            )
            for _, alpha in histories(records)
        ]
        found[f"histories-{leaving}.svg"] = lines(f"Who waits if {leaving} leave", panels)
    cost = [
        Panel(
            title,
            "year",
            "CPU seconds" if what == "CPU s" else "MB",
            [
                Line(
                    f"{leaving} leave, alpha {alpha:g}",
                    _points(results["ledgers"], leaving, alpha, what),
                )
                for leaving, alpha in histories(results["ledgers"])
            ],
            marked=_years(results["ledgers"]),
        )
        for what, title in COSTS.items()
    ]
    return {**found, "histories-cost.svg": lines("What an increment costs", cost)}


def _years(records: Sequence[Record]) -> list[float]:
    last = max(each["month"] for each in records) // 12
    return [float(year) for year in range(1, last + 1)]


def _points(
    records: list[Record], leaving: str, alpha: float, what: str, *, share: bool = False
) -> list[tuple[float, float]]:
    return [
        (each["month"] / 12, 100 * each[what] / each["here"] if share else each[what])
        for each in where(records, leaving=leaving, alpha=alpha)
    ]


def page(results: Record) -> str:
    """Return the page."""
    template = (HERE / "page.template").read_text(encoding="utf-8")
    return template.format(
        rules=_rules(results["rules"]),
        drawn="\n".join(
            f"![Who waits if {leaving} leave, in per cent of all](histories-{leaving}.svg)"
            for leaving in dict.fromkeys(each["leaving"] for each in results["rules"])
        ),
        apart=f"{100 * _apart(results):.1f} %",
        growth=_growth(results),
        ways=_ways(results),
        exposed=_exposed(results),
        clinics=_clinics(results["streams"]),
    )


def _clinics(records: Sequence[Record]) -> str:
    """Return the rows of the table of small clinics."""
    return "\n".join(
        f"| {each['newcomers']} | {each['alpha']:g} | {'hidden' if each['hidden'] else 'told'} "
        f"| {each['published'] / each['came']:.1%} | {each['in their month'] / each['came']:.1%} "
        f"| {each['mean delay']:.1f} | {each['aside'] / each['came']:.1%} "
        f"| {each['counted still'] / each['left']:.0%} "
        f"| {each['rows'] / each['here'] - 1:+.1%} "
        f"| {each['rows staying'] / each['here'] - 1:+.1%} "
        f"| {each['error counted']:.1%} | {each['error estimated']:.1%} |"
        for each in records
    ).replace("%", " %")


def _rules(records: list[Record]) -> str:
    rows = []
    for leaving, alpha in histories(records):
        for year in YEARS:
            for each in where(records, leaving=leaving, alpha=alpha, month=12 * year):
                there = (each["published"] - each["waiting to leave"]) / each["here"]
                waits = [
                    f"{_number(each[w])} ({100 * each[w] / each['here']:.1f} %)" for w in WAITING
                ]
                rows.append(
                    [
                        f"{leaving}, {alpha:g}",
                        year,
                        _number(each["here"]),
                        f"{100 * there:.2f} %",
                        *waits,
                    ]
                )
    return _lines(rows)


def _apart(results: Record) -> float:
    """Return by how much of the people the ledger and its rules in memory differ at most."""
    of = {(e["leaving"], e["alpha"], e["month"]): e for e in results["rules"]}
    pairs = [
        (each, of[key])
        for each in results["ledgers"]
        if (key := (each["leaving"], each["alpha"], each["month"])) in of
    ]
    found: float = max(abs(a[what] - b[what]) / a["here"] for a, b in pairs for what in WAITING)
    return found


def _growth(results: Record) -> str:
    rows = []
    for leaving, alpha in histories(results["ledgers"]):
        records = where(results["ledgers"], leaving=leaving, alpha=alpha)
        last = records[-1]
        month = np.array([each["month"] for each in records])
        row: list[object] = [f"{leaving}, {alpha:g}", last["month"], _number(last["cells"])]
        for what in COSTS:
            later = month >= min(12, month.max() // 2)
            size = np.array([each[what] for each in records])
            power = np.polyfit(np.log(month[later]), np.log(size[later]), 1)[0]
            row.append(f"{last[what]:.1f} (~ months^{power:.1f})")
        rows.append(row)
    return _lines(rows)


def _ways(results: Record) -> str:
    rows = []
    last = max(each["month"] for each in results["rules"])
    cells = [{**each, "way": "cells"} for each in where(results["rules"], month=last)]
    order = {history: i for i, history in enumerate(histories(cells))}
    for each in sorted([*cells, *results["ways"]], key=lambda e: order[e["leaving"], e["alpha"]]):
        way = each["way"]
        gone = each.get("waiting to leave", 0)
        fakes = each.get("counterfeits", 0)
        missing = each["here"] - (each["published"] - gone - fakes)
        rows.append(
            [
                f"{each['leaving']}, {each['alpha']:g}",
                NAMES[way],
                _number(missing),
                _number(gone),
                _number(fakes),
                *(
                    _number(each[what]) if what in each else ""
                    for what in ("waiting to be corrected", "waiting to move")
                ),
            ]
        )
    return _lines(rows)


def _exposed(results: Record) -> str:
    rows = []
    for way, who in (
        ("groups", "left"),
        ("groups", "returned"),
        ("epochs", "left at an epoch"),
    ):
        for each in where(results["ways"], way=way):
            people = each[who]
            above, certain = each[f"{who}, above alpha"], each[f"{who}, certain"]
            rows.append(
                [
                    f"{each['leaving']}, {each['alpha']:g}",
                    NAMES[way],
                    f"{_number(people)} {who}",
                    f"{_number(above)} ({100 * above / max(people, 1):.0f} %)",
                    _number(certain),
                ]
            )
    return _lines(rows)


def _lines(rows: Sequence[Sequence[object]]) -> str:
    return "\n".join("| " + " | ".join(map(str, row)) + " |" for row in rows)


def _number(number: int) -> str:
    return f"{number:,}".replace(",", " ")
