"""Hierarchies in the workbench: edited by drag and by keys, and the policy says what is shown."""

import pytest

from sfumato.app.boards import board_of, level_rows, ruler_of
from sfumato.hierarchy import BUILDERS, Intervals, Suppress, Taxonomy
from sfumato.hierarchy.editing import edit, preview
from sfumato.policy import Policy
from tests.app.browsing import axe

pytestmark = pytest.mark.usefixtures("patience")

TREE = "tree: {north: [Kiel, Lübeck], south: [Ulm, Passau], Bonn: }"
POLICY = f"""\
columns:
  town:
    role: quasi-identifier
    hierarchy: {{kind: taxonomy, {TREE}}}
  age: {{role: quasi-identifier, hierarchy: {{kind: intervals, bounds: [[30, 50, 70], [50]]}}}}
  born: {{role: quasi-identifier, hierarchy: {{kind: auto}}}}
  ill: sensitive
models:
- {{model: k-anonymity, k: 2}}
"""
TOWNS = ["Kiel", "Lübeck", "Ulm", "Passau", "Bonn"]


def people():
    lines = ["town,age,born,ill"]
    for i in range(200):
        born = f"{1 + i % 28:02}.{1 + i % 12:02}.{1940 + i % 60}"
        lines.append(f"{TOWNS[i % 5]},{20 + i % 65},{born},{('flu', 'gout')[i % 2]}")
    return "\n".join(lines).encode()


@pytest.fixture
def table(served):
    """The app with a table of towns and ages, and a policy for it."""
    (served.folder / "policy.yaml").write_text(POLICY, encoding="utf-8")
    served.open_table("people.csv", people())
    return served


def policy_of(served):
    return Policy.from_yaml((served.folder / "policy.yaml").read_text(encoding="utf-8"))


def tree_of(served, column="town"):
    return policy_of(served).columns[column].hierarchy.params()["tree"]


# Without a browser.


def act(served, action, **fields):
    answer = served.ask("POST", f"/hierarchies/{action}", fields)
    assert answer.status == 303, answer.text
    return answer.headers["location"]


def test_every_kind_can_be_chosen_for_some_column(table):
    for kind in BUILDERS:
        if kind in ("csv", "known"):
            continue
        column = {"intervals": "age", "dates": "born", "masking": "age"}.get(kind, "town")
        act(table, "kind", column=column, kind=kind)
        assert policy_of(table).columns[column].hierarchy.name == kind
        page = table.ask("GET", f"/hierarchies?column={column}")
        assert page.status == 200
        assert "fault of Sfumato" not in page.text


def test_dates_stay_dates_when_they_are_grouped_by_hand(table):
    act(table, "kind", column="born", kind="taxonomy")
    rule = policy_of(table).columns["born"]
    assert rule.hierarchy.name == "taxonomy"
    assert rule.to_plain()["dates"] == "detect"
    assert "not in the hierarchy yet" not in table.ask("GET", "/hierarchies?column=born").text


def test_an_arx_file_comes_in_and_goes_out(table):
    text = "Kiel;sea;*\nLübeck;sea;*\nUlm;land;*\nPassau;land;*\n"
    act(table, "import", column="town", text=text)
    assert tree_of(table) == [{"sea": ["Kiel", "Lübeck"]}, {"land": ["Ulm", "Passau"]}, "Bonn"]
    given = table.ask("GET", "/hierarchies/export?column=town")
    assert given.headers["content-disposition"].startswith("attachment")
    assert given.text == text + "Bonn;Bonn;*\n"


def test_a_mistake_is_a_message_at_the_same_place(table):
    where = act(table, "edit", column="town", level="1", do="rename", group="north", name="south")
    assert where.endswith("hierarchies?column=town&level=1")
    page = table.ask("GET", "/hierarchies?column=town&level=1")
    assert "has a group &#39;south&#39; already" in page.text
    assert policy_of(table) == Policy.from_yaml(POLICY)


def test_values_that_are_not_in_it_are_told_and_taken_in(table):
    act(table, "import", column="town", text="Kiel;sea;*\nUlm;land;*\n")
    policy = POLICY.replace(TREE, "tree: {n: [Kiel], Ulm: }")
    assert table.ask("POST", "/policy", {"step": "hierarchies", "policy": policy}).status == 303
    assert "3 values of the table are not in the hierarchy yet" in (
        table.ask("GET", "/hierarchies?column=town").text
    )
    act(table, "edit", column="town", level="1", do="take-in")
    assert tree_of(table) == [{"n": ["Kiel"]}, "Ulm", "Bonn", "Lübeck", "Passau"]


def test_hostile_values_stay_text(served):
    nasty = "<script>alert(1)</script>"
    served.open_table("people.csv", f'town,ill\n"{nasty}",flu\nUlm,gout\nBonn,flu\n'.encode())
    served.ask(
        "POST", "/policy",
        {"step": "hierarchies", "policy": "columns: {town: quasi-identifier, ill: sensitive}\n"
         "models: [{model: k-anonymity, k: 2}]"},
    )  # fmt: skip
    act(served, "edit", column="town", level="1", do="add-level")
    page = served.ask("GET", "/hierarchies?column=town").text
    assert nasty not in page
    assert "&lt;script&gt;" in page


# What is drawn.


def test_a_board_shows_what_most_have_first_and_finds_the_rest():
    values = [f"v{i:04}" for i in range(3000)]
    tree = edit(Suppress(), "x", values, list(range(3000))).add_level(0)
    board = board_of(tree, 1)
    assert [chip.label for chip in board.alone[:2]] == ["v2999", "v2998"]
    assert board.n_alone == 3000
    assert len(board.alone) < 100
    found = board_of(tree, 1, search="V0007")
    assert [chip.label for chip in found.alone] == ["v0007"]
    assert board_of(tree, 1, page=10**9).page == board.pages - 1


def test_a_full_group_is_cut_short_until_it_is_opened():
    values = [f"v{i}" for i in range(30)]
    tree = edit(Taxonomy({"many": values, "few": ["w"]}), "x", [*values, "w"])
    short, long = (board_of(tree, 1, expanded=names) for names in ((), ("many",)))
    assert (len(short.boxes[0].chips), short.boxes[0].more) == (10, 20)
    assert len(long.boxes[0].chips) == 30


@pytest.mark.parametrize(
    "intervals", [Intervals(widths=[5, 10], upper=60), Intervals(bounds=[[18, 40, 65], [40]])]
)
def test_a_ruler_has_a_handle_per_cut_point_and_the_labels_of_the_levels(intervals):
    ages = list(range(3, 91))
    form = edit(intervals, "age", ages, [2] * len(ages))
    ruler = ruler_of(form, 1, 5)
    assert [float(handle.at) for handle in ruler.handles] == [float(cut) for cut in form.cuts[0]]
    for handle in ruler.handles:
        assert float(handle.low) <= float(handle.at) <= float(handle.high)
    labels = {level: {each.label for each in ranges} for level, ranges in ruler.strips}
    built = intervals.build("age", ages)
    assert [labels[1], labels[2]] == [set(built.labels[1]), set(built.labels[2])]
    assert all(sum(each.rows for each in ranges) == 2 * len(ages) for _, ranges in ruler.strips)


def test_the_overview_has_a_row_per_level():
    tree = Taxonomy({"n": ["a", "b"], "s": ["c"]})
    rows = level_rows(preview(tree, "x", ["a", "b", "c"], [1, 2, 9]), 3)
    assert [(row.level, row.labels, row.smallest, row.below) for row in rows] == [
        (0, 3, 1, 3), (1, 2, 3, 0), (2, 1, 12, 0),
    ]  # fmt: skip


# In a browser.


@pytest.fixture
def towns(page, table):
    page.goto(f"{table.origin}{table.base}/hierarchies?column=town")
    return page


def drag(page, source, target):
    source.scroll_into_view_if_needed()
    start, end = source.bounding_box(), target.bounding_box()
    page.mouse.move(start["x"] + start["width"] / 2, start["y"] + start["height"] / 2)
    page.mouse.down()
    page.mouse.move(end["x"] + end["width"] / 2, end["y"] + end["height"] - 4, steps=6)
    page.mouse.up()


def chip(page, name):
    return page.locator(f'[data-carry="{name}"]')


def said(page, text):
    page.locator("#messages", has_text=text).wait_for()


def axe_at_rest(page):
    """Look when the figures are there: those of the policy before are pale until then."""
    page.locator("#status:not(.looking):not(.reading)").wait_for(timeout=300_000)
    return axe(page)


MOVED = {"north": ["Kiel", "Lübeck", "Bonn"], "south": ["Passau", "Ulm"]}


def test_a_value_is_dragged_into_a_group_and_back(towns, table):
    drag(towns, chip(towns, "Bonn"), towns.locator('[data-into="north"]'))
    said(towns, "1 moved to north.")
    assert {name: sorted(each) for name, each in tree_of(table).items()} == {
        name: sorted(each) for name, each in MOVED.items()
    }
    drag(towns, chip(towns, "Bonn"), towns.locator("[data-into-alone]"))
    said(towns, "1 by themselves.")
    assert "Bonn" in tree_of(table)
    towns.click("#undo")
    towns.locator('[data-into="north"] [data-carry="Bonn"]').wait_for()
    drag(towns, towns.locator('[data-carry-group="south"]'), towns.locator('[data-into="north"]'))
    said(towns, "2 groups are one.")
    assert axe_at_rest(towns) == []


def test_the_same_with_the_keyboard_alone(towns, table):
    towns.locator('[data-into="north"] [data-carry] input').last.focus()
    towns.keyboard.press("ArrowRight")
    towns.keyboard.press("ArrowRight")
    towns.keyboard.press("ArrowRight")
    towns.keyboard.press("ArrowRight")
    assert towns.locator(":focus").input_value() == "Bonn"
    towns.keyboard.press("Space")
    assert towns.locator("#chosen").inner_text() == "1 chosen"
    towns.keyboard.press("m")
    assert towns.locator(":focus").get_attribute("id") == "to"
    towns.keyboard.type("north")
    towns.keyboard.press("Enter")
    said(towns, "1 moved to north.")
    assert {name: sorted(each) for name, each in tree_of(table).items()} == {
        name: sorted(each) for name, each in MOVED.items()
    }


def test_a_cut_point_is_dragged_and_moved_with_arrows(page, table):
    page.goto(f"{table.origin}{table.base}/hierarchies?column=age")
    handle = page.locator("#cut-1")
    assert handle.get_attribute("role") == "slider"
    page.locator("[data-line]").scroll_into_view_if_needed()
    box, line = handle.bounding_box(), page.locator("[data-line]").bounding_box()
    middle = box["x"] + box["width"] / 2
    page.mouse.move(middle, line["y"] + 95)
    page.mouse.down()
    page.mouse.move(middle + line["width"] * 8 / 65, line["y"] + 95, steps=5)
    page.mouse.up()
    page.locator('#cut-1[data-cut="38"]').wait_for()
    assert policy_of(table).columns["age"].hierarchy.params() == {"bounds": [[38, 50, 70], [50]]}
    page.locator("#cut-2").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    page.locator('#cut-2[data-cut="52"]').wait_for()
    assert policy_of(table).columns["age"].hierarchy.params() == {"bounds": [[38, 52, 70], [52]]}
    page.locator("#cut-3").focus()
    page.keyboard.press("Delete")
    page.locator("#cut-3").wait_for(state="detached")
    assert policy_of(table).columns["age"].hierarchy.params() == {"bounds": [[38, 52], [52]]}
    assert axe_at_rest(page) == []


def test_a_file_is_chosen_and_taken_in(towns, table, tmp_path):
    file = tmp_path / "arx.csv"
    file.write_bytes(
        "Kiel;See;*\nLübeck;See;*\nUlm;Süd;*\nPassau;Süd;*\nBonn;Süd;*\n".encode("cp1252")
    )
    towns.set_input_files("#import-file", str(file))
    said(towns, "Imported: 5 values, 2 levels.")
    assert tree_of(table) == {"See": ["Kiel", "Lübeck"], "Süd": ["Ulm", "Passau", "Bonn"]}
