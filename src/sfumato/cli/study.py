"""Commands to study a table with: its lattice of generalisations."""

from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from sfumato.cli.command import command
from sfumato.cli.options import DataArgument, JsonOption, QuietOption
from sfumato.cli.output import clean, finish, progress_bar, say

_PolicyOption: TypeAlias = Annotated[
    Path,
    typer.Option(
        "--policy", "-p", metavar="FILE", help="Hierarchies and models; sfumato init drafts one."
    ),
]

_DrawOption: TypeAlias = Annotated[
    Path | None, typer.Option(metavar="FOLDER", help="Write drawings as SVG there.")
]


def _refuse(folder: Path | None) -> None:
    """Raise before any work if drawings would lie in a release."""
    if folder is not None:
        from sfumato.files import refuse_release

        refuse_release(folder / "x", "the drawing")


def _say_written(written: list[Path], *, quiet: bool) -> None:
    for path in written if not quiet else []:
        say(f"Written: {clean(path)}")


@command(
    examples="sfumato lattice patients.csv -p policy.yaml\n"
    "sfumato lattice patients.csv -p policy.yaml --subsets --draw drawings/\n"
    "sfumato lattice patients.csv -p policy.yaml --json",
    python='found = sf.tools.lattice("patients.csv", "policy.yaml", subsets=True)\n'
    'print(found)\nprint(found.minimal)\nfound.draw("drawings")',
)
def lattice(
    data: DataArgument,
    policy: _PolicyOption,
    *,
    subsets: Annotated[
        bool,
        typer.Option(
            "--subsets",
            help="Judge the lattices of single columns, pairs and so on as well, as Incognito "
            "goes through them.",
        ),
    ] = False,
    most: Annotated[
        int, typer.Option(metavar="N", help="Refuse lattices of more nodes.")
    ] = 100_000,
    draw: _DrawOption = None,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Show every generalisation a policy allows: valid, minimal, chosen, and what each costs.

    A node is one level per quasi-identifier. All of them are judged, whatever the policy's search
    would leave out; where there are many, their heights and the minimal nodes are listed. Nothing
    of it is for publication: it depends on all raw values. The exit code is 0 also if no node is
    valid: this shows, and judges no release.
    """
    from sfumato.tasks.lattice import lattice as task

    _refuse(draw)
    with progress_bar(quiet=quiet or json) as progress:
        found = task(data, policy, subsets=subsets, most=most, progress=progress)
    if draw is not None:
        _say_written(found.draw(draw), quiet=quiet)
    finish(found, json=json, quiet=quiet)
