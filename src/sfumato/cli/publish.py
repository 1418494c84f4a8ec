"""`sfumato publish`: start a ledger, and publish new rows on it."""

from pathlib import Path
from typing import Annotated

import typer

from sfumato.cli.command import command
from sfumato.cli.options import JsonOption, KeyOption, QuietOption
from sfumato.cli.passphrase import signing_key
from sfumato.cli.show import clean, say, show, write_json

LedgerOption = Annotated[
    Path, typer.Option("--ledger", "-l", metavar="FILE", help="The ledger; private, keep it so.")
]


@command(
    examples="sfumato publish decoupled/ --ledger clinic.ledger --alpha 0.5 -p policy.yaml\n"
    "sfumato publish new.csv --ledger clinic.ledger -o increment-2/\n"
    "sfumato publish new.csv --ledger clinic.ledger --dry-run\n"
    "sfumato publish --ledger clinic.ledger --delete withdrawn.csv -o release-3/\n"
    "sfumato publish 'duckdb:///clinic.db?table=new' --ledger clinic.ledger -o table:april",
    python='sf.publish("decoupled", "clinic.ledger", alpha=0.5)\n'
    'print(sf.publish("new.csv", "clinic.ledger", output="increment-2"))',
)
def publish(  # noqa: PLR0917 - options of a command line
    ledger: LedgerOption,
    data: Annotated[
        str | None,
        typer.Argument(
            metavar="[RELEASE_OR_ROWS]",
            help="A decoupled release to start a ledger with, or new rows: a file, or the address "
            "of a table in DuckDB, PostgreSQL or Spark.",
        ),
    ] = None,
    alpha: Annotated[
        float | None,
        typer.Option(metavar="SHARE", help="The most a new ledger's tables may tell."),
    ] = None,
    k: Annotated[
        int | None,
        typer.Option("-k", metavar="ROWS", help="Fewest rows of a group; else what is promised."),
    ] = None,
    policy: Annotated[
        Path | None,
        typer.Option("--policy", "-p", metavar="FILE", help="What new rows are generalised by."),
    ] = None,
    source: Annotated[
        str | None,
        typer.Option(
            metavar="DATA", help="What the first release was made of, if hierarchies depend on it."
        ),
    ] = None,
    output: Annotated[
        str | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FOLDER|table:NAME",
            help="Write the tables there, or into the database that the rows are in.",
        ),
    ] = None,
    delete: Annotated[
        str | None, typer.Option(metavar="DATA", help="Rows to remove, as they were published.")
    ] = None,
    correct: Annotated[
        str | None,
        typer.Option(metavar="DATA", help="Rows to change; old_… columns hold what was published."),
    ] = None,
    hold: Annotated[
        bool,
        typer.Option(
            "--hold/--no-hold", help="Hold rows back until enough join a group to hide each other."
        ),
    ] = True,
    whole: Annotated[
        bool, typer.Option("--whole", help="Write all tables, not only those of the newcomers.")
    ] = False,
    again: Annotated[
        bool, typer.Option("--again", help="Take rows that were given before.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Decide and report, and change nothing.")
    ] = False,
    format: Annotated[  # noqa: A002 - the word users know
        str | None,
        typer.Option(
            "--format", metavar="FORMAT", help="csv, parquet or feather; csv if not said."
        ),
    ] = None,
    wait: Annotated[
        float, typer.Option(metavar="SECONDS", help="How long to wait for another publish.")
    ] = 10.0,
    key: KeyOption = None,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Publish new rows without telling more than alpha, ever.

    A row is refused if a combination of values would become likelier and end above alpha. What
    is admitted waits until at least k rows join its group. The exit code is 0 also if rows are
    refused: deciding that is what the command is for.
    """
    from sfumato.tasks.publish import publish as task

    done = task(
        data,
        ledger,
        alpha=alpha,
        k=k,
        policy=policy,
        source=source,
        output=output,
        delete=delete,
        correct=correct,
        hold=hold,
        whole=whole,
        again=again,
        dry_run=dry_run,
        format=format,
        wait=wait,
        key=signing_key(key),
    )
    if json:
        write_json(done.to_dict())
        return
    for warning in done.warnings:
        say(f"Warning: {clean(warning)}")
    if quiet:
        return
    from sfumato.cli.ledger_views import publication_view

    show(*publication_view(done))
    place = done.folder if done.place is None else done.place
    if place is not None:
        say(f"Written: {clean(place)}")
    if done.head:
        say(f"Entry {done.sequence}, hash {done.head}: keep it, ledger verify can check it.")
