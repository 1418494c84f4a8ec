"""The background knowledge attack: the adversary rules values out, or finds them unlikely."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np

from sfumato.attacks.base import (
    ClassAttack,
    Finding,
    Guesses,
    Outcome,
    priors,
    require_one_value,
    secrecy_of,
)
from sfumato.attacks.target import Holders, Target
from sfumato.classes import EquivalenceClasses, SensitiveColumn, ValueCounts, reference_of
from sfumato.counts import Column, number_keys
from sfumato.dataclasses import dataclass
from sfumato.errors import (
    InputError,
    ParameterError,
    PolicyError,
    UnknownColumnError,
    UnknownNameError,
    require_int,
    require_number,
    require_text,
)
from sfumato.harm import HarmRule
from sfumato.hierarchy.labels import Labels
from sfumato.models import DistinctLDiversity
from sfumato.models.rounding import at_least
from sfumato.policy.remedies import PromiseMore, Remedy
from sfumato.text import is_missing, text_of
from sfumato.typing import BoolArray, FloatArray, Value

Rate = tuple[str, Value, Value, float]
"""A quasi-identifier, a value of it, a sensitive value, and its share among such people."""


@dataclass(frozen=True)
class BackgroundKnowledge(ClassAttack):
    """Look for classes in which little is left to an adversary who knows a little of a person.

    Half of a class has heart disease, half has cancer. Who knows that a woman in it has no
    heart disease, or that her people hardly ever have it, knows what she has.

    The knowledge comes in three forms, which may be combined. A value that is ruled out weighs
    nothing, and the shares of the others are taken again. What is believed without the classes
    (`prior`) is conditioned on the same knowledge, so only what the release adds counts.

    Rates are what was believed of such people before the release, in place of the shares of the
    table: the prior against which a gain is judged. They do not change what a class shows. If 95
    of 100 people of 30 have hiv, hiv is believed of each with 95 %, however rare it is among the
    public: all of them are such people, so the rate tells none of them from another, and the
    counts are facts about them. Only a class whose label covers other people too leaves open who
    is meant. There the adversary may hold that the rate is true of such people and the others are
    as the table: each value then weighs what it counts in the class times its rate over its share
    in the table (Bayes' rule for one such person among others), and the worse of both readings
    counts.

    Finds: every class in which some value is then `at_least` that likely. With `rules_out` it
    is the worst case over which values are ruled out: the commonest others. With rates it is the
    value that they make the worst, which need not be the commonest. Classes that hold nothing
    but ruled out values hold no such person.
    Does not find: who really knows such things. Ruling out any value is a supposition, so its
    outcome is told and no reason to refuse a release; what is named is. Nor does it find which
    people of a class with a label such as `*` a rate is true of: any of them may be meant. Where
    people have several rows, who has a value that is ruled out by name is left out, whatever else
    they have; with `rules_out` one value of each counts, as unevenly as may be, which is more than
    can be believed if values go together. Rates are refused there.

    Reference: Machanavajjhala et al., "l-Diversity: Privacy Beyond k-Anonymity", ACM
    Transactions on Knowledge Discovery from Data 1(1), 2007, doi:10.1145/1217299.1217302;
    Martin et al., "Worst-Case Background Knowledge for Privacy-Preserving Data Publishing",
    2007, doi:10.1109/ICDE.2007.367858

    Args:
        column: The sensitive column.
        rules_out: How many values the adversary can rule out, whichever they are; 0 or more.
            None stands for 1 if nothing else is known, else for 0.
        known_not: Values the adversary knows the person not to have.
        rates: How common values are among people with a quasi-identifier, as a mapping
            `{"nationality": {"Japanese": {"heart disease": 0.001}}}` or as a list of such
            fours. The rest is shared by the other values as in the table. A rate is used
            in classes whose label covers the value. What such people are known not to have
            is better said with `known_not`: a class that shows it contradicts a rate of 0.
        at_least: The share from which on a value is likely; above 0, 1 at most.

    Example:
        >>> rows = [("A", "heart"), ("A", "heart"), ("A", "cancer"), ("B", "flu"), ("B", "gout")]
        >>> classes = classes_of(rows, column="disease")
        >>> finding = BackgroundKnowledge("disease", known_not=["heart"]).run(classes)
        >>> finding.vulnerable, finding.posterior.tolist(), finding.believed(0)
        (array([ True,  True]), [1.0, 0.5], 'disease = cancer')
        >>> finding.prior.round(2).tolist()
        [0.33, 0.33]
    """

    name: ClassVar[str] = "background-knowledge"
    how: ClassVar[str] = (
        "Finds the person's class, leaves out the values they are known not to have, and takes "
        "the likeliest of the rest."
    )
    advice: ClassVar[str] = (
        "Promise more diversity: models: [{{model: distinct-l-diversity, column: {column}, l: 4}}]."
    )

    column: str
    rules_out: int | None = None
    known_not: tuple[Value, ...] = ()
    rates: tuple[Rate, ...] = ()
    at_least: float = 0.5

    def remedies(self, outcome: Outcome, rule: HarmRule) -> tuple[Remedy, ...]:
        return (PromiseMore((DistinctLDiversity(self.column, 4),)),)

    def __post_init__(self) -> None:
        require_text("column", self.column)
        require_number("at_least", self.at_least, above=0, at_most=1)
        if self.rules_out is not None:
            require_int("rules_out", self.rules_out, at_least=0)
        if isinstance(self.known_not, str) or not isinstance(self.known_not, Iterable):
            raise ParameterError("known_not", self.known_not, "a list of values")
        object.__setattr__(self, "known_not", tuple(self.known_not))
        if any(is_missing(value) for value in self.known_not):
            raise ParameterError("known_not", self.known_not, "known values, not missing ones")
        object.__setattr__(self, "rates", _rates(self.rates))

    @property
    def suppositions(self) -> int:
        """The number of values the adversary can rule out, whichever they are."""
        if self.rules_out is not None:
            return self.rules_out
        return 0 if self.known_not or self.rates else 1

    def run(self, classes: EquivalenceClasses) -> Finding:
        if self.rates:
            raise PolicyError(
                "background knowledge with rates needs to know which classes hold whom, and "
                "counts alone do not say. Attack a table or a release (sf.tools.attack, sf.verify)."
            )
        counts = classes.counts_of(self.column)
        allowed = self._allow_values(counts.column)
        if self.known_not:
            require_one_value(self, classes)
        return self._finding(classes, self._guess(counts, allowed, priors(counts) * allowed))

    def find(self, target: Target, rule: HarmRule | None = None) -> Finding:
        rule = rule or HarmRule()
        counts = target.classes.counts_of(self.column)
        allowed = self._allow_values(counts.column)
        holders = target.holders(self.column)
        if holders is not None:
            return self._find_people(target, counts, holders, allowed)
        table = priors(counts)
        guess = self._guess(counts, allowed, table * allowed)
        kinds = _by_people(self.rates).items()
        reach = [_covering(target, name, value) for (name, value), _ in kinds]
        # Of people of a kind nothing is believed but what the caller states of that kind.
        said = np.logical_or.reduce([alike for _, alike in reach]) if reach else False
        guess = Guesses(
            *(
                np.where(said, nothing, each)
                for each, nothing in zip(guess, (-1, 0, 0), strict=True)
            )
        )
        for (_, rates), (covered, alike) in zip(kinds, reach, strict=True):
            prior = _prior(counts, rates)
            whole = 1 - prior[allowed == 0].sum()
            for weights, where in (
                (allowed, covered),
                (allowed * _ratios(prior, table), covered & ~alike),
            ):
                told = self._guess(counts, weights, prior * allowed, whole, rule)
                guess = _worse(guess, told, where, rule)
        return self._finding(target.classes, guess)

    def on(self, target: Target, rule: HarmRule) -> Outcome:
        found = self.find(target, rule)
        if self.rates:
            # A value that was rare need not be likely to harm.
            harms = rule.levels(found.prior, found.posterior) > 0
            found = replace(found, vulnerable=found.vulnerable | harms)
        outcome = found.outcome(target, rule)
        n = self.suppositions
        if not n:
            return outcome
        note = (
            f"told only: it supposes that {n} value{'s' if n > 1 else ''}, whichever matter most, "
            f"can be ruled out; {n + 2} distinct values in every class keep some doubt"
        )
        return replace(outcome, judged=False, note=note)

    def _find_people(
        self, target: Target, counts: ValueCounts, holders: Holders, allowed: FloatArray
    ) -> Finding:
        """Return the same where people have several rows: who has a ruled out value is left out."""
        if self.rates:
            raise InputError(
                "rates are of people with one value each, and people have several rows here. Say "
                "what is known of a person with known_not or rules_out."
            )
        if self.known_not:
            counts = _without_holders(counts, holders, allowed == 0)
        return self._finding(target.classes, self._guess(counts, allowed, priors(counts) * allowed))

    def _allow_values(self, column: SensitiveColumn) -> FloatArray:
        """Return each value 1, or 0 if it is known not to be the person's."""
        texts = [text_of(value) for value in column.values]
        excluded = {text_of(value) for value in self.known_not}
        _refuse_unknown(column, excluded)
        return np.array([text not in excluded for text in texts], dtype=np.float64)

    def _guess(
        self,
        counts: ValueCounts,
        weights: FloatArray,
        before: FloatArray,
        whole: float | None = None,
        rule: HarmRule | None = None,
    ) -> Guesses:
        """Return the likeliest value of each class where the commonest others are ruled out.

        Args:
            counts: The values of each class.
            weights: How much each value weighs beside its count.
            before: What is believed of each value without the classes, as far as it can be.
            whole: What all values together are believed, also those that no row has; None if
                all are there.
            rule: If given, not the likeliest value but that which harms most.
        """
        known, n = counts.known, len(counts.known.totals)
        mass = known.rows * weights[known.value]
        harm = np.zeros(len(mass), dtype=np.int64)
        if rule is not None and not self.suppositions:
            all_ = _sums(known.class_id, mass, n)[known.class_id]
            share = np.divide(mass, all_, out=np.zeros(len(mass)), where=all_ > 0)
            prior = before[known.value] / whole if whole else before[known.value]
            harm = rule.judge(prior, share, 0, secrecy=secrecy_of(counts, known.value)).levels
        order = np.lexsort((before[known.value], -mass, -harm, known.class_id))
        class_id, value, mass = known.class_id[order], known.value[order], mass[order]
        entries = np.bincount(class_id, minlength=n)
        first = np.cumsum(entries) - entries
        rank = np.arange(len(order)) - first[class_id]
        if known.several:
            # One value of each person counts, as unevenly as may be: see `KnownCounts.several`.
            before_it = np.cumsum(mass) - mass
            before_it -= np.repeat(before_it[first[entries > 0]], entries[entries > 0])
            mass = np.clip(known.totals[class_id] - before_it, 0.0, mass)
        ruled_out = (rank > 0) & (rank <= self.suppositions)
        left = _sums(class_id, np.where(ruled_out, 0.0, mass), n)
        unlikely = _sums(class_id, np.where(ruled_out, before[value], 0.0), n)
        best = (rank == 0) & (mass > 0)
        at = class_id[best]
        found = Guesses(np.full(n, -1, dtype=np.int64), np.zeros(n), np.zeros(n))
        found.value[at] = value[best]
        found.posterior[at] = mass[best] / left[at]
        # What is ruled out is subtracted: rounding must not make a share of it.
        all_before = before.sum() if whole is None else whole
        if known.several:
            all_before = 1.0
        rest = np.maximum(all_before - unlikely[at], before[value[best]])
        found.prior[at] = before[value[best]] / np.where(rest > 0, rest, 1.0)
        return found

    def _finding(self, classes: EquivalenceClasses, guess: Guesses) -> Finding:
        found = self.guess_values(classes, guess, at_least(guess.posterior, self.at_least))
        # What is known besides makes the shares: they are not drawn from the table's.
        return replace(found, chance=None)

    @classmethod
    def against(cls, target: Target, rule: HarmRule) -> list[Self]:
        return [cls(column, rules_out=1, at_least=rule.very_high) for column in target.sensitive]

    @classmethod
    def example(cls) -> Self:
        return cls("disease", rules_out=1)


def _without_holders(counts: ValueCounts, holders: Holders, gone: BoolArray) -> ValueCounts:
    """Count values again without all people who have some of them."""
    stays = np.ones(len(holders.class_id), dtype=np.bool_)
    stays[holders.unit[gone[holders.value]]] = False
    pairs, width = stays[holders.unit], max(len(gone), 1)
    n = len(counts.known)
    key = holders.class_id[holders.unit[pairs]] * width + holders.value[pairs]
    entries = number_keys(key, n * width)
    class_id = entries.keys // width
    value = entries.keys - class_id * width
    people = np.bincount(entries.of_item, minlength=entries.n)
    known = np.bincount(holders.class_id[stays], minlength=n)
    return ValueCounts(
        counts.column,
        class_id,
        value,
        people,
        reference_of(value, people, len(gone)),
        people=known,
        everyone=int(known.sum()),
        everyone_known=int(known.sum()),
    )


def _sums(class_id: np.ndarray, weights: FloatArray, n: int) -> FloatArray:
    return np.bincount(class_id, weights=weights, minlength=n).astype(np.float64)


def _rates(given: object) -> tuple[Rate, ...]:
    """Make fours of a mapping, or check them, in an order of their own."""
    expected = "a mapping {column: {value: {sensitive value: share}}}, or a list of such fours"
    try:
        fours = _fours(given)
    except (AttributeError, TypeError):
        raise ParameterError("rates", given, expected) from None
    if any(len(four) != 4 or is_missing(four[1]) or is_missing(four[2]) for four in fours):
        raise ParameterError("rates", given, expected)
    for column, _, _, share in fours:
        require_text("rates", column)
        require_number("rates", share, at_least=0, at_most=1)
    rates = sorted(fours, key=lambda four: tuple(map(text_of, four[:3])))
    for people, shares in _by_people(tuple(rates)).items():
        if sum(shares.values()) > 1 + 1e-9:
            raise ParameterError("rates", given, f"shares that add up to 1 at most for {people}")
    if sum(map(len, _by_people(tuple(rates)).values())) < len(rates):
        raise ParameterError("rates", given, "one share for each value")
    return tuple(rates)


def _fours(given: Any) -> list[tuple[Any, ...]]:  # noqa: ANN401 - anything may be given
    if not isinstance(given, Mapping):
        return [tuple(each) for each in given]
    return [
        (column, value, told, share)
        for column, people in given.items()
        for value, rates in people.items()
        for told, share in rates.items()
    ]


def _by_people(rates: tuple[Rate, ...]) -> dict[tuple[str, str], dict[str, float]]:
    """Gather what is known of the same people: for each sensitive value its share."""
    found: dict[tuple[str, str], dict[str, float]] = {}
    for column, value, told, share in rates:
        found.setdefault((column, text_of(value)), {})[text_of(told)] = float(share)
    return found


def _prior(counts: ValueCounts, rates: Mapping[str, float]) -> FloatArray:
    """Return how likely each value is among some people; other values share the rest as before.

    The sum is less than 1 if all values of the table are named, and others make up the rest.
    """
    _refuse_unknown(counts.column, rates)
    found = priors(counts)
    texts = [text_of(value) for value in counts.column.values]
    named = np.array([text in rates for text in texts], dtype=bool)
    share = np.array([rates.get(text, 0.0) for text in texts])
    rest = found[~named].sum()
    if rest > 0:
        found = found * max(1 - share.sum(), 0.0) / rest
    found[named] = share[named]
    return found


def _ratios(prior: FloatArray, table: FloatArray) -> FloatArray:
    """Return how many times likelier each value is among some people than in the table."""
    # A value that no row of the table has is in no class either.
    return np.divide(prior, table, out=np.zeros(len(prior)), where=table > 0)


def _refuse_unknown(column: SensitiveColumn, given: Iterable[str]) -> None:
    texts = [text_of(value) for value in column.values]
    for each in sorted(given):
        if texts and each not in texts:
            raise UnknownNameError("value", each, texts, where=f"column {column.name!r}")


def _covering(target: Target, name: str, value: str) -> tuple[BoolArray, BoolArray]:
    """Return which classes may hold people with a value of a quasi-identifier, and only such."""
    if name not in target.quasi_identifiers:
        raise UnknownColumnError(name, target.quasi_identifiers, where="the quasi-identifiers")
    at = target.quasi_identifiers.index(name)
    read = Labels(strict=False, matches_any=True)
    shown = target.columns[at]
    covers = read.read(Column(name, (value,)), shown)
    may = np.array([len(codes) > 0 for codes in covers], dtype=bool)
    alike = [not is_missing(label) and text_of(label) == value for label in shown.values]
    labels = target.labels[at]
    return (may | alike)[labels], np.array(alike, dtype=bool)[labels]


def _worse(one: Guesses, other: Guesses, where: BoolArray, rule: HarmRule) -> Guesses:
    """Return the guess of two that harms more, the other one only where it applies."""
    harm = [rule.levels(each.prior, each.posterior) for each in (one, other)]
    likelier = (other.posterior > one.posterior) | (
        (other.posterior == one.posterior) & (other.prior < one.prior)
    )
    pick = where & ((harm[1] > harm[0]) | ((harm[1] == harm[0]) & likelier))
    return Guesses(*(np.where(pick, b, a) for a, b in zip(one, other, strict=True)))
