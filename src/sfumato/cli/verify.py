"""`sfumato verify`: recompute the promises of a release or a table."""

from pathlib import Path
from typing import Annotated

import typer

from sfumato.cli.command import command
from sfumato.cli.endings import BROKEN
from sfumato.cli.options import JsonOption, PublishedArgument
from sfumato.cli.show import show, write_json


@command(
    examples="sfumato verify release/\n"
    "sfumato verify published.csv -p policy.yaml\n"
    "sfumato verify release/ -p policy.yaml --population people.csv",
    python='print(sf.verify("release"))\nprint(sf.verify("published.csv", "policy.yaml"))',
)
def verify(
    what: PublishedArgument,
    policy: Annotated[
        Path | None,
        typer.Option(
            "--policy",
            "-p",
            metavar="FILE",
            help="The policy to hold it to. A plain file needs one; nothing in it is generalised.",
        ),
    ] = None,
    population: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Everybody the data was drawn from, for k-map and delta-presence; else the "
            "policy's.",
        ),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Recompute every promise from the published rows alone.

    The exit code is 0 if all of them hold and 1 if one does not, or could not be checked.
    """
    from sfumato.cli.views import verdict_view
    from sfumato.tasks.verify import verify as task

    verdict = task(what, policy, population=population)
    if json:
        write_json(verdict.to_dict())
    else:
        show(*verdict_view(verdict))
    if not verdict.holds:
        raise typer.Exit(BROKEN)
