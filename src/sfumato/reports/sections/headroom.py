"""The section on headroom: how many more people the groups of a ledger take."""

from collections.abc import Sequence

from sfumato.ledger.publishing.ledger import Headroom, Ledger, Room
from sfumato.reports.dossier import Dossier
from sfumato.reports.sections.base import Chapter, NotHereError
from sfumato.showing.charts import shares_svg
from sfumato.showing.content import Cell, ContentTable, Drawing, Figures, Heading, Part, Share
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
        raise NotHereError("no person is in the ledger yet")
    cells = {room.group: room.cells for room in found.rooms}
    waiting = {room.group: room.waiting for room in found.rooms}
    figures = Figures(
        "The ledger",
        (
            ("alpha", Share(found.alpha), "No value may be believed with more than this."),
            ("groups", found.groups, "How many groups are published."),
            ("cells", sum(cells.values()), "Who joined a group in one release makes a cell."),
            ("waiting", sum(waiting.values()), "Rows that wait to join."),
        ),
    )
    return [figures, _table(found), Drawing.of(_draw(found))]


def _join_values(values: Sequence[str | None]) -> str:
    return ", ".join(brief(value, most=40) for value in values)


def _table(found: Headroom) -> ContentTable:
    return ContentTable.of(
        "The combinations closest to the limit",
        [
            "group",
            Heading("people", "How many are in the group."),
            "values",
            Heading("looked at because", "Of each group the likeliest, and those rows wait for."),
            Heading("tells", "The largest share of one of the values in a cell of the group."),
            Heading("waiting", "How many rows wait to join the group."),
            Heading("more rows", "How many more of these may join with them; – is any number."),
            Heading("of the next", "How many of the next newcomers may have these values."),
            Heading("increment ratio", "By how much one more row raises their likelihood."),
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
        Share(room.breach),
        room.waiting,
        room.permitted,
        room.of_next,
        None if room.ratio is None else f"{float(room.ratio):+.2f}",
    ]


def _draw(found: Headroom) -> str:
    rooms = found.rooms[:_MOST_DRAWN]
    series = {"now": [float(room.breach) for room in rooms]}
    return shares_svg(
        [f"{_join_values(room.group)}: {_join_values(room.values)}" for room in rooms],
        series,
        title=f"How likely the closest combinations are; the limit is {found.alpha:g}",
        looks=("now",),
    )


HEADROOM = Chapter(
    "headroom",
    "How many more people there is room for",
    "Those who join a group in one release make a cell of their own, in which no value is "
    "more frequent than alpha; until they do, they wait.",
    _parts,
)
