"""`sfumato utility`: how much can still be learnt from what is published."""

from typing import Annotated

import typer

from sfumato.cli.command import command
from sfumato.cli.lists import listed
from sfumato.cli.options import (
    JsonOption,
    OriginalArgument,
    QiOption,
    QuietOption,
    ReleasesArgument,
    RolesOption,
    SeedOption,
    SensitiveOption,
)
from sfumato.cli.progress import progress_bar
from sfumato.cli.releases import named
from sfumato.cli.show import cell, show, table, write_json


@command(
    examples="sfumato utility people.csv release/ -p policy.yaml\n"
    "sfumato utility people.csv release/ broken/ slices/ -p policy.yaml --queries 5000\n"
    "sfumato utility people.csv published.csv --qi age,zip --sensitive illness --json",
    python='releases = {"whole": "release", "apart": "broken"}\n'
    'print(sf.compare_utility("people.csv", releases, policy="policy.yaml"))',
)
def utility(  # noqa: PLR0917 - options of a command line
    original: OriginalArgument,
    releases: ReleasesArgument,
    policy: RolesOption = None,
    qi: QiOption = None,
    sensitive: SensitiveOption = None,
    queries: Annotated[
        int, typer.Option(metavar="N", help="How many counting queries are asked.")
    ] = 1000,
    classify: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="Let a decision tree learn to tell this column."),
    ] = None,
    seed: SeedOption = 0,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Say how well releases still answer questions, beside the table they were made of.

    Random counting queries are put to the original and to each release, and the correlations
    between columns are compared. All releases are asked the same. The policy's hierarchies
    say what labels stand for. The exit code is 0: this measures, and judges nothing.
    """
    from sfumato.tasks.utility import compare_utility as task

    with progress_bar(quiet=quiet or json) as progress:
        found = task(
            original,
            named(releases),
            policy=policy,
            quasi_identifiers=None if qi is None else listed(qi),
            sensitive=None if sensitive is None else listed(sensitive),
            queries=queries,
            classify=classify,
            seed=seed,
            progress=progress,
        )
    if json:
        write_json(found.to_dict())
    elif not quiet:
        heads, *lines = found.cells
        each = [f"{name}: {found[name]}" for name in found] if len(found) == 1 else []
        shown = table(heads, lines, right=heads[1:])
        show(shown, *(cell(text, keep="\n") for text in each))
