"""Models that compare a release with the population it was drawn from."""

import pyarrow as pa
import pytest

from sfumato.errors import UnknownColumnError
from sfumato.verifier import Promises, count_population, verify_file, verify_folder
from tests.verifier.releases import write_release

PEOPLE = pa.table({"age": [21, 24, 29, 33, 35, None], "sex": ["f", "f", "f", "m", "m", "m"]})
GENERALIZATION = {
    "age": {"21": "2*", "24": "2*", "29": "2*", "33": "3*", "35": "3*", None: None},
}
RELEASE = {"age": ["2*", "3*", "3*"], "sex": ["f", "m", "m"]}
MODELS = [{"model": "k-map", "k": 2}, {"model": "delta-presence", "minimum": 0.3, "maximum": 1}]


def test_people_are_counted_on_the_published_labels():
    counts = count_population(PEOPLE, ["age", "sex"], GENERALIZATION)
    assert counts == {("2*", "f"): 3, ("3*", "m"): 2, (None, "m"): 1}


def test_whoever_has_an_unknown_value_is_in_no_published_class():
    labels = {"age": {"21": "2*"}}
    assert count_population(PEOPLE, ["age"], labels) == {("2*",): 1}


def test_figures_are_those_one_can_count():
    people = count_population(PEOPLE, ["age", "sex"], GENERALIZATION)
    promises = Promises(["age", "sex"], models=MODELS, population=people)
    verdict = verify_file(pa.table(RELEASE), promises)
    assert verdict.holds
    # 1 of 3 women in their twenties, 2 of 2 men in their thirties.
    assert verdict["k-map"].found == {"k": 2}
    assert verdict["delta-presence"].found == {"minimum": pytest.approx(1 / 3), "maximum": 1}


def test_a_class_without_anybody_in_the_population_breaks_both():
    promises = Promises(["age"], models=MODELS, population={("2*",): 9})
    verdict = verify_file(pa.table({"age": ["2*", "9*"]}), promises)
    assert [check.status for check in verdict.checks] == ["broken", "broken"]
    assert verdict["k-map"].worst == {"age": "9*"}


def test_a_population_needs_the_quasi_identifiers():
    with pytest.raises(UnknownColumnError, match="no column 'zip'"):
        count_population(PEOPLE, ["zip"])


def release(folder):
    roles = {"age": "quasi-identifier", "sex": "quasi-identifier"}
    columns = [
        {"name": "age", "role": roles["age"], "level": 1, "height": 2},
        {"name": "sex", "role": roles["sex"], "level": 0, "height": 1},
    ]
    return write_release(folder, RELEASE, roles=roles, described=columns, models=MODELS)


def test_a_folder_is_held_against_the_population_it_is_given(tmp_path):
    folder = release(tmp_path / "release")
    known = PEOPLE.filter(PEOPLE["age"].is_valid())
    verdict = verify_folder(folder, population=known, generalization=GENERALIZATION)
    assert verdict.holds, str(verdict)


def test_a_class_of_the_population_that_is_absent_breaks_a_least_presence(tmp_path):
    # The man of unknown age is in a class that was not published, though nothing was suppressed.
    folder = release(tmp_path / "release")
    verdict = verify_folder(folder, population=PEOPLE, generalization=GENERALIZATION)
    assert verdict["absent classes"].status == "broken"
    assert verdict["absent classes"].found == 1


def test_without_population_or_generalization_nothing_is_claimed(tmp_path):
    folder = release(tmp_path / "release")
    for given in ({}, {"population": PEOPLE}):
        verdict = verify_folder(folder, **given)
        assert verdict["k-map"].status == "unchecked"
        assert "population" in verdict["k-map"].detail
        assert not verdict.holds
