"""Interval disclosure: how well true values are known that chance has changed."""

from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple, Self

import numpy as np

from sfumato.attacks.base import Attack, Beliefs, Outcome, strongest
from sfumato.attacks.perturbed import PerturbedRows, true_shares
from sfumato.attacks.target import Target
from sfumato.counts import group
from sfumato.errors import InputError, UnknownColumnError, require_number
from sfumato.harm import Chance, HarmRule, chance_of_values
from sfumato.perturbations import Perturbation, SeenColumn
from sfumato.text import text_of
from sfumato.typing import FloatArray, IntArray, Value

_TENTH = 0.1
_MIDDLE = (0.05, 0.95)
"""Where most people are: without the largest and the smallest twentieth."""

_MOST_PLACES = 240
_FEWEST_PLACES = 40
_MOST_CELLS = 20_000_000
_PER_WINDOW = 4
_ROUNDS = 200
_ERRORS = 2.0
"""By how many standard errors rows of a class must be more alike than those of strangers."""

_CAUTION = 0.25
"""What is taken of it where numbers become any other: people of a class have numbers that are near,
which two published ones do not show then. Held against true values, beliefs would be too low."""

_OWN = (1.0, 1000.0)
"""How many people of a class the shares of all people count for, at least and at most."""


@dataclass(frozen=True)
class IntervalDisclosure(Attack):
    """Work back from published values that chance has changed to the true ones of a class.

    The manifest says how values were changed, and the adversary knows it. For each row the
    likelihood of every true value follows; with the shares of true values in the whole release,
    worked out likewise, and what the other rows of the class tell of it, so does what is believed
    of a person of the class (a Dirichlet prior, solved by collapsed variational inference; how many
    people the shares of all count for follows from how much alike rows of one class are). Of
    numbers the belief is that the true one lies in an interval.

    Finds: how sure an adversary who knows the class of a person is of the true value, or that it
    lies in an interval; before the release, the same by the shares of all people. Sensitive columns
    are judged; what is learned of plain ones is told only.
    Where people have several rows, each row is taken for a person.
    Does not find: what follows from several columns together; noise that was drawn again in another
    release; what the value is where it was not changed by chance (see `Similarity`).

    Reference: Hundepool et al., "Statistical Disclosure Control", Wiley 2012, chapter 3

    Args:
        column: The column: one that chance has changed.
        within: How far either way the true number may be from the middle of the interval; None for
            a tenth of the range that most people are in. Not for categories.

    Example:
        >>> from sfumato.attacks.perturbed import PerturbedRows
        >>> from sfumato.counts import FrequencySet
        >>> from sfumato.perturbations import Pram
        >>> rows = [("A", "yes")] * 30 + [("B", "no")] * 70
        >>> counts = FrequencySet.from_rows(["zip", "ill"], rows)
        >>> seen = PerturbedRows(counts, np.array([0, 1]), {"ill": Pram(keep=0.9)}, ("ill",))
        >>> target = Target.of_table(counts.project(["zip"]), ("zip",), (), perturbed=seen)
        >>> print(IntervalDisclosure("ill").on(target, HarmRule()))
        interval-disclosure(ill): 30 of 100 people at risk; strongest belief >99 %, 25 % before
    """

    name: ClassVar[str] = "interval-disclosure"
    how: ClassVar[str] = (
        "Works back from published values that chance has changed to the true values of the "
        "people of a class."
    )
    advice: ClassVar[str] = (
        "Change {column} more: a larger sd, distance or share, or a smaller keep; or promise "
        "larger classes."
    )
    column: str
    within: float | None = None

    def __post_init__(self) -> None:
        if self.within is not None:
            require_number("within", self.within, above=0)

    @classmethod
    def against(cls, target: Target, rule: HarmRule) -> list[Self]:  # noqa: ARG003 - all alike
        if target.perturbed is None:
            return []
        return [cls(name) for name in target.perturbed.members]

    @classmethod
    def why_not(cls, target: Target) -> str:  # noqa: ARG003 - there is one reason
        return "chance has changed no column beside the quasi-identifiers"

    @classmethod
    def example(cls) -> Self:
        return cls("disease")

    def on(self, target: Target, rule: HarmRule) -> Outcome:
        rows = target.perturbed
        if rows is None or self.column not in rows.members:
            known = [] if rows is None else list(rows.members)
            where = "the columns that chance has changed"
            raise UnknownColumnError(self.column, known, where=where)
        n = len(target.classes)
        places = _Places.of(rows, self.column, self.within)
        entries = _PlaceEntries.of(rows, self.column, places, n)
        classes, first, prior, posterior = entries.believe(places)
        if not len(first):
            # No row has a value, so nothing can be learned of one.
            none = np.zeros(n)
            empty = Beliefs(entries.sizes, none, none, target.who, lambda _: "nothing")
            return empty.outcome(self, self.column, rule)
        secrecy = None
        if rows.secrecy is not None and self.column in rows.secrecy and places.width == 1:
            secrecy = rows.secrecy[self.column][first]
        at = strongest(rule, classes, prior, posterior, secrecy, n)
        there = at >= 0
        window = np.where(there, first[np.maximum(at, 0)], 0)
        chosen_prior = np.where(there, prior[np.maximum(at, 0)], 0.0)
        chosen = np.where(there, posterior[np.maximum(at, 0)], 0.0)
        beliefs = Beliefs(
            entries.sizes,
            chosen_prior,
            chosen,
            target.who,
            lambda i: places.describe(self.column, int(window[i])),
            None if secrecy is None else secrecy[np.maximum(at, 0)],
            self._chance(rule, entries, places, window, chosen),
            of=int(entries.sizes.sum()),
            applies=there,
            find=target.find_classes,
        )
        # What is plain is no secret: that it is known is told only.
        secret = self.column in rows.sensitive
        note = "" if target.person is None else "each row was taken for a person"
        return replace(beliefs.outcome(self, self.column, rule), judged=secret, note=note)

    def _chance(
        self,
        rule: HarmRule,
        entries: "_PlaceEntries",
        places: "_Places",
        window: IntArray,
        posterior: FloatArray,
    ) -> Chance:
        total = max(int(entries.sizes.sum()), 1)
        windows = _in_windows(places.prior[None, :], places.width)[0]
        expected = np.rint(windows * total).astype(np.int64)
        found = np.rint(posterior * entries.sizes).astype(np.int64)
        step = max(places.width, 1)
        return chance_of_values(
            rule, entries.sizes, found, expected[window], expected[::step], total=total
        )


class _Places(NamedTuple):
    """The true values that are told apart: values of categories, or stretches of numbers."""

    of_code: IntArray
    """The place of each published value."""

    likelihood: FloatArray
    """How likely each place is published (lines) for each true one (columns)."""

    prior: FloatArray
    """The shares of true values at each place, as far as the whole release tells."""

    width: int
    """How many places the interval of a belief has."""

    labels: tuple[Value, ...]
    """The value of each place, or the middle of its stretch."""

    step: float
    """The width of a place of numbers; 0 for categories."""

    caution: float = 1.0
    """What is taken of the number of people that the shares of all count for."""

    @classmethod
    def of(cls, rows: PerturbedRows, name: str, within: float | None) -> Self:
        seen, member = rows.look_at(name), rows.members[name]
        numbers = seen.numbers
        if not member.numeric and (np.isnan(numbers).any() or len(numbers) <= _FEWEST_PLACES):
            if within is not None:
                raise InputError(f"{name!r} has categories: leave 'within' out, it is for numbers")
            return cls._finish(np.arange(len(seen.values)), seen, member, 1, 0.0)
        return cls._of_numbers(rows, seen, member, numbers, within)

    @classmethod
    def _of_numbers(
        cls,
        rows: PerturbedRows,
        seen: SeenColumn,
        member: Perturbation,
        numbers: FloatArray,
        within: float | None,
    ) -> Self:
        if not len(numbers):
            return cls._finish(np.zeros(0, dtype=np.int64), seen, member, 1, 0.0)
        order = np.argsort(numbers)
        ends = np.cumsum(seen.rows[order])
        low, high = (numbers[order][np.searchsorted(ends, share * ends[-1])] for share in _MIDDLE)
        least, most = float(numbers.min()), float(numbers.max())
        half = within if within is not None else _TENTH * float(high - low)
        half = half or max((most - least) * _TENTH, 1e-9)
        fewer = _MOST_CELLS // max(len(rows.counts), 1)
        places = int(np.clip(fewer, _FEWEST_PLACES, _MOST_PLACES))
        # Two intervals meet in the middle of either, so that a value is near the middle of one.
        step = max(2 * half / _PER_WINDOW, (most - least) / places)
        of_code = ((numbers - least) / step).astype(np.int64)
        n = int(of_code.max()) + 1
        middles = least + step * (np.arange(n) + 0.5)
        counted = np.bincount(of_code, weights=seen.rows, minlength=n).astype(np.int64)
        binned = SeenColumn(seen.name, tuple(middles.tolist()), counted)
        width = max(round(2 * half / step), 1)
        return cls._finish(of_code, binned, member, width, step)

    @classmethod
    def _finish(
        cls, of_code: IntArray, seen: SeenColumn, member: Perturbation, width: int, step: float
    ) -> Self:
        n = len(seen.values)
        at = np.arange(n)
        likelihood = member.likelihood(at[:, None], at[None, :], seen)
        totals = likelihood.sum(axis=0)
        likelihood = likelihood / np.where(totals > 0, totals, 1.0)
        prior = seen.shares if member.keeps_shares else true_shares(likelihood, seen.shares)
        caution = 1.0 if not step or member.near else _CAUTION
        return cls(of_code, likelihood, prior, min(width, max(n, 1)), seen.values, step, caution)

    def describe(self, column: str, first: int) -> str:
        """Return in words what is believed of the places from one on."""
        if not self.labels:
            return "nothing"
        if not self.step:
            return f"{column} = {text_of(self.labels[first])}"
        low = float(str(self.labels[first])) - self.step / 2
        return f"{column} from {low:.6g} to {low + self.step * self.width:.6g}"


class _PlaceEntries(NamedTuple):
    """How many rows of each class are published at each place."""

    class_id: IntArray
    place: IntArray
    rows: IntArray
    sizes: IntArray
    """The rows of each class that have a value."""

    @classmethod
    def of(cls, rows: PerturbedRows, name: str, places: _Places, n: int) -> Self:
        counts = rows.counts
        known = counts.codes_of(name) != counts.column(name).missing
        class_id = rows.class_of[known].astype(np.int64)
        place = places.of_code[counts.codes_of(name)[known]]
        groups = group([class_id, place], [n, max(len(places.prior), 1)], n=len(class_id))
        every = np.bincount(groups.of_item, weights=counts.rows[known], minlength=groups.n)
        found = every.astype(np.int64)
        class_id, place = class_id[groups.first], place[groups.first]
        sizes = np.bincount(class_id, weights=found, minlength=n).astype(np.int64)
        return cls(class_id, place, found, sizes)

    def believe(self, places: _Places) -> tuple[IntArray, IntArray, FloatArray, FloatArray]:
        """Return for each class the windows that are believed most: its number, prior, belief."""
        kept: list[tuple[IntArray, IntArray, FloatArray, FloatArray]] = []
        windows = _in_windows(places.prior[None, :], places.width)[0]
        starts = np.flatnonzero(np.diff(self.class_id, prepend=-1))
        most = max(_MOST_CELLS // (10 * max(len(places.prior), 1)), 1)
        own = self._weigh_all(places)
        at = 0
        while at < len(starts):
            end = np.searchsorted(starts, starts[at] + most, side="right")
            end = max(int(end), at + 1)
            stop = starts[end] if end < len(starts) else len(self.class_id)
            part = slice(int(starts[at]), int(stop))
            ids = self.class_id[starts[at:end]]
            told = self.class_id[part], self.place[part], self.rows[part]
            belief = _belief(*told, places, own)
            inside = _in_windows(belief / self.sizes[ids][:, None], places.width)
            inside = np.minimum(inside, 1.0)
            # The window that is believed most, and the one that gained most.
            for best in (inside.argmax(axis=1), (inside - windows).argmax(axis=1)):
                line = np.arange(len(ids))
                kept.append((ids, best, windows[best], inside[line, best]))
            at = end
        if not kept:
            none = np.zeros(0, dtype=np.int64)
            return none, none, np.zeros(0), np.zeros(0)
        found = [np.concatenate(each) for each in zip(*kept, strict=True)]
        order = np.argsort(found[0], kind="stable")
        classes, first, prior, posterior = (each[order] for each in found)
        return classes, first, np.minimum(prior, 1.0), posterior

    def _weigh_all(self, places: _Places) -> float:
        """Return how many people of a class the shares of all count for.

        Two people of a class have one true value with a probability that follows from it, and two
        of their rows are published alike more often then. How often they are is counted.
        """
        pairs = float((self.sizes * (self.sizes - 1)).sum())
        every = np.bincount(self.place, weights=self.rows, minlength=len(places.prior))
        total = float(every.sum())
        if pairs <= 0 or total < 2:
            return _OWN[1]
        alike = float((self.rows * (self.rows - 1)).sum()) / pairs
        strangers = float((every * (every - 1)).sum()) / (total * (total - 1))
        twins = float(((places.likelihood**2).sum(axis=0) * places.prior).sum())
        # What chance makes alike is no reason to believe that classes differ.
        alike -= _ERRORS * float(np.sqrt(strangers * (1 - strangers) / pairs))
        if alike <= strangers or twins <= strangers:
            return _OWN[1]
        found = (twins - alike) / (alike - strangers)
        return float(np.clip(places.caution * found, *_OWN))


def _in_windows(shares: FloatArray, width: int) -> FloatArray:
    """Return the sum of each line from each place on, as many places as a window has.

    >>> _in_windows(np.array([[0.1, 0.2, 0.3, 0.4]]), 2).round(1).tolist()
    [[0.3, 0.5, 0.7]]
    """
    sums = np.cumsum(np.pad(shares, ((0, 0), (1, 0))), axis=1)
    found: FloatArray = sums[:, width:] - sums[:, :-width]
    return found


def _belief(
    class_id: IntArray, place: IntArray, rows: IntArray, places: _Places, own: float
) -> FloatArray:
    """Return the expected number of people of each class at each true place.

    What a row tells is weighed with the shares of all people and with what the other rows of its
    class tell: a row is no evidence for itself.

    Args:
        class_id: The class of each entry, in rising order.
        place: Where it is published.
        rows: How many rows it has.
        places: The true values that are told apart.
        own: How many people of a class the shares of all people count for.
    """
    starts = np.flatnonzero(np.diff(class_id, prepend=-1))
    line = np.cumsum(np.diff(class_id, prepend=-1) != 0) - 1
    told = places.likelihood[place]
    weights = rows[:, None]
    sizes = np.add.reduceat(rows, starts)
    prior = own * places.prior[None, :]

    def scale_to_one(found: FloatArray) -> FloatArray:
        totals = found.sum(axis=1, keepdims=True)
        return np.where(totals > 0, found / np.where(totals > 0, totals, 1.0), prior / own)

    each = scale_to_one(told * prior)
    together: FloatArray = np.add.reduceat(each * weights, starts, axis=0)
    for _ in range(_ROUNDS):
        each = scale_to_one(told * (prior + np.maximum(together[line] - each, 0.0)))
        after = np.add.reduceat(each * weights, starts, axis=0)
        done = (np.abs(after - together).max(axis=1) < _ENOUGH * sizes).all()
        together = after
        if done:
            break
    return together


_ENOUGH = 1e-4
"""What a share may still change when it is taken for settled."""
