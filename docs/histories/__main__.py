"""Run the histories and write what came out, or write the page and the plots again.

python -m docs.histories                # everything: about an hour of CPU time
python -m docs.histories rules ways     # without the ledger itself, which takes most of it
python -m docs.histories --page         # only write the page and the plots, from the results
"""

import argparse
from collections.abc import Sequence
from itertools import product

from docs.histories.clinic import Clinic, Setting
from docs.histories.ledgers import publish_history
from docs.histories.page import (
    RESULTS,
    STUDIES,
    load_results,
    page,
    plots,
    text_of_results,
)
from docs.histories.streams import MONTHS, run_streams
from docs.histories.ways import WAYS, Cells
from docs.papers.results import Record, say

HISTORIES = tuple(product(("few", "many"), (0.5, 0.3)))
"""How many leave, and alpha."""


def setting_of(leaving: str, months: int = 120) -> Setting:
    """Return what happens if few or many leave."""
    return Setting(months=months, leaving_of_all=leaving == "many")


def run_rules(months: int) -> list[Record]:
    """Publish all histories by the rules of a ledger."""
    found: list[Record] = []
    for leaving, alpha in HISTORIES:
        say(f"{leaving} leave, alpha {alpha}: the rules")
        records = Cells(Clinic(setting_of(leaving, months)), alpha).run()
        found += [{"leaving": leaving, "alpha": alpha, **record} for record in records]
    return found


def run_ledgers(months: int) -> list[Record]:
    """Publish two of the histories by a ledger: the easiest, and the hardest."""
    found: list[Record] = []
    for leaving, alpha in (HISTORIES[0], HISTORIES[-1]):
        say(f"{leaving} leave, alpha {alpha}:")
        records = publish_history(setting_of(leaving, months), alpha)
        found += [{"leaving": leaving, "alpha": alpha, **record} for record in records]
    return found


def run_ways(months: int) -> list[Record]:
    """Publish all histories in all other ways."""
    found = []
    for (leaving, alpha), (way, publish) in product(HISTORIES, WAYS.items()):
        say(f"{leaving} leave, alpha {alpha}: {way}")
        record = publish(setting_of(leaving, months), alpha)
        found.append({"leaving": leaving, "alpha": alpha, "way": way, **record})
    return found


def run_clinics(months: int) -> list[Record]:
    """Publish small clinics by a ledger, for two years at most."""
    return run_streams(min(months, MONTHS))


PARTS = {"rules": run_rules, "ledgers": run_ledgers, "ways": run_ways, "streams": run_clinics}


def main(arguments: Sequence[str] | None = None) -> None:
    """Do what the command line asks for."""
    parser = argparse.ArgumentParser(
        prog="python -m docs.histories",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    known = ", ".join(PARTS)
    parser.add_argument("parts", nargs="*", metavar="part", help=f"{known}; all if none is named")
    parser.add_argument("--months", type=int, default=120)
    parser.add_argument("--page", action="store_true", help="compute nothing, only write")
    asked = parser.parse_args(arguments)
    for part in asked.parts:
        if part not in PARTS:
            parser.error(f"no part {part!r}; there are {known}")
    results = load_results() if RESULTS.exists() else {}
    if not asked.page:
        for part in asked.parts or PARTS:
            results[part] = PARTS[part](asked.months)
            RESULTS.write_text(text_of_results(results), encoding="utf-8", newline="\n")
    for name, text in {"histories.md": page(results), **plots(results)}.items():
        (STUDIES / name).write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
