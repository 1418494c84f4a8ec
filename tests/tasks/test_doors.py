"""Short ways in: names of columns instead of a policy, and a mapping wherever a policy is taken."""

import warnings

import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.errors import InfeasibleError, ParameterError, PolicyError
from sfumato.models import DistinctLDiversity, KAnonymity
from sfumato.schema import Role

ROWS = 40
TABLE = pa.table({
    "name": [f"p{i}" for i in range(ROWS)],
    "age": [20 + i for i in range(ROWS)],
    "sex": ["f", "m"] * (ROWS // 2),
    "ill": ["flu", "gout", "hiv", "flu"] * (ROWS // 4),
    "ward": ["a", "b", "c", "d", "e"] * (ROWS // 5),
})  # fmt: skip
PEOPLE = TABLE.select(["age", "sex", "ill"])
MAPPING = {
    "columns": {
        "age": {"role": "quasi-identifier", "hierarchy": {"kind": "intervals", "widths": [5, 20]}},
        "sex": "quasi-identifier",
        "ill": "sensitive",
    },
    "models": [{"model": "k-anonymity", "k": 4}],
}
POLICY = sf.Policy(**MAPPING)


class TestNamesInsteadOfAPolicy:
    def test_what_is_promised_is_what_the_policy_says(self):
        release = sf.anonymize(PEOPLE, quasi_identifiers=["age", "sex"], sensitive=["ill"], k=6)
        assert release.policy.models == (KAnonymity(6), DistinctLDiversity("ill", 2))
        assert release.verdict.holds
        promised = [model.model for model in release.manifest.models]
        assert promised == ["k-anonymity", "distinct-l-diversity"]
        assert sf.verify(release, release.policy, attacks=False).verdict.holds
        again = sf.anonymize(PEOPLE, sf.Policy.from_yaml(release.policy.to_yaml()))
        assert (again.levels, again.suppressed) == (release.levels, release.suppressed)

    def test_classes_have_five_people_unless_said_otherwise(self):
        release = sf.anonymize(PEOPLE, quasi_identifiers=["age", "sex"], sensitive=["ill"])
        assert release.policy.models[0] == KAnonymity(5)

    def test_columns_that_are_not_named_are_not_published_and_it_is_said(self):
        with pytest.warns(UserWarning, match="not published, because not named: 'name', 'ward'"):
            release = sf.anonymize(TABLE, quasi_identifiers=["age", "sex"], sensitive=["ill"])
        assert release.table.column_names == ["age", "sex", "ill"]
        assert "ward" not in str(release.manifest)

    def test_what_is_harmless_is_published_as_it_is(self):
        with pytest.warns(UserWarning, match=r"not named: 'name'\. "):
            release = sf.anonymize(
                TABLE, quasi_identifiers=["age", "sex"], sensitive=["ill"], plain=["ward"]
            )
        assert release.table.column_names == ["age", "sex", "ill", "ward"]
        assert release.policy.with_role(Role.PLAIN) == ("ward",)

    def test_nothing_is_warned_of_if_all_are_named(self):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            sf.anonymize(PEOPLE, quasi_identifiers=["age", "sex"], sensitive=["ill"])

    def test_a_sensitive_column_of_one_value_is_refused(self):
        alike = PEOPLE.set_column(2, "ill", pa.array(["hiv"] * ROWS))
        with pytest.raises(InfeasibleError, match="ill"):
            sf.anonymize(alike, quasi_identifiers=["age", "sex"], sensitive=["ill"])

    def test_many_columns_are_searched_within_a_limit(self):
        wide = pa.table({f"c{i}": [i % 7, 1, 2, 3] * 5 for i in range(9)})
        release = sf.anonymize(wide, quasi_identifiers=wide.column_names, k=2)
        assert release.policy.search.options["checks"] > 0

    @pytest.mark.parametrize(
        ("given", "text"),
        [
            ({}, "policy must be given, or quasi_identifiers instead of it, got None"),
            ({"sensitive": ["ill"]}, "policy must be given, or quasi_identifiers"),
            ({"quasi_identifiers": []}, "quasi_identifiers must be at least one column"),
            ({"quasi_identifiers": "age"}, "quasi_identifiers must be a list of column names"),
            (
                {"quasi_identifiers": ["age"], "sensitive": ["age"]},
                r"columns must be named once, got \['age'\]",
            ),
            ({"policy": POLICY, "k": 3}, "policy must be given alone"),
            ({"policy": MAPPING, "quasi_identifiers": ["age"]}, "policy must be given alone"),
            ({"quasi_identifiers": ["age"], "k": 1}, "k must be an integer of at least 2"),
        ],
    )
    def test_what_cannot_be_meant_is_refused(self, given, text):
        with pytest.raises(ParameterError, match=text):
            sf.anonymize(PEOPLE, **given)

    def test_a_column_that_is_not_there_is_answered_with_the_nearest(self):
        with (
            pytest.warns(UserWarning, match="not named"),
            pytest.raises(PolicyError, match=r"no column 'agee'\. Did you mean 'age'"),
        ):
            sf.anonymize(PEOPLE, quasi_identifiers=["agee"])


class TestAMappingIsAPolicy:
    def test_it_reads_as_the_policy(self):
        assert sf.policy.policy_of(MAPPING) == POLICY
        assert sf.policy.policy_of(POLICY) is POLICY

    @pytest.mark.usefixtures("patience")
    def test_it_is_taken_wherever_a_policy_is(self):
        release = sf.anonymize(PEOPLE, MAPPING)
        assert release.policy == POLICY
        assert release.levels == sf.anonymize(PEOPLE, POLICY).levels
        assert sf.verify(PEOPLE, MAPPING, attacks=False).verdict == (
            sf.verify(PEOPLE, POLICY, attacks=False).verdict
        )
        assert sf.inspect(PEOPLE, policy=MAPPING) == sf.inspect(PEOPLE, policy=POLICY)
        assert sf.detect(PEOPLE, policy=MAPPING).to_dict() == (
            sf.detect(PEOPLE, policy=POLICY).to_dict()
        )
        assert sf.utility(PEOPLE, release, policy=MAPPING).to_dict() == (
            sf.utility(PEOPLE, release, policy=POLICY).to_dict()
        )
        assert sf.protect(PEOPLE, MAPPING).release.policy is not None
        person = {"age": 25, "sex": "m"}
        assert sf.explain(release, person, policy=MAPPING).to_dict() == (
            sf.explain(release, person, policy=POLICY).to_dict()
        )
        assert sf.decouple(PEOPLE, {"method": "anatomy", "l": 2}, policy=MAPPING).verdict.holds

    @pytest.mark.usefixtures("patience")
    def test_policies_that_are_compared_may_be_mappings(self):
        alone = sf.compare(PEOPLE, MAPPING, vary={"k": [2, 4]})
        assert [point.name for point in alone.points] == ["k=2", "k=4"]
        strict = {**MAPPING, "models": [KAnonymity(8)]}
        both = sf.compare(PEOPLE, {"mild": MAPPING, "strict": strict})
        assert [point.name for point in both.points] == ["mild", "strict"]
        listed = sf.compare(PEOPLE, [MAPPING, strict])
        assert [point.name for point in listed.points] == ["policy 1", "policy 2"]

    def test_mistakes_are_told_as_in_a_file(self):
        wrong = {"columns": {"age": "quasi-identifer"}, "models": [{"model": "k-anonimity"}]}
        with pytest.raises(PolicyError) as error:
            sf.anonymize(PEOPLE, wrong)
        with pytest.raises(PolicyError) as written:
            sf.Policy.from_yaml(
                "columns: {age: quasi-identifer}\nmodels: [{model: k-anonimity}]", origin="policy"
            )
        assert error.value.faults == written.value.faults
        assert "Did you mean 'quasi-identifier'" in str(error.value)

    @pytest.mark.parametrize("given", [5, ["p.yaml"], {1: 2}])
    def test_what_is_no_policy_is_refused(self, given):
        with pytest.raises((ParameterError, PolicyError), match="policy"):
            sf.anonymize(PEOPLE, given)
