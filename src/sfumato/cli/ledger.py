"""`sfumato ledger`: look into a ledger, and check that nobody edited it."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from sfumato.cli.command import command
from sfumato.cli.endings import BROKEN
from sfumato.cli.options import JsonOption
from sfumato.cli.show import cell, show, write_json


class Action(StrEnum):
    """What to do with a ledger."""

    LOG = "log"
    SHOW = "show"
    VERIFY = "verify"


@command(
    examples="sfumato ledger log clinic.ledger\n"
    "sfumato ledger show clinic.ledger --release 2\n"
    "sfumato ledger verify clinic.ledger --head 3f5a…",
    python='print(sf.headroom("clinic.ledger"))',
)
def ledger(
    action: Annotated[
        Action,
        typer.Argument(
            metavar="ACTION",
            help="log: all releases. show: what it is, and its groups. verify: was it edited?",
        ),
    ],
    file: Annotated[Path, typer.Argument(metavar="LEDGER", help="The ledger.")],
    release: Annotated[
        int | None, typer.Option(metavar="N", help="With show: the groups after that release.")
    ] = None,
    head: Annotated[
        str | None,
        typer.Option(metavar="HASH", help="With verify: the last hash as it was kept elsewhere."),
    ] = None,
    json: JsonOption = False,
) -> None:
    """List the releases of a ledger, show its groups, or recompute its chain of hashes.

    The exit code of verify is 1 if something is not as it was written.
    """
    from sfumato.cli.ledger_views import contents_view, log_view
    from sfumato.tasks.ledger import contents, log, verify_ledger

    if action is Action.LOG:
        entries = log(file)
        write_json(entries) if json else show(log_view(entries))
        return
    if action is Action.SHOW:
        found = contents(file, release)
        write_json(found.to_dict()) if json else show(*contents_view(found))
        return
    faults = verify_ledger(file, head)
    if json:
        write_json({"holds": not faults, "faults": faults})
    elif faults:
        show(*(cell(fault) for fault in faults), cell("the ledger was edited", "bold red"))
    else:
        show(cell("the ledger is as it was written", "green"))
    if faults:
        raise typer.Exit(BROKEN)
