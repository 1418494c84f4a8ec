"""The parts that partitioners are made of, each against its definition."""

from collections import Counter, defaultdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.classes import EquivalenceClasses, classes_from, sensitive_column
from sfumato.counts import FrequencySet
from sfumato.hierarchy import Suppress, Taxonomy
from sfumato.losses import Attribute
from sfumato.models import (
    MODELS,
    AverageRisk,
    DistinctLDiversity,
    EntropyLDiversity,
    KAnonymity,
    MaximumRisk,
    ProbabilisticLDiversity,
    SampleUniqueness,
    TableModel,
)
from sfumato.partition import Partition, label_partition
from sfumato.partition.base import Judge, _least_rows, number_keys
from sfumato.partition.labelling import is_ordered, labels_of
from sfumato.partition.mondrian import places, rows_above_median, rows_above_middle
from sfumato.partition.topdown import _hand_out
from sfumato.policy import Policy
from tests.models.tables import numbered
from tests.partition.tables import AS_INTERVALS, SINGLES, Case, cases, text
from tests.partition.test_contract import interval
from tests.search.problems import DISEASES

ILLNESS = st.sampled_from(["flu", "hiv", "gout", "cancer", None])
KEYS = st.lists(st.integers(0, 30), max_size=40)


class TestNumbered:
    @pytest.mark.parametrize("width", [31, 2**40])
    @given(keys=KEYS)
    def test_keys_are_numbered_in_their_order(self, width, keys):
        found = number_keys(np.array(keys, dtype=np.int64), width)
        assert found.keys.tolist() == sorted(set(keys))
        assert [found.keys[i] for i in found.of_item] == keys
        assert found.n == len(set(keys))

    @given(keys=KEYS)
    def test_the_way_of_counting_changes_nothing(self, keys):
        key = np.array(keys, dtype=np.int64)
        by_table = number_keys(key, 31)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("sfumato.counts._DENSE", 0)
            by_sorting = number_keys(key, 31 if len(keys) < 4 else 2**40)
        assert by_table.of_item.tolist() == by_sorting.of_item.tolist()
        assert by_table.keys.tolist() == by_sorting.keys.tolist()


PORTIONS = st.lists(st.tuples(st.integers(0, 6), st.integers(1, 9), st.integers(0, 9)), max_size=25)
"""Portions: item, rows, class."""


class TestPartition:
    @given(portions=PORTIONS)
    def test_portions_of_an_item_in_a_class_are_added_up(self, portions):
        partition = Partition.of(*([p[i] for p in portions] for i in range(3)))
        expected = Counter()
        for item, rows, of in portions:
            expected[of, item] += rows
        names = sorted({of for _, _, of in portions})
        assert partition.n == len(names)
        assert [
            (names[of], item, rows)
            for item, rows, of in zip(
                partition.item, partition.rows, partition.classes, strict=True
            )
        ] == [(*key, rows) for key, rows in sorted(expected.items())]
        assert partition.sizes.tolist() == [
            sum(rows for _, rows, of in portions if of == name) for name in names
        ]
        assert partition.starts.tolist() == [
            [names[of] for of in partition.classes].index(name) for name in names
        ]

    @given(portions=PORTIONS, cut=st.integers(0, 25))
    def test_portions_may_be_gathered_bit_by_bit(self, portions, cut):
        def arrays(some):
            return tuple(np.array([p[i] for p in some], dtype=np.int64) for i in range(3))

        whole = Partition.of(*arrays(portions))
        bits = Partition.gather([arrays(portions[:cut]), arrays(portions[cut:])])
        assert whole.item.tolist() == bits.item.tolist()
        assert whole.rows.tolist() == bits.rows.tolist()
        assert whole.classes.tolist() == bits.classes.tolist()

    def test_there_may_be_nothing(self):
        assert Partition.gather([]).n == 0
        assert Partition.of([], [], []).sizes.tolist() == []


def in_boxes(portions):
    """Spread portions (position, rows) over boxes so that every box has one."""
    box = np.array([i % 3 for i in range(len(portions))], dtype=np.int64)
    position, rows = (np.array([p[i] for p in portions], dtype=np.int64) for i in (0, 1))
    return box, position, rows


CUTS = st.lists(st.tuples(st.integers(0, 5), st.integers(1, 6)), min_size=3, max_size=20)


class TestHalving:
    @given(portions=CUTS)
    def test_above_the_middle_is_the_boundary_with_the_most_even_halves(self, portions):
        box, position, rows = in_boxes(portions)
        above = rows_above_middle(box, position, rows, 3)
        for b in range(3):
            mine = [
                (int(p), int(r)) for p, r in zip(position[box == b], rows[box == b], strict=True)
            ]
            total = sum(r for _, r in mine)
            bounds = sorted({p for p, _ in mine})[:-1]
            got = above[box == b].tolist()
            if not bounds:
                assert got == [0] * len(mine)
                continue
            low = {p: sum(r for q, r in mine if q <= p) for p in bounds}
            best = min(bounds, key=lambda p: (abs(total - 2 * low[p]), p))
            assert got == [r if p > best else 0 for p, r in mine]

    @given(portions=CUTS)
    def test_above_the_median_is_half_of_the_rows_in_their_order(self, portions):
        box, position, rows = in_boxes(portions)
        alike, rng = np.arange(len(rows)), np.random.default_rng()
        above = rows_above_median(box, position, alike, rows, 3, rng=rng)
        for b in range(3):
            at = np.flatnonzero(box == b)
            line = [int(i) for i in sorted(at, key=lambda i: position[i]) for _ in range(rows[i])]
            upper = Counter(line[len(line) // 2 :])
            assert [upper[i] for i in at.tolist()] == above[at].tolist()

    @given(portions=CUTS)
    def test_of_rows_that_are_alike_any_may_be_above_the_median(self, portions):
        box, position, rows = in_boxes(portions)
        alike, rng = position % 2, np.random.default_rng()
        above = rows_above_median(box, position, alike, rows, 3, rng=rng)
        assert ((above >= 0) & (above <= rows)).all()
        for b in range(3):
            at = np.flatnonzero(box == b)
            line = sorted((int(position[i]), int(alike[i])) for i in at for _ in range(rows[i]))
            upper = Counter(line[len(line) // 2 :])
            found = Counter()
            for i in at.tolist():
                found[int(position[i]), int(alike[i])] += int(above[i])
            assert found == upper


@given(
    portions=st.lists(st.tuples(st.integers(0, 4), st.integers(0, 6)), max_size=20),
    most=st.lists(st.integers(0, 12), min_size=5, max_size=5),
)
def test_rows_are_handed_out_in_order_up_to_the_limit_of_each_group(portions, most):
    portions.sort(key=lambda portion: portion[0])
    of_item, rows = (np.array([p[i] for p in portions], dtype=np.int64) for i in (0, 1))
    expected, left = [], [*most]
    for of, n in portions:
        given_ = min(n, left[of])
        left[of] -= given_
        expected.append(given_)
    assert _hand_out(of_item, rows, np.array(most)).tolist() == expected


def disease_column(counts):
    column = sensitive_column(counts.column("disease"))
    if not column.values:
        return column
    tree = Taxonomy(DISEASES).build("disease", column.values).bind("disease", column.values)
    return sensitive_column(counts.column("disease"), tree)


class TestJudge:
    @given(
        rows=st.lists(st.tuples(st.sampled_from("abcd"), ILLNESS), min_size=1, max_size=30),
        models=st.lists(st.sampled_from(SINGLES), min_size=1, max_size=5),
    )
    def test_it_judges_groups_as_the_models_do(self, rows, models):
        """A group of a table is the class of that name; the table as a whole stays the same.

        Judged again and by halves, because what was refused before decides which model is asked
        first, and what one model refuses the next is not shown.
        """
        counts = FrequencySet.from_rows(["letter", "disease"], rows)
        sensitive = {"disease": disease_column(counts)}
        judge = Judge(counts, models, sensitive)
        letters = counts.codes_of("letter").astype(np.int64)
        n = len(counts.column("letter").values)
        asked = letters, np.arange(len(counts)), counts.rows, n
        classes = classes_from(counts, ("letter",), sensitive)
        expected = np.ones(n, dtype=bool)
        for model in models:
            if isinstance(model, TableModel):
                # Asked of every class, so that the mean of all cannot exceed it.
                expected &= model.risks(classes.sizes) <= model.limit
            else:
                expected &= model.passes(classes)
        for _ in range(3):
            assert judge.passes(*asked).tolist() == expected.tolist()
        if n % 2 == 0:
            both = [*(expected[: n // 2] & expected[n // 2 :])] * 2
            assert judge.passes(*asked, halves=True).tolist() == both

    @given(
        rows=st.lists(st.tuples(st.sampled_from("abcd"), ILLNESS), min_size=1, max_size=20),
        data=st.data(),
        model=st.sampled_from([m for m in SINGLES if not m.compares_with_table]),
    )
    def test_portions_of_items_are_judged_as_tables_of_their_own(self, rows, data, model):
        counts = FrequencySet.from_rows(["letter", "disease"], rows)
        judge = Judge(counts, [model], {"disease": disease_column(counts)})
        portions = [
            (data.draw(st.integers(0, 2)), item, 1)
            for item, n in enumerate(counts.rows.tolist())
            for _ in range(n)
        ]
        there = sorted({of for of, _, _ in portions})
        of_item = np.array([there.index(of) for of, _, _ in portions])
        items = np.array([item for _, item, _ in portions])
        got = judge.passes(of_item, items, np.ones(len(items), dtype=np.int64), len(there))
        dictionary = counts.column("disease").values
        for of, verdict in zip(there, got, strict=True):
            inside = [
                ("x", dictionary[counts.codes_of("disease")[item]])
                for group, item, _ in portions
                if group == of
            ]
            table = FrequencySet.from_rows(["letter", "disease"], inside)
            one = classes_from(table, ("letter",), {"disease": disease_column(table)})
            if isinstance(model, TableModel):
                assert verdict == (model.risks(one.sizes)[0] <= model.limit)
            else:
                assert verdict == model.passes(one)[0]

    def test_items_of_a_kind_look_alike_to_the_models(self):
        rows = [("a", "flu"), ("b", "flu"), ("a", "hiv"), ("b", None)]
        counts = FrequencySet.from_rows(["letter", "disease"], rows)
        judge = Judge(
            counts, [KAnonymity(2)], {"disease": sensitive_column(counts.column("disease"))}
        )
        kinds = defaultdict(set)
        for i, kind in enumerate(judge.kinds):
            kinds[int(kind)].add(counts.column("disease").values[counts.codes_of("disease")[i]])
        assert sorted(map(str, kinds.values())) == ["{'flu'}", "{'hiv'}", "{None}"]


LEAST = [
    *(kind.example() for kind in MODELS.values() if not kind.needs_population),
    EntropyLDiversity("disease", l=1.5),
    EntropyLDiversity("disease", l=3),
    ProbabilisticLDiversity("disease", l=2.5),
    MaximumRisk(0.3),
    MaximumRisk(1 / 3),
    AverageRisk(0.07),
    SampleUniqueness(0.0),
]


class TestLeastRows:
    @pytest.mark.parametrize("model", LEAST, ids=str)
    @given(values=st.lists(ILLNESS, min_size=1, max_size=14))
    def test_no_class_with_fewer_rows_passes(self, model, values):
        table = FrequencySet.from_rows(["letter", "disease"], [("x", v) for v in values])
        one = classes_from(table, ("letter",), {"disease": disease_column(table)})
        one = numbered(one) if model.needs_numbers else one
        if not isinstance(model, TableModel) and model.passes(one)[0]:
            assert len(values) >= _least_rows(model, 1000)

    @pytest.mark.parametrize("model", [m for m in LEAST if not m.columns], ids=str)
    @pytest.mark.parametrize("total", [1, 2, 13, 10**6])
    def test_where_only_sizes_matter_every_class_with_that_many_rows_passes(self, model, total):
        least = _least_rows(model, total)

        def enough(size):
            sizes = np.array([size])
            if isinstance(model, TableModel):
                return bool(model.risks(sizes)[0] <= model.limit)
            return bool(model.passes(EquivalenceClasses(sizes))[0])

        assert least == next((n for n in range(1, total + 1) if enough(n)), total + 1)

    def test_a_large_k_is_found_exactly(self):
        assert _least_rows(KAnonymity(1_234_567), 10**7) == 1_234_567
        assert _least_rows(MaximumRisk(0.001), 10**7) == 1000
        assert _least_rows(KAnonymity(10**9), 10**9) == 10**9
        assert _least_rows(KAnonymity(10), 5) == 6


class TestLabels:
    @given(case=cases(models=st.just([KAnonymity(2)])), data=st.data())
    def test_a_class_has_the_lowest_label_its_rows_have_in_common(self, case: Case, data):
        """Any classes will do that some allowed label covers: those of the highest levels."""
        problem = case.problem()
        n = len(problem.counts)
        classes = [
            (
                tuple(
                    int(problem.codes[a][problem.highest[a], problem.raw[a, i]])
                    for a in range(len(case.names))
                ),
                data.draw(st.integers(0, 2)),
            )
            for i in range(n)
        ]
        names = sorted(set(classes))
        partition = Partition.of(range(n), problem.rows, [names.index(c) for c in classes])
        as_interval = [
            free and name in AS_INTERVALS and bool(case.known(name))
            for free, name in zip(problem.free, case.names, strict=True)
        ]
        for a, labels in enumerate(labels_of(problem, partition, as_interval)):
            name = case.names[a]
            values = problem.counts.columns[a].values
            rows_at = Counter()
            for of in range(partition.n):
                items = partition.item[partition.classes == of]
                raw = [values[code] for code in problem.raw[a][items]]
                label = labels.names[labels.of_class[of]]
                if as_interval[a]:
                    assert text(label) == interval(raw)
                    continue
                level = next(
                    level
                    for level in case.levels(name)
                    if len({case.path(name, value)[level] for value in raw}) == 1
                )
                rows_at[level] += int(partition.rows[partition.classes == of].sum())
                assert text(label) == text(case.path(name, raw[0])[level])
            if as_interval[a]:
                assert labels.levels is None
            else:
                assert labels.levels.tolist() == [
                    rows_at[level] for level in range(case.height(name) + 1)
                ]
            assert labels.cells.rows.sum() == partition.rows.sum()

    @pytest.mark.parametrize(
        ("values", "ordered"),
        [
            ([1, 2.5, "3"], True),
            (["2020-01-31", "1999-12-01"], True),
            ([1, "2020-01-31"], False),
            ([True, False], False),
            ([], False),
        ],
    )
    def test_numbers_and_dates_are_in_order_but_not_together(self, values, ordered):
        ladder = Suppress().ladder("x", [*values, None])
        assert is_ordered(Attribute(ladder, np.ones(len(values) + 1))) is ordered


@given(values=st.lists(st.floats(allow_nan=False, allow_infinity=False), unique=True))
def test_numbers_stand_between_the_smallest_and_the_largest(values):
    values = sorted(values)
    at = places((*values, None))
    assert at[-1] == 0
    assert np.isfinite(at).all()
    assert (np.diff(at[:-1]) >= 0).all()
    if len(values) > 1 and values[-1] / 2 > values[0] / 2:
        assert (at[0], at[-2]) == (0, 1)


def test_the_mean_risk_is_judged_when_all_else_is_well():
    # Without the three flus two classes of twelve rows are left, and a sixth is few enough.
    rows = [("a", "flu")] * 3 + [("b", "flu"), ("b", "gout")] + [("c", "flu"), ("c", "gout")] * 5
    policy = Policy(
        columns={"letter": "quasi-identifier", "disease": "sensitive"},
        models=[AverageRisk(0.18), DistinctLDiversity("disease", l=2)],
    )
    problem = Case(("letter",), rows, policy).problem()
    letters = problem.raw[0]
    settled = label_partition(
        problem, Partition.of(range(len(letters)), problem.rows, letters), [False]
    )
    assert settled.suppressed == 3
    assert settled.broken == (policy.models[1],)
    assert settled.labels[0].names == ("b", "c")
