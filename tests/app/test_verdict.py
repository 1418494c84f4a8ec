"""The step Verdict: the answer with its reasons, and advice that is done by a click."""

import re
from collections import Counter

import pytest

from sfumato.app.steps import verdict
from sfumato.policy import Policy
from sfumato.typing import silent

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


def priced(client, desk):
    """Return the page when it is known what the advice costs."""
    client.get("verdict")
    job = desk.jobs.get(verdict.PRICES)
    assert job.wait(120)
    assert job.error is None, job.error
    return client.get("verdict").text


@pytest.mark.usefixtures("patience")
def test_a_no_is_mended_by_the_cheapest_remedy_at_the_price_that_was_named(client, desk):
    judged(client, desk)
    assert desk.jobs.get("verdict").result.answer == "no"
    for _ in range(6):
        page = priced(client, desk)
        assert 'id="cheapest"' in page
        name = re.search(r'name="remedy" value="([^"]+)"><button id="cheapest"', page)[1]
        offer = verdict._best(desk.jobs.get(verdict.PRICES).result)
        assert offer.name == name
        judged(client, desk, "buy", remedy=name)
        found = desk.jobs.get("verdict").result.assessment
        assert (found.answer, found.at_risk) == (offer.after.answer, offer.after.people)
        if found.answer != "no":
            break
    assert found.answer != "no"
    assert desk.policy.role_of("mail").value == "identifier"
    assert desk.undo()


@pytest.mark.usefixtures("patience")
def test_buttons_have_prices_in_their_order_and_only_what_helps_has_a_button(client, desk):
    judged(client, desk)
    page = priced(client, desk)
    prices = desk.jobs.get(verdict.PRICES).result
    for i, each in enumerate(prices.reasons):
        assert list(each.remedies) == sorted(each.remedies, key=lambda one: one.cost)
        for j, one in enumerate(each.remedies):
            assert one.after.people <= one.before.people
            assert f'id="buy-{i}-{j}"' in page
    assert 'id="act-' not in page
    before = desk.text
    assert "not there any more" in client.post("verdict/buy", remedy="9-9").text
    assert desk.text == before


@pytest.mark.usefixtures("patience")
def test_trying_that_was_stopped_stays_so_and_buttons_are_there_without_prices(client, desk):
    judged(client, desk)
    client.get("verdict")
    desk.jobs.get(verdict.PRICES).stop()
    desk.jobs.get(verdict.PRICES).wait(120)
    page = client.get("verdict").text
    if desk.jobs.get(verdict.PRICES).stopped:
        assert 'id="act-' in page
        assert 'id="try-remedies"' in page


@pytest.mark.usefixtures("patience")
def test_the_table_as_it_is_stands_beside_the_release(client, desk):
    page = judged(client, desk)
    found = desk.jobs.get("verdict").result
    assert "the table as it is" in page
    for line in found.original:
        assert f">{line.people} <" in page
    # Nobody is safer in the table than in what is made of it.
    ours = {line.knows: line.people for line in found.assessment.adversaries}
    assert all(line.people >= ours[line.knows] for line in found.original if line.knows in ours)


OF_SETS = "km-anonymity, k: 2, m: 1"

VISITS = "pid,age,sex,ill\n" + "".join(
    f"{i},{20 + i % 9},{'fm'[i % 2]},{['flu', 'gout', 'hiv'][(i + j) % 3]}\n"
    for i in range(36)
    for j in range(1 + i % 3)
)

OF_VISITS = """\
person: pid
columns:
  pid: identifier
  age: {role: quasi-identifier, hierarchy: {kind: auto}}
  sex: quasi-identifier
  ill: sensitive
models:
- {model: k-anonymity, k: 2}
"""


@pytest.mark.usefixtures("patience")
def test_people_of_several_rows_are_counted_in_the_table_as_it_is_too(tmp_path):
    path = tmp_path / "visits.csv"
    path.write_text(VISITS, encoding="utf-8")
    lines, why_not = verdict.judge_original(path, Policy.from_yaml(OF_VISITS), silent)
    assert why_not == ""
    # By the definition: of whoever has all values of 'ill' alone among those who look alike.
    rows = [line.split(",") for line in VISITS.splitlines()[1:]]
    looks = {pid: (age, sex) for pid, age, sex, _ in rows}
    alike = Counter(looks.values())
    assert lines[0].of == len(looks)
    assert lines[0].people >= sum(alike[look] == 1 for look in looks.values())


@pytest.mark.usefixtures("patience")
def test_it_is_told_why_the_table_as_it_is_was_not_judged(tmp_path):
    path = tmp_path / "visits.csv"
    path.write_text(VISITS, encoding="utf-8")
    sets = OF_VISITS.replace("ill: sensitive", "ill: set").replace("k-anonymity, k: 2", OF_SETS)
    lines, why_not = verdict.judge_original(path, Policy.from_yaml(sets), silent)
    assert lines == ()
    assert "one row per person" in why_not


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
def test_a_release_of_the_folder_is_judged_by_itself(client, desk):
    import sfumato as sf

    policy = desk.task_policy.replace(columns={**desk.task_policy.columns, "mail": "identifier"})
    sf.anonymize(desk.require_source().address, policy, output=desk.folder / "made")
    client.post("verdict/opened", folder="made")
    job = desk.jobs.get(verdict.OPENED)
    assert job.wait(120)
    assert job.error is None
    assert "answer" in client.get("verdict", opened="1").text
    assert "no longer a release" in client.post("verdict/opened", folder="people.csv").text


@pytest.mark.usefixtures("patience")
def test_a_rule_is_chosen_and_its_clauses_stand_on_the_page(client, desk):
    page = judged(client, desk, "rule", rule="statistics-office")
    assert desk.policy.profile.name == "statistics-office"
    assert "at least 10 people, unweighted, behind every figure" in page
    assert '<option value="statistics-office" selected>' in page
    client.post("verdict/rule", rule="")
    assert desk.policy.profile is None
