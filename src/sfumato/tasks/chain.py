"""Chains of remedies: one after the other, until the answer is the one that is wanted."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from heapq import heappop, heappush
from itertools import count as numbers_from
from time import perf_counter
from typing import NamedTuple

from sfumato.leaks import Findings
from sfumato.policy import Policy
from sfumato.policy.remedies import GiveRole, LetBeKnown, Remedy
from sfumato.schema import Role
from sfumato.tasks.price import ORDER, PricedRemedy, RemedyChain, Standing, Wanted
from sfumato.tasks.trying import (
    AnyRelease,
    PolicyTrials,
    Refine,
    TriedPolicy,
    apply_remedy,
    first_reasons,
    helps,
    policy_key,
    remedies_for,
)

_MOST_TRIED = 40
"""The policies that are tried for one chain."""


class ChainLimits(NamedTuple):
    """How much a chain may cost."""

    loss: float = 1.0
    """The most normalised loss of the quasi-identifiers."""

    gone: float = 1.0
    """The most of the whole table that may be gone."""

    def allow(self, standing: Standing) -> bool:
        """Return whether a policy is within them."""
        return (standing.normalised or 0.0) <= self.loss and standing.gone.share <= self.gone


Finder = Callable[[AnyRelease], Findings]
"""Looks for what a release still tells."""


def find_chain(
    trials: PolicyTrials,
    policy: Policy,
    until: Wanted,
    *,
    limits: ChainLimits | None = None,
    look: Finder | None = None,
    apart: bool = True,
    most: int = _MOST_TRIED,
    seconds: float | None = None,
) -> RemedyChain:
    """Find the cheapest chain of remedies that leads to an answer.

    The cheapest policy so far is continued first, so that the first one with the wanted answer is
    the cheapest of all that can be reached by remedies each of which helps. If there is none, or
    after `most` policies, the chain leads to the one with the least trouble.

    Args:
        trials: What tries policies.
        policy: The policy to begin with; it must be possible.
        until: The answer that is wanted.
        limits: What a chain may cost.
        look: Looks for what classes tell, which may then be generalised further; None never does.
        apart: Whether columns may be published apart.
        most: The most policies to try.
        seconds: How long it may take; None for as long as it does.
    """
    first = trials.complete(trials.require_policy(policy))
    search = _ChainSearch(trials, ORDER.index(until), limits or ChainLimits(), look, apart=apart)
    stop = None if seconds is None else perf_counter() + seconds
    end, stopped = search.run(_Link(first), most, stop)
    end = search.complete(search.shorten(end, first), first)
    tried = end.tried
    return RemedyChain(
        until,
        first.standing,
        end.steps,
        tried.policy,
        tried.refine,
        tried=trials.number,
        stopped=stopped,
    )


class _Link(NamedTuple):
    """A policy on the way, and the remedies that led to it."""

    tried: TriedPolicy
    steps: tuple[PricedRemedy, ...] = ()

    @property
    def cost(self) -> tuple[float, float, int]:
        standing = self.tried.standing
        return standing.gone.share, standing.normalised or 0.0, len(self.steps)

    def reaches(self, goal: int) -> bool:
        """Return whether the answer is the one that is wanted, or better."""
        return ORDER.index(self.tried.found.answer) >= goal


class _ChainSearch:
    """A search through policies, the cheapest first (Dijkstra's, with costs of places).

    What differs by less than a percent costs the same: of those, whatever is nearer to the goal
    comes first, so that most others need not be tried.
    """

    def __init__(
        self,
        trials: PolicyTrials,
        goal: int,
        limits: ChainLimits,
        look: Finder | None,
        *,
        apart: bool,
    ) -> None:
        self._trials, self._goal, self._limits = trials, goal, limits
        self._look, self._apart = look, apart
        self._seen = set[str]()

    def run(self, first: _Link, most: int, stop: float | None) -> tuple[_Link, bool]:
        """Return the end of the best chain, and whether the search was stopped."""
        most += self._trials.number
        order, found = numbers_from(), [first]
        waiting = [(self._place(first), next(order), first, self._continue(first))]
        while waiting:
            place, number, link, longer = heappop(waiting)
            if link.reaches(self._goal):
                return link, False
            for each in longer:
                found.append(each)
                heappush(waiting, (self._place(each), next(order), each, self._continue(each)))
                # One at a time: it may be nearer to the goal than what else continues this one.
                heappush(waiting, (place, number, link, longer))
                break
            late = stop is not None and perf_counter() > stop
            if late or self._trials.number >= most:
                return self._best(found), True
        return self._best(found), False

    def _place(self, link: _Link) -> tuple[float, float, int, tuple[int, ...], int]:
        """Return what says which chain is continued first: its cost, then how near the goal is."""
        gone, loss, steps = link.cost
        found = link.tried.found
        # Nothing is a yes while something is assumed, however many people it saves.
        assumed = len(found.open) if self._goal == ORDER.index("yes") else 0
        return round(gone, 2), round(loss, 2), assumed, link.tried.trouble, steps

    def shorten(self, link: _Link, first: TriedPolicy) -> _Link:
        """Return a chain without remedies that later ones made needless, if it costs no more."""
        for at, step in enumerate(link.steps[:-1]):
            if _assumes_less(step.remedy) and link.reaches(self._goal):
                continue
            kept = [each.remedy for i, each in enumerate(link.steps) if i != at]
            # Its end first: the way there matters only if that is as good.
            if not self._is_as_good(first, kept, link):
                continue
            shorter = self._follow(first, kept)
            if shorter is not None:
                return self.shorten(shorter, first)
        return link

    def _is_as_good(self, first: TriedPolicy, remedies: list[Remedy], link: _Link) -> bool:
        """Return whether some remedies together lead where a chain leads, for no more."""
        policy, refine = first.policy, first.refine
        for remedy in remedies:
            changed, refine = _apply(remedy, policy, refine)
            if changed is None:
                return False
            policy = changed
        tried = self._trials.try_policy(policy, refine)
        if tried is None:
            return False
        end = _Link(tried)
        if end.cost[:2] > link.cost[:2]:
            return False
        return tried.trouble <= link.tried.trouble or end.reaches(self._goal)

    def complete(self, link: _Link, first: TriedPolicy) -> _Link:
        """Return the same chain with the whole verdict on each step of it."""
        found = [self._trials.complete(first)]
        for each in link.steps:
            changed, refine = _apply(each.remedy, found[-1].policy, found[-1].refine)
            tried = None if changed is None else self._trials.try_policy(changed, refine)
            assert tried is not None  # noqa: S101 - it was followed before
            found.append(self._trials.complete(tried))
        steps = [
            replace(each, before=before.standing, after=after.standing)
            for each, before, after in zip(link.steps, found, found[1:], strict=False)
        ]
        return _Link(found[-1], tuple(steps))

    def _follow(self, first: TriedPolicy, remedies: list[Remedy]) -> _Link | None:
        """Return the chain of some remedies; None if it cannot be followed."""
        link = _Link(first)
        for remedy in remedies:
            before = link.tried
            changed, refine = _apply(remedy, before.policy, before.refine)
            tried = None if changed is None else self._trials.try_policy(changed, refine)
            if tried is None or changed is None or not self._limits.allow(tried.standing):
                return None
            step = PricedRemedy(remedy, before.standing, tried.standing, changed)
            link = _Link(tried, (*link.steps, step))
        return link

    def _best(self, found: list[_Link]) -> _Link:
        """Return the cheapest link with the wanted answer; without one, that of least trouble."""
        reached = [each for each in found if each.reaches(self._goal)]
        if reached:
            return min(reached, key=lambda each: each.cost)
        return min(found, key=lambda each: (each.tried.trouble, each.cost))

    def _continue(self, link: _Link) -> Iterator[_Link]:
        """Yield the chains that are one remedy longer, where it helps and is within the limits."""
        before = link.tried
        for remedy in self._remedies(before):
            changed, refine = _apply(remedy, before.policy, before.refine)
            if changed is None or not self._is_new(changed, len(refine)):
                continue
            tried = self._trials.try_policy(changed, refine)
            if tried is None or not self._limits.allow(tried.standing):
                continue
            # Who assumes less is worse off at first, and has to do so to come to a yes.
            if not (helps(before, tried) or _assumes_less(remedy)):
                continue
            step = PricedRemedy(remedy, before.standing, tried.standing, changed)
            yield _Link(tried, (*link.steps, step))

    def _is_new(self, policy: Policy, refined: int) -> bool:
        key = policy_key(policy, refined)
        if key in self._seen:
            return False
        self._seen.add(key)
        return True

    def _remedies(self, tried: TriedPolicy) -> Iterator[Remedy]:
        """Yield the remedies for the first reasons, and then what generalises classes further."""
        for reason in first_reasons(tried.found):
            for remedy in remedies_for(reason, tried):
                if self._apart or remedy.kind != "apart":
                    yield remedy
        if self._look is None or tried.policy.decouple is not None:
            return
        findings = self._look(tried.whole)
        columns = findings.advice().generalise
        if columns:
            yield Refine(tuple(columns), findings)


def _assumes_less(remedy: Remedy) -> bool:
    """Return whether a remedy gives up an assumption: that others do not know, or do not mind."""
    if isinstance(remedy, GiveRole):
        return remedy.role is Role.SENSITIVE
    return isinstance(remedy, LetBeKnown)


def _apply(
    remedy: Remedy, policy: Policy, refine: tuple[Findings, ...]
) -> tuple[Policy | None, tuple[Findings, ...]]:
    """Return a policy with a remedy, and what is refined beside it."""
    if isinstance(remedy, Refine):
        return policy, (*refine, remedy.findings)
    return apply_remedy(remedy, policy), refine
