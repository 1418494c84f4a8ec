"""Missing cells: a value of their own, or compatible with everything, never forgotten."""

from collections import Counter

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.verifier import Promises, count_population, verify_file

CELLS = st.sampled_from(["a", "b", None])
RECORDS = st.lists(
    st.tuples(CELLS, CELLS, CELLS, st.sampled_from(["flu", "hiv", None])), min_size=1, max_size=25
)
QUASI_IDENTIFIERS = ["x", "y", "z"]


def table_of(records):
    names = [*QUASI_IDENTIFIERS, "ill"]
    return pa.table(
        {name: pa.array([r[i] for r in records], pa.string()) for i, name in enumerate(names)}
    )


def found(table, *models, quasi_identifiers=QUASI_IDENTIFIERS, **more):
    verdict = verify_file(table, Promises(quasi_identifiers, models=models, **more))
    return [check.found for check in verdict.checks]


def agree(one, other):
    return all(a == b or a is None or b is None for a, b in zip(one[:3], other[:3], strict=True))


K = {"model": "k-anonymity", "k": 2}
L = {"model": "distinct-l-diversity", "column": "ill", "l": 2}


def test_a_missing_value_in_the_only_quasi_identifier_counts():
    # Known from another tool: rows with a missing cell left out, k=3 reported, truth 1.
    table = pa.table({"age": ["2*", "2*", "2*", None]})
    assert found(table, K, quasi_identifiers=["age"]) == [{"k": 1}]


def test_missing_cells_agree_with_missing_cells():
    table = pa.table({"age": [None, None, "2*", "2*", "2*"]})
    assert found(table, K, quasi_identifiers=["age"]) == [{"k": 2}]


def test_not_a_number_is_missing_and_minus_zero_is_zero():
    table = pa.table({"age": pa.array([float("nan"), None, 0.0, -0.0, 1.5, 1.5])})
    assert found(table, K, quasi_identifiers=["age"]) == [{"k": 2}]


def test_a_column_with_nothing_in_it_makes_one_class():
    table = pa.table({"age": pa.nulls(3)})
    assert found(table, K, quasi_identifiers=["age"]) == [{"k": 3}]


def test_without_quasi_identifiers_everybody_is_in_one_class():
    assert found(pa.table({"ill": ["flu", "hiv"]}), K, L, quasi_identifiers=[]) == [
        {"k": 2},
        {"l": 2},
    ]


@given(records=RECORDS)
def test_own_value_classes_are_those_of_equal_rows(records):
    sizes = Counter(record[:3] for record in records)
    values = {key: {r[3] for r in records if r[:3] == key} - {None} for key in sizes}
    expected = [{"k": min(sizes.values())}, {"l": min(map(len, values.values()))}]
    assert found(table_of(records), K, L) == expected


@given(records=RECORDS)
def test_matches_any_compares_every_row_with_every_row(records):
    groups = [[other for other in records if agree(one, other)] for one in records]
    risk = sum(1 / len(group) for group in groups) / len(records)
    alone = sum(len(group) == 1 for group in groups) / len(records)
    likeliest = []
    for group in groups:
        known = Counter(record[3] for record in group if record[3] is not None)
        likeliest.append(known.total() / max(known.values()) if known else 0)
    models = [
        K,
        L,
        {"model": "probabilistic-l-diversity", "column": "ill", "l": 2},
        {"model": "average-risk", "risk": 1},
        {"model": "sample-uniqueness", "share": 1},
    ]
    expected = [
        {"k": min(map(len, groups))},
        {"l": min(len({r[3] for r in group} - {None}) for group in groups)},
        {"l": pytest.approx(min(likeliest))},
        {"risk": pytest.approx(risk)},
        {"share": pytest.approx(alone)},
    ]
    assert found(table_of(records), *models, missing="matches-any") == expected


@given(records=RECORDS, population=RECORDS)
def test_matches_any_holds_for_the_population_too(records, population):
    people = count_population(table_of(population), QUASI_IDENTIFIERS)
    expected = min(sum(agree(one, other) for other in population) for one in records)
    models = [{"model": "k-map", "k": 2}]
    figures = found(table_of(records), *models, missing="matches-any", population=people)
    assert figures == [{"k": expected}]


def test_matches_any_stays_usable_with_many_distinct_tuples():
    # Row 2j lacks x and row 2j+1 knows it; they share y, and z if it is not missing in one.
    n = 20_000
    columns = {
        "x": [None if i % 2 else f"x{i % 997}" for i in range(n)],
        "y": [f"y{i // 2}" for i in range(n)],
        "z": [None if i % 3 == 0 else f"z{i // 2}" for i in range(n)],
    }
    assert found(pa.table(columns), K, missing="matches-any") == [{"k": 2}]
