"""Projects: what was chosen, in one file that is saved, sent and opened in another folder."""

import json

import pytest

from sfumato.app.desk import Desk
from sfumato.app.project import Project, open_project, saved_projects
from sfumato.errors import InputError
from tests.app.asking import Client

TABLE = "age,ill\n" + "".join(f"{30 + i % 4},{'fg'[i % 2]}\n" for i in range(40))
POLICY = """\
columns:
  age: {role: quasi-identifier, hierarchy: {kind: auto}}
  ill: sensitive
models:
- {model: k-anonymity, k: 2}
"""


@pytest.fixture
def desk(make_desk):
    made = make_desk(TABLE, POLICY)
    made.reasons, made.uncertain = {"age": "looks like an age"}, ("ill",)
    made.change(POLICY.replace("k: 2", "k: 3"), "promises", "k = 3")
    return made


@pytest.fixture
def elsewhere(tmp_path):
    """Another desk, in another folder."""
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    found = Desk(folder)
    yield found
    found.end()


def sent(desk, elsewhere, text=None):
    path = elsewhere.folder / "people.sfumato"
    path.write_text(Project.of(desk).to_text() if text is None else text, encoding="utf-8")
    return path


def test_a_project_is_opened_elsewhere_with_its_history(desk, elsewhere):
    (elsewhere.folder / "people.csv").write_text(TABLE, encoding="utf-8")
    open_project(elsewhere, sent(desk, elsewhere))
    assert elsewhere.source.name == "people.csv"
    assert elsewhere.text == desk.text
    assert elsewhere.reasons == desk.reasons
    assert elsewhere.uncertain == ("ill",)
    assert elsewhere.history.present.what == "k = 3"
    assert elsewhere.undo()
    assert "k: 2" in elsewhere.text


def test_it_holds_no_rows(desk):
    told = json.loads(Project.of(desk).to_text())
    assert told["table"] == "people.csv"
    assert "30" not in json.dumps(told["reasons"])
    assert TABLE[8:40] not in json.dumps(told)


def test_without_its_table_it_waits_for_it(desk, elsewhere):
    open_project(elsewhere, sent(desk, elsewhere))
    assert elsewhere.source is None
    assert "which is not in the folder" in elsewhere.take_messages()[0].text
    (elsewhere.folder / "other.csv").write_text(TABLE, encoding="utf-8")
    client = Client(elsewhere)
    client.post("data/open", file="other.csv")
    job = elsewhere.start_reading()
    assert job.wait(120)
    assert job.error is None
    assert elsewhere.policy.models[0].k == 3


@pytest.mark.parametrize("text", ["", "{}", "[1]", '{"kind": "sfumato project", "version": 9}'])
def test_what_is_no_project_is_refused_and_changes_nothing(desk, elsewhere, text):
    with pytest.raises(InputError, match="no project of Sfumato"):
        open_project(elsewhere, sent(desk, elsewhere, text))
    assert elsewhere.source is None
    assert elsewhere.text is None


def test_a_policy_that_leads_out_of_the_folder_is_refused(desk, elsewhere):
    outside = POLICY + "population: /etc/passwd\n"
    for at in (0, 1):
        told = json.loads(Project.of(desk).to_text())
        told["states"][at]["policy"] = outside
        (elsewhere.folder / "people.csv").write_text(TABLE, encoding="utf-8")
        path = sent(desk, elsewhere, json.dumps(told))
        if at == told["at"]:
            with pytest.raises(InputError, match="cannot be used"):
                open_project(elsewhere, path)
        else:
            # It is only left out of what can be undone.
            open_project(elsewhere, path)
            assert not elsewhere.history.can_undo


def test_pages_save_give_and_open_it(desk):
    client = Client(desk)
    assert "mine.sfumato is saved" in client.post("data/save", name="mine").text
    assert [path.name for path in saved_projects(desk)] == ["mine.sfumato"]
    given = client.get("data/give")
    assert "people.sfumato" in given.headers["content-disposition"]
    assert Project.read(given.text).table == "people.csv"
    assert "mine.sfumato" in client.get("data", again="1").text
    desk.change(POLICY.replace("k: 2", "k: 7"), "promises", "k = 7")
    assert "2 changes" in client.post("data/project", file="mine.sfumato").text
    assert desk.policy.models[0].k == 3
    assert "no name for a file" in client.post("data/save", name="../x").text
    assert "no project" in client.post("data/project", file="people.csv").text


def test_a_policy_of_the_folder_is_chosen_for_the_next_table(client, desk):
    (desk.folder / "own.yaml").write_text(POLICY.replace("k: 2", "k: 4"), encoding="utf-8")
    (desk.folder / "next.csv").write_text(TABLE, encoding="utf-8")
    assert "own.yaml" in client.get("data", again="1").text
    assert (
        "used for the table that you open next" in client.post("data/policy", file="own.yaml").text
    )
    client.post("data/open", file="next.csv")
    job = desk.start_reading()
    assert job.wait(120)
    assert job.error is None
    assert desk.policy.models[0].k == 4


@pytest.mark.parametrize("name", ["", "  ", ".sfumato", "\u200b", "\u3164.sfumato", "\u2800"])
def test_a_project_without_a_name_that_can_be_seen_is_refused(desk, name):
    told = Client(desk).post("data/save", name=name).text
    assert "is no name for a file" in told
    assert saved_projects(desk) == []


def test_a_project_has_its_ending_once(desk):
    for name in ("clinic", "clinic.sfumato"):
        Client(desk).post("data/save", name=name)
    assert [path.name for path in saved_projects(desk)] == ["clinic.sfumato"]
