"""`sfumato explain`: what a release tells about one person."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from sfumato.cli.command import command
from sfumato.cli.files import refuse_existing, write_text
from sfumato.cli.lists import listed
from sfumato.cli.options import (
    ForceOption,
    JsonOption,
    PublishedArgument,
    QiOption,
    RolesOption,
    SensitiveOption,
)
from sfumato.cli.show import clean, say, show, write_json
from sfumato.errors import InputError


@command(
    examples="sfumato explain release/ age=41 zip=25961 nationality=Japanese\n"
    "sfumato explain release/ age=41 zip=25961 --not 'Heart Disease' --svg person.svg\n"
    "sfumato explain broken/ age=41 --known occupation=Sales --prior 'Heart Disease=0.001'\n"
    "sfumato explain published.csv age=41 --qi age,zip --sensitive illness",
    python='found = sf.explain("release", {"age": 41, "zip": 25961}, '
    'knows={"not": "Heart Disease"})\nprint(found)',
)
def explain(  # noqa: PLR0917 - options of a command line
    what: PublishedArgument,
    person: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="COLUMN=VALUE",
            help="Known of the person: quasi-identifiers as they really are.",
        ),
    ] = None,
    ruled_out: Annotated[
        list[str] | None,
        typer.Option("--not", metavar="VALUE", help="A sensitive value the person has not."),
    ] = None,
    known: Annotated[
        list[str] | None,
        typer.Option(metavar="COLUMN=VALUE", help="A sensitive value the person has."),
    ] = None,
    prior: Annotated[
        list[str] | None,
        typer.Option(metavar="VALUE=SHARE", help="How likely a value is to the adversary."),
    ] = None,
    column: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="The sensitive column that is asked about.")
    ] = None,
    policy: RolesOption = None,
    qi: QiOption = None,
    sensitive: SensitiveOption = None,
    data: Annotated[
        str | None,
        typer.Option(
            metavar="FILE", help="The original, for hierarchies that are built from the data."
        ),
    ] = None,
    svg: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Draw what is believed as SVG there.")
    ] = None,
    force: ForceOption = False,
    json: JsonOption = False,
) -> None:
    """Say what somebody who knows a person learns of the person's sensitive values.

    Every class, group or bucket that fits what is known is taken, and what is believed of each
    value stands beside what is believed of everybody. Where several columns have a
    value, write column=value. The exit code is 0, also if nobody fits.
    """
    if svg is not None:
        refuse_existing(svg, force=force)
    knows: dict[str, Any] = {
        "not": list(ruled_out or []),
        "is": _pairs(known or []),
        "prior": {value: _share(share, value) for value, share in _last(prior or [])},
    }
    from sfumato.tasks.explain import explain as task

    found = task(
        what,
        _pairs(person or []),
        knows=knows,
        column=column,
        policy=policy,
        quasi_identifiers=None if qi is None else listed(qi),
        sensitive=None if sensitive is None else listed(sensitive),
        data=data,
    )
    if svg is not None and found.beliefs:
        write_text(svg, found.svg(column), force=force)
        say(f"Written: {clean(svg)}")
    elif svg is not None:
        say("Nothing was drawn: nobody fits.")
    if json:
        write_json(found.to_dict())
        return
    from sfumato.cli.explain_view import explain_view

    show(*explain_view(found))


def _pairs(given: Sequence[str]) -> dict[str, str | None]:
    """Read `column=value`; nothing after the sign is a missing value."""
    found: dict[str, str | None] = {}
    for text in given:
        name, sign, value = text.partition("=")
        if not sign or not name:
            raise InputError(f"{text!r} must be a column and a value. Write it as column=value.")
        if name in found:
            raise InputError(f"{name}: two values are given for it. Give one.")
        found[name] = value or None
    return found


def _last(given: Sequence[str]) -> list[tuple[str, str]]:
    """Cut at the last sign: a value may hold one itself."""
    for text in given:
        if "=" not in text:
            raise InputError(f"{text!r} must be a value and a share. Write it as 'flu=0.01'.")
    return [(value, share) for value, _, share in (text.rpartition("=") for text in given)]


def _share(text: str, value: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise InputError(
            f"{value}: {text!r} is no share. Give a number from 0 to 1, such as 0.01."
        ) from None
