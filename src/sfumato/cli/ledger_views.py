"""How ledgers look: what became of an increment, how much room is left, what was released."""

import json
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from sfumato.cli.show import bar, cell, table
from sfumato.tasks.percent import percent

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

    from sfumato.tasks.headroom import Headroom
    from sfumato.tasks.ledger import Contents
    from sfumato.tasks.publication import Publication

_MOST = 20


def publication_view(done: "Publication") -> list["RenderableType"]:
    """The numbers, who was refused and why, who waits and why, what comparing shows."""
    parts: list[RenderableType] = [cell(str(done))]
    if done.refused:
        heads = ("refused", "group", "rows", "with a value known", "largest in the group")
        rows = [
            (
                _said(each.row),
                _said(each.labels),
                each.rows,
                percent(float(each.with_a_value)),
                percent(float(each.worst)),
            )
            for each in done.refused[:_MOST]
        ]
        parts.append(table(heads, rows, right=heads[2:]))
    if done.held:
        why: Counter[tuple[str, str, str]] = Counter()
        for held in done.held:
            why[_said(json.loads(held.ask.labels)), held.ask.kind, held.why] += held.rows
        lines = [(group, kind, n, reason) for (group, kind, reason), n in why.most_common(_MOST)]
        parts.append(table(("waiting in group", "to", "rows", "why"), lines, right=("rows",)))
    if done.above:
        above = [(_said(group), percent(float(share))) for group, share in done.above[:_MOST]]
        parts.append(table(("group above alpha", "tells now"), above, right=("tells now",)))
    if done.composition is not None and done.composition.differences:
        parts.append(cell(f"Compared with the last release: {done.composition}"))
    return parts


def headroom_view(found: "Headroom") -> list["RenderableType"]:
    """One line per combination, those closest to the limit first."""
    heads = ("group", "rows", "values", "which", "tells", "", "raised by", "more rows")
    rows = [
        (
            _said(room.group),
            room.size,
            _said(room.values),
            room.which,
            percent(float(room.breach)),
            bar(float(room.breach), 15),
            "" if room.ratio is None else f"{room.ratio:+.0%}",
            "any number" if room.permitted is None else room.permitted,
        )
        for room in found.rooms
    ]
    return [
        cell(f"{found.groups} groups, alpha {found.alpha:g}"),
        table(heads, rows, right=("rows", "tells", "raised by", "more rows")),
    ]


def log_view(entries: "Sequence[dict[str, Any]]") -> "Table":
    """One line per release."""
    heads = ("release", "time", "joined", "left", "refused", "waiting", "hash")
    rows = [
        (
            entry["sequence"],
            entry["time"],
            *(entry["rows"].get(name, 0) for name in heads[2:6]),
            entry["hash"][:12],
        )
        for entry in entries
    ]
    return table(heads, rows, right=("release", *heads[2:6]))


def contents_view(found: "Contents") -> list["RenderableType"]:
    """What a ledger was started with, and its largest groups."""
    plain = found.to_dict()
    policy = "with its policy" if found.with_policy else "without a policy"
    groups = sorted(plain["groups"], key=lambda group: -group["rows"])
    names = [column.name for column in found.tables.quasi_identifiers]
    rows = [(*_texts(group["group"].values()), group["rows"]) for group in groups[:_MOST]]
    parts: list[RenderableType] = [
        cell(
            f"release {found.release}: {plain['rows']} rows in {len(groups)} groups, "
            f"{found.waiting} wait; alpha {found.alpha:g}, k {found.k}, started "
            f"{found.created} {policy}"
        ),
        table((*names, "rows"), rows, right=("rows",)),
    ]
    if len(groups) > _MOST:
        parts.append(cell(f"… and {len(groups) - _MOST} more groups"))
    return parts


def _texts(values: Any) -> list[str]:  # noqa: ANN401 - the values of a dictionary
    return ["(missing)" if value is None else value for value in values]


def _said(values: "Sequence[str | None]") -> str:
    return ", ".join(_texts(values))
