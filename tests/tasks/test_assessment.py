"""May it be published? What decides the answer."""

from dataclasses import replace

import pandas as pd
import pyarrow as pa
import pyarrow.csv as pc
import pytest

import sfumato as sf
from sfumato.attacks import Outcome
from sfumato.errors import ParameterError, UnknownColumnError, UnknownNameError
from sfumato.tasks.assessment import Assessment
from sfumato.verifier import Check, Verdict
from tests.verdicts.tables import ROLES, leaky, policy, safe


def test_a_safe_table_may_be_published():
    found = sf.verify(safe(), policy())
    assert (found.answer, found.holds, found.succeeded) == ("yes", True, ())
    assert found.why == (
        f"all {len(found.checks)} promises hold and no attack puts any person at risk",
    )


def test_one_class_in_which_all_have_the_same_is_a_no_though_every_promise_holds():
    found = sf.verify(leaky(), policy())
    assert found.verdict.holds
    assert (found.answer, found.holds) == ("no", False)
    outcome = found.attack("homogeneity")
    assert (outcome.people, outcome.of) == (8, 16)
    assert outcome.worst[0].who == {"age": "4*"}
    assert outcome.worst[0].believed == "ill = hiv"
    [reason] = found.why
    assert reason.startswith("who knows the age of a person learns ill, for 8 of 16 people (")
    assert "for example age=4* (8): ill = hiv, 50 % before, 100 % after. Limit its" in reason


@pytest.mark.usefixtures("patience")
def test_a_release_with_a_fixed_seed_is_no_plain_yes(tmp_path):
    sf.anonymize(safe(), policy(), output=tmp_path / "drawn")
    assert sf.verify(tmp_path / "drawn", policy()).answer == "yes"
    sf.anonymize(safe(), policy(), output=tmp_path / "seeded", seed=1)
    found = sf.verify(tmp_path / "seeded", policy())
    assert (found.answer, found.holds) == ("with care", True)
    assert found.why[0].startswith("it was drawn with a fixed seed")
    assert "not for publication" in found.why[0]
    sf.decouple(tmp_path / "seeded", output=tmp_path / "decoupled")
    assert "not for publication" in " ".join(sf.verify(tmp_path / "decoupled").why)


def test_how_many_may_be_at_risk_is_the_policys_or_the_callers():
    assert sf.verify(leaky(), policy(verdict={"people": 8})).holds
    assert not sf.verify(leaky(), policy(verdict={"people": 7})).holds
    assert sf.verify(leaky(), policy(), people=8).holds
    assert not sf.verify(leaky(), policy(verdict={"people": 8}), people=0).holds


def test_from_which_belief_on_is_the_policys_the_levels_or_the_callers():
    rows = ["flu", "gout", "hiv", "hiv"] * 2 + ["flu", "gout", "ulcer", "cold"] * 2
    # Half of a class has hiv, and one in four of everybody: twice as many, of few.
    table = pa.table({"age": ["3*"] * 8 + ["4*"] * 8, "ill": rows})
    assert sf.verify(table, policy()).answer == "yes"
    three_of_four = pa.table(
        {"age": ["3*"] * 4 + ["4*"] * 12, "ill": ["hiv"] * 3 + ["flu"] + rows[4:]}
    )
    assert sf.verify(three_of_four, policy()).answer == "no"
    assert sf.verify(three_of_four, policy(risk_levels={"very_high": 0.8})).answer != "no"
    assert sf.verify(three_of_four, policy(verdict={"threshold": 0.8})).answer != "no"
    assert sf.verify(three_of_four, policy(), threshold=0.8).answer != "no"


def test_what_everybody_believes_anyway_puts_nobody_at_risk():
    table = pa.table({"age": ["3*"] * 10 + ["4*"] * 10, "ill": (["flu"] * 9 + ["hiv"]) * 2})
    assert sf.verify(table, **ROLES).holds
    assert sf.verify(pa.table({"age": ["3*"] * 4, "ill": ["flu"] * 4}), **ROLES).holds


def test_what_everybody_in_a_table_has_is_told_by_being_in_it():
    patients = pa.table({"age": ["3*"] * 60 + ["4*"] * 60, "ill": ["hiv"] * 120})
    found = sf.verify(patients, **ROLES)
    assert found.answer == "with care"
    assert "all people in the table have it" in found.why[0]

    def with_values(**values):
        columns = {"age": "quasi-identifier", "ill": {"role": "sensitive", **values}}
        return sf.Policy(columns=columns, models=[sf.models.KAnonymity(4)])

    assert sf.verify(patients, with_values(secret=["hiv"])).answer == "no"
    said = with_values(harmless=["hiv"], because="the clinic treats nothing else")
    assert sf.verify(patients, said).answer == "yes"


def test_attacks_can_be_chosen_or_left_out():
    found = sf.verify(leaky(), policy(), attacks=["linking"])
    assert {each.attack for each in found.attacks} == {"linking"}
    # What was not tried is no reason to say yes.
    assert (found.holds, found.answer) == (True, "with care")
    assert "homogeneity" in found.untried
    assert "not tried, though they apply: homogeneity" in found.why[-1]
    only = sf.verify(leaky(), policy(), attacks=False)
    assert (only.attacks, only.holds, only.answer) == ((), True, "with care")
    named = sf.attacks.BackgroundKnowledge("ill", known_not=["flu"])
    assert [each.attack for each in sf.verify(leaky(), policy(), attacks=[named]).attacks] == [
        "background-knowledge"
    ]


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize(
    "kind", ["break-merge", {"method": "anatomy", "l": 2}, {"method": "slicing", "l": 2}]
)
def test_every_kind_of_release_is_attacked(kind, tmp_path):
    ill = ["flu", "gout", "hiv", "ulcer"] * 8
    table = pa.table({"age": ["3*"] * 16 + ["4*"] * 16, "zip": ["1", "2"] * 16, "ill": ill})
    roles = {"quasi_identifiers": ["age", "zip"], "sensitive": ["ill"]}
    decoupled = sf.decouple(table, kind, output=tmp_path / "out", **roles)
    for given in (decoupled, tmp_path / "out", sf.decouple(table, kind, **roles)):
        found = sf.verify(given)
        assert found.holds, str(found)
        assert found.attack("homogeneity", "ill").of == 32
    names = {each.attack for each in found.attacks}
    assert names == set(sf.attacks.ATTACKS)


def test_a_table_of_another_tool_is_judged_by_roles_alone(tmp_path):
    frame = pd.DataFrame(
        {
            "age": ["[20, 30[", "[20, 30[", "[30, 40[", "[30, 40[", "*"],
            "zip": ["130**", "130**", "148**", "148**", "*"],
            "ill": ["flu", "gout", "hiv", "hiv", "cancer"],
        }
    )
    roles = {"quasi_identifiers": ["age", "zip"], "sensitive": ["ill"]}
    pc.write_csv(pa.Table.from_pandas(frame), tmp_path / "arx.csv")
    for given in (frame, tmp_path / "arx.csv"):
        found = sf.verify(given, **roles)
        # The row of stars is of the one person who fits no other class.
        assert found.attack("homogeneity").of == 5
        assert found.attack("homogeneity").people == 3
        assert found.answer == "no"


def test_an_empty_release_betrays_nobody(tmp_path):
    one = pa.table({"age": ["30"], "ill": ["flu"]})
    columns = {"age": {"role": "quasi-identifier", "hierarchy": "star"}, "ill": "sensitive"}
    strict = sf.Policy(columns=columns, models=[sf.models.KAnonymity(2)], suppression="100%")
    release = sf.anonymize(one, strict, output=tmp_path / "out")
    assert sf.verify(release).holds


def test_wrong_requests_are_answered():
    with pytest.raises(
        UnknownNameError, match=r"no attack 'homogenity'. Did you mean 'homogeneity'"
    ):
        sf.verify(safe(), **ROLES, attacks=["homogenity"])
    with pytest.raises(ParameterError, match=r"threshold must be a number above 0"):
        sf.verify(safe(), **ROLES, threshold=0)
    with pytest.raises(ParameterError, match=r"people must be an integer of at least 0"):
        sf.verify(safe(), **ROLES, people=-1)
    with pytest.raises(UnknownColumnError, match=r"no column 'agee'"):
        sf.verify(safe(), quasi_identifiers=["agee"], sensitive=["ill"])
    with pytest.raises(UnknownNameError, match=r"no attack 'nothing'"):
        sf.verify(safe(), **ROLES).attack("nothing")


def test_a_list_of_people_from_elsewhere_is_linked():
    table = pa.table({"age": ["30-39", "40-49"], "ill": ["flu", "hiv"]})
    drivers = pa.table({"name": ["Ann", "Bob"], "age": [35, 41]})
    found = sf.verify(table, **ROLES, outside=drivers)
    assert {each.settings["view"] for each in found.attacks if each.attack == "linking"} >= {
        "prosecutor",
        "journalist",
    }
    assert any("Bob" in str(case) for each in found.attacks for case in each.worst)


def test_who_is_in_the_data_is_attacked_with_the_data_and_told():
    ages = list(range(30, 46))
    original = pa.table({"age": ages, "ill": ["flu", "gout", "hiv", "ulcer"] * 4})
    release = sf.decouple(original, {"method": "anatomy", "l": 2}, **ROLES)
    outcome = sf.verify(release, data=original).attack("membership")
    assert outcome.tried
    assert not outcome.judged
    assert not sf.verify(release).attack("membership").tried


def test_what_two_releases_tell_together_is_found():
    first = safe()
    more = pa.concat_tables([first, pa.table({"age": ["3*"], "ill": ["hiv"]})])
    old, new = (sf.decouple(each, **ROLES) for each in (first, more))
    outcome = sf.verify(new, earlier=old).attack("composition")
    assert outcome.people == 1
    assert sf.verify(new).attack("composition").note == (
        "no release of the same people before this one was named; if there is one, give it "
        "(--earlier)"
    )


def test_a_yes_does_not_deny_what_is_only_told():
    judged = Outcome("linking", None, people=0, of=9, prior=0.1, posterior=0.2, threshold=0.75)
    told = replace(judged, attack="membership", people=9, posterior=0.98, judged=False)
    verdict = Verdict((Check("rows", "holds"),))
    assert Assessment(verdict, (judged,)).why == (
        "the promise holds and no attack puts any person at risk",
    )
    found = Assessment(verdict, (judged, told))
    assert found.answer == "yes"
    assert found.why == (
        "the promise holds and no attack that is judged puts any person at risk",
        f"told only: {told}",
    )
