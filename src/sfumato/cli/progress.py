"""A bar on stderr while a task works, if there is a terminal to see it."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from sfumato.cli.show import console
from sfumato.typing import Progress

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
def progress_bar(*, quiet: bool = False) -> Iterator[Progress | None]:
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
