"""The command line: every command of the files below, in the order of use."""

import sys
from collections.abc import Iterator
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

_PLAIN_TEXT: dict[str, Any] = {
    "no_args_is_help": True,
    # Help in plain text: it needs no terminal, and rich takes longer to load than all the rest.
    "rich_markup_mode": None,
    "pretty_exceptions_enable": False,
}
_GROUPS = {"ledger": "Publish again and again under one limit."}
"""The commands that have commands of their own, and what they are for."""


def _commands() -> Iterator[tuple[str, Command]]:
    """Yield every command, after what is typed first: its own name, or its group's."""
    for file in (
        prepare, study, anonymize, synthesize, risk, use, ledger, report, evidence, demo, workbench,
    ):  # fmt: skip
        for each in vars(file).values():
            # A file may import the commands of another; each is registered where it is written.
            if isinstance(each, Command) and each.function.__module__ == file.__name__:
                yield each.group or each.name, each


def make_app(only: str = "") -> typer.Typer:
    """Return the command line.

    Args:
        only: What is typed first, if no other command is asked for: to make all takes longer than
            to run one.
    """
    made = typer.Typer(
        name="sfumato", context_settings={"help_option_names": ["-h", "--help"]}, **_PLAIN_TEXT
    )
    made.callback(
        cls=PlainGroup,
        epilog="\b\nStart with:\n  sfumato demo\n  sfumato init patients.csv\n\n"
        "Exit codes: 0 the promises hold, 1 they do not, 2 the request was wrong.",
    )(_sfumato)
    groups: dict[str, typer.Typer] = {}
    for first, each in _commands():
        if only and first != only:
            continue
        if each.group and each.group not in groups:
            groups[first] = typer.Typer(cls=PlainGroup, help=_GROUPS[first], **_PLAIN_TEXT)
            made.add_typer(groups[first], name=first)
        place = groups.get(each.group, made)
        place.command(each.name, epilog=each.epilog, cls=PlainCommand)(each.run)
    return made


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
    first = "".join(sys.argv[1:2])
    only = first if first in {name for name, _ in _commands()} else ""
    try:
        code = make_app(only)(prog_name="sfumato", standalone_mode=False)
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


def __getattr__(name: str) -> typer.Typer:
    """Make the command line with all commands when `app` is asked for."""
    if name != "app":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    made = globals()["app"] = make_app()
    return made
