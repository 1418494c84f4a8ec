"""Measure: models asked about a table as it is, against rows gone through one by one."""

from collections import Counter, defaultdict

import pyarrow as pa
import pyarrow.csv
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.counts import FrequencySet
from sfumato.errors import PolicyError, UnknownColumnError
from sfumato.models import (
    AverageRisk,
    DeltaPresence,
    DistinctLDiversity,
    KAnonymity,
    KMap,
    SampleUniqueness,
    TCloseness,
)
from sfumato.tasks.measure import measure

ROWS = st.lists(
    st.tuples(
        st.sampled_from(["f", "m", None]), st.integers(0, 3), st.sampled_from(["flu", "hiv", None])
    ),
    min_size=1,
    max_size=30,
)
NAMES = ("sex", "age", "ill")


def table(rows) -> pa.Table:
    sex, age, ill = zip(*rows, strict=True)
    return pa.table(
        {"sex": pa.array(sex, pa.string()), "age": age, "ill": pa.array(ill, pa.string())}
    )


@given(ROWS)
def test_sizes_and_values_are_those_of_the_rows(rows):
    classes = defaultdict(list)
    for sex, age, ill in rows:
        classes[sex, age].append(ill)
    models = [KAnonymity(2), DistinctLDiversity("ill", 2), AverageRisk(0.5), SampleUniqueness(0.5)]
    measured = measure(table(rows), ["sex", "age"], ["ill"], models)
    sizes = [len(values) for values in classes.values()]
    assert list(measured.values()) == [
        {"k": min(sizes)},
        {"l": min(len(set(values) - {None}) for values in classes.values())},
        {"risk": pytest.approx(len(sizes) / len(rows))},
        {"share": pytest.approx(sizes.count(1) / len(rows))},
    ]


@given(rows=ROWS, people=ROWS)
def test_a_population_is_counted_class_by_class(rows, people):
    classes, others = (Counter((sex, age) for sex, age, _ in given) for given in (rows, people))
    measured = measure(
        table(rows), ["sex", "age"], models=[KMap(2), DeltaPresence(0, 0.5)],
        population=table(people),
    )  # fmt: skip
    assert measured[KMap(2)] == {"k": min(others[label] for label in classes)}
    shares = [n / others[c] if others[c] else float("inf") for c, n in classes.items()]
    # Of people whose class the table does not show it is plain that they are not in it.
    absent = [label for label in others if label not in classes]
    least = 0.0 if absent else min(shares)
    assert measured[DeltaPresence(0, 0.5)] == {"minimum": least, "maximum": max(shares)}


@given(ROWS)
def test_a_frequency_set_measures_like_its_table(rows):
    models = [KAnonymity(2), TCloseness("ill", 0.2)]
    counts = FrequencySet.from_rows(NAMES, rows)
    assert measure(counts, ["sex"], ["ill"], models) == measure(
        table(rows), ["sex"], ["ill"], models
    )


def test_a_column_only_a_model_names_is_counted_too():
    rows = [("f", 1, "flu"), ("f", 1, "hiv")]
    assert measure(table(rows), ["sex"], models=[DistinctLDiversity("ill", 2)]) == {
        DistinctLDiversity("ill", 2): {"l": 2}
    }


def test_a_model_without_its_population_is_refused():
    with pytest.raises(PolicyError, match="compares the table with a population"):
        measure(table([("f", 1, "flu")]), ["sex"], models=[KMap(2)])


def test_a_misspelt_column_is_answered_with_the_right_one():
    with pytest.raises(UnknownColumnError, match="Did you mean 'sex'"):
        measure(table([("f", 1, "flu")]), ["sexx"], models=[KAnonymity(2)])


def test_raw_adult_is_as_risky_as_another_tool_says(adult):
    adult = pa.csv.read_csv(adult / "adult.csv", parse_options=pa.csv.ParseOptions(delimiter=";"))
    average, unique = AverageRisk(0.5), SampleUniqueness(0.5)
    measured = measure(adult, adult.column_names, models=[average, unique])
    assert measured[average]["risk"] == pytest.approx(0.6465751607983555, rel=1e-12)
    assert measured[unique]["share"] == pytest.approx(0.5142895033485844, rel=1e-12)
