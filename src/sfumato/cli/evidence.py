"""Commands about evidence: keys, signing, and checking what was signed."""

from pathlib import Path
from typing import Annotated

import typer

from sfumato.cli.command import BROKEN, command
from sfumato.cli.options import (
    BecauseOption,
    EvenSoOption,
    JsonOption,
    MadeWithOption,
    PeopleFileOption,
    ReleaseArgument,
    insisting,
    passphrase,
    signing_key,
)
from sfumato.cli.output import clean, finish, is_quiet, progress_bar, put, say, write_json


@command(
    examples="sfumato sign release/ --key publisher.key",
    python='sf.sign("release", "publisher.key")',
)
def sign(  # noqa: PLR0917 - options have names
    release: ReleaseArgument,
    key: Annotated[
        Path, typer.Option("--key", metavar="FILE", help="Your private key; keygen makes one.")
    ],
    policy: MadeWithOption = None,
    population: Annotated[
        str | None,
        typer.Option(
            "--population",
            metavar="FILE",
            help="All people the data was drawn from, to check k-map and delta-presence.",
        ),
    ] = None,
    people_file: PeopleFileOption = None,
    force: Annotated[
        bool, typer.Option("--force", help="Replace the signature of another key.")
    ] = False,
    even_so: EvenSoOption = False,
    because: BecauseOption = None,
    json: JsonOption = False,
) -> None:
    """Sign a release, after verifying it once more.

    The signature is in evidence.json and covers every file of the folder and what it claims; in a
    database it is in a table beside the release and covers every row of it.
    Nothing is signed that does not hold, could not be checked, or was changed since it was
    published; nor a report.html that is not the one sfumato report makes.
    """
    from sfumato.reports.signing import sign as task

    signer = signing_key(key)
    assert signer is not None  # noqa: S101 - the option is required
    with progress_bar("Verifying and signing", quiet=json):
        found = task(
            release,
            signer,
            policy=policy,
            population=population,
            people_file=people_file,
            force=force,
            even_so=insisting(even_so, because),
        )
    if json:
        write_json(found.to_dict())
    elif not is_quiet():
        put(f"{found.note}\n")


# `sfumato keygen`: a new pair of keys.


@command(
    examples="sfumato keygen -o publisher\nsfumato keygen -o publisher --passphrase",
    python='sf.evidence.keygen("publisher")',
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

    Anyone with the private key can sign in your name: keep it to yourself. Give the public key to
    your readers by a way they trust. Existing keys are never replaced.
    """
    from sfumato.evidence import keygen as task

    key = task(output, passphrase=passphrase(new=True) if protect else None)
    put(f"{key.public}\n")
    stem = clean(str(output).removesuffix(".key"))
    say(f"Keep {stem}.key to yourself; give {stem}.pub to your readers.")


# `sfumato check-evidence`: is a release what its publisher signed?


@command(
    examples="sfumato check-evidence release/ --public-key publisher.pub\n"
    "sfumato check-evidence release/",
    python='print(sf.check_evidence("release", "publisher.pub"))',
)
def check_evidence(
    release: ReleaseArgument,
    public_key: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="The publisher's; without it any person may have signed."
        ),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Check that a release is what its publisher signed.

    Every byte counts. The exit code is 0 if nothing was changed, added or taken away, and 1 if
    something was; with a public key also if the release is not signed, or by another key. Whether
    the claims are true is another question, which sfumato verify answers.
    """
    from sfumato.tasks.evidence import check_evidence as task

    with progress_bar("Checking the evidence", quiet=json):
        found = task(release, public_key)
    finish(found, json=json)
    if not found.holds:
        raise typer.Exit(BROKEN)
