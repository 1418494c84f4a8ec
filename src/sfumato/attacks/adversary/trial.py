"""Trials: what a policy would publish of a counted table, in figures, and attacks on it."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, field, replace
from typing import Any, Literal

import numpy as np

from sfumato.attacks import DeFinetti, Outcome
from sfumato.attacks.adversary.judging import COUNTING, FoundByAdversaries, held_to, judge
from sfumato.attacks.adversary.target import target_of
from sfumato.attacks.at_risk import AdversaryLine, largest
from sfumato.attacks.target import Target
from sfumato.counts import FrequencySet
from sfumato.dataclasses import dataclass
from sfumato.errors import InfeasibleError
from sfumato.files.reading import TextFile
from sfumato.harm import HarmRule
from sfumato.losses import NormalizedLoss
from sfumato.policy import Policy
from sfumato.recode.deciding import Decision, Maker, counted_columns, decide
from sfumato.recode.gone import DataGone, hidden_in
from sfumato.recode.recoded import recode_counts, rows_of
from sfumato.releases.manifest import PUBLISHED, build_manifest
from sfumato.releases.opening import open_release
from sfumato.releases.people import Repetition, count_by
from sfumato.releases.people_file import tell_people_apart
from sfumato.releases.perturbing import columns_to_perturb, perturb_counts
from sfumato.releases.release import DecoupledRelease, Release
from sfumato.schema import Role
from sfumato.text import STAR, format_integer, join_words, percent
from sfumato.typing import Progress, silent
from sfumato.verifier import Verdict

AT_RISK, BELIEF, GAIN, PROSECUTOR, MEAN = "at-risk", "belief", "gain", "prosecutor", "mean"

RISKS: Mapping[str, str] = {
    AT_RISK: "people at risk",
    BELIEF: "strongest belief",
    GAIN: "strongest gain in belief",
    PROSECUTOR: "highest prosecutor risk",
    MEAN: "mean prosecutor risk",
}
"""The risks to choose from, and what each is called in tables and drawings."""


@dataclass(frozen=True)
class ColumnTrial:
    """What would become of one quasi-identifier."""

    name: str
    loss: float
    """Its normalised loss, from 0 (as it was) to 1 (nothing is left); suppressed rows count."""

    stars: int = 0
    """The published rows in which it is `*`."""

    hidden: float = 0.0
    """Their share."""

    level: int | None = None
    """The level of all its values; None if they are at several, or are intervals."""

    height: int | None = None
    """The highest level of its hierarchy; None if it is cut into intervals."""


@dataclass(frozen=True)
class Trial:
    """What would be published of a table under a policy, in figures; nothing is written.

    Promises: the figures are those of the release that `sf.anonymize` would make with the same
    seed, and people at risk are those that `sf.verify` counts on it, unless `estimate` says what
    they are worth. Where chance decides which of rows that are alike go where, or changes values,
    they are those of one draw. Does not promise a verdict: no promise is recomputed, and only what
    needs nothing but the release is tried.

    >>> models = [{"model": "k-anonymity", "k": 2}]
    >>> policy = Policy(columns={"age": "quasi-identifier"}, models=models)
    >>> Trial(policy, rows=9, reason="no release keeps it").verdict
    'impossible'
    """

    policy: Policy = field(repr=False)
    """The policy itself, ready for `sf.anonymize`."""

    name: str = ""
    """What it is called among others."""

    rows: int = 0
    """The rows of the table."""

    of: int = 0
    """The people in it: its rows, unless the policy says what a person is."""

    published: int = 0
    """The rows that would be published."""

    suppressed: int = 0
    """The rows that would not, whatever the reason."""

    classes: int = 0
    smallest: int = 0
    """The people of the smallest class; 0 if nothing is published."""

    losses: Mapping[str, float] = field(default_factory=dict)
    """By name; where nothing is generalised there are only those that are asked for."""

    gone: DataGone | None = None
    """How much of the whole table would be gone, with columns that are left out; None if nothing
    can be published."""

    columns: tuple[ColumnTrial, ...] = ()
    """The quasi-identifiers, if they are generalised."""

    risks: Mapping[str, float] = field(default_factory=dict)
    """By name, each between 0 and 1: see `RISKS`. Without sensitive columns some are absent."""

    prior: float | None = None
    """What was believed before the release, where the belief is strongest."""

    attacks: tuple[Outcome, ...] = ()
    """What each attack achieved, without the people it found."""

    adversaries: tuple[AdversaryLine, ...] = ()
    """How many people each adversary learns too much of; only those that were tried."""

    reason: str | None = None
    """Why no release keeps the policy, or what is wrong with it; None if there is a release."""

    notes: tuple[str, ...] = ()
    """What the figures do not show, and what was found out about the data."""

    sample: int | None = None
    """The drawn rows that the figures were measured on; None if they are those of all rows.

    Fewer rows are less alike, so that loss and hidden cells are too high. Numbers of rows and
    people are scaled to the whole table; classes are those of the sample.
    """

    checked: int | None = None
    """The generalisations that were checked before the search for levels was stopped; None if it
    came to its end. The loss is then at most this."""

    untried: tuple[str, ...] = ()
    """The attacks that apply and were left out because they take long: there may be more people at
    risk."""

    seconds: float = field(default=0.0, compare=False)
    """How long the decision took."""

    release: Release | DecoupledRelease | None = field(default=None, repr=False, compare=False)
    """The release, whose rows are counts, where it is asked for."""

    @property
    def possible(self) -> bool:
        """Whether some release keeps the policy."""
        return self.reason is None

    @property
    def figures(self) -> "Trial":
        """The trial itself; an error with the reason if nothing can be published."""
        if self.reason is not None:
            raise InfeasibleError(f"{self.name}: {self.reason}" if self.name else self.reason)
        return self

    def with_rows(self, policy: Policy) -> Release:
        """Return the release with rows in memory, as `sf.verify` takes it.

        Args:
            policy: What it is held to.
        """
        made = self.release
        assert isinstance(made, Release)  # noqa: S101 - it was tried with its release
        columns = [c.name for c in made.manifest.columns if c.name in made.table.names]
        # Drawn with a known seed here, and with a secret one when it is published.
        manifest = replace(made.manifest, reproducible=False)
        counted = made.table.project(columns).compact()
        # Values of several types are text in the rows.
        alike = all(len({*map(type, each.known)}) <= 1 for each in counted.columns)
        made = replace(made, counted=counted if alike else None)
        return replace(made, manifest=manifest, table=rows_of(counted), policy=policy)

    @property
    def loss(self) -> float:
        """The loss that its policy asks to keep small; nothing if nothing is generalised."""
        return self.figures.losses.get(self.policy.loss.name, 0.0)

    @property
    def normalised(self) -> float:
        """The normalised loss, whatever the policy keeps small."""
        return self.figures.losses.get(NormalizedLoss.name, 0.0)

    @property
    def stars(self) -> int:
        """The cells of quasi-identifiers that are `*` in published rows."""
        return sum(each.stars for each in self.columns)

    @property
    def hidden(self) -> float:
        """The share of the published cells that are `*`."""
        shown = sum(rule.role in PUBLISHED for rule in self.policy.columns.values())
        return self.stars / max(self.published * shown, 1)

    @property
    def succeeded(self) -> tuple[Outcome, ...]:
        """The judged attacks that put people at risk: those not accepted first, the worst first."""
        found = [each for each in self.attacks if each.judged and each.people]
        return tuple(sorted(found, key=lambda each: (bool(each.accepted), -each.people)))

    @property
    def at_risk(self) -> int:
        """The people of whom some adversary who counts learns too much, everyone counted once."""
        return largest(self.adversaries)

    @property
    def at_risk_by_column(self) -> dict[str, int]:
        """The people of whom an adversary learns too much, by sensitive column."""
        found = dict[str, int]()
        for each in self.succeeded:
            if each.column is not None:
                found[each.column] = max(each.people, found.get(each.column, 0))
        return found

    @property
    def allowed(self) -> int:
        """As many people may be at risk, as the policy says."""
        return self.policy.verdict.people

    @property
    def verdict(self) -> Literal["no", "not asked", "impossible"]:
        """The answer so far: `impossible`, `no`, or `not asked`; never yes."""
        if not self.possible:
            return "impossible"
        return "no" if self.at_risk > self.allowed else "not asked"

    @property
    def estimate(self) -> str:
        """The worth of the figures, in a sentence; nothing if they are exact."""
        if self.sample is not None:
            return f"Estimated on {format_integer(self.sample)} drawn rows, and too high."
        if self.checked is not None:
            return f"The best of {format_integer(self.checked)} generalisations so far."
        if self.untried:
            return f"Without {join_words(self.untried)}, so that more people may be at risk."
        return ""

    @property
    def exact(self) -> bool:
        """Whether the figures are those of the release."""
        return self.sample is None and self.checked is None and not self.untried

    def summary(self, loss: str, lost: str) -> str:
        """Return the most important about it in one line.

        Args:
            loss: The loss that it is compared by.
            lost: What that is called.
        """
        risks = [
            f"{words} {percent(self.risks[name])}"
            for name, words in RISKS.items()
            if name in self.risks
        ]
        first = [f"{lost} {self.losses[loss]:.4f}"] if loss in self.losses else []
        gone = [] if self.gone is None else [f"gone: {self.gone}"]
        rows = f"{self.suppressed} rows suppressed"
        return f"{self.name}: " + ", ".join([*first, *gone, rows, *risks])

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values that JSON can hold; figures are null if nothing came out."""
        apart = self.policy.decouple
        figures = {
            "loss": self.loss if self.possible else None,
            "losses": dict(self.losses),
            "gone": None if self.gone is None else self.gone.to_dict(),
            "published": self.published,
            "suppressed": self.suppressed,
            "classes": self.classes,
            "smallest_class": self.smallest,
            "hidden_cells": self.hidden,
            "people_at_risk": self.at_risk if AT_RISK in self.risks else None,
            "prior": self.prior,
            "risks": {name: self.risks.get(name) for name in RISKS},
            "columns": [asdict(each) for each in self.columns],
        }
        if not self.possible:
            empty: dict[str, Any] = {"losses": {}, "risks": dict.fromkeys(RISKS), "columns": []}
            figures = {**dict.fromkeys(figures), **empty}
        return {
            "name": self.name,
            "possible": self.possible,
            "reason": self.reason,
            "rows": self.rows,
            "people": self.of,
            **figures,
            "loss_name": self.policy.loss.name,
            "method": self.policy.method.name,
            "decouple": None if apart is None else apart.name,
            "seconds": round(self.seconds, 6),
            "policy": self.policy.to_yaml(),
        }


@dataclass(frozen=True, eq=False)
class CountedTable:
    """What policies are tried on: one table, counted once."""

    counts: FrequencySet
    """The table over every column that some policy decides on or publishes."""

    columns: tuple[str, ...]
    """All columns of the table, counted or not."""

    populations: Mapping[str | TextFile, FrequencySet] = field(default_factory=dict)
    """By the path that policies have for them."""

    seed: int = 0
    """Fixes which of rows that were alike to a decision go to which class."""

    report: Progress = silent
    """Told how far each decision is, where it is made in this process; it may raise to stop."""

    maker: Maker | None = None
    """Makes hierarchies and groupings, or has them already; None makes them."""

    unowned: float = 0.0
    """The share of rows that were left out before, as they do not say whose they are."""

    def __getstate__(self) -> dict[str, object]:
        """Return what another process needs."""
        return {**self.__dict__, "report": silent, "maker": None}

    def population(self, policy: Policy) -> FrequencySet | None:
        """Return the population of a policy, over its quasi-identifiers."""
        if policy.population_table is None:
            return None
        return self.populations[policy.population_table].project(policy.quasi_identifiers)


def columns_to_count(policy: Policy, columns: Sequence[str]) -> tuple[str, ...]:
    """Return the columns that must be counted to try a policy: all that is published, and more.

    >>> models = [{"model": "k-anonymity", "k": 2}]
    >>> policy = Policy(columns={"age": "quasi-identifier"}, models=models, other="plain")
    >>> columns_to_count(policy, ["age", "sex"])
    ('age', 'sex')

    Args:
        policy: The policy.
        columns: All columns of the table.
    """
    plain = [name for name, role in policy.check_against(columns).items() if role is Role.PLAIN]
    asked = (*counted_columns(policy), *policy.sensitive, *plain, *columns_to_perturb(policy))
    return tuple(dict.fromkeys(asked))


def as_counted(policy: Policy, counts: FrequencySet) -> Policy:
    """Return a policy as it applies to a table: where every person has one row, rows count."""
    person = policy.counted_person
    if person is None:
        return policy
    rows = counts.value_counts(person)
    repeated = Repetition(person, len(rows), counts.total, int(np.count_nonzero(rows > 1)))
    return count_by(policy, repeated).policy


def decide_on(policy: Policy, table: CountedTable, asked: Policy | None = None) -> Decision:
    """Decide as `sf.anonymize` would with the same seed.

    Args:
        policy: The policy, as it applies to the table.
        table: What it is tried on.
        asked: What findings made of the policy; None for the policy itself.
    """
    asked = asked or policy
    return decide(
        policy,
        asked,
        (table.maker or Maker()).project(table.counts, counted_columns(asked)),
        table.population(policy),
        rng=np.random.default_rng(table.seed),
        report=table.report,
        maker=table.maker,
    )


def perturb_table(policy: Policy, table: CountedTable) -> CountedTable:
    """Return a table with the values changed that a policy changes before all else."""
    if not policy.perturbations:
        return table
    counts = perturb_counts(table.counts, policy, np.random.default_rng(table.seed))
    # Hierarchies and groupings that were made for other values do not fit.
    return replace(table, counts=counts, maker=None)


def try_on_counts(
    policy: Policy,
    table: CountedTable,
    *,
    asked: Policy | None = None,
    loss_only: bool = False,
    hurried: bool = False,
) -> Trial:
    """Return what would be published, before any attack; raise if no release keeps the policy.

    Args:
        policy: What must hold.
        table: What it is tried on.
        asked: What findings made of the policy; None for the policy itself.
        loss_only: Whether losses are all that is asked for; there is no release then.
        hurried: Whether the search has less time than the policy gives it.
    """
    given, policy = policy, as_counted(without_sets(policy), table.counts)
    hidden = hidden_in(table.counts, policy)
    table = perturb_table(policy, table)
    decision = decide_on(policy, table, asked)
    left = decision.left
    sizes = left.sizes if left.by_person else decision.sizes
    release, person, counts = None, policy.counted_person, table.counts
    stars = dict.fromkeys(policy.quasi_identifiers, 0)
    published = left.total if left.by_person else int(sizes.sum())
    if not loss_only:
        release = release_of_counts(asked or policy, decision, counts, table.columns, table.seed)
        published = release.table.total
        stars = {name: _stars(release.table, name) for name in stars}
    return Trial(
        given,
        rows=counts.total,
        of=counts.total if person is None else len(np.unique(counts.codes_of(person))),
        published=published,
        suppressed=decision.suppressed,
        classes=len(sizes),
        smallest=int(sizes.min()) if len(sizes) else 0,
        losses=decision.losses,
        gone=DataGone.of_decision(
            given,
            table.columns,
            decision,
            counts.total,
            changed=hidden,
            unowned=table.unowned,
        ),
        columns=tuple(
            _column(name, decision, stars[name], published) for name in policy.quasi_identifiers
        ),
        risks={
            # Any of n people who look alike may be the one: 1/n, in the mean over people.
            PROSECUTOR: float((1 / left.sizes).max(initial=0)),
            MEAN: float((left.inside / left.sizes).sum() / max(int(left.inside.sum()), 1)),
        },
        checked=_checked_nodes(decision) if hurried else None,
        release=release,
    )


def _checked_nodes(decision: Decision) -> int | None:
    """Return how many nodes a search checked that did not come to its end."""
    search = decision.search
    return None if search is None or search["optimal"] else int(search["checks"])


def _column(name: str, decision: Decision, stars: int, published: int) -> ColumnTrial:
    about: Mapping[str, Any] = decision.columns.get(name, {})
    lost, hidden = decision.lost.get(name, 0.0), stars / max(published, 1)
    return ColumnTrial(name, lost, stars, hidden, about.get("level"), about.get("height"))


def _stars(published: FrequencySet, name: str) -> int:
    column = published.column(name)
    if STAR not in column.values:
        return 0
    return int(published.value_counts(name)[column.values.index(STAR)])


def attack_release(
    trial: Trial,
    rule: HarmRule,
    report: Progress = silent,
    *,
    policy: Policy | None = None,
    quick: bool = False,
) -> Trial:
    """Return a trial with what attacks learn that need nothing but the release.

    Args:
        trial: What would be published; it has its release.
        rule: Probability from which a person is at risk.
        report: Told which attack is next.
        policy: What the release is held to; None for the policy that was tried.
        quick: Whether to leave out the attack that takes many times as long as all others.
    """
    if trial.release is None or not trial.published:
        return trial
    policy = policy or trial.policy
    target, known = target_of_trial(trial, policy), policy.quasi_identifiers
    asked = [name for name in COUNTING if not quick or name != DeFinetti.name]
    trial = with_judged(trial, judge(target, asked, rule, policy, known, report))
    left = quick and bool(DeFinetti.against(target, rule))
    return replace(trial, untried=(DeFinetti.name,)) if left else trial


def with_judged(trial: Trial, judged: FoundByAdversaries) -> Trial:
    """Return a trial with what attacks achieved, without the people they found.

    More readers see a comparison than a release.

    Args:
        trial: What would be published.
        judged: What each attack achieved, and how many people adversaries learn too much of.
    """
    attacks = tuple(replace(each, worst=(), found=None) for each in judged.outcomes if each.tried)
    share = largest(judged.lines) / max(max((line.of for line in judged.lines), default=0), 1)
    risks = {AT_RISK: share, **trial.risks}
    return replace(trial, attacks=attacks, adversaries=judged.lines, risks=risks)


def target_of_trial(trial: Trial, policy: Policy | None = None) -> Target:
    """Return what would be published as an adversary sees it.

    Args:
        trial: What would be published; it has its release.
        policy: What the release is held to; None for the policy that was tried.
    """
    policy = policy or trial.policy
    return held_to(target_of(open_release(trial.release, policy)), policy)


def release_of_counts(
    policy: Policy,
    decision: Decision,
    counts: FrequencySet,
    columns: Sequence[str],
    seed: int,
) -> Release:
    """Return what would be published, as a release whose rows are counts; nothing is written.

    Plain columns are published as far as they are counted.

    Args:
        policy: The policy, as it applies to the table.
        decision: What becomes of the table.
        counts: The table, over at least what the policy decides on and calls sensitive.
        columns: All columns of the table, counted or not.
        seed: Fixes which of rows that were alike to the decision go to which class.
    """
    decided, roles = counted_columns(policy), policy.check_against(columns)
    plain = [n for n, role in roles.items() if role is Role.PLAIN and n in counts.names]
    # What people have in several rows is told apart by what was decided on, and nothing else.
    beside = () if policy.counted_person is not None else (*policy.sensitive, *plain)
    counts = counts.project(tuple(dict.fromkeys([*decided, *beside])))
    published = recode_counts(counts, decision.recoding, decided, np.random.default_rng(seed))
    people, person = None, policy.counted_person
    if person is not None:
        told = (*policy.quasi_identifiers, *policy.sensitive)
        published = published.project(told)
        rng = np.random.default_rng(seed)
        people = tell_people_apart(
            counts, decision.recoding, told, person, rng, household=policy.household
        )
    manifest = build_manifest(policy, roles, decision, reproducible=True)
    # Suppressed rows are not among these counts, not even as stars.
    manifest = replace(manifest, rows=replace(manifest.rows, suppression="remove"))
    return Release(manifest, Verdict(()), table=published, people=people)


def without_sets(policy: Policy) -> Policy:
    """Return a policy without columns of sets: they are decided on after the rest."""
    if not policy.sets:
        return policy
    columns = {
        name: Role.DROPPED.value if name in policy.sets else rule
        for name, rule in policy.columns.items()
    }
    models = [model for model in policy.models if not model.protects_sets]
    return policy.replace(columns=columns, models=models)
