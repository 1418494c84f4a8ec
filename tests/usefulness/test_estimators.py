"""Every estimator against the literal enumeration of what a release leaves possible."""

from collections import Counter
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.counts import FrequencySet
from sfumato.decouplings import MergedTables
from sfumato.decouplings.base import GroupedTables, LinkedTables
from sfumato.decouplings.slices.correlation import cells_in, cramers_v
from sfumato.errors import InputError, ParameterError, UnknownColumnError
from sfumato.usefulness import Estimator, Query, among
from tests.decouplings.literal import joined
from tests.usefulness import literal
from tests.usefulness.tables import NAMES, QI, ROWS, SENSITIVE, counts_of, keeps, queries

LABELS = {"*": None, "20-29": (20, 29), "[30, 40)": (30, 39), "<30": (0, 29), ">=24": (24, 99)}


def ages_of(label, ages):
    """The ages a label stands for, by definition."""
    if label == "*":
        return list(ages)
    low, high = LABELS[label]
    return [age for age in ages if age is not None and low <= age <= high]


@given(ROWS, st.data())
def test_the_original_counts_exactly(rows, data):
    counts = counts_of(rows)
    query = data.draw(queries(counts))
    assert Estimator.of_original(counts).count(query) == sum(keeps(row, query) for row in rows)


@given(ROWS, st.data())
def test_a_table_published_as_it_is_answers_exactly(rows, data):
    counts = counts_of(rows)
    query = data.draw(queries(counts))
    release = Estimator.of_table(counts_of(rows[::-1]), counts.columns)
    assert release.count(query) == Estimator.of_original(counts).count(query)


@given(ROWS, st.data())
def test_rows_are_spread_evenly_over_what_their_labels_cover(rows, data):
    counts = counts_of(rows)
    ages, sexes = counts.column("age").values, counts.column("sex").values
    covered = [
        {**{age: [age] for age in ages}, **{label: ages_of(label, ages) for label in LABELS}},
        {**{sex: [sex] for sex in sexes}, "*": list(sexes)},
        *({v: [v] for v in counts.column(name).values} for name in SENSITIVE),
    ]
    published = [
        (
            data.draw(st.sampled_from([k for k, v in covered[0].items() if row[0] in v])),
            data.draw(st.sampled_from([row[1], "*"])),
            *row[2:],
        )
        for row in rows
    ]
    query = data.draw(queries(counts))
    release = Estimator.of_table(counts_of(published), counts.columns)
    expected = literal.possible(published, covered)
    assert release.count(query) == pytest.approx(
        float(literal.count(expected, lambda raw: keeps(raw, query)))
    )
    one, other = data.draw(st.sampled_from(list(product(QI, SENSITIVE))))
    _same_joint(release, expected, one, other)


@given(ROWS, st.data())
def test_a_decoupled_table_answers_as_joining_its_parts_does(rows, data):
    counts = counts_of(rows)
    query = data.draw(queries(counts))
    release = Estimator.of_groups(GroupedTables.of(counts, QI, SENSITIVE), counts.columns)
    expected = joined(rows, len(QI))
    literally = float(literal.count(expected, lambda raw: keeps(raw, query)))
    assert release.count(query) == pytest.approx(literally)
    one, other = data.draw(st.permutations(NAMES))[:2]
    _same_joint(release, expected, one, other)


@given(ROWS, st.data())
def test_a_decoupled_table_answers_as_the_merge_of_the_package_does(rows, data):
    counts = counts_of(rows)
    query = data.draw(queries(counts, SENSITIVE))
    grouped = GroupedTables.of(counts, QI, SENSITIVE)
    merged = MergedTables(LinkedTables.of(grouped, NAMES))
    _, entries, people = merged.rows(0, merged.n)
    for condition in query.conditions:
        at = SENSITIVE.index(condition.column.name)
        # The first table is that of people.
        people = people * condition.allowed[grouped.sensitive[at].value[entries[at + 1]]]
    release = Estimator.of_groups(grouped, counts.columns)
    assert release.count(query) == pytest.approx(float(people.sum()))


@given(ROWS, st.data())
def test_the_groups_of_a_decoupled_table_may_have_labels(rows, data):
    counts = counts_of(rows)
    query = data.draw(queries(counts))
    ages = counts.column("age").values
    coarse = [("*" if row[0] in (None, 37) else "<30" if row[0] < 30 else row[0], *row[1:])
              for row in rows]  # fmt: skip
    release = Estimator.of_groups(
        GroupedTables.of(counts_of(coarse), QI, SENSITIVE), counts.columns
    )
    expected = Counter()
    for (label, *rest), people in joined(coarse, len(QI)).items():
        behind = ages_of(label, ages) if label in LABELS else [label]
        for age in behind:
            expected[(age, *rest)] += people * Fraction(1, len(behind))
    assert release.count(query) == pytest.approx(
        float(literal.count(expected, lambda raw: keeps(raw, query)))
    )


def _same_joint(release, expected, one, other):
    """Compare the table of two columns, and Cramér's V, with their definitions."""
    i, j = NAMES.index(one), NAMES.index(other)
    pairs = Counter()
    for raw, rows in expected.items():
        pairs[raw[i], raw[j]] += rows
    table = release.joint(one, other)
    for a, value in enumerate(release.column(one).values):
        for b, second in enumerate(release.column(other).values):
            assert table[a, b] == pytest.approx(float(pairs[value, second]), abs=1e-9)
    pairs = {pair: rows for pair, rows in pairs.items() if rows}
    assert cramers_v(*cells_in(table)) ** 2 == pytest.approx(
        float(literal.cramers_v_squared(pairs)), abs=1e-9
    )


def test_estimates_are_right_where_the_assumptions_hold():
    """Every age and every value with every other, equally often: nothing is lost."""
    rows = list(product(range(20, 40), ["f", "m"], ["flu", "gout", "hiv"], ["low", "high"]))
    counts = counts_of(rows)
    coarse = counts_of([("20-29" if row[0] < 30 else "30-39", "*", *row[2:]) for row in rows])
    grouped = GroupedTables.of(coarse, QI, SENSITIVE)
    rng = np.random.default_rng(3)
    for release in (
        Estimator.of_table(coarse, counts.columns),
        Estimator.of_groups(grouped, counts.columns),
    ):
        for _ in range(50):
            query = Query(
                tuple(
                    among(column, [v for v in column.values if rng.random() < 0.5])
                    for column in counts.columns
                )
            )
            assert release.count(query) == pytest.approx(Estimator.of_original(counts).count(query))


@pytest.mark.usefixtures("patience")
def test_independent_draws_are_estimated_without_bias():
    rng = np.random.default_rng(5)
    rows = list(
        zip(
            rng.integers(20, 40, 20_000).tolist(),
            rng.choice(["f", "m"], 20_000).tolist(),
            rng.choice(["flu", "gout", "hiv"], 20_000).tolist(),
            rng.choice(["low", "high"], 20_000).tolist(),
            strict=True,
        )
    )
    counts = counts_of(rows)
    coarse = counts_of([(f"{row[0] // 10}0-{row[0] // 10}9", *row[1:]) for row in rows])
    release = Estimator.of_groups(GroupedTables.of(coarse, QI, SENSITIVE), counts.columns)
    age, ill, pay = (counts.column(name) for name in ("age", "ill", "pay"))
    queries_ = [
        Query((among(age, [a]), among(ill, [i]), among(pay, [p])))
        for a, i, p in product(age.values, ill.values, pay.values)
    ]
    truth, estimate = Estimator.of_original(counts).counts(queries_), release.counts(queries_)
    # Each truth is about 167 ± 13; errors that went one way would add up.
    assert abs(float((estimate - truth).mean())) < 1e-6
    assert float(np.abs(estimate - truth).mean()) < 20


def test_columns_and_values_that_are_not_there_are_refused():
    counts = counts_of([(21, "f", "flu", "low"), (24, "m", "gout", "mid")])
    other = counts_of([(29, "f", "flu", "low")])
    with pytest.raises(UnknownColumnError, match="Did you mean 'age'"):
        Estimator.of_original(counts).column("agee")
    with pytest.raises(ParameterError, match="values that the original table has in 'age'"):
        Estimator.of_original(counts).count(Query((among(other.column("age"), [29]),)))
    with pytest.raises(UnknownColumnError, match="the published tables"):
        Estimator.of_groups(GroupedTables.of(counts, ["age"], ["ill"]), counts.columns)


@given(ROWS, st.integers(1, 4), st.data())
def test_an_anatomised_table_spreads_a_buckets_values_over_its_people(rows, n, data):
    counts = counts_of(rows)
    columns = [counts.column(name) for name in ("age", "sex", "ill")]
    buckets = [data.draw(st.integers(1, n)) for _ in rows]
    people = FrequencySet.from_rows(
        ["bucket", *QI], [(b, *row[:2]) for b, row in zip(buckets, rows, strict=True)]
    )
    ills = Counter((b, row[2]) for b, row in zip(buckets, rows, strict=True))
    listed = [(str(b), ill, str(count)) for (b, ill), count in ills.items()]
    values = FrequencySet.from_rows(["bucket", "ill", "count"], listed)
    release = Estimator(LinkedTables((people, values), "bucket", "count"), columns)
    query = data.draw(queries(counts, ["age", "sex", "ill"]))
    expected = Counter()
    for b, row in zip(buckets, rows, strict=True):
        for (other, ill), count in ills.items():
            if other == b:
                expected[(*row[:2], ill)] += Fraction(count, buckets.count(b))
    assert release.count(query) == pytest.approx(
        float(literal.count(expected, lambda raw: keeps(raw, query)))
    )


def test_buckets_that_do_not_belong_together_are_refused():
    people = FrequencySet.from_rows(["bucket", "age"], [(1, 20), (2, 30)])
    values = FrequencySet.from_rows(["bucket", "ill", "count"], [(1, "flu", 2)])
    columns = (people.column("age"), values.column("ill"))
    with pytest.raises(InputError, match="do not belong together"):
        Estimator(LinkedTables((people, values), "bucket", "count"), columns)


@given(ROWS)
def test_levels_leave_as_much_correlation_as_their_labels_have(rows):
    """Spreading a label's rows evenly adds no correlation and takes none away."""
    counts = counts_of(rows)
    coarse = counts_of([("20-29" if (row[0] or 99) < 30 else "30-39", *row[1:])
                        for row in rows if row[0] is not None])  # fmt: skip
    if not len(coarse):
        return
    spread = Estimator.of_table(coarse, counts.columns).joint("age", "ill")
    labels = Estimator.of_original(coarse).joint("age", "ill")
    assert _phi_square(spread) == pytest.approx(_phi_square(labels), abs=1e-9)


def _phi_square(table):
    least = min((table.sum(axis=1) > 0).sum(), (table.sum(axis=0) > 0).sum()) - 1
    return cramers_v(*cells_in(table)) ** 2 * least
