"""`sfumato decouple`: from a release to several tables with weak links."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from sfumato.cli.command import command
from sfumato.cli.lists import listed
from sfumato.cli.options import (
    FormatOption,
    JsonOption,
    KeyOption,
    PublishedArgument,
    QiOption,
    QuietOption,
    ReplaceOption,
    SensitiveOption,
)
from sfumato.cli.passphrase import signing_key
from sfumato.cli.progress import progress_bar
from sfumato.cli.settings import settings
from sfumato.cli.show import clean, say, show, write_json
from sfumato.errors import ParameterError


@command(
    examples="sfumato decouple release/ -o broken/\n"
    "sfumato decouple published.csv -o broken/ --qi age,zip --sensitive illness,salary\n"
    "sfumato decouple people.csv -o slices/ -p policy.yaml\n"
    "sfumato decouple people.csv -o buckets/ --method anatomy --option l=3 --qi age,zip "
    "--sensitive illness",
    python='broken = sf.decouple("release", "break-merge", output="broken")',
)
def decouple(  # noqa: PLR0917 - options of a command line
    what: PublishedArgument,
    output: Annotated[
        str,
        typer.Option(
            "--output",
            "-o",
            metavar="FOLDER|table:NAME",
            help="The folder to write, or tables of the database that the data is in.",
        ),
    ],
    method: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="How to decouple; else as the policy says, or break-merge."
        ),
    ] = None,
    option: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=VALUE",
            help="A setting of --method, a list as [A, B]; may be repeated.",
        ),
    ] = None,
    policy: Annotated[
        Path | None,
        typer.Option(
            "--policy", "-p", metavar="FILE", help="Take roles, models and method from a policy."
        ),
    ] = None,
    qi: QiOption = None,
    sensitive: SensitiveOption = None,
    form: FormatOption = None,
    force: ReplaceOption = False,
    key: KeyOption = None,
    seed: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="Fix all that is random, for experiments. Such a release is not for publication.",
        ),
    ] = None,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Publish quasi-identifiers and sensitive columns apart.

    With break-merge one table has a row per person with what others may know and a group, and one
    table per sensitive column counts the values of each group; anatomy and slicing part rows into
    buckets. The tables are verified before they appear. If anything fails, nothing is written.
    """
    from sfumato.tasks.decouple import decouple as task

    with progress_bar(quiet=quiet or json) as progress:
        release = task(
            what,
            _chosen(method, option or ()),
            output=output,
            quasi_identifiers=None if qi is None else listed(qi),
            sensitive=None if sensitive is None else listed(sensitive),
            policy=policy,
            format=form,
            force=force,
            key=signing_key(key),
            seed=seed,
            progress=progress,
        )
    if json:
        write_json(release.to_dict())
        return
    if quiet:
        return
    from sfumato.cli.decoupled_view import decoupled_view

    show(*decoupled_view(release))
    place = release.folder if release.place is None else release.place
    say(f"\nThe tables are in {clean(place)}; all {len(release.verdict.checks)} checks hold.")
    for warning in release.warnings:
        say(f"Warning: {clean(warning)}")


def _chosen(method: str | None, options: Sequence[str]) -> dict[str, object] | None:
    """Give the method with its settings; None leaves both to the policy."""
    if method is not None:
        return {"method": method, **settings(options)}
    if options:
        why = "a policy says the settings of its own method"
        raise ParameterError("option", options[0], "given together with --method", why=why)
    return None
