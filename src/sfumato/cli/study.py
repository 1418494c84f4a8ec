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
    PublishedArgument,
    QiOption,
    RolesOption,
    SensitiveOption,
    refuse_existing,
    split_names,
    write_text,
)
from sfumato.cli.output import clean, finish, note, progress_bar
from sfumato.errors import ParameterError
from sfumato.text import number_of

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
    "sfumato lattice patients.csv -p policy.yaml --attack similarity\n"
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
    attack: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Attack the table of every minimal node: similarity, homogeneity, …; and show "
            "which share of them suffers.",
        ),
    ] = None,
    draw: _DrawOption = None,
    json: JsonOption = False,
) -> None:
    """Show every generalisation that a policy allows.

    Each is marked as valid, minimal or chosen, with its cost. A node is one level per
    quasi-identifier. All of them are judged, whatever the policy's search would leave out; where
    there are many, their heights and the minimal nodes are listed. Nothing of it is for
    publication: it depends on all raw values. The exit code is 0 also if no node is valid: this
    shows, and judges no release.
    """
    from sfumato.tasks.lattice import lattice as task

    _refuse(draw)
    with progress_bar(quiet=json) as progress:
        found = task(
            data, policy, subsets=subsets, most=most, seed=seed, attack=attack, progress=progress
        )
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
    """Show the hierarchies of a policy for a table.

    You see their levels, labels and value trees. They are the ones that anonymize climbs. They hold
    values of the table, so nothing of it is for publication.
    """
    from sfumato.tasks.hierarchies import hierarchies as task

    _refuse(draw)
    with progress_bar(quiet=json) as progress:
        found = task(data, policy, progress=progress)
    if draw is not None:
        _say_written(found.draw(draw))
    finish(found, json=json)


# `sfumato hiding`: what association hiding would cost.


@command(
    examples="sfumato hiding release/\n"
    "sfumato hiding published.csv --qi age,zip --sensitive illness,salary --confidence 0.5,0.8\n"
    "sfumato hiding release/ -p policy.yaml --size 2 --json",
    python='print(sf.tools.hiding("release", policy="policy.yaml", confidences=[0.3, 0.5, 0.8]))',
)
def hiding(
    what: PublishedArgument,
    policy: RolesOption = None,
    qi: QiOption = None,
    sensitive: SensitiveOption = None,
    confidence: Annotated[
        list[str] | None,
        typer.Option(metavar="SHARES", help="The thresholds, between commas; else 0.1, 0.2 … 0.9."),
    ] = None,
    support: Annotated[int, typer.Option(metavar="ROWS", help="Fewest rows behind a rule.")] = 1,
    size: Annotated[
        int, typer.Option(metavar="N", help="Most quasi-identifiers that a rule starts from.")
    ] = 1,
    json: JsonOption = False,
) -> None:
    """Show what Q-S association hiding would cost.

    Decoupling, which costs nothing, stands beside it. Sensitive values are generalised along the
    hierarchies of the policy until no rule from quasi-identifiers to one of them is surer than a
    threshold. Nothing is published: sfumato decouple --method association-hiding does that. The
    exit code is 0: this measures.
    """
    from sfumato.tasks.hiding import CONFIDENCES
    from sfumato.tasks.hiding import hiding as task

    with progress_bar("Hiding associations", quiet=json) as progress:
        found = task(
            what,
            policy=policy,
            quasi_identifiers=None if qi is None else split_names(qi),
            sensitive=None if sensitive is None else split_names(sensitive),
            confidences=CONFIDENCES if confidence is None else _shares(confidence),
            support=support,
            size=size,
            progress=progress,
        )
    finish(found, json=json)


def _shares(texts: list[str]) -> list[float]:
    """Read shares between commas."""
    found = []
    for text in split_names(texts):
        number = number_of(text)
        if number is None:
            raise ParameterError("confidence", text, "shares between commas, as in 0.5,0.8")
        found.append(float(number))
    return found


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
    """Show the steps of top-down recoding.

    Each step says what was specialised, what passed and what was sent back. Nothing is published.
    It shows single rows and what became of them, so nothing of it is for publication.
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
