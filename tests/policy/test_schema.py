"""The JSON Schema takes what the reader takes, and catches what an editor can catch."""

import jsonschema
import pytest
import yaml

from sfumato.errors import PolicyError
from sfumato.hierarchy import BUILDERS
from sfumato.losses import LOSSES, Height
from sfumato.models import MODELS
from sfumato.partition import PARTITIONERS
from sfumato.policy import Policy
from sfumato.policy.parts import descriptions, member_settings, parameters
from tests.policy.test_mistakes import GOOD_COLUMNS, MISTAKES
from tests.policy.test_reading import FULL, full, small

SCHEMA = Policy.json_schema()
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)

BEYOND_A_SCHEMA = {
    "risk levels that do not rise",
    # What depends on other parts of the policy, on the bounds a class checks, or on the text.
    "no quasi-identifier",
    "levels out of order",
    "levels for a column that is not generalised",
    "an impossible setting of a hierarchy",
    "an impossible parameter",
    "a model of a column that is not there",
    "a model of a column that is not sensitive",
    "a distance in a hierarchy that is not there",
    "no population for a model that asks for one",
    "a population nobody asks for",
    "an option of the method that has none",
    "a search for a method that searches nothing",
    "another search for a method that searches nothing",
    "a method whose classes a population does not fit",
    "a population that would not help",
    "more suppression than there is",
    "a share above one",
    "a weight that is not finite",
    "a column with two roles",
    "a column twice, once in quotes",
    "an anchor",
    "two documents",
}


def errors_of(text, validator=VALIDATOR):
    return list(validator.iter_errors(yaml.safe_load(text)))


def good(**changes):
    return {
        "columns": {"age": "quasi-identifier", "disease": "sensitive"},
        "models": [{"model": "k-anonymity", "k": 2}],
        **changes,
    }


@pytest.mark.usefixtures("patience")
def test_the_schema_is_one():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


SHORT = """
columns: {2020: quasi-identifier, age: {role: quasi-identifier, hierarchy: , levels: null}}
other:
models: [{model: k-anonymity, k: 2}]
suppression: 5%
population: ~
"""


@pytest.mark.parametrize("text", [FULL, SHORT, full().to_yaml(), small().to_yaml()])
def test_what_the_reader_takes_the_schema_takes(text):
    assert isinstance(Policy.from_yaml(text), Policy)
    # JSON has no other keys than text, and editors read YAML keys as JSON does.
    content = yaml.safe_load(text.replace("2020:", "'2020':"))
    assert not list(VALIDATOR.iter_errors(content))


@pytest.mark.parametrize("kind", list(MODELS.values()), ids=list(MODELS))
def test_the_example_of_every_model_is_taken_and_its_misspelling_is_not(kind):
    settings = member_settings(kind.example(), "model")
    assert not list(VALIDATOR.iter_errors(good(models=[settings])))
    assert list(VALIDATOR.iter_errors(good(models=[{**settings, "misspelt": 1}])))
    for name in settings:
        required = name == "model" or name in _required(kind)
        without = {key: value for key, value in settings.items() if key != name}
        assert bool(list(VALIDATOR.iter_errors(good(models=[without])))) == required


def _required(kind):
    from sfumato.policy.parts import is_required

    return [name for name, (field, _) in parameters(kind).items() if is_required(field)]


@pytest.mark.parametrize("kind", list(BUILDERS.values()), ids=list(BUILDERS))
def test_the_example_of_every_hierarchy_is_taken(kind):
    settings = member_settings(kind.example(), "kind")
    columns = {"age": {"role": "quasi-identifier", "hierarchy": settings}}
    assert not list(VALIDATOR.iter_errors(good(columns=columns)))
    settings["misspelt"] = 1
    assert list(VALIDATOR.iter_errors(good(columns=columns)))


@pytest.mark.parametrize("kind", list(LOSSES.values()), ids=list(LOSSES))
def test_the_example_of_every_loss_is_taken(kind):
    assert not list(VALIDATOR.iter_errors(good(loss=member_settings(kind.example(), "loss"))))
    assert not list(VALIDATOR.iter_errors(good(loss=kind.name)))


@pytest.mark.parametrize(
    "kind", [*MODELS.values(), *BUILDERS.values(), *LOSSES.values()], ids=lambda kind: kind.name
)
def test_every_parameter_is_described(kind):
    assert set(descriptions(kind)) >= set(parameters(kind))


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("name", [name for name in MISTAKES if name not in BEYOND_A_SCHEMA])
def test_an_editor_marks_the_mistake(name):
    text, _ = MISTAKES[name]
    try:
        content = yaml.safe_load(text)
    except (yaml.YAMLError, RecursionError):
        return  # no editor gets further than that either
    assert list(VALIDATOR.iter_errors(content))


@pytest.mark.parametrize("name", sorted(BEYOND_A_SCHEMA))
def test_what_a_schema_is_said_not_to_catch_is_really_beyond_it(name):
    text, _ = MISTAKES[name]
    contents = list(yaml.safe_load_all(text))
    assert not list(VALIDATOR.iter_errors({**good(), **contents[0]}))


def test_the_searches_are_described_when_they_are_given():
    validator = jsonschema.Draft202012Validator(Policy.json_schema(searches={"height": Height}))
    search = GOOD_COLUMNS + "models: [{model: k-anonymity, k: 2}]\nsearch: "
    assert errors_of(search + "height", validator) == []
    assert errors_of(search + "{search: height, aggregate: sum}", validator) == []
    assert errors_of(search + "heigth", validator)
    assert errors_of(search + "{search: height, agregate: sum}", validator)


METHODS = jsonschema.Draft202012Validator(Policy.json_schema(methods=PARTITIONERS))


@pytest.mark.parametrize(
    "method",
    [
        "full-domain",
        {"method": "full-domain"},
        "top-down",
        {"method": "top-down", "best": "loss"},
        "mondrian",
        {"method": "mondrian", "relaxed": True},
        {"method": "bottom-up", "nodes": 100},
        *(member_settings(kind.example(), "method") for kind in PARTITIONERS.values()),
    ],
    ids=str,
)
def test_a_method_is_taken_by_the_schema_and_by_the_reader(method):
    assert not list(METHODS.iter_errors(good(method=method)))
    Policy(**good(method=method)).make_method(PARTITIONERS)


@pytest.mark.parametrize(
    "method",
    [
        "topdown",
        "incognito",
        ["top-down"],
        None,
        {"best": "loss"},
        {"method": "topdown"},
        {"method": "full-domain", "checks": 10},
        {"method": "top-down", "relaxed": True},
        {"method": "mondrian", "relaxed": "yes"},
        {"method": "bottom-up", "nodes": "many"},
        *({"method": name, "misspelt": 1} for name in PARTITIONERS),
    ],
    ids=str,
)
def test_a_wrong_method_is_marked_by_an_editor_and_refused_by_the_reader(method):
    assert list(METHODS.iter_errors(good(method=method)))
    with pytest.raises(PolicyError, match="method"):
        Policy(**good(method=method)).make_method(PARTITIONERS)


def test_every_method_is_described_and_full_domain_comes_first():
    bare, *entries = METHODS.schema["properties"]["method"]["anyOf"]
    names = ["full-domain", "regional", *PARTITIONERS]
    assert bare == {"enum": names}
    assert [entry["title"] for entry in entries] == names
    assert all(entry["description"] for entry in entries)
    for kind in PARTITIONERS.values():
        assert set(descriptions(kind)) >= set(parameters(kind))


def test_methods_are_left_open_when_nobody_says_which_there_are():
    assert not list(VALIDATOR.iter_errors(good(method="of-a-plug-in")))
    assert not list(VALIDATOR.iter_errors(good(method={"method": "of-a-plug-in", "x": 1})))


def test_a_setting_shows_its_default_and_what_it_means():
    losses = SCHEMA["properties"]["loss"]["anyOf"]
    height = next(entry for entry in losses if entry.get("title") == "height")
    assert height["properties"]["aggregate"]["default"] == "sum"
    assert "geometric-mean" in height["properties"]["aggregate"]["enum"]
    assert height["properties"]["aggregate"]["description"].startswith("How attributes")
    assert SCHEMA["properties"]["missing"]["enum"] == ["own-value", "matches-any", "suppress"]
