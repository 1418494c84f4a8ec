"""The page: tables from the results, and what they say."""

from collections.abc import Callable, Sequence

from docs.generator.markdown import table
from docs.papers.results import HERE, Record, where
from docs.papers.slicing import dimensions, membership
from docs.papers.slicing.claims import CLAIMS, OVERLAPPING, said
from docs.papers.slicing.demands import OCCUPATION, SALARY, Demand
from docs.papers.slicing.membership import AIMED, BOTH, RELAXED
from docs.papers.slicing.releases import BROKEN, BUCKETS, LAX, METHODS, OVERLAPPED, SLICED

TEMPLATE = HERE / "slicing" / "page.template"


def page(results: Record) -> str:
    """Fill the words of the template with what came out."""
    words = TEMPLATE.read_text(encoding="utf-8")
    return words.format(**_tables(results), **_sentences(results), **_facts(results))


def _tables(results: Record) -> dict[str, str]:
    _, all_rows = results["parameters"]["rows"]
    return {
        **{
            f"{name}_{what}": _compared(where(results["cells"], rows=all_rows), column, what)
            for name, column in (("occupation", OCCUPATION), ("salary", SALARY))
            for what in ("median", "off")
        },
        "published": _published(where(results["cells"], rows=all_rows)),
        "columns": _columns(where(results["cells"], rows=all_rows, sensitive=OCCUPATION)),
        "refused": _refused(where(results["cells"], rows=all_rows)),
        "with_sensitive": _compared(
            where(results["cells"], rows=all_rows), OCCUPATION, "off_with_sensitive"
        ),
        "membership": _membership(results["membership"]),
        "dimensions": _dimensions(results["dimensions"]),
    }


def _membership(cells: list[Record]) -> str:
    """Write who can be ruled out by each release, and what its answers are worth."""
    rows = []
    for name in dict.fromkeys(cell["method"] for cell in cells):
        mine = where(cells, method=name)
        groups = [f"{_thousands(cell['groups'])} · {cell['matched']:.3g}" for cell in mine]
        figures = [
            f"**{_percent(cell['ruled_out'])}** · {_percent(cell['median'])} · {cell['off']:.3f}"
            for cell in mine
        ]
        rows.append([name, *(part for pair in zip(groups, figures, strict=True) for part in pair)])
    heads = [
        head
        for number in dict.fromkeys(cell["rows"] for cell in cells)
        for head in (f"{_thousands(number)} rows: groups · matched by a person", "ruled out")
    ]
    return table(["method", *heads], rows)


def _dimensions(cells: list[Record]) -> str:
    """Write how far answers are off as more columns may be known."""
    rows = []
    for columns in dict.fromkeys(cell["columns"] for cell in cells):
        mine = where(cells, columns=columns)
        figures = [f"{_percent(cell['median'])} · {cell['off']:.3f}" for cell in mine]
        rows.append([str(columns), *figures])
    return table(["known columns", *dict.fromkeys(cell["method"] for cell in cells)], rows)


def _sentences(results: Record) -> dict[str, str]:
    """Say of every claim how often it holds."""
    cells = results["cells"]
    return {
        **{name: said(list(claim.duels(cells))) for name, claim in CLAIMS.items()},
        "exceptions": _exceptions(cells),
        "highest_pairs": said(list(CLAIMS[f"pairs_from_{max(OVERLAPPED):g}"].duels(cells))),
        "lesser_overlaps": _lesser_overlaps(cells),
        "anatomy_ahead": _anatomy_ahead(cells),
        "queries_apart": _queries_apart(cells),
        "times": _times(cells),
        **_ruled_out(results["membership"]),
        **_growing(results["dimensions"]),
        "broken_same": _broken_same(cells),
    }


def _ruled_out(cells: list[Record]) -> dict[str, str]:
    """Say how many made-up people each way rules out, fewer rows and more."""

    def shares(method: str) -> str:
        found = [f"{100 * cell['ruled_out']:.0f} %" for cell in where(cells, method=method)]
        return " and ".join(found)

    ways = {
        "by_slicing": SLICED,
        "by_overlap": OVERLAPPING,
        "by_anatomy": BUCKETS,
        "by_relaxed": RELAXED,
        "by_aim": AIMED,
        "by_both": BOTH,
    }
    numbers = " and ".join(_thousands(rows) for rows in membership.ROWS)
    return {
        **{name: shares(method) for name, method in ways.items()},
        "matched": " and ".join(f"{c['matched']:.2g}" for c in where(cells, method=RELAXED)),
        "membership_rows": numbers,
        "fakes": _thousands(membership.FAKES),
        "membership_queries": str(membership.QUERIES),
        "membership_l": str(membership.L),
    }


def _growing(cells: list[Record]) -> dict[str, str]:
    """Say by how much the error grows from the fewest columns shown to the most."""
    found = {
        name: [cell["median"] for cell in where(cells, method=name)]
        for name in (dimensions.LOCALLY, SLICED)
    }
    return {
        "wide_columns": str(dimensions.COLUMNS[-1]),
        "wide_rows": _thousands(dimensions.ROWS),
        "wide_l": str(dimensions.L),
        "wide_changed": f"{100 * dimensions.CHANGED:g} %",
        "wide_generalised": _percent(found[dimensions.LOCALLY][-1]),
        "wide_sliced": _percent(found[SLICED][-1]),
    }


def _exceptions(cells: list[Record]) -> str:
    """Name every cell in which a claim does not hold."""
    against: dict[str, list[str]] = {}
    for claim in CLAIMS.values():
        for each in claim.duels(cells):
            if not each.good:
                against.setdefault(claim.words, []).append(each.cell)
    rows = [[words, "; ".join(found)] for words, found in against.items()]
    return table(["not so", "where"], rows)


def _lesser_overlaps(cells: list[Record]) -> str:
    """Say how often less overlap shows more than none."""
    rows = [
        [
            name,
            *(said(list(CLAIMS[f"{what}_from_{at:g}"].duels(cells))) for what in ("pairs", "off")),
        ]
        for at, name in OVERLAPPED.items()
        if name != OVERLAPPING
    ]
    return table(["", "more pairs than slicing in", "correlations less off in"], rows)


def _anatomy_ahead(cells: list[Record]) -> str:
    """Name the cells in which Anatomy answers queries better than any slicing."""
    behind = [
        {each.cell for each in CLAIMS[name].duels(cells) if not each.good}
        for name in ("queries_anatomy", "overlap_queries_anatomy")
    ]
    return "; ".join(sorted(behind[0] & behind[1])) or "none"


def _queries_apart(cells: list[Record]) -> str:
    """Give the most that overlap adds to the median error, and the most it takes away."""
    apart = [each.ours - each.theirs for each in CLAIMS["queries_slicing"].duels(cells)]
    worse, better = max(*apart, 0.0), max(*(-each for each in apart), 0.0)
    return f"at most {100 * worse:.2f} percentage points more and {100 * better:.2f} less"


def _times(cells: list[Record]) -> str:
    """Give how many times as far off generalisation is, at the least and at the most."""
    ratios = [
        duel.theirs / duel.ours for duel in CLAIMS["overlap_queries"].duels(cells) if duel.ours
    ]
    return f"{min(ratios):.1f} to {max(ratios):.0f}"


def _broken_same(cells: list[Record]) -> str:
    """Tell how often Break-Merge of a generalised table answers just as that table."""
    broken, whole = (where(cells, method=name, refused=None) for name in (BROKEN, LAX))
    alike = [
        all(one[what] == other[what] for what in ("median", "off"))
        for one, other in zip(broken, whole, strict=True)
    ]
    return f"{sum(alike)} of {len(alike)}"


def _facts(results: Record) -> dict[str, str]:
    """Say what was computed, from what and with what."""
    made = results["parameters"]
    few, all_rows = made["rows"]
    return {
        "few": _thousands(few),
        "all_rows": _thousands(all_rows),
        "queries": _thousands(made["queries"]),
        "suppression": f"{100 * made['suppression']:g} %",
        "overlaps": ", ".join(f"{one:g}" for one in made["overlaps"]),
        "weak": f"{min(made['overlaps']):g}",
        "machine": ", ".join(f"{key} {value}" for key, value in results["machine"].items()),
    }


def _demands(cells: list[Record]) -> list[Demand]:
    found = [Demand(one["sensitive"], one["form"], one["l"], one["c"]) for one in cells]
    return list(dict.fromkeys(found))


def _of(cells: list[Record], demand: Demand, method: str) -> Record | None:
    return next(iter(where(cells, **demand.record, method=method)), None)


def _compared(cells: list[Record], sensitive: str, what: str) -> str:
    """Write every method side by side; the best of a line is bold."""
    shown: Callable[[float], str] = _percent if what == "median" else "{:.3f}".format
    methods = [name for name in METHODS if where(cells, sensitive=sensitive, method=name)]
    rows = []
    for demand in _demands(where(cells, sensitive=sensitive)):
        found = [_of(cells, demand, name) for name in methods]
        possible = [one[what] for one in found if one and one["refused"] is None]
        best = min(possible, default=None)
        rows.append([demand.words, *(_cell(one, what, best, shown) for one in found)])
    return table(["asked for", *methods], rows)


def _cell(one: Record | None, what: str, best: float | None, shown: Callable[[float], str]) -> str:
    if one is None:
        return "no such form"
    if one["refused"] is not None:
        return "impossible"
    text = shown(one[what])
    return f"**{text}**" if one[what] == best else text


def _published(cells: list[Record]) -> str:
    """Write what slicing publishes together, without and with overlap."""
    methods = (SLICED, *OVERLAPPED.values())
    rows = []
    for demand in _demands(cells):
        found = [_of(cells, demand, name) for name in methods]
        cells_of = [
            f"{one['pairs']} · {_percent(one['strength'])} · {one['off']:.4f}"
            for one in found
            if one and one["refused"] is None
        ]
        if cells_of:
            rows.append([demand.sensitive, demand.words, *cells_of])
    return table(["sensitive", "asked for", *methods], rows)


def _columns(cells: list[Record]) -> str:
    rows = []
    for demand in _demands(where(cells, refused=None)):
        one, other = (_of(cells, demand, name) for name in (SLICED, OVERLAPPING))
        if one and other:
            groups = _thousands(one["groups"])
            rows.append(
                [
                    f"{demand.l:g}",
                    groups,
                    _side_by_side(one["columns"]),
                    _side_by_side(other["columns"]),
                ]
            )
    return table(["l", "buckets", SLICED, OVERLAPPING], rows)


def _side_by_side(columns: Sequence[Sequence[str]]) -> str:
    return " · ".join(" + ".join(column) for column in columns)


def _refused(cells: list[Record]) -> str:
    """Give the reasons for everything that is refused; methods with the same one share a line."""
    reasons: dict[tuple[str, str, str], list[str]] = {}
    for demand in _demands(cells):
        for one in where(cells, **demand.record):
            if one["refused"] is not None:
                key = demand.sensitive, demand.words, one["refused"]
                reasons.setdefault(key, []).append(one["method"])
    rows = [
        [sensitive, words, ", ".join(methods), why]
        for (sensitive, words, why), methods in reasons.items()
    ]
    return table(["sensitive", "asked for", "method", "what it says"], rows)


def _percent(share: float) -> str:
    """Write a share in per cent.

    >>> _percent(0.123), _percent(0.0912)
    ('12.3 %', '9.12 %')
    """
    return f"{100 * share:.2f} %" if share < 0.1 else f"{100 * share:.1f} %"


def _thousands(number: int) -> str:
    return f"{number:,}".replace(",", " ")
