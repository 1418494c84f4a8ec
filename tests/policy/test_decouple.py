"""How a policy says that a table is decoupled: reading, writing, making, and what does not fit."""

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.decouplings import DECOUPLINGS, Anatomy, BreakMerge, Slicing
from sfumato.errors import ParameterError, PolicyError
from sfumato.policy import DecouplingRule, Policy
from sfumato.policy.parts import descriptions, is_required, member_settings, parameters
from sfumato.schema import Columns
from tests.policy.test_reading import NAMES, small

GOOD = """\
columns: {age: quasi-identifier, zip: quasi-identifier, ill: sensitive, note: plain, gone: dropped}
models: [{model: k-anonymity, k: 2}]
"""


def complaint(decouple):
    with pytest.raises(PolicyError) as caught:
        Policy.from_yaml(GOOD + f"decouple: {decouple}", origin="p").make_decoupling(DECOUPLINGS)
    return str(caught.value)


def made(decouple):
    return Policy.from_yaml(GOOD + f"decouple: {decouple}").make_decoupling(DECOUPLINGS)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("break-merge", BreakMerge()),
        ("{method: break-merge}", BreakMerge()),
        ("{method: anatomy, l: 3}", Anatomy(l=3)),
        ("{method: slicing, l: 3}", Slicing(l=3)),
        ("{method: slicing, l: 3, columns: null, overlap: 0.5}", Slicing(l=3, overlap=0.5)),
        (
            "{method: slicing, l: 2, cuts: relaxed, check: worlds, aim: membership}",
            Slicing(l=2, cuts="relaxed", check="worlds", aim="membership"),
        ),
        (
            "{method: slicing, l: 2, form: p-alpha, alpha: 1, categories: [[hiv], [flu, cold]]}",
            Slicing(l=2, form="p-alpha", alpha=1, categories=[["hiv"], "flu + cold"]),
        ),
        (
            "{method: slicing, l: 3, columns: [age + zip, ill]}",
            Slicing(l=3, columns=[["age", "zip"], ["ill"]]),
        ),
        (
            "\n  method: slicing\n  l: 3\n  columns:\n    - [age]\n    - [zip, ill]",
            Slicing(l=3, columns=["age", "zip+ill"]),
        ),
    ],
)
def test_a_policy_names_a_decoupling_and_makes_it(text, expected):
    assert made(text) == expected


@pytest.mark.parametrize("text", ["", "null", "~"])
def test_a_policy_need_not_say_how(text):
    policy = Policy.from_yaml(GOOD + f"decouple: {text}")
    assert policy == Policy.from_yaml(GOOD)
    assert policy.make_decoupling({}) is None
    assert "decouple" not in policy.to_yaml()


def test_columns_are_the_same_however_they_are_written():
    texts = ["age+zip", ["ill"]], [["age", "zip"], "ill"], (("age", "zip"), ("ill",))
    columns = {"age": "quasi-identifier", "zip": "quasi-identifier", "ill": "sensitive"}
    ways = [{"method": "slicing", "l": 2, "columns": text} for text in texts]
    policies = [small(columns=columns, decouple=way) for way in ways]
    policies.append(small(columns=columns, decouple=Slicing(l=2, columns=texts[0])))
    policies.append(small(columns=columns, decouple=DecouplingRule.read(ways[0])))
    assert all(policy == policies[0] for policy in policies)
    assert len(set(map(hash, policies))) == 1
    text = policies[0].to_yaml()
    assert Policy.from_yaml(text) == policies[0]


def test_columns_whose_names_look_like_numbers_are_names():
    text = """\
columns: {2020: quasi-identifier, 1e5: quasi-identifier, no: sensitive}
models: [{model: k-anonymity, k: 2}]
decouple: {method: slicing, l: 2, columns: [2020, [1e5, no]]}
"""
    policy = Policy.from_yaml(text)
    assert policy.make_decoupling(DECOUPLINGS).columns == (("2020",), ("1e5", "no"))
    assert Policy.from_yaml(policy.to_yaml()) == policy


@pytest.mark.parametrize("kind", list(DECOUPLINGS.values()), ids=list(DECOUPLINGS))
def test_every_decoupling_survives_a_policy(kind):
    policy = small(decouple=kind.example())
    again = Policy.from_yaml(policy.to_yaml())
    assert again == policy
    assert again.make_decoupling(DECOUPLINGS) == kind.example()


@given(
    name=NAMES.filter(lambda name: name.lower() not in ("", "~", "null")),
    options=st.dictionaries(
        NAMES.filter(lambda name: name not in ("method", "columns")),
        st.none() | st.booleans() | st.integers(-(10**9), 10**9) | NAMES,
        max_size=3,
    ),
)
def test_any_decoupling_reads_back_as_it_was_written(name, options):
    policy = small(decouple={"method": name, **options})
    again = Policy.from_yaml(policy.to_yaml())
    assert again == policy
    assert hash(again) == hash(policy)


@pytest.mark.parametrize(
    ("decouple", "text"),
    [
        ("break", "p, line 3, decouple: no decoupling 'break'. "),
        ("5", "p, line 3, decouple: no decoupling '5'. Known: "),
        ("[anatomy]", "p, line 3, decouple: must be a text, got a list of 1"),
        (
            "{l: 3}",
            (
                "p, line 3, decouple: 'method' is missing: it gives the name, as in "
                "{method: break-merge}."
            ),
        ),
        (
            "\n  l: 3\n  method: slice",
            "p, line 5, decouple.method: no decoupling 'slice'. Did you mean 'slicing'?",
        ),
        ("anatomy", "p, line 3, decouple: anatomy needs 'l': Fewest different values"),
        (
            "\n  method: anatomy\n  l: 1",
            "p, line 5, decouple.l: l must be an integer of at least 2, got 1",
        ),
        ("{method: anatomy, l: many}", "p, line 3, decouple.l: must be a whole number, got 'many'"),
        (
            "{method: break-merge, l: 3}",
            "p, line 3, decouple.l: break-merge has no parameter 'l'.",
        ),
        (
            "{method: slicing, l: 3, columns: age+zip}",
            "p, line 3, decouple.columns: must be a list, got 'age+zip'",
        ),
        (
            "\n  method: slicing\n  l: 3\n  columns:\n    - age\n    - [zip, [ill]]",
            "p, line 8, decouple.columns[1][1]: must be a text, got a list of 1",
        ),
        (
            "\n  method: slicing\n  l: 3\n  columns: [age+zip, ill]\n  most: 2",
            "p, line 7, decouple.most: most must be left out, got 2",
        ),
    ],
)
def test_a_mistake_is_told_with_its_line_and_what_there_is(decouple, text):
    assert complaint(decouple).startswith(text)


class TestContradictions:
    @pytest.mark.parametrize(
        ("columns", "text"),
        [
            (
                "[agee+zip, ill]",
                (
                    "p, line 3, decouple.columns[0]: slicing publishes 'agee', which is not under "
                    "columns. Did you mean 'age'? Known: 'age', 'zip', 'ill'."
                ),
            ),
            (
                "[age+zip, [ill, gone]]",
                (
                    "p, line 3, decouple.columns[1]: slicing publishes 'gone', which is dropped: "
                    "it takes quasi-identifiers, sensitive and plain columns."
                ),
            ),
            ("[age+zip+ill]", "p, line 3, decouple.columns: columns must be at least two columns"),
            ("[age, ill]", "p, line 3, decouple.columns: columns must be columns that hold every"),
            ("[age+ill, zip+ill]", "p, line 3, decouple.columns: columns must be columns of which"),
            ("[age+age, zip, ill]", "p, line 3, decouple.columns: columns must be columns that"),
        ],
    )
    def test_columns_that_do_not_fit_are_refused_when_the_policy_is_read(self, columns, text):
        with pytest.raises(PolicyError) as caught:
            Policy.from_yaml(
                GOOD + f"decouple: {{method: slicing, l: 2, columns: {columns}}}", origin="p"
            )
        assert str(caught.value).startswith(text)

    def test_all_columns_that_do_not_fit_are_told_at_once(self):
        with pytest.raises(PolicyError, match="2 mistakes") as caught:
            Policy.from_yaml(GOOD + "decouple: {method: slicing, columns: [a, zip+name]}")
        assert [path for path, _ in caught.value.faults] == [
            ("decouple", "columns", 0),
            ("decouple", "columns", 1),
        ]

    @given(
        st.lists(
            st.lists(st.sampled_from(["age", "zip", "ill"]), max_size=3).map(tuple), max_size=4
        ).map(tuple)
    )
    def test_a_policy_takes_the_columns_that_slicing_takes(self, columns):
        roles = {"age": "quasi-identifier", "zip": "quasi-identifier", "ill": "sensitive"}
        try:
            Columns.of(columns, ["age", "zip"], ["ill"])
        except ParameterError:
            with pytest.raises(PolicyError, match="decouple"):
                small(columns=roles, decouple={"method": "slicing", "l": 2, "columns": columns})
        else:
            rule = {"method": "slicing", "l": 2, "columns": columns}
            assert small(columns=roles, decouple=rule).decouple.columns == columns


SCHEMA = jsonschema.Draft202012Validator(Policy.json_schema(decouplings=DECOUPLINGS))


def good(decouple):
    columns = {"age": "quasi-identifier", "zip": "quasi-identifier", "ill": "sensitive"}
    models = [{"model": "k-anonymity", "k": 2}]
    return {"columns": columns, "models": models, "decouple": decouple}


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize(
    "decouple",
    [
        None,
        "break-merge",
        {"method": "anatomy", "l": 2},
        {"method": "slicing", "l": 2, "columns": ["age+zip", "ill"]},
        {"method": "slicing", "l": 2, "columns": [["age", "zip"], ["ill"]]},
        *(member_settings(kind.example(), "method") for kind in DECOUPLINGS.values()),
    ],
    ids=str,
)
def test_a_decoupling_is_taken_by_the_schema_and_by_the_reader(decouple):
    SCHEMA.check_schema(SCHEMA.schema)
    assert not list(SCHEMA.iter_errors(good(decouple)))
    Policy(**good(decouple)).make_decoupling(DECOUPLINGS)


@pytest.mark.parametrize(
    "decouple",
    [
        "breakmerge",
        "anatomy",
        ["break-merge"],
        {"l": 3},
        {"method": "anatomy"},
        {"method": "anatomy", "l": "many"},
        {"method": "slicing", "l": 2, "columns": "age+zip"},
        *({"method": name, "misspelt": 1} for name in DECOUPLINGS),
    ],
    ids=str,
)
def test_a_wrong_one_is_marked_by_an_editor_and_refused_by_the_reader(decouple):
    assert list(SCHEMA.iter_errors(good(decouple)))
    with pytest.raises(PolicyError, match="decouple"):
        Policy(**good(decouple)).make_decoupling(DECOUPLINGS)


def test_every_decoupling_is_described_and_open_where_they_are_not_given():
    entry = SCHEMA.schema["properties"]["decouple"]
    assert entry["description"]
    bare, *members, nothing = entry["anyOf"]
    needs = {
        name: any(is_required(field) for field, _ in parameters(kind).values())
        for name, kind in DECOUPLINGS.items()
    }
    assert bare == {"enum": [name for name, needed in needs.items() if not needed]}
    assert [member["title"] for member in members] == list(DECOUPLINGS)
    assert nothing == {"type": "null"}
    for kind in DECOUPLINGS.values():
        assert set(descriptions(kind)) >= set(parameters(kind))
    some = jsonschema.Draft202012Validator(Policy.json_schema())
    assert not list(some.iter_errors(good("anything")))
