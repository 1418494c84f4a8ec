from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from sfumato.showing.svg import (
    Box,
    document,
    element,
    group,
    label,
    lines_of,
    number,
    one_line,
    shorten,
    shorten_apart,
    width_of,
)
from sfumato.text import percent
from tests.showing.reading import NASTY, SVG, check_drawing, parse, survives, tooltip


@given(NASTY)
def test_any_text_is_read_back(text):
    assert (parse(element("t", text)).text or "") == survives(text)


@given(NASTY)
def test_any_attribute_is_read_back(text):
    assert parse(element("t", name=text)).get("name") == survives(text)


@given(NASTY, NASTY)
def test_text_never_becomes_markup(text, tip):
    root = parse(document(10, 10, group(label(text, 1, 1), tooltip=tip), title=text or "x"))
    assert len(list(root.iter())) == 5 + bool(tip)


def test_markup_is_not_escaped_twice():
    assert element("a", element("b", "&")) == "<a><b>&amp;</b></a>"


def test_a_group_has_its_tooltip_first():
    assert tooltip(parse(document(1, 1, group(tooltip="x"), title="t"))[2]) == "x"
    assert parse(document(1, 1, title="t", description="d")).findtext(f"{SVG}desc") == "d"


@given(st.floats(-1e6, 1e6))
def test_numbers_are_short_and_near(value):
    text = number(value)
    assert abs(float(text) - value) <= 0.005 + 1e-9
    assert "e" not in text
    assert text != "-0"


@given(NASTY, st.floats(12, 300))
def test_a_shortened_text_fits(text, width):
    short = shorten(text, width)
    assert width_of(short) <= width or short == "…"
    assert "\n" not in short


@given(NASTY, st.floats(40, 300))
def test_lines_fit_and_hold_every_word(text, width):
    lines = lines_of(text, width)
    assert all(width_of(line) <= width for line in lines)
    assert " ".join(lines).split() == " ".join(shorten(w, width) for w in text.split()).split()


@given(st.floats(0, 1))
def test_a_share_is_all_or_none_only_if_it_is(share):
    assert (percent(share) == "100 %") == (share == 1)
    assert (percent(share) == "0 %") == (share == 0)


def test_boxes_that_touch_do_not_overlap():
    box = Box(0, 0, 10, 10)
    assert not box.overlaps(Box(10, 0, 5, 5))
    assert not box.overlaps(Box(0, 10, 5, 5))
    assert box.overlaps(Box(-1, -1, 2, 2))


def test_an_empty_drawing_is_one():
    check_drawing(document(10, 10, title="Nothing"))


@given(st.lists(NASTY, max_size=8), st.floats(60, 200))
def test_texts_that_differ_are_never_shortened_to_the_same(names, width):
    shown = shorten_apart(names, width)
    assert len(shown) == len(names)
    for (a, one), (b, other) in combinations(zip(names, shown, strict=True), 2):
        assert (a == b) == (one == other)
    for name, short in zip(names, shown, strict=True):
        # A number behind it may need some room, and nothing else does.
        assert width_of(short) <= max(width, width_of(one_line(name))) + width_of(" (8)")


def test_what_differs_is_kept():
    stages = [f"a very long word of stage {i} as it was recorded at that time" for i in range(12)]
    for stage, short in zip(stages, shorten_apart(stages, 120), strict=True):
        number = stage.split("stage ")[1].split()[0]
        assert number in short
        assert width_of(short) <= 120
