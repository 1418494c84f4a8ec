"""The section on headroom: how many more people the groups of a ledger take."""

from collections.abc import Sequence

from sfumato.content import Cell, Drawing, Figures, Heading, Part, Share, Table
from sfumato.drawing.charts import shares_svg
from sfumato.publishing.ledger import Headroom, Ledger, Room
from sfumato.reports.dossier import Dossier
from sfumato.reports.sections.base import Chapter, NotHereError
from sfumato.text import brief

_MOST = 20
_MOST_DRAWN = 12


def _parts(dossier: Dossier) -> Sequence[Part]:
    if dossier.ledger is None:
        raise NotHereError(
            "a ledger is the publisher's own"
            if dossier.public
            else "no ledger was given: --ledger clinic.ledger"
        )
    found = Ledger(dossier.ledger).headroom()
    if not found.rooms:
        raise NotHereError("nobody is in the ledger yet")
    full = sum(room.permitted == 0 for room in found.rooms)
    figures = Figures(
        "The ledger",
        (
            ("alpha", Share(found.alpha), "No combination of values may be likelier than this."),
            ("groups", found.groups, "How many groups are published."),
            ("full", full, "Combinations that no further row may have now."),
        ),
    )
    return [figures, _table(found), Drawing.of(_draw(found))]


def _join_values(values: Sequence[str | None]) -> str:
    return ", ".join(brief(value, most=40) for value in values)


def _table(found: Headroom) -> Table:
    return Table.of(
        "The combinations closest to the limit",
        [
            "group",
            Heading("people", "How many are in the group."),
            "values",
            Heading("looked at because", "Of each group the likeliest, and those rows wait for."),
            Heading("before", "How likely it was before the last release that changed the group."),
            Heading("now", "How likely it is to whoever knows the group and one of the values."),
            Heading("more rows", "How many further rows may have these values; – is any number."),
        ],
        [_row(room) for room in found.rooms],
        most=_MOST,
    )


def _row(room: Room) -> list[Cell]:
    return [
        _join_values(room.group),
        room.size,
        _join_values(room.values),
        room.which,
        None if room.before is None else Share(room.before),
        Share(room.breach),
        room.permitted,
    ]


def _draw(found: Headroom) -> str:
    rooms = found.rooms[:_MOST_DRAWN]
    series = {"now": [float(room.breach) for room in rooms]}
    if any(room.before is not None for room in rooms):
        # A group that no release has changed is as it was.
        before = [room.breach if room.before is None else room.before for room in rooms]
        series = {"before the last release": [float(share) for share in before], **series}
    return shares_svg(
        [f"{_join_values(room.group)}: {_join_values(room.values)}" for room in rooms],
        series,
        title=f"How likely the closest combinations are; the limit is {found.alpha:g}",
    )


HEADROOM = Chapter(
    "headroom",
    "How many more people there is room for",
    "A group may be added to as long as no combination of its values becomes likelier than "
    "alpha; rows of other combinations make room for more.",
    _parts,
)
