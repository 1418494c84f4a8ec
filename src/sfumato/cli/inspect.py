"""`sfumato inspect`: the risk of a table as it is."""

from pathlib import Path
from typing import Annotated

import typer

from sfumato.cli.command import command
from sfumato.cli.lists import listed
from sfumato.cli.options import DataArgument, JsonOption
from sfumato.cli.progress import progress_bar
from sfumato.cli.show import show, write_json


@command(
    examples="sfumato inspect patients.csv --qi age,sex,postcode --sensitive diagnosis\n"
    "sfumato inspect patients.csv -p policy.yaml",
    python='print(sf.inspect("patients.csv", quasi_identifiers=["age", "sex"]))',
)
def inspect(
    data: DataArgument,
    policy: Annotated[
        Path | None,
        typer.Option("--policy", "-p", metavar="FILE", help="Take the roles from a policy."),
    ] = None,
    qi: Annotated[
        list[str] | None,
        typer.Option(
            "--qi",
            metavar="COLUMNS",
            help="The quasi-identifiers, separated by commas: what others may know.",
        ),
    ] = None,
    sensitive: Annotated[
        list[str] | None,
        typer.Option(metavar="COLUMNS", help="What nobody should learn, separated by commas."),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Show how far a table gives people away.

    It is judged as it is and only looked at; nothing is written.
    """
    from sfumato.tasks.inspect import inspect as task

    with progress_bar(quiet=json) as progress:
        inspection = task(
            data,
            quasi_identifiers=None if qi is None else listed(qi),
            sensitive=listed(sensitive or []),
            policy=policy,
            progress=progress,
        )
    if json:
        write_json(inspection.to_dict())
    else:
        from sfumato.cli.views import inspection_view

        show(*inspection_view(inspection))
