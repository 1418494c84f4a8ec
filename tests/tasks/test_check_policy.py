"""Next month's file under this month's policy: labels stay, and what is new is said."""

import json

import pyarrow as pa
import pytest

import sfumato as sf

WARDS = ["north", "south", "west"]


def month(n=200, *, oldest=80, ward="", more=None):
    rows = {
        "patient": [f"P{i:05}" for i in range(n)],
        "age": [20 + i * 7 % (oldest - 20) for i in range(n)],
        "ward": [WARDS[i % 3] for i in range(n)],
        "ill": ["flu" if i % 2 else "gout" for i in range(n)],
    }
    rows["age"][0] = oldest
    if ward:
        rows["ward"][:3] = [ward] * 3
    return pa.table({**rows, **(more or {})})


POLICY = {
    "columns": {
        "patient": "identifier",
        "age": {
            "role": "quasi-identifier",
            "hierarchy": {"kind": "intervals", "widths": [10], "upper": 90, "join": True},
        },
        "ward": {
            "role": "quasi-identifier",
            "hierarchy": {
                "kind": "taxonomy",
                "tree": {"edge": ["north", "south"], "else": ["west"]},
            },
        },
        "ill": "sensitive",
    },
    "models": [{"model": "k-anonymity", "k": 3}],
    "method": "mondrian",
}


def kinds(found):
    return [(change.column, change.kind, change.stops) for change in found.changes]


def test_nothing_is_new_in_the_same_file():
    found = sf.check_policy(POLICY, month(), before=month())
    assert (found.fits, found.changes) == (True, ())
    assert found.headline == "The policy fits, and nothing is new in 200 rows."
    assert found.suppressed is not None


def test_new_extremes_are_counted_and_fall_into_the_open_range():
    found = sf.check_policy(POLICY, month(oldest=97), before=month())
    assert kinds(found) == [("age", "new extremes", False)]
    fresh = {age for age in month(oldest=97)["age"].to_pylist() if age > 80}
    assert {*found.changes[0].values} == {str(age) for age in fresh}
    assert "in a range like the others or '90 or more'" in found.changes[0].text
    released = sf.anonymize(month(oldest=97), POLICY)
    assert not any("97" in str(label) for label in released.table["age"].to_pylist())


def test_values_beyond_the_ends_are_named_and_counted_without_the_earlier_file():
    ranges = {"kind": "intervals", "widths": [10], "lower": 30, "upper": 70, "join": True}
    rule = {"role": "quasi-identifier", "hierarchy": ranges}
    policy = {**POLICY, "columns": {**POLICY["columns"], "age": rule}}
    ages = [3, 30, 69, 70, 140] * 40
    rows = month().set_column(1, "age", [ages])
    found = sf.check_policy(policy, rows)
    assert kinds(found) == [("age", "extremes", False)]
    beyond = {str(age) for age in ages if not 30 <= age < 70}
    assert {*found.changes[0].values} == beyond
    assert found.changes[0].rows == sum(str(age) in beyond for age in ages)
    assert "'under 30' or '70 or more'" in found.changes[0].text
    assert "140" not in str(found)
    assert "'140'" in str(found.content(names=True))
    assert sf.check_policy(policy, rows, before=rows).changes == ()


@pytest.mark.parametrize(
    ("ranges", "where"),
    [
        ({"widths": [10]}, "in a range like the others"),
        ({"bounds": [[30, 70]]}, "'70 or more'"),
        ({"widths": [10], "upper": 70, "language": "de"}, "'70 und mehr'"),
    ],
)
def test_new_extremes_are_said_with_where_they_are_placed(ranges, where):
    rule = {"role": "quasi-identifier", "hierarchy": {"kind": "intervals", **ranges}}
    policy = {**POLICY, "columns": {**POLICY["columns"], "age": rule}, "method": "full-domain"}
    found = sf.check_policy(policy, month(oldest=97), before=month())
    assert kinds(found) == [("age", "new extremes", False)]
    assert found.changes[0].text.endswith(f": they are {where} ({found.changes[0].rows} rows)")


def test_labels_of_a_later_file_end_where_those_of_the_first_do():
    ends = set()
    for oldest in (80, 97):
        for label in sf.anonymize(month(oldest=oldest), POLICY).table["age"].to_pylist():
            ends |= {
                int(word) + (i == 2) for i, word in enumerate(str(label).split()) if word.isdigit()
            }
    assert all(end % 10 == 0 and end <= 90 for end in ends)


def test_a_value_without_a_place_stops_and_is_named_to_the_owner_alone():
    found = sf.check_policy(POLICY, month(ward="tower"), before=month())
    assert ("ward", "no place", True) in kinds(found)
    assert found.changes[0].values == ("tower",)
    assert found.changes[0].rows == 3
    assert "tower" not in json.dumps(found.to_dict())
    assert "tower" not in str(found)
    assert "'tower'" in str(found.content(names=True))
    assert not found.fits
    with pytest.raises(sf.SfumatoError, match="tower"):
        sf.anonymize(month(ward="tower"), POLICY)


def test_a_value_that_is_not_named_is_among_the_others():
    rule = {"role": "quasi-identifier", "hierarchy": {"kind": "frequent", "keep": WARDS}}
    policy = {**POLICY, "columns": {**POLICY["columns"], "ward": rule}}
    found = sf.check_policy(policy, month(ward="tower"))
    assert kinds(found) == [("ward", "other", False)]
    assert found.changes[0].rows == 3
    found = sf.check_policy(policy, month(ward="tower"), before=month())
    assert kinds(found) == [("ward", "new values", False)]
    assert "among the others" in found.changes[0].text
    assert sf.check_policy(policy, month(ward="tower"), before=month(ward="tower")).changes == ()


def test_columns_that_are_new_or_missing():
    rows = month(more={"pay": [1.5] * 200}).drop_columns(["ill"])
    found = sf.check_policy(POLICY, rows)
    assert kinds(found) == [("pay", "new column", True), ("ill", "missing column", True)]
    rows = month(more={"pay": [1.5] * 200})
    found = sf.check_policy({**POLICY, "other": "dropped"}, rows)
    assert kinds(found) == [("pay", "new column", False)]


def test_types_that_change():
    rows = month().to_pydict()
    rows["age"] = [*map(str, rows["age"][:-1]), "old"]
    found = sf.check_policy(POLICY, pa.table(rows), before=month())
    assert ("age", "no place", True) in kinds(found)
    assert ("age", "type", False) in kinds(found)


def test_keys_of_people_that_repeat_or_no_longer_do():
    rows = month().to_pydict()
    rows["patient"] = [f"P{i // 2:05}" for i in range(200)]
    twice = pa.table(rows)
    found = sf.check_policy(POLICY, twice)
    assert kinds(found) == [("patient", "people", True)]
    assert "person: patient" in found.changes[0].text
    counted = {**POLICY, "person": "patient"}
    assert sf.check_policy(counted, twice).changes == ()
    assert kinds(sf.check_policy(counted, month())) == [("patient", "people", False)]


def test_promises_that_no_release_of_the_file_keeps():
    few = month().slice(0, 2)
    found = sf.check_policy(POLICY, few)
    assert ("", "promise", True) in kinds(found)


def test_labels_that_are_made_of_each_file_are_said():
    rule = {"role": "quasi-identifier", "hierarchy": {"kind": "auto"}}
    policy = {**POLICY, "columns": {**POLICY["columns"], "age": rule}}
    assert ("age", "hierarchy", False) in kinds(sf.check_policy(policy, month()))


@pytest.mark.usefixtures("patience")
def test_a_draft_fits_the_next_month():
    drafted = sf.draft(month())
    found = sf.check_policy(drafted.policy, month(n=230, oldest=91), before=month())
    assert found.fits
    assert {change.kind for change in found.changes} <= {"new extremes", "other"}


def test_a_value_that_may_be_new_is_counted_and_does_not_stop():
    rule = {
        "role": "quasi-identifier",
        "hierarchy": {"kind": "taxonomy", "tree": {"all": WARDS}, "new": "other"},
    }
    policy = {**POLICY, "columns": {**POLICY["columns"], "ward": rule}}
    found = sf.check_policy(policy, month(ward="tower"))
    assert kinds(found) == [("ward", "other", False)]
    assert found.changes[0].values == ("tower",)
    assert sf.anonymize(month(ward="tower"), policy).table.num_rows > 0
