"""What is asked of columns: understood as it is written, and refused if it cannot be."""

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.conditions import ConditionLine, find_values
from sfumato.counts import Column
from sfumato.errors import InputError, UnknownNameError, UnknownValueError

AGES = ["50", "51", "57", "60-64", "65-69", "70-79", "*"]
PEOPLE = pa.table({"age": AGES * 2, "sex": ["F", "M", "*", "F", "M", "F", "*"] * 2})


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("60-69", (60, 69)),
        ("60 to 69", (60, 69)),
        ("60..69", (60, 69)),
        ("[60, 69]", (60, 69)),
        ("[60, 70)", (60, 69)),
        ("<60", (None, 59)),
        (">=70", (70, None)),
        (">69", (70, None)),
        ("..55", (None, 55)),
        ("65..", (65, None)),
        ("60-64", (60, 64)),
        ("6*", (60, 69)),
        (["50", "65-79"], [50, *range(65, 80)]),
    ],
)
def test_ranges_are_understood_as_labels_are_written(written, meant):
    known = pa.table({"age": [50, 51, 57, 61, 66, 75, 78] * 2})
    for original in (None, known):
        asked = sf.estimate(PEOPLE, {"age": written}, original=original)
        wanted = sf.estimate(PEOPLE, {"age": meant}, original=original)
        assert (asked.estimate, asked.least, asked.most) == pytest.approx(
            (wanted.estimate, wanted.least, wanted.most)
        )


@pytest.mark.parametrize(
    ("where", "told"),
    [
        ({"age": "banana"}, r"no value 'banana' in 'age'\. It has numbers from 50 to 79"),
        ({"age": (50, "banana")}, "'banana' is none of them"),
        ({"age": "70..60"}, "The lower end comes first"),
        ({"sex": "X"}, r"no value 'X' in 'sex'\. Known: 'F', 'M'"),
        ({"sex": "f"}, "Did you mean 'F'"),
        ({"sex": "a..b"}, "no value 'a..b' in 'sex'"),
    ],
)
def test_what_is_not_there_is_refused_with_what_is(where, told):
    original = pa.table({"age": [50, 51, 57, 61, 66, 75, 79] * 2, "sex": ["F", "M"] * 7})
    for known in ({}, {"original": original}):
        with pytest.raises(UnknownValueError, match=told):
            sf.estimate(PEOPLE, where, **known)
    roles = {"quasi_identifiers": ["sex", "age"], "sensitive": ["ill"]}
    ill = PEOPLE.append_column("ill", [["flu", "gout"] * 7])
    if isinstance(where.get("age"), tuple):
        return
    for known in ({}, {"data": original}):
        with pytest.raises(UnknownValueError, match=told):
            sf.explain(ill, where, **roles, **known)


def test_a_value_that_only_a_star_could_hide_needs_a_second_source():
    ill = PEOPLE.append_column("ill", [["flu", "gout"] * 7])
    roles = {"quasi_identifiers": ["sex", "age"], "sensitive": ["ill"]}
    original = pa.table({"age": [50] * 14, "sex": ["F", "M", "X"] + ["F"] * 11})
    with pytest.raises(UnknownValueError, match="only '\\*' could stand for"):
        sf.explain(ill, {"sex": "X"}, **roles)
    assert sf.explain(ill, {"sex": "X"}, **roles, data=original).found
    assert sf.estimate(PEOPLE, {"sex": "X"}, original=original).most == 4


def test_a_number_that_nobody_has_is_no_mistake():
    for value in (58, "58", 200, 50.5):
        assert sf.estimate(PEOPLE, {"age": value}).least == 0
    # Nothing that is published lies so far out: a star is taken for the others' like.
    assert sf.estimate(PEOPLE, {"age": 200}).estimate == 0
    open_ended = pa.table({"age": ["50-59", ">=60", "*"]})
    assert sf.estimate(open_ended, {"age": 200}).estimate > 0
    original = pa.table({"age": ["36", "38", "?"]})
    assert sf.estimate(original, {"age": 37}, original=original).most == 0


def test_days_are_counted_behind_their_labels():
    days = pa.table({"seen": ["2020-01-01 to 2020-01-10", "2020-01-05", "2020-02-01"]})
    found = sf.estimate(days, {"seen": "2020-01-05"})
    assert (found.estimate, found.least, found.most) == pytest.approx((1.1, 1, 2))
    with pytest.raises(UnknownValueError, match="It has days from 2020-01-01 to 2020-02-01"):
        sf.estimate(days, {"seen": "soon"})


RANGES = {"50": [50], "60-64": range(60, 65), "62": [62], "<55": range(40, 55), "*": range(40, 90)}


@given(st.sampled_from(list(RANGES)), st.integers(40, 80), st.integers(0, 20))
def test_a_person_of_some_age_fits_every_label_that_has_a_part_of_it(label, low, width):
    rows = pa.table({"age": [label, "50", "62", "88"], "ill": ["flu", "gout", "gout", "gout"]})
    roles = {"quasi_identifiers": ["age"], "sensitive": ["ill"]}
    for written in (f"{low}-{low + width}", f"{low}..{low + width}", f"{low} to {low + width}"):
        found = sf.explain(rows, {"age": written}, **roles)
        labels = {place.labels["age"] for place in found.places} - {"*"}
        ages = {**RANGES, "88": [88]}
        meant = {each for each in rows["age"].to_pylist()
                 if each != "*" and set(ages[each]) & set(range(low, low + width + 1))}  # fmt: skip
        assert labels == meant


def test_one_label_is_found_by_any_way_to_write_it():
    age = [Column("age", ("20-29", "30-39", "[40, 50)", "*"))]
    for text in ("age=30-39", "age=30 to 39", "age=[30, 39]", "age=35", "age=31..34"):
        assert find_values(age, [text]) == {"age": "30-39"}
    assert find_values([Column("zip", ("A1*", "B2"))], ["zip=A1x"]) == {"zip": "A1*"}
    for text in ("age=25..35", "age=banana", "age=", "age=99"):
        with pytest.raises(UnknownNameError, match="no value"):
            find_values(age, [text])
    with pytest.raises(InputError, match="two values are given"):
        find_values(age, ["age=35", "age=36"])
    several = [Column("age", ("20-29", "25-35"))]
    with pytest.raises(UnknownNameError, match="Several cover it: name one of '20-29', '25-35'"):
        find_values(several, ["age=27"])


def test_labels_of_words_lie_on_no_line():
    assert ConditionLine.of(Column("educ", ("13-15years", "9years"))) is None
    assert ConditionLine.of(Column("x", ("*",))) is None
