"""A report as plain values, for programs."""

import math
from typing import Any

from sfumato.reports.content import (
    Beside,
    Cell,
    Content,
    Drawing,
    Figures,
    Listing,
    Part,
    Section,
    Sentence,
    Table,
)
from sfumato.reports.words import said


def to_dict(content: Content) -> dict[str, Any]:
    """Give everything a report says as values that JSON can hold.

    >>> to_dict(Content("Report", "yes", "For all.", True, (), (), "1"))["answer"]
    'yes'
    """
    plain = {
        "title": content.title,
        "answer": content.answer,
        "scope": content.scope,
        "public": content.public,
        "sfumato": content.version,
        "sections": [_section(section) for section in content.sections],
        "left_out": [{"title": title, "why": why} for title, why in content.left_out],
    }
    found: dict[str, Any] = _visible(plain)
    return found


def _visible(value: Any) -> Any:  # noqa: ANN401 - whatever JSON holds
    """Write no character that a terminal or an editor would obey."""
    if isinstance(value, str):
        return said(value)
    if isinstance(value, dict):
        return {key: _visible(item) for key, item in value.items()}
    return [_visible(item) for item in value] if isinstance(value, list) else value


def _section(section: Section) -> dict[str, Any]:
    return {
        "id": section.id,
        "title": section.title,
        "how_to_read": section.how_to_read,
        "parts": [one for part in section.parts for one in _part(part)],
    }


def _part(part: Part) -> list[dict[str, Any]]:
    if isinstance(part, Sentence):
        return [{"kind": "sentence", "text": part.text}]
    if isinstance(part, Listing):
        return [{"kind": "listing", "items": list(part.items), "more": part.more}]
    if isinstance(part, Figures):
        items = [
            {"name": name, "value": _cell(value), "meaning": meaning}
            for name, value, meaning in part.items
        ]
        return [{"kind": "figures", "caption": part.caption, "items": items}]
    if isinstance(part, Table):
        return [_table(part)]
    drawings = part.drawings if isinstance(part, Beside) else (part,)
    return [_drawing(drawing) for drawing in drawings]


def _table(table: Table) -> dict[str, Any]:
    return {
        "kind": "table",
        "caption": table.caption,
        "columns": [{"name": h.name, "meaning": h.meaning} for h in table.headings],
        "rows": [[_cell(cell) for cell in row] for row in table.rows],
        "more": table.more,
    }


def _drawing(drawing: Drawing) -> dict[str, Any]:
    return {"kind": "drawing", "title": drawing.title, "description": drawing.description}


def _cell(cell: Cell) -> Cell:
    if isinstance(cell, float):
        # JSON has no infinity.
        return float(cell) if math.isfinite(cell) else None
    return cell
