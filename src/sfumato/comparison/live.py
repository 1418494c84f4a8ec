"""Looking while choosing: a table that is counted once, and what any policy would make of it."""

import re
from collections import OrderedDict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import date
from functools import cached_property
from threading import RLock
from typing import Generic, TypeVar

import numpy as np
import pyarrow as pa

from sfumato.attacks.adversary.trial import (
    CountedTable,
    Trial,
    attack_release,
    columns_to_count,
    perturb_table,
    without_sets,
)
from sfumato.comparison.compare import (
    choose_loss,
    choose_risk,
    columns_of,
    compare_counted,
    count_populations,
)
from sfumato.comparison.facts import ColumnFacts, facts_of
from sfumato.comparison.frontier import Comparison
from sfumato.comparison.levels import LevelMap, map_levels, within_seconds
from sfumato.comparison.trial import ASKED, ComparedTable, publish_on_counts
from sfumato.comparison.variations import name_policies
from sfumato.counts import FrequencySet
from sfumato.dataclasses import dataclass
from sfumato.derivations import Preparation, Shift
from sfumato.derivations.dates import CANONICAL, look_like_dates
from sfumato.errors import InputError, SfumatoError
from sfumato.files.reading import Reading, TextFile
from sfumato.hierarchy import Ladder
from sfumato.partition import PARTITIONERS
from sfumato.policy import FULL_DOMAIN, GivenPolicy, Policy, policy_of
from sfumato.populations.weights import WeightFacts
from sfumato.recode.deciding import Maker, count_population, counted_columns
from sfumato.recode.workshop import Workshop, stamp, stamp_of
from sfumato.releases.manifest import Promise
from sfumato.releases.numbers import columns_as_numbers
from sfumato.releases.preparing import open_prepared
from sfumato.releases.subject import Subject, needs_single_rows
from sfumato.tables import Domain, Table, open_table
from sfumato.tables.base import require_calendar_days
from sfumato.tables.capabilities import Weights, reading_of
from sfumato.tasks.draft import draw_sample
from sfumato.text import join_words
from sfumato.typing import IntArray, Progress, silent

_SEED = 0
"""Which of rows that are alike go where is drawn as with this seed, so that two looks agree."""

_MOST_VALUES = 100_000
"""A column of more values is counted only if a policy asks for it: it hardly ever does."""

_BYTES_COUNTED = 400_000_000
"""As much memory as counting all columns together may take."""

_BYTES_PER_CELL = 16
"""What counting takes for each cell of different rows, measured."""

_BYTES_PROJECTED = 150_000_000
"""The size of the narrower counts that are kept at hand."""

_SECONDS = 0.08
"""How long a quick look searches for levels."""

_MANY = 40_000
"""Combinations from which on a quick look at a local method is one at a sample."""

_DRAWN = 8_000
"""The rows of such a sample."""

_LOOKS = 128


@dataclass(frozen=True)
class PromiseCost:
    """What one promise of a policy costs."""

    promise: str
    """The model with its parameters, as a policy writes it."""

    whole: Trial
    """What comes of the policy as it is."""

    without: Trial
    """What would come of it without this promise, and all else as it is."""

    @property
    def loss(self) -> float | None:
        """By how much the loss would fall without it; None if one of the two cannot be."""
        if not (self.whole.possible and self.without.possible):
            return None
        return self.whole.loss - self.without.loss

    @property
    def binds(self) -> bool:
        """Whether less would be lost without it."""
        return not self.whole.possible or (self.loss or 0.0) > _LESS


_LESS = 1e-9
"""Two losses that differ by less are the same, rounded."""


class LiveTable:
    """A table that is counted once, for looking at policies while one is chosen.

    Opening it reads the table. After that the counts stay in memory, and `look` answers for any
    policy from them: the file is read again only if a policy wants a column that was not counted,
    or reads dates in another form. Nothing is published, and nothing is written.

    Promises: the figures are those that `sf.anonymize` would publish, with the seed 0 where a
    method draws, and people at risk are those of `sf.verify`. A look that was stopped, because
    `progress` raised, leaves everything as it was. Does not promise a verdict: what an adversary
    learns who has more than the release is not tried, and neither is a promise recomputed.

    Threads wait for each other: to have an answer sooner, stop the look before.

    Example:
        >>> import pyarrow as pa
        >>> import sfumato as sf
        >>> ages, ills = [31, 32, 38, 39, 47, 48], ["flu", "flu", "gout", "hiv", "flu", "gout"]
        >>> decades = {"kind": "intervals", "widths": [5, 10]}
        >>> policy = sf.Policy(
        ...     columns={
        ...         "age": {"role": "quasi-identifier", "hierarchy": decades}, "ill": "sensitive",
        ...     },
        ...     models=[sf.models.KAnonymity(2)],
        ... )
        >>> live = LiveTable.open(pa.table({"age": ages, "ill": ills}), policy)
        >>> trial = live.look(policy)
        >>> trial.published, trial.smallest, round(trial.loss, 2), trial.columns[0].level
        (6, 2, 0.2, 1)
        >>> worst = trial.succeeded[0]
        >>> trial.verdict, trial.at_risk, worst.attack, worst.column
        ('no', 2, 'homogeneity', 'ill')
        >>> live.look(policy.replace(models=[sf.models.KAnonymity(9)])).verdict
        'impossible'
    """

    def __init__(self, data: object, reading: Reading | None, *, progress: Progress) -> None:
        self._data = data
        self._lock = RLock()
        self._raw = _open(data, reading)
        self._reading = reading
        self._counted: dict[Hashable, _CountedTable] = {}
        self._plain = _CountedTable(self._raw)
        self._plain.look_at_columns(progress)
        self._workshop = Workshop()
        self._looks: _Recent[Trial] = _Recent(_LOOKS)
        self._populations: _Recent[FrequencySet] = _Recent(4)

    @classmethod
    def open(
        cls, data: object, policy: GivenPolicy | None = None, *, progress: Progress | None = None
    ) -> "LiveTable":
        """Open a table and count it.

        Args:
            data: Anything that `sf.anonymize` takes.
            policy: The policy that is looked at first; it says how a text file is read, and which
                columns are counted. None counts all columns that are no keys.
            progress: Told how far each stage is; it may raise to stop.
        """
        report = progress or silent
        rules = policy_of(policy)
        live = cls(data, None if rules is None else rules.reading, progress=report)
        if rules is None:
            live._plain.count_ahead(report)
        else:
            # What is wrong with the policy is for the first look to say.
            with suppress(SfumatoError):
                live._counts(live._table_of(rules), rules, report)
        return live

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the table, without those that a policy derives."""
        return self._raw.columns

    @property
    def labels(self) -> Mapping[str, str]:
        """What the file says about its columns in words, as SPSS and Stata files do."""
        told = self._raw.variables.items()
        return {name: variable.label for name, variable in told if variable.label}

    @property
    def rows(self) -> int:
        """The number of rows."""
        return self._plain.rows

    @property
    def table(self) -> Table:
        """The table as it was opened."""
        return self._raw

    def look(
        self, policy: GivenPolicy, *, quick: bool = False, progress: Progress | None = None
    ) -> Trial:
        """Return what a policy would make of the table; that nothing can be published is a result.

        Args:
            policy: A policy, its path, or its settings as a mapping.
            quick: Return an estimate where exact figures would take long: see `Trial.estimate`.
                Ask again without it for the exact ones.
            progress: Told how far each stage is; it may raise to stop.
        """
        report = progress or silent
        rules = policy_of(policy)
        stamps = _stamps(rules)
        with self._lock:
            # Perhaps a newer wish came while this one waited.
            report("look", 0, None)
            found = self._looks.get((rules, stamps, False))
            if found is None and quick:
                found = self._looks.get((rules, stamps, True))
            if found is None:
                try:
                    found = self._look(rules, report, quick=quick)
                except SfumatoError as error:
                    found = Trial(rules, rows=self.rows, reason=str(error))
                self._looks.put((rules, stamps, quick and not found.exact), found)
        return found

    def column_facts(self, name: str, policy: GivenPolicy) -> ColumnFacts:
        """Return what a column is like, and how many people it singles out.

        Args:
            name: The column.
            policy: What says which columns others may know, and what a person is.
        """
        with self._lock:
            return self._facts(name, policy_of(policy))

    def _facts(self, name: str, rules: Policy) -> ColumnFacts:
        table = self._table_of(rules)
        table.table.require((name,))
        domain = table.domains((name,)).get(name)
        if domain is None:
            return ColumnFacts(name, 0, 0.0, 0.0, None)
        known = tuple(each for each in rules.quasi_identifiers if each in table.columns)
        person = rules.counted_person
        asked = tuple(dict.fromkeys((*known, name, *filter(None, [person]))))
        counts = None
        if len(domain.rows) <= _MOST_VALUES or name in known:
            counts = table.count(asked, silent)
        return facts_of(domain, counts, known, person)

    def explore(
        self,
        policy: GivenPolicy,
        *,
        vary: Mapping[str, Iterable[object]] | None = None,
        risk: str | None = None,
        loss: str | None = None,
        seconds: float | None = 2.0,
        progress: Progress | None = None,
    ) -> Comparison:
        """Return methods and parameters on the plane of risk and usefulness, as `sf.compare` does.

        Each point has its policy. What is wrong with all of them is an error; what only one cannot
        do is its reason.

        Args:
            policy: A policy, its path, or its settings as a mapping.
            vary: As for `sf.compare`; None varies k and the method around those of the policy.
            risk: As for `sf.compare`.
            loss: As for `sf.compare`.
            seconds: How long each search for levels may take; None for as long as it needs.
            progress: Told how far it is; it may raise to stop.
        """
        report = progress or silent
        rules = policy_of(policy)
        named = name_policies(rules, usual_variations(rules) if vary is None else vary)
        with self._lock:
            table = self._table_of(rules)
            for each in named.values():
                Subject.of(table.table, each, alone=needs_single_rows(each), known=table)
        with self._lock:
            counts = table.count(columns_of(named.values(), table.columns), report)
        if counts.total == 0:
            raise InputError("the table has no rows: there is nothing to compare")
        lost = choose_loss(loss, named)
        tried = ComparedTable(
            counts,
            table.columns,
            count_populations(named, report),
            _SEED,
            report,
            self._workshop,
            threshold=min(p.verdict.rule(p.risk_levels).very_high for p in named.values()),
            asks=(lost,) if lost in ASKED else (),
        )
        quick = {name: within_seconds(without_sets(p), seconds) for name, p in named.items()}
        found = compare_counted(
            quick,
            tried,
            risk=choose_risk(risk, named),
            loss=lost,
            parallel=1,
            report=report,
            warnings=_stopped_searches(quick, named, seconds),
        )
        points = tuple(replace(point, policy=named[point.name]) for point in found.points)
        return replace(found, points=points)

    def lattice(
        self,
        policy: GivenPolicy,
        *,
        most: int = 3000,
        seconds: float | None = 5.0,
        progress: Progress | None = None,
    ) -> LevelMap:
        """Return the levels that a policy chooses, the lattice, and what one level less would cost.

        The method of the policy is not asked: levels are those of full-domain recoding.

        Args:
            policy: A policy, its path, or its settings as a mapping.
            most: The nodes that are judged at most. Of a larger lattice only the chosen node and
                those one level below it are.
            seconds: How long levels are searched for there; None for as long as it takes.
            progress: Told how far it is; it may raise to stop.
        """
        report = progress or silent
        rules = policy_of(policy)
        with self._lock:
            table = self._table_of(rules)
            rules = without_sets(Subject.of(table.table, rules, known=table).policy)
            counts = self._counts(table, rules, report)
        populations = self._populations_of(rules, report)
        counted = perturb_table(rules, CountedTable(counts, table.columns, populations, _SEED))
        return map_levels(
            rules,
            counted.counts.project(counted_columns(rules)),
            counted.population(rules),
            most=most,
            seconds=seconds,
            rng=np.random.default_rng(_SEED),
            report=report,
            maker=self._workshop,
        )

    def cost_of_models(
        self, policy: GivenPolicy, *, progress: Progress | None = None
    ) -> tuple[PromiseCost, ...]:
        """Return what each promise costs: what would come of the policy without it.

        Args:
            policy: A policy, its path, or its settings as a mapping.
            progress: Told how far it is; it may raise to stop.
        """
        report = progress or silent
        rules = policy_of(policy)
        whole = self.look(rules, progress=progress)
        costs = []
        for done, model in enumerate(rules.models):
            report("what promises cost", done, len(rules.models))
            rest = [each for each in rules.models if each != model]
            try:
                less = self.look(rules.replace(models=rest), progress=progress)
            except SfumatoError as error:
                less = Trial(rules, rows=self.rows, reason=str(error))
            costs.append(PromiseCost(str(Promise.of(model)), whole, less))
        return tuple(costs)

    def _look(self, policy: Policy, report: Progress, *, quick: bool) -> Trial:
        table = self._table_of(policy)
        subject = Subject.of(table.table, policy, known=table)
        policy = rows = subject.policy
        counts = whole = self._counts(table, policy, report)
        maker: Maker = self._workshop
        if quick:
            rows = within_seconds(policy, _SECONDS)
            if rows.make_method(PARTITIONERS) is not None and len(counts) > _MANY:
                counts = table.draw(whole, rows.counted_person)
                maker = _OfWhole(self._workshop, whole)
        populations = self._populations_of(policy, report)
        counted = CountedTable(counts, table.columns, populations, _SEED, report, maker)
        tried = publish_on_counts(rows, counted, hurried=quick).trial
        report("release", 0, None)
        rule = policy.verdict.rule(policy.risk_levels)
        tried = attack_release(tried, rule, report, quick=quick)
        told = (*subject.notes, *table.notes, *_not_shown(policy))
        found = replace(tried, policy=policy, notes=told, release=None)
        return found if counts is whole else _scale_up(found, whole, policy.counted_person)

    def _counts(self, table: "_CountedTable", policy: Policy, report: Progress) -> FrequencySet:
        """Return the counts of all that a policy decides on or publishes."""
        names = columns_to_count(policy, table.columns)
        with self._lock:
            counts = table.count(names, report)
        if counts.total == 0:
            raise InputError(
                "the table has no rows: there is no person to protect and nothing to publish"
            )
        require_calendar_days(table.table, counts)
        return counts

    def _populations_of(
        self, policy: Policy, report: Progress
    ) -> dict[str | TextFile, FrequencySet]:
        """Return the population of a policy by its path, if there is one."""
        if policy.population_table is None:
            return {}
        key = (
            policy.population_table,
            _stamps(policy),
            policy.quasi_identifiers,
            str(policy.preparation),
        )
        found = self._populations.get(key)
        if found is None:
            found = count_population(policy, report)
            assert found is not None  # noqa: S101 - there is one
            self._populations.put(key, found)
        return {policy.population_table: found}

    def _table_of(self, policy: Policy) -> "_CountedTable":
        """Return the table as a policy means it."""
        with self._lock:
            return self._find_table(policy)

    def _find_table(self, policy: Policy) -> "_CountedTable":
        if reading_of(self._raw) is not None and self._reading != policy.reading:
            # A file of text may have other columns if it is read in another way.
            self._raw, self._reading = _open(self._data, policy.reading), policy.reading
            self._plain = _CountedTable(self._raw)
            self._plain.look_at_columns(silent)
            self._counted.clear()
        asked = self._plain.effective(policy.preparation)
        if asked.empty:
            return self._plain
        key = str(asked)
        if key not in self._counted:
            if len(self._counted) >= _MOST_PREPARED:
                del self._counted[next(iter(self._counted))]
            self._counted[key] = _CountedTable(open_prepared(self._data, _without_keys(policy)))
        return self._counted[key]


class _OfWhole(Maker):
    """Makes what a sample is decided with: it has the hierarchies of the whole table."""

    def __init__(self, workshop: Workshop, whole: FrequencySet) -> None:
        super().__init__()
        self._workshop, self._whole = workshop, whole

    def ladder(
        self, policy: Policy, counts: FrequencySet, name: str, frequency: IntArray
    ) -> Ladder:
        if counts.column(name).values == self._whole.column(name).values:
            counts, frequency = self._whole, self._whole.value_counts(name)
        return self._workshop.ladder(policy, counts, name, frequency)


def usual_variations(policy: Policy) -> dict[str, list[object]]:
    """Return what is worth varying around a policy: k, if a model has one, and the method.

    >>> columns = {"age": "quasi-identifier"}
    >>> policy = Policy(columns=columns, models=[{"model": "k-anonymity", "k": 5}])
    >>> usual_variations(policy)
    {'k': [2, 3, 5, 10, 20], 'method': ['full-domain', 'mondrian', 'top-down']}
    """
    found: dict[str, list[object]] = {}
    asked = [getattr(model, "k", None) for model in policy.models]
    sizes = [k for k in asked if isinstance(k, int)]
    if sizes:
        k = max(sizes)
        found["k"] = [*sorted({max(2, k // 2), max(2, 2 * k // 3), k, 2 * k, 4 * k})]
    usual = {name for name, kind in PARTITIONERS.items() if kind.usual}
    found["method"] = [*sorted({policy.method.name, FULL_DOMAIN, *usual})]
    return found


def _stopped_searches(
    quick: Mapping[str, Policy], named: Mapping[str, Policy], seconds: float | None
) -> list[str]:
    """Return what to beware of where a search may not have come to its end."""
    if seconds is None or all(quick[name].search == named[name].search for name in named):
        return []
    text = "seconds, so that some losses may be larger than those of the release"
    return [f"each search for levels was given {seconds:g} {text}"]


_MOST_PREPARED = 2
"""Tables with derived columns or dates in other forms that are kept at a time."""


def _open(data: object, reading: Reading | None) -> Table:
    return open_table(data) if reading is None else open_table(data, reading)


def _without_keys(policy: Policy) -> Policy:
    """Return a policy whose dates are moved by a drawn secret: to look must not write a key."""
    steps = [replace(step, key=None) if isinstance(step, Shift) else step for step in policy.derive]
    return policy.replace(derive=steps) if policy.preparation.shift is not None else policy


class _CountedTable(Weights):
    """A table and the counts of it that were needed so far."""

    def __init__(self, table: Table) -> None:
        self.table = table
        self._domains: dict[str, Domain] = {}
        self._widest: FrequencySet | None = None
        self._drawn: tuple[FrequencySet, FrequencySet] | None = None
        self._narrow: OrderedDict[tuple[str, ...], FrequencySet] = OrderedDict()
        self._weights: dict[tuple[str, ...], dict[str, WeightFacts]] = {}

    @property
    def columns(self) -> tuple[str, ...]:
        """All columns, counted or not."""
        return self.table.columns

    @cached_property
    def notes(self) -> tuple[str, ...]:
        """Remarks on the data; some take another look at the file."""
        return tuple(self.table.notes)

    @property
    def rows(self) -> int:
        """The number of rows."""
        if self._widest is not None:
            return self._widest.total
        return next((each.total for each in self._domains.values()), 0)

    def look_at_columns(self, report: Progress) -> None:
        """Count the values of every column by itself, in one pass."""
        self._domains |= self.table.domains(
            self.columns, progress=lambda done, total: report("look", done, total)
        )

    def domains(self, columns: Sequence[str], /) -> dict[str, Domain]:
        """Return the values of some columns, without a pass where they are known."""
        new = [name for name in columns if name not in self._domains]
        if new:
            self._domains |= self.table.domains(new)
        return {name: self._domains[name] for name in columns if name in self._domains}

    def repeats(self, column: str, /) -> bool:
        """Return whether two rows have the same value in a column."""
        found = self.domains((column,)).get(column)
        return found is not None and bool((found.rows > 1).any())

    def weigh(self, columns: Sequence[str]) -> dict[str, WeightFacts]:
        """Return what is known of the columns that hold weights."""
        names = tuple(columns)
        if names not in self._weights:
            self._weights[names] = Weights.expect(self.table, names).weigh(names)
        return self._weights[names]

    def count(self, names: tuple[str, ...], report: Progress) -> FrequencySet:
        """Count some columns; the table is read only if one of them was not counted before."""
        found = self._narrow.get(names)
        if found is not None:
            self._narrow.move_to_end(names)
            return found
        self.table.require(names)
        widest = self._widest
        if widest is None or not {*names} <= {*widest.names}:
            widest = self.count_all(names, report)
        report("count", 0, None)
        found = widest.project(names)
        self._narrow[names] = found
        while len(self._narrow) > 1 and sum(map(_size, self._narrow.values())) > _BYTES_PROJECTED:
            self._narrow.popitem(last=False)
        return found

    def count_ahead(self, report: Progress) -> None:
        """Count all columns together if memory allows, before a policy names some."""
        if self._fits(self._usual()):
            self.count_all((), report)

    def draw(self, whole: FrequencySet, person: str | None) -> FrequencySet:
        """Return a sample of counts, drawn once as long as the same ones are looked at."""
        if self._drawn is None or self._drawn[0] is not whole:
            self._drawn = whole, draw_sample(whole, person, _DRAWN)
        return self._drawn[1]

    def count_all(self, names: tuple[str, ...], report: Progress) -> FrequencySet:
        """Count as many columns together as memory allows, those named in any case."""
        before = () if self._widest is None else self._widest.names
        every = tuple(dict.fromkeys((*names, *before, *self._usual())))
        if not self._fits(every):
            every = names
        self._widest = self.table.count(
            every, progress=lambda done, total: report("count", done, total)
        )
        self._narrow.clear()
        return self._widest

    def _usual(self) -> list[str]:
        """Return the columns that a policy may ask for: those with values that repeat."""
        found = self.domains(self.columns)
        return [name for name, domain in found.items() if len(domain.rows) <= _MOST_VALUES]

    def _fits(self, columns: Sequence[str]) -> bool:
        return self.rows * len(columns) * _BYTES_PER_CELL <= _BYTES_COUNTED

    def effective(self, asked: Preparation) -> Preparation:
        """Return what of a preparation changes anything: most columns hold no dates to read."""
        dates = {name: form for name, form in asked.dates.items() if not self._is_dated(name)}
        likely = tuple(name for name in asked.likely if self._may_be_dates(name))
        if asked.steps:
            return asked
        return replace(asked, dates=dates, likely=likely)

    def _is_dated(self, name: str) -> bool:
        """Return whether a column holds dates as they are written here."""
        if name not in self.columns or pa.types.is_temporal(self.table.type_of(name)):
            return True
        return _all_days(self._texts(name))

    def _may_be_dates(self, name: str) -> bool:
        texts = self._texts(name)
        return bool(texts) and not _all_days(texts) and look_like_dates(texts)

    def _texts(self, name: str) -> list[str]:
        """Return the values of a column of texts; none if it holds something else."""
        found = self.domains((name,)).get(name) if name in self.columns else None
        if found is None:
            return []
        texts = found.values(_FEW)
        if not all(isinstance(text, str) for text in texts):
            return []
        if len(found.rows) > _FEW and look_like_dates([str(text) for text in texts]):
            texts = found.values()
        return [str(text) for text in texts]


_FEW = 200
"""Values that tell whether it is worth looking at all of them."""


def _all_days(texts: Iterable[str]) -> bool:
    """Return whether texts are all days in ISO 8601; False if there are none."""
    some = False
    for text in texts:
        some = True
        if not re.match(CANONICAL, text):
            return False
        try:
            date.fromisoformat(text)
        except ValueError:
            return False
    return some


def _size(counts: FrequencySet) -> int:
    return int(counts.codes.nbytes + counts.rows.nbytes)


def _stamps(policy: Policy) -> Hashable:
    """Return what tells whether files that a policy names have changed."""
    stamps = [stamp(rule.hierarchy) for rule in policy.columns.values()]
    return (*filter(None, stamps), stamp_of(policy.population))


T = TypeVar("T")


class _Recent(Generic[T]):
    """What was found out of late, by what it was found out from."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._found: OrderedDict[Hashable, T] = OrderedDict()

    def get(self, key: Hashable) -> T | None:
        """Return what is known of a key; None if nothing is."""
        found = self._found.get(key)
        with suppress(KeyError):  # another thread may have forgotten it by now
            self._found.move_to_end(key)
        return found

    def put(self, key: Hashable, found: T) -> None:
        """Keep what was found, and forget what was asked for longest ago."""
        self._found[key] = found
        with suppress(KeyError):
            while len(self._found) > self._most:
                self._found.popitem(last=False)


def _scale_up(found: Trial, whole: FrequencySet, person: str | None) -> Trial:
    """Return the figures of a sample as an estimate of those of the whole table."""
    times = whole.total / max(found.rows, 1)

    def all_of(number: int) -> int:
        return round(number * times)

    published = whole.total - all_of(found.suppressed)
    everyone = whole.total if person is None else len(np.unique(whole.codes_of(person)))
    return replace(
        found,
        rows=whole.total,
        of=everyone,
        published=published,
        suppressed=whole.total - published,
        columns=tuple(replace(each, stars=all_of(each.stars)) for each in found.columns),
        attacks=tuple(replace(each, people=all_of(each.people)) for each in found.attacks),
        sample=found.rows,
    )


def _not_shown(policy: Policy) -> list[str]:
    """Return what becomes of the table that no look shows."""
    found = []
    if policy.sets:
        found.append(
            f"What becomes of the items of {join_words(policy.sets)} is decided after the rest, "
            "when it is published: it is not shown here."
        )
    if columns_as_numbers(policy):
        found.append(
            "Columns that are published as numbers are shown as their ranges here; where two "
            "ranges have one number, their classes become one."
        )
    shift = policy.preparation.shift
    if shift is not None and shift.key is not None:
        found.append(
            "Dates are moved by a drawn secret here, and by the key when it is published, so that "
            "figures may differ a little."
        )
    return found
