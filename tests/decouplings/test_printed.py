"""The ten census records: the tables, counts and likelihoods that were printed."""

import pytest

import sfumato as sf
from sfumato import samples
from tests.decouplings import literal
from tests.decouplings.tables import CENSUS, CENSUS_SENSITIVE, FIRST, PRINTED, SECOND


@pytest.fixture
def census(tmp_path):
    return sf.decouple(
        samples.path("census"),
        quasi_identifiers=CENSUS,
        sensitive=CENSUS_SENSITIVE,
        output=tmp_path / "broken",
    )


def test_the_tables_are_those_that_were_printed(census):
    found = literal.read(census.folder)
    assert set(found) == {FIRST, SECOND}
    for key, (size, columns) in found.items():
        assert size == 5
        for name, counts in zip(CENSUS_SENSITIVE, columns, strict=True):
            assert counts == PRINTED[name][key]


def test_the_files_are_named_after_their_columns(census):
    assert {path.name for path in census.folder.iterdir()} == {
        *("qi.csv", "sensitive_government.csv", "sensitive_marital_status.csv"),
        *("sensitive_salary.csv", "manifest.json", "README.md", "schema.sql"),
        *("codebook.csv", "codebook.md"),
        "evidence.json",
    }


def test_what_was_promised_and_measured_is_the_five_of_each_group(census):
    assert census.manifest.to_dict()["models"] == [
        {"model": "k-anonymity", "k": 5, "measured": {"k": 5}}
    ]
    assert census.warnings == ()


@pytest.mark.parametrize(
    ("marital", "salary", "likelihood"),
    [
        ("Never-Married", "<=50K", 0.32),
        ("Never-Married", ">50K", 0.08),
        ("Married", "<=50K", 0.16),
        ("Married", ">50K", 0.04),
        ("Divorced", "<=50K", 0.16),
        ("Divorced", ">50K", 0.04),
        ("Separated", "<=50K", 0.16),
        ("Separated", ">50K", 0.04),
    ],
)
def test_merging_gives_the_printed_likelihoods(census, marital, salary, likelihood):
    merged = sf.tools.merge(census, columns=["marital_status", "salary"]).to_pylist()
    [row] = [
        r
        for r in merged
        if (r["gender"], r["marital_status"], r["salary"]) == ("F", marital, salary)
    ]
    assert row["expected"] / 5 == pytest.approx(likelihood)


def test_a_state_employee_is_no_longer_known_to_be_unmarried_and_poor(census):
    """Before, all in the group who work for the state are; after, two of five times four of five.

    Those who know the employer learn nothing from it: every combination is there.
    """
    merged = sf.tools.merge(census).to_pylist()
    state = [r for r in merged if r["government"] == "State-gov"]
    assert len(state) == 4 * 2
    share = {(r["marital_status"], r["salary"]): r["expected"] / 2 for r in state}
    assert share["Never-Married", "<=50K"] == pytest.approx(0.32)
    private = [r for r in merged if (r["government"], r["gender"]) == ("Private", "M")]
    share = {(r["marital_status"], r["salary"]): r["expected"] / 3 for r in private}
    assert share["Married", ">50K"] == pytest.approx(0.24)
