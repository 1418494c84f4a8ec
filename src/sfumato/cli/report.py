"""`sfumato report`: everything that can be said about a release."""

from pathlib import Path
from typing import Annotated

import typer

from sfumato.cli.command import command
from sfumato.cli.endings import BROKEN
from sfumato.cli.files import refuse_existing, write_text
from sfumato.cli.options import ForceOption, QuietOption
from sfumato.cli.passphrase import signing_key
from sfumato.cli.show import clean, say
from sfumato.errors import ParameterError


@command(
    examples="sfumato report release/ -o report.html\n"
    "sfumato report release/ --data original.csv -p policy.yaml -o report.html\n"
    "sfumato report release/ --public -o release/report.html --key publisher.key\n"
    "sfumato report broken/ --ledger clinic.ledger --format json",
    python='report = sf.report("release", data="original.csv", policy="policy.yaml")\n'
    'report.save("report.html")',
)
def report(  # noqa: PLR0917 - options of a command line
    release: Annotated[
        str,
        typer.Argument(metavar="RELEASE", help="The folder of a release, or the address of one."),
    ],
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="FILE", help="The file to write; without it, to stdout."
        ),
    ] = None,
    data: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="The original, to say what was lost and what changed."),
    ] = None,
    policy: Annotated[
        Path | None,
        typer.Option(
            "--policy", "-p", metavar="FILE", help="The policy the release was made with."
        ),
    ] = None,
    ledger: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="The ledger, to say how many more people it takes."),
    ] = None,
    public: Annotated[
        bool,
        typer.Option(
            "--public", help="For everybody: only what can be computed from the release itself."
        ),
    ] = False,
    form: Annotated[
        str | None,
        typer.Option(
            "--format",
            metavar="html|markdown|json",
            help="If not by the ending of the file; to stdout it is markdown.",
        ),
    ] = None,
    key: Annotated[
        Path | None,
        typer.Option(
            "--key",
            metavar="FILE",
            help="Your private key, if the report goes into a release that is signed.",
        ),
    ] = None,
    force: ForceOption = False,
    quiet: QuietOption = False,
) -> None:
    """Write a report on a release: the verdict first, then everything behind it.

    HTML is one file that fetches nothing and can be printed. The exit code is 0 if the release
    may be published and 1 if not; the report is written in any case. With --public it may
    be written into the release, as report.html; the evidence then names it, too.
    """
    from sfumato.reports.build import report as task
    from sfumato.reports.result import form_of
    from sfumato.tasks.enclose import enclose, is_inside, require_place
    from sfumato.tasks.stored import is_stored

    signer = signing_key(key)
    folder = None if is_stored(release) else Path(release)
    inside = output is not None and is_inside(folder, output)
    if signer is not None and not inside:
        raise ParameterError("--key", str(key), "left out unless the report goes into its release")
    if output is not None:
        refuse_existing(output, force=force)
        form = form or form_of(output)
        require_place(folder, output, public=public and form == "html", key=signer)
    found = task(release, data=data, policy=policy, ledger=ledger, public=public)
    text = found.write(form or "markdown")
    if output is None:
        typer.echo(text, nl=False)
    elif folder is not None and inside:
        enclose(folder, text, signer)
    else:
        write_text(output, text, force=force)
    if output is not None and not quiet:
        say(f"May it be published? {found.answer.capitalize()}. Written: {clean(output)}")
    if found.answer == "no":
        raise typer.Exit(BROKEN)
