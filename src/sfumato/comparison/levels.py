"""Levels side by side: the lattice of a policy, and what one level less would cost."""

from dataclasses import asdict, replace
from typing import Any

import numpy as np

from sfumato.counts import FrequencySet
from sfumato.dataclasses import dataclass
from sfumato.errors import InfeasibleError
from sfumato.policy import FULL_DOMAIN, REGIONAL, Policy
from sfumato.recode.deciding import (
    Maker,
    checker_of,
    prepare,
    refuse_population,
    search_levels,
    why_infeasible,
)
from sfumato.recode.lattice import JudgedLattice, judge_lattice
from sfumato.search import Checker
from sfumato.showing.content import plain_of
from sfumato.typing import Node, Progress


@dataclass(frozen=True)
class LevelStep:
    """What would come of it if one column were published one level finer."""

    column: str
    level: int
    """The level it has now."""

    finer: int | None
    """The level below; None if there is none that the policy allows."""

    valid: bool = False
    """Whether the promises hold there."""

    loss: float | None = None
    suppressed: int | None = None
    """The rows that would have to be left out, or people where those are left out."""

    reason: str = ""
    """Why it cannot be."""


@dataclass(frozen=True, eq=False)
class LevelMap:
    """The levels that were chosen, and what is around them."""

    columns: tuple[str, ...]
    nodes: int
    """How many choices of levels there are."""

    levels: Node
    """The levels that were chosen."""

    loss: float
    suppressed: int
    limit: int
    """As many rows may be left out, or people where those are."""

    proven: bool
    """Whether no other choice loses less; else the search had no more time."""

    steps: tuple[LevelStep, ...]
    """For each column, what one level less would cost."""

    lattice: JudgedLattice | None = None
    """Every choice of levels, judged; None if there are too many."""

    def to_dict(self) -> dict[str, Any]:
        """Return all but the judged nodes as plain values that JSON can hold."""
        return {
            "levels": dict(zip(self.columns, self.levels, strict=True)),
            **plain_of(self, "nodes loss suppressed limit proven"),
            "steps": [asdict(step) for step in self.steps],
        }


def map_levels(
    policy: Policy,
    counts: FrequencySet,
    population: FrequencySet | None,
    *,
    most: int,
    seconds: float | None,
    rng: np.random.Generator,
    report: Progress,
    maker: Maker | None = None,
) -> LevelMap:
    """Choose levels, judge what is around them, and the whole lattice if it is small enough.

    Args:
        policy: What must hold, and the hierarchies.
        counts: The table, over the columns that the policy decides on.
        population: All people the data was drawn from, if the policy names them.
        most: The nodes that are judged at most; of a larger lattice only those around the chosen
            one are.
        seconds: How long levels are searched for in a larger lattice; None for as long as it takes.
        rng: Draws who stays where a model leaves that to chance.
        report: Told how far it is.
        maker: Makes hierarchies, or has them already; None makes them.
    """
    ready = prepare(policy, counts, population, maker=maker)
    refuse_population(policy, ready)
    checker = checker_of(policy, ready, rng=rng)
    lattice = None
    if checker.lattice.size <= most:
        lattice = judge_lattice(
            policy, counts, population, most=most, rng=rng, report=report, maker=maker
        )
        chosen, proven = lattice.chosen, lattice.proven
    else:
        searched = within_seconds(policy.with_method(FULL_DOMAIN), seconds)
        found = search_levels(searched, checker, lambda n: report("search", n, None))
        chosen, proven = found.node, found.proven
        if chosen is None:
            raise InfeasibleError(why_infeasible(policy, checker, found))
    dropped = counts.total - checker.total
    names = tuple(ladder.column for ladder in checker.grouping.ladders)
    if chosen is None:
        # No choice keeps the promises: the most general one shows why.
        chosen = checker.lattice.highest
    here = checker.evaluate(chosen)
    steps = []
    for at, name in enumerate(names):
        report("levels", at, len(names))
        steps.append(_step_down(checker, chosen, at, name, dropped))
    return LevelMap(
        names,
        checker.lattice.size,
        chosen,
        here.loss,
        here.suppressed + dropped,
        checker.limit + dropped,
        proven,
        tuple(steps),
        lattice,
    )


def _step_down(checker: Checker, node: Node, at: int, column: str, dropped: int) -> LevelStep:
    level = node[at]
    if level <= checker.lattice.lowest[at]:
        reason = "it is as it was" if level == 0 else "the policy allows no lower level"
        return LevelStep(column, level, None, reason=reason)
    finer = (*node[:at], level - 1, *node[at + 1 :])
    outcome = checker.evaluate(finer)
    lost, limit = outcome.suppressed + dropped, checker.limit + dropped
    reason = ""
    if not outcome.valid:
        unit = "people" if checker.whole_people else "rows"
        reason = f"{lost} {unit} would have to be left out, and {limit} may be"
        if lost <= limit:
            reason = "the promises about the population would be broken"
    return LevelStep(column, level, level - 1, outcome.valid, outcome.loss, lost, reason)


def within_seconds(policy: Policy, seconds: float | None) -> Policy:
    """Return a policy whose search ends after some seconds, if it says nothing about that itself.

    >>> columns = {"age": "quasi-identifier"}
    >>> policy = Policy(columns=columns, models=[{"model": "k-anonymity", "k": 2}])
    >>> within_seconds(policy, 0.5).search.options
    {'seconds': 0.5}
    """
    options = policy.search.options
    if policy.method.name not in (FULL_DOMAIN, REGIONAL):
        return policy
    if seconds is None or "seconds" in options or "checks" in options:
        return policy
    return policy.replace(search=replace(policy.search, options={**options, "seconds": seconds}))
