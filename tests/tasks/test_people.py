"""Rows and people: a key of people that repeats is a question, and not a silence."""

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.errors import InfeasibleError, PolicyError
from sfumato.policy.meanings import Key, key_of_people

RNG = np.random.default_rng(8)
PEOPLE, WAVES = 60, 3
N = PEOPLE * WAVES


def panel(name="patient_id", **others):
    """Three rows of each of sixty people."""
    return pa.table({
        name: np.repeat(np.arange(PEOPLE) * 7 + 1000, WAVES),
        "age": ["[20, 50)"] * N,
        "ill": RNG.choice(["flu", "gout", "cough", "ulcer"], N),
        **others,
    })  # fmt: skip


def policy(name="patient_id", role="identifier", **settings):
    columns = {name: role, "age": "quasi-identifier", "ill": "sensitive"}
    return sf.Policy(
        columns=columns, models=[{"model": "k-anonymity", "k": 5}], other="dropped", **settings
    )


def decouple(table, rules):
    return sf.decouple(table, policy=rules)


@pytest.mark.parametrize("name", ["patient_id", "PatientNr", "id", "pidp", "Versichertennummer"])
@pytest.mark.parametrize("task", [sf.anonymize, sf.verify, sf.protect, decouple])
def test_a_panel_is_refused_until_the_policy_says_what_a_person_is(task, name):
    with pytest.raises(PolicyError, match="180 rows of 60 people") as refused:
        task(panel(name), policy(name))
    assert f"person: {name}" in str(refused.value)
    assert "person: {rows:" in str(refused.value)


@pytest.mark.parametrize("role", ["dropped", "plain"])
def test_a_key_of_people_is_seen_whatever_role_it_was_given(role):
    with pytest.raises(PolicyError, match="repeats"):
        sf.anonymize(panel(), policy(role=role))
    with pytest.raises(PolicyError, match="repeats"), pytest.warns(UserWarning, match="not named"):
        sf.anonymize(panel(), quasi_identifiers=["age"], sensitive=["ill"])


@pytest.mark.parametrize(
    "name", ["household_id", "ward", "hospital id", "surname", "Haushalt", "street", "visit_id"]
)
def test_what_people_share_repeats_and_is_no_question(name):
    shared = {name: np.repeat([f"{name} {i}" for i in range(PEOPLE)], WAVES)}
    table = panel("row", **shared).drop_columns(["row"])
    assert sf.anonymize(table, policy(name)).manifest.rows.published == N


def test_a_number_for_every_person_beside_it_settles_the_question():
    table = panel("insurance number", patient_id=np.arange(N))
    roles = policy("insurance number")
    assert sf.anonymize(table, roles.replace(columns={**roles.columns, "patient_id": "identifier"}))
    # A number for every row does not: nothing says that it is a person's.
    table = panel("patient_id", id=np.arange(N))
    with pytest.raises(PolicyError, match="'patient_id' repeats"):
        sf.anonymize(table, policy())


def test_a_few_people_who_were_entered_twice_are_a_warning():
    twice = pa.table({
        "patient_id": [*range(N - 2), 0, 1], "age": ["a"] * N, "ill": ["flu", "gout"] * (N // 2),
    })  # fmt: skip
    release = sf.anonymize(twice, policy())
    assert any("2 of whom have several" in text for text in release.warnings)


def test_a_column_that_says_what_a_person_is_settles_it_or_is_refused_clearly():
    said = policy(person="patient_id")
    assert sf.Policy.from_yaml(said.to_yaml()) == said
    with pytest.raises(InfeasibleError, match="even if all 60 people were one class"):
        sf.anonymize(panel(), said.replace(models=[sf.models.KAnonymity(N)]))
    assert sf.verify(panel(), said, attacks=False)["people"].status == "holds"
    with pytest.raises(PolicyError, match="one row per person"):
        decouple(panel(), said)
    unique = panel("patient_id").set_column(0, "patient_id", pa.array(range(N)))
    assert sf.anonymize(unique, said).manifest.rows.published == N


def test_rows_can_be_meant_for_a_reason_which_the_release_repeats(tmp_path):
    said = policy(person={"rows": "a row is a visit, and visits are linked by nothing else"})
    assert sf.Policy.from_yaml(said.to_yaml()) == said
    release = sf.anonymize(panel(), said, output=tmp_path / "out")
    told = "rows are counted, not people, because a row is a visit"
    assert any(told in text for text in release.warnings)
    found = sf.verify(tmp_path / "out")
    assert found.answer == "with care"
    assert any("accepted, because a row is a visit" in why for why in found.why)
    parts = sf.decouple(tmp_path / "out", output=tmp_path / "parts")
    assert parts.manifest.person == {"rows": said.person.rows}
    assert sf.verify(tmp_path / "parts").answer != "yes"


@pytest.mark.parametrize(
    ("person", "text"),
    [
        ({}, "must name a column"),
        ({"rows": "x", "column": "patient_id"}, "must name a column"),
        ("age", "'age' is quasi-identifier"),
        ({"rows": ""}, "must say why"),
        (7, "person"),
    ],
)
def test_a_rule_that_cannot_be_is_refused(person, text):
    with pytest.raises(PolicyError, match=text):
        policy(person=person)


def test_a_column_that_the_data_lacks_is_refused():
    with pytest.raises(PolicyError, match=r"no column 'pateint_id'.*patient_id"):
        sf.anonymize(panel(), policy(person="pateint_id"))


def test_a_table_of_a_stranger_with_a_repeated_key_is_a_no():
    found = sf.verify(panel(), quasi_identifiers=["age"], sensitive=["ill"])
    assert found.answer == "no"
    assert any("rows are not people: 'patient_id' repeats" in why for why in found.why)


def test_a_draft_asks_the_same_question():
    drafted = sf.draft(panel())
    assert drafted.policy.person.column == "patient_id"
    assert "Rows are not people: 'patient_id' repeats: 180 rows of 60 people" in (
        drafted.text.replace("\n# ", " ")
    )
    assert sf.draft(panel("household_id")).policy.person is None


def test_names_of_columns_say_how_surely_they_are_keys():
    assert key_of_people("name", identifier=True) is Key.NONE
    assert key_of_people("customer no", identifier=False) is Key.SURELY
    assert key_of_people("age", identifier=False) is Key.NONE
