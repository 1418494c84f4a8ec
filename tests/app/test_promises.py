"""The step Promises: every model in words and sliders, and nothing that makes no sense is taken."""

import pytest

from sfumato.app import wording
from sfumato.app.steps.promises import Cost
from sfumato.app.texts import catalogue, translator
from sfumato.losses import LOSSES
from sfumato.models import MODELS, KAnonymity
from sfumato.partition import PARTITIONERS
from sfumato.policy.parts import choose, every_method
from tests.app.asking import Client
from tests.app.browsing import axe

POLICY = """\
columns:
  age: {role: quasi-identifier, hierarchy: {kind: auto}}
  sex: {role: quasi-identifier, hierarchy: {kind: auto}}
  disease: sensitive
  pay: sensitive
models:
- {model: k-anonymity, k: 2}
- {model: distinct-l-diversity, column: disease, l: 2}
"""
ILLS = ("flu", "gout", "asthma")


ROWS = [f"{30 + i % 8},{'mf'[i % 2]},{ILLS[i % 3]},{1000 + 37 * i}" for i in range(48)]
TABLE = "\n".join(["age,sex,disease,pay", *ROWS, ""])


@pytest.fixture
def desk(make_desk):
    return make_desk(TABLE, POLICY)


def send(client, action, **fields):
    answer = client.post(f"promises/{action}", **fields)
    assert answer.status == 200
    return answer.text


@pytest.mark.usefixtures("patience")
def test_each_promise_is_told_in_its_own_numbers(client):
    text = client.get("promises").text
    assert "narrowed down to fewer than 2 people" in text
    assert "with a chance of 50 % at most" in text
    assert "at least 2 different values of disease" in text


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("name", list(MODELS))
def test_every_model_has_a_sentence_in_every_language(name):
    example = MODELS[name].example()
    told = {
        language: wording.sentence_of(translator(language), type(example), example.params())
        for language in ("en", "de")
    }
    assert told["en"] != told["de"]
    assert "{" not in "".join(told.values())
    for column in example.columns:
        assert all(column in text for text in told.values())


@pytest.mark.parametrize("name", list(MODELS))
def test_what_the_fields_of_a_model_hold_makes_the_same_model(name):
    example = MODELS[name].example()
    fields = {knob.name: knob.text for knob in wording.knobs_of(type(example), example)}
    given = {"model": name, **wording.read_knobs(type(example), fields)}
    made = choose(MODELS, "model", given)
    assert [str(made), *made.columns] == [str(example), *example.columns] or made == example


@pytest.mark.usefixtures("patience")
def test_every_model_is_offered(client):
    text = client.get("promises").text
    absent = [name for name in MODELS if f'id="add-{name}"' not in text]
    # What no column can be named for says what it needs.
    assert [name for name in absent if not MODELS[name].of_weights] == []
    assert text.count("Needs a weight (role weight).") == len(absent)


@pytest.mark.parametrize("name", list(MODELS))
def test_a_slider_has_its_value_on_it(name):
    for knob in wording.knobs_of(MODELS[name], None):
        if knob.scale is not None:
            low, high, step = knob.scale
            assert low <= float(knob.text) <= high
            assert step > 0


@pytest.mark.usefixtures("patience")
def test_every_method_and_loss_can_be_chosen(client, desk):
    for name in every_method(PARTITIONERS):
        send(client, "method", method=name)
        assert desk.policy.method.name == name
    for name in LOSSES:
        send(client, "loss", loss=name)
        assert desk.policy.loss.name == name


@pytest.mark.usefixtures("patience")
def test_a_slider_on_its_way_is_one_change_to_undo(client, desk):
    client.get("promises")
    for k in (3, 4, 5, 6):
        send(client, "set", place=0, model="k-anonymity", **{"p-k": k})
    assert desk.policy.models[0] == KAnonymity(6)
    client.post("history/undo", step="promises")
    assert desk.policy.models[0] == KAnonymity(2)


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize("wrong", ["1", "many", "-3", "2.5", ""])
def test_a_number_that_makes_no_sense_is_refused_by_the_policy_itself(client, desk, wrong):
    before = desk.text
    text = send(client, "set", place=0, model="k-anonymity", **{"p-k": wrong})
    assert desk.text == before
    assert "Not done." in text
    assert "k-anonymity needs" in text if not wrong else "k must" in text or "must be" in text


@pytest.mark.usefixtures("patience")
def test_a_promise_is_added_to_a_column_and_removed(client, desk):
    send(client, "add", model="t-closeness", **{"p-column": "disease"})
    assert str(desk.policy.models[2]) == "t-closeness(disease, t=0.3, distance=equal)"
    send(client, "remove", place=2, model="t-closeness")
    assert len(desk.policy.models) == 2


@pytest.mark.usefixtures("patience")
def test_the_last_promise_cannot_be_removed(client, desk):
    send(client, "remove", place=1, model="distinct-l-diversity")
    text = send(client, "remove", place=0, model="k-anonymity")
    assert "nothing would be promised" in text
    assert desk.policy.models == (KAnonymity(2),)


@pytest.mark.usefixtures("patience")
def test_a_promise_without_what_it_needs_says_so(client, desk):
    text = send(client, "add", model="k-map")
    assert "compares with a population and none is given" in text
    text = send(client, "add", model="category-share", **{"p-column": "disease"})
    assert "categories" in text
    assert len(desk.policy.models) == 2


@pytest.mark.usefixtures("patience")
def test_categories_are_lines_of_values(client, desk):
    send(
        client,
        "add",
        model="category-share",
        **{"p-column": "disease", "p-categories": 'flu, gout\n"asthma"\n'},
    )
    assert desk.policy.models[2].categories == (("flu", "gout"), ("asthma",))


@pytest.mark.usefixtures("patience")
def test_a_list_that_changed_in_another_window_is_not_changed_by_place(client, desk):
    text = send(client, "set", place=0, model="t-closeness", **{"p-t": "0.1"})
    assert "have changed since" in text


@pytest.mark.usefixtures("patience")
@pytest.mark.parametrize(
    ("text", "unit", "limit"),
    [("5", "share", 0.05), ("2,5", "share", 0.025), ("0", "share", 0)],
)
def test_the_limit_is_a_share_or_a_number_of_rows(client, desk, text, unit, limit):
    send(client, "limit", limit=text, before="share", **{"as": unit}, rows="star")
    assert desk.policy.suppression.limit == limit
    assert desk.policy.suppression.rows == "star"


@pytest.mark.usefixtures("patience")
def test_the_limit_changes_its_unit(client, desk):
    send(client, "limit", limit="5", before="share", **{"as": "rows"})
    assert desk.policy.suppression.limit == 1
    send(client, "limit", limit="7", before="rows", **{"as": "rows"})
    assert desk.policy.suppression.limit == 7


@pytest.mark.usefixtures("patience")
def test_a_limit_that_makes_no_sense_is_refused(client, desk):
    text = send(client, "limit", limit="101", before="share", **{"as": "share"})
    assert "at most 100 %" in text
    assert desk.policy.suppression.limit == 0


def test_what_it_costs_is_the_loss_with_it_less_that_without():
    assert Cost(0.4, 8, 0.25, 9).price == pytest.approx(0.15)
    assert Cost(0.4, 8, None, None).price is None


def test_what_it_costs_is_shown_by_itself(client, desk):
    text = client.get("promises/costs").text
    assert 'id="cost-0"' in text
    assert 'id="cost-1"' in text
    assert 'hx-swap-oob="true"' in text


@pytest.mark.usefixtures("patience")
def test_names_of_columns_command_no_browser(make_desk):
    hostile = "<script>alert(1)</script>"
    desk = make_desk(TABLE, POLICY.replace("disease", f"'{hostile}'"))
    text = Client(desk).get("promises").text
    assert hostile not in text
    assert "&lt;script&gt;" in text


def test_what_parameters_mean_is_translated():
    assert set(wording.meanings()) <= set(catalogue("de"))


def test_a_slider_moved_by_keys_is_one_change_and_the_bar_follows(page, served):
    (served.folder / "policy.yaml").write_text(POLICY)
    served.open_table("people.csv", TABLE.encode())
    page.goto(served.door)
    page.click("nav a[href$='/promises']")
    page.wait_for_selector("#status dl:not(.old)")
    page.focus("#m0-k-slider")
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    page.wait_for_selector("h2:has-text('fewer than 5 people')")
    assert page.input_value("#m0-k-slider") == "5"
    assert page.evaluate("document.activeElement.id") == "m0-k-slider"
    page.wait_for_selector("#cost-1:not(.old)")
    assert axe(page) == []
    page.keyboard.press("Control+z")
    page.wait_for_selector("h2:has-text('fewer than 2 people')")
