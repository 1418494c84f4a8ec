"""The method that a policy names is taken, unless another one is given."""

import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.decouplings import Anatomy, Slicing
from sfumato.errors import PolicyError, UnknownColumnError

TABLE = pa.table(
    {
        "age": [21, 21, 35, 35, 21, 21, 35, 35],
        "zip": [1, 2, 1, 2, 1, 2, 1, 2],
        "ill": ["flu", "gout", "hiv", "flu", "gout", "hiv", "acne", "acne"],
    }
)
ROLES = {"age": "quasi-identifier", "zip": "quasi-identifier", "ill": "sensitive"}
SLICING = {"method": "slicing", "l": 2, "columns": ["age+zip", "ill"]}


def policy(decouple=None, **changes):
    models = [{"model": "distinct-l-diversity", "column": "ill", "l": 2}]
    return sf.Policy(**{"columns": ROLES, "models": models, "decouple": decouple, **changes})


@pytest.mark.parametrize(
    ("decouple", "expected"),
    [
        (None, "break-merge"),
        ("break-merge", "break-merge"),
        ({"method": "anatomy", "l": 2}, "anatomy"),
        (Anatomy(l=2), "anatomy"),
        (SLICING, "slicing"),
        (Slicing(l=2), "slicing"),
    ],
)
def test_the_policy_says_the_method(decouple, expected):
    found = sf.decouple(TABLE, policy=policy(decouple))
    assert found.method == expected
    assert found.verdict.holds


@pytest.mark.parametrize("method", ["break-merge", {"method": "anatomy", "l": 2}, Slicing(l=2)])
def test_a_method_that_is_given_wins(method):
    expected = sf.decouple(TABLE, method, policy=policy())
    assert sf.decouple(TABLE, method, policy=policy(SLICING)).method == expected.method


def test_the_settings_are_those_of_the_policy_wherever_it_is_read_from(tmp_path):
    (tmp_path / "policy.yaml").write_text(policy(SLICING).to_yaml(), encoding="utf-8")
    for given in (policy(SLICING), tmp_path / "policy.yaml", str(tmp_path / "policy.yaml")):
        found = sf.decouple(TABLE, policy=given)
        assert found.slices == (("age", "zip"), ("ill",))
        assert [model.settings["l"] for model in found.manifest.models] == [2]


def test_a_release_is_decoupled_as_a_policy_says():
    release = sf.anonymize(TABLE, policy(SLICING))
    assert sf.decouple(release).method == "break-merge"
    assert sf.decouple(release, policy=policy(SLICING)).slices == (("age", "zip"), ("ill",))


def test_only_slices_have_columns_and_these_are_shown():
    assert sf.decouple(TABLE, policy=policy()).slices == ()
    sliced = sf.decouple(TABLE, policy=policy(SLICING))
    lines = [line.split("  ") for line in str(sliced).splitlines()]
    assert [line[1].strip() for line in lines if line[0] == "slice_1"] == ["age, zip"]
    assert [line[1].strip() for line in lines if line[0] == "slice_2"] == ["ill"]
    files = sliced.to_dict()["manifest"]["files"]
    assert [file["columns"] for file in files] == [["age", "zip"], ["ill"]]


@pytest.mark.parametrize(
    ("decouple", "text"),
    [
        ("breakmerge", r"decouple: no decoupling 'breakmerge'\. Did you mean 'break-merge'\?"),
        ({"method": "anatomy"}, "decouple: anatomy needs 'l'"),
        ({"method": "anatomy", "l": 1}, r"decouple\.l: l must be an integer of at least 2"),
    ],
)
def test_a_mistake_is_the_policys_and_no_data_is_read(decouple, text):
    with pytest.raises(PolicyError, match=text):
        sf.decouple("nowhere.csv", policy=policy(decouple))


def test_columns_are_held_against_the_roles_that_are_given():
    with pytest.raises(UnknownColumnError, match="no column 'zip'"):
        sf.decouple(TABLE, policy=policy(SLICING), quasi_identifiers=["age"])
