"""Scenario 3: running time over two to seven quasi-identifiers, and counts no machine changes."""

from collections.abc import Iterator
from functools import partial
from typing import Any

from benchmarks.measure import cpu
from docs.papers.data import COLUMNS, people
from docs.papers.deciding import GLOBAL, Rounds, decide
from docs.papers.setting import LOCAL, policy, settings
from sfumato.recode.deciding import counted_columns
from sfumato.tables import open_table

PARAMETERS = {"k": 4, "p": 4, "alpha": 2.0}
"""As in the thesis's Figure 5.4: here p is 4."""

SEARCHES = ("incognito", "best-first")
REPEATS = 2
WIDTHS = range(2, len(COLUMNS) + 1)


def timing(columns: int, *, repeats: int = REPEATS) -> Iterator[dict[str, Any]]:
    """Time every model with every method on the first so many quasi-identifiers."""
    asked = settings(**PARAMETERS)  # type: ignore[arg-type]
    table = open_table(people(0))
    counts = table.count(counted_columns(policy(asked[0], columns=columns)))
    for setting in asked:
        about = {"columns": columns, "model": setting.name}
        for search in SEARCHES:
            work = partial(decide, setting, GLOBAL, counts, columns=columns, search=search)
            done = work().search or {}
            tally = {"checks": done["checks"], "nodes": done["nodes"]}
            yield {**about, "method": search, **tally, **_seconds(work, repeats)}
        for method in LOCAL:
            work = partial(decide, setting, method, counts, columns=columns)
            rounds = Rounds()
            tally = {"classes": len(work(rounds=rounds).sizes), "rounds": rounds.n}
            yield {**about, "method": method, **tally, **_seconds(work, repeats)}


def _seconds(work: partial[Any], repeats: int) -> dict[str, float]:
    """Give the least CPU seconds of some repeats: what the work costs when nothing disturbs it."""
    return {"seconds": round(cpu(work, repeats=repeats, warm=False).least, 4)} if repeats else {}
