"""The step Decouple: what is parted is in the policy, and what is left to guess is computed."""

import pytest

from sfumato.app.steps.decouple import methods, move_slice, move_together
from sfumato.decouplings import DECOUPLINGS
from sfumato.policy import Policy

POLICY = """\
columns:
  age: {role: quasi-identifier, hierarchy: {kind: auto}}
  sex: {role: quasi-identifier, hierarchy: {kind: auto}}
  ill: sensitive
  pay: sensitive
  drug: plain
models:
- {model: k-anonymity, k: 2}
"""
ILLS, PAYS = ("flu", "gout", "asthma"), ("low", "mid", "high", "top")


@pytest.fixture
def desk(make_desk):
    lines = ["age,sex,ill,pay,drug"]
    for i in range(48):
        row = 30 + i % 8, "mf"[i % 2], ILLS[i % 3], PAYS[i // 3 % 4], "ab"[i % 2]
        lines.append(",".join(map(str, row)))
    return make_desk("\n".join(lines) + "\n", POLICY)


def send(client, action, **fields):
    answer = client.post(f"decouple/{action}", **fields)
    assert answer.status == 200
    return answer.text


def look(client, desk):
    send(client, "look")
    job = desk.jobs.get("decouple")
    assert job.wait(60)
    return job


@pytest.mark.usefixtures("patience")
def test_every_method_is_offered_with_a_sentence(client):
    text = client.get("decouple").text
    for method in methods():
        assert f'value="{method.name}"' in text
    assert {method.name for method in methods()} >= set(DECOUPLINGS)


@pytest.mark.usefixtures("patience")
def test_a_method_is_in_the_policy_and_undo_takes_it_back(client, desk):
    send(client, "method", method="anatomy")
    assert desk.policy.decouple.name == "anatomy"
    assert Policy.load(desk.policy_file).decouple.name == "anatomy"
    client.post("history/undo", step="decouple")
    assert desk.policy.decouple is None


@pytest.mark.usefixtures("patience")
def test_settings_that_the_next_method_has_are_kept(client, desk):
    send(client, "method", method="slicing")
    send(client, "set", l="4")
    send(client, "method", method="anatomy")
    assert desk.policy.decouple.options["l"] == 4
    send(client, "method", method="none")
    assert desk.policy.decouple is None


@pytest.mark.usefixtures("patience")
def test_overlapping_slicing_is_slicing_with_a_correlation(client, desk):
    text = send(client, "method", method="overlapping-slicing")
    assert desk.policy.decouple.name == "slicing"
    assert desk.policy.decouple.options["overlap"] == 0.3
    assert 'value="overlapping-slicing" data-submit checked' in text


@pytest.mark.usefixtures("patience")
def test_a_wrong_setting_is_a_message_and_changes_nothing(client, desk):
    send(client, "method", method="anatomy")
    before = desk.text
    text = send(client, "set", l="1")
    assert "message error" in text
    assert "l must be" in text
    assert desk.text == before
    assert "message error" in send(client, "set", l="many")


@pytest.mark.usefixtures("patience")
def test_columns_are_put_together_and_apart(client, desk):
    send(client, "method", method="break-merge")
    send(client, "move", column="pay", to="ill", at="2")
    assert desk.policy.decouple.together == (("ill", "pay"),)
    send(client, "move", column="drug", to="ill", at="0")
    assert desk.policy.decouple.together == (("ill", "pay", "drug"),)
    send(client, "move", column="pay", to="own", at="1")
    assert desk.policy.decouple.together == (("ill", "drug"),)
    send(client, "move", column="drug", to="people", at="1")
    assert desk.policy.decouple.together == ()


@pytest.mark.usefixtures("patience")
def test_slices_are_laid_out_by_hand(client, desk):
    send(client, "method", method="slicing")
    send(client, "arrange")
    assert desk.policy.decouple.columns == (("age", "sex"), ("ill",), ("pay",))
    send(client, "move", column="sex", to="+2", at="0")
    assert desk.policy.decouple.columns == (("age", "sex"), ("ill",), ("pay", "sex"))
    send(client, "move", column="sex", to="1", at="0")
    assert desk.policy.decouple.columns == (("age",), ("ill", "sex"), ("pay", "sex"))
    send(client, "arrange", automatic="1")
    assert desk.policy.decouple.columns is None


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("to", ["7", "+7", "1x", "-1"])
def test_a_move_to_nowhere_is_refused(client, desk, to):
    send(client, "method", method="slicing")
    send(client, "arrange")
    before = desk.text
    assert "message error" in send(client, "move", column="sex", to=to, at="0")
    assert desk.text == before


@pytest.mark.usefixtures("patience")
def test_what_is_left_to_guess_is_less_than_before(client, desk):
    send(client, "method", method="break-merge")
    job = look(client, desk)
    assert job.error is None
    found = job.result
    assert [sample.name for sample in found.samples] == ["qi", "sensitive_ill", "sensitive_pay"]
    assert {guess.known for guess in found.guesses} == {"", "ill", "pay"}
    assert all(guess.worst[1] <= guess.worst[0] for guess in found.guesses)
    text = client.get("decouple").text
    assert "sensitive_pay" in text
    assert "What is left to guess" in text
    assert sorted(path.name for path in desk.private.iterdir() if "look" in path.name) == []


@pytest.mark.usefixtures("patience")
def test_a_look_follows_what_is_chosen(client, desk):
    send(client, "method", method="break-merge")
    first = look(client, desk)
    send(client, "move", column="pay", to="ill", at="2")
    second = desk.jobs.get("decouple")
    assert second is not first
    assert second.wait(60)
    assert [sample.name for sample in second.result.samples] == ["qi", "sensitive_ill_pay"]


@pytest.mark.usefixtures("patience")
def test_what_cannot_be_parted_is_said(client, desk):
    send(client, "method", method="anatomy")
    assert "one column" in look(client, desk).error
    assert "one column" in client.get("decouple").text


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("method", ["slicing", "overlapping-slicing", "association-hiding"])
def test_other_methods_show_their_tables(client, desk, method):
    send(client, "method", method=method)
    job = look(client, desk)
    assert job.error is None
    assert job.result.samples
    assert "What would be published" in client.get("decouple").text


def test_moves_leave_no_plain_column_alone():
    assert move_together([["ill", "drug"]], ["ill", "pay"], "ill", "pay") == [["pay", "ill"]]
    assert move_slice([["a"], ["b", "c"]], "a", 0, "1") == [["b", "c", "a"]]
