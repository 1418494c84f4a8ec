"""`sfumato correlations`: which columns have how much to do with each other."""

from pathlib import Path
from typing import Annotated

import typer

from sfumato.cli.command import command
from sfumato.cli.files import refuse_existing, write_text
from sfumato.cli.lists import listed
from sfumato.cli.options import (
    ForceOption,
    JsonOption,
    PublishedArgument,
    QiOption,
    RolesOption,
    SensitiveOption,
)
from sfumato.cli.show import clean, say, show, write_json


@command(
    examples="sfumato correlations people.csv --qi age,zip,job --sensitive illness\n"
    "sfumato correlations people.csv -p policy.yaml --measure cramers-v --svg correlations.svg\n"
    "sfumato correlations release/",
    python='print(sf.correlations("people.csv", policy="policy.yaml"))',
)
def correlations(
    what: PublishedArgument,
    policy: RolesOption = None,
    qi: QiOption = None,
    sensitive: SensitiveOption = None,
    measure: Annotated[
        str, typer.Option(metavar="NAME", help="phi-square, cramers-v or mutual-information.")
    ] = "phi-square",
    svg: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write a heat map as SVG there.")
    ] = None,
    force: ForceOption = False,
    json: JsonOption = False,
) -> None:
    """Show which columns tell most about each other.

    Pairs are between 0 (nothing) and 1; the darker, the stronger. Columns that are tied belong
    into one slice, as in decouple --method slicing: what they tell about each other stays known.
    """
    from sfumato.tasks.correlations import correlations as task

    if svg is not None:
        refuse_existing(svg, force=force)
    found = task(
        what,
        quasi_identifiers=None if qi is None else listed(qi),
        sensitive=None if sensitive is None else listed(sensitive),
        policy=policy,
        measure=measure,
    )
    if svg is not None:
        write_text(svg, found.svg(), force=force)
        say(f"Written: {clean(svg)}")
    if json:
        write_json(found.to_dict())
        return
    from sfumato.cli.correlations_view import correlations_view

    show(*correlations_view(found))
