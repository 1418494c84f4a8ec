"""Every posterior against an adversary who goes through all tables that fit the release."""

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from sfumato.attacks import (
    BackgroundKnowledge,
    Homogeneity,
    KnowledgeBreach,
    ProbabilisticInference,
    Similarity,
    Skewness,
    Target,
)
from sfumato.counts import FrequencySet
from sfumato.decouplings.base import GroupedTables
from sfumato.harm import HarmRule
from sfumato.leaks import View
from tests.attacks import brute
from tests.attacks.tables import values_by_class
from tests.builders import classes_of

VALUES = ["cancer", "flu", "gout", "hiv"]
CLASS = st.lists(st.sampled_from([*VALUES, None]), min_size=1, max_size=5)
TABLES = st.lists(CLASS, min_size=1, max_size=3).map(
    lambda classes: [(f"{i}", value) for i, values in enumerate(classes) for value in values]
)
NUMBERS = st.lists(
    st.lists(st.one_of(st.integers(0, 9), st.none()), min_size=1, max_size=5),
    min_size=1,
    max_size=3,
).map(lambda classes: [(f"{i}", value) for i, values in enumerate(classes) for value in values])
CATEGORIES = (("cancer", "hiv"), ("flu", "gout"))


def near(p):
    return pytest.approx(float(p), abs=1e-12)


def share_of(value, values, **knowledge):
    """How surely a value is believed of a person of a class."""
    return brute.believed(values, lambda each: each == value, **knowledge) or Fraction(0)


def close(one, other):
    return one == pytest.approx([float(p) for p in other], abs=1e-12)


def run(attack, rows):
    return attack.run(classes_of(rows, column=attack.column))


def value_of(finding, at):
    """Read back which value is believed."""
    return finding.believed(at).removeprefix("disease = ")


@pytest.mark.parametrize("attack", [Homogeneity("disease"), ProbabilisticInference("disease", 0.6)])
@given(rows=TABLES)
def test_the_likeliest_value(attack, rows):
    finding = run(attack, rows)
    classes = values_by_class(rows)
    assert close(finding.posterior.tolist(), map(brute.likeliest, classes))
    least = Fraction(1) if attack.name == "homogeneity" else Fraction(6, 10)
    assert finding.vulnerable.tolist() == [brute.likeliest(c) >= least for c in classes]
    usual = brute.shares([value for _, value in rows])
    for i, values in enumerate(classes):
        if any(value is not None for value in values):
            value = value_of(finding, i)
            assert finding.posterior[i] == near(brute.believed(values, lambda v, x=value: v == x))
            assert finding.prior[i] == near(usual[value])
            # Of equally likely values the one that is rarest in the table.
            rivals = [v for v in usual if values.count(v) == values.count(value)]
            assert usual[value] == min(usual[v] for v in rivals)
        else:
            assert (finding.believed(i), finding.prior[i]) == ("nothing", 0.0)


@given(rows=TABLES)
def test_the_likeliest_category(rows):
    finding = run(Similarity("disease", categories=CATEGORIES), rows)
    sets = [lambda v, c=c: v in c for c in CATEGORIES]
    classes = values_by_class(rows)
    assert close(finding.posterior.tolist(), (brute.in_one_set(c, sets) for c in classes))
    assert finding.vulnerable.tolist() == [brute.in_one_set(c, sets) == 1 for c in classes]
    usual = brute.shares([value for _, value in rows])
    for i, prior in enumerate(finding.prior.tolist()):
        named = [c for c in CATEGORIES if repr(c[0]) in finding.believed(i)]
        expected = sum(usual.get(value, 0) for c in named for value in c)
        assert prior == near(expected)
        # Of equally likely categories the one that is rarest in the table.
        values = classes[i]
        here = [sum(value in c for value in values) for c in CATEGORIES]
        likely = [c for c, n in zip(CATEGORIES, here, strict=True) if n == max(here) > 0]
        rarest = min((sum(usual.get(v, 0) for v in c) for c in likely), default=0)
        assert prior == near(rarest)


@given(rows=NUMBERS, within=st.integers(0, 5))
def test_the_likeliest_range(rows, within):
    finding = run(Similarity("x", within=within), rows)
    sets = [lambda v, low=low: low <= v <= low + within for low in range(10)]
    classes = values_by_class(rows)
    assert close(finding.posterior.tolist(), (brute.in_one_set(c, sets) for c in classes))
    usual = brute.shares([value for _, value in rows])
    for i, prior in enumerate(finding.prior.tolist()):
        words = finding.believed(i).split()
        if len(words) > 1:
            low, high = int(words[2]), int(words[-1])
            assert high - low <= within
            share = brute.believed(classes[i], lambda v, a=low, b=high: a <= v <= b)
            assert finding.posterior[i] == near(share)
            expected = sum(p for value, p in usual.items() if low <= value <= high)
            assert prior == near(expected)


@given(rows=TABLES)
def test_the_value_that_grew_most(rows):
    finding = run(Skewness("disease", gain=0.25), rows)
    usual = brute.shares([value for _, value in rows])
    for i, values in enumerate(values_by_class(rows)):
        grown = [
            brute.believed(values, lambda v, x=x: v == x) - usual[x] for x in set(values) - {None}
        ]
        gain = finding.posterior[i] - finding.prior[i]
        assert gain == near(max(grown, default=0))
        assert finding.vulnerable[i] == (max(grown, default=0) >= Fraction(1, 4))


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("n", [0, 1, 2, 3])
@given(rows=TABLES)
def test_any_values_ruled_out(n, rows):
    finding = run(BackgroundKnowledge("disease", rules_out=n), rows)
    classes = values_by_class(rows)
    assert close(finding.posterior.tolist(), (brute.ruling_out(c, n) for c in classes))
    half = Fraction(1, 2)
    assert finding.vulnerable.tolist() == [brute.ruling_out(c, n) >= half for c in classes]
    usual = brute.shares([value for _, value in rows])
    for i, values in enumerate(classes):
        assert finding.prior[i] == near(least_expected(values, n, usual))


def least_expected(values, n, usual):
    """Of all ways to come to a belief in a commonest value, the one least expected before."""
    known = [value for value in values if value is not None]
    most = max(map(known.count, known), default=0)
    found = []
    for value in {v for v in known if known.count(v) == most}:
        others = sorted(set(known) - {value})
        for out in combinations(others, min(n, len(others))):
            left = sum(v not in out for v in known)
            before = usual[value] / (1 - sum(usual[v] for v in out))
            found.append((-Fraction(known.count(value), left), before))
    return min(found)[1] if found else 0


@given(rows=TABLES, data=st.data())
def test_named_values_ruled_out(rows, data):
    usual = brute.shares([value for _, value in rows])
    assume(usual)
    out = data.draw(st.lists(st.sampled_from(sorted(usual)), unique=True, max_size=3))
    finding = run(BackgroundKnowledge("disease", rules_out=0, known_not=out), rows)

    def possible(value):
        return value is not None and value not in out

    classes = values_by_class(rows)
    assert close(finding.posterior.tolist(), (brute.likeliest(c, possible) for c in classes))
    rest = sum(p for value, p in usual.items() if value not in out)
    for i, prior in enumerate(finding.prior.tolist()):
        if finding.posterior[i]:
            assert prior == near(usual[value_of(finding, i)] / rest)
        else:
            assert (prior, finding.believed(i)) == (0.0, "nothing")


@given(rows=TABLES, tenths=st.integers(0, 10), data=st.data())
def test_values_that_are_rarer_among_some_people(rows, tenths, data):
    usual = brute.shares([value for _, value in rows])
    assume(len(usual) > 1)
    rare = data.draw(st.sampled_from(sorted(usual)))
    label = data.draw(st.sampled_from(sorted({label for label, _ in rows})))
    alike = data.draw(st.booleans())
    # A label that is masked covers other people too.
    rates = {"label": {label if alike else f"{label}7": {rare: tenths / 10}}}
    attack = BackgroundKnowledge("disease", rates=rates)
    shown = [(each if alike else f"{each}*", value) for each, value in rows]
    counts = FrequencySet.from_rows(["label", "disease"], shown)
    finding = attack.find(Target.of_table(counts, ("label",), ("disease",)))
    share = Fraction(tenths, 10)
    rate = {v: p * (1 - share) / (1 - usual[rare]) for v, p in usual.items()} | {rare: share}

    def harm(prior, posterior):
        level = HarmRule().levels(np.array([float(prior)]), np.array([float(posterior)]))[0]
        return level, float(posterior)

    for i, values in enumerate(values_by_class(rows)):
        known = {value for value in values if value is not None}
        plain = [(usual[v], share_of(v, values)) for v in known]
        candidates = [max(plain, key=lambda each: (each[1], -each[0]))] if plain else []
        if str(i) == label:
            counted = [(rate[v], share_of(v, values)) for v in known]
            weighed = [(rate[v], share_of(v, values, rate=rate, usual=usual)) for v in known]
            candidates = counted if alike else [*candidates, *counted, *weighed]
        expected = max((harm(*each) for each in candidates), default=(0, 0.0))
        found = harm(finding.prior[i], finding.posterior[i])
        assert found == (expected[0], pytest.approx(expected[1], abs=1e-9))


# Several sensitive columns

WORK, MARITAL, PAY = ["state", "private"], ["single", "married", "divorced"], ["low", "high"]
GROUP = st.lists(st.tuples(*map(st.sampled_from, (WORK, MARITAL, PAY))), min_size=1, max_size=4)
NAMES = ("work", "marital", "pay")


def targets(groups):
    rows = [(f"{i}", *row) for i, group in enumerate(groups) for row in group]
    counts = FrequencySet.from_rows(["age", *NAMES], rows)
    grouped = GroupedTables.of(counts, ("age",), NAMES)
    return Target.of_table(counts, ("age",), NAMES), Target.of_grouped("break-merge", grouped)


@given(groups=st.lists(GROUP, min_size=1, max_size=2), known=st.integers(0, 2))
def test_the_others_are_guessed_from_one_known_value_after_breaking(groups, known):
    _, after = targets(groups)
    beliefs = KnowledgeBreach(NAMES[known]).beliefs(after)
    for i, group in enumerate(groups):
        # What is known tells nothing of the others: any value of the group gives the same.
        for value in {row[known] for row in group}:
            expected = max(brute.joining(group, known, value).values())
            assert beliefs.posterior[i] == near(expected)
    view = View(after.grouped, NAMES[known])
    assert beliefs.posterior.tolist() == pytest.approx(view.largest.tolist(), abs=1e-12)


@given(groups=st.lists(GROUP, min_size=1, max_size=2), known=st.integers(0, 2))
def test_the_others_are_read_off_the_rows_before_breaking(groups, known):
    before, _ = targets(groups)
    beliefs = KnowledgeBreach(NAMES[known]).beliefs(before)
    found = {
        (who["age"], who[NAMES[known]]): (beliefs.posterior[i], beliefs.rows[i])
        for i in range(len(beliefs.rows))
        for who in [beliefs.who(i)]
    }
    expected = {
        (f"{i}", value): (
            max(brute.reading(group, known, value).values()),
            sum(row[known] == value for row in group),
        )
        for i, group in enumerate(groups)
        for value in {row[known] for row in group}
    }
    assert found.keys() == expected.keys()
    for key, (posterior, people) in expected.items():
        assert found[key] == (near(posterior), people)


@given(groups=st.lists(GROUP, min_size=1, max_size=2), known=st.integers(0, 2))
def test_what_is_believed_without_the_release_is_the_product_of_shares(groups, known):
    told = [name for name in NAMES if name != NAMES[known]]
    people = [row for group in groups for row in group]
    usual = dict(zip(NAMES, map(brute.shares, zip(*people, strict=True)), strict=True))
    for target in targets(groups):
        beliefs = KnowledgeBreach(NAMES[known]).beliefs(target)
        for i, prior in enumerate(beliefs.prior.tolist()):
            guess = dict(pair.split("=") for pair in beliefs.believed(i).split(", "))
            expected = usual[told[0]][guess[told[0]]] * usual[told[1]][guess[told[1]]]
            assert prior == near(expected)
