"""The command that draws rows under differential privacy."""

from pathlib import Path
from typing import Annotated

import typer

from sfumato.cli.command import command
from sfumato.cli.options import (
    AccountOption,
    DataArgument,
    EvenSoOption,
    FormatOption,
    JsonOption,
    KeyOption,
    ReplaceOption,
    SetOption,
    policy_with,
    signing_key,
)
from sfumato.cli.output import finish, progress_bar


@command(
    examples="sfumato synthesize patients.csv -p policy.yaml -o synthetic/ --epsilon 1 --delta "
    "1e-9\n"
    "sfumato synthesize visits.csv -p policy.yaml -o synthetic/ --epsilon 2 --contributions 5",
    python='release = sf.synthesize("patients.csv", "policy.yaml", epsilon=1, delta=1e-9, '
    'output="synthetic")',
)
def synthesize(
    data: DataArgument,
    policy: Annotated[
        Path,
        typer.Option(
            "--policy", "-p", metavar="FILE", help="The roles of columns, and their domains."
        ),
    ],
    output: Annotated[
        str,
        typer.Option("--output", "-o", metavar="FOLDER", help="The release folder to write."),
    ],
    *,
    epsilon: Annotated[
        float | None,
        typer.Option(metavar="NUMBER", help="How much one person may change: 1 or less is strong."),
    ] = None,
    delta: Annotated[
        float | None,
        typer.Option(
            metavar="NUMBER",
            help="The probability with which nothing is promised, as in 1e-9; without it, none.",
        ),
    ] = None,
    rho: Annotated[
        float | None,
        typer.Option(metavar="NUMBER", help="The budget in place of epsilon, with --delta."),
    ] = None,
    mechanism: Annotated[
        str,
        typer.Option(
            metavar="mst|aim",
            help="mst counts the strongest pairs of columns; aim sets of up to three in turn, "
            "which takes far longer.",
        ),
    ] = "mst",
    contributions: Annotated[
        int, typer.Option(metavar="ROWS", help="The most rows of a person that count.")
    ] = 1,
    unit: Annotated[
        str,
        typer.Option(metavar="person|household", help="Whom the promise is about."),
    ] = "person",
    account: AccountOption = None,
    changes: SetOption = None,
    form: FormatOption = None,
    force: ReplaceOption = False,
    key: KeyOption = None,
    even_so: EvenSoOption = False,
    json: JsonOption = False,
) -> None:
    """Publish synthetic rows under differential privacy.

    Rows are drawn from a model of noisy counts: no row is a person's. The policy states the domain
    of every column, so that nothing is read off the data. It takes the extra synthetic, and has no
    seed: noise that can be drawn again protects no person.
    """
    from sfumato.tasks.synthesize import synthesize as task

    with progress_bar(quiet=json) as progress:
        release = task(
            data,
            policy_with(policy, changes),
            epsilon=epsilon,
            delta=delta,
            rho=rho,
            mechanism=mechanism,
            contributions=contributions,
            unit=unit,
            account=account,
            output=output,
            format=form,
            force=force,
            key=signing_key(key),
            even_so=even_so,
            progress=progress,
        )
    checks = len(release.verdict.checks)
    finish(
        release, json=json, note=f"\nThe release is in {release.folder}; all {checks} checks hold."
    )


# `sfumato account`: what was spent on a source over all its noisy releases.


@command(
    examples="sfumato account clinic.account --epsilon 3 --delta 1e-6\n"
    "sfumato account clinic.account",
    python='sf.tools.account("clinic.account", epsilon=3, delta=1e-6)\n'
    'print(sf.tools.account("clinic.account"))',
)
def account(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="The private file that keeps the account.")
    ],
    *,
    epsilon: Annotated[
        float | None,
        typer.Option(metavar="NUMBER", help="Open an account: the most that may be spent."),
    ] = None,
    delta: Annotated[
        float | None,
        typer.Option(metavar="NUMBER", help="The delta at which that is meant."),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Open or show the privacy budget of a source.

    Noisy releases of the same people tell more together than each alone. With --account, sfumato
    synthesize and decouple write down what they spend, and refuse what is beyond the limit of all.
    """
    from sfumato.tasks.account import account as task

    finish(task(file, epsilon=epsilon, delta=delta), json=json)
