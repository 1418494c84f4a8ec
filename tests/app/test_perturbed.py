"""A policy that perturbs columns is opened, shown and kept by every step."""

import re

import pytest

from sfumato.policy import Policy

POLICY = """\
columns:
  age: {role: quasi-identifier, hierarchy: {kind: auto}}
  disease: sensitive
  # Nobody needs it to the cent.
  pay: {role: sensitive, perturb: [{kind: top-coding, above: 95%}, {kind: noise, sd: 30%}]}
  town:
    role: plain
    perturb: {kind: pram, matrix: {a: {a: 0.8, b: 0.2}, b: {a: 0.2, b: 0.8}}}
models:
- {model: k-anonymity, k: 2}
- {model: distinct-l-diversity, column: disease, l: 2}
"""
ROWS = [f"{30 + i % 8},{('flu', 'gout', 'asthma')[i % 3]},{1000 + 37 * i},{'ab'[i % 2]}"
        for i in range(96)]  # fmt: skip
TABLE = "\n".join(["age,disease,pay,town", *ROWS, ""])


@pytest.fixture
def desk(make_desk):
    return make_desk(TABLE, POLICY)


def perturbed(desk):
    return Policy.from_yaml(desk.policy_file.read_text()).perturbations


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("path", ["data", "roles", "hierarchies", "promises", "look", "explore",
                                  "verdict", "decouple", "publish"])  # fmt: skip
def test_every_step_takes_it(client, desk, path):
    answer = client.get(path)
    assert answer.status == 200
    assert "Traceback" not in answer.text
    assert perturbed(desk) == Policy.from_yaml(POLICY).perturbations


@pytest.mark.usefixtures("patience")
def test_roles_say_what_changes_a_column(client):
    text = client.get("roles").text
    assert "Values are changed before all else: top-coding, noise." in text
    assert "Values are changed before all else: pram." in text
    assert text.count("Values are changed") == 2


@pytest.mark.usefixtures("patience")
def test_other_changes_leave_it_and_comments_stay(client, desk):
    before = perturbed(desk)
    assert client.post("roles/set", column="disease", role="plain").status == 200
    assert client.post("roles/known", column="pay", known="").status == 200
    assert perturbed(desk) == before
    assert "# Nobody needs it to the cent." in desk.policy_file.read_text()


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("role", ["plain", "quasi-identifier"])
def test_another_role_that_takes_it_keeps_it(client, desk, role):
    before = perturbed(desk)
    client.post("roles/set", column="pay", role=role)
    assert perturbed(desk) == before
    client.post("roles/set", column="town", role="sensitive")
    # No promise would count what chance has drawn, so none is added.
    assert perturbed(desk) == before
    assert all("town" not in model.columns for model in desk.policy.models)


@pytest.mark.usefixtures("patience")
def test_a_column_that_is_left_out_needs_none(client, desk):
    client.post("roles/set", column="pay", role="dropped")
    assert list(perturbed(desk)) == ["town"]


@pytest.mark.usefixtures("patience")
def test_no_promise_is_offered_of_drawn_values(client):
    text = client.get("promises").text
    columns = re.findall(r"<option[^>]*>\s*(\w+)\s*</option>", text)
    assert "disease" in columns
    assert "pay" not in columns


def test_figures_follow_what_chance_changes(desk):
    live, policy = desk.require_live(), desk.task_policy
    assert live.look(policy).possible
    assert all(each.whole.possible for each in live.cost_of_models(policy))
    assert live.column_facts("pay", policy)
