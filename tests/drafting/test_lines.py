"""Lines of a drafted policy: whatever their length, they say what was meant."""

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from sfumato.drafting.policy import _line

SCALARS = st.one_of(st.booleans(), st.integers(), st.text("ab'\": -", max_size=60))
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=40) | st.dictionaries(st.text("ab"), inner, max_size=9),
    max_leaves=60,
)


@pytest.mark.usefixtures("patience")
@given(key=st.text("abc_", min_size=1, max_size=20), value=VALUES)
def test_a_line_that_is_broken_says_the_same(key, value):
    assert yaml.safe_load("\n".join(_line(key, value))) == {key: value}


@given(more=st.integers(0, 120))
def test_a_line_as_wide_as_there_is_room_is_written_once(more):
    rule = {"role": "sensitive", "hierarchy": {"bounds": [[4, 5, 6], [5]], "join": True}}
    rule["because"] = "y" * more
    assert yaml.safe_load("\n".join(_line("eduyrs", rule))) == {"eduyrs": rule}
