"""`sfumato merge`: join the tables of a decoupled release again."""

from pathlib import Path
from typing import Annotated

import typer

from sfumato.cli.command import command
from sfumato.cli.lists import listed
from sfumato.cli.options import ForceOption, QuietOption
from sfumato.cli.progress import progress_bar
from sfumato.cli.show import clean, say


@command(
    examples="sfumato merge broken/ -o merged.csv\n"
    "sfumato merge broken/ -o merged.parquet --columns illness,salary",
    python='sf.merge("broken", output="merged.csv")\nprint(sf.merge("broken"))',
)
def merge(
    release: Annotated[
        str,
        typer.Argument(
            metavar="RELEASE", help="The folder of a decoupled release, or the address of one."
        ),
    ],
    output: Annotated[
        Path,
        typer.Option(
            "--output", "-o", metavar="FILE", help="The file to write: .csv .parquet .feather"
        ),
    ],
    columns: Annotated[
        list[str] | None,
        typer.Option(metavar="COLUMNS", help="The sensitive columns to join; else all of them."),
    ] = None,
    most: Annotated[
        int, typer.Option(metavar="ROWS", help="Refuse to make more rows than this.")
    ] = 10_000_000,
    form: Annotated[
        str | None,
        typer.Option("--format", metavar="csv|parquet|feather", help="If not by the ending."),
    ] = None,
    force: ForceOption = False,
    quiet: QuietOption = False,
) -> None:
    """Join decoupled tables on the group, as an analyst or an adversary would.

    Every combination of the values of a group is a row, with the number of people who would have
    it if the columns had nothing to do with each other.
    """
    from sfumato.tasks.merge import merge as task

    with progress_bar(quiet=quiet) as progress:
        task(
            release,
            columns=None if columns is None else listed(columns),
            output=output,
            format=form,
            most=most,
            force=force,
            progress=progress,
        )
    if not quiet:
        say(f"Written: {clean(output)}")
