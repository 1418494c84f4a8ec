"""What holds for every way to build a hierarchy."""

import pickle
from dataclasses import FrozenInstanceError, fields

import numpy as np
import pytest
import yaml

from sfumato.errors import UnknownNameError
from sfumato.hierarchy import BUILDERS, EXAMPLE_FOLDER
from sfumato.text import text_of
from tests.hierarchy.literal import assert_nested, groups_of

every_builder = pytest.mark.parametrize(
    "builder",
    [kind.example().relative_to(EXAMPLE_FOLDER) for kind in BUILDERS.values()],
    ids=list(BUILDERS),
)


def built(builder):
    return builder.build("column", builder.example_values())


@every_builder
def test_its_name_finds_it(builder):
    assert BUILDERS[builder.name] is type(builder)


def test_a_misspelt_name_is_answered_with_the_right_one():
    with pytest.raises(
        UnknownNameError, match=r"no hierarchy 'interval'.*Did you mean 'intervals'"
    ):
        BUILDERS["interval"]


@every_builder
def test_every_level_is_a_union_of_groups_of_the_level_below(builder):
    assert_nested(built(builder))


@every_builder
def test_level_0_is_the_raw_value_and_the_top_is_one_value(builder):
    hierarchy = built(builder)
    assert hierarchy.labels[0] == tuple(map(text_of, hierarchy.values))
    assert hierarchy.codes[0].tolist() == list(range(len(hierarchy.values)))
    assert hierarchy.labels[-1] == ("*",)
    assert hierarchy.height >= 1


@every_builder
def test_it_covers_the_values(builder):
    values = builder.example_values()
    ladder = built(builder).bind("column", [*values, None])
    assert ladder.labels[0] == (*values, None)


@every_builder
def test_the_same_request_gives_the_same_hierarchy(builder):
    one, other = built(builder), built(builder)
    assert one.labels == other.labels
    assert np.array_equal(one.codes, other.codes)


@every_builder
def test_the_order_of_the_values_does_not_change_the_groups(builder):
    values = builder.example_values()
    counts = list(range(1, len(values) + 1))
    forth = builder.build("column", values, counts)
    back = builder.build("column", values[::-1], counts[::-1])
    assert groups_of(forth) == groups_of(back)


@every_builder
def test_it_cannot_be_changed(builder):
    for field in fields(builder):
        with pytest.raises(FrozenInstanceError):
            setattr(builder, field.name, None)
    hierarchy = built(builder)
    ladder = hierarchy.bind("column", builder.example_values())
    for array in (hierarchy.codes, ladder.codes, *ladder.leaves):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0


@every_builder
def test_building_leaves_the_values_alone(builder):
    values = builder.example_values()
    builder.build("column", values)
    assert values == builder.example_values()


@every_builder
def test_equal_settings_make_equal_builders(builder):
    twin = type(builder)(**builder.params())
    assert twin == builder
    assert hash(twin) == hash(builder)
    assert pickle.loads(pickle.dumps(builder)) == builder


@every_builder
def test_a_policy_can_write_it_down_and_read_it_back(builder):
    text = yaml.safe_dump(builder.params())
    assert type(builder)(**yaml.safe_load(text)) == builder


@every_builder
def test_a_column_with_only_missing_values_has_a_ladder(builder):
    ladder = builder.ladder("column", [None])
    assert ladder.labels == ((None,), ("*",))
    assert builder.ladder("column", []).labels == ((), ())


@every_builder
def test_a_ladder_is_the_bound_hierarchy(builder):
    values = [*builder.example_values(), None]
    ladder = builder.ladder("column", values, [1] * len(values))
    bound = builder.build("column", values[:-1], [1] * (len(values) - 1)).bind("column", values)
    assert ladder.labels == bound.labels
    assert np.array_equal(ladder.codes, bound.codes)


@every_builder
def test_its_docstring_teaches(builder):
    text = type(builder).__doc__
    assert "Example:" in text
    assert ">>>" in text
    assert all(field.name in text for field in fields(builder))
