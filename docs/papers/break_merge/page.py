"""The page: tables from the results, and what they say."""

from collections.abc import Iterable, Sequence
from fractions import Fraction

from docs.generator.markdown import table
from docs.papers.break_merge.census import AS_PRINTED, CLOSE, SETTINGS
from docs.papers.break_merge.increments import READINGS
from docs.papers.break_merge.large import HALF, KNOWN, WAYS, WIDTHS
from docs.papers.break_merge.people import MOST, SENSITIVE
from docs.papers.break_merge.printed import (
    ADDED,
    ALPHAS,
    BREAKING,
    CONDITIONALS,
    LEARNING,
    PERMITTED,
    PRIVATE_BEFORE,
    Conditional,
)
from docs.papers.results import HERE, Record, values, where

TEMPLATE = HERE / "break_merge" / "page.template"

[SEVENTH] = [one for one in CONDITIONALS if one.name == "VII (A)"]

_ROUNDED = 0.008
"""Ratios are printed with two or three digits, some of them cut off."""


def page(results: Record) -> str:
    """Fill the words of the template with what came out."""
    words = TEMPLATE.read_text(encoding="utf-8")
    return words.format(**_tables(results), **_small(results), **_large(results), **_facts(results))


def _tables(results: Record) -> dict[str, str]:
    return {
        "networks": _networks(results),
        "conditional_VII": _conditional(results, SEVENTH),
        "decoded": _decoded(results),
        "verdicts": _verdicts(results),
        "guesses": _guesses(results),
        "changes": _changes(results["changes"], results["guesses"][0]["size"] * 2),
        "table_14": _table_14(results),
        "limits": _limits(results),
        "admissions": _admissions(results),
        "learning": _learning(results),
        "breaking": _breaking(results),
        "hiding": _hiding(results),
        "attacker": _attacker(results),
        "figure_14": _figure_14(results),
        "adult_changes": _changes(results["adult_changes"], results["parameters"]["rows"]),
    }


def _small(results: Record) -> dict[str, str]:
    """Give the numbers of the ten-row table that stand in sentences."""
    entries = results["entries"]
    others = [one for one in entries if not one["table"].startswith("VII ")]
    shares = sum(abs(one["printed"] - one["share"]) < CLOSE for one in others)
    seventh = where(entries, table="VII (A)")
    decoded = sum(_hit(one) for one in results["decoded"])
    own = [agrees(one) for one in results["table_14"]]
    later = [two_rows_later(results["table_14"], i) for i in range(len(own))]
    wrong = [i for i, good in enumerate(own) if not good]
    reached = where(results["reachable"], alpha=0.9)
    [private] = [one for one in where(results["guesses"], group=2) if one["printed"] is not None]
    return {
        "other_entries": f"{shares} of {len(others)}",
        "seventh_share": str(sum(abs(one["printed"] - one["share"]) < CLOSE for one in seventh)),
        "seventh_prior": str(sum(abs(one["printed"] - one["prior"]) < CLOSE for one in seventh)),
        "seventh_decoded": f"{decoded} of {len(results['decoded'])}",
        "private_before": f"{private['before']}, {_percent(private['before'])}",
        "private_printed": f"{PRIVATE_BEFORE} %",
        "private_after": _percent(private["after"]),
        "likelihoods": str(sum(_rounds(one) for one in results["table_14"])),
        "table_14_rows": str(len(own)),
        "ratios": str(sum(own)),
        "first_wrong": str(wrong[0] + 1),
        "last_wrong": str(wrong[-1] + 1),
        "shifted": str(sum(later[i] for i in wrong)),
        "wrong": str(len(wrong)),
        "most_at_nine": str(max(values(reached, "most"))),
        "printed_at_six": str(PERMITTED[0.6]),
        "printed_at_nine": str(PERMITTED[0.9]),
        "added": str(len(ADDED)),
        "last_label": str(results["labels"]["counter"]),
    }


def _large(results: Record) -> dict[str, str]:
    """Give the numbers of the large tables that stand in sentences."""
    learned = {
        width: max(values(results["learning"], "seconds", rows=MOST, sensitive=width))
        for width in WIDTHS
    }
    broken = values(results["breaking"], "seconds", rows=MOST)
    adult = values(results["breaking"], "seconds", rows=MOST, table="adult")[0]
    group, *_ = results["adult_changes"]
    losses = values(results["hiding"], "loss", known=1)
    cyclic = [one for one in results["learning"] if not one["acyclic"]]
    return {
        "learned_1": f"{learned[1]:.3f}",
        "learned_3": f"{learned[3]:.3f}",
        "printed_1": f"{LEARNING[1]:g}",
        "printed_3": f"{LEARNING[3]:g}",
        "broken_adult": f"{adult:.2f}",
        "broken_most": f"{max(broken):.2f}",
        "printed_breaking": f"{BREAKING:g}",
        "cyclic": str(len(cyclic)),
        "learned_runs": str(len(values(results["learning"], "rows", learner="weka-ics"))),
        "mean_before": f"{group['mean_before']:.1%}".replace("%", " %"),
        "mean_after": f"{group['mean_after']:.1%}".replace("%", " %"),
        "raised": _thousands(group["raised"]),
        "loss_low": f"{max(losses):.2f}",
        "loss_half": f"{where(results['hiding'], known=1, confidence=0.5)[0]['loss']:.2f}",
        "loss_high": f"{min(losses):.2f}",
        "both_low": f"{min(values(results['hiding_both'], 'loss')):.2f}",
        "away_most": str(max(values(results["hiding_both"], "away"))),
        "both_high": f"{max(values(results['hiding_both'], 'loss')):.2f}",
        **_jump(results["attacker"]),
    }


def _facts(results: Record) -> dict[str, str]:
    """Say what was computed, from what and with what."""
    made = results["parameters"]
    return {
        "rows": _thousands(made["rows"]),
        "group_size": _thousands(made["group"]),
        "group_count": str(made["groups"]),
        "repeats": str(made["repeats"]),
        "machine": ", ".join(f"{key} {value}" for key, value in results["machine"].items()),
    }


def agrees(row: Record) -> bool:
    """Tell whether a printed ratio is that of the printed percentages."""
    return bool(abs(row["printed_ratio"] - float(Fraction(row["ratio_of_rounded"]))) < _ROUNDED)


def two_rows_later(rows: Sequence[Record], at: int) -> bool:
    """Tell whether a printed ratio is the one that belongs two rows further down."""
    if at + 2 >= len(rows):
        return False
    there = float(Fraction(rows[at + 2]["ratio_of_rounded"]))
    return bool(abs(rows[at]["printed_ratio"] - there) < _ROUNDED)


def _rounds(row: Record) -> bool:
    return all(
        round(100 * Fraction(row[what])) == row[f"printed_{what}"] for what in ("was", "became")
    )


def _hit(one: Record) -> bool:
    return bool(abs(one["printed"] - float(Fraction(one["decoded"]))) < CLOSE)


def _networks(results: Record) -> str:
    rows = [
        [one["network"], _name(one["column"]), _names(one["printed"])]
        + [_learned(one, way) for way in SETTINGS]
        for one in results["networks"]
    ]
    heads = [f"`{way}`" if way != AS_PRINTED else "`weka-ics`, set as printed" for way in SETTINGS]
    return table(["network", "column", "printed parents", *heads], rows)


def _learned(one: Record, way: str) -> str:
    told = one["printed"] is not None and {*one["printed"]} != {*one[way]}
    return _names(one[way]) + (" ✗" if told else "")


def _name(column: str) -> str:
    return f"`{column}`"


def _names(columns: Iterable[str] | None) -> str:
    if columns is None:
        return "not said"
    return ", ".join(map(_name, columns)) or "none"


def _conditional(results: Record, one: Conditional) -> str:
    """Write a printed table: in each cell what is printed, the share, and with the prior."""
    found = where(results["entries"], table=one.name)
    rows = []
    for given in one.rows:
        cells = where(found, given=list(given))
        rows.append(
            [
                *map(_value, _shortened(given)),
                str(cells[0]["rows"]),
                *(
                    f"{_short(c['printed'])} · {_short(c['share'])} · {_short(c['prior'])}"
                    for c in cells
                ),
            ]
        )
    return table([*map(_name, _shortened(one.parents)), "rows", *map(_value, one.values)], rows)


def _shortened(cells: Sequence[str]) -> Sequence[str]:
    """Leave out sex and zip code where age says the same."""
    return (cells[0], *cells[3:]) if len(cells) == 5 else cells


def _value(text: str) -> str:
    return text.replace("<=", "≤").replace("[", "\\[")


def _short(number: float) -> str:
    """Write at most three digits after the point.

    >>> _short(1.0), _short(0.916667), _short(0.5)
    ('1', '0.917', '0.5')
    """
    return f"{number:.3f}".rstrip("0").rstrip(".")


def _decoded(results: Record) -> str:
    heads = list(dict.fromkeys(values(results["decoded"], "value")))
    rows = []
    for work in dict.fromkeys(values(results["decoded"], "given")):
        cells = where(results["decoded"], given=work)
        rows.append(
            [
                work,
                *(
                    f"{_short(c['printed'])} · {c['decoded']}{'' if _hit(c) else ' ✗'}"
                    for c in cells
                ),
            ]
        )
    return table(["`government`", *heads], rows)


def _verdicts(results: Record) -> str:
    said = {True: "holds", False: "does not hold"}
    rows = [
        [
            f"{_names(one['known'])} → {_name(one['told'])}",
            said[one["printed"]],
            *(
                said[one[how]] + ("" if one[how] is one["printed"] else " ✗")
                for how in ("shares", "prior", "letter")
            ),
            _percent(one["strongest"]),
        ]
        for one in results["verdicts"]
    ]
    heads = ["rule", "printed", "on shares", "with 1 added to every cell", "to the letter"]
    return table([*heads, "surest entry"], rows)


def _guesses(results: Record) -> str:
    rows = []
    for one in results["guesses"]:
        factors = " · ".join(f"{count}/{one['size']}" for count in one["counts"])
        said = "" if one["printed"] is None else f"{one['printed']} %"
        rows.append(
            [
                str(one["group"]),
                one["known"],
                one["marital_status"],
                _value(one["salary"]),
                _percent(one["before"]),
                factors,
                _percent(one["after"]),
                said,
            ]
        )
    return table(
        ["group", "known", "marital status", "salary", "before", "after", "", "printed"], rows
    )


def _changes(changes: list[Record], people: int) -> str:
    rows = []
    for one in changes:
        known = "group" if one["known"] is None else f"group, {_name(one['known'])}"
        high = [sum(list(one[f"people_{when}"].values())[2:]) for when in ("before", "after")]
        rows.append(
            [
                known,
                _names(one["told"]),
                *(_percent(one[f"worst_{when}"]) for when in ("before", "after")),
                *(f"{100 * one[f'mean_{when}']:.1f} %" for when in ("before", "after")),
                *map(_thousands, high),
                f"{_thousands(one['raised'])} of {_thousands(people)}",
            ]
        )
    heads = ["known", "guessed", "worst before", "worst after", "mean before", "mean after"]
    return table([*heads, "high before", "high after", "likelier than before"], rows)


def _table_14(results: Record) -> str:
    rows = []
    for i, one in enumerate(results["table_14"]):
        mark = "" if agrees(one) else " ✗"
        if not agrees(one) and two_rows_later(results["table_14"], i):
            mark = f" ✗ (that of row {i + 3})"
        rows.append(
            [
                str(one["row"]),
                f"{one['work']}, {one['marital_status']}, {_value(one['salary'])}",
                str(one["added"]),
                f"{one['printed_was']} %",
                _percent(one["was"]),
                " · ".join(f"{count}/{one['size']}" for count in one["new"]),
                f"{one['printed_became']} %",
                _exact(one["became"]),
                f"{one['printed_ratio']:g}{mark}",
                f"{float(Fraction(one['ratio'])):.3f}",
            ]
        )
    heads = ["row", "combination", "added", "printed", "before", "after", "printed", "exactly"]
    return table([*heads, "printed ratio", "exact ratio"], rows)


def _limits(results: Record) -> str:
    rows = []
    for name in dict.fromkeys(values(results["limits"], "combination")):
        mine = where(results["limits"], combination=name)
        now = " · ".join(f"{count}/{mine[0]['size']}" for count in mine[0]["counts"])
        rows.append([name, now, *(str(where(mine, alpha=a)[0]["permitted"]) for a in ALPHAS)])
    return table(["people who come have", "now", *(f"α = {a:g}" for a in ALPHAS)], rows)


def _admissions(results: Record) -> str:
    rows = []
    for one in results["admissions"]:
        cells = [f"{one['alpha']:g}"]
        for reading in READINGS:
            done = one[reading]
            poor, rich = (done["admitted"][pay] for pay in ("<=50K", ">50K"))
            cells += [f"{poor + rich}: {poor} of ≤50K, {rich} of >50K", _percent(done["worst"])]
        ledger = one["published"]
        rows.append([*cells, f"{ledger['admitted']}; {ledger['waiting']} wait"])
    heads = ["α", "Algorithm 3 as printed", "tells up to", "employer known, going on"]
    return table([*heads, "tells up to", "`Ledger.publish`"], rows)


def _learning(results: Record) -> str:
    spent = results["learning"]
    rows = [
        [
            str(width),
            way,
            *(f"{s:.3f}" for s in values(spent, "seconds", sensitive=width, learner=way)),
            f"about {LEARNING[width]:g}" if width > 1 else f"< {LEARNING[width]:g}",
        ]
        for width in WIDTHS
        for way in WAYS
    ]
    sizes = map(_thousands, dict.fromkeys(values(spent, "rows")))
    return table(["sensitive", "learner", *sizes, "printed, largest"], rows)


def _breaking(results: Record) -> str:
    spent = results["breaking"]
    rows = [
        [
            name,
            str(len(SENSITIVE[name])),
            *(f"{s:.3f}" for s in values(spent, "seconds", table=name)),
            f"< {BREAKING:g}",
        ]
        for name in SENSITIVE
    ]
    sizes = map(_thousands, dict.fromkeys(values(spent, "rows")))
    return table(["table", "sensitive", *sizes, "printed, largest"], rows)


def _hiding(results: Record) -> str:
    first, second = (where(results["hiding"], known=size) for size in KNOWN)
    rows = [
        [
            f"{one['confidence']:g}",
            str(one["rules"]),
            *(f"{one[name]:.3f}" for name in SENSITIVE["adult"]),
            f"{one['loss']:.3f}",
            str(other["rules"]),
            f"{other['loss']:.3f}",
            "0",
        ]
        for one, other in zip(first, second, strict=True)
    ]
    heads = ["confidence", "rules", *map(_name, SENSITIVE["adult"]), "mean loss"]
    more = ["rules, up to three known", "mean loss", "breaking"]
    return table([*heads, *more], rows)


def _attacker(results: Record) -> str:
    rows = [
        [
            f"{one['probability']:g}",
            *(f"{one['sure'][name]:g}" for name in SENSITIVE["adult"]),
            str(one["rules"]),
            *(f"{one[name]:.3f}" for name in SENSITIVE["adult"]),
            f"{one['loss']:.3f}",
            "0",
        ]
        for one in results["attacker"]
    ]
    names = [_name(name) for name in SENSITIVE["adult"]]
    heads = ["planted", *(f"attacker, {name}" for name in names), "rules"]
    return table([*heads, *(f"loss, {name}" for name in names), "mean loss", "breaking"], rows)


def _jump(found: list[Record]) -> dict[str, str]:
    """Give the loss up to one half, and the least and the most above it."""
    below = [one["loss"] for one in found if one["probability"] <= HALF]
    above = [one["loss"] for one in found if one["probability"] > HALF]
    return {
        "jump_below": f"{max(below):g}",
        "jump_least": f"{min(above):.3f}",
        "jump_most": f"{max(above):.3f}",
    }


def _figure_14(results: Record) -> str:
    rows = [
        [
            f"{_value(one['salary'])}, as in the row of {one['like']}",
            str(one["added"]),
            _percent(one["was"]),
            " · ".join(f"{count}/{one['size']}" for count in one["new"]),
            _exact(one["became"]),
            f"{float(Fraction(one['ratio'])):.3f}",
        ]
        for one in results["figure_14"]
    ]
    return table(["salary", "added", "before", "after", "exactly", "ratio"], rows)


def _percent(share: str) -> str:
    """Write an exact share in per cent.

    >>> _percent("2/3"), _percent("1"), _percent("8/25")
    ('66.7 %', '100 %', '32 %')
    """
    return f"{100 * float(Fraction(share)):.1f}".removesuffix(".0") + " %"


def _exact(share: str) -> str:
    return f"{100 * float(Fraction(share)):.2f} %"


def _thousands(number: int) -> str:
    return f"{number:,}".replace(",", " ")
