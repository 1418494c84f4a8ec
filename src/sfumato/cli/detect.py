"""`sfumato detect`: what a published table still tells."""

from pathlib import Path
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
    SupportOption,
)
from sfumato.cli.progress import progress_bar
from sfumato.cli.show import clean, say, show, write_json


@command(
    examples="sfumato detect release/\n"
    "sfumato detect release/ --alpha 0.75 --knows Government=State-gov --knows 'Age=30-50'\n"
    "sfumato detect published.csv --qi age,zip --sensitive illness --draw drawings/",
    python='findings = sf.detect("release", alpha=0.5)\nprint(findings)\n'
    'print(findings.infer({"Government": "State-gov"}))',
)
def detect(  # noqa: PLR0917 - options of a command line
    what: PublishedArgument,
    alpha: Annotated[
        float, typer.Option(metavar="SHARE", help="Report what is surer than this.")
    ] = 0.5,
    policy: RolesOption = None,
    qi: QiOption = None,
    sensitive: SensitiveOption = None,
    knows: Annotated[
        list[str] | None,
        typer.Option(metavar="COLUMN=VALUE", help="Something an adversary knows of a person."),
    ] = None,
    learner: Annotated[
        str, typer.Option(metavar="NAME", help="How networks are learned: ic, weka-ics, …")
    ] = "ic",
    support: SupportOption = None,
    size: Annotated[
        int, typer.Option(metavar="N", help="Most facts an adversary knows, for the facts shown.")
    ] = 2,
    draw: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Write the networks and tables as SVG there."),
    ] = None,
    export: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write the network over all columns: .bif .graphml .dot"),
    ] = None,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Find the dependencies an adversary could use.

    Bayesian networks are learned on the published rows; every rule that tells something with
    more than alpha is reported, with how many people it exposes. The exit code is 0: finding
    leaks is what the command is for.
    """
    from sfumato.tasks.detect import detect as task
    from sfumato.tasks.known import known_values

    with progress_bar(quiet=quiet or json) as progress:
        findings = task(
            what,
            quasi_identifiers=None if qi is None else listed(qi),
            sensitive=None if sensitive is None else listed(sensitive),
            policy=policy,
            alpha=alpha,
            learner=learner,
            support=support,
            progress=progress,
        )
        inferred = findings.infer(known_values(findings.counts, knows)) if knows else None
    written: list[Path] = []
    if draw is not None or export is not None:
        from sfumato.tasks.draw import draw_findings, export_network

        written += draw_findings(findings, draw) if draw is not None else []
        written += [export_network(findings, export)] if export is not None else []
    if json:
        plain = findings.to_dict()
        plain["facts"] = [fact.to_dict() for fact in findings.facts(size=size)]
        if inferred is not None:
            plain["inferred"] = [one.to_dict() for one in inferred.values()]
        write_json(plain)
        return
    if quiet:
        return
    from sfumato.cli.leak_views import findings_view, inference_view

    show(*findings_view(findings, size))
    if inferred is not None:
        show(*inference_view(inferred))
    for note in findings.notes:
        say(f"Note: {clean(note)}")
    for path in written:
        say(f"Written: {clean(path)}")
