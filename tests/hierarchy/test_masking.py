"""Masking: codes lose characters, and never get them back."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.errors import HierarchyError, ParameterError
from sfumato.hierarchy import Masking
from tests.hierarchy.literal import assert_nested, groups_of, labels_of


def paths(values, **settings):
    return labels_of(Masking(**settings).build("x", values))


def test_a_postcode_loses_digit_after_digit():
    assert paths(["24078"]) == {"24078": ["24078", "2407*", "240**", "24***", "2****", "*"]}


def test_the_zip_codes_of_the_worked_example():
    zips = ["22030", "22032", "22045", "22047"]
    h = Masking(keep=3).build("zip", zips)
    assert h.labels[1] == ("2203*", "2204*")
    assert h.labels[2] == ("220**",)
    assert h.labels[3] == ("*",)


def test_numbers_are_masked_as_they_are_written():
    assert paths([73456, 73455.0]) == {
        "73456": ["73456", "7345*", "734**", "73***", "7****", "*"],
        "73455": ["73455", "7345*", "734**", "73***", "7****", "*"],
    }


def test_from_the_left():
    assert paths(["24078"], side="left", levels=2) == {"24078": ["24078", "*4078", "**078", "*"]}


def test_a_shorter_code_keeps_its_name_until_the_mask_reaches_it():
    assert paths(["E11", "E11.9", "E"]) == {
        "E11": ["E11", "E11", "E11**", "E1***", "E****", "*"],
        "E11.9": ["E11.9", "E11.*", "E11**", "E1***", "E****", "*"],
        "E": ["E", "E", "E", "E", "E****", "*"],
    }
    assert paths(["5", "125"], side="left") == {
        "5": ["5", "5", "**5", "*"],
        "125": ["125", "*25", "**5", "*"],
    }


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"step": 2}, ["240**", "2****", "*"]),
        ({"step": 5}, ["*"]),
        ({"keep": 2}, ["2407*", "240**", "24***", "*"]),
        ({"keep": 2, "step": 2}, ["240**", "24***", "*"]),
        ({"keep": 9}, ["*"]),
        ({"levels": 2}, ["2407*", "240**", "*"]),
        ({"levels": 9}, ["2407*", "240**", "24***", "2****", "*"]),
        ({"char": "x", "levels": 1}, ["2407x", "*"]),
        ({"length": 6, "levels": 2}, ["24078*", "2407**", "*"]),
    ],
)
def test_settings(settings, expected):
    assert paths(["24078"], **settings)["24078"][1:] == expected


def shares(one, other, characters, side):
    """Two codes share a group when the characters still shown are the same, place by place."""
    cut = (lambda code: code[:characters]) if side == "right" else (lambda code: code[-characters:])
    return cut(one) == cut(other)


@given(
    values=st.lists(st.text("ab*", min_size=1, max_size=5), min_size=1, max_size=12, unique=True),
    side=st.sampled_from(["right", "left"]),
    keep=st.integers(0, 3),
    step=st.integers(1, 3),
    levels=st.none() | st.integers(1, 3),
    spare=st.none() | st.integers(0, 2),
)
def test_agrees_with_the_textbook(values, side, keep, step, levels, spare):
    longest = max(map(len, values))
    length = None if spare is None else max(longest + spare, 1)
    builder = Masking(levels=levels, side=side, keep=keep, step=step, length=length)
    hierarchy = builder.build("x", values)
    assert_nested(hierarchy)

    shown = longest if length is None else length
    expected = []
    while shown > keep and (levels is None or len(expected) < levels):
        shown = max(shown - step, keep)
        if shown > 0:
            expected.append(shown)
        else:
            break
    groups = groups_of(hierarchy)
    assert len(groups) == len(expected) + 2
    for level, characters in enumerate(expected, start=1):
        for one in values:
            mine = next(group for group in groups[level] if one in group)
            assert mine == {other for other in values if shares(one, other, characters, side)}


def test_labels_of_later_data_agree_when_the_length_is_set():
    builder = Masking(length=6)
    before = builder.build("x", ["24078"]).labels[2]
    after = builder.build("x", ["24078", "240781"]).labels[2]
    assert before == after == ("2407**",)


def test_values_longer_than_the_length_are_named():
    with pytest.raises(
        HierarchyError,
        match=r"masking 'zip' has length 5, but 1 of its 2 values are longer: '123456'\.",
    ):
        Masking(length=5).build("zip", ["12345", "123456"])


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"levels": 0}, r"levels must be an integer of at least 1, got 0"),
        ({"side": "middle"}, r"side must be 'right' or 'left', got 'middle'"),
        ({"char": "**"}, r"char must be one character, no digit and no blank, got '\*\*'"),
        ({"char": "0"}, r"char must be .*must not look like a code"),
        ({"char": " "}, r"char must be"),
        ({"keep": -1}, r"keep must be an integer of at least 0, got -1"),
        ({"step": 0}, r"step must be an integer of at least 1, got 0"),
        ({"length": 0}, r"length must be an integer of at least 1, got 0"),
    ],
)
def test_refuses_settings_that_make_no_sense(settings, message):
    with pytest.raises(ParameterError, match=message):
        Masking(**settings)


def test_masking_long_texts_is_refused_with_what_to_do_instead():
    """A level per character, each with labels as long as the text, would not fit into memory."""
    notes = [letter * 140_000 for letter in "abc"]
    with pytest.raises(HierarchyError, match=r"140000 characters.*levels: 5.*star"):
        Masking().build("note", notes)
    assert Masking(levels=2).build("note", notes).height == 3
