"""`sfumato anonymize`: from a table and a policy to a verified release."""

from pathlib import Path
from typing import Annotated

import typer

from sfumato.cli.command import command
from sfumato.cli.options import (
    DataArgument,
    FormatOption,
    JsonOption,
    KeyOption,
    QuietOption,
    ReplaceOption,
)
from sfumato.cli.passphrase import signing_key
from sfumato.cli.progress import progress_bar
from sfumato.cli.show import clean, say, show, write_json


@command(
    examples="sfumato anonymize patients.csv -p policy.yaml -o release/\n"
    "sfumato anonymize patients.csv -p policy.yaml -o release/ --method top-down\n"
    "sfumato anonymize patients.csv -p policy.yaml -o release/ --key publisher.key\n"
    "sfumato anonymize 'duckdb:///clinic.db?table=patients' -p policy.yaml -o table:released",
    python='release = sf.anonymize("patients.csv", "policy.yaml", output="release")',
)
def anonymize(
    data: DataArgument,
    policy: Annotated[
        Path,
        typer.Option(
            "--policy", "-p", metavar="FILE", help="What must hold; sfumato init drafts one."
        ),
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
    *,
    method: Annotated[
        str | None,
        typer.Option(
            metavar="full-domain|top-down|mondrian|bottom-up",
            help="How rows are recoded, if not as the policy says: all alike, or each only as far "
            "as it must be.",
        ),
    ] = None,
    form: FormatOption = None,
    force: ReplaceOption = False,
    key: KeyOption = None,
    memory: Annotated[
        str | None,
        typer.Option(
            metavar="SIZE",
            help="How much memory it may take, as in 2GB; if the combinations do not fit, coarser "
            "levels are started from.",
        ),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="Fix the random order of rows, for experiments. Such a release is not for "
            "publication.",
        ),
    ] = None,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Make a release that keeps a policy.

    The table is generalised until the policy's models hold, with the least possible loss.
    The release is verified before it appears. If anything fails, nothing is written.
    """
    from sfumato.tasks.anonymize import anonymize as task

    with progress_bar(quiet=quiet or json) as progress:
        release = task(
            data,
            policy,
            method=method,
            output=output,
            format=form,
            force=force,
            key=signing_key(key),
            memory=memory,
            seed=seed,
            progress=progress,
        )
    if json:
        write_json(release.to_dict())
        return
    if quiet:
        return
    from sfumato.cli.views import release_view

    show(*release_view(release))
    place = release.folder if release.place is None else release.place
    say(f"\nThe release is in {clean(place)}; all {len(release.verdict.checks)} checks hold.")
    for warning in release.warnings:
        say(f"Warning: {clean(warning)}")
