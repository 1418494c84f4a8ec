"""The step Explore: what is tried can be chosen, compared and undone, and the map sets levels."""

import re
import shlex
from itertools import pairwise
from threading import Event

import pytest

from sfumato.app import server
from sfumato.app.equivalent import equivalents
from sfumato.app.fields import Fields
from sfumato.app.steps.explore import PRESENT
from sfumato.policy import Policy
from tests.app.test_promises import TABLE

pytestmark = pytest.mark.usefixtures("patience")

POLICY = """\
columns:
  age: {role: quasi-identifier, hierarchy: {kind: intervals, widths: [2, 4]}}
  sex: {role: quasi-identifier, hierarchy: {kind: star}}
  disease: sensitive
  pay: dropped
models:
- {model: k-anonymity, k: 2}
"""


@pytest.fixture
def desk(make_desk):
    return make_desk(TABLE, POLICY)


def run(client, desk, action, job, **fields):
    assert client.post(f"explore/{action}", **fields).status == 200
    assert desk.jobs.get(job).wait(60)
    assert desk.jobs.get(job).error is None
    return client.get("explore").text


@pytest.fixture
def tried(client, desk):
    fields = {"v-k": "2; 6", "method": ["full-domain", "mondrian"]}
    return run(client, desk, "try", "explore", **fields)


@pytest.fixture
def judged(client, desk):
    return run(client, desk, "judge", "lattice")


def test_the_command_tries_the_same_policies(client, desk, tried):
    from sfumato.cli.prepare import varied_by
    from sfumato.comparison.variations import name_policies

    command = shlex.split(equivalents(desk, "explore").command)
    assert command[:4] == ["sfumato", "compare", "people.csv", "policy.yaml"]
    vary = varied_by([text for word, text in pairwise(command) if word == "--vary"])
    assert name_policies(desk.policy, vary) == desk.jobs.get("explore").result.policies


def test_before_anything_is_tried_the_command_tries_what_is_offered(desk):
    shown = equivalents(desk, "explore")
    assert "--vary k=2,3,10 --vary method=full-domain,regional," in shown.command
    assert "vary={'k': [2, 3, 10], 'method': ['full-domain', 'regional'," in shown.python


def test_every_combination_is_a_mark_and_a_row(tried):
    for name in ("k=2, full-domain", "k=2, mondrian", "k=6, full-domain", "k=6, mondrian"):
        assert name in tried
    marks = set(re.findall(r'<a href="#policy-(\d+)"', tried))
    assert marks
    assert all(f'id="policy-{number}"' in tried for number in marks)
    assert "the present policy" in tried


def test_the_present_policy_is_tried_too(client, desk):
    run(client, desk, "try", "explore", **{"v-k": "6", "method": ["mondrian"]})
    found = desk.jobs.get("explore").result
    assert list(found.policies) == [PRESENT, "k=6, mondrian"]
    assert found.policies[PRESENT] == desk.policy


def test_a_point_becomes_the_policy_and_undo_takes_it_back(client, desk, tried):
    before = desk.text
    client.post("explore/take", name="k=6, mondrian")
    assert desk.policy.method.name == "mondrian"
    assert desk.policy.models[0].k == 6
    assert Policy.load(desk.policy_file) == desk.policy
    client.post("history/undo", step="explore")
    assert desk.text == before


def test_two_candidates_stand_side_by_side_with_what_differs(client, tried):
    text = client.get("explore", point="4", other="1").text
    assert "Side by side" in text
    assert "k=6, mondrian" in text
    assert '<span class="new">+ method: mondrian' in text
    assert "k: 6" in text
    alone = client.get("explore", point="4").text
    assert "the present policy" in alone


@pytest.mark.parametrize("key", ["loss", "risk", "suppressed", "smallest", "method", "nothing"])
def test_rows_are_sorted_by_link(client, tried, key):
    text = client.get("explore", sort=key).text
    assert len(re.findall(r'id="policy-\d+"', text)) == 4
    assert ('aria-sort="ascending"' in text) is (key in ("loss", "risk", "suppressed", "smallest"))


@pytest.mark.parametrize("risk", ["at-risk", "belief", "gain", "prosecutor", "mean", "no such"])
def test_the_plane_is_about_any_risk(client, tried, risk):
    assert client.get("explore", risk=risk).status == 200


def test_usefulness_is_measured_by_what_is_chosen(client, desk):
    fields = {"v-k": "2; 6", "method": ["mondrian"], "loss": "query-error"}
    text = run(client, desk, "try", "explore", **fields)
    assert desk.jobs.get("explore").result.comparison.loss == "query-error"
    assert '<option value="query-error" selected>' in text
    assert "--loss query-error" in equivalents(desk, "explore").command
    assert "loss='query-error'" in equivalents(desk, "explore").python


def test_usefulness_is_not_measured_by_what_there_is_not(client, desk):
    assert "no loss &#39;lost&#39;" in client.post("explore/try", loss="lost").text
    assert desk.jobs.get("explore") is None


@pytest.mark.parametrize("point", ["0", "99", "-1", "x", "<script>", "1" * 400])
def test_a_point_that_is_not_there_is_no_error(client, tried, point):
    text = client.get("explore", point=point).text
    assert "Side by side" not in text
    assert "<script>" not in text.replace("<script src", "")


def test_too_many_combinations_are_refused_before_anything_is_tried(client, desk):
    fields = {
        "v-k": " ".join(map(str, range(2, 60))),
        "method": ["full-domain", "mondrian", "regional"],
    }
    text = client.post("explore/try", **fields).text
    assert "at most 150 are tried" in text
    assert desk.jobs.get("explore") is None


def test_a_value_that_makes_no_sense_is_refused(client, desk):
    text = client.post("explore/try", **{"v-k": "2; 0", "method": ["full-domain"]}).text
    assert "Not done." in text
    assert desk.jobs.get("explore") is None


def test_a_policy_that_was_not_tried_is_refused(client, desk, tried):
    before = desk.text
    assert "Not done." in client.post("explore/take", name="k=99").text
    assert desk.text == before


def test_the_map_has_every_node_and_the_table_the_minimal_ones(client, desk, judged):
    svg = client.get("explore/map").text
    lattice = desk.jobs.get("lattice").result.lattice
    for node in lattice.lattice:
        assert f'data-node="{",".join(map(str, node))}"' in svg
    assert len(re.findall(r'id="minimal-\d+"', judged)) == len(lattice.minimal)


def test_one_level_less_is_told_for_each_column(client, desk, judged):
    lattice = desk.jobs.get("lattice").result.lattice
    node = lattice.lattice.highest
    text = client.get("explore", node=",".join(map(str, node))).text
    assert "What one level less would cost" in text
    for place, column in enumerate(lattice.columns):
        below = lattice.neighbours(node, -1)[column]
        assert below.node[place] == node[place] - 1
        assert f'id="go-1-{column}"' in text
        assert lattice.neighbours(node, 1)[column] is None


def test_a_node_sets_the_levels_and_the_map_stays(client, desk, judged):
    lattice = desk.jobs.get("lattice").result.lattice
    node = lattice.minimal[-1]
    text = client.post("explore/levels", node=",".join(map(str, node))).text
    levels = [desk.policy.columns[name].levels for name in lattice.columns]
    assert levels == [(level, level) for level in node]
    assert "set in the policy" in text
    assert "Draw it again" not in text
    client.post("explore/free")
    assert all(desk.policy.columns[name].levels is None for name in lattice.columns)


def test_levels_of_a_local_method_make_it_full_domain(client, desk, judged):
    desk.change(desk.policy.with_method("mondrian"), "promises", "method")
    client.post(
        "explore/levels", node=",".join(map(str, desk.jobs.get("lattice").result.lattice.chosen))
    )
    assert desk.policy.method.name == "full-domain"


def test_levels_as_a_form_sends_them_are_a_node(client, desk, judged):
    from sfumato.app.steps.explore import _asked_node

    lattice = desk.jobs.get("lattice").result.lattice
    asked = Fields({"level": ["1", "0"]})
    assert _asked_node(lattice, desk.policy, asked) == (1, 0)
    assert _asked_node(lattice, desk.policy, Fields({"node": ["9,9,9"]})) == lattice.chosen


def test_a_map_of_another_policy_is_called_old(client, desk, judged):
    desk.change(desk.policy.replace(models=[{"model": "k-anonymity", "k": 5}]), "promises", "k")
    assert "Draw it again" in client.get("explore").text


def test_work_that_ends_while_its_page_is_made_is_shown(client, desk, monkeypatch):
    let = Event()
    look, look_at_status = desk.require_live().lattice, server.status_of
    monkeypatch.setattr(
        type(desk.require_live()),
        "lattice",
        lambda _, *args, **more: let.wait(60) and look(*args, **more),
    )

    def end_it_now(*args, **more):
        let.set()
        assert desk.jobs.get("lattice").wait(60)
        return look_at_status(*args, **more)

    assert 'id="job-lattice"' in client.post("explore/judge").text
    assert 'name="step" value="explore"' in client.get("job/lattice", step="explore").text
    monkeypatch.setattr(server, "status_of", end_it_now)
    assert 'id="node-form"' in client.get("explore").text


def test_the_table_of_what_was_tried_is_filtered(client, desk):
    run(client, desk, "try", "explore", **{"v-k": "2; 20", "method": ["full-domain", "mondrian"]})
    points = desk.jobs.get("explore").result.comparison.points

    def shown(most):
        page = client.get("explore", **{"most-loss": most}).text
        return page, [int(number) for number in re.findall(r'id="policy-(\d+)"', page)]

    least = min(round(100 * point.loss, 1) for point in points if point.possible)
    page, found = shown(f"{least}")
    expected = [
        at
        for at, point in enumerate(points, 1)
        if point.possible and round(100 * point.loss, 1) <= least
    ]
    assert found == expected
    assert 0 < len(found) < len(points)
    assert f"{len(found)} of {len(points)}" in page
    assert "None of them is like that." in shown("-1")[0]
    # What is no number filters nothing.
    assert len(shown("much")[1]) == len(points)


def test_a_bookmark_stays_when_others_are_tried_and_is_taken_later(client, desk, tried):
    client.post("explore/mark", name="k=6, full-domain")
    marked = desk.jobs.get("explore").result.policies["k=6, full-domain"]
    page = run(client, desk, "try", "explore", **{"v-k": "3", "method": ["mondrian"]})
    assert 'id="bookmarks"' in page
    assert "k=6, full-domain" in page
    client.post("explore/return", at=0)
    assert desk.policy == marked
    client.post("explore/unmark", at=0)
    assert 'id="bookmarks"' not in client.get("explore").text
    assert "not there any more" in client.post("explore/return", at=0).text
