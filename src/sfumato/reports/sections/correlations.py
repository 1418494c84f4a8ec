"""The section on correlations, in the release and in the original beside it."""

from collections.abc import Sequence

import numpy as np

from sfumato.decouplings import kind_of
from sfumato.reports.dossier import Dossier
from sfumato.reports.sections.base import Chapter, NotHereError
from sfumato.showing.content import (
    Beside,
    Cell,
    ContentTable,
    Drawing,
    Heading,
    Part,
    Sentence,
    Share,
)
from sfumato.showing.heatmap import HeatmapWords, heatmap_svg
from sfumato.tasks.utility import correlations
from sfumato.text import brief
from sfumato.typing import FloatArray

_MEASURE = "cramers-v"
_MOST_COLUMNS = 16
_MOST_PAIRS = 10
_WORDS = HeatmapWords("Table of correlations", "most tied to", "{:.2f}".format)
_BEFORE = _WORDS._replace(grey=True)


def _parts(dossier: Dossier) -> Sequence[Part]:
    names = (*dossier.with_role("quasi-identifier"), *dossier.with_role("sensitive"))
    if len(names) < 2:
        raise NotHereError("it takes two columns")
    before, after, told = _both(dossier, names)
    shown = _strongest(after if before is None else np.maximum(before, after))
    drawings = [] if before is None else [_draw(names, before, shown, "In the original", _BEFORE)]
    drawings.append(_draw(names, after, shown, "In the release", _WORDS))
    parts: list[Part] = [Beside(tuple(drawings)), _pairs(names, before, after, told)]
    if len(names) > len(shown):
        more = len(names) - len(shown)
        parts.append(Sentence(f"And {more} more columns that are less tied to any, not drawn."))
    return parts


def _both(
    dossier: Dossier, names: Sequence[str]
) -> tuple[FloatArray | None, FloatArray, FloatArray | None]:
    """Measure the original, if it was given, and the release, and in how many rows that can be."""
    if not kind_of(dossier.kind).in_one_piece:
        if dossier.data is None:
            raise NotHereError(
                "columns that are published apart have no rows in common; what is left of their "
                "ties can be seen only beside the original"
            )
        return (*_estimate(dossier, names), None)
    after = correlations(dossier.release, measure=_MEASURE)
    strength, told = (_matrix(after.names, each, names) for each in (after.strength, after.told))
    if dossier.data is None:
        return None, strength, told
    before = correlations(
        dossier.data,
        quasi_identifiers=dossier.with_role("quasi-identifier"),
        sensitive=dossier.with_role("sensitive"),
        measure=_MEASURE,
    )
    return _matrix(before.names, before.strength, names), strength, told


def _matrix(given: Sequence[str], values: FloatArray, names: Sequence[str]) -> FloatArray:
    at = [given.index(name) for name in names]
    found: FloatArray = values[np.ix_(at, at)]
    return found


def _estimate(dossier: Dossier, names: Sequence[str]) -> tuple[FloatArray, FloatArray]:
    """Return what a careful reader reconstructs from the parts."""
    before, after = np.eye(len(names)), np.eye(len(names))
    for pair in dossier.utility.associations.pairs:
        i, j = names.index(pair.one), names.index(pair.other)
        before[i, j] = before[j, i] = pair.before
        after[i, j] = after[j, i] = pair.after
    return before, after


def _strongest(strength: FloatArray) -> list[int]:
    """Choose the columns that are tied most to some other."""
    others = strength - np.eye(len(strength))
    order = np.argsort(-others.max(axis=0), kind="stable")[:_MOST_COLUMNS]
    return sorted(order.tolist())


def _draw(
    names: Sequence[str], strength: FloatArray, shown: list[int], title: str, words: HeatmapWords
) -> Drawing:
    # What a column has to do with itself says nothing, and would be the darkest of all.
    values = np.where(np.eye(len(names), dtype=bool), np.nan, np.clip(strength, 0, 1))
    short = [brief(names[i], most=40) for i in shown]
    return Drawing.of(
        heatmap_svg(short, short, values[np.ix_(shown, shown)], title=title, words=words)
    )


def _pairs(
    names: Sequence[str], before: FloatArray | None, after: FloatArray, told: FloatArray | None
) -> ContentTable:
    one, other = np.triu_indices(len(names), k=1)
    strongest = after if before is None else np.maximum(before, after)
    order = np.argsort(-strongest[one, other], kind="stable").tolist()
    rows: list[list[Cell]] = []
    for k in order:
        i, j = int(one[k]), int(other[k])
        was: list[Cell] = [] if before is None else [round(float(before[i, j]), 3)]
        both: list[Cell] = [] if told is None else [Share(float(told[i, j]))]
        rows.append([f"{names[i]} and {names[j]}", *was, round(float(after[i, j]), 3), *both])
    both_heading = Heading(
        "in rows", "The share of rows that this is about: those in which neither is hidden (*)."
    )
    was_heading = Heading("original", "How strongly they were tied before anything was changed.")
    return ContentTable.of(
        "The strongest pairs",
        [
            "columns",
            *([] if before is None else [was_heading]),
            Heading(
                "release",
                "Cramér's V: 0 if one says nothing about the other, 1 if it determines it.",
            ),
            *([] if told is None else [both_heading]),
        ],
        rows,
        most=_MOST_PAIRS,
    )


CORRELATIONS = Chapter(
    "correlations",
    "How strongly columns are tied",
    "The darker a field, the more two columns have to do with each other (Cramér's V, from 0 to "
    "1); columns tied to a sensitive column reveal something about it, and columns that analyses "
    "need should stay.",
    _parts,
)
