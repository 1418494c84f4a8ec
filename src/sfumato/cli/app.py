"""All commands, in the order of use."""

from typing import Annotated

import typer

from sfumato._version import __version__
from sfumato.cli.anonymize import anonymize
from sfumato.cli.breach import breach
from sfumato.cli.check_evidence import check_evidence
from sfumato.cli.compare import compare
from sfumato.cli.correlations import correlations
from sfumato.cli.decouple import decouple
from sfumato.cli.demo import demo
from sfumato.cli.detect import detect
from sfumato.cli.diff import diff
from sfumato.cli.estimate import estimate
from sfumato.cli.explain import explain
from sfumato.cli.headroom import headroom
from sfumato.cli.init import init
from sfumato.cli.inspect import inspect
from sfumato.cli.keygen import keygen
from sfumato.cli.ledger import ledger
from sfumato.cli.membership import membership
from sfumato.cli.merge import merge
from sfumato.cli.protect import protect
from sfumato.cli.publish import publish
from sfumato.cli.report import report
from sfumato.cli.schema import schema
from sfumato.cli.sign import sign
from sfumato.cli.utility import utility
from sfumato.cli.verify import verify

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
