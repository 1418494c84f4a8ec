"""The section on breaches: guesses by joining the parts of a decoupled release again."""

from collections.abc import Sequence

import numpy as np

from sfumato.counts import Column, FrequencySet
from sfumato.decouplings import kind_of
from sfumato.decouplings.base import GroupedTables
from sfumato.errors import InputError
from sfumato.leaks import Exposure
from sfumato.leaks.exposure import ExposureComparison, compare
from sfumato.policy import Missing
from sfumato.recode.deciding import ladder_of, without_missing
from sfumato.reports.dossier import Dossier
from sfumato.reports.sections.base import Chapter, NotHereError, without_badges
from sfumato.showing.charts import bars_svg
from sfumato.showing.content import (
    Cell,
    ContentTable,
    Drawing,
    Heading,
    Part,
    Sentence,
    Share,
)
from sfumato.text import brief, text_of

_KNOWS = Heading("who knows", "What the adversary knows of a person besides the release.")
_GUESSES = Heading("guesses", "The columns that are guessed, all of them at once.")


def _parts(dossier: Dossier) -> Sequence[Part]:
    if kind_of(dossier.kind).in_one_piece:
        raise NotHereError("the release is in one piece: nothing was decoupled")
    if not kind_of(dossier.kind).keeps_classes:
        raise NotHereError(
            f"by {dossier.kind} groups are buckets; its attacks say what can be guessed from them"
        )
    grouped = dossier.target.grouped
    if grouped is None or not grouped.total or not grouped.names:
        raise NotHereError("no person is in the release, or nothing sensitive")
    exposure = Exposure(grouped, None, dossier.levels)
    told = [without_badges(part) for part in exposure.content(most=10).parts]
    parts: list[Part] = [*told, _worst(exposure)]
    counts = before_breaking(dossier, grouped)
    comparison = _compare(counts, grouped, dossier)
    if comparison is not None:
        return [_changes(comparison), Drawing.of(_draw(comparison)), *parts]
    why = (
        "How likely the own values of people were before decoupling is not in the release; "
        "it follows from the original and its policy."
    )
    return [*parts, Sentence(why)]


def _compare(
    counts: FrequencySet | None, grouped: GroupedTables, dossier: Dossier
) -> ExposureComparison | None:
    if counts is None:
        return None
    try:
        return compare(counts, grouped, levels=dossier.levels)
    except InputError:
        # The data is not what was decoupled: rows were suppressed, or it is another table.
        return None


def before_breaking(dossier: Dossier, grouped: GroupedTables) -> FrequencySet | None:
    """Recode the original as the release is recoded, as far as the policy says how."""
    counts = dossier.original
    if counts is None:
        return None
    names = tuple(column.name for column in grouped.quasi_identifiers)
    if dossier.policy is not None and dossier.policy.missing is Missing.SUPPRESS:
        counts, _ = without_missing(counts, names)
    levels = {} if dossier.manifest is None else dossier.manifest.levels
    values, codes = [], []
    for column, old in zip(counts.columns, counts.codes, strict=True):
        level = levels.get(column.name)
        labels, code = list(column.values), old
        if level:
            if dossier.policy is None or column.name not in dossier.policy.columns:
                return None
            ladder = ladder_of(dossier.policy, counts, column.name)
            labels, code = list(ladder.labels[level]), ladder.codes[level][old]
        values.append(labels)
        codes.append(code)
    recoded = FrequencySet.from_codes(counts.names, values, np.array(codes), counts.rows)
    return _of_groups(recoded, grouped)


def _of_groups(counts: FrequencySet, grouped: GroupedTables) -> FrequencySet:
    """Return the people whose group was published."""
    theirs = grouped.quasi_identifiers
    published = {_texts(theirs, label) for label in grouped.labels.T.tolist()}
    mine = [counts.column(column.name) for column in theirs]
    codes = np.array([counts.codes_of(column.name) for column in theirs])
    labels, at = np.unique(codes, axis=1, return_inverse=True)
    there = np.array([_texts(mine, label) in published for label in labels.T.tolist()], dtype=bool)
    return counts.without(~there[at.ravel()])


def _texts(columns: Sequence[Column], label: Sequence[int]) -> tuple[str | None, ...]:
    """Write a group as files do, where a number and its text are the same."""
    values = [column.values[code] for column, code in zip(columns, label, strict=True)]
    return tuple(None if value is None else text_of(value) for value in values)


def _knows(known: str | None) -> str:
    return "the group" if known is None else f"the group and {known}"


def _worst(exposure: Exposure) -> ContentTable:
    rows: list[list[Cell]] = [
        [
            ", ".join(f"{name}={brief(value, most=40)}" for name, value in found.group),
            found.size,
            ", ".join(f"{name}={brief(value, most=40)}" for name, value in found.values),
            Share(float(found.probability)),
        ]
        for found in exposure.views[0].worst(10)
    ]
    return ContentTable.of(
        "The surest guesses about whole people",
        [
            "group",
            Heading("people", "How many are in the group."),
            "guess",
            Heading("probability", "How likely it is that a person of the group has all of it."),
        ],
        rows,
    )


def _changes(comparison: ExposureComparison) -> ContentTable:
    rows: list[list[Cell]] = [
        [
            _knows(change.known),
            ", ".join(change.told),
            Share(float(change.before.worst)),
            Share(float(change.after.worst)),
            Share(change.before.mean),
            Share(change.after.mean),
            change.before.people["very high"],
            change.after.people["very high"],
        ]
        for change in comparison.changes
    ]
    return ContentTable.of(
        "The own values of people, before decoupling and after",
        [
            _KNOWS,
            _GUESSES,
            Heading("worst before", "How likely a person's own values were in the whole table."),
            Heading("worst after", "How likely a person's own values are in the parts."),
            Heading("mean before", "The same, over all people."),
            Heading("mean after", "The same, over all people."),
            Heading("very high before", "People whose own values were nearly certain."),
            Heading("very high after", "People whose own values still are."),
        ],
        rows,
    )


def _draw(comparison: ExposureComparison) -> str:
    return bars_svg(
        [brief(_knows(change.known), most=80) for change in comparison.changes],
        [change.before.mean for change in comparison.changes],
        [change.after.mean for change in comparison.changes],
        title="How likely all the rest is, to an adversary who knows",
    )


BREACHES = Chapter(
    "breaches",
    "What the parts reveal when they are joined again",
    "An adversary who joins the parts can only take the share of each value in a person's group; "
    "the numbers say how likely the best guess is, and what the whole table revealed before.",
    _parts,
    of_people=True,
)
