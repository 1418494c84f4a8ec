"""The desk: the policy is the state, and neither a crash nor a stranger's file name loses it."""

import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.app.desk import PRIVATE_FOLDER, Desk, TableSource
from sfumato.app.history import History
from sfumato.app.jobs import Jobs, StopWish
from sfumato.app.opening import begin_with
from sfumato.errors import InputError, PolicyError, SfumatoError

TEXT = "columns:\n  age: quasi-identifier\nmodels:\n- {model: k-anonymity, k: %d}\n"


def test_a_change_is_in_the_folder_before_anything_else_happens(desk):
    desk.change(TEXT % 5, "promises", "k 5")
    assert desk.policy_file.read_text() == TEXT % 5
    assert desk.policy_file.stat().st_mode & 0o777 == 0o600
    assert desk.policy.models[0].k == 5


def test_what_a_crash_leaves_is_what_was_there(desk):
    for k in (2, 3, 4):
        desk.change(TEXT % k, "promises", f"k {k}")
    desk.undo()
    again = Desk(desk.folder)
    assert again.text == TEXT % 3
    assert again.history.can_undo
    assert again.redo()
    assert again.text == TEXT % 4
    assert again.policy_file.read_text() == TEXT % 4


def test_a_policy_that_is_wrong_changes_nothing(desk):
    desk.change(TEXT % 5, "promises", "k 5")
    with pytest.raises(PolicyError):
        desk.change("columns: {age: no such role}\nmodels: []", "file", "edited")
    assert desk.text == TEXT % 5
    assert desk.policy_file.read_text() == TEXT % 5


def test_a_file_edited_by_hand_is_taken_in_once_and_can_be_undone(desk):
    desk.change(TEXT % 5, "promises", "k 5")
    desk.policy_file.write_text(TEXT % 9 + "# mine\n")
    desk.read_back()
    desk.read_back()
    assert desk.text == TEXT % 9 + "# mine\n"
    assert [message.kind for message in desk.take_messages()] == ["note"]
    desk.undo()
    assert desk.policy.models[0].k == 5


def test_a_file_edited_into_nonsense_is_told_and_the_state_stays(desk):
    desk.change(TEXT % 5, "promises", "k 5")
    desk.policy_file.write_text("columns: [")
    desk.read_back()
    [message] = desk.take_messages()
    assert message.kind == "error"
    assert desk.policy.models[0].k == 5
    desk.read_back()
    assert desk.take_messages() == []


def test_a_regular_end_leaves_the_policy_and_nothing_else(desk):
    desk.change(TEXT % 5, "promises", "k 5")
    with desk.receiving("people.csv") as path:
        path.write_text("age\n1\n")
    desk.end()
    assert [path.name for path in desk.folder.iterdir()] == ["policy.yaml"]


def test_what_is_private_only_its_owner_can_read(desk):
    with desk.receiving("people.csv") as path:
        path.write_text("age\n1\n")
    desk.change(TEXT % 5, "promises", "k 5")
    assert desk.private.stat().st_mode & 0o077 == 0
    for path in desk.private.rglob("*"):
        assert path.stat().st_mode & 0o077 == 0, path


@pytest.mark.parametrize(
    "name",
    [
        "../people.csv",
        "/etc/passwd",
        "a/../../b",
        "",
        "\0",
        f"{PRIVATE_FOLDER}/state.json",
        "x/../..",
    ],
)
def test_no_name_leads_out_of_the_folder(desk, name):
    with pytest.raises(InputError):
        desk.inside(name)


def test_no_link_leads_out_of_the_folder(desk, tmp_path_factory):
    secret = tmp_path_factory.mktemp("elsewhere") / "secret.csv"
    secret.write_text("a\n1\n")
    (desk.folder / "people.csv").symlink_to(secret)
    with pytest.raises(InputError, match="outside"):
        desk.inside("people.csv")


@given(st.text(max_size=200))
def test_whatever_an_upload_is_called_it_lies_among_the_uploads(tmp_path_factory, name):
    desk = Desk(tmp_path_factory.mktemp("desk"))
    with desk.receiving(name) as path:
        path.write_text("x")
    assert desk.received.parent == desk.private / "uploads"
    assert not desk.received.name.startswith(".")


def test_an_upload_that_breaks_off_leaves_nothing(desk):
    def send_half():
        with desk.receiving("people.csv") as path:
            path.write_text("half")
            raise OSError("gone")

    with pytest.raises(OSError, match="gone"):
        send_half()
    assert list((desk.private / "uploads").iterdir()) == []


@pytest.mark.usefixtures("patience")
def test_a_policy_in_the_folder_that_fits_is_used_and_one_that_does_not_is_kept(tmp_path):
    import pyarrow.csv

    table = tmp_path / "people.csv"
    pyarrow.csv.write_csv(sf.samples.synthetic(60, seed=1), table)
    draft = sf.draft(table)
    (tmp_path / "policy.yaml").write_text(draft.text + "# mine\n")
    desk = Desk(tmp_path)
    desk.open_source(TableSource(str(table), table.name))
    desk.start_anew()
    assert desk.start_reading().wait(60)
    assert desk.text == draft.text + "# mine\n"
    desk.end()
    (tmp_path / "policy.yaml").write_text(TEXT % 5)
    desk = Desk(tmp_path)
    desk.open_source(TableSource(str(table), table.name))
    desk.start_anew()
    assert desk.start_reading().wait(60)
    assert desk.policy_file.name == "policy-2.yaml"
    assert (tmp_path / "policy.yaml").read_text() == TEXT % 5
    desk.end()


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("fits", [True, False])
def test_a_policy_that_the_app_was_started_with_is_used_where_it_fits(tmp_path, fits):
    (tmp_path / "people.csv").write_text("age,ill\n" + "31,flu\n32,gout\n" * 20)
    text = "# ours\ncolumns:\n  age: quasi-identifier\n  ill: sensitive\n"
    text += "models: [{model: k-anonymity, k: 4}]\n"
    (tmp_path / "ours.yaml").write_text(text if fits else text.replace("age", "sex"))
    desk = Desk(tmp_path)
    begin_with(desk, str(tmp_path / "ours.yaml"))
    desk.take(TableSource(str(tmp_path / "people.csv"), "people.csv"))
    assert desk.start_reading().wait(120)
    told = " ".join(message.text for message in desk.take_messages())
    if fits:
        assert (desk.policy_file.name, desk.text) == ("ours.yaml", text)
    else:
        assert desk.policy_file.name != "ours.yaml"
        assert "ours.yaml is not used, because it does not fit" in told
    assert (tmp_path / "ours.yaml").read_text().startswith("# ours\n")
    desk.end()


@given(st.lists(st.sampled_from(["add", "undo", "redo"]), max_size=40))
def test_the_history_is_a_list_with_a_place_in_it(tmp_path_factory, wishes):
    history = History(tmp_path_factory.mktemp("history"))
    states, at = [], -1
    for number, wish in enumerate(wishes):
        if wish == "add":
            states, at = [*states[: at + 1], f"state {number}"], at + 1
            history.add(states[-1], "roles", "x")
        elif wish == "undo":
            at = max(at - 1, min(at, 0))
            history.undo()
        else:
            at = min(at + 1, len(states) - 1)
            history.redo()
        assert history.text == (states[at] if at >= 0 else None)
        assert History(history.folder).text == history.text
    assert len(list(history.folder.glob("policy-*"))) == len(states)


def test_newer_work_stops_the_older_and_an_error_is_words():
    jobs, begun = Jobs(), threading.Event()

    def endless(report):
        begun.set()
        while True:
            report("count", 1, None)

    first = jobs.start("look", endless)
    assert begun.wait(10)
    second = jobs.start("look", lambda _: 7)
    assert first.wait(10)
    assert first.stopped
    assert second.wait(10)
    assert second.result == 7

    def wrong(report):
        raise SfumatoError("what to try")

    third = jobs.start("look", wrong)
    assert third.wait(10)
    assert third.error == "what to try"


def test_a_fault_shows_no_value(caplog):
    def wrong(report):
        raise ValueError("Ann has HIV")

    job = Jobs().start("look", wrong)
    assert job.wait(10)
    assert "Ann" not in job.error
    assert "Ann" not in caplog.text
    assert not job.stopped


def test_stopped_is_no_error_of_ours():
    assert not issubclass(StopWish, SfumatoError)
