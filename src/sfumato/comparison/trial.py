"""Trying a policy on counts: what would be published, and what would be learned from it."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import BrokenExecutor
from dataclasses import replace
from pickle import PickleError
from time import perf_counter
from typing import NamedTuple, TypeAlias

import numpy as np

from sfumato.attacks import ATTACKS, ClassAttack, IntervalDisclosure, Outcome, Target
from sfumato.attacks.adversary.judging import judge
from sfumato.attacks.adversary.trial import (
    AT_RISK,
    BELIEF,
    GAIN,
    CountedTable,
    Trial,
    as_counted,
    attack_release,
    decide_on,
    perturb_table,
    target_of_trial,
    try_on_counts,
    with_judged,
)
from sfumato.counts import FrequencySet
from sfumato.dataclasses import dataclass
from sfumato.decouplings import DECOUPLINGS, Decoupling
from sfumato.errors import SfumatoError
from sfumato.harm import HarmRule
from sfumato.losses import NormalizedLoss
from sfumato.models import PrivacyModel
from sfumato.policy import ColumnRule, Policy, harm_rule
from sfumato.recode.gone import DataGone
from sfumato.recode.recoded import rows_of
from sfumato.releases.manifest import PUBLISHED, Promise
from sfumato.releases.release import DecoupledRelease, Release
from sfumato.schema import Role
from sfumato.tasks.decouple import decouple
from sfumato.tasks.utility import combination_losses, number_losses, query_error
from sfumato.text import join_words
from sfumato.typing import Progress
from sfumato.usefulness.combinations import TABLE_ERROR
from sfumato.usefulness.measure import CLASSIFIER_ERROR
from sfumato.usefulness.numbers import NUMBER_LOSSES
from sfumato.usefulness.propensity import DISTINGUISHABILITY

QUERY_ERROR = "query-error"

ASKED: Mapping[str, str] = {
    QUERY_ERROR: "mean error of counting queries",
    TABLE_ERROR: "error of two- and three-way tables",
    CLASSIFIER_ERROR: "error of a classifier",
    **NUMBER_LOSSES,
    DISTINGUISHABILITY: "distinguishability",
}
"""The losses that are measured with questions, and so for releases of every kind: what each is
called in tables and drawings."""


def loss_words(loss: str) -> str:
    """Return what a loss is called in tables and drawings.

    >>> loss_words("normalized-loss"), loss_words("query-error"), loss_words("discernibility")
    ('normalised loss', 'mean error of counting queries', 'discernibility')
    """
    special = {NormalizedLoss.name: "normalised loss", **ASKED}
    return special.get(loss, loss.replace("-", " "))


@dataclass(frozen=True, eq=False)
class ComparedTable(CountedTable):
    """What policies are compared on: a counted table, and what is asked of them."""

    threshold: float = 0.75
    """Probability from which a person is at risk."""

    asks: tuple[str, ...] = ()
    """The losses among `ASKED` that are measured with questions."""


class PublishedTrial(NamedTuple):
    """What would be published, before it is decoupled and after."""

    whole: Trial
    decoupled: DecoupledRelease | None = None
    """The tables it is published in, if it is in several."""

    asked: bool = True
    """Whether questions are put to those tables, and not to what they were made of."""

    @property
    def trial(self) -> Trial:
        """The figures, with the release as readers get it."""
        return replace(self.whole, release=self.decoupled or self.whole.release)


def try_policy(name: str, policy: Policy, table: ComparedTable) -> Trial:
    """Decide as `sf.anonymize` would, and attack what would be published as `sf.verify` would.

    Nothing is written. That a policy is impossible is a result like others.
    """
    start = perf_counter()
    try:
        found = _measure(policy, publish_on_counts(policy, table), table)
    except SfumatoError as error:
        found = Trial(policy, rows=table.counts.total, reason=str(error))
    return replace(found, name=name, release=None, seconds=perf_counter() - start)


def publish_on_counts(
    policy: Policy, table: CountedTable, *, hurried: bool = False
) -> PublishedTrial:
    """Return what would be published, decoupled if the policy says so; nothing is written.

    Args:
        policy: What must hold.
        table: What it is tried on.
        hurried: Whether the search has less time than the policy gives it.
    """
    counted = as_counted(policy, table.counts)
    decoupling = counted.make_decoupling(DECOUPLINGS)
    if decoupling is not None and not (decoupling.in_one_piece or decoupling.keeps_classes):
        return _try_in_buckets(policy, counted, decoupling, perturb_table(counted, table))
    whole = try_on_counts(policy, table, hurried=hurried)
    if decoupling is None or not whole.published:
        return PublishedTrial(whole)
    assert isinstance(whole.release, Release)  # noqa: S101 - it is in one piece
    rows = rows_of(whole.release.table)
    rules = _policy_for(counted, decoupling, rows.column_names)
    apart = decouple(rows, decoupling, policy=rules, seed=table.seed)
    # Groups of the same people with the same values, before it is decoupled and after: only what
    # one sensitive column tells about another differs.
    return PublishedTrial(whole, apart, asked=decoupling.in_one_piece)


def _beside(policy: Policy, table: ComparedTable) -> tuple[str, ...]:
    """Return the plain columns that a policy perturbs, if computing with them is asked for."""
    if not asks_of_numbers(table.asks) or policy.decouple or policy.counted_person:
        return ()
    return tuple(n for n in policy.perturbations if policy.columns[n].role is Role.PLAIN)


def _policy_for(policy: Policy, decoupling: Decoupling, columns: Sequence[str]) -> Policy:
    """Return the policy of a table that has only columns that are published.

    Whether rows are people was asked of the whole table. What is decoupled by its classes is
    generalised already: its labels keep the models, and have no levels any more.
    """
    given = {name: policy.columns.get(name, ColumnRule(role=Role.PLAIN)) for name in columns}
    rules = {name: rule for name, rule in given.items() if rule.role in PUBLISHED}
    if decoupling.in_one_piece or decoupling.keeps_classes:
        known = dict.fromkeys(policy.quasi_identifiers, Role.QUASI_IDENTIFIER)
        rules |= {name: ColumnRule(role=role) for name, role in known.items()}
    return policy.replace(
        columns=rules,
        other=Role.DROPPED,
        person={"rows": "as counted"},
        household=None,
        decouple=None,
    )


def _try_in_buckets(
    given: Policy, policy: Policy, decoupling: Decoupling, table: CountedTable
) -> PublishedTrial:
    """Decouple as `sf.decouple` would, without generalising anything."""
    given_roles = policy.check_against(table.columns)
    plain = [n for n, role in given_roles.items() if role is Role.PLAIN and n in table.counts.names]
    roles = (*policy.quasi_identifiers, *policy.sensitive, *plain)
    names = tuple(dict.fromkeys((*roles, *decoupling.needs)))
    decoupled = decouple(
        rows_of(table.counts.project(names)),
        decoupling,
        policy=_policy_for(policy, decoupling, roles),
        seed=table.seed,
    )
    sizes = decoupled.grouped.sizes
    # People of a bucket look different: who finds a row has not found a value.
    whole = Trial(
        given,
        rows=table.counts.total,
        of=table.counts.total,
        published=decoupled.grouped.total,
        suppressed=decoupled.suppressed,
        classes=len(sizes),
        smallest=int(sizes.min()),
        gone=DataGone.of_columns(
            given, table.columns, {}, decoupled.suppressed / table.counts.total
        ),
    )
    return PublishedTrial(whole, decoupled)


def _measure(policy: Policy, made: PublishedTrial, table: ComparedTable) -> Trial:
    """Measure with questions and attacks what would be published."""
    trial = made.whole
    if table.asks:
        asked = _asked_losses(policy, made, table)
        trial = replace(trial, losses={**trial.losses, **asked})
    learned = (BELIEF, GAIN) if policy.sensitive else ()
    if not trial.published:
        # Where there are no people, none can be at risk.
        return replace(trial, risks={**dict.fromkeys((AT_RISK, *learned), 0.0), **trial.risks})
    trial = replace(made.trial, losses=trial.losses)
    rule = harm_rule(policy.risk_levels, table.threshold)
    # Where nothing is secret people can still be found.
    return _attack(trial, rule, table.report) if learned else attack_release(trial, rule)


def asks_of_numbers(losses: Collection[str]) -> bool:
    """Return whether losses are asked for that computing with numbers has."""
    return not {*NUMBER_LOSSES, DISTINGUISHABILITY}.isdisjoint(losses)


def _asked_losses(policy: Policy, made: PublishedTrial, table: ComparedTable) -> dict[str, float]:
    """Return losses that are measured with the same questions for every policy.

    Means, variances, quantiles, correlations and regressions are measured together: they cost
    hardly more than one of them.
    """
    asks, numbers = table.asks, asks_of_numbers(table.asks)
    if not made.whole.published:
        return dict.fromkeys([*asks, *(NUMBER_LOSSES if numbers else ())], 1.0)
    names = (*policy.quasi_identifiers, *policy.sensitive, *_beside(policy, table))
    counts, whole = table.counts.project(names), made.whole.release
    parted = made.decoupled or whole
    answers = parted if made.asked else whole
    return measure_asked(counts, parted, asks, policy=policy, seed=table.seed, answers=answers)


def measure_asked(
    counts: FrequencySet,
    release: object,
    asks: Collection[str],
    *,
    policy: Policy,
    seed: int,
    answers: object = None,
) -> dict[str, float]:
    """Return losses that are measured with the same questions for every release.

    Args:
        counts: The original.
        release: What was published.
        asks: The losses, all among `ASKED`.
        policy: The policy it was made with.
        seed: Where questions and rows that could be behind it are drawn from.
        answers: What counting queries are asked of, if of something else.
    """
    found: dict[str, float] = {}
    if QUERY_ERROR in asks:
        asked = release if answers is None else answers
        found[QUERY_ERROR] = query_error(counts, asked, policy=policy, seed=seed)
    found |= combination_losses(counts, release, policy=policy, seed=seed, losses=asks)
    if asks_of_numbers(asks):
        apart = DISTINGUISHABILITY in asks
        found |= number_losses(counts, release, policy=policy, seed=seed, tell_apart=apart)
    return found


def _attack(trial: Trial, rule: HarmRule, report: Progress) -> Trial:
    """Add what attacks learn: those of the verdict that need nothing but the release."""
    policy, target = trial.policy, target_of_trial(trial)
    judged = judge(target, list(ATTACKS), rule, policy, policy.quasi_identifiers, report)
    strongest = _strongest(judged.outcomes, target, rule)
    trial = with_judged(trial, judged)
    risks = {BELIEF: strongest.belief, GAIN: strongest.gain}
    return replace(trial, risks={**risks, **trial.risks}, prior=strongest.prior)


class _Strongest(NamedTuple):
    """The strongest belief that the release made stronger, what it was before, the largest gain."""

    belief: float = 0.0
    prior: float | None = None
    gain: float = 0.0


def _strongest(outcomes: Sequence[Outcome], target: Target, rule: HarmRule) -> _Strongest:
    """Return the strongest belief of attacks on classes, and of those that work back to values.

    Args:
        outcomes: What all attacks achieved, worst cases first.
        target: What is attacked.
        rule: What harms.
    """
    judged = {outcome.attack for outcome in outcomes if outcome.judged}
    kinds = [each for each in ATTACKS.values() if issubclass(each, ClassAttack)]
    found = [
        attack.find(target)
        for kind in kinds
        if kind.name in judged
        for attack in kind.against(target, rule)
    ]
    back = [each for each in outcomes if each.judged and each.attack == IntervalDisclosure.name]
    worst = [case for outcome in back for case in outcome.worst]
    prior = np.concatenate([[case.prior for case in worst], *(each.prior for each in found)])
    posterior = np.concatenate(
        [[case.posterior for case in worst], *(each.posterior for each in found)]
    )
    learned = posterior - prior > 1e-12
    prior, posterior = prior[learned], posterior[learned]
    if not len(prior):
        return _Strongest()
    # Of equally strong beliefs the one that was weakest before.
    at = np.lexsort((prior, -posterior))[0]
    gain = float((posterior - prior).max())
    return _Strongest(float(posterior[at]), float(prior[at]), gain)


@dataclass(frozen=True)
class Binding:
    """Policies that come out the same, and the promises that keep them from getting finer."""

    names: tuple[str, ...]
    loss: float
    without: Mapping[str, float]
    """For each promise that binds, the loss that there would be without it, the least first."""

    def __str__(self) -> str:
        same = f"{join_words(self.names)} come out the same"
        if not self.without:
            return f"{same}: to leave out any one of their promises would not make it finer."
        told = [
            f"{promise} (without it the loss would be {loss:.4f}, not {self.loss:.4f})"
            for promise, loss in self.without.items()
        ]
        return f"{same}. They cannot get finer because of {join_words(told)}."


def find_bindings(
    points: Sequence[Trial], table: ComparedTable, done: Callable[[int, int], None]
) -> tuple[Binding, ...]:
    """Return which promises bind where several policies come out the same.

    A promise binds if the loss would be less without it, and all else as it is.

    Args:
        points: What was tried.
        table: What it was tried on.
        done: Told how many decisions are made, of how many.
    """
    alike: dict[object, list[Trial]] = {}
    for point in points:
        if point.possible and point.policy.loss.name in point.losses:
            alike.setdefault(_outcome_of(point), []).append(point)
    groups = [group for group in alike.values() if len(group) > 1]
    total = sum(len(group[0].policy.models) for group in groups)
    found, made = [], 0
    for group in groups:
        first, without = group[0], dict[str, float]()
        for model in first.policy.models:
            done(made, total)
            made += 1
            loss = _loss_without(first.policy, model, table)
            if loss is not None and loss < first.loss - _LESS:
                without[str(Promise.of(model))] = loss
        names = tuple(point.name for point in group)
        ordered = sorted(without.items(), key=lambda each: each[1])
        found.append(Binding(names, first.loss, dict(ordered)))
    return tuple(found)


_LESS = 1e-9
"""Two losses that differ by less are the same, rounded."""


def _outcome_of(figures: Trial) -> object:
    """Return what two policies have in common that come out the same."""
    losses = tuple(sorted((name, round(loss, 9)) for name, loss in figures.losses.items()))
    rows = figures.published, figures.suppressed, figures.classes, figures.smallest
    return losses, rows


def _loss_without(policy: Policy, model: PrivacyModel, table: ComparedTable) -> float | None:
    """Return the loss of a policy without a model; None if it cannot do without."""
    rest = [each for each in policy.models if each != model]
    try:
        fewer = as_counted(policy.replace(models=rest), table.counts)
        return decide_on(fewer, perturb_table(fewer, table)).losses.get(policy.loss.name)
    except SfumatoError:
        return None


Job: TypeAlias = tuple[str, Policy]

_PAYS = 3.0
"""Seconds of work left from which on starting workers pays: each needs about one to start."""


def try_all(
    jobs: Sequence[Job], table: ComparedTable, *, parallel: int | None, done: Callable[[int], None]
) -> tuple[Trial, ...]:
    """Try policies, on several processors if that pays, and return their points in order.

    Args:
        jobs: Names and policies.
        table: What they are tried on.
        parallel: How many at a time; None takes as many as there are processors if the first
            policy shows that the others will take long enough.
        done: Told how many are done.
    """
    found: dict[int, Trial] = {}
    for at, job in enumerate(jobs):
        workers = min(_worker_count(parallel, found.values(), len(jobs) - at), len(jobs) - at)
        if workers > 1:
            for number, (where, point) in enumerate(_try_together(jobs[at:], table, workers), at):
                found[at + where] = point
                done(number + 1)
            break
        found[at] = try_policy(*job, table)
        done(at + 1)
    return tuple(found[at] for at in range(len(jobs)))


def _worker_count(parallel: int | None, tried: Collection[Trial], left: int) -> int:
    """Return how many workers the rest is worth."""
    if parallel is not None:
        return parallel
    if not tried or max(point.seconds for point in tried) * left < _PAYS:
        return 1
    from loky import cpu_count

    return int(cpu_count())


def _try_together(
    jobs: Sequence[Job], table: ComparedTable, workers: int
) -> Iterator[tuple[int, Trial]]:
    """Try policies in other processes, and yield the position and the point of each.

    Threads gain less: most of a decision is many short steps, during which Python lets only one
    thread go on. The processes are started afresh, so that a script need not guard its main part.
    """
    from loky import ProcessPoolExecutor, as_completed

    # The table is sent once to each process, not with every policy.
    pool = ProcessPoolExecutor(workers, initializer=_keep, initargs=(table,))
    try:
        tried = {pool.submit(_try_kept, *job): at for at, job in enumerate(jobs)}
        for future in as_completed(tried):
            name, policy = jobs[tried[future]]
            try:
                point = replace(future.result(), policy=policy)
            except (BrokenExecutor, PickleError, OSError):
                # A process may lack memory, or what was defined in the caller's script.
                point = try_policy(name, policy, table)
            yield tried[future], point
    finally:
        pool.shutdown(kill_workers=True)


_kept: dict[str, ComparedTable] = {}
"""In a worker: what policies are tried on."""


def _keep(table: ComparedTable) -> None:
    _kept["table"] = table


def _try_kept(name: str, policy: Policy) -> Trial:
    return try_policy(name, policy, _kept["table"])
