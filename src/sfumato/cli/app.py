"""All commands, in the order of use."""

from typing import Annotated

import typer

from sfumato._version import __version__
from sfumato.cli.anonymize import anonymize, decouple, merge, protect
from sfumato.cli.demo import demo
from sfumato.cli.evidence import check_evidence, keygen, sign
from sfumato.cli.prepare import compare, init, inspect, schema
from sfumato.cli.publish import headroom, ledger, publish
from sfumato.cli.report import diff, report
from sfumato.cli.risk import breach, detect, explain, membership, verify
from sfumato.cli.use import correlations, estimate, utility

app = typer.Typer(
    name="sfumato",
    no_args_is_help=True,
    add_completion=False,
    # Help in plain text: it needs no terminal, and rich takes longer to load than all the rest.
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

for _command in (
    init,
    inspect,
    compare,
    anonymize,
    detect,
    protect,
    correlations,
    decouple,
    merge,
    breach,
    estimate,
    utility,
    membership,
    explain,
    publish,
    headroom,
    ledger,
    verify,
    report,
    diff,
    keygen,
    sign,
    check_evidence,
    demo,
    schema,
):
    app.command(_command.name, epilog=_command.epilog)(_command.run)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"sfumato {__version__}")
        raise typer.Exit


@app.callback(
    epilog="\b\nStart with:\n  sfumato demo\n  sfumato init patients.csv\n\n"
    "Exit codes: 0 the promises hold, 1 they do not, 2 the request was wrong."
)
def _sfumato(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_show_version, is_eager=True, help="Show the version and exit."
        ),
    ] = False,
) -> None:
    """Publish data about people without betraying them."""
