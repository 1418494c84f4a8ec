"""What corrected values tell, against all choices of people who may have been corrected."""

from collections import Counter
from fractions import Fraction
from itertools import combinations, pairwise, permutations, product

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from sfumato.ledger.admission import SeenTogether
from sfumato.ledger.corrections import (
    Memory,
    Wish,
    apply_corrections,
    choose_corrections,
    kernel_of,
)

WIDTH = 4
"""Codes of the column; the first is that of a missing value."""

VALUES = st.integers(0, WIDTH - 1)
PEOPLE = st.lists(VALUES, min_size=2, max_size=5)
ALPHAS = st.sampled_from([Fraction(1, 4), Fraction(2, 5), Fraction(1, 2), Fraction(3, 4)])


def counts_of(people):
    return np.bincount(np.array(people, dtype=np.int64), minlength=WIDTH)


def worlds(people, after):
    """Yield what the people have after a correction, in every way that the counts allow.

    As few are corrected as can be: those of values that fell, to values that rose.
    """
    before = counts_of(people)
    lost = np.maximum(before - after, 0).tolist()
    gained = [v for v in range(WIDTH) for _ in range(max(int(after[v] - before[v]), 0))]
    having = [[i for i, v in enumerate(people) if v == value] for value in range(WIDTH)]
    for chosen in product(*(combinations(who, n) for who, n in zip(having, lost, strict=True))):
        changed = [i for who in chosen for i in who]
        for new in sorted(set(permutations(gained))):
            world = list(people)
            for i, value in zip(changed, new, strict=True):
                world[i] = value
            yield tuple(world)


def histories(releases):
    """Yield all histories of values of a cell's people that its tables allow, each once."""
    first, *later = releases
    found = [(tuple(first),)]
    for after in later:
        found = [(*past, now) for past in found for now in worlds(past[-1], counts_of(after))]
    return found


def believed(releases, given_at, asked_at):
    """Return for each value of one release how often which of another goes with it."""
    joint = Counter()
    for history in histories(releases):
        joint.update(zip(history[given_at], history[asked_at], strict=True))
    return joint


def shares_above(joint, alpha):
    """Return what is believed too much: a value that is not missing, and not the known one."""
    found = []
    for known in range(WIDTH):
        total = sum(n for (a, b), n in joint.items() if a == known and b)
        found += [
            (known, b)
            for (a, b), n in joint.items()
            if a == known and b not in (0, known) and n > alpha * total
        ]
    return found


def is_hidden(releases, alpha):
    """Decide by enumeration whether nothing is believed with more than alpha."""
    for people in releases:
        known = [value for value in people if value]
        if known and max(Counter(known).values()) > alpha * len(known):
            return False
    order = range(len(releases))
    return not any(
        shares_above(believed(releases, i, j), alpha) for i in order for j in order if i != j
    )


def corrected(people, changes):
    """Return people after corrections (position, value)."""
    now = list(people)
    for i, value in changes:
        now[i % len(now)] = value
    return now


CHANGES = st.lists(st.tuples(st.integers(0, 4), VALUES), min_size=1, max_size=2)


@given(PEOPLE, CHANGES)
def test_a_kernel_is_what_all_choices_of_people_come_to(people, changes):
    now = corrected(people, changes)
    found = kernel_of(counts_of(people), counts_of(now))
    joint = believed([people, now], 1, 0)
    for value in set(now):
        total = sum(n for (a, _), n in joint.items() if a == value)
        expected = [joint[value, before] / total for before in range(WIDTH)]
        assert found[value] == pytest.approx(expected)


@given(PEOPLE, CHANGES, CHANGES, ALPHAS)
@settings(max_examples=60)
def test_the_whole_history_is_judged_as_by_enumeration(people, first, second, alpha):
    releases = [people, corrected(people, first)]
    releases.append(corrected(releases[-1], second))
    memory = Memory(((),))
    for before, after in pairwise(releases):
        memory = memory.with_correction(0, counts_of(before), counts_of(after))
    part = SeenTogether(len(people), (counts_of(releases[-1]),))
    found = part.is_within(alpha) and memory.allows(part, alpha)
    assert found == is_hidden(releases, alpha)


@given(
    st.lists(VALUES, min_size=4, max_size=7),
    st.lists(st.tuples(st.integers(0, 6), VALUES), min_size=1, max_size=3),
    ALPHAS,
    st.integers(0, 3),
)
@settings(max_examples=60)
def test_what_is_corrected_now_is_hidden_and_no_more_waits_than_must(people, asked, alpha, seed):
    asked = {i % len(people): value for i, value in asked}
    asked = [(i, v) for i, v in asked.items() if people[i] != v]
    assume(asked)
    assume(SeenTogether(len(people), (counts_of(people),)).is_within(alpha))
    old, new = (np.array(each, dtype=np.int64) for each in zip(*_codes(people, asked), strict=True))
    cell, wish = SeenTogether(len(people), (counts_of(people),)), Wish(0, old, new)
    at = choose_corrections(cell, wish, Memory(((),)), alpha, np.random.default_rng(seed)).tolist()
    after = apply_corrections(cell, wish, at)
    now = corrected(people, [asked[i] for i in at])
    assert after.counts[0].tolist() == counts_of(now).tolist()
    assert not {old[i] for i in at} & {new[i] for i in at}  # The sum shows what happened.
    if at:
        assert is_hidden([people, now], alpha)
    everything = corrected(people, asked)
    if is_hidden([people, everything], alpha) and not set(old.tolist()) & set(new.tolist()):
        assert len(at) == len(asked)


def _codes(people, asked):
    return [(people[i], value) for i, value in asked]


def test_three_of_ten_may_be_corrected_and_one_of_one_may_not():
    """The example of the module: three of ten with flu become gout, of which there were two."""
    memory = Memory(((),)).with_correction(0, np.array([0, 10, 2, 9]), np.array([0, 7, 5, 9]))
    part = SeenTogether(21, (np.array([0, 7, 5, 9]),))
    assert memory.allows(part, Fraction(3, 5))
    assert not memory.allows(part, Fraction(59, 100))
    memory = Memory(((),)).with_correction(0, np.array([0, 1, 9]), np.array([0, 0, 10]))
    assert not memory.allows(SeenTogether(10, (np.array([0, 0, 10]),)), Fraction(99, 100))


def test_a_part_may_tell_what_the_cell_does_not():
    """Of ten who have gout now, two had flu; if those with gout leave by themselves, it shows."""
    memory = Memory(((),)).with_correction(0, np.array([0, 4, 4, 4]), np.array([0, 2, 6, 4]))
    alpha = Fraction(1, 2)
    assert memory.allows(SeenTogether(12, (np.array([0, 2, 6, 4]),)), alpha)
    assert not memory.allows(SeenTogether(7, (np.array([0, 1, 6, 0]),)), alpha)


def test_other_columns_are_not_concerned():
    memory = Memory(((), ())).with_correction(1, np.array([0, 4, 4]), np.array([0, 3, 5]))
    part = SeenTogether(8, (np.array([0, 8]), np.array([0, 3, 5])))
    assert memory.allows(part, Fraction(5, 8))
    wish = Wish(1, np.array([1]), np.array([2]))
    after = apply_corrections(part, wish, [0])
    assert [count.tolist() for count in after.counts] == [[0, 8], [0, 2, 6]]
