"""The step Verdict: the answer with its reasons, and advice that is done by a click."""

import re

import pytest

from sfumato.app.steps import verdict

POLICY = """\
columns:
  age: {role: quasi-identifier, hierarchy: {kind: auto}}
  sex: {role: quasi-identifier, hierarchy: {kind: auto}}
  ill: {role: sensitive, secret: [hiv], known: false}
  mail: plain
models:
- {model: k-anonymity, k: 2}
"""
ILLS = ("flu", "gout", "asthma", "hiv")


def people():
    """Return a table of people, as text."""
    lines = ["age,sex,ill,mail"]
    for i in range(160):
        ill = "hiv" if i % 40 < 3 else ILLS[i % 3]
        lines.append(f"{30 + i % 40},{'mf'[i % 2]},{ill},p{i}@example.org")
    return "\n".join(lines) + "\n"


@pytest.fixture
def desk(make_desk):
    return make_desk(people(), POLICY)


def judged(client, desk, action="judge", **fields):
    assert client.post(f"verdict/{action}", **fields).status == 200
    job = desk.jobs.get("verdict")
    assert job.wait(120)
    assert job.error is None, job.error
    return client.get("verdict").text


@pytest.mark.usefixtures("patience")
def test_a_no_is_mended_click_by_click_until_it_is_none(client, desk):
    page = judged(client, desk)
    assert desk.jobs.get("verdict").result.answer == "no"
    assert "answer no" in page
    for _ in range(10):
        found = desk.jobs.get("verdict").result
        if found.answer != "no":
            break
        # Press the first button of the first reason, as the page has it.
        first = re.search(r'id="act-(\d+)-(\d+)"', client.get("verdict").text)
        judged(client, desk, "mend", reason=first[1], remedy=first[2])
    assert desk.jobs.get("verdict").result.answer != "no"
    assert desk.policy.role_of("mail").value == "identifier"
    assert "answer no" not in client.get("verdict").text


@pytest.mark.usefixtures("patience")
def test_all_advice_at_once(client, desk):
    judged(client, desk)
    for _ in range(5):
        if desk.jobs.get("verdict").result.answer != "no":
            break
        judged(client, desk, "mend_all")
    assert desk.jobs.get("verdict").result.answer != "no"
    assert desk.undo()


@pytest.mark.usefixtures("patience")
def test_a_column_is_protected_as_a_draft_would(client, desk):
    judged(client, desk)
    judged(client, desk, "strengthen", column="ill")
    assert any(model.columns == ("ill",) for model in desk.policy.models)


@pytest.mark.usefixtures("patience")
def test_what_is_accepted_needs_a_reason_and_a_name(client, desk):
    judged(client, desk)
    reasons = desk.jobs.get("verdict").result.assessment.reasons
    at, number = next(
        (i, j)
        for i, reason in enumerate(reasons)
        for j, remedy in enumerate(reason.remedies)
        if remedy.kind in ("accept", "because")
    )
    before = desk.text
    page = client.post("verdict/mend", reason=at, remedy=number, because=" ", by="").text
    assert "the reason is missing" in page
    assert desk.text == before
    client.post("verdict/mend", reason=at, remedy=number, because="on the door", by="Ada")
    assert "on the door" in desk.text


@pytest.mark.usefixtures("patience")
def test_advice_on_an_older_policy_is_refused(client, desk):
    judged(client, desk)
    desk.change(POLICY.replace("k: 2", "k: 3"), "file", "edited")
    before = desk.text
    assert "policy has changed" in client.post("verdict/mend", reason=0, remedy=0).text
    assert desk.text == before


@pytest.mark.usefixtures("patience")
def test_a_policy_that_cannot_be_kept_says_so_and_is_undone(client, desk):
    desk.change(POLICY.replace("k: 2", "k: 1000"), "file", "edited")
    client.post("verdict/judge")
    desk.jobs.get("verdict").wait(120)
    page = client.get("verdict").text
    assert "No release can be made like this." in page
    assert "history/undo" in page


@pytest.mark.usefixtures("patience")
def test_what_was_not_tried_is_said(client, desk):
    page = judged(client, desk)
    assert "Not tried is not withstood" in page
    assert "composition" in page


@pytest.mark.usefixtures("patience")
def test_one_person_is_explained(client, desk):
    judged(client, desk)
    told = client.get("verdict/person", **{"of:age": "31", "of:sex": "f"}).text
    assert "age=31" in told
    assert "<svg" in told
    assert "in the table this person has" in client.get("verdict/person", anybody="1").text
    assert "at least one thing" in client.get("verdict/person").text


@pytest.mark.usefixtures("patience")
def test_networks_are_drawn(client, desk):
    judged(client, desk)
    client.post("verdict/leaks")
    job = desk.jobs.get(verdict.LEAKS)
    assert job.wait(120)
    assert job.error is None
    page = client.get("verdict").text
    assert "Dependencies among" in page
    assert "<svg" in page


@pytest.mark.usefixtures("patience")
def test_remedies_are_tried_and_their_price_stands_beside_the_buttons(client, desk):
    page = judged(client, desk)
    assert 'id="try-remedies"' in page
    client.post("verdict/prices")
    job = desk.jobs.get(verdict.PRICES)
    assert job.wait(120)
    assert job.error is None
    page = client.get("verdict").text
    assert "Remedies that were tried" in page
    reasons = job.result.reasons
    shown = [one for each in reasons for one in each.remedies if one.remedy in each.reason.remedies]
    assert shown or job.result.chain is not None
    for each in shown:
        assert f"then: {each.after.answer}" in page


@pytest.mark.usefixtures("patience")
def test_a_release_of_the_folder_is_judged_by_itself(client, desk):
    import sfumato as sf

    policy = desk.task_policy.replace(columns={**desk.task_policy.columns, "mail": "identifier"})
    sf.anonymize(desk.require_source().address, policy, output=desk.folder / "made")
    client.post("verdict/opened", folder="made")
    job = desk.jobs.get(verdict.OPENED)
    assert job.wait(120)
    assert job.error is None
    assert "answer" in client.get("verdict", opened="1").text
    assert "no release" in client.post("verdict/opened", folder="people.csv").text


@pytest.mark.usefixtures("patience")
def test_a_rule_is_chosen_and_its_clauses_stand_on_the_page(client, desk):
    page = judged(client, desk, "rule", rule="statistics-office")
    assert desk.policy.profile.name == "statistics-office"
    assert "at least 10 people, unweighted, behind every figure" in page
    assert '<option value="statistics-office" lang="en" selected>' in page
    client.post("verdict/rule", rule="")
    assert desk.policy.profile is None
