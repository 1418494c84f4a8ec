"""`sfumato diff`: what changed between two releases."""

from pathlib import Path
from typing import Annotated

import typer

from sfumato.cli.command import command
from sfumato.cli.lists import listed
from sfumato.cli.options import JsonOption, QiOption, RolesOption, SensitiveOption
from sfumato.cli.show import cell, show, table, write_json


@command(
    examples="sfumato diff old/ new/\n"
    "sfumato diff old/ new/ --data patients.csv -p policy.yaml\n"
    "sfumato diff before.csv after.csv --qi age,zip --sensitive illness",
    python='print(sf.diff("old", "new"))',
)
def diff(
    old: Annotated[
        str, typer.Argument(metavar="OLD", help="The release before: its folder, or a file.")
    ],
    new: Annotated[
        str, typer.Argument(metavar="NEW", help="The release after: its folder, or a file.")
    ],
    policy: RolesOption = None,
    qi: QiOption = None,
    sensitive: SensitiveOption = None,
    data: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="The table both were made of, to compare answers."),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Say what changed in risk and usefulness between two releases, and why.

    Both are verified and attacked by the same rules; what was done differently is read from their
    manifests. The exit code is 0 whatever is found: `sfumato verify` judges a release.
    """
    from sfumato.tasks.diff import diff as task

    found = task(
        old,
        new,
        policy=policy,
        quasi_identifiers=None if qi is None else listed(qi),
        sensitive=None if sensitive is None else listed(sensitive),
        data=data,
    )
    if json:
        write_json(found.to_dict())
        return
    from sfumato.tasks.changes import shown

    headline, *_ = str(found).splitlines()
    sections = (
        ("Risk", found.risk),
        ("Usefulness", found.utility),
        ("What was done differently", found.causes),
    )
    for title, changes in sections:
        rows = [(each.name, shown(each.old), shown(each.new), each.meaning) for each in changes]
        if rows:
            show(table((title, "before", "now", ""), rows, right=("before", "now")))
            show(cell(""))
    show(cell(headline))
