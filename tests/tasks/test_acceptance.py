"""Secret and harmless values, and findings that the publisher accepts."""

import json

import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.errors import PolicyError
from sfumato.policy import Acceptance
from tests.verdicts.tables import leaky, policy

ACCEPTED = {"column": "ill", "because": "it is in the newspaper", "by": "A. Turing"}


def common() -> pa.Table:
    """A class of 40 in which all have what six in ten of all people have."""
    ill = ["flu"] * 40 + ["flu"] * 32 + ["gout"] * 48
    return pa.table({"age": ["3*"] * 40 + ["4*"] * 80, "ill": ill})


def with_values(**values) -> sf.Policy:
    rule = {"role": "sensitive", **values}
    columns = {"age": "quasi-identifier", "ill": rule}
    return sf.Policy(columns=columns, models=[sf.models.KAnonymity(4)])


def test_a_certainty_that_was_likely_is_no_risk_unless_it_is_a_secret():
    assert sf.verify(common(), with_values()).answer == "yes"
    assert sf.verify(common(), with_values(secret=["flu"])).answer == "no"
    assert sf.verify(common(), with_values(harmless=["flu"])).answer == "with care"
    told = with_values(harmless=["flu"], because="everybody had it")
    assert sf.verify(common(), told).answer == "yes"


def test_values_are_compared_as_they_are_written():
    numbers = pa.table({"age": ["3*"] * 40 + ["4*"] * 80, "ill": [1] * 72 + [0] * 48})
    text = "columns: {age: quasi-identifier, ill: {role: sensitive, secret: [1]}}\n"
    text += "models: [{model: k-anonymity, k: 4}]\n"
    given = sf.Policy.from_yaml(text)
    assert given.columns["ill"].secret == ("1",)
    assert sf.Policy.from_yaml(given.to_yaml()) == given
    assert sf.verify(numbers, given).answer == "no"


def test_what_is_accepted_with_a_reason_is_shown_and_priced():
    found = sf.verify(leaky(), policy(accept=[ACCEPTED]))
    assert (found.answer, found.at_risk) == ("yes", 0)
    assert {each.kind for each in found.assumptions} == {"accepted"}
    assert max(each.people for each in found.assumptions) == 8
    assert [each.attack for each in found.accepted]
    text = "Accepted by A. Turing: it is in the newspaper."
    assert text in {each.because for each in found.assumptions}
    assert "it is in the newspaper" in str(found.details())
    plain = json.loads(json.dumps(found.to_dict()))
    assert text in {each["accepted"] for each in plain["attacks"]}


def test_only_what_is_named_is_accepted():
    other = {**ACCEPTED, "attack": "dependency"}
    assert sf.verify(leaky(), policy(accept=[other])).answer == "no"
    few = {**ACCEPTED, "people": 7}
    assert sf.verify(leaky(), policy(accept=[few])).answer == "no"
    enough = {**ACCEPTED, "people": 8}
    assert sf.verify(leaky(), policy(accept=[enough])).answer == "yes"
    assert not Acceptance(**ACCEPTED).covers("knowledge-breach", ("ill", "pay"), 1)
    assert not Acceptance(**ACCEPTED).covers("linking", (), 1)


def test_a_release_says_what_was_accepted_and_excuses_nothing_by_it(tmp_path):
    release = sf.anonymize(leaky(), policy(accept=[ACCEPTED]), output=tmp_path / "r", format="csv")
    assert release.manifest.accepted == (ACCEPTED,)
    evidence = json.loads((tmp_path / "r" / "evidence.json").read_text("utf-8"))
    assert evidence["claims"]["accepted"] == [ACCEPTED]
    # The policy of whoever asks decides, not the manifest of a stranger.
    assert sf.verify(tmp_path / "r").answer == "no"
    assert sf.verify(tmp_path / "r", policy(accept=[ACCEPTED])).answer == "yes"


def test_risk_levels_of_a_manifest_do_not_lower_the_bar(tmp_path):
    sf.anonymize(
        leaky(), policy(risk_levels={"very_high": 1.0, "high": 1.0}), output=tmp_path / "r"
    )
    assert sf.verify(tmp_path / "r").answer == "no"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("accept: [{column: ill, because: x}]", "'by' is missing"),
        ("accept: [{column: ill, because: '', by: me}]", "'because' is empty"),
        ("accept: [{column: il, because: x, by: me}]", "'il' is not a sensitive column"),
        ("accept: {column: ill}", "must be a list"),
    ],
)
def test_an_acceptance_has_a_reason_a_name_and_a_column(text, said):
    whole = (
        "columns: {age: quasi-identifier, ill: sensitive}\n"
        f"models: [{{model: k-anonymity, k: 4}}]\n{text}\n"
    )
    with pytest.raises(PolicyError, match=said):
        sf.Policy.from_yaml(whole)


def test_a_value_is_secret_or_harmless_and_only_of_a_sensitive_column():
    with pytest.raises(PolicyError, match="among the harmless values too"):
        with_values(secret=["flu"], harmless=["flu"])
    with pytest.raises(PolicyError, match="only sensitive columns have one"):
        sf.Policy(
            columns={"age": {"role": "quasi-identifier", "secret": ["3*"]}},
            models=[sf.models.KAnonymity(4)],
        )
    with pytest.raises(PolicyError, match="must be a list of values"):
        with_values(secret="flu")


def test_one_person_is_judged_by_the_secrets_of_the_policy_too():
    person = {"age": "3*"}
    levels = [
        str(sf.explain(common(), person, policy=with_values(**values)).belief("ill").level)
        for values in ({}, {"secret": ["flu"]}, {"harmless": ["flu"]})
    ]
    assert levels == ["moderate", "very high", "low"]
