"""The order of values: shortcuts for many of one kind give what reading each of them gives."""

from hypothesis import given
from hypothesis import strategies as st

from sfumato.text import in_order, is_missing, number_of, text_of

TEXTS = st.text(max_size=4) | st.sampled_from(
    ["7", "07", " 8", "+1", "-2", ".5", "p1", "p10", "p9"]
)


def read_each(values):
    """Return the values in order, each of them read by itself."""
    known = [value for value in values if not is_missing(value)]
    numbers = {value: number_of(value) for value in known}
    numeric = [value for value in known if numbers[value] is not None]
    others = [value for value in known if numbers[value] is None]
    numeric.sort(key=lambda value: (numbers[value], text_of(value)))
    return [*numeric, *sorted(others, key=text_of), *([None] if len(known) < len(values) else [])]


@given(st.sets(TEXTS))
def test_texts_are_in_the_order_of_what_they_say(values):
    assert in_order(values) == read_each(values)


@given(st.sets(st.integers()))
def test_whole_numbers_are_in_the_order_of_their_size(values):
    assert in_order(values) == read_each(values)
