"""Searches over the lattice of generalisation levels.

Every search is one file and one class; `SEARCHES` finds them by name.
"""

from typing import TYPE_CHECKING

from sfumato.registry import Registry, on_first_use
from sfumato.search.base import Budget, Checker, CheckOutcome, Found, Search

if TYPE_CHECKING:
    from sfumato.search.best_first import BestFirst as BestFirst
    from sfumato.search.best_first import Descent as Descent
    from sfumato.search.best_first import step_down as step_down
    from sfumato.search.exhaustive import Exhaustive as Exhaustive
    from sfumato.search.grouping import Grouping as Grouping
    from sfumato.search.incognito import Incognito as Incognito

_HOMES = {
    "BestFirst": "best_first",
    "Descent": "best_first",
    "Exhaustive": "exhaustive",
    "Grouping": "grouping",
    "Incognito": "incognito",
    "step_down": "best_first",
}
"""Where each name is that is imported when it is first asked for."""

__all__ = [  # noqa: PLE0604 - all of them are texts
    "SEARCHES",
    "Budget",
    "CheckOutcome",
    "Checker",
    "Found",
    "Search",
    *_HOMES,
]

if not TYPE_CHECKING:
    __getattr__ = on_first_use(__name__, _HOMES)

SEARCHES: Registry[Search] = Registry(
    "search",
    "sfumato.searches",
    {
        "best-first": "BestFirst",
        "incognito": "Incognito",
        "exhaustive": "Exhaustive",
        "descent": "Descent",
    },
    home=__name__,
)
