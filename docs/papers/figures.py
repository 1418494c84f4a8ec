"""The plots, made from the results."""

from docs.papers.deciding import METHODS
from docs.papers.printed import SUFFERING
from docs.papers.results import Record, values, where
from docs.papers.setting import LOCAL, MODELS
from docs.papers.similarity import LIMITS
from docs.papers.svg import Bar, Line, Panel, bars, lines


def plots(results: Record) -> dict[str, str]:
    """Draw every plot: file names and SVG."""
    return {
        "similarity.svg": _similarity(results),
        "distortion.svg": _distortion(results),
        "methods.svg": _methods(results),
        "time.svg": _time(results),
    }


def shares(results: Record, model: str, limit: float) -> list[float]:
    """Give the share of minimal tables that suffer, one for each draw."""
    found = where(results["similarity"], reading="printed", model=model, limit=limit)
    return [one["suffering"] / one["minimal"] for one in found]


def mean(numbers: list[float]) -> float:
    """Give the arithmetic mean."""
    return sum(numbers) / len(numbers)


def _similarity(results: Record) -> str:
    sets = {"printed": [_bar([a / b]) for a, b in SUFFERING.values()]}
    for limit in LIMITS:
        name = f"ours, {100 * limit:g} % suppressed" if limit else "ours, 0 % suppressed"
        sets[name] = [_bar(shares(results, model, limit)) for model in MODELS]
    return bars(
        "Share of minimal tables that suffer the similarity attack",
        "minimal tables that suffer, %",
        list(MODELS.values()),
        sets,
    )


def _bar(seen: list[float]) -> Bar:
    percent = [100 * share for share in seen]
    return Bar(mean(percent), min(percent), max(percent), f"{mean(percent):.0f} %")


def over_alpha(
    results: Record, model: str, method: str, *, k: int, p: int
) -> list[tuple[float, float]]:
    """Give the distortion at each α of the grid; a model without α is the same everywhere."""
    records = where(results["distortion"], seed=results["seeds"][0], k=k, p=p, method=method)
    alphas = sorted({one["alpha"] for one in records if one["alpha"] is not None})
    if model == "p-sensitive":
        alone = values(records, "distortion", model=model)[0]
        return [(alpha, alone) for alpha in alphas]
    found = {one["alpha"]: one["distortion"] for one in where(records, model=model)}
    return [(alpha, found[alpha]) for alpha in alphas]


def _distortion(results: Record) -> str:
    chosen = [(METHODS[1], 2), ("top-down, rows", 2), ("top-down, rows", 4)]
    panels = [
        Panel(
            f"{method}; k = 3, p = {p}",
            "α",
            "distortion ratio",
            [
                Line(title, over_alpha(results, model, method, k=3, p=p))
                for model, title in MODELS.items()
            ],
        )
        for method, p in chosen
    ]
    return lines("Distortion ratio over α for three models", panels)


def _methods(results: Record) -> str:
    title = "enhanced (p,α)-sensitive; k = 4, p = 2"
    every = [Line(m, over_alpha(results, "enhanced", m, k=4, p=2)) for m in METHODS]
    first = len(METHODS) - len(LOCAL)
    panels = [
        Panel(title, "α", "distortion ratio", every),
        Panel("the local methods alone", "α", "distortion ratio", every[first:], first=first),
    ]
    return lines("Distortion ratio over α for every method", panels)


def _time(results: Record) -> str:
    spent = results["timing"]
    panels = [
        Panel(
            f"{method}; k = 4, p = 4, α = 2",
            "quasi-identifiers",
            "CPU seconds",
            [
                Line(title, _over_columns(spent, "seconds", model, method))
                for model, title in _all()
            ],
        )
        for method in ("incognito", "top-down, rows")
    ]
    checked = [
        Line(title, _over_columns(spent, "checks", model, "incognito")) for model, title in _all()
    ]
    checked.append(Line("all nodes", _over_columns(spent, "nodes", "enhanced", "incognito")))
    panels.append(
        Panel("nodes checked by incognito", "quasi-identifiers", "nodes", checked, log=True)
    )
    return lines("Running time over the number of quasi-identifiers", panels)


def _all() -> list[tuple[str, str]]:
    return list(MODELS.items())


def _over_columns(
    spent: list[Record], what: str, model: str, method: str
) -> list[tuple[float, float]]:
    return [(one["columns"], one[what]) for one in where(spent, model=model, method=method)]
