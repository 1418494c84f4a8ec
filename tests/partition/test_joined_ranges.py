"""Ranges that local methods join from those that a policy writes down."""

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.hierarchy import Intervals

WRITTEN = {
    "even": {"kind": "intervals", "widths": [5, 10], "lower": 20, "upper": 60, "join": True},
    "endless": {"kind": "intervals", "widths": [5], "join": True},
    "cuts": {"kind": "intervals", "bounds": [[18, 30, 47, 65], [30]], "join": True},
}


def ends(label, hierarchy):
    """Read both ends of a label; the upper one is outside."""
    words = str(label).split()
    if words[0] == "under":
        return None, int(words[1])
    if words[1:] == ["or", "more"]:
        return int(words[0]), None
    return int(words[0]), int(words[-1]) + 1


def is_written(end, hierarchy):
    """Say by hand whether the policy writes an end down."""
    if hierarchy.get("bounds"):
        return end in hierarchy["bounds"][0]
    within = hierarchy.get("lower", end) <= end <= hierarchy.get("upper", end)
    return within and end % hierarchy["widths"][0] == 0


def release(ages, hierarchy, method="mondrian", k=2):
    rows = pa.table({"age": ages, "n": [f"{i}" for i in range(len(ages))]})
    rule = {"role": "quasi-identifier", "hierarchy": hierarchy}
    policy = {
        "columns": {"age": rule, "n": "dropped"},
        "models": [{"model": "k-anonymity", "k": k}],
        "method": method,
        "suppression": "50%",
    }
    return sf.anonymize(rows, policy)


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("method", ["mondrian", "mdav"])
@pytest.mark.parametrize("kind", WRITTEN)
@given(ages=st.lists(st.integers(1, 99), min_size=4, max_size=40))
def test_every_published_end_is_written_in_the_policy(kind, method, ages):
    hierarchy = WRITTEN[kind]
    made = release(ages, hierarchy, method)
    published = [label for label in made.table["age"].to_pylist() if label != "*"]
    for label in published:
        low, high = ends(label, hierarchy)
        assert all(end is None or is_written(end, hierarchy) for end in (low, high))
        assert any((low or 0) <= age and (high is None or age < high) for age in ages)
    assert sf.verify(made).checks


def test_values_in_one_written_range_are_not_told_apart():
    ages = [31] * 5 + [33] * 5 + [52] * 5 + [58] * 5
    hierarchy = {"kind": "intervals", "widths": [5, 10], "join": True}
    made = release(ages, hierarchy)
    assert sorted({*made.table["age"].to_pylist()}) == ["30 to 34", "50 to 54", "55 to 59"]


def test_the_outermost_ends_are_open_whoever_is_there():
    hierarchy = {"kind": "intervals", "bounds": [[30, 50]], "join": True}
    for oldest in (53, 97):
        made = release([20, 22, 24, 31, 33, 35, 51, oldest, oldest], hierarchy)
        assert {*made.table["age"].to_pylist()} == {"under 30", "30 to 49", "50 or more"}


def test_the_setting_is_checked():
    with pytest.raises(sf.SfumatoError, match="join must be true or false"):
        Intervals(widths=[5], join="yes")
    assert Intervals(widths=[5], join=True).fixed_height is None
    assert Intervals(widths=[5]).fixed_height == 2
