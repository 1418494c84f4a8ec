"""The plots, made from the results."""

from fractions import Fraction

from docs.papers.break_merge.large import KNOWN, WAYS, WIDTHS
from docs.papers.break_merge.people import MOST, SENSITIVE
from docs.papers.break_merge.printed import BREAKING, LEARNING
from docs.papers.results import Record, where
from docs.papers.svg import Bar, Line, Panel, bars, lines

WORK = {"State-gov": "11", "Federal-gov": "12", "Private": "13"}
"""Who is added in Table 14, and the figure that shows it."""

FOURTEENTH = "Private"
"""Whose people are added for Figure 14 too: those of the one axis that is legible."""

_THOUSAND = 1000


def plots(results: Record) -> dict[str, str]:
    """Draw every plot: file names and SVG."""
    return {
        **{f"break-merge-{work.lower()}.svg": _likelihoods(results, work) for work in WORK},
        "break-merge-local-gov.svg": _fourteenth(results),
        "break-merge-growth.svg": _growth(results),
        "break-merge-hiding.svg": _hiding(results),
        "break-merge-attacker.svg": _attacker(results),
        "break-merge-learning.svg": _learning(results),
        "break-merge-breaking.svg": _breaking(results),
    }


def _likelihoods(results: Record, work: str) -> str:
    rows = where(results["table_14"], work=work)
    return bars(
        f"Figure {WORK[work]}: likelihood before and after people were added; {work}, "
        f"{rows[0]['marital_status']}",
        "likelihood, %",
        [f"({one['new'][0]}, {one['new'][1]})" for one in rows],
        {
            "before": [_bar(one["was"]) for one in rows],
            "after": [_bar(one["became"]) for one in rows],
        },
    )


def _fourteenth(results: Record) -> str:
    rows = where(results["figure_14"], like=FOURTEENTH)
    return bars(
        "Figure 14, as far as it can be told: Local-gov, Separated, with the people of Figure 13",
        "likelihood, %",
        [f"({one['new'][0]}, {one['new'][1]})" for one in rows],
        {
            "before": [_bar(one["was"]) for one in rows],
            "after": [_bar(one["became"]) for one in rows],
        },
    )


def _bar(share: str) -> Bar:
    percent = 100 * float(Fraction(share))
    return Bar(percent, percent, percent, f"{percent:.0f} %")


def _growth(results: Record) -> str:
    names = list(dict.fromkeys(one["combination"] for one in results["growth"]))
    grown = [
        Line(
            name,
            [
                (one["added"], float(Fraction(one["likelihood"])))
                for one in where(results["growth"], combination=name)
                if one["added"] % 25 == 0
            ],
        )
        for name in names
    ]
    room = [
        Line(
            name,
            [
                (one["alpha"], one["permitted"])
                for one in where(results["limits"], combination=name)
            ],
        )
        for name in names
    ]
    return lines(
        "Figure 15: likelihood as people are added, and how many may be",
        [
            Panel("likelihood of a combination", "people added, all with it", "likelihood", grown),
            Panel("people who may still come", "limit α", "people", room),
        ],
    )


def _hiding(results: Record) -> str:
    titles = {1: "hiding, one known", 3: "hiding, up to three known"}
    lost = [
        Line(
            titles[size],
            [(one["confidence"], one["loss"]) for one in where(results["hiding"], known=size)],
        )
        for size in KNOWN
    ]
    both = [(one["confidence"], one["loss"]) for one in results["hiding_both"]]
    lost.append(Line("and what is ruled out", both))
    nothing = Line("breaking", [(x, 0.0) for x, _ in lost[0].points])
    return lines(
        "Figure 7, over the threshold: information loss of hiding against breaking",
        [Panel("mean of the sensitive columns", "threshold", "loss", [*lost, nothing])],
    )


def _attacker(results: Record) -> str:
    columns = [
        Line(name, [(one["probability"], one[name]) for one in results["attacker"]])
        for name in SENSITIVE["adult"]
    ]
    nothing = Line("breaking", [(x, 0.0) for x, _ in columns[0].points])
    return lines(
        "Figure 7, over the attacker's probability: information loss of hiding against breaking",
        [Panel("threshold 0.5", "attacker's probability", "loss", [*columns, nothing])],
    )


def _learning(results: Record) -> str:
    panels = []
    for width in WIDTHS:
        found = [
            Line(way, _over_rows(where(results["learning"], sensitive=width, learner=way)))
            for way in WAYS
        ]
        found.append(Line("printed", [(MOST / _THOUSAND, LEARNING[width] * _THOUSAND)]))
        title = f"{width} sensitive column" + ("s" if width > 1 else "")
        panels.append(Panel(title, "thousand rows", "CPU milliseconds", found, log=True))
    return lines("Figures 5 and 6: time to learn a network", panels)


def _breaking(results: Record) -> str:
    panels = [
        Panel(
            f"the table {name}",
            "thousand rows",
            "CPU milliseconds",
            [
                Line(
                    "broken, written, verified", _over_rows(where(results["breaking"], table=name))
                ),
                Line("printed: less than", [(MOST / _THOUSAND, BREAKING * _THOUSAND)]),
            ],
            log=True,
        )
        for name in SENSITIVE
    ]
    return lines("Figures 8 to 10: time to break a table", panels)


def _over_rows(spent: list[Record]) -> list[tuple[float, float]]:
    return [(one["rows"] / _THOUSAND, one["seconds"] * _THOUSAND) for one in spent]
