"""Tools for particular questions, beside the tasks: for analysts, experiments and a closer look."""

from sfumato.app import open_app
from sfumato.tasks.account import account
from sfumato.tasks.append import append
from sfumato.tasks.attack import attack
from sfumato.tasks.hiding import hiding
from sfumato.tasks.hierarchies import hierarchies
from sfumato.tasks.lattice import lattice
from sfumato.tasks.membership import membership
from sfumato.tasks.merge import merge
from sfumato.tasks.noisy_count import noisy_count
from sfumato.tasks.strangers import strangers
from sfumato.tasks.trace import trace
from sfumato.tasks.utility import correlations

__all__ = [
    "account",
    "append",
    "attack",
    "correlations",
    "hiding",
    "hierarchies",
    "lattice",
    "membership",
    "merge",
    "noisy_count",
    "open_app",
    "strangers",
    "trace",
]
