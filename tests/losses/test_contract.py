"""What every loss must keep, and its definition followed cell by cell."""

import math
from collections import Counter
from dataclasses import FrozenInstanceError, fields

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.errors import UnknownNameError
from sfumato.losses import AGGREGATES, LOSSES, Attribute, DistortionRatio, NormalizedLoss
from tests.losses.tables import attributes_of, judged_of, tables

every_loss = pytest.mark.parametrize("loss", [kind.example() for kind in LOSSES.values()], ids=str)


def leaves_under(attribute, level, cell) -> int:
    """Count the raw values of the hierarchy that are published like this one, missing included."""
    ladder = attribute.ladder
    return int(ladder.leaves[level][ladder.codes[level][ladder.values.index(cell)]])


def literal(name, rows, attributes, node, published, kept):
    """Each loss by its definition, one cell after the other."""
    n = len(rows)
    gone = [not kept[labels] for labels in published]
    if name == "height":
        return sum(node)
    if name == "discernibility":
        sizes = Counter(published)
        return sum(n if out else sizes[labels] for labels, out in zip(published, gone, strict=True))
    if name == "average-class-size":
        return n / max(sum(kept.values()) + any(gone), 1)
    parts, heights = [], []
    for i, (attribute, level) in enumerate(zip(attributes, node, strict=True)):
        height = attribute.ladder.height
        heights.append(height)
        cells = [row[i] for row in rows]
        labels = [label[i] for label in published]
        if name == "entropy":
            raw, general = Counter(cells), Counter(labels)
            bits = -sum(
                math.log2(raw[cell] / general[label])
                for cell, label in zip(cells, labels, strict=True)
            )
            lost = Counter(label for label, out in zip(labels, gone, strict=True) if out)
            parts.append(bits - sum(c * math.log2(c / sum(gone)) for c in lost.values()))
        elif name == "normalized-loss":
            others = attribute.ladder.n_leaves - 1
            parts.append(
                sum(
                    1 if out else (leaves_under(attribute, level, cell) - 1) / others
                    for cell, out in zip(cells, gone, strict=True)
                )
                / n
            )
        else:
            parts.append(sum(1 if out else level / height for out in gone) / n)
    if name == "entropy":
        return sum(parts)
    if name == "normalized-loss":
        return math.prod(part + 1 for part in parts) ** (1 / len(parts)) - 1
    weights = heights if name == "distortion-ratio" else [1] * len(parts)
    return sum(w * part for w, part in zip(weights, parts, strict=True)) / sum(weights)


@every_loss
@given(table=tables())
def test_it_follows_its_definition_cell_by_cell(loss, table):
    rows, attributes, *_ = table
    value = loss.over(attributes, len(rows)).of(judged_of(*table))
    assert value == pytest.approx(literal(loss.name, *table), rel=1e-9, abs=1e-9)


@every_loss
@given(table=tables())
def test_the_floor_of_a_whole_box_is_the_floor_of_each_node(loss, table):
    rows, attributes, node, *_ = table
    function = loss.over(attributes, len(rows))
    lowest = tuple(0 for _ in node)
    grid = function.floors(lowest, tuple(a.ladder.height for a in attributes))
    assert grid[node] == pytest.approx(function.floor(node))


@every_loss
def test_it_is_a_frozen_value_with_plain_settings(loss):
    assert type(loss)(**loss.params()) == loss
    assert hash(loss) == hash(type(loss)(**loss.params()))
    assert LOSSES[loss.name] is type(loss)
    for field in fields(loss):
        with pytest.raises(FrozenInstanceError):
            setattr(loss, field.name, None)


@pytest.mark.parametrize("name", AGGREGATES)
@given(
    parts=st.lists(st.lists(st.floats(0, 1), min_size=1, max_size=3), min_size=1, max_size=4),
    data=st.data(),
)
def test_an_aggregate_of_a_grid_is_the_aggregate_of_each_choice(name, parts, data):
    aggregate = AGGREGATES[name]()
    weights = np.array([data.draw(st.floats(0.1, 5)) for _ in parts])
    choice = tuple(data.draw(st.integers(0, len(part) - 1)) for part in parts)
    grid = aggregate.grid([np.array(part) for part in parts], weights)
    chosen = np.array([part[i] for part, i in zip(parts, choice, strict=True)])
    assert grid[choice] == pytest.approx(aggregate.of(chosen, weights))
    # It rises with each part, or floors would not be floors.
    assert aggregate.of(chosen + 0.1, weights) >= aggregate.of(chosen, weights)


def test_an_unknown_aggregate_is_answered_with_the_nearest():
    with pytest.raises(UnknownNameError, match="Did you mean 'geometric-mean'"):
        NormalizedLoss(aggregate="geometric")


def test_a_weight_makes_an_attribute_count_more():
    rows = [("a", "0"), ("b", "3")]
    first, second = attributes_of(rows)
    heavy = Attribute(first.ladder, first.frequency, weight=3.0)
    judged = judged_of(
        rows,
        [first, second],
        (2, 0),
        [("*", "0"), ("*", "3")],
        {("*", "0"): True, ("*", "3"): True},
    )
    loss = DistortionRatio()
    # Two steps of five; three times two of three times two and three.
    assert loss.over([first, second], 2).of(judged) == pytest.approx(2 / 5)
    assert loss.over([heavy, second], 2).of(judged) == pytest.approx(6 / 9)
