"""`sfumato check-evidence`: is a release what its publisher signed?"""

from pathlib import Path
from typing import Annotated

import typer

from sfumato.cli.command import command
from sfumato.cli.endings import BROKEN
from sfumato.cli.options import JsonOption, ReleaseArgument
from sfumato.cli.show import cell, show, write_json


@command(
    examples="sfumato check-evidence release/ --public-key publisher.pub\n"
    "sfumato check-evidence release/",
    python='print(sf.check_evidence("release", "publisher.pub"))',
)
def check_evidence(
    release: ReleaseArgument,
    public_key: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="The publisher's; without it anybody may have signed."),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Find out whether a release is what its publisher signed, to the last byte.

    The exit code is 0 if nothing was changed, added or taken away, and 1 if something was; with a
    public key also if the release is not signed, or by another key. Whether the claims are true
    is another question, which sfumato verify answers.
    """
    from sfumato.cli.views import verdict_view
    from sfumato.tasks.evidence import check_evidence as task

    found = task(release, public_key)
    if json:
        write_json(found.to_dict())
    else:
        show(*verdict_view(found), *([cell(found.note)] if found.note else []))
    if not found.holds:
        raise typer.Exit(BROKEN)
