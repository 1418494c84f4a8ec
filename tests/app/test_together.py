"""Many requests at the same time: pages, parts and actions, and none of them fails."""

import random
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from sfumato.app.desk import Desk
from sfumato.app.equivalent import Equivalent, equivalents
from sfumato.app.fields import Fields
from sfumato.app.history import History
from sfumato.app.jobs import Job
from sfumato.app.steps import ALL, hierarchies
from sfumato.errors import InputError
from tests.app.addresses import filled, safe
from tests.app.test_gate import PEOPLE

POLICY = (
    "columns: {{name: identifier, age: {{role: quasi-identifier, hierarchy: {{kind: auto}}}}, "
    "sex: quasi-identifier, disease: sensitive}}\nmodels: [{{model: k-anonymity, k: {k}}}]\n"
)
CHANGES = (
    ("/policy", {"policy": POLICY.format(k=2), "step": "roles"}),
    ("/policy", {"policy": POLICY.format(k=3), "step": "roles"}),
    ("/history/undo", {"step": "roles"}),
    ("/history/redo", {"step": "roles"}),
    ("/roles/set", {"column": "sex", "role": "plain"}),
    ("/roles/set", {"column": "sex", "role": "quasi-identifier"}),
    ("/settings", {"theme": "dark", "step": "data"}),
    ("/settings", {"language": "de", "step": "data"}),
    ("/promises/limit", {"limit": "5", "as": "share", "before": "share"}),
    ("/publish/set", {"name": "next", "public": "1"}),
    ("/decouple/method", {"method": "anatomy"}),
    ("/decouple/method", {"method": "none"}),
    ("/data/redraft", {}),
    ("/roles/redraft", {}),
    ("/job/open/stop", {"step": "data"}),
)
_THREADS = 30


@pytest.mark.usefixtures("patience")
def test_no_address_fails_while_others_are_asked(served, some):
    """Every page is shown while tables are opened and policies are changed and taken back."""
    assert served.open_table("people.csv", PEOPLE).status == 201
    chance = random.Random(4711)
    pages = [path for path in safe() if not path.startswith("/static")]
    wishes = [("GET", f"{filled(path)}?column=age&level=1") for path in pages]
    asked = [*wishes * some(4, of=20), *[("POST", *each) for each in CHANGES] * some(3, of=15)]
    asked += [("upload",)] * some(3, of=12)
    chance.shuffle(asked)
    failed = []

    def ask(wish):
        if wish[0] == "upload":
            answer = served.ask("POST", "/upload?name=people.csv", PEOPLE)
        else:
            answer = served.ask(*wish)
        if answer.status >= 500 or "a fault of Sfumato" in answer.text:
            failed.append((wish, answer.status, answer.text[-400:]))

    with ThreadPoolExecutor(_THREADS) as pool:
        [*pool.map(ask, asked)]
    assert failed == []
    assert "a fault" not in served.said()
    served.wait()
    for path in ("/data", "/roles", "/publish"):
        assert served.ask("GET", path).status in (200, 303)


def race(*acts, times=300):
    """Do several things again and again, each in a thread of its own; give what was raised."""
    raised = []
    start = threading.Barrier(len(acts))

    def repeat(act):
        start.wait()
        for _ in range(times):
            try:
                act()
            except Exception as error:  # noqa: BLE001 - whatever it is, it is a failure
                raised.append(error)
                return

    threads = [threading.Thread(target=repeat, args=(act,)) for act in acts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return raised


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("step", ALL)
def test_the_command_of_a_page_is_told_whatever_becomes_of_the_policy(tmp_path, step):
    """A page was about a policy that was gone before its last line was made."""
    desk = Desk(tmp_path)
    assert isinstance(equivalents(desk, step), Equivalent)
    desk.change(POLICY.format(k=2), "roles", "x")

    def change():
        desk.start_anew()
        desk.change(POLICY.format(k=2), "roles", "x")

    assert race(lambda: equivalents(desk, step), change, times=40) == []
    desk.end()


@pytest.mark.usefixtures("patience")
def test_a_history_is_read_while_it_changes(tmp_path):
    history = History(tmp_path)
    numbers = iter(range(10_000_000))

    def read():
        assert history.text is None or history.text.startswith("a: ")
        _ = history.before, history.present, history.states, history.can_redo

    def clear():
        history.clear()
        history.add("a: 0", "x", "y")

    raised = race(
        lambda: history.add(f"a: {next(numbers)}", "x", "y"), history.undo, history.redo, clear,
        read, read, times=100,
    )  # fmt: skip
    assert raised == []


def test_a_count_that_another_one_stopped_is_no_fault(tmp_path, monkeypatch):
    """A count gives way to a newer one of the same column, and whoever waited for it is told."""
    desk = Desk(tmp_path)
    desk.change(POLICY.format(k=2), "roles", "x")
    stopped = Job("values")
    stopped.stop()
    stopped.run(lambda report: report("count", 0, None))
    monkeypatch.setattr(hierarchies, "_count", lambda *_: stopped)
    with pytest.raises(InputError, match=r"was stopped\. Load the page again"):
        hierarchies.show(desk, Fields({"column": ["age"]}))
    desk.end()


def test_what_is_said_is_said_once_and_not_lost(tmp_path):
    desk = Desk(tmp_path)
    told = []
    assert race(lambda: desk.say("note", "x"), lambda: told.extend(desk.take_messages())) == []
    told += desk.take_messages()
    assert len(told) == 300
    desk.end()


def test_uploads_of_one_name_at_the_same_time_are_two_files(tmp_path):
    desk = Desk(tmp_path)
    kept = []

    def receive():
        mark = f"a\n{threading.get_ident()}\n"
        with desk.receiving("people.csv") as path:
            path.write_text(mark)
        kept.append((desk._received.pop(path), mark))

    assert race(receive, receive, receive, times=30) == []
    assert len({path for path, _ in kept}) == 90
    assert all(path.read_text() == mark for path, mark in kept)
    desk.end()


@pytest.mark.usefixtures("patience")
def test_settings_are_written_while_pages_set_them(tmp_path):
    desk = Desk(tmp_path)
    numbers = iter(range(10_000_000))

    def put():
        desk.settings[f"x{next(numbers) % 1000}"] = "y"
        desk.settings.pop(f"x{next(numbers) % 1000}", None)

    assert race(put, put, desk.save, desk.save, times=200) == []
    desk.end()
