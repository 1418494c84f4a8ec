"""Synthetic rows on the page Publish: domains, a budget in words, an account, and the release."""

import json

import pytest

import sfumato as sf
from sfumato.app import synthetic
from sfumato.tasks import synthesize as task
from tests.synthesis.stubs import fit_nothing

POLICY = """\
columns:
  name: identifier
  age: {role: quasi-identifier, hierarchy: {kind: auto}}
  sex: {role: quasi-identifier, hierarchy: {kind: auto}}
  ill: sensitive
models:
- {model: k-anonymity, k: 2}
person: name
"""
AGES = "{from: 18, to: 79, width: 10}"


def people(n=60):
    rows = [f"n{i},{30 + i % 8},{'mf'[i % 2]},{('flu', 'gout', 'cold')[i % 3]}" for i in range(n)]
    return "\n".join(["name,age,sex,ill", *rows]) + "\n"


@pytest.fixture
def desk(make_desk):
    return make_desk(people(), POLICY)


@pytest.fixture
def installed(monkeypatch):
    monkeypatch.setattr("sfumato.synthesis.opendp.has_extra", lambda: True)
    monkeypatch.setattr(task, "require_extra", lambda: None)
    monkeypatch.setattr(task, "fit", fit_nothing)


def states(desk):
    return {
        each.name: each.state for each in synthetic.domains_of(desk.policy, list(desk.live.columns))
    }


def confirm_all(client):
    client.post("publish/domain", column="age", domain=AGES)
    client.post("publish/domain", column="sex", domain="[f, m]")
    client.post(
        "publish/domain", column="ill", domain="{values: [flu, gout, cold], missing: false}"
    )


def draw(client, **fields):
    given = {"epsilon": "0.4", "delta": "0", "name": "synthetic", "do": "publish", **fields}
    page = client.post("publish/synthetic", **given)
    job = client.desk.jobs.get("publish")
    assert job is None or job.wait(120)
    return page


def read_in(desk):
    assert desk.start_reading().wait(60)


@pytest.mark.usefixtures("patience")
def test_domains_are_drafted_then_confirmed_by_a_person_and_can_be_undone(client, desk, installed):
    read_in(desk)
    assert states(desk) == dict.fromkeys(("age", "sex", "ill"), "not stated")
    text = client.get("publish").text
    assert 'id="draft-domains"' in text
    assert 'id="synthesize" disabled' in text
    client.post("publish/draft-domains")
    assert states(desk)["sex"] == "not confirmed"
    assert "drafted: true" in desk.text
    assert 'id="synthesize" disabled' in client.get("publish").text
    drafted = next(
        v for v in synthetic.domains_of(desk.policy, list(desk.live.columns)) if v.name == "sex"
    )
    assert drafted.text == "[f, m]"
    client.post("publish/domain", column="sex", domain=drafted.text)
    assert states(desk)["sex"] == "confirmed"
    client.post("history/undo", step="publish")
    assert states(desk)["sex"] == "not confirmed"
    confirm_all(client)
    assert set(states(desk).values()) == {"confirmed"}
    assert 'id="synthesize" disabled' not in client.get("publish").text


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize(
    "domain",
    ["", "nonsense", "[", "{from: 9, to: 3}", "{from: 1}", "[f], other: 3", "{drafted: true}"],
)
def test_a_domain_that_is_none_changes_nothing(client, desk, domain):
    before = desk.text
    page = client.post("publish/domain", column="age", domain=domain)
    assert "message error" in page.text
    assert desk.text == before


@pytest.mark.usefixtures("patience")
def test_rows_are_drawn_within_the_account_and_lie_in_the_folder(client, desk, installed):
    read_in(desk)
    confirm_all(client)
    client.post("publish/open-account", name="clinic", epsilon="1", delta="0")
    assert (desk.folder / "clinic.account").is_file()
    page = draw(client, account="clinic.account")
    assert "message error" not in page.text
    assert desk.jobs.get("publish").error is None
    text = client.get("publish").text
    assert "Published: synthetic." in text
    assert {"data.csv", "manifest.json", "README.md"} <= {
        path.name for path in (desk.folder / "synthetic").iterdir()
    }
    spent = json.loads((desk.folder / "clinic.account").read_text())
    assert [each["epsilon"] for each in spent["releases"]] == [0.4]
    assert "epsilon 0.4 of 1 spent" in client.get("publish/account", account="clinic.account").text
    assert "sfumato synthesize people.csv -p policy.yaml" in text
    drawn = sf.read_release(desk.folder / "synthetic", as_="arrow")
    assert not {"name"} & {*drawn.column_names}
    # What is beyond the limit is refused, and nothing appears.
    draw(client, account="clinic.account", epsilon="0.8", name="more")
    assert "0.6 is left" in desk.jobs.get("publish").error
    assert not (desk.folder / "more").exists()


@pytest.mark.usefixtures("patience")
def test_what_can_be_refused_is_refused_before_anything_is_spent(client, desk, installed):
    read_in(desk)
    client.post("publish/open-account", name="clinic", epsilon="50", delta="0")
    confirm_all(client)
    for wrong in ({"epsilon": "20"}, {"epsilon": "0"}, {"delta": "0.5"}, {"contributions": "0"},
                  {"name": "people.csv"}, {"account": "other.account"}):  # fmt: skip
        page = draw(client, **{"account": "clinic.account", **wrong})
        assert "message error" in page.text, wrong
    client.post("publish/domain", column="ill", domain="[flu, gout]")
    draw(client, account="clinic.account")
    assert "cold" in desk.jobs.get("publish").error
    assert json.loads((desk.folder / "clinic.account").read_text())["releases"] == []
    assert not (desk.folder / "synthetic").exists()


@pytest.mark.usefixtures("patience")
def test_without_the_extra_the_page_says_how_to_install_it(client, desk, monkeypatch):
    monkeypatch.setattr("sfumato.synthesis.opendp.has_extra", lambda: False)
    confirm_all(client)
    text = client.get("publish").text
    assert (
        "pip install &#34;sfumato[synthetic]&#34;" in text
        or 'pip install "sfumato[synthetic]"' in text
    )
    assert 'id="synthesize" disabled' in text
    draw(client)
    assert "pip install" in desk.jobs.get("publish").error


@pytest.mark.usefixtures("patience")
def test_what_epsilon_means_is_told_as_belief(client, desk):
    confirm_all(client)
    client.post("publish/synthetic", epsilon="0.5", delta="1e-9")
    text = client.get("publish").text
    table = text[text.index('id="beliefs"') : text.index("</table>", text.index('id="beliefs"'))]
    assert "a value of a person who is known to be in it" in table
    assert "62 %" in table or "63 %" in table


def test_columns_that_cannot_be_drawn_are_named(make_desk):
    given = POLICY.replace(
        "ill: sensitive", "ill: {role: sensitive, perturb: {kind: pram, keep: 0.8}}"
    )
    desk = make_desk(people(), given)
    found = synthetic.context_of(desk, [], "synthetic")
    assert "perturbed" in found["problem"]
    assert not found["ready"]


@pytest.mark.usefixtures("patience")
def test_a_release_of_drawn_rows_is_judged_as_what_it_is(client, desk, installed):
    read_in(desk)
    confirm_all(client)
    draw(client)
    client.post("verdict/opened", folder="synthetic")
    assert desk.jobs.get("judge").wait(120)
    text = client.get("verdict", opened="1").text
    assert 'id="drawn"' in text
    assert "a value of a person who is known to be in it" in text
    assert "No attack was tried" in text
    for people in ('class="sides"', "people are at risk.<", "Every attack that is known"):
        assert people not in text


@pytest.mark.usefixtures("patience")
def test_all_of_it_is_said_in_german(client, desk, installed):
    confirm_all(client)
    client.post("settings", language="de", step="publish")
    text = client.get("publish").text
    part = text[text.index('id="synthetic"') : text.index('id="synthetic-command"')]
    for english in (
        ">confirmed<",
        "Draw and publish",
        "A belief before",
        "There is no seed",
        ">Cells<",
    ):
        assert english not in part, english
