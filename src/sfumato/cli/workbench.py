"""The command that opens the workbench in a browser."""

import os
from pathlib import Path
from typing import Annotated

import typer

from sfumato.cli.command import command
from sfumato.cli.output import say
from sfumato.errors import InputError, reason_of


@command(
    examples="sfumato app\nsfumato app patients.csv\nsfumato app policy.yaml --folder clinic\n"
    "sfumato app release --no-browser",
    python='sf.tools.open_app("patients.csv")',
)
def app(  # noqa: PLR0917 - options of a command line
    given: Annotated[
        str | None,
        typer.Argument(
            metavar="[FILE]", help="A table, a policy or a release to begin with; none to choose."
        ),
    ] = None,
    folder: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Where to work; without it, the present folder."),
    ] = None,
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Open the browser.")
    ] = True,
    port: Annotated[int, typer.Option(metavar="N", min=0, max=65535, help="0 for a free one.")] = 0,
    host: Annotated[
        str,
        typer.Option(
            metavar="ADDRESS",
            help="Where to listen; any but this machine itself needs TLS and a password.",
        ),
    ] = "127.0.0.1",
    certificate: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The TLS certificate.")
    ] = None,
    key: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The private key of the certificate.")
    ] = None,
    password_file: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="A file with the password; never the password itself."),
    ] = None,
    databases: Annotated[
        bool | None,
        typer.Option(
            "--databases/--no-databases",
            help="Let pages open tables of database servers, in your name; without it, only if "
            "the app can be reached from this machine alone.",
        ),
    ] = None,
) -> None:
    """Open the workbench in a browser.

    From a table to a signed release, step by step, on this machine: nothing leaves it, and what
    is left behind is a policy, releases and reports, as the other commands make them.
    """
    from sfumato.app import open_app

    open_app(
        given,
        folder=folder,
        host=host,
        port=port,
        certificate=certificate,
        key=key,
        password=_read_password(password_file),
        databases=databases,
        browser=browser,
        say=say,
    )


def _read_password(path: Path | None) -> str | None:
    if path is None:
        return os.environ.get("SFUMATO_APP_PASSWORD")
    from sfumato.files import read_small

    try:
        return read_small(path, "a password", 4096).decode().strip()
    except (OSError, UnicodeDecodeError) as error:
        why = reason_of(error) if isinstance(error, OSError) else "it is no text"
        raise InputError(f"cannot read the password from {str(path)!r}: {why}") from None
