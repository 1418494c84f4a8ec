import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.errors import ParameterError, SfumatoError
from sfumato.networks.network import Network
from sfumato.showing.network import network_svg
from tests.showing.reading import NASTY, SVG, check_drawing, children, survives, texts, tooltip

CENSUS = Network.of(
    ["Age", "Zipcode", "Gender", "Government", "Marital-Status", "Salary"],
    [
        ("Age", "Zipcode"),
        ("Age", "Gender"),
        ("Zipcode", "Gender"),
        ("Zipcode", "Government"),
        ("Marital-Status", "Government"),
        ("Salary", "Government"),
        ("Marital-Status", "Salary"),
    ],
    chosen=[("Age", "Zipcode")],
)
ROLES = dict.fromkeys(["Age", "Zipcode", "Gender"], "quasi-identifier") | dict.fromkeys(
    ["Government", "Marital-Status", "Salary"], "sensitive"
)


@st.composite
def networks(draw):
    names = draw(st.lists(NASTY, min_size=1, max_size=8, unique=True))
    pairs = st.sampled_from([(a, b) for a in names for b in names])
    edges = draw(st.lists(pairs, max_size=14, unique=True))
    chosen = [edge for edge in edges if draw(st.booleans())]
    marked = {edge: draw(st.floats(0, 1)) for edge in edges if draw(st.booleans())}
    groups = {
        name: draw(st.sampled_from(["quasi-identifier", "sensitive", "plain", "<&>"]))
        for name in names
        if draw(st.booleans())
    }
    return Network.of(names, edges, chosen), marked, groups


@given(networks(), NASTY)
def test_any_network_can_be_drawn(drawn, title):
    network, marked, groups = drawn
    root = check_drawing(network_svg(network, marked=marked, groups=groups, title=title))
    nodes = [tooltip(node) for node in children(root, "node")]
    assert len(nodes) == len(network.columns)
    for column, told in zip(network.columns, nodes, strict=True):
        assert (told or "").startswith(survives(column))
    assert len(children(root, "edge")) == len(network.edges)
    assert len(children(root, "percentage")) == len(marked)


def test_every_edge_is_drawn_from_its_parent_to_its_child():
    root = check_drawing(network_svg(CENSUS))
    told = {tooltip(edge).split(",")[0] for edge in children(root, "edge")}
    assert told == {f"{parent} → {child}" for parent, child in CENSUS.edges}


def test_what_stands_out_can_be_told_without_colour():
    svg = network_svg(CENSUS, marked={("Age", "Zipcode"): 1, ("Salary", "Government"): 0.5})
    lines = {
        tooltip(edge): edge.find(f"{SVG}path") for edge in children(check_drawing(svg), "edge")
    }
    plain = lines["Age → Gender"]
    strong = lines["Age → Zipcode, rule of 100 %, direction not determined by the data"]
    weaker = lines["Salary → Government, rule of 50 %"]
    widths = [float(line.get("stroke-width")) for line in (plain, weaker, strong)]
    assert widths[0] * 2 < widths[1] < widths[2]
    assert strong.get("stroke-dasharray")
    assert not plain.get("stroke-dasharray")
    assert not weaker.get("stroke-dasharray")


def test_kinds_of_columns_differ_in_shape():
    root = check_drawing(network_svg(CENSUS, groups=ROLES | {"Salary": "plain"}))
    shapes = {tooltip(node): [part.tag for part in node.iter()] for node in children(root, "node")}
    assert shapes["Age (quasi-identifier)"].count(f"{SVG}rect") == 1
    assert shapes["Government (sensitive)"].count(f"{SVG}path") == 2
    rounded = {
        tooltip(node): node.find(f"{SVG}rect").get("rx")
        for node in children(root, "node")
        if node.find(f"{SVG}rect") is not None
    }
    assert rounded["Age (quasi-identifier)"] != rounded["Salary (plain)"]


def test_the_legend_explains_what_occurs_and_nothing_else():
    def meanings(svg):
        return [
            text.content
            for legend in children(check_drawing(svg), "legend")
            for text in texts(legend)
        ]

    assert meanings(network_svg(Network.of(["a", "b"], [("a", "b")]))) == ["depends on"]
    assert meanings(network_svg(Network.of(["a"], []))) == []
    full = network_svg(
        Network.of(["a", "b", "c"], [("a", "b"), ("b", "a"), ("a", "c")], [("a", "c")]),
        marked={("a", "c"): 0.5},
        groups={"a": "sensitive", "b": "quasi-identifier"},
    )
    assert meanings(full) == [
        "quasi-identifier",
        "sensitive",
        "other",
        "depends on",
        "carries a rule; the thicker, the stronger",
        "direction not determined by the data",
        "closes a cycle",
    ]


def test_a_cycle_is_shown_as_one():
    svg = network_svg(Network.of(["a", "b", "c"], [("a", "b"), ("b", "c"), ("c", "a"), ("b", "b")]))
    told = [tooltip(edge) for edge in children(check_drawing(svg), "edge")]
    assert sorted(told) == ["a → b", "b → b, closes a cycle", "b → c", "c → a, closes a cycle"]


def test_it_is_told_in_words():
    svg = network_svg(CENSUS, groups=ROLES, marked={("Age", "Zipcode"): 1}, title="Census")
    root = check_drawing(svg)
    assert root.findtext(f"{SVG}title") == "Census"
    words = root.findtext(f"{SVG}desc")
    assert "6 columns, 7 arrows." in words
    assert "Sensitive: Government, Marital-Status and Salary." in words
    assert "Gender depends on Age and Zipcode." in words
    assert "Age → Zipcode, rule of 100 %, direction not determined by the data." in words


def test_percentages_do_not_lie_upon_each_other():
    svg = network_svg(CENSUS, marked=dict.fromkeys(CENSUS.edges, 0.9))
    boxes = [text for g in children(check_drawing(svg), "percentage") for text in texts(g)]
    assert len(boxes) == 7
    for i, a in enumerate(boxes):
        for b in boxes[:i]:
            assert a.right <= b.left or b.right <= a.left or a.bottom <= b.top or b.bottom <= a.top


def test_the_same_network_gives_the_same_text():
    edges = [("a", "c"), ("b", "c"), ("c", "d"), ("a", "d")]
    drawings = {
        network_svg(
            Network.of("abcd", order, chosen={("a", "c"), ("b", "c")}),
            marked=dict.fromkeys(order, 0.5),
        )
        for order in (edges, edges[::-1], edges[2:] + edges[:2])
    }
    # Percentages and boxes are placed by the network's own order, not by that of the arguments.
    assert len(drawings) == 1


def test_long_names_are_shortened_and_told_whole():
    name = "number_of_days_between_first_admission_and_last_discharge_xy"
    node = children(check_drawing(network_svg(Network.of([name], []))), "node")[0]
    assert tooltip(node) == name
    assert "…" in texts(node)[0].content


def test_forty_columns_fit_on_a_screen_or_two():
    names = [f"column{i}" for i in range(40)]
    edges = [(names[i // 3], names[i]) for i in range(3, 40)] + [
        (names[i], names[i + 7]) for i in range(0, 33, 4)
    ]
    root = check_drawing(network_svg(Network.of(names, edges), title="Forty"))
    assert float(root.get("width")) < 2200
    assert float(root.get("height")) < 2200


@pytest.mark.parametrize(
    ("marked", "said"),
    [
        ({("Gender", "Age"): 0.5}, "marked must be edges (parent, child) of the network"),
        ({("Age", "Gender"): 1.5}, "at most 1, got 1.5"),
        ({("Age", "Gender"): float("nan")}, "got nan"),
    ],
)
def test_marks_that_make_no_sense_are_refused(marked, said):
    with pytest.raises(ParameterError) as error:
        network_svg(CENSUS, marked=marked)
    assert said in str(error.value)
    assert isinstance(error.value, SfumatoError)


def test_a_network_of_nothing_is_drawn():
    check_drawing(network_svg(Network.of([], [])))
