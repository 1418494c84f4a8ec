"""A changed policy in the text it came from: it says what it must, and keeps what stayed."""

from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.models import AlphaKAnonymity, DistinctLDiversity, KAnonymity
from sfumato.policy.editing import edit_text
from sfumato.tasks.draft import draft

pytestmark = pytest.mark.usefixtures("patience")

SAMPLES = {
    path.name: path.read_text(encoding="utf-8")
    for path in sorted(sf.samples.policy_path("health").parent.glob("*.policy.yaml"))
}

NAMES = st.text(
    st.characters(codec="utf-8", exclude_categories=("Cc", "Cs")), min_size=1, max_size=6
)
ROLES = st.sampled_from(
    [
        "plain",
        "dropped",
        "identifier",
        {"role": "quasi-identifier", "hierarchy": {"kind": "auto"}},
        {"role": "quasi-identifier", "hierarchy": {"kind": "intervals", "widths": [5, 10]}},
        {"role": "sensitive", "known": False},
    ]
)
MODELS = st.lists(
    st.one_of(
        st.integers(2, 9).map(KAnonymity),
        st.integers(2, 5).map(lambda k: {"model": "maximum-risk", "risk": 1 / k}),
    ),
    min_size=1,
    max_size=3,
    unique_by=str,
)


@st.composite
def policies(draw):
    columns = draw(st.dictionaries(NAMES, ROLES, min_size=1, max_size=5))
    columns["known"] = "quasi-identifier"
    method = draw(st.sampled_from(["full-domain", "mondrian", "top-down"]))
    limit = draw(st.sampled_from([0, 0.05, 0.5]))
    return sf.Policy(
        columns=columns, models=draw(MODELS), method=method, suppression={"limit": limit}
    )


@given(policies(), policies())
def test_the_edited_text_says_the_policy(before, after):
    assert sf.Policy.from_yaml(edit_text(before.to_yaml(), after)).to_plain() == after.to_plain()


@given(policies())
def test_what_says_the_same_is_not_touched(policy):
    text = "# Agreed in May.\n\n" + policy.to_yaml().replace("\nmodels:", "\n\n# Ours.\nmodels:")
    assert edit_text(text, policy) == text


@pytest.mark.parametrize(("one", "other"), [*permutations(SAMPLES, 2)])
def test_every_sample_becomes_every_other(one, other):
    wanted = sf.Policy.from_yaml(SAMPLES[other])
    edited = edit_text(SAMPLES[one], wanted)
    assert sf.Policy.from_yaml(edited).to_plain() == wanted.to_plain()


@pytest.fixture(scope="module")
def drafted() -> str:
    return draft(sf.samples.synthetic(300, seed=5)).text


def changed_lines(before: str, after: str) -> tuple[set[str], set[str]]:
    old, new = before.splitlines(), after.splitlines()
    return {*old} - {*new}, {*new} - {*old}


def test_a_changed_role_changes_its_line(drafted):
    policy = sf.Policy.from_yaml(drafted)
    columns = {**policy.columns, "sex": "dropped"}
    gone, new = changed_lines(drafted, edit_text(drafted, policy.replace(columns=columns)))
    assert len(gone) == 1
    assert new == {"  sex: dropped"}


def test_comments_of_a_changed_model_go_and_others_stay(drafted):
    policy = sf.Policy.from_yaml(drafted)
    models = [KAnonymity(23), *policy.models[1:]]
    gone, new = changed_lines(drafted, edit_text(drafted, policy.replace(models=models)))
    assert new == {"- {model: k-anonymity, k: 23}"}
    assert len(gone) == 1


def test_long_models_and_columns_are_written_in_lines():
    columns = {"a": "quasi-identifier", "b": "sensitive"}
    before = sf.Policy(columns=columns, models=[KAnonymity(2)]).to_yaml()
    values = [f"value number {i}" for i in range(30)]
    after = sf.Policy(
        columns={"a": "quasi-identifier", "b": {"role": "sensitive", "secret": values}},
        models=[AlphaKAnonymity("b", 0.5, 2, protected=values), DistinctLDiversity("b", 2)],
    )
    edited = edit_text(before, after)
    assert sf.Policy.from_yaml(edited).to_plain() == after.to_plain()
    assert max(map(len, edited.splitlines())) <= 110


LAYOUTS = {
    "flow": """---
columns: {age: quasi-identifier, ill: sensitive}
models: [{model: k-anonymity, k: 2}]
""",
    "one line": "{columns: {age: quasi-identifier}, models: [{model: k-anonymity, k: 2}]}",
    "wide": """models:
-
  model: k-anonymity
  k: 2
columns:
    age: quasi-identifier
    ill:
        role: sensitive
""",
    "Windows": """columns:
  age: quasi-identifier # known
  ill: sensitive
models:
  - {model: k-anonymity, k: 2}
""".replace("\n", "\r\n"),
    "odd": """columns:
  ? age
  : quasi-identifier
  ill: sensitive
models: [{model: k-anonymity,
 k: 2}]
# the end""",
}


@pytest.mark.parametrize("text", LAYOUTS.values(), ids=LAYOUTS)
def test_other_layouts(text):
    before = sf.Policy.from_yaml(text)
    assert edit_text(text, before).splitlines() == text.splitlines() or text.startswith("{")
    columns = {**before.columns, "ill": "dropped", "sex": "plain"}
    after = before.replace(columns=columns, models=[KAnonymity(3)])
    assert sf.Policy.from_yaml(edit_text(text, after)).to_plain() == after.to_plain()
