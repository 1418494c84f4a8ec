import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.errors import ParameterError
from sfumato.showing.charts import MOST_BELIEFS as MOST
from sfumato.showing.charts import bars_svg
from tests.showing.reading import NASTY, SVG, check_drawing, children, tooltip


@given(st.lists(st.tuples(NASTY, st.floats(0, 1), st.floats(0, 1)), max_size=40), NASTY)
def test_any_beliefs_can_be_drawn(rows, title):
    labels, prior, posterior = ([row[i] for row in rows] for i in range(3))
    root = check_drawing(bars_svg(labels, prior, posterior, title=title))
    assert len(children(root, "bars")) == min(len(rows), MOST)


def test_the_length_of_a_bar_is_its_share():
    root = check_drawing(bars_svg(["flu", "gout"], [0.5, 0.5], [1, 0.25], title="Illness"))
    lengths = [
        [float(bar.get("width")) for bar in group.iter(f"{SVG}rect")]
        for group in children(root, "bars")
    ]
    assert [length / lengths[0][1] for row in lengths for length in row] == [0.5, 1, 0.5, 0.25]
    assert tooltip(children(root, "bars")[0]) == "flu: 50 % before, 100 % after"


def test_before_and_after_differ_without_colour():
    row = children(check_drawing(bars_svg(["x"], [0.5], [0.5], title="")), "bars")[0]
    before, after = row.iter(f"{SVG}rect")
    assert before.get("fill") == "#ffffff"
    assert after.get("fill") == after.get("stroke")


def test_the_longest_bars_are_drawn_in_the_order_given():
    n = MOST + 5
    prior = [i / 100 for i in range(n)]
    svg = bars_svg([f"v{i}" for i in range(n)], prior, [0] * n, title="")
    told = [tooltip(g) for g in children(check_drawing(svg), "bars")]
    assert [text.split(":")[0] for text in told] == [f"v{i}" for i in range(5, n)]
    assert "Not drawn: 5 values of at most 4 %." in svg


@pytest.mark.parametrize(
    ("prior", "said"),
    [([0.5, 0.5], "prior must be 1 numbers, one per label, got 2"), ([2], "prior[0] must be")],
)
def test_what_is_no_belief_is_refused(prior, said):
    with pytest.raises(ParameterError) as error:
        bars_svg(["x"], prior, [0.5], title="")
    assert said in str(error.value)
