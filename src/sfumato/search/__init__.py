"""Searches over the lattice of generalisation levels.

Every search is one file and one class; `SEARCHES` finds them by name.
"""

from sfumato.registry import Registry
from sfumato.search.base import Budget, Checker, CheckOutcome, Found, Search
from sfumato.search.best_first import BestFirst, Descent, step_down
from sfumato.search.exhaustive import Exhaustive
from sfumato.search.grouping import Grouping
from sfumato.search.incognito import Incognito

__all__ = [
    "SEARCHES",
    "BestFirst",
    "Budget",
    "CheckOutcome",
    "Checker",
    "Descent",
    "Exhaustive",
    "Found",
    "Grouping",
    "Incognito",
    "Search",
    "step_down",
]

SEARCHES: Registry[Search] = Registry(
    "search", "sfumato.searches", [BestFirst, Incognito, Exhaustive, Descent]
)
