"""The command line: every command of the files below, in the order of use."""

import sys
from io import StringIO
from typing import Annotated, Any

import typer

from sfumato._version import __version__
from sfumato.cli import (
    anonymize,
    demo,
    evidence,
    ledger,
    prepare,
    report,
    risk,
    study,
    synthesize,
    use,
    workbench,
)
from sfumato.cli.command import Command
from sfumato.cli.output import say
from sfumato.cli.values import PlainCommand, PlainGroup

app = typer.Typer(
    name="sfumato",
    no_args_is_help=True,
    # Help in plain text: it needs no terminal, and rich takes longer to load than all the rest.
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

_GROUPS = {
    "ledger": typer.Typer(
        cls=PlainGroup,
        help="Publish again and again: a ledger keeps a limit over all releases.",
        no_args_is_help=True,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
    )
}

for _file in (
    prepare, study, anonymize, synthesize, risk, use, ledger, report, evidence, demo, workbench,
):  # fmt: skip
    for _command in vars(_file).values():
        # A file may import the commands of another; each is registered where it is written.
        if isinstance(_command, Command) and _command.run.__module__ == _file.__name__:
            _group = _GROUPS.get(_command.group, app)
            _group.command(_command.name, epilog=_command.epilog, cls=PlainCommand)(_command.run)
    for _name, _group in _GROUPS.items():
        if _file.__name__.endswith(f".{_name}"):
            app.add_typer(_group, name=_name)

_RENAMED = {
    "publish": "sfumato ledger start, add, stream, remove, correct or generalise",
    "headroom": "sfumato ledger headroom",
    "ledger log": "sfumato ledger show --log",
    "--svg": "--draw",
    "--original": "--data",
    "--knows": "--known",
    "--delete": "sfumato ledger remove, or --remove",
    "--source": "--data",
}
"""What commands and options were called before, and what they are called now."""


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"sfumato {__version__}")
        raise typer.Exit


@app.callback(
    cls=PlainGroup,
    epilog="\b\nStart with:\n  sfumato demo\n  sfumato init patients.csv\n\n"
    "Exit codes: 0 the promises hold, 1 they do not, 2 the request was wrong.",
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


_Mistake: Any = next(
    each for each in typer.BadParameter.__mro__ if each.__name__ == "ClickException"
)
"""The library's own class of mistakes in options, which it does not export."""


def run() -> int:
    """Run the command line of this process and return its exit code."""
    try:
        code = app(prog_name="sfumato", standalone_mode=False)
    except typer.Abort:
        say("Aborted!")
        return 1
    except _Mistake as error:
        # What was typed is told in the answer, and a file's name may command the terminal.
        text = StringIO()
        error.show(text)
        say(text.getvalue().rstrip("\n"))
        for word in _words():
            if word in _RENAMED and repr(word.split()[-1])[1:-1] in error.format_message():
                say(f"{word} is called {_RENAMED[word]} now.")
        return int(error.exit_code)
    return code if isinstance(code, int) else 0


def _words() -> list[str]:
    """Return the words of the command line, the commands of a group as one."""
    words = [word.partition("=")[0] for word in sys.argv[1:]]
    return [" ".join(words[:2]), *words]
