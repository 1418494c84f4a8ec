"""Histograms and shares: every number is there, in figures and in words."""

from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.showing.charts import histogram_svg, shares_svg

SVG = "{http://www.w3.org/2000/svg}"


def bars(drawing, kind):
    root = ET.fromstring(drawing)
    return [each for each in root.iter(f"{SVG}g") if each.get("class") == kind]


@given(st.lists(st.tuples(st.text(max_size=20), st.integers(0, 10**9)), max_size=40))
def test_a_histogram_has_a_bar_per_number_as_long_as_it_is_large(items):
    labels, numbers = [text for text, _ in items], [number for _, number in items]
    found = bars(histogram_svg(labels, numbers, title="People", axis="size"), "bars")
    assert len(found) == min(len(items), 30)
    lengths = [float(next(bar.iter(f"{SVG}rect")).get("width")) for bar in found]
    most = max(numbers, default=0) or 1
    for length, number in zip(lengths, numbers, strict=False):
        assert length == pytest.approx(300 * number / most, abs=0.01)


def test_a_histogram_says_how_many_bars_there_is_no_room_for():
    drawing = histogram_svg(["x"] * 33, [1] * 33, title="t")
    assert "Not drawn: 3 bars." in drawing


def test_one_of_them_is_named_as_one():
    drawing = histogram_svg(["a"], [1], title="t", noun="query", nouns="queries")
    assert "a: 1 query, 100 %." in drawing


def test_as_many_numbers_as_labels_are_needed():
    with pytest.raises(sf.SfumatoError, match="one per label"):
        histogram_svg(["a"], [], title="t")
    with pytest.raises(sf.SfumatoError, match="one per label"):
        shares_svg(["a"], {"x": []}, title="t")


SHARES = st.lists(st.tuples(st.text(max_size=20), *[st.floats(0, 1)] * 3), max_size=20)


@pytest.mark.usefixtures("patience")
@given(SHARES)
def test_every_value_has_a_bar_per_table(items):
    labels = [text for text, *_ in items]
    names = ("original", "release", "worst")
    series = {name: [item[i + 1] for item in items] for i, name in enumerate(names)}
    drawing = shares_svg(labels, series, title="t")
    found = bars(drawing, "bars")
    assert len(found) == min(len(items), 12)
    for each in found:
        assert len(list(each.iter(f"{SVG}rect"))) == 3
    shown = sorted((max(rest) for _, *rest in items), reverse=True)
    if len(items) > 12:
        assert f"Not drawn: {len(items) - 12} value" in drawing
        longest = [
            max(float(rect.get("width")) for rect in each.iter(f"{SVG}rect")) for each in found
        ]
        assert min(longest) == pytest.approx(320 * shown[11], abs=0.01)


def test_more_tables_than_can_be_told_apart_are_refused():
    with pytest.raises(sf.SfumatoError, match="at most 3 tables"):
        shares_svg([], {name: [] for name in "abcd"}, title="t")


def test_a_share_is_a_share():
    with pytest.raises(sf.SfumatoError, match=r"x\[0\] must be"):
        shares_svg(["a"], {"x": [1.5]}, title="t")
