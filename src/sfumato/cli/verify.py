"""`sfumato verify`: may a release or a table be published?"""

from pathlib import Path
from typing import Annotated

import typer

from sfumato.cli.command import command
from sfumato.cli.endings import BROKEN
from sfumato.cli.lists import listed
from sfumato.cli.options import JsonOption, PublishedArgument, QiOption, SensitiveOption
from sfumato.cli.show import show


@command(
    examples="sfumato verify release/\n"
    "sfumato verify published.csv -p policy.yaml\n"
    "sfumato verify somebodys.csv --qi age,zip --sensitive illness --threshold 0.5\n"
    "sfumato verify release/ --format junit\n"
    "sfumato verify release/ -p policy.yaml --population people.csv",
    python='print(sf.verify("release"))\nprint(sf.verify("published.csv", "policy.yaml"))',
)
def verify(  # noqa: PLR0917 - options of a command line
    what: PublishedArgument,
    policy: Annotated[
        Path | None,
        typer.Option(
            "--policy",
            "-p",
            metavar="FILE",
            help="The policy to hold it to. A plain file needs one, or --qi and --sensitive; "
            "nothing in it is generalised.",
        ),
    ] = None,
    population: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Everybody the data was drawn from, for k-map and delta-presence; else the "
            "policy's.",
        ),
    ] = None,
    qi: QiOption = None,
    sensitive: SensitiveOption = None,
    attacks: Annotated[
        list[str] | None,
        typer.Option("--attack", metavar="NAMES", help="Only these attacks, between commas."),
    ] = None,
    only_promises: Annotated[
        bool, typer.Option("--only-promises", help="Recompute the promises, and attack nothing.")
    ] = False,
    threshold: Annotated[
        float | None,
        typer.Option(
            metavar="P",
            help="From which belief on somebody is at risk; else the policy's, or 0.75.",
        ),
    ] = None,
    people: Annotated[
        int | None,
        typer.Option(metavar="N", help="How many may be at risk; else the policy's, or nobody."),
    ] = None,
    data: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="The table it was made of, to attack who is in it."),
    ] = None,
    outside: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="A list of people to link with it."),
    ] = None,
    earlier: Annotated[
        str | None,
        typer.Option(metavar="RELEASE", help="The release before, to compare the two."),
    ] = None,
    form: Annotated[
        str | None,
        typer.Option(
            "--format",
            metavar="text|json|markdown|junit|sarif",
            help="Print the answer in this form to stdout, and nothing else.",
        ),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Say whether it may be published: recompute every promise, run every attack.

    The promises are recomputed from the published rows alone. Somebody is at risk if an
    adversary's belief reaches the threshold and the release at least halved the adversary's doubt.
    The exit code is 0 if all promises hold and nobody is at risk, and 1 if not.
    """
    from sfumato.errors import ParameterError
    from sfumato.tasks.stored import shown
    from sfumato.tasks.verify import verify as task
    from sfumato.verdicts import FORMATS, written

    chosen = "json" if json else form
    if chosen is not None and chosen not in FORMATS:
        raise ParameterError("--format", chosen, "one of " + ", ".join(FORMATS))
    found = task(
        what,
        policy,
        population=population,
        quasi_identifiers=None if qi is None else listed(qi),
        sensitive=None if sensitive is None else listed(sensitive),
        attacks=not only_promises if attacks is None else listed(attacks),
        threshold=threshold,
        people=people,
        data=data,
        outside=outside,
        earlier=earlier,
    )
    if chosen is not None:
        typer.echo(written(found, chosen, subject=shown(what)), nl=False)
    else:
        from sfumato.cli.assessment_view import assessment_view

        show(*assessment_view(found))
    if not found.holds:
        raise typer.Exit(BROKEN)
