"""What the thesis leaves to future work: slices under its model, in place of generalisation."""

from typing import Any

import sfumato as sf
from docs.papers.data import CATEGORIES, COLUMNS, ILLNESS, people
from docs.papers.deciding import GLOBAL_WITH_LOSS
from docs.papers.setting import LOCAL, Setting, policy
from docs.papers.similarity import PARAMETERS
from sfumato.decouplings import Slicing

DRAWS = 3
"""How many of the draws are taken."""

QUERIES = 1000
TOP_DOWN, SLICES = "top-down, rows", "slicing"
RELEASES = (GLOBAL_WITH_LOSS, TOP_DOWN, SLICES)


def sliced(seed: int) -> list[dict[str, Any]]:
    """Publish one draw in each way, and measure what the releases answer."""
    table = people(seed)
    setting = Setting("enhanced", PARAMETERS["k"], PARAMETERS["p"], float(PARAMETERS["alpha"]))
    whole = policy(setting, limit=0.01)
    way = Slicing(l=setting.p, form="enhanced-p-alpha", alpha=setting.alpha, categories=CATEGORIES)
    roles: dict[str, Any] = {"quasi_identifiers": COLUMNS, "sensitive": [ILLNESS]}
    made = {
        GLOBAL_WITH_LOSS: sf.anonymize(table, whole, seed=seed),
        TOP_DOWN: sf.anonymize(table, policy(setting), method=LOCAL[TOP_DOWN], seed=seed),
        SLICES: sf.decouple(table, way, **roles, seed=seed),
    }
    answers = sf.utility(table, made, policy=whole, **roles, queries=QUERIES, seed=seed)
    return [
        {
            "seed": seed,
            "method": name,
            "groups": release.manifest.classes.count,
            "smallest": release.manifest.classes.smallest,
            "median": round(answers[name].queries.median, 6),
            "off": round(answers[name].associations.mean_difference, 6),
        }
        for name, release in made.items()
    ]
