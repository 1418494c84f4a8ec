"""Breach probabilities: the published figures exactly, and a literal adversary for the rest."""

from collections import Counter
from fractions import Fraction
from itertools import product
from math import prod

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from sfumato.counts import FrequencySet
from sfumato.decouplings.base import GroupedTables
from sfumato.errors import InputError, ParameterError, UnknownColumnError, UnknownNameError
from sfumato.leaks import (
    ABOVE,
    UNLIMITED,
    Exposure,
    RiskLevels,
    breach_of,
    compare,
    holders,
    increment_ratio,
    likelihood,
    permitted_each,
    permitted_rows,
)
from tests.networks.worked import COLUMNS, FIRST, ROWS, SECOND, TABLE

QI, SENSITIVE = COLUMNS[:3], COLUMNS[3:]
BROKEN = GroupedTables.of(TABLE, QI, SENSITIVE)
GROUP_1, GROUP_2 = dict(zip(QI, FIRST, strict=True)), dict(zip(QI, SECOND, strict=True))

NAMES = ("q", "r", "s", "t", "u")
TABLES = st.lists(
    st.tuples(
        st.sampled_from(["1", "2"]),
        st.sampled_from(["x", "y"]),
        st.sampled_from(["a", "b", "c"]),
        st.sampled_from(["flu", "gout", None]),
        st.sampled_from([1, 2, 3]),
    ),
    min_size=1,
    max_size=30,
)


def grouped_of(rows):
    counts = FrequencySet.from_rows(NAMES, rows)
    return counts, GroupedTables.of(counts, NAMES[:2], NAMES[2:])


def groups_of(rows):
    groups = {}
    for row in rows:
        groups.setdefault(row[:2], []).append(row[2:])
    return groups


def literal(people, guess, columns):
    """The product of the shares of each guessed value in the group, counted one by one.

    Missing values are no guess, and hide nobody.
    """
    share = Fraction(1)
    for c in columns:
        known = [one[c] for one in people if one[c] is not None]
        same = sum(value == guess[c] for value in known)
        share *= Fraction(same, len(known)) if known else Fraction(0)
    return share


def all_guesses(people, columns):
    """Every combination of values the group's tables hold, with its probability."""
    domains = [dict.fromkeys(one[c] for one in people if one[c] is not None) for c in columns]
    for values in product(*domains):
        guess = dict(zip(columns, values, strict=True))
        yield tuple(values), literal(people, guess, columns)


# The published figures.


@pytest.mark.parametrize(
    ("marital", "low", "high"),
    [
        ("Never-Married", Fraction(32, 100), Fraction(8, 100)),
        ("Married", Fraction(16, 100), Fraction(4, 100)),
        ("Divorced", Fraction(16, 100), Fraction(4, 100)),
        ("Separated", Fraction(16, 100), Fraction(4, 100)),
    ],
)
def test_the_published_likelihoods_of_group_1_with_state_gov_known(marital, low, high):
    known = breach_of(BROKEN, group=GROUP_1, knows={"Government": "State-gov"})
    assert known.probability_of({"Marital-Status": marital, "Salary": "≤50K"}) == low
    assert known.probability_of({"Marital-Status": marital, "Salary": ">50K"}) == high
    assert known.known_share == Fraction(2, 5)
    assert known.possible == 8


def test_the_published_likelihoods_of_group_2_with_private_known():
    known = breach_of(BROKEN, group=GROUP_2, knows={"Government": "Private"}, counts=TABLE)
    guess = known.combination({"Marital-Status": "Married", "Salary": ">50K"})
    assert guess.probability == Fraction(24, 100)
    # Of three Private rows two are Married with >50K: not a certainty, as printed.
    assert known.before(guess) == Fraction(2, 3)


def test_breaking_lowers_what_was_certain():
    known = breach_of(BROKEN, group=GROUP_1, knows={"Government": "State-gov"}, counts=TABLE)
    best = known.likeliest(1)[0]
    assert dict(best.values) == {"Marital-Status": "Never-Married", "Salary": "≤50K"}
    assert known.before(best) == 1
    assert best.probability == Fraction(8, 25)
    assert known.level == "moderate"
    single = known.combination({"Marital-Status": "Never-Married"})
    assert (known.before(single), single.probability) == (1, Fraction(2, 5))
    rows = [line.split() for line in str(known).splitlines()]
    guess = ["Marital-Status=Never-Married,", "Salary=≤50K"]
    assert [*guess, "32", "%", "moderate", "100", "%"] in rows


def test_the_published_increment_of_group_1():
    added = [(*FIRST, "State-gov", "Never-Married", salary) for salary in ("≤50K", ">50K")] * 5
    counts = FrequencySet.from_rows(COLUMNS, ROWS + added)
    known = breach_of(GroupedTables.of(counts, QI, SENSITIVE), group=GROUP_1)
    assert known.size == 15
    rows = {
        (name, value): known.share(name).rows_of(value)
        for name in SENSITIVE
        for value in known.share(name).values
    }
    assert rows["Marital-Status", "Never-Married"] == 12
    assert rows["Salary", "≤50K"] == 9
    assert rows["Salary", ">50K"] == 6
    assert rows["Government", "State-gov"] == 12
    assert sum(rows.values()) == 45


TABLE_14 = [
    # old counts of 5, new counts, new size, printed percentages
    ((2, 4), (19, 14), 23, 32, 50),
    ((2, 1), (19, 9), 23, 8, 32),
    ((2, 4), (21, 15), 25, 32, 50),
    ((2, 1), (21, 10), 25, 8, 34),
    ((2, 4), (30, 21), 35, 32, 51),
    ((2, 1), (30, 14), 35, 8, 34),  # printed with 21/35, which is not 34 %
    ((2, 4), (39, 27), 45, 32, 52),
    ((2, 1), (39, 18), 45, 8, 35),
    ((1, 4), (3, 6), 7, 16, 37),
    ((1, 1), (3, 1), 7, 4, 6),
    ((1, 4), (7, 10), 13, 16, 41),
    ((1, 1), (7, 3), 13, 4, 12),
    ((1, 4), (11, 15), 20, 16, 41),
    ((1, 1), (11, 5), 20, 4, 14),
    ((1, 4), (26, 29), 37, 16, 55),
    ((1, 1), (26, 8), 37, 4, 15),
    ((1, 4), (3, 7), 9, 16, 26),
    ((1, 1), (3, 2), 9, 4, 7),
    ((1, 4), (6, 10), 13, 16, 36),
    ((1, 1), (6, 3), 13, 4, 11),
    ((1, 4), (14, 17), 24, 16, 41),
    ((1, 1), (14, 7), 24, 4, 17),
    ((1, 4), (22, 26), 37, 16, 42),
    ((1, 1), (22, 11), 37, 4, 18),
]


@pytest.mark.parametrize(("old", "new", "size", "was", "became"), TABLE_14)
def test_every_printed_likelihood_recomputes(old, new, size, was, became):
    assert round(100 * likelihood(old, 5)) == was
    assert round(100 * likelihood(new, size)) == became


@pytest.mark.parametrize(
    ("old", "new", "size", "ratio"),
    [
        ((2, 4), (19, 14), 23, Fraction(1209, 2116)),  # printed 0.5625, from 50 and 32
        ((1, 1), (7, 3), 13, Fraction(356, 169)),  # 2.11; printed 2.5
        ((1, 4), (26, 29), 37, Fraction(13374, 5476)),  # 2.44; printed 0.625
    ],
)
def test_increment_ratios_are_exact(old, new, size, ratio):
    assert increment_ratio(likelihood(old, 5), likelihood(new, size)) == ratio


# The laws.


@given(rows=TABLES, data=st.data())
def test_the_laws_hold_for_values_that_occur_in_the_group(rows, data):
    _, grouped = grouped_of(rows)
    row = data.draw(st.sampled_from(rows))
    group, name = dict(zip(NAMES, row[:2], strict=False)), data.draw(st.sampled_from(NAMES[2:]))
    # Any values of the group's tables, not only a combination that somebody has.
    peers = groups_of(rows)[row[:2]]
    assume(any(one[1] is not None for one in peers))
    values = {
        n: data.draw(st.sampled_from([one[i] for one in peers if one[i] is not None]))
        for i, n in enumerate(NAMES[2:])
    }
    rest = {n: v for n, v in values.items() if n != name}
    one = breach_of(grouped, group=group).probability_of(values)
    known = breach_of(grouped, group=group, knows={name: values[name]})
    two, three = known.known_share, known.probability_of(rest)
    assert one == known.group_only(known.combination(rest)) == three * two
    assert three >= one
    # At least, and not always more as printed: with all counts 1 it is equal.
    assert one >= Fraction(1, known.size**3)
    assert three >= Fraction(1, known.known_rows[0] * known.size**2)


def test_the_bounds_need_values_that_occur_in_the_group():
    """A value only other groups have is no guess: its probability is 0, below every bound."""
    known = breach_of(BROKEN, group=GROUP_2)
    assert known.probability_of({"Marital-Status": "Separated"}) == 0
    counts, grouped = grouped_of([("1", "x", "a", "flu", 1), ("1", "x", "b", "gout", 2)])
    both = breach_of(grouped, group={"q": "1"}, counts=counts)
    assert both.probability_of({"s": "a", "t": "flu", "u": 1}) == Fraction(1, 2**3)


@given(rows=TABLES, data=st.data())
def test_one_more_of_a_combination_makes_it_likelier_unless_it_is_certain(rows, data):
    row = data.draw(st.sampled_from(rows))
    values = (*row[:2], *(data.draw(st.sampled_from(rows))[i] for i in (2, 3, 4)))
    assume(values[3] is not None)
    guess = dict(zip(NAMES[2:], values[2:], strict=True))
    group = dict(zip(NAMES[:2], row[:2], strict=True))
    before = breach_of(grouped_of(rows)[1], group=group).probability_of(guess)
    after = breach_of(grouped_of([*rows, values])[1], group=group).probability_of(guess)
    assert after > before if before < 1 else after == 1


# One person.


@given(rows=TABLES, data=st.data())
def test_guesses_come_likeliest_first_as_sorting_all_would_give(rows, data):
    counts, grouped = grouped_of(rows)
    row = data.draw(st.sampled_from(rows))
    knows = data.draw(st.sampled_from([{}, {"s": row[2]}, {"t": row[3], "u": row[4]}]))
    assume("t" not in knows or row[3] is not None)
    known = breach_of(grouped, group={"q": row[0], "r": row[1]}, knows=knows, counts=counts)
    people = groups_of(rows)[row[:2]]
    columns = [i for i, name in enumerate(NAMES[2:]) if name not in knows]
    expected = dict(all_guesses(people, columns))
    found = [(tuple(v for _, v in g.values), g.probability) for g in known.combinations()]
    assert dict(found) == expected
    assert len(found) == len(expected) == known.possible
    assert sum(expected.values()) == (1 if expected else 0)
    assert known.strongest == max(expected.values(), default=0)
    falling = [p for _, p in found]
    assert falling == sorted(falling, reverse=True)
    most = data.draw(st.integers(0, 8))
    assert [g.probability for g in known.likeliest(most)] == falling[:most]
    # Ties are in the order of places, so equal tables give equal lists.
    places = [
        [list(s.values).index(v) for s, v in zip(known.told, g, strict=True)] for g, _ in found
    ]
    assert [(-p, at) for (_, p), at in zip(found, places, strict=True)] == sorted(
        (-p, at) for (_, p), at in zip(found, places, strict=True)
    )


@given(rows=TABLES, data=st.data())
def test_before_breaking_is_the_share_of_the_rows_that_fit(rows, data):
    counts, grouped = grouped_of(rows)
    row = data.draw(st.sampled_from(rows))
    known = breach_of(grouped, group={"q": row[0], "r": row[1]}, knows={"s": row[2]}, counts=counts)
    fitting = [one for one in rows if one[:3] == row[:3] and one[3] is not None]
    for guess in known.combinations():
        values = tuple(v for _, v in guess.values)
        if fitting:
            same = sum(o[3:] == values for o in fitting)
            assert known.before(guess) == Fraction(same, len(fitting))
        else:
            assert known.before(guess) is None


def test_the_few_likeliest_of_very_many_are_found_without_making_all():
    rows = [tuple(str(i % (c + 2)) for c in range(20)) for i in range(60)]
    names = [f"c{c}" for c in range(20)]
    counts = FrequencySet.from_rows(["q", *names], [("1", *row) for row in rows])
    grouped = GroupedTables.of(counts, ["q"], names)
    known = breach_of(grouped, group={"q": "1"})
    assert known.possible > 10**18
    found = known.likeliest(50)
    assert len({guess.values for guess in found}) == 50
    assert found[0].probability == prod(share.probabilities[0] for share in known.told)
    [worst] = Exposure(grouped).views[0].worst(1)
    assert worst.probability == found[0].probability


def test_a_group_is_found_by_the_columns_that_single_it_out():
    assert breach_of(BROKEN, group={"Age": "[30-50]"}).size == 5
    whole = GroupedTables.of(TABLE, [], SENSITIVE)
    assert breach_of(whole, group={}).size == 10


def test_what_is_misspelt_is_answered_with_the_nearest():
    with pytest.raises(UnknownColumnError, match=r"'Agee' in the quasi-id.*Did you mean 'Age'"):
        breach_of(BROKEN, group={"Agee": "[30-50]"})
    with pytest.raises(UnknownNameError, match=r"\[30-5\]' in column 'Age'. Did you mean '\[30-50"):
        breach_of(BROKEN, group={"Age": "[30-5]"})
    with pytest.raises(UnknownColumnError, match="Did you mean 'Salary'"):
        breach_of(BROKEN, group=GROUP_1, knows={"Salry": "≤50K"})
    with pytest.raises(UnknownNameError, match="Did you mean 'State-gov'"):
        breach_of(BROKEN, group=GROUP_1, knows={"Government": "Stat-gov"})
    with pytest.raises(UnknownColumnError, match="Did you mean 'Salary'"):
        breach_of(BROKEN, group=GROUP_1).probability_of({"salary": "≤50K"})


def test_what_nobody_in_the_group_has_cannot_be_known():
    with pytest.raises(UnknownNameError, match=r"no person with value 'Self-emp' in 'Government'"):
        breach_of(BROKEN, group=GROUP_1, knows={"Government": "Self-emp"})


def test_a_group_that_does_not_exist_is_answered_with_the_nearest():
    with pytest.raises(InputError, match=r"no group has.*nearest group: Age=\[30-50\], Gender=F"):
        breach_of(BROKEN, group={**GROUP_1, "Gender": "M"})
    with pytest.raises(InputError, match=r"fits 2 groups. Say more.*'Age'"):
        breach_of(BROKEN, group={})


def test_somebody_who_knows_everything_has_nothing_left_to_guess():
    knows = {"Government": "Private", "Marital-Status": "Divorced", "Salary": "≤50K"}
    with pytest.raises(ParameterError, match="nothing is left to guess"):
        breach_of(BROKEN, group=GROUP_1, knows=knows)


def test_one_value_alone_says_where_somebody_may_be():
    found = holders(BROKEN, "Government", "Private")
    assert [(dict(h.group)["Age"], h.share, h.belongs) for h in found] == [
        ("[51-90]", Fraction(3, 5), Fraction(3, 4)),
        ("[30-50]", Fraction(1, 5), Fraction(1, 4)),
    ]
    with pytest.raises(InputError, match="Give one, or the group"):
        Exposure(BROKEN).holders({})


# The whole release.


@given(rows=TABLES, most=st.integers(1, 6))
def test_the_worst_of_a_release_is_what_trying_everything_finds(rows, most):
    _, grouped = grouped_of(rows)
    for view in Exposure(grouped).views:
        columns = [i for i, name in enumerate(NAMES[2:]) if name != view.known]
        everything = [
            probability
            for people in groups_of(rows).values()
            for _, probability in all_guesses(people, columns)
        ]
        expected = sorted(everything, reverse=True)[:most]
        assert [guess.probability for guess in view.worst(most)] == expected
        assert view.largest.max() == float(max(everything, default=0))


@given(
    rows=TABLES,
    starts=st.lists(st.sampled_from([0.0, 0.1, 0.2, 0.25, 0.5, 1.0]), min_size=3, max_size=3),
    alpha=st.sampled_from([0.05, 0.25, 0.5, 1.0]),
)
def test_the_expected_people_of_each_level_are_those_of_all_combinations(rows, starts, alpha):
    moderate, high, very_high = sorted(starts)
    levels = RiskLevels(moderate=moderate, high=high, very_high=very_high)
    _, grouped = grouped_of(rows)
    for view in Exposure(grouped, levels=levels, alpha=alpha).views:
        columns = [i for i, name in enumerate(NAMES[2:]) if name != view.known]
        expected, above, mean = Counter(), 0.0, 0.0
        for people in groups_of(rows).values():
            for _, probability in all_guesses(people, columns):
                concerned = len(people) * float(probability)
                expected[levels.of(float(probability))] += concerned
                above += concerned * (float(probability) > alpha)
                mean += concerned * float(probability) / len(rows)
            if not dict(all_guesses(people, columns)):
                expected[levels.of(0.0)] += len(people)
        assert view.expected == pytest.approx({n: expected[n] for n in levels.bounds()}, abs=1e-9)
        assert view.expected_above == pytest.approx(above)
        assert view.mean == pytest.approx(mean)


@given(rows=TABLES, alpha=st.sampled_from([0.05, 0.25, 0.5]))
def test_before_and_after_are_what_a_literal_adversary_counts(rows, alpha):
    counts, grouped = grouped_of(rows)
    groups, levels = groups_of(rows), RiskLevels()
    for change in compare(counts, grouped, alpha=alpha).changes:
        columns = [i for i, name in enumerate(NAMES[2:]) if name != change.known]
        before, after = [], []
        for row in rows:
            people, mine = groups[row[:2]], row[2:]
            looked_at = range(3) if change.known is not None else columns
            if any(mine[c] is None for c in looked_at):
                # Nothing whole can be told of who misses a value, nor looked up by one.
                before.append(Fraction(0))
                after.append(Fraction(0))
                continue
            fitting = [
                one
                for one in people
                if all(one[c] is not None for c in columns)
                and (
                    change.known is None
                    or one[NAMES[2:].index(change.known)] == mine[NAMES[2:].index(change.known)]
                )
            ]
            before.append(
                Fraction(sum(all(o[c] == mine[c] for c in columns) for o in fitting), len(fitting))
            )
            after.append(literal(people, mine, columns))
        for spread, figures in ((change.before, before), (change.after, after)):
            assert spread.worst == max(figures)
            assert spread.mean == pytest.approx(float(sum(figures) / len(rows)))
            by_level = Counter(levels.of(float(p)) for p in figures)
            assert spread.people == {name: by_level[name] for name in levels.bounds()}
            assert spread.above == sum(float(p) > alpha for p in figures)
        pairs = [(float(b), float(a)) for b, a in zip(before, after, strict=True)]
        assert change.raised == sum(a > b for b, a in pairs)
        assert change.lowered == sum(a < b for b, a in pairs)


def test_the_gain_on_the_worked_table():
    changes = {change.known: change for change in compare(TABLE, BROKEN).changes}
    assert changes["Government"].before.worst == 1
    # Self-emp, Married, ≤50K of group 2: rare together, each common.
    assert changes["Government"].after.worst == Fraction(9, 25)
    assert changes[None].before.worst == Fraction(2, 5)
    assert changes[None].after.worst == Fraction(18, 125)


def test_breaking_can_make_some_peoples_values_likelier():
    """Married, low: nobody else has it, yet many are married and many have low pay."""
    rows = [("1", "x", "a", "flu", 1)] + [("1", "x", "a", "gout", 2), ("1", "x", "b", "flu", 1)] * 3
    counts, grouped = grouped_of(rows)
    change = compare(counts, grouped).changes[0]
    assert change.raised == 1
    assert change.lowered == 6


def test_other_dictionaries_are_matched_as_written():
    counts, grouped = grouped_of([("1", "x", "a", "flu", 1), ("2", "x", "b", None, 2)])
    other = FrequencySet.from_rows(NAMES, [(1, "x", "a", "flu", "1"), (2, "x", "b", None, "2")])
    assert compare(other, grouped).to_dict() == compare(counts, grouped).to_dict()


@pytest.mark.parametrize(
    "rows",
    [
        [("1", "x", "a", "flu", 1)] * 2,
        [("1", "x", "a", "flu", 1), ("1", "x", "b", "flu", 1)],
        [("1", "x", "a", "flu", 1), ("1", "y", "b", "flu", 2)],
        [("1", "x", "a", "flu", 1), ("1", "x", "c", "flu", 2)],
    ],
)
def test_a_table_of_other_people_is_refused(rows):
    _, grouped = grouped_of([("1", "x", "a", "flu", 1), ("1", "x", "b", "flu", 2)])
    with pytest.raises(InputError, match="Give the table that was decoupled"):
        compare(FrequencySet.from_rows(NAMES, rows), grouped)


def test_missing_values_hide_nobody():
    """Of four people two have hiv, and of two nothing is said: hiv is believed of all four."""
    rows = [("g", "hiv", "x"), ("g", "hiv", "y"), ("g", None, "x"), ("g", None, "y")]
    rows += [("h", "flu", "x"), ("h", "flu", "y"), ("h", "gout", "x"), ("h", "gout", "y")]
    counts = FrequencySet.from_rows(["q", "ill", "pay"], rows)
    exposure = Exposure(GroupedTables.of(counts, ["q"], ["ill", "pay"]), counts, alpha=0.5)
    one = exposure.person({"q": "g"}, {"pay": "x"})
    [guess] = one.combinations()
    assert (guess.probability, guess.rows, guess.of, guess.size) == (1, (2,), (2,), 4)
    assert one.before(guess) == 1
    assert one.permitted_rows(guess, 0.5) == ABOVE
    knowing_pay = exposure.views[2]
    assert knowing_pay.largest.tolist() == [1.0, 0.5]
    assert exposure.columns["ill"].probability == 1
    assert exposure.comparison.changes[2].after.worst == 1
    [holding] = exposure.holders({"ill": "hiv"})
    assert holding.share == 1


def test_a_group_in_which_all_is_missing_is_told_nothing_of():
    counts = FrequencySet.from_rows(["q", "ill"], [("g", None), ("g", None), ("h", "flu")])
    exposure = Exposure(GroupedTables.of(counts, ["q"], ["ill"]), counts)
    one = exposure.person({"q": "g"})
    assert (one.strongest, one.likeliest(), one.level) == (0, [], "low")
    assert exposure.views[0].largest.tolist() == [0.0, 1.0]
    with pytest.raises(UnknownNameError, match=r"no person with value '\(missing\)'"):
        breach_of(exposure.grouped, group={"q": "g"}, knows={"ill": None})
    assert holders(exposure.grouped, "ill", None) == []


def test_an_empty_release_exposes_nobody():
    counts = FrequencySet.from_rows(NAMES, [])
    exposure = Exposure(GroupedTables.of(counts, NAMES[:2], NAMES[2:]), counts, alpha=0.5)
    assert exposure.views[0].worst() == []
    assert exposure.to_dict()["people"] == 0
    assert sum(exposure.views[1].expected.values()) == 0
    assert "0 people" in str(exposure)


def test_with_one_sensitive_column_there_is_one_adversary():
    exposure = Exposure(GroupedTables.of(TABLE, QI, ["Salary"]), TABLE)
    assert [view.known for view in exposure.views] == [None]
    assert exposure.views[0].worst(1)[0].probability == Fraction(4, 5)
    assert exposure.columns["Salary"].probability == Fraction(4, 5)


# How many more.


@st.composite
def groups_with_counts(draw, columns=None):
    size, n = draw(st.integers(0, 40)), columns or draw(st.integers(1, 4))
    return draw(st.lists(st.integers(0, size), min_size=n, max_size=n)), size


@given(group=groups_with_counts(), alpha=st.integers(0, 99))
def test_what_is_permitted_is_admitted_and_one_more_is_not(group, alpha):
    counts, size = group
    limit = Fraction(alpha, 100)
    n = permitted_rows(counts, size, alpha / 100)
    if likelihood(counts, size) > limit:
        assert n == ABOVE
        return
    assert n >= 0
    assert likelihood([c + n for c in counts], size + n) <= limit
    assert likelihood([c + n + 1 for c in counts], size + n + 1) > limit
    if n < 200:
        brute = 0
        while likelihood([c + brute + 1 for c in counts], size + brute + 1) <= limit:
            brute += 1
        assert n == brute


@given(
    groups=st.lists(groups_with_counts(columns=3), min_size=1, max_size=20),
    alpha=st.one_of(st.floats(0, 1), st.integers(0, 100).map(lambda a: a / 100)),
)
def test_many_at_once_are_permitted_what_each_is(groups, alpha):
    counts = np.array([counts for counts, _ in groups], dtype=np.int64).T
    sizes = np.array([size for _, size in groups], dtype=np.int64)
    # Close to 1 the answer leaves the whole numbers that arrays hold.
    each = [permitted_rows(counts, size, alpha) for counts, size in groups]
    assert permitted_each(counts, sizes, alpha).tolist() == [
        UNLIMITED if n is None else min(n, UNLIMITED - 1) for n in each
    ]


@given(
    groups=st.lists(
        st.lists(groups_with_counts(columns=1), min_size=2, max_size=2), min_size=1, max_size=20
    ),
    alpha=st.integers(0, 99),
)
def test_many_at_once_with_values_that_are_missing(groups, alpha):
    # Each column has its own number of known values.
    counts = [[held[0] for held, _ in columns] for columns in groups]
    sizes = [[size for _, size in columns] for columns in groups]
    each = [permitted_rows(*pair, alpha / 100) for pair in zip(counts, sizes, strict=True)]
    found = permitted_each(np.array(counts).T, np.array(sizes).T, alpha / 100)
    assert found.tolist() == each


def test_equality_is_admitted_and_alpha_is_the_decimal_that_was_written():
    # 3/10 is allowed by 0.3, though the binary fraction nearest to 0.3 is a little less.
    assert Fraction(0.3) < Fraction(3, 10)
    assert permitted_rows([3], 10, 0.3) == 0
    assert permitted_each(np.array([[3]]), np.array([10]), 0.3).tolist() == [0]
    assert permitted_rows([1, 1], 2, Fraction(1, 4)) == 0
    assert permitted_rows([0], 0, 0.5) == 0


def test_without_a_limit_everybody_may_come():
    assert permitted_rows([5, 5], 5, 1.0) is None
    assert permitted_each(np.array([[5]]), np.array([5]), 1).tolist() == [UNLIMITED]
    assert permitted_rows([5, 5], 5, 0.999) == ABOVE


def test_nonsense_is_refused():
    with pytest.raises(ParameterError, match="counts must be from 0 to the size"):
        permitted_rows([6], 5, 0.5)
    with pytest.raises(ParameterError, match="alpha must be a number of at least 0"):
        permitted_rows([1], 5, -0.5)
    with pytest.raises(ParameterError, match="old must be above 0"):
        increment_ratio(0, 0.5)
    with pytest.raises(ParameterError, match="alpha"):
        Exposure(BROKEN, alpha=0)
