"""Adult: what the models say is what the reference tool for anonymisation says.

Each figure is a published test figure of that tool for one node of the lattice (one
level per quasi-identifier, all columns but occupation) and tells how many classes or
rows were suppressed there. The searches and losses have no part in it.
"""

# ruff: noqa: E501 - a case and its figures stand on one line

from collections import Counter
from functools import cache

import numpy as np
import pytest

from sfumato.classes import (
    EquivalenceClasses,
    ValueCounts,
    merge_counts,
    reference_of,
    sensitive_codes,
    sensitive_column,
)
from sfumato.counts import FrequencySet, group
from sfumato.hierarchy.base import Hierarchy
from sfumato.models import (
    AverageRisk,
    BasicBetaLikeness,
    DeltaPresence,
    DistinctLDiversity,
    EntropyLDiversity,
    KAnonymity,
    KMap,
    RecursiveCLDiversity,
    SampleUniqueness,
    TCloseness,
)
from tests.adult import LEVELS, adult_folder

SENSITIVE = "occupation"
EIGHT = tuple(name for name in LEVELS if name != SENSITIVE)
SEVEN = tuple(name for name in EIGHT if name != "salary-class")
LETTERS = {
    "k": KAnonymity(5),
    "t": TCloseness(SENSITIVE, t=0.2, distance="hierarchical"),
    "r": RecursiveCLDiversity(SENSITIVE, c=4, l=5),
    "d": DeltaPresence(0.05, 0.15),
}

# Models by letter; "average" is rows over kept classes, one more for the suppressed ones if any;
# "squares" is the sum of squared sizes of kept classes plus, for each suppressed row, all rows.
# fmt: off
NODES = [
    ("d", "average", {"00000000": 9.139393939393939, "02010011": 11.211895910780669, "04020000": 15.387755102040817, "14122200": 107.71428571428571, "14123200": 232.0, "04123210": 335.1111111111111, "14111221": 301.6, "14123201": 430.85714285714283, "14023221": 603.2, "14123221": 3016.0}),
    ("ktd", "average", {"00000000": 3016.0, "12003010": 251.33333333333334, "12010221": 232.0, "04103211": 502.6666666666667, "14122221": 1005.3333333333334, "14113221": 1508.0, "04123221": 1508.0, "14123221": 3016.0}),
    ("k", "average", {"00000000": 29.113899613899616, "03100110": 53.38407079646018, "12120201": 93.96261682242991, "11113221": 1005.4, "14103121": 1040.0689655172414, "03123121": 837.8333333333334, "12113221": 1885.125, "14113220": 7540.5, "14123121": 6032.4, "14123221": 30162.0}),
    ("t", "average", {"00000000": 1774.235294117647, "12110111": 861.7714285714286, "01023021": 914.0, "04112221": 7540.5, "04122221": 7540.5, "14113221": 15081.0, "04123221": 15081.0, "14123221": 30162.0}),
    ("r", "average", {"00000000": 62.4472049689441, "01110101": 75.21695760598504, "03122101": 324.3225806451613, "10113121": 153.8877551020408, "13113121": 914.0, "14113220": 7540.5, "04123121": 3016.2, "14103221": 4308.857142857143, "14122221": 10054.0, "14123221": 30162.0}),
    ("kd", "average", {"00000000": 100.53333333333333, "00102121": 22.176470588235293, "03002021": 52.91228070175438, "00123220": 23.2, "04012111": 81.51351351351352, "14022200": 71.80952380952381, "13121210": 65.56521739130434, "14123221": 3016.0}),
    ("kt", "average", {"00000000": 1774.235294117647, "01000201": 1206.48, "11101011": 569.0943396226415, "12023200": 1508.1, "04021210": 2742.0, "14122121": 4308.857142857143, "14123221": 30162.0}),
    ("r", "average", {"00000000": 62.4472049689441, "10001011": 52.455652173913045, "00110220": 42.72237960339943, "11103011": 171.375, "03001121": 154.6769230769231, "01023211": 235.640625, "02113211": 603.24, "14123221": 30162.0}),
    ("d", "squares", {"00000000": 6885660.0, "11023111": 861849.0, "02123021": 1357586.0, "02023221": 903615.0, "04121221": 1801778.0, "14123201": 5077072.0, "14022221": 3326891.0, "14023221": 6721120.0, "14123221": 9096256.0}),
    ("ktd", "squares", {"00000000": 9096256.0, "00022211": 8829545.0, "04122111": 5450097.0, "14103211": 3582719.0, "04123121": 7029217.0, "14113221": 4565056.0, "04123221": 5135656.0, "14123221": 9096256.0}),
    ("k", "squares", {"00000000": 463536157.0, "00103200": 110335369.0, "12022100": 54541529.0, "14100120": 51345939.0, "14103120": 184929052.0, "14123120": 520820000.0, "04123211": 389594580.0, "04023221": 392187826.0, "14023221": 681392160.0, "14123221": 909746244.0}),
    ("t", "squares", {"00000000": 891711567.0, "02122110": 711706687.0, "04112120": 587730841.0, "04112221": 589242303.0, "14123121": 832253403.0, "14023221": 681392160.0, "14123221": 909746244.0}),
    ("r", "squares", {"00000000": 605615358.0, "11102100": 172317967.0, "01023021": 97194221.0, "14123200": 352858084.0, "03113221": 123067799.0, "11123221": 97868020.0, "02123221": 108443178.0, "14122221": 446695226.0, "04123221": 511031924.0, "14123221": 909746244.0}),
    ("kd", "squares", {"00000000": 8425679.0, "02002011": 2529631.0, "04100211": 1309104.0, "12101121": 1098972.0, "03113110": 997016.0, "12121201": 1073238.0, "14023220": 4168425.0, "14123221": 9096256.0}),
    ("kt", "squares", {"00000000": 891711567.0, "10100111": 752467594.0, "01122011": 730323768.0, "13012011": 568438002.0, "11110221": 476568155.0, "14023121": 651130781.0, "14113221": 456853172.0, "14123221": 909746244.0}),
    ("r", "squares", {"00000000": 605615358.0, "11110010": 232827528.0, "10101201": 266210213.0, "10113110": 77460440.0, "02112201": 111508216.0, "01003221": 51815769.0, "13013101": 104882645.0, "14123221": 909746244.0}),
]
# fmt: on

pytestmark = pytest.mark.usefixtures("adult")


@cache
def adult():
    """Count the table, and of each combination how many rows are in the research subset."""
    folder = adult_folder()
    names, *rows = read(folder / "adult.csv")
    counts = FrequencySet.from_rows(names, rows)
    _, *subset = read(folder / "adult_subset.csv")
    chosen = Counter(map(tuple, subset))
    values = [column.values for column in counts.columns]
    texts = [[v[i] for i in c] for v, c in zip(values, counts.codes, strict=True)]
    combinations = zip(*texts, strict=True)
    in_subset = np.array([chosen[combination] for combination in combinations])
    ladders = {}
    for name in names:
        values, *paths = zip(*read(folder / f"adult_hierarchy_{name}.csv"), strict=True)
        tree = Hierarchy.from_paths(values, list(zip(*paths, strict=True)))
        ladders[name] = tree.bind(name, counts.column(name).values)
    return counts, ladders, in_subset


def read(path):
    return [line.split(";") for line in path.read_text().splitlines() if line]


def group_at(columns, node):
    counts, ladders, _ = adult()
    levels = [(ladders[name], name, int(level)) for name, level in zip(columns, node, strict=True)]
    codes = [ladder.codes[level][counts.codes_of(name)] for ladder, name, level in levels]
    return group(codes, [len(ladder.labels[level]) for ladder, _, level in levels])


def classes_at(columns, node, *, subset=False):
    """Group the table, or its subset with the table as population, at a node."""
    counts, ladders, in_subset = adult()
    groups = group_at(columns, node)
    weights = in_subset if subset else counts.rows

    def per_class(rows):
        return np.bincount(groups.of_item, weights=rows, minlength=groups.n).astype(np.int64)

    sizes = per_class(weights)
    shown = sizes > 0
    number = np.cumsum(shown) - 1
    held = weights > 0
    column = sensitive_column(counts.column(SENSITIVE), ladders[SENSITIVE])
    value = sensitive_codes(counts, SENSITIVE, folded=column.folded)[held]
    reference = reference_of(value, weights[held], len(column.values))
    raw = ValueCounts(column, number[groups.of_item[held]], value, weights[held], reference)
    table = {SENSITIVE: merge_counts(raw, raw.class_id)}
    return EquivalenceClasses(sizes[shown], table, per_class(counts.rows)[shown])


def kept(models, classes):
    return np.logical_and.reduce([model.passes(classes) for model in models])


@pytest.mark.parametrize(("letters", "measure", "figures"), NODES, ids=lambda value: str(value)[:8])
def test_as_many_classes_and_rows_are_suppressed_at_each_node(letters, measure, figures):
    for node, expected in figures.items():
        classes = classes_at(EIGHT, node, subset="d" in letters)
        good = kept([LETTERS[letter] for letter in letters], classes)
        suppressed = classes.total - classes.sizes[good].sum()
        if measure == "average":
            found = classes.total / (good.sum() + (suppressed > 0))
        else:
            found = (classes.sizes[good] ** 2).sum() + classes.total * suppressed
        assert found == pytest.approx(expected, rel=1e-9), node


@pytest.mark.parametrize(
    ("model", "node", "suppressed"),
    [
        (None, "0300111", 1458),
        (DistinctLDiversity(SENSITIVE, l=2), "0300111", 1481),
        (DistinctLDiversity(SENSITIVE, l=3), "0300211", 1071),
        (DistinctLDiversity(SENSITIVE, l=5), "0301211", 957),
        (EntropyLDiversity(SENSITIVE, l=3), "0300310", 1460),
    ],
    ids=str,
)
def test_as_many_rows_are_suppressed_with_seven_quasi_identifiers(model, node, suppressed):
    classes = classes_at(SEVEN, node)
    models = [KAnonymity(5), *([model] if model else [])]
    assert classes.sizes[~kept(models, classes)].sum() == suppressed


@pytest.mark.parametrize(
    ("t", "distance", "limit", "node", "squares"),
    [
        (0.2, "ordered", 1206, "00112220", 2712340),
        (0.1, "ordered", 0, "11123221", 97868020),
        (0.2, "equal", 1206, "14103221", 311880088),
        (0.2, "equal", 0, "14113221", 456853172),
    ],
)
def test_the_optimum_is_feasible_and_nothing_just_below_it_is(t, distance, limit, node, squares):
    models = [KAnonymity(5), TCloseness(SENSITIVE, t=t, distance=distance)]

    def judged(levels):
        classes = classes_at(EIGHT, levels)
        return (classes.sizes**2).sum(), classes.sizes[~kept(models, classes)].sum() <= limit

    assert judged(node) == (squares, True)
    for position, level in enumerate(map(int, node)):
        if level:
            below, feasible = judged([*node[:position], level - 1, *node[position + 1 :]])
            assert not (feasible and below < squares)


@pytest.mark.parametrize(
    ("k", "node", "average"), [(5, "10123221", 45.014925373134325)], ids=["k=5"]
)
def test_a_whole_subset_is_mapped_without_suppression(k, node, average):
    classes = classes_at(EIGHT, node, subset=True)
    assert KMap(k).passes(classes).all()
    assert classes.total / len(classes) == pytest.approx(average, rel=1e-12)


@pytest.mark.parametrize(
    ("beta", "node", "loss"),
    [
        (1, "14013020", 0.6081345989904172),
        (3, "03002010", 0.34883856157237925),
        (5, "02002010", 0.23350465152356303),
    ],
)
def test_basic_beta_likeness_loses_as_much(beta, node, loss):
    counts, ladders, _ = adult()
    good = BasicBetaLikeness(SENSITIVE, beta=beta).passes(classes_at(EIGHT, node))
    stays = good[group_at(EIGHT, node).of_item]
    factors = []
    for name, level in zip(EIGHT, map(int, node), strict=True):
        ladder = ladders[name]
        covered = ladder.leaves[level][ladder.codes[level][counts.codes_of(name)]]
        lost = np.where(stays, (covered - 1) / (ladder.n_leaves - 1), 1)
        factors.append(1 + np.average(lost, weights=counts.rows))
    assert np.prod(factors) ** (1 / len(factors)) - 1 == pytest.approx(loss, abs=1e-9)


def test_the_raw_table_is_as_risky_as_known():
    classes = classes_at(tuple(LEVELS), "000000000")
    risk, share = AverageRisk(0.5).measure(classes), SampleUniqueness(0.5).measure(classes)
    assert risk["risk"] == pytest.approx(0.6465751607983555, rel=1e-12)
    assert share["share"] == pytest.approx(0.5142895033485844, rel=1e-12)
