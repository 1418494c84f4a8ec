"""Special uniques against brute force over all rows and sets, and against printed figures."""

from itertools import combinations
from math import prod

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.counts import FrequencySet
from sfumato.drafting.special_uniques import SpecialUniques, _alone, dis_scores, minimal_uniques
from sfumato.populations import Sample, unique_match

TABLES = st.integers(1, 5).flatmap(
    lambda columns: st.lists(
        st.tuples(*[st.integers(0, 3) for _ in range(columns)]), min_size=1, max_size=25
    )
)


def by_brute_force(rows, largest):
    """Every row and set of columns in which it is alone, and in no smaller part of which it is."""
    n = len(rows[0])

    def alone(row, subset):
        mine = [rows[row][i] for i in subset]
        return sum([other[i] for i in subset] == mine for other in rows) == 1

    return {
        (rows[row], subset)
        for row in range(len(rows))
        for size in range(1, min(largest, n) + 1)
        for subset in combinations(range(n), size)
        if alone(row, subset)
        and not any(
            alone(row, part) for smaller in range(1, size) for part in combinations(subset, smaller)
        )
    }


def counted(rows):
    return FrequencySet.from_rows([f"c{i}" for i in range(len(rows[0]))], rows)


def rows_of(counts):
    return [
        tuple(counts.columns[i].values[counts.codes[i][item]] for i in range(len(counts.columns)))
        for item in range(len(counts))
    ]


@given(rows=TABLES, largest=st.integers(1, 5))
def test_minimal_uniques_are_those_of_brute_force(rows, largest):
    counts = counted(rows)
    found = minimal_uniques(counts, largest)
    shown = rows_of(counts)
    pairs = [
        (shown[item], found.sets[position])
        for position, item in zip(found.set_of.tolist(), found.item.tolist(), strict=True)
    ]
    assert len(pairs) == len(set(pairs))
    assert set(pairs) == by_brute_force(rows, largest)


@given(rows=TABLES, largest=st.integers(1, 5))
def test_scores_and_columns_are_those_of_the_definition(rows, largest):
    counts = counted(rows)
    n = len(rows[0])
    largest = min(largest, n)
    pairs = by_brute_force(rows, largest)

    def score(subset):
        return prod(n - i for i in range(len(subset), min(largest, n - 1) + 1))

    found = minimal_uniques(counts, largest)
    scores = found.scores(len(counts))
    for item, row in enumerate(rows_of(counts)):
        assert scores[item] == sum(score(subset) for whose, subset in pairs if whose == row)
    special = SpecialUniques.of(counts, largest)
    total = sum(score(subset) for _, subset in pairs)
    for column in special.columns:
        at = counts.index(column.name)
        assert column.sets == sum(at in subset for _, subset in pairs)
        share = sum(score(subset) for _, subset in pairs if at in subset) / max(total, 1)
        assert column.share == pytest.approx(share)
    assert special.rows == len({row for row, _ in pairs})
    assert sum(special.sets) == len(pairs)


@given(
    codes=st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2**30)), min_size=1, max_size=40),
    width=st.sampled_from([4, 2**31, 2**40]),
)
def test_keys_of_any_width_are_told_apart(codes, width):
    columns = [np.array(each) for each in zip(*codes, strict=True)]
    found = _alone(columns, [width, 2**31])
    assert found.tolist() == [i for i, each in enumerate(codes) if codes.count(each) == 1]


PRINTED = [
    ("Urban", "Female", "Secondary incomplete", "Employed"),
    ("Urban", "Female", "Secondary incomplete", "Employed"),
    ("Urban", "Female", "Primary incomplete", "Non-LF"),
    ("Urban", "Male", "Secondary complete", "Employed"),
    ("Rural", "Female", "Secondary complete", "Unemployed"),
    ("Urban", "Male", "Secondary complete", "Employed"),
    ("Urban", "Female", "Primary complete", "Non-LF"),
    ("Urban", "Male", "Post-secondary", "Unemployed"),
    ("Urban", "Female", "Secondary incomplete", "Non-LF"),
    ("Urban", "Female", "Secondary incomplete", "Non-LF"),
]
"""The ten people of the guide to disclosure control with sdcMicro, and the scores it prints."""


def test_the_scores_of_the_guide():
    counts = counted(PRINTED)
    scores = minimal_uniques(counts, 3).scores(len(counts)).tolist()
    by_row = dict(zip(rows_of(counts), scores, strict=True))
    assert [by_row[row] for row in PRINTED] == [0, 0, 6, 0, 12, 0, 6, 10, 0, 0]


def test_the_probabilities_of_the_guide():
    """Its DIS-SUDA figures are those of another score, of 7/4, 1/2 and 1/4 per set of 1, 2, 3."""
    sizes = counted(PRINTED).rows
    match = unique_match(Sample.of(sizes, 0.01))
    found = dis_scores(np.array([1.75, 1.75 + 3 * 0.5, 1.75, 1.75 + 2 * 0.5]), match, 4)
    assert found.round(4).tolist() == [0.0051, 0.0107, 0.0051, 0.0088]


def test_rows_without_a_score_have_no_probability():
    assert dis_scores(np.array([0.0, 2.0, 4.0]), 0.2, 5)[0] == 0
    assert dis_scores(np.zeros(3), 0.2, 5).tolist() == [0, 0, 0]
    assert dis_scores(np.ones(3), 0.2, 5).tolist() == pytest.approx([0.2] * 3)


def test_what_takes_too_long_is_not_called_looked_at():
    counts = counted(PRINTED)
    found = SpecialUniques.of(counts, 4, work=100_000)
    assert (found.largest, found.asked) == (2, 4)
    assert "not looked at" in found.sentence().text


def test_inspect_shows_special_uniques():
    import pyarrow as pa

    columns = ["residence", "gender", "education", "labour"]
    table = pa.table(dict(zip(columns, map(list, zip(*PRINTED, strict=True)), strict=True)))
    found = sf.inspect(table, quasi_identifiers=columns, subsets=3, fraction=0.01)
    assert found.special.highest == 12
    assert found.special.rows == 4
    assert "columns that make people special" in str(found)
    assert found.to_dict()["special"]["sets"] == list(found.special.sets)
    assert sf.inspect(table, quasi_identifiers=columns, subsets=0).special is None
