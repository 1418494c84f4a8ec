"""Commands that describe releases: a report on one, and the difference of two."""

from pathlib import Path
from typing import Annotated

import typer

from sfumato.cli.command import BROKEN, command
from sfumato.cli.options import (
    EarlierOption,
    EvenSoOption,
    ForceOption,
    JsonOption,
    MadeWithOption,
    OutsideOption,
    PeopleFileOption,
    PopulationOption,
    QiOption,
    RolesOption,
    SensitiveOption,
    refuse_existing,
    signing_key,
    split_names,
    write_text,
)
from sfumato.cli.output import clean, finish, note, progress_bar, put
from sfumato.errors import ParameterError


@command(
    examples="sfumato report release/ -o report.html\n"
    "sfumato report release/ --data original.csv -p policy.yaml -o report.html\n"
    "sfumato report release/ --public -o release/report.html --key publisher.key\n"
    "sfumato report decoupled/ --ledger clinic.ledger --format json",
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
    policy: MadeWithOption = None,
    ledger: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="The ledger, to say how many more people it takes."),
    ] = None,
    people_file: PeopleFileOption = None,
    population: PopulationOption = None,
    outside: OutsideOption = None,
    earlier: EarlierOption = None,
    public: Annotated[
        bool,
        typer.Option(
            "--public", help="For the public: only what can be computed from the release itself."
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
    even_so: EvenSoOption = False,
    force: ForceOption = False,
) -> None:
    """Write a report on a release.

    The first page has the answer; everything behind it follows. HTML is one file that fetches
    nothing; print it, or save it as PDF, from a browser. The answer is that of `sfumato verify`
    with the same options. The exit code is 0 if the release may be published and 1 if not; the
    report is written in any case. With --public it may be written into the release, as report.html;
    the evidence then names it, too.
    """
    from sfumato.releases.evidence import enclose, is_inside, require_place
    from sfumato.releases.release import is_stored
    from sfumato.reports.report import form_of
    from sfumato.reports.report import report as task
    from sfumato.tasks.signing import answer_to_sign

    signer = signing_key(key)
    folder = None if is_stored(release) else Path(release)
    inside = output is not None and is_inside(folder, output)
    if signer is not None and not inside:
        raise ParameterError("--key", str(key), "left out unless the report goes into its release")
    if output is not None:
        refuse_existing(output, force=force)
        form = form or form_of(output)
        require_place(folder, output, public=public and form == "html", key=signer)
    with progress_bar() as progress:
        found = task(
            release,
            data=data,
            policy=policy,
            ledger=ledger,
            people_file=people_file,
            population=population,
            outside=outside,
            earlier=earlier,
            public=public,
            progress=progress,
        )
    text = found.write(form or "markdown")
    if output is None:
        put(text)
    elif folder is not None and inside:
        enclose(folder, text, signer, answer=lambda: answer_to_sign(folder, even_so=even_so))
    else:
        write_text(output, text, force=force, private="" if public else "the report")
    if output is not None:
        note(f"May it be published? {found.answer.capitalize()}. Written: {clean(output)}")
    if found.answer == "no":
        raise typer.Exit(BROKEN)


# `sfumato diff`: what changed between two releases.


@command(
    examples="sfumato diff old/ new/\n"
    "sfumato diff old/ new/ --data patients.csv -p policy.yaml\n"
    "sfumato diff before.csv after.csv --qi age,zip --sensitive illness",
    python='print(sf.diff("old", "new"))',
)
def diff(
    old: Annotated[
        str, typer.Argument(metavar="OLD", help="The release before: its folder, or a file.")
    ],
    new: Annotated[
        str, typer.Argument(metavar="NEW", help="The release after: its folder, or a file.")
    ],
    policy: RolesOption = None,
    qi: QiOption = None,
    sensitive: SensitiveOption = None,
    data: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="The table both were made of, to compare answers."),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Compare the risk and usefulness of two releases.

    Both are verified and attacked by the same rules; what was done differently is read from their
    manifests. The exit code is 0 whatever is found: `sfumato verify` judges a release.
    """
    from sfumato.comparison.diff import diff as task

    with progress_bar("Judging both releases", quiet=json):
        found = task(
            old,
            new,
            policy=policy,
            quasi_identifiers=None if qi is None else split_names(qi),
            sensitive=None if sensitive is None else split_names(sensitive),
            data=data,
        )
    finish(found, json=json)
