"""One release: decided by a method, measured and attacked."""

from typing import Any

import numpy as np

from docs.papers.setting import LOCAL, Setting, policy
from docs.papers.similarity import ATTACK
from sfumato.counts import FrequencySet
from sfumato.recode.deciding import Decision, decide_full_domain, decide_locally

GLOBAL = "full-domain"
"""One level per column, proven optimal."""

GLOBAL_WITH_LOSS = "full-domain, 1 %"
"""The same where one row in a hundred may be suppressed."""

METHODS = (GLOBAL, GLOBAL_WITH_LOSS, *LOCAL)


class Rounds:
    """Counts how often it is told of progress: once per round of a local method."""

    def __init__(self) -> None:
        self.n = 0

    def __call__(self, done: int, total: int | None) -> None:
        """Count one more."""
        self.n += 1


def decide(
    setting: Setting,
    method: str,
    counts: FrequencySet,
    *,
    columns: int = 7,
    search: str = "best-first",
    rounds: Rounds | None = None,
) -> Decision:
    """Decide on a release of a counted table."""
    limit = 0.01 if method == GLOBAL_WITH_LOSS else 0.0
    asked = policy(setting, columns=columns, search=search, limit=limit)
    if method not in LOCAL:
        return decide_full_domain(asked, counts, None, lambda checks: None)  # noqa: ARG005
    return decide_locally(
        asked, LOCAL[method], counts, rng=np.random.default_rng(0), progress=rounds or Rounds()
    )


def figures(decision: Decision) -> dict[str, Any]:
    """Say what a release lost, and what it gives away."""
    finding = ATTACK.run(decision.left)
    return {
        "distortion": round(decision.losses["distortion-ratio"], 9),
        "suppressed": decision.suppressed,
        "classes": len(decision.sizes),
        "exposed_classes": finding.classes,
        "exposed_rows": finding.rows,
    }
