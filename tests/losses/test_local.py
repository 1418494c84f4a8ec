"""Losses of locally recoded tables: row by row, and where they must agree with full-domain."""

import math
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.hierarchy import Hierarchy, Suppress
from sfumato.losses import (
    LOSSES,
    Attribute,
    CellLoss,
    Cells,
    Discernibility,
    DistortionRatio,
    Entropy,
    LocalResult,
    NormalizedLoss,
    Precision,
)
from tests.losses.tables import DIGITS, LETTERS, PATHS, ROWS, attributes_of, judged_of, tables

EXAMPLES = [kind.example() for kind in LOSSES.values()]
VARIANTS = [
    *EXAMPLES,
    NormalizedLoss(aggregate="maximum"),
    Precision(ignore_suppression=True),
    DistortionRatio(aggregate="geometric-mean"),
    Entropy(ignore_suppression=True),
    Discernibility(ignore_suppression=True),
]
NOT_AT_THE_TOP = {"height", "entropy"}
"""Where a suppressed row of a node costs something else than a row lifted to the top."""

every_loss = pytest.mark.parametrize("loss", EXAMPLES, ids=str)
every_variant = pytest.mark.parametrize("loss", VARIANTS, ids=str)
every_cell_loss = pytest.mark.parametrize(
    "loss", [loss for loss in VARIANTS if isinstance(loss, CellLoss)], ids=str
)
every_loss_at_the_top = pytest.mark.parametrize(
    "loss", [loss for loss in EXAMPLES if loss.name not in NOT_AT_THE_TOP], ids=str
)


def domain_of(rows, i):
    """Every value the hierarchy knows, and missing if it occurs."""
    known = (LETTERS, DIGITS)[i]
    return [value for value in known if value is not None or any(row[i] is None for row in rows)]


def covered(rows, i, value, level):
    """Give the raw values that have the same label at this level."""
    return [other for other in domain_of(rows, i) if PATHS[other][level] == PATHS[value][level]]


def together(rows, i, value, level):
    """Count the rows of the original table whose value the label covers."""
    return sum(row[i] in covered(rows, i, value, level) for row in rows)


def cells_of(rows, ladder, i, groups):
    """Give (value, level, rows) triples as cells."""
    return Cells(
        value=np.array([ladder.values.index(value) for value, _, _ in groups], dtype=np.int64),
        level=np.array([level for _, level, _ in groups], dtype=float),
        leaves=np.array([len(covered(rows, i, value, level)) for value, level, _ in groups], float),
        together=np.array([together(rows, i, value, level) for value, level, _ in groups], float),
        rows=np.array([n for _, _, n in groups], dtype=float),
    )


def result_of(rows, attributes, levels, gone, *, one_by_one=False) -> LocalResult:
    """Put a locally recoded table in the form losses take."""
    kept = [(row, level) for row, level, out in zip(rows, levels, gone, strict=True) if not out]
    cells, removed = [], []
    for i, attribute in enumerate(attributes):
        pairs = [(row[i], level[i]) for row, level in kept]
        groups = (
            [(*pair, 1) for pair in pairs]
            if one_by_one
            else [(*pair, n) for pair, n in Counter(pairs).items()]
        )
        lost = Counter(row[i] for row, out in zip(rows, gone, strict=True) if out)
        cells.append(cells_of(rows, attribute.ladder, i, groups))
        removed.append(np.array([lost[value] for value in attribute.ladder.values], dtype=float))
    sizes = Counter(published(row, level) for row, level in kept)
    return LocalResult(cells, np.array(list(sizes.values()), dtype=np.int64), removed, sum(gone))


def published(row, levels):
    return tuple(PATHS[cell][level] for cell, level in zip(row, levels, strict=True))


@st.composite
def local_tables(draw):
    """Rows, a level for every cell, and which rows are suppressed."""
    rows = draw(ROWS)
    attributes = attributes_of(rows)
    cell_levels = st.tuples(*(st.integers(0, a.ladder.height) for a in attributes))
    levels = [draw(cell_levels) for _ in rows]
    gone = [draw(st.booleans()) for _ in rows]
    return rows, attributes, levels, gone


def literal(name, rows, attributes, levels, gone):
    """Each loss by its definition, one row after the other."""
    n = len(rows)
    sizes = Counter(
        published(row, level) for row, level, out in zip(rows, levels, gone, strict=True) if not out
    )
    if name == "discernibility":
        return sum(
            n if out else sizes[published(row, level)]
            for row, level, out in zip(rows, levels, gone, strict=True)
        )
    if name == "average-class-size":
        return n / (len(sizes) + any(gone))
    heights = [attribute.ladder.height for attribute in attributes]
    parts = [
        [
            cost_of(name, rows, i, row[i], height if out else level[i], height)
            for row, level, out in zip(rows, levels, gone, strict=True)
        ]
        for i, height in enumerate(heights)
    ]
    if name == "distortion-ratio":
        return sum(map(sum, parts)) / sum(height for height in heights for _ in rows)
    if name == "entropy":
        return sum(map(sum, parts))
    means = [sum(part) / n for part in parts]
    if name == "normalized-loss":
        return math.prod(1 + mean for mean in means) ** (1 / len(means)) - 1
    return sum(means) / (len(means) if name == "precision" else 1)


def cost_of(name, rows, i, value, level, height):
    """Give the cost of one cell with this raw value, published at this level."""
    match name:
        case "normalized-loss":
            whole = len(domain_of(rows, i)) - 1
            return (len(covered(rows, i, value, level)) - 1) / whole
        case "entropy":
            return -math.log2(
                sum(row[i] == value for row in rows) / together(rows, i, value, level)
            )
        case "precision":
            return level / height
        case "height" | "distortion-ratio":
            return level
    raise AssertionError(name)


@every_loss
@given(table=local_tables())
def test_it_follows_its_definition_row_by_row(loss, table):
    rows, attributes, *_ = table
    value = loss.over(attributes, len(rows)).of_local(result_of(*table))
    assert value == pytest.approx(literal(loss.name, *table), rel=1e-9, abs=1e-9)


@every_variant
@given(table=local_tables())
def test_how_alike_rows_are_grouped_does_not_matter(loss, table):
    rows, attributes, *_ = table
    function = loss.over(attributes, len(rows))
    grouped, single = result_of(*table), result_of(*table, one_by_one=True)
    assert function.of_local(grouped) == pytest.approx(function.of_local(single), rel=1e-12)


@st.composite
def nodes(draw, *, kept):
    """A full-domain node, as a judged node and as a local result, and weighted attributes."""
    rows, attributes, node, labels, verdicts = draw(tables())
    verdicts = {label: keep or kept for label, keep in verdicts.items()}
    weights = st.sampled_from([0.5, 1.0, 3.0])
    attributes = [replace(attribute, weight=draw(weights)) for attribute in attributes]
    judged = judged_of(rows, attributes, node, labels, verdicts)
    gone = [not verdicts[label] for label in labels]
    return rows, attributes, judged, result_of(rows, attributes, [node] * len(rows), gone)


@every_variant
@given(table=nodes(kept=True))
def test_a_node_that_suppresses_nothing_is_a_local_recoding(loss, table):
    rows, attributes, judged, result = table
    function = loss.over(attributes, len(rows))
    assert function.of_local(result) == pytest.approx(function.of(judged), rel=1e-12, abs=1e-12)


@every_loss_at_the_top
@given(table=nodes(kept=False))
def test_a_node_is_a_local_recoding_where_suppressed_rows_cost_the_most(loss, table):
    rows, attributes, judged, result = table
    function = loss.over(attributes, len(rows))
    assert function.of_local(result) == pytest.approx(function.of(judged), rel=1e-12, abs=1e-12)


@every_variant
@given(rows=ROWS)
def test_suppressing_everything_costs_what_it_costs_at_the_top_node(loss, rows):
    attributes = attributes_of(rows)
    top = tuple(attribute.ladder.height for attribute in attributes)
    judged = judged_of(rows, attributes, top, [("*", "*")] * len(rows), {("*", "*"): False})
    result = result_of(rows, attributes, [top] * len(rows), [True] * len(rows))
    function = loss.over(attributes, len(rows))
    assert function.of_local(result) == pytest.approx(function.of(judged), rel=1e-12, abs=1e-12)


@every_cell_loss
@given(table=local_tables(), data=st.data())
def test_lifting_a_cell_by_one_level_makes_nothing_cheaper(loss, table, data):
    rows, attributes, levels, gone = table
    row = data.draw(st.integers(0, len(rows) - 1))
    i = data.draw(st.integers(0, len(attributes) - 1))
    lifted = [list(level) for level in levels]
    lifted[row][i] = min(lifted[row][i] + 1, attributes[i].ladder.height)
    function = loss.over(attributes, len(rows))
    before = function.of_local(result_of(rows, attributes, levels, gone))
    after = function.of_local(result_of(rows, attributes, lifted, gone))
    assert after >= before - 1e-12 * max(1.0, abs(before))


@given(table=local_tables())
def test_each_attributes_own_loss_is_its_loss_alone(table):
    rows, attributes, *_ = table
    result = result_of(*table)
    parts = NormalizedLoss().over(attributes, len(rows)).per_attribute_local(result)
    for i, attribute in enumerate(attributes):
        alone = replace(result, cells=[result.cells[i]], removed=[result.removed[i]])
        assert NormalizedLoss().over([attribute], len(rows)).of_local(alone) == pytest.approx(
            parts[i]
        )
    assert Discernibility().over(attributes, len(rows)).per_attribute_local(result) is None


@given(rows=ROWS, data=st.data())
def test_a_column_at_one_level_is_what_its_paths_say(rows, data):
    for i, attribute in enumerate(attributes_of(rows)):
        level = data.draw(st.integers(0, attribute.ladder.height))
        counts = Counter(row[i] for row in rows)
        groups = [(value, level, counts[value]) for value in attribute.ladder.values]
        expected = cells_of(rows, attribute.ladder, i, groups)
        cells = Cells.at(attribute, level)
        for field in ("value", "level", "leaves", "together", "rows"):
            assert getattr(cells, field).tolist() == getattr(expected, field).tolist()


def test_four_zips_of_which_two_lose_their_last_digit():
    zips = ["73455", "73456"]
    hierarchy = Hierarchy.from_paths(zips, [["7345*", "734**", "*"]] * 2)
    attribute = Attribute(hierarchy.bind("zip", zips), np.array([1, 3]))
    # Two rows stay 73456; one row 73456 and the row 73455 become 7345*.
    cells = Cells(
        value=np.array([1, 1, 0]),
        level=np.array([0.0, 1.0, 1.0]),
        leaves=np.array([1.0, 2.0, 2.0]),
        together=np.array([3.0, 4.0, 4.0]),
        rows=np.array([2.0, 1.0, 1.0]),
    )
    result = LocalResult([cells], np.array([2, 2]), [np.zeros(2)], 0)
    value = {loss.name: loss.over([attribute], 4).of_local(result) for loss in EXAMPLES}
    assert value["distortion-ratio"] == pytest.approx((0 + 0 + 1 + 1) / (4 * 3))
    assert value["normalized-loss"] == pytest.approx(2 / 4)
    assert value["entropy"] == pytest.approx(math.log2(4 / 3) + math.log2(4 / 1))
    assert value["height"] == pytest.approx(2 / 4)
    assert value["discernibility"] == 2 * 2 + 2 * 2
    assert value["average-class-size"] == 2


def test_an_interval_without_a_hierarchy_stands_as_high_as_it_is_wide():
    ages = [20, 24, 30, 60]
    attribute = Attribute(Suppress().ladder("age", ages), np.array([2, 1, 1, 1]))
    # 20 to 30 is a quarter of 20 to 60, three of four values, four of five rows; 60 stays.
    cells = Cells(
        value=np.array([0, 1, 2, 3]),
        level=np.array([0.25, 0.25, 0.25, 0.0]),
        leaves=np.array([3.0, 3.0, 3.0, 1.0]),
        together=np.array([4.0, 4.0, 4.0, 1.0]),
        rows=np.array([2.0, 1.0, 1.0, 1.0]),
    )
    result = LocalResult([cells], np.array([4, 1]), [np.zeros(4)], 0)
    value = {loss.name: loss.over([attribute], 5).of_local(result) for loss in EXAMPLES}
    assert value["precision"] == value["distortion-ratio"] == pytest.approx(4 / 5 * 0.25)
    assert value["normalized-loss"] == pytest.approx(4 / 5 * 2 / 3)
    assert value["entropy"] == pytest.approx(2 * math.log2(4 / 2) + 2 * math.log2(4 / 1))


def test_a_value_only_the_population_has_costs_no_bits():
    attribute = Attribute(Suppress().ladder("sex", ["f", "m"]), np.array([3, 0]))
    assert Entropy().costs(attribute).tolist() == [[0.0, 0.0], [0.0, 0.0]]


@pytest.mark.parametrize("loss", [NormalizedLoss(), Precision(), DistortionRatio()], ids=str)
def test_a_suppressed_row_costs_the_most_even_where_there_is_nothing_to_generalise(loss):
    attribute = Attribute(Hierarchy.from_paths(["NL"], [[]]).bind("country", ["NL"]), np.array([4]))
    published = replace(Cells.at(attribute, 0), rows=np.array([3.0]))
    result = LocalResult([published], np.array([3]), [np.array([1.0])], 1)
    assert loss.over([attribute], 4).of_local(result) == pytest.approx(1 / 4)
