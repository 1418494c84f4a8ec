"""`sfumato protect`: anonymise, detect, mend, and detect again."""

from pathlib import Path
from typing import Annotated

import typer

from sfumato.cli.command import command
from sfumato.cli.options import (
    DataArgument,
    FormatOption,
    JsonOption,
    QuietOption,
    ReplaceOption,
    SupportOption,
)
from sfumato.cli.progress import progress_bar
from sfumato.cli.show import clean, say, show, write_json


@command(
    examples="sfumato protect patients.csv -p policy.yaml -o release/\n"
    "sfumato protect patients.csv -p policy.yaml -o release/ --alpha 0.75 --method bottom-up",
    python='done = sf.protect("patients.csv", "policy.yaml", output="release")\nprint(done)',
)
def protect(  # noqa: PLR0917 - options of a command line
    data: DataArgument,
    policy: Annotated[
        Path,
        typer.Option("--policy", "-p", metavar="FILE", help="What must hold."),
    ],
    output: Annotated[
        str,
        typer.Option(
            "--output",
            "-o",
            metavar="FOLDER|table:NAME",
            help="The release folder to write, or a table of the database that the data is in.",
        ),
    ],
    alpha: Annotated[
        float, typer.Option(metavar="SHARE", help="Mend what is surer than this.")
    ] = 0.5,
    support: SupportOption = None,
    method: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="How rows are recoded; if not the policy's."),
    ] = None,
    rounds: Annotated[
        int, typer.Option(metavar="N", help="Most times classes are generalised further.")
    ] = 3,
    keep_together: Annotated[
        bool, typer.Option("--keep-together", help="Never decouple: write one table, and warn.")
    ] = False,
    form: FormatOption = None,
    force: ReplaceOption = False,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Make a release, look for what still leaks, and mend it.

    Classes in which quasi-identifiers tell a sensitive value are generalised further. Where
    sensitive columns tell about each other, they are published in tables of their own.
    """
    from sfumato.tasks.protect import protect as task

    with progress_bar(quiet=quiet or json) as progress:
        done = task(
            data,
            policy,
            method=method,
            alpha=alpha,
            support=support,
            rounds=rounds,
            decouple_with=None if keep_together else "break-merge",
            output=output,
            format=form,
            force=force,
            progress=progress,
        )
    if json:
        write_json(done.to_dict())
        return
    if quiet:
        return
    from sfumato.cli.leak_views import steps_view

    show(*steps_view(done))
    place = done.release.folder if done.release.place is None else done.release.place
    say(f"\nThe release is in {clean(place)}; all {len(done.release.verdict.checks)} checks hold.")
    for warning in done.warnings:
        say(f"Warning: {clean(warning)}")
