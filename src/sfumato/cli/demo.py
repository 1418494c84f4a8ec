"""`sfumato demo`: the whole chain on invented people, in seconds."""

import tempfile
from pathlib import Path
from typing import Annotated

import typer

from sfumato.cli.command import command
from sfumato.cli.endings import BROKEN
from sfumato.cli.progress import progress_bar
from sfumato.cli.show import say, show


@command(
    examples="sfumato demo\nsfumato demo --rows 20000 -o release --keep",
    python="people = sf.samples.synthetic(5000, seed=1)\n"
    "release = sf.anonymize(people, sf.samples.synthetic_policy())\n"
    "print(release, release.verdict)",
)
def demo(
    output: Annotated[
        Path,
        typer.Option(
            "--output", "-o", metavar="FOLDER", help="The release; a former one is replaced."
        ),
    ] = Path("demo-release"),
    rows: Annotated[int, typer.Option(metavar="N", help="How many people to invent.")] = 5000,
    keep: Annotated[
        bool,
        typer.Option("--keep", help="Keep the invented data and the policy, beside the release."),
    ] = False,
) -> None:
    """See the whole chain on invented people.

    Hospital patients are invented, their risk is shown, they are anonymised, and the
    release is verified.
    """
    raise NotImplementedError
