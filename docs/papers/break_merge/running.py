"""Everything that is on the page, computed."""

from benchmarks.results import machine
from docs.papers.break_merge import census, increments, large
from docs.papers.break_merge.printed import BROKEN, GROWN
from docs.papers.results import Record, say


def run() -> Record:
    """Run everything; only seconds differ from run to run."""
    say("ten rows")
    exact = small()
    say("large tables")
    return {"machine": machine(), "parameters": large.sizes(), **exact, **on_adult()}


def small() -> Record:
    """Recompute what hangs on the ten rows alone: exact, and done in a moment."""
    return {
        "networks": census.networks(),
        "tables": census.learned_tables(),
        "entries": census.entries(),
        "decoded": census.decoded(),
        "verdicts": census.verdicts(),
        "labels": census.labels(),
        "groups": census.quasi_identifier_table(),
        "broken": census.sensitive_tables(census.exposure().grouped, BROKEN),
        "guesses": census.guesses(),
        "changes": census.changes(census.exposure()),
        "grown": census.sensitive_tables(increments.grown(), GROWN),
        "table_14": increments.table_14(),
        "figure_14": increments.figure_14(),
        "limits": increments.limits(),
        "reachable": increments.reachable(),
        "growth": increments.growth(),
        "admissions": increments.admissions(),
    }


def on_adult(*, repeats: int = large.REPEATS) -> Record:
    """Run what needs the Adult extract."""
    return {
        "adult_changes": census.changes(large.exposure()),
        "hiding": large.hiding(),
        "hiding_both": large.hiding_both(),
        "attacker": large.attacker(),
        "learning": list(large.learning(repeats=repeats)),
        "breaking": list(large.breaking(repeats=repeats)),
    }
