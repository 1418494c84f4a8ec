"""`sfumato init`: draft a policy for a table."""

from pathlib import Path
from shlex import quote
from typing import Annotated

import typer

from sfumato.cli.command import command
from sfumato.cli.files import refuse_existing, write_text
from sfumato.cli.options import DataArgument, ForceOption
from sfumato.cli.progress import progress_bar
from sfumato.cli.show import clean, say, show


@command(
    examples="sfumato init patients.csv\nsfumato init patients.csv -o - | less",
    python='print(sf.draft("patients.csv").text)',
)
def init(
    data: DataArgument,
    output: Annotated[
        str,
        typer.Option("--output", "-o", metavar="FILE", help="Where to write it; - for stdout."),
    ] = "policy.yaml",
    force: ForceOption = False,
) -> None:
    """Draft a policy for a table.

    What each column is, is guessed from its name and values; hierarchies are built, and the
    columns that single people out are shown. Read the draft and correct it: only you know
    who will see the release and what they know already.
    """
    to_stdout = output == "-"
    target = Path(output)
    if not to_stdout:
        refuse_existing(target, force=force)
        _refuse_to_replace(target, data)
    from sfumato.cli.views import draft_view
    from sfumato.tasks.draft import draft as task
    from sfumato.tasks.inspect import inspect
    from sfumato.tasks.stored import shown

    with progress_bar() as progress:
        draft = task(data, progress=progress)
        inspection = inspect(data, policy=draft.policy, progress=progress)
    show(*draft_view(draft, inspection), err=to_stdout)
    if to_stdout:
        typer.echo(draft.text, nl=False)
        return
    write_text(target, draft.text, force=force)
    say(
        f"\nWrote {clean(target)}. Read it, correct it, then:\n"
        f"  sfumato anonymize {quote(clean(shown(data)))} -p {quote(clean(target))} -o release"
    )


def _refuse_to_replace(target: Path, data: str) -> None:
    from sfumato.errors import OutputError

    if target.exists() and Path(data).exists() and target.samefile(data):
        raise OutputError(f"{str(target)!r} is the data itself. Choose another name.")
