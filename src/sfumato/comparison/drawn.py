"""Synthetic rows beside policies: what they cost and what their promise leaves to believe."""

import math
import time
from collections.abc import Sequence
from dataclasses import replace

from sfumato.attacks.adversary.trial import AT_RISK, GAIN, Trial
from sfumato.comparison.trial import QUERY_ERROR, ComparedTable, measure_asked
from sfumato.policy import Policy
from sfumato.tasks.synthesize import synthesize
from sfumato.tasks.verify import verify
from sfumato.typing import Progress

DREW = (
    "synthetic rows were drawn from the table to be compared. A choice made from them reveals "
    "a little about it, so charge their budgets to its account, too"
)


def try_drawn(
    data: object,
    policy: Policy,
    tried: ComparedTable,
    epsilons: Sequence[float],
    *,
    delta: float | None,
    report: Progress,
) -> tuple[Trial, ...]:
    """Draw rows under some budgets and return what each loses and leaves at risk.

    Args:
        data: The table.
        policy: The policy that states the domains.
        tried: The table, counted, and what is asked of it.
        epsilons: The budgets.
        delta: δ of all of them; None for pure ones.
        report: Told how far it is.
    """
    found, rows = [], tried.counts.total
    own = tried.counts.project((*policy.quasi_identifiers, *policy.sensitive))
    # They have no loss of generalisation: what is asked of them shows where they stand.
    asks = tuple(dict.fromkeys((*tried.asks, QUERY_ERROR)))
    for number, epsilon in enumerate(epsilons):
        report("drawing synthetic rows", number, len(epsilons))
        before = time.process_time()
        made = synthesize(data, policy, epsilon=epsilon, delta=delta)
        at_risk = verify(made, policy, threshold=tried.threshold).at_risk
        trial = Trial(
            policy,
            f"synthetic, epsilon={epsilon:g}",
            rows=rows,
            of=rows,
            published=made.manifest.rows.published,
            losses=measure_asked(own, made, asks, policy=policy, seed=tried.seed),
            risks={AT_RISK: min(1.0, at_risk / rows), GAIN: largest_gain(epsilon)},
        )
        found.append(replace(trial, seconds=time.process_time() - before))
    return tuple(found)


def largest_gain(epsilon: float) -> float:
    """Return by how much a belief about a value of someone in the table can grow at most.

    Odds grow by e^2ε; of all beliefs p the one of 1 / (1 + e^ε) grows most: by tanh(ε / 2).

    >>> from sfumato.synthesis.belief import most_believed
    >>> p = 1 / (1 + math.exp(0.6))
    >>> round(largest_gain(0.6), 9) == round(most_believed(p, 1.2) - p, 9)
    True
    """
    return math.tanh(epsilon / 2)
