"""How the answer about one person looks: sentences, where the person may be, bars."""

from typing import TYPE_CHECKING

from sfumato.cli.show import bar, cell, table
from sfumato.tasks.explanation import listed
from sfumato.tasks.percent import percent

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

    from sfumato.tasks.explanation import Belief, Explanation

_MOST = 10


def explain_view(found: "Explanation") -> list["RenderableType"]:
    """What is learned in words, the places, and two bars for each value."""
    parts: list[RenderableType] = [cell("\n".join(found.sentences), keep="\n")]
    if len(found.places) > 1:
        parts.append(_places(found))
    for belief in found.beliefs:
        parts.append(_bars(belief))
        if len(belief.values) > _MOST:
            parts.append(cell(f"… and {len(belief.values) - _MOST} values that are less likely"))
    return parts


def _places(found: "Explanation") -> "Table":
    rows: list[tuple[object, ...]] = [
        (listed(place.labels) or "everybody", place.people, percent(place.probability))
        for place in found.places[:_MOST]
    ]
    if len(found.places) > _MOST:
        rows.append((f"… and {len(found.places) - _MOST} more", "", ""))
    return table(("may be in", "people", "how likely"), rows, right=("people", "how likely"))


def _bars(belief: "Belief") -> "Table":
    heads = (belief.column, "before", "", "after", " ")
    shares = zip(belief.values, belief.prior, belief.posterior, strict=True)
    rows = [
        (value, percent(before), bar(before, 20), percent(after), bar(after, 20))
        for value, before, after in shares
    ]
    return table(heads, rows[:_MOST], right=("before", "after"))
