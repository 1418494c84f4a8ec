"""`sfumato estimate`: count with nothing but a release."""

from pathlib import Path
from typing import Annotated

import typer

from sfumato.cli.command import command
from sfumato.cli.conditions import conditions
from sfumato.cli.options import JsonOption, PublishedArgument, QuietOption
from sfumato.cli.show import cell, show, write_json


@command(
    examples='sfumato estimate broken/ --where "age=30..45" --where "illness=flu"\n'
    'sfumato estimate slices/ --where "sex=f,m" --where "salary=..3000" --json\n'
    'sfumato estimate release/ --where "job=cook" -p policy.yaml --original people.csv',
    python='print(sf.estimate("broken", {"age": (30, 45), "illness": "flu", "sex": ["f", "m"]}))',
)
def estimate(
    what: PublishedArgument,
    where: Annotated[
        list[str],
        typer.Option(
            metavar="COLUMN=VALUES",
            help="A value, values between commas, or a range low..high; may be repeated.",
        ),
    ],
    original: Annotated[
        str | None,
        typer.Option(
            metavar="DATA", help="The table it was made of, to know which values there are."
        ),
    ] = None,
    policy: Annotated[
        Path | None,
        typer.Option(
            "--policy", "-p", metavar="FILE", help="Read labels by the hierarchies of a policy."
        ),
    ] = None,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Estimate how many rows have such values, as an analyst who has only the release would.

    Rows behind a label are taken to be spread evenly over what it stands for, and columns
    published apart to have nothing to do with each other within a group. Beside the estimate
    stand the fewest and the most rows it can be in any table behind the release.
    """
    from sfumato.tasks.estimate import estimate as task

    found = task(what, conditions(where), original=original, policy=policy)
    if json:
        write_json(found.to_dict())
    elif not quiet:
        show(cell(found))
