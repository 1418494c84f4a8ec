"""`sfumato headroom`: how many more rows the groups of a ledger take."""

from pathlib import Path
from typing import Annotated

import typer

from sfumato.cli.command import command
from sfumato.cli.files import write_text
from sfumato.cli.lists import listed
from sfumato.cli.options import ForceOption, JsonOption
from sfumato.cli.show import clean, say, show, write_json
from sfumato.errors import InputError


@command(
    examples="sfumato headroom clinic.ledger\n"
    "sfumato headroom clinic.ledger --group age=30-39 --values illness=flu,pay=low\n"
    "sfumato headroom clinic.ledger --draw headroom.svg",
    python='print(sf.headroom("clinic.ledger", [{"illness": "flu"}]))',
)
def headroom(
    ledger: Annotated[Path, typer.Argument(metavar="LEDGER", help="The ledger.")],
    values: Annotated[
        list[str] | None,
        typer.Option(metavar="COLUMN=VALUE,…", help="A combination to look at in every group."),
    ] = None,
    group: Annotated[
        list[str] | None,
        typer.Option(metavar="COLUMN=LABEL", help="Only groups with this label."),
    ] = None,
    most: Annotated[
        int | None, typer.Option(metavar="N", help="Show only so many, the closest to the limit.")
    ] = 20,
    draw: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write a drawing as SVG there.")
    ] = None,
    force: ForceOption = False,
    json: JsonOption = False,
) -> None:
    """Show how close each published group is to alpha.

    For the likeliest combination of every group, for those asked for and those rows wait for:
    what it tells, by how much the last release raised that, and how many more rows may have it.
    """
    from sfumato.tasks.headroom import headroom as task

    asked = [_named(listed([text])) for text in values or ()]
    found = task(ledger, asked, group=_named(group or []), most=most)
    if draw is not None:
        write_text(draw, found.svg(), force=force)
        say(f"Written: {clean(draw)}")
    if json:
        write_json(found.to_dict())
        return
    from sfumato.cli.ledger_views import headroom_view

    show(*headroom_view(found))


def _named(texts: list[str]) -> dict[str, str | None]:
    """Read `column=value`; with nothing after the sign it is a missing value."""
    found: dict[str, str | None] = {}
    for text in texts:
        name, sign, value = text.partition("=")
        if not sign or not name:
            raise InputError(f"{text!r} does not say which column. Write it as column=value.")
        found[name] = value or None
    return found
