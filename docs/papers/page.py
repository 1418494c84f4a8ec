"""The page: tables from the results, and what they say."""

from collections import Counter
from collections.abc import Sequence

from docs.generator.markdown import table
from docs.papers.adult import LEVELS, TREES, WHERE_FROM
from docs.papers.claims import falls, order
from docs.papers.data import CATEGORIES, COLUMNS
from docs.papers.deciding import METHODS
from docs.papers.distortion import ALPHAS
from docs.papers.figures import mean, shares
from docs.papers.printed import EXPOSED_ROWS, HEIGHTS, SUFFERING
from docs.papers.results import HERE, Record, values, where
from docs.papers.setting import LOCAL, MODELS, READINGS
from docs.papers.similarity import LIMITS
from docs.papers.sliced import DRAWS, QUERIES, RELEASES
from docs.papers.timing import SEARCHES, WIDTHS
from sfumato.hierarchy import HierarchyBuilder, Intervals

STEPS = {name: LEVELS[name] - 1 for name in COLUMNS}
"""How often a value of each column can be generalised in the hierarchies that are used."""

TEMPLATE = HERE / "page.template"


def page(results: Record) -> str:
    """Fill the words of the template with what came out."""
    words = TEMPLATE.read_text(encoding="utf-8")
    return words.format(**_tables(results), **_numbers(results), **_facts(results))


def _tables(results: Record) -> dict[str, str]:
    return {
        "heights": _heights(),
        "attacked": _attacked_table(results),
        "readings": _readings(results),
        "standard": _standard_table(results),
        "claims": _claims_table(results),
        "sliced": _sliced_table(results),
        "times": _times_table(results),
    }


def _numbers(results: Record) -> dict[str, str]:
    """Give the numbers that stand in sentences."""
    hit, of = SUFFERING["enhanced"]
    files = where(results["expected"], reading="printed")[0]
    alone = where(results["similarity"], reading="printed", model="p-sensitive", limit=0.0)
    seen = sum(values(alone, "suffering"))
    whole = values(results["distortion"], "distortion", method=METHODS[0])
    slopes = [falls(results, method) for method in METHODS]
    return {
        "printed_share": f"{hit}/{of} = {100 * hit / of:.0f} %",
        "minimal": str(files["minimal"]),
        "most_classes": str(files["most_classes"]),
        "expected": f"{files['suffering_tables']:.2f}",
        "seen": f"{seen} did" if seen else "none did",
        "bound": f"{results['parameters']['rows'] / 4**3:.0f}",
        "exposed_rows": str(EXPOSED_ROWS),
        "whole": _spread(_standard(results, "enhanced", METHODS[0], "distortion"), ".4f"),
        "local": _spread(_standard(results, "enhanced", "top-down, rows", "distortion"), ".4f"),
        "flat": _tally(whole),
        "runs": str(len(whole)),
        "steps": str(sum(STEPS.values())),
        "rising": str(sum(one.steps - one.falls for one in slopes)),
        "alpha_steps": str(sum(one.steps for one in slopes)),
        "incognito_ratio": f"{_ratio(results, 'incognito'):.2f}",
        "top_down_ratio": f"{_ratio(results, 'top-down, rows'):.2f}",
    }


def _facts(results: Record) -> dict[str, str]:
    """Say what was computed, from what and with what."""
    return {
        "draws": str(len(results["seeds"])),
        "first_seed": str(results["seeds"][0]),
        "last_seed": str(results["seeds"][-1]),
        "rows": str(results["parameters"]["rows"]),
        "repeats": str(results["parameters"]["repeats"]),
        "least_alpha": f"{ALPHAS[0]:g}",
        "most_alpha": f"{ALPHAS[-1]:g}",
        "where_from": WHERE_FROM,
        "sliced_draws": str(DRAWS),
        "queries": f"{QUERIES:,}".replace(",", " "),
        "categories": " · ".join(" and ".join(one) for one in CATEGORIES),
        "machine": ", ".join(f"{key} {value}" for key, value in results["machine"].items()),
    }


def _heights() -> str:
    rows = [
        [name, f"`{column}`", str(height), str(LEVELS[column]), _groups(TREES[column])]
        for column, (name, height) in HEIGHTS.items()
    ]
    return table(
        ["thesis", "column", "printed height", "levels here", "between values and `*`"], rows
    )


def _groups(tree: HierarchyBuilder) -> str:
    """Say what stands between the values and the top of a tree, the finest first."""
    if isinstance(tree, Intervals):
        return f"spans of {' and '.join(map(str, tree.widths or ()))} years"
    levels = tree.build("", ()).labels[1:-1]
    return "; ".join(", ".join(map(str, labels)) for labels in levels) or "nothing"


def _readings(results: Record) -> str:
    heads = ["", *MODELS.values(), "tables that suffer"]
    return table(heads, [_reading_row(results, reading) for reading in READINGS])


def _ratio(results: Record, method: str) -> float:
    """Compare the enhanced model's seconds with p-sensitive's, with all quasi-identifiers."""
    spent = where(results["timing"], columns=max(WIDTHS), method=method)
    strict, weak = (values(spent, "seconds", model=m)[0] for m in ("enhanced", "p-sensitive"))
    return float(strict / weak)


def _attacked_table(results: Record) -> str:
    heads = ["model", "rows suppressed", "minimal tables", "of these suffer", "share"]
    rows = []
    for model, title in MODELS.items():
        hit, of = SUFFERING[model]
        rows.append([title, "printed (not said)", str(of), str(hit), f"{100 * hit / of:.0f} %", ""])
        for limit in LIMITS:
            found = where(results["similarity"], reading="printed", model=model, limit=limit)
            share = [100 * one for one in shares(results, model, limit)]
            worst = max(found, key=lambda one: one["worst_rows"])
            rows.append(
                [
                    "",
                    f"at most {100 * limit:g} %" if limit else "none",
                    _spread(values(found, "minimal")),
                    _spread(values(found, "suffering")),
                    f"{mean(share):.1f} %",
                    f"{worst['worst_rows']} ({worst['worst_classes']})",
                ]
            )
    return table([*heads, "rows exposed at worst (classes)"], rows)


def _reading_row(results: Record, reading: str) -> list[str]:
    found = where(results["similarity"], reading=reading, limit=0.0)
    tables = [_spread(values(found, "minimal", model=model)) for model in MODELS]
    return [READINGS[reading], *tables, str(sum(values(found, "suffering")))]


def _standard(results: Record, model: str, method: str, what: str) -> list[float]:
    found = where(results["distortion"], model=model, method=method, k=4, p=2)
    return [one[what] for one in found if one["alpha"] in (None, 2.0)]


def _standard_table(results: Record) -> str:
    heads = ["method"]
    for title in MODELS.values():
        heads += [title, "rows exposed"]
    rows = []
    for method in METHODS:
        row = [method]
        for model in MODELS:
            row.append(_spread(_standard(results, model, method, "distortion"), ".4f"))
            row.append(_spread(_standard(results, model, method, "exposed_rows")))
        rows.append(row)
    return table(heads, rows)


def _claims_table(results: Record) -> str:
    heads = [
        "method",
        "p-sensitive ≤ (p,α) ≤ enhanced",
        "printed order",
        "falls as α grows",
        "largest fall",
    ]
    rows = []
    for method in METHODS:
        ranks, fall = order(results, method), falls(results, method)
        rows.append(
            [
                method,
                f"{ranks.stricter_loses_no_less} of {ranks.settings}",
                f"{ranks.as_printed} of {ranks.settings}",
                f"{fall.falls} of {fall.steps} steps",
                f"{fall.most:.4f}",
            ]
        )
    return table(heads, rows)


def _sliced_table(results: Record) -> str:
    rows = []
    for method in RELEASES:
        found = where(results["sliced"], method=method)
        rows.append(
            [
                method,
                _spread(values(found, "groups")),
                _spread(values(found, "smallest")),
                _spread([100 * one for one in values(found, "median")], ".2f"),
                _spread(values(found, "off"), ".4f"),
            ]
        )
    heads = ["method", "classes or buckets", "smallest", "median error, %", "correlation error"]
    return table(heads, rows)


def _times_table(results: Record) -> str:
    """Write what each method takes with all quasi-identifiers."""
    rows = []
    for method in (*SEARCHES, *LOCAL):
        for model, title in MODELS.items():
            [one] = where(results["timing"], columns=max(WIDTHS), method=method, model=model)
            made = (
                f"{one['checks']} of {one['nodes']} nodes"
                if method in SEARCHES
                else f"{one['classes']} classes in {one['rounds']} rounds"
            )
            rows.append([method, title, f"{one['seconds']:.3f}", made])
    return table(["method", "model", "CPU seconds", "checked or made"], rows)


def _tally(numbers: Sequence[float]) -> str:
    """Say how often each of a few numbers comes, the most frequent first.

    >>> _tally([0.5, 0.25, 0.5])
    '0.5000 in 2 and 0.2500 in 1'
    """
    often = Counter(numbers).most_common()
    return " and ".join(f"{number:.4f} in {times}" for number, times in often)


def _spread(numbers: Sequence[float], form: str = "") -> str:
    """Write the mean and the range of some numbers, or the one number they all are.

    Example:
        >>> _spread([1, 2]), _spread([3, 3]), _spread([0.5, 0.25], ".2f")
        ('1.5 (1 to 2)', '3', '0.38 (0.25 to 0.50)')
    """
    low, high = f"{min(numbers):{form}}", f"{max(numbers):{form}}"
    if low == high:
        return low
    return f"{mean(list(numbers)):{form or '.1f'}} ({low} to {high})"
