"""Values that a hierarchy does not list: refused, or one group of their own."""

import pytest

from sfumato.errors import SfumatoError
from sfumato.hierarchy import CsvHierarchy, OrderedCategories, Taxonomy

TREE = {"edge": ["north", "south"], "else": ["west"]}
STEPS = ["never", "rarely", "often", "always"]


@pytest.fixture
def listed(tmp_path):
    (tmp_path / "wards.csv").write_text("north;edge;*\nsouth;edge;*\nwest;else;*\n", "utf-8")
    return {
        "taxonomy": (lambda new: Taxonomy(TREE, new=new), ["north", "west"]),
        "csv": (lambda new: CsvHierarchy(str(tmp_path / "wards.csv"), new=new), ["north", "west"]),
        "ordered": (lambda new: OrderedCategories(STEPS, new=new), ["never", "always"]),
    }


@pytest.mark.parametrize("kind", ["taxonomy", "csv", "ordered"])
def test_a_new_value_is_refused_or_among_the_others(listed, kind):
    make, values = listed[kind]
    with pytest.raises(SfumatoError, match="tower"):
        make("refuse").ladder("ward", [*values, "tower"])
    before = make("refuse").ladder("ward", values)
    ladder = make("other").ladder("ward", [*values, "tower", "spire", "other"])
    for level in range(1, ladder.height):
        labels = [ladder.labels[level][code] for code in ladder.codes[level].tolist()]
        # What was there before has the labels it had.
        assert labels[:2] == [before.labels[level][c] for c in before.codes[level].tolist()]
        assert {*labels[2:]} == {"any other"}
    assert ladder.height == before.height
    assert len({*ladder.codes[-1].tolist()}) == 1


@pytest.mark.parametrize("kind", ["taxonomy", "csv", "ordered"])
def test_the_same_values_make_the_same_hierarchy_either_way(listed, kind):
    make, values = listed[kind]
    one, other = make("refuse").ladder("w", values), make("other").ladder("w", values)
    assert (one.labels, one.codes.tolist()) == (other.labels, other.codes.tolist())


def test_the_setting_is_checked():
    with pytest.raises(SfumatoError, match="new must be refuse or other"):
        Taxonomy(TREE, new="drop")
