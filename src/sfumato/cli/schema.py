"""`sfumato schema`: what a policy file may hold, for editors and forms."""

from pathlib import Path
from typing import Annotated

import typer

from sfumato.cli.command import command
from sfumato.cli.files import write_text
from sfumato.cli.options import ForceOption
from sfumato.cli.show import clean, say, write_json


@command(
    examples="sfumato schema -o policy.schema.json",
    python="sf.Policy.json_schema(\n"
    "    searches=sf.search.SEARCHES,\n"
    "    methods=sf.partition.PARTITIONERS,\n"
    "    decouplings=sf.decouplings.DECOUPLINGS,\n"
    ")",
)
def schema(
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Where to write it; else to stdout."),
    ] = None,
    force: ForceOption = False,
) -> None:
    """Give the JSON Schema of policies.

    It has every model, hierarchy, loss, method, search and decoupling with its settings. Editors
    that know it complete and check policies while they are written.
    """
    from sfumato.decouplings import DECOUPLINGS
    from sfumato.partition import PARTITIONERS
    from sfumato.policy import Policy
    from sfumato.search import SEARCHES

    plain = Policy.json_schema(searches=SEARCHES, methods=PARTITIONERS, decouplings=DECOUPLINGS)
    if output is None:
        write_json(plain)
        return
    import json

    write_text(output, json.dumps(plain, indent=2, ensure_ascii=False) + "\n", force=force)
    say(f"Wrote {clean(output)}.")
