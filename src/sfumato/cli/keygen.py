"""`sfumato keygen`: a new pair of keys."""

from pathlib import Path
from typing import Annotated

import typer

from sfumato.cli.command import command
from sfumato.cli.passphrase import passphrase
from sfumato.cli.show import clean, say


@command(
    examples="sfumato keygen -o publisher\nsfumato keygen -o publisher --passphrase",
    python='sf.keygen("publisher")',
)
def keygen(
    output: Annotated[
        Path,
        typer.Option(
            "--output", "-o", metavar="NAME", help="Write NAME.key (private) and NAME.pub (public)."
        ),
    ],
    protect: Annotated[
        bool,
        typer.Option(
            "--passphrase",
            help="Ask for a passphrase to protect the private key; or SFUMATO_PASSPHRASE has it.",
        ),
    ] = False,
) -> None:
    """Make a pair of keys to sign releases with.

    Whoever has the private key can sign in your name: keep it to yourself. Give the public key to
    your readers by a way they trust. Existing keys are never replaced.
    """
    from sfumato.tasks.evidence import keygen as task

    key = task(output, passphrase=passphrase(new=True) if protect else None)
    typer.echo(str(key.public))
    stem = clean(str(output).removesuffix(".key"))
    say(f"Keep {stem}.key to yourself; give {stem}.pub to your readers.")
