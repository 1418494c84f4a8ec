"""Commands to study a table with: its lattice, its hierarchies, and top-down step by step."""

from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from sfumato.cli.command import command
from sfumato.cli.options import (
    DataArgument,
    DrawOption,
    ForceOption,
    JsonOption,
    refuse_existing,
    write_text,
)
from sfumato.cli.output import clean, finish, note, progress_bar

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


def _say_written(written: list[Path]) -> None:
    for path in written:
        note(f"Written: {clean(path)}")


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
    seed: Annotated[
        int | None,
        typer.Option(metavar="N", help="Fix who stays where a model leaves that to chance."),
    ] = None,
    draw: _DrawOption = None,
    json: JsonOption = False,
) -> None:
    """Show every generalisation a policy allows: valid, minimal, chosen, and what each costs.

    A node is one level per quasi-identifier. All of them are judged, whatever the policy's search
    would leave out; where there are many, their heights and the minimal nodes are listed. Nothing
    of it is for publication: it depends on all raw values. The exit code is 0 also if no node is
    valid: this shows, and judges no release.
    """
    from sfumato.tasks.lattice import lattice as task

    _refuse(draw)
    with progress_bar(quiet=json) as progress:
        found = task(data, policy, subsets=subsets, most=most, seed=seed, progress=progress)
    if draw is not None:
        _say_written(found.draw(draw))
    finish(found, json=json)


# `sfumato hierarchies`: the value trees of a policy.


@command(
    examples="sfumato hierarchies patients.csv -p policy.yaml\n"
    "sfumato hierarchies patients.csv -p policy.yaml --draw drawings/",
    python='found = sf.tools.hierarchies("patients.csv", "policy.yaml")\n'
    'print(found)\nfound.draw("drawings")',
)
def hierarchies(
    data: DataArgument,
    policy: _PolicyOption,
    *,
    draw: _DrawOption = None,
    json: JsonOption = False,
) -> None:
    """Show the hierarchies of a policy as they are for a table: levels, labels and value trees.

    They are the ones that anonymize climbs. They hold values of the table, so nothing of it is for
    publication.
    """
    from sfumato.tasks.hierarchies import hierarchies as task

    _refuse(draw)
    with progress_bar(quiet=json) as progress:
        found = task(data, policy, progress=progress)
    if draw is not None:
        _say_written(found.draw(draw))
    finish(found, json=json)


# `sfumato trace`: top-down local recoding step by step.


@command(
    examples="sfumato trace patients.csv -p policy.yaml\n"
    "sfumato trace patients.csv -p policy.yaml --seed 1 --draw steps.svg",
    python='found = sf.tools.trace("patients.csv", "policy.yaml", seed=1)\n'
    'print(found)\nfound.save("steps.svg")',
)
def trace(
    data: DataArgument,
    policy: _PolicyOption,
    *,
    most: Annotated[
        int, typer.Option(metavar="N", help="Write down this many steps; the others are counted.")
    ] = 1000,
    seed: Annotated[
        int | None,
        typer.Option(metavar="N", help="Fix which of rows that are alike are taken back."),
    ] = None,
    draw: DrawOption = None,
    force: ForceOption = False,
    json: JsonOption = False,
) -> None:
    """Show the steps of top-down recoding: what was specialised, what passed, what was sent back.

    Nothing is published. It shows single rows and what became of them, so nothing of it is for
    publication.
    """
    from sfumato.tasks.trace import trace as task

    if draw is not None:
        refuse_existing(draw, force=force, private="the drawing")
    with progress_bar(quiet=json) as progress:
        found = task(data, policy, most=most, seed=seed, progress=progress)
    if draw is not None:
        write_text(draw, found.svg(), force=force, private="the drawing")
        _say_written([draw])
    finish(found, json=json)
