"""How results look: what each task gave, as tables."""

from typing import TYPE_CHECKING, Any

from sfumato.cli.show import bar, cell, clean, status, table
from sfumato.tasks.percent import percent

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rich.console import RenderableType
    from rich.table import Table

    from sfumato.release import Release
    from sfumato.tasks.draft import Draft
    from sfumato.tasks.inspection import Inspection, SensitiveRisk
    from sfumato.verifier import Verdict

_FEW = 5
"""How many of the most telling sets of columns are shown where space is short."""


def verdict_view(verdict: "Verdict") -> list["RenderableType"]:
    """One line per check, then what there is to say about some, and the sum of all at the end."""
    from sfumato.verifier.verdict import in_words

    def words(value: object) -> str:
        return "" if value is None else in_words(value)

    rows = [(c.name, status(c.status), words(c.promised), words(c.found)) for c in verdict.checks]
    notes = []
    for check in verdict.checks:
        worst = "" if check.worst is None else f"worst: {words(check.worst)}"
        note = "; ".join(filter(None, [check.detail, worst]))
        if note:
            notes.append(clean(f"{check.name}: {note}"))
    parts: list[RenderableType] = [table(("check", "", "promised", "found"), rows)]
    if notes:
        parts.append(cell("\n".join(notes), keep="\n"))
    headline = str(verdict).splitlines()[0]
    return [*parts, cell(headline, "green" if verdict.holds else "bold red")]


def release_view(release: "Release") -> list["RenderableType"]:
    """What was done to each quasi-identifier, and what each model measures."""
    from sfumato.release import figures, promise_text, recoded_columns

    manifest = release.manifest
    columns = recoded_columns(manifest)
    whole = all("level" in column for column in columns)
    promises = [(promise_text(model), figures(model["measured"])) for model in manifest["models"]]
    return [
        cell(str(release).splitlines()[0]),
        levels_view(columns) if whole else shares_view(columns),
        table(("promise", "measured"), promises),
    ]


def levels_view(columns: "Sequence[Mapping[str, Any]]") -> "Table":
    """The level of each column, where it is the same in every row."""
    rows = [(column["name"], f"{column['level']} of {column['height']}") for column in columns]
    return table(("quasi-identifier", "level"), rows)


def shares_view(columns: "Sequence[Mapping[str, Any]]") -> "Table":
    """The share of each column's cells at each level, where rows differ in it."""
    levels = range(max(len(column.get("levels", ())) for column in columns))
    heads = ["quasi-identifier", *(f"level {level}" for level in levels), "mean level", "intervals"]
    rows = [
        [
            column["name"],
            *(_share(column.get("levels", ()), level) for level in levels),
            _mean_level(column),
            str(column.get("intervals", "")),
        ]
        for column in columns
    ]
    used = [i for i in range(len(heads)) if any(row[i] for row in rows)]
    shown = [heads[i] for i in used]
    return table(shown, ([row[i] for i in used] for row in rows), right=shown[1:])


def _share(counts: "Sequence[int]", level: int) -> str:
    from sfumato.release import percentage

    if level >= len(counts):
        return ""
    return percentage(counts[level], sum(counts)) if counts[level] else "-"


def _mean_level(column: "Mapping[str, Any]") -> str:
    counts = column.get("levels", ())
    if not sum(counts):
        return ""
    mean = sum(level * rows for level, rows in enumerate(counts)) / sum(counts)
    return f"{mean:.2f} of {column['height']}"


def inspection_view(inspection: "Inspection") -> list["RenderableType"]:
    """The risk of everybody, of each column and of a few columns together."""
    columns = [
        (c.name, c.role.value, c.distinct, percent(c.missing), percent(c.unique))
        for c in inspection.columns
    ]
    heads = ("column", "role", "distinct", "missing", "unique alone")
    parts: list[RenderableType] = [
        headline_view(inspection),
        histogram_view(inspection),
        table(heads, columns, right=heads[2:]),
    ]
    if inspection.subsets.looked_at:
        parts.append(subsets_view(inspection))
    if inspection.sensitive:
        parts.append(sensitive_view(inspection.sensitive))
    return parts


def headline_view(inspection: "Inspection") -> "RenderableType":
    """The first lines of the inspection's own text: how many, who, how likely."""
    lines = str(inspection).split("\n\n", maxsplit=1)[0].splitlines()
    return cell("\n".join(lines), keep="\n")


def histogram_view(inspection: "Inspection") -> "Table":
    """How many rows are in classes of which size."""
    heads = ("class size", "classes", "rows", "share", "")
    rows = [
        (
            b.label,
            b.classes,
            b.rows,
            percent(b.rows / inspection.rows),
            bar(b.rows / inspection.rows),
        )
        for b in inspection.classes.histogram
    ]
    return table(heads, rows, right=heads[:4])


def sizes_view(before: "Inspection", after: "Inspection") -> "Table":
    """The share of rows by class size, in two tables beside each other."""
    shares = [
        {b.label: b.rows / inspection.rows for b in inspection.classes.histogram}
        for inspection in (before, after)
    ]
    labels = {b.label: b.smallest for each in (before, after) for b in each.classes.histogram}
    rows = []
    for label in sorted(labels, key=labels.__getitem__):
        one, other = (each.get(label, 0.0) for each in shares)
        rows.append((label, percent(one), bar(one, 20), percent(other), bar(other, 20)))
    heads = ("class size", "before", "", "after", " ")
    return table(heads, rows, right=("class size", "before", "after"))


def subsets_view(inspection: "Inspection", most: int | None = None) -> "Table":
    """The sets of columns that single out most people."""
    heads = ("columns that single people out", "unique rows", "share")
    rows = [
        (", ".join(risk.columns), risk.unique_rows, percent(risk.share))
        for risk in inspection.subsets.found[:most]
    ]
    return table(heads, rows, right=heads[1:])


def sensitive_view(sensitive: "tuple[SensitiveRisk, ...]") -> "Table":
    """What the worst class gives away about each sensitive column."""
    tails = list(sensitive[0].recursive_c)
    heads = (
        "sensitive",
        "l",
        "entropy l",
        *(f"c at l={l}" for l in tails),
        "largest share",
        "in the table",
        "t equal",
        "t ordered",
    )
    rows = [
        (
            s.name,
            f"{s.distinct_l:g}",
            f"{s.entropy_l:.2f}",
            *(f"{c:.3g}" for c in s.recursive_c.values()),
            percent(s.largest_share),
            percent(s.share_in_table),
            f"{s.t_equal:.3f}",
            "" if s.t_ordered is None else f"{s.t_ordered:.3f}",
        )
        for s in sensitive
    ]
    return table(heads, rows, right=heads[1:])


def draft_view(draft: "Draft", inspection: "Inspection") -> list["RenderableType"]:
    """What each column was taken for, and what those that others may know give away."""
    measured = {c.name: (c.distinct, percent(c.unique)) for c in inspection.columns}
    rows = [
        (name, role.value, *measured.get(name, ("", "")), draft.reasons[name])
        for name, role in draft.roles.items()
    ]
    heads = ("column", "role guessed", "distinct", "unique alone", "why")
    return [table(heads, rows, right=heads[2:4]), *exposure_view(inspection)]


def exposure_view(inspection: "Inspection") -> list["RenderableType"]:
    """An inspection in short: how many are exposed, and by which columns."""
    return [headline_view(inspection), subsets_view(inspection, _FEW)]
