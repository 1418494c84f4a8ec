"""Learning what joins two tables that only groups link, from the tables alone.

One table says how often each known tuple occurs in a group, the other how often each value
does. If all ways of joining them were equally likely, a value would have the share of its group.
Over many groups, tuples and values that belong together are frequent together: from that the
lift of each value for each known attribute is learned by expectation-maximisation, and with it
the likely ways of joining each group. What is learned is held against copies in which the
groups' tables are paired at random; only what goes beyond them counts.

Reference: Kifer, "Attacks on privacy and deFinetti's theorem", 2009, doi:10.1145/1559845.1559861,
for the attack. Chertkov and Yedidia, "Approximating the permanent with fractional belief
propagation", Journal of Machine Learning Research 14, 2013, pages 2029 to 2066, for the joining of
one group. The tests on groups that were left out, and on copies, are ours.
"""

from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import chain, pairwise
from typing import NamedTuple, TypeAlias

import numpy as np

from sfumato.dataclasses import dataclass
from sfumato.typing import BoolArray, CodeArray, FloatArray, IntArray

SingleArray: TypeAlias = np.ndarray[tuple[int, ...], np.dtype[np.float32]]

SEED = 2009
"""What is drawn is drawn from this, so that a release is always judged alike."""

FEWEST_GROUPS = 6
"""Fewer groups can be paired in so few ways that nothing is told from chance."""

_ROUNDS = (4, 12, 36)
"""After this many rounds of learning the lifts are held against the groups that were left out."""

_LEARNED = 1 << 14
"""Cells (a known tuple and a value of one group) that lifts are learned on, at most."""

_TESTED = 1 << 14
"""Cells on which the strength of the lifts is found, at most."""

_SETTLED = 0.01
"""Lifts that change by less in a round are learned."""

_LARGE = 1024
"""Groups of more cells change so little by one swap that its effect is taken as linear."""

_RARE = 1 << 15
"""Groups of one shape with fewer cells in all are computed together with others, filled up."""

_AT_ONCE = 1 << 17
"""Cells that are computed together."""

_PRIOR = 2.0
"""People as of the whole table that every known value is given, so that a few prove nothing."""

_STRENGTHS = np.array([0.0, 0.1, 0.2, 0.35, 0.5, 0.75, 1.0])
"""The powers of the lifts that are tried; with 0 nothing is learned."""

_COPIES = 999
"""Copies with the groups' tables paired at random."""

_LIMIT = 0.005
"""The share of copies that may look as much alike as the release, if something was learned."""

_FLOOR = -40.0
"""The logarithm of a weight that is as good as none."""


@dataclass(frozen=True, eq=False)
class Pairing:
    """Two tables of the same groups: what is known of people, and what is to be learned.

    Example:
        >>> group = np.repeat(np.arange(3), 2)
        >>> drug, ill = np.array([0, 1, 0, 0, 1, 1]), np.array([0, 1, 0, 0, 1, 1])
        >>> ones = np.ones(6, dtype=int)
        >>> pairing = Pairing.of(group, ones, (drug,), group, ones, ill)
        >>> pairing.groups, pairing.people.tolist(), pairing.shares.tolist()
        (3, [2.0, 2.0, 2.0], [0.5, 0.5])
    """

    known_group: IntArray
    """The group of each known tuple; rising."""

    known_rows: FloatArray
    attributes: tuple[IntArray | CodeArray, ...]
    """Per known attribute its code in each known tuple; the last code of each says nothing."""

    told_group: IntArray
    """The group of each value; rising."""

    told_rows: FloatArray
    told_value: IntArray
    sizes: tuple[int, ...]
    """The number of codes of each attribute."""

    values: int
    known_shared: IntArray | None = None
    """What each known tuple has of the columns that both tables hold."""

    told_shared: IntArray | None = None

    @classmethod
    def of(  # noqa: PLR0913 - two tables, column by column
        cls,
        known_group: IntArray,
        known_rows: IntArray,
        attributes: Sequence[IntArray | CodeArray],
        told_group: IntArray,
        told_rows: IntArray,
        told_value: IntArray,
        *,
        sizes: Sequence[int] | None = None,
        values: int | None = None,
        shared: tuple[IntArray, IntArray] | None = None,
    ) -> "Pairing":
        """Sort two tables by group, and number what says nothing."""
        one = np.argsort(known_group, kind="stable")
        two = np.argsort(told_group, kind="stable")
        if sizes is None:
            sizes = [int(codes.max(initial=-1)) + 2 for codes in attributes]
        return cls(
            known_group[one],
            known_rows[one].astype(np.float64),
            tuple(codes[one] for codes in attributes),
            told_group[two],
            told_rows[two].astype(np.float64),
            told_value[two].astype(np.int64),
            tuple(sizes),
            int(told_value.max(initial=-1)) + 1 if values is None else values,
            None if shared is None else shared[0][one],
            None if shared is None else shared[1][two],
        )

    @property
    def groups(self) -> int:
        """The number of groups."""
        return len(self.known_width)

    @cached_property
    def known_width(self) -> IntArray:
        """The known tuples of each group."""
        return np.bincount(self.known_group)

    @cached_property
    def told_width(self) -> IntArray:
        """The values of each group."""
        return np.bincount(self.told_group, minlength=self.groups)

    @cached_property
    def known_start(self) -> IntArray:
        """The first known tuple of each group."""
        found: IntArray = np.cumsum(self.known_width) - self.known_width
        return found

    @cached_property
    def told_start(self) -> IntArray:
        """The first value of each group."""
        found: IntArray = np.cumsum(self.told_width) - self.told_width
        return found

    @cached_property
    def people(self) -> FloatArray:
        """The people of each group."""
        return np.bincount(self.known_group, self.known_rows, self.groups).astype(np.float64)

    @cached_property
    def shares(self) -> FloatArray:
        """The share of each value among all people."""
        rows = np.bincount(self.told_value, self.told_rows, self.values)
        found: FloatArray = rows / max(float(rows.sum()), 1.0)
        return found

    @cached_property
    def cells(self) -> IntArray:
        """The cells of each group: pairs of a known tuple and a value."""
        found: IntArray = self.known_width * self.told_width
        return found

    @cached_property
    def distinct(self) -> bool:
        """Whether no group has a value twice."""
        return bool((self.told_rows <= 1).all())

    @cached_property
    def _occurring(self) -> IntArray:
        return np.sort(self.told_group * self.values + self.told_value)

    def has(self, group: IntArray, value: IntArray) -> BoolArray:
        """Return whether groups have values."""
        wanted = group * self.values + value
        at = np.minimum(np.searchsorted(self._occurring, wanted), len(self._occurring) - 1)
        found: BoolArray = self._occurring[at] == wanted
        return found

    def draw_values(self, group: IntArray, rng: np.random.Generator) -> IntArray:
        """Draw a person of each group, and return the place of the person's value."""
        ends = np.cumsum(self.told_rows)
        first = self.told_start[group]
        drawn = ends[first] - self.told_rows[first] + rng.random(len(group)) * self.people[group]
        at = np.searchsorted(ends, drawn, side="right")
        found: IntArray = np.minimum(at, first + self.told_width[group] - 1)
        return found

    def batches(self, group: IntArray) -> Iterator[tuple[IntArray, "GroupBatch"]]:
        """Yield groups of about the same shape together, and their places among those given."""
        for part in self.alike(group):
            known = int(self.known_width[group[part]].max())
            told = int(self.told_width[group[part]].max())
            size = max(1, _AT_ONCE // (known * told))
            for start in range(0, len(part), size):
                some = part[start : start + size]
                yield some, GroupBatch.of(self, group[some], known, told)

    def alike(self, group: IntArray) -> Iterator[IntArray]:
        """Yield the places of groups of the same shape, or of about the same if it is rare."""
        known, told = self.known_width[group], self.told_width[group]
        shape, number = np.unique(known << 32 | told, return_inverse=True)
        rare = np.bincount(number, self.cells[group], len(shape))[number] < _RARE
        rough = 1 << np.ceil(np.log2(np.stack([known, told]))).astype(np.int64)
        shape = np.where(rare, -(rough[0] << 32 | rough[1]), known << 32 | told)
        order = np.argsort(shape, kind="stable")
        for part in np.split(order, np.flatnonzero(np.diff(shape[order])) + 1):
            if len(part):
                yield part

    def compositions(self, group: IntArray) -> FloatArray:
        """Return the share of each value in some groups."""
        place = np.full(self.groups, -1)
        place[group] = np.arange(len(group))
        at = place[self.told_group]
        chosen = at >= 0
        cell = at[chosen] * self.values + self.told_value[chosen]
        rows = np.bincount(cell, self.told_rows[chosen], len(group) * self.values)
        found: FloatArray = rows.reshape(len(group), self.values) / self.people[group][:, None]
        return found


class GroupBatch(NamedTuple):
    """Groups of one shape, the group last: arrays that are added up along the others."""

    pairing: Pairing
    group: IntArray
    known: IntArray
    """`known[i, group]`: the place of a known tuple; where a group has fewer, any."""

    told: IntArray
    value: IntArray
    known_rows: FloatArray
    """0 where a group has fewer known tuples."""

    told_rows: FloatArray

    @classmethod
    def of(cls, pairing: Pairing, group: IntArray, known: int, told: int) -> "GroupBatch":
        i, j = np.arange(known)[:, None], np.arange(told)[:, None]
        one = np.minimum(pairing.known_start[group] + i, len(pairing.known_group) - 1)
        two = np.minimum(pairing.told_start[group] + j, len(pairing.told_group) - 1)
        return cls(
            pairing,
            group,
            one,
            two,
            pairing.told_value[two],
            np.where(i < pairing.known_width[group], pairing.known_rows[one], 0.0),
            np.where(j < pairing.told_width[group], pairing.told_rows[two], 0.0),
        )

    @property
    def people(self) -> FloatArray:
        return self.pairing.people[self.group]

    def places(self, model: IntArray | None = None) -> list[IntArray]:
        """Return where the lift of each cell is, per attribute; `model` per group."""
        found = []
        for codes, size in zip(self.pairing.attributes, self.pairing.sizes, strict=True):
            row = codes[self.known].astype(np.int64)
            if model is not None:
                row += model * size
            found.append(row[:, None] * self.pairing.values + self.value[None])
        return found

    def forbid(self, weights: SingleArray) -> None:
        """Make cells impossible whose two sides differ in a column that both tables hold."""
        one, two = self.pairing.known_shared, self.pairing.told_shared
        if one is not None and two is not None:
            weights[one[self.known][:, None] != two[self.told][None]] = _FLOOR

    def weigh(self, lifts: Sequence[FloatArray], places: Sequence[IntArray]) -> SingleArray:
        """Return the logarithm of the weight of each cell."""
        shape = (len(self.known), len(self.told), len(self.group))
        weights, each = np.zeros(shape, dtype=np.float32), np.empty(shape, dtype=np.float32)
        for lift, at in zip(lifts, places, strict=True):
            # All places are there, and saying so spares a copy.
            np.take(lift.astype(np.float32).ravel(), at, out=each, mode="clip")
            weights += each
        return weights


# Joining the two sides of a group: how many people of each known tuple have each value.


def join_groups(
    weights: FloatArray | SingleArray,
    known: FloatArray,
    told: FloatArray,
    people: FloatArray,
    *,
    rounds: int = 20,
) -> SingleArray:
    """Return how many people of each known tuple have each value, if some pairs are likelier.

    A way of joining a group has as probability the product of the weights of its pairs. Averages
    over all ways are those of a permanent, which cannot be computed for large groups. Scaling
    rows and columns to their sums, as in iterative proportional fitting, is too unsure in
    small groups; the fractional free energy of Chertkov and Yedidia (2013), here with the power
    1 - 1/n, is exact for groups of two and near it for all (see the tests).

    Args:
        weights: The logarithms; `[known tuple, value, group]`.
        known: The people of each known tuple.
        told: The people with each value.
        people: The people of each group.
        rounds: How often sums are made right.

    Example:
        >>> ones, weights = np.ones((2, 1)), np.log(np.array([[[3.0], [1.0]], [[1.0], [1.0]]]))
        >>> join_groups(weights, ones, ones, np.array([2.0]))[:, :, 0].round(2).tolist()
        [[0.75, 0.25], [0.25, 0.75]]
    """
    return _Joining(known, told, people).go_on(weights, rounds)


class _Joining:
    """Groups that are joined step by step, from all ways equally likely on.

    What does not depend on weights is computed once. Groups are taken some at a time, so that all
    their arrays stay near the processor.

    Args:
        known: The people of each known tuple, `[known tuple, group]`.
        told: The people with each value.
        people: The people of each group.
    """

    def __init__(self, known: FloatArray, told: FloatArray, people: FloatArray) -> None:
        size = max(2, _NEAR // max(len(known) * len(told), 1))
        # Parts of equal size: one group alone would be added up in another order.
        edges = np.linspace(0, len(people), max(1, len(people) // size) + 1).astype(np.int64)
        self.parts = [slice(a, b) for a, b in pairwise(edges.tolist())]
        self.joined = [
            _JoinedPart(known[:, part], told[:, part], people[part]) for part in self.parts
        ]

    @property
    def settled(self) -> bool:
        """Whether there is one way only, whatever the weights."""
        return all(each.settled for each in self.joined)

    def go_on(self, weights: FloatArray | SingleArray | None, rounds: int) -> SingleArray:
        """Make sums right some times more, and return the people expected in each cell.

        Args:
            weights: The logarithms; they may differ from those before. None if all is settled.
            rounds: How often.
        """
        for part, each in zip(self.parts, self.joined, strict=True):
            if weights is not None and not each.settled:
                each.go_on(weights[:, :, part], rounds)
        if len(self.joined) == 1:
            return self.joined[0].people
        return np.concatenate([each.people for each in self.joined], axis=2)


_NEAR = 1 << 14
"""Cells of which all arrays stay near the processor."""


class _JoinedPart:
    """Some groups of one shape; see `_Joining`."""

    # With b(i, j) for the chance that person i has the value of place j, whose rows and columns add
    # up to 1, and w for the weights, the fractional free energy of a group of n people is
    #
    #     F(b) = Σ b log(b / w) - (1 - 1/n) Σ (1 - b) log(1 - b),
    #
    # that of the paper with γ = -(1 - 1/n). At its minimum -F stands for the logarithm of the
    # permanent, and b for the averages. Setting the derivative to 0, with factors u and v for the
    # sums of rows and columns, gives
    #
    #     b(i, j) = u(i) v(j) w(i, j) (1 - b(i, j))^-(1 - 1/n).
    #
    # Each round takes the last factor from the b before, of its logarithm 0.4 new and 0.6 old so
    # that it settles, and scales rows and columns once. People with one tuple are alike, and so are
    # places with one value: a cell is `people` = known · told · b, and a round costs as much as
    # there are cells, however many people they hold.
    #
    # For n = 2 the factors u and v cancel in b(1, 1) b(2, 2) / (b(1, 2) b(2, 1)). With b for the
    # first chance, b² / (1 - b)² = W b / (1 - b) where W = w(1, 1) w(2, 2) / (w(1, 2) w(2, 1)), so
    # that b = W / (W + 1): exact. It is exact for equal weights too, where b = 1/n.

    def __init__(self, known: FloatArray, told: FloatArray, people: FloatArray) -> None:
        # Single precision is twice as fast, and more than the approximation is worth.
        self.known, self.told = known.astype(np.float32), told.astype(np.float32)
        pairs: SingleArray = self.known[:, None] * self.told[None]
        self.people: SingleArray = (pairs / people).astype(np.float32)
        self.settled = 1 in pairs.shape[:2]
        if self.settled:
            return
        self.inverse = np.divide(1.0, pairs, out=np.zeros_like(pairs), where=pairs > 0)
        power = (0.4 * (1 - 1 / np.maximum(people, 1.0))).astype(np.float32)
        # A whole array is as fast again as one number for all, or one for each group.
        self.power = np.broadcast_to(power, pairs.shape).copy()
        self.least = np.full_like(pairs, 1e-6)
        self.told_scale = (self.told > 0).astype(np.float32)
        self.correction = np.zeros_like(pairs)
        self.kernel, self.scaled = np.empty_like(pairs), np.empty_like(pairs)

    def go_on(self, weights: FloatArray | SingleArray, rounds: int) -> None:
        """Make sums right some times more; nothing new is allocated."""
        kernel, scaled, found, told_scale = self.kernel, self.scaled, self.people, self.told_scale
        kernel[:] = np.maximum(weights - weights.max(axis=1, keepdims=True), _FLOOR)
        np.exp(kernel, out=kernel)
        for _ in range(rounds):
            np.multiply(found, self.inverse, out=found)
            np.subtract(_ONE, found, out=found)
            np.log(np.maximum(found, self.least, out=found), out=found)
            np.multiply(self.correction, _OLD, out=self.correction)
            np.subtract(
                self.correction, np.multiply(self.power, found, out=found), out=self.correction
            )
            np.multiply(kernel, np.exp(self.correction, out=scaled), out=scaled)
            known_scale = self.known / np.maximum(
                np.einsum("ijg,jg->ig", scaled, told_scale), 1e-30
            )
            told_scale = self.told / np.maximum(np.einsum("ijg,ig->jg", scaled, known_scale), 1e-30)
            np.multiply(scaled, known_scale[:, None], out=found)
            np.multiply(found, told_scale[None], out=found)
        self.told_scale = told_scale


_ONE, _OLD = np.float32(1.0), np.float32(0.6)


def _free_energy(
    weights: SingleArray, known: FloatArray, told: FloatArray, people: FloatArray
) -> FloatArray:
    """Return the logarithm of the summed probability of all ways of joining, per group."""
    # This is -F of `_JoinedPart`: `first` is Σ b log(b / w), and `rest` is Σ (1 - b) log(1 - b).
    # For two people it is log(w(1, 1) w(2, 2) + w(1, 2) w(2, 1)), exactly. If all weights are 1, it
    # is n log n + (n - 1)² log(1 - 1/n) instead of log n!: 0.12 too little for n = 3, and 0.39 for
    # n = 6. Only differences between groups of the same n are used, where such an offset cancels.
    found = join_groups(weights, known, told, people).astype(np.float64)
    found *= (known / np.maximum(found.sum(axis=1), 1e-300))[:, None]
    pairs = known[:, None] * told[None]
    share = np.minimum(np.divide(found, pairs, out=np.zeros_like(pairs), where=pairs > 0), 1.0)
    there, open_ = share > 0, share < 1
    first = found * (np.log(np.where(there, share, 1.0)) - weights)
    rest = pairs * (1 - share) * np.log(np.where(open_, 1 - share, 1.0))
    total: FloatArray = (1 - 1 / people) * rest.sum(axis=(0, 1)) - first.sum(axis=(0, 1))
    return total


# Learning the lifts.


def _lift(table: FloatArray) -> FloatArray:
    """Return how much likelier each value is for each known code, as logarithms.

    Both are `[model, code, value]`, of people expected and of lifts. A code that few people have
    is near 0, and the last one, which says nothing, is 0.
    """
    # Of code x, T(x, v) people are expected to have value v, whose share is q(v) in all. The lift
    # is log(P(v | x) / q(v)). Here P(v | x) = (T(x, v) + 2 q(v)) / (T(x) + 2) is the mean under a
    # Dirichlet prior worth `_PRIOR` people. Two people of one code who both have a value of share
    # 1/2 make it 3/4, not 1, and a code without people has the lift 0.
    #
    # Lifts of several attributes are added. That is naive Bayes: if attributes are independent
    # given the value, P(v | x, y, …) is in proportion to q(v) · P(v | x)/q(v) · P(v | y)/q(v) · ….
    # The factor q(v) may be left out of the weights: all ways of joining a group deal out the same
    # values, and have the same product of it.
    people = np.maximum(table.sum(axis=(1, 2), keepdims=True), 1e-300)
    share = table.sum(axis=1, keepdims=True) / people
    known = (table + _PRIOR * share) / (table.sum(axis=2, keepdims=True) + _PRIOR)
    ratio = np.divide(known, share, out=np.ones_like(known), where=share > 0)
    found: FloatArray = np.log(np.maximum(ratio, 1e-12))
    found[:, -1] = 0
    return found


def _learn(pairing: Pairing, groups: Sequence[IntArray]) -> Iterator[tuple[FloatArray, ...]]:
    """Learn lifts by expectation-maximisation; yield them after some rounds.

    It begins with all ways of joining equally likely, so nothing is drawn. Each round starts the
    scaling where the last one ended, and few steps are enough.

    Args:
        pairing: The two tables.
        groups: The groups that each model is learned on. Models do not see each other; they are
            learned side by side because arrays cost little more for being longer.
    """
    # The expectation is T(x, v), summed over the groups that `join_groups` joins by the lifts so
    # far; the maximisation is `_lift`. With exact averages, and without the prior and the code
    # that says nothing, no round could make the published tables less likely. With those used here
    # that is not certain, and a likelihood on the groups learned from would reward learning them by
    # heart. So the lifts are judged by groups that were left out.
    values, models = pairing.values, len(groups)
    model = np.repeat(np.arange(models), [len(each) for each in groups])
    learned = [
        _LearnedBatch(batch, batch.places(model[at]))
        for at, batch in pairing.batches(np.concatenate(groups))
    ]
    lifts = tuple(np.zeros((models, size, values)) for size in pairing.sizes)
    settled = np.zeros(models, dtype=np.bool_)
    for done in range(1, _ROUNDS[-1] + 1):
        if not settled.all():
            tables = [np.zeros(models * size * values) for size in pairing.sizes]
            for each in learned:
                found = each.expect(lifts, 8 if done == 1 else 3)
                tables = [table + more for table, more in zip(tables, found, strict=True)]
            new = [_lift(table.reshape(models, -1, values)) for table in tables]
            step = np.zeros(models)
            for a, b in zip(lifts, new, strict=True):
                step = np.maximum(step, np.abs(a - b).max(axis=(1, 2)))
            # A model that has settled stays as it was then, however long others take.
            lifts = tuple(
                np.where(settled[:, None, None], a, b) for a, b in zip(lifts, new, strict=True)
            )
            settled |= step < _SETTLED
        if done in _ROUNDS:
            yield lifts


class _LearnedBatch:
    """Groups of one shape that lifts are learned on.

    Args:
        batch: The groups.
        places: Where the lift of each cell is, per attribute.
    """

    def __init__(self, batch: GroupBatch, places: Sequence[IntArray]) -> None:
        self.batch, self.places = batch, places
        self.joining = _Joining(batch.known_rows, batch.told_rows, batch.people)
        self.settled: list[FloatArray] | None = None

    def expect(self, lifts: Sequence[FloatArray], rounds: int) -> list[FloatArray]:
        """Return the people that lifts let expect, by place, per attribute."""
        if self.settled is not None:
            return self.settled
        weights = None
        if not self.joining.settled:
            weights = self.batch.weigh(lifts, self.places)
            self.batch.forbid(weights)
        people = self.joining.go_on(weights, rounds).ravel().astype(np.float64)
        found = [
            np.bincount(at.ravel(), people, lift.size).astype(np.float64)
            for at, lift in zip(self.places, lifts, strict=True)
        ]
        # Where there is one way only it is the same in each round.
        self.settled = found if self.joining.settled else None
        return found


@dataclass(frozen=True, eq=False)
class Dependence:
    """What was learned of how two tables belong together, and how far it can be trusted."""

    pairing: Pairing
    model: IntArray
    """`model[i, group]`: the models of a group, all of which were learned without it."""

    lifts: tuple[FloatArray, ...]
    """Per attribute `[model, code, value]`: the logarithm of how much likelier a value is."""

    strength: float
    """The power of the lifts that groups left out bear witness to; 0 if nothing was learned."""

    as_likely: float
    """The share of copies, paired at random, in which the tables fit as well as they do."""

    learned_on: int
    """The number of groups that a model was learned on, at most."""

    @property
    def found(self) -> bool:
        """Whether the tables teach something of what joins them."""
        return self.strength > 0

    def join(self) -> Iterator[tuple[GroupBatch, FloatArray]]:
        """Yield all groups in batches, with the expected people of each known tuple and value.

        It is the mean over the models of a group: where they disagree, nothing is sure.
        """
        for _, batch in self.pairing.batches(np.arange(self.pairing.groups)):
            if not self.found and self.pairing.known_shared is None:
                yield batch, batch.known_rows[:, None] * batch.told_rows[None] / batch.people
                continue
            people = np.zeros((len(batch.known), len(batch.told), len(batch.group)))
            for model in self.model:
                weights = self.strength * batch.weigh(self.lifts, batch.places(model[batch.group]))
                batch.forbid(weights)
                joined = join_groups(
                    weights, batch.known_rows, batch.told_rows, batch.people, rounds=12
                )
                people += joined / len(self.model)
            yield batch, people


def learn_dependence(pairing: Pairing) -> Dependence:
    """Learn what joins two tables, and hold it against copies that are paired at random.

    A model of a group is learned on other groups, so that what is special about it is not taken
    for a rule. There are several, each learned on another half of the groups: what is due to
    the half alone differs from model to model. Three stages of learning are compared by how well
    they tell, of two groups that were left out, which of two people's values belongs to which.

    Example:
        >>> rng = np.random.default_rng(0)
        >>> group, drug = np.repeat(np.arange(100), 5), rng.integers(0, 4, 500)
        >>> ones = np.ones(500, dtype=int)
        >>> told = Pairing.of(group, ones, (drug,), group, ones, drug)
        >>> bool(learn_dependence(told).found)
        True
        >>> other = Pairing.of(group, ones, (drug,), group, ones, rng.integers(0, 4, 500))
        >>> bool(learn_dependence(other).found)
        False
    """
    rng = np.random.default_rng(SEED)
    model = _halve(pairing, rng)
    groups = []
    for each in range(int(model.max()) + 1):
        of_split = model[each // 2] if len(model) > 1 else model[0]
        group = rng.permutation(np.flatnonzero(of_split != each))
        groups.append(np.sort(group[: _room(pairing.cells[group])]))
    learned_on = max(map(len, groups))
    stages = _learn(pairing, groups)
    early = next(stages)
    as_likely = _hold_against_copies(pairing, model, early, rng)
    if as_likely > _HOPELESS:
        return Dependence(pairing, model, early, 0.0, as_likely, learned_on)
    swaps = _Swaps.draw(pairing, model, rng)
    tried = [
        (_likelihoods(swaps, pairing, model, lifts), lifts) for lifts in chain([early], stages)
    ]
    best = max(float(found.max()) for found, _ in tried)
    # The longest learning that is not clearly worse: it is nearest to what is to be learned.
    likelihood, lifts = next(t for t in reversed(tried) if t[0].max() >= best - _MARGIN)
    as_likely = _hold_against_copies(pairing, model, lifts, rng)
    strength = _lower_bound(likelihood) if as_likely <= _LIMIT else 0.0
    return Dependence(pairing, model, lifts, strength, as_likely, learned_on)


def _room(cells: IntArray) -> int:
    """Return how many groups are learned on: as many as fit, and some even if they are large."""
    until = np.cumsum(cells)
    few = min(_FEW_LARGE, int(np.searchsorted(until, 16 * _LEARNED)))
    return max(int(np.searchsorted(until, _LEARNED)), few) + 1


_FEW_LARGE = 24
"""This many groups are learned on even if they are large."""


def _halve(pairing: Pairing, rng: np.random.Generator) -> IntArray:
    """Return the models of each group: of every way to halve the groups, that of the other half.

    With few groups each has one model, of all others.
    """
    if pairing.groups <= _FEW:
        return np.arange(pairing.groups)[None]
    splits = 2 if pairing.cells.sum() > 2 * _LEARNED else 4
    found = np.empty((splits, pairing.groups), dtype=np.int64)
    for split in range(splits):
        found[split, rng.permutation(pairing.groups)] = np.arange(pairing.groups) % 2 + 2 * split
    return found


_HOPELESS = 0.2
"""If more copies fit what a few rounds taught, more rounds are not worth it."""

_FEW = 12
"""This many groups are too few to be halved."""

_MARGIN = 2.0
"""Logarithms of likelihoods that differ by less are taken as equal."""


def _lower_bound(likelihood: FloatArray) -> float:
    """Return the least strength that is nearly as likely as the likeliest."""
    # Between the powers that were tried the curve is taken as straight. For independent swaps, and
    # one unknown number, the values within 1.92 of the maximum (half of 3.84, the 95 % point of χ²
    # with one degree of freedom) would be an interval of 95 %; `_MARGIN` is a little wider. Swaps
    # share people, so this is a rule and not a promise. The lower end is taken, so that rather too
    # little is believed than too much.
    fine = np.linspace(0, 1, 101)
    curve = np.interp(fine, _STRENGTHS, likelihood)
    return float(fine[np.flatnonzero(curve >= curve.max() - _MARGIN)[0]])


def _likelihoods(
    swaps: "_Swaps", pairing: Pairing, model: IntArray, lifts: Sequence[FloatArray]
) -> FloatArray:
    """Return per strength the logarithm of how likely groups are that were left out."""
    found = swaps.likelihoods(lifts)
    large = np.flatnonzero(pairing.cells > _LARGE)
    if len(large):
        rng = np.random.default_rng(SEED)
        large = rng.permutation(large)
        some = np.sort(large[: _room(pairing.cells[large])])
        rows = pairing.compositions(some) * pairing.people[some][:, None]
        for row, strength in enumerate(_STRENGTHS):
            powers = [strength * lift for lift in lifts]
            expected = _expect(pairing, some, model[0], powers)
            found[row] += (rows * np.log(np.maximum(expected, 1e-12))).sum()
    return found


def _hold_against_copies(
    pairing: Pairing, model: IntArray, lifts: Sequence[FloatArray], rng: np.random.Generator
) -> float:
    """Return the share of copies that fit what is expected of the groups as well as they do.

    In a copy every group has the values of another, in its own number. What its known tuples
    let expect of its values comes from a model that was learned without it.
    """
    # Group g, if it had the values of group h in its own number n(g), fits by
    #
    #     n(g) Σ f_h(v) log(e_g(v) / q(v)),
    #
    # the logarithm of how much likelier they are by what g lets expect, e_g, than by the shares q
    # of all, where f_h are the shares in h. One product of matrices gives this for all pairs, and
    # a copy adds up one entry of each row. The release is one of its own copies, so the result is
    # (1 + copies that fit as well) / (1 + 999) and never 0: it is a permutation test. `_LIMIT` is
    # kept if at most four copies fit as well. Lifts stay those of the published pairs; they come
    # from other groups than the one judged, which makes the test nearly, not strictly, exact.
    some = np.sort(rng.permutation(pairing.groups)[:1024])
    expected = _expect(pairing, some, model[0], lifts)
    share = np.where(pairing.shares > 0, pairing.shares, 1.0)
    scores = pairing.people[some][:, None] * np.log(np.maximum(expected / share, 1e-6))
    fits = scores @ pairing.compositions(some).T
    at = np.arange(len(some))
    own = float(fits[at, at].sum())
    # Flat, for two arrays of indices take NumPy three times as long.
    flat, rows = fits.ravel(), at * len(some)
    copies = np.array([flat[rows + rng.permutation(len(some))].sum() for _ in range(_COPIES)])
    return float((1 + np.count_nonzero(copies >= own - 1e-9)) / (1 + _COPIES))


def _expect(
    pairing: Pairing, group: IntArray, model: IntArray, lifts: Sequence[FloatArray]
) -> FloatArray:
    """Return the share of each value that the known tuples of some groups let expect."""
    place = np.full(pairing.groups, -1)
    place[group] = np.arange(len(group))
    at = place[pairing.known_group]
    chosen = at >= 0
    at = at[chosen]
    of_model = model[pairing.known_group[chosen]]
    weights = np.zeros((len(at), pairing.values))
    for codes, lift in zip(pairing.attributes, lifts, strict=True):
        weights += lift[of_model, codes[chosen]]
    likely = pairing.shares * np.exp(weights - weights.max(axis=1, keepdims=True))
    likely *= (pairing.known_rows[chosen] / likely.sum(axis=1))[:, None]
    found = np.zeros((len(group), pairing.values))
    for value in range(pairing.values):
        found[:, value] = np.bincount(at, likely[:, value], len(group))
    result: FloatArray = found / pairing.people[group][:, None]
    return result


@dataclass(frozen=True, eq=False)
class _Swaps:
    """Pairs of groups in which two people's values are exchanged.

    Which of the two ways was published is to be told from a model that was learned without
    both groups. The strength of the lifts is right when they are right as often as they say.
    """

    pairing: Pairing
    one: IntArray
    other: IntArray
    model: IntArray
    """Per group of `one`, and then of `other`: the model it is judged by."""

    one_value: IntArray
    """The place of the value that leaves the first group."""

    other_value: IntArray

    @classmethod
    def draw(cls, pairing: Pairing, model: IntArray, rng: np.random.Generator) -> "_Swaps":
        """Draw pairs of groups of about the same size that were left out together."""
        pairs, models = [], []
        small = np.flatnonzero(pairing.cells <= _LARGE)
        for split in model:
            order = rng.permutation(small)
            order = order[np.argsort(pairing.people[order], kind="stable")]
            if len(model) == 1:
                pairs.append(np.stack([order[at] for at in np.triu_indices(len(order), 1)]))
                models.append(split[pairs[-1]])
                continue
            for each in np.unique(split):
                mine = order[split[order] == each]
                pairs.append(mine[: len(mine) // 2 * 2].reshape(-1, 2).T)
                models.append(split[pairs[-1]])
        both, of_model = np.hstack(pairs), np.hstack(models)
        chosen = rng.permutation(both.shape[1])
        cells = np.cumsum(pairing.cells[both[:, chosen]].sum(axis=0))
        chosen = chosen[: int(np.searchsorted(cells, _TESTED)) + 1]
        # Each person is exchanged about once, as far as that can be afforded.
        room = max(1.0, _TESTED / max(float(cells[: len(chosen)].max(initial=1)), 1.0))
        often = pairing.people[both[:, chosen]].min(axis=0, initial=np.inf)
        if len(model) == 1:
            often = often / max(pairing.groups - 1, 1)
        times = np.maximum(np.minimum(often, room), 1).astype(np.int64)
        chosen = np.repeat(chosen, times)
        return cls._exchange(pairing, both[:, chosen], of_model[:, chosen], rng)

    @classmethod
    def _exchange(
        cls, pairing: Pairing, pairs: IntArray, model: IntArray, rng: np.random.Generator
    ) -> "_Swaps":
        one, other = pairs
        a, b = pairing.draw_values(one, rng), pairing.draw_values(other, rng)
        for _ in range(6):
            bad = ~_possible(pairing, one, other, a, b)
            a = np.where(bad, pairing.draw_values(one, rng), a)
            b = np.where(bad, pairing.draw_values(other, rng), b)
        good = _possible(pairing, one, other, a, b)
        return cls(pairing, one[good], other[good], model[:, good].ravel(), a[good], b[good])

    def likelihoods(self, lifts: Sequence[FloatArray]) -> FloatArray:
        """Return per strength the logarithm of how likely the published ways are."""
        pairing = self.pairing
        group = np.concatenate([self.one, self.other])
        leaving = np.concatenate([self.one_value, self.other_value])
        coming = np.concatenate([self.other_value, self.one_value])
        change = np.zeros((len(_STRENGTHS), len(group)))
        for at in pairing.alike(group):
            change[:, at] = _change(
                pairing, group[at], leaving[at], coming[at], lifts, self.model[at]
            )
        # Z is the summed weight of all ways of joining a group; `_free_energy` is its logarithm.
        # The gain is log Z(as published) - log Z(exchanged), added up over the two groups. Of the
        # two ways the published one has the chance 1 / (1 + exp(-gain)). Both ways hold the same
        # values, so that shares cancel. Values are drawn person by person, and the way back is one
        # exchange too, so that repeated values favour neither way: with the power 0 each swap is
        # log 1/2. A surer guess gains little where it is right and loses much where it is wrong.
        # So the sum is largest, on average, where guesses are right as often as they claim.
        gain = change[:, : len(self.one)] + change[:, len(self.one) :]
        found: FloatArray = -np.logaddexp(0, -gain).sum(axis=1)
        return found


def _possible(
    pairing: Pairing, one: IntArray, other: IntArray, a: IntArray, b: IntArray
) -> BoolArray:
    """Return which values can be exchanged: they differ, and groups stay as they are made."""
    first, second = pairing.told_value[a], pairing.told_value[b]
    good = first != second
    if pairing.distinct:
        good &= ~pairing.has(one, second) & ~pairing.has(other, first)
    if pairing.told_shared is not None:
        good &= pairing.told_shared[a] == pairing.told_shared[b]
    result: BoolArray = good
    return result


def _change(
    pairing: Pairing,
    group: IntArray,
    leaving: IntArray,
    coming: IntArray,
    lifts: Sequence[FloatArray],
    model: IntArray,
) -> FloatArray:
    """Return by how much likelier groups are than with one value exchanged, per strength."""
    known, told = pairing.known_width[group].max(), pairing.told_width[group].max()
    batch = GroupBatch.of(pairing, group, int(known), int(told) + 1)
    # The value that comes has a place of its own, with no people before.
    batch.told[-1] = coming
    batch.value[-1] = pairing.told_value[coming]
    batch.told_rows[-1] = 0
    after = batch.told_rows.copy()
    after[-1] = 1
    after[leaving - pairing.told_start[group], np.arange(len(group))] -= 1
    weights = batch.weigh(lifts, batch.places(model))
    # All strengths, before and after, stand side by side: one call instead of a dozen.
    times = len(_STRENGTHS) - 1
    every = [strength * weights for strength in _STRENGTHS[1:]]
    for each in every:
        batch.forbid(each)
    told_rows = np.hstack([np.tile(batch.told_rows, times), np.tile(after, times)])
    energy = _free_energy(
        np.concatenate([*every, *every], axis=2),
        np.tile(batch.known_rows, 2 * times),
        told_rows,
        np.tile(batch.people, 2 * times),
    )
    before, then = energy.reshape(2, times, len(group))
    return np.vstack([np.zeros(len(group)), before - then])
