"""Run the experiments and write what came out, or write the pages and the plots again.

python -m docs.papers --adult FILE      # everything: it says how long each page took last
python -m docs.papers break-merge ...   # only this page
python -m docs.papers examples          # needs no file
python -m docs.papers --page            # only write the pages and the plots, from the results
"""

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from time import monotonic
from typing import NamedTuple

from docs.papers import break_merge, closeness, examples, figures, page, slicing, thesis
from docs.papers.adult import NAMED, WHERE_FROM, AdultError, adult
from docs.papers.break_merge import figures as break_merge_figures
from docs.papers.break_merge import page as break_merge_page
from docs.papers.break_merge import running
from docs.papers.results import HERE, RESULTS, Record, duration, load, say, text_of
from docs.papers.slicing import figures as slicing_figures
from docs.papers.slicing import page as slicing_page
from docs.papers.slicing import running as slicing_running


class Paper(NamedTuple):
    """How a page comes about: what is computed, and what is written from that."""

    run: Callable[[], Record]
    results: Path
    page: tuple[str, Callable[[Record], str]]
    """The name of the file, and what makes it."""

    plots: Callable[[Record], dict[str, str]]

    def compute(self) -> None:
        """Run everything, and keep the numbers and how long it took."""
        began = monotonic()
        found = {**self.run(), SECONDS: 0}
        found[SECONDS] = round(monotonic() - began)
        self.results.write_text(text_of(found), encoding="utf-8", newline="\n")
        say(f"done in {duration(found[SECONDS])}")

    def last_time(self) -> str:
        """Say how long it took the last time, if that was kept."""
        seconds = load(self.results).get(SECONDS)
        return "" if seconds is None else f", which took {duration(seconds)} the last time"

    def write(self) -> None:
        """Write the page and the plots."""
        kept = load(self.results)
        name, make = self.page
        for file, text in {name: make(kept), **self.plots(kept)}.items():
            (HERE / file).write_text(text, encoding="utf-8", newline="\n")


SECONDS = "seconds"
"""Where results say how long they took to compute."""

PAPERS = {
    "thesis": Paper(thesis.run, RESULTS, ("README.md", page.page), figures.plots),
    "closeness": Paper(
        closeness.run, closeness.RESULTS, ("closeness.md", closeness.page), closeness.plots
    ),
    "break-merge": Paper(
        running.run,
        break_merge.RESULTS,
        ("break-merge.md", break_merge_page.page),
        break_merge_figures.plots,
    ),
    "slicing": Paper(
        slicing_running.run,
        slicing.RESULTS,
        ("slicing.md", slicing_page.page),
        slicing_figures.plots,
    ),
}

EXAMPLES = "examples"
"""The page of worked examples, which is computed in a moment and keeps no results."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Do what the command line asks for."""
    parser = argparse.ArgumentParser(
        prog="python -m docs.papers",
        description=__doc__,
        epilog=WHERE_FROM,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    known = ", ".join((*PAPERS, EXAMPLES))
    parser.add_argument("papers", nargs="*", metavar="paper", help=f"{known}; all if none is named")
    parser.add_argument("--adult", metavar="FILE", help="the Adult file, in any common form")
    parser.add_argument("--page", action="store_true", help="compute nothing, only write")
    asked = parser.parse_args(arguments)
    if asked.adult:
        os.environ[NAMED] = str(Path(asked.adult).expanduser().resolve())
    for name in asked.papers:
        if name not in (*PAPERS, EXAMPLES):
            parser.error(f"no paper {name!r}; there are {known}")
    wanted = asked.papers or [*PAPERS, EXAMPLES]
    if not asked.page and wanted != [EXAMPLES]:
        try:
            adult()
        except AdultError as error:
            say(f"nothing was run: {error}")
            return 2
    for name in wanted:
        _make(name, compute=not asked.page)
    return 0


def _make(name: str, *, compute: bool) -> None:
    if name == EXAMPLES:
        for file, text in {"examples.md": examples.page(), **examples.plots()}.items():
            (HERE / file).write_text(text, encoding="utf-8", newline="\n")
        return
    if compute:
        say(f"{name}{PAPERS[name].last_time()}:")
        PAPERS[name].compute()
    PAPERS[name].write()


if __name__ == "__main__":
    sys.exit(main())
