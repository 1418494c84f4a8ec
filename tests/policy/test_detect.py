"""How a policy says that dependencies are looked for: reading, writing, and what does not fit."""

import jsonschema
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.errors import PolicyError
from sfumato.networks import LEARNERS, Network, WekaIcs
from sfumato.policy import DetectionRule, Policy
from sfumato.reports.dossier import open_dossier
from sfumato.reports.sections.dependencies import DEPENDENCIES
from tests.policy.test_reading import NAMES

GOOD = """\
columns: {age: quasi-identifier, zip: quasi-identifier, ill: sensitive, note: plain}
models: [{model: k-anonymity, k: 2}]
"""
VALIDATOR = jsonschema.Draft202012Validator(Policy.json_schema())


def policy(detect: str) -> Policy:
    return Policy.from_yaml(GOOD + f"detect: {detect}", origin="p")


def settings(detect: object) -> dict:
    columns = {"age": "quasi-identifier", "zip": "quasi-identifier", "ill": "sensitive"}
    models = [{"model": "k-anonymity", "k": 2}]
    return {"columns": columns, "models": models, "detect": detect}


def test_without_it_nothing_is_written():
    assert Policy.from_yaml(GOOD).detect == DetectionRule()
    assert "detect" not in Policy.from_yaml(GOOD).to_yaml()


@pytest.mark.parametrize(
    "network",
    ["[age -> zip, zip -> ill]", "age -> zip -> ill", "[[age, zip], zip → ill]"],
)
def test_arrows_are_written_in_any_way(network):
    assert policy(f"{{network: {network!s}}}").detect.network == (("age", "zip"), ("zip", "ill"))


def test_objects_made_in_python_are_taken():
    network = Network.of(["age", "ill"], [("age", "ill")])
    assert DetectionRule(network=network).network == (("age", "ill"),)
    assert DetectionRule(learner=WekaIcs(most_given=0)).learner.most_given == 0


@pytest.mark.parametrize("name", LEARNERS)
def test_every_learner_can_be_named(name):
    made = policy(f"{{learner: {name}}}")
    assert made.detect.learner == LEARNERS[name]()
    assert Policy.from_yaml(made.to_yaml()) == made
    VALIDATOR.validate(settings({"learner": name}))


@given(st.lists(st.tuples(NAMES, NAMES), max_size=4), st.lists(NAMES, unique=True), st.floats(0, 9))
def test_what_is_written_is_read_back(arrows, order, prior):
    try:
        rule = DetectionRule(network=arrows, order=order, prior=prior)
    except PolicyError as error:
        assert "circle" in str(error)  # noqa: PT017 - the only thing that can be wrong
        return
    names = {name for edge in arrows for name in edge} | {*order}
    columns = dict.fromkeys(names, "sensitive") | {"age": "quasi-identifier"}
    made = Policy(columns=columns, models=[sf.models.KAnonymity(2)], detect=rule)
    again = Policy.from_yaml(made.to_yaml())
    assert again.detect == rule
    VALIDATOR.validate(made.to_plain())


def test_a_file_is_looked_for_beside_the_policy(tmp_path):
    (tmp_path / "policy.yaml").write_text(GOOD + "detect: {network: nets/drawn.bif}")
    assert Policy.load(tmp_path / "policy.yaml").detect.network == str(
        tmp_path / "nets" / "drawn.bif"
    )


@pytest.mark.parametrize(
    ("detect", "says"),
    [
        ("{network: age -> zip -> age}", "detect.network: network must be without a circle"),
        ("{network: [age -> zipp]}", "detect.network: 'zipp' is no quasi-identifier"),
        ("{network: [age -> note]}", "detect.network: 'note' is no quasi-identifier"),
        ("{network: [[age]]}", "detect.network[0]: must be a list of 2"),
        ("{network: {age: zip}}", "detect.network: network must be a file that ends in .bif"),
        ("{order: [age, zipp]}", "detect.order[1]: 'zipp' is no quasi-identifier"),
        ("{order: [age, age]}", "detect.order: 'age' is there twice"),
        ("{learner: wekaics}", "detect.learner: no learner 'wekaics'. Did you mean 'weka-ics'?"),
        ("{learner: {learner: ic, mostgiven: 1}}", "detect.learner.mostgiven: ic has no parameter"),
        ("{learner: ic, network: [age -> zip]}", "a network that is given is not learned"),
        ("{prior: -1}", "detect.prior: prior must be a number of at least 0"),
        ("weka-ics", "detect: must be a mapping as in"),
    ],
)
def test_a_mistake_is_told_with_its_line(detect, says):
    with pytest.raises(PolicyError) as caught:
        policy(detect)
    assert str(caught.value).startswith("p, line 3, ")
    assert says in str(caught.value)


LEAKY = pa.table(
    {
        "age": [31, 31, 33, 33, 47, 47, 48, 48] * 2,
        "zip": ["1", "2"] * 8,
        "ill": ["flu", "flu", "flu", "flu", "gout", "gout", "gout", "gout"] * 2,
    }
)


@pytest.mark.usefixtures("patience")
def test_protect_looks_along_the_arrows_of_the_policy(tmp_path):
    columns = {"age": "quasi-identifier", "zip": "quasi-identifier", "ill": "sensitive"}
    asked = Policy(columns=columns, models=[sf.models.KAnonymity(4)])
    learned = sf.protect(LEAKY, asked, support=2).steps[0].findings.rules
    assert learned
    path = tmp_path / "net.bif"
    path.write_text("variable zip { type discrete [ 2 ] { 1, 2 }; }")
    for network in ("age -> ill", [("age", "ill")], "zip -> ill", path):
        done = sf.protect(LEAKY, asked.replace(detect={"network": network}), support=2)
        assert done.findings.learner is None
        # What a class alone tells is found without any arrow, and refined all the same.
        assert bool(done.steps[0].findings.rules) is ("age" in str(network))


def test_a_report_looks_along_the_arrows_of_the_policy():
    columns = {"age": "quasi-identifier", "zip": "quasi-identifier", "ill": "sensitive"}
    asked = Policy(columns=columns, models=[sf.models.KAnonymity(4)])
    release = sf.anonymize(LEAKY, asked)
    dossier = open_dossier(release, policy=asked.replace(detect={"network": "zip -> ill"}))
    assert "the network was given" in str(DEPENDENCIES.of(dossier))
