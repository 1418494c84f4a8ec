"""The roles step: what a change of role leaves open is drafted when it is asked for."""

import re

import pytest

from sfumato.hierarchy import Automatic
from sfumato.models import DistinctLDiversity
from sfumato.schema import Role
from tests.app.asking import Client
from tests.app.test_promises import TABLE

POLICY = """\
# agreed on Monday
columns:
  # in fives
  age: {role: quasi-identifier, hierarchy: {kind: intervals, widths: [5]}}
  sex: quasi-identifier
  disease: {role: sensitive, known: false}
  pay: dropped
models:
- {model: k-anonymity, k: 2}
"""


@pytest.fixture
def desk(make_desk):
    return make_desk(TABLE, POLICY)


@pytest.mark.usefixtures("patience")
def test_hierarchies_and_promises_are_drafted_for_changed_roles_and_the_rest_stays(client, desk):
    before = desk.policy
    assert "left-open" not in client.get("roles").text
    client.post("roles/set", column="pay", role="quasi-identifier")
    assert desk.policy.columns["pay"].hierarchy == Automatic()
    assert "left-open" in client.get("roles").text
    assert client.post("roles/redraft").status == 200
    assert desk.policy.columns["pay"].hierarchy != Automatic()
    assert "left-open" not in client.get("roles").text
    client.post("roles/set", column="pay", role="sensitive")
    assert DistinctLDiversity(column="pay", l=2) in desk.policy.models
    assert client.post("roles/redraft").status == 200
    assert DistinctLDiversity(column="pay", l=2) not in desk.policy.models
    assert desk.policy.role_of("pay") is Role.SENSITIVE
    # What was written by hand is as it was.
    for name in ("age", "sex", "disease"):
        assert desk.policy.columns[name] == before.columns[name]
    assert desk.text.startswith("# agreed on Monday\ncolumns:\n  # in fives\n")
    assert desk.policy.models[0] == before.models[0]


def listed(text):
    return re.findall(r'<h2 id="name-\d+">(.*?)</h2>', text)


@pytest.mark.usefixtures("patience")
def test_columns_are_found_filtered_and_ordered_and_stay_so(client, desk):
    desk.require_live()
    assert listed(client.get("roles").text) == ["age", "sex", "disease", "pay"]
    assert listed(client.post("roles/view", search=" AG ").text) == ["age"]
    client.get("hierarchies")
    assert listed(client.get("roles").text) == ["age"]
    found = client.post("roles/view", show="quasi-identifier", order="name").text
    assert listed(found) == ["age", "sex"]
    assert listed(client.post("roles/view", order="role").text)[-1] == "pay"
    assert "No column is like that." in client.post("roles/view", search="nothing").text
    assert listed(client.post("roles/view", order="no such order").text)[0] == "age"


@pytest.mark.usefixtures("patience")
def test_a_role_for_several_columns_is_one_change(client, desk):
    before = desk.text
    client.post("roles/set", column=["age", "disease"], role="dropped")
    assert {desk.policy.role_of(name) for name in ("age", "disease")} == {Role.DROPPED}
    assert desk.history.present.what == "2 columns: dropped"
    desk.undo()
    assert desk.text == before
    assert "no column was chosen" in client.post("roles/set", role="dropped").text
    assert "no column was chosen" in client.post("roles/right").text
    assert desk.text == before


@pytest.mark.usefixtures("patience")
def test_columns_in_doubt_leave_their_list_when_somebody_decides(client, desk):
    desk.uncertain = ("age", "sex", "pay")
    found = client.post("roles/view", show="doubt").text
    assert listed(found) == ["age", "sex", "pay"]
    assert listed(client.post("roles/right", column="sex").text) == ["age", "pay"]
    assert listed(client.post("roles/set", column="age", role="plain").text) == ["pay"]
    assert "No column is in doubt any more." in client.post("roles/right", column="pay").text


@pytest.mark.usefixtures("patience")
def test_columns_say_what_they_tell_and_what_tells_them(make_desk):
    lines = ["town,region,age"]
    lines += [f"t{i % 12},r{i % 12 // 4},{20 + i * 7 % 50}" for i in range(600)]
    columns = "{town: {role: quasi-identifier, hierarchy: {kind: auto}}, region: plain, age: plain}"
    desk = make_desk(
        "\n".join(lines) + "\n", f"columns: {columns}\nmodels:\n- {{model: k-anonymity, k: 2}}\n"
    )
    client = Client(desk)
    assert "tells region" in client.get("roles/column", column="town").text
    assert "told by town" in client.get("roles/column", column="region").text
    assert "relation" not in client.get("roles/column", column="age").text


@pytest.mark.usefixtures("patience")
def test_labels_of_a_file_stand_wherever_its_columns_are_named(client, desk):
    import pandas as pd
    import pyreadstat

    rows = pd.DataFrame(
        {"v1": [20 + i % 30 for i in range(120)], "v2": ["ab"[i % 2] for i in range(120)]}
    )
    labels = ["Alter in Jahren", "Diagnose bei Aufnahme"]
    pyreadstat.write_sav(rows, str(desk.folder / "survey.sav"), column_labels=labels)
    client.post("data/open", file="survey.sav")
    assert desk.start_reading().wait(120)
    for page in ("data/preview", "roles"):
        told = client.get(page).text
        assert all(label in told for label in labels), page
    columns = "{v1: {role: quasi-identifier, hierarchy: {kind: auto}}, v2: sensitive}"
    desk.change(f"columns: {columns}\nmodels:\n- {{model: k-anonymity, k: 2}}\n", "file", "set")
    client.post("verdict/judge")
    assert desk.jobs.get("verdict").wait(120)
    assert "v2 (Diagnose bei Aufnahme)" in client.get("verdict").text
