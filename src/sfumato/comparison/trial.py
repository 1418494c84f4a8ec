"""Trying a policy on counts: what would be published, and what would be learned from it."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import BrokenExecutor
from dataclasses import dataclass, field, replace
from pickle import PickleError
from time import perf_counter
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from sfumato.attacks import ATTACKS, ClassAttack, IntervalDisclosure, Outcome, Target
from sfumato.attacks.adversary.target import target_of
from sfumato.attacks.adversary.trial import as_counted, attacks_on_classes, release_of_counts
from sfumato.counts import FrequencySet
from sfumato.decouplings import DECOUPLINGS, Decoupling
from sfumato.errors import InfeasibleError, SfumatoError
from sfumato.files.reading import TextFile
from sfumato.harm import HarmRule
from sfumato.losses import NormalizedLoss
from sfumato.models import PrivacyModel
from sfumato.policy import ColumnRule, Policy, harm_rule
from sfumato.recode.deciding import (
    Decision,
    Maker,
    counted_columns,
    decide,
)
from sfumato.recode.recoded import rows_of
from sfumato.releases.manifest import Promise
from sfumato.releases.opening import open_release
from sfumato.releases.perturbing import perturb_counts
from sfumato.releases.release import DecoupledRelease, Release
from sfumato.schema import Role
from sfumato.tasks.decouple import decouple
from sfumato.tasks.utility import number_losses, query_error
from sfumato.tasks.verify import outcomes
from sfumato.text import join_words, percent
from sfumato.typing import Progress, silent
from sfumato.usefulness.numbers import NUMBER_LOSSES
from sfumato.usefulness.propensity import DISTINGUISHABILITY

AT_RISK, BELIEF, GAIN, PROSECUTOR, MEAN = "at-risk", "belief", "gain", "prosecutor", "mean"

RISKS: Mapping[str, str] = {
    AT_RISK: "people at risk",
    BELIEF: "strongest belief",
    GAIN: "strongest gain in belief",
    PROSECUTOR: "highest prosecutor risk",
    MEAN: "mean prosecutor risk",
}
"""The risks to choose from, and what each is called in tables and drawings."""


QUERY_ERROR = "query-error"

ASKED: Mapping[str, str] = {
    QUERY_ERROR: "mean error of counting queries",
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


@dataclass(frozen=True)
class Figures:
    """What would be published with a policy, in figures."""

    losses: Mapping[str, float]
    """By name; where nothing is generalised there are only those that are asked for."""

    published: int
    suppressed: int
    classes: int
    smallest: int
    """People in the smallest class; 0 if nothing is published."""

    risks: Mapping[str, float]
    """By name, each between 0 and 1: see `RISKS`. Without sensitive columns some are absent."""

    people: int = 0
    """How many people the worst attack puts at risk."""

    prior: float | None = None
    """What was believed before the release, where the belief is strongest."""

    attacks: tuple[Outcome, ...] = ()
    """What each attack achieved, without the people it found."""

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as plain values that JSON can hold."""
        return {
            "losses": dict(self.losses),
            "published": self.published,
            "suppressed": self.suppressed,
            "classes": self.classes,
            "smallest_class": self.smallest,
            "people_at_risk": self.people if AT_RISK in self.risks else None,
            "prior": self.prior,
            "risks": {name: self.risks.get(name) for name in RISKS},
        }


@dataclass(frozen=True)
class Point:
    """One policy among those that are compared: what came out of it, or why nothing did."""

    name: str
    policy: Policy = field(repr=False)
    """The policy itself, ready for `sf.anonymize`."""

    measured: Figures | None
    reason: str | None = None
    """Why no release keeps the policy, if none does."""

    seconds: float = field(default=0.0, compare=False)
    """How long the decision took."""

    @property
    def possible(self) -> bool:
        """Whether some release keeps the policy."""
        return self.measured is not None

    @property
    def figures(self) -> Figures:
        """The figures of what came out; an error with the reason if nothing did."""
        if self.measured is None:
            raise InfeasibleError(f"{self.name}: {self.reason}")
        return self.measured

    @property
    def loss(self) -> float:
        """The loss that its policy asks to keep small; nothing if nothing is generalised."""
        return self.figures.losses.get(self.policy.loss.name, 0.0)

    @property
    def losses(self) -> Mapping[str, float]:
        """Every loss by name."""
        return self.figures.losses

    @property
    def suppressed(self) -> int:
        """The number of rows that are not published."""
        return self.figures.suppressed

    @property
    def risks(self) -> Mapping[str, float]:
        """Every risk by name; see `RISKS`."""
        return self.figures.risks

    def summary(self, loss: str = NormalizedLoss.name) -> str:
        """Return the most important about it in one line."""
        risks = [
            f"{words} {percent(self.risks[name])}"
            for name, words in RISKS.items()
            if name in self.risks
        ]
        lost = [f"{loss_words(loss)} {self.losses[loss]:.4f}"] if loss in self.losses else []
        return f"{self.name}: " + ", ".join([*lost, f"{self.suppressed} rows suppressed", *risks])

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values that JSON can hold; figures are null if nothing came out."""
        blank = {**dict.fromkeys(_NOTHING.to_dict()), "losses": {}, "risks": dict.fromkeys(RISKS)}
        apart = self.policy.decouple
        return {
            "name": self.name,
            "possible": self.possible,
            "reason": self.reason,
            "loss": self.loss if self.possible else None,
            **(blank if self.measured is None else self.measured.to_dict()),
            "loss_name": self.policy.loss.name,
            "method": self.policy.method.name,
            "decouple": None if apart is None else apart.name,
            "seconds": round(self.seconds, 6),
            "policy": self.policy.to_yaml(),
        }


_NOTHING = Figures({}, 0, 0, 0, 0, {})


@dataclass(frozen=True, eq=False)
class CountedTable:
    """What all policies are tried on: one table, counted once."""

    counts: FrequencySet
    """The table over every column that some policy decides on or calls sensitive."""

    columns: tuple[str, ...]
    """All columns of the table, counted or not."""

    populations: Mapping[str | TextFile, FrequencySet]
    """By the path that policies have for them."""

    threshold: float
    """From which belief on a person is at risk."""

    seed: int
    asks: str | None = None
    """The loss among `ASKED` that is measured with questions; None for none."""

    report: Progress = silent
    """Told how far each decision is, where it is made in this process; it may raise to stop."""

    maker: Maker | None = None
    """Makes hierarchies and groupings, or has them already; None makes them."""

    def __getstate__(self) -> dict[str, object]:
        """Return what another process needs."""
        return {**self.__dict__, "report": silent, "maker": None}


class Trial(NamedTuple):
    """What would be published: its figures, and the release, whose rows are counts."""

    figures: Figures
    release: Release | DecoupledRelease
    decoupled: DecoupledRelease | None = None
    """The tables it is published in, where questions are put to it before it is decoupled."""


def try_policy(name: str, policy: Policy, table: CountedTable) -> Point:
    """Decide as `sf.anonymize` would, and attack what would be published as `sf.verify` would.

    Nothing is written. That a policy is impossible is a result like others.
    """
    start, given, original = perf_counter(), policy, table
    try:
        policy = as_counted(policy, table.counts)
        table = _perturb(policy, table)
        decoupling = policy.make_decoupling(DECOUPLINGS)
        if decoupling is not None and decoupling.in_one_piece:
            tried = _try_hidden(policy, decoupling, _try_generalised(policy, table), table)
        elif decoupling is None or decoupling.keeps_classes:
            # Groups of the same people with the same values, before it is decoupled and after:
            # only what one sensitive column tells about another differs.
            tried = _try_generalised(policy, table)
            if decoupling is not None and tried.figures.published:
                apart = _try_hidden(policy, decoupling, tried, table).release
                assert isinstance(apart, DecoupledRelease)  # noqa: S101 - it was just made
                tried = tried._replace(decoupled=apart)
        else:
            tried = _try_in_buckets(policy, decoupling, table)
        seconds = perf_counter() - start
        return Point(name, given, _measure(policy, tried, original), seconds=seconds)
    except SfumatoError as error:
        return Point(name, given, None, str(error), perf_counter() - start)


def _perturb(policy: Policy, table: CountedTable) -> CountedTable:
    """Change the values that a policy changes before all else."""
    if not policy.perturbations:
        return table
    counts = perturb_counts(table.counts, policy, np.random.default_rng(table.seed))
    # Hierarchies and groupings that were made for other values do not fit.
    return replace(table, counts=counts, maker=None)


def _try_generalised(policy: Policy, table: CountedTable) -> Trial:
    decision = _decide(policy, table)
    sizes, left = decision.sizes, decision.left
    if left.by_person:
        sizes = left.sizes
    figures = Figures(
        losses=decision.losses,
        published=int(sizes.sum()) if not left.by_person else left.total,
        suppressed=decision.suppressed,
        classes=len(sizes),
        smallest=int(sizes.min()) if len(sizes) else 0,
        risks={
            # Any of n people who look alike may be the one: 1/n, in the mean over people.
            PROSECUTOR: float((1 / left.sizes).max(initial=0)),
            MEAN: float((left.inside / left.sizes).sum() / max(int(left.inside.sum()), 1)),
        },
    )
    release = release_of_counts(
        policy, decision, table.counts, table.columns, table.seed, beside=_beside(policy, table)
    )
    return Trial(figures, release)


def _beside(policy: Policy, table: CountedTable) -> tuple[str, ...]:
    """Return the plain columns that a policy perturbs, if computing with them is asked for."""
    if table.asks in (None, QUERY_ERROR) or policy.decouple or policy.counted_person:
        return ()
    return tuple(n for n in policy.perturbations if policy.columns[n].role is Role.PLAIN)


def _try_hidden(policy: Policy, decoupling: Decoupling, tried: Trial, table: CountedTable) -> Trial:
    """Decouple what is published in one piece, as `sf.decouple` would."""
    if not tried.figures.published:
        return tried
    assert isinstance(tried.release, Release)  # noqa: S101 - it is in one piece
    published = tried.release.table
    decoupled = decouple(
        rows_of(published), decoupling, policy=_policy_for(policy, decoupling), seed=table.seed
    )
    return Trial(tried.figures, decoupled)


def _policy_for(policy: Policy, decoupling: Decoupling) -> Policy:
    """Return the policy of a table that has no other columns.

    Whether rows are people was asked of the whole table. What is decoupled by its classes is
    generalised already: its labels keep the models, and have no levels any more.
    """
    rules = {n: policy.columns[n] for n in (*policy.quasi_identifiers, *policy.sensitive)}
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


def _decide(policy: Policy, table: CountedTable) -> Decision:
    counts = (table.maker or Maker()).project(table.counts, counted_columns(policy))
    population = None
    if policy.population_table is not None:
        population = table.populations[policy.population_table].project(policy.quasi_identifiers)
    return decide(
        policy,
        policy,
        counts,
        population,
        rng=np.random.default_rng(table.seed),
        report=table.report,
        maker=table.maker,
    )


def _try_in_buckets(policy: Policy, decoupling: Decoupling, table: CountedTable) -> Trial:
    """Decouple as `sf.decouple` would, without generalising anything."""
    roles = (*policy.quasi_identifiers, *policy.sensitive)
    names = tuple(dict.fromkeys((*roles, *decoupling.needs)))
    decoupled = decouple(
        rows_of(table.counts.project(names)),
        decoupling,
        policy=_policy_for(policy, decoupling),
        seed=table.seed,
    )
    sizes = decoupled.grouped.sizes
    # People of a bucket look different: who finds a row has not found a value.
    figures = Figures(
        losses={},
        published=decoupled.grouped.total,
        suppressed=decoupled.suppressed,
        classes=len(sizes),
        smallest=int(sizes.min()),
        risks={},
    )
    return Trial(figures, decoupled)


def _measure(policy: Policy, tried: Trial, table: CountedTable) -> Figures:
    """Measure with questions and attacks what would be published."""
    figures = tried.figures
    if table.asks is not None:
        figures = replace(
            figures, losses={**figures.losses, **_asked_losses(policy, tried, table, table.asks)}
        )
    if not policy.sensitive:
        return figures
    if not figures.published:
        # Where there are no people, none can be at risk.
        return replace(figures, risks={AT_RISK: 0.0, BELIEF: 0.0, GAIN: 0.0, **figures.risks})
    return _attack(
        figures,
        target_of(open_release(tried.decoupled or tried.release, policy)),
        harm_rule(policy.risk_levels, table.threshold),
        table.report,
    )


def _asked_losses(policy: Policy, tried: Trial, table: CountedTable, loss: str) -> dict[str, float]:
    """Return losses that are measured with the same questions for every policy.

    Means, variances, quantiles, correlations and regressions are measured together: they cost
    hardly more than one of them.
    """
    numbers = [name for name in NUMBER_LOSSES if loss != QUERY_ERROR]
    if not tried.figures.published:
        return dict.fromkeys([loss, *numbers], 1.0)
    names = (*policy.quasi_identifiers, *policy.sensitive, *_beside(policy, table))
    counts = table.counts.project(names)
    if loss == QUERY_ERROR:
        error = query_error(counts, tried.release, policy=policy, seed=table.seed)
        return {QUERY_ERROR: error}
    return number_losses(
        counts,
        tried.decoupled or tried.release,
        policy=policy,
        seed=table.seed,
        tell_apart=loss == DISTINGUISHABILITY,
    )


def _attack(figures: Figures, target: Target, rule: HarmRule, report: Progress) -> Figures:
    """Add what attacks learn: those of the verdict that need nothing but the release."""
    tried = attacks_on_classes(target, rule)
    judged = [
        attack for attack, outcome in tried if outcome.judged and isinstance(attack, ClassAttack)
    ]
    back = [o for attack, o in tried if o.judged and isinstance(attack, IntervalDisclosure)]
    strongest = _strongest(judged, back, target)
    done = {outcome.attack for _, outcome in tried}
    others = outcomes(target, [name for name in ATTACKS if name not in done], rule, report)
    found = [*(outcome for _, outcome in tried), *(each for each in others if each.tried)]
    people = max((outcome.people for outcome in found if outcome.judged), default=0)
    share = people / max(target.classes.n_people, 1)
    risks = {AT_RISK: share, BELIEF: strongest.belief, GAIN: strongest.gain}
    return replace(
        figures,
        risks={**risks, **figures.risks},
        people=people,
        prior=strongest.prior,
        attacks=tuple(_without_people(outcome) for outcome in found),
    )


class _Strongest(NamedTuple):
    """The strongest belief that the release made stronger, what it was before, the largest gain."""

    belief: float = 0.0
    prior: float | None = None
    gain: float = 0.0


def _strongest(attacks: list[ClassAttack], back: list[Outcome], target: Target) -> _Strongest:
    """Return the strongest belief of attacks on classes, and of those that work back to values.

    Args:
        attacks: The attacks on classes.
        back: What came of working back to true values, worst cases first.
        target: What is attacked.
    """
    found = [attack.find(target) for attack in attacks]
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


def _without_people(outcome: Outcome) -> Outcome:
    """Return the outcome without the people found: more readers see a comparison than a release."""
    return replace(outcome, worst=())


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
    points: Sequence[Point], table: CountedTable, done: Callable[[int, int], None]
) -> tuple[Binding, ...]:
    """Return which promises bind where several policies come out the same.

    A promise binds if the loss would be less without it, and all else as it is.

    Args:
        points: What was tried.
        table: What it was tried on.
        done: Told how many decisions are made, of how many.
    """
    alike: dict[object, list[Point]] = {}
    for point in points:
        if point.measured is not None and point.policy.loss.name in point.losses:
            alike.setdefault(_outcome_of(point.measured), []).append(point)
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


def _outcome_of(figures: Figures) -> object:
    """Return what two policies have in common that come out the same."""
    losses = tuple(sorted((name, round(loss, 9)) for name, loss in figures.losses.items()))
    rows = figures.published, figures.suppressed, figures.classes, figures.smallest
    return losses, rows


def _loss_without(policy: Policy, model: PrivacyModel, table: CountedTable) -> float | None:
    """Return the loss of a policy without a model; None if it cannot do without."""
    rest = [each for each in policy.models if each != model]
    try:
        fewer = as_counted(policy.replace(models=rest), table.counts)
        return _decide(fewer, _perturb(fewer, table)).losses.get(policy.loss.name)
    except SfumatoError:
        return None


Job: TypeAlias = tuple[str, Policy]

_PAYS = 3.0
"""Seconds of work left from which on starting workers pays: each needs about one to start."""


def try_all(
    jobs: Sequence[Job], table: CountedTable, *, parallel: int | None, done: Callable[[int], None]
) -> tuple[Point, ...]:
    """Try policies, on several processors if that pays, and return their points in order.

    Args:
        jobs: Names and policies.
        table: What they are tried on.
        parallel: How many at a time; None takes as many as there are processors if the first
            policy shows that the others will take long enough.
        done: Told how many are done.
    """
    found: dict[int, Point] = {}
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


def _worker_count(parallel: int | None, tried: Collection[Point], left: int) -> int:
    """Return how many workers the rest is worth."""
    if parallel is not None:
        return parallel
    if not tried or max(point.seconds for point in tried) * left < _PAYS:
        return 1
    from loky import cpu_count

    return int(cpu_count())


def _try_together(
    jobs: Sequence[Job], table: CountedTable, workers: int
) -> Iterator[tuple[int, Point]]:
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


_kept: dict[str, CountedTable] = {}
"""In a worker: what policies are tried on."""


def _keep(table: CountedTable) -> None:
    _kept["table"] = table


def _try_kept(name: str, policy: Policy) -> Point:
    return try_policy(name, policy, _kept["table"])
