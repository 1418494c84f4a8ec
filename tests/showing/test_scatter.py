"""Marks stand where their figures say, with labels that can be read."""

import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.errors import ParameterError
from sfumato.showing.charts import MOST_LABELS, Spot, scale_of, scatter_svg
from sfumato.showing.svg import Box
from tests.showing.reading import NASTY, SVG, check_drawing, children, texts

SHARES = st.floats(0, 1)


def drawn(spots, title="Risk and loss"):
    return check_drawing(scatter_svg(spots, x_axis="loss", y_axis="risk", title=title))


def place_of(mark):
    """The left or upper corner of a mark, which determines its place from another's."""
    x, y = re.match(r"M(\S+) (\S+?)[al]", mark.find(f"{SVG}path").get("d")).groups()
    return float(x), float(y)


@pytest.mark.usefixtures("patience")
@given(
    st.lists(
        st.builds(Spot, st.floats(0, 1e6), SHARES, NASTY, NASTY, st.booleans(), st.none()),
        max_size=70,
    ),
    NASTY,
)
def test_anything_can_be_drawn(spots, title):
    root = drawn(spots, title)
    marks = [*children(root, "front"), *children(root, "beaten")]
    assert bool(marks) == bool(spots)
    assert len(marks) <= len(spots)


@given(st.lists(st.tuples(SHARES, SHARES), min_size=2, max_size=8))
def test_more_is_further_right_and_higher(places):
    for spot, other in pairwise(places):
        marks = children(drawn([Spot(*spot, "a", "a"), Spot(*other, "b", "b")]), "beaten")
        if len(marks) < 2:
            continue
        by_name = {mark.findtext(f"{SVG}title"): place_of(mark) for mark in marks}
        (ax, ay), (bx, by) = by_name["a"], by_name["b"]
        assert (ax <= bx) if spot[0] <= other[0] else (bx <= ax)
        assert (ay >= by) if spot[1] <= other[1] else (by >= ay)


def test_those_at_the_same_place_share_a_mark():
    spots = [Spot(0.2, 0.5, "1", "k=2", on_front=True), Spot(0.2, 0.5, "4", "k=3", on_front=True)]
    [mark] = children(drawn(spots), "front")
    assert mark.findtext(f"{SVG}title") == "k=2; k=3"
    assert mark.findtext(f"{SVG}text") == "1, 4"


def test_labels_of_scattered_marks_do_not_cover_each_other():
    spots = [Spot(i * 7 % 20 / 20, i * 11 % 20 / 20, str(i), str(i)) for i in range(20)]
    names = {str(i) for i in range(20)}
    boxes = [
        Box(t.left, t.top, t.right - t.left, t.bottom - t.top)
        for t in texts(drawn(spots))
        if t.content in names
    ]
    assert not any(a.overlaps(b) for i, a in enumerate(boxes) for b in boxes[:i])


def test_of_very_many_only_the_front_is_labelled():
    n = MOST_LABELS + 20
    spots = [Spot(i / n, 1 - i / n, f"n{i}", "x", on_front=i == 3) for i in range(n)]
    labels = [t.content for t in texts(drawn(spots)) if t.content.startswith("n")]
    assert labels == ["n3", "no other one beats it"]


def test_links_can_be_reached_by_keyboard():
    text = scatter_svg(
        [Spot(0.1, 0.1, "1", 'a "b"', link="policy-1")], x_axis="", y_axis="", title=""
    )
    assert '<a href="#policy-1" class="beaten" aria-label="a &quot;b&quot;">' in text
    assert 'role="group"' in text


@pytest.mark.parametrize(
    "spot", [Spot(-1, 0, "", ""), Spot(0, 2, "", ""), Spot(0, float("nan"), "", "")]
)
def test_what_is_no_place_is_refused(spot):
    with pytest.raises(ParameterError, match=r"spots\[0\]"):
        scatter_svg([spot], x_axis="", y_axis="", title="")


@given(st.lists(st.floats(0, 1e9), max_size=5))
def test_an_axis_holds_all_figures_at_few_round_numbers(values):
    scale = scale_of(values, 100)
    assert 2 <= len(scale.ticks) <= 8
    assert list(scale.ticks) == sorted(set(scale.ticks))
    for value in values:
        assert -0.01 <= scale.at(value) <= 100.01
