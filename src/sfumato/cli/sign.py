"""`sfumato sign`: sign a release that was written before."""

from pathlib import Path
from typing import Annotated

import typer

from sfumato.cli.command import command
from sfumato.cli.options import JsonOption, QuietOption, ReleaseArgument
from sfumato.cli.passphrase import signing_key
from sfumato.cli.show import write_json


@command(
    examples="sfumato sign release/ --key publisher.key",
    python='sf.sign("release", "publisher.key")',
)
def sign(
    release: ReleaseArgument,
    key: Annotated[
        Path, typer.Option("--key", metavar="FILE", help="Your private key; keygen makes one.")
    ],
    force: Annotated[
        bool, typer.Option("--force", help="Replace the signature of another key.")
    ] = False,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Sign a release, after verifying it once more.

    The signature is in evidence.json and covers every file of the folder and what it claims; in a
    database it is in a table beside the release and covers every row of it.
    Nothing is signed that does not hold, or was changed since it was published.
    """
    from sfumato.tasks.evidence import sign as task

    signer = signing_key(key)
    assert signer is not None  # noqa: S101 - the option is required
    found = task(release, signer, force=force)
    if json:
        write_json(found.to_dict())
    elif not quiet:
        typer.echo(found.note)
