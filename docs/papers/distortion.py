"""Scenario 2: the distortion ratio over p and α, one level for all against row by row."""

from typing import Any

from docs.papers.data import COLUMNS, people
from docs.papers.deciding import METHODS, decide, figures
from docs.papers.setting import Setting, policy, settings
from docs.papers.similarity import PARAMETERS
from sfumato.recode.deciding import counted_columns
from sfumato.tables import open_table

KS = (3, 4)
PS = (2, 3, 4)
ALPHAS = (0.5, 1.0, 2.0, 4.0)


def grid() -> list[Setting]:
    """Give every setting once; p-sensitive has no α."""
    every = [one for k in KS for p in PS for a in ALPHAS for one in settings(k=k, p=p, alpha=a)]
    return list(dict.fromkeys(every))


def standard() -> list[Setting]:
    """Give the settings of the first scenario, which are repeated over the seeds."""
    return settings(k=PARAMETERS["k"], p=PARAMETERS["p"], alpha=float(PARAMETERS["alpha"]))


def distortion(seed: int, setting: Setting) -> list[dict[str, Any]]:
    """Decide a setting with every method, for one draw."""
    counts = open_table(people(seed)).count(counted_columns(policy(setting)))
    about = {"seed": seed, **setting.to_dict()}
    return [
        {**about, "method": method, **figures(decide(setting, method, counts))}
        for method in METHODS
    ]


def by_width(setting: Setting, method: str, seed: int = 0) -> list[float]:
    """Give the ratio for the first two quasi-identifiers, for three, and so on to all of them."""
    table = open_table(people(seed))
    found = []
    for columns in range(2, len(COLUMNS) + 1):
        counts = table.count(counted_columns(policy(setting, columns=columns)))
        found.append(decide(setting, method, counts, columns=columns).losses["distortion-ratio"])
    return found
