"""`sfumato membership`: can others tell who is in the data at all?"""

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
from sfumato.cli.show import show, table, write_json


@command(
    examples="sfumato membership people.csv release/ -p policy.yaml\n"
    "sfumato membership people.csv release/ buckets/ slices/ -p policy.yaml\n"
    "sfumato membership people.csv published.csv --qi age,zip --json",
    python='releases = {"whole": "release", "slices": "slices"}\n'
    'print(sf.membership("people.csv", releases, policy="policy.yaml"))',
)
def membership(  # noqa: PLR0917 - options of a command line
    original: OriginalArgument,
    releases: ReleasesArgument,
    policy: RolesOption = None,
    qi: QiOption = None,
    sensitive: SensitiveOption = None,
    fakes: Annotated[
        int, typer.Option(metavar="N", help="How many made-up people are drawn at most.")
    ] = 10_000,
    confidence: Annotated[
        float, typer.Option(metavar="SHARE", help="How sure the interval of a sample is.")
    ] = 0.95,
    seed: SeedOption = 0,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Hold real and made-up people against the groups of releases, side by side.

    Shown are how many groups a real and a made-up person match, and the share of made-up people
    who match none: of those others can tell that they are not in the data. The nearer to 100%,
    the more matching says about the rest. The exit code is 0: this measures, and judges nothing.
    """
    from sfumato.tasks.membership import membership as task

    with progress_bar(quiet=quiet or json) as progress:
        found = task(
            original,
            named(releases),
            policy=policy,
            quasi_identifiers=None if qi is None else listed(qi),
            sensitive=None if sensitive is None else listed(sensitive),
            fakes=fakes,
            confidence=confidence,
            seed=seed,
            progress=progress,
        )
    if json:
        write_json(found.to_dict())
    elif not quiet:
        heads, *lines = found.cells
        show(table(heads, lines, right=heads[1:]))
