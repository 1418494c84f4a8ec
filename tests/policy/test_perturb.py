"""How a policy says that values are perturbed, and what cannot be promised then."""

import jsonschema
import pytest
import yaml

from sfumato.errors import PolicyError
from sfumato.perturbations import PERTURBATIONS, PlainNoise, Pram, RankSwapping, Rounding, TopCoding
from sfumato.policy import Policy

K = "models: [{model: k-anonymity, k: 2}]\n"
NOISE = "{kind: noise, sd: 10%}"


def text_with(pay="plain", *, age="quasi-identifier", models=K, more=""):
    return f"columns:\n  age: {age}\n  pay: {pay}\n  ill: sensitive\n" + models + more


def complaint(*args, **options):
    with pytest.raises(PolicyError) as caught:
        Policy.from_yaml(text_with(*args, **options), origin="p")
    return str(caught.value)


def plain(perturb):
    return f"{{role: plain, perturb: {perturb}}}"


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize(
    ("perturb", "expected"),
    [
        (NOISE, (PlainNoise(sd="10%"),)),
        ("[{kind: top-coding, above: 99%}, {kind: rounding, step: 10}]",
         (TopCoding(above="99%"), Rounding(step=10))),
        (f"[{{kind: rounding, step: 10}}, {NOISE}]", (Rounding(step=10), PlainNoise(sd="10%"))),
        ("{kind: rank-swapping, distance: 5%}", (RankSwapping(distance="5%"),)),
        ("{kind: pram, matrix: {yes: {yes: 0.9, no: 0.1}, no: {no: 1}}}",
         (Pram(matrix={"yes": {"yes": 0.9, "no": 0.1}, "no": {"no": 1}}),)),
        ("{kind: pram, matrix: {1: {1: 0.9, 2: 0.1}}}",
         (Pram(matrix={"1": {"1": 0.9, "2": 0.1}}),)),
    ],
)  # fmt: skip
def test_a_policy_states_what_changes_a_column(perturb, expected):
    policy = Policy.from_yaml(text_with(plain(perturb)))
    assert policy.columns["pay"].perturbations == expected
    assert policy.perturbations == {"pay": expected}
    assert policy.randomised == (("pay",) if expected[-1].random else ())
    again = Policy.from_yaml(policy.to_yaml())
    assert again == policy
    assert hash(again) == hash(policy)
    jsonschema.validate(yaml.safe_load(policy.to_yaml()), Policy.json_schema())


def test_a_policy_that_perturbs_nothing_does_not_mention_it():
    policy = Policy.from_yaml(text_with())
    assert policy.perturbations == {}
    assert "perturb" not in policy.to_yaml()
    assert Policy.from_yaml(text_with(plain("null"))) == policy


MISTAKES = {
    "a share for what is no weight": (
        plain("5%"),
        "a share is for weights. Say how, as in perturb: {kind: noise, sd: 10%}",
    ),
    "a perturbation for a weight": (
        f"{{role: weight, perturb: {NOISE}}}",
        "a weight is perturbed by a share of it only, as in perturb: 5%",
    ),
    "chance twice": (
        plain(f"[{NOISE}, {{kind: rank-swapping, distance: 2}}]"),
        "p, line 3, columns.pay.perturb: chance may change a column once, and last",
    ),
    "chance before the end": (
        plain(f"[{NOISE}, {{kind: rounding, step: 10}}]"),
        "p, line 3, columns.pay.perturb: chance may change a column once, and last",
    ),
    "an identifier": (
        f"{{role: identifier, perturb: {NOISE}}}",
        "p, line 3, columns.pay.perturb: 'perturb' means nothing for a column that is identifier",
    ),
    "a misspelt kind": (
        plain("{kind: rank-swaping, distance: 5%}"),
        "perturb.kind: no perturbation 'rank-swaping'. Did you mean 'rank-swapping'?",
    ),
    "a misspelt kind in a list": (
        plain("[{kind: rounding, step: 5}, {kind: nois, sd: 5}]"),
        "p, line 3, columns.pay.perturb[1].kind: no perturbation 'nois'. Did you mean 'noise'?",
    ),
    "no kind": (plain("{sd: 5}"), "p, line 3, columns.pay.perturb: 'kind' is missing"),
    "an empty list": (plain("[]"), "must name a perturbation, as in {kind: rounding, step: 10}"),
    "a setting that the kind does not have": (
        plain("{kind: noise, distance: 5}"),
        "p, line 3, columns.pay.perturb.distance: ",
    ),
    "a setting that is missing": (plain("noise"), "noise needs 'sd'"),
    "a setting beyond its limits": (
        plain("{kind: noise, sd: 0}"),
        "p, line 3, columns.pay.perturb.sd: ",
    ),
    "lines of a matrix that do not add up": (
        plain("{kind: pram, matrix: {a: {a: 0.5, b: 0.4}}}"),
        "probabilities that add up to 1 in each line",
    ),
    "a column within itself": (
        plain("{kind: record-swapping, share: 5%, within: [pay]}"),
        "p, line 3, columns.pay.perturb: values are exchanged within levels of other columns",
    ),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes_are_answered_with_their_place(name):
    given, said = MISTAKES[name]
    assert said in complaint(given)


@pytest.mark.parametrize(
    "model",
    [
        "{model: distinct-l-diversity, column: pay, l: 2}",
        "{model: t-closeness, column: pay, t: 0.3}",
        "{model: alpha-k-anonymity, column: pay, alpha: 0.5, k: 2}",
        "{model: delta-disclosure, column: pay, delta: 1}",
    ],
)
def test_models_of_values_that_chance_changes_are_refused(model):
    models = f"models:\n  - {model}\n"
    said = complaint(f"{{role: sensitive, perturb: {NOISE}}}", models=models)
    assert "p, line 6, models[0]" in said
    assert "chance changes them (noise)" in said
    assert "nothing would be promised of true ones" in said
    # Every value has one published value, so different published values are different true ones.
    fixed = "{role: sensitive, perturb: {kind: rounding, step: 10}}"
    assert Policy.from_yaml(text_with(fixed, models=models)).models


@pytest.mark.parametrize(
    "model",
    [
        "{model: k-map, k: 2}",
        "{model: estimated-k-map, k: 2, fraction: 0.1}",
        "{model: delta-presence, minimum: 0.1, maximum: 0.9}",
    ],
)
def test_models_of_a_population_are_refused_where_chance_changes_what_others_know(model):
    models = f"models:\n  - {model}\n"
    more = "population: people.csv\n" if "estimated" not in model else ""
    said = complaint(age=f"{{role: quasi-identifier, perturb: {NOISE}}}", models=models, more=more)
    assert "compares with people outside the data by true values" in said
    assert "'age' (noise)" in said


@pytest.mark.parametrize("kind", [kind for kind in PERTURBATIONS.values() if kind.rearranges])
def test_exchanges_between_rows_of_people_with_several_are_refused(kind):
    settings = {"distance": 2} if kind is RankSwapping else {"share": 0.5}
    columns = {
        "id": "identifier",
        "age": "quasi-identifier",
        "pay": {"role": "plain", "perturb": kind(**settings)},
    }
    models = [{"model": "k-anonymity", "k": 2}]
    with pytest.raises(PolicyError, match=r"their rows would not fit together\. Use noise or pram"):
        Policy(columns=columns, models=models, person="id")
    assert Policy(columns=columns, models=models).randomised == ("pay",)


def test_a_set_takes_no_perturbation():
    said = complaint(f"{{role: set, perturb: {NOISE}}}")
    assert "'perturb' means nothing for a column that is set" in said
