"""How a comparison looks: a table of all policies, the front marked, and what to beware of."""

from typing import TYPE_CHECKING

from sfumato.cli.show import cell, clean, table

if TYPE_CHECKING:
    from rich.console import RenderableType

    from sfumato.tasks.frontier import Comparison


def comparison_view(found: "Comparison") -> list["RenderableType"]:
    """Show the figures of all policies; those on the front have a star and are bold."""
    titles, *lines = found.cells
    front = {point.name for point in found.front}
    rows = [
        [cell(each, "bold" if line[0] in front else "") for each in (line[1], line[0], *line[2:])]
        for line in lines
    ]
    parts: list[RenderableType] = [
        cell(found.headline),
        table(("", "policy", *titles[2:]), rows, right=("", *titles[2:])),
    ]
    if found.notes:
        parts.append(cell("\n".join(map(clean, found.notes)), keep="\n"))
    return parts
