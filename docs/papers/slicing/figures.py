"""The plots, made from the results."""

from docs.papers.results import Record, where
from docs.papers.slicing.demands import OCCUPATION
from docs.papers.slicing.releases import METHODS, OVERLAPPED, SLICED
from docs.papers.svg import Line, Panel, lines


def plots(results: Record) -> dict[str, str]:
    """Draw every plot: file names and SVG."""
    return {
        "slicing-queries.svg": _compared(
            results, "Median error of counting queries", "median", "median error, %", 100
        ),
        "slicing-correlations.svg": _compared(
            results, "How far correlations are off", "off", "mean difference of Cramér's V", 1
        ),
        "slicing-overlap.svg": _overlap(results),
    }


def _compared(results: Record, title: str, what: str, y: str, scale: float) -> str:
    """Draw every method over l, a panel for each number of rows."""
    panels = [
        Panel(f"occupation, {_rows(rows)}", "l", y, _over_l(results, rows, METHODS, what, scale))
        for rows in results["parameters"]["rows"]
    ]
    return lines(title, panels)


def _overlap(results: Record) -> str:
    """Draw what slicing with and without overlap publishes of the correlations."""
    most, shown = max(results["parameters"]["rows"]), (SLICED, *OVERLAPPED.values())
    return lines(
        "Correlations that are published as they are, and how far all are off",
        [
            Panel(title, "l", y, _over_l(results, most, shown, what, scale))
            for title, y, what, scale in (
                ("pairs in one column", "share of all correlation, %", "strength", 100),
                ("all pairs", "mean difference of Cramér's V", "off", 1),
            )
        ],
    )


def _over_l(
    results: Record, rows: int, methods: tuple[str, ...], what: str, scale: float
) -> list[Line]:
    found = where(results["cells"], rows=rows, sensitive=OCCUPATION, refused=None)
    return [
        Line(name, [(one["l"], scale * one[what]) for one in where(found, method=name)])
        for name in methods
    ]


def _rows(rows: int) -> str:
    return f"{rows:,} rows".replace(",", " ")
