"""Missing cells: a value of their own, or compatible with everything, never forgotten."""

import json
from collections import Counter
from dataclasses import replace
from itertools import product

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato.classes as classes_module
import sfumato.verifier.models as verifier_models
from sfumato.classes import classes_from, overlapping, sensitive_column
from sfumato.counts import FrequencySet, group
from sfumato.hierarchy import Hierarchy
from sfumato.models import MODELS
from sfumato.verifier import Promises, verify_file

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


ELSEWHERE = "a value that no row has"


def whole_tuples(row):
    """All that the person of a row may have: any value where nothing is said."""
    cells = [["a", "b", ELSEWHERE] if cell is None else [cell] for cell in row[:3]]
    return list(product(*cells))


def rows_found(whole, records):
    """What an adversary who knows a whole tuple finds, not knowing which cells are missing."""
    return [
        record
        for record in records
        if all(cell in (None, known) for cell, known in zip(record[:3], whole, strict=True))
    ]


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
    # By value each class has two rows; by its bytes a single one.
    assert found(table, K, quasi_identifiers=["age"]) == [1, {"k": 2}]


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
def test_matches_any_judges_each_row_on_the_worst_that_its_person_may_have(records):
    every = [[rows_found(whole, records) for whole in whole_tuples(one)] for one in records]
    fewest = [min(map(len, several)) for several in every]
    risk = sum(1 / n for n in fewest) / len(records)
    alone = sum(n == 1 for n in fewest) / len(records)
    groups = [rows for several in every for rows in several]
    likeliest = []
    for rows in groups:
        known = Counter(record[3] for record in rows if record[3] is not None)
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
        {"l": min(len({r[3] for r in rows} - {None}) for rows in groups)},
        {"l": pytest.approx(min(likeliest))},
        {"risk": pytest.approx(risk)},
        {"share": pytest.approx(alone)},
    ]
    assert found(table_of(records), *models, missing="matches-any") == expected


@pytest.mark.usefixtures("patience")
@given(records=RECORDS, most=st.sampled_from([-10_000, 65_536]))
def test_verifier_and_models_agree_where_missing_cells_match_any(records, most):
    """Every model, on every completion, or on tuples by themselves where these are too many."""
    counts = FrequencySet.from_rows([*QUASI_IDENTIFIERS, "disease"], records)
    column = counts.column("disease")
    tree = Hierarchy.from_paths(["flu", "hiv"], [["any"], ["any"]])
    ladder = tree.bind("disease", column.known)
    described = {"disease": sensitive_column(column, ladder)}
    apart = classes_from(counts, tuple(QUASI_IDENTIFIERS), described)
    codes = [counts.codes_of(name) for name in QUASI_IDENTIFIERS]
    sizes = [len(counts.column(name).values) for name in QUASI_IDENTIFIERS]
    labels = np.array(codes)[:, group(codes, sizes).first].astype(np.int64)
    absent = np.array([counts.column(name).missing for name in QUASI_IDENTIFIERS])[:, None]
    table = table_of(records).rename_columns([*QUASI_IDENTIFIERS, "disease"])
    table = table.append_column("items", pa.nulls(len(records), pa.string()))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(classes_module, "_MOST_COMPLETIONS", most)
        patch.setattr(verifier_models, "MOST_COMPLETIONS", most)
        classes = overlapping(labels, labels == absent, apart, own_reference=True)
        for kind in MODELS.values():
            model = kind.example()
            if model.needs_population or model.needs_numbers:
                continue
            promise = {"model": model.name, **model.params()}
            plain = json.loads(json.dumps({**promise, "measured": model.measure_worst(classes)}))
            promises = Promises(
                QUASI_IDENTIFIERS,
                models=[plain],
                missing="matches-any",
                hierarchies={"disease": {"flu": ["any"], "hiv": ["any"]}},
                sets={"items": ";"} if model.protects_sets else {},
            )
            (check,) = verify_file(table, promises).checks
            assert "measured" not in check.detail, (model, check)
            holds = bool(model.judge(classes).all())
            assert check.status == ("holds" if holds else "broken"), (model, check)


@given(records=RECORDS)
def test_where_ways_to_complete_are_too_many_nothing_holds_that_would_not(records):
    model = {"model": "probabilistic-l-diversity", "column": "ill", "l": 2}
    [exact] = found(table_of(records), model, missing="matches-any")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(verifier_models, "MOST_COMPLETIONS", -10_000)
        [careful] = found(table_of(records), model, missing="matches-any")
    assert careful["l"] <= exact["l"] + 1e-9


def test_people_of_a_population_cannot_be_counted_where_missing_cells_match_any():
    people = {("a", "a", "a"): 5}
    promises = Promises(
        QUASI_IDENTIFIERS,
        models=[{"model": "k-map", "k": 2}],
        missing="matches-any",
        population=people,
    )
    whole, lacking = table_of([("a", "a", "a", "flu")]), table_of([("a", "a", None, "flu")])
    assert verify_file(whole, promises)["k-map"].status == "holds"
    check = verify_file(lacking, promises)["k-map"]
    assert (check.status, check.detail.split(",")[0]) == (
        "unchecked",
        "missing cells match any value",
    )


def test_somebody_who_left_the_postcode_out_fits_rows_without_one_only():
    """30 in 24064 twice, 30 in 24065 twice, and one of 30 who may live at 24099."""
    table = pa.table(
        {
            "age": ["30"] * 5,
            "postcode": ["24064", "24064", "24065", "24065", None],
            "ill": ["flu", "gout", "flu", "cold", "hiv"],
        }
    )
    promises = Promises(["age", "postcode"], models=[{"model": "k-anonymity", "k": 3}])
    verdict = verify_file(table, replace(promises, missing="matches-any"))
    assert verdict["k-anonymity"].found == {"k": 1}
    assert verdict["k-anonymity"].worst == {"age": "30", "postcode": None}
    assert verdict["k-anonymity"].detail == "fails in 1 of 3 classes (1 of 5 rows)"


@pytest.mark.usefixtures("patience")
def test_matches_any_stays_usable_with_many_distinct_tuples():
    # Row 2j lacks x and row 2j+1 knows it; they share y, and z if it is not missing in one.
    n = 20_000
    columns = {
        "x": [None if i % 2 else f"x{i % 997}" for i in range(n)],
        "y": [f"y{i // 2}" for i in range(n)],
        "z": [None if i % 3 == 0 else f"z{i // 2}" for i in range(n)],
        "ill": ["flu" if i % 5 else "hiv" for i in range(n)],
    }
    # Of two rows with the same y, the one without an x fits no value of the other's.
    assert found(pa.table(columns), K, missing="matches-any") == [{"k": 1}]
    share = {"model": "probabilistic-l-diversity", "column": "ill", "l": 2}
    assert found(pa.table(columns), share, missing="matches-any") == [{"l": 1}]
