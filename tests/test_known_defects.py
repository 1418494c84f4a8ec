"""Mistakes found in other tools, each tried on ours from the outside."""

import math

import pandas as pd
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.models import DeltaDisclosure, KAnonymity, RecursiveCLDiversity
from sfumato.tasks.measure import measure
from tests.builders import classes_of


def policy(*models, **options):
    return sf.Policy(
        columns={
            "age": {
                "role": "quasi-identifier",
                "hierarchy": sf.hierarchy.Intervals([10, 20]),
            },
            "sex": "quasi-identifier",
            "ill": "sensitive",
        },
        models=models or [KAnonymity(2)],
        **options,
    )


FRAME = pd.DataFrame(
    {
        "age": [31, 33, 38, 52, 55, None, None],
        "sex": ["f", "f", "f", "m", "m", "m", "m"],
        "ill": ["flu", "gout", "flu", "gout", None, "flu", "gout"],
    }
)


def test_a_missing_value_in_a_single_quasi_identifier_counts_in_k():
    table = pa.table({"zip": ["1", "1", "1", None], "ill": ["a", "b", "c", "d"]})
    (figures,) = measure(table, ["zip"], models=[KAnonymity(2)]).values()
    assert figures == {"k": 1}


@pytest.mark.parametrize("index", [[9, 9, 1, 1, 0, 0, 5], list("gfedcba"), range(100, 107)])
def test_index_labels_change_nothing(index):
    plain = sf.anonymize(FRAME, policy(), seed=1)
    other = sf.anonymize(FRAME.set_axis(list(index)), policy(), seed=1)
    pd.testing.assert_frame_equal(plain.table, other.table)
    assert plain.manifest == other.manifest


def test_a_value_absent_from_a_class_is_not_ignored_by_delta_disclosure():
    classes = classes_of([("A", "flu"), ("A", "flu"), ("B", "gout"), ("B", "flu")], column="ill")
    model = DeltaDisclosure("ill", delta=5.0)
    assert model.passes(classes).tolist() == [False, True]
    assert model.measure(classes) == {"delta": math.inf}


def test_no_row_number_and_no_order_of_the_input_is_in_the_output():
    frame = FRAME.sample(frac=1, random_state=3)
    frame.insert(0, "row", range(len(frame)))
    release = sf.anonymize(frame, policy(other="dropped"))
    assert list(release.table.columns) == ["age", "sex", "ill"]
    assert list(release.table.index) == list(range(len(release.table)))
    # Many rows: the chance that a shuffle keeps their order is nil.
    many = pa.table(
        {
            "age": [30 + i % 5 for i in range(500)],
            "sex": ["f"] * 500,
            "ill": [str(i) for i in range(500)],
        }
    )
    published = sf.anonymize(many, policy()).table["ill"].to_pylist()
    assert sorted(published, key=int) == [str(i) for i in range(500)]
    assert published != [str(i) for i in range(500)]


def test_a_row_with_a_missing_value_is_neither_dropped_nor_left_as_it_was():
    release = sf.anonymize(FRAME, policy())
    assert len(release.table) == len(FRAME)
    groups = release.table.groupby(["age", "sex"], dropna=False).size()
    assert groups.min() >= 2


def test_recursive_diversity_sorts_the_counts_downwards():
    rows = [("A", "flu")] * 8 + [("A", "gout"), ("A", "hiv")]
    classes = classes_of(rows, column="ill")
    assert not RecursiveCLDiversity("ill", c=8, l=3).passes(classes)[0]
    assert RecursiveCLDiversity("ill", c=8.1, l=3).passes(classes)[0]
