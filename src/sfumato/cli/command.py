"""What a command is: a function, an example, and the same thing in Python."""

import json
import os
import re
import sys
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, Any, NoReturn, ParamSpec

import typer

from sfumato.errors import SfumatoError, VerificationError

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.table import Table
    from rich.text import Text

    from sfumato.typing import Progress

# Showing results: text that is readable without colour, and JSON.


_STYLES = {"holds": "green", "broken": "bold red", "unchecked": "yellow"}
_WIDE = 160
"""Columns of text when nobody looks: in a pipe or a file lines are not to be broken early."""


def clean(value: object, *, keep: str = "") -> str:
    r"""Make characters visible that would command a terminal, or turn its text around.

    >>> clean("age\x1b[2J")
    'age\\x1b[2J'
    """
    text = str(value)
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c in keep else repr(c)[1:-1] for c in text)


def say(text: str) -> None:
    """Tell the user something that is not the result."""
    typer.echo(text, err=True)


def write_json(value: object) -> None:
    """Give the result as one JSON document."""
    unicode = (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"
    typer.echo(json.dumps(value, indent=2, ensure_ascii=not unicode, allow_nan=False))


def console(*, err: bool = False) -> "Console":
    """Open stdout or stderr for tables. `NO_COLOR` and `COLUMNS` are respected."""
    from rich.console import Console

    class Pipe(Console):
        def on_broken_pipe(self) -> None:
            # Rich would exit with 1, which here means that a promise is broken.
            raise BrokenPipeError

    stream = sys.stderr if err else sys.stdout
    width = None if stream.isatty() or "COLUMNS" in os.environ else _WIDE
    return Pipe(file=stream, width=width, markup=False, emoji=False, highlight=False)


def cell(value: object, style: str = "", *, keep: str = "") -> "Text":
    """Make text that is shown as it is, whatever brackets it holds."""
    from rich.text import Text

    return Text(clean(value, keep=keep), style=style)


def table(
    headers: Sequence[str], rows: Iterable[Sequence[object]], *, right: Iterable[str] = ()
) -> "Table":
    """Make a table; `right` names the columns of numbers."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    result = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False)
    numbers = set(right)
    for header in headers:
        result.add_column(
            cell(header), justify="right" if header in numbers else "left", overflow="fold"
        )
    for row in rows:
        result.add_row(*(item if isinstance(item, Text) else cell(item) for item in row))
    return result


def fits(part: "Table") -> bool:
    """Tell whether a table can be shown without breaking what is in its cells."""
    target = console()
    wanted = part.__rich_measure__(target, target.options.update(max_width=10**6)).maximum
    return wanted <= target.width


def show(*parts: "RenderableType", err: bool = False) -> None:
    """Print parts one after the other, with an empty line between them."""
    target = console(err=err)
    for position, part in enumerate(parts):
        if position:
            target.print()
        target.print(part)


def status(word: str) -> "Text":
    """Show an outcome: the word says it, the colour repeats it."""
    return cell(word, _STYLES.get(word, ""))


def bar(share: float, width: int = 30) -> str:
    """Draw a share as a bar; what is not nothing can be seen.

    >>> bar(0.5, 4), bar(0.001, 4), bar(0, 4)
    ('██', '▏', '')
    """
    eighths = round(share * width * 8)
    if share > 0:
        eighths = max(eighths, 1)
    part = "▏▎▍▌▋▊▉"[eighths % 8 - 1] if eighths % 8 else ""
    return "█" * (eighths // 8) + part


# How a command ends: what the user reads, and the exit code.


BROKEN = 1
"""The promises do not hold."""

WRONG = 2
"""The request was wrong, or the machine cannot do it."""

FAULT = 70
"""A fault of Sfumato."""

INTERRUPTED = 130
PIPE_CLOSED = 141

P = ParamSpec("P")


def guarded(command: Callable[P, None]) -> Callable[P, None]:
    """Turn whatever a command raises into a message and an exit code; never a traceback."""

    @wraps(command)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        try:
            command(*args, **kwargs)
            sys.stdout.flush()
        except typer.Exit:
            raise
        except VerificationError as error:
            _end(str(error), BROKEN)
        except SfumatoError as error:
            _end(str(error), WRONG)
        except BrokenPipeError:
            # Whoever was reading has seen enough; there is nobody left to tell.
            _abandon_stdout()
            raise typer.Exit(PIPE_CLOSED) from None
        except KeyboardInterrupt:
            say("sfumato: interrupted, and nothing was left behind")
            raise typer.Exit(INTERRUPTED) from None
        except OSError as error:
            _abandon_stdout()
            named = f"{error.filename}: " if error.filename else ""
            _end(f"{named}{error.strerror or type(error).__name__}", WRONG)
        except Exception as error:  # noqa: BLE001 - the last net: a user never sees a traceback
            _confess(error)

    return run


def _end(text: str, code: int) -> NoReturn:
    say(f"sfumato: error: {clean(_without_passwords(text), keep=chr(10))}")
    raise typer.Exit(code) from None


def _without_passwords(text: str) -> str:
    """Leave out who connects to a database, should an address stand in a message.

    >>> _without_passwords("no table 'postgres://ann:s3cret@db/clinic?table=x'")
    "no table 'postgres://db/clinic?table=x'"
    """
    return re.sub(r"://[^/\s'\"]*@", "://", text)


def _confess(error: Exception) -> NoReturn:
    """Report a bug. Its text may hold somebody's data, so only its type is shown."""
    if os.environ.get("SFUMATO_DEBUG") == "1":
        say("".join(traceback.format_exception(error)))
    say(
        f"sfumato: this is a fault of Sfumato ({type(error).__name__}), not of yours, and nothing "
        "was left behind. Please report it. SFUMATO_DEBUG=1 shows the details; look through "
        "them before you pass them on, for they may hold data."
    )
    raise typer.Exit(FAULT) from None


def _abandon_stdout() -> None:
    """Let Python's last flush go nowhere, instead of failing once more."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@dataclass(frozen=True)
class Command:
    """A function for the command line, and what its help ends with."""

    run: Callable[..., Any]
    epilog: str

    @property
    def name(self) -> str:
        """What users type."""
        return self.run.__name__.replace("_", "-")


def command(*, examples: str, python: str) -> Callable[[Callable[..., None]], Command]:
    """Make a function a command.

    Args:
        examples: Command lines, one per line.
        python: The same thing in Python.
    """

    def make(function: Callable[..., None]) -> Command:
        parts = {"Examples": examples, "In Python": f"import sfumato as sf\n{python}"}
        # A paragraph that starts with a backspace keeps its lines as they are.
        paragraphs = [
            "\b\n" + "\n".join([f"{title}:", *(f"  {line}" for line in text.splitlines())])
            for title, text in parts.items()
        ]
        return Command(guarded(function), "\n\n".join(paragraphs))

    return make


# A bar on stderr while a task works, if there is a terminal to see it.


_STAGES = {
    "look": "Looking at the columns",
    "count": "Counting rows",
    "population": "Counting the population",
    "subsets": "Trying sets of columns",
    "search": "Checking generalisations",
    "partition": "Parting the rows",
    "compare": "Comparing releases",
    "publish": "Writing the release",
    "verify": "Verifying",
}


@contextmanager
def progress_bar(*, quiet: bool = False) -> "Iterator[Progress | None]":
    """Give a callback for tasks that draws how far they are; None if nobody would see it."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TaskID,
        TextColumn,
        TimeElapsedColumn,
    )

    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn()
    with Progress(*columns, TimeElapsedColumn(), console=console(err=True), transient=True) as bars:
        tasks: dict[str, TaskID] = {}

        def report(stage: str, done: int, total: int | None) -> None:
            if stage not in tasks:
                for finished in tasks.values():
                    bars.update(finished, visible=False)
                tasks[stage] = bars.add_task(_STAGES.get(stage, stage.capitalize()), total=None)
            bars.update(tasks[stage], completed=done, total=total)

        yield report
