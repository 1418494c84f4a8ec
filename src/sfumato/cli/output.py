"""The output of commands: results and JSON to stdout, messages and progress to stderr."""

import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Protocol, TextIO

import typer

from sfumato.cli.wording import with_options
from sfumato.text import visible, visible_json

if TYPE_CHECKING:
    from sfumato.showing.content import Content
    from sfumato.typing import Progress


_LAYOUT = "\n\t"
"""What lays a text out and commands nothing."""


class Result(Protocol):
    """What a task returns: for people, and for programs."""

    def content(self) -> "Content":
        """Return everything there is to say for people."""

    def to_dict(self) -> Any:  # noqa: ANN401 - whatever JSON holds
        """Return everything as plain values."""


_QUIET: ContextVar[bool] = ContextVar("quiet", default=False)


@contextmanager
def hush(quiet: bool) -> Iterator[None]:
    """Show nothing to people within a block, if it is to be quiet; errors are always told."""
    token = _QUIET.set(quiet)
    try:
        yield
    finally:
        _QUIET.reset(token)


def is_quiet() -> bool:
    """Return whether nothing is shown unless something is wrong."""
    return _QUIET.get()


def finish(result: Result, *, json: bool = False, note: str = "") -> None:
    """Write the result of a command as JSON or for people, who see nothing if it is quiet.

    Args:
        result: What a task returned.
        json: Write JSON.
        note: A message after what people read, and before its remarks.
    """
    if json:
        write_json(result.to_dict())
    else:
        show(result.content(), note=note)


def clean(value: object, *, keep: str = "") -> str:
    r"""Return a text in which characters that would command a terminal are spelt out.

    >>> clean("age\x1b[2J")
    'age\\x1b[2J'
    """
    return visible(str(value), keep=keep)


def say(text: str) -> None:
    """Write a message, which is not part of the result, to stderr."""
    try:
        typer.echo(clean(text, keep=_LAYOUT), err=True)
    except OSError:
        # If even messages cannot be written, the exit code still says what happened.
        abandon(sys.stderr)


def note(text: str) -> None:
    """Write a message to stderr unless it is quiet."""
    if not is_quiet():
        say(text)


def abandon(stream: TextIO) -> None:
    """Send Python's last flush of a stream to nowhere, instead of failing once more."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def put(text: str) -> None:
    """Write a result as it is to stdout, apart from what would command a terminal."""
    typer.echo(clean(text, keep=_LAYOUT), nl=False)


def write_json(value: object) -> None:
    """Write one JSON document to stdout."""
    unicode = (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"
    put(visible_json(json.dumps(value, indent=2, ensure_ascii=not unicode, allow_nan=False)) + "\n")


def show(*contents: "Content", note: str = "", err: bool = False) -> None:
    """Print contents, then a message and remarks to stderr; if it is quiet, only what is wrong."""
    if is_quiet() and not err:
        contents, note = tuple(each for each in contents if each.verdict == "broken"), ""
        if not contents:
            return
    # Rich takes longer to load than all the rest, and help does without it.
    from sfumato.cli.terminal import print_contents

    print_contents(contents, err=err)
    for message in (note, *(remark for content in contents for remark in content.remarks)):
        if message:
            say(with_options(message))


# A bar on stderr while a task works, if there is a terminal to see it.


@contextmanager
def progress_bar(doing: str = "Reading", *, quiet: bool = False) -> "Iterator[Progress | None]":
    """Yield a callback for tasks that draws how far they are; None without a terminal.

    Args:
        doing: What is shown until a stage is named, with the seconds it takes.
        quiet: Show nothing.
    """
    if quiet or is_quiet() or not sys.stderr.isatty():
        yield None
        return
    from rich.progress import (
        BarColumn,
        Progress,
        ProgressColumn,
        Task,
        TaskID,
        TextColumn,
        TimeElapsedColumn,
    )
    from rich.text import Text

    from sfumato.cli.terminal import console
    from sfumato.typing import STAGES

    class Count(ProgressColumn):
        """How much is done of how much; what is not known is left out."""

        def render(self, task: Task) -> Text:
            done = int(task.completed)
            return Text(f"{done}/{int(task.total)}" if task.total else f"{done}" if done else "")

    columns = TextColumn("{task.description}"), BarColumn(), Count()
    with Progress(*columns, TimeElapsedColumn(), console=console(err=True), transient=True) as bars:
        tasks: dict[str, TaskID] = {"": bars.add_task(doing, total=None)}

        def report(stage: str, done: int, total: int | None) -> None:
            if stage not in tasks:
                # Only the last stage is shown, and one that comes again starts again.
                for finished in tasks.values():
                    bars.remove_task(finished)
                tasks.clear()
                tasks[stage] = bars.add_task(STAGES.get(stage, stage.capitalize()), total=None)
            bars.update(tasks[stage], completed=done, total=total)

        yield report
