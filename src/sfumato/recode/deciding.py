"""Decisions: what becomes of a counted table, by any method."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from sfumato.classes import EquivalenceClasses, SensitiveColumn, classes_from, sensitive_column
from sfumato.counts import Column, FrequencySet, align, group
from sfumato.dataclasses import dataclass
from sfumato.errors import InfeasibleError, InputError, PolicyError
from sfumato.hierarchy import Ladder, Suppress
from sfumato.hierarchy.labels import has_ranges
from sfumato.losses import LOSSES, Attribute, NormalizedLoss
from sfumato.losses.base import UnsuppressedLoss
from sfumato.models import AlphaKAnonymity, PrivacyModel
from sfumato.models.base import TableModel, figures, promise_text
from sfumato.partition import (
    PARTITIONERS,
    LabelledPartition,
    Partition,
    Partitioner,
    Problem,
    label_partition,
)
from sfumato.partition.base import Progress as PartitionProgress
from sfumato.partition.base import starting_groups
from sfumato.policy import FULL_DOMAIN, REGIONAL, Missing, Policy
from sfumato.recode.budget import BudgetedCounts, MemoryBudget, count_within
from sfumato.recode.recoded import PublishedPart, published_part
from sfumato.recode.regional import CutSearch, FoundCut, draw_tree, label_levels
from sfumato.recoding import ColumnRecoding, FullDomainRecoding, Lattice, Recoding
from sfumato.search import SEARCHES, Checker, CheckOutcome, Found, Grouping, step_down
from sfumato.search.wider import WiderSearch
from sfumato.tables import Table, count_people
from sfumato.tables.base import require_calendar_days
from sfumato.tables.stored import DatabaseTable
from sfumato.text import text_or_none
from sfumato.typing import IntArray, Node, Progress, Value

if TYPE_CHECKING:
    from sfumato.leaks import Findings

# The ingredients of a decision: ladders, promises, the loss and the limit.

"""Returns the hierarchy of a quasi-identifier; the last argument is how often its values occur."""


def counted_columns(policy: Policy) -> tuple[str, ...]:
    """Return the columns a decision needs: the quasi-identifiers and what models look at.

    Where people are counted these are all sensitive columns, and who lives together, for the
    people file has them.
    """
    looked_at = dict.fromkeys(column for model in policy.models for column in model.columns)
    if policy.counted_person is None:
        return (*policy.quasi_identifiers, *looked_at)
    sensitive = dict.fromkeys((*looked_at, *policy.sensitive))
    private = [policy.counted_person, *filter(None, [policy.household])]
    return (*policy.quasi_identifiers, *sensitive, *private)


@dataclass(frozen=True, eq=False)
class PreparedTable:
    """A counted table made ready for a decision: what is undecided, and how much may be lost."""

    counts: FrequencySet
    """The rows to decide on."""

    items: IntArray
    """Where its combinations are in the counts that were given."""

    limit: int
    """Most of these rows that may be suppressed."""

    attributes: tuple[Attribute, ...]
    sensitive: Mapping[str, SensitiveColumn]
    maker: "Maker"
    """What makes the grouping of its tuples."""

    population: FrequencySet | None = None
    lacking: int | None = None
    """Rows that are suppressed because a quasi-identifier is missing; None if such rows stay."""

    @property
    def ladders(self) -> list[Ladder]:
        """The hierarchies of the quasi-identifiers."""
        return [attribute.ladder for attribute in self.attributes]


class Maker:
    """Makes what decisions are made with. One that is kept may have it at hand.

    Args:
        measures: Whether what was decided is measured in every way there is. Who only asks what
            would be published needs no figures.
    """

    def __init__(self, *, measures: bool = True) -> None:
        self.measures = measures

    def of_part(self) -> "Maker":
        """Return what makes decisions on some of the rows, for which all is made anew."""
        return Maker(measures=self.measures)

    def project(self, counts: FrequencySet, names: Sequence[str]) -> FrequencySet:
        """Return counts over fewer columns."""
        return counts.project(names)

    def ladder(
        self, policy: Policy, counts: FrequencySet, name: str, frequency: IntArray
    ) -> Ladder:
        """Return the hierarchy of a quasi-identifier, for the values it has."""
        return ladder_of(policy, counts, name, frequency)

    def grouping(self, ready: PreparedTable, person: str | None) -> Grouping:
        """Return the tuples of a table, ready to be grouped."""
        return Grouping(
            ready.counts, ready.ladders, ready.sensitive, ready.population, person=person
        )


def prepare(
    policy: Policy,
    counts: FrequencySet,
    population: FrequencySet | None = None,
    *,
    maker: "Maker | None" = None,
    lost: int = 0,
) -> PreparedTable:
    """Drop what the policy suppresses anyway, build the hierarchies, describe the columns.

    Nothing that is built depends on the rows that are dropped.

    Args:
        policy: What must hold.
        counts: The table over `counted_columns`.
        population: The population over the quasi-identifiers, if the policy names one.
        maker: Makes hierarchies, or has them already; None makes them.
        lost: Rows that were suppressed before and are not in the counts.
    """
    maker = maker or Maker()
    names = policy.quasi_identifiers
    person = policy.counted_person
    if person is not None:
        require_owners(counts, person)
    everything = counts.total
    if person is not None and policy.suppresses_people:
        everything = len(counts.column(person).values)
    limit = policy.suppression.most_rows(everything)
    items = np.arange(len(counts))
    lacking = None
    if policy.missing is Missing.SUPPRESS:
        whole = counts
        counts, items = without_missing(whole, names)
        counts = counts.compact()
        lacking = whole.total - counts.total
        if lacking > limit:
            raise InfeasibleError(
                f"{lacking} of {whole.total} rows miss a quasi-identifier and the "
                f"policy suppresses such rows (missing: suppress), but at most {limit} rows may be "
                "suppressed. Raise the suppression limit, or choose missing: own-value."
            )
        limit -= lacking
    sensitive = {
        name: _describe(policy, counts.column(name))
        for model in policy.models
        for name in model.columns
    }
    if population is not None:
        counts, population = align(counts, population, names)
    # A verifier of the release has the population only, and must arrive at the same labels.
    people = counts if population is None else population
    attributes = tuple(
        Attribute(
            maker.ladder(policy, counts, name, people.value_counts(name)),
            counts.value_counts(name),
            policy.columns[name].weight,
            lost,
        )
        for name in names
    )
    if population is not None and policy.missing is Missing.SUPPRESS:
        # People who miss a cell are in no published class, also where all others are at the top.
        population = without_missing(population, names)[0]
    return PreparedTable(counts, items, limit, attributes, sensitive, maker, population, lacking)


def require_owners(counts: FrequencySet, person: str) -> None:
    """Raise if it is not known whose some rows are."""
    if counts.column(person).missing < 0:
        return
    rows = int(counts.value_counts(person)[-1])
    raise InputError(
        f"{rows} of {counts.total} rows have no {person!r}, so it cannot be counted how many "
        "people are in a class. Fill it in, or leave these rows out."
    )


def make_checker(
    policy: Policy,
    counts: FrequencySet,
    population: FrequencySet | None = None,
    *,
    own_reference: bool = True,
    rng: np.random.Generator | None = None,
) -> Checker:
    """Build the checker of a policy for a counted table.

    Args:
        policy: What must hold.
        counts: The table over `counted_columns`.
        population: The population over the quasi-identifiers, if the policy names one.
        own_reference: See `Checker`.
        rng: Draws who stays where a model leaves that to chance; None for a secret seed.
    """
    ready = prepare(policy, counts, population)
    return checker_of(policy, ready, own_reference=own_reference, rng=rng)


def checker_of(
    policy: Policy,
    ready: PreparedTable,
    *,
    own_reference: bool = True,
    rng: np.random.Generator | None = None,
) -> Checker:
    """Build the checker of a policy for a table that is ready."""
    if not ready.attributes:
        raise PolicyError(
            "the policy has no quasi-identifier, so there are no levels to choose from: all rows "
            "are one class. What becomes of sets is decided when they are published (anonymize)."
        )
    loss = policy.loss.over(ready.attributes, ready.counts.total)
    checker = Checker(
        ready.maker.grouping(ready, policy.counted_person),
        lattice_of(policy, ready.ladders),
        policy.models,
        UnsuppressedLoss(loss) if policy.sensitive_blind else loss,
        attributes=ready.attributes,
        limit=ready.limit,
        own_reference=own_reference,
        matches_any=policy.missing is Missing.MATCHES_ANY,
        whole_people=policy.suppresses_people,
    )
    if rng is not None:
        checker.draw_order(rng)
    checker.scattered = policy.missing is Missing.SUPPRESS
    weights = tuple(attribute.weight for attribute in ready.attributes)
    checker.asked = policy.loss, policy.sensitive_blind, policy.missing, weights
    return checker


def make_problem(policy: Policy, ready: PreparedTable) -> Problem:
    """Build what a partitioner needs."""
    lattice = lattice_of(policy, ready.ladders)
    rules = [policy.columns[ladder.column] for ladder in ready.ladders]
    free = tuple(
        # A column whose levels are limited is meant to be published at those levels.
        rule.levels is None
        and (rule.hierarchy is None or (rule.hierarchy.suggests and has_ranges(ladder)))
        for rule, ladder in zip(rules, ready.ladders, strict=True)
    )
    return Problem(
        ready.counts,
        ready.attributes,
        lattice.lowest,
        lattice.highest,
        policy.models,
        ready.sensitive,
        free=free,
        ends=tuple(
            rule.hierarchy.ends_around(ladder.values) if any_place and rule.hierarchy else None
            for rule, ladder, any_place in zip(rules, ready.ladders, free, strict=True)
        ),
        limit=ready.limit,
        person=policy.counted_person,
        whole_people=policy.suppresses_people,
        matches_any=policy.missing is Missing.MATCHES_ANY,
        blind=policy.sensitive_blind,
    )


def without_missing(counts: FrequencySet, names: tuple[str, ...]) -> tuple[FrequencySet, IntArray]:
    """Return counts without rows that miss a quasi-identifier, and which combinations stay.

    Dictionaries stay as they are, but for the missing value.
    """
    lacking = np.zeros(len(counts), dtype=bool)
    columns = list(counts.columns)
    for name in names:
        position = counts.index(name)
        missing = columns[position].missing
        if missing >= 0:
            lacking |= counts.codes[position] == missing
            # Missing is the last code of a dictionary, so the others stay what they are.
            columns[position] = Column(name, columns[position].known)
    left = counts.without(lacking)
    return replace(left, columns=tuple(columns)), np.flatnonzero(~lacking)


def ladder_of(
    policy: Policy, counts: FrequencySet, name: str, frequency: IntArray | None = None
) -> Ladder:
    """Build a quasi-identifier's hierarchy for the values it has; give their counts if known."""
    builder = policy.columns[name].hierarchy or Suppress()
    rows = counts.value_counts(name) if frequency is None else frequency
    return builder.ladder(name, counts.column(name).values, rows.tolist())


def _describe(policy: Policy, column: Column) -> SensitiveColumn:
    """Describe a sensitive column, its values folded unless the policy says otherwise."""
    exact = column.name in policy.exact
    judged = column if exact else column.folded.column
    return sensitive_column(column, _distance_ladder(policy, judged), exact=exact)


def _distance_ladder(policy: Policy, column: Column) -> Ladder | None:
    builder = policy.columns[column.name].hierarchy
    if builder is None or not column.known:
        return None
    return builder.build(column.name, column.known).bind(column.name, column.known)


def lattice_of(policy: Policy, ladders: list[Ladder]) -> Lattice:
    """Return the nodes a policy allows."""
    lowest, highest = [], []
    for ladder in ladders:
        low, high = policy.columns[ladder.column].levels or (0, ladder.height)
        if ladder.values in ((), (None,)):
            # Nothing is known in the column, so it is published as it is or as *.
            low, high = min(low, ladder.height), min(high, ladder.height)
        if high > ladder.height:
            raise PolicyError(
                f"columns.{ladder.column}.levels: the highest level allowed is {high}, the "
                f"hierarchy ends at level {ladder.height}. Give a level between 0 and that."
            )
        lowest.append(low)
        highest.append(high)
    return Lattice(tuple(lowest), tuple(highest))


# What was decided: how to recode, and what is known of the release before it is written.


@dataclass(frozen=True, eq=False)
class Decision:
    """A recoding that keeps the promises, and everything a manifest says about it."""

    recoding: Recoding
    left: EquivalenceClasses
    """The published classes, as the models judge them."""

    sizes: IntArray
    """How many rows each published class has of its own."""

    suppressed: int
    """Rows that are not published, whatever the reason."""

    columns: Mapping[str, Mapping[str, Any]]
    """What to say of each quasi-identifier: how far it was generalised."""

    losses: Mapping[str, float]
    method: Mapping[str, Any]
    sensitive: Mapping[str, SensitiveColumn]
    search: Mapping[str, Any] | None = None
    """What the search did, if the method is one."""

    lost: Mapping[str, float] = field(default_factory=dict)
    """The normalised loss of each quasi-identifier."""

    lacking: int = 0
    """Rows that are not published because the policy suppresses missing values: no decision was
    made on them."""

    searched: WiderSearch | None = None
    """What the search says of the rows that are published, if it does."""

    published: FrequencySet | None = None
    """The published rows as they were, over the columns of the decision, if others are not
    published, and none where workers recoded the rows; see `published_rows`."""

    def published_rows(self, counts: FrequencySet) -> FrequencySet:
        """Return the published rows as they were, with no value that none of them has.

        Args:
            counts: What was decided on.
        """
        if self.published is not None:
            return self.published
        return published_part(counts, self.recoding).counts if self.suppressed else counts


# Refusing what no release of a table can keep, before any work is done.


def refuse_impossible(
    models: Sequence[PrivacyModel],
    counts: FrequencySet,
    sensitive: Mapping[str, SensitiveColumn],
    limit: int,
    *,
    matches_any: bool = True,
    person: str | None = None,
) -> None:
    """Raise if models break even if all rows are one class, where that proves something.

    A model that no merging undoes is then broken by every class of every release, and the
    mean risk of a table is lowest there. A model that merged classes keep if their parts do
    is broken by some class of every release that suppresses nothing, unless classes overlap:
    then they are no parts of the whole.

    Args:
        models: What must hold.
        counts: The rows to decide on.
        sensitive: The columns that models look at.
        limit: Most rows that may be suppressed.
        matches_any: Whether missing quasi-identifiers match any, or may: classes overlap.
        person: The column that tells people apart, if they are counted.

    >>> from sfumato.models import KAnonymity
    >>> refuse_impossible([KAnonymity(3)], FrequencySet.from_rows(["sex"], [("f",)] * 2), {}, 0)
    Traceback (most recent call last):
    sfumato.errors.InfeasibleError: no release can keep k-anonymity with k=3: even if all 2 rows
    were one class, it would have k=2. Ask for less.
    """
    if limit >= counts.total:
        return
    one: EquivalenceClasses = classes_from(counts, (), sensitive, person=person)
    overlap = matches_any and any(c.missing >= 0 for c in counts.columns if c.name not in sensitive)
    people = person is not None
    for model in models:
        if model.needs_population:
            continue
        part = model if isinstance(model, TableModel) else model.part_that_absorbs(people=people)
        never = part is not None and not part.passes(one).all()
        in_parts = limit == 0 and model.merges(people=people).closed and not overlap
        if never or (in_parts and not model.passes(one).all()):
            shown = promise_text({"model": model.name, **model.params()})
            measured = {k: _plain(v) for k, v in model.measure(one).items()}
            whom = f"{one.sizes.sum()} people" if people else f"{counts.total} rows"
            raise InfeasibleError(
                f"no release can keep {shown}: even if all {whom} were one class, it "
                f"would have {figures(measured)}. Ask for less."
            )


def refuse_population(policy: Policy, ready: PreparedTable) -> None:
    """Raise if missing values leave open how many people of a population are in which class."""
    models = [model for model in policy.models if model.needs_population]
    if not models:
        return
    tables = [ready.counts] if ready.population is None else [ready.counts, ready.population]
    some_missing = any(
        table.column(name).missing >= 0 for table in tables for name in policy.quasi_identifiers
    )
    if policy.missing is Missing.MATCHES_ANY and some_missing:
        raise InfeasibleError(
            f"{models[0].name} cannot be kept with missing: matches-any where quasi-identifiers "
            "are missing: which class a person of the population is in cannot be counted. Choose "
            "missing: own-value."
        )
    presence = [model for model in models if model.counts_presence]
    if ready.lacking and presence:
        raise InfeasibleError(
            f"{presence[0].name} cannot be kept with missing: suppress: the {ready.lacking} rows "
            "that miss a quasi-identifier may be of any person of the population. Choose missing: "
            "own-value, or remove these rows from the table."
        )
    if policy.missing is Missing.SUPPRESS and some_missing and presence:
        raise InfeasibleError(
            f"{presence[0].name} cannot be kept with missing: suppress: people of the population "
            "miss a quasi-identifier, so it cannot be counted which class they are in. Choose "
            "missing: own-value, or remove these people from the population."
        )


def _plain(value: float) -> float:
    return value.item() if isinstance(value, np.generic) else value


# The hierarchies a release was made with, for those who read its labels.


def ladders_of(
    policy: Policy | None, counts: FrequencySet, quasi_identifiers: Sequence[str]
) -> dict[str, Ladder]:
    """Build the hierarchies as they were built for the release.

    Args:
        policy: The policy it was made with.
        counts: The original table.
        quasi_identifiers: The columns that others may know.

    Example:
        >>> counts = FrequencySet.from_rows(["age"], [(31,), (38,)])
        >>> rule = {"role": "quasi-identifier", "hierarchy": {"kind": "intervals", "widths": [5]}}
        >>> policy = Policy(columns={"age": rule}, models=[{"model": "k-anonymity", "k": 2}])
        >>> ladders_of(policy, counts, ["age"])["age"].labels[1]
        ('30 to 34', '35 to 39')
    """
    if policy is None:
        return {}
    if policy.missing is Missing.SUPPRESS:
        counts = without_missing(counts, tuple(quasi_identifiers))[0].compact()
    return {
        name: ladder_of(policy, counts, name)
        for name in quasi_identifiers
        if name in policy.columns and policy.columns[name].hierarchy is not None
    }


class DecidedRows(NamedTuple):
    """A decision, and the rows that it is to be applied to."""

    decision: Decision
    notes: Sequence[str]
    """What the release has to say about how it was made."""

    rows: Table
    """The table, unless workers have recoded its rows already."""

    counts: FrequencySet
    """What it was decided on."""


@contextmanager
def deciding(  # noqa: PLR0913 - what it is told and what it tells
    table: Table,
    columns: Sequence[str],
    policy: Policy,
    asked: Policy,
    *,
    budget: MemoryBudget | None = None,
    output: str | None = None,
    left_out: str | None = None,
    rng: np.random.Generator,
    report: Progress,
) -> Iterator[DecidedRows]:
    """Count a table and decide what becomes of it; rows that workers made go after the block.

    Args:
        table: The table.
        columns: What is published of it, in order.
        policy: What was asked for in the first place.
        asked: The same policy, or what `with_findings` made of it.
        budget: How much memory the decision may take; None for as much as it needs.
        output: The table of a database that will be written, if it is one.
        left_out: The column that is 1 in rows which are not published, whatever is decided.
        rng: Draws among rows that are alike where they part ways.
        report: Told how far each stage is.
    """
    partitioner = policy.make_method(PARTITIONERS)
    found = _count(table, asked, partitioner, budget, report, left_out, coarsens=asked is policy)
    counts = found.counts
    if counts.total == 0:
        raise InputError(
            "the table has no rows: there is no person to protect and nothing to publish"
        )
    if left_out is not None:
        population = count_population(policy, report)
        decision = _decide_without(policy, asked, counts, population, left_out, rng, report)
        yield DecidedRows(decision, found.notes, table, counts)
    elif asked is not policy:
        decision = decide(policy, asked, counts, None, rng=rng, report=report)
        yield DecidedRows(decision, found.notes, table, counts)
    elif budget is None or partitioner is None or not found.notes:
        within = found.policy
        population = count_population(policy, report)
        decision = decide(within, within, counts, population, rng=rng, report=report)
        yield DecidedRows(decision, found.notes, table, counts)
    elif policy.counted_person is not None:
        text = (
            "the combinations do not fit into this memory, and people with several rows are not "
            "counted in fragments. Allow more memory, or choose method: full-domain."
        )
        raise policy.error_at("method", text=text)
    else:
        from sfumato.recode.fragments import decided_in_fragments

        report("partition", 0, counts.total)
        with decided_in_fragments(policy, found, budget, table, columns, output) as solved:
            report("partition", counts.total, counts.total)
            yield DecidedRows(solved.decision, [solved.note], solved.rows, counts)


def _count(
    table: Table,
    policy: Policy,
    partitioner: Partitioner | None,
    budget: MemoryBudget | None,
    report: Progress,
    left_out: str | None,
    *,
    coarsens: bool,
) -> BudgetedCounts:
    """Count what a decision needs, within the budget if there is one."""
    columns = (*counted_columns(policy), *([] if left_out is None else [left_out]))

    def progress(done: int, total: int | None) -> None:
        report("count", done, total)

    if budget is None:
        counts = table.count(columns, progress=progress)
        require_calendar_days(table, counts)
        return BudgetedCounts(counts, policy, ())
    # A population would have to be counted at the same levels; only workers can go on from coarse
    # counts row by row.
    able = partitioner is None or (isinstance(table, DatabaseTable) and table.has_workers)
    coarsens = coarsens and policy.population is None and able
    found = count_within(budget, table, policy, columns, progress, coarsens=coarsens)
    require_calendar_days(table, found.counts)
    return found


def count_population(policy: Policy, report: Progress) -> FrequencySet | None:
    """Count all people the data was drawn from, if the policy names them."""
    if policy.population is None:
        return None
    return count_people(
        policy.population_table,
        policy.quasi_identifiers,
        preparation=policy.preparation,
        progress=lambda done, total: report("population", done, total),
    )


def decide(
    policy: Policy,
    asked: Policy,
    counts: FrequencySet,
    population: FrequencySet | None,
    *,
    rng: np.random.Generator,
    report: Progress,
    maker: "Maker | None" = None,
    lost: int = 0,
) -> Decision:
    """Decide what becomes of a counted table.

    A release must not depend on people who are not in it. So wherever rows are suppressed, it is
    decided again on those that are left, with hierarchies built for them, until none is
    suppressed. What is published is then what that last decision makes of the published rows, and
    the others only decided which rows these are.

    Args:
        policy: What was asked for in the first place.
        asked: The same policy, or what `with_findings` made of it.
        counts: The table, over the columns that `asked` decides on.
        population: All people the data was drawn from, if the policy names them.
        rng: Draws among rows that are alike where they part ways.
        report: Told how far each stage is.
        maker: See `prepare`; what is refined builds its hierarchies always.
        lost: Rows that were suppressed before and are not in the counts.
    """
    if not policy.quasi_identifiers:
        return decide_undivided(asked, counts)
    # Every round draws the same, so that what comes of one does not depend on those before it.
    # Whatever is drawn later is independent of that.
    start = deepcopy(rng)
    rng.bit_generator.state = rng.bit_generator.jumped().state  # type: ignore[attr-defined]

    def decide_on(
        rows: FrequencySet,
        within: Policy,
        maker: "Maker | None" = None,
        searched: WiderSearch | None = None,
    ) -> Decision:
        return _decide_once(
            within if asked is policy else _with_limit(policy, within.suppression.limit),
            within,
            rows,
            population,
            rng=deepcopy(start),
            report=report,
            maker=maker,
            searched=searched,
            lost=lost + lost_rows(policy, counts, rows),
        )

    first = decision = decide_on(counts, asked, maker)
    of_part = None if maker is None else maker.of_part()
    part = PublishedPart(counts, np.arange(len(counts)))
    while decision.suppressed > decision.lacking:
        left = published_part(part.counts, decision.recoding)
        if not left.counts.total:
            break
        part = PublishedPart(left.counts, part.items[left.items])
        try:
            within = _with_limit(asked, 0)
            decision = decide_on(part.counts, within, of_part, decision.searched)
        except InfeasibleError:
            # Other hierarchies make other classes, and it may take a few rows more.
            within = _with_limit(asked, _room(asked, counts, part.counts))
            decision = decide_on(part.counts, within, of_part)
    if decision is first:
        return first
    # Between the two, more rows may have been suppressed, which the first one would publish.
    alone = part.counts.total == counts.total - first.suppressed
    if alone and _is_same(first, decision, part.counts):
        # What is measured is that of the published rows; what it took is that of all.
        return replace(
            first,
            left=decision.left,
            sizes=decision.sizes,
            sensitive=decision.sensitive,
            published=part.counts,
        )
    return replace(
        decision,
        recoding=part.cover(decision.recoding, counts),
        suppressed=decision.suppressed + counts.total - part.counts.total,
        search=_search_of_rounds(first, decision),
        lacking=first.lacking,
        published=part.counts if not decision.suppressed else None,
    )


def decide_on_rest(
    policy: Policy,
    asked: Policy,
    counts: FrequencySet,
    population: FrequencySet | None,
    *,
    lost: int,
    room: int,
    rng: np.random.Generator,
    report: Progress,
) -> Decision:
    """Decide what becomes of the rows that are left where others were suppressed before.

    Args:
        policy: What was asked for in the first place, for all rows.
        asked: The same policy, or what `with_findings` made of it.
        counts: The rows that are left.
        population: All people the data was drawn from, if the policy names them.
        lost: How many rows were suppressed before.
        room: How many more rows, or people, may be.
        rng: Draws among rows that are alike where they part ways.
        report: Told how far each stage is.
    """
    within = _with_limit(asked, max(room, 0))
    given = within if asked is policy else _with_limit(policy, room)
    return decide(given, within, counts, population, rng=rng, report=report, lost=lost)


def without_rows(
    counts: FrequencySet, left_out: str, policy: Policy
) -> tuple[FrequencySet, Policy, int]:
    """Return counts without the rows that are left out, what is asked of the others, and how many.

    Args:
        counts: The table, with a column that is 1 in rows which are not published.
        left_out: That column.
        policy: What must hold for all rows.
    """
    gone = counts.codes_of(left_out) != 0
    names = [name for name in counts.names if name != left_out]
    left = counts.without(gone).project(names).compact()
    room = _room(policy, counts, left)
    return left, _with_limit(policy, max(room, 0)), lost_rows(policy, counts, left)


def _decide_without(
    policy: Policy,
    asked: Policy,
    counts: FrequencySet,
    population: FrequencySet | None,
    left_out: str,
    rng: np.random.Generator,
    report: Progress,
) -> Decision:
    """Decide on a table of which some rows are left out, whatever is decided."""
    gone = counts.codes_of(left_out) != 0
    part = PublishedPart(counts.without(gone).compact(), np.flatnonzero(~gone))
    lost = counts.total - part.counts.total
    decision = decide_on_rest(
        policy,
        asked,
        part.counts,
        population,
        lost=lost_rows(policy, counts, part.counts),
        room=_room(policy, counts, part.counts),
        rng=rng,
        report=report,
    )
    recoding = decision.recoding
    if isinstance(recoding, FullDomainRecoding):
        recoding = recoding.dropping(part.counts.column(left_out), np.zeros(1, dtype=bool))
    return replace(
        decision,
        recoding=part.cover(recoding, counts),
        suppressed=decision.suppressed + lost,
        lacking=decision.lacking + lost,
        published=decision.published_rows(part.counts),
    )


def lost_rows(policy: Policy, counts: FrequencySet, left: FrequencySet) -> int:
    """Return how many rows were lost by decisions, which losses charge for.

    Rows that a policy drops because they miss a value are not: no decision was made on them.

    Args:
        policy: What must hold.
        counts: The table.
        left: The rows that are left of it.
    """
    gone = counts.total - left.total
    if not gone or policy.missing is not Missing.SUPPRESS:
        return gone
    names = policy.quasi_identifiers
    whole, part = (without_missing(each, names)[0].total for each in (counts, left))
    return whole - part


def _room(policy: Policy, counts: FrequencySet, left: FrequencySet) -> int:
    """Return how many more rows, or people, may be suppressed of those that are left."""
    everything, now = counts.total, left.total
    if policy.suppresses_people:
        everything, now = (
            len(each.column(str(policy.counted_person)).values) for each in (counts, left)
        )
    return policy.suppression.most_rows(everything) - (everything - now)


def _with_limit(policy: Policy, limit: float) -> Policy:
    """Return a policy with another limit of what is suppressed."""
    return policy.replace(suppression=policy.suppression.replace(limit=limit))


def _is_same(first: Decision, last: Decision, left: FrequencySet) -> bool:
    """Return whether a decision on published rows is the one by which they are published."""
    one, other = first.recoding, last.recoding
    if not isinstance(one, FullDomainRecoding) or not isinstance(other, FullDomainRecoding):
        return False
    return dict(first.columns) == dict(last.columns) and all(
        _labels_of(a, left.column(a.column)) == _labels_of(b, left.column(b.column))
        for a, b in zip(one.columns, other.columns, strict=True)
    )


def _labels_of(recoding: ColumnRecoding, column: Column) -> list[Value]:
    """Return the label of each value of a column."""
    known = {
        text_or_none(value): code
        for value, code in zip(recoding.values, recoding.codes.tolist(), strict=True)
    }
    return [recoding.labels[known[text_or_none(value)]] for value in column.values]


def _search_of_rounds(first: Decision, last: Decision) -> Mapping[str, Any] | None:
    """Return what was searched in all rounds.

    What is found is proven to be the best if the first round was, which decided on the suppressed
    rows, and so was the last one, which decided on the others.
    """
    if first.search is None or last.search is None:
        return last.search
    proven, bound = first.search["optimal"], last.search["bound"]
    if not proven:
        # Of other hierarchies, the bound of all rows says nothing.
        heights = [[each.get("height") for each in made.columns.values()] for made in (first, last)]
        bound = first.search["bound"] if heights[0] == heights[1] else None
    return {
        **last.search,
        "checks": first.search["checks"] + last.search["checks"],
        "optimal": proven and last.search["optimal"],
        "bound": bound,
    }


def _decide_once(  # noqa: PLR0913 - what is decided, and what was before
    policy: Policy,
    asked: Policy,
    counts: FrequencySet,
    population: FrequencySet | None,
    *,
    rng: np.random.Generator,
    report: Progress,
    maker: "Maker | None",
    searched: WiderSearch | None,
    lost: int,
) -> Decision:
    """Decide what becomes of a counted table, of which rows may have been suppressed before."""
    partitioner = policy.make_method(PARTITIONERS)
    if asked is not policy:
        return decide_refined(
            policy, asked, partitioner, counts, rng=rng, progress=report, lost=lost
        )
    if partitioner is None:
        return decide_for_columns(
            policy,
            counts,
            population,
            lambda checks: report("search", checks, None),
            rng=rng,
            maker=maker,
            searched=searched,
            lost=lost,
        )
    return decide_locally(
        policy,
        partitioner,
        counts,
        rng=rng,
        progress=lambda done, total: report("partition", done, total),
        maker=maker,
        lost=lost,
    )


def decide_undivided(policy: Policy, counts: FrequencySet) -> Decision:
    """Decide on a table without quasi-identifiers: all rows are one class, as they are.

    >>> policy = Policy(
    ...     columns={"ill": {"role": "set", "separator": ";"}},
    ...     models=[{"model": "km-anonymity", "k": 2, "m": 1}])
    >>> decide_undivided(policy, FrequencySet.from_rows([], [()] * 3)).sizes
    array([3])
    """
    sensitive = {
        name: _describe(policy, counts.column(name))
        for model in policy.models
        for name in model.columns
    }
    refuse_impossible(policy.models, counts, sensitive, 0, matches_any=False)
    one = classes_from(counts, (), sensitive)
    broken = [model for model in policy.models if not model.judge(one).all()]
    if broken:
        shown = promise_text({"model": broken[0].name, **broken[0].params()})
        measured = {k: _plain(v) for k, v in broken[0].measure(one).items()}
        raise InfeasibleError(
            f"no release can keep {shown}: there is no quasi-identifier, so all {counts.total} "
            f"rows are one class, with {figures(measured)}. Ask for less."
        )
    return Decision(
        recoding=FullDomainRecoding((), np.empty((0, 0), dtype=np.int64)),
        left=one,
        sizes=np.array([counts.total], dtype=np.int64),
        suppressed=0,
        columns={},
        losses={policy.loss.name: 0.0},
        method={"name": FULL_DOMAIN},
        sensitive=sensitive,
        # There is one node, and it was judged.
        search={"name": policy.search.name, "checks": 1, "nodes": 1, "optimal": True},
    )


# One lookup per column: the search over the lattice, and for a cut that is better still.


def decide_for_columns(
    policy: Policy,
    counts: FrequencySet,
    population: FrequencySet | None,
    on_check: Callable[[int], None],
    *,
    rng: np.random.Generator | None = None,
    maker: "Maker | None" = None,
    searched: WiderSearch | None = None,
    lost: int = 0,
) -> Decision:
    """Decide on one lookup per column, by whichever of its methods a policy names."""
    if policy.make_regional() is not None:
        return decide_regionally(
            policy, counts, population, on_check, rng=rng, maker=maker, lost=lost
        )
    return decide_full_domain(
        policy, counts, population, on_check, rng=rng, maker=maker, searched=searched, lost=lost
    )


def decide_full_domain(
    policy: Policy,
    counts: FrequencySet,
    population: FrequencySet | None,
    on_check: Callable[[int], None],
    *,
    rng: np.random.Generator | None = None,
    maker: "Maker | None" = None,
    searched: WiderSearch | None = None,
    lost: int = 0,
) -> Decision:
    """Find the node that loses least among those that keep the promises.

    Args:
        policy: What must hold.
        counts: The table.
        population: All people the data was drawn from, if the policy names them.
        on_check: Told how many nodes were checked.
        rng: Draws who stays where a model leaves that to chance.
        maker: See `prepare`.
        searched: A search of more rows, of which these are the published ones.
        lost: Rows that were suppressed before and are not in the counts.
    """
    ready = prepare(policy, counts, population, maker=maker, lost=lost)
    checker = _possible_checker(policy, ready, rng)
    taught = searched is not None and searched.teach(checker)
    found = search_levels(policy, checker, on_check)
    if taught and not found.alone:
        # Which of several nodes is met first must not depend on rows that are not published.
        checker.grouping.lessons.clear()
        found = search_levels(policy, checker, on_check)
    if found.node is None:
        raise InfeasibleError(why_infeasible(policy, checker, found))
    outcome = checker.evaluate(found.node)
    return Decision(
        recoding=_recoding(policy, checker, outcome, ready, counts),
        left=checker.left(outcome),
        sizes=_sizes(outcome),
        # What the policy suppresses before the search counts as suppressed too.
        suppressed=_suppressed_rows(outcome) + counts.total - checker.total,
        columns={
            ladder.column: {"level": level, "height": ladder.height}
            for ladder, level in zip(checker.grouping.ladders, outcome.node, strict=True)
        },
        losses=_losses(policy, checker, outcome) if ready.maker.measures else {},
        method={"name": FULL_DOMAIN},
        sensitive=checker.grouping.sensitive,
        search=_describe_search(policy, checker, found),
        lost=_lost_by_column(checker, outcome) if ready.maker.measures else {},
        lacking=ready.lacking or 0,
        searched=WiderSearch.of(checker, found),
    )


def _lost_by_column(checker: Checker, outcome: CheckOutcome) -> dict[str, float]:
    """Return the normalised loss of each quasi-identifier."""
    if outcome.judged is None:
        return {}
    fitted = NormalizedLoss().over(checker.attributes, checker.total)
    parts = fitted.per_attribute(outcome.judged).tolist()
    return dict(zip(_names(checker.attributes), parts, strict=True))


def _names(attributes: Sequence[Attribute]) -> list[str]:
    return [attribute.ladder.column for attribute in attributes]


def _describe_search(policy: Policy, checker: Checker, found: Found) -> dict[str, Any]:
    """Return what a manifest says of a search."""
    names = [ladder.column for ladder in checker.grouping.ladders]
    return {
        "name": policy.search.name,
        "checks": found.checks,
        "nodes": checker.lattice.size,
        "optimal": found.proven,
        "bound": found.bound if math.isfinite(found.bound) else None,
        # They are decided by all raw values, those of suppressed people too: a manifest keeps
        # them under `private`, which is never written.
        "valid": None if found.passing is None else len(found.passing),
        "minimal": None
        if found.minimal is None
        else tuple(dict(zip(names, node, strict=True)) for node in found.minimal),
    }


def decide_regionally(
    policy: Policy,
    counts: FrequencySet,
    population: FrequencySet | None,
    on_check: Callable[[int], None],
    *,
    rng: np.random.Generator | None = None,
    maker: "Maker | None" = None,
    lost: int = 0,
) -> Decision:
    """Find one cut through each hierarchy, from the best node on, that loses as little as it can.

    Every node is a cut, so the loss is that of full-domain recoding at most.
    """
    ready = prepare(policy, counts, population, maker=maker, lost=lost)
    settings = policy.make_regional()
    assert settings is not None  # noqa: S101 - it is what the policy names
    checker = _possible_checker(policy, ready, rng)
    node, cut = _find_cut(policy, checker, ready, settings.rounds, on_check)
    if cut is None:
        raise InfeasibleError(why_infeasible(policy, checker, node))
    outcome = cut.outcome
    recoding = _covering(policy, cut.checker, outcome, ready, counts, cut.recoding())
    return Decision(
        recoding=recoding,
        left=cut.checker.left(outcome),
        sizes=_sizes(outcome),
        suppressed=_suppressed_rows(outcome) + counts.total - checker.total,
        columns=_cut_columns(policy, cut),
        losses=_cut_losses(policy, cut),
        method={"name": REGIONAL, "rounds": settings.rounds},
        sensitive=checker.grouping.sensitive,
        search={
            **_describe_search(policy, checker, node),
            "checks": node.checks + cut.checks,
            "optimal": cut.proven,
            # It is one of nodes, and a cut may lose less.
            "bound": None,
        },
        lost=_lost_by_cut(cut),
        lacking=ready.lacking or 0,
    )


def _lost_by_cut(found: FoundCut) -> dict[str, float]:
    """Return the normalised loss of each quasi-identifier."""
    judged, checker = found.outcome.judged, found.checker
    assert judged is not None  # noqa: S101 - only hopeless nodes are not judged
    fitted = NormalizedLoss().over(checker.attributes, checker.total)
    parts = fitted.per_attribute_cut(judged, found.cut).tolist()
    return dict(zip(_names(checker.attributes), parts, strict=True))


def _possible_checker(
    policy: Policy, ready: PreparedTable, rng: np.random.Generator | None
) -> Checker:
    """Return the checker of a policy, or raise if no release of the table can keep it."""
    refuse_population(policy, ready)
    matches_any = policy.missing is Missing.MATCHES_ANY
    refuse_impossible(
        policy.models,
        ready.counts,
        ready.sensitive,
        ready.limit,
        matches_any=matches_any,
        person=policy.counted_person,
    )
    return checker_of(policy, ready, rng=rng)


def _find_cut(
    policy: Policy,
    checker: Checker,
    ready: PreparedTable,
    rounds: int,
    on_check: Callable[[int], None],
) -> tuple[Found, FoundCut | None]:
    """Return the best node that the policy's search finds, and the best cut from there on."""
    node = search_levels(policy, checker, on_check)
    # Secrets may only refuse cuts if the policy says so; and steering knows neither people of a
    # population nor classes that overlap.
    blind = policy.sensitive_blind or checker.matches_any or ready.population is not None
    problem = None if blind else make_problem(policy, ready)

    def report(checks: int) -> None:
        on_check(node.checks + checks)

    return node, CutSearch(checker, policy.loss, problem, rounds, report).run(node.node)


def _suppressed_rows(outcome: CheckOutcome) -> int:
    judged = outcome.judged
    assert judged is not None  # noqa: S101 - only hopeless nodes are not judged
    return judged.suppressed


def _sizes(outcome: CheckOutcome) -> IntArray:
    judged = outcome.judged
    assert judged is not None  # noqa: S101 - only hopeless nodes are not judged
    return judged.sizes[judged.keep]


def _cut_columns(policy: Policy, found: FoundCut) -> dict[str, dict[str, Any]]:
    """Return the level of each column, or the rows at each level and the cut.

    Levels are those of the published labels, whatever the cut would make of other values: labels
    may stand at several levels, and values that are not published may have decided at which.
    """
    judged = found.outcome.judged
    assert judged is not None  # noqa: S101 - only hopeless nodes are not judged
    columns: dict[str, dict[str, Any]] = {}
    for i, (attribute, cut) in enumerate(
        zip(found.checker.attributes, found.cut.levels, strict=True)
    ):
        ladder = attribute.ladder
        about: dict[str, Any] = {"height": ladder.height}
        removed = judged.removed_rows(i)
        rows = attribute.frequency if removed is None else attribute.frequency - removed
        shown = np.asarray(rows) > _HALF_A_ROW
        rule = policy.columns[ladder.column]
        lowest = min(rule.levels[0] if rule.levels else 0, ladder.height)
        levels = label_levels(ladder, cut, lowest)
        # A missing value has no label, and so no level.
        known = np.array([value is not None for value in ladder.values], dtype=np.bool_)
        some = levels[shown & known]
        builder = rule.hierarchy or Suppress()
        named = builder.fixed_height is not None or policy.population is not None
        if (some == some[:1]).all() and (named or not some.any()):
            # Where no value is published, as low as may be.
            about["level"] = int(some[0]) if len(some) else lowest
        else:
            at = np.bincount(levels, weights=rows, minlength=ladder.height + 1)
            about["levels"] = np.rint(at).astype(np.int64).tolist()
            about["cut"] = draw_tree(ladder, levels, shown, named=named)
        columns[ladder.column] = about
    return columns


_HALF_A_ROW = 0.5
"""Rows are counted in floats where classes are left out."""


def _cut_losses(policy: Policy, found: FoundCut) -> dict[str, float]:
    """Measure the release in every way there is, the policy's own loss first."""
    judged, checker = found.outcome.judged, found.checker
    assert judged is not None  # noqa: S101 - only hopeless nodes are not judged
    judged = judged.beside(checker.attributes[0].lost)
    own = {policy.loss.name: policy.loss}
    others = {name: LOSSES[name].example() for name in LOSSES if name not in own}
    return {
        name: loss.over(checker.attributes, checker.total).of_cut(judged, found.cut)
        for name, loss in (own | others).items()
    }


def find_node(
    policy: Policy, counts: FrequencySet, on_check: Callable[[int], None], lost: int = 0
) -> Node:
    """Find the levels a policy's search would choose."""
    ready = prepare(policy, counts, lost=lost)
    checker = checker_of(policy, ready)
    found = search_levels(policy, checker, on_check)
    if found.node is None:
        raise InfeasibleError(why_infeasible(policy, checker, found))
    return found.node


def search_levels(policy: Policy, checker: Checker, on_check: Callable[[int], None]) -> Found:
    """Return what a policy's search finds in the end."""
    checker.on_check = on_check
    *_, found = policy.make_search(SEARCHES).run(checker)
    checker.on_check = None
    return step_down(checker, found)


def _recoding(
    policy: Policy,
    checker: Checker,
    outcome: CheckOutcome,
    ready: PreparedTable,
    counts: FrequencySet,
) -> FullDomainRecoding:
    recoding = FullDomainRecoding.at(
        checker.grouping.ladders, outcome.node, checker.suppressed_classes(outcome)
    )
    return _covering(policy, checker, outcome, ready, counts, recoding)


def _covering(
    policy: Policy,
    checker: Checker,
    outcome: CheckOutcome,
    ready: PreparedTable,
    counts: FrequencySet,
    recoding: FullDomainRecoding,
) -> FullDomainRecoding:
    """Return a recoding of the rows that were decided on as one of all, which drops the others."""
    if policy.missing is Missing.SUPPRESS:
        # People of a population may miss a value, and have a label then; rows have none.
        recoding = recoding.dropping_missing()
    recoding = _without_people(policy, checker, outcome, ready, recoding)
    return recoding.covering([counts.column(name) for name in recoding.looked_at])


def _without_people(
    policy: Policy,
    checker: Checker,
    outcome: CheckOutcome,
    ready: PreparedTable,
    recoding: FullDomainRecoding,
) -> FullDomainRecoding:
    """Return a recoding that suppresses people with all their rows, if the policy says so."""
    if policy.counted_person is None or not policy.suppresses_people:
        return recoding
    person = ready.counts.column(policy.counted_person)
    return recoding.dropping(person, checker.people_gone(outcome))


def _losses(policy: Policy, checker: Checker, outcome: CheckOutcome) -> dict[str, float]:
    """Measure the release in every way there is, the policy's own loss first."""
    if outcome.judged is None:
        return {policy.loss.name: outcome.loss}
    judged = outcome.judged.beside(checker.attributes[0].lost)
    own = {policy.loss.name: policy.loss}
    others = {name: LOSSES[name].example() for name in LOSSES if name not in own}
    return {
        name: loss.over(checker.attributes, checker.total).of(judged)
        for name, loss in (own | others).items()
    }


def _everything(checker: Checker) -> str:
    """Return how much there is of what the limit counts."""
    if checker.whole_people:
        return f"{checker.grouping.people} people"
    return f"{checker.total} rows"


def why_infeasible(policy: Policy, checker: Checker, found: Found) -> str:
    """Explain why no node is valid, from what the most general one shows."""
    top = checker.evaluate(checker.lattice.highest)
    keep = top.judged
    left = checker.grouping.classes(checker.grouping.partition(top.node))
    broken = [
        f"{promise_text({'model': m.name, **m.params()})} is "
        + ", ".join(f"{key}={value:g}" for key, value in m.measure(left).items())
        + " there"
        for m in policy.models
        if not m.passes(left).all()
    ]
    start = (
        f"no release keeps the promises: none of the {found.checks} generalisations checked does."
        if not found.proven
        else "no release keeps the promises, whatever is generalised."
    )
    details = ""
    if broken and keep is not None:
        details = (
            f" Even the most general one suppresses {top.suppressed} of "
            f"{_everything(checker)} ({checker.limit} allowed): {'; '.join(broken)}."
        )
    return (
        f"{start}{details} Ask for less (a smaller k, l or p, a larger t), allow more rows to be "
        "suppressed, or allow higher levels."
    )


# Classes with labels of their own: local recoding.


def decide_locally(
    policy: Policy,
    partitioner: Partitioner,
    counts: FrequencySet,
    *,
    rng: np.random.Generator,
    progress: PartitionProgress | None = None,
    maker: "Maker | None" = None,
    lost: int = 0,
) -> Decision:
    """Divide the rows into classes that keep the promises, each with labels of its own."""
    ready = prepare(policy, counts, maker=maker, lost=lost)
    refuse_impossible(
        policy.models,
        ready.counts,
        ready.sensitive,
        ready.limit,
        matches_any=policy.missing is Missing.MATCHES_ANY,
        person=policy.counted_person,
    )
    labelled = _divide(make_problem(policy, ready), partitioner, rng, progress)
    method = {"name": partitioner.name, **partitioner.params()}
    return local_decision(policy, labelled, counts, ready, method)


_ATTEMPTS = 3
"""How often rows are divided, each time compared with the classes that came of it before."""


def _divide(
    problem: Problem,
    partitioner: Partitioner,
    rng: np.random.Generator,
    progress: PartitionProgress | None,
) -> LabelledPartition:
    """Return the classes that a method finds, with their labels.

    A model may compare classes with the table. Where people are counted, a person is in the table
    once per class, so what classes are compared with is known when there are classes. If some of
    them break a model then, the rows are divided once more, beside the classes of before.
    """
    intervals, exact = partitioner.intervals(problem), partitioner.exact_bounds
    again = problem.person is not None and any(m.compares_with_table for m in problem.models)
    found = None
    for _ in range(_ATTEMPTS if again else 1):
        partition = partitioner.run(problem, progress, rng=rng)
        labelled = label_partition(problem, partition, intervals, exact=exact)
        if found is None or labelled.lost < found.lost:
            found = labelled
        if not found.lost:
            break
        problem = replace(problem, beside=labelled.first)
    assert found is not None  # noqa: S101 - there is an attempt
    return found


def local_decision(
    policy: Policy,
    labelled: LabelledPartition,
    counts: FrequencySet,
    ready: PreparedTable,
    method: Mapping[str, Any],
) -> Decision:
    """Describe a labelled partition, or refuse if too many rows would be suppressed."""
    if labelled.lost > ready.limit:
        raise InfeasibleError(_why(str(method["name"]), labelled))
    return Decision(
        recoding=labelled.recoding(counts, ready.items),
        left=labelled.left,
        sizes=labelled.partition.sizes,
        suppressed=labelled.suppressed + counts.total - ready.counts.total,
        columns=_columns(labelled),
        losses=_local_losses(policy, labelled),
        method=method,
        sensitive=ready.sensitive,
        lost=_lost_locally(labelled),
        lacking=ready.lacking or 0,
    )


def _columns(labelled: LabelledPartition) -> dict[str, dict[str, Any]]:
    """Count the rows of each column at each level, or its intervals."""
    columns: dict[str, dict[str, Any]] = {}
    for attribute, labels in zip(labelled.problem.attributes, labelled.labels, strict=True):
        if labels.levels is None:
            about: dict[str, Any] = {"intervals": len(np.unique(labels.of_class))}
        else:
            about = {"height": attribute.ladder.height, "levels": labels.levels.tolist()}
        columns[attribute.ladder.column] = about
    return columns


def _local_losses(policy: Policy, labelled: LabelledPartition) -> dict[str, float]:
    """Measure the release in every way there is, the policy's own loss first."""
    problem = labelled.problem
    result = labelled.result().beside(problem.attributes[0].lost)
    own = {policy.loss.name: policy.loss}
    others = {name: LOSSES[name].example() for name in LOSSES if name not in own}
    return {
        name: loss.over(problem.attributes, problem.total).of_local(result)
        for name, loss in (own | others).items()
    }


def _lost_locally(labelled: LabelledPartition) -> dict[str, float]:
    """Return the normalised loss of each quasi-identifier."""
    problem = labelled.problem
    fitted = NormalizedLoss().over(problem.attributes, problem.total)
    parts = fitted.per_attribute_local(labelled.result()).tolist()
    return dict(zip(_names(problem.attributes), parts, strict=True))


def _why(method: str, labelled: LabelledPartition) -> str:
    """Explain why what was found cannot be published."""
    models = [promise_text({"model": m.name, **m.params()}) for m in labelled.broken]
    problem = labelled.problem
    unit, total = "rows", problem.total
    if problem.whole_people:
        unit, total = "people", len(np.unique(problem.of_person))
    return (
        f"{method} finds no release that keeps the promises: {labelled.lost} of {total} {unit} are "
        f"in classes that break {' and '.join(models)}, and at most {problem.limit} {unit} may be "
        f"suppressed. Allow more {unit} to be suppressed, allow higher levels, ask for less, or "
        "try another method."
    )


# A second decision where a table still leaks: only vulnerable classes are generalised further.


def with_findings(policy: Policy, findings: "Findings | Sequence[Findings]") -> Policy:
    """Add to a policy that no class tells a leaking column with more than alpha.

    The policy itself is returned if there is nothing to add.
    """
    if any(model.needs_population for model in policy.models):
        raise PolicyError(
            "refining recodes locally, and models that compare with a population do not go with "
            "that. Remove them from the policy, or decouple what leaks instead."
        )
    asked = [
        AlphaKAnonymity(column, alpha=one.alpha, k=1, protected=advice.only.get(column, ()))
        for one in (findings if isinstance(findings, Sequence) else [findings])
        for advice in [one.advice()]
        for column in advice.generalise
    ]
    new = tuple(model for model in dict.fromkeys(asked) if model not in policy.models)
    return policy.replace(models=(*policy.models, *new)) if new else policy


def decide_refined(
    policy: Policy,
    refined: Policy,
    partitioner: Partitioner | None,
    counts: FrequencySet,
    *,
    rng: np.random.Generator,
    progress: Progress,
    lost: int = 0,
) -> Decision:
    """Decide as the policy says, then generalise further what breaks the refined policy.

    Args:
        policy: What was asked for in the first place.
        refined: The same policy with what `with_findings` added.
        partitioner: The local method; None for one level per column.
        counts: The table over the refined policy's columns.
        rng: Draws among rows that are alike where they part ways.
        progress: Told how far each stage is.
        lost: Rows that were suppressed before and are not in the counts.
    """
    ready = prepare(refined, counts, lost=lost)
    refuse_impossible(
        refined.models,
        ready.counts,
        ready.sensitive,
        ready.limit,
        matches_any=policy.missing is Missing.MATCHES_ANY,
        person=policy.counted_person,
    )
    problem = make_problem(refined, ready)
    method: dict[str, Any]
    settings = policy.make_regional()
    if settings is not None:
        found = _cut_for_refining(policy, counts, settings.rounds, progress, lost)
        problem = replace(problem, free=(False,) * len(problem.lowest))
        partition = _classes_of_cut(problem, found)
        intervals: tuple[bool, ...] = (False,) * len(problem.lowest)
        method = {"name": REGIONAL, "rounds": settings.rounds}
    elif partitioner is None:
        first = counts.project(counted_columns(policy))
        node = find_node(policy, first, lambda checks: progress("search", checks, None), lost)
        # Classes that are left alone are published as they were, no finer.
        problem = replace(problem, lowest=node, free=(False,) * len(node))
        partition = classes_at(problem, node)
        intervals = (False,) * len(node)
        method = {"name": FULL_DOMAIN}
    else:
        before = replace(problem, models=policy.models)
        partition = partitioner.run(
            before, lambda done, total: progress("partition", done, total), rng=rng
        )
        intervals = partitioner.intervals(problem)
        method = {"name": partitioner.name, **partitioner.params()}
    from sfumato.partition.bottomup import refine

    progress("refine", 0, None)
    exact = partitioner is None or partitioner.exact_bounds
    labelled = label_partition(problem, refine(problem, partition), intervals, exact=exact)
    method["refined"] = [
        {"column": model.column, "alpha": model.alpha}
        for model in refined.models
        if isinstance(model, AlphaKAnonymity) and model not in policy.models
    ]
    return local_decision(refined, labelled, counts, ready, method)


def classes_at(problem: Problem, node: Node) -> Partition:
    """Return the classes of a node."""
    groups = starting_groups(replace(problem, highest=node))
    return Partition.of(groups.item, groups.rows, groups.group)


def _cut_for_refining(
    policy: Policy, counts: FrequencySet, rounds: int, progress: Progress, lost: int
) -> FoundCut:
    """Find the cut of a policy in counts that have more columns than it needs."""
    ready = prepare(policy, counts.project(counted_columns(policy)), lost=lost)
    checker = checker_of(policy, ready)
    node, cut = _find_cut(
        policy, checker, ready, rounds, lambda checks: progress("search", checks, None)
    )
    if cut is None:
        raise InfeasibleError(why_infeasible(policy, checker, node))
    return cut


def _classes_of_cut(problem: Problem, found: FoundCut) -> Partition:
    """Return the classes of a cut."""
    codes = [
        ladder.codes[0][raw] for ladder, raw in zip(found.cut.ladders, problem.raw, strict=True)
    ]
    sizes = [len(ladder.labels[0]) for ladder in found.cut.ladders]
    groups = group(codes, sizes, n=len(problem.counts))
    return Partition.of(np.arange(len(problem.counts)), problem.rows, groups.of_item)
