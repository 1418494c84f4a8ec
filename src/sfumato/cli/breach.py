"""`sfumato breach`: what a broken table leaves to guess."""

from typing import Annotated

import typer

from sfumato.cli.command import command
from sfumato.cli.lists import listed
from sfumato.cli.options import (
    JsonOption,
    PublishedArgument,
    QiOption,
    QuietOption,
    RolesOption,
    SensitiveOption,
)
from sfumato.cli.progress import progress_bar
from sfumato.cli.show import show, write_json


@command(
    examples="sfumato breach broken/\n"
    "sfumato breach broken/ --group 'Age=[30-50]' --knows Government=State-gov\n"
    "sfumato breach published.csv --qi age,zip --sensitive illness,salary --alpha 0.5",
    python='exposure = sf.breach("broken", alpha=0.5)\nprint(exposure)\n'
    'print(exposure.person({"Age": "[30-50]"}, {"Government": "State-gov"}))',
)
def breach(  # noqa: PLR0917 - options of a command line
    what: PublishedArgument,
    group: Annotated[
        list[str] | None,
        typer.Option(metavar="COLUMN=VALUE", help="A published quasi-identifier of a person."),
    ] = None,
    knows: Annotated[
        list[str] | None,
        typer.Option(metavar="COLUMN=VALUE", help="A sensitive value an adversary knows."),
    ] = None,
    alpha: Annotated[
        float | None,
        typer.Option(metavar="SHARE", help="Count who is above this, and how many more may come."),
    ] = None,
    original: Annotated[
        str | None,
        typer.Option(
            metavar="RELEASE_OR_FILE", help="What a broken release was made of, to compare with."
        ),
    ] = None,
    policy: RolesOption = None,
    qi: QiOption = None,
    sensitive: SensitiveOption = None,
    most: Annotated[int, typer.Option(metavar="N", min=1, help="How many guesses are shown.")] = 10,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Say how surely people's values can be guessed once a table is broken.

    A broken release is taken as it is; another release or table is broken in memory, and
    what it told before stands beside. With --group the answer is about one person. The exit
    code is 0: looking for breaches is what the command is for.
    """
    from sfumato.tasks.breach import breach as task
    from sfumato.tasks.breach import named_values

    with progress_bar(quiet=quiet or json) as progress:
        exposure = task(
            what,
            quasi_identifiers=None if qi is None else listed(qi),
            sensitive=None if sensitive is None else listed(sensitive),
            policy=policy,
            original=original,
            alpha=alpha,
            progress=progress,
        )
    columns = [table.column for table in exposure.broken.sensitive]
    known = named_values(columns, knows or [])
    from sfumato.cli.breach_views import breach_view, exposure_view, holders_view

    if group:
        wanted = named_values(exposure.broken.quasi_identifiers, group)
        person = exposure.person(wanted, known)
        if json:
            write_json({"person": person.to_dict(most=most, alpha=alpha)})
        elif not quiet:
            show(*breach_view(person, alpha, most))
    elif known:
        found = exposure.holders(known)
        if json:
            write_json({"holders": [one.to_dict() for one in found]})
        elif not quiet:
            show(*holders_view(found, most))
    elif json:
        write_json(exposure.to_dict(most=most))
    elif not quiet:
        show(*exposure_view(exposure, most))
